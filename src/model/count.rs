//! Counts of analytics, such as page views: [`Count`] is a value as the service sent it, [`DecimalCount`] the exact
//! number for sums and comparisons.

use super::text::CleanText;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::num::NonZero;
use std::ops::{Add, Sub};

/// A count from the service: a number, or whatever the service sent instead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Count {
    /// A whole number (`12` or `12.0`). A negative number is kept, but left out of sums.
    Known(i64),
    /// A number with a fraction (`12.5`), stored as the nearest double. A negative number is kept, but left out of
    /// sums.
    NonInteger(NonInteger),
    /// Any other value, as received: text, or a number that is too large to be stored exactly.
    Other(CleanText),
    /// The response doesn't contain the count, or contains null. This is not the same as 0.
    #[default]
    Missing,
}

/// 2⁵³. A double represents every whole number up to this limit exactly.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// A finite double that isn't a whole number, so its magnitude is below 2⁵².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonInteger(f64);

/// Equality is reflexive, because the number is never NaN.
impl Eq for NonInteger {}

impl NonInteger {
    /// Returns the number as a double.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Count {
    /// Converts a double. Returns `None` for NaN, infinity, and whole numbers beyond ±2⁵³, which a double may not hold
    /// exactly.
    pub fn from_f64(number: f64) -> Option<Self> {
        if number.fract() != 0.0 && number.is_finite() {
            return Some(Self::NonInteger(NonInteger(number)));
        }
        (number.abs() <= MAX_EXACT_INTEGER).then(|| Self::Known(to_i64(number)))
    }

    /// Parses the literal of a JSON number. Returns `None` for any other text, such as a quoted number, and for whole
    /// numbers that can't be represented exactly.
    pub fn from_json_number(literal: &str) -> Option<Self> {
        if let Ok(number) = literal.parse() {
            return Some(Self::Known(number));
        }
        if let Some((number, fraction)) = literal.split_once('.')
            && fraction.bytes().all(|b| b == b'0')
        {
            return number.parse().ok().map(Self::Known);
        }
        // Rust's parser for `f64` also accepts spellings that JSON doesn't have, such as `inf` and `+1`.
        let starts_like_json = literal.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        let is_decimal = starts_like_json && literal.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
        let number: f64 = is_decimal.then(|| literal.parse().ok()).flatten()?;
        Self::from_f64(number)
    }

    /// Returns the number for bars and sums, or `None` if the value is text, negative or missing.
    pub fn value(&self) -> Option<DecimalCount> {
        match self {
            Self::Known(number) => u64::try_from(*number).ok().map(DecimalCount::from),
            Self::NonInteger(number) => Some(DecimalCount::from_fraction(*number)).filter(|_| number.0 > 0.0),
            Self::Other(_) | Self::Missing => None,
        }
    }

    /// Returns the number for sorting: like [`Self::value`], but negative numbers are kept.
    pub fn signed_value(&self) -> Option<DecimalCount> {
        match self {
            Self::Known(number) => Some(DecimalCount::from_millionths(i128::from(*number) * MILLIONTHS_PER_UNIT)),
            Self::NonInteger(number) => Some(DecimalCount::from_fraction(*number)),
            Self::Other(_) | Self::Missing => None,
        }
    }
}

/// Writes the count as a number, as the received text, or as null if the count is missing.
impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(number) => serializer.serialize_i64(*number),
            Self::NonInteger(number) => serializer.serialize_f64(number.get()),
            Self::Other(text) => text.serialize(serializer),
            Self::Missing => serializer.serialize_none(),
        }
    }
}

/// Reads what [`Serialize`] writes.
impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum StoredCount<'a> {
            Known(i64),
            NonInteger(f64),
            Other(#[serde(borrow)] Cow<'a, str>),
            Missing(()),
        }
        Ok(match StoredCount::deserialize(deserializer)? {
            StoredCount::Known(number) => Self::Known(number),
            StoredCount::NonInteger(number) => Self::from_f64(number).unwrap_or_default(),
            StoredCount::Other(text) => Self::Other(CleanText::line(&text)),
            StoredCount::Missing(()) => Self::Missing,
        })
    }
}

/// Converts a double without a fraction to an integer. The double must be within ±2⁵³.
fn to_i64(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and far below 2⁶³")]
    let number = number as i64;
    number
}

/// The number of millionths in 1.
const MILLIONTHS_PER_UNIT: i128 = 1_000_000;

/// The sign bit of the millionths of a [`DecimalCount`].
const SIGN_BIT: u128 = 1 << 127;

/// A count that may have decimals, stored in millionths as a fixed-point number. Sums are therefore exact (`0.1` added
/// ten times is `1`) and don't depend on the order of the rows. A fraction with more than six decimals is rounded to
/// six. Differences can be negative. Sums saturate, but only far above any possible sum of 64-bit counts.
///
/// The millionths are stored with their sign bit inverted, so that stored values sort like the millionths. A count of 0
/// is therefore stored as a value other than 0. Since no stored value is 0, an `Option` needs no additional memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecimalCount(NonZero<u128>);

impl Default for DecimalCount {
    fn default() -> Self {
        Self::ZERO
    }
}

impl fmt::Debug for DecimalCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecimalCount({self})")
    }
}

impl From<u64> for DecimalCount {
    fn from(number: u64) -> Self {
        Self::from_millionths(i128::from(number) * MILLIONTHS_PER_UNIT)
    }
}

impl DecimalCount {
    pub const ZERO: Self = Self::from_millionths(0);
    pub const ONE: Self = Self::from_millionths(MILLIONTHS_PER_UNIT);

    const fn from_millionths(millionths: i128) -> Self {
        match NonZero::new(millionths.cast_unsigned() ^ SIGN_BIT) {
            Some(number) => Self(number),
            None => Self(NonZero::<u128>::MIN),
        }
    }

    /// Returns the number of millionths, for sorting.
    pub const fn millionths(self) -> i128 {
        (self.0.get() ^ SIGN_BIT).cast_signed()
    }

    fn from_fraction(NonInteger(number): NonInteger) -> Self {
        // The fraction is converted separately, because a double can't hold a large number in millionths exactly.
        let millionths = (number.fract() * 1_000_000.0).round();
        Self::from_millionths(i128::from(to_i64(number.trunc())) * MILLIONTHS_PER_UNIT + i128::from(to_i64(millionths)))
    }

    /// Parses a decimal number (`-1.5`) with at most six decimals. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_negative = whole.starts_with('-');
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole.trim_start_matches(['+', '-'])) || !digits(decimals) || decimals.len() > 6 {
            return None;
        }
        let whole: i64 = whole.parse().ok()?;
        let decimals: i128 = format!("{decimals:0<6}").parse().ok()?;
        Some(Self::from_millionths(
            i128::from(whole) * MILLIONTHS_PER_UNIT + if is_negative { -decimals } else { decimals },
        ))
    }

    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    pub fn as_f64(self) -> f64 {
        self.ratio_to(Self::ONE)
    }

    /// Divides this number by `other`, which must not be 0.
    pub fn ratio_to(self, other: Self) -> f64 {
        // Whole numbers are divided as such, because a double can't always hold their millionths exactly.
        match (self.millionths() % MILLIONTHS_PER_UNIT, other.millionths() % MILLIONTHS_PER_UNIT) {
            (0, 0) => {
                (self.millionths() / MILLIONTHS_PER_UNIT) as f64 / (other.millionths() / MILLIONTHS_PER_UNIT) as f64
            }
            _ => self.millionths() as f64 / other.millionths() as f64,
        }
    }

    /// Rounds to a whole number; halves are rounded away from zero.
    pub fn rounded(self) -> i128 {
        divide_rounded(self.millionths(), MILLIONTHS_PER_UNIT)
    }

    /// Returns the number of tenths, rounded; halves are rounded away from zero.
    pub fn tenths(self) -> i128 {
        divide_rounded(self.millionths(), MILLIONTHS_PER_UNIT / 10)
    }

    /// Returns the number multiplied by `multiplier / divisor`, rounded to a millionth, or 0 if `divisor` is 0.
    #[must_use]
    pub fn scaled(self, multiplier: u64, divisor: u64) -> Self {
        match divisor {
            0 => Self::ZERO,
            _ => Self::from_millionths(divide_rounded(
                self.millionths().saturating_mul(i128::from(multiplier)),
                i128::from(divisor),
            )),
        }
    }

    #[must_use]
    pub fn abs(self) -> Self {
        Self::from_millionths(self.millionths().saturating_abs())
    }

    /// Whether the two numbers differ by less than 0.05, too little to show with one decimal. Such a difference can be
    /// due to rounding by the service or docdeck, and must not be reported as a mismatch. Two different whole numbers
    /// are never nearly equal.
    pub fn nearly_equals(self, other: Self) -> bool {
        (self - other).millionths().saturating_abs() < MILLIONTHS_PER_UNIT / 20
    }
}

/// Divides and rounds to a whole number; halves are rounded away from zero. `divisor` must be positive.
fn divide_rounded(number: i128, divisor: i128) -> i128 {
    let half = if number < 0 { -(divisor / 2) } else { divisor / 2 };
    number.saturating_add(half) / divisor
}

impl Add for DecimalCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_millionths(self.millionths().saturating_add(other.millionths()))
    }
}

impl Sub for DecimalCount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::from_millionths(self.millionths().saturating_sub(other.millionths()))
    }
}

impl Sum for DecimalCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

/// Converts a sum to a count. A sum beyond 64 bits, which can't be an exact count, becomes text.
impl From<DecimalCount> for Count {
    fn from(sum: DecimalCount) -> Self {
        let whole = sum.millionths() / MILLIONTHS_PER_UNIT;
        if sum.millionths() % MILLIONTHS_PER_UNIT != 0
            && let Some(count) = Self::from_f64(sum.as_f64())
        {
            return count;
        }
        i64::try_from(whole).map_or_else(|_| Self::Other(CleanText::line(&sum.to_string())), Self::Known)
    }
}

/// Formats the number as a JSON number without trailing zeros: `12`, `12.5`, `-0.25`.
impl fmt::Display for DecimalCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (
            self.millionths().unsigned_abs() / MILLIONTHS_PER_UNIT.unsigned_abs(),
            self.millionths().unsigned_abs() % MILLIONTHS_PER_UNIT.unsigned_abs(),
        );
        let sign = if self.millionths() < 0 { "-" } else { "" };
        let decimals = format!("{part:06}");
        let point = if part > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{}", decimals.trim_end_matches('0'))
    }
}

/// Formats the number as a JSON number, with enough digits that parsing it returns the same double.
impl fmt::Display for NonInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without an exponent, a tiny number would be written with hundreds of zeros.
        if self.0.abs() < 1e-6 { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(literal: &str) -> DecimalCount {
        Count::from_json_number(literal)
            .and_then(|count| count.value())
            .unwrap_or_else(|| panic!("{literal} is no count"))
    }

    #[test]
    fn json_numbers_are_counts() {
        for (literal, shown) in [
            ("12", "12"),
            ("12.0", "12"),
            ("12.5", "12.5"),
            ("1.25e1", "12.5"),
            ("0.1", "0.1"),
            ("9007199254740993.0", "9007199254740993"),
            ("9223372036854775807", "9223372036854775807"),
            ("4503599627370495.5", "4503599627370495.5"),
        ] {
            assert_eq!(value(literal).to_string(), shown);
        }
    }

    #[test]
    fn texts_and_numbers_out_of_range_are_not_counts() {
        for literal in ["1e400", "1e17", "9223372036854775808", "inf", "NaN", "nan", "+1.5", ".5", "true", "\"12\"", ""]
        {
            assert_eq!(Count::from_json_number(literal), None, "{literal}");
        }
        for negative in ["-3", "-1.5"] {
            let count = Count::from_json_number(negative).expect("kept as received");
            assert_eq!((count.value(), count.signed_value().map(|n| n.to_string()).as_deref()), (None, Some(negative)));
        }
        assert_eq!(Count::from_f64(f64::NAN), None);
        assert_eq!(Count::from_f64(f64::INFINITY), None);
        assert_eq!(Count::from_f64(-0.0), Some(Count::Known(0)));
    }

    #[test]
    fn sums_of_fractions_do_not_drift() {
        let tenth = value("0.1");
        assert_eq!(std::iter::repeat_n(tenth, 10).sum::<DecimalCount>(), DecimalCount::ONE);
        assert_eq!((value("0.1") + value("0.2")).to_string(), "0.3");
        assert!((value("3.333333") + value("6.666667")).nearly_equals(value("10")));
        assert!(!value("10").nearly_equals(value("11")));
        let large = DecimalCount::from(9_007_199_254_740_993);
        assert_eq!((large + large).to_string(), "18014398509481986");
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(["12.5", "12.4", "0.5", "0.4"].map(|n| value(n).rounded()), [13, 12, 1, 0]);
        assert_eq!(["12.25", "12.24", "12.96"].map(|n| value(n).tenths()), [123, 122, 130]);
        assert_eq!((DecimalCount::ZERO - value("12.5")).rounded(), -13);
        assert_eq!(DecimalCount::from(20).scaled(1, 7).to_string(), "2.857143");
        assert_eq!(DecimalCount::from(20).scaled(1, 0), DecimalCount::ZERO);
    }

    #[test]
    fn typed_decimals_are_parsed_exactly() {
        for text in ["0", "1.5", "-1.5", "-0.5", "1000", "0.000001"] {
            assert_eq!(DecimalCount::parse(text).map(|n| n.to_string()).as_deref(), Some(text));
        }
        for text in ["", ".", "1.", ".5", "1e3", "--1", "0.0000001", "99999999999999999999"] {
            assert_eq!(DecimalCount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sum_beyond_64_bits_becomes_text() {
        assert_eq!(Count::from(DecimalCount::from(7)), Count::Known(7));
        assert_eq!(Count::from(value("7.5")), Count::from_json_number("7.5").expect("a count"));
        let beyond = DecimalCount::from(u64::MAX) + value("0.5");
        assert_eq!(Count::from(beyond), Count::Other(CleanText::line("18446744073709551615.5")));
        assert_eq!(Count::from(DecimalCount::from(u64::MAX)), Count::Other(CleanText::line("18446744073709551615")));
    }

    proptest! {
        #[test]
        fn a_sum_does_not_depend_on_the_order(mut numbers in prop::collection::vec(0.0..1e9_f64, 0..30), seed: usize) {
            let sum = |numbers: &[f64]| -> DecimalCount {
                numbers.iter().filter_map(|n| Count::from_f64(*n)?.value()).sum()
            };
            let before = sum(&numbers);
            let by = if numbers.is_empty() { 0 } else { seed % numbers.len() };
            numbers.rotate_left(by);
            numbers.reverse();
            prop_assert_eq!(sum(&numbers), before);
        }

        #[test]
        fn a_formatted_number_is_parsed_as_the_same_double(number in -1e15..1e15_f64) {
            let literal = match Count::from_f64(number).expect("finite") {
                Count::NonInteger(fraction) => fraction.to_string(),
                count => count.signed_value().expect("a number").to_string(),
            };
            prop_assert_eq!(Count::from_json_number(&literal), Count::from_f64(number));
        }

        #[test]
        fn counts_are_ordered_like_their_doubles(a in 0.0..1e12_f64, b in 0.0..1e12_f64) {
            let count = |n: f64| Count::from_f64(n).and_then(|count| count.value()).unwrap_or_default();
            prop_assert!((a - b).abs() < 1e-5 || (count(a) < count(b)) == (a < b));
        }
    }
}
