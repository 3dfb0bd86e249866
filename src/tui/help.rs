//! The lines of the help: the current key bindings in groups, the custom commands, the symbols of the jobs list and the
//! topics of the guide. They are generated from the tables that drawing and dispatch use. A search filters the lines.

use super::App;
use super::dialog::Dialog;
use super::geometry::Geometry;
use super::keymap::{Binding, Chord, Context, KeyGroup};
use super::text_input::TextInput;
use super::wrap::wrap;
use crate::model::guide::{TOPICS, Topic};
use crate::model::job_state::{JobState, ROW_MARKS};
use unicode_width::UnicodeWidthStr;

/// The number of cells before the keys plus the number of cells between the keys and their help texts.
const GAPS: usize = 3;

/// The number of guide topics on one line.
const TOPICS_PER_LINE: usize = 3;

/// The state of the help dialog.
#[derive(Debug)]
pub struct Help {
    /// The contexts that were active when the help was opened.
    pub contexts: Vec<Context>,
    /// The index of the first visible line.
    pub scroll: usize,
    /// The search input, if there is a search.
    query: Option<TextInput>,
    is_typing: bool,
}

impl Help {
    pub(super) fn new(contexts: Vec<Context>) -> Self {
        Self { contexts, scroll: 0, query: None, is_typing: false }
    }

    /// Returns the search input, if there is a search.
    pub fn query(&self) -> Option<&TextInput> {
        self.query.as_ref()
    }

    /// Whether the search input has the focus.
    pub fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Returns the number of rows for the lines of the help. The search input takes one row.
    pub fn rows(&self, g: Geometry) -> usize {
        g.help_rows().saturating_sub(usize::from(self.query.is_some()))
    }

    pub(super) fn start_search(&mut self) {
        self.is_typing = true;
        let old = self.query.take().map(|query| query.text()).unwrap_or_default();
        self.query = Some(TextInput::selected_line(&old));
    }

    /// Moves the focus from the search input to the lines. Ends the search if it is blank.
    pub(super) fn leave_search(&mut self) {
        self.is_typing = false;
        self.query.take_if(|query| query.is_blank());
    }

    /// Clears the search. Returns false if there was none.
    pub(super) fn clear_search(&mut self) -> bool {
        self.is_typing = false;
        self.scroll = 0;
        self.query.take().is_some()
    }

    pub(super) fn edit_query(&mut self, change: impl FnOnce(&mut TextInput) -> bool) {
        if let (true, Some(words)) = (self.is_typing, &mut self.query) {
            change(words);
            self.scroll = 0;
        }
    }
}

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    Gap,
    Heading(String),
    /// Keys and what they do, or a symbol and its meaning. The first text is empty on a continuation line.
    Key(String, String),
}

/// Returns the maximum width of the column of keys in a box of this width.
fn max_key_column_width(columns: usize) -> usize {
    if columns < 60 { 10 } else { 24 }
}

impl App {
    /// Returns the width of the column of keys. It doesn't depend on the search, so that the columns stay in place.
    pub fn help_key_column_width(&self, help: &Help, columns: usize) -> usize {
        let max_width = max_key_column_width(columns);
        let rows = self.config.keymap.active_bindings(&help.contexts).filter(|row| self.is_offered(row.action));
        let widest = rows.map(|row| fitting_keys(self.config.keymap.keys(row), max_width).width()).max().unwrap_or(0);
        let custom = self.commands_in(&help.contexts).map(|custom| custom.key.to_string().width()).max().unwrap_or(0);
        widest.max(custom).min(max_width)
    }

    /// Returns the lines of the help at this width: all lines or, during a search, the lines that contain every word of
    /// the search.
    pub fn help_lines(&self, help: &Help, columns: usize) -> Vec<HelpLine> {
        let words = help.query().map(|words| words.text().to_lowercase()).unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let matches = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut lines = Vec::new();
        let contexts = help.contexts.as_slice();
        let key_columns = self.help_key_column_width(help, columns);
        let text_columns = columns.saturating_sub(key_columns + GAPS);
        let typing = contexts.first().is_some_and(|context| is_text_context(*context));
        for group in KeyGroup::ALL {
            let in_group = |row: &Binding| row.action.group() == group && self.is_offered(row.action);
            let rows = self
                .config
                .keymap
                .active_bindings_where(contexts, in_group)
                .filter(|row| matches(&self.searched_text(row)));
            let texts = rows.filter_map(|row| {
                // In a text input, plain letters are typed, so they don't trigger the bindings of other contexts.
                let works = |chord: &&Chord| !typing || contexts.first() == Some(&row.context) || !chord.types_text();
                let chords: Vec<Chord> = self.config.keymap.keys(row).iter().filter(works).copied().collect();
                (!chords.is_empty()).then(|| (fitting_keys(&chords, key_columns), row.help.to_owned()))
            });
            push_section(&mut lines, &group.name().to_uppercase(), texts, text_columns);
        }
        if typing {
            return lines;
        }
        let custom = self.commands_in(contexts).map(|custom| (custom.key.to_string(), custom.name.to_string()));
        let custom = custom.filter(|(key, name)| matches(&format!("{key} {name}")));
        push_section(&mut lines, "CUSTOM COMMANDS", custom, text_columns);
        if contexts.iter().any(|context| matches!(context, Context::Jobs | Context::Detail | Context::AllJobs)) {
            let symbols = job_symbols().filter(|(symbol, text)| matches(&format!("{symbol} {text} symbol")));
            push_section(&mut lines, "SYMBOLS IN THE JOBS LIST", symbols, text_columns);
        }
        let topics = TOPICS.chunks(TOPICS_PER_LINE).map(topic_names).filter(|names| matches(&format!("guide {names}")));
        push_section(&mut lines, "GUIDE: docdeck help TOPIC", topics.map(|names| (String::new(), names)), text_columns);
        lines
    }

    /// Returns the text of a binding that a search is compared with: all keys, including keys that don't fit on screen,
    /// the help text, and the names of the action and of its group.
    fn searched_text(&self, row: &Binding) -> String {
        let keys: Vec<String> = self.config.keymap.keys(row).iter().map(ToString::to_string).collect();
        format!("{} {} {} {}", keys.join(" "), row.help, row.action.config_name(), row.action.group().name())
    }

    /// Returns the help, if it is the topmost dialog.
    pub(super) fn help_on_top(&mut self) -> Option<&mut Help> {
        match self.dialogs.last_mut() {
            Some(Dialog::Help(help)) => Some(help),
            _ => None,
        }
    }
}

/// Whether a text input has the focus in this context.
fn is_text_context(context: Context) -> bool {
    use Context as C;
    matches!(
        context,
        C::Editor
            | C::BatchText
            | C::Picker
            | C::Palette
            | C::Input
            | C::Filter
            | C::Calendar
            | C::CalendarLine
            | C::WelcomeText
    )
}

/// Returns every symbol of the jobs list with its meaning.
fn job_symbols() -> impl Iterator<Item = (String, String)> {
    let states = JobState::ALL.into_iter().map(|state| {
        let (word, meaning) = state.word_and_meaning();
        (state.symbol().to_owned(), format!("{word}: {meaning}"))
    });
    ROW_MARKS.into_iter().map(|(mark, meaning)| (mark.to_owned(), meaning.to_owned())).chain(states)
}

fn topic_names(topics: &[Topic]) -> String {
    topics.iter().map(|topic| topic.name).collect::<Vec<_>>().join(", ")
}

fn push_section(lines: &mut Vec<HelpLine>, name: &str, rows: impl Iterator<Item = (String, String)>, width: usize) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    if !lines.is_empty() {
        lines.push(HelpLine::Gap);
    }
    lines.push(HelpLine::Heading(name.to_owned()));
    for (mut keys, text) in rows {
        for part in wrap(&text, width, 4).0 {
            lines.push(HelpLine::Key(std::mem::take(&mut keys), part));
        }
    }
}

/// Returns as many keys as fit into this width, at least the first one.
fn fitting_keys(chords: &[Chord], columns: usize) -> String {
    let mut out = String::new();
    for chord in chords.iter().map(ToString::to_string) {
        if out.is_empty() {
            out = chord;
        } else if out.width() + 2 + chord.width() <= columns {
            out = format!("{out}  {chord}");
        } else {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::tui::jobs::tests::at;
    use crate::tui::keymap::{Action, BINDINGS, Edit};
    use crate::tui::{AppConfig, Msg};
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    const GUIDE: &str = "GUIDE: docdeck help TOPIC";

    #[test]
    fn every_help_text_fits_one_line_of_80_columns() {
        let width = 78 - max_key_column_width(78) - GAPS;
        for row in BINDINGS {
            assert!(row.help.width() <= width, "{} cells are too many: {}", row.help.width(), row.help);
        }
    }

    fn app(size: (u16, u16)) -> App {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        App::new(AppConfig { size, ..AppConfig::new(scope, utc) }, at(0)).0
    }

    fn press(app: &mut App, code: KeyCode) {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        app.update(Msg::Input(Event::Key(key)), at(0));
    }

    fn type_in(app: &mut App, text: &str) {
        text.chars().for_each(|c| press(app, KeyCode::Char(c)));
    }

    /// Returns the keys and texts of the help, which must be the topmost dialog.
    fn listed_keys_and_texts(app: &App) -> Vec<(String, String)> {
        let Some(Dialog::Help(help)) = app.dialogs.last() else { panic!("no help") };
        let lines = app.help_lines(help, 80).into_iter();
        let rows = lines.filter_map(|line| match line {
            HelpLine::Key(keys, text) => Some((keys, text)),
            HelpLine::Gap | HelpLine::Heading(_) => None,
        });
        rows.collect()
    }

    #[test]
    fn a_search_filters_the_lines_and_esc_clears_the_search_before_it_closes_the_help() {
        let mut app = app((80, 24));
        press(&mut app, KeyCode::Char('?'));
        let all = listed_keys_and_texts(&app).len();
        type_in(&mut app, "/LAST mark");
        let found = listed_keys_and_texts(&app);
        assert!(!found.is_empty() && found.len() < all);
        for (keys, text) in &found {
            let line = format!("{keys} {text}").to_lowercase();
            assert!(line.contains("last") && line.contains("mark"), "{line}");
        }
        press(&mut app, KeyCode::Enter);
        press(&mut app, KeyCode::Char('j'));
        assert_eq!(listed_keys_and_texts(&app), found, "the search stays, and keys move again");
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed_keys_and_texts(&app).len(), all);
        type_in(&mut app, "/q?1");
        assert_eq!(app.dialogs.len(), 1, "letters of shortcuts are typed");
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed_keys_and_texts(&app).len(), all);
        press(&mut app, KeyCode::Esc);
        assert!(app.dialogs.is_empty());
    }

    #[test]
    fn a_search_also_finds_keys_that_are_not_shown_for_lack_of_space() {
        let mut app = app((40, 12));
        press(&mut app, KeyCode::Char('?'));
        type_in(&mut app, "/f2");
        assert_eq!(listed_keys_and_texts(&app).len(), 1);
    }

    #[test]
    fn keys_that_would_type_text_are_not_listed_for_a_text_input() {
        let app = crate::tui::finish_alerts::tests::app(Vec::new());
        let keys = |contexts: &[Context]| {
            let lines = app.help_lines(&Help::new(contexts.to_vec()), 120).into_iter();
            let keys = lines.filter_map(|line| match line {
                HelpLine::Key(keys, _) if !keys.is_empty() => Some(keys),
                _ => None,
            });
            keys.collect::<Vec<_>>()
        };
        let typing = keys(&[Context::Editor, Context::Text, Context::Everywhere]);
        assert!(typing.iter().any(|keys| keys.contains("Ctrl-S")), "{typing:?}");
        assert!(!typing.iter().any(|keys| ["1", "q", "?"].contains(&keys.as_str())), "{typing:?}");
        assert!(keys(&[Context::Jobs, Context::Everywhere]).iter().any(|keys| keys == "1"));
    }

    #[test]
    fn the_help_lists_the_groups_in_order_and_then_every_symbol_of_the_jobs_list() {
        let app = crate::tui::finish_alerts::tests::app(Vec::new());
        let lines = app.help_lines(&Help::new(vec![Context::Jobs, Context::Lists, Context::Everywhere]), 120);
        let headings: Vec<&str> = lines
            .iter()
            .filter_map(|line| match line {
                HelpLine::Heading(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let wanted = ["ACT", "FIND", "ORGANISE", "QUEUE", "NAVIGATE", "DOCDECK", "SYMBOLS IN THE JOBS LIST", GUIDE];
        assert_eq!(headings, wanted);
        let last = lines.iter().rev().take_while(|line| **line != HelpLine::Heading(GUIDE.to_owned()));
        assert_eq!(last.count(), TOPICS.len().div_ceil(TOPICS_PER_LINE), "all topics are named");
        for state in JobState::ALL {
            let (word, meaning) = state.word_and_meaning();
            let line = HelpLine::Key(state.symbol().to_owned(), format!("{word}: {meaning}"));
            assert!(lines.contains(&line), "{line:?}");
        }
        let views = app.help_lines(&Help::new(vec![Context::Views, Context::Lists, Context::Everywhere]), 120);
        assert!(
            !views.contains(&HelpLine::Heading("SYMBOLS IN THE JOBS LIST".to_owned())),
            "that screen has no symbols"
        );
    }

    #[test]
    fn keys_are_never_truncated() {
        let delete = BINDINGS.iter().find(|row| row.action == Action::Edit(Edit::DeleteWordBack)).expect("it has keys");
        let all: Vec<String> = delete.keys.iter().map(ToString::to_string).collect();
        assert_eq!(fitting_keys(delete.keys, 24), all[..2].join("  "));
        assert_eq!(fitting_keys(delete.keys, 10), all[0]);
    }
}
