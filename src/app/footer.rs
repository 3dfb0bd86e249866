//! The layout of the last line, which shows the most important keys, and of the messages above it. Drawing and the
//! mouse both use it, so that they agree.

use super::dialog::Dialog;
use super::format::{display_width, format_count, plural};
use super::keymap::{Action, Binding, Chord};
use super::message_fit::fit_message;
use super::{App, Screen, Severity};
use ratatui::layout::Rect;

/// The maximum number of lines of information or a tip.
const INFO_LINES: usize = 4;
/// Limits for the maximum number of lines of a problem, which depends on the rows of the screen.
const PROBLEM_LINES: (usize, usize) = (4, 8);
/// On a screen of fewer rows, the next key shrinks a problem to `PROBLEM_LINES_READ` lines.
const SMALL: usize = 20;
const PROBLEM_LINES_READ: usize = 2;
/// The maximum number of lines of an alert, which stays until it is resolved.
const ALERT_LINES: usize = 4;
/// Cells before the text of an alert or a problem.
const INDENT: usize = 3;
/// The minimum width in cells at which the footer shows keys of both the job and the list.
const ROOMY: usize = 80;

/// A key with its label: a space, the key, a space, the label, a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The first cell.
    pub at: usize,
    pub chord: Chord,
    pub key: String,
    pub label: String,
    /// `None` for a custom command.
    action: Option<Action>,
    /// Whether the hint has a fixed position at the right.
    is_fixed: bool,
}

impl Hint {
    fn new(chord: Chord, word: String) -> Self {
        Self { at: 0, chord, key: chord.to_string(), label: word, action: None, is_fixed: false }
    }

    /// The width in cells.
    pub fn width(&self) -> usize {
        display_width(&self.key) + display_width(&self.label) + 3
    }

    /// Whether the hint is always shown, at the far right: help and quit.
    fn is_always_shown(&self) -> bool {
        matches!(self.action, Some(Action::Help | Action::Quit | Action::Interrupt))
    }
}

impl App {
    /// The hints that fit a footer of this width; help and quit are always among them. The hints of the selected job
    /// are at the left and those of the list at the right, the most important one outermost: moving to another job
    /// changes the former and leaves the latter in place.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let is_list = self.screen == Screen::Jobs && self.dialogs.is_empty();
        let hint = |(chord, row): (Chord, &Binding)| Hint {
            action: Some(row.action),
            is_fixed: is_list && is_of_list(row.action),
            ..Hint::new(chord, self.hint_label(row))
        };
        let is_marked = self.marks_label().is_some();
        let works = |(_, row): &(Chord, &Binding)| !is_marked || works_on_marks(row.action);
        let mut items: Vec<Hint> = self.hints().filter(works).map(hint).collect();
        // Custom commands come after the hints of this screen and before the global ones.
        let is_general = |item: &Hint| matches!(item.action, Some(Action::Refresh | Action::Help));
        let index = items.iter().position(is_general).unwrap_or(items.len());
        let custom = self.runnable_commands().map(|command| Hint::new(command.key, command.name.to_string()));
        items.splice(index..index, custom.collect::<Vec<_>>());
        let reserved: usize = items.iter().filter(|item| item.is_always_shown()).map(Hint::width).sum();
        // If there is space for both, the most important hint of the list takes precedence over those of the job.
        let is_first = |item: &&Hint| item.is_fixed && item.action == Some(Action::Filter) && width >= ROOMY;
        let first = items.iter().find(is_first).map_or(0, Hint::width);
        let label = self.marks_label().map_or(0, |label| display_width(&label));
        let (mut used, mut fixed, mut always_shown) = (label, reserved, width.saturating_sub(reserved));
        let mut is_full = false;
        items.retain_mut(|item| {
            let fits = item.is_always_shown()
                || if item.is_fixed {
                    // After one that doesn't fit, a narrower one must not take its place.
                    is_full |= used + fixed + item.width() > width;
                    !is_full
                } else {
                    used + fixed.max(reserved + first) + item.width() <= width
                };
            if item.is_fixed && fits {
                fixed += item.width();
                item.at = width - fixed;
            } else if fits {
                let at = if item.is_always_shown() { &mut always_shown } else { &mut used };
                item.at = *at;
                *at += item.width();
            }
            fits
        });
        items.sort_by_key(|item| item.at);
        items
    }

    /// The label before the hints: the number of marked jobs, if keys act on those.
    pub fn marks_label(&self) -> Option<String> {
        let is_list = matches!(self.dialogs.last(), None | Some(Dialog::AllJobs(_)));
        (is_list && self.acts_on_marks()).then(|| format!(" {} marked:", format_count(self.listed().marked())))
    }

    /// The alert about prompts that could not be recorded, in lines of this width. It stays until they are recorded.
    pub fn alerts(&self, width: usize) -> Vec<String> {
        let mut all = self.unrecorded.iter();
        let Some(oldest) = all.next() else { return Vec::new() };
        let more = match all.count() {
            0 => String::new(),
            n => format!(" {} also can't be recorded.", plural(n, "more prompt")),
        };
        signed_lines('!', &format!("{}{more}", oldest.sentence()), width, ALERT_LINES)
    }

    /// The message over the last lines of the body, in lines of this width: the alert, then a notice, a problem with
    /// the filter, or a tip. Empty if there is none.
    pub fn message_lines(&self, width: usize) -> Vec<String> {
        let mut lines = self.alerts(width);
        // An alert takes precedence over a tip.
        if lines.is_empty() || self.notice.is_some() || self.filter_problem().is_some() {
            lines.extend(self.notice_lines(width));
        }
        lines
    }

    fn notice_lines(&self, width: usize) -> Vec<String> {
        let rows = usize::from(self.size.1);
        let most = match &self.notice {
            Some(notice) if notice.is_seen && rows < SMALL => PROBLEM_LINES_READ,
            _ => (rows * 3 / 5).clamp(PROBLEM_LINES.0, PROBLEM_LINES.1),
        };
        match (&self.notice, self.tip()) {
            (Some(notice), _) => match notice.severity {
                Severity::Info => info_lines(notice.text.as_str(), width),
                Severity::Greeting => signed_lines('✓', notice.text.as_str(), width, most),
                Severity::Problem => signed_lines('!', notice.text.as_str(), width, most),
            },
            (None, tip) => match (self.filter_problem(), tip) {
                (Some(problem), _) => signed_lines('!', &problem, width, most),
                (None, Some(tip)) => info_lines(tip, width),
                (None, None) => Vec::new(),
            },
        }
    }

    /// The area of a message of this many lines: the last ones of the body, so that the footer stays visible. On the
    /// views screen, the line with the position and the filter stays visible as well.
    pub fn message_area(&self, lines: usize) -> Rect {
        let body = self.geometry().body;
        let has_foot = self.screen == Screen::Views && matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)));
        let height = u16::try_from(lines).unwrap_or(u16::MAX).min(body.height);
        let y = body.bottom().saturating_sub(height + u16::from(has_foot)).max(body.y);
        Rect { y, height, ..body }
    }
}

impl App {
    /// The rows of the log: its newest lines are above the message.
    pub fn log_rows(&self) -> usize {
        self.uncovered_rows(self.geometry().log_lines())
    }

    /// The number of rows at the top of this area that no message covers, at least one. The selection stays in them, so
    /// that it is visible and the terminal cursor can be on it.
    pub(super) fn uncovered_rows(&self, lines: Rect) -> usize {
        let covered = self.message_lines(usize::from(self.size.0)).len();
        let end = if covered == 0 { lines.bottom() } else { self.message_area(covered).y.min(lines.bottom()) };
        usize::from(end.saturating_sub(lines.y)).max(1)
    }
}

/// Whether the footer shows an action while jobs are marked. Actions that ignore the marks would be misleading next to
/// the number of marked jobs.
fn works_on_marks(action: Action) -> bool {
    !matches!(
        action,
        Action::NewJob | Action::Drafts | Action::Batch | Action::Track | Action::Resolve | Action::BeforeAfter
    )
}

/// Whether an action belongs to the list rather than to the selected job.
fn is_of_list(action: Action) -> bool {
    matches!(action, Action::Filter | Action::NextSort | Action::Mark | Action::Batch | Action::Track | Action::Refresh)
}

/// Wraps a text.
fn info_lines(text: &str, width: usize) -> Vec<String> {
    fit_message(text, width.saturating_sub(1), INFO_LINES).into_iter().map(|line| format!(" {line}")).collect()
}

/// Wraps a text after a sign, to at most `most` lines.
fn signed_lines(sign: char, text: &str, width: usize, most: usize) -> Vec<String> {
    let lines = fit_message(text, width.saturating_sub(INDENT), most);
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
            let positions = |app: &App| {
                let hints = app.footer(width);
                assert!(hints.windows(2).all(|two| two[0].at + two[0].width() <= two[1].at), "{hints:?}");
                let always = hints.iter().filter(|hint| hint.is_always_shown());
                let always = always.map(|hint| (hint.label.clone(), hint.at));
                (always.collect::<Vec<_>>(), hints.last().map(|hint| hint.at + hint.width()), hints.len())
            };
            press(&mut app, 'g');
            let before = positions(&app);
            press(&mut app, 'G');
            let after = positions(&app);
            assert_eq!((&before.0, before.1), (&after.0, Some(width)));
            assert_eq!((before.0.len(), after.1), (2, Some(width)));
        }
        for width in 60..=160 {
            let fixed = |app: &App| {
                let hints = app.footer(width).into_iter().filter(|hint| hint.is_fixed);
                hints.map(|hint| (hint.label.clone(), width - hint.at)).collect::<Vec<_>>()
            };
            press(&mut app, 'g');
            let before = fixed(&app);
            press(&mut app, 'G');
            let after = fixed(&app);
            let (few, many) = if before.len() < after.len() { (&before, &after) } else { (&after, &before) };
            assert!(many.ends_with(few), "{width}: {before:?} {after:?}");
            assert!(width < ROOMY || few.last().is_some_and(|(word, _)| word == "filter"), "{width}: {few:?}");
        }
        press(&mut app, 'g');
        let words = |app: &App| app.footer(160).into_iter().map(|hint| hint.label).collect::<Vec<_>>();
        let first = words(&app);
        press(&mut app, 'G');
        assert_ne!(first, words(&app), "the hints of the job change");
    }

    #[test]
    fn a_message_does_not_cover_the_selected_row() {
        let mut app = app((1..=40).map(|key| row(key, Status::Failed)).collect());
        let lines = app.geometry().list_lines();
        let position = |app: &App| {
            let key = app.jobs.selected().expect("one is selected").key;
            let is_it = |line: JobLine<'_>| matches!(line, JobLine::Job(row) if row.key == key);
            usize::from(lines.y) + app.jobs.visible(100).position(is_it).expect("in sight")
        };
        for _ in 0..usize::from(lines.height) + 3 {
            press(&mut app, 'j');
        }
        assert_eq!(position(&app), usize::from(lines.bottom()) - 1, "on the last row");
        app.notify(Severity::Problem, &"Something went wrong, and that takes a few lines to say. ".repeat(5), at(1));
        app.update(Msg::Timer, at(1));
        let lines = app.message_lines(usize::from(app.size.0)).len();
        assert!(lines > 2 && position(&app) < usize::from(app.message_area(lines).y), "{} {lines}", position(&app));
    }

    #[test]
    fn an_alert_about_unrecorded_prompts_stays_on_every_screen_until_they_are_recorded() {
        use crate::model::engine_event::EngineEvent;
        use crate::model::job::JobId;
        use crate::model::prompt::{Delivery, PromptId, PromptKind};
        use crate::model::text::CleanText;
        use crate::model::unrecorded::{Obstacle, Unrecorded};
        let accepted = |prompt| {
            Msg::Engine(EngineEvent::Unrecorded(Box::new(Unrecorded {
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
            app.update(Msg::Timer, at(100_000));
            for width in [37, 77] {
                let lines = app.message_lines(width);
                let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                assert!(text.contains("Accepted as job_1, but it can't be recorded: the disk is full."), "{text}");
                assert!(text.contains("1 more prompt also can't be recorded.") || width < 40, "{text}");
            }
        }
        app.notify(Severity::Info, "Something else.", at(100_000));
        assert!(app.message_lines(77).len() > app.alerts(77).len() && !app.alerts(77).is_empty());
        for prompt in [1, 2] {
            app.update(Msg::Engine(EngineEvent::Recorded(PromptId(prompt))), at(100_001));
        }
        assert_eq!(app.message_lines(77), [" ✓ Recorded now: job_2."]);
    }

    #[test]
    fn a_message_over_the_log_does_not_cover_its_newest_lines() {
        use crate::app::Severity;
        use crate::model::log::{LogEntry, LogKind};
        use crate::model::text::CleanText;
        for size in [(40, 12), (80, 24)] {
            let mut app = app(vec![row(1, Status::Active)]);
            app.size = size;
            press(&mut app, '3');
            for n in 0..40 {
                let what = LogKind::Note(CleanText::line("x"));
                app.log.push(LogEntry { at: at(n), subject: CleanText::line("job"), kind: what });
            }
            let all = app.log_rows();
            let failure = "The service can't be reached (connection refused), so nothing was sent: check the network, then \
                           ask again, and again, until it is reached.";
            app.notify(Severity::Problem, failure, at(50));
            let area = app.message_area(app.message_lines(usize::from(size.0)).len());
            assert!(app.log_rows() < all, "{size:?}");
            let newest = app.log.visible(app.log_rows()).last().map(|entry| entry.at);
            assert_eq!(newest, Some(at(39)));
            assert!(app.geometry().log_lines().y + u16::try_from(app.log_rows()).expect("few") <= area.y, "{size:?}");
        }
    }

    #[test]
    fn a_long_problem_is_wrapped_between_words() {
        let marked = |text, width| super::signed_lines('!', text, width, 4);
        assert_eq!(marked("all fits", 20), [" ! all fits"]);
        let text = "The service can't be reached, so nothing was sent";
        assert_eq!(marked(text, 31), [" ! The service can't be", "   reached, so nothing was sent"]);
        let text = "one two three four five six seven eight";
        assert_eq!(marked(text, 10), [" ! one two", "   three", "   four", "   five…"]);
    }
}
