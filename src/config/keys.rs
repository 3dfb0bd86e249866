//! `[keys]`: custom keys for actions, by the names of their context and action. This module reads names and positions;
//! `cli::customization` checks them against the keymap.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// `[keys.CONTEXT]` with `ACTION = "key"`, a list of keys, or an empty list.
pub(super) type KeyTables = BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<OneOrMany>>>;

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "there should be a key in quotes or an array of keys, like \"n\" or [\"n\", \"F5\"]")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// An action with custom keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub context: String,
    pub action: String,
    /// As written; empty to unbind the action.
    pub keys: Vec<String>,
    /// Line and column of the context's name, the action's name, and the keys.
    pub positions: [(usize, usize); 3],
}

/// In the order of the file.
pub(super) fn key_overrides(keys: &KeyTables, position: impl Fn(usize) -> (usize, usize)) -> Vec<KeyOverride> {
    let rows = keys.iter().flat_map(|(context, rows)| rows.iter().map(move |(action, keys)| (context, action, keys)));
    let mut overrides: Vec<KeyOverride> = rows
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
    overrides.sort_by_key(|keys| keys.positions[1]);
    overrides
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    #[test]
    fn keys_are_read_in_file_order_with_their_positions() {
        let text = "[keys.views]\nfold = []\n[keys.jobs]\nnew-job = \"N\"\nfollow-up = [\"f\", \"F5\"]\n";
        let own = file::parse(text).expect("a good file").customization();
        let read: Vec<(&str, &str, usize)> =
            own.keys.iter().map(|keys| (keys.context.as_str(), keys.action.as_str(), keys.keys.len())).collect();
        assert_eq!(read, [("views", "fold", 0), ("jobs", "new-job", 1), ("jobs", "follow-up", 2)]);
        assert_eq!(own.keys[1].positions, [(3, 7), (4, 1), (4, 11)]);
    }

    #[test]
    fn a_value_that_is_not_a_key_is_an_error() {
        assert!(file::parse("[keys]\njobs = 1\n").is_err());
        assert!(file::parse("[keys.jobs]\nnew-job = 1\n").is_err());
    }
}
