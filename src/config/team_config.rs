//! The section `[team]` of the configuration file.

use super::positions::{LineColumn, ValuePositions};
use crate::model::text::CleanText;
use serde::Deserialize;
use std::path::PathBuf;

/// The section `[team]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TeamConfig {
    /// A program that prints the URL of the team's database, and its arguments. Runs without a shell.
    pub(super) url_command: Option<Vec<String>>,
    /// A file that contains only the URL.
    pub(super) url_file: Option<PathBuf>,
    /// The name under which the team sees the prompts of this computer.
    pub(super) name: Option<String>,
    /// A PEM file of certificates to trust in addition to the system's certificates.
    pub(super) ca_file: Option<PathBuf>,
}

impl TeamConfig {
    /// Returns the first mistake with its position.
    pub(super) fn find_mistake(&self, positions: &ValuePositions<'_>) -> Option<(LineColumn, String)> {
        let at = |name: &str| positions.position_of(&["team"], name);
        if self.url_command.is_some() && self.url_file.is_some() {
            return Some((at("url_file"), "keep one of url_command and url_file".to_owned()));
        }
        if self.url_command.as_ref().is_some_and(|words| words.first().is_none_or(|word| word.trim().is_empty())) {
            return Some((
                at("url_command"),
                "url_command must be an array of the program and its arguments".to_owned(),
            ));
        }
        let is_blank = self.name.as_ref().is_some_and(|name| CleanText::line(name).is_empty());
        is_blank.then(|| (at("name"), "name is blank".to_owned()))
    }
}
