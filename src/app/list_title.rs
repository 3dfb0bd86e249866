//! The title of the jobs list: the count, the filter, marks, sorting, tabs, and the jobs that need the user. Parts that
//! don't fit are left out, the least important first. Drawing and mouse clicks both use it, so that they agree on where
//! the tabs are.

use super::format::{fit, fit_from_end, format_count};
use super::jobs::JobList;
use super::order::{JobSorting, Sort};
use super::text_input::TextInput;
use super::{App, StoreState};
use crate::model::row::JobGroup;
use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitlePiece {
    Name,
    Count,
    /// The slash before the filter.
    Sign,
    Filter,
    /// Text of the filter that the next character replaces.
    Selected,
    Cursor,
    Marked,
    Sorting,
    /// A tab by its index (0 for all jobs), and whether it is active.
    Tab(usize, bool),
    Blank,
    Group(JobGroup),
    /// The separator of two parts.
    Between,
}

/// Pieces that are shown or left out together.
pub type TitlePart = Vec<(String, TitlePiece)>;

const BETWEEN: &str = " · ";
/// Below this width the list of all profiles' jobs has a shorter name.
const NARROW: usize = 50;

fn pieces_width(part: &[(String, TitlePiece)]) -> usize {
    part.iter().map(|(text, _)| text.width()).sum()
}

impl App {
    /// The title of the jobs list in `width` cells.
    pub fn list_title(&self, width: usize) -> TitlePart {
        let filter = |space| self.filter_pieces(space);
        self.assemble_title(self.title_head(), &self.jobs, &filter, width)
    }

    /// The title of the list of all profiles' jobs in `width` cells.
    pub fn all_jobs_title(&self, width: usize) -> TitlePart {
        let Some(open) = self.all_jobs() else { return TitlePart::new() };
        let name = if width < NARROW { " All profiles" } else { " Jobs of all profiles" };
        let mut head = vec![(name.to_owned(), TitlePiece::Name)];
        if open.is_read() {
            head.push((count_text(&open.list, ""), TitlePiece::Count));
        }
        let filter = |space| text_pieces(open.filter(), self.filter_input(), space);
        self.assemble_title(head, &open.list, &filter, width)
    }

    fn assemble_title(
        &self,
        mut title: TitlePart,
        list: &JobList,
        filter: &dyn Fn(usize) -> Option<TitlePart>,
        width: usize,
    ) -> TitlePart {
        let mut space = width.saturating_sub(pieces_width(&title) + 1);
        let mut push = |part: TitlePart, space: &mut usize| {
            let needed = pieces_width(&part) + BETWEEN.width();
            let fits = needed <= *space;
            if fits {
                *space -= needed;
                title.push((BETWEEN.to_owned(), TitlePiece::Between));
                title.extend(part);
            }
            fits
        };
        let marked = list.marked();
        let marked = (marked > 0).then(|| vec![(format!("{} marked", format_count(marked)), TitlePiece::Marked)]);
        let sorting = sorting(list.sorting()).map(|text| vec![(text, TitlePiece::Sorting)]);
        // The filter is cut before it is left out: the user has to see what narrows the list.
        let others =
            [&marked, &sorting].into_iter().flatten().map(|part| pieces_width(part) + BETWEEN.width()).sum::<usize>();
        let filter = filter(space.saturating_sub(others + BETWEEN.width()));
        for part in [filter, marked, sorting].into_iter().flatten() {
            push(part, &mut space);
        }
        if let Some(part) = self.tab_pieces() {
            let fits = push(part, &mut space);
            if !fits && let Some(part) = self.active_tab_piece(space.saturating_sub(BETWEEN.width())) {
                push(part, &mut space);
            }
        }
        for group in [JobGroup::NeedsYou, JobGroup::Working] {
            let n = if group == JobGroup::Working { list.working_count() } else { list.count_of(group) };
            // The headings below count only what passes the filter.
            let all = if list.filter().is_empty() { "" } else { " in all" };
            let part = vec![(format!("{} {}{all}", group.name(), format_count(n)), TitlePiece::Group(group))];
            // If a more important part doesn't fit, a less important one is not shown in its place.
            if n > 0 && !push(part, &mut space) {
                break;
            }
        }
        title.push((" ".to_owned(), TitlePiece::Blank));
        title
    }

    /// The saved filter whose tab is at a cell of the front list's title.
    pub(super) fn tab_at(&self, cell: usize, width: usize) -> Option<usize> {
        let mut end = 0;
        let title = if self.all_jobs().is_some() { self.all_jobs_title(width) } else { self.list_title(width) };
        title.into_iter().find_map(|(text, piece)| {
            let start = end;
            end += text.width();
            match piece {
                TitlePiece::Tab(place, _) if (start..end).contains(&cell) => Some(place),
                _ => None,
            }
        })
    }

    fn title_head(&self) -> TitlePart {
        let mut part = vec![(" Jobs".to_owned(), TitlePiece::Name)];
        if self.store == StoreState::Read {
            let text = count_text(&self.jobs, " tracked");
            part.push((text, TitlePiece::Count));
        }
        part
    }

    /// The text of the screen's filter in `space` cells, with its cursor while it is being typed.
    pub fn filter_pieces(&self, space: usize) -> Option<TitlePart> {
        // Text typed over the list of all profiles' jobs belongs to that list.
        let input = if self.all_jobs().is_some() { None } else { self.filter_input() };
        text_pieces(self.filter_text(), input, space)
    }

    fn tab_pieces(&self) -> Option<TitlePart> {
        let mut part = TitlePart::new();
        for (place, (name, is_active)) in self.tabs().enumerate() {
            if place > 0 {
                part.push((" ".to_owned(), TitlePiece::Blank));
            }
            part.push((tab_text(name, is_active), TitlePiece::Tab(place, is_active)));
        }
        (!part.is_empty()).then_some(part)
    }

    /// The active tab, if there is no space for all of them.
    fn active_tab_piece(&self, space: usize) -> Option<TitlePart> {
        let (place, (name, _)) = self.tabs().enumerate().find(|(_, (_, is_active))| *is_active)?;
        (space > 4).then(|| vec![(tab_text(&fit(name, space.saturating_sub(2)), true), TitlePiece::Tab(place, true))])
    }
}

/// The number of jobs; of a filtered list, how many pass.
fn count_text(list: &JobList, words: &str) -> String {
    let (shown, all) = (list.matching_count(), list.len());
    if list.filter().is_empty() {
        format!(": {}{words}", format_count(all))
    } else {
        format!(": {} of {}", format_count(shown), format_count(all))
    }
}

/// The text of a filter in `space` cells, with its cursor while it is being typed.
fn text_pieces(text: &str, input: Option<&TextInput>, space: usize) -> Option<TitlePart> {
    let sign = ("/".to_owned(), TitlePiece::Sign);
    let Some(input) = input else {
        let text = text.trim();
        return (!text.is_empty()).then(|| vec![sign, (fit(text, space.saturating_sub(1)), TitlePiece::Filter)]);
    };
    let text = input.text();
    let at = input.column();
    let before: String = text.chars().take(at).collect();
    let under: String = text.chars().nth(at).map_or_else(|| " ".to_owned(), String::from);
    let after: String = text.chars().skip(at + 1).collect();
    let before = fit_from_end(&before, space.saturating_sub(1 + under.width()));
    let after = fit(&after, space.saturating_sub(1 + before.width() + under.width()));
    let text_piece = if input.is_selected() { TitlePiece::Selected } else { TitlePiece::Filter };
    Some(vec![sign, (before, text_piece), (under, TitlePiece::Cursor), (after, TitlePiece::Filter)])
}

/// The sorting, unless it is the default.
fn sorting(sorting: JobSorting) -> Option<String> {
    (sorting != JobSorting::default()).then(|| {
        let arrow = if sorting.reversed { " ↑" } else { "" };
        match sorting.by {
            Sort::Need => "oldest first".to_owned(),
            by => format!("by {}{arrow}", by.name()),
        }
    })
}

/// The active tab has brackets, so that it does not depend on colour alone.
fn tab_text(name: &str, is_active: bool) -> String {
    if is_active { format!("[{name}]") } else { format!(" {name} ") }
}
