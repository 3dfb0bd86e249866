//! Custom keyboard keys for actions: the tables `[keys.CONTEXT]` of `config.toml`. This module only reads the names of
//! contexts, actions and keyboard keys; `cli::customization` checks that they exist.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The tables `[keys.CONTEXT]`. Each maps an action to one keyboard key or an array of them, which may be empty.
pub(super) type ShortcutTables = BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<OneOrMany>>>;

/// One keyboard key, or an array of them.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "there should be a key in quotes or an array of keys, like \"n\" or [\"n\", \"F5\"]")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// The custom keyboard keys of one action, which replace the default ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub context: String,
    pub action: String,
    /// The keyboard keys as written in the file. Empty if the action should have no keyboard key.
    pub keys: Vec<String>,
    /// The line and column of the context's name, of the action's name, and of the keyboard keys.
    pub positions: [(usize, usize); 3],
}

/// Converts the tables to one override per action, in the order of the file. `position` converts a byte offset to a
/// line and column.
pub(super) fn key_overrides(keys: &ShortcutTables, position: impl Fn(usize) -> (usize, usize)) -> Vec<KeyOverride> {
    let entries =
        keys.iter().flat_map(|(context, actions)| actions.iter().map(move |(action, keys)| (context, action, keys)));
    let mut overrides: Vec<KeyOverride> = entries
        .map(|(context, action, keys)| KeyOverride {
            context: context.get_ref().clone(),
            action: action.get_ref().clone(),
            keys: match keys.get_ref() {
                OneOrMany::One(key) => vec![key.clone()],
                OneOrMany::Many(keys) => keys.clone(),
            },
            positions: [context.span(), action.span(), keys.span()].map(|span| position(span.start)),
        })
        .collect();
    overrides.sort_by_key(|key_override| key_override.positions[1]);
    overrides
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    #[test]
    fn keyboard_keys_are_read_in_file_order_with_line_and_column() {
        let text = "[keys.views]\nfold = []\n[keys.jobs]\nnew-job = \"N\"\nfollow-up = [\"f\", \"F5\"]\n";
        let customization = file::parse(text).expect("a good file").customization();
        let read: Vec<(&str, &str, usize)> = customization
            .keys
            .iter()
            .map(|keys| (keys.context.as_str(), keys.action.as_str(), keys.keys.len()))
            .collect();
        assert_eq!(read, [("views", "fold", 0), ("jobs", "new-job", 1), ("jobs", "follow-up", 2)]);
        assert_eq!(customization.keys[1].positions, [(3, 7), (4, 1), (4, 11)]);
    }

    #[test]
    fn a_number_instead_of_a_keyboard_key_is_an_error() {
        assert!(file::parse("[keys]\njobs = 1\n").is_err());
        assert!(file::parse("[keys.jobs]\nnew-job = 1\n").is_err());
    }
}
