//! The command-line options that all commands have in common.

use serde::Deserialize;
use std::path::PathBuf;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// The command-line options that all commands have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobalOptions {
    pub profile: Option<String>,
    pub base_url: Option<String>,
    pub project: Option<String>,
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub color: Option<ColorChoice>,
    pub ascii: bool,
}
