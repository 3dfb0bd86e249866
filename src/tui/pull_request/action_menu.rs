//! The menu of actions on the pull requests of the marked jobs: one action per line, with the number of pull requests
//! that it applies to.
//!
//! ```text
//! ┌ Pull requests of 3 marked jobs ───┐
//! │▌a  Approve                       3 │
//! │ d  Mark ready               1 of 3 │
//! ```

use super::actions::{self, ACTIONS, reason_not_possible};
use crate::model::job::{JobKey, JobsLeftAfterPrune};
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::{draw_box, draw_line};
use crate::tui::draw::text::TextRow;
use crate::tui::format::{display_width, plural, truncate};
use crate::tui::geometry::inside_borders;
use crate::tui::keymap::Keymap;
use crate::tui::widgets::list_state::ListState;

/// Actions that apply only to a single pull request. They do nothing in this menu, which is for all marked jobs.
const SINGLE_PULL_REQUEST_ACTIONS: [Action; 8] = [
    Action::FollowUp,
    Action::NextPane,
    Action::PreviousPane,
    Action::Preview,
    Action::BuildPreview,
    Action::OpenPr,
    Action::Copy,
    Action::Refresh,
];

#[derive(Debug)]
pub struct PullRequestActionMenu {
    jobs: Vec<JobKey>,
    list: ListState,
}

impl PullRequestActionMenu {
    /// Opens the menu for the pull requests of the marked jobs.
    pub fn open(cx: &mut Cx<'_>) {
        let jobs = cx.app.target_keys();
        if let Some(reason) = super::reason_actions_are_off(cx.app) {
            return cx.notify(Severity::Info, reason);
        }
        let list = ListState::new(ACTIONS.len(), 0);
        cx.open(Self { jobs, list });
    }

    /// Returns the number of pull requests that an action applies to.
    fn pull_request_count(&self, action: Action, app: &App) -> usize {
        let jobs = self.jobs.iter().filter_map(|job| app.jobs.get(*job));
        jobs.filter(|job| reason_not_possible(app, job, action).is_none()).count()
    }

    fn ask_about_action_or_explain(&self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if self.pull_request_count(action, cx.app) == 0 {
            let reason = self
                .jobs
                .first()
                .and_then(|job| cx.app.jobs.get(*job))
                .and_then(|job| reason_not_possible(cx.app, job, action));
            let reason = reason.unwrap_or("no pull request");
            let text = format!("Not possible for any of the marked pull requests: {reason}.");
            cx.notify(Severity::Info, &text);
            return Flow::Handled;
        }
        actions::ask_about_action_on_several(cx.app, &self.jobs, action);
        Flow::Close
    }
}

impl Component for PullRequestActionMenu {
    fn contexts(&self) -> &'static [Context] {
        &[Context::PullRequest, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        match action {
            Action::Open => Some("choose".into()),
            action if ACTIONS.contains(&action) => FooterLabel::default_if(self.pull_request_count(action, app) > 0),
            action if SINGLE_PULL_REQUEST_ACTIONS.contains(&action) => None,
            _ => Some(FooterLabel::Default),
        }
    }

    /// Returns the texts of the actions whose binding describes what they do with a single pull request.
    fn help_text(&self, action: Action) -> Option<&'static str> {
        Some(match action {
            Action::Open => "choose the selected action",
            Action::Approve => "approve the pull requests",
            Action::RequestChanges => "request changes with a review of each",
            Action::Comment => "write a comment on each",
            Action::Merge => "merge the pull requests",
            Action::MarkReady => "mark the drafts as ready for review",
            Action::ClosePullRequest => "close the pull requests without merging",
            _ => return None,
        })
    }

    fn shows_key(&self, action: Action) -> bool {
        ACTIONS.contains(&action)
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Open => match ACTIONS.get(self.list.selected()) {
                Some(action) => self.ask_about_action_or_explain(*action, cx),
                None => Flow::Handled,
            },
            action if ACTIONS.contains(&action) => self.ask_about_action_or_explain(action, cx),
            action if SINGLE_PULL_REQUEST_ACTIONS.contains(&action) => Flow::Handled,
            _ => Flow::Unhandled,
        }
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        let area = inside_borders(self.area(app));
        Some((&mut self.list, area))
    }

    fn area(&self, app: &App) -> Rect {
        app.geometry().small_dialog(8)
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        self.jobs.retain(|job| remaining.contains(*job));
        !self.jobs.is_empty()
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let (app, theme) = (view.app, view.theme);
        let title = format!(" Pull requests of {} ", plural(self.jobs.len(), "marked job"));
        let inner = draw_box(frame, self.area(app), Line::styled(title, theme.title), theme.focus);
        let (width, rows) = (usize::from(inner.width), usize::from(inner.height));
        for (n, (action, is_selected)) in self.list.visible(ACTIONS.iter(), rows).enumerate() {
            let (count, total) = (self.pull_request_count(*action, app), self.jobs.len());
            let count = if count == total { count.to_string() } else { format!("{count} of {total}") };
            let mut row = TextRow::new(width);
            row.push(if is_selected { "▌" } else { " " }, theme.mark);
            row.push(format!("{:<3}", app.key_label(Context::PullRequest, *action)), theme.key);
            let space = width.saturating_sub(row.used_cells() + count.len() + 2);
            let text = truncate(&action.title(), space);
            let gap = " ".repeat(space.saturating_sub(display_width(&text)) + 1);
            row.push(text, theme.text).push(gap, theme.text).push(count, theme.muted);
            draw_line(frame, inner, n, row.list_line(is_selected, theme));
        }
    }
}
