//! The first line: its words and where they stand. Drawing and the mouse both ask here, so that they agree.

use super::format::{count, fit, until};
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
/// A name that is longer may be cut down to so many cells.
const NAME: usize = 8;

impl App {
    /// The first line in so many cells. What has no room is left out, the least important first: the count of active
    /// jobs, what the ledger is of, the end of the profile's name, the ledger.
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
        let room = width.saturating_sub(tabs + connection.width() + 1 + GAP);
        let name = if self.start.demo { "demo" } else { self.start.profile.as_str() };
        let short = self.connection_word();
        let mut parts = name_and_ledger(name, &self.ledger_texts(now), room);
        // What nobody waits for is said in fewer words before the name goes.
        if parts.0.is_none() && self.connection == Connection::Unknown && short.width() < connection.width() {
            parts = name_and_ledger(name, &self.ledger_texts(now), room + connection.width() - short.width());
            connection = if parts.0.is_some() { short.to_owned() } else { connection };
        }
        let (name, ledger) = parts;
        let taken = [&name, &ledger].into_iter().flatten().map(|text| text.width() + GAP).sum::<usize>();
        let room = width.saturating_sub(tabs + connection.width() + 1 + GAP + taken);
        let active = self.jobs.active();
        let active = (active > 0).then(|| format!("{} active", count(active)));
        let active = active.filter(|text| text.width() + GAP <= room);
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

    /// What was used of it, as far as this computer knows; then the same without what it is of, which the screen says as
    /// well. None where nothing is known.
    fn ledger_texts(&self, now: Time) -> Vec<String> {
        let limited = self.limit_shown();
        if !self.knows_budget(limited) {
            return Vec::new();
        }
        let budget = self.budget(limited);
        let mut text = match budget.blocked_until {
            Some(_) => "limit reached".to_owned(),
            None => format!("{}/{} used here", budget.used, budget.limit),
        };
        if let Some(at) = budget.resets_at.filter(|at| *at > now) {
            text.push_str(&format!(" ↺ {}", until(at - now)));
        }
        vec![format!("{} {text}", limited.word()), text]
    }
}

/// The profile's name, cut where it has to be, and the longest of the ledger's texts that leaves room for it. Where there is
/// room for one of the two alone it is the ledger's: what is spent is to be seen.
fn name_and_ledger(name: &str, ledgers: &[String], room: usize) -> (Option<String>, Option<String>) {
    let cut = |room: usize| {
        let cells = room.saturating_sub(GAP);
        (cells >= name.width().min(NAME)).then(|| fit(name, cells))
    };
    for ledger in ledgers {
        if let Some(name) = room.checked_sub(ledger.width() + GAP).and_then(cut) {
            return (Some(name), Some(ledger.clone()));
        }
    }
    match ledgers.iter().find(|ledger| ledger.width() + GAP <= room) {
        Some(ledger) => (None, Some(ledger.clone())),
        None => (cut(room), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_before_it_goes_and_the_ledger_loses_its_first_word_before_that() {
        let ledgers = ["creates 4/100 used here ↺ 60m".to_owned(), "4/100 used here ↺ 60m".to_owned()];
        let at = |name: &str, room: usize| {
            let (name, ledger) = name_and_ledger(name, &ledgers, room);
            assert!([&name, &ledger].into_iter().flatten().map(|text| text.width() + GAP).sum::<usize>() <= room);
            (name.unwrap_or_default(), ledger.map_or(0, |ledger| ledger.width()))
        };
        assert_eq!(at("acme", 37), ("acme".to_owned(), 29));
        assert_eq!(at("acme", 36), ("acme".to_owned(), 21));
        assert_eq!(at("acme", 28), (String::new(), 21));
        assert_eq!(at("the-handbook-of-acme", 45), ("the-handboo…".to_owned(), 29));
        assert_eq!(at("the-handbook-of-acme", 40), ("the-handbook-o…".to_owned(), 21));
        assert_eq!(at("the-handbook-of-acme", 33), ("the-han…".to_owned(), 21));
        assert_eq!(at("the-handbook-of-acme", 32), (String::new(), 29));
        assert_eq!(at("acme", 9), ("acme".to_owned(), 0));
        assert_eq!(name_and_ledger("the-handbook", &[], 10), (Some("the-han…".to_owned()), None));
    }
}
