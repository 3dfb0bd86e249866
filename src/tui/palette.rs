//! The command palette: all commands that are possible now, custom commands and themes. Typing narrows the list, and
//! recently chosen entries come first.
//!
//! ```text
//! ┌─ Commands ───────────────────────────────────────────────┐
//! │ rena▏                                                    │
//! │ ▌Rename           rename the job (only in docdeck)     R │
//! └────────────────────────────────────────── 1 of 62 commands ┘
//! ```

use super::component::prelude::*;
use super::compose::batch::BatchDialog;
use super::compose::editor::Editor;
use super::draw::cursor;
use super::draw::text::{TextRow, truncate};
use super::format::{format_count, plural};
use super::geometry::{Geometry, centered, inside_borders_without_top_rows};
use super::state::PaletteChoice;
use crate::model::text::CleanText;
use crate::tui::draw::boxes::{draw_box, draw_line};
use crate::tui::format::more_below_text;
use crate::tui::widgets::list_state::ListState;
use crate::tui::widgets::text_input::TextInput;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use unicode_width::UnicodeWidthStr;

/// Maximum width of the keyboard shortcuts of a command.
const MAX_KEYS_CELLS: usize = 8;
/// Width of the names, if descriptions follow them.
const NAME_CELLS: usize = 17;
/// Minimum width of the screen at which the palette is a box in its middle and has descriptions.
const MIN_COLUMNS_WITH_DESCRIPTIONS: u16 = 60;
/// How many recently chosen entries are listed before all others.
const MAX_RECENT_ENTRIES: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub struct PaletteEntry {
    pub choice: PaletteChoice,
    pub name: CleanText,
    pub description: String,
    /// Additional words by which the entry is found. For an action, they start with its configuration name.
    search_words: String,
    /// The keys of the command, for display. Empty if no key runs it, as for a theme.
    pub keys: String,
}

/// Where an entry contains the typed text, the best place first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchRank {
    /// The typed text is the configuration name of the action.
    ConfigName,
    NamePrefix,
    /// Words of the name start with the typed words.
    NameWords,
    InName,
    /// A typed word is a synonym.
    Synonym,
    InDescription,
}

impl PaletteEntry {
    /// Returns how well the entry matches the typed words, which must be in lower case. The rank of a word is the best
    /// place that contains the word, and the rank of the entry is that of its worst word. `None` if the entry lacks one
    /// of the words.
    fn rank(&self, typed: &str) -> Option<MatchRank> {
        let words: Vec<&str> = typed.split_whitespace().collect();
        if self.search_words.split_whitespace().next() == Some(words.join("-").as_str()) {
            return Some(MatchRank::ConfigName);
        }
        let name = self.name.as_str().to_lowercase();
        if name.starts_with(typed) {
            return Some(MatchRank::NamePrefix);
        }
        let description = self.description.to_lowercase();
        let rank = |word: &&str| {
            if name.split_whitespace().any(|other| other.starts_with(word)) {
                Some(MatchRank::NameWords)
            } else if name.contains(word) {
                Some(MatchRank::InName)
            } else if self.search_words.split_whitespace().any(|other| other == *word) {
                Some(MatchRank::Synonym)
            } else {
                (description.contains(word) || self.search_words.contains(word)).then_some(MatchRank::InDescription)
            }
        };
        words.iter().map(rank).try_fold(MatchRank::NamePrefix, |worst, rank| Some(worst.max(rank?)))
    }
}

#[derive(Debug)]
pub struct CommandPalette {
    /// The typed text.
    pub input: TextInput,
    entries: Vec<PaletteEntry>,
    /// The indexes of the entries that match the typed text, best match first.
    matches: Vec<usize>,
    pub list: ListState,
    matcher: Matcher,
}

impl CommandPalette {
    fn new(entries: Vec<PaletteEntry>) -> Self {
        let shown = (0..entries.len()).collect();
        let list = ListState::new(entries.len(), 0);
        Self {
            input: TextInput::single_line(""),
            entries,
            matches: shown,
            list,
            matcher: Matcher::new(Config::DEFAULT),
        }
    }

    /// Shows only the entries that contain the typed words, best match first. If no entry contains them, shows the
    /// entries whose names match the typed text fuzzily. If nothing is typed, shows all entries in their original
    /// order.
    fn filter_entries(&mut self) {
        let typed = self.input.text().trim().to_lowercase();
        let ranks = self.entries.iter().enumerate().map(|(index, entry)| (entry.rank(&typed), index));
        let mut ranked: Vec<(MatchRank, usize)> = ranks.filter_map(|(rank, index)| Some((rank?, index))).collect();
        ranked.sort();
        self.matches = ranked.into_iter().map(|(_, index)| index).collect();
        if self.matches.is_empty() {
            self.matches = self.fuzzy_matches(&typed);
        }
        self.list = ListState::new(self.matches.len(), 0);
    }

    /// Returns the indexes of the entries whose name contains the typed letters in this order, best match first.
    fn fuzzy_matches(&mut self, typed: &str) -> Vec<usize> {
        let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
        let (matcher, mut scratch) = (&mut self.matcher, Vec::new());
        let mut score = |name: &str| pattern.score(Utf32Str::new(name, &mut scratch), matcher);
        let scores = self.entries.iter().enumerate().map(|(index, entry)| (score(entry.name.as_str()), index));
        let mut scored: Vec<(u32, usize)> = scores.filter_map(|(score, index)| Some((score?, index))).collect();
        scored.sort_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
        scored.into_iter().map(|(_, index)| index).collect()
    }

    pub fn selected(&self) -> Option<&PaletteEntry> {
        self.matches.get(self.list.selected()).and_then(|index| self.entries.get(*index))
    }

    /// Returns the visible entries, each with whether it is selected.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&PaletteEntry, bool)> {
        self.list.visible(self.matches.iter().filter_map(|index| self.entries.get(*index)), rows)
    }

    /// Returns the number of all entries, and the number of entries that match the typed text.
    pub fn total_and_matching_counts(&self) -> (usize, usize) {
        (self.entries.len(), self.matches.len())
    }

    /// Runs the selected command on the dialog or screen below the palette.
    fn run_selected(&self, save_theme: bool, cx: &mut Cx<'_>) -> Flow {
        let Some(choice) = self.selected().map(|entry| entry.choice.clone()) else { return Flow::Handled };
        let Cx { app, now, effects } = cx;
        app.recent_choices.retain(|before| *before != choice);
        app.recent_choices.insert(0, choice.clone());
        app.recent_choices.truncate(MAX_RECENT_ENTRIES);
        match choice {
            PaletteChoice::Binding(row) if row.action == Action::Quit => app.quit(effects),
            PaletteChoice::Binding(row) => app.run_action(row.action, *now, effects),
            PaletteChoice::CustomCommand(key) => app.run_custom_command(key, *now, effects),
            PaletteChoice::Theme(name) => effects.push(Effect::UseTheme { name, save_as_default: save_theme }),
        }
        Flow::Close
    }

    /// Whether the selected entry is a theme that can be saved as the default. The demo can't save themes.
    fn can_save_theme(&self, app: &App) -> bool {
        let is_theme = self.selected().is_some_and(|entry| matches!(entry.choice, PaletteChoice::Theme(_)));
        is_theme && app.config.config_path.is_some()
    }
}

/// Returns the area of the palette, including its borders.
pub(super) fn palette_area(g: Geometry) -> Rect {
    if g.body.width < MIN_COLUMNS_WITH_DESCRIPTIONS { g.body } else { centered(g.body, 84, 26) }
}

impl Component for CommandPalette {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Palette, Context::Text]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::Confirm => self.selected().is_some(),
            Action::SaveTheme => self.can_save_theme(app),
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => self.run_selected(false, cx),
            Action::SaveTheme if self.can_save_theme(cx.app) => self.run_selected(true, cx),
            _ => Flow::Unhandled,
        }
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        let rows = inside_borders_without_top_rows(self.area(app), 1);
        Some((&mut self.list, rows))
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Some(&mut self.input)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.filter_entries();
    }

    fn area(&self, app: &App) -> Rect {
        palette_area(app.geometry())
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let area = self.area(view.app);
        let (all, left) = self.total_and_matching_counts();
        let inner = draw_box(frame, area, Line::styled(" Commands ", theme.title), theme.focus);
        let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        if self.input.is_blank() {
            let run = view.app.key_label(Context::Palette, Action::Confirm);
            draw_line(frame, text, 0, Line::styled(format!("Type to search, {run} to run."), theme.muted));
        } else {
            frame.render_widget(self.input.area(), Rect { height: text.height.min(1), ..text });
        }
        let has_descriptions = area.width >= MIN_COLUMNS_WITH_DESCRIPTIONS;
        let width = usize::from(text.width);
        let lines = Rect { x: text.x, width: text.width, ..inside_borders_without_top_rows(area, 1) };
        let rows = usize::from(lines.height);
        for (n, (entry, chosen)) in self.visible(rows).enumerate() {
            let mut row = TextRow::new(width);
            row.push(if chosen { "▌" } else { " " }, theme.mark);
            let first = entry.keys.split("  ").take(2).collect::<Vec<_>>().join("  ");
            let is_short = first.width() <= MAX_KEYS_CELLS;
            let keys = if is_short { first } else { entry.keys.split("  ").next().unwrap_or("").to_owned() };
            let keys_at = width.saturating_sub(keys.width());
            let end = keys_at.saturating_sub(2);
            if has_descriptions {
                row.push_left_aligned(truncate(entry.name.as_str(), NAME_CELLS), NAME_CELLS, theme.text)
                    .push("  ", theme.text);
                row.push_up_to(end, entry.description.as_str(), theme.muted);
            } else {
                row.push_up_to(end, entry.name.as_str(), theme.text);
            }
            row.pad_to(keys_at).push(keys, theme.key);
            draw_line(frame, lines, n, row.list_line(chosen, theme));
        }
        if left == 0 {
            let message = format!("No command matches “{}”.", self.input.text().trim());
            draw_line(frame, text, 1, Line::styled(message, theme.muted));
        }
        let hidden = more_below_text(self.list.hidden_below(rows));
        let hidden = if hidden.is_empty() { hidden } else { format!(", {hidden}") };
        let of = if all == left { String::new() } else { format!("{} of ", format_count(left)) };
        let count = Line::styled(format!(" {of}{}{hidden} ", plural(all, "command")), theme.muted);
        let width = u16::try_from(count.width()).unwrap_or(0);
        let corner =
            Rect { x: area.right().saturating_sub(width + 2), y: area.bottom().saturating_sub(1), width, height: 1 };
        frame.render_widget(count, corner.intersection(area));
        // The search field has the cursor, even before something is typed.
        let field = Rect { height: text.height.min(1), ..text };
        cursor::place_cursor_in_corner(frame, field);
        if !self.input.is_blank() {
            cursor::place_cursor_in_input(frame, view, field);
        }
    }
}

/// Returns the words by which an action is found in addition to its help text, such as `new-job`, `new job` and
/// synonyms.
fn action_search_text(action: Action) -> String {
    format!("{} {} {}", action.config_name(), action.config_name().replace('-', " "), action.synonyms())
}

impl App {
    /// Opens the palette with the commands that are possible now.
    pub(super) fn open_palette(&mut self) {
        let contexts = self.contexts();
        let typing = self.takes_text();
        // The list of profiles can also be opened while a prompt is being written, although its key may type text
        // there. The text of the prompt is saved before a switch.
        let may_switch_profile = self.top::<Editor>().is_some() || self.top::<BatchDialog>().is_some();
        let mut entries: Vec<PaletteEntry> = Vec::new();
        for row in self.config.keymap.active_bindings(contexts) {
            // Whether this is a global command with only character keys, in a place where these keys type text. Its
            // keys then can't run it.
            let is_plain = typing
                && row.context == Context::Everywhere
                && !self.config.keymap.keys(row).iter().any(|c| !c.types_text());
            let is_reached = !is_plain || (may_switch_profile && row.action == Action::Profiles);
            // Users search for drafts and profiles even if there are none. Running the command then shows a notice.
            let is_searched =
                matches!(row.action, Action::Drafts | Action::Profiles) && self.is_available_on_screen(row.action);
            let is_listed = self.footer_label_of(row).is_some() || is_searched;
            if row.action != Action::Palette && is_reached && is_listed {
                let keys = if is_plain { &[] } else { self.config.keymap.keys(row) };
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                entries.push(PaletteEntry {
                    choice: PaletteChoice::Binding(row),
                    name: CleanText::line(&row.action.title()),
                    description: row.help.to_owned(),
                    search_words: action_search_text(row.action),
                    keys: keys.join("  "),
                });
            }
        }
        entries.extend(self.runnable_commands().map(|command| PaletteEntry {
            choice: PaletteChoice::CustomCommand(command.key),
            name: command.name.clone(),
            description: "run this custom command".to_owned(),
            search_words: String::new(),
            keys: command.key.to_string(),
        }));
        let save = self.key_label(Context::Palette, Action::SaveTheme);
        let saves = self.config.config_path.is_some().then(|| format!("; {save} makes it the default"));
        let use_theme = format!("use this theme{}", saves.unwrap_or_default());
        entries.extend(self.config.themes.iter().map(|name| PaletteEntry {
            choice: PaletteChoice::Theme(name.clone()),
            name: CleanText::line(&format!("Theme {name}")),
            description: use_theme.clone(),
            search_words: "colors colours appearance dark light settings".to_owned(),
            keys: String::new(),
        }));
        let recency = |entry: &PaletteEntry| {
            self.recent_choices.iter().position(|choice| *choice == entry.choice).unwrap_or(usize::MAX)
        };
        entries.sort_by_key(recency);
        self.open(CommandPalette::new(entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::prompt::DraftTarget;
    use crate::model::remote_job::Status;
    use crate::tui::Screen;
    use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
    use crate::tui::finish_alerts::tests::{app, press};
    use crate::tui::jobs::tests::{at, row};
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn app_with_palette() -> App {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.config.themes = vec!["dark".to_owned(), "high-contrast".to_owned()];
        press(&mut app, ':');
        app
    }

    fn enter(app: &mut App) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))), at(0))
    }

    fn type_text(app: &mut App, text: &str) {
        text.chars().for_each(|c| {
            press(app, c);
        });
    }

    fn palette(app: &App) -> &CommandPalette {
        app.top().expect("the palette")
    }

    #[test]
    fn an_action_is_found_by_its_help_text_and_run_with_enter() {
        let mut app = app_with_palette();
        type_text(&mut app, "analytics");
        assert!(palette(&app).total_and_matching_counts().1 < palette(&app).total_and_matching_counts().0);
        assert_eq!(palette(&app).selected().map(|entry| entry.name.as_str()), Some("Show analytics"));
        enter(&mut app);
        assert_eq!((app.screen, app.dialogs.len()), (Screen::Analytics, 0));
    }

    #[test]
    fn the_last_chosen_entry_is_listed_first_when_the_palette_opens_again() {
        let mut app = app_with_palette();
        type_text(&mut app, "theme high");
        assert_eq!(enter(&mut app), [Effect::UseTheme { name: "high-contrast".to_owned(), save_as_default: false }]);
        press(&mut app, ':');
        assert_eq!(palette(&app).selected().map(|entry| entry.name.as_str()), Some("Theme high-contrast"));
    }

    #[test]
    fn the_palette_lists_only_actions_that_are_possible_now() {
        let app = app_with_palette();
        let entries = &palette(&app).entries;
        let has = |action| {
            entries.iter().any(|entry| matches!(entry.choice, PaletteChoice::Binding(row) if row.action == action))
        };
        assert!(has(Action::NewJob) && has(Action::Quit) && has(Action::Rename));
        assert!(!has(Action::OpenPr), "no pull request is there to open");
        assert!(!has(Action::Palette));
    }

    #[test]
    fn an_action_is_found_by_its_configuration_name_and_by_synonyms() {
        let found = |words: &str| {
            let mut app = app_with_palette();
            type_text(&mut app, words);
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
            assert!(
                matches!(&choice, Some(PaletteChoice::Binding(row)) if row.action == action),
                "{words}: {choice:?}"
            );
        }
        assert_eq!(found("theme"), Some(PaletteChoice::Theme("dark".to_owned())));
        assert_eq!(found("colors"), Some(PaletteChoice::Theme("dark".to_owned())));
    }

    #[test]
    fn ctrl_s_saves_the_selected_theme_except_in_the_demo() {
        let mut app = app_with_palette();
        type_text(&mut app, "theme high");
        assert!(press_with(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL).is_empty(), "the demo");
        app.config.config_path = Some(CleanText::line("/c/config.toml"));
        let kept = Effect::UseTheme { name: "high-contrast".to_owned(), save_as_default: true };
        assert_eq!(press_with(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL), [kept]);
        assert!(app.dialogs.is_empty());
        press(&mut app, ':');
        type_text(&mut app, "quit");
        assert!(press_with(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL).is_empty(), "no theme");
        assert_eq!(app.dialogs.len(), 1);
    }

    fn press_with(app: &mut App, code: KeyCode, with: KeyModifiers) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, with))), at(0))
    }

    #[test]
    fn redrawing_and_moving_the_cursor_keep_the_selection() {
        let mut app = app_with_palette();
        type_text(&mut app, "e");
        press_with(&mut app, KeyCode::Down, KeyModifiers::NONE);
        let chosen = palette(&app).selected().cloned();
        assert_ne!(chosen.as_ref(), palette(&app).entries.get(palette(&app).matches[0]), "not the first");
        assert_eq!(press_with(&mut app, KeyCode::Char('l'), KeyModifiers::CONTROL), [Effect::Redraw]);
        assert_eq!(palette(&app).selected().cloned(), chosen);
        assert_eq!(press_with(&mut app, KeyCode::Char('z'), KeyModifiers::CONTROL), [Effect::Suspend]);
        press_with(&mut app, KeyCode::Left, KeyModifiers::NONE);
        assert_eq!((palette(&app).selected().cloned(), palette(&app).input.text().as_str()), (chosen.clone(), "e"));
        type_text(&mut app, "n");
        assert_eq!((palette(&app).list.selected(), palette(&app).input.text().as_str()), (0, "ne"));
    }

    #[test]
    fn entries_below_the_visible_ones_are_counted() {
        let mut app = app_with_palette();
        let all = palette(&app).total_and_matching_counts().0;
        assert_eq!(palette(&app).list.hidden_below(5), all - 5);
        let palette = app.find_mut::<CommandPalette>().expect("the palette");
        palette.list.move_to(|_, _| 6, 5);
        assert_eq!(palette.list.hidden_below(5), all - 7, "two are scrolled out above");
        palette.list.move_to(|_, total| total - 1, 5);
        assert_eq!(palette.list.hidden_below(5), 0);
    }

    #[test]
    fn redrawing_does_not_close_a_confirmation() {
        let mut app = app(vec![row(1, Status::Completed)]);
        let yes = ConfirmAction::DeleteDraft(DraftTarget::NewJob);
        app.open(ConfirmDialog { text: "Sure?".to_owned(), on_yes: yes });
        assert_eq!(press_with(&mut app, KeyCode::Char('l'), KeyModifiers::CONTROL), [Effect::Redraw]);
        assert_eq!(app.dialogs.len(), 1);
        press_with(&mut app, KeyCode::Char('k'), KeyModifiers::CONTROL);
        assert!(app.dialogs.is_empty(), "anything else is no");
    }

    #[test]
    fn every_name_fits_before_the_descriptions() {
        for row in crate::tui::keymap::BINDINGS {
            assert!(row.action.title().width() <= NAME_CELLS, "{}", row.action.title());
        }
    }

    #[test]
    fn the_best_match_is_in_the_name_and_scattered_letters_count_only_there() {
        let names = |words: &str| {
            let mut app = app_with_palette();
            type_text(&mut app, words);
            let palette = palette(&app);
            palette.matches.iter().map(|index| palette.entries[*index].name.to_string()).collect::<Vec<_>>()
        };
        assert!(!names("merge").contains(&"Mark range".to_owned()));
        assert!(!names("appr").iter().any(|name| name.starts_with("Theme")));
        assert_eq!(names("renm"), ["Rename"]);
        assert_eq!(names("ran").first().map(String::as_str), Some("Mark range"), "the start of a word");
        assert_eq!(names("mar").first().map(String::as_str), Some("Mark"), "the start of the name");
    }

    #[test]
    fn enter_does_nothing_if_no_entry_matches() {
        for text in ["zzzzqqq", "appr"] {
            let mut app = app_with_palette();
            type_text(&mut app, text);
            assert!(palette(&app).selected().is_none());
            assert!(enter(&mut app).is_empty());
            assert_eq!(app.dialogs.len(), 1);
        }
    }
}
