//! Date ranges, the periods and presets by which the user chooses them, and a parser for typed ranges.

mod preset;
mod range;
mod typed;

pub use preset::{Period, Preset};
pub use range::{COUNTING_DELAY, DateRange};
pub use typed::{EnteredPeriod, RangeError, parse_period, parse_range};
