//! Draws the changes of a pull request.

use super::Changes;
use super::rows::{self, DiffRow, GUTTER_WIDTH, line_text, wrap_line};
use crate::model::diff::{Diff, DiffFile, FileChange, LineKind, LoadedDiff, Markup};
use crate::model::load::Load;
use crate::model::pull_request::short_commit;
use crate::model::pull_request_details::SiteFacts;
use crate::model::text::CleanText;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::cursor;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::{TextRow, align_right, truncate, truncate_path};
use crate::tui::format::{format_count, plural};
use crate::tui::job_tabs::JobTab;
use crate::tui::keymap::{Action, Context};
use crate::tui::message_fit::fit_message;
use crate::tui::pull_request::facts::{counts_text, number_and_title, views_text};
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_width::UnicodeWidthStr as _;

/// The minimum width at which the upper rule shows how many files and lines have changed.
const MIN_COLUMNS_WITH_TOTALS: u16 = 60;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &Changes) {
    let (app, theme) = (view.app, view.theme);
    let texts = DialogFrame {
        upper_right: Line::styled(totals_text(view, open), theme.muted),
        lower_left: Line::styled(state_note(view, open), theme.muted),
        ..DialogFrame::with_tabs(view, JobTab::Changes, number_and_title(app, open.job))
    };
    let inner = texts.draw(frame, view, open);
    match (open.diff(), &open.load) {
        (Some(diff), _) => draw_rows(frame, view, open, diff, inner),
        (None, Load::Failed { failure, .. }) => {
            let width = usize::from(inner.width).saturating_sub(2);
            let lines = fit_message(failure.message.as_str(), width, usize::from(inner.height));
            for (n, line) in lines.into_iter().enumerate() {
                draw_line(frame, inner, n, Line::styled(format!(" {line}"), theme.bad));
            }
        }
        (None, _) => draw_line(frame, inner, 0, Line::styled(" Loading the changes…", theme.muted)),
    }
    draw_search(frame, view, open, inner);
}

fn totals_text(view: View<'_>, open: &Changes) -> String {
    let Some(loaded) = open.load.shown().filter(|_| view.app.size.0 >= MIN_COLUMNS_WITH_TOTALS) else {
        return String::new();
    };
    let (additions, deletions) = loaded.value.diff.added_and_removed_lines();
    let head = short_commit(&loaded.value.head);
    let files = plural(loaded.value.diff.files.len(), "file");
    format!("{files}  +{} −{}  head {head}", format_count(additions), format_count(deletions))
}

/// Returns a note if the shown changes are being loaded again, could not be updated, are incomplete or belong to an
/// older head commit. Otherwise empty.
fn state_note(view: View<'_>, open: &Changes) -> String {
    let Some(loaded) = open.load.shown().map(|loaded| &loaded.value) else { return String::new() };
    let state = view.app.jobs.get(open.job).and_then(|job| job.pull_request.as_ref());
    let head = state.map(|state| &state.head);
    let is_loading = matches!(open.load, Load::Loading { .. });
    match () {
        () if is_loading => "loading…".to_owned(),
        () if loaded.problem.is_some() => format!("not updated, {}", view.as_of_text(loaded.as_of)),
        () if head.is_some_and(|head| *head != loaded.head) => {
            format!("new commits: {} loads them", view.app.key_label(Context::Changes, Action::Refresh))
        }
        () if loaded.is_truncated => truncation_note(loaded, state.and_then(|state| state.files)),
        () => String::new(),
    }
}

/// Returns a note about what is missing if the changes were too large to load completely.
fn truncation_note(loaded: &LoadedDiff, total: Option<u64>) -> String {
    let shown = loaded.diff.files.len();
    match total.and_then(|total| usize::try_from(total).ok()).filter(|total| *total > shown) {
        Some(total) => format!("cut at 10 MiB: {} of {}", format_count(shown), plural(total, "file")),
        None => "cut at 10 MiB: files at the end are missing".to_owned(),
    }
}

fn draw_rows(frame: &mut Frame<'_>, view: View<'_>, open: &Changes, diff: &Diff, inner: Rect) {
    let (width, height) = (rows::text_columns(view.app.geometry()), usize::from(inner.height));
    if diff.files.is_empty() {
        return draw_line(frame, inner, 0, Line::styled(" No files have changed.", view.theme.muted));
    }
    let marked = open.marked_rows();
    let mut at = 0;
    for row in open.visible(width, height) {
        let is_selected = row == open.selected_row;
        let is_marked = open.marking_start.is_some() && marked.contains(&row);
        for line in row_lines(view, open, diff, row, usize::from(inner.width).saturating_sub(2)) {
            let mut text = TextRow::new(usize::from(inner.width));
            let mark = if is_selected {
                "▌"
            } else if is_marked {
                "┃"
            } else {
                " "
            };
            text.push(mark, view.theme.mark);
            for span in line.spans {
                text.push_cow(span.content, line.style.patch(span.style));
            }
            draw_line(frame, inner, at, text.list_line(is_selected, view.theme));
            at += 1;
        }
    }
}

/// Returns the screen lines of a row.
fn row_lines<'a>(view: View<'_>, open: &Changes, diff: &Diff, row: usize, width: usize) -> Vec<Line<'a>> {
    let theme = view.theme;
    match open.rows.get(row) {
        None | Some(DiffRow::Gap) => vec![Line::default()],
        Some(DiffRow::File(file)) => {
            let (file, loaded) = (diff.files.get(file), open.load.shown());
            file.zip(loaded)
                .map(|(file, loaded)| file_line(view, file, &loaded.value.site, width))
                .into_iter()
                .collect()
        }
        Some(DiffRow::Remark(file)) => vec![Line::styled(rows::no_lines_reason(diff, file), theme.muted)],
        Some(DiffRow::Hunk(file, hunk)) => {
            let hunk = diff.files.get(file).and_then(|file| file.hunks.get(hunk));
            let text = hunk.map(|hunk| {
                // The line numbers of the hunk are left out, because the lines below show theirs.
                let heading = CleanText::line(diff.heading(hunk));
                let skips_lines = hunk.old_start.max(hunk.new_start) > 1;
                if skips_lines { format!("⋯ {heading}") } else { heading.to_string() }
            });
            vec![Line::styled(truncate(&text.unwrap_or_default(), width), theme.muted)]
        }
        Some(DiffRow::Line { line, is_context }) => diff_lines(view, open, diff, line, is_context),
    }
}

/// Returns the heading of a file: its path, how it has changed, its page with the page's views if they are loaded, and
/// the numbers of added and removed lines.
fn file_line<'a>(view: View<'_>, file: &DiffFile, site: &SiteFacts, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (added, removed) = (format!("+{}", format_count(file.additions)), format!("−{}", format_count(file.deletions)));
    let numbers = added.width() + removed.width() + 2;
    let space = width.saturating_sub(numbers);
    let mut row = TextRow::new(width);
    row.push(truncate_path(file.path.as_str(), space), theme.title);
    let mut note = String::new();
    if let Some(old) = &file.old_path {
        note.push_str(&format!("  {} from {old}", file.change.word()));
    } else if file.change != FileChange::Modified {
        note.push_str(&format!("  {}", file.change.word()));
    }
    if let Some((page, views)) = site.page_views(file.path.as_str()) {
        let counts = counts_text(&views.views.value);
        let forms = [format!(" · {}", views_text(view.app, views)), format!(" · {counts} views"), String::new()];
        note.push_str(&format!("  → {page}"));
        let space = space.saturating_sub(row.used_cells() + note.width());
        // Adds the longest form that fits completely. A number that is cut off would be taken for a smaller one.
        note.push_str(forms.iter().find(|form| form.width() <= space).map_or("", String::as_str));
    }
    if row.used_cells() < space {
        row.push(truncate(&note, space - row.used_cells()), theme.muted);
    }
    let missing = width.saturating_sub(row.used_cells() + numbers);
    row.push(" ".repeat(missing + 1), Style::new());
    row.push(added, theme.good).push(" ", Style::new()).push(removed, theme.bad);
    row.line()
}

/// Returns the screen lines of a line of the diff.
fn diff_lines<'a>(view: View<'_>, open: &Changes, diff: &Diff, index: usize, is_context: bool) -> Vec<Line<'a>> {
    let theme = view.theme;
    let Some(line) = diff.lines().get(index) else { return Vec::new() };
    let kind = if is_context { LineKind::Context } else { line.kind };
    let (sign, style) = match (kind, line.markup) {
        (LineKind::Added, _) => ("+", theme.good),
        (LineKind::Removed, _) => ("−", theme.bad),
        (LineKind::Context, Markup::Text) => (" ", theme.text),
        (LineKind::Context, Markup::Heading) => (" ", theme.title),
        (LineKind::Context, Markup::FrontMatter | Markup::Jsx | Markup::Code) => (" ", theme.muted),
    };
    // There is space for only one column of numbers. A removed line shows its number in the old version, any other line
    // its number in the new version.
    let number = align_right(&line.number().to_string(), GUTTER_WIDTH - 4);
    let text = line_text(diff, index);
    let words = open.highlights.get(&index).map_or(&[][..], Vec::as_slice).iter().filter(|_| !is_context);
    let emphasis = Modifier::BOLD | Modifier::UNDERLINED;
    let mut ranges: Vec<(Range<usize>, Modifier)> = words.map(|word| (word.clone(), emphasis)).collect();
    ranges.extend(open.find_matches(&text).map(|found| (found, Modifier::REVERSED)));
    let width = rows::text_columns(view.app.geometry());
    let mut end = 0;
    let parts = open.wrapped_lines.get(&(index, width)).cloned().unwrap_or_else(|| wrap_line(&text, width));
    let lines = parts.into_iter().enumerate().map(|(n, part)| {
        let start = text.get(end..).and_then(|rest| rest.find(&part)).map_or(end, |at| end + at);
        end = start + part.len();
        let mut row = TextRow::new(width + GUTTER_WIDTH);
        if n == 0 {
            row.push(sign, style).push(&number, theme.muted).push("   ", Style::new());
        } else {
            row.push(" ".repeat(GUTTER_WIDTH), Style::new());
        }
        for (piece, modifiers) in split_at_modifiers(start..end, &ranges) {
            row.push(text.get(piece).unwrap_or_default(), style.add_modifier(modifiers));
        }
        row.line()
    });
    let mut lines: Vec<Line<'a>> = lines.collect();
    if let Some(last) = lines.last_mut().filter(|_| line.is_unterminated) {
        last.push_span(Span::styled("  (no line break at the end)", theme.muted));
    }
    lines
}

/// Splits a range wherever one of the ranges with modifiers starts or ends. Returns each piece with its modifiers.
fn split_at_modifiers(whole: Range<usize>, ranges: &[(Range<usize>, Modifier)]) -> Vec<(Range<usize>, Modifier)> {
    let mut ends: Vec<usize> = ranges.iter().flat_map(|(range, _)| [range.start, range.end]).collect();
    ends.retain(|end| whole.start < *end && *end < whole.end);
    ends.extend([whole.start, whole.end]);
    ends.sort_unstable();
    ends.dedup();
    let modifiers = |start: usize| {
        let inside = ranges.iter().filter(|(range, _)| range.contains(&start));
        inside.fold(Modifier::empty(), |all, (_, modifiers)| all | *modifiers)
    };
    ends.iter().zip(ends.iter().skip(1)).map(|(start, end)| (*start..*end, modifiers(*start))).collect()
}

/// While the search text is being typed, draws its input over the last line.
fn draw_search(frame: &mut Frame<'_>, view: View<'_>, open: &Changes, inner: Rect) {
    let Some(search) = open.search.as_ref().filter(|_| open.is_typing && inner.height > 1) else { return };
    let row = Rect { y: inner.bottom() - 1, height: 1, ..inner };
    frame.render_widget(ratatui::widgets::Clear, row);
    draw_line(frame, row, 0, Line::styled(" /", view.theme.key));
    let field = Rect { x: row.x + 2, width: row.width - 3, ..row };
    frame.render_widget(search.area(), field);
    cursor::place_cursor_in_input(frame, view, field);
}

impl Changes {
    /// Returns the ranges of a text in which the searched text occurs, ignoring case.
    fn find_matches(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let wanted = self.search.as_ref().map(|search| search.text().to_lowercase()).unwrap_or_default();
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = text.get(at..).filter(|_| !wanted.is_empty())?;
            let mut starts = rest.char_indices().map(|(offset, _)| at + offset);
            let found = starts.find_map(|start| Some(start..start + match_length(text.get(start..)?, &wanted)?))?;
            at = found.end;
            Some(found)
        })
    }
}

/// Returns the number of bytes at the start of `text` that match `wanted`, ignoring case. `None` if the text doesn't
/// start with `wanted`, which is in lower case.
fn match_length(text: &str, wanted: &str) -> Option<usize> {
    let mut wanted = wanted.chars().peekable();
    for (at, char) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        if !char.to_lowercase().all(|lower| wanted.next() == Some(lower)) {
            return None;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::match_length;

    #[test]
    fn a_match_ignores_case_also_of_letters_whose_other_case_has_another_length() {
        assert_eq!(match_length("Éa", "é"), Some(2));
        assert_eq!(match_length("İx", "i\u{307}x"), Some(3));
        assert_eq!(match_length("ab", "abc"), None);
        assert_eq!(match_length("ab", "b"), None);
    }
}
