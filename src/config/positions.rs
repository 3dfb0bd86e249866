//! Mistakes in a TOML file with their line and column. Also finds the line and column of a value that is checked after
//! parsing.

use super::error::ConfigError;
use crate::model::redaction::redacted_except_words;
use crate::model::text::CleanText;
use std::path::Path;
use toml::de::DeTable;

/// A line and a column, both counted from 1.
pub(super) type LineColumn = (usize, usize);

/// Finds where the values in a TOML text are, by the names of their tables and fields.
#[derive(Debug)]
pub(super) struct ValuePositions<'a> {
    text: &'a str,
    /// The parsed text, or `None` if it is not valid TOML. The caller reports the syntax error.
    root: Option<DeTable<'a>>,
}

impl<'a> ValuePositions<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        Self { text, root: DeTable::parse(text).ok().map(toml::Spanned::into_inner) }
    }

    /// Returns the position of the value `name` in the table at the path `tables`, or the start of the text if there is
    /// no such value.
    pub(super) fn position_of(&self, tables: &[&str], name: &str) -> LineColumn {
        let found = self.root.as_ref().and_then(|root| {
            let table = tables.iter().try_fold(root, |table, name| table.get(*name)?.get_ref().as_table())?;
            Some(table.get(name)?.span().start)
        });
        found.map_or((1, 1), |byte| line_and_column(self.text, byte))
    }
}

/// A mistake in a file. `line` and `column` are counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: CleanText,
}

impl Mistake {
    /// Returns a mistake at the byte offset `byte` of `text`. Redacts API keys in `what`.
    pub(super) fn at(text: &str, byte: usize, what: &str) -> Self {
        let (line, column) = line_and_column(text, byte);
        Self { line, column, what: CleanText::line(&redacted_except_words(what)) }
    }

    /// Converts the mistake to an error about the file at `path`.
    pub(super) fn into_config_error(self, path: &Path) -> ConfigError {
        ConfigError::invalid(path, (self.line, self.column), self.what.as_str())
    }
}

/// Returns the line and column of the byte offset `byte`, both counted from 1.
pub(super) fn line_and_column(text: &str, byte: usize) -> LineColumn {
    let before = text.get(..byte).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_a_value_is_found_by_table_and_name() {
        let positions =
            ValuePositions::parse("a = 1\n[profiles.\"x y\"]\napi_key = \"k\"\n[profiles]\nin = { line = true }\n");
        assert_eq!(positions.position_of(&[], "a"), (1, 5));
        assert_eq!(positions.position_of(&["profiles", "x y"], "api_key"), (3, 11));
        assert_eq!(positions.position_of(&["profiles", "in"], "line"), (5, 15));
        assert_eq!(positions.position_of(&["profiles", "none"], "line"), (1, 1));
    }
}
