//! `[keys]`: keys of one's own for rows of the table of bindings, by the names of their context and action. Which names
//! there are, and what is taken, is known to the key table; here stand the words and their places.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// `[keys.CONTEXT]` with `ACTION = "key"`, or several keys, or none.
pub(super) type KeyTables = BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<OneOrMany>>>;

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "there should be a key in quotes or an array of keys, like \"n\" or [\"n\", \"F5\"]")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A row with keys of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub context: String,
    pub action: String,
    /// As written; none takes the keys of the table away.
    pub keys: Vec<String>,
    /// Line and column of the context's name, of the action's, and of the keys.
    pub places: [(usize, usize); 3],
}

/// In the order in which they stand in the file.
pub(super) fn of(keys: &KeyTables, place: impl Fn(usize) -> (usize, usize)) -> Vec<KeyOverride> {
    let rows = keys.iter().flat_map(|(context, rows)| rows.iter().map(move |(action, keys)| (context, action, keys)));
    let mut own: Vec<KeyOverride> = rows
        .map(|(context, action, keys)| KeyOverride {
            context: context.get_ref().clone(),
            action: action.get_ref().clone(),
            keys: match keys.get_ref() {
                OneOrMany::One(key) => vec![key.clone()],
                OneOrMany::Many(keys) => keys.clone(),
            },
            places: [context.span(), action.span(), keys.span()].map(|span| place(span.start)),
        })
        .collect();
    own.sort_by_key(|keys| keys.places[1]);
    own
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    #[test]
    fn keys_are_read_in_the_order_of_the_file_with_their_places() {
        let text = "[keys.views]\nfold = []\n[keys.jobs]\nnew-job = \"N\"\nfollow-up = [\"f\", \"F5\"]\n";
        let own = file::parse(text).expect("a good file").own();
        let read: Vec<(&str, &str, usize)> =
            own.keys.iter().map(|keys| (keys.context.as_str(), keys.action.as_str(), keys.keys.len())).collect();
        assert_eq!(read, [("views", "fold", 0), ("jobs", "new-job", 1), ("jobs", "follow-up", 2)]);
        assert_eq!(own.keys[1].places, [(3, 7), (4, 1), (4, 11)]);
    }

    #[test]
    fn what_is_no_key_is_a_mistake() {
        assert!(file::parse("[keys]\njobs = 1\n").is_err());
        assert!(file::parse("[keys.jobs]\nnew-job = 1\n").is_err());
    }
}
