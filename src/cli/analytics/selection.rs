//! The options that select and sort the rows of a report.

use crate::cli::blank_check::parse_non_blank;
use crate::cli::error::CliError;
use crate::model::analytics::fields::{Field, HasFields, find_field, sorted_rows};
use crate::model::analytics::filter::RowFilter;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct SelectionOptions {
    /// print only the rows that pass this filter: words, properties or numbers (fields and examples: docdeck help
    /// analytics)
    #[arg(long, value_name = "FILTER", value_parser = parse_non_blank)]
    filter: Option<String>,
    /// print the rows that pass this filter, and exit with 1 if there are any
    #[arg(long, value_name = "FILTER", value_parser = parse_non_blank, conflicts_with = "filter")]
    check: Option<String>,
    /// sort by this field, from the highest value; with -FIELD, from the lowest
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    sort: Option<String>,
}

/// Which rows are printed, and in which order.
pub(super) struct RowSelection<R: 'static> {
    /// Whether the command exits with 1 if there are rows.
    pub(super) has_check_option: bool,
    filter: RowFilter<R>,
    sort_field: &'static Field<R>,
    is_ascending: bool,
}

impl SelectionOptions {
    /// Parses the options.
    ///
    /// # Errors
    /// Fails if the filter is invalid or the field is unknown.
    pub(super) fn parse<R: HasFields>(&self) -> Result<RowSelection<R>, CliError> {
        let (sort_field, is_ascending) = self.sort_order()?;
        Ok(RowSelection {
            has_check_option: self.check.is_some(),
            filter: self.row_filter()?,
            sort_field,
            is_ascending,
        })
    }

    fn row_filter<R: HasFields>(&self) -> Result<RowFilter<R>, CliError> {
        let (option, text) = match (&self.filter, &self.check) {
            (Some(text), _) => ("--filter", text.as_str()),
            (None, Some(text)) => ("--check", text.as_str()),
            (None, None) => ("--filter", ""),
        };
        let filter = RowFilter::parse(text);
        let needs_comparison = filter.needs_comparison();
        let problem =
            filter.problem().or(needs_comparison.then_some("“new” needs a comparison, which only the dashboard has"));
        match problem {
            Some(problem) => Err(CliError::local_error(format!("{option}: {problem}. Nothing was loaded."))),
            None => Ok(filter),
        }
    }

    /// Returns the field by which the rows are sorted, and whether the lowest value comes first.
    fn sort_order<R: HasFields>(&self) -> Result<(&'static Field<R>, bool), CliError> {
        let (name, is_ascending) = match self.sort.as_deref().map(|typed| (typed, typed.strip_prefix('-'))) {
            None => (R::DEFAULT_SORT_FIELD, false),
            Some((_, Some(name))) => (name, true),
            Some((name, None)) => (name, false),
        };
        match find_field::<R>(name) {
            Some(field) => Ok((field, is_ascending)),
            None => {
                let names: Vec<&str> = R::FIELDS.iter().map(|field| field.name).collect();
                Err(CliError::local_error(format!(
                    "--sort: there is no field “{name}”. Fields: {}. Nothing was loaded.",
                    names.join(", ")
                )))
            }
        }
    }
}

impl<R: HasFields> RowSelection<R> {
    /// Whether the filter compares this field with a number.
    pub(super) fn has_numeric_condition(&self, field: &str) -> bool {
        self.filter.compares_field(field)
    }

    /// Returns the selected rows in their order.
    pub(super) fn select<'a>(&self, rows: &'a [R]) -> Vec<&'a R> {
        let rows: Vec<&R> = rows.iter().filter(|row| self.filter.passes(row)).collect();
        sorted_rows(&rows, |row| row, self.sort_field, self.is_ascending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::Search;

    fn options(filter: Option<&str>, sort: Option<&str>) -> SelectionOptions {
        SelectionOptions { filter: filter.map(str::to_owned), check: None, sort: sort.map(str::to_owned) }
    }

    #[test]
    fn the_order_is_a_field_with_its_direction() {
        let order =
            |typed| options(None, typed).sort_order::<Search>().map(|(field, is_ascending)| (field.name, is_ascending));
        assert_eq!(order(None).ok(), Some(("hits", false)));
        assert_eq!(order(Some("ctr")).ok(), Some(("ctr", false)));
        assert_eq!(order(Some("-ctr")).ok(), Some(("ctr", true)));
        let error = order(Some("clicks")).expect_err("wrong").sentence;
        assert!(error.contains("no field “clicks”. Fields: search, hits, ctr, page, last."), "{error}");
    }

    #[test]
    fn a_word_that_needs_a_comparison_is_refused() {
        let error = options(Some("sso new"), None).parse::<Search>().err().expect("refused").sentence;
        assert!(error.contains("--filter: “new” needs a comparison"), "{error}");
        assert!(options(Some("\"new"), None).parse::<Search>().is_ok());
    }
}
