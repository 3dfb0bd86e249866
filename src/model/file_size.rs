//! Formats file sizes and free disk space for display.

/// Formats a number of bytes in decimal units, rounded down: `999 B`, `12 kB`, `3.1 MB`, `23.2 GB`.
pub fn format_size(bytes: u64) -> String {
    let with_tenth = |unit: u64, name: &str| format!("{}.{} {name}", bytes / unit, bytes % unit / (unit / 10));
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => with_tenth(1_000_000, "MB"),
        _ => with_tenth(1_000_000_000, "GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_the_largest_unit_that_fits() {
        assert_eq!([0, 999, 1000, 12_999].map(format_size), ["0 B", "999 B", "1 kB", "12 kB"]);
        assert_eq!([3_149_000, 23_239_700_000].map(format_size), ["3.1 MB", "23.2 GB"]);
    }
}
