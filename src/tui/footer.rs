//! The layout of the footer and of the messages above it. The footer is the last line and shows the most important
//! keys. Both drawing and mouse clicks use this layout, so that they agree.

use super::component::Label;
use super::format::{display_width, format_count, plural};
use super::geometry::{Geometry, JobsArrangement, title_area};
use super::keymap::{Action, Binding, Chord, Context};
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
}

impl Hint {
    fn new(chord: Chord, word: String) -> Self {
        Self { at: 0, chord, key: chord.to_string(), label: word, action: None }
    }

    /// Returns the width in cells, including the spaces.
    pub fn width(&self) -> usize {
        display_width(&self.key) + display_width(&self.label) + 3
    }
}

impl App {
    /// Returns the bindings that the footer may show, each with its first usable key. Such a binding has a hint and
    /// would have an effect now.
    pub fn hints(&self) -> impl Iterator<Item = (Chord, &'static Binding)> {
        let takes_text = self.takes_text();
        let in_editor = matches!(self.contexts().first(), Some(Context::Editor | Context::BatchText));
        // Hints of keys that edit text are shown only in multi-line editors.
        let is_shown = move |row: &Binding| {
            let is_relevant = match row.action {
                // While a dialog or the details cover the list, the quit key only closes them.
                Action::Quit => !self.has_dialog_or_detail(),
                // In a text input, the key types a character.
                Action::Palette => !takes_text && self.covering_dialog().is_none(),
                _ => in_editor || row.context != Context::Text,
            };
            is_relevant && !row.hint.is_empty() && self.label(row).is_some()
        };
        let rows = self.config.keymap.active_bindings_where(self.contexts(), is_shown);
        rows.filter_map(move |row| {
            let is_usable = |chord: &&Chord| !takes_text || row.context != Context::Everywhere || !chord.types_text();
            self.config.keymap.keys(row).iter().find(is_usable).map(|chord| (*chord, row))
        })
    }

    /// Returns the label of a binding in the footer. `None` if the action would do nothing now. A component decides
    /// about the bindings of its own context, and may also decline general ones.
    pub(super) fn label(&self, row: &Binding) -> Option<Label> {
        let Some(top) = self.top_component() else { return Label::default_if(self.offers_everywhere(row.action)) };
        let label = top.offers(row.action, self)?;
        (row.context == top.context() || self.offers_everywhere(row.action)).then_some(label)
    }

    /// Returns the text of the label of a binding in the footer.
    pub fn hint_label(&self, row: &Binding) -> String {
        match self.label(row) {
            Some(Label::Text(text)) => text,
            Some(Label::Default) | None => row.hint.to_owned(),
        }
    }

    /// Returns the hints that fit a footer of this width, always including help. The general keys of a screen come
    /// first, so that they stay in place, then the keys for the selection.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let hint = |(chord, row): (Chord, &Binding)| Hint {
            action: Some(row.action),
            ..Hint::new(chord, self.hint_label(row))
        };
        let is_marked = self.marks_label().is_some();
        let works = |(_, row): &(Chord, &Binding)| !is_marked || works_on_marks(row.action);
        let mut hints: Vec<Hint> = self.hints().filter(works).map(hint).collect();
        // Custom commands come after the hints of this screen and before the hints that every screen has.
        let is_general = |hint: &Hint| matches!(hint.action, Some(Action::Refresh | Action::Help));
        let index = hints.iter().position(is_general).unwrap_or(hints.len());
        let custom = self.runnable_commands().map(|command| Hint::new(command.key, command.name.to_string()));
        hints.splice(index..index, custom.collect::<Vec<_>>());
        let is_screen = self.covering_dialog().is_none();
        hints.sort_by_key(|hint| hint.action.map_or(SELECTION_RANK, |action| footer_rank(action, is_screen)));
        let is_help = |hint: &Hint| hint.action == Some(Action::Help);
        let mut reserved = hints.iter().find(|hint| is_help(hint)).map_or(0, Hint::width);
        let mut used = self.marks_label().map_or(0, |label| display_width(&label));
        hints.retain_mut(|hint| {
            if is_help(hint) {
                reserved = 0;
            }
            let fits = is_help(hint) || used + reserved + hint.width() <= width;
            if fits {
                hint.at = used;
                used += hint.width();
            }
            fits
        });
        hints
    }

    /// Returns the label before the hints, with the number of marked jobs. Returns `None` if key presses don't act on
    /// the marked jobs.
    pub fn marks_label(&self) -> Option<String> {
        let is_list = self
            .top_component()
            .is_some_and(|top| matches!(top.context(), Context::Jobs | Context::Detail | Context::AllJobs));
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

    /// Returns the area of a message: the lower rule if it fits beside the position, otherwise the rows above the rule.
    pub fn message_area(&self, lines: &[String]) -> Rect {
        let g = self.geometry();
        let rule = self.message_rule(g);
        if let [line] = lines
            && display_width(line.trim_start()) <= usize::from(title_area(rule).width)
        {
            return rule;
        }
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(g.content.height);
        Rect { y: g.content.bottom() - height, height, ..g.content }
    }

    /// Returns the cells of the lower rule that a message may use. It leaves the position visible.
    fn message_rule(&self, g: Geometry) -> Rect {
        let owner = self
            .dialogs
            .iter()
            .rev()
            .find(|dialog| dialog.covers_screen() && dialog.area(self).bottom() == g.body.bottom());
        let component = owner.map(AsRef::as_ref).or(self.screen_component());
        let position = component.map_or(0, |component| display_width(&component.position(self)));
        let is_beside = self.screen == Screen::Jobs && owner.is_none() && g.arrangement == JobsArrangement::Right;
        let rule = if is_beside { Rect { width: g.list.width, ..g.lower_rule() } } else { g.lower_rule() };
        let taken = if position == 0 { 0 } else { u16::try_from(position + 3).unwrap_or(u16::MAX) };
        Rect { width: rule.width.saturating_sub(taken), ..rule }
    }
}

impl App {
    /// Returns the number of rows at the top of this area that no message covers; at least one. The selection stays in
    /// these rows, so that it is visible and the terminal cursor can be on it.
    pub(super) fn uncovered_rows(&self, lines: Rect) -> usize {
        let message = self.message_lines(usize::from(self.size.0));
        let end = if message.is_empty() { lines.bottom() } else { self.message_area(&message).y.min(lines.bottom()) };
        usize::from(end.saturating_sub(lines.y)).max(1)
    }
}

/// Whether the footer shows an action while jobs are marked. An action that ignores the marks would be misleading next
/// to the number of marked jobs.
fn works_on_marks(action: Action) -> bool {
    !matches!(
        action,
        Action::NewJob
            | Action::Drafts
            | Action::Batch
            | Action::Track
            | Action::Resolve
            | Action::BeforeAfter
            | Action::Open
            | Action::Palette
    )
}

/// The rank in the footer of an action on the selection.
const SELECTION_RANK: usize = 10;

/// Returns the rank of an action in the footer; actions with a low rank come first. The order on a screen is: its
/// general actions, actions on the selection, quitting.
fn footer_rank(action: Action, is_screen: bool) -> usize {
    let general = [
        Action::Open,
        Action::NewJob,
        Action::FollowUp,
        Action::Compare,
        Action::Filter,
        Action::Palette,
        Action::Help,
    ];
    match general.iter().position(|other| is_screen && *other == action) {
        Some(rank) => rank,
        None if matches!(action, Action::Help | Action::Quit | Action::Interrupt) => SELECTION_RANK + 1,
        None => SELECTION_RANK,
    }
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
    fn the_general_keys_come_first_and_help_is_always_shown() {
        let mut other = row(2, Status::Completed);
        other.local.handled_at = Some(at(2000));
        let mut app = app(vec![row(1, Status::Failed), other]);
        let labels = |app: &App, width| app.footer(width).into_iter().map(|hint| hint.label).collect::<Vec<_>>();
        for width in 40..=160 {
            let hints = app.footer(width);
            assert!(hints.windows(2).all(|two| two[0].at + two[0].width() <= two[1].at), "{hints:?}");
            assert!(hints.iter().any(|hint| hint.label == "help"), "{width}");
            assert!(hints.last().is_some_and(|hint| hint.at + hint.width() <= width), "{width}: {hints:?}");
        }
        let general = ["open", "new", "follow up", "filter", "commands", "help"];
        press(&mut app, 'g');
        let first = labels(&app, 160);
        press(&mut app, 'G');
        let last = labels(&app, 160);
        assert!(first.starts_with(&general.map(str::to_owned)) && last.starts_with(&general.map(str::to_owned)));
        assert_ne!(first, last, "the keys for the selection change");
        assert_eq!(labels(&app, 40), ["open", "new", "follow up", "help"]);
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
        let lines = app.message_lines(usize::from(app.size.0));
        assert!(lines.len() > 2 && position(&app) < usize::from(app.message_area(&lines).y), "{}", position(&app));
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
            let area = app.message_area(&app.message_lines(usize::from(size.0)));
            assert!(app.log_rows() < all, "{size:?}");
            let newest = app.log.visible(app.log_rows()).last().map(|entry| entry.at);
            assert_eq!(newest, Some(at(39)));
            assert!(
                crate::tui::geometry::below(app.geometry().content, 1).y + u16::try_from(app.log_rows()).expect("few")
                    <= area.y,
                "{size:?}"
            );
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
