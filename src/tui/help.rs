//! The help: the current key bindings in groups, the custom commands, the symbols of the jobs list and the topics of
//! the guide. The lines are generated from the tables that drawing and dispatch use. A search filters them.

use super::component::prelude::*;
use super::draw::cursor;
use super::draw::text::{TextRow, fit, left};
use super::geometry::{centered, inside};
use super::keymap::{Binding, Chord, KeyGroup};
use super::wrap::wrap;
use crate::model::guide::{TOPICS, Topic};
use crate::model::job_state::{JobState, ROW_MARKS};
use crate::tui::draw::boxes::{draw_box, draw_line, draw_more_below};
use crate::tui::widgets::text_input::TextInput;
use unicode_width::UnicodeWidthStr;

/// The number of cells before the keys plus the number of cells between the keys and their help texts.
const GAPS: usize = 3;

/// The number of guide topics on one line.
const TOPICS_PER_LINE: usize = 3;

#[derive(Debug)]
pub struct Help {
    /// The contexts that were active when the help was opened.
    contexts: &'static [Context],
    /// The index of the first visible line.
    pub scroll: usize,
    /// The search input, if there is a search.
    query: Option<TextInput>,
    is_typing: bool,
}

impl Component for Help {
    fn contexts(&self) -> &'static [Context] {
        if self.is_typing {
            &[Context::Filter, Context::Text, Context::Everywhere]
        } else {
            &[Context::Help, Context::Lists, Context::Everywhere]
        }
    }

    fn offers(&self, action: Action, _app: &App) -> Option<Label> {
        match action {
            Action::Help | Action::SaveFilter => None,
            Action::Close if self.query.is_some() => Some("show all".into()),
            _ => Some(Label::Default),
        }
    }

    fn act(&mut self, action: Action, _cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Help | Action::Quit => return Flow::Close,
            Action::Filter => {
                self.is_typing = true;
                let old = self.query.take().map(|query| query.text()).unwrap_or_default();
                self.query = Some(TextInput::selected_line(&old));
            }
            // Moves the focus from the search input to the lines.
            Action::Confirm => {
                self.is_typing = false;
                self.query.take_if(|query| query.is_blank());
            }
            _ => return Flow::Pass,
        }
        Flow::Handled
    }

    /// Clears the search. Without a search, closes the help.
    fn close(&mut self, _cx: &mut Cx<'_>) -> Flow {
        self.is_typing = false;
        self.scroll = 0;
        if self.query.take().is_some() { Flow::Handled } else { Flow::Close }
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let area = self.lines_area(inside(self.area(cx.app)));
        let (total, rows) = (self.lines(cx.app, area.width.into()).len(), usize::from(area.height));
        self.scroll = by.apply(self.scroll, rows, (total + 1).saturating_sub(rows));
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        self.query.as_mut().filter(|_| self.is_typing)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.scroll = 0;
    }

    fn area(&self, app: &App) -> Rect {
        let body = app.geometry().body;
        centered(body, 84, body.height)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let area = self.area(view.app);
        let inner = draw_box(frame, area, Line::styled(" Keyboard shortcuts ", theme.title), theme.focus);
        let body = self.lines_area(inner);
        if let Some(query) = self.query.as_ref().filter(|_| body != inner) {
            draw_line(frame, inner, 0, Line::styled(" /", theme.key));
            let field = Rect { x: inner.x + 2, width: inner.width - 3, height: 1, ..inner };
            if self.is_typing {
                frame.render_widget(query.area(), field);
                cursor::place_in_input(frame, view, field);
            } else {
                frame.render_widget(Line::styled(fit(&query.text(), usize::from(field.width)), theme.text), field);
            }
        }
        let (width, rows) = (usize::from(body.width), usize::from(body.height));
        let lines = self.lines(view.app, width);
        let key_columns = self.key_column_width(view.app, width);
        for (n, line) in lines.iter().skip(self.scroll).take(rows).enumerate() {
            draw_line(frame, body, n, help_line(view, line, key_columns, width));
        }
        if lines.is_empty() {
            draw_line(frame, body, 1, Line::styled(fit("  No match.", width), theme.muted));
        }
        draw_more_below(frame, view, area, lines.len().saturating_sub(self.scroll + rows));
    }
}

fn help_line<'a>(view: View<'_>, line: &HelpLine, key_columns: usize, width: usize) -> Line<'a> {
    let theme = view.theme;
    match line {
        HelpLine::Gap => Line::default(),
        HelpLine::Heading(text) => Line::styled(fit(&format!(" {text}"), width), theme.muted),
        HelpLine::Key(keys, text) => {
            let mut row = TextRow::new(width);
            row.push("  ", theme.text).push(left(keys, key_columns), theme.key);
            row.push(" ", theme.text).push(text.as_str(), theme.text);
            row.line()
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

impl Help {
    pub(super) fn new(contexts: &'static [Context]) -> Self {
        Self { contexts, scroll: 0, query: None, is_typing: false }
    }

    /// Returns the area of the lines. The search input takes the first row of the inner area, if there is space for it.
    fn lines_area(&self, inner: Rect) -> Rect {
        if self.query.is_none() || inner.width <= 3 || inner.height <= 1 {
            return inner;
        }
        Rect { y: inner.y + 1, height: inner.height - 1, ..inner }
    }

    /// Returns the width of the column of keys. It doesn't depend on the search, so that the columns stay in place.
    fn key_column_width(&self, app: &App, columns: usize) -> usize {
        let max_width = max_key_column_width(columns);
        let rows = app.config.keymap.active_bindings(self.contexts).filter(|row| app.is_offered(row.action));
        let widest = rows.map(|row| fitting_keys(app.config.keymap.keys(row), max_width).width()).max().unwrap_or(0);
        let custom = app.commands_in(self.contexts).map(|custom| custom.key.to_string().width()).max().unwrap_or(0);
        widest.max(custom).min(max_width)
    }

    /// Returns the lines of the help at this width: all lines or, during a search, the lines that contain every word of
    /// the search.
    pub fn lines(&self, app: &App, columns: usize) -> Vec<HelpLine> {
        let words = self.query.as_ref().map(|words| words.text().to_lowercase()).unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let matches = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut lines = Vec::new();
        let contexts = self.contexts;
        let key_columns = self.key_column_width(app, columns);
        let text_columns = columns.saturating_sub(key_columns + GAPS);
        let typing = contexts.first().is_some_and(|context| is_text_context(*context));
        for group in KeyGroup::ALL {
            let in_group = |row: &Binding| row.action.group() == group && app.is_offered(row.action);
            let rows = app
                .config
                .keymap
                .active_bindings_where(contexts, in_group)
                .filter(|row| matches(&searched_text(app, row)));
            let texts = rows.filter_map(|row| {
                // In a text input, plain letters are typed, so they don't trigger the bindings of other contexts.
                let works = |chord: &&Chord| !typing || contexts.first() == Some(&row.context) || !chord.types_text();
                let chords: Vec<Chord> = app.config.keymap.keys(row).iter().filter(works).copied().collect();
                (!chords.is_empty()).then(|| (fitting_keys(&chords, key_columns), row.help.to_owned()))
            });
            push_section(&mut lines, &group.name().to_uppercase(), texts, text_columns);
        }
        if typing {
            return lines;
        }
        let custom = app.commands_in(contexts).map(|custom| (custom.key.to_string(), custom.name.to_string()));
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
}

/// Returns the text of a binding that a search is compared with: all keys, including keys that don't fit on screen, the
/// help text, and the names of the action and of its group.
fn searched_text(app: &App, row: &Binding) -> String {
    let keys: Vec<String> = app.config.keymap.keys(row).iter().map(ToString::to_string).collect();
    format!("{} {} {} {}", keys.join(" "), row.help, row.action.config_name(), row.action.group().name())
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
        let (word, (_, meaning)) = (state.screen_word(), state.word_and_meaning());
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
    use crate::tui::AppConfig;
    use crate::tui::jobs::tests::at;
    use crate::tui::keymap::{BINDINGS, Edit};
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
        let lines = app.top::<Help>().expect("the help").lines(app, 80).into_iter();
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
        let keys = |contexts: &'static [Context]| {
            let lines = Help::new(contexts).lines(&app, 120).into_iter();
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
        let lines = Help::new(&[Context::Jobs, Context::Lists, Context::Everywhere]).lines(&app, 120);
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
            let (word, (_, meaning)) = (state.screen_word(), state.word_and_meaning());
            let line = HelpLine::Key(state.symbol().to_owned(), format!("{word}: {meaning}"));
            assert!(lines.contains(&line), "{line:?}");
        }
        let views = Help::new(&[Context::Views, Context::Lists, Context::Everywhere]).lines(&app, 120);
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
