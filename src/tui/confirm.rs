//! A question that the user confirms or cancels, and what happens after the user has confirmed it.

use super::bulk_action::{BulkAction, PullRequestTargets, Targets};
use super::component::prelude::*;
use super::format::{display_width, format_count, truncate, truncate_title};
use super::wrap::wrap;
use super::{NewFile, Overwrite, SavedFilter};
use crate::model::analytics::AnalyticsKind;
use crate::model::change::QueueChange;
use crate::model::job::JobsLeftAfterPrune;
use crate::model::period::DateRange;
use crate::model::prompt::{DraftTarget, PromptId, PromptResolution};
use crate::model::pull_request_action::PullRequestAction;
use crate::model::report::LoadPlan;
use crate::model::setup::ConfigWritePermission;
use crate::model::text::CleanText;
use crate::tui::PromptsEffect;
use crate::tui::draw::boxes::draw_box;
use crate::tui::keymap::Keymap;
use ratatui::style::Modifier;
use ratatui::text::Span;
use ratatui::widgets::Paragraph;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The text between the two buttons.
const BUTTON_SEPARATOR: &str = " · ";
/// The text after the keys that scroll the list of jobs.
const SCROLL_LABEL: &str = " scroll";

/// A question that the user confirms or cancels. Every keyboard key cancels, except the key for yes and, if jobs are
/// listed, the keys that scroll.
#[derive(Debug)]
pub struct ConfirmDialog {
    pub text: String,
    pub on_yes: ConfirmAction,
}

/// The action that runs when the user confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmAction {
    Resolve(PromptId, PromptResolution),
    /// Copies the prompt of another member of the team into a follow-up to the selected job.
    CopyToFollowUp(String),
    DeleteDraft(DraftTarget),
    OpenDraft(DraftTarget),
    /// Starts a draft about these pages. An existing draft about other pages becomes the draft of a job without pages.
    NewDraftAbout(Vec<CleanText>),
    /// Runs an action on these jobs.
    Bulk(BulkAction, Targets),
    /// Loads all page views of these date ranges, one range after the other.
    LoadAllPageViews(Vec<LoadPlan>),
    /// Fetches the total page views of these date ranges.
    LoadTotals(Vec<DateRange>),
    /// Fetches the visitors of the site in these date ranges.
    LoadVisitorTotals(Vec<DateRange>),
    /// Loads all rows of a report of the analytics screen, with at most `max_requests` requests. If `from_start` is
    /// set, rows that are cached already are requested again.
    LoadAllRows {
        kind: AnalyticsKind,
        max_requests: u32,
        from_start: bool,
    },
    /// Loads the reports that a comparison of this report needs.
    LoadComparisonReports {
        kind: AnalyticsKind,
        max_requests: u32,
    },
    /// Loads the reports about pages that need work: the missing ones or, if `reloads_all` is set, all of them.
    LoadSignals {
        reloads_all: bool,
    },
    /// Loads the first rows of these reports of a range.
    LoadReports(DateRange, Vec<AnalyticsKind>),
    /// Saves the profile of the setup form. The permission limits what may be written to the configuration file.
    SaveProfile(ConfigWritePermission),
    RunPullRequestAction {
        targets: PullRequestTargets,
        action: PullRequestAction,
    },
    /// Quits although prompts are queued.
    Quit,
    /// Overwrites an existing file.
    Overwrite(NewFile),
    /// Replaces the saved filter with the same name.
    ReplaceFilter(SavedFilter),
}

impl ConfirmAction {
    /// Returns the jobs to list, or `None` for an action without jobs.
    fn targets(&self) -> Option<&Targets> {
        match self {
            Self::Bulk(_, targets) => Some(targets),
            Self::RunPullRequestAction { targets, .. } => Some(&targets.listed_targets),
            _ => None,
        }
    }

    fn targets_mut(&mut self) -> Option<&mut Targets> {
        match self {
            Self::Bulk(_, targets) => Some(targets),
            Self::RunPullRequestAction { targets, .. } => Some(&mut targets.listed_targets),
            _ => None,
        }
    }

    /// Whether the action is visible to others and docdeck can't undo it.
    fn is_irreversible(&self) -> bool {
        let is_final =
            |action: &PullRequestAction| matches!(action, PullRequestAction::Merge(_) | PullRequestAction::Close);
        matches!(self, Self::RunPullRequestAction { action, .. } if is_final(action))
    }

    /// Returns the title of the dialog and the label of the button that confirms.
    fn title_and_confirm_label(&self) -> (&'static str, &'static str) {
        match self {
            Self::Resolve(_, PromptResolution::SendAgain) => ("Send again", "send again"),
            Self::Resolve(_, PromptResolution::SendEdited(_)) => ("Send edited prompt", "send"),
            Self::Resolve(_, PromptResolution::Link(_)) => ("Link job", "link"),
            Self::CopyToFollowUp(_) => ("Copy prompt", "copy"),
            Self::DeleteDraft(_) => ("Delete draft", "delete"),
            Self::OpenDraft(_) => ("Open draft", "open draft"),
            Self::NewDraftAbout(_) => ("Start new draft", "start new draft"),
            Self::Bulk(BulkAction::FollowUp, _) => ("Send follow-ups", "send"),
            Self::Bulk(BulkAction::RemoveFromQueue, _) => ("Remove queued prompts", "remove"),
            Self::Bulk(BulkAction::Queue(QueueChange::Pause), _) => ("Pause queued prompts", "pause"),
            Self::Bulk(BulkAction::Queue(QueueChange::Resume), _) => ("Resume queued prompts", "resume"),
            Self::Bulk(BulkAction::Queue(QueueChange::Up | QueueChange::Down), _) => ("Move queued prompts", "move"),
            Self::Bulk(BulkAction::OpenPrs, _) => ("Open pull requests", "open all"),
            Self::Bulk(BulkAction::CopyLinks, _) => ("Copy links", "copy all"),
            Self::Bulk(BulkAction::Dismiss, _) => ("Dismiss jobs", "dismiss"),
            Self::Bulk(BulkAction::Restore, _) => ("Restore jobs", "restore"),
            Self::Bulk(BulkAction::MarkDone, _) => ("Mark as done", "mark as done"),
            Self::Bulk(BulkAction::MarkNotDone, _) => ("Move back to “Needs you”", "move back"),
            Self::Bulk(BulkAction::Tags(_), _) => ("Change tags", "change tags"),
            Self::Bulk(BulkAction::Export, _) => ("Export jobs", "export"),
            Self::LoadAllPageViews(_) => ("Load all pages", "load all"),
            Self::LoadTotals(_) | Self::LoadVisitorTotals(_) => ("Load trend", "load"),
            Self::LoadAllRows { .. } => ("Load all rows", "load all"),
            Self::LoadComparisonReports { .. } => ("Compare", "compare"),
            Self::LoadSignals { .. } | Self::LoadReports(..) => ("Load reports", "load"),
            Self::SaveProfile(ConfigWritePermission::Nothing) => ("Save profile", "save"),
            Self::SaveProfile(ConfigWritePermission::Add) => ("Save profile", "add"),
            Self::SaveProfile(ConfigWritePermission::Change) => ("Save profile", "change"),
            Self::Overwrite(_) => ("Overwrite file", "overwrite"),
            Self::ReplaceFilter(_) => ("Replace filter", "replace"),
            Self::RunPullRequestAction { action, .. } => action.title_and_confirm_label(),
            Self::Quit => ("Quit", "quit"),
        }
    }
}

impl Component for ConfirmDialog {
    fn contexts(&self) -> &'static [Context] {
        if self.on_yes.targets().is_some() { &[Context::Confirm, Context::Lists] } else { &[Context::Confirm] }
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        let [yes, no] = self.button_labels();
        Some(match action {
            Action::Yes => yes.into(),
            Action::Close => no.into(),
            _ => FooterLabel::Default,
        })
    }

    /// Returns true, because the buttons show the keys.
    fn shows_key(&self, _action: Action) -> bool {
        true
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if action != Action::Yes {
            return Flow::Unhandled;
        }
        cx.app.run_confirmed(self.on_yes.clone(), cx.now, cx.effects);
        Flow::Close
    }

    fn handle_unbound_key(&mut self) -> Flow {
        Flow::Close
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let layout = self.layout(cx.app);
        if let Some(targets) = self.on_yes.targets_mut() {
            let scroll = targets.scroll.min(layout.max_scroll);
            targets.scroll = by.apply(scroll, usize::from(layout.jobs.height), layout.max_scroll + 1);
        }
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let layout = self.layout(cx.app);
        match () {
            () if layout.yes.contains(at) => self.handle_action(Action::Yes, cx),
            () if layout.no.contains(at) => Flow::Close,
            () => Flow::Handled,
        }
    }

    /// Closes the confirmation if one of its jobs was deleted, because its text may count or name that job. The user
    /// can start again with the remaining jobs.
    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        self.on_yes.targets().is_none_or(|targets| targets.keys.iter().all(|key| remaining.contains(*key)))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let layout = self.layout(view.app);
        let title = format!(" {} ", self.on_yes.title_and_confirm_label().0);
        let (title_style, border) = match self.on_yes.is_irreversible() {
            true => (theme.warning.add_modifier(Modifier::BOLD), theme.warning),
            false => (theme.title, theme.focus),
        };
        draw_box(frame, layout.area, Line::styled(title, title_style), border);
        let text: Vec<Line<'_>> = layout.text_lines.into_iter().map(Line::raw).collect();
        frame.render_widget(Paragraph::new(text), layout.text);
        for (row, line) in layout.jobs.rows().zip(layout.job_lines) {
            let line = match line {
                ConfirmLine::Target(text) => Line::styled(text, theme.text),
                ConfirmLine::Skipped(text) => Line::styled(text, theme.muted),
            };
            frame.render_widget(line, row);
        }
        let [(yes_key, yes), (no_key, no)] = self.buttons(view.app);
        let mut line = Line::from(vec![
            Span::styled(yes_key, theme.key),
            Span::raw(format!(" {yes}")),
            Span::styled(BUTTON_SEPARATOR, theme.muted),
            Span::styled(no_key, theme.key),
            Span::raw(format!(" {no}")),
        ]);
        if layout.max_scroll > 0 {
            let down = view.app.key_label(Context::Confirm, Action::Down);
            let up = view.app.key_label(Context::Confirm, Action::Up);
            let keys = format!("{down} {up}");
            if line.width() + BUTTON_SEPARATOR.width() + keys.width() + SCROLL_LABEL.width()
                <= usize::from(layout.buttons.width)
            {
                line.push_span(Span::styled(BUTTON_SEPARATOR, theme.muted));
                line.push_span(Span::styled(keys, theme.key));
                line.push_span(SCROLL_LABEL);
            }
        }
        frame.render_widget(line, layout.buttons);
    }
}

/// The areas of a confirmation dialog on the screen.
pub(super) struct ConfirmLayout {
    /// The whole dialog, including its borders.
    area: Rect,
    text_lines: Vec<String>,
    pub text: Rect,
    /// The visible lines of the list of jobs.
    job_lines: Vec<ConfirmLine>,
    /// How far the list of jobs can be scrolled; 0 if all jobs are visible.
    max_scroll: usize,
    /// The list of jobs below the text, one per line.
    jobs: Rect,
    /// The line with the buttons.
    buttons: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl ConfirmDialog {
    /// Returns the labels of the buttons that confirm and cancel.
    fn button_labels(&self) -> [&'static str; 2] {
        let no = if self.on_yes == ConfirmAction::Quit { "stay" } else { "cancel" };
        [self.on_yes.title_and_confirm_label().1, no]
    }

    /// Returns the key and the label of each button. The button that confirms comes first.
    fn buttons(&self, app: &App) -> [(String, &'static str); 2] {
        let [yes, no] = self.button_labels();
        let key = |action| app.key_label(Context::Confirm, action);
        [(key(Action::Yes), yes), (key(Action::Close), no)]
    }

    /// Lays out the text, the list of jobs, a gap and the buttons in a centred box.
    pub(super) fn layout(&self, app: &App) -> ConfirmLayout {
        let g = app.geometry();
        let columns = usize::from(g.small_dialog(7).width.saturating_sub(4)).max(1);
        let available = g.body.height.saturating_sub(4);
        // Some lines are reserved for the jobs, so that a long text doesn't take all the space.
        let job_count = self.on_yes.targets().map_or(0, |targets| targets.titles.len() + targets.skipped.len());
        let reserved = u16::try_from(job_count).unwrap_or(u16::MAX).min(available / 3);
        let text_lines = self.text_lines(columns, usize::from(available - reserved).max(1));
        let text = u16::try_from(text_lines.len()).unwrap_or(available);
        let max_job_lines = available.saturating_sub(text);
        let (job_lines, max_scroll) = self.visible_job_lines(columns, usize::from(max_job_lines));
        let jobs = u16::try_from(job_lines.len()).unwrap_or(max_job_lines);
        let lines = text.saturating_add(jobs);
        let area = g.small_dialog(lines.saturating_add(4));
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        let row = lines.saturating_add(1).min(inner.height.saturating_sub(1));
        let buttons = Rect { y: inner.y + row, height: 1, ..inner };
        let [yes, no] =
            self.buttons(app).map(|(key, label)| u16::try_from(key.width() + 1 + label.width()).unwrap_or(0));
        let gap = u16::try_from(BUTTON_SEPARATOR.width()).unwrap_or(0);
        let yes = Rect { width: yes, ..buttons };
        let no = Rect { x: yes.right() + gap, width: no, ..buttons };
        let jobs = Rect { y: inner.y + text.min(row), height: jobs, ..inner }.intersection(inner);
        let text = Rect { height: if self.on_yes.targets().is_some() { text.min(row) } else { row }, ..inner };
        ConfirmLayout {
            area,
            text_lines,
            text,
            job_lines,
            max_scroll,
            jobs,
            buttons,
            yes: yes.intersection(inner),
            no: no.intersection(inner),
        }
    }

    /// Returns the lines of the list of jobs that are visible, at most `max_lines`, and how far the list can be scrolled.
    /// At the top, the lines are those of [`Self::job_lines`]. Further down, the jobs that the action applies to and the
    /// skipped jobs are one list, of which a part is visible.
    fn visible_job_lines(&self, columns: usize, max_lines: usize) -> (Vec<ConfirmLine>, usize) {
        let top_lines = self.job_lines(columns, max_lines);
        let Some(targets) = self.on_yes.targets() else { return (top_lines, 0) };
        let total = targets.titles.len() + targets.skipped.len();
        if total <= max_lines || max_lines == 0 {
            return (top_lines, 0);
        }
        // If there is no space for a name at the top, the next line down is the first name, so that none is left out.
        let has_name = matches!(top_lines.first(), Some(ConfirmLine::Target(line)) if line.starts_with(BULLET));
        let offset = usize::from(!has_name);
        let max_scroll = total - max_lines + offset;
        let scroll = targets.scroll.min(max_scroll);
        if scroll == 0 {
            return (top_lines, max_scroll);
        }
        let start = scroll - offset;
        let all = target_lines(targets, columns).map(ConfirmLine::Target);
        let all = all.chain(skipped_lines(targets, columns).map(ConfirmLine::Skipped));
        if start + max_lines >= total {
            return (all.skip(start).collect(), max_scroll);
        }
        // The last line has the number of jobs below, unless it is the only line.
        let shown = if max_lines == 1 { 1 } else { max_lines - 1 };
        let mut lines: Vec<ConfirmLine> = all.skip(start).take(shown).collect();
        if shown < max_lines {
            lines.push(ConfirmLine::Target(format!("and {} more", format_count(total - start - shown))));
        }
        (lines, max_scroll)
    }

    /// Lists the jobs that the action applies to, then the skipped jobs, in at most `max_lines` lines. If one of the
    /// two lists is too long, its last line shows how many jobs are left out.
    pub fn job_lines(&self, columns: usize, max_lines: usize) -> Vec<ConfirmLine> {
        let Some(targets) = self.on_yes.targets() else { return Vec::new() };
        // The jobs that the action applies to matter more than the skipped jobs. If not all jobs fit, the skipped jobs
        // get a third of the lines, or the lines that the others leave. They get at least one line, so that the user
        // sees that jobs are skipped.
        let left_by_others = max_lines.saturating_sub(targets.titles.len());
        let max_skipped_lines = targets.skipped.len().min((max_lines / 3).max(1).max(left_by_others));
        let max_target_lines = max_lines - max_skipped_lines.min(max_lines);
        let mut lines: Vec<ConfirmLine> =
            limited_lines(target_lines(targets, columns), max_target_lines, "more").map(ConfirmLine::Target).collect();
        lines.extend(
            limited_lines(skipped_lines(targets, columns), max_skipped_lines, "skipped").map(ConfirmLine::Skipped),
        );
        lines
    }

    /// Wraps the text into at most `max_lines` lines. If the text is too long, shortens its quotation, because the
    /// sentence around the quotation states what happens. If that is not enough, cuts off the end of the text.
    fn text_lines(&self, columns: usize, max_lines: usize) -> Vec<String> {
        let (lines, is_cut) = wrap(&self.text, columns, max_lines);
        let (Some(start), Some(end)) = (self.text.find('“'), self.text.rfind('”')) else { return lines };
        if !is_cut {
            return lines;
        }
        let (before, after) = self.text.split_at(end);
        let shortened = |end: usize| {
            let shown = before.get(..end).unwrap_or(before).trim_end();
            wrap(&format!("{shown}…{after}"), columns, max_lines)
        };
        let ends: Vec<usize> = before.grapheme_indices(true).map(|(at, _)| at).filter(|at| *at > start).collect();
        let fitting = ends.partition_point(|end| !shortened(*end).1);
        match fitting.checked_sub(1).and_then(|last| ends.get(last)) {
            Some(end) => shortened(*end).0,
            None => lines,
        }
    }
}

/// A line of the list of jobs in a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmLine {
    /// A job that the action applies to.
    Target(String),
    /// A marked job that the action skips.
    Skipped(String),
}

/// What a line with the name of a job that the action applies to starts with.
const BULLET: char = '•';

/// Returns a line for each job that the action applies to.
fn target_lines(targets: &Targets, columns: usize) -> impl ExactSizeIterator<Item = String> {
    targets.titles.iter().map(move |title| truncate(&format!("{BULLET} {title}"), columns))
}

/// Returns a line for each skipped job. A long title is truncated, but never the reason.
fn skipped_lines(targets: &Targets, columns: usize) -> impl ExactSizeIterator<Item = String> {
    targets.skipped.iter().map(move |(title, reason)| {
        let reason = format!(" ({reason})");
        let title = truncate_title(title.as_str(), columns.saturating_sub(9 + display_width(&reason)));
        truncate(&format!("Skipped: {title}{reason}"), columns)
    })
}

/// Returns at most `max_lines` of these lines. If there are more, the last returned line shows how many are left out:
/// `and 3 more`, where `more` is the given `word`.
fn limited_lines(
    lines: impl ExactSizeIterator<Item = String>,
    max_lines: usize,
    word: &str,
) -> impl Iterator<Item = String> {
    let all = lines.len();
    let shown = if all <= max_lines { all } else { max_lines.saturating_sub(1) };
    let lead = if shown == 0 { "" } else { "and " };
    let more = (shown < all && max_lines > 0).then(|| format!("{lead}{} {word}", format_count(all - shown)));
    lines.take(shown).chain(more)
}

impl App {
    fn run_confirmed(&mut self, action: ConfirmAction, now: Time, effects: &mut Vec<Effect>) {
        match action {
            ConfirmAction::Resolve(prompt, resolution) => {
                self.close_undelivered(prompt);
                effects.push(Effect::Prompts(PromptsEffect::Resolve(prompt, resolution)));
            }
            ConfirmAction::CopyToFollowUp(text) => self.open_follow_up_with_text(&text, now),
            ConfirmAction::DeleteDraft(draft_target) => self.delete_draft(draft_target, effects),
            ConfirmAction::OpenDraft(draft_target) => self.open_draft(draft_target, now),
            ConfirmAction::NewDraftAbout(pages) => self.start_new_draft_about(pages, now, effects),
            ConfirmAction::Bulk(bulk, targets) => self.run_bulk(bulk, targets.keys, now, effects),
            ConfirmAction::LoadAllPageViews(orders) => self.load_sequentially(orders, effects),
            ConfirmAction::LoadTotals(ranges) => self.load_totals(ranges, effects),
            ConfirmAction::LoadVisitorTotals(ranges) => self.load_visitor_totals(ranges, effects),
            ConfirmAction::LoadComparisonReports { kind, max_requests } => {
                self.load_compared(kind, max_requests, effects)
            }
            ConfirmAction::LoadAllRows { kind, max_requests, from_start } => {
                self.load_rows(kind, max_requests, from_start, effects);
            }
            ConfirmAction::LoadSignals { reloads_all } => self.load_signals(reloads_all, effects),
            ConfirmAction::LoadReports(range, kinds) => self.load_reports(range, kinds, effects),
            ConfirmAction::SaveProfile(allowed) => effects.extend(self.save_profile(allowed)),
            ConfirmAction::RunPullRequestAction { targets, action } => {
                self.start_pull_request_action(targets, action, now, effects);
            }
            ConfirmAction::Quit => self.save_and_quit(effects),
            ConfirmAction::Overwrite(file) => effects.push(Effect::WriteFile(file, Overwrite::Yes)),
            ConfirmAction::ReplaceFilter(filter) => {
                effects.push(Effect::SaveFilter { filter, replaces_existing: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::jobs::tests::at;

    #[test]
    fn skipped_jobs_fill_the_lines_that_the_other_jobs_leave() {
        let titles = |name: &str, count: usize| (1..=count).map(|n| CleanText::line(&format!("{name} {n}"))).collect();
        let skipped: Vec<CleanText> = titles("Skipped job", 24);
        let targets = Targets {
            keys: Vec::new(),
            titles: titles("Target job", 3),
            skipped: skipped.into_iter().map(|title| (title, "already done")).collect(),
            scroll: 0,
        };
        let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
        let on_yes = ConfirmAction::Bulk(BulkAction::MarkDone, targets);
        app.open(ConfirmDialog { text: "Mark 3 jobs as done?".to_owned(), on_yes });
        let shown = crate::tui::pull_request::tests::screen(&app, at(0));
        let listed = |text: &str| shown.lines().filter(|line| line.contains(text)).count();
        assert_eq!(
            (listed("• Target job"), listed("Skipped: Skipped job"), listed("and 11 skipped")),
            (3, 13, 1),
            "{shown}"
        );
    }

    #[test]
    fn every_job_that_does_not_fit_can_be_scrolled_into_view_and_other_keys_cancel() {
        use crate::tui::finish_alerts::tests::press;
        let titles =
            |name: &str, count: usize| (1..=count).map(|n| CleanText::line(&format!("{name} {n:02}"))).collect();
        for (size, target_count, skipped_count) in
            [((80, 24), 25, 0), ((80, 24), 25, 4), ((40, 12), 4, 1), ((40, 12), 5, 0)]
        {
            let skipped: Vec<CleanText> = titles("Left", skipped_count);
            let targets = Targets {
                titles: titles("Target", target_count),
                skipped: skipped.into_iter().map(|title| (title, "draft")).collect(),
                ..Targets::default()
            };
            let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
            app.size = size;
            let on_yes = ConfirmAction::Bulk(BulkAction::MarkDone, targets);
            let text =
                "Merge all of these pull requests, each using the method that its repository prefers? ".repeat(2);
            app.open(ConfirmDialog { text, on_yes });
            let screen = |app: &App| crate::tui::pull_request::tests::screen(app, at(0));
            let mut seen = String::new();
            for _ in 0..40 {
                seen.push_str(&screen(&app));
                press(&mut app, 'j');
            }
            for n in 1..=target_count {
                assert!(seen.contains(&format!("• Target {n:02}")), "{size:?} {n}: {}", screen(&app));
            }
            for n in 1..=skipped_count {
                assert!(seen.contains(&format!("Skipped: Left {n:02} (draft)")), "{size:?} {n}: {}", screen(&app));
            }
            assert!(!screen(&app).contains(" more"), "at the end: {}", screen(&app));
            press(&mut app, 'g');
            assert!(seen.starts_with(&screen(&app)), "at the top again: {}", screen(&app));
            press(&mut app, 'd');
            assert!(app.dialogs.is_empty());
        }
    }
}
