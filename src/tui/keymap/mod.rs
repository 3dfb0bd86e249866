//! The table of key bindings. Dispatch, footer, help and command palette all use this table.
//!
//! `bindings` has the default bindings, `names` the contexts and actions, `groups` the groups and synonyms of actions.
//! This module applies the key overrides of the configuration.

mod bindings;
mod groups;
mod names;

pub use super::chord::Chord;
pub use bindings::BINDINGS;
pub(in crate::tui) use groups::COMBINED_ACTIONS;
pub use groups::KeyGroup;
pub use names::{Action, Context, EarlierPeriod, Edit};

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// A row of the table: the keys that run an action in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub context: Context,
    pub keys: &'static [Chord],
    pub action: Action,
    /// One or two words for the footer. Empty if the footer doesn't show the binding.
    pub hint: &'static str,
    /// What the keys do, for the help and the command palette. Starts with a verb in lower case and has no full stop.
    pub help: &'static str,
}

/// The bindings of each context. A frame looks up dozens of keys, and searching the whole table for each key would be
/// slow.
static BINDINGS_BY_CONTEXT: LazyLock<BTreeMap<Context, &'static [Binding]>> = LazyLock::new(|| {
    let groups = BINDINGS.chunk_by(|one, other| one.context == other.context);
    groups.filter_map(|rows| Some((rows.first()?.context, rows))).collect()
});

pub fn bindings_of(context: Context) -> &'static [Binding] {
    BINDINGS_BY_CONTEXT.get(&context).copied().unwrap_or_default()
}

/// The key bindings in use: the default bindings, some with other keys from the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    overrides: HashMap<(Context, Action), Vec<Chord>>,
}

impl Keymap {
    /// Replaces the keys of a binding. If `keys` is empty, no key runs the action. Returns false if the context has no
    /// action with this name.
    pub fn set_keys(&mut self, context: Context, action: &str, keys: Vec<Chord>) -> bool {
        let row = bindings_of(context).iter().find(|row| row.action.has_name(action));
        let row = row.map(|row| self.overrides.insert((context, row.action), keys));
        row.is_some()
    }

    /// Returns the keys of a binding, as configured or by default.
    pub fn keys<'a>(&'a self, row: &'a Binding) -> &'a [Chord] {
        self.overrides.get(&(row.context, row.action)).map_or(row.keys, Vec::as_slice)
    }

    /// Returns the first key of an action in these contexts. `None` if the action has no key in any of them.
    pub fn key(&self, contexts: &[Context], action: Action) -> Option<Chord> {
        let rows = contexts.iter().filter_map(|context| bindings_of(*context).iter().find(|row| row.action == action));
        rows.filter_map(|row| self.keys(row).first().copied()).next()
    }

    /// Returns the first key of an action in this context, in [`Context::Lists`] or in [`Context::Everywhere`], for use
    /// in a sentence. If the action has no key, returns its configuration name, by which the command palette finds the
    /// action.
    pub fn key_label(&self, context: Context, action: Action) -> String {
        let key = self.key(&[context, Context::Lists, Context::Everywhere], action);
        key.map_or_else(|| action.config_name().to_owned(), |chord| chord.to_string())
    }

    /// Returns the action of a key in the first of these contexts that binds the key.
    pub fn action(&self, contexts: &[Context], chord: Chord) -> Option<Action> {
        contexts.iter().find_map(|&context| self.binding(context, chord)).map(|row| row.action)
    }

    /// Returns the bindings of these contexts, which are ordered from the most to the least specific. Leaves out a
    /// binding if all its keys are also bound in more specific contexts.
    pub fn active_bindings<'a>(&'a self, contexts: &'a [Context]) -> impl Iterator<Item = &'static Binding> + 'a {
        self.active_bindings_with(contexts, |_| Some(())).map(|(row, ())| row)
    }

    /// Returns the bindings of [`Self::active_bindings`] for which `value` returns `Some`, each with the returned
    /// value. This is faster than filtering afterwards, because the keys of the other bindings are not compared.
    pub fn active_bindings_with<'a, T>(
        &'a self,
        contexts: &'a [Context],
        value: impl Fn(&Binding) -> Option<T> + Copy + 'a,
    ) -> impl Iterator<Item = (&'static Binding, T)> + 'a {
        contexts.iter().enumerate().flat_map(move |(rank, &context)| {
            bindings_of(context).iter().filter_map(move |row| {
                let shadowed =
                    |chord: &Chord| contexts.iter().take(rank).any(|&above| self.binding(above, *chord).is_some());
                let value = value(row)?;
                (!self.keys(row).iter().all(shadowed)).then_some((row, value))
            })
        })
    }

    pub fn binding(&self, context: Context, chord: Chord) -> Option<&'static Binding> {
        bindings_of(context).iter().find(|row| self.keys(row).contains(&chord))
    }

    /// Returns the first key that two bindings of a context share, with both bindings.
    pub fn find_conflict(&self) -> Option<(Chord, &'static Binding, &'static Binding)> {
        let mut seen: HashMap<(Context, Chord), &'static Binding> = HashMap::new();
        BINDINGS.iter().find_map(|row| {
            self.keys(row).iter().find_map(|&chord| {
                let before = seen.insert((row.context, chord), row)?;
                Some((chord, before, row))
            })
        })
    }

    /// Returns the first key that is bound both globally (in `Context::Everywhere`) and in another context, so that the
    /// global binding is unreachable there. Also returns the binding of the other context and the global binding.
    /// Ignores bindings of the same action, and keys that both bindings have by default. Ignores contexts in which text
    /// is typed or global keys don't apply.
    pub fn find_shadowed_global_binding(&self) -> Option<(Chord, &'static Binding, &'static Binding)> {
        let is_separate = |context: Context| {
            context.takes_text() || matches!(context, Context::Everywhere | Context::Confirm | Context::CalendarInput)
        };
        BINDINGS.iter().filter(|row| !is_separate(row.context)).find_map(|row| {
            self.keys(row).iter().find_map(|&chord| {
                let general = self.binding(Context::Everywhere, chord)?;
                let is_default = row.keys.contains(&chord) && general.keys.contains(&chord);
                (general.action != row.action && !is_default).then_some((chord, row, general))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::chord::{ch, plain_key};
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use std::collections::HashSet;

    #[test]
    fn no_key_is_bound_twice_in_a_context() {
        assert!(Keymap::default().find_conflict().is_none());
        assert_eq!(Keymap::default().find_shadowed_global_binding(), None);
    }

    #[test]
    fn the_bindings_of_a_context_are_adjacent_in_the_table() {
        assert_eq!(BINDINGS_BY_CONTEXT.values().map(|rows| rows.len()).sum::<usize>(), BINDINGS.len());
    }

    #[test]
    fn action_names_are_unique_within_a_context() {
        let mut seen = HashSet::new();
        for row in BINDINGS {
            assert!(seen.insert((row.context, row.action.config_name())), "{row:?}");
        }
    }

    #[test]
    fn configured_keys_replace_the_defaults() {
        let mut keymap = Keymap::default();
        assert!(keymap.set_keys(Context::Jobs, "new-job", vec![ch('N'), plain_key(KeyCode::F(5))]));
        assert!(keymap.set_keys(Context::Jobs, "note", Vec::new()));
        assert!(!keymap.set_keys(Context::Jobs, "next-page", vec![ch('q')]), "an action of another context");
        assert_eq!(keymap.action(&[Context::Jobs], ch('N')), Some(Action::NewJob));
        assert_eq!(keymap.action(&[Context::Jobs], ch('n')), None);
        assert!(
            keymap.active_bindings(&[Context::Jobs]).all(|row| row.action != Action::Note),
            "an unbound action is not listed"
        );
        assert_eq!(keymap.find_conflict(), None);
        keymap.set_keys(Context::Jobs, "tags", vec![ch('N')]);
        let (chord, ..) = keymap.find_conflict().expect("N twice");
        assert_eq!(chord, ch('N'));
    }

    #[test]
    fn former_names_of_contexts_and_actions_are_accepted() {
        let mut keymap = Keymap::default();
        for (context, action, current) in [
            ("resolve", "let-go", Action::Discard),
            ("resolve", "look-at-job", Action::CheckJob),
            ("views", "list-kept", Action::CachedRanges),
            ("palette", "keep-theme", Action::SaveTheme),
            ("kept", "compare-with", Action::CompareWith),
            ("card", "before-after", Action::BeforeAfter),
        ] {
            let context: Context = context.parse().expect("a known context");
            assert!(keymap.set_keys(context, action, vec![plain_key(KeyCode::F(9))]), "{action}");
            assert_eq!(keymap.action(&[context], plain_key(KeyCode::F(9))), Some(current), "{action}");
        }
        assert!(!keymap.set_keys(Context::Jobs, "", Vec::new()));
    }

    #[test]
    fn a_key_label_is_the_configured_key_or_the_name_of_the_action() {
        let mut keymap = Keymap::default();
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "u");
        assert_eq!(keymap.key_label(Context::Views, Action::Refresh), "r", "a global key");
        keymap.set_keys(Context::Jobs, "undo", vec![plain_key(KeyCode::F(9))]);
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "F9");
        keymap.set_keys(Context::Jobs, "undo", Vec::new());
        assert_eq!(keymap.key_label(Context::Jobs, Action::Undo), "undo");
    }

    #[test]
    fn every_binding_has_keys_and_a_help_text() {
        for row in BINDINGS {
            assert!(!row.keys.is_empty() && !row.help.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn shifted_letters_and_control_chords_match_in_every_form_that_terminals_report() {
        let shifted = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        let keymap = Keymap::default();
        assert_eq!(keymap.action(&[Context::Lists], Chord::from_event(shifted)), Some(Action::Bottom));
        let control = KeyEvent::new(KeyCode::Char('S'), KeyModifiers::CONTROL);
        assert_eq!(keymap.action(&[Context::Editor], Chord::from_event(control)), Some(Action::Send));
    }

    #[test]
    fn a_key_of_a_specific_context_hides_the_global_binding() {
        let contexts = [Context::Editor, Context::Everywhere];
        let listed: Vec<Action> = Keymap::default().active_bindings(&contexts).map(|row| row.action).collect();
        assert!(!listed.contains(&Action::Interrupt), "Ctrl-C closes the editor");
    }

    #[test]
    fn every_default_key_survives_printing_and_parsing() {
        for chord in BINDINGS.iter().flat_map(|row| row.keys) {
            assert_eq!(Chord::parse(&chord.to_string()), Some(*chord), "{chord}");
        }
    }
}
