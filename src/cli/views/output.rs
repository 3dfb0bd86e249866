//! The formats of `docdeck views`.

use super::table;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::export::{ExportContent, ExportFormat};
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    Table,
    Csv,
    Json,
    Md,
}

/// Writes the content in a format. `before` is the number of rows on earlier pages.
pub(super) fn write_content(
    content: &ExportContent<'_>,
    before: u64,
    format: OutputFormat,
    out: &mut Out,
) -> Result<(), CliError> {
    let format = match format {
        OutputFormat::Table => {
            table::write_page_table(content, before, out);
            return Ok(());
        }
        OutputFormat::Csv => ExportFormat::Csv,
        OutputFormat::Json => ExportFormat::Json,
        OutputFormat::Md => ExportFormat::Markdown,
    };
    let text = format.write(content).map_err(CliError::unusable)?;
    out.write(&text);
    Ok(())
}
