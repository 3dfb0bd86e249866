//! Ranges of days, the periods that a key goes through and steps by, and ranges as they are typed.

mod preset;
mod range;
mod typed;

pub use preset::{Period, Preset};
pub use range::DateRange;
pub use typed::{RangeError, Typed, parse_period, parse_range};
