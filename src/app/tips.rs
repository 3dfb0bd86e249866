//! One calm line on the first visit to a screen or layer, which teaches a key worth knowing: once for each on this
//! computer. The next key takes it away, or its time does.

use super::batch::BatchStep;
use super::dialog::Dialog;
use super::keymap::{Action, Context, Keymap};
use super::{App, Effect, Pane, Screen, StoreState};
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::BTreeSet;
use strum::{EnumString, IntoStaticStr};
use unicode_width::UnicodeWidthStr;

/// How long a tip is there, in seconds.
const SECONDS: i64 = 12;

/// Where a tip is given; its word stands in the store.
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

/// Which tips were given, and the one that is shown.
#[derive(Debug, Default)]
pub(super) struct Tips {
    /// None where there are none: not known yet, or not wanted.
    seen: Option<BTreeSet<TipPlace>>,
    at: Option<TipPlace>,
    shown: Option<(String, Time)>,
}

impl Tips {
    /// Takes in what the store has: the words of [`Place`]; none where no tips are to be given.
    pub(super) fn begin(&mut self, seen: Option<&str>) {
        // A word of another version is none of ours.
        self.seen = seen.map(|words| words.split_whitespace().filter_map(|word| word.parse().ok()).collect());
    }

    pub(super) fn dismiss(&mut self) {
        self.shown = None;
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.shown.take_if(|(_, until)| *until <= now);
    }

    /// When the tip goes by itself.
    pub(super) fn until(&self) -> Option<Time> {
        self.shown.as_ref().map(|(_, until)| *until)
    }
}

impl App {
    /// The tip that is shown.
    pub fn tip(&self) -> Option<&str> {
        self.tips.shown.as_ref().map(|(text, _)| text.as_str())
    }

    /// Gives the tip of where one is now, unless it was given before, something else is said, or it has no room.
    pub(super) fn settle_tip(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let place = self.place();
        if self.tips.at != place {
            self.tips.at = place;
            self.tips.shown = None;
        }
        let (Some(place), Some(seen)) = (place, &mut self.tips.seen) else { return };
        if self.notice.is_some() || seen.contains(&place) {
            return;
        }
        let Some(text) = text(place, &self.config.keymap).filter(|text| text.width() + 2 <= usize::from(self.size.0))
        else {
            return;
        };
        seen.insert(place);
        let words: Vec<&str> = seen.iter().map(|place| place.into()).collect();
        effects.push(Effect::RememberTips(words.join(" ")));
        self.tips.shown = Some((text, now + TimeDelta::seconds(SECONDS)));
        self.dirty = true;
    }

    fn place(&self) -> Option<TipPlace> {
        if self.store != StoreState::Read || self.config.demo || self.config.read_only {
            return None;
        }
        Some(match (self.dialogs.last(), self.screen, self.pane) {
            (Some(Dialog::Editor(_)), ..) => TipPlace::Editor,
            (Some(Dialog::Batch(batch)), ..) if matches!(batch.step, BatchStep::Writing) => TipPlace::Batch,
            (Some(Dialog::Calendar(_)), ..) => TipPlace::Calendar,
            (Some(Dialog::Card(_)), ..) => TipPlace::Card,
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

/// The tip with the user's own keys; none where there is no such key.
fn text(place: TipPlace, keymap: &Keymap) -> Option<String> {
    use Context as C;
    let key = |context, action| keymap.key(&[context, C::Lists, C::Everywhere], action);
    Some(match place {
        TipPlace::Jobs => format!(
            "Tip: {} lists the keys of the moment, {} finds what to do by its name.",
            key(C::Jobs, Action::Help)?,
            key(C::Jobs, Action::Palette)?
        ),
        TipPlace::Detail => format!(
            "Tip: {} keeps tags with a job, {} a note; both stay on this computer.",
            key(C::Detail, Action::Tags)?,
            key(C::Detail, Action::Note)?
        ),
        TipPlace::Views => format!(
            "Tip: {} loads all pages, after its price: then they sort and compare.",
            key(C::Views, Action::LoadAll)?
        ),
        TipPlace::Log => {
            format!("Tip: every request is listed here; {} goes back to the newest.", key(C::Lists, Action::Bottom)?)
        }
        TipPlace::Editor => format!(
            "Tip: {} takes in a prompt that was sent before, {} a template.",
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
            format!("Tip: {} takes a typed range, like 2026-q3 or last month.", key(C::Calendar, Action::OtherPart)?)
        }
        TipPlace::Card => {
            format!("Tip: {} starts a job about this page, and later shows what it did.", key(C::Card, Action::NewJob)?)
        }
        TipPlace::Trend => {
            format!("Tip: {} asks for the days that are not known, after their price.", key(C::Trend, Action::LoadAll)?)
        }
        TipPlace::Movers => {
            format!("Tip: {} weighs by human, by AI or by all views.", key(C::Movers, Action::Metric)?)
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

    /// A dashboard whose record is read, and what that led to.
    fn read(start: AppConfig, tips: Option<&str>) -> (App, Vec<Effect>) {
        let (mut app, _) = App::new(start, at(0));
        assert_eq!(app.tip(), None, "nothing is known yet");
        let jobs = vec![row(1, Status::Completed)];
        let known = InitialData { jobs, tips: tips.map(str::to_owned), ..InitialData::default() };
        let effects = app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
        (app, effects)
    }

    fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1))
    }

    fn remembered(effects: &[Effect]) -> Vec<&str> {
        effects
            .iter()
            .filter_map(|effect| if let Effect::RememberTips(words) = effect { Some(words.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn every_place_has_a_tip_that_a_usual_terminal_holds() {
        for place in TipPlace::iter() {
            let text = text(place, &Keymap::default()).expect("a tip");
            assert!(text.width() <= 78, "{text}");
        }
    }

    #[test]
    fn a_tip_comes_once_and_goes_with_the_next_key() {
        let (mut app, effects) = read(start((80, 24)), Some(""));
        assert!(app.tip().is_some_and(|tip| tip.contains("? lists the keys")), "{:?}", app.tip());
        assert_eq!(remembered(&effects), ["jobs"]);
        let effects = press(&mut app, KeyCode::Char('2'));
        assert!(app.tip().is_some_and(|tip| tip.contains("loads all pages")), "the key did what it does");
        assert_eq!(remembered(&effects), ["jobs views"]);
        assert_eq!(remembered(&press(&mut app, KeyCode::Char('1'))), [""; 0]);
        assert_eq!(app.tip(), None);
    }

    #[test]
    fn a_tip_goes_after_its_time() {
        let (mut app, _) = read(start((80, 24)), Some(""));
        let until = app.tips.until().expect("a tip");
        assert!(app.next_timer(at(0)).is_some_and(|wake| wake <= until));
        app.update(Msg::Wake, until);
        assert_eq!((app.tip(), app.tips.until()), (None, None));
    }

    #[test]
    fn none_comes_where_it_was_seen_is_not_wanted_or_has_no_room() {
        assert_eq!(read(start((80, 24)), Some("jobs unknown")).0.tip(), None);
        assert_eq!(read(start((80, 24)), None).0.tip(), None);
        assert_eq!(read(AppConfig { demo: true, ..start((80, 24)) }, Some("")).0.tip(), None);
        let (mut app, effects) = read(start((40, 12)), Some(""));
        assert_eq!((app.tip(), remembered(&effects).len()), (None, 0));
        app.update(Msg::Input(Event::Resize(80, 24)), at(1));
        assert!(app.tip().is_some(), "there is room now");
    }

    #[test]
    fn a_notice_comes_first() {
        let (mut app, _) = read(start((80, 24)), Some("jobs"));
        app.notify(Severity::Problem, "Something", at(0));
        press(&mut app, KeyCode::Char('2'));
        assert_eq!(app.tip(), None);
        app.update(Msg::Wake, at(60));
        assert!(app.tip().is_some());
    }

    #[test]
    fn a_tip_names_keys_of_ones_own_and_is_left_out_without_one() {
        let mut keymap = Keymap::default();
        keymap.change(Context::Editor, "history", vec![ctrl('o')]);
        assert!(text(TipPlace::Editor, &keymap).is_some_and(|tip| tip.contains("Ctrl-O takes in")));
        keymap.change(Context::Views, "load-all", vec![ch('A')]);
        assert!(text(TipPlace::Views, &keymap).is_some_and(|tip| tip.contains("A loads")));
        keymap.change(Context::Detail, "tags", Vec::new());
        assert_eq!(text(TipPlace::Detail, &keymap), None);
    }
}
