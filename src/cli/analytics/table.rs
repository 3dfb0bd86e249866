//! Prints the rows of a report: with headings on a terminal; in a pipe, one uncut line per row with tabs between the
//! columns.

use crate::cli::out::{Out, cut_to_width};
use crate::cli::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::model::analytics::fields::{Field, FieldValue, HasFields};
use crate::model::colors::ColorRole;
use crate::model::export::{format_as_received, guard_formulas, guard_formulas_unless_number};
use crate::model::period::DateRange;
use crate::model::time_format::json_time;
use crate::tui::format::{count_text, format_views};

/// The maximum width in cells of a text on a terminal, except in the column that is cut to fit the terminal.
const MAX_TEXT_WIDTH: usize = 32;

/// Writes the rows as a table of these fields. On a terminal, first prints the range, and leaves out ids, as well as
/// texts and times that are empty in all rows.
pub(super) fn write<R: HasFields>(range: DateRange, rows: &[&R], fields: Vec<&'static Field<R>>, out: &mut Out) {
    let fields: Vec<&'static Field<R>> = match out.stdout_is_terminal() {
        true => fields.into_iter().filter(|field| field.name != "id" && has_value(field, rows)).collect(),
        false => fields,
    };
    let flexible = fields.iter().rposition(|field| field.is_reader_text).unwrap_or(0);
    let column = |(at, field): (usize, &&'static Field<R>)| {
        let field: &'static Field<R> = field;
        let kind = match (at == flexible, field.is_number(&R::default())) {
            (true, _) => ColumnKind::Flexible { min: 12 },
            (false, true) => ColumnKind::Number,
            (false, false) => ColumnKind::Left,
        };
        TextColumn::new(field.name, kind, move |row: &&R, _: &Out| cell(&(field.value)(row), at == flexible))
    };
    let columns: Vec<TextColumn<'_, &R>> = fields.iter().enumerate().map(column).collect();
    let lines = table_lines(&columns, rows, out);
    if out.stdout_is_terminal() {
        let range = out.paint(ColorRole::Title, &range.format_dates(true));
        out.print_lines(&[format!("{range} UTC")]);
        if lines.is_empty() {
            out.print_lines(&["No rows."]);
        }
    }
    out.print_lines(&lines);
}

/// Whether a field has a value in any row. A number counts as a value even if it is unknown.
fn has_value<R: HasFields>(field: &Field<R>, rows: &[&R]) -> bool {
    rows.iter().any(|row| match (field.value)(row) {
        FieldValue::Text(text) => !text.is_empty(),
        FieldValue::Time(time) => time.is_some(),
        _ => true,
    })
}

fn cell(value: &FieldValue<'_>, is_flexible: bool) -> TextCell {
    match value {
        FieldValue::Text(text) if text.is_empty() => TextCell::plain("–").with_piped_text(String::new()),
        FieldValue::Text(text) => {
            let line = text.lines().collect::<Vec<_>>().join(" ");
            let shown = if is_flexible { line } else { cut_to_width(&line, MAX_TEXT_WIDTH).into_owned() };
            // A piped text must not look like a formula to a spreadsheet. For the flexible column, `table_lines`
            // ensures this.
            let piped = if is_flexible { text.clone().into_owned() } else { guard_formulas(text) };
            TextCell::plain(shown).with_piped_text(piped)
        }
        FieldValue::Count(count) => {
            TextCell::plain(count_text(count)).with_piped_text(guard_formulas_unless_number(format_as_received(count)))
        }
        FieldValue::Share(count) => {
            let percent = value.number().map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1}%"));
            TextCell::plain(percent).with_piped_text(guard_formulas_unless_number(format_as_received(count)))
        }
        FieldValue::Number(number) => {
            let piped = number.map(|number| number.to_string()).unwrap_or_default();
            TextCell::plain(number.map_or_else(|| "–".to_owned(), format_views)).with_piped_text(piped)
        }
        FieldValue::Percent(percent) => {
            let shown = percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1}%"));
            let piped = percent.map(|percent| format!("{:.4}", percent / 100.0)).unwrap_or_default();
            TextCell::plain(shown).with_piped_text(piped)
        }
        FieldValue::Time(time) => {
            let shown = time.map_or_else(|| "–".to_owned(), |time| time.format("%Y-%m-%d %H:%M").to_string());
            TextCell::plain(shown).with_piped_text(time.map(json_time).unwrap_or_default())
        }
    }
}
