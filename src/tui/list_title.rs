//! The title of the jobs list: its name or its filter, marks, sorting and tabs. Parts that don't fit are left
//! out, the least important first. Drawing and mouse clicks use the same title, so that they agree on where the tabs
//! are.

use super::analytics::AnalyticsTab;
use super::format::{format_count, truncate, truncate_start};
use super::jobs::JobList;
use super::order::{JobSorting, Sort};
use super::{App, Screen};
use crate::tui::widgets::text_input::TextInput;
use unicode_width::UnicodeWidthStr;

/// The kind of a piece of the title. It determines how the piece is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitlePieceKind {
    Name,
    Count,
    /// The slash before the filter.
    FilterSlash,
    Filter,
    /// The selected text of the filter, which the next typed character replaces.
    SelectedFilter,
    Cursor,
    /// An example of a filter, shown while nothing is typed.
    Placeholder,
    Marked,
    Sorting,
    /// A tab: its index (0 for all jobs), and whether the tab is active.
    Tab(usize, bool),
    Blank,
}

/// Consecutive pieces of the title, each with its text. They are the whole title or one of its parts. A part is
/// shown or left out as a unit.
pub type TitlePieces = Vec<(String, TitlePieceKind)>;

const PART_SEPARATOR: &str = "  ";
/// An example of a filter of jobs, with all common kinds of terms.
const JOB_FILTER_EXAMPLE: &str = "words  s:failed  pr:ready  #1423  tag:x  !word";

fn pieces_width(part: &[(String, TitlePieceKind)]) -> usize {
    part.iter().map(|(text, _)| text.width()).sum()
}

impl App {
    /// Returns the title of the jobs list, in `width` cells.
    pub fn list_title(&self, width: usize) -> TitlePieces {
        let name = vec![("Jobs".to_owned(), TitlePieceKind::Name)];
        let filter = |space| self.filter_pieces(space);
        // The filter takes the place of the name.
        let name = if filter(width).is_some() { TitlePieces::new() } else { name };
        self.assemble_title(name, &self.jobs, &filter, width)
    }

    /// Returns the title of the list of all profiles' jobs, in `width` cells. Empty if that list is not open.
    pub fn all_jobs_title(&self, width: usize) -> TitlePieces {
        let Some(open) = &self.all_jobs else { return TitlePieces::new() };
        let name = "All profiles";
        let head = vec![(name.to_owned(), TitlePieceKind::Name)];
        let filter = |space| {
            let mut pieces = filter_text_pieces(open.filter(), self.filter_input(), space)?;
            pieces.extend(placeholder(self.filter_input(), JOB_FILTER_EXAMPLE, space));
            Some(pieces)
        };
        self.assemble_title(head, &open.list, &filter, width)
    }

    /// Appends to `title` the parts that fit in `width` cells. `filter` returns the part for the filter, cut to a given
    /// number of cells.
    fn assemble_title(
        &self,
        mut title: TitlePieces,
        list: &JobList,
        filter: &dyn Fn(usize) -> Option<TitlePieces>,
        width: usize,
    ) -> TitlePieces {
        let mut space = width.saturating_sub(pieces_width(&title));
        let mut push = |part: TitlePieces, space: &mut usize| {
            let separator = if title.is_empty() { "" } else { PART_SEPARATOR };
            let needed = pieces_width(&part) + separator.width();
            let fits = needed <= *space;
            if fits {
                *space -= needed;
                title.push((separator.to_owned(), TitlePieceKind::Blank));
                title.extend(part);
            }
            fits
        };
        let marked = list.marked_count();
        let marked = (marked > 0).then(|| vec![(format!("{} marked", format_count(marked)), TitlePieceKind::Marked)]);
        let sorting = sorting_text(list.sorting()).map(|text| vec![(text, TitlePieceKind::Sorting)]);
        let count = (!list.filter().is_empty()).then(|| vec![(match_count_text(list), TitlePieceKind::Count)]);
        let others = [&count, &marked, &sorting]
            .into_iter()
            .flatten()
            .map(|part| pieces_width(part) + PART_SEPARATOR.width())
            .sum::<usize>();
        // A long filter is cut rather than left out, because the user has to see why jobs are missing.
        let filter = filter(space.saturating_sub(others + PART_SEPARATOR.width()));
        for part in [filter, count, marked, sorting].into_iter().flatten() {
            push(part, &mut space);
        }
        if let Some(part) = self.tab_pieces() {
            let fits = push(part, &mut space);
            if !fits && let Some(part) = self.active_tab_piece(space.saturating_sub(PART_SEPARATOR.width())) {
                push(part, &mut space);
            }
        }
        title
    }

    /// Returns the index of the tab at a cell of the title (0 for all jobs). `None` if no tab is there. The title is
    /// that of the list of all profiles' jobs if that list is open, otherwise that of the jobs list.
    pub(super) fn filter_tab_at(&self, cell: usize, width: usize) -> Option<usize> {
        let mut end = 0;
        let title = if self.all_jobs.is_some() { self.all_jobs_title(width) } else { self.list_title(width) };
        title.into_iter().find_map(|(text, piece)| {
            let start = end;
            end += text.width();
            match piece {
                TitlePieceKind::Tab(place, _) if (start..end).contains(&cell) => Some(place),
                _ => None,
            }
        })
    }

    /// Returns the filter of the current screen in `space` cells, with the cursor while the filter is being typed.
    /// `None` without a filter.
    pub fn filter_pieces(&self, space: usize) -> Option<TitlePieces> {
        // While the list of all profiles' jobs is open, the filter input belongs to that list, so it is not shown here.
        let input = if self.all_jobs.is_some() { None } else { self.filter_input() };
        let mut pieces = filter_text_pieces(self.filter_text(), input, space)?;
        pieces.extend(placeholder(input, self.filter_example(), space));
        Some(pieces)
    }

    /// Returns an example of a filter of the current screen.
    fn filter_example(&self) -> &'static str {
        if self.screen == Screen::Jobs {
            return JOB_FILTER_EXAMPLE;
        }
        match self.analytics.tab {
            AnalyticsTab::Pages if self.views.is_comparing() => "words  human>500  ai>50%  d<-20%  !word",
            AnalyticsTab::Pages => "words  human>500  ai>50%  !word",
            AnalyticsTab::Searches => "words  searches>20  clicked<5%  unclicked  !word",
            AnalyticsTab::Feedback if self.analytics.is_feedback_by_page => "words  down>=3  !word",
            AnalyticsTab::Feedback => "words  down  pending  comment  !word",
            AnalyticsTab::Questions if self.analytics.are_questions_grouped() => "words  !word",
            AnalyticsTab::Questions => "words  unanswered  !word",
            AnalyticsTab::NeedsWork => "words  unanswered>3  change<-30%  !word",
        }
    }

    fn tab_pieces(&self) -> Option<TitlePieces> {
        let mut part = TitlePieces::new();
        for (place, (name, is_active)) in self.filter_tabs().enumerate() {
            if place > 0 {
                part.push((" ".to_owned(), TitlePieceKind::Blank));
            }
            part.push((tab_text(name, is_active), TitlePieceKind::Tab(place, is_active)));
        }
        (!part.is_empty()).then_some(part)
    }

    /// Returns the active tab alone, cut to `space` cells, for a title without enough space for all tabs. `None` if
    /// there is no tab, or not even space for a short name.
    fn active_tab_piece(&self, space: usize) -> Option<TitlePieces> {
        let (place, (name, _)) = self.filter_tabs().enumerate().find(|(_, (_, is_active))| *is_active)?;
        (space > 4)
            .then(|| vec![(tab_text(&truncate(name, space.saturating_sub(2)), true), TitlePieceKind::Tab(place, true))])
    }
}

/// Returns how many of the jobs of the list pass its filter: `3 of 40`.
fn match_count_text(list: &JobList) -> String {
    format!("{} of {}", format_count(list.matching_count()), format_count(list.len()))
}

/// Returns the pieces of a filter, cut to `space` cells. They show `input` with its cursor while the filter is being
/// typed, otherwise `text`. `None` if there is no filter.
fn filter_text_pieces(text: &str, input: Option<&TextInput>, space: usize) -> Option<TitlePieces> {
    let sign = ("/".to_owned(), TitlePieceKind::FilterSlash);
    let Some(input) = input else {
        let text = text.trim();
        return (!text.is_empty())
            .then(|| vec![sign, (truncate(text, space.saturating_sub(1)), TitlePieceKind::Filter)]);
    };
    let text = input.text();
    let at = input.cursor_column();
    let before: String = text.chars().take(at).collect();
    let under: String = text.chars().nth(at).map_or_else(|| " ".to_owned(), String::from);
    let after: String = text.chars().skip(at + 1).collect();
    let before = truncate_start(&before, space.saturating_sub(1 + under.width()));
    let after = truncate(&after, space.saturating_sub(1 + before.width() + under.width()));
    let text_piece = if input.has_selection() { TitlePieceKind::SelectedFilter } else { TitlePieceKind::Filter };
    Some(vec![sign, (before, text_piece), (under, TitlePieceKind::Cursor), (after, TitlePieceKind::Filter)])
}

/// Returns the example of a filter that an open, empty input shows: as many of its terms as fit after the slash and the
/// cursor. `None` if no input is open, if the input is not empty, or if no term fits.
fn placeholder(input: Option<&TextInput>, example: &str, space: usize) -> Option<(String, TitlePieceKind)> {
    let ends = example.match_indices("  ").map(|(at, _)| at).chain([example.len()]);
    let fitting = ends.filter_map(|end| example.get(..end)).filter(|part| part.width() + 2 <= space);
    let shown = fitting.last().filter(|_| input.is_some_and(TextInput::is_blank))?;
    Some((shown.to_owned(), TitlePieceKind::Placeholder))
}

/// Returns the description of a sorting. `None` for the default sorting.
fn sorting_text(sorting: JobSorting) -> Option<String> {
    (sorting != JobSorting::default()).then(|| {
        let arrow = if sorting.is_reversed { " ↑" } else { "" };
        match sorting.by {
            Sort::Group => "oldest first".to_owned(),
            by => format!("by {}{arrow}", by.label()),
        }
    })
}

/// Returns the text of a tab. The active tab is in brackets, so that it can be recognized without colours.
fn tab_text(name: &str, is_active: bool) -> String {
    if is_active { format!("[{name}]") } else { format!(" {name} ") }
}
