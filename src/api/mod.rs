//! The HTTP client of the service (api.md): one request per call, never a second one by itself.
//!
//! It gives plain data of the model or an error with a sentence for the user. When to ask, what it costs and what a lost
//! answer means for a prompt is decided above it.

mod address;
mod answer;
mod client;
mod decode;
mod error;
mod excerpt;
mod fields;
mod reach;
mod retry_after;
mod roots;
mod route;
mod transport;
pub mod wire;

pub use answer::Reading;
pub use client::{Client, ClientOptions};
pub use error::{ApiError, Reached, Unreadable};
pub use reach::NotReached;
pub use retry_after::RetryAfter;
pub use roots::{ExtraRoots, RootsError};
pub use route::{Proxy, Route, system_roots};

use crate::model::Time;
use std::time::Duration;

/// What came of one request, with what the log and the clock need.
#[derive(Debug)]
pub struct Answer<T> {
    /// The decoded answer, or why there is none.
    pub result: Result<T, ApiError>,
    /// HTTP status when an answer came, a good one or not.
    pub status: Option<u16>,
    /// From the call to the last byte that was read.
    pub took: Duration,
    /// The service's Date header.
    pub date: Option<Time>,
}
