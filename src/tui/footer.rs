//! The layout of the footer and of the messages above it. The footer is the last line and shows the most important
//! keys. Both drawing and mouse clicks use this layout, so that they agree.

use super::component::FooterLabel;
use super::format::{display_width, format_count};
use super::geometry::{Geometry, JobsArrangement, title_area};
use super::keymap::{Action, Binding, Chord, Context};
use super::{App, Screen};
use ratatui::layout::Rect;
use std::borrow::Cow;

/// A keyboard key with its label. It is drawn as a space, the key, a space, the label and a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The index of the first cell of the hint.
    pub start: usize,
    pub chord: Chord,
    pub key: String,
    pub label: Cow<'static, str>,
    /// The action of the key; `None` for a custom command.
    action: Option<Action>,
}

impl Hint {
    fn new(chord: Chord, label: Cow<'static, str>) -> Self {
        Self { start: 0, chord, key: chord.to_string(), label, action: None }
    }

    /// Returns the width in cells, including the spaces.
    pub fn width(&self) -> usize {
        display_width(&self.key) + display_width(&self.label) + 3
    }
}

impl App {
    /// Returns the bindings that the footer may show, each with its first usable key and its label. These are the
    /// bindings that have a text for the footer (`Binding::hint`) and would have an effect now.
    pub fn hints(&self) -> impl Iterator<Item = (Chord, &'static Binding, Cow<'static, str>)> {
        let takes_text = self.takes_text();
        let in_editor = matches!(self.contexts().first(), Some(Context::Editor | Context::BatchText | Context::Review));
        // Hints of keys that edit text are shown only in multi-line editors.
        let label = move |row: &Binding| {
            let is_relevant = match row.action {
                // While a dialog or the details cover the list, the quit key only closes them, so it gets no hint.
                Action::Quit => !self.has_dialog_or_detail(),
                // In a text input, the key types a character, so it gets no hint.
                Action::Palette => !takes_text && self.topmost_modal_index().is_none(),
                _ => in_editor || row.context != Context::Text,
            };
            if is_relevant && !row.hint.is_empty() { self.footer_label_of(row) } else { None }
        };
        let rows = self.config.keymap.active_bindings_with(self.contexts(), label);
        rows.filter_map(move |(row, label)| {
            let is_usable = |chord: &&Chord| !takes_text || row.context != Context::Everywhere || !chord.types_text();
            let chord = self.config.keymap.keys(row).iter().find(is_usable)?;
            let label = match label {
                FooterLabel::Default => row.hint.into(),
                FooterLabel::Text(text) => text,
            };
            Some((*chord, row, label))
        })
    }

    /// Returns the label of a binding in the footer. `None` if the action would do nothing now. The topmost dialog or,
    /// if no dialog is open, the screen decides this. For a binding of another context, [`Self::offers_global_action`]
    /// must return true as well.
    pub(super) fn footer_label_of(&self, row: &Binding) -> Option<FooterLabel> {
        let Some(top) = self.top_component() else {
            return FooterLabel::default_if(self.offers_global_action(row.action));
        };
        let label = top.footer_label(row.action, self)?;
        (row.context == top.context() || self.offers_global_action(row.action)).then_some(label)
    }

    /// Returns the hints that fit a footer of this width, always including help. The general keys of a screen come
    /// first, then the keys for the selection. On the jobs screen, some keys, such as those for sorting and quitting,
    /// are at the right edge, so that they stay in place when the selection changes.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let is_marked = self.marked_count_label().is_some();
        let top = self.top_component();
        let is_named = |action| top.is_some_and(|top| top.shows_key(action));
        let is_shown = |action| !is_named(action) && (!is_marked || is_shown_while_marked(action));
        let rows = self.hints().filter(|(_, row, _)| is_shown(row.action));
        let hint = |(chord, row, label): (_, &Binding, _)| Hint { action: Some(row.action), ..Hint::new(chord, label) };
        let mut hints: Vec<Hint> = rows.map(hint).collect();
        // Custom commands come after the hints of this screen and before the hints that every screen has.
        let is_general = |hint: &Hint| matches!(hint.action, Some(Action::Refresh | Action::Help));
        let index = hints.iter().position(is_general).unwrap_or(hints.len());
        let custom = self.runnable_commands().map(|command| Hint::new(command.key, command.name.to_string().into()));
        hints.splice(index..index, custom.collect::<Vec<_>>());
        let screen = Some(self.screen).filter(|_| self.topmost_modal_index().is_none());
        let group = |hint: &Hint| match hint.action {
            None => FooterGroup::Selection,
            // The label before the hints shows the number of marked jobs. These actions don't act on the marked jobs,
            // so their hints come last.
            Some(Action::Filter | Action::NextNeedsYou | Action::Help) if is_marked => FooterGroup::Last,
            Some(action) => footer_group(action, screen),
        };
        hints.sort_by_cached_key(group);
        let is_help = |hint: &Hint| hint.action == Some(Action::Help);
        let mut reserved = hints.iter().find(|hint| is_help(hint)).map_or(0, Hint::width);
        let marks = self.marked_count_label().map_or(0, |label| display_width(&label));
        let mut used = marks;
        hints.retain(|hint| {
            if is_help(hint) {
                reserved = 0;
            }
            let fits = is_help(hint) || used + reserved + hint.width() <= width;
            if fits {
                used += hint.width();
            }
            fits
        });
        // The keys that apply to most jobs are first, so that they stay in place when the selection changes.
        if screen == Some(Screen::Jobs) {
            hints.sort_by_cached_key(|hint| (group(hint), selection_hint_rank(hint.action)));
        }
        let (mut left, mut right) = (marks, width);
        for hint in &mut hints {
            if matches!(group(hint), FooterGroup::Right(_)) {
                right = right.saturating_sub(hint.width());
                hint.start = right;
            } else {
                hint.start = left;
                left += hint.width();
            }
        }
        hints.sort_by_key(|hint| hint.start);
        hints
    }

    /// Returns the label before the hints, with the number of marked jobs. `None` if no job is marked, or if key
    /// presses don't act on the marked jobs.
    pub fn marked_count_label(&self) -> Option<String> {
        let is_list = self
            .top_component()
            .is_some_and(|top| matches!(top.context(), Context::Jobs | Context::Detail | Context::AllJobs));
        (is_list && self.acts_on_marks())
            .then(|| format!(" {} marked:", format_count(self.active_list().marked_count())))
    }

    /// Returns the number of cells of the lower rule that the text of a message may use.
    pub(super) fn message_rule_width(&self) -> usize {
        usize::from(title_area(self.message_rule(self.geometry())).width)
    }

    /// Returns the area of a message: the lower rule if the message fits beside the position (`2 of 44`), otherwise the
    /// rows above the rule.
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

    /// Returns the cells of the lower rule that a message may use. The other cells show the position (`2 of 44`).
    fn message_rule(&self, g: Geometry) -> Rect {
        let owner =
            self.dialogs.iter().rev().find(|dialog| dialog.is_modal() && dialog.area(self).bottom() == g.body.bottom());
        let component = owner.map(AsRef::as_ref).or(self.screen_component());
        let position = component.map_or(0, |component| display_width(&component.position_text(self)));
        let is_beside = self.screen == Screen::Jobs && owner.is_none() && g.arrangement == JobsArrangement::SideBySide;
        let rule = if is_beside { Rect { width: g.list.width, ..g.lower_rule() } } else { g.lower_rule() };
        let taken = if position == 0 { 0 } else { u16::try_from(position + 3).unwrap_or(u16::MAX) };
        Rect { width: rule.width.saturating_sub(taken), ..rule }
    }
}

impl App {
    /// Returns the number of rows at the top of this area that no message covers, at least one. The selection stays in
    /// these rows, so that it is visible and the terminal cursor can be on it.
    pub(super) fn rows_not_covered_by_message(&self, lines: Rect) -> usize {
        let message = self.message_lines(usize::from(self.size.0));
        let end = if message.is_empty() { lines.bottom() } else { self.message_area(&message).y.min(lines.bottom()) };
        usize::from(end.saturating_sub(lines.y)).max(1)
    }
}

/// Whether the footer shows an action while jobs are marked. The actions listed below are hidden, because next to the
/// number of marked jobs they would seem to act on the marked jobs.
fn is_shown_while_marked(action: Action) -> bool {
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

/// Returns the rank of an action among the keys for the selection. The actions that apply to most jobs are first.
fn selection_hint_rank(action: Option<Action>) -> usize {
    let stable = [Action::NextNeedsYou, Action::Copy, Action::Dismiss, Action::MarkDone];
    stable.iter().position(|other| Some(*other) == action).unwrap_or(stable.len())
}

/// The groups of hints in the footer, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FooterGroup {
    /// A general key of a screen, with its position among these keys.
    General(usize),
    Selection,
    /// Keys for help and for quitting.
    Last,
    /// A key of the list of jobs that doesn't depend on the selection, with its position from the right edge.
    Right(usize),
}

/// Returns the group of an action. `screen` is `None` while a dialog covers the screen.
fn footer_group(action: Action, screen: Option<Screen>) -> FooterGroup {
    let general = [
        Action::Open,
        Action::NewJob,
        Action::FollowUp,
        Action::Compare,
        Action::Filter,
        Action::Palette,
        Action::Help,
    ];
    // Only the jobs screen has keys at the right edge, because only there the keys on the left often change with the
    // selection.
    let right =
        [Action::Quit, Action::Drafts, Action::NextSort, Action::Mark, Action::Refresh, Action::Batch, Action::Track];
    let rank = |actions: &[Action]| actions.iter().position(|other| *other == action);
    let general = rank(&general).filter(|_| screen.is_some()).map(FooterGroup::General);
    let right = || rank(&right).filter(|_| screen == Some(Screen::Jobs)).map(FooterGroup::Right);
    let is_last = matches!(action, Action::Help | Action::Quit | Action::Interrupt);
    general.or_else(right).unwrap_or(if is_last { FooterGroup::Last } else { FooterGroup::Selection })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::Msg;
    use crate::tui::Severity;
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
            assert!(hints.windows(2).all(|two| two[0].start + two[0].width() <= two[1].start), "{hints:?}");
            assert!(hints.iter().any(|hint| hint.label == "help"), "{width}");
            assert!(hints.last().is_some_and(|hint| hint.start + hint.width() <= width), "{width}: {hints:?}");
        }
        let general = ["open", "new", "follow up", "filter", "commands", "help"];
        press(&mut app, 'g');
        let first = labels(&app, 160);
        press(&mut app, 'G');
        let last = labels(&app, 160);
        assert!(first.starts_with(&general.map(Cow::from)) && last.starts_with(&general.map(Cow::from)));
        assert_ne!(first, last, "the keys for the selection change");
        assert_eq!(labels(&app, 40), ["open", "new", "follow up", "help"]);
    }

    #[test]
    fn keys_that_most_jobs_have_stay_in_place_when_the_selection_changes() {
        let mut with_pull_request = row(2, Status::Completed);
        with_pull_request.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        let mut app = app(vec![row(1, Status::Failed), with_pull_request]);
        let mut footers = ['g', 'G'].map(|key| {
            press(&mut app, key);
            app.footer(160)
        });
        let stable: Vec<Hint> = footers[0].iter().filter(|hint| footers[1].contains(hint)).cloned().collect();
        let labels: Vec<&str> = stable.iter().map(|hint| hint.label.as_ref()).collect();
        for label in ["next job for you", "copy", "dismiss", "done"] {
            assert!(labels.contains(&label), "{label}: {footers:?}");
        }
        let own = footers.each_mut().map(|footer| {
            footer.retain(|hint| !stable.contains(hint));
            footer.iter().map(|hint| hint.label.to_string()).collect::<Vec<_>>()
        });
        assert!(own[0].contains(&"browser".to_owned()) && own[1].contains(&"retry".to_owned()), "{own:?}");
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
        app.notify(Severity::Error, &"Something went wrong, and that takes a few lines to say. ".repeat(5), at(1));
        app.update(Msg::Timer, at(1));
        let lines = app.message_lines(usize::from(app.size.0));
        assert!(lines.len() > 2 && position(&app) < usize::from(app.message_area(&lines).y), "{}", position(&app));
    }

    #[test]
    fn an_alert_about_unrecorded_prompts_stays_on_every_screen_until_they_are_recorded() {
        use crate::model::engine_event::EngineEvent;
        use crate::model::prompt::{Delivery, PromptId, PromptKind};
        use crate::model::remote_job::JobId;
        use crate::model::unrecorded::{StoreWriteProblem, UnrecordedOutcome};
        let accepted = |prompt| {
            Msg::Engine(EngineEvent::Unrecorded(Box::new(UnrecordedOutcome {
                prompt: PromptId(prompt),
                kind: PromptKind::Create,
                id: JobId::new(&format!("job_{prompt}")),
                outcome: Delivery::Accepted,
                problem: StoreWriteProblem {
                    reason: CleanText::line("the disk is full"),
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
                assert!(text.contains("Job job_1 was created"), "{text}");
            }
        }
        app.notify(Severity::Info, "Something else.", at(100_000));
        assert_eq!(app.message_lines(77), ["Something else."]);
        app.update(Msg::Timer, at(100_005));
        assert!(app.message_lines(77).concat().contains("Job job_1 was created"), "the alert is shown again");
        for prompt in [1, 2] {
            app.update(Msg::Engine(EngineEvent::Recorded(PromptId(prompt))), at(100_001));
        }
        assert_eq!(app.message_lines(77), ["✓ Recorded now: job_2."]);
    }

    #[test]
    fn a_message_over_the_log_does_not_cover_its_newest_lines() {
        use crate::model::log::{LogEntry, LogKind};
        use crate::tui::log_entries::LogLine;
        for size in [(40, 12), (80, 24)] {
            let mut app = app(vec![row(1, Status::Active)]);
            app.size = size;
            press(&mut app, '3');
            for n in 0..40 {
                let what = LogKind::Note(CleanText::line("x"));
                app.log.push(LogEntry { at: at(n), subject: CleanText::line("job"), kind: what });
            }
            let all = app.visible_log_rows();
            let failure = "The service can't be reached (connection refused), so nothing was sent: check the network, then \
                           ask again, and again, until it is reached.";
            app.notify(Severity::Error, failure, at(50));
            let area = app.message_area(&app.message_lines(usize::from(size.0)));
            assert!(app.visible_log_rows() < all, "{size:?}");
            let lines = app.log.lines(app.visible_log_rows(), app.config.offset, at(39).date_naive());
            assert!(matches!(lines.last(), Some(LogLine::Entry(39, _))), "{size:?}");
            assert!(
                crate::tui::geometry::without_top_rows(app.geometry().content, 1).y
                    + u16::try_from(app.visible_log_rows()).expect("few")
                    <= area.y,
                "{size:?}"
            );
        }
    }
}
