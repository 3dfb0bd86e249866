//! The help as lines: the keys that hold at a moment, in groups, the user's own commands, and the symbols of the jobs list,
//! each from the table that is drawn and dispatched by; narrowed by words. How lines look is not decided here.

use super::App;
use super::dialog::Dialog;
use super::geometry::Geometry;
use super::keymap::{Binding, Chord, Context, KeyGroup};
use super::text_input::TextInput;
use super::wrap::wrap;
use crate::model::job_state::{JobState, ROW_MARKS};
use unicode_width::UnicodeWidthStr;

/// Cells before the keys and between them and what they do.
const GAPS: usize = 3;

/// The list of keys, and what narrows it.
#[derive(Debug)]
pub struct Help {
    /// The contexts of the moment it was asked for.
    pub contexts: Vec<Context>,
    /// First visible line.
    pub scroll: usize,
    /// What is looked for; none while every line is listed.
    words: Option<TextInput>,
    typing: bool,
}

impl Help {
    pub(super) fn new(contexts: Vec<Context>) -> Self {
        Self { contexts, scroll: 0, words: None, typing: false }
    }

    /// What is looked for, in a line of its own; none while every line is listed.
    pub fn words(&self) -> Option<&TextInput> {
        self.words.as_ref()
    }

    /// Whether it is being typed.
    pub fn is_typing(&self) -> bool {
        self.typing
    }

    /// Rows of its lines.
    pub fn rows(&self, g: Geometry) -> usize {
        g.help_rows().saturating_sub(usize::from(self.words.is_some()))
    }

    pub(super) fn find(&mut self) {
        self.typing = true;
        let old = self.words.take().map(|words| words.text()).unwrap_or_default();
        self.words = Some(TextInput::selected_line(&old));
    }

    /// Goes on reading the lines that were found.
    pub(super) fn keep(&mut self) {
        self.typing = false;
        self.words.take_if(|words| words.is_blank());
    }

    /// Lists every line again; false when it did already.
    pub(super) fn step_back(&mut self) -> bool {
        self.typing = false;
        self.scroll = 0;
        self.words.take().is_some()
    }

    pub(super) fn type_with(&mut self, change: impl FnOnce(&mut TextInput) -> bool) {
        if let (true, Some(words)) = (self.typing, &mut self.words) {
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
    /// Keys, none on a line that goes on with the text of the one before, and what they do.
    /// The same for a symbol and its meaning.
    Key(String, String),
}

/// Most cells that the keys take in a box of so many columns.
fn key_columns(columns: usize) -> usize {
    if columns < 60 { 10 } else { 24 }
}

impl App {
    /// Cells that the keys of the help take in so many columns: as many as its widest, whatever is looked for.
    pub fn help_key_columns(&self, help: &Help, columns: usize) -> usize {
        let most = key_columns(columns);
        let rows = self.config.keymap.rows(&help.contexts).filter(|row| self.is_offered(row.action));
        let widest = rows.map(|row| keys(self.config.keymap.keys(row), most).width()).max().unwrap_or(0);
        let own = self.own_commands(&help.contexts).map(|own| own.key.to_string().width()).max().unwrap_or(0);
        widest.max(own).min(most)
    }

    /// The help on its contexts in so many columns: all of it, or what holds each of its words.
    pub fn help_lines(&self, help: &Help, columns: usize) -> Vec<HelpLine> {
        let words = help.words().map(|words| words.text().to_lowercase()).unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let holds = |all: &str| {
            let all = all.to_lowercase();
            words.iter().all(|word| all.contains(word))
        };
        let mut lines = Vec::new();
        let contexts = help.contexts.as_slice();
        let key_columns = self.help_key_columns(help, columns);
        let room = columns.saturating_sub(key_columns + GAPS);
        let typing = contexts.first().is_some_and(|context| takes_text(*context));
        for group in KeyGroup::ALL {
            let in_group = |row: &Binding| row.action.group() == group && self.is_offered(row.action);
            let rows = self.config.keymap.rows_that(contexts, in_group).filter(|row| holds(&self.searched_text(row)));
            let texts = rows.filter_map(|row| {
                // Where text is typed, plain letters of the contexts below are text.
                let works = |chord: &&Chord| !typing || contexts.first() == Some(&row.context) || !chord.types_text();
                let chords: Vec<Chord> = self.config.keymap.keys(row).iter().filter(works).copied().collect();
                (!chords.is_empty()).then(|| (keys(&chords, key_columns), row.help.to_owned()))
            });
            section(&mut lines, group.name(), texts, room);
        }
        if typing {
            return lines;
        }
        let own = self.own_commands(contexts).map(|own| (own.key.to_string(), own.name.to_string()));
        let own = own.filter(|(key, name)| holds(&format!("{key} {name}")));
        section(&mut lines, "your commands", own, room);
        if contexts.iter().any(|context| matches!(context, Context::Jobs | Context::Detail | Context::AllJobs)) {
            let symbols = job_symbols().filter(|(symbol, text)| holds(&format!("{symbol} {text} symbol")));
            section(&mut lines, "symbols in the list of jobs", symbols, room);
        }
        lines
    }

    /// The text of a row that is searched: its keys, including those that have no cells, what they do, and its names.
    fn searched_text(&self, row: &Binding) -> String {
        let keys: Vec<String> = self.config.keymap.keys(row).iter().map(ToString::to_string).collect();
        format!("{} {} {} {}", keys.join(" "), row.help, row.action.word(), row.action.group().name())
    }

    /// The help, where it is on top.
    pub(super) fn help_on_top(&mut self) -> Option<&mut Help> {
        match self.dialogs.last_mut() {
            Some(Dialog::Help(help)) => Some(help),
            _ => None,
        }
    }
}

/// Whether characters are typed into what has these keys.
fn takes_text(context: Context) -> bool {
    use Context as C;
    matches!(
        context,
        C::Editor
            | C::BatchText
            | C::Pick
            | C::Palette
            | C::Ask
            | C::Filter
            | C::Calendar
            | C::CalendarLine
            | C::WelcomeText
    )
}

/// Every symbol of a row of the jobs list, with what it means.
fn job_symbols() -> impl Iterator<Item = (String, String)> {
    let states = JobState::ALL.into_iter().map(|state| {
        let (word, meaning) = state.explained();
        (state.symbol().to_owned(), format!("{word}: {meaning}"))
    });
    ROW_MARKS.into_iter().map(|(mark, meaning)| (mark.to_owned(), meaning.to_owned())).chain(states)
}

fn section(lines: &mut Vec<HelpLine>, name: &str, rows: impl Iterator<Item = (String, String)>, room: usize) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    if !lines.is_empty() {
        lines.push(HelpLine::Gap);
    }
    lines.push(HelpLine::Heading(name.to_uppercase()));
    for (mut keys, text) in rows {
        for part in wrap(&text, room, 4).0 {
            lines.push(HelpLine::Key(std::mem::take(&mut keys), part));
        }
    }
}

/// As many whole keys as fit, the first come what may.
fn keys(chords: &[Chord], columns: usize) -> String {
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
    use crate::app::jobs::tests::at;
    use crate::app::keymap::{Action, BINDINGS, Edit};
    use crate::app::{AppConfig, Msg};
    use crate::model::endpoint::Scope;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    #[test]
    fn every_key_is_explained_in_one_line_of_a_usual_terminal() {
        let room = 78 - key_columns(78) - GAPS;
        for row in BINDINGS {
            assert!(row.help.width() <= room, "{} cells are too many: {}", row.help.width(), row.help);
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

    /// What the help on top lists: keys and what they do.
    fn listed(app: &App) -> Vec<(String, String)> {
        let Some(Dialog::Help(help)) = app.dialogs.last() else { panic!("no help") };
        let lines = app.help_lines(help, 80).into_iter();
        let rows = lines.filter_map(|line| match line {
            HelpLine::Key(keys, text) => Some((keys, text)),
            HelpLine::Gap | HelpLine::Heading(_) => None,
        });
        rows.collect()
    }

    #[test]
    fn typed_words_narrow_it_and_esc_clears_them_before_it_closes() {
        let mut app = app((80, 24));
        press(&mut app, KeyCode::Char('?'));
        let all = listed(&app).len();
        type_in(&mut app, "/LAST mark");
        let found = listed(&app);
        assert!(!found.is_empty() && found.len() < all);
        for (keys, text) in &found {
            let said = format!("{keys} {text}").to_lowercase();
            assert!(said.contains("last") && said.contains("mark"), "{said}");
        }
        press(&mut app, KeyCode::Enter);
        press(&mut app, KeyCode::Char('j'));
        assert_eq!(listed(&app), found, "kept, and keys move again");
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed(&app).len(), all);
        type_in(&mut app, "/q?1");
        assert_eq!(app.dialogs.len(), 1, "letters of commands are typed");
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed(&app).len(), all);
        press(&mut app, KeyCode::Esc);
        assert!(app.dialogs.is_empty());
    }

    #[test]
    fn a_key_is_found_by_its_name_also_where_it_has_no_room() {
        let mut app = app((40, 12));
        press(&mut app, KeyCode::Char('?'));
        type_in(&mut app, "/f2");
        assert_eq!(listed(&app).len(), 1);
    }

    #[test]
    fn where_text_is_typed_no_key_is_listed_that_would_be_typed() {
        let app = crate::app::finish_alerts::tests::app(Vec::new());
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
    fn it_lists_its_groups_in_their_order_and_then_every_symbol_of_the_list() {
        let app = crate::app::finish_alerts::tests::app(Vec::new());
        let lines = app.help_lines(&Help::new(vec![Context::Jobs, Context::Lists, Context::Everywhere]), 120);
        let headings: Vec<&str> = lines
            .iter()
            .filter_map(|line| match line {
                HelpLine::Heading(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let wanted = ["ACT", "FIND", "ORGANISE", "QUEUE", "NAVIGATE", "DOCDECK", "SYMBOLS IN THE LIST OF JOBS"];
        assert_eq!(headings, wanted);
        for state in JobState::ALL {
            let (word, meaning) = state.explained();
            let line = HelpLine::Key(state.symbol().to_owned(), format!("{word}: {meaning}"));
            assert!(lines.contains(&line), "{line:?}");
        }
        let views = app.help_lines(&Help::new(vec![Context::Views, Context::Lists, Context::Everywhere]), 120);
        assert!(
            !views.contains(&HelpLine::Heading("SYMBOLS IN THE LIST OF JOBS".to_owned())),
            "none are on that screen"
        );
    }

    #[test]
    fn keys_are_named_whole_or_not_at_all() {
        let delete = BINDINGS.iter().find(|row| row.action == Action::Edit(Edit::DeleteWordBack)).expect("it has keys");
        let all: Vec<String> = delete.keys.iter().map(ToString::to_string).collect();
        assert_eq!(keys(delete.keys, 24), all[..2].join("  "));
        assert_eq!(keys(delete.keys, 10), all[0]);
    }
}
