//! Date ranges, the periods and presets that they are chosen by, and parsing of typed ranges.

mod preset;
mod range;
mod typed;

pub use preset::{Period, Preset};
pub use range::DateRange;
pub use typed::{RangeError, TypedPeriod, parse_period, parse_range};
