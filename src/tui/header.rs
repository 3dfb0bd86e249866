//! The texts of the header, which is the first line, and their positions. Both drawing and mouse clicks use them, so
//! that they agree.

use super::app::HEADER_TABS;
use super::format::{format_count, truncate, wait_text};
use super::keymap::{Action, Context};
use super::{App, Screen};
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::job::JobGroup;
use crate::model::job_state::NEEDS_YOU_SYMBOL;
use crate::model::ledger::{CountedBy, Quota};
use crate::model::team::TeamStatus;
use unicode_width::UnicodeWidthStr;

/// The name of a screen in the header, and the index of its first cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderTab {
    pub start: usize,
    pub text: String,
    pub screen: Screen,
}

/// The texts of the header. Texts that don't fit are omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderText {
    pub program_name: &'static str,
    /// The name of the profile.
    pub profile: Option<String>,
    pub tabs: Vec<HeaderTab>,
    /// The state of the connection to the service; empty if it is unknown.
    pub connection: String,
    /// The state of the exchange with the team. `None` if the exchange works normally or is not used, or if the text
    /// doesn't fit.
    pub team: Option<String>,
    /// The usage of the hourly limit that is closest to being reached.
    pub limit: Option<String>,
}

/// The number of cells between two texts.
const TEXT_GAP_CELLS: usize = 2;
/// The minimum number of columns at which the gap before the name of each screen is three cells wide instead of two.
const MIN_COLUMNS_WIDE_GAP: usize = 100;
/// The minimum number of columns at which the states of the connection and of the team have their long forms.
const MIN_COLUMNS_LONG_STATUS: usize = 60;
/// The minimum width in cells of a truncated profile name.
const MIN_PROFILE_NAME_WIDTH: usize = 8;

/// Which of the optional texts the header has.
#[derive(Clone, Copy)]
struct HeaderForm<'a> {
    program_name: &'static str,
    has_tab_keys: bool,
    /// The minimum width of the profile name; `None` if it is left out.
    min_profile_name_width: Option<usize>,
    limit: Option<&'a str>,
}

impl App {
    /// Returns the texts of the header at this width in cells. If not all texts fit, takes these steps, one after the
    /// other: shortens the limit, as `limit_texts` does, omits the program name, omits the keys of the screens,
    /// truncates the profile name, omits the profile name, omits the limit.
    pub fn header(&self, width: usize, now: Time) -> HeaderText {
        let program_name = " docdeck";
        if self.screen == Screen::Welcome {
            let connection = String::new();
            let (tabs, team, limit) = (Vec::new(), None, None);
            return HeaderText { program_name, profile: None, tabs, connection, team, limit };
        }
        let connection = if width < MIN_COLUMNS_LONG_STATUS {
            self.short_connection_text(now).to_owned()
        } else {
            self.connection_text(now)
        };
        let name = if self.config.is_demo { "demo" } else { self.config.profile.as_str() };
        let gap = if width < MIN_COLUMNS_WIDE_GAP { TEXT_GAP_CELLS } else { TEXT_GAP_CELLS + 1 };
        let limits = self.limit_texts(now);
        let shortest = limits.last().map(String::as_str);
        let full = HeaderForm {
            program_name,
            has_tab_keys: true,
            min_profile_name_width: Some(name.width()),
            limit: shortest,
        };
        let without_program = HeaderForm { program_name: "", ..full };
        let without_keys = HeaderForm { has_tab_keys: false, ..without_program };
        let truncated =
            HeaderForm { min_profile_name_width: Some(name.width().min(MIN_PROFILE_NAME_WIDTH)), ..without_keys };
        let without_name = HeaderForm { min_profile_name_width: None, ..without_keys };
        let last = HeaderForm { limit: None, ..without_name };
        let shorter = [full, without_program, without_keys, truncated, without_name];
        let tab_names = [false, true].map(|has_tab_keys| self.tab_names(has_tab_keys));
        let [tabs_alone, tabs_with_keys] =
            tab_names.each_ref().map(|names| names.iter().map(|(text, _)| gap + text.width()).sum::<usize>());
        let narrowest = tabs_alone + connection.width() + TEXT_GAP_CELLS + 1;
        let team = self.team_text(width).filter(|team| narrowest + team.width() + TEXT_GAP_CELLS <= width);
        // Returns the number of cells that this form of the header leaves for the profile name, without the gap before
        // the name. `None` if the header doesn't fit in this form.
        let space_for_name = |form: HeaderForm<'_>| {
            let tabs = if form.has_tab_keys { tabs_with_keys } else { tabs_alone };
            let right = [connection.as_str(), team.as_deref().unwrap_or_default(), form.limit.unwrap_or_default()];
            let right: usize =
                right.into_iter().filter(|text| !text.is_empty()).map(|text| text.width() + TEXT_GAP_CELLS).sum();
            let lead = if form.program_name.is_empty() { 1 } else { TEXT_GAP_CELLS };
            let name = form.min_profile_name_width.map_or(0, |width| width + lead);
            let space = width.checked_sub(form.program_name.width() + tabs + right + 1)?;
            (name <= space).then(|| space.saturating_sub(lead))
        };
        let forms = limits.iter().map(|limit| HeaderForm { limit: Some(limit), ..full }).chain(shorter);
        let (form, space) = forms.filter_map(|form| Some((form, space_for_name(form)?))).next().unwrap_or((last, 0));
        let profile = form.min_profile_name_width.map(|_| truncate(name, space));
        let lead = if form.program_name.is_empty() { 1 } else { TEXT_GAP_CELLS };
        let mut at = form.program_name.width() + profile.as_ref().map_or(0, |name| lead + name.width());
        let tab = |(text, screen): (String, Screen)| {
            let tab = HeaderTab { start: at + gap, text, screen };
            at = tab.start + tab.text.width();
            tab
        };
        let [names_alone, names_with_keys] = tab_names;
        let tabs = if form.has_tab_keys { names_with_keys } else { names_alone }.into_iter().map(tab).collect();
        let (program_name, limit) = (form.program_name, form.limit.map(str::to_owned));
        HeaderText { program_name, profile, tabs, connection, team, limit }
    }

    fn tab_names(&self, has_tab_keys: bool) -> [(String, Screen); HEADER_TABS.len()] {
        // The tab of the jobs screen shows how many jobs need the user.
        let needs_you = self.jobs.count_of(JobGroup::NeedsYou);
        HEADER_TABS.map(|(screen, action, name)| {
            let key = self.config.keymap.key(&[Context::Everywhere], action).filter(|_| has_tab_keys);
            let key = key.map_or_else(String::new, |key| format!("{key} "));
            let count = match screen {
                Screen::Jobs if needs_you > 0 => format!(" {NEEDS_YOU_SYMBOL}{}", format_count(needs_you)),
                _ => String::new(),
            };
            (format!("{key}{name}{count}"), screen)
        })
    }

    /// Returns the state of the exchange with the team, if changes are being received or the team can't be reached.
    fn team_text(&self, width: usize) -> Option<String> {
        let is_long = width >= MIN_COLUMNS_LONG_STATUS;
        match self.team {
            TeamStatus::Inactive | TeamStatus::Online => None,
            TeamStatus::Receiving(changes) if is_long => Some(format!("… team: {} changes", format_count(changes))),
            TeamStatus::Receiving(_) => Some("… team".to_owned()),
            TeamStatus::Offline { .. } if is_long => Some("✗ team offline".to_owned()),
            TeamStatus::Offline { .. } => Some("✗ team".to_owned()),
        }
    }

    /// Returns the state of the connection to show. After the end of a rate limit, this is `Ready`: the service can be
    /// reached, and there may be no job to poll, so that no response changes the state.
    pub(super) fn shown_connection(&self, now: Time) -> &ConnectionState {
        match &self.connection {
            ConnectionState::Limited(wait) if wait.until <= now => &ConnectionState::Ready,
            other => other,
        }
    }

    fn connection_text(&self, now: Time) -> String {
        match self.shown_connection(now) {
            ConnectionState::Unknown => String::new(),
            ConnectionState::Connecting => "… connecting".to_owned(),
            ConnectionState::Ready => format!("{} ready", if self.is_heartbeat_large(now) { "◇" } else { "◆" }),
            ConnectionState::Unusable { .. } => "! unreadable answers".to_owned(),
            ConnectionState::Offline { next_try: Some(next_try), .. } if *next_try > now => {
                format!("✗ offline, retrying in {} s", ((*next_try - now).num_seconds()).max(1))
            }
            ConnectionState::Offline { next_try: None, .. } => "✗ offline".to_owned(),
            ConnectionState::Offline { .. } => "✗ offline, retrying".to_owned(),
            ConnectionState::Limited(wait) => format!("! rate limited for {}", wait.time_left_text(now)),
            ConnectionState::KeyRefused { .. } => {
                format!("✗ key refused, {} to retry", self.key_label(Context::Jobs, Action::Refresh))
            }
        }
    }

    /// Returns the state of the connection in at most two words, for a narrow terminal.
    fn short_connection_text(&self, now: Time) -> &'static str {
        match self.shown_connection(now) {
            ConnectionState::Unknown => "",
            ConnectionState::Connecting => "… connecting",
            ConnectionState::Ready => "◆ ready",
            ConnectionState::Unusable { .. } => "! unreadable",
            ConnectionState::Offline { .. } => "✗ offline",
            ConnectionState::Limited(_) => "! limited",
            ConnectionState::KeyRefused { .. } => "✗ refused",
        }
    }

    /// Returns the limit that is closest to being reached. If several limits are equally close, returns the one that
    /// matters most on this screen.
    pub fn quota_closest_to_limit(&self) -> Quota {
        let order = match self.screen {
            Screen::Analytics => [Quota::Views, Quota::Create, Quota::FollowUp],
            _ => Quota::HOURLY,
        };
        let [first, others @ ..] = order;
        others.into_iter().fold(first, |closest, other| {
            if self.budget(other).is_closer_to_limit(&self.budget(closest)) { other } else { closest }
        })
    }

    /// Returns the texts for the limit that is closest to being reached, from the longest to the shortest. Empty if the
    /// usage of the limit is unknown.
    fn limit_texts(&self, now: Time) -> Vec<String> {
        let quota = self.quota_closest_to_limit();
        if !self.is_budget_known(quota) {
            return Vec::new();
        }
        let budget = self.budget(quota);
        let label = quota.label();
        if let Some(wait) = budget.blocked.filter(|wait| wait.until > now) {
            let left = wait.time_left_text(now);
            return vec![
                format!("{label}: limit reached, next request in {left}"),
                format!("{label}: none left for {left}"),
                format!("{label}: none left"),
            ];
        }
        let left = budget.requests_left();
        let share = format!("{left} of {} left", budget.limit);
        // The label of the analytics limit is also the name of the analytics screen, so the label alone doesn't show
        // that requests are counted.
        let full_label = if quota == Quota::Views { "analytics requests" } else { label };
        let freed = match budget.resets_at.filter(|at| *at > now).map(|at| wait_text(at - now)) {
            Some(wait) => format!(", 1 more in {wait}"),
            None => " this hour".to_owned(),
        };
        let team = match budget.counted_by {
            CountedBy::ThisComputer => {
                return vec![
                    format!("{full_label}: {share}{freed} (this computer)"),
                    format!("{full_label}: {share}{freed}"),
                    format!("{label}: {share}"),
                    format!("{label}: {left} left"),
                ];
            }
            CountedBy::Team { as_of: None } => ", team".to_owned(),
            CountedBy::Team { as_of: Some(at) } => format!(", team as of {} ago", wait_text(now - at)),
        };
        vec![
            format!("{full_label}: {share}{team}{freed}"),
            format!("{label}: {share}{team}"),
            format!("{label}: {left} left{team}"),
            format!("{label}: {left} left"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::{Budget, Wait};
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::finish_alerts::tests::app;
    use crate::tui::jobs::tests::{at, row};
    use chrono::TimeDelta;

    #[test]
    fn the_team_is_mentioned_with_the_budget_and_while_it_is_offline() {
        let mut app = app(Vec::new());
        app.connection = ConnectionState::Ready;
        let budget = Budget {
            used: 37,
            resets_at: Some(at(0) + TimeDelta::minutes(22)),
            counted_by: CountedBy::Team { as_of: None },
            ..Budget::unused(Quota::Create)
        };
        app.budgets.insert(Quota::Create, budget);
        app.team = TeamStatus::Online;
        let right = |app: &App, width: usize| {
            let header = app.header(width, at(0));
            (header.team.unwrap_or_default(), header.limit.unwrap_or_default())
        };
        assert_eq!(right(&app, 125), (String::new(), "new jobs: 63 of 100 left, team, 1 more in 22m".to_owned()));
        assert_eq!(right(&app, 80), (String::new(), "new jobs: 63 of 100 left, team".to_owned()));
        app.team = TeamStatus::Offline { since: at(-300) };
        let counted_by = CountedBy::Team { as_of: Some(at(-300)) };
        app.budgets.insert(Quota::Create, Budget { counted_by, ..budget });
        let offline = "✗ team offline".to_owned();
        assert_eq!(right(&app, 125), (offline.clone(), "new jobs: 63 of 100 left, team as of 5m ago".to_owned()));
        assert_eq!(right(&app, 80), (offline, "new jobs: 63 left".to_owned()));
        assert_eq!(right(&app, 40), ("✗ team".to_owned(), String::new()));
        app.connection = ConnectionState::Unusable { reason: CleanText::line("a page") };
        assert_eq!(right(&app, 40), (String::new(), String::new()));
    }

    #[test]
    fn a_rate_limit_is_shown_until_it_ends() {
        let mut app = app(Vec::new());
        let until = at(90);
        app.connection = ConnectionState::Limited(Wait { until, is_estimate: false });
        let connection = |width, seconds| app.header(width, at(seconds)).connection;
        assert_eq!((connection(120, 0).as_str(), connection(40, 0).as_str()), ("! rate limited for 2m", "! limited"));
        assert_eq!((connection(120, 90).as_str(), connection(40, 90).as_str()), ("◆ ready", "◆ ready"));
        assert!(app.next_timer(at(89)).is_some_and(|next| next <= until), "the header changes at the end of the limit");
    }

    #[test]
    fn the_least_important_texts_are_left_out_first() {
        let mut app = app(vec![row(1, Status::Failed)]);
        app.config.profile = CleanText::line("the-handbook-of-acme");
        app.connection = ConnectionState::Ready;
        let resets_at = Some(at(0) + TimeDelta::minutes(22));
        let budget = Budget { used: 37, limit: 100, resets_at, blocked: None, counted_by: CountedBy::ThisComputer };
        app.budgets.insert(Quota::Create, budget);
        let shown = |width: usize| {
            let header = app.header(width, at(0));
            let mut text = format!("{}|{}|", header.program_name.trim(), header.profile.unwrap_or_default());
            let end = header.tabs.last().map_or(0, |tab| tab.start + tab.text.width());
            header.tabs.iter().for_each(|tab| text += &format!("{} ", tab.text));
            let right =
                header.connection.width() + header.limit.as_ref().map_or(0, |limit| limit.width() + TEXT_GAP_CELLS);
            assert!(end + TEXT_GAP_CELLS + right < width, "{width}: {text}");
            format!("{text}|{}", header.limit.unwrap_or_default())
        };
        let (long, keys, bare) = ("the-handbook-of-acme", "1 Jobs ●1 2 Analytics 3 Log ", "Jobs ●1 Analytics Log ");
        let expected = [
            (135, format!("docdeck|{long}|{keys}|new jobs: 63 of 100 left, 1 more in 22m (this computer)")),
            (115, format!("docdeck|{long}|{keys}|new jobs: 63 of 100 left, 1 more in 22m")),
            (99, format!("docdeck|{long}|{keys}|new jobs: 63 of 100 left")),
            (91, format!("docdeck|{long}|{keys}|new jobs: 63 left")),
            (83, format!("|{long}|{keys}|new jobs: 63 left")),
            (75, format!("|{long}|{bare}|new jobs: 63 left")),
            (66, format!("|the-handbo…|{bare}|new jobs: 63 left")),
            (54, format!("||{bare}|new jobs: 63 left")),
            (40, format!("||{bare}|")),
        ];
        for (width, text) in expected {
            assert_eq!(shown(width), text, "{width}");
        }
    }
}
