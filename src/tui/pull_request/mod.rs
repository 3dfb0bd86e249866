//! The pull request of a job: its state and its facts, its checks, reviews, comments, commits and files.
//!
//! ```text
//! ─ Thread  Pull request  Changes  #1423 Fix broken links ───── as of 14:02 ─
//!  ✓ Ready for review
//!  checks   12 of 12 passed
//!  size     +48 −12 in 3 files
//!  branch   agent/links → main
//!
//!  Reviews and comments 1
//! ▌13:10   maya requested changes
//!          The steps are right, but the screenshot is old.
//! ───────────────────────────────────────────────────────────── 5 of 12 ─
//! ```

mod action_menu;
mod actions;
mod check_lines;
pub(in crate::tui) mod facts;
mod lines;
pub(in crate::tui) mod preview;
mod review;

use crate::model::job::{Job, JobKey, JobsLeftAfterPrune};
use crate::model::load::{Load, Timed};
use crate::model::pull_request::{PULL_REQUESTS_DISABLED, short_commit};
use crate::model::pull_request_details::{PullRequestDetails, SiteFacts};
use crate::model::text::CleanText;
use crate::tui::changes::Changes;
use crate::tui::component::prelude::*;
use crate::tui::compose::editor::Editor;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::TextRow;
use crate::tui::format::more_below_text;
use crate::tui::job_tabs::JobTab;
use crate::tui::keymap::Keymap;
use crate::tui::state::PreviewBuild;
use crate::tui::widgets::list_state::ListState;
use crate::tui::{JobsEffect, JobsMsg, Pane, PullRequestAccess, Screen};
pub use action_menu::PullRequestActionMenu;
use chrono::TimeDelta;
use facts::number_and_title;
use lines::{LineTarget, PullRequestLine};
use preview::page_url_in_preview;

/// Stored details that are older than this are requested again.
const MAX_DETAILS_AGE: TimeDelta = TimeDelta::seconds(60);
/// Why no action on pull requests is possible.
const ACTIONS_OFF: &str = "Actions are turned off: set actions = true in [pull_requests].";

#[derive(Debug)]
pub struct PullRequestDialog {
    job: JobKey,
    details: Load<PullRequestDetails>,
    site: SiteFacts,
    lines: Vec<PullRequestLine>,
    list: ListState,
}

impl PullRequestDialog {
    /// Opens the pull request of the selected job.
    pub fn open(cx: &mut Cx<'_>) {
        let job = match cx.app.selected_job_with_pull_request("This job has no pull request that docdeck can show.") {
            Ok(job) => job,
            Err(reason) => return cx.notify(Severity::Info, reason),
        };
        let mut open = Self {
            job,
            details: Load::Idle,
            site: SiteFacts::default(),
            lines: Vec::new(),
            list: ListState::default(),
        };
        open.load(true, cx);
        open.refresh(cx.app);
        cx.open(open);
    }

    /// Loads the details: reads the stored ones if `reads_stored` is set, otherwise requests them from the code host.
    fn load(&mut self, reads_stored: bool, cx: &mut Cx<'_>) {
        self.details.start();
        cx.run(Effect::Jobs(JobsEffect::LoadPullRequestDetails { job: self.job, reads_stored }));
    }

    /// Returns why an action is not possible. After a failed request to the code host, no action is possible until a
    /// request succeeds.
    fn reason_not_possible(&self, app: &App, action: Action) -> Option<String> {
        if let Some(reason) = reason_actions_are_off(app) {
            return Some(reason.to_owned());
        }
        let job = app.jobs.get(self.job)?;
        let reason = match self.details {
            Load::Failed { .. } => Some("the last request to the code host failed"),
            _ => actions::reason_not_possible(app, job, action),
        };
        reason.map(|reason| format!("{} is not possible: {reason}.", action.title()))
    }

    fn target(&self) -> &LineTarget {
        self.lines.get(self.list.selected()).map_or(&LineTarget::Nothing, |line| &line.target)
    }

    /// Returns the address of the preview: the address from the last build, otherwise the address that the code host or
    /// an earlier build reported.
    fn preview_url<'a>(&'a self, app: &'a App) -> Option<&'a CleanText> {
        let built = app.pull_request_work.builds.get(&self.job).and_then(PreviewBuild::url);
        built.or(self.site.preview.as_ref())
    }

    /// Returns the address of the selected page in the preview.
    fn selected_page_preview_url(&self, app: &App) -> Option<CleanText> {
        let LineTarget::File(path) = self.target() else { return None };
        page_url_in_preview(self.preview_url(app)?, path.as_str())
    }

    /// Opens the link of the selected line, or shows the changes of the selected file.
    fn open_target(&self, cx: &mut Cx<'_>) {
        match self.target() {
            LineTarget::Link(link) => cx.run(Effect::OpenUrl(link.clone())),
            LineTarget::File(path) => Changes::open_at(Some(path.clone()), cx),
            LineTarget::Entry(_) | LineTarget::Nothing => {}
        }
    }

    /// Opens a follow-up, and quotes the selected comment in it.
    fn follow_up(&self, cx: &mut Cx<'_>) {
        cx.app.open_follow_up(cx.now);
        let Some(editor) = cx.app.dialogs.last_mut().and_then(|top| top.downcast_mut::<Editor>()) else { return };
        editor.is_inline = false;
        let LineTarget::Entry(entry) = self.target() else { return };
        let Some(entry) = self.details.shown().and_then(|details| details.value.entries.get(*entry)) else { return };
        let quoted: Vec<String> =
            entry.text.lines().take(lines::MAX_ENTRY_LINES).map(|line| format!("> {line}")).collect();
        editor.quote(&format!("> {} {}:\n{}", entry.author, entry.kind.verb(), quoted.join("\n")), cx.now);
    }
}

impl Component for PullRequestDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::PullRequest, Context::Lists, Context::Everywhere]
    }

    fn fills_screen(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        match action {
            Action::Open => match self.target() {
                LineTarget::Link(_) => Some(FooterLabel::Default),
                LineTarget::File(_) => Some("changes".into()),
                LineTarget::Entry(_) | LineTarget::Nothing => None,
            },
            Action::Preview => FooterLabel::default_if(self.preview_url(app).is_some()),
            Action::BuildPreview => FooterLabel::default_if(app.can_build_preview(self.job)),
            Action::OpenPr if self.selected_page_preview_url(app).is_some() => Some("open page".into()),
            _ if actions::ACTIONS.contains(&action) => {
                FooterLabel::default_if(self.reason_not_possible(app, action).is_none())
            }
            Action::FollowUp => FooterLabel::default_if(app.jobs.get(self.job).is_some_and(|job| job.id.is_some())),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Open => self.open_target(cx),
            Action::NextPane | Action::Changes => return show_tab(JobTab::Changes, cx),
            Action::PreviousPane => return show_tab(JobTab::Thread, cx),
            Action::FollowUp => self.follow_up(cx),
            Action::OpenPr => match self.selected_page_preview_url(cx.app) {
                Some(page) => cx.run(Effect::OpenUrl(page)),
                None => cx.app.open_prs(cx.now, cx.effects),
            },
            Action::BuildPreview => cx.app.build_preview(self.job, cx.effects),
            Action::Copy => cx.app.copy_links(cx.now, cx.effects),
            Action::Preview => {
                if let Some(link) = self.preview_url(cx.app).cloned() {
                    cx.run(Effect::OpenUrl(link));
                }
            }
            Action::Refresh => self.load(false, cx),
            _ if actions::ACTIONS.contains(&action) => {
                if let Some(reason) = self.reason_not_possible(cx.app, action) {
                    cx.notify(Severity::Info, &reason);
                } else {
                    let methods = self.details.shown().map(|details| details.value.merge_methods.as_slice());
                    let method = methods.and_then(<[_]>::first).copied();
                    let base = self.details.shown().map(|details| details.value.base.clone());
                    actions::ask_about_action(cx.app, self.job, action, method, base.as_ref());
                }
            }
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Closes all tabs, and so shows the screen or dialog from which they were opened.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        close_pull_request_tabs(cx.app);
        Flow::Close
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        Some((&mut self.list, app.geometry().content))
    }

    /// Shows the clicked tab, or selects the clicked line. If the clicked line was already selected, opens its link or
    /// shows the changes of its file.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        if let Some(tab) = JobTab::PullRequest.tab_at(at, self.area(cx.app)) {
            return if tab == JobTab::PullRequest { Flow::Handled } else { show_tab(tab, cx) };
        }
        let area = cx.app.geometry().content;
        if self.list.click(area, at) == Some(crate::tui::widgets::list_state::ClickedRow::AlreadySelected) {
            self.open_target(cx);
        }
        Flow::Handled
    }

    fn position_text(&self, app: &App) -> String {
        more_below_text(self.list.hidden_below(app.geometry().dialog_rows()))
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Jobs(JobsMsg::PullRequestDetailsLoaded { job, result, site }) if job == self.job => {
                self.site = site;
                let head =
                    cx.app.jobs.get(job).and_then(|job| job.pull_request.as_ref()).map(|state| state.head.clone());
                let is_recent = |details: &Timed<PullRequestDetails>| {
                    cx.now - details.as_of < MAX_DETAILS_AGE && Some(&details.value.head) == head.as_ref()
                };
                match result {
                    Ok(Some(details)) => {
                        let is_recent = is_recent(&details);
                        self.details.finish(Ok(details), cx.now);
                        if !is_recent {
                            self.load(false, cx);
                        }
                    }
                    Ok(None) => self.load(false, cx),
                    Err(failure) => self.details.finish(Err(failure), cx.now),
                }
                Ok(Flow::Handled)
            }
            // Load the details again, so that they show the review or the merge that the host has recorded.
            Msg::Jobs(JobsMsg::PullRequestActionEnded { job, .. }) if job == self.job => {
                self.load(false, cx);
                Err(msg)
            }
            msg => Err(msg),
        }
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        remaining.contains(self.job)
    }

    fn refresh(&mut self, app: &App) {
        let g = app.geometry();
        self.lines = lines::lines(app, self.job, &self.details, &self.site, g.dialog_columns());
        self.list.set_len(self.lines.len());
        let covered = usize::from(app.panes.editor_rows).saturating_sub(1);
        self.list.keep_selected_visible(g.dialog_rows().saturating_sub(covered).max(1));
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let texts = DialogFrame {
            upper_right: Line::styled(self.age_text(view), theme.muted),
            ..DialogFrame::with_tabs(view, JobTab::PullRequest, number_and_title(view.app, self.job))
        };
        let inner = texts.draw(frame, view, self);
        let rows = usize::from(inner.height);
        for (n, (line, is_selected)) in self.list.visible(self.lines.iter(), rows).enumerate() {
            let mut row = TextRow::new(usize::from(inner.width));
            row.push(if is_selected { "▌" } else { " " }, theme.mark);
            for (text, role) in &line.pieces {
                row.push(text, theme.role(*role));
            }
            draw_line(frame, inner, n, row.list_line(is_selected, theme));
        }
    }
}

impl PullRequestDialog {
    fn age_text(&self, view: View<'_>) -> String {
        let state = view.app.jobs.get(self.job).and_then(|job| job.pull_request.as_ref());
        let head = state.map(|state| &state.head);
        let is_outdated = |details: &PullRequestDetails| !details.head.is_empty() && Some(&details.head) != head;
        match (&self.details, self.details.shown()) {
            (Load::Ready(_), Some(details)) if is_outdated(&details.value) => {
                format!("of commit {}, {}", short_commit(&details.value.head), view.as_of_text(details.as_of))
            }
            (Load::Loading { .. }, _) => "loading…".to_owned(),
            (Load::Failed { .. }, Some(details)) => format!("not updated, {}", view.as_of_text(details.as_of)),
            (_, Some(details)) => view.as_of_text(details.as_of),
            // Only the stored state is shown, which may be old.
            (_, None) => state.map_or_else(String::new, |state| view.as_of_text(state.as_of)),
        }
    }
}

/// Returns why the configuration allows no action on pull requests.
fn reason_actions_are_off(app: &App) -> Option<&'static str> {
    match app.config.pull_requests {
        PullRequestAccess::Off => Some(PULL_REQUESTS_DISABLED),
        PullRequestAccess::Read => Some(ACTIONS_OFF),
        PullRequestAccess::Write => None,
    }
}

impl App {
    /// Names the keys that open the preview of this job from the screen or dialog on top: `p opens it`. `None` if no
    /// keys do so, because another job is selected or something else is on top.
    pub(in crate::tui) fn keys_that_open_preview(&self, job: JobKey) -> Option<String> {
        let preview = self.key_label(Context::PullRequest, Action::Preview);
        if self.top::<PullRequestDialog>().is_some_and(|dialog| dialog.job == job) {
            return Some(format!("{preview} opens it"));
        }
        let is_selected =
            self.screen == Screen::Jobs && self.jobs.selected().is_some_and(|selected| selected.key == job);
        if !is_selected || !self.dialogs.is_empty() || self.acts_on_marks() {
            return None;
        }
        let context = if self.pane == Pane::List { Context::Jobs } else { Context::Detail };
        let pull_request = self.key_label(context, Action::PullRequest);
        Some(format!("{pull_request}, then {preview}, opens it"))
    }

    /// Whether the pull request of a job and its changes can be shown.
    pub(in crate::tui) fn can_show_pull_request(&self, job: &Job) -> bool {
        self.config.pull_requests != PullRequestAccess::Off && job.has_supported_pr_link()
    }

    /// Returns the selected job if its pull request can be shown, otherwise the reason. `missing` is the reason if
    /// the job has no pull request on a code host that docdeck supports.
    pub(in crate::tui) fn selected_job_with_pull_request(&self, missing: &'static str) -> Result<JobKey, &'static str> {
        match self.jobs.selected().filter(|job| job.has_supported_pr_link()) {
            Some(job) if self.can_show_pull_request(job) => Ok(job.key),
            Some(_) => Err(PULL_REQUESTS_DISABLED),
            None => Err(missing),
        }
    }
}

/// Shows another tab of the selected job. If this opens a dialog, the dialog of the current tab stays open below it, so
/// that it still has its selection when the user comes back.
pub(in crate::tui) fn show_tab(tab: JobTab, cx: &mut Cx<'_>) -> Flow {
    match tab {
        JobTab::Thread => {
            close_pull_request_tabs(cx.app);
            (cx.app.screen, cx.app.pane) = (Screen::Jobs, Pane::Detail);
            return Flow::Close;
        }
        JobTab::PullRequest if cx.app.find::<PullRequestDialog>().is_some() => return Flow::Close,
        JobTab::Changes if cx.app.find::<Changes>().is_some() => return Flow::Close,
        JobTab::PullRequest => PullRequestDialog::open(cx),
        JobTab::Changes => Changes::open(cx),
    }
    Flow::Handled
}

/// Closes the tabs that are dialogs: the pull request and its changes. The thread is a part of the jobs screen.
pub(in crate::tui) fn close_pull_request_tabs(app: &mut App) {
    app.close_dialogs_if::<Changes>(|_| true);
    app.close_dialogs_if::<PullRequestDialog>(|_| true);
}

#[cfg(test)]
pub(in crate::tui) mod tests;
