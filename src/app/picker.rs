//! A layer to choose a text from: prompts that were sent, templates, drafts. Typed words narrow it. What happens to the
//! chosen one is decided in `write`.

use super::scroll;
use super::text_input::TextInput;
use crate::model::failure::Failure;
use crate::model::prompt::DraftSlot;
use crate::model::text::CleanText;

/// Characters of a text in which typed words are looked for.
const SOUGHT: usize = 4000;
/// Longest title.
const TITLE: usize = 200;

/// What is chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picking {
    /// Prompts that were sent before.
    History,
    Templates,
    Drafts,
}

/// How far the reading of the entries is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerLoad {
    Waiting,
    Done,
    Failed(CleanText),
}

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerEntry {
    /// Its first line.
    pub title: CleanText,
    /// Where it comes from, where that is worth a word.
    pub note: CleanText,
    pub text: String,
    /// Where it belongs, if it is a draft.
    pub slot: Option<DraftSlot>,
    sought: String,
}

impl PickerEntry {
    /// An entry whose title is the text's first line.
    pub fn new(text: String, note: CleanText, slot: Option<DraftSlot>) -> Self {
        let title = CleanText::title(&text, TITLE);
        let head: String = text.chars().take(SOUGHT).collect();
        let sought = format!("{note} {head}").to_lowercase();
        Self { title, note, text, slot, sought }
    }
}

/// The layer.
#[derive(Debug)]
pub struct Picker {
    pub picking: Picking,
    /// What is typed to narrow it.
    pub filter: TextInput,
    pub reading: PickerLoad,
    entries: Vec<PickerEntry>,
    /// Places of the entries that the typed words leave.
    shown: Vec<usize>,
    selected: usize,
    top: usize,
}

impl Picking {
    /// What stands over the list while nothing is typed. A demo keeps nothing on disk.
    pub fn invitation(self, demo: bool) -> &'static str {
        match self {
            Self::Drafts if demo => "Not sent yet, kept as long as the demo runs.",
            Self::Drafts => "Not sent yet, kept on disk.",
            Self::History | Self::Templates => "Type words to narrow it.",
        }
    }
}

impl Picker {
    /// Waits for its entries.
    pub fn new(picking: Picking) -> Self {
        Self {
            picking,
            filter: TextInput::line(""),
            reading: PickerLoad::Waiting,
            entries: Vec::new(),
            shown: Vec::new(),
            selected: 0,
            top: 0,
        }
    }

    /// Whether characters typed narrow it.
    pub fn takes_text(&self) -> bool {
        self.picking != Picking::Drafts
    }

    /// Takes its entries, or why there are none. The selection stays at its place.
    pub fn take(&mut self, entries: Result<Vec<PickerEntry>, Failure>) {
        match entries {
            Ok(entries) => {
                self.entries = entries;
                self.reading = PickerLoad::Done;
            }
            Err(failure) => self.reading = PickerLoad::Failed(failure.sentence),
        }
        self.narrow();
    }

    /// Keeps the entries in which every typed word stands, whatever the case.
    pub fn narrow(&mut self) {
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |entry: &PickerEntry| words.iter().all(|word| entry.sought.contains(word));
        let places = self.entries.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(place, _)| place);
        self.shown = places.collect();
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
    }

    /// How many there are in all, and how many the typed words leave.
    pub fn counts(&self) -> (usize, usize) {
        (self.entries.len(), self.shown.len())
    }

    /// The chosen entry.
    pub fn selected(&self) -> Option<&PickerEntry> {
        self.shown.get(self.selected).and_then(|&place| self.entries.get(place))
    }

    /// The visible entries, each with whether it is the chosen one.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&PickerEntry, bool)> {
        let window = self.shown.iter().enumerate().skip(self.top).take(rows);
        window.filter_map(|(at, &place)| Some((self.entries.get(place)?, at == self.selected)))
    }

    /// Entries below the visible ones.
    pub fn hidden_below(&self, rows: usize) -> usize {
        self.shown.len().saturating_sub(self.top + rows)
    }

    /// Moves the choice.
    pub fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.shown.len());
        self.keep_in_sight(rows);
    }

    /// Keeps the chosen entry in sight.
    pub fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.shown.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;

    fn picker(texts: &[&str]) -> Picker {
        let mut picker = Picker::new(Picking::History);
        picker.take(Ok(texts
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
    fn every_typed_word_has_to_stand_somewhere_in_the_text() {
        let mut picker = picker(&["Fix links\nunder /api", "Translate /billing", "Fix the SSO page"]);
        assert_eq!(typed(&mut picker, "FIX"), ["Fix links", "Fix the SSO page"]);
        assert_eq!(typed(&mut picker, "api fix"), ["Fix links"]);
        assert_eq!(typed(&mut picker, "nothing"), Vec::<String>::new());
        assert_eq!(picker.selected(), None);
        assert_eq!(typed(&mut picker, "").len(), 3);
    }

    #[test]
    fn the_choice_stays_among_what_is_left() {
        let mut picker = picker(&["a", "b", "ab"]);
        picker.move_to(|_, total| total - 1, 2);
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        assert_eq!(picker.visible(2).filter(|(_, chosen)| *chosen).count(), 1);
        typed(&mut picker, "b");
        assert_eq!(picker.selected().map(|entry| entry.text.as_str()), Some("ab"));
        typed(&mut picker, "a");
        picker.take(Err(Failure::new(FailureKind::Store, "No.")));
        assert_eq!(picker.reading, PickerLoad::Failed(CleanText::line("No.")));
    }
}
