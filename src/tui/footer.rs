//! The layout of the footer and of the messages above it. The footer is the last line and shows the most important
//! keys. Both drawing and mouse clicks use this layout, so that they agree.

use super::dialog::Dialog;
use super::format::{display_width, format_count, plural};
use super::keymap::{Action, Binding, Chord};
use super::message_fit::fit_message;
use super::{App, Screen, Severity};
use ratatui::layout::Rect;

/// The maximum number of lines of an informational notice or a tip.
const MAX_INFO_LINES: usize = 4;
/// The maximum number of lines of a problem notice depends on the height of the screen. These are the smallest and the
/// largest possible maximum.
const MAX_PROBLEM_LINES_BOUNDS: (usize, usize) = (4, 8);
/// On a screen with fewer rows than this, a problem notice shrinks once the user has pressed a key.
const MIN_ROWS_FOR_FULL_PROBLEM: usize = 20;
/// The maximum number of lines of a problem notice that has shrunk.
const MAX_SHRUNK_PROBLEM_LINES: usize = 2;
/// The maximum number of lines of an alert, which stays until it is resolved.
const MAX_ALERT_LINES: usize = 4;
/// The number of cells before the text of an alert or a problem.
const INDENT: usize = 3;
/// From this width in cells on, the footer always has space for the most important hint about the list.
const MIN_WIDTH_FOR_LIST_HINT: usize = 80;

/// A keyboard key with its label. It is drawn as a space, the key, a space, the label and a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The index of the first cell of the hint in the footer.
    pub at: usize,
    pub chord: Chord,
    pub key: String,
    pub label: String,
    /// The action of the key; `None` for a custom command.
    action: Option<Action>,
    /// Whether the hint is about the list, so that it has a fixed position at the right.
    is_fixed: bool,
}

impl Hint {
    fn new(chord: Chord, word: String) -> Self {
        Self { at: 0, chord, key: chord.to_string(), label: word, action: None, is_fixed: false }
    }

    /// Returns the width in cells, including the spaces.
    pub fn width(&self) -> usize {
        display_width(&self.key) + display_width(&self.label) + 3
    }

    /// Whether this is the hint for help or quit, which is always shown at the far right.
    fn is_always_shown(&self) -> bool {
        matches!(self.action, Some(Action::Help | Action::Quit | Action::Interrupt))
    }
}

impl App {
    /// Returns the hints that fit a footer of this width, always including help and quit. Hints about the selected job
    /// are at the left, and hints about the list are at the right. On both sides, the most important hint is outermost.
    /// Selecting another job changes only the hints at the left.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let is_list = self.screen == Screen::Jobs && self.dialogs.is_empty();
        let hint = |(chord, row): (Chord, &Binding)| Hint {
            action: Some(row.action),
            is_fixed: is_list && belongs_to_list(row.action),
            ..Hint::new(chord, self.hint_label(row))
        };
        let is_marked = self.marks_label().is_some();
        let works = |(_, row): &(Chord, &Binding)| !is_marked || works_on_marks(row.action);
        let mut items: Vec<Hint> = self.hints().filter(works).map(hint).collect();
        // Custom commands come after the hints of this screen and before the hints that every screen has.
        let is_general = |item: &Hint| matches!(item.action, Some(Action::Refresh | Action::Help));
        let index = items.iter().position(is_general).unwrap_or(items.len());
        let custom = self.runnable_commands().map(|command| Hint::new(command.key, command.name.to_string()));
        items.splice(index..index, custom.collect::<Vec<_>>());
        let reserved: usize = items.iter().filter(|item| item.is_always_shown()).map(Hint::width).sum();
        // In a wide footer, the most important hint about the list takes precedence over the hints about the job.
        let is_first =
            |item: &&Hint| item.is_fixed && item.action == Some(Action::Filter) && width >= MIN_WIDTH_FOR_LIST_HINT;
        let first = items.iter().find(is_first).map_or(0, Hint::width);
        let label = self.marks_label().map_or(0, |label| display_width(&label));
        let (mut used, mut fixed, mut always_shown) = (label, reserved, width.saturating_sub(reserved));
        let mut is_full = false;
        items.retain_mut(|item| {
            let fits = item.is_always_shown()
                || if item.is_fixed {
                    // After a hint that doesn't fit, a narrower hint must not take its place.
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

    /// Returns the label before the hints, with the number of marked jobs. Returns `None` if key presses don't act on
    /// the marked jobs.
    pub fn marks_label(&self) -> Option<String> {
        let is_list = matches!(self.dialogs.last(), None | Some(Dialog::AllJobs(_)));
        (is_list && self.acts_on_marks())
            .then(|| format!(" {} marked:", format_count(self.active_list().marked_count())))
    }

    /// Returns the alert about prompts that could not be recorded on disk, in lines of this width. Empty if there are
    /// no such prompts. The alert stays until they are recorded.
    pub fn alert_lines(&self, width: usize) -> Vec<String> {
        let mut all = self.unrecorded.iter();
        let Some(oldest) = all.next() else { return Vec::new() };
        let more = match all.count() {
            0 => String::new(),
            n => format!(" {} also can't be recorded.", plural(n, "more prompt")),
        };
        signed_lines('!', &format!("{}{more}", oldest.sentence()), width, MAX_ALERT_LINES)
    }

    /// Returns the message that covers the last lines of the body, in lines of this width. It starts with the alert,
    /// if there is one. Then comes the notice or a problem with the filter. A tip is shown only if there is none of
    /// these. Empty if there is no message.
    pub fn message_lines(&self, width: usize) -> Vec<String> {
        let mut lines = self.alert_lines(width);
        // An alert takes precedence over a tip.
        if lines.is_empty() || self.notice.is_some() || self.filter_problem().is_some() {
            lines.extend(self.notice_lines(width));
        }
        lines
    }

    fn notice_lines(&self, width: usize) -> Vec<String> {
        let rows = usize::from(self.size.1);
        let max_lines = match &self.notice {
            Some(notice) if notice.is_seen && rows < MIN_ROWS_FOR_FULL_PROBLEM => MAX_SHRUNK_PROBLEM_LINES,
            _ => (rows * 3 / 5).clamp(MAX_PROBLEM_LINES_BOUNDS.0, MAX_PROBLEM_LINES_BOUNDS.1),
        };
        match (&self.notice, self.tip()) {
            (Some(notice), _) => match notice.severity {
                Severity::Info => info_lines(notice.text.as_str(), width),
                Severity::Greeting => signed_lines('✓', notice.text.as_str(), width, max_lines),
                Severity::Problem => signed_lines('!', notice.text.as_str(), width, max_lines),
            },
            (None, tip) => match (self.filter_problem(), tip) {
                (Some(problem), _) => signed_lines('!', &problem, width, max_lines),
                (None, Some(tip)) => info_lines(tip, width),
                (None, None) => Vec::new(),
            },
        }
    }

    /// Returns the area of a message with this many lines: the last lines of the body. On the views screen, the message
    /// leaves the line with the position and the filter visible.
    pub fn message_area(&self, lines: usize) -> Rect {
        let body = self.geometry().body;
        let has_foot = self.screen == Screen::Views && matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)));
        let height = u16::try_from(lines).unwrap_or(u16::MAX).min(body.height);
        let y = body.bottom().saturating_sub(height + u16::from(has_foot)).max(body.y);
        Rect { y, height, ..body }
    }
}

impl App {
    /// Returns the number of visible rows of the log. Rows that a message covers don't count, so the newest lines are
    /// shown above the message.
    pub fn log_rows(&self) -> usize {
        self.uncovered_rows(self.geometry().log_lines())
    }

    /// Returns the number of rows at the top of this area that no message covers; at least one. The selection stays in
    /// these rows, so that it is visible and the terminal cursor can be on it.
    pub(super) fn uncovered_rows(&self, lines: Rect) -> usize {
        let covered = self.message_lines(usize::from(self.size.0)).len();
        let end = if covered == 0 { lines.bottom() } else { self.message_area(covered).y.min(lines.bottom()) };
        usize::from(end.saturating_sub(lines.y)).max(1)
    }
}

/// Whether the footer shows an action while jobs are marked. An action that ignores the marks would be misleading next
/// to the number of marked jobs.
fn works_on_marks(action: Action) -> bool {
    !matches!(
        action,
        Action::NewJob | Action::Drafts | Action::Batch | Action::Track | Action::Resolve | Action::BeforeAfter
    )
}

/// Whether an action is about the list rather than about the selected job.
fn belongs_to_list(action: Action) -> bool {
    matches!(action, Action::Filter | Action::NextSort | Action::Mark | Action::Batch | Action::Track | Action::Refresh)
}

/// Wraps the text of an informational notice or a tip.
fn info_lines(text: &str, width: usize) -> Vec<String> {
    fit_message(text, width.saturating_sub(1), MAX_INFO_LINES).into_iter().map(|line| format!(" {line}")).collect()
}

/// Wraps a text to at most `max_lines` lines, with a sign such as `!` before the first line.
fn signed_lines(sign: char, text: &str, width: usize, max_lines: usize) -> Vec<String> {
    let lines = fit_message(text, width.saturating_sub(INDENT), max_lines);
    let lead = |n| if n == 0 { sign } else { ' ' };
    lines.into_iter().enumerate().map(|(n, line)| format!(" {} {line}", lead(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::Status;
    use crate::tui::Msg;
    use crate::tui::finish_alerts::tests::{app, press};
    use crate::tui::jobs::JobLine;
    use crate::tui::jobs::tests::{at, row};

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
            assert!(
                width < MIN_WIDTH_FOR_LIST_HINT || few.last().is_some_and(|(word, _)| word == "filter"),
                "{width}: {few:?}"
            );
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
            let is_selected = |line: JobLine<'_>| matches!(line, JobLine::Job(row) if row.key == key);
            usize::from(lines.y) + app.jobs.visible(100).position(is_selected).expect("visible")
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
        use crate::model::unrecorded::{Obstacle, UnrecordedOutcome};
        let accepted = |prompt| {
            Msg::Engine(EngineEvent::Unrecorded(Box::new(UnrecordedOutcome {
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
        assert!(app.message_lines(77).len() > app.alert_lines(77).len() && !app.alert_lines(77).is_empty());
        for prompt in [1, 2] {
            app.update(Msg::Engine(EngineEvent::Recorded(PromptId(prompt))), at(100_001));
        }
        assert_eq!(app.message_lines(77), [" ✓ Recorded now: job_2."]);
    }

    #[test]
    fn a_message_over_the_log_does_not_cover_its_newest_lines() {
        use crate::model::log::{LogEntry, LogKind};
        use crate::model::text::CleanText;
        use crate::tui::Severity;
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
