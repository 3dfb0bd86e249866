//! A list to choose a text from: earlier prompts, templates or drafts, narrowed by typing. `prompt_sources` uses the
//! chosen text.

use super::scroll;
use super::text_input::TextInput;
use crate::model::failure::Failure;
use crate::model::prompt::DraftSlot;
use crate::model::text::CleanText;

/// The number of characters of a text that are searched.
const SEARCHED_CHARS: usize = 4000;
/// The maximal length of a title.
const MAX_TITLE_CHARS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerKind {
    /// Prompts that were sent before.
    History,
    Templates,
    Drafts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerLoad {
    Waiting,
    Done,
    Failed(CleanText),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerEntry {
    /// The first line of the text.
    pub title: CleanText,
    /// Where the text comes from, or empty.
    pub note: CleanText,
    pub text: String,
    /// The draft's slot, if it is a draft.
    pub slot: Option<DraftSlot>,
    searched: String,
}

impl PickerEntry {
    /// Creates an entry whose title is the first line of the text.
    pub fn new(text: String, note: CleanText, slot: Option<DraftSlot>) -> Self {
        let title = CleanText::title(&text, MAX_TITLE_CHARS);
        let head: String = text.chars().take(SEARCHED_CHARS).collect();
        let searched = format!("{note} {head}").to_lowercase();
        Self { title, note, text, slot, searched }
    }
}

#[derive(Debug)]
pub struct Picker {
    pub kind: PickerKind,
    /// The typed filter.
    pub filter: TextInput,
    pub load: PickerLoad,
    entries: Vec<PickerEntry>,
    /// Indexes of the entries that match the typed words.
    shown: Vec<usize>,
    selected: usize,
    top: usize,
}

impl PickerKind {
    /// The text above the list while nothing is typed. The demo saves nothing on disk.
    pub fn hint(self, demo: bool) -> &'static str {
        match self {
            Self::Drafts if demo => "Not sent yet, kept until the demo ends.",
            Self::Drafts => "Not sent yet, saved on disk.",
            Self::History | Self::Templates => "Type to search.",
        }
    }
}

impl Picker {
    /// Creates a picker that waits for its entries.
    pub fn new(picking: PickerKind) -> Self {
        Self {
            kind: picking,
            filter: TextInput::line(""),
            load: PickerLoad::Waiting,
            entries: Vec::new(),
            shown: Vec::new(),
            selected: 0,
            top: 0,
        }
    }

    /// Whether it can be narrowed by typing.
    pub fn takes_text(&self) -> bool {
        self.kind != PickerKind::Drafts
    }

    /// Sets the entries, or the reason why there are none. The selection stays at its index.
    pub fn set_entries(&mut self, entries: Result<Vec<PickerEntry>, Failure>) {
        match entries {
            Ok(entries) => {
                self.entries = entries;
                self.load = PickerLoad::Done;
            }
            Err(failure) => self.load = PickerLoad::Failed(failure.message),
        }
        self.narrow();
    }

    /// Keeps the entries that contain every typed word, ignoring case.
    pub fn narrow(&mut self) {
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |entry: &PickerEntry| words.iter().all(|word| entry.searched.contains(word));
        let indexes = self.entries.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(index, _)| index);
        self.shown = indexes.collect();
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
    }

    /// The number of entries, and of those that match.
    pub fn counts(&self) -> (usize, usize) {
        (self.entries.len(), self.shown.len())
    }

    pub fn selected(&self) -> Option<&PickerEntry> {
        self.shown.get(self.selected).and_then(|&index| self.entries.get(index))
    }

    /// The visible entries, each with whether it is selected.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&PickerEntry, bool)> {
        let window = self.shown.iter().enumerate().skip(self.top).take(rows);
        window.filter_map(|(at, &index)| Some((self.entries.get(index)?, at == self.selected)))
    }

    /// The number of entries below the visible ones.
    pub fn hidden_below(&self, rows: usize) -> usize {
        self.shown.len().saturating_sub(self.top + rows)
    }

    /// Moves the selection.
    pub fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.shown.len());
        self.keep_selected_visible(rows);
    }

    /// Scrolls until the selection is visible.
    pub fn keep_selected_visible(&mut self, rows: usize) {
        self.top = scroll::scroll_to_show(self.top, self.selected, rows, self.shown.len());
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

    fn typed(picker: &mut Picker, text: &str) -> Vec<String> {
        picker.filter = TextInput::line(text);
        picker.narrow();
        picker.visible(99).map(|(entry, _)| entry.title.to_string()).collect()
    }

    #[test]
    fn every_typed_word_must_occur_in_the_text() {
        let mut picker = picker(&["Fix links\nunder /api", "Translate /billing", "Fix the SSO page"]);
        assert_eq!(typed(&mut picker, "FIX"), ["Fix links", "Fix the SSO page"]);
        assert_eq!(typed(&mut picker, "api fix"), ["Fix links"]);
        assert_eq!(typed(&mut picker, "nothing"), Vec::<String>::new());
        assert_eq!(picker.selected(), None);
        assert_eq!(typed(&mut picker, "").len(), 3);
    }

    #[test]
    fn the_selection_stays_within_the_matches() {
        let mut picker = picker(&["a", "b", "ab"]);
        picker.move_to(|_, total| total - 1, 2);
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        assert_eq!(picker.visible(2).filter(|(_, chosen)| *chosen).count(), 1);
        typed(&mut picker, "b");
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        typed(&mut picker, "a");
        picker.set_entries(Err(Failure::new(FailureKind::Store, "No.")));
        assert_eq!(picker.load, PickerLoad::Failed(CleanText::line("No.")));
    }
}
