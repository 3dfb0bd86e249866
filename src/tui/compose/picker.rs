//! The dialog that lists earlier prompts, templates or drafts to choose from: a search field, the titles, and a preview
//! of the selected text. Typing narrows the list.
//!
//! ```text
//! ─ Templates ───────────────────────────────────────── 7 ─
//!  Type to search.
//!  template       text
//! ▌fix-page       Fix {{path}}
//!  check-links    Check every link under {{path}}
//! ─ fix-page ──────────────────────────────────────────────
//!  Fix {{path}} …
//! ```

use super::about_pages::template_sort_key;
use super::editor::Editor;
use super::templates::fill_template;
use crate::model::failure::Failure;
use crate::model::prompt::DraftTarget;
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::draw::boxes::{draw_line, underline_field};
use crate::tui::draw::cursor;
use crate::tui::draw::rules::{DialogFrame, draw_rule};
use crate::tui::draw::text::truncate;
use crate::tui::format::more_below_text;
use crate::tui::format::{format_count, plural};
use crate::tui::geometry::{Geometry, inside_margin, without_top_rows};
use crate::tui::widgets::list_state::ListState;
use crate::tui::widgets::table::{Column, ListCell, Table};
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{PromptsEffect, PromptsMsg, Template};
use ratatui::widgets::{Paragraph, Wrap};

/// A search considers only this many characters from the start of a text.
const MAX_SEARCHED_CHARS: usize = 4000;
/// The maximum number of characters in a title.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum number of characters of the selected text that are laid out. No screen has space for more.
const MAX_PREVIEW_CHARS: usize = 8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerKind {
    /// Prompts that were sent before.
    History,
    Templates,
    Drafts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PickerLoad {
    Waiting,
    Done,
    Failed(CleanText),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerEntry {
    /// The title, taken from the start of the text.
    pub title: CleanText,
    /// A short description of the text, such as the name of a template or the number of lines. May be empty.
    note: CleanText,
    text: String,
    /// What the draft is for. `None` if the text is not a draft.
    draft_target: Option<DraftTarget>,
    /// The note and the start of the text in lower case, for the search.
    search_text: String,
}

impl PickerEntry {
    /// Creates an entry whose title is taken from the start of the text.
    pub fn new(text: String, note: CleanText, draft_target: Option<DraftTarget>) -> Self {
        let title = CleanText::title(&text, MAX_TITLE_CHARS);
        let head: String = text.chars().take(MAX_SEARCHED_CHARS).collect();
        let searched = format!("{note} {head}").to_lowercase();
        Self { title, note, text, draft_target, search_text: searched }
    }
}

#[derive(Debug)]
pub struct Picker {
    pub kind: PickerKind,
    /// The typed words.
    filter: TextInput,
    load: PickerLoad,
    entries: Vec<PickerEntry>,
    /// The indexes of the entries that match the typed words.
    matches: Vec<usize>,
    list: ListState,
}

impl PickerKind {
    /// Returns the text above the list while nothing is typed. In the demo, the text doesn't mention the disk, because
    /// the demo saves nothing.
    pub(super) fn hint(self, is_demo: bool) -> &'static str {
        match self {
            Self::Drafts if is_demo => "Not sent yet, kept until the demo ends.",
            Self::Drafts => "Not sent yet, saved on disk.",
            Self::History | Self::Templates => "Type to search.",
        }
    }
}

impl Picker {
    /// Creates a picker that waits for its entries.
    pub fn new(kind: PickerKind) -> Self {
        Self {
            kind,
            filter: TextInput::single_line(""),
            load: PickerLoad::Waiting,
            entries: Vec::new(),
            matches: Vec::new(),
            list: ListState::default(),
        }
    }

    /// Sets the entries, or the reason why they could not be loaded. The selected index stays the same if possible.
    pub fn set_entries(&mut self, entries: Result<Vec<PickerEntry>, Failure>) {
        match entries {
            Ok(entries) => {
                self.entries = entries;
                self.load = PickerLoad::Done;
            }
            Err(failure) => self.load = PickerLoad::Failed(failure.message),
        }
        self.filter_entries();
    }

    /// Shows only the entries that contain every typed word, ignoring case.
    fn filter_entries(&mut self) {
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |entry: &PickerEntry| words.iter().all(|word| entry.search_text.contains(word));
        let indexes = self.entries.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(index, _)| index);
        self.matches = indexes.collect();
        self.list.set_len(self.matches.len());
    }

    /// Returns the number of all entries, and the number of entries that match the typed words.
    fn entry_and_match_counts(&self) -> (usize, usize) {
        (self.entries.len(), self.matches.len())
    }

    pub fn selected(&self) -> Option<&PickerEntry> {
        self.matches.get(self.list.selected()).and_then(|&index| self.entries.get(index))
    }

    /// Returns the visible entries, each with whether it is selected.
    fn visible(&self, rows: usize) -> impl Iterator<Item = (&PickerEntry, bool)> {
        self.list.visible(self.matches.iter().filter_map(|index| self.entries.get(*index)), rows)
    }
    /// Shows the templates, filled in for the job or pages that the editor below is about.
    fn show_templates(&mut self, mut templates: Vec<Template>, cx: &Cx<'_>) {
        let values = cx.app.template_values(cx.now);
        let pages = cx.app.find::<Editor>().map_or(0, |editor| editor.pages.len());
        if pages > 0 {
            templates.sort_by_key(|template| template_sort_key(&template.text, pages));
        }
        let entry = |template: Template| PickerEntry::new(fill_template(&template.text, &values), template.name, None);
        self.set_entries(Ok(templates.into_iter().map(entry).collect()));
    }

    /// Opens the selected entry if it is a draft, otherwise inserts its text into the editor.
    fn use_selected(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(entry) = self.selected() else { return Flow::Handled };
        if let Some(draft_target) = entry.draft_target {
            cx.app.open_draft(draft_target, cx.now);
        } else if let Some(editor) = cx.app.find_mut::<Editor>() {
            match self.kind {
                PickerKind::Templates => editor.insert_template(&entry.note, &entry.text, cx.now),
                _ if editor.is_unchanged() => editor.change(cx.now, |input| input.replace(&entry.text)),
                _ => editor.change(cx.now, |input| input.paste(&entry.text)),
            }
            // The notice names the key that goes to the next blank. The first blank of an inserted template is already
            // selected, so the notice is useful only if the template has a second one.
            if editor.input.template_blank_count() > usize::from(self.kind == PickerKind::Templates) {
                let next = cx.app.key_label(Context::Editor, Action::NextBlank);
                cx.notify(Severity::Info, &format!("{next} goes to the next blank."));
            }
        }
        Flow::Close
    }

    fn ask_to_delete_draft(&self, cx: &mut Cx<'_>) {
        let Some((entry, draft_target)) = self.selected().and_then(|entry| Some((entry, entry.draft_target?))) else {
            return;
        };
        let characters = plural(entry.text.chars().count(), "character");
        let text = format!("Delete this draft ({}, {characters})? This can't be undone.", entry.note);
        cx.open(ConfirmDialog { text, on_yes: ConfirmAction::DeleteDraft(draft_target) });
    }

    fn name(&self) -> &'static str {
        match self.kind {
            PickerKind::History => "Sent prompts",
            PickerKind::Templates => "Templates",
            PickerKind::Drafts => "Drafts",
        }
    }

    /// Returns the number of entries as text and, during a search, how many of them match: `3 of 12`. Empty until the
    /// entries are loaded.
    fn count_text(&self) -> String {
        let (all, left) = self.entry_and_match_counts();
        match &self.load {
            PickerLoad::Done if all == left => format_count(all),
            PickerLoad::Done => format!("{} of {}", format_count(left), format_count(all)),
            PickerLoad::Waiting | PickerLoad::Failed(_) => String::new(),
        }
    }
}

fn history_entry(text: String) -> PickerEntry {
    let lines = text.lines().count();
    PickerEntry::new(text, CleanText::line(&plural(lines.max(1), "line")), None)
}

/// The minimum size of the dialog with headings above its columns.
const MIN_SIZE_WITH_HEADINGS: (u16, u16) = (60, 12);
/// The minimum number of rows of the list.
const MIN_LIST_ROWS: u16 = 3;

fn has_headings(g: Geometry) -> bool {
    g.content.width >= MIN_SIZE_WITH_HEADINGS.0 && g.content.height >= MIN_SIZE_WITH_HEADINGS.1
}

/// Returns the area of the list, between the search field and the preview. `entries` is the number of all entries, not
/// only of those that match the search, so that the height stays the same during a search. The area is at most half of
/// the dialog.
pub(in crate::tui) fn entry_list_area(g: Geometry, entries: usize) -> Rect {
    let lines = without_top_rows(g.content, 1 + u16::from(has_headings(g)));
    let half = (lines.height.saturating_sub(1) / 2).max(1).min(lines.height);
    Rect { height: half.min(u16::try_from(entries).unwrap_or(u16::MAX).max(MIN_LIST_ROWS)), ..lines }
}

fn entry_table(kind: PickerKind, width: usize) -> Table<ListCell<PickerEntry>> {
    type C = Column<ListCell<PickerEntry>>;
    let is_wide = width >= usize::from(MIN_SIZE_WITH_HEADINGS.0);
    let title: ListCell<PickerEntry> = |row, width| row.cell(truncate(row.item.title.as_str(), width));
    let note: ListCell<PickerEntry> = |row, width| row.muted_cell(truncate(row.item.note.as_str(), width));
    let selection_mark = C::left_aligned("", 1, |row, _| row.selection_mark());
    let columns = match kind {
        PickerKind::History => {
            vec![
                selection_mark,
                C::flexible("prompt", 8, title),
                C::right_aligned("length", 10, note).with_gap_before(2),
            ]
        }
        // A narrow terminal has no space for the names of the templates, which matter less than their texts.
        PickerKind::Templates if !is_wide => vec![selection_mark, C::flexible("text", 8, title)],
        PickerKind::Templates => {
            vec![
                selection_mark,
                C::left_aligned("template", 20, note).with_max_width(28),
                C::flexible("text", 8, title).with_gap_before(2),
            ]
        }
        PickerKind::Drafts => {
            let width = if is_wide { 28 } else { 18 };
            vec![
                selection_mark,
                C::left_aligned("draft", width, note).with_max_width(40),
                C::flexible("text", 8, title).with_gap_before(2),
            ]
        }
    };
    // One cell at the right stays blank.
    Table::new(columns, width.saturating_sub(1))
}

impl App {
    /// Opens the picker of earlier prompts or templates.
    pub(in crate::tui) fn open_picker(&mut self, kind: PickerKind, effects: &mut Vec<Effect>) {
        effects.push(if kind == PickerKind::History {
            Effect::Prompts(PromptsEffect::LoadHistory)
        } else {
            Effect::Prompts(PromptsEffect::LoadTemplates)
        });
        self.open(Picker::new(kind));
    }
}

impl Component for Picker {
    fn contexts(&self) -> &'static [Context] {
        match self.kind {
            PickerKind::Drafts => &[Context::Drafts, Context::Lists, Context::Everywhere],
            _ => &[Context::Picker, Context::Text, Context::Everywhere],
        }
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::Confirm => self.selected().is_some(),
            Action::DeleteDraft => app.draft_count() > 0,
            Action::Close if self.kind == PickerKind::Templates => return Some("continue without template".into()),
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => return self.use_selected(cx),
            Action::DeleteDraft => self.ask_to_delete_draft(cx),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        let entries = self.entries.len();
        Some((&mut self.list, entry_list_area(app.geometry(), entries)))
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        self.takes_text().then_some(&mut self.filter)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.filter_entries();
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Prompts(PromptsMsg::HistoryLoaded(result)) if self.kind == PickerKind::History => {
                self.set_entries(result.map(|prompts| prompts.into_iter().map(history_entry).collect()));
            }
            Msg::Prompts(PromptsMsg::TemplatesLoaded(templates)) if self.kind == PickerKind::Templates => {
                self.show_templates(templates, cx)
            }
            msg => return Err(msg),
        }
        Ok(Flow::Handled)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let g = view.app.geometry();
        let note = Line::styled(self.count_text(), theme.muted);
        let inner = DialogFrame { upper_right: note, ..DialogFrame::new(view, self.name()) }.draw(frame, view, self);
        let text = inside_margin(inner);
        let width = usize::from(inner.width);
        draw_search(frame, view, self, text);
        let lines = entry_list_area(g, self.entries.len());
        let rows = usize::from(lines.height).max(1);
        let table = entry_table(self.kind, width);
        if has_headings(g) && !self.matches.is_empty() {
            draw_line(frame, inner, 1, table.headings(theme.muted));
        }
        for (n, (entry, chosen)) in self.visible(rows).enumerate() {
            draw_line(frame, lines, n, table.row(view, entry, chosen));
        }
        if self.takes_text() {
            let field = Rect { height: text.height.min(1), ..text };
            underline_field(frame, view, Rect { width: field.width.min(MAX_SEARCH_FIELD_COLUMNS), ..field });
            cursor::place_cursor_in_corner(frame, field);
            if !self.filter.is_blank() {
                cursor::place_cursor_in_input(frame, view, field);
            }
        }
        let position = Line::styled(more_below_text(self.list.hidden_below(rows)), theme.muted);
        // The note of the selected entry is shown above its preview. The note of a sent prompt is left out, because it
        // is only the number of its lines.
        let entry = self.selected().filter(|_| self.kind != PickerKind::History);
        let name = entry.map(|entry| truncate(entry.note.as_str(), width / 2)).unwrap_or_default();
        let rule = Rect { y: lines.bottom(), height: 1, ..inner };
        draw_rule(frame, view, rule, Line::styled(name, theme.text), position);
        let below = (rule.bottom() - inner.y).min(inner.height);
        let preview = Rect { y: text.y + below, height: inner.height - below, ..text };
        if let Some(entry) = self.selected() {
            let head: String = entry.text.chars().take(MAX_PREVIEW_CHARS).collect();
            let shown = Paragraph::new(CleanText::block(&head).to_string()).wrap(Wrap { trim: false });
            frame.render_widget(shown, preview);
        }
    }
}

const MAX_SEARCH_FIELD_COLUMNS: u16 = 60;

/// Draws the search field, and a message if the list is empty.
fn draw_search(frame: &mut Frame<'_>, view: View<'_>, picker: &Picker, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    let put_text = |frame: &mut Frame<'_>, row: usize, text: &str, style| {
        draw_line(frame, area, row, Line::styled(truncate(text, width), style));
    };
    let hint = picker.kind.hint(view.app.config.is_demo);
    if picker.takes_text() && !picker.filter.is_blank() {
        frame.render_widget(picker.filter.area(), Rect { height: area.height.min(1), ..area });
    } else {
        put_text(frame, 0, hint, theme.muted);
    }
    let empty_text = match (&picker.load, picker.entry_and_match_counts(), picker.kind) {
        (PickerLoad::Waiting, ..) => Some("Loading…"),
        (PickerLoad::Done, (0, _), PickerKind::History) => Some("No sent prompts yet."),
        (PickerLoad::Done, (0, _), PickerKind::Templates) => Some("No templates."),
        (PickerLoad::Done, (0, _), PickerKind::Drafts) => Some("No drafts."),
        (PickerLoad::Done, (_, 0), _) => Some("No matches."),
        _ => None,
    };
    if let Some(text) = empty_text {
        put_text(frame, 1, text, theme.muted);
    }
    if let PickerLoad::Failed(reason) = &picker.load {
        put_text(frame, 1, reason.as_str(), theme.bad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;

    fn picker(texts: &[&str]) -> Picker {
        let mut picker = Picker::new(PickerKind::History);
        picker.set_entries(Ok(texts
            .iter()
            .map(|text| PickerEntry::new((*text).to_owned(), CleanText::default(), None))
            .collect()));
        picker
    }

    fn titles_after_typing(picker: &mut Picker, text: &str) -> Vec<String> {
        picker.filter = TextInput::single_line(text);
        picker.filter_entries();
        picker.visible(99).map(|(entry, _)| entry.title.to_string()).collect()
    }

    #[test]
    fn every_typed_word_must_occur_in_the_text() {
        let mut picker = picker(&["Fix links\nunder /api", "Translate /billing", "Fix the SSO page"]);
        assert_eq!(titles_after_typing(&mut picker, "FIX"), ["Fix links", "Fix the SSO page"]);
        assert_eq!(titles_after_typing(&mut picker, "api fix"), ["Fix links"]);
        assert_eq!(titles_after_typing(&mut picker, "nothing"), Vec::<String>::new());
        assert_eq!(picker.selected(), None);
        assert_eq!(titles_after_typing(&mut picker, "").len(), 3);
    }

    #[test]
    fn the_selection_stays_within_the_matches() {
        let mut picker = picker(&["a", "b", "ab"]);
        picker.list.move_to(|_, total| total - 1, 2);
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        assert_eq!(picker.visible(2).filter(|(_, chosen)| *chosen).count(), 1);
        titles_after_typing(&mut picker, "b");
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        titles_after_typing(&mut picker, "a");
        picker.set_entries(Err(Failure::new(FailureKind::Store, "No.")));
        assert_eq!(picker.load, PickerLoad::Failed(CleanText::line("No.")));
    }
}
