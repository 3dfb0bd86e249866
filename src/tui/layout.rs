//! Saves the layout and restores it at the next start: the panes, the screen, and the filter and order of the lists.
//! The layout is loaded before the first frame and saved a second after a change, without a notice.

use super::geometry::{JobsArrangement, PaneConstraints, compute_layout};
use super::keymap::{Action, Context};
use super::order::{JobSorting, Sort};
use super::state::LayoutSaveState;
use super::{App, AppConfig, Effect, Pane, Screen, Severity};
use crate::model::Time;
use crate::model::layout::{JobsLayout, Layout, SavedScreen, SortBy};
use chrono::TimeDelta;

/// How long after a change the layout is saved. All changes within this time are saved together.
const SAVE_DELAY: TimeDelta = TimeDelta::seconds(1);

impl AppConfig {
    /// Whether the layout can be saved. This is impossible in the demo, with a read-only store, and during the setup.
    pub fn can_save_layout(&self) -> bool {
        !self.is_demo && !self.read_only && !self.needs_setup
    }

    /// Returns the key under which the store saves the layout. The key contains the profile's name, so that two
    /// profiles of the same project can have different layouts.
    pub fn layout_store_key(&self) -> String {
        let (profile, scope) = (&self.profile, &self.scope);
        format!("layout\n{profile}\n{}\n{}", scope.base_url, scope.project)
    }
}

impl App {
    fn current_layout(&self) -> Layout {
        let sorting = self.jobs.sorting();
        let is_default = sorting == JobSorting::default();
        Layout {
            list_width: self.panes.list_width,
            list_height: self.panes.list_height,
            details_hidden: self.panes.hides_detail,
            screen: match self.screen {
                Screen::Welcome | Screen::Jobs => SavedScreen::Jobs,
                Screen::Analytics => SavedScreen::Views,
                Screen::Log => SavedScreen::Log,
            },
            jobs: JobsLayout {
                filter: self.jobs_filter_text().to_owned(),
                tab: self.active_filter_name().map(str::to_owned),
                sort: (!is_default).then(|| SortBy { by: sorting.by.name().to_owned(), reversed: sorting.is_reversed }),
                dismissed: self.jobs.shows_dismissed(),
            },
            views: self.views.layout(),
        }
    }

    /// Restores the saved layout before any data is loaded.
    pub(super) fn restore_layout(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(saved) = self.config.layout.take().filter(|_| self.config.can_save_layout()) else { return };
        self.apply_layout(&saved, now);
        match saved.screen {
            SavedScreen::Jobs => {}
            SavedScreen::Views => self.switch_screen(Screen::Analytics, now, effects),
            SavedScreen::Log => self.switch_screen(Screen::Log, now, effects),
        }
        self.layout_save_state = LayoutSaveState::Saved(self.current_layout());
    }

    /// Restores the saved layout, except for which screen is shown. Leaves the page views unchanged if they are already
    /// listed or being loaded.
    fn apply_layout(&mut self, saved: &Layout, now: Time) {
        let (list_width, list_height) = (saved.list_width, saved.list_height);
        self.panes = PaneConstraints { hides_detail: saved.details_hidden, list_width, list_height, ..self.panes };
        self.restore_filter(&saved.jobs.filter, saved.jobs.tab.as_deref());
        let sort = saved.jobs.sort.as_ref();
        if let Some((by, reversed)) = sort.and_then(|sort| Some((Sort::from_name(&sort.by)?, sort.reversed))) {
            self.jobs.sort(JobSorting { by, is_reversed: reversed });
        }
        if saved.jobs.dismissed != self.jobs.shows_dismissed() {
            self.jobs.toggle_dismissed_visibility();
        }
        if !self.views.has_been_shown() {
            self.views.restore(&saved.views, now);
        }
    }

    /// Requests the saved layout of the profile that docdeck has just switched to. Until the layout arrives, keeps
    /// `previous`, the panes of the previous profile.
    pub(super) fn keep_panes_and_request_layout(&mut self, previous: PaneConstraints) -> Option<Effect> {
        self.panes = previous;
        self.config.can_save_layout().then(|| Effect::LoadLayout(self.config.layout_store_key()))
    }

    /// Applies the loaded layout of a profile after a switch, unless the user has opened a dialog, filtered or sorted
    /// meanwhile. From then on, changes of the layout are saved. Ignores the layout of a profile that is not current.
    pub(super) fn apply_loaded_layout(&mut self, key: &str, saved: Option<&Layout>, now: Time) {
        if !matches!(self.layout_save_state, LayoutSaveState::NotSaving) || key != self.config.layout_store_key() {
            return;
        }
        if let Some(saved) = saved.filter(|_| self.dialogs.is_empty() && self.is_unfiltered_in_default_order()) {
            self.apply_layout(saved, now);
            self.is_dirty = true;
        }
        self.layout_save_state = LayoutSaveState::Saved(self.current_layout());
    }

    /// Whether the jobs are unfiltered and in the default order.
    pub(super) fn is_unfiltered_in_default_order(&self) -> bool {
        self.jobs.sorting() == JobSorting::default() && self.jobs.filter().is_empty()
    }

    /// Schedules a save if the current layout differs from the saved layout, and cancels a scheduled save if the two
    /// are equal again. Runs after every message.
    pub(super) fn schedule_layout_save(&mut self, now: Time) {
        let (LayoutSaveState::Saved(saved) | LayoutSaveState::Due(saved, _)) = &self.layout_save_state else { return };
        let differs = *saved != self.current_layout();
        self.layout_save_state = match (std::mem::take(&mut self.layout_save_state), differs) {
            (LayoutSaveState::Saved(saved), true) => LayoutSaveState::Due(saved, now + SAVE_DELAY),
            (LayoutSaveState::Due(saved, _), false) => LayoutSaveState::Saved(saved),
            (same, _) => same,
        };
    }

    /// Returns the time at which the layout will be saved. `None` if no save is scheduled.
    pub(super) fn layout_save_due_at(&self) -> Option<Time> {
        match &self.layout_save_state {
            LayoutSaveState::Due(_, at) => Some(*at),
            _ => None,
        }
    }

    /// Saves the layout if a save is scheduled for `now` or earlier. When docdeck exits or switches profiles, `now` is
    /// `None`, and a scheduled save runs at once.
    pub(super) fn save_layout(&mut self, now: Option<Time>) -> Option<Effect> {
        self.layout_save_due_at().filter(|at| now.is_none_or(|now| *at <= now))?;
        let key = self.config.layout_store_key();
        let layout = self.current_layout();
        let text = layout.to_json();
        self.layout_save_state = LayoutSaveState::Saved(layout);
        Some(Effect::SaveLayout { key, text })
    }

    /// Whether [`Self::toggle_detail`] can have an effect: false if the details fill the screen because there is no space
    /// for the list next to them.
    pub(super) fn can_toggle_detail(&self) -> bool {
        let shown = PaneConstraints { hides_detail: false, ..self.panes };
        self.pane == Pane::List || compute_layout(self.size, shown).shows_both_panes()
    }

    /// Hides the details beside or below the list, or shows them again, and shows a notice about the result. If no job
    /// can be selected, or if the details fill a small screen, only shows a notice about this.
    pub(super) fn toggle_detail(&mut self, now: Time) {
        if self.has_nothing_to_select() {
            self.notify(Severity::Info, "No job is listed, so there are no details.", now);
            return;
        }
        if !self.can_toggle_detail() {
            self.notify(Severity::Info, "No space to show the list next to the details.", now);
            return;
        }
        self.panes.hides_detail = !self.panes.hides_detail;
        let open = self.key_label(Context::Jobs, Action::Open);
        let close = self.key_label(Context::Detail, Action::Close);
        let text = match self.geometry().arrangement {
            JobsArrangement::SideBySide => "The details are next to the list.".to_owned(),
            JobsArrangement::Stacked => "The details are below the list.".to_owned(),
            JobsArrangement::OneAtATime if self.pane == Pane::Detail => {
                format!("The details fill the screen. Press {close} to go back to the list.")
            }
            JobsArrangement::OneAtATime if self.panes.hides_detail => format!("Details hidden. {open} opens them."),
            JobsArrangement::OneAtATime => format!("No space for the details here. {open} opens them."),
        };
        self.notify(Severity::Info, &text, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::period::Preset;
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::keymap::bindings_of;
    use crate::tui::{InitialData, JobsEffect, JobsMsg, Msg, SavedFilter, ViewsEffect};
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

    fn started_app(start: AppConfig) -> App {
        let (mut app, _) = App::new(start, at(0));
        let data = InitialData { jobs: vec![row(1, Status::Active)], ..InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        app
    }

    fn started_app_with_layout(layout: &str) -> App {
        started_app(AppConfig { layout: Some(Layout::parse(layout)), ..start() })
    }

    fn press(app: &mut App, keys: &str, seconds: i64) -> Vec<Effect> {
        let key = |c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        let event = |c| Event::Key(KeyEvent::new(key(c), KeyModifiers::NONE));
        keys.chars().flat_map(|c| app.update(Msg::Input(event(c)), at(seconds))).collect()
    }

    fn saved_layout_effect(effects: &[Effect]) -> Option<(&str, &str)> {
        effects.iter().find_map(|effect| match effect {
            Effect::SaveLayout { key, text } => Some((key.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// Presses these keys, exits, and returns the layout that was saved.
    fn layout_saved_after(keys: &str) -> String {
        let mut app = started_app(start());
        press(&mut app, keys, 1);
        let effects = app.update(Msg::Terminate, at(1));
        let quit = effects.iter().position(|effect| *effect == Effect::Quit);
        let at = effects.iter().position(|effect| matches!(effect, Effect::SaveLayout { .. }));
        assert!(at.is_some() && at < quit, "{effects:?}");
        saved_layout_effect(&effects).expect("written").1.to_owned()
    }

    #[test]
    fn a_layout_change_is_saved_once_after_one_second() {
        let mut app = started_app(start());
        assert_eq!(app.layout_save_due_at(), None, "nothing changed");
        assert_eq!(saved_layout_effect(&press(&mut app, "2", 5)), None);
        assert_eq!(app.layout_save_due_at(), Some(at(6)));
        press(&mut app, "3", 5);
        assert_eq!(app.layout_save_due_at(), Some(at(6)), "not put off");
        assert_eq!(app.next_timer(at(5)).filter(|wake| *wake <= at(6)), Some(at(6)));
        let effects = app.update(Msg::Timer, at(6));
        let (key, text) = saved_layout_effect(&effects).expect("written");
        assert!(key.contains("work") && key.contains("127.0.0.1"), "{key:?}");
        assert_eq!(Layout::parse(text).screen, SavedScreen::Log);
        assert_eq!(app.layout_save_due_at(), None);
        assert_eq!(saved_layout_effect(&app.update(Msg::Terminate, at(7))), None, "it is on disk");
        press(&mut app, "2", 8);
        press(&mut app, "3", 8);
        assert_eq!(app.layout_save_due_at(), None, "as it was");
    }

    #[test]
    fn the_whole_layout_is_restored() {
        let text = layout_saved_after("sS]/word\nzi2dm");
        let mut app = started_app_with_layout(&text);
        assert_eq!(app.screen, Screen::Analytics);
        assert_eq!(app.views.preset(), Some(Preset::ThirtyDays));
        assert_eq!(app.views.table.metric().name(), "AI %");
        assert_eq!((app.jobs.sorting().by.name(), app.jobs.sorting().is_reversed), ("age", true));
        assert_eq!(app.filter_tabs().find(|(_, holds)| *holds).map(|(name, _)| name), Some("Mine"));
        assert!(app.jobs.shows_dismissed() && !app.jobs.filter().is_empty());
        assert_eq!(app.geometry().arrangement, JobsArrangement::OneAtATime);
        assert_eq!(app.layout_save_due_at(), None, "a restored layout is not saved again");
        press(&mut app, "1", 1);
        assert_eq!(app.filter_text(), "word", "the filter is shown in the title");
    }

    #[test]
    fn a_restored_views_screen_loads_its_cached_views_at_startup() {
        let start = AppConfig { layout: Some(Layout::parse("{\"place\":\"views\"}")), ..start() };
        let (_, effects) = App::new(start, at(0));
        assert!(
            matches!(
                effects.as_slice(),
                [Effect::Jobs(JobsEffect::LoadFirstRows(_)), Effect::Views(ViewsEffect::LoadCachedReport(_))]
            ),
            "{effects:?}"
        );
    }

    #[test]
    fn a_restored_filter_or_order_loads_all_jobs_at_startup() {
        for jobs in ["{\"filter\":\"x\"}", "{\"tab\":\"Mine\"}", "{\"sort\":{\"by\":\"age\",\"reversed\":false}}"] {
            let layout = Layout::parse(&format!("{{\"jobs\":{jobs}}}"));
            let (_, effects) = App::new(AppConfig { layout: Some(layout), ..start() }, at(0));
            assert_eq!(effects, [Effect::Jobs(JobsEffect::LoadInitialData)], "{jobs}");
        }
    }

    #[test]
    fn invalid_parts_of_a_layout_are_ignored() {
        for odd in ["", "{", "[]", "{\"columns\":\"x\"}", "{\"place\":\"moon\",\"views\":{\"range\":{\"days\":[1]}}}"] {
            let app = started_app_with_layout(odd);
            assert_eq!((app.screen, app.geometry().list.width), (Screen::Jobs, 96), "{odd:?}");
        }
        let app = started_app_with_layout(
            "{\"columns\":9999,\"jobs\":{\"tab\":\"gone\",\"sort\":{\"by\":\"mood\",\"reversed\":true}}}",
        );
        assert_eq!(
            (app.geometry().list.width, app.jobs.sorting(), app.active_filter_name()),
            (121, JobSorting::default(), None)
        );
    }

    #[test]
    fn no_layout_is_saved_in_the_demo_or_in_a_read_only_store() {
        for start in [AppConfig { is_demo: true, ..start() }, AppConfig { read_only: true, ..start() }] {
            let saved = Layout { screen: SavedScreen::Log, ..Layout::default() };
            let mut app = started_app(AppConfig { layout: Some(saved), ..start });
            assert_eq!(app.screen, Screen::Jobs);
            press(&mut app, "3", 1);
            assert_eq!(saved_layout_effect(&app.update(Msg::Terminate, at(9))), None);
        }
    }

    #[test]
    fn a_key_hides_the_detail_and_shows_it_again_if_there_is_space() {
        let mut app = started_app(start());
        let notice = |app: &App| app.notice.as_ref().expect("a notice").text.to_string();
        press(&mut app, "i", 1);
        assert!(!app.geometry().shows_both_panes() && notice(&app).contains("hidden"));
        press(&mut app, "i", 1);
        assert!(app.geometry().shows_both_panes() && notice(&app).contains("next to"));
        press(&mut app, "i", 1);
        app.update(Msg::Input(Event::Resize(80, 24)), at(2));
        press(&mut app, "i", 2);
        assert!(!app.geometry().shows_both_panes() && notice(&app).contains("No space"));
    }

    #[test]
    fn the_key_that_hides_the_details_acts_on_details_with_the_focus_only_if_the_list_fits_beside_them() {
        let mut app = started_app(start());
        let notice = |app: &App| app.notice.as_ref().expect("a notice").text.to_string();
        let offers_key = |app: &App| {
            let row = bindings_of(Context::Detail).iter().find(|row| row.action == Action::ToggleDetail);
            app.footer_label_of(row.expect("a binding")).is_some()
        };
        press(&mut app, "\ni", 1);
        assert!(!app.geometry().shows_both_panes() && notice(&app).starts_with("The details fill the screen."));
        press(&mut app, "i", 1);
        assert!(app.geometry().shows_both_panes() && offers_key(&app));
        app.update(Msg::Input(Event::Resize(80, 24)), at(2));
        press(&mut app, "i", 2);
        assert_eq!(notice(&app), "No space to show the list next to the details.");
        assert!(!app.panes.hides_detail && !offers_key(&app), "nothing changed");
    }

    #[test]
    fn a_list_without_a_job_to_select_takes_the_space_of_the_details() {
        let mut app = started_app(start());
        press(&mut app, "/zzz\n", 1);
        assert_eq!(app.geometry().list.width, 160);
        press(&mut app, "i", 1);
        assert_eq!(app.notice.as_ref().expect("a notice").text.as_str(), "No job is listed, so there are no details.");
        app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))), at(2));
        assert_eq!(app.geometry().list.width, 96, "the details appear, and the list has its usual width");
        press(&mut app, "\n", 3);
        assert_eq!(app.pane, Pane::Detail);
        app.jobs.replace(Vec::new());
        app.update(Msg::Timer, at(4));
        assert_eq!((app.geometry().list.width, app.pane), (160, Pane::List));
    }
}
