//! The jobs screen: the list of jobs and the details of the selected one. Its data is in [`App::jobs`] and
//! [`App::detail`], because dialogs and messages use it while other screens are shown.

use super::actions::{handle_jobs_action, job_action_label};
use super::detail::{DetailLines, Fact, facts};
use super::list_draw::list_table;
use super::next_step::next_step;
use super::{JobLine, JobList, detail_draw, list_draw};
use crate::model::job::{Job, JobGroup, JobKey};
use crate::tui::changes::Changes;
use crate::tui::component::prelude::*;
use crate::tui::draw::rules::{draw_rule, draw_separator};
use crate::tui::format::{more_below_text, short_age_changes_at};
use crate::tui::geometry::{Geometry, JobsArrangement, title_area};
use crate::tui::input_dialog::InputField;
use crate::tui::job_tabs::JobTab;
use crate::tui::pull_request::{PullRequestActionMenu, PullRequestDialog, show_tab};
use crate::tui::widgets::list_state::line_at;
use crate::tui::{JobsEffect, Pane, PullRequestAccess, StoreState};

/// The jobs screen. The field is the pane that has the focus.
#[derive(Debug)]
pub(in crate::tui) struct JobsScreen(pub Pane);

impl Component for JobsScreen {
    fn contexts(&self) -> &'static [Context] {
        match self.0 {
            Pane::List => &[Context::Jobs, Context::Lists, Context::Everywhere],
            Pane::Detail => &[Context::Detail, Context::Lists, Context::Everywhere],
        }
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let is_read = app.store == StoreState::Loaded;
        let selected = app.jobs.selected();
        match action {
            Action::NewJob | Action::Track | Action::Batch => FooterLabel::default_if(is_read),
            Action::Drafts => match app.draft_count() {
                0 => None,
                n => Some(FooterLabel::Text(crate::tui::format::plural(n, "draft").into())),
            },
            Action::Copy => {
                let has_text = selected.is_some_and(|job| job.remote.pr_link.is_some() || job.id.is_some());
                (app.jobs.marked_count() > 0 || has_text).then(|| job_action_label(action, app))
            }
            Action::Retry => FooterLabel::default_if(!app.acts_on_marks() && selected.is_some_and(Job::can_retry)),
            Action::NextNeedsYou => FooterLabel::default_if(app.jobs.count_of(JobGroup::NeedsYou) > 0),
            Action::PullRequest if app.acts_on_marks() => {
                (app.config.pull_requests == PullRequestAccess::Write).then(|| "PR actions".into())
            }
            Action::Changes | Action::PullRequest => {
                FooterLabel::default_if(!app.acts_on_marks() && app.selected_job_has_tabs())
            }
            Action::ToggleDetail => FooterLabel::default_if(app.can_toggle_detail()),
            Action::BeforeAfter => FooterLabel::default_if(selected.is_some_and(|job| !job.local.pages.is_empty())),
            Action::Close => {
                let has_filter = !app.jobs_filter_text().trim().is_empty();
                match self.0 {
                    Pane::Detail => Some("back".into()),
                    Pane::List if app.jobs.marked_count() > 0 => Some("unmark".into()),
                    Pane::List => has_filter.then(|| "clear filter".into()),
                }
            }
            _ => super::actions::footer_label(action, app),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        let (app, now) = (&mut *cx.app, cx.now);
        match action {
            Action::NewJob => app.open_new_job(now),
            Action::FollowUp => app.open_follow_up_to_marked_or_selected(now),
            Action::Retry => app.retry_job(now, cx.effects),
            Action::Open => app.open_detail(cx.effects),
            Action::Changes => {
                app.mark_selected_seen(cx.effects);
                Changes::open(cx);
            }
            Action::PullRequest if app.acts_on_marks() => PullRequestActionMenu::open(cx),
            Action::PullRequest => {
                app.mark_selected_seen(cx.effects);
                PullRequestDialog::open(cx);
            }
            Action::Peek => {
                app.mark_selected_seen(cx.effects);
                if !app.geometry().shows_both_panes() && app.jobs.selected().is_some() {
                    app.pane = Pane::Detail;
                }
            }
            Action::NextPane if app.focused_detail_has_tabs() => return show_tab(JobTab::PullRequest, cx),
            Action::PreviousPane if app.focused_detail_has_tabs() => return show_tab(JobTab::Changes, cx),
            Action::NextPane | Action::PreviousPane => {
                app.pane = match app.pane {
                    Pane::List if app.jobs.selected().is_some() => Pane::Detail,
                    _ => Pane::List,
                }
            }
            Action::ToggleDetail => app.toggle_detail(now),
            Action::Track if app.store == StoreState::Loaded => app.open_input(InputField::TrackId, ""),
            Action::Resolve => app.open_undelivered(now),
            Action::Drafts => app.open_drafts(now),
            Action::Batch => app.open_batch(now),
            Action::BeforeAfter => app.ask_to_load_impact(now, cx.effects),
            Action::PauseQueue | Action::SendEarlier | Action::SendLater | Action::RemoveFromQueue => {
                app.change_queue(action, now, cx.effects);
            }
            Action::NextJob | Action::PreviousJob => {
                app.jobs.move_by(if action == Action::NextJob { 1 } else { -1 });
                app.mark_seen_if_open(cx.effects);
            }
            Action::NextNeedsYou => app.select_next_that_needs_you(now, cx.effects),
            Action::Refresh => app.check_selected_job(now, cx.effects),
            _ => return handle_jobs_action(action, cx),
        }
        Flow::Handled
    }

    /// Leaves the details if they have the focus, otherwise clears the marks or, if there are none, the filter. Several
    /// marks are cleared only when the key is pressed again.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        let marks = cx.app.jobs.marked_count();
        if self.0 == Pane::Detail {
            cx.app.pane = Pane::List;
        } else if cx.app.warn_once_before_clearing_marks(marks, cx.now) {
        } else if marks > 0 {
            cx.app.jobs.clear_marks();
        } else if !cx.app.clear_filter() {
            return Flow::Unhandled;
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let g = cx.app.geometry();
        match self.0 {
            Pane::List => cx.app.jobs.scroll(by, g.list_rows()),
            Pane::Detail => {
                let Some(lines) = cx.app.detail_lines() else { return };
                let top = by.apply(lines.top, lines.scrolled_area_rows, lines.max_top() + 1);
                cx.app.detail.lines_below = lines.max_top() - top;
            }
        }
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let (g, app) = (cx.app.geometry(), &mut *cx.app);
        let tab = JobTab::Thread
            .tab_at(at, g.detail_rule())
            .filter(|tab| *tab != JobTab::Thread && app.selected_job_has_tabs());
        if let Some(tab) = tab {
            return show_tab(tab, cx);
        }
        if g.divider().contains(at) {
            app.pointer.is_dragging = true;
        } else if self.pane_at(g, at) == Pane::Detail {
            if app.jobs.selected().is_some() {
                app.close_filter_input();
                app.pane = Pane::Detail;
            }
        } else if !app.is_list_partial() {
            // A click in a partial list is ignored, because its lines may have moved just before the click.
            self.click_list(at, cx);
        }
        Flow::Handled
    }

    fn scroll_with_wheel(&mut self, at: Position, by: isize, cx: &mut Cx<'_>) {
        let g = cx.app.geometry();
        match Self(cx.app.visible_pane(self.0)).pane_at(g, at) {
            Pane::List => cx.app.jobs.scroll_by(by, g.list_rows()),
            Pane::Detail => Self(Pane::Detail).scroll(Scroll::By(by), cx),
        }
    }

    /// Returns the next time at which a text changes: the age of a visible job, or how long the selected job has been
    /// working.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let ages = app.jobs.visible(app.geometry().list_rows()).filter_map(|line| match line {
            JobLine::Job(job) => job.state_since().map(|since| short_age_changes_at(since, now)),
            JobLine::Heading(..) => None,
        });
        let counting = app.detail_is_visible() && app.jobs.selected().is_some_and(|job| job.is_working());
        ages.chain(counting.then(|| app.seconds_change_at(now))).min()
    }

    fn position_text(&self, app: &App) -> String {
        let g = app.geometry();
        let hidden = || app.detail_lines().map_or(0, |lines| lines.hidden_below());
        match (g.arrangement, app.visible_pane(self.0)) {
            (JobsArrangement::Stacked, _) => more_below_text(hidden()),
            (JobsArrangement::SideBySide, _) | (_, Pane::List) => app.jobs.position_text(g.list_rows()),
            (JobsArrangement::OneAtATime, Pane::Detail) => {
                // The list is not visible, so the position omits the number of rows below the visible ones.
                let position = app.jobs.position_text(usize::MAX / 2);
                match hidden() {
                    0 => position,
                    hidden => format!("{} ── {position}", more_below_text(hidden)),
                }
            }
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let g = view.app.geometry();
        let pane = view.app.visible_pane(self.0);
        let lines = view.app.detail_lines();
        draw_rules(frame, view, g, self.position_text(view.app), lines.as_ref());
        // The focused pane is drawn last, so that the cursor ends there.
        if g.shows_both_panes() && pane == Pane::List {
            detail_draw::draw(frame, view, g, lines.as_ref());
        }
        if g.shows_both_panes() || pane == Pane::List {
            list_draw::draw(frame, view, g);
        }
        if pane == Pane::Detail {
            detail_draw::draw(frame, view, g, lines.as_ref());
        }
    }
}

impl JobsScreen {
    /// Returns the pane at a cell of the body.
    fn pane_at(&self, g: Geometry, at: Position) -> Pane {
        let is_list = match g.arrangement {
            JobsArrangement::SideBySide => at.x < g.detail.x,
            JobsArrangement::Stacked => at.y < g.detail.y,
            JobsArrangement::OneAtATime => self.0 == Pane::List,
        };
        if is_list { Pane::List } else { Pane::Detail }
    }

    fn click_list(&self, at: Position, cx: &mut Cx<'_>) {
        let (g, app) = (cx.app.geometry(), &mut *cx.app);
        let title = title_area(g.list_rule());
        if title.contains(at) {
            app.select_filter_tab_at(usize::from(at.x - title.x), usize::from(title.width));
            return;
        }
        app.pane = Pane::List;
        if g.list.contains(at) && at.y < g.list_lines().y {
            let columns = list_table(app, g.list.width);
            if let Some(by) = columns.key_at(usize::from(at.x - g.list.x)).and_then(|column| column.sort_when_clicked())
            {
                app.sort_or_reverse_jobs_by(by);
            }
            return;
        }
        let Some(line) = line_at(g.list_lines(), at) else { return };
        if click_list_line(&mut app.jobs, line) && self.0 == Pane::List {
            app.close_filter_input();
            app.open_detail(cx.effects);
        }
    }
}

/// Draws the lower rule with the position, and the separator of the panes. `lines` are the lines of the details.
fn draw_rules(frame: &mut Frame<'_>, view: View<'_>, g: Geometry, position: String, lines: Option<&DetailLines>) {
    let (theme, divider) = (view.theme, g.divider());
    let muted = |text: String| Line::styled(text, theme.muted);
    let lower = g.rule_below_panes();
    match g.arrangement {
        JobsArrangement::SideBySide => {
            let hidden = lines.map_or(0, DetailLines::hidden_below);
            let detail = Rect { x: g.detail.x, width: g.detail.width, ..lower };
            draw_rule(frame, view, Rect { width: g.list.width, ..lower }, Line::default(), muted(position));
            draw_rule(frame, view, detail, Line::default(), muted(more_below_text(hidden)));
            draw_separator(frame, view, divider);
        }
        JobsArrangement::Stacked | JobsArrangement::OneAtATime => {
            draw_rule(frame, view, lower, Line::default(), muted(position));
        }
    }
}

/// Handles a click on a visible line of a jobs list. A click on the heading of a group selects the first job of the
/// group. A click on the heading of the dismissed jobs shows or hides these jobs. Returns whether the clicked job was
/// already selected.
pub(in crate::tui) fn click_list_line(list: &mut JobList, line: usize) -> bool {
    if list.is_dismissed_heading(line) {
        list.toggle_dismissed_visibility();
        return false;
    }
    let Some(key) = list.visible_job(line) else {
        if let Some(first) = list.first_job_below(line) {
            list.select(first);
        }
        return false;
    };
    let was_selected = list.selected().is_some_and(|job| job.key == key);
    if !was_selected {
        list.select(key);
    }
    was_selected
}

impl App {
    /// Moves the focus to the details of the selected job and marks the job as seen.
    fn open_detail(&mut self, effects: &mut Vec<Effect>) {
        if self.jobs.selected().is_some() {
            self.mark_selected_seen(effects);
            self.pane = Pane::Detail;
        }
    }

    fn mark_selected_seen(&mut self, effects: &mut Vec<Effect>) {
        let selected = self.jobs.selected().map(|row| row.key);
        self.mark_seen(selected.as_slice(), effects);
    }

    /// Marks the selected job as seen if its details have the focus.
    fn mark_seen_if_open(&mut self, effects: &mut Vec<Effect>) {
        if self.pane == Pane::Detail {
            self.mark_selected_seen(effects);
        }
    }

    /// Selects the next listed job that needs the user, starting again at the top of the list after the last one.
    fn select_next_that_needs_you(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let jobs: Vec<(JobKey, bool)> =
            self.jobs.shown_rows().map(|job| (job.key, job.group() == JobGroup::NeedsYou)).collect();
        let selected = self.jobs.selected().map(|job| job.key);
        let at = jobs.iter().position(|(key, _)| Some(*key) == selected).map_or(0, |at| at + 1);
        let next = jobs.iter().cycle().skip(at).take(jobs.len()).find(|(_, needs_you)| *needs_you);
        match next.map(|(key, _)| *key) {
            Some(key) if Some(key) == selected => self.notify(Severity::Info, "No other job needs you.", now),
            Some(key) => {
                self.jobs.select(key);
                self.mark_seen_if_open(effects);
            }
            None => self.notify(Severity::Info, "No listed job needs you.", now),
        }
    }

    fn check_selected_job(&mut self, now: Time, effects: &mut Vec<Effect>) {
        match self.jobs.selected() {
            Some(row) if row.id.is_some() => {
                let key = row.key;
                effects.push(Effect::Jobs(JobsEffect::Check(key)));
                // This effect is also needed if the job has no pull request, because it makes the engine look for
                // tokens of code hosts again.
                effects.push(Effect::Jobs(JobsEffect::RefreshPullRequests(vec![key])));
                self.tips.hosts_without_token.clear();
                self.notify(Severity::Info, "Checking this job…", now);
            }
            Some(_) => self.notify(Severity::Info, "This job has no id yet, so it can't be checked.", now),
            None => {}
        }
    }

    /// Whether the jobs screen is shown and may still lack jobs, because the store is being read. Clicks on jobs and on
    /// the footer are then ignored: jobs may move just before a click, which would then act on another job than the
    /// user meant.
    pub(in crate::tui) fn is_list_partial(&self) -> bool {
        self.store == StoreState::Reading && self.screen == crate::tui::Screen::Jobs
    }

    /// Returns the pane that is visible if there is only space for one: the details while an editor is below the
    /// thread, otherwise the one with the focus.
    fn visible_pane(&self, focused: Pane) -> Pane {
        let is_above_editor = self.panes.editor_rows > 0 && self.jobs.selected().is_some();
        if is_above_editor && !self.geometry().shows_both_panes() { Pane::Detail } else { focused }
    }

    /// Returns the pane that has the focus; `None` while an editor below the panes has it.
    pub(in crate::tui) fn focused_pane(&self) -> Option<Pane> {
        (self.panes.editor_rows == 0).then_some(self.pane)
    }

    /// Whether the details have the focus and are one of several tabs, because the job has a pull request.
    pub(in crate::tui) fn focused_detail_has_tabs(&self) -> bool {
        self.pane == Pane::Detail && self.selected_job_has_tabs()
    }

    /// Whether the details of the selected job are one of several tabs.
    pub(in crate::tui) fn selected_job_has_tabs(&self) -> bool {
        self.jobs.selected().is_some_and(|job| self.can_show_pull_request(job))
    }

    /// Whether the details of the selected job are visible.
    pub fn detail_is_visible(&self) -> bool {
        let is_visible = || self.geometry().shows_both_panes() || self.visible_pane(self.pane) == Pane::Detail;
        self.screen == crate::tui::Screen::Jobs && is_visible()
    }

    /// Returns the lines of the details. `None` if no job is selected.
    fn detail_lines(&self) -> Option<DetailLines> {
        let (job, g) = (self.jobs.selected()?, self.geometry());
        let (columns, rows) = (g.detail_columns(), g.detail_rows());
        Some(self.detail.layout(self.facts_about(job, (columns, rows)), rows))
    }

    /// Returns the facts about a job in a pane of this size (columns, rows). While the list is visible too, a title
    /// that is the start of the first prompt is left out, because the list and the timeline show it already.
    pub(in crate::tui) fn facts_about(&self, job: &Job, size: (usize, usize)) -> Vec<Fact> {
        let has_prompt = self.detail.thread().shown().is_none_or(|thread| !thread.value.prompts.is_empty());
        let shows_title = !self.geometry().shows_both_panes() || job.local.has_custom_title || !has_prompt;
        facts(job, &self.detail.job_pages, &next_step(self, job), shows_title, size)
    }
}
