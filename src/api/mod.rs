//! The HTTP client for the service. Each call makes one request and never retries it.
//!
//! A call returns plain data of the model, or an error with a message for the user. The engine decides when to make a
//! request, counts it toward the limits, and decides what a lost response means for a prompt.

mod address;
mod analytics;
mod client;
mod connect_error;
mod decode;
mod error;
mod excerpt;
mod fields;
pub mod hosts;
mod previews;
mod proxy_info;
mod response;
mod retry_after;
mod roots;
mod transport;
pub mod wire;

pub use analytics::DecodableRow;
pub use client::{Client, ClientOptions};
pub use connect_error::{ConnectError, tls_reason};
pub use error::{ApiError, RequestEffect, Unreadable};
pub use proxy_info::{Proxy, Route, count_system_root_certificates};
pub use response::BodyReader;
pub use retry_after::RetryAfterHeader;
pub use roots::{ExtraRoots, RootsError};

use crate::model::Time;
use std::time::Duration;

/// The result of one request, with data for the log and for estimating the time on the service's clock.
#[derive(Debug)]
pub struct ApiResponse<T> {
    /// The decoded response or an error.
    pub result: Result<T, ApiError>,
    /// The HTTP status; `None` if no response arrived.
    pub status: Option<u16>,
    /// The time from the call to the last byte that was read.
    pub took: Duration,
    /// The time in the response's `Date` header; `None` if it has none.
    pub date: Option<Time>,
}

impl<T> ApiResponse<T> {
    /// Converts a decoded response.
    fn map<U>(self, convert: impl FnOnce(T) -> U) -> ApiResponse<U> {
        ApiResponse { result: self.result.map(convert), status: self.status, took: self.took, date: self.date }
    }
}
