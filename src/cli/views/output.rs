//! Writes the output of `docdeck views`.

use super::table;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::export::{ExportContent, ExportFormat};

/// Writes the content in `format`, or as a table if `format` is `None`. `rows_before` is the number of rows in the sets
/// before this one (see `--page`).
pub(super) fn write_content(
    content: &ExportContent<'_>,
    rows_before: u64,
    format: Option<ExportFormat>,
    out: &mut Out,
) -> Result<(), CliError> {
    match format {
        Some(format) => out.write(&format.write(content).map_err(CliError::local_error)?),
        None => table::write_page_table(content, rows_before, out),
    }
    Ok(())
}
