//! The last line: the keys of this moment, which have room and where each stands. Above it what there is to say, for as
//! long as it is said. Drawing and the mouse both ask here, so that they agree.

use super::dialog::Dialog;
use super::format::{cells, count, plural};
use super::keymap::{Action, Binding, Chord};
use super::message_fit::fit_message as laid_out;
use super::{App, Screen, Severity};
use ratatui::layout::Rect;

/// Most lines that information or a tip takes.
const INFO_LINES: usize = 4;
/// Fewest and most lines that a problem may take.
const PROBLEM_LINES: (usize, usize) = (4, 8);
/// A screen of fewer rows is given back by the next key.
const SMALL: usize = 20;
const PROBLEM_LINES_READ: usize = 2;
/// Most lines of what has to stay in sight.
const ALERT_LINES: usize = 4;
/// Cells before the words of one.
const INDENT: usize = 3;
/// Cells from which on a footer has room for some keys of the job and of the list.
const ROOMY: usize = 80;

/// A key with the word for what it does: a blank, the key, a blank, the word, a blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Its first cell.
    pub at: usize,
    pub chord: Chord,
    pub key: String,
    pub word: String,
    /// What it does; none for a key of the user's own.
    action: Option<Action>,
    /// It stands at the right, where nothing moves it.
    is_standing: bool,
}

impl Hint {
    fn new(chord: Chord, word: String) -> Self {
        Self { at: 0, chord, key: chord.to_string(), word, action: None, is_standing: false }
    }

    /// Cells that it takes.
    pub fn width(&self) -> usize {
        cells(&self.key) + cells(&self.word) + 3
    }

    /// Help and quit have a place come what may, at the right: they stay where they are whatever is selected.
    fn is_kept(&self) -> bool {
        matches!(self.action, Some(Action::Help | Action::Quit | Action::Interrupt))
    }
}

impl App {
    /// The keys of this moment in so many cells, whole ones only; the last two, help and quit, come what may. Those of the
    /// selected job stand at the left, those of the list at the right, the foremost outermost: a move that changes the one
    /// leaves the other where it is.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let is_list = self.screen == Screen::Jobs && self.dialogs.is_empty();
        let hint = |(chord, row): (Chord, &Binding)| Hint {
            action: Some(row.action),
            is_standing: is_list && is_of_list(row.action),
            ..Hint::new(chord, self.hint(row))
        };
        let is_marked = self.footer_label().is_some();
        let works = |(_, row): &(Chord, &Binding)| !is_marked || works_on_marks(row.action);
        let mut items: Vec<Hint> = self.hints().filter(works).map(hint).collect();
        // The user's own come behind what belongs to this screen, before what holds everywhere.
        let is_general = |item: &Hint| matches!(item.action, Some(Action::Refresh | Action::Help));
        let place = items.iter().position(is_general).unwrap_or(items.len());
        let own = self.own_hints().map(|own| Hint::new(own.key, own.name.to_string()));
        items.splice(place..place, own.collect::<Vec<_>>());
        let reserved: usize = items.iter().filter(|item| item.is_kept()).map(Hint::width).sum();
        // The foremost of the list's has its place before the job's, where there is room for both.
        let is_foremost = |item: &&Hint| item.is_standing && item.action == Some(Action::Filter) && width >= ROOMY;
        let foremost = items.iter().find(is_foremost).map_or(0, Hint::width);
        let label = self.footer_label().map_or(0, |label| cells(&label));
        let (mut used, mut standing, mut kept) = (label, reserved, width.saturating_sub(reserved));
        let mut is_full = false;
        items.retain_mut(|item| {
            let fits = item.is_kept()
                || if item.is_standing {
                    // What comes after one that has no room would take its place.
                    is_full |= used + standing + item.width() > width;
                    !is_full
                } else {
                    used + standing.max(reserved + foremost) + item.width() <= width
                };
            if item.is_standing && fits {
                standing += item.width();
                item.at = width - standing;
            } else if fits {
                let at = if item.is_kept() { &mut kept } else { &mut used };
                item.at = *at;
                *at += item.width();
            }
            fits
        });
        items.sort_by_key(|item| item.at);
        items
    }

    /// What stands before the keys: how many jobs are marked, while keys work on those.
    pub fn footer_label(&self) -> Option<String> {
        let is_list = matches!(self.dialogs.last(), None | Some(Dialog::AllJobs(_)));
        (is_list && self.acts_on_marks()).then(|| format!(" {} marked:", count(self.listed().marked())))
    }

    /// What docdeck could not record and the user must know until it is recorded, in lines of so many cells.
    pub fn alerts(&self, width: usize) -> Vec<String> {
        let mut all = self.unrecorded.iter();
        let Some(oldest) = all.next() else { return Vec::new() };
        let more = match all.count() {
            0 => String::new(),
            n => format!(" {} can't be recorded either.", plural(n, "more prompt")),
        };
        marked('!', &format!("{}{more}", oldest.sentence()), width, ALERT_LINES)
    }

    /// The message over the last lines of the body: what could not be recorded, then a notice, what is wrong with the filter,
    /// or a tip, in lines of so many cells; empty if there is none.
    pub fn said(&self, width: usize) -> Vec<String> {
        let mut lines = self.alerts(width);
        // A tip can wait.
        if lines.is_empty() || self.notice.is_some() || self.filter_problem().is_some() {
            lines.extend(self.passing_message(width));
        }
        lines
    }

    fn passing_message(&self, width: usize) -> Vec<String> {
        let rows = usize::from(self.size.1);
        let most = match &self.notice {
            Some(notice) if notice.is_read && rows < SMALL => PROBLEM_LINES_READ,
            _ => (rows * 3 / 5).clamp(PROBLEM_LINES.0, PROBLEM_LINES.1),
        };
        match (&self.notice, self.tip()) {
            (Some(notice), _) => match notice.severity {
                Severity::Info => plain(notice.text.as_str(), width),
                Severity::Greeting => marked('✓', notice.text.as_str(), width, most),
                Severity::Problem => marked('!', notice.text.as_str(), width, most),
            },
            (None, tip) => match (self.filter_problem(), tip) {
                (Some(problem), _) => marked('!', &problem, width, most),
                (None, Some(tip)) => plain(tip, width),
                (None, None) => Vec::new(),
            },
        }
    }

    /// Where so many lines are said: over the last ones of the body, so that the keys stay in sight. Page views have a line
    /// of their own there, that says which they are and takes their filter: it stays in sight as well.
    pub fn said_at(&self, lines: usize) -> Rect {
        let body = self.geometry().body;
        let has_foot = self.screen == Screen::Views && matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)));
        let height = u16::try_from(lines).unwrap_or(u16::MAX).min(body.height);
        let y = body.bottom().saturating_sub(height + u16::from(has_foot)).max(body.y);
        Rect { y, height, ..body }
    }
}

impl App {
    /// Rows of the log: its newest lines stand above what is said.
    pub fn log_rows(&self) -> usize {
        self.uncovered(self.geometry().log_lines())
    }

    /// Rows at the top of these lines that nothing is said over; one at least. What is selected stays among them, so that it
    /// is seen, and the terminal's cursor stands on it.
    pub(super) fn uncovered(&self, lines: Rect) -> usize {
        let said = self.said(usize::from(self.size.0)).len();
        let end = if said == 0 { lines.bottom() } else { self.said_at(said).y.min(lines.bottom()) };
        usize::from(end.saturating_sub(lines.y)).max(1)
    }
}

/// Whether the footer offers a key while jobs are marked: those that are about the selected job alone or about no job would
/// stand beside the number of marked ones.
fn works_on_marks(action: Action) -> bool {
    !matches!(
        action,
        Action::NewJob | Action::Drafts | Action::Batch | Action::Track | Action::Resolve | Action::BeforeAfter
    )
}

/// Whether an action is the list's, whichever job is selected.
fn is_of_list(action: Action) -> bool {
    matches!(action, Action::Filter | Action::NextSort | Action::Mark | Action::Batch | Action::Track | Action::Refresh)
}

/// The lines of a text.
fn plain(text: &str, width: usize) -> Vec<String> {
    laid_out(text, width.saturating_sub(1), INFO_LINES).into_iter().map(|line| format!(" {line}")).collect()
}

/// The lines of a text behind a sign, at most so many.
fn marked(sign: char, text: &str, width: usize, most: usize) -> Vec<String> {
    let lines = laid_out(text, width.saturating_sub(INDENT), most);
    let lead = |n| if n == 0 { sign } else { ' ' };
    lines.into_iter().enumerate().map(|(n, line)| format!(" {} {line}", lead(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Msg;
    use crate::app::finish_alerts::tests::{app, press};
    use crate::app::jobs::JobLine;
    use crate::app::jobs::tests::{at, row};
    use crate::model::job::Status;

    #[test]
    fn help_and_quit_stay_where_they_are_whatever_job_is_selected() {
        let mut bare = row(2, Status::Active);
        bare.id = None;
        let mut app = app(vec![row(1, Status::Completed), bare]);
        for width in [40, 80, 120, 160] {
            let places = |app: &App| {
                let hints = app.footer(width);
                assert!(hints.windows(2).all(|two| two[0].at + two[0].width() <= two[1].at), "{hints:?}");
                let kept = hints.iter().filter(|hint| hint.is_kept()).map(|hint| (hint.word.clone(), hint.at));
                (kept.collect::<Vec<_>>(), hints.last().map(|hint| hint.at + hint.width()), hints.len())
            };
            press(&mut app, 'g');
            let before = places(&app);
            press(&mut app, 'G');
            let after = places(&app);
            assert_eq!((&before.0, before.1), (&after.0, Some(width)));
            assert_eq!((before.0.len(), after.1), (2, Some(width)));
        }
        for width in 60..=160 {
            let stand = |app: &App| {
                let hints = app.footer(width).into_iter().filter(|hint| hint.is_standing);
                hints.map(|hint| (hint.word.clone(), width - hint.at)).collect::<Vec<_>>()
            };
            press(&mut app, 'g');
            let before = stand(&app);
            press(&mut app, 'G');
            let after = stand(&app);
            let (few, many) = if before.len() < after.len() { (&before, &after) } else { (&after, &before) };
            assert!(many.ends_with(few), "{width}: {before:?} {after:?}");
            assert!(width < ROOMY || few.last().is_some_and(|(word, _)| word == "filter"), "{width}: {few:?}");
        }
        press(&mut app, 'g');
        let words = |app: &App| app.footer(160).into_iter().map(|hint| hint.word).collect::<Vec<_>>();
        let first = words(&app);
        press(&mut app, 'G');
        assert_ne!(first, words(&app), "the keys of the job are others");
    }

    #[test]
    fn what_is_said_does_not_cover_the_selected_row() {
        let mut app = app((1..=40).map(|key| row(key, Status::Failed)).collect());
        let lines = app.geometry().list_lines();
        let stands = |app: &App| {
            let key = app.jobs.selected().expect("one is selected").key;
            let is_it = |line: JobLine<'_>| matches!(line, JobLine::Job(row) if row.key == key);
            usize::from(lines.y) + app.jobs.visible(100).position(is_it).expect("in sight")
        };
        for _ in 0..usize::from(lines.height) + 3 {
            press(&mut app, 'j');
        }
        assert_eq!(stands(&app), usize::from(lines.bottom()) - 1, "on the last row");
        app.notify(Severity::Problem, &"Something went wrong, and that takes a few lines to say. ".repeat(5), at(1));
        app.update(Msg::Wake, at(1));
        let said = app.said(usize::from(app.size.0)).len();
        assert!(said > 2 && stands(&app) < usize::from(app.said_at(said).y), "{} {said}", stands(&app));
    }

    #[test]
    fn what_is_not_recorded_is_shown_until_it_is_on_every_screen_beside_any_notice() {
        use crate::model::engine_event::EngineEvent;
        use crate::model::job::JobId;
        use crate::model::prompt::{Delivery, PromptId, PromptKind};
        use crate::model::text::CleanText;
        use crate::model::unrecorded::{Obstacle, Unrecorded};
        let accepted = |prompt| {
            Msg::News(EngineEvent::Unrecorded(Box::new(Unrecorded {
                prompt: PromptId(prompt),
                kind: PromptKind::Create,
                id: JobId::new(&format!("job_{prompt}")),
                outcome: Delivery::Accepted,
                obstacle: Obstacle {
                    what: CleanText::line("the disk is full"),
                    remedy: CleanText::line("free some space"),
                },
                is_retried: true,
            })))
        };
        let mut app = app((1..=40).map(|key| row(key, Status::Failed)).collect());
        app.update(accepted(1), at(0));
        app.update(accepted(2), at(0));
        for keys in ["2", "3", "1", "?"] {
            keys.chars().for_each(|key| drop(press(&mut app, key)));
            app.update(Msg::Wake, at(100_000));
            for width in [37, 77] {
                let said = app.said(width);
                let text = said.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                assert!(text.contains("Accepted as job_1, but it can't be recorded: the disk is full."), "{text}");
                assert!(text.contains("1 more prompt can't be recorded either.") || width < 40, "{text}");
            }
        }
        app.notify(Severity::Info, "Something else.", at(100_000));
        assert!(app.said(77).len() > app.alerts(77).len() && !app.alerts(77).is_empty());
        for prompt in [1, 2] {
            app.update(Msg::News(EngineEvent::Recorded(PromptId(prompt))), at(100_001));
        }
        assert_eq!(app.said(77), [" ✓ Recorded now: job_2."]);
    }

    #[test]
    fn what_is_said_over_the_log_hides_none_of_its_newest_lines() {
        use crate::app::Severity;
        use crate::model::log::{LogEntry, LogKind};
        use crate::model::text::CleanText;
        for size in [(40, 12), (80, 24)] {
            let mut app = app(vec![row(1, Status::Active)]);
            app.size = size;
            press(&mut app, '3');
            for n in 0..40 {
                let what = LogKind::Note(CleanText::line("x"));
                app.log.push(LogEntry { at: at(n), subject: CleanText::line("job"), what });
            }
            let all = app.log_rows();
            let failure = "The service can't be reached (connection refused), so nothing was sent: check the network, then \
                           ask again, and again, until it is reached.";
            app.notify(Severity::Problem, failure, at(50));
            let said = app.said_at(app.said(usize::from(size.0)).len());
            assert!(app.log_rows() < all, "{size:?}");
            let newest = app.log.visible(app.log_rows()).last().map(|entry| entry.at);
            assert_eq!(newest, Some(at(39)));
            assert!(app.geometry().log_lines().y + u16::try_from(app.log_rows()).expect("few") <= said.y, "{size:?}");
        }
    }

    #[test]
    fn a_problem_that_needs_more_lines_is_parted_between_words() {
        let marked = |text, width| super::marked('!', text, width, 4);
        assert_eq!(marked("all fits", 20), [" ! all fits"]);
        let said = "The service can't be reached, so nothing was sent";
        assert_eq!(marked(said, 31), [" ! The service can't be", "   reached, so nothing was sent"]);
        let said = "one two three four five six seven eight";
        assert_eq!(marked(said, 10), [" ! one two", "   three", "   four", "   five…"]);
    }
}
