//! The first line: its words and where they stand. Drawing and the mouse both ask here, so that they agree.

use super::format::{count, until};
use super::keymap::{Action, Context};
use super::{App, Screen};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::ledger::Limited;
use unicode_width::UnicodeWidthStr;

/// A screen's name, and the cell where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    pub at: usize,
    pub text: String,
    pub screen: Screen,
}

/// The words of the first line; what has no room is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub program: &'static str,
    /// The profile.
    pub name: Option<String>,
    pub tabs: Vec<Tab>,
    /// How the talk with the service goes.
    pub connection: String,
    /// How many jobs the agent works on.
    pub active: Option<String>,
    /// What was used of the limit that matters on this screen.
    pub ledger: Option<String>,
}

/// Cells between two parts.
const GAP: usize = 2;

impl App {
    /// The first line in so many cells. What has no room is left out, the least important first: the count of active
    /// jobs, the profile, the ledger.
    pub fn header(&self, width: usize, now: Time) -> Header {
        // In a narrow terminal the name gives way to the tabs.
        let welcome = self.screen == Screen::Welcome;
        let program = if width < 60 && !welcome { "" } else { " docdeck" };
        if welcome {
            let connection = String::new();
            return Header { program, name: None, tabs: Vec::new(), connection, active: None, ledger: None };
        }
        let names = self.tab_names();
        let tabs = program.len() + names.iter().map(|(text, _)| text.width() + GAP).sum::<usize>();
        let mut connection = self.connection_text(now);
        if tabs + connection.width() + GAP > width {
            connection = self.connection_word().to_owned();
        }
        let mut room = width.saturating_sub(tabs + connection.width() + 1 + GAP);
        let mut fits = |text: &str| {
            let needed = text.width() + GAP;
            let fits = needed <= room;
            room -= if fits { needed } else { 0 };
            fits
        };
        let ledger = self.ledger_text(now).filter(|text| fits(text));
        let name = if self.start.demo { "demo" } else { self.start.profile.as_str() };
        let name = fits(name).then(|| name.to_owned());
        let active = self.jobs.active();
        let active = (active > 0).then(|| format!("{} active", count(active))).filter(|text| fits(text));
        let mut at = program.len() + name.as_ref().map_or(0, |name| GAP + name.width());
        let tab = |(text, screen): (String, Screen)| {
            let tab = Tab { at: at + GAP, text, screen };
            at = tab.at + tab.text.width();
            tab
        };
        let tabs = names.into_iter().map(tab).collect();
        Header { program, name, tabs, connection, active, ledger }
    }

    fn tab_names(&self) -> [(String, Screen); 3] {
        let jobs = match self.jobs.len() {
            0 => "Jobs".to_owned(),
            n => format!("Jobs {}", count(n)),
        };
        let key = |action| self.start.keymap.key(&[Context::Everywhere], action);
        let tab = |action, name: &str| key(action).map_or_else(|| name.to_owned(), |key| format!("{key} {name}"));
        [
            (tab(Action::ShowJobs, &jobs), Screen::Jobs),
            (tab(Action::ShowViews, "Views"), Screen::Views),
            (tab(Action::ShowLog, "Log"), Screen::Log),
        ]
    }

    fn connection_text(&self, now: Time) -> String {
        match &self.connection {
            Connection::Unknown if self.jobs.active() > 0 => "○ connecting".to_owned(),
            Connection::Unknown => "○ no answer yet".to_owned(),
            Connection::Live => format!("{} live", if self.is_beating(now) { "○" } else { "●" }),
            Connection::Unusable { .. } => "! answers can't be read".to_owned(),
            Connection::Offline { next_try: Some(next_try), .. } if *next_try > now => {
                format!("✗ offline, next try in {} s", ((*next_try - now).num_seconds()).max(1))
            }
            Connection::Offline { next_try: None, .. } => "✗ offline".to_owned(),
            Connection::Offline { .. } => "✗ offline, trying".to_owned(),
            Connection::Resting { until: end } => format!("! resting {}", until(*end - now)),
            Connection::Refused { .. } => {
                format!("✗ key refused, {} tries again", self.told(Context::Jobs, Action::Refresh))
            }
        }
    }

    /// The same without what has no room in a narrow terminal.
    fn connection_word(&self) -> &'static str {
        match &self.connection {
            Connection::Unknown if self.jobs.active() > 0 => "○ asking",
            Connection::Unknown => "○ unknown",
            Connection::Live => "● live",
            Connection::Unusable { .. } => "! unreadable",
            Connection::Offline { .. } => "✗ offline",
            Connection::Resting { .. } => "! resting",
            Connection::Refused { .. } => "✗ refused",
        }
    }

    /// The limit that matters on this screen.
    pub fn limit_shown(&self) -> Limited {
        if self.screen == Screen::Views { Limited::Views } else { Limited::Create }
    }

    /// What was used of it, as far as this computer knows.
    fn ledger_text(&self, now: Time) -> Option<String> {
        let limited = self.limit_shown();
        if !self.knows_budget(limited) {
            return None;
        }
        let budget = self.budget(limited);
        let mut text = match budget.blocked_until {
            Some(_) => format!("{} limit reached", limited.word()),
            None => format!("{} {}/{} used here", limited.word(), budget.used, budget.limit),
        };
        if let Some(at) = budget.resets_at.filter(|at| *at > now) {
            text.push_str(&format!(" ↺ {}", until(at - now)));
        }
        Some(text)
    }
}
