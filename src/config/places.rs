//! Where values stand in the text of a file: for a mistake that shows only when a value is looked at, or joined with others.

use super::file::place;
use toml::de::DeTable;

/// Line and column, both from 1.
pub(super) type LineColumn = (usize, usize);

/// A text whose values can be found by the names that lead to them.
#[derive(Debug)]
pub(super) struct KeyPositions<'a> {
    text: &'a str,
    /// None for what is no TOML: whoever asked for a place has read the text already.
    root: Option<DeTable<'a>>,
}

impl<'a> KeyPositions<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, root: DeTable::parse(text).ok().map(toml::Spanned::into_inner) }
    }

    /// Where the value of this name in this table stands; the beginning of the text where there is none.
    pub(super) fn at(&self, tables: &[&str], name: &str) -> LineColumn {
        let found = self.root.as_ref().and_then(|root| {
            let table = tables.iter().try_fold(root, |table, name| table.get(*name)?.get_ref().as_table())?;
            Some(table.get(name)?.span().start)
        });
        found.map_or((1, 1), |byte| place(self.text, byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_tables_and_its_name() {
        let places = KeyPositions::of("a = 1\n[profiles.\"x y\"]\napi_key = \"k\"\n[profiles]\nin = { line = true }\n");
        assert_eq!(places.at(&[], "a"), (1, 5));
        assert_eq!(places.at(&["profiles", "x y"], "api_key"), (3, 11));
        assert_eq!(places.at(&["profiles", "in"], "line"), (5, 15));
        assert_eq!(places.at(&["profiles", "none"], "line"), (1, 1));
    }
}
