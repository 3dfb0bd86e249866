//! Formats numbers, ages and durations, and truncates text to a width in cells. For texts that depend on the time, this
//! module also computes when they change, because the screen has to be drawn again then.

use crate::model::Time;
use crate::model::job::PullRequestCounts;
pub use crate::model::ledger::{next_wait_text_change, wait_text};
pub use crate::model::number_format::{format_count, grouped_number, plural};
use crate::model::views::{Count, Counts, DecimalCount};
use chrono::TimeDelta;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Formats a number of views with thousands separators and at most one decimal: `13,430`, `12.5`. A number that would
/// be rounded to 0 becomes `<0.1`, to distinguish it from 0.
pub fn format_views(count: DecimalCount) -> String {
    let tenths = count.tenths();
    if tenths == 0 && !count.is_zero() {
        return if count < DecimalCount::ZERO { "-<0.1" } else { "<0.1" }.to_owned();
    }
    match tenths % 10 {
        0 => grouped_number(tenths / 10),
        tenth => {
            let sign = if tenths < 0 { "-" } else { "" };
            format!("{sign}{}.{}", grouped_number(tenths.abs() / 10), tenth.abs())
        }
    }
}

/// Formats the number of jobs that need the user, and how many of them have a pull request to review, or one with
/// failing checks: `3 need you · 2 to review · 1 failing`. Omits a number of pull requests that is 0.
pub fn needs_you_text(needs_you: usize, pull_requests: PullRequestCounts) -> String {
    let verb = if needs_you == 1 { "needs" } else { "need" };
    let mut text = format!("{needs_you} {verb} you");
    for (count, word) in [(pull_requests.to_review, "to review"), (pull_requests.failing, "failing")] {
        if count > 0 {
            text.push_str(&format!(" · {count} {word}"));
        }
    }
    text
}

/// Formats a mean of views, rounded to a whole number or, below 10, to one decimal.
pub fn format_mean(count: DecimalCount) -> String {
    if count.abs() < DecimalCount::from(10) { format_views(count) } else { grouped_number(count.rounded()) }
}

/// Formats a count for the screen: `?` if it is missing, and as received if it isn't a number.
pub fn count_text(count: &Count) -> String {
    match count {
        Count::Known(n) => grouped_number(*n),
        Count::NonInteger(_) => count.signed_value().map(format_views).unwrap_or_default(),
        Count::Other(text) => text.to_string(),
        Count::Missing => "?".to_owned(),
    }
}

/// Formats an age in one unit and at most four cells: `now`, `14m`, `5h`, `9d`.
pub fn short_age(age: TimeDelta) -> String {
    let seconds = age.num_seconds();
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => (seconds / 60).to_string() + "m",
        3600..86_400 => (seconds / 3600).to_string() + "h",
        _ => (seconds / 86_400).min(999).to_string() + "d",
    }
}

/// Returns the next time at which the result of [`short_age`] changes for an age that is measured from `from`.
pub fn short_age_changes_at(from: Time, now: Time) -> Time {
    let age = (now - from).num_seconds();
    let unit = match age {
        ..3600 => 60,
        3600..86_400 => 3600,
        _ => 86_400,
    };
    let next = (age.max(0) / unit + 1).saturating_mul(unit);
    from + TimeDelta::seconds(next)
}

/// Formats a duration in at most two units: `6m 02s`, `1h 07m`, `3d 4h`, `12s`.
pub fn format_duration(delta: TimeDelta) -> String {
    let s = delta.num_seconds().max(0);
    match s {
        ..60 => format!("{s}s"),
        60..3600 => format!("{}m {:02}s", s / 60, s % 60),
        3600..86_400 => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
        _ => format!("{}d {}h", s / 86_400, s % 86_400 / 3600),
    }
}

/// Whether a character is known to be one cell wide and doesn't combine with the character before it. This is true for
/// printable ASCII, for some other punctuation, and for lines, blocks and shapes.
pub fn is_single_cell_char(c: char) -> bool {
    matches!(c, ' '..='~' | '…' | '·' | '–' | '−' | '\u{2500}'..='\u{25fc}')
}

/// Returns the width of a text in cells. Most characters are known to be one cell wide and need no lookup.
pub fn display_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else if text.chars().all(is_single_cell_char) {
        text.chars().count()
    } else {
        text.width()
    }
}

/// Returns the position in a list as text, such as `2 of 44, 28 more ↓`. `at` is the index of the row, `total` the
/// number of all rows, and `below` the number of rows below the visible ones.
pub fn position_text(at: usize, total: usize, below: usize) -> String {
    let separator = if below > 0 { ", " } else { "" };
    format!("{} of {}{separator}{}", format_count(at + 1), format_count(total), more_below_text(below))
}

/// Returns the text for `hidden` rows below the visible ones; empty if there are none.
pub fn more_below_text(hidden: usize) -> String {
    if hidden > 0 { format!("{} more ↓", format_count(hidden)) } else { String::new() }
}

/// Truncates a text that is wider than `width` cells, with `…` as the last cell.
pub fn truncate(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    if let Some(head) = text.get(..width.saturating_sub(1)).filter(|_| width > 0 && text.is_ascii()) {
        return format!("{head}…");
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let next = used + grapheme.width();
        if next >= width {
            break;
        }
        out.push_str(grapheme);
        used = next;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Truncates the path of a page that is wider than `width` cells: `/guides/…without-losing-previews`. A short first
/// segment stays, and so does the end of the path, in which the paths of pages differ most.
pub fn truncate_path(path: &str, width: usize) -> String {
    let first =
        path.char_indices().skip(1).find(|(_, c)| *c == '/').and_then(|(end, _)| path.split_at_checked(end + 1));
    match first {
        Some((first, rest)) if display_width(path) > width && display_width(first) <= width / 3 => {
            format!("{first}{}", truncate_start(rest, width - display_width(first)))
        }
        _ => truncate_start(path, width),
    }
}

/// The minimum width in cells at which a truncated title keeps the path at its end.
const MIN_WIDTH_KEEPING_PATH: usize = 12;

/// Truncates the title of a job that is wider than `width` cells: `Add a section… /guides/single-sign-on`. A path at
/// the end of the title gets up to two thirds of the cells, or more if the text before it is short, because titles
/// often differ only in the path.
pub fn truncate_title(title: &str, width: usize) -> String {
    if !(MIN_WIDTH_KEEPING_PATH..display_width(title)).contains(&width) {
        return truncate(title, width);
    }
    match title.rsplit_once(' ') {
        Some((rest, path)) if path.starts_with('/') => {
            let left = width.saturating_sub(display_width(rest) + 1);
            let path = truncate_path(path, left.max(display_width(path).min(width * 2 / 3)));
            format!("{} {path}", truncate(rest, width.saturating_sub(display_width(&path) + 1)))
        }
        _ => truncate(title, width),
    }
}

/// Truncates a text that is wider than `width` cells. Cuts off its start.
pub fn truncate_start(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut tail: Vec<&str> = Vec::new();
    let mut used = 1;
    for grapheme in text.graphemes(true).rev() {
        used += grapheme.width();
        if used > width {
            break;
        }
        tail.push(grapheme);
    }
    let tail: String = tail.into_iter().rev().collect();
    if width > 0 { format!("…{tail}") } else { String::new() }
}

/// Returns the sign `≠` for counts that don't add up; otherwise an empty text. The counts are shown as received.
pub fn mismatch_sign(counts: &Counts) -> &'static str {
    if counts.adds_up() { "" } else { "≠" }
}

/// Returns the text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthChar as _;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    #[test]
    fn a_short_age_changes_exactly_at_the_computed_time() {
        for start in [0, 59, 60, 61, 3599, 3600, 86_399, 86_400, 200_000] {
            let change = short_age_changes_at(at(0), at(start));
            let before = short_age(change - TimeDelta::seconds(1) - at(0));
            assert_eq!(before, short_age(TimeDelta::seconds(start)), "unchanged just before, from {start}");
            assert_ne!(short_age(change - at(0)), before, "changed then, from {start}");
        }
    }

    #[test]
    fn characters_that_stand_alone_are_one_cell_wide() {
        let all = ('\0'..=char::MAX).filter(|c| is_single_cell_char(*c));
        assert_eq!(all.filter(|c| c.width() != Some(1)).collect::<String>(), "");
    }

    #[test]
    fn numbers_have_thousands_separators() {
        assert_eq!(
            [0, 999, 1000, -13_430, 1_234_567].map(grouped_number),
            ["0", "999", "1,000", "-13,430", "1,234,567"]
        );
        assert_eq!(grouped_number(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn views_have_at_most_one_decimal_and_a_small_fraction_is_not_shown_as_0() {
        let shown = |literal: &str| {
            format_views(Count::from_json_number(literal).and_then(|count| count.signed_value()).expect("a number"))
        };
        let literals = ["13430", "12.0", "12.5", "12.04", "12.96", "1234.56", "0.04", "0", "-0.5", "-0.01", "-1234.5"];
        let texts = ["13,430", "12", "12.5", "12", "13", "1,234.6", "<0.1", "0", "-0.5", "-<0.1", "-1,234.5"];
        assert_eq!(literals.map(shown), texts);
    }

    #[test]
    fn a_mean_is_rounded_and_not_truncated() {
        let of_seven = |sum: u64| format_mean(DecimalCount::from(sum).scaled(1, 7));
        assert_eq!([7, 20, 69, 76, 7000].map(of_seven), ["1", "2.9", "9.9", "11", "1,000"]);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        assert_eq!(format_duration(TimeDelta::seconds(362)), "6m 02s");
        assert_eq!(format_duration(TimeDelta::seconds(4020)), "1h 07m");
        assert_eq!(format_duration(TimeDelta::seconds(-5)), "0s");
    }

    #[test]
    fn time_until_a_reset_is_rounded_up() {
        assert_eq!(wait_text(TimeDelta::seconds(7_200)), "120m");
        assert_eq!(wait_text(TimeDelta::seconds(7_201)), "3h");
        assert_eq!(wait_text(TimeDelta::seconds(61)), "2m");
        assert_eq!(wait_text(TimeDelta::seconds(60)), "1m");
        assert_eq!(wait_text(TimeDelta::seconds(59)), "59s");
        assert_eq!(next_wait_text_change(at(121), at(0)), at(1));
        assert_eq!(wait_text(at(121) - at(1)), "2m");
    }

    #[test]
    fn truncated_text_ends_with_an_ellipsis() {
        assert_eq!(truncate("abcdef", 4), "abc…");
        assert_eq!(truncate("abcd", 4), "abcd");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(truncate_start("/guides/deploy/aws", 8), "…loy/aws");
    }

    #[test]
    fn a_truncated_path_keeps_its_first_segment_and_its_end() {
        let path = "/guides/deploy/with-docker/to-aws";
        assert_eq!(truncate_path(path, 33), path);
        assert_eq!(truncate_path(path, 24), "/guides/…h-docker/to-aws");
        assert_eq!(truncate_path(path, 12), "…cker/to-aws", "the segment would take too much");
        assert_eq!(truncate_path("a-name-without-slashes", 8), "…slashes");
    }

    #[test]
    fn a_truncated_title_keeps_the_path_at_its_end() {
        let title = "Add a troubleshooting section to /guides/single-sign-on";
        assert_eq!(truncate_title(title, 55), title);
        assert_eq!(truncate_title(title, 46), "Add a troubleshooting … /guides/single-sign-on");
        assert_eq!(truncate_title(title, 40), "Add a troublesho… /guides/single-sign-on");
        assert_eq!(truncate_title("See /a for the other words", 12), "See /a for …");
    }

    proptest! {
        #[test]
        fn truncated_text_is_never_wider_than_the_limit(text in "\\PC{0,40}", width in 0_usize..30) {
            prop_assert!(truncate(&text, width).width() <= width);
            prop_assert!(truncate_start(&text, width).width() <= width);
            prop_assert!(truncate_path(&text, width).width() <= width);
            let title = format!("{text} /{text}");
            prop_assert!(truncate_title(&title, width).width() <= width);
        }

        #[test]
        fn ascii_is_measured_and_truncated_like_other_text(text in "[ -~]{0,40}", width in 0_usize..30) {
            prop_assert_eq!(display_width(&text), text.width());
            let shown = truncate(&text, width);
            prop_assert_eq!(shown.width(), text.width().min(width));
            prop_assert_eq!(shown.ends_with('…'), text.len() > width && width > 0);
        }
    }
}
