//! The value of a setting with the source that it comes from.

use std::fmt;

/// Where the value of a setting comes from. Each source overrides the sources listed below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// A command-line option, such as `--project`.
    CommandLineOption(&'static str),
    /// The name of an environment variable.
    Variable(&'static str),
    /// The configuration file.
    File,
    /// The built-in default.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandLineOption(name) | Self::Variable(name) => name,
            Self::File => "file",
            Self::Default => "default",
        })
    }
}

/// The value of a setting and where the value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub from: SettingSource,
}

impl<T> Sourced<T> {
    pub(super) fn new(value: T, from: SettingSource) -> Self {
        Self { value, from }
    }
}
