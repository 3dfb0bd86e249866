//! The palette: every action of the moment by what it does, the user's own commands and the themes, narrowed by typing.
//! What was chosen lately comes first.

use super::dialog::Dialog;
use super::keymap::{Action, Binding, Chord, Context};
use super::text_input::TextInput;
use super::{App, Effect, scroll};
use crate::model::Time;
use crate::model::text::CleanText;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// How many of the last choices are remembered.
const REMEMBERED: usize = 20;

/// Something to choose.
#[derive(Debug, Clone, PartialEq)]
pub enum PaletteChoice {
    /// A row of the key table.
    Row(&'static Binding),
    /// A command of the user's own, by its key.
    Own(Chord),
    /// A theme, by its name.
    Theme(String),
}

/// A choice as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct PaletteEntry {
    pub choice: PaletteChoice,
    pub text: CleanText,
    /// Other words by which it is found: its name in the configuration comes first, then synonyms.
    also: String,
    /// Its keys, none for a theme.
    pub keys: String,
    /// Where it belongs.
    pub place: &'static str,
}

/// The layer.
#[derive(Debug)]
pub struct CommandPalette {
    /// What is typed.
    pub input: TextInput,
    entries: Vec<PaletteEntry>,
    /// Places of the entries that fit what is typed, the best first.
    shown: Vec<usize>,
    selected: usize,
    top: usize,
    matcher: Matcher,
}

impl CommandPalette {
    fn new(entries: Vec<PaletteEntry>) -> Self {
        let shown = (0..entries.len()).collect();
        let input = TextInput::line("");
        Self { input, entries, shown, selected: 0, top: 0, matcher: Matcher::new(Config::DEFAULT) }
    }

    /// Keeps what fits the typed text, the best first; without any, all in their order.
    pub fn narrow(&mut self) {
        let typed = self.input.text();
        let pattern = Pattern::parse(&typed, CaseMatching::Ignore, Normalization::Smart);
        let (matcher, mut scratch) = (&mut self.matcher, Vec::new());
        let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut scratch), matcher);
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let mut scored: Vec<([bool; 2], u32, bool, usize)> = Vec::new();
        for (place, entry) in self.entries.iter().enumerate() {
            let text = format!("{} {}", entry.text, entry.place);
            let all = format!("{text} {}", entry.also).to_lowercase();
            let is_named = words.iter().all(|word| all.split_whitespace().any(|other| other == word));
            let (by_text, by_all) = (score(&text), score(&all));
            let is_name = entry.also.split_whitespace().next() == Some(&words.join("-"));
            // Its name comes first, then whole words; of two that fit equally well, the one whose own text fits.
            let score = by_text.max(by_all);
            scored.extend(score.map(|score| ([is_name, is_named], score, by_text == Some(score), place)));
        }
        scored.sort_by_key(|(names, score, by_text, place)| (std::cmp::Reverse((*names, *score, *by_text)), *place));
        self.shown = scored.into_iter().map(|(.., place)| place).collect();
        self.selected = 0;
        self.top = 0;
    }

    /// The chosen one.
    pub fn selected(&self) -> Option<&PaletteEntry> {
        self.shown.get(self.selected).and_then(|place| self.entries.get(*place))
    }

    /// The visible ones, each with whether it is chosen.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&PaletteEntry, bool)> {
        let places = self.shown.iter().enumerate().skip(self.top).take(rows);
        places.filter_map(|(n, place)| Some((self.entries.get(*place)?, n == self.selected)))
    }

    /// All entries, and those that are left.
    pub fn counts(&self) -> (usize, usize) {
        (self.entries.len(), self.shown.len())
    }

    /// Those below the visible ones.
    pub fn hidden_below(&self, rows: usize) -> usize {
        self.shown.len().saturating_sub(self.top + rows)
    }

    /// Moves the choice.
    pub fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.shown.len());
        self.keep_in_sight(rows);
    }

    /// Keeps the choice in sight.
    pub fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.shown.len());
    }
}

/// The words besides its help by which an action is found: `new-job` also as `new job`.
fn also(action: Action) -> String {
    format!("{} {} {}", action.word(), action.word().replace('-', " "), action.synonyms())
}

impl App {
    /// The key that opens the palette: what it lists is what holds at this moment.
    pub(super) fn open_palette(&mut self) {
        let contexts = self.contexts();
        let typing = self.takes_text();
        // A text that is open goes to disk before another profile takes the place of its own.
        let may_turn = matches!(self.dialogs.last(), Some(Dialog::Editor(_) | Dialog::Batch(_)));
        let mut entries: Vec<PaletteEntry> = Vec::new();
        for row in self.config.keymap.rows(contexts) {
            // Where text is typed, plain letters of the screen below are no commands.
            let is_plain = typing
                && row.context == Context::Everywhere
                && !self.config.keymap.keys(row).iter().any(|c| !c.types_text());
            let is_reached = !is_plain || (may_turn && row.action == Action::Profiles);
            // Users look for these by name even when there are none, and are then told so.
            let is_asked_for = matches!(row.action, Action::Drafts | Action::Profiles) && self.is_offered(row.action);
            let is_listed = self.is_possible(row.action) || is_asked_for;
            if row.action != Action::Palette && is_reached && is_listed {
                let keys = if is_plain { &[] } else { self.config.keymap.keys(row) };
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                entries.push(PaletteEntry {
                    choice: PaletteChoice::Row(row),
                    text: CleanText::line(row.help),
                    also: also(row.action),
                    keys: keys.join("  "),
                    place: row.context.short_name(),
                });
            }
        }
        entries.extend(self.own_hints().map(|own| PaletteEntry {
            choice: PaletteChoice::Own(own.key),
            text: own.name.clone(),
            also: String::new(),
            keys: own.key.to_string(),
            place: "commands",
        }));
        entries.extend(self.config.themes.iter().map(|name| PaletteEntry {
            choice: PaletteChoice::Theme(name.clone()),
            text: CleanText::line(&format!("theme {name}")),
            also: "colors colours appearance dark light settings".to_owned(),
            keys: String::new(),
            place: "themes",
        }));
        let lately = |entry: &PaletteEntry| {
            self.recent_choices.iter().position(|choice| *choice == entry.choice).unwrap_or(usize::MAX)
        };
        entries.sort_by_key(lately);
        self.dialogs.push(Dialog::Palette(Box::new(CommandPalette::new(entries))));
    }

    /// Enter: does what is chosen, on the layer or screen below.
    pub(super) fn take_choice(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Palette(palette)) = self.dialogs.last() else { return };
        let Some(choice) = palette.selected().map(|entry| entry.choice.clone()) else { return };
        self.dialogs.pop();
        self.recent_choices.retain(|before| *before != choice);
        self.recent_choices.insert(0, choice.clone());
        self.recent_choices.truncate(REMEMBERED);
        match choice {
            PaletteChoice::Row(row) if row.action == Action::Quit => self.quit(effects),
            PaletteChoice::Row(row) => self.act(row.action, now, effects),
            PaletteChoice::Own(key) => self.run_own(key, now, effects),
            PaletteChoice::Theme(name) => effects.push(Effect::UseTheme { name, keep: false }),
        }
    }

    /// Whether the chosen theme can be saved: not in the demo.
    pub(super) fn can_keep_theme(&self) -> bool {
        let is_theme = |palette: &CommandPalette| {
            matches!(palette.selected(), Some(PaletteEntry { choice: PaletteChoice::Theme(_), .. }))
        };
        self.config.config.is_some() && matches!(self.dialogs.last(), Some(Dialog::Palette(open)) if is_theme(open))
    }

    /// The key that saves the chosen theme as the usual one.
    pub(super) fn keep_theme(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let before = effects.len();
        if self.can_keep_theme() {
            self.take_choice(now, effects);
        }
        for effect in effects.iter_mut().skip(before) {
            if let Effect::UseTheme { keep, .. } = effect {
                *keep = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::dialog::{ConfirmAction, ConfirmDialog};
    use crate::app::finish_alerts::tests::{app, press};
    use crate::app::jobs::tests::{at, row};
    use crate::app::{Msg, Screen};
    use crate::model::job::Status;
    use crate::model::prompt::DraftSlot;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn opened() -> App {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.config.themes = vec!["dark".to_owned(), "high-contrast".to_owned()];
        press(&mut app, ':');
        app
    }

    fn enter(app: &mut App) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))), at(0))
    }

    fn typed(app: &mut App, text: &str) {
        text.chars().for_each(|c| {
            press(app, c);
        });
    }

    fn palette(app: &App) -> &CommandPalette {
        match app.dialogs.last() {
            Some(Dialog::Palette(palette)) => palette,
            other => panic!("no palette: {other:?}"),
        }
    }

    #[test]
    fn an_action_is_found_by_what_it_does_and_done() {
        let mut app = opened();
        typed(&mut app, "views");
        assert!(palette(&app).counts().1 < palette(&app).counts().0);
        assert_eq!(palette(&app).selected().map(|entry| entry.text.as_str()), Some("views"));
        enter(&mut app);
        assert_eq!((app.screen, app.dialogs.len()), (Screen::Views, 0));
    }

    #[test]
    fn what_was_chosen_comes_first_the_next_time() {
        let mut app = opened();
        typed(&mut app, "theme high");
        assert_eq!(enter(&mut app), [Effect::UseTheme { name: "high-contrast".to_owned(), keep: false }]);
        press(&mut app, ':');
        assert_eq!(palette(&app).selected().map(|entry| entry.text.as_str()), Some("theme high-contrast"));
    }

    #[test]
    fn it_lists_every_possible_action_of_the_moment_and_nothing_that_would_do_nothing() {
        let app = opened();
        let entries = &palette(&app).entries;
        let has = |action| {
            entries.iter().any(|entry| matches!(entry.choice, PaletteChoice::Row(row) if row.action == action))
        };
        assert!(has(Action::NewJob) && has(Action::Quit) && has(Action::Rename));
        assert!(!has(Action::OpenPr), "no pull request is there to open");
        assert!(!has(Action::Palette));
    }

    #[test]
    fn an_action_is_found_by_its_name_in_the_configuration_and_by_common_words() {
        let found = |words: &str| {
            let mut app = opened();
            typed(&mut app, words);
            palette(&app).selected().map(|entry| entry.choice.clone())
        };
        let wanted = [
            ("new-job", Action::NewJob),
            ("reverse-sort", Action::ReverseSort),
            ("create", Action::NewJob),
            ("draft", Action::Drafts),
            ("quit", Action::Quit),
            ("exit", Action::Quit),
            ("search", Action::Filter),
            ("find", Action::Filter),
            ("restore", Action::Undo),
            ("setup", Action::Profiles),
            ("settings", Action::Profiles),
            ("shortcuts", Action::Help),
        ];
        for (words, action) in wanted {
            let choice = found(words);
            assert!(matches!(&choice, Some(PaletteChoice::Row(row)) if row.action == action), "{words}: {choice:?}");
        }
        assert_eq!(found("theme"), Some(PaletteChoice::Theme("dark".to_owned())));
        assert_eq!(found("colors"), Some(PaletteChoice::Theme("dark".to_owned())));
    }

    #[test]
    fn a_theme_is_kept_by_its_own_key_and_only_where_settings_are_saved() {
        let mut app = opened();
        typed(&mut app, "theme high");
        assert!(held(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL).is_empty(), "the demo");
        app.config.config = Some(CleanText::line("/c/config.toml"));
        let kept = Effect::UseTheme { name: "high-contrast".to_owned(), keep: true };
        assert_eq!(held(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL), [kept]);
        assert!(app.dialogs.is_empty());
        press(&mut app, ':');
        typed(&mut app, "quit");
        assert!(held(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL).is_empty(), "no theme");
        assert_eq!(app.dialogs.len(), 1);
    }

    fn held(app: &mut App, code: KeyCode, with: KeyModifiers) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, with))), at(0))
    }

    #[test]
    fn repainting_and_moving_in_the_typed_words_leave_the_choice_where_it_is() {
        let mut app = opened();
        typed(&mut app, "e");
        held(&mut app, KeyCode::Down, KeyModifiers::NONE);
        let chosen = palette(&app).selected().cloned();
        assert_ne!(chosen.as_ref(), palette(&app).entries.get(palette(&app).shown[0]), "not the first");
        assert_eq!(held(&mut app, KeyCode::Char('l'), KeyModifiers::CONTROL), [Effect::Repaint]);
        assert_eq!(palette(&app).selected().cloned(), chosen);
        assert_eq!(held(&mut app, KeyCode::Char('z'), KeyModifiers::CONTROL), [Effect::Suspend]);
        held(&mut app, KeyCode::Left, KeyModifiers::NONE);
        assert_eq!((palette(&app).selected().cloned(), palette(&app).input.text().as_str()), (chosen.clone(), "e"));
        typed(&mut app, "n");
        assert_eq!((palette(&app).selected, palette(&app).input.text().as_str()), (0, "ne"));
    }

    #[test]
    fn what_lies_below_is_counted_from_what_is_in_sight() {
        let mut app = opened();
        let all = palette(&app).counts().0;
        assert_eq!(palette(&app).hidden_below(5), all - 5);
        let Some(Dialog::Palette(palette)) = app.dialogs.last_mut() else { panic!("open") };
        palette.move_to(|_, _| 6, 5);
        assert_eq!(palette.hidden_below(5), all - 7, "two are out of sight above");
        palette.move_to(|_, total| total - 1, 5);
        assert_eq!(palette.hidden_below(5), 0);
    }

    #[test]
    fn a_question_that_is_repainted_is_not_answered() {
        let mut app = app(vec![row(1, Status::Completed)]);
        let yes = ConfirmAction::DeleteDraft(DraftSlot::NewJob);
        app.dialogs.push(Dialog::Question(ConfirmDialog { text: "Sure?".to_owned(), yes }));
        assert_eq!(held(&mut app, KeyCode::Char('l'), KeyModifiers::CONTROL), [Effect::Repaint]);
        assert_eq!(app.dialogs.len(), 1);
        held(&mut app, KeyCode::Char('k'), KeyModifiers::CONTROL);
        assert!(app.dialogs.is_empty(), "anything else is no");
    }

    #[test]
    fn nothing_that_fits_is_nothing_to_choose() {
        let mut app = opened();
        typed(&mut app, "zzzzqqq");
        assert!(palette(&app).selected().is_none());
        assert!(enter(&mut app).is_empty());
        assert_eq!(app.dialogs.len(), 1);
    }
}
