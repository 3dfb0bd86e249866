//! Tips: a line about a useful key, shown when a screen or dialog is opened for the first time on this computer. A tip
//! disappears with the next key or after some time.

use super::keymap::{Action, Context, Keymap};
use super::state::TipPlace;
use super::{App, Effect, Screen, StoreState};
use crate::model::Time;
use crate::model::pull_request::HostKind;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use unicode_width::UnicodeWidthStr;

/// How long a tip is shown, in seconds.
const TIP_SECONDS: i64 = 12;

impl App {
    pub fn tip(&self) -> Option<&str> {
        self.tips.current_tip.as_ref().map(|(text, _)| text.as_str())
    }

    /// Ends the tip of the previous screen or dialog, and shows the tip of the current one. Shows no tip if it was
    /// shown before or doesn't fit, or if a notice is shown.
    pub(super) fn show_tip(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let place = self.current_place();
        if self.tips.place != place {
            self.tips.place = place;
            self.tips.current_tip = None;
        }
        let (Some(place), Some(seen)) = (place, &mut self.tips.seen_places) else { return };
        if self.notice.is_some() || seen.contains(&place) {
            return;
        }
        let fits = |text: &String| text.width() + 2 <= usize::from(self.size.0);
        let missing_token = self.tips.hosts_without_token.first();
        let Some(text) = tip_text(place, &self.config.keymap, missing_token).filter(fits) else {
            return;
        };
        seen.insert(place);
        let words: Vec<&str> = seen.iter().map(|place| place.into()).collect();
        effects.push(Effect::SaveSeenTips(words.join(" ")));
        self.tips.current_tip = Some((text, now + TimeDelta::seconds(TIP_SECONDS)));
        self.is_dirty = true;
    }

    /// Whether the tip about a missing token is shown in the jobs list now, or is next.
    fn is_host_token_tip_shown_or_next(&self) -> bool {
        let is_shown = self.tips.place == Some(TipPlace::HostToken);
        if self.tips.current_tip.is_some() {
            return is_shown;
        }
        let is_seen = |place| self.tips.seen_places.as_ref().is_none_or(|seen| seen.contains(&place));
        !self.tips.hosts_without_token.is_empty() && is_seen(TipPlace::Jobs) && !is_seen(TipPlace::HostToken)
    }

    fn current_place(&self) -> Option<TipPlace> {
        if self.store != StoreState::Loaded || self.config.is_demo || self.config.read_only {
            return None;
        }
        match self.contexts().first()? {
            Context::Jobs if self.is_host_token_tip_shown_or_next() => Some(TipPlace::HostToken),
            Context::Jobs => Some(TipPlace::Jobs),
            Context::Detail => Some(TipPlace::Detail),
            Context::Views => Some(TipPlace::Views),
            Context::Editor => Some(TipPlace::Editor),
            Context::BatchText => Some(TipPlace::Batch),
            Context::Calendar | Context::CalendarInput => Some(TipPlace::Calendar),
            Context::PageDetail => Some(TipPlace::PageDetail),
            Context::Trend => Some(TipPlace::Trend),
            Context::Movers => Some(TipPlace::Movers),
            _ if self.screen == Screen::Log && self.dialogs.is_empty() => Some(TipPlace::Log),
            _ => None,
        }
    }
}

/// Returns the tip of a place, with the user's keys. `None` if an action that the tip mentions has no key.
/// `missing_token` is a code host for which there is no token.
fn tip_text(place: TipPlace, keymap: &Keymap, missing_token: Option<&(CleanText, HostKind)>) -> Option<String> {
    let key = |context, action| keymap.key(&[context, Context::Lists, Context::Everywhere], action);
    Some(match place {
        TipPlace::Jobs => format!(
            "Tip: press {} for the shortcuts, and {} to find a command by its name.",
            key(Context::Jobs, Action::Help)?,
            key(Context::Jobs, Action::Palette)?
        ),
        TipPlace::Detail => format!(
            "Tip: {} edits a job's tags, {} its note; the service sees neither.",
            key(Context::Detail, Action::Tags)?,
            key(Context::Detail, Action::Note)?
        ),
        TipPlace::Views => format!(
            "Tip: press {} to load all pages (after showing the cost), then sort them.",
            key(Context::Views, Action::LoadAll)?
        ),
        TipPlace::Log => {
            format!("Tip: every request is listed here; {} goes to the newest.", key(Context::Lists, Action::Bottom)?)
        }
        TipPlace::Editor => format!(
            "Tip: {} inserts an earlier prompt, {} a template.",
            key(Context::Editor, Action::History)?,
            key(Context::Editor, Action::Templates)?
        ),
        TipPlace::Batch => {
            format!(
                "Tip: {} reads the prompts from a file: text, CSV or JSON Lines.",
                key(Context::BatchText, Action::ReadFile)?
            )
        }
        TipPlace::Calendar => {
            format!(
                "Tip: {} lets you type a range, like 2026-q3 or last month.",
                key(Context::Calendar, Action::CalendarInput)?
            )
        }
        TipPlace::PageDetail => {
            format!(
                "Tip: {} starts a job about this page; its effect on views is shown here later.",
                key(Context::PageDetail, Action::NewJob)?
            )
        }
        TipPlace::Trend => {
            format!("Tip: {} fetches the missing days (shows the cost first).", key(Context::Trend, Action::LoadAll)?)
        }
        TipPlace::Movers => {
            format!("Tip: {} ranks by human, AI or all views.", key(Context::Movers, Action::Metric)?)
        }
        TipPlace::HostToken => {
            let (host, kind) = missing_token?;
            let program = match kind {
                HostKind::GitHub => "gh",
                HostKind::GitLab => "glab",
            };
            let refresh = key(Context::Jobs, Action::Refresh)?;
            format!("Tip: after `{program} auth login`, {refresh} shows checks and reviews from {host}.")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::remote_job::Status;
    use crate::tui::chord::{ch, ctrl};
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::{AppConfig, InitialData, JobsMsg, Msg, Severity};
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    use strum::IntoEnumIterator as _;

    fn start(size: (u16, u16)) -> AppConfig {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        AppConfig { size, ..AppConfig::new(scope, chrono::FixedOffset::east_opt(0).expect("UTC")) }
    }

    /// Creates a dashboard whose store is read. `tips` has the stored names of places whose tip was shown. Returns the
    /// dashboard with the effects of the last message.
    fn loaded_app(start: AppConfig, tips: Option<&str>) -> (App, Vec<Effect>) {
        let (mut app, _) = App::new(start, at(0));
        assert_eq!(app.tip(), None, "the store is not read yet");
        let jobs = vec![row(1, Status::Completed)];
        let known = InitialData { jobs, seen_tips: tips.map(str::to_owned), ..InitialData::default() };
        let effects = app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(known)))), at(0));
        (app, effects)
    }

    fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1))
    }

    fn saved_places(effects: &[Effect]) -> Vec<&str> {
        effects
            .iter()
            .filter_map(|effect| if let Effect::SaveSeenTips(words) = effect { Some(words.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn every_tip_fits_in_80_columns() {
        for place in TipPlace::iter() {
            let host = (CleanText::line("github.com"), HostKind::GitHub);
            let text = tip_text(place, &Keymap::default(), Some(&host)).expect("a tip");
            assert!(text.width() <= 78, "{text}");
        }
    }

    #[test]
    fn a_tip_is_shown_once_and_disappears_with_the_next_key() {
        let (mut app, effects) = loaded_app(start((80, 24)), Some(""));
        assert!(app.tip().is_some_and(|tip| tip.contains("press ? for the shortcuts")), "{:?}", app.tip());
        assert_eq!(saved_places(&effects), ["jobs"]);
        let effects = press(&mut app, KeyCode::Char('2'));
        assert!(app.tip().is_some_and(|tip| tip.contains("load all pages")), "the key still works");
        assert_eq!(saved_places(&effects), ["jobs views"]);
        assert_eq!(saved_places(&press(&mut app, KeyCode::Char('1'))), [""; 0]);
        assert_eq!(app.tip(), None);
    }

    #[test]
    fn a_missing_token_is_mentioned_once_after_the_tip_of_the_list() {
        let missing =
            |host| Msg::Engine(EngineEvent::MissingToken { host: CleanText::line(host), kind: HostKind::GitHub });
        let (mut app, _) = loaded_app(start((80, 24)), Some(""));
        assert_eq!(saved_places(&app.update(missing("github.com"), at(0))), [""; 0]);
        assert!(app.tip().is_some_and(|tip| tip.contains("press ? for the shortcuts")), "{:?}", app.tip());
        assert_eq!(saved_places(&press(&mut app, KeyCode::Char('j'))), ["jobs host-token"]);
        let text = "Tip: after `gh auth login`, r shows checks and reviews from github.com.";
        assert_eq!(app.tip(), Some(text));
        app.update(missing("github.com"), at(1));
        assert_eq!(app.tip(), Some(text), "it stays");
        press(&mut app, KeyCode::Char('j'));
        app.update(missing("ghe.corp"), at(1));
        assert_eq!(app.tip(), None);
        let (mut later, _) = loaded_app(start((100, 24)), Some("jobs host-token"));
        later.update(missing("github.com"), at(0));
        assert_eq!(later.tip(), None, "another start doesn't show it again");
        let (mut without, _) = loaded_app(start((100, 24)), None);
        without.update(missing("github.com"), at(0));
        assert_eq!(without.tip(), None, "tips are off");
    }

    #[test]
    fn a_tip_disappears_after_some_time() {
        let (mut app, _) = loaded_app(start((80, 24)), Some(""));
        let until = app.tips.ends_at().expect("a tip");
        assert!(app.next_timer(at(0)).is_some_and(|wake| wake <= until));
        app.update(Msg::Timer, until);
        assert_eq!((app.tip(), app.tips.ends_at()), (None, None));
    }

    #[test]
    fn no_tip_is_shown_a_second_time_or_while_tips_are_off_or_without_enough_space() {
        assert_eq!(loaded_app(start((80, 24)), Some("jobs unknown")).0.tip(), None);
        assert_eq!(loaded_app(start((80, 24)), None).0.tip(), None);
        assert_eq!(loaded_app(AppConfig { is_demo: true, ..start((80, 24)) }, Some("")).0.tip(), None);
        let (mut app, effects) = loaded_app(start((40, 12)), Some(""));
        assert_eq!((app.tip(), saved_places(&effects).len()), (None, 0));
        app.update(Msg::Input(Event::Resize(80, 24)), at(1));
        assert!(app.tip().is_some(), "it fits now");
    }

    #[test]
    fn no_tip_is_shown_while_there_is_a_notice() {
        let (mut app, _) = loaded_app(start((80, 24)), Some("jobs"));
        app.notify(Severity::Error, "Something", at(0));
        press(&mut app, KeyCode::Char('2'));
        assert_eq!(app.tip(), None);
        press(&mut app, KeyCode::Esc);
        assert!(app.tip().is_some(), "the problem is read");
    }

    #[test]
    fn a_tip_names_custom_keys_and_is_not_shown_if_a_key_is_unbound() {
        let mut keymap = Keymap::default();
        keymap.set_keys(Context::Editor, "history", vec![ctrl('o')]);
        assert!(tip_text(TipPlace::Editor, &keymap, None).is_some_and(|tip| tip.contains("Ctrl-O inserts")));
        keymap.set_keys(Context::Views, "load-all", vec![ch('A')]);
        assert!(tip_text(TipPlace::Views, &keymap, None).is_some_and(|tip| tip.contains("press A to load")));
        keymap.set_keys(Context::Detail, "tags", Vec::new());
        assert_eq!(tip_text(TipPlace::Detail, &keymap, None), None);
    }
}
