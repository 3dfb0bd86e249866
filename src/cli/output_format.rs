//! The options `--format` and `--json` of the commands that print rows as a table, CSV, JSON or Markdown.

use crate::model::export::ExportFormat;
use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct FormatOptions {
    /// print in this format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Table)]
    format: OutputFormat,
    /// print JSON, the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Table,
    Csv,
    Json,
    Md,
}

impl FormatOptions {
    pub(super) fn is_json(self) -> bool {
        self.export_format() == Some(ExportFormat::Json)
    }

    /// Returns the format of the output; `None` for a table.
    pub(super) fn export_format(self) -> Option<ExportFormat> {
        match self.format {
            _ if self.json => Some(ExportFormat::Json),
            OutputFormat::Table => None,
            OutputFormat::Csv => Some(ExportFormat::Csv),
            OutputFormat::Json => Some(ExportFormat::Json),
            OutputFormat::Md => Some(ExportFormat::Markdown),
        }
    }
}
