//! Texts about the pages that a new job is about.

use crate::model::text::{self, CleanText};
use crate::tui::format;
use std::collections::HashSet;

/// Up to this many pages are all listed by path in a title or a notice. If there are more, a title lists two and counts
/// the rest, and a notice only counts them.
const MAX_NAMED_PAGES: usize = 3;

/// Formats the pages as a short text: `/a`, `/a, /b and /c` or `12 pages`.
pub(in crate::tui) fn short_page_list(pages: &[CleanText]) -> String {
    if pages.len() > MAX_NAMED_PAGES { format::plural(pages.len(), "page") } else { joined_page_paths(pages) }
}

/// Formats all pages as a list within a sentence: `/a, /b and /c`.
pub(in crate::tui) fn joined_page_paths(pages: &[CleanText]) -> String {
    text::join_with_and(&pages.iter().map(CleanText::as_str).collect::<Vec<_>>())
}

/// Returns the title of the editor for a job about these pages.
pub(in crate::tui) fn title_of_job_about_pages(pages: &[CleanText]) -> CleanText {
    CleanText::line(&match pages {
        [first, second, rest @ ..] if pages.len() > MAX_NAMED_PAGES => {
            format!("New job about {first}, {second} and {} more pages", format::format_count(rest.len()))
        }
        pages => format!("New job about {}", joined_page_paths(pages)),
    })
}

/// Returns the initial text of the editor for a job about these pages.
pub(in crate::tui) fn initial_text(pages: &[CleanText]) -> String {
    let mut text = format!("{}: ", short_page_list(pages));
    if pages.len() > MAX_NAMED_PAGES {
        text.push('\n');
        text.extend(pages.iter().map(|page| format!("\n- {page}")));
    }
    text
}

/// Returns the sort key of a template for a job about `pages` pages. Templates with the fitting blank are first:
/// `{{path}}` for one page, `{{pages}}` for several.
pub(in crate::tui) fn template_sort_key(text: &str, pages: usize) -> u8 {
    let (of_one, of_several) = (text.contains("{{path}}"), text.contains("{{pages}}"));
    match (of_one, of_several) {
        (_, true) if pages > 1 => 0,
        (true, _) => 1,
        (_, true) => 2,
        (false, false) => 3,
    }
}

pub(in crate::tui) fn are_same_pages(one: &[CleanText], other: &[CleanText]) -> bool {
    let of = |pages: &[CleanText]| pages.iter().cloned().collect::<HashSet<_>>();
    of(one) == of(other)
}
