//! A dialog that lists earlier prompts, templates or drafts to choose from. Typing narrows the list. The module
//! `prompt_sources` handles the choice.

use super::list_state::ListState;
use super::text_input::TextInput;
use crate::model::failure::Failure;
use crate::model::prompt::DraftTarget;
use crate::model::text::CleanText;

/// A search considers only this many characters from the start of a text.
const MAX_SEARCHED_CHARS: usize = 4000;
/// The maximum number of characters in a title.
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
    /// The title, taken from the start of the text.
    pub title: CleanText,
    /// A short description of the text, such as the name of a template or the number of lines. May be empty.
    pub note: CleanText,
    pub text: String,
    /// The slot of the draft. `None` if the text is not a draft.
    pub slot: Option<DraftTarget>,
    /// The note and the start of the text in lower case, for the search.
    search_text: String,
}

impl PickerEntry {
    /// Creates an entry whose title is taken from the start of the text.
    pub fn new(text: String, note: CleanText, slot: Option<DraftTarget>) -> Self {
        let title = CleanText::title(&text, MAX_TITLE_CHARS);
        let head: String = text.chars().take(MAX_SEARCHED_CHARS).collect();
        let searched = format!("{note} {head}").to_lowercase();
        Self { title, note, text, slot, search_text: searched }
    }
}

#[derive(Debug)]
pub struct Picker {
    pub kind: PickerKind,
    /// The typed words.
    pub filter: TextInput,
    pub load: PickerLoad,
    entries: Vec<PickerEntry>,
    /// The indexes of the entries that match the typed words.
    matches: Vec<usize>,
    pub list: ListState,
}

impl PickerKind {
    /// Returns the text above the list while nothing is typed. In the demo, the text doesn't mention the disk, because
    /// the demo saves nothing.
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
    pub fn new(kind: PickerKind) -> Self {
        Self {
            kind,
            filter: TextInput::line(""),
            load: PickerLoad::Waiting,
            entries: Vec::new(),
            matches: Vec::new(),
            list: ListState::default(),
        }
    }

    /// Whether the list can be narrowed by typing.
    pub fn takes_text(&self) -> bool {
        self.kind != PickerKind::Drafts
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
        self.narrow();
    }

    /// Shows only the entries that contain every typed word, ignoring case.
    pub fn narrow(&mut self) {
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |entry: &PickerEntry| words.iter().all(|word| entry.search_text.contains(word));
        let indexes = self.entries.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(index, _)| index);
        self.matches = indexes.collect();
        self.list.set_len(self.matches.len());
    }

    /// Returns the number of all entries, and the number of entries that match the typed words.
    pub fn counts(&self) -> (usize, usize) {
        (self.entries.len(), self.matches.len())
    }

    pub fn selected(&self) -> Option<&PickerEntry> {
        self.matches.get(self.list.selected()).and_then(|&index| self.entries.get(index))
    }

    /// Returns the visible entries, each with whether it is selected.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&PickerEntry, bool)> {
        self.list.visible(self.matches.iter().filter_map(|index| self.entries.get(*index)), rows)
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
        picker.filter = TextInput::line(text);
        picker.narrow();
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
