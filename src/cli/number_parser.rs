//! Parses the numbers of options.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Returns a parser for numbers in the range `allowed`. The error message describes this range with `wanted`.
pub(super) fn number_parser<T>(
    allowed: RangeInclusive<T>,
    wanted: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Clone + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err(format!("it must be {wanted}")),
    }
}
