//! Tips: a single line on the first visit to a screen or dialog that teaches a useful key, once per computer. It
//! disappears with the next key or after some time.

use super::batch::BatchStep;
use super::dialog::Dialog;
use super::keymap::{Action, Context, Keymap};
use super::{App, Effect, Pane, Screen, StoreState};
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::BTreeSet;
use strum::{EnumString, IntoStaticStr};
use unicode_width::UnicodeWidthStr;

/// How long a tip is shown.
const SHOWN_SECONDS: i64 = 12;

/// A screen or dialog with a tip. Its name is stored once the tip was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[cfg_attr(test, derive(strum::EnumIter))]
#[strum(serialize_all = "kebab-case")]
enum TipPlace {
    Jobs,
    Detail,
    Views,
    Log,
    Editor,
    Batch,
    Calendar,
    Card,
    Trend,
    Movers,
}

/// The tips that were shown, and the current one.
#[derive(Debug, Default)]
pub(super) struct Tips {
    /// `None` if no tips are shown: not loaded yet, or turned off.
    seen: Option<BTreeSet<TipPlace>>,
    at: Option<TipPlace>,
    shown: Option<(String, Time)>,
}

impl Tips {
    /// Sets the stored words of [`TipPlace`]. `None` if no tips are to be shown.
    pub(super) fn set_seen(&mut self, seen: Option<&str>) {
        // Words of other versions are ignored.
        self.seen = seen.map(|words| words.split_whitespace().filter_map(|word| word.parse().ok()).collect());
    }

    pub(super) fn dismiss(&mut self) {
        self.shown = None;
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.shown.take_if(|(_, until)| *until <= now);
    }

    /// When the tip disappears.
    pub(super) fn until(&self) -> Option<Time> {
        self.shown.as_ref().map(|(_, until)| *until)
    }
}

impl App {
    /// The current tip.
    pub fn tip(&self) -> Option<&str> {
        self.tips.shown.as_ref().map(|(text, _)| text.as_str())
    }

    /// Shows the tip of the current place, unless it was shown before, there is a notice, or it doesn't fit.
    pub(super) fn show_tip(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let place = self.current_place();
        if self.tips.at != place {
            self.tips.at = place;
            self.tips.shown = None;
        }
        let (Some(place), Some(seen)) = (place, &mut self.tips.seen) else { return };
        if self.notice.is_some() || seen.contains(&place) {
            return;
        }
        let fits = |text: &String| text.width() + 2 <= usize::from(self.size.0);
        let Some(text) = tip_text(place, &self.config.keymap).filter(fits) else {
            return;
        };
        seen.insert(place);
        let words: Vec<&str> = seen.iter().map(|place| place.into()).collect();
        effects.push(Effect::SaveSeenTips(words.join(" ")));
        self.tips.shown = Some((text, now + TimeDelta::seconds(SHOWN_SECONDS)));
        self.dirty = true;
    }

    fn current_place(&self) -> Option<TipPlace> {
        if self.store != StoreState::Read || self.config.demo || self.config.read_only {
            return None;
        }
        Some(match (self.dialogs.last(), self.screen, self.pane) {
            (Some(Dialog::Editor(_)), ..) => TipPlace::Editor,
            (Some(Dialog::Batch(batch)), ..) if matches!(batch.step, BatchStep::Writing) => TipPlace::Batch,
            (Some(Dialog::Calendar(_)), ..) => TipPlace::Calendar,
            (Some(Dialog::PageDetail(_)), ..) => TipPlace::Card,
            (Some(Dialog::Trend(_)), ..) => TipPlace::Trend,
            (Some(Dialog::Movers(_)), ..) => TipPlace::Movers,
            (Some(_), ..) | (None, Screen::Welcome, _) => return None,
            (None, Screen::Jobs, Pane::List) => TipPlace::Jobs,
            (None, Screen::Jobs, Pane::Detail) => TipPlace::Detail,
            (None, Screen::Views, _) => TipPlace::Views,
            (None, Screen::Log, _) => TipPlace::Log,
        })
    }
}

/// The tip with the user's keys. `None` if a key is not bound.
fn tip_text(place: TipPlace, keymap: &Keymap) -> Option<String> {
    use Context as C;
    let key = |context, action| keymap.key(&[context, C::Lists, C::Everywhere], action);
    Some(match place {
        TipPlace::Jobs => format!(
            "Tip: {} lists the keyboard shortcuts, {} finds a command by its name.",
            key(C::Jobs, Action::Help)?,
            key(C::Jobs, Action::Palette)?
        ),
        TipPlace::Detail => format!(
            "Tip: {} edits a job's tags, {} its note; both stay on this computer.",
            key(C::Detail, Action::Tags)?,
            key(C::Detail, Action::Note)?
        ),
        TipPlace::Views => format!(
            "Tip: {} loads all pages (shows the cost first), to sort and compare them.",
            key(C::Views, Action::LoadAll)?
        ),
        TipPlace::Log => {
            format!("Tip: every request is listed here; {} goes to the newest.", key(C::Lists, Action::Bottom)?)
        }
        TipPlace::Editor => format!(
            "Tip: {} inserts an earlier prompt, {} a template.",
            key(C::Editor, Action::History)?,
            key(C::Editor, Action::Templates)?
        ),
        TipPlace::Batch => {
            format!(
                "Tip: {} reads the prompts from a file: text, CSV or JSON Lines.",
                key(C::BatchText, Action::ReadFile)?
            )
        }
        TipPlace::Calendar => {
            format!("Tip: {} lets you type a range, like 2026-q3 or last month.", key(C::Calendar, Action::OtherPart)?)
        }
        TipPlace::Card => {
            format!(
                "Tip: {} starts a job about this page and later shows its effect.",
                key(C::PageDetail, Action::NewJob)?
            )
        }
        TipPlace::Trend => {
            format!("Tip: {} fetches the missing days (shows the cost first).", key(C::Trend, Action::LoadAll)?)
        }
        TipPlace::Movers => {
            format!("Tip: {} ranks by human, AI or all views.", key(C::Movers, Action::Metric)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::chord::{ch, ctrl};
    use crate::app::jobs::tests::{at, row};
    use crate::app::{AppConfig, InitialData, Msg, Severity};
    use crate::model::endpoint::Scope;
    use crate::model::job::Status;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    use strum::IntoEnumIterator as _;

    fn start(size: (u16, u16)) -> AppConfig {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        AppConfig { size, ..AppConfig::new(scope, chrono::FixedOffset::east_opt(0).expect("UTC")) }
    }

    /// A dashboard whose store is read, with the effects of that.
    fn read(start: AppConfig, tips: Option<&str>) -> (App, Vec<Effect>) {
        let (mut app, _) = App::new(start, at(0));
        assert_eq!(app.tip(), None, "the store is not read yet");
        let jobs = vec![row(1, Status::Completed)];
        let known = InitialData { jobs, tips: tips.map(str::to_owned), ..InitialData::default() };
        let effects = app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
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
            let text = tip_text(place, &Keymap::default()).expect("a tip");
            assert!(text.width() <= 78, "{text}");
        }
    }

    #[test]
    fn a_tip_is_shown_once_and_disappears_with_the_next_key() {
        let (mut app, effects) = read(start((80, 24)), Some(""));
        assert!(app.tip().is_some_and(|tip| tip.contains("? lists the keyboard shortcuts")), "{:?}", app.tip());
        assert_eq!(saved_places(&effects), ["jobs"]);
        let effects = press(&mut app, KeyCode::Char('2'));
        assert!(app.tip().is_some_and(|tip| tip.contains("loads all pages")), "the key still works");
        assert_eq!(saved_places(&effects), ["jobs views"]);
        assert_eq!(saved_places(&press(&mut app, KeyCode::Char('1'))), [""; 0]);
        assert_eq!(app.tip(), None);
    }

    #[test]
    fn a_tip_disappears_after_some_time() {
        let (mut app, _) = read(start((80, 24)), Some(""));
        let until = app.tips.until().expect("a tip");
        assert!(app.next_timer(at(0)).is_some_and(|wake| wake <= until));
        app.update(Msg::Timer, until);
        assert_eq!((app.tip(), app.tips.until()), (None, None));
    }

    #[test]
    fn no_tip_is_shown_if_it_was_seen_is_not_wanted_or_does_not_fit() {
        assert_eq!(read(start((80, 24)), Some("jobs unknown")).0.tip(), None);
        assert_eq!(read(start((80, 24)), None).0.tip(), None);
        assert_eq!(read(AppConfig { demo: true, ..start((80, 24)) }, Some("")).0.tip(), None);
        let (mut app, effects) = read(start((40, 12)), Some(""));
        assert_eq!((app.tip(), saved_places(&effects).len()), (None, 0));
        app.update(Msg::Input(Event::Resize(80, 24)), at(1));
        assert!(app.tip().is_some(), "it fits now");
    }

    #[test]
    fn a_notice_has_priority() {
        let (mut app, _) = read(start((80, 24)), Some("jobs"));
        app.notify(Severity::Problem, "Something", at(0));
        press(&mut app, KeyCode::Char('2'));
        assert_eq!(app.tip(), None);
        app.update(Msg::Timer, at(60));
        assert!(app.tip().is_some());
    }

    #[test]
    fn a_tip_names_custom_keys_and_is_skipped_without_a_key() {
        let mut keymap = Keymap::default();
        keymap.set_keys(Context::Editor, "history", vec![ctrl('o')]);
        assert!(tip_text(TipPlace::Editor, &keymap).is_some_and(|tip| tip.contains("Ctrl-O inserts")));
        keymap.set_keys(Context::Views, "load-all", vec![ch('A')]);
        assert!(tip_text(TipPlace::Views, &keymap).is_some_and(|tip| tip.contains("A loads")));
        keymap.set_keys(Context::Detail, "tags", Vec::new());
        assert_eq!(tip_text(TipPlace::Detail, &keymap), None);
    }
}
