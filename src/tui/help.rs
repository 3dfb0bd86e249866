//! The help. It has the keys that work now, by group, the symbols of the screen, and the topics of the guide. The lines
//! are generated from the tables that drawing and dispatch use. A search filters the lines.
//!
//! ```text
//! ─ Help: jobs ──────────────────────────── keys that work now ─
//!  Jobs                            Move
//!   Enter  open the job's details   j  k   down, up
//! ─ guide: docdeck help jobs ───────────────────────── 12 more ↓ ─
//! ```

use super::analytics::AnalyticsTab;
use super::component::prelude::*;
use super::draw::cursor;
use super::draw::text::{TextRow, align_left, truncate};
use super::format::capitalized;
use super::geometry::MIN_COLUMNS_SIDE_BY_SIDE;
use super::jobs::list_draw::symbol_style;
use super::keymap::{Binding, COMBINED_ACTIONS, Chord, KeyGroup};
use super::wrap::wrap;
use crate::model::analytics::needs_work::ProblemSignal;
use crate::model::guide::TOPICS;
use crate::model::job_state::{JobState, MARKED_SYMBOL, NEEDS_YOU_SYMBOL, UNSEEN_SYMBOL};
use crate::model::pull_request::PullRequestFact;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::more_below_text;
use crate::tui::geometry::row_capacity;
use crate::tui::widgets::text_input::TextInput;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

/// The minimum number of columns of the screen at which the rules above and below the help contain notes.
const MIN_COLUMNS_WITH_NOTES: u16 = 60;
/// The number of cells before the keys plus the number of cells between the keys and their help texts.
const GAP_CELLS_AROUND_KEYS: usize = 4;
/// The maximum width of the column of keys.
const MAX_KEY_WIDTH: usize = 12;
/// The maximum width of the keys of actions that share a line.
const MAX_COMBINED_KEYS_WIDTH: usize = 10;
/// The number of guide topics on one line.
const TOPICS_PER_LINE: usize = 3;

#[derive(Debug)]
pub struct Help {
    /// The contexts that were active when the help was opened.
    contexts: &'static [Context],
    /// Whether a text input had the focus when the help was opened, so that character keys type text.
    is_over_text_input: bool,
    /// The bindings that had an effect when the help was opened.
    rows: Vec<&'static Binding>,
    /// The texts of the component that the help is about, for actions whose binding has another text.
    texts: Vec<(Action, &'static str)>,
    /// The keys and names of the custom commands that could be run when the help was opened.
    commands: Vec<(String, String)>,
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

    fn fills_screen(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        match action {
            Action::Help | Action::SaveFilter => None,
            Action::Close if self.query.is_some() => Some("show all".into()),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, _cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Help | Action::Quit => return Flow::Close,
            Action::Filter => {
                self.is_typing = true;
                let old = self.query.take().map(|query| query.text()).unwrap_or_default();
                self.query = Some(TextInput::single_line_selected(&old));
            }
            // Moves the focus from the search input to the lines.
            Action::Confirm => {
                self.is_typing = false;
                self.query.take_if(|query| query.is_blank());
            }
            _ => return Flow::Unhandled,
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
        let area = self.lines_area(cx.app.geometry().content);
        let rows = usize::from(area.height);
        let total = max_line_count(&self.columns(cx.app, area.width.into()));
        self.scroll = by.apply(self.scroll, rows, (total + 1).saturating_sub(rows));
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        self.query.as_mut().filter(|_| self.is_typing)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.scroll = 0;
    }

    fn position_text(&self, app: &App) -> String {
        let area = self.lines_area(app.geometry().content);
        let total = max_line_count(&self.columns(app, area.width.into()));
        more_below_text(total.saturating_sub(self.scroll + row_capacity(area)))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let is_narrow = view.app.size.0 < MIN_COLUMNS_WITH_NOTES;
        let note = |text: String| if is_narrow { Line::default() } else { Line::styled(text, theme.muted) };
        let frame_texts = DialogFrame {
            upper_right: note("keys that work now".to_owned()),
            lower_left: note(format!("guide: docdeck help {}", topic(self.contexts))),
            ..DialogFrame::new(view, format!("Help: {}", title(self.contexts)))
        };
        let inner = frame_texts.draw(frame, view, self);
        let body = self.lines_area(inner);
        if let Some(query) = self.query.as_ref().filter(|_| body != inner) {
            draw_line(frame, inner, 0, Line::styled(" /", theme.key));
            let field = Rect { x: inner.x + 2, width: inner.width - 3, height: 1, ..inner };
            if self.is_typing {
                frame.render_widget(query.area(), field);
                cursor::place_cursor_in_input(frame, view, field);
            } else {
                frame.render_widget(Line::styled(truncate(&query.text(), usize::from(field.width)), theme.text), field);
            }
        }
        let (width, rows) = (usize::from(body.width), usize::from(body.height));
        let columns = self.columns(view.app, width);
        let column_width = body.width / u16::try_from(columns.len()).unwrap_or(1);
        for (column, x) in columns.iter().zip((body.x..).step_by(usize::from(column_width.max(1)))) {
            let area = Rect { x, width: column_width, ..body };
            for (n, line) in column.visible_lines(self.scroll, rows).enumerate() {
                draw_line(frame, area, n, help_line(view, line, column.key_width, usize::from(column_width)));
            }
        }
        let total = max_line_count(&columns);
        if total == 0 {
            draw_line(frame, body, 1, Line::styled(truncate("  No matches.", width), theme.muted));
        }
    }
}

fn help_line<'a>(view: View<'_>, line: &HelpLine, key_width: usize, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (keys, style, text) = match line {
        HelpLine::Gap => return Line::default(),
        HelpLine::Heading(text) => return Line::styled(truncate(&format!(" {text}"), width), theme.title),
        HelpLine::Key(keys, text) => (keys, theme.key, text),
        HelpLine::Symbol(symbol, style, text) => (symbol, style.style(view), text),
    };
    let mut row = TextRow::new(width);
    row.push("  ", theme.text).push(align_left(keys, key_width), style);
    row.push("  ", theme.text).push(text.as_str(), theme.text);
    row.line()
}

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    Gap,
    Heading(String),
    /// Keys and what they do. The keys are empty on a continuation line.
    Key(String, String),
    /// A symbol and its meaning.
    Symbol(String, SymbolStyle, String),
}

/// The colour of a symbol in the help. It is the same as on the screen that the help is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolStyle {
    State(JobState),
    PullRequest(PullRequestFact),
    Mark,
    Muted,
    Warning,
    Human,
    Ai,
    Key,
}

impl SymbolStyle {
    fn style(self, view: View<'_>) -> Style {
        let theme = view.theme;
        match self {
            Self::State(state) => symbol_style(view, state),
            Self::PullRequest(fact) => theme.role(fact.color_role()),
            Self::Mark => theme.mark,
            Self::Muted => theme.muted,
            Self::Warning => theme.warning,
            Self::Human => theme.human,
            Self::Ai => theme.ai,
            Self::Key => theme.key,
        }
    }
}

/// A column of lines, with the width of the keys in it.
#[derive(Debug, Default)]
struct HelpColumn {
    key_width: usize,
    lines: Vec<HelpLine>,
}

impl HelpColumn {
    /// Returns the visible lines. A heading is visible only together with its first row.
    fn visible_lines(&self, scroll: usize, rows: usize) -> impl Iterator<Item = &HelpLine> {
        let mut end = self.lines.len().min(scroll + rows);
        let is_heading = |line: &HelpLine| matches!(line, HelpLine::Heading(_));
        if end < self.lines.len() && end.checked_sub(1).and_then(|last| self.lines.get(last)).is_some_and(is_heading) {
            end -= 1;
        }
        self.lines.iter().take(end).skip(scroll)
    }
}

fn max_line_count(columns: &[HelpColumn]) -> usize {
    columns.iter().map(|column| column.lines.len()).max().unwrap_or(0)
}

/// Returns the name of the screen or dialog that the help is about.
fn title(contexts: &[Context]) -> &'static str {
    match contexts.first() {
        // Only the log has no context of its own.
        Some(Context::Lists) | None => "log",
        Some(context) => context.title(),
    }
}

/// Returns the topic of the guide that is about the screen or dialog.
fn topic(contexts: &[Context]) -> &'static str {
    match contexts.first() {
        Some(
            Context::Jobs
            | Context::Detail
            | Context::AllJobs
            | Context::Resolve
            | Context::PullRequest
            | Context::Changes
            | Context::Review,
        ) => "jobs",
        Some(Context::Editor | Context::Picker | Context::Drafts | Context::BatchText | Context::Batch) => "prompts",
        Some(
            Context::Views
            | Context::Analytics
            | Context::Calendar
            | Context::CalendarInput
            | Context::PageDetail
            | Context::RowDetail
            | Context::Trend
            | Context::Movers
            | Context::Export
            | Context::CachedRanges,
        ) => "analytics",
        Some(Context::Profiles | Context::Welcome | Context::WelcomeText) => "configuration",
        _ => "shortcuts",
    }
}

/// The rows below a heading.
struct HelpSection {
    heading: String,
    rows: Vec<HelpRow>,
}

/// Keys and what they do, or a symbol and its meaning.
#[derive(Default)]
struct HelpRow {
    /// All keys; as many as fit are shown, at least the first one.
    keys: Vec<String>,
    /// The colour of a symbol; `None` for keys.
    style: Option<SymbolStyle>,
    text: String,
    /// An additional text that is searched, besides the keys, the text and the heading.
    extra_search_text: String,
}

impl Help {
    /// Creates the help for the topmost dialog or screen.
    pub(super) fn new(app: &App) -> Self {
        let contexts = app.contexts();
        let keymap = &app.config.keymap;
        let is_over_text_input = app.takes_text();
        // In a text input, plain letters are typed, so they don't trigger the bindings of other contexts.
        let has_key = |row: &&Binding| usable_keys(app, contexts, is_over_text_input, row).next().is_some();
        let is_possible = |row: &Binding| app.footer_label_of(row).map(drop);
        let mut rows: Vec<_> =
            keymap.active_bindings_with(contexts, is_possible).map(|(row, ())| row).filter(has_key).collect();
        rows.sort_by_key(|row| !matches!(row.action, Action::Open | Action::Confirm));
        let text = |row: &&Binding| Some((row.action, app.top_component()?.help_text(row.action)?));
        let texts = rows.iter().filter_map(text).collect();
        let commands = app.runnable_commands().filter(|_| !is_over_text_input);
        let commands = commands.map(|custom| (custom.key.to_string(), custom.name.to_string())).collect();
        Self { contexts, is_over_text_input, rows, texts, commands, scroll: 0, query: None, is_typing: false }
    }

    /// Returns the area of the lines. During a search, the search input takes the first row of the inner area, if there
    /// is space for it.
    fn lines_area(&self, inner: Rect) -> Rect {
        if self.query.is_none() || inner.width <= 3 || inner.height <= 1 {
            return inner;
        }
        Rect { y: inner.y + 1, height: inner.height - 1, ..inner }
    }

    fn text_of(&self, binding: &Binding) -> &'static str {
        let text = self.texts.iter().find(|(action, _)| *action == binding.action);
        text.map_or(binding.help, |(_, text)| text)
    }

    /// Returns the possible actions of a group with their keys. Some actions share a row.
    fn rows_of(&self, app: &App, group: KeyGroup) -> Vec<HelpRow> {
        let keys = |row: &Binding| -> Vec<String> {
            let keys = usable_keys(app, self.contexts, self.is_over_text_input, row);
            keys.map(ToString::to_string).collect()
        };
        let row_of = |context, action| self.rows.iter().find(|row| (row.context, row.action) == (context, action));
        let combined = COMBINED_ACTIONS.iter().filter_map(|(context, actions, text)| {
            let rows: Vec<&Binding> =
                actions.iter().map(|action| row_of(*context, *action).copied()).collect::<Option<_>>()?;
            let first: Vec<String> = rows.iter().filter_map(|row| keys(row).into_iter().next()).collect();
            let first = first.join("  ");
            (first.width() <= MAX_COMBINED_KEYS_WIDTH).then_some((rows, first, *text))
        });
        let combined: Vec<_> = combined.collect();
        let row = |rows: &[&Binding], keys, text: &str| HelpRow {
            keys,
            text: text.to_owned(),
            extra_search_text: rows.iter().map(|row| searched_text(app, row)).collect::<Vec<_>>().join(" "),
            ..HelpRow::default()
        };
        let of_group = self.rows.iter().filter(|row| row.action.group() == group);
        let rows = of_group.filter_map(|binding| match combined.iter().find(|(rows, ..)| rows.contains(binding)) {
            None => Some(row(&[*binding], keys(binding), self.text_of(binding))),
            Some((rows, keys, text)) if rows.first() == Some(binding) => Some(row(rows, vec![keys.clone()], text)),
            Some(_) => None,
        });
        rows.collect()
    }

    /// Returns the sections: first what the screen can do, then moving, docdeck itself, the symbols and the guide.
    fn sections(&self, app: &App) -> Vec<HelpSection> {
        let (mut actions, mut others) = (Vec::new(), Vec::new());
        for group in KeyGroup::ALL {
            let heading = group.heading().map_or_else(|| capitalized(title(self.contexts)), str::to_owned);
            let sections = if matches!(group, KeyGroup::Move | KeyGroup::Program) { &mut others } else { &mut actions };
            sections.push(HelpSection { heading, rows: self.rows_of(app, group) });
        }
        let plain = |keys: Vec<String>, text: &str| HelpRow { keys, text: text.to_owned(), ..HelpRow::default() };
        let commands = self.commands.iter().map(|(key, name)| plain(vec![key.clone()], name)).collect();
        actions.push(HelpSection { heading: "Custom commands".to_owned(), rows: commands });
        let symbols = symbols(app, self.contexts).into_iter();
        let symbols = symbols.map(|(symbol, style, text)| HelpRow {
            keys: vec![symbol.to_owned()],
            style: Some(style),
            text,
            extra_search_text: "symbol".to_owned(),
        });
        others.push(HelpSection { heading: "Symbols".to_owned(), rows: symbols.collect() });
        let weights = signal_weight_help_lines(app, self.contexts).map(|text| plain(Vec::new(), &text)).collect();
        others.push(HelpSection { heading: "Score of a page".to_owned(), rows: weights });
        let topics = TOPICS.chunks(TOPICS_PER_LINE);
        let topics = topics.map(|topics| topics.iter().map(|topic| topic.name).collect::<Vec<_>>().join(", "));
        let topics = topics.map(|names| plain(Vec::new(), &names)).collect();
        others.push(HelpSection { heading: "Guide: docdeck help TOPIC".to_owned(), rows: topics });
        actions.extend(others);
        actions
    }

    /// Returns the columns of the help: two of about the same height if the screen is wide enough.
    fn columns(&self, app: &App, width: usize) -> Vec<HelpColumn> {
        let sections = self.sections(app);
        if app.size.0 < MIN_COLUMNS_SIDE_BY_SIDE {
            return vec![self.column(&sections, width)];
        }
        // The heights don't depend on the search, so that the sections stay in their column.
        let height = |sections: &[HelpSection]| sections.iter().map(|section| section.rows.len() + 2).sum::<usize>();
        let splits = (0..=sections.len()).filter_map(|at| sections.split_at_checked(at));
        let (left, right) =
            splits.min_by_key(|(left, right)| height(left).max(height(right))).unwrap_or((&sections, &[]));
        vec![self.column(left, width / 2), self.column(right, width / 2)]
    }

    /// Returns the sections as lines of this width. During a search, leaves out the rows that lack a word of the
    /// search, and the sections without a matching row.
    fn column(&self, sections: &[HelpSection], width: usize) -> HelpColumn {
        let words = self.query.as_ref().map(|words| words.text().to_lowercase()).unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        // The width doesn't depend on the search, so that the column stays in place.
        let keys = sections.iter().flat_map(|section| &section.rows).filter_map(|row| row.keys.first());
        let key_width = keys.map(|key| key.width()).max().unwrap_or(0).min(MAX_KEY_WIDTH);
        let text_width = width.saturating_sub(key_width + GAP_CELLS_AROUND_KEYS);
        let mut lines = Vec::new();
        for HelpSection { heading, rows } in sections {
            let is_found = |row: &&HelpRow| {
                let searched = format!("{} {} {} {heading}", row.keys.join(" "), row.text, row.extra_search_text);
                let searched = searched.to_lowercase();
                words.iter().all(|word| searched.contains(word))
            };
            let found: Vec<HelpLine> =
                rows.iter().filter(is_found).flat_map(|row| row.lines(key_width, text_width)).collect();
            if found.is_empty() {
                continue;
            }
            lines.extend((!lines.is_empty()).then_some(HelpLine::Gap));
            lines.push(HelpLine::Heading(heading.clone()));
            lines.extend(found);
        }
        HelpColumn { key_width, lines }
    }

    /// Returns the lines of the help in one column of this width.
    #[cfg(test)]
    pub(super) fn lines(&self, app: &App, width: usize) -> Vec<HelpLine> {
        self.column(&self.sections(app), width).lines
    }
}

impl HelpRow {
    fn lines(&self, key_width: usize, text_width: usize) -> Vec<HelpLine> {
        let mut keys = fitting_keys(&self.keys, key_width);
        let parts = wrap(&self.text, text_width, 4).0.into_iter();
        let lines = parts.map(|part| match self.style {
            Some(style) => HelpLine::Symbol(std::mem::take(&mut keys), style, part),
            None => HelpLine::Key(std::mem::take(&mut keys), part),
        });
        lines.collect()
    }
}

/// Returns the keys of a binding that run its action. While a text input has the focus, some keys type text instead.
fn usable_keys<'a>(
    app: &'a App,
    contexts: &[Context],
    is_over_text_input: bool,
    row: &'a Binding,
) -> impl Iterator<Item = &'a Chord> + use<'a> {
    let is_own = contexts.first() == Some(&row.context);
    let keys = app.config.keymap.keys(row).iter();
    keys.filter(move |chord| !is_over_text_input || is_own || !chord.types_text())
}

/// Returns the text by which a search finds a binding, in addition to its help text.
fn searched_text(app: &App, row: &Binding) -> String {
    let keys: Vec<String> = app.config.keymap.keys(row).iter().map(ToString::to_string).collect();
    format!("{} {} {}", keys.join(" "), row.help, row.action.config_name())
}

/// Returns the symbols that the screen or dialog draws, with their meanings. Leaves out those that a legend explains.
fn symbols(app: &App, contexts: &[Context]) -> Vec<(&'static str, SymbolStyle, String)> {
    match contexts.first() {
        Some(Context::Jobs | Context::Detail | Context::AllJobs) => job_symbols(app.active_list().is_flat()),
        Some(Context::Views) => view_symbols(app),
        Some(Context::Analytics)
            if app.analytics.tab == AnalyticsTab::NeedsWork && app.analytics.needs_work.comparison.is_some() =>
        {
            CHANGE_WORDS.map(|(word, meaning)| (word, SymbolStyle::Muted, meaning.to_owned())).into()
        }
        _ => Vec::new(),
    }
}

/// Returns lines about how the pages that need work are ranked. Empty if another tab is shown.
fn signal_weight_help_lines(app: &App, contexts: &[Context]) -> impl Iterator<Item = String> {
    let is_shown = contexts.first() == Some(&Context::Analytics) && app.analytics.tab == AnalyticsTab::NeedsWork;
    let weight = |signal: ProblemSignal| format!("{}: weight {}", signal.label(), app.config.weights.get(signal));
    let sum = "score: weighted average of the page's shares of the site's totals".to_owned();
    let lines = std::iter::once(sum).chain(ProblemSignal::ALL.map(weight)).collect::<Vec<_>>();
    lines.into_iter().filter(move |_| is_shown)
}

/// Returns the symbols of the jobs list. `is_flat` is true if the list has no group headings.
fn job_symbols(is_flat: bool) -> Vec<(&'static str, SymbolStyle, String)> {
    let mut states: Vec<(JobState, Vec<String>)> = Vec::new();
    for state in JobState::ALL {
        let (word, meaning) = (state.screen_word(), state.word_and_meaning().1);
        let text = match state {
            JobState::Gone => format!("{word}: {meaning}"),
            JobState::Other | JobState::NoStatus => meaning.to_owned(),
            _ => word.to_owned(),
        };
        // States that share a symbol share a line.
        match states.iter_mut().find(|(other, _)| other.symbol() == state.symbol()) {
            Some((_, texts)) => texts.push(text),
            None => states.push((state, vec![text])),
        }
    }
    let mut symbols: Vec<_> = states
        .into_iter()
        .map(|(state, texts)| (state.symbol(), SymbolStyle::State(state), texts.join(", ")))
        .collect();
    for fact in PullRequestFact::ALL {
        let text = fact.word_and_meaning().1;
        match symbols.iter_mut().find(|(symbol, ..)| *symbol == fact.symbol()) {
            Some((_, _, texts)) => texts.push_str(&format!(", or {text}")),
            None => symbols.push((fact.symbol(), SymbolStyle::PullRequest(fact), text.to_owned())),
        }
    }
    let where_else = if is_flat { "" } else { " (also in the header)" };
    symbols.push((NEEDS_YOU_SYMBOL, SymbolStyle::Warning, format!("needs you{where_else}")));
    symbols.push((UNSEEN_SYMBOL, SymbolStyle::Muted, "finished, not seen yet".to_owned()));
    symbols.push((MARKED_SYMBOL, SymbolStyle::Mark, "marked".to_owned()));
    symbols.push(("◆", SymbolStyle::Muted, "service ready (in the header); blinks while jobs are checked".to_owned()));
    symbols
}

/// The words that the column of changes shows instead of a percentage, each with its meaning. The second meaning also
/// names the filter word `gone`, which finds the pages without views in the range on screen.
const CHANGE_WORDS: [(&str, &str); 2] =
    [("new", "no views in the compared range"), ("▼ to 0", "no views in this range (filter: gone)")];

fn view_symbols(app: &App) -> Vec<(&'static str, SymbolStyle, String)> {
    let views = &app.views;
    let has_trend = app.shows_trend_above_table();
    let [new, gone] = CHANGE_WORDS;
    let symbols = [
        (true, "█", SymbolStyle::Human, "human views"),
        (true, "▒", SymbolStyle::Ai, "AI views"),
        (has_trend, "╱╲", SymbolStyle::Muted, "today so far"),
        (has_trend && views.is_comparing(), "░", SymbolStyle::Muted, "previous period"),
        (views.is_comparing(), "▲", SymbolStyle::Muted, "more than in the compared range"),
        (views.is_comparing(), "▼", SymbolStyle::Muted, "fewer than in the compared range"),
        (views.is_comparing(), "!", SymbolStyle::Warning, "large change of a page with many views"),
        (views.is_comparing(), new.0, SymbolStyle::Muted, new.1),
        (views.is_comparing(), gone.0, SymbolStyle::Muted, gone.1),
        (views.table.is_tree(), "▸", SymbolStyle::Key, "closed folder"),
        (views.table.is_tree(), "▾", SymbolStyle::Key, "open folder"),
        (true, "≠", SymbolStyle::Warning, "human and AI don't add up to the total"),
        (true, "?", SymbolStyle::Muted, "unknown or not loaded"),
        (true, "–", SymbolStyle::Muted, "no value"),
        (true, MARKED_SYMBOL, SymbolStyle::Mark, "marked"),
    ];
    let drawn = symbols.into_iter().filter(|(is_drawn, ..)| *is_drawn);
    drawn.map(|(_, symbol, style, text)| (symbol, style, text.to_owned())).collect()
}

/// Returns as many keys as fit into this width, at least the first one.
fn fitting_keys(keys: &[String], columns: usize) -> String {
    let mut out = String::new();
    for key in keys {
        if out.is_empty() {
            out.clone_from(key);
        } else if out.width() + 2 + key.width() <= columns {
            out = format!("{out}  {key}");
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

    #[test]
    fn every_help_text_fits_one_line_of_80_columns() {
        let width = 78 - MAX_KEY_WIDTH - GAP_CELLS_AROUND_KEYS;
        for row in BINDINGS {
            assert!(row.help.width() <= width, "{} cells are too many: {}", row.help.width(), row.help);
        }
    }

    #[test]
    fn a_heading_is_not_the_last_visible_line() {
        let key = HelpLine::Key("x".to_owned(), "do it".to_owned());
        let lines = vec![key.clone(), HelpLine::Heading("Move".to_owned()), key];
        let column = HelpColumn { key_width: 1, lines };
        assert_eq!([1, 2, 3].map(|rows| column.visible_lines(0, rows).count()), [1, 1, 3]);
        assert_eq!([1, 2].map(|rows| column.visible_lines(1, rows).count()), [0, 2]);
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
            _ => None,
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

    fn headings(app: &App) -> Vec<String> {
        let lines = app.top::<Help>().expect("the help").lines(app, 80).into_iter();
        lines.filter_map(|line| if let HelpLine::Heading(text) = line { Some(text) } else { None }).collect()
    }

    #[test]
    fn keys_that_would_type_text_are_not_listed_for_a_text_input() {
        let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
        press(&mut app, KeyCode::Char('n'));
        press(&mut app, KeyCode::F(1));
        let typing = listed_keys_and_texts(&app);
        assert!(typing.iter().any(|(keys, _)| keys.starts_with("Ctrl-S")), "{typing:?}");
        assert!(!typing.iter().any(|(keys, _)| keys.starts_with(['1', 'q', '?'])), "{typing:?}");
        assert_eq!(headings(&app), ["Editor", "Edit text", "Move", "docdeck", "Guide: docdeck help TOPIC"]);
    }

    #[test]
    fn only_what_is_possible_now_is_listed() {
        use crate::model::remote_job::Status;
        use crate::tui::finish_alerts::tests::app;
        use crate::tui::jobs::tests::row;
        let listed = |mut app: App| {
            press(&mut app, KeyCode::Char('?'));
            let texts = listed_keys_and_texts(&app).into_iter().map(|(_, text)| text);
            (texts.collect::<Vec<_>>().join("\n"), headings(&app))
        };
        let (texts, headings) = listed(app(vec![row(1, Status::Completed)]));
        assert!(texts.contains("open the job") && texts.contains("edit the note"), "{texts}");
        for impossible in ["open the pull request", "retry a failed job", "queued prompt", "all profiles"] {
            assert!(!texts.contains(impossible), "{impossible}: {texts}");
        }
        assert_eq!(headings, ["Jobs", "Find", "Label", "Move", "docdeck", "Symbols", "Guide: docdeck help TOPIC"]);
        let (texts, _) = listed(app(Vec::new()));
        assert!(texts.contains("start a new job") && !texts.contains("edit the note"), "{texts}");
    }

    #[test]
    fn related_actions_share_a_line() {
        let app = crate::tui::finish_alerts::tests::app(Vec::new());
        let help = Help::new(&app);
        let has = |keys: &str| {
            help.lines(&app, 80).iter().any(|line| matches!(line, HelpLine::Key(shown, _) if shown == keys))
        };
        assert!(has("1  2  3") && has("j  k") && has("PgDn  PgUp"));
        for (context, actions, _) in COMBINED_ACTIONS {
            for action in *actions {
                assert!(BINDINGS.iter().any(|row| (row.context, row.action) == (*context, *action)), "{action:?}");
            }
        }
    }

    #[test]
    fn the_symbols_are_those_of_the_screen() {
        let mut app = crate::tui::finish_alerts::tests::app(Vec::new());
        let symbols = |app: &App| {
            let lines = Help::new(app).lines(app, 80).into_iter();
            let symbols = lines.filter_map(|line| match line {
                HelpLine::Symbol(symbol, ..) => Some(symbol),
                _ => None,
            });
            symbols.collect::<Vec<_>>()
        };
        let on_jobs = symbols(&app);
        let explained = JobState::ALL.map(JobState::symbol).into_iter();
        for wanted in explained.chain(PullRequestFact::ALL.map(PullRequestFact::symbol)) {
            assert_eq!(on_jobs.iter().filter(|symbol| *symbol == wanted).count(), 1, "{wanted}");
        }
        press(&mut app, KeyCode::Char('2'));
        let on_views = symbols(&app);
        assert!(on_views.contains(&"█".to_owned()) && !on_views.contains(&"◐".to_owned()), "{on_views:?}");
        for symbol in on_jobs.iter().chain(&on_views) {
            let has_ascii_form = |c: char| crate::model::ascii::ascii_symbol(c.encode_utf8(&mut [0; 4])).is_some();
            assert!(symbol.chars().all(|c| c.is_ascii() || has_ascii_form(c)), "{symbol}");
        }
        press(&mut app, KeyCode::Char('3'));
        assert!(symbols(&app).is_empty());
    }

    #[test]
    fn keys_are_never_truncated() {
        let delete = BINDINGS.iter().find(|row| row.action == Action::Edit(Edit::DeleteWordBack)).expect("it has keys");
        let all: Vec<String> = delete.keys.iter().map(ToString::to_string).collect();
        assert_eq!(fitting_keys(&all, 24), all[..2].join("  "));
        assert_eq!(fitting_keys(&all, 10), all[0]);
    }
}
