//! What is remembered from one start to the next: the panes, the screen, how jobs and page views were listed. It is read
//! before the first frame and written quietly, a second after a change at the latest.

use super::geometry::{Arrangement, Panes};
use super::keymap::{Action, Context};
use super::order::{JobSorting, Sort};
use super::{App, AppConfig, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::layout::{JobsLayout, Layout, PanePlace, SortBy};
use chrono::TimeDelta;

/// Changes within this time are written at once.
const PAUSE: TimeDelta = TimeDelta::seconds(1);

/// How what is remembered stands.
#[derive(Debug, Default)]
pub(super) enum Remembered {
    /// Nothing is: the demo, a store that can't be written, the welcome page.
    #[default]
    Nothing,
    /// As it is on disk.
    Kept(Layout),
    /// It differs from what is on disk, and is written at that time.
    Due(Layout, Time),
}

impl AppConfig {
    /// Whether the layout can be remembered: not in the demo, nor where the store can't be written.
    pub fn can_remember(&self) -> bool {
        !self.demo && !self.read_only && self.welcome.is_none()
    }

    /// The store's key of what is remembered of the layout: a profile's own, since two of them that lead to the same place
    /// may be used in different ways.
    pub fn layout_key(&self) -> String {
        let (profile, scope) = (&self.profile, &self.scope);
        format!("layout\n{profile}\n{}\n{}", scope.base_url, scope.project)
    }
}

impl App {
    /// How things lie now.
    fn layout(&self) -> Layout {
        let sorting = self.jobs.sorting();
        let usual = sorting == JobSorting::default();
        Layout {
            columns: self.panes.columns,
            rows: self.panes.rows,
            hidden: self.panes.hidden,
            place: match self.screen {
                Screen::Welcome | Screen::Jobs => PanePlace::Jobs,
                Screen::Views => PanePlace::Views,
                Screen::Log => PanePlace::Log,
            },
            jobs: JobsLayout {
                filter: self.jobs_filter().to_owned(),
                tab: self.tab().map(str::to_owned),
                sort: (!usual).then(|| SortBy { by: sorting.by.name().to_owned(), reversed: sorting.reversed }),
                dismissed: self.jobs.shows_dismissed(),
            },
            views: self.views.layout(),
        }
    }

    /// Lays things as they were left, before anything is known.
    pub(super) fn restore_layout(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(left) = self.config.layout.take().filter(|_| self.config.can_remember()) else { return };
        self.lay(&left, now);
        match left.place {
            PanePlace::Jobs => {}
            PanePlace::Views => self.switch_screen(Screen::Views, now, effects),
            PanePlace::Log => self.switch_screen(Screen::Log, now, effects),
        }
        self.saved_layout = Remembered::Kept(self.layout());
    }

    /// Everything but the screen. Page views that are asked for already stay as they are.
    fn lay(&mut self, left: &Layout, now: Time) {
        self.panes = Panes { hidden: left.hidden, columns: left.columns, rows: left.rows };
        self.restore_filter(&left.jobs.filter, left.jobs.tab.as_deref());
        let sort = left.jobs.sort.as_ref();
        if let Some((by, reversed)) = sort.and_then(|sort| Some((Sort::named(&sort.by)?, sort.reversed))) {
            self.jobs.sort(JobSorting { by, reversed });
        }
        if left.jobs.dismissed != self.jobs.shows_dismissed() {
            self.jobs.toggle_dismissed();
        }
        if !self.views.is_begun() {
            self.views.restore(&left.views, now);
        }
    }

    /// After a turn to another profile, which goes on as it was left, too.
    pub(super) fn recall_layout(&mut self, before: Panes) -> Option<Effect> {
        self.panes = before;
        self.detail.fit(self.geometry().detail_columns());
        self.config.can_remember().then(|| Effect::RecallLayout(self.config.layout_key()))
    }

    /// How the profile was left that was turned to. A key that was pressed meanwhile has more weight than that.
    pub(super) fn layout_recalled(&mut self, key: &str, left: Option<&Layout>, now: Time) {
        if !matches!(self.saved_layout, Remembered::Nothing) || key != self.config.layout_key() {
            return;
        }
        if let Some(left) = left.filter(|_| self.dialogs.is_empty() && self.lists_as_usual()) {
            self.lay(left, now);
            self.detail.fit(self.geometry().detail_columns());
            self.dirty = true;
        }
        self.saved_layout = Remembered::Kept(self.layout());
    }

    /// Whether the jobs are listed in the usual order and unfiltered.
    pub(super) fn lists_as_usual(&self) -> bool {
        self.jobs.sorting() == JobSorting::default() && self.jobs.filter().is_empty()
    }

    /// After every message: a change is written a second later at the latest.
    pub(super) fn settle_layout(&mut self, now: Time) {
        let (Remembered::Kept(kept) | Remembered::Due(kept, _)) = &self.saved_layout else { return };
        let differs = *kept != self.layout();
        self.saved_layout = match (std::mem::take(&mut self.saved_layout), differs) {
            (Remembered::Kept(kept), true) => Remembered::Due(kept, now + PAUSE),
            (Remembered::Due(kept, _), false) => Remembered::Kept(kept),
            (same, _) => same,
        };
    }

    /// When a change is to be written.
    pub(super) fn layout_due(&self) -> Option<Time> {
        match &self.saved_layout {
            Remembered::Due(_, at) => Some(*at),
            _ => None,
        }
    }

    /// Writes a change that is due, or any change where the program ends.
    pub(super) fn remember_layout(&mut self, now: Option<Time>) -> Option<Effect> {
        self.layout_due().filter(|at| now.is_none_or(|now| *at <= now))?;
        let key = self.config.layout_key();
        let layout = self.layout();
        let text = layout.text();
        self.saved_layout = Remembered::Kept(layout);
        Some(Effect::RememberLayout { key, text })
    }

    /// The key that hides the detail or shows it again. Where there is no room beside the list, that is said.
    pub(super) fn toggle_detail(&mut self, now: Time) {
        self.panes.hidden = !self.panes.hidden;
        let opens = self.key_label(Context::Jobs, Action::Open);
        let text = match self.geometry().arrangement {
            Arrangement::Right => "The detail stands beside the list.".to_owned(),
            Arrangement::Below => "The detail stands below the list.".to_owned(),
            Arrangement::Alone if self.panes.hidden => format!("The detail is hidden: {opens} opens it."),
            Arrangement::Alone => format!("There is no room for list and detail: {opens} opens it."),
        };
        self.notify(Severity::Info, &text, now);
        self.detail.fit(self.geometry().detail_columns());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::at;
    use crate::app::{InitialData, Msg, SavedFilter};
    use crate::model::endpoint::Scope;
    use crate::model::period::Preset;
    use crate::model::text::CleanText;
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn start() -> AppConfig {
        let scope = Scope { base_url: "http://127.0.0.1:1".into(), project: "p".into(), organization: None };
        let filters = vec![SavedFilter { name: CleanText::line("Mine"), text: "s:failed".into() }];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        AppConfig {
            size: (160, 40),
            profile: CleanText::line("work"),
            filters,
            layout: Some(Layout::default()),
            ..AppConfig::new(scope, utc)
        }
    }

    fn began(start: AppConfig) -> App {
        let (mut app, _) = App::new(start, at(0));
        app.update(Msg::Loaded(Ok(Box::new(InitialData::default()))), at(0));
        app
    }

    fn began_with(layout: &str) -> App {
        began(AppConfig { layout: Some(Layout::parse(layout)), ..start() })
    }

    fn press(app: &mut App, keys: &str, seconds: i64) -> Vec<Effect> {
        let key = |c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        let event = |c| Event::Key(KeyEvent::new(key(c), KeyModifiers::NONE));
        keys.chars().flat_map(|c| app.update(Msg::Input(event(c)), at(seconds))).collect()
    }

    fn written(effects: &[Effect]) -> Option<(&str, &str)> {
        effects.iter().find_map(|effect| match effect {
            Effect::RememberLayout { key, text } => Some((key.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// What is written at the end after these keys.
    fn left(keys: &str) -> String {
        let mut app = began(start());
        press(&mut app, keys, 1);
        let effects = app.update(Msg::Terminate, at(1));
        let quit = effects.iter().position(|effect| *effect == Effect::Quit);
        let at = effects.iter().position(|effect| matches!(effect, Effect::RememberLayout { .. }));
        assert!(at.is_some() && at < quit, "{effects:?}");
        written(&effects).expect("written").1.to_owned()
    }

    #[test]
    fn a_change_is_written_a_second_later_and_once() {
        let mut app = began(start());
        assert_eq!(app.layout_due(), None, "nothing changed");
        assert_eq!(written(&press(&mut app, "2", 5)), None);
        assert_eq!(app.layout_due(), Some(at(6)));
        press(&mut app, "3", 5);
        assert_eq!(app.layout_due(), Some(at(6)), "not put off");
        assert_eq!(app.next_timer(at(5)).filter(|wake| *wake <= at(6)), Some(at(6)));
        let effects = app.update(Msg::Wake, at(6));
        let (key, text) = written(&effects).expect("written");
        assert!(key.contains("work") && key.contains("127.0.0.1"), "{key:?}");
        assert_eq!(Layout::parse(text).place, PanePlace::Log);
        assert_eq!(app.layout_due(), None);
        assert_eq!(written(&app.update(Msg::Terminate, at(7))), None, "it is on disk");
        press(&mut app, "2", 8);
        press(&mut app, "3", 8);
        assert_eq!(app.layout_due(), None, "as it was");
    }

    #[test]
    fn everything_comes_back() {
        let text = left("sS]/word\nzi2dm");
        let mut app = began_with(&text);
        assert_eq!(app.screen, Screen::Views);
        assert_eq!(app.views.preset(), Some(Preset::ThirtyDays));
        assert_eq!(app.views.table.metric().name(), "AI %");
        assert_eq!((app.jobs.sorting().by.name(), app.jobs.sorting().reversed), ("age", true));
        assert_eq!(app.tabs().find(|(_, holds)| *holds).map(|(name, _)| name), Some("Mine"));
        assert!(app.jobs.shows_dismissed() && !app.jobs.filter().is_empty());
        assert_eq!(app.geometry().arrangement, Arrangement::Alone);
        assert_eq!(app.layout_due(), None, "what came back is not written again");
        press(&mut app, "1", 1);
        assert_eq!(app.filter_text(), "word", "what narrows the list is said in its title");
    }

    #[test]
    fn a_views_screen_that_comes_back_asks_the_record_first() {
        let start = AppConfig { layout: Some(Layout::parse("{\"place\":\"views\"}")), ..start() };
        let (_, effects) = App::new(start, at(0));
        assert!(matches!(effects.as_slice(), [Effect::LoadFirstRows(_), Effect::LoadCached(_)]), "{effects:?}");
    }

    #[test]
    fn where_a_filter_or_another_order_comes_back_all_is_read_before_anything_is_listed() {
        for jobs in ["{\"filter\":\"x\"}", "{\"tab\":\"Mine\"}", "{\"sort\":{\"by\":\"age\",\"reversed\":false}}"] {
            let layout = Layout::parse(&format!("{{\"jobs\":{jobs}}}"));
            let (_, effects) = App::new(AppConfig { layout: Some(layout), ..start() }, at(0));
            assert_eq!(effects, [Effect::LoadKnown], "{jobs}");
        }
    }

    #[test]
    fn what_is_odd_is_left_out() {
        for odd in ["", "{", "[]", "{\"columns\":\"x\"}", "{\"place\":\"moon\",\"views\":{\"range\":{\"days\":[1]}}}"] {
            let app = began_with(odd);
            assert_eq!((app.screen, app.geometry().list.width), (Screen::Jobs, 88), "{odd:?}");
        }
        let app =
            began_with("{\"columns\":9999,\"jobs\":{\"tab\":\"gone\",\"sort\":{\"by\":\"mood\",\"reversed\":true}}}");
        assert_eq!((app.geometry().list.width, app.jobs.sorting(), app.tab()), (120, JobSorting::default(), None));
    }

    #[test]
    fn the_demo_remembers_nothing_and_neither_does_a_store_that_is_read_only() {
        for start in [AppConfig { demo: true, ..start() }, AppConfig { read_only: true, ..start() }] {
            let left = Layout { place: PanePlace::Log, ..Layout::default() };
            let mut app = began(AppConfig { layout: Some(left), ..start });
            assert_eq!(app.screen, Screen::Jobs);
            press(&mut app, "3", 1);
            assert_eq!(written(&app.update(Msg::Terminate, at(9))), None);
        }
    }

    #[test]
    fn a_key_hides_the_detail_and_shows_it_again_where_there_is_room() {
        let mut app = began(start());
        let said = |app: &App| app.notice.as_ref().expect("said").text.to_string();
        press(&mut app, "i", 1);
        assert!(!app.geometry().shows_both() && said(&app).contains("hidden"));
        press(&mut app, "i", 1);
        assert!(app.geometry().shows_both() && said(&app).contains("beside"));
        press(&mut app, "i", 1);
        app.update(Msg::Input(Event::Resize(80, 24)), at(2));
        press(&mut app, "i", 2);
        assert!(!app.geometry().shows_both() && said(&app).contains("no room"));
    }
}
