//! The HTTP client of the service (api.md): one request per call, never a second one by itself.
//!
//! It gives plain data of the model or an error with a sentence for the user. When to ask, what it costs and what a lost
//! answer means for a prompt is decided above it.

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

/// What came of one request, with what the log and the clock need.
#[derive(Debug)]
pub struct ApiAnswer<T> {
    /// The decoded answer, or why there is none.
    pub result: Result<T, ApiError>,
    /// HTTP status when an answer came, a good one or not.
    pub status: Option<u16>,
    /// From the call to the last byte that was read.
    pub took: Duration,
    /// The service's Date header.
    pub date: Option<Time>,
}
