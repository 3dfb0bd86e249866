//! The list of profiles, and switching to another profile. While the API key of the other profile is read and tested,
//! the current profile stays in use. If the service accepts the key or can't be reached, the dashboard restarts with
//! the other profile.
//!
//! ```text
//! ┌ Profiles: 3 ───────────────────────────────────────────────┐
//! │▌● acme       acme-docs           api.mintlify.com   current │
//! │   beta       beta-docs           api.mintlify.com           │
//! │   internal   handbook            docs.corp:8443     no key  │
//! ```

use super::component::prelude::*;
use super::draw::text::truncate;
use super::geometry::{centered, inside_borders};
use super::profile_messages::ProfileEntry;
use super::welcome::Welcome;
use super::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use super::{AppConfig, Screen};
use crate::model::connection::ConnectionState;
use crate::model::endpoint::ApiKey;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobKey;
use crate::model::text::CleanText;
use crate::tui::draw::boxes::{draw_box, draw_line, draw_more_below};
use crate::tui::widgets::list_state::{ClickedRow, ListState};
use crate::tui::{ProfilesEffect, ProfilesMsg};
use ratatui::style::Style;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Width of the last column, the state of a profile.
const STATE_CELLS: usize = 11;
/// Width of the symbols before a name.
const SYMBOLS_CELLS: usize = 3;
/// Minimum width at which there is a column for the service.
const MIN_WIDTH_WITH_HOST: usize = 56;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchStep {
    Choosing,
    /// The API key of the profile at this index is being read.
    ReadingKey(usize),
    /// The service is being asked whether it accepts the API key of the profile at this index.
    TestingKey(usize),
}

#[derive(Debug)]
pub struct ProfilesDialog {
    pub step: SwitchStep,
    /// The job to select after the switch, if any.
    job_to_select: Option<JobKey>,
    /// The indexes of other profiles of the same project, to try if the selected profile can't be used.
    fallback_profiles: Vec<usize>,
    /// Why the last switch failed.
    pub message: Option<CleanText>,
    pub list: ListState,
}

impl ProfilesDialog {
    fn new(app: &App, selected: usize) -> Self {
        Self {
            step: SwitchStep::Choosing,
            job_to_select: None,
            fallback_profiles: Vec::new(),
            message: None,
            list: ListState::new(app.config.profiles.len(), selected),
        }
    }

    /// Opens the dialog and starts switching to the first of the `candidates`. The other candidates are fallbacks if
    /// the API key of the first can't be used. After the switch, selects `job_to_select`.
    pub(super) fn open_and_switch(mut candidates: Vec<usize>, job_to_select: JobKey, cx: &mut Cx<'_>) {
        if candidates.is_empty() {
            return;
        }
        let mut dialog = Self::new(cx.app, candidates.remove(0));
        dialog.job_to_select = Some(job_to_select);
        dialog.fallback_profiles = candidates;
        if dialog.switch_to_selected(cx) != Flow::Close {
            cx.open(dialog);
        }
    }

    /// Starts switching to the selected profile, after saving typed text as drafts of the current profile. If the
    /// selected profile is the current one, only closes the dialog. If the selected profile has a problem, only shows
    /// the problem.
    fn switch_to_selected(&mut self, cx: &mut Cx<'_>) -> Flow {
        let at = self.list.selected();
        if self.step != SwitchStep::Choosing {
            return Flow::Handled;
        }
        if at == cx.app.config.current_profile {
            return Flow::Close;
        }
        let Some(profile) = cx.app.config.profiles.get(at) else { return Flow::Handled };
        if let Some(lacks) = &profile.problem {
            self.message = Some(CleanText::line(&format!("Can't switch to {}. {lacks}", profile.name)));
            return Flow::Handled;
        }
        self.step = SwitchStep::ReadingKey(at);
        self.message = None;
        cx.app.save_unsaved_drafts(cx.effects);
        cx.run(Effect::Profiles(ProfilesEffect::ReadProfileKey(at)));
        Flow::Handled
    }

    /// Forgets the failed attempt to switch, because the user selects another profile.
    fn forget_failed_switch(&mut self) {
        self.job_to_select = None;
        self.fallback_profiles.clear();
        self.message = None;
    }

    /// Tests the API key that was read. If it could not be read, tries the next profile of the same project.
    fn test_api_key_or_try_next_profile(
        &mut self,
        at: usize,
        result: Result<ApiKey, Failure>,
        cx: &mut Cx<'_>,
    ) -> Flow {
        match result {
            Ok(key) => {
                self.step = SwitchStep::TestingKey(at);
                cx.run(Effect::Profiles(ProfilesEffect::TestProfileKey(at, key)));
            }
            // Reading a key needs no request, so the next profile of the same project is tried at once.
            Err(_) if !self.fallback_profiles.is_empty() => {
                self.step = SwitchStep::Choosing;
                self.list.select(self.fallback_profiles.remove(0));
                return self.switch_to_selected(cx);
            }
            Err(failure) => self.stay_on_current(at, &failure, cx.app),
        }
        Flow::Handled
    }

    /// Completes the switch if the service has accepted the API key or can't be reached. Otherwise, stays on the
    /// current profile.
    fn finish_switch(
        &mut self,
        at: usize,
        result: Result<(ApiKey, Option<Failure>), Failure>,
        cx: &mut Cx<'_>,
    ) -> Flow {
        match result {
            Ok((key, failure)) => {
                cx.app.switch_to_profile(at, key, cx.now, cx.effects);
                cx.app.pending_selection = self.job_to_select;
                match failure {
                    Some(failure) => cx.app.report_unverified_switch(failure, cx.now),
                    None => cx.app.connection = ConnectionState::Ready,
                }
                Flow::Close
            }
            Err(failure) => {
                self.stay_on_current(at, &failure, cx.app);
                Flow::Handled
            }
        }
    }

    /// Stays on the current profile, and explains why the profile at index `at` can't be used. Selects the next profile
    /// of the same project, if any.
    fn stay_on_current(&mut self, at: usize, failure: &Failure, app: &App) {
        let name = |at: usize| app.config.profiles.get(at).map(|profile| &profile.name);
        let Some(refused) = name(at) else { return };
        self.step = SwitchStep::Choosing;
        // Each attempt is a request, so the user has to start the next one.
        let next = (!self.fallback_profiles.is_empty()).then(|| self.fallback_profiles.remove(0));
        let next_hint = next.and_then(|next| {
            self.list.select(next);
            let tries = app.key_label(Context::Profiles, Action::Confirm);
            Some(format!(" {tries} tries {}, which has the same project.", name(next)?))
        });
        self.message = Some(CleanText::line(&format!(
            "Still on {}: {refused} can't be used. {}{}",
            app.config.profile,
            failure.message,
            next_hint.unwrap_or_default()
        )));
    }

    /// Returns the area of the list.
    fn list_area(&self, app: &App) -> Rect {
        let lines = inside_borders(dialog_area(app));
        let height = u16::try_from(self.rows(app)).unwrap_or(u16::MAX);
        Rect { height: height.min(lines.height), ..lines }
    }

    /// Returns the number of rows of the list. A gap and three lines of text are below the list. On a narrow screen, an
    /// error takes six lines of text.
    fn rows(&self, app: &App) -> usize {
        let area = dialog_area(app);
        let text = if self.message.is_some() && area.width < 60 { 6 } else { 3 };
        usize::from(area.height.saturating_sub(3 + text)).max(1)
    }
}

/// Returns the area of the dialog: all profiles and a status message below them.
fn dialog_area(app: &App) -> Rect {
    let height = u16::try_from(app.config.profiles.len().saturating_add(6)).unwrap_or(u16::MAX);
    centered(app.geometry().body, 84, height)
}

impl Component for ProfilesDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Profiles, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(action != Action::NewProfile || app.config.config_path.is_some())
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => self.switch_to_selected(cx),
            // No profile can be added while docdeck is switching to another one.
            Action::NewProfile if self.step != SwitchStep::Choosing => Flow::Handled,
            _ => Flow::Unhandled,
        }
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        let area = self.list_area(app);
        Some((&mut self.list, area))
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        if self.step == SwitchStep::Choosing {
            self.forget_failed_switch();
            self.list.scroll(by, self.rows(cx.app));
        }
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        if self.step == SwitchStep::Choosing {
            match self.list.click(self.list_area(cx.app), at) {
                Some(ClickedRow::AlreadySelected) => return self.switch_to_selected(cx),
                Some(ClickedRow::NewlySelected) => self.forget_failed_switch(),
                None => {}
            }
        }
        Flow::Handled
    }

    fn area(&self, app: &App) -> Rect {
        dialog_area(app)
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Profiles(ProfilesMsg::ProfileKeyRead(at, result)) if self.step == SwitchStep::ReadingKey(at) => {
                Ok(self.test_api_key_or_try_next_profile(at, result, cx))
            }
            Msg::Profiles(ProfilesMsg::ProfileKeyTested(at, result)) if self.step == SwitchStep::TestingKey(at) => {
                Ok(self.finish_switch(at, result, cx))
            }
            msg => Err(msg),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let View { app, theme, .. } = view;
        let profiles = &app.config.profiles;
        let area = dialog_area(app);
        let title = format!(" Profiles: {} ", profiles.len());
        let inner = draw_box(frame, area, Line::styled(title, theme.title), theme.focus);
        let (lines, rows) = (self.list_area(app), self.rows(app));
        let table = profile_table(profiles, usize::from(inner.width));
        for (n, ((at, profile), is_selected)) in self.list.visible(profiles.iter().enumerate(), rows).enumerate() {
            let row = ProfileRow { index: at, profile, step: &self.step };
            draw_line(frame, lines, n, table.row(view, &row, is_selected));
        }
        let used = u16::try_from(rows + 1).unwrap_or(inner.height);
        let below = Rect {
            x: inner.x + 1,
            y: inner.y + used,
            width: inner.width.saturating_sub(2),
            height: inner.height.saturating_sub(used),
        };
        let (text, style) = profiles_message(view, self);
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), below);
        draw_more_below(frame, view, area, self.list.hidden_below(rows));
    }
}

impl App {
    pub(super) fn handle_profiles_msg(&mut self, msg: ProfilesMsg, now: Time, effects: &mut Vec<Effect>) {
        match msg {
            ProfilesMsg::ProfileAdded { profile, key } => self.apply_added_profile(profile, key, now, effects),
            // The dialog that requested this result was closed, or the attempt to set up a profile was cancelled.
            ProfilesMsg::ProfileKeyRead(..)
            | ProfilesMsg::ProfileKeyTested(..)
            | ProfilesMsg::ProfileChecked { .. }
            | ProfilesMsg::NewProfileKeyRead { .. }
            | ProfilesMsg::ProfileTested { .. }
            | ProfilesMsg::ConfigWritten { .. } => {}
        }
    }

    pub(super) fn open_profiles(&mut self, now: Time) {
        if self.config.profiles.is_empty() {
            return self.notify(Severity::Info, "The demo has only one profile.", now);
        }
        if self.top::<ProfilesDialog>().is_none() {
            self.open(ProfilesDialog::new(self, self.config.current_profile));
        }
    }

    /// Reports that the API key of the new profile could not be tested, so that only stored jobs are shown.
    fn report_unverified_switch(&mut self, failure: Failure, now: Time) {
        let text = format!("Switched to {}, showing stored jobs. {}", self.config.profile, failure.message);
        self.notify(Severity::Warning, &text, now);
        self.connection = match failure.kind {
            FailureKind::Offline => ConnectionState::Offline { reason: failure.message, next_try: None },
            FailureKind::Limited(wait) => ConnectionState::Limited(wait),
            FailureKind::Service => ConnectionState::Unusable { reason: failure.message },
            _ => ConnectionState::Unknown,
        };
    }

    /// Adds a new profile to the list after it was written to the configuration. Switches to the profile if its API key
    /// could be read.
    pub(super) fn apply_added_profile(
        &mut self,
        profile: ProfileEntry,
        key: Option<ApiKey>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let name = profile.name.clone();
        let is_key_verified = self.find::<Welcome>().is_some_and(Welcome::is_key_verified);
        self.config.profiles.push(profile);
        self.dialogs.retain(|dialog| !dialog.is::<Welcome>() && !dialog.is::<ProfilesDialog>());
        self.is_dirty = true;
        let Some(key) = key else {
            return self.notify(
                Severity::Info,
                &format!("Profile {name} added. docdeck can't switch to it until its key can be read."),
                now,
            );
        };
        self.save_unsaved_drafts(effects);
        self.switch_to_profile(self.config.profiles.len() - 1, key, now, effects);
        if is_key_verified {
            self.connection = ConnectionState::Ready;
        }
    }

    /// Restarts the dashboard with another profile. The effects after `SwitchProfile` apply to the new profile.
    fn switch_to_profile(&mut self, at: usize, key: ApiKey, now: Time, effects: &mut Vec<Effect>) {
        let Some(profile) = self.config.profiles.get(at) else { return };
        let Some(scope) = profile.scope.clone() else { return };
        let notice = format!("Switched to {}: project {} at {}.", profile.name, profile.project(), profile.host());
        let start = AppConfig {
            profile: profile.name.clone(),
            scope,
            current_profile: at,
            size: self.size,
            notice: None,
            opens_all_jobs: false,
            is_key_verified: false,
            ..self.config.clone()
        };
        effects.extend(self.save_layout(None));
        effects.push(Effect::Profiles(ProfilesEffect::SwitchProfile(at, key)));
        let (new_app, first_effects) = App::new(start, now);
        let before = std::mem::replace(self, new_app);
        effects.extend(first_effects);
        self.recent_choices = before.recent_choices;
        self.finish_alerts = before.finish_alerts;
        // The prompts whose outcome could not be recorded belong to the previous profile. They are kept nevertheless,
        // because the ids of their jobs are stored nowhere else.
        self.unrecorded = before.unrecorded;
        // Mouse reporting of the terminal doesn't change during the switch, so the mouse setting must stay the same
        // too.
        self.pointer = before.pointer;
        effects.extend(self.keep_panes_and_request_layout(before.panes));
        if !matches!(before.screen, Screen::Jobs | Screen::Welcome) {
            self.switch_screen(before.screen, now, effects);
        }
        self.notify(Severity::Info, &notice, now);
    }
}

/// A profile in the list.
struct ProfileRow<'a> {
    index: usize,
    profile: &'a ProfileEntry,
    step: &'a SwitchStep,
}

/// Returns the table of profiles at this width. The name gets the width that it needs, up to half of the space. The
/// service gets the width that it needs, up to half of the remaining space, or more if the project needs less than the
/// other half. The project gets what remains.
fn profile_table<'p>(profiles: &[ProfileEntry], width: usize) -> Table<ListCell<ProfileRow<'p>>> {
    type C<'p> = Column<ListCell<ProfileRow<'p>>>;
    let most = |of: fn(&ProfileEntry) -> usize| profiles.iter().map(of).max().unwrap_or(0);
    let (names, projects) =
        (most(|profile| profile.name.as_str().width()), most(|profile| profile.project().as_str().width()));
    let hosts = if width < MIN_WIDTH_WITH_HOST { 0 } else { most(|profile| profile.host().as_str().width()) };
    let space = width.saturating_sub(SYMBOLS_CELLS + STATE_CELLS + 2);
    let name = names.min(space / 2).max(8);
    let rest = space.saturating_sub(name + if hosts > 0 { 4 } else { 2 });
    let host = hosts.min(rest.saturating_sub(projects).max(rest / 2));
    let mut columns = vec![
        C::left_aligned("", 1, |row, _| row.selection_mark()),
        C::left_aligned("", 2, |row, _| TableCell::new(if is_current(row) { "●" } else { "" }, row.view.theme.good)),
        C::left_aligned("", name, |row, _| profile_cell(row, row.item.profile.name.to_string())),
        C::flexible("", 0, |row, _| profile_cell(row, row.item.profile.project().to_string())).with_gap_before(2),
    ];
    if host > 0 {
        columns.push(
            C::left_aligned("", host, |row, width| {
                row.muted_cell(truncated_host(row.item.profile.host().as_str(), width))
            })
            .with_gap_before(2),
        );
    }
    columns.push(C::left_aligned("", STATE_CELLS, state_cell).with_gap_before(2));
    Table::new(columns, width)
}

fn is_current(row: &ListRow<'_, ProfileRow<'_>>) -> bool {
    row.view.app.config.current_profile == row.item.index
}

fn profile_cell<'a>(row: &ListRow<'a, ProfileRow<'_>>, text: String) -> TableCell<'a> {
    if row.item.profile.problem.is_some() && !row.is_selected { row.muted_cell(text) } else { row.cell(text) }
}

fn state_cell<'a>(row: &ListRow<'a, ProfileRow<'_>>, _width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let (state, style): (&str, Style) = match (row.item.step, row.item.profile) {
        (SwitchStep::ReadingKey(of), _) if *of == row.item.index => ("reading key", theme.working),
        (SwitchStep::TestingKey(of), _) if *of == row.item.index => ("checking", theme.working),
        _ if is_current(row) => ("current", theme.good),
        (_, ProfileEntry { scope: None, .. }) => ("no project", theme.warning),
        (_, ProfileEntry { problem: Some(_), .. }) => ("no key", theme.warning),
        _ => ("", theme.muted),
    };
    TableCell::new(state, style)
}

/// Returns the host of a service. A host that is too long for `cells` cells is cut, but not its port, because two
/// services may differ only in their ports.
fn truncated_host(host: &str, cells: usize) -> String {
    let port = host.rfind(':').filter(|at| host.get(at + 1..).is_some_and(|port| port.parse::<u16>().is_ok()));
    match port.and_then(|at| host.split_at_checked(at)) {
        Some((name, port)) if host.width() > cells && port.width() < cells => {
            format!("{}{port}", truncate(name, cells - port.width()))
        }
        _ => host.to_owned(),
    }
}

/// Returns the text below the list, and its style: the progress of switching, its failure, or what switching does.
fn profiles_message(view: View<'_>, open: &ProfilesDialog) -> (String, Style) {
    let View { app, theme, .. } = view;
    let name = |at: usize| app.config.profiles.get(at).map(|profile| profile.name.to_string()).unwrap_or_default();
    match (&open.step, &open.message) {
        (SwitchStep::ReadingKey(at), _) => (format!("Reading the key of {}…", name(*at)), theme.working),
        (SwitchStep::TestingKey(at), _) => (format!("Checking {}'s key with the service…", name(*at)), theme.working),
        (SwitchStep::Choosing, Some(message)) => (message.to_string(), theme.bad),
        (SwitchStep::Choosing, None) => {
            let key = app.key_label(Context::Profiles, Action::Confirm);
            let what = "checks the key and switches. Drafts and prompts stay in their profile.";
            (format!("{key} {what}"), theme.muted)
        }
    }
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
