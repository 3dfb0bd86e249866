//! The HTTP client of the service: one request per call, no retries.
//!
//! Returns plain data of the model, or an error with a message for the user. The engine decides when to make a
//! request, counts it towards the limits, and decides what a lost answer means for a prompt.

mod address;
mod answer;
mod client;
mod connect_error;
mod decode;
mod error;
mod excerpt;
mod fields;
mod proxy_info;
mod retry_after;
mod roots;
mod transport;
pub mod wire;

pub use answer::BodyReader;
pub use client::{Client, ClientOptions};
pub use connect_error::ConnectError;
pub use error::{ApiError, Reached, Unreadable};
pub use proxy_info::{Proxy, Route, system_roots};
pub use retry_after::RetryAfterHeader;
pub use roots::{ExtraRoots, RootsError};

use crate::model::Time;
use std::time::Duration;

/// The result of one request, with the data for the log and the clock.
#[derive(Debug)]
pub struct ApiAnswer<T> {
    /// The decoded answer or an error.
    pub result: Result<T, ApiError>,
    /// The HTTP status, if any answer came.
    pub status: Option<u16>,
    /// The time from the call to the last byte that was read.
    pub took: Duration,
    /// The service's Date header.
    pub date: Option<Time>,
}
