//! The texts of the header, which is the first line, and their positions. Both drawing and mouse clicks use them, so
//! that they agree.

use super::app::TABS;
use super::format::{fit, format_count, wait_text};
use super::keymap::{Action, Context};
use super::{App, Screen};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::ledger::RateLimited;
use crate::model::row::JobGroup;
use unicode_width::UnicodeWidthStr;

/// The name of a screen in the header, and the index of its first cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    pub at: usize,
    pub text: String,
    pub screen: Screen,
}

/// The texts of the header. Texts that don't fit are omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderText {
    pub program: &'static str,
    /// The name of the profile.
    pub profile: Option<String>,
    pub tabs: Vec<Tab>,
    /// The state of the connection to the service; empty if it is unknown.
    pub connection: String,
    /// The usage of the hourly limit that is closest to being reached.
    pub limit: Option<String>,
}

/// The number of cells between two texts.
const GAP: usize = 2;
/// The minimum width in cells of a truncated profile name.
const MIN_NAME_WIDTH: usize = 8;

impl App {
    /// Returns the texts of the header at this width in cells. If not all of them fit, it omits them in this order: “on
    /// this computer”, the time until the limit resets, the end of the profile name, the rest of the profile name, the
    /// limit.
    pub fn header(&self, width: usize, now: Time) -> HeaderText {
        // A narrow terminal has no space for the program name.
        let welcome = self.screen == Screen::Welcome;
        let program = if width < 60 && !welcome { "" } else { " docdeck" };
        if welcome {
            let connection = String::new();
            return HeaderText { program, profile: None, tabs: Vec::new(), connection, limit: None };
        }
        let names = self.tab_names();
        let tabs = program.len() + names.iter().map(|(text, _)| text.width() + GAP).sum::<usize>();
        let mut connection = self.connection_text(now);
        if tabs + connection.width() + GAP > width {
            connection = self.short_connection_text().to_owned();
        }
        let name = if self.config.is_demo { "demo" } else { self.config.profile.as_str() };
        let left = |connection: &str| width.saturating_sub(tabs + connection.width() + 1 + GAP);
        let limits = self.limit_texts(now);
        let (name, limit) = fit_name_and_limit(name, &limits, left(&connection));
        let mut at = program.len() + name.as_ref().map_or(0, |name| GAP + name.width());
        let tab = |(text, screen): (String, Screen)| {
            let tab = Tab { at: at + GAP, text, screen };
            at = tab.at + tab.text.width();
            tab
        };
        let tabs = names.into_iter().map(tab).collect();
        HeaderText { program, profile: name, tabs, connection, limit }
    }

    fn tab_names(&self) -> [(String, Screen); TABS.len()] {
        // A number says that something needs the user.
        let needs_you = self.jobs.count_of(JobGroup::NeedsYou);
        TABS.map(|(screen, action, name)| {
            let key = self.config.keymap.key(&[Context::Everywhere], action);
            let key = key.map_or_else(String::new, |key| format!("{key} "));
            let count = match screen {
                Screen::Jobs if needs_you > 0 => format!(" •{}", format_count(needs_you)),
                _ => String::new(),
            };
            (format!("{key}{name}{count}"), screen)
        })
    }

    fn connection_text(&self, now: Time) -> String {
        match &self.connection {
            Connection::Unknown => String::new(),
            Connection::Connecting => "… connecting".to_owned(),
            Connection::Ready => format!("{} ready", if self.is_heartbeat_large(now) { "◇" } else { "◆" }),
            Connection::Unusable { .. } => "! unreadable answers".to_owned(),
            Connection::Offline { next_try: Some(next_try), .. } if *next_try > now => {
                format!("✗ offline, retrying in {} s", ((*next_try - now).num_seconds()).max(1))
            }
            Connection::Offline { next_try: None, .. } => "✗ offline".to_owned(),
            Connection::Offline { .. } => "✗ offline, retrying".to_owned(),
            Connection::Limited(wait) if wait.until > now => format!("! rate limited for {}", wait.time_left(now)),
            Connection::Limited(_) => "! rate limited".to_owned(),
            Connection::Refused { .. } => {
                format!("✗ key refused, {} to retry", self.key_label(Context::Jobs, Action::Refresh))
            }
        }
    }

    /// Returns the state of the connection in at most two words, for a narrow terminal.
    fn short_connection_text(&self) -> &'static str {
        match &self.connection {
            Connection::Unknown => "",
            Connection::Connecting => "… wait",
            Connection::Ready => "◆ ready",
            Connection::Unusable { .. } => "! unreadable",
            Connection::Offline { .. } => "✗ offline",
            Connection::Limited(_) => "! limited",
            Connection::Refused { .. } => "✗ refused",
        }
    }

    /// Returns the limit that is closest to being reached. If several limits are equally close, returns the one that
    /// matters most on this screen.
    pub fn closest_limit(&self) -> RateLimited {
        let order = match self.screen {
            Screen::Views => [RateLimited::Views, RateLimited::Create, RateLimited::FollowUp],
            _ => RateLimited::ALL,
        };
        let [first, others @ ..] = order;
        others.into_iter().fold(first, |closest, other| {
            if self.budget(other).is_closer_to_limit(&self.budget(closest)) { other } else { closest }
        })
    }

    /// Returns the texts for the limit that is closest to being reached, from the longest to the shortest. Empty if the
    /// usage of the limit is unknown.
    fn limit_texts(&self, now: Time) -> Vec<String> {
        let limited = self.closest_limit();
        if !self.has_budget(limited) {
            return Vec::new();
        }
        let budget = self.budget(limited);
        let (label, word) = (limited.label(), limited.short_label());
        if let Some(wait) = budget.blocked.filter(|wait| wait.until > now) {
            let left = wait.time_left(now);
            return vec![
                format!("{label}: limit reached, next in {left}"),
                format!("{label}: none for {left}"),
                format!("{label}: limit reached"),
                format!("{word}: limit"),
            ];
        }
        let share = format!("{}/{}", budget.used, budget.limit);
        let (resets, sign) = match budget.resets_at.filter(|at| *at > now).map(|at| wait_text(at - now)) {
            Some(left) => (format!(", resets in {left}"), format!(" ↺ {left}")),
            None => (" this hour".to_owned(), String::new()),
        };
        vec![
            format!("{label} {share} on this computer{resets}"),
            format!("{label} {share}{resets}"),
            format!("{label} {share}{sign}"),
            format!("{label} {share}"),
            format!("{word} {share}"),
        ]
    }
}

/// Returns the profile name, truncated if necessary, and the longest text for the limit that leaves space for the name.
/// If only one of them fits, the limit takes precedence.
fn fit_name_and_limit(name: &str, limits: &[String], width: usize) -> (Option<String>, Option<String>) {
    let truncated = |width: usize| {
        let cells = width.saturating_sub(GAP);
        (cells >= name.width().min(MIN_NAME_WIDTH)).then(|| fit(name, cells))
    };
    for limit in limits {
        if let Some(name) = width.checked_sub(limit.width() + GAP).and_then(truncated) {
            return (Some(name), Some(limit.clone()));
        }
    }
    match limits.iter().find(|limit| limit.width() + GAP <= width) {
        Some(limit) => (None, Some(limit.clone())),
        None => (truncated(width), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_shortened_before_the_name_is_truncated_or_omitted() {
        let limits = ["new jobs 4/100, resets in 60m".to_owned(), "new jobs 4/100, 60 m.".to_owned()];
        let at = |name: &str, width: usize| {
            let (name, limit) = fit_name_and_limit(name, &limits, width);
            assert!([&name, &limit].into_iter().flatten().map(|text| text.width() + GAP).sum::<usize>() <= width);
            (name.unwrap_or_default(), limit.map_or(0, |limit| limit.width()))
        };
        assert_eq!(at("acme", 37), ("acme".to_owned(), 29));
        assert_eq!(at("acme", 36), ("acme".to_owned(), 21));
        assert_eq!(at("acme", 28), (String::new(), 21));
        assert_eq!(at("the-handbook-of-acme", 45), ("the-handboo…".to_owned(), 29));
        assert_eq!(at("the-handbook-of-acme", 40), ("the-handbook-o…".to_owned(), 21));
        assert_eq!(at("the-handbook-of-acme", 33), ("the-han…".to_owned(), 21));
        assert_eq!(at("the-handbook-of-acme", 32), (String::new(), 29));
        assert_eq!(at("acme", 9), ("acme".to_owned(), 0));
        assert_eq!(fit_name_and_limit("the-handbook", &[], 10), (Some("the-han…".to_owned()), None));
    }
}
