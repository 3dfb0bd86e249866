//! The title of the jobs list: how many are shown, the filter, marks, sorting, saved filters as tabs, and what needs
//! the user. What has no room is left out, the least important first. Drawing and the mouse both ask here, so that they
//! agree where the tabs stand.

use super::format::{count, fit, fit_end};
use super::jobs::JobList;
use super::order::{JobSorting, Sort};
use super::text_input::TextInput;
use super::{App, StoreState};
use crate::model::row::JobGroup;
use unicode_width::UnicodeWidthStr;

/// What a piece of the title is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitlePiece {
    Name,
    Count,
    /// The sign before the filter.
    Sign,
    Filter,
    /// Text of the filter that the next character replaces.
    Selected,
    /// Where the filter is typed.
    Cursor,
    Marked,
    Sorting,
    /// A saved filter by its place, from 0 for all jobs; and whether it holds.
    Tab(usize, bool),
    /// Between two tabs, and at the end.
    Blank,
    Group(JobGroup),
    /// Between two parts.
    Between,
}

/// Pieces that stand and fall together.
pub type TitlePart = Vec<(String, TitlePiece)>;

const BETWEEN: &str = " · ";
/// Below this width the list of all profiles' jobs has a shorter name.
const NARROW: usize = 50;

fn cells(part: &[(String, TitlePiece)]) -> usize {
    part.iter().map(|(text, _)| text.width()).sum()
}

impl App {
    /// The title in so many cells.
    pub fn list_title(&self, width: usize) -> TitlePart {
        let filter = |room| self.filter_pieces(room);
        self.titled(self.title_head(), &self.jobs, &filter, width)
    }

    /// The title of the list of all profiles' jobs in so many cells.
    pub fn all_jobs_title(&self, width: usize) -> TitlePart {
        let Some(open) = self.all_jobs() else { return TitlePart::new() };
        let name = if width < NARROW { " All profiles" } else { " Jobs of all profiles" };
        let mut head = vec![(name.to_owned(), TitlePiece::Name)];
        if open.is_read() {
            head.push((counted(&open.list, ""), TitlePiece::Count));
        }
        let filter = |room| pieces(open.filter(), self.filter_input(), room);
        self.titled(head, &open.list, &filter, width)
    }

    fn titled(
        &self,
        mut title: TitlePart,
        list: &JobList,
        filter: &dyn Fn(usize) -> Option<TitlePart>,
        width: usize,
    ) -> TitlePart {
        let mut room = width.saturating_sub(cells(&title) + 1);
        let mut push = |part: TitlePart, room: &mut usize| {
            let needed = cells(&part) + BETWEEN.width();
            let fits = needed <= *room;
            if fits {
                *room -= needed;
                title.push((BETWEEN.to_owned(), TitlePiece::Between));
                title.extend(part);
            }
            fits
        };
        let marked = list.marked();
        let marked = (marked > 0).then(|| vec![(format!("{} marked", count(marked)), TitlePiece::Marked)]);
        let sorting = sorting(list.sorting()).map(|text| vec![(text, TitlePiece::Sorting)]);
        // The filter is cut before it is left out: what narrows the list has to be seen.
        let others = [&marked, &sorting].into_iter().flatten().map(|part| cells(part) + BETWEEN.width()).sum::<usize>();
        let filter = filter(room.saturating_sub(others + BETWEEN.width()));
        for part in [filter, marked, sorting].into_iter().flatten() {
            push(part, &mut room);
        }
        if let Some(part) = self.tab_pieces() {
            let fits = push(part, &mut room);
            if !fits && let Some(part) = self.tab_piece(room.saturating_sub(BETWEEN.width())) {
                push(part, &mut room);
            }
        }
        for group in [JobGroup::NeedsYou, JobGroup::Working] {
            let n = if group == JobGroup::Working { list.active() } else { list.count_of(group) };
            // The headings below count what passes the filter.
            let all = if list.filter().is_empty() { "" } else { " in all" };
            let part = vec![(format!("{} {}{all}", group.name(), count(n)), TitlePiece::Group(group))];
            // Without room for what is more important, what is less so is not said in its place.
            if n > 0 && !push(part, &mut room) {
                break;
            }
        }
        title.push((" ".to_owned(), TitlePiece::Blank));
        title
    }

    /// The saved filter, by its place, whose tab stands in a cell of the title of the list in front.
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
            // Known on this computer, not all that the service has.
            let text = counted(&self.jobs, " known here");
            part.push((text, TitlePiece::Count));
        }
        part
    }

    /// The text of the screen's filter in so many cells; with its cursor while it is typed.
    pub fn filter_pieces(&self, room: usize) -> Option<TitlePart> {
        // What is typed over the list of all profiles' jobs is that list's.
        let input = if self.all_jobs().is_some() { None } else { self.filter_input() };
        pieces(self.filter_text(), input, room)
    }

    fn tab_pieces(&self) -> Option<TitlePart> {
        let mut part = TitlePart::new();
        for (place, (name, holds)) in self.tabs().enumerate() {
            if place > 0 {
                part.push((" ".to_owned(), TitlePiece::Blank));
            }
            part.push((tab_text(name, holds), TitlePiece::Tab(place, holds)));
        }
        (!part.is_empty()).then_some(part)
    }

    /// The tab that holds, where there is no room for all.
    fn tab_piece(&self, room: usize) -> Option<TitlePart> {
        let (place, (name, _)) = self.tabs().enumerate().find(|(_, (_, holds))| *holds)?;
        (room > 4).then(|| vec![(tab_text(&fit(name, room.saturating_sub(2)), true), TitlePiece::Tab(place, true))])
    }
}

/// How many there are; of a list that is filtered, how many pass.
fn counted(list: &JobList, words: &str) -> String {
    let (shown, all) = (list.passing(), list.len());
    if list.filter().is_empty() {
        format!(": {}{words}", count(all))
    } else {
        format!(": {} of {}", count(shown), count(all))
    }
}

/// The text of a filter in so many cells; with its cursor while it is typed.
fn pieces(text: &str, input: Option<&TextInput>, room: usize) -> Option<TitlePart> {
    let sign = ("/".to_owned(), TitlePiece::Sign);
    let Some(input) = input else {
        let text = text.trim();
        return (!text.is_empty()).then(|| vec![sign, (fit(text, room.saturating_sub(1)), TitlePiece::Filter)]);
    };
    let text = input.text();
    let at = input.column();
    let before: String = text.chars().take(at).collect();
    let under: String = text.chars().nth(at).map_or_else(|| " ".to_owned(), String::from);
    let after: String = text.chars().skip(at + 1).collect();
    let before = fit_end(&before, room.saturating_sub(1 + under.width()));
    let after = fit(&after, room.saturating_sub(1 + before.width() + under.width()));
    let written = if input.is_selected() { TitlePiece::Selected } else { TitlePiece::Filter };
    Some(vec![sign, (before, written), (under, TitlePiece::Cursor), (after, TitlePiece::Filter)])
}

/// Said when it is not the usual one.
fn sorting(sorting: JobSorting) -> Option<String> {
    (sorting != JobSorting::default()).then(|| {
        let arrow = if sorting.reversed { " ↑" } else { "" };
        match sorting.by {
            Sort::Need => "oldest first".to_owned(),
            by => format!("by {}{arrow}", by.name()),
        }
    })
}

/// The one that holds stands in brackets: not by colour alone.
fn tab_text(name: &str, holds: bool) -> String {
    if holds { format!("[{name}]") } else { format!(" {name} ") }
}
