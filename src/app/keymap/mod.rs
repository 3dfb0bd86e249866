//! The one table of key bindings. Dispatch, footer and help all read it; nothing else knows a key.
//!
//! `bindings` holds the rows, `names` what they are made of, `groups` how actions are grouped and found; here is the table
//! as it holds for a user.

mod bindings;
mod groups;
mod names;

pub use super::chord::Chord;
pub use bindings::BINDINGS;
pub use groups::KeyGroup;
pub use names::{Action, Context, Edit, PreviousPeriod};

use std::collections::HashMap;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub context: Context,
    pub keys: &'static [Chord],
    pub action: Action,
    /// A word or two for the footer; empty where the footer leaves it out.
    pub hint: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
}

/// The table as it holds for a user: some rows have keys of the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    changed: HashMap<(Context, Action), Vec<Chord>>,
}

impl Keymap {
    /// Gives a row of the table these keys instead of its own; none takes them away. False where there is no such row.
    pub fn change(&mut self, context: Context, action: &str, keys: Vec<Chord>) -> bool {
        let row = BINDINGS.iter().find(|row| row.context == context && row.action.word() == action);
        let row = row.map(|row| self.changed.insert((context, row.action), keys));
        row.is_some()
    }

    /// The keys of a row.
    pub fn keys<'a>(&'a self, row: &'a Binding) -> &'a [Chord] {
        self.changed.get(&(row.context, row.action)).map_or(row.keys, Vec::as_slice)
    }

    /// The key to tell people of for an action: the first one that it has in these contexts. None where the user took all
    /// of them away.
    pub fn key(&self, contexts: &[Context], action: Action) -> Option<Chord> {
        let rows = contexts
            .iter()
            .filter_map(|context| BINDINGS.iter().find(|row| row.context == *context && row.action == action));
        rows.filter_map(|row| self.keys(row).first().copied()).next()
    }

    /// What a sentence says for pressing an action's key there: the key, else the action's name, by which the palette
    /// finds it and the configuration gives it one.
    pub fn key_label(&self, context: Context, action: Action) -> String {
        let key = self.key(&[context, Context::Lists, Context::Everywhere], action);
        key.map_or_else(|| action.word().to_owned(), |chord| chord.to_string())
    }

    /// The action of a key in the first of these contexts that binds it.
    pub fn action(&self, contexts: &[Context], chord: Chord) -> Option<Action> {
        contexts.iter().find_map(|&context| self.binding(context, chord)).map(|row| row.action)
    }

    /// The rows that hold in these contexts and have a key, the most special context first; one whose keys are all taken by
    /// a more special one is left out.
    pub fn rows<'a>(&'a self, contexts: &'a [Context]) -> impl Iterator<Item = &'static Binding> + 'a {
        self.rows_that(contexts, |_| true)
    }

    /// Those among them that are `wanted`: the others are not looked for among the keys of more special contexts.
    pub fn rows_that<'a>(
        &'a self,
        contexts: &'a [Context],
        wanted: impl Fn(&Binding) -> bool + Copy + 'a,
    ) -> impl Iterator<Item = &'static Binding> + 'a {
        contexts.iter().enumerate().flat_map(move |(rank, &context)| {
            BINDINGS.iter().filter(move |row| {
                let shadowed =
                    |chord: &Chord| contexts.iter().take(rank).any(|&above| self.binding(above, *chord).is_some());
                row.context == context && wanted(row) && !self.keys(row).iter().all(shadowed)
            })
        })
    }

    /// The row of a context that has this key.
    pub fn binding(&self, context: Context, chord: Chord) -> Option<&'static Binding> {
        BINDINGS.iter().find(|row| row.context == context && self.keys(row).contains(&chord))
    }

    /// Two rows of a context that have the same key, if there are any.
    pub fn conflict(&self) -> Option<(Chord, &'static Binding, &'static Binding)> {
        let mut seen: HashMap<(Context, Chord), &'static Binding> = HashMap::new();
        BINDINGS.iter().find_map(|row| {
            self.keys(row).iter().find_map(|&chord| {
                let before = seen.insert((row.context, chord), row)?;
                Some((chord, before, row))
            })
        })
    }

    /// A row whose key, given by the user, hides one that holds everywhere, or the other way round: the key, the row, and
    /// the one of everywhere that could not be reached there. Where text is typed, and where only its own keys are asked,
    /// other rules hold.
    pub fn hidden(&self) -> Option<(Chord, &'static Binding, &'static Binding)> {
        let is_apart = |context: Context| {
            context.takes_text() || matches!(context, Context::Everywhere | Context::Question | Context::CalendarLine)
        };
        BINDINGS.iter().filter(|row| !is_apart(row.context)).find_map(|row| {
            self.keys(row).iter().find_map(|&chord| {
                let general = self.binding(Context::Everywhere, chord)?;
                let is_ours = row.keys.contains(&chord) && general.keys.contains(&chord);
                (general.action != row.action && !is_ours).then_some((chord, row, general))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::chord::{ch, key};
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use std::collections::HashSet;

    #[test]
    fn no_key_is_bound_twice_in_a_context() {
        assert!(Keymap::default().conflict().is_none());
        assert_eq!(Keymap::default().hidden(), None);
    }

    #[test]
    fn every_row_has_a_name_of_its_own_in_its_context() {
        let mut seen = HashSet::new();
        for row in BINDINGS {
            assert!(seen.insert((row.context, row.action.word())), "{row:?}");
        }
    }

    #[test]
    fn keys_of_ones_own_take_the_place_of_the_tables() {
        let mut keymap = Keymap::default();
        assert!(keymap.change(Context::Jobs, "new-job", vec![ch('N'), key(KeyCode::F(5))]));
        assert!(keymap.change(Context::Jobs, "note", Vec::new()));
        assert!(!keymap.change(Context::Jobs, "next-page", vec![ch('q')]), "a row of another context");
        assert_eq!(keymap.action(&[Context::Jobs], ch('N')), Some(Action::NewJob));
        assert_eq!(keymap.action(&[Context::Jobs], ch('n')), None);
        assert!(keymap.rows(&[Context::Jobs]).all(|row| row.action != Action::Note), "without a key it is not listed");
        assert_eq!(keymap.conflict(), None);
        keymap.change(Context::Jobs, "tags", vec![ch('N')]);
        let (chord, ..) = keymap.conflict().expect("N twice");
        assert_eq!(chord, ch('N'));
    }

    #[test]
    fn sentences_name_the_key_that_holds_or_else_the_action() {
        let mut keymap = Keymap::default();
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "u");
        assert_eq!(keymap.key_label(Context::Views, Action::Refresh), "r", "a key that holds everywhere");
        keymap.change(Context::Jobs, "undo", vec![key(KeyCode::F(9))]);
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "F9");
        keymap.change(Context::Jobs, "undo", Vec::new());
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "undo");
    }

    #[test]
    fn every_row_has_keys_and_says_what_it_does() {
        for row in BINDINGS {
            assert!(!row.keys.is_empty() && !row.help.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn a_shifted_letter_and_a_control_chord_match_however_the_terminal_reports_them() {
        let shifted = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        let keymap = Keymap::default();
        assert_eq!(keymap.action(&[Context::Lists], Chord::from_event(shifted)), Some(Action::Bottom));
        let control = KeyEvent::new(KeyCode::Char('S'), KeyModifiers::CONTROL);
        assert_eq!(keymap.action(&[Context::Editor], Chord::from_event(control)), Some(Action::Send));
    }

    #[test]
    fn a_key_that_a_special_context_takes_is_not_listed_for_the_general_one() {
        let contexts = [Context::Editor, Context::Everywhere];
        let listed: Vec<Action> = Keymap::default().rows(&contexts).map(|row| row.action).collect();
        assert!(!listed.contains(&Action::Interrupt), "Ctrl-C closes the editor");
    }

    #[test]
    fn every_key_of_the_table_is_read_back_from_what_is_printed() {
        for chord in BINDINGS.iter().flat_map(|row| row.keys) {
            assert_eq!(Chord::parse(&chord.to_string()), Some(*chord), "{chord}");
        }
    }
}
