//! Formats numbers for people, alone and with a noun.

/// Formats a number with thousands separators: `13,430`.
pub fn grouped_number(n: impl Into<i128>) -> String {
    let n: i128 = n.into();
    let digits = n.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    if n < 0 {
        out.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count of any integer type with thousands separators. A count beyond `i128` is shown as the largest `i128`.
pub fn format_count(n: impl TryInto<i128>) -> String {
    grouped_number(n.try_into().unwrap_or(i128::MAX))
}

/// Formats a number with its noun: `1 job`, `2 jobs`.
pub fn plural(n: impl TryInto<i128>, one: &str) -> String {
    match n.try_into() {
        Ok(1) => format!("1 {one}"),
        n => format!("{} {one}s", grouped_number(n.unwrap_or(i128::MAX))),
    }
}
