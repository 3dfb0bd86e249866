//! The filters of the reports.
//!
//! ```text
//! filter     = term { " " term }              a row has to match all terms
//! term       = [ "!" ] word                   a text (with !: no text) of the row contains the word, ignoring case
//!            | [ "!" ] property               such as unclicked, unanswered or new
//!            | '"' word                       a word, even if it looks like a property
//!            | field operator value           hits>20, ctr<5%, down>=3
//! ```
//!
//! Shares are in percent. Unknown values match no operator. A term that is invalid is ignored and reported.

use super::fields::{Field, FieldValue, FilterFlag, HasFields, find_field};
use crate::model::filter::{
    ComparisonTerm, OPERATOR_CHARS, Operator, contains_ignoring_case, number_without_commas, parse_count, split_terms,
};

/// A parsed filter; a row passes if it passes every term.
#[derive(Debug)]
pub struct RowFilter<R: 'static> {
    terms: Vec<RowTerm<R>>,
    /// What is wrong with the first invalid term, and how to correct it.
    problem: Option<String>,
}

impl<R> Default for RowFilter<R> {
    fn default() -> Self {
        Self { terms: Vec::new(), problem: None }
    }
}

#[derive(Debug)]
enum RowTerm<R: 'static> {
    Word {
        word: String,
        is_negated: bool,
    },
    /// The word `new`: the previous period doesn't have the row.
    New {
        is_negated: bool,
    },
    Flag {
        flag: &'static FilterFlag<R>,
        is_negated: bool,
    },
    Number {
        field: &'static Field<R>,
        operator: Operator,
        value: f64,
    },
}

/// For the operator `=`, values that differ by less than this are equal.
const EQUALITY_TOLERANCE: f64 = 1e-6;

impl<R: HasFields> RowFilter<R> {
    /// Parses the typed text.
    pub fn parse(typed: &str) -> Self {
        let mut filter = Self::default();
        for token in split_terms(typed, |name| find_field::<R>(name).is_some()) {
            match parse_term(&token) {
                Ok(term) => filter.terms.extend(term),
                Err(problem) => {
                    filter.problem.get_or_insert(problem);
                }
            }
        }
        filter
    }

    /// Returns what is wrong with the first invalid term, and how to correct it.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether the filter contains a word that needs a comparison with the previous period.
    pub fn needs_comparison(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, RowTerm::New { .. }))
    }

    /// Whether the filter compares this field with a number.
    pub fn compares_field(&self, name: &str) -> bool {
        self.terms.iter().any(|term| matches!(term, RowTerm::Number { field, .. } if field.name == name))
    }

    /// Whether a row passes if there is no comparison with the previous period. No row counts as new in this case.
    pub fn passes(&self, row: &R) -> bool {
        self.passes_in_comparison(row, |_| false)
    }

    /// Whether a row passes. `is_new` returns whether the row is missing in the previous period.
    pub fn passes_in_comparison(&self, row: &R, is_new: impl Fn(&R) -> bool) -> bool {
        self.terms.iter().all(|term| match term {
            RowTerm::Word { word, is_negated } => has_word(row, word) != *is_negated,
            RowTerm::New { is_negated } => is_new(row) != *is_negated,
            RowTerm::Flag { flag: (_, has), is_negated } => has(row) != *is_negated,
            RowTerm::Number { field, operator, value } => {
                let known = (field.value)(row).number();
                known.is_some_and(|known| operator.holds(&known, value, (known - value).abs() < EQUALITY_TOLERANCE))
            }
        })
    }
}

fn has_word<R: HasFields>(row: &R, word: &str) -> bool {
    R::FIELDS.iter().any(|field| match (field.value)(row) {
        FieldValue::Text(text) => contains_ignoring_case(&text, word),
        _ => false,
    })
}

/// Parses a term. `None` if the term has no text yet, such as a single `!`.
fn parse_term<R: HasFields>(token: &str) -> Result<Option<RowTerm<R>>, String> {
    if let Some(word) = token.strip_prefix('"') {
        let word = word.trim_end_matches('"').to_lowercase();
        return Ok((!word.is_empty()).then_some(RowTerm::Word { word, is_negated: false }));
    }
    if token.contains(OPERATOR_CHARS) {
        return parse_comparison(token).map(Some);
    }
    let (is_negated, word) = token.strip_prefix('!').map_or((false, token), |word| (true, word));
    let word = word.to_lowercase();
    let flag = R::FILTER_FLAGS.iter().find(|(name, _)| *name == word);
    Ok(match flag {
        _ if word.is_empty() => None,
        None if R::IS_COMPARED && word == "new" => Some(RowTerm::New { is_negated }),
        Some(flag) => Some(RowTerm::Flag { flag, is_negated }),
        None => Some(RowTerm::Word { word, is_negated }),
    })
}

fn parse_comparison<R: HasFields>(token: &str) -> Result<RowTerm<R>, String> {
    let ComparisonTerm { name, operator_text: sign, operator, value } = ComparisonTerm::parse(token)?;
    let sample = R::default();
    let Some(field) = find_field::<R>(name).filter(|field| field.is_number(&sample)) else {
        let names = R::FIELDS.iter().filter(|field| field.is_number(&sample)).map(|field| field.name);
        let names: Vec<&str> = names.collect();
        let hint = match names.as_slice() {
            [] => "no field has numbers;".to_owned(),
            [name] => format!("use {name}, or"),
            [names @ .., last] => format!("use {} or {last}, or", names.join(", ")),
        };
        return Err(format!("{name}{sign} is unknown: {hint} type \" before {token} to find this text"));
    };
    let is_share = matches!((field.value)(&sample), FieldValue::Share(_) | FieldValue::Percent(_));
    let example = if is_share { format!("{name}{sign}5%") } else { format!("{name}{sign}20") };
    if value.is_empty() {
        return Err(format!("{name}{sign} needs a number, like {example}"));
    }
    let invalid = || format!("{value} is not a number: try {example}");
    let digits = value.strip_suffix('%').filter(|_| is_share).unwrap_or(value);
    let number = match is_share {
        true => number_without_commas(digits).and_then(|digits| digits.parse().ok()),
        false => parse_count(digits).map(|count| count.as_f64()),
    };
    Ok(RowTerm::Number { field, operator, value: number.ok_or_else(invalid)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::{Question, Search};
    use crate::model::text::CleanText;
    use crate::model::views::Count;

    fn search() -> Search {
        Search {
            query: CleanText::line("Preview deployments"),
            hits: Count::Known(1_200),
            click_rate: Count::from_f64(0.045).expect("a count"),
            top_page: Some(CleanText::line("/guides/previews")),
            last_searched_at: None,
        }
    }

    fn passes(typed: &str) -> bool {
        let filter = RowFilter::parse(typed);
        assert_eq!(filter.problem(), None, "{typed}");
        filter.passes(&search())
    }

    #[test]
    fn rows_are_found_by_words_properties_and_numbers() {
        for typed in
            ["", "preview", "GUIDES", "hits>20", "hits >= 1.2k", "ctr<5%", "ctr<5", "!unclicked", "ctr=4.5%", "!"]
        {
            assert!(passes(typed), "{typed}");
        }
        for typed in ["sso", "!preview", "hits<20", "ctr>5%", "unclicked", "preview sso", "\"unclicked"] {
            assert!(!passes(typed), "{typed}");
        }
    }

    #[test]
    fn a_number_has_the_name_of_its_field_or_the_heading_of_its_column() {
        assert!(passes("hits>20 ctr<5%") && passes("searches>20 clicked<5%") && passes("Searches>1k"));
        assert!(!passes("searches<20") && !passes("clicked>5%"));
        let filter: RowFilter<Question> = RowFilter::parse("searches>20");
        assert!(filter.problem().is_some(), "questions have no numbers");
    }

    #[test]
    fn an_invalid_term_is_ignored_and_explained() {
        let problem = |typed: &str| {
            let filter = RowFilter::<Search>::parse(typed);
            assert!(filter.passes(&search()), "{typed}");
            filter.problem().map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(
            problem("clicks>3"),
            "clicks> is unknown: use hits or ctr, or type \" before clicks>3 to find this text"
        );
        assert_eq!(problem("hits>"), "hits> needs a number, like hits>20");
        assert_eq!(problem("hits>many"), "many is not a number: try hits>20");
        assert_eq!(problem("ctr<x%"), "x% is not a number: try ctr<5%");
        let none = RowFilter::<Question>::parse("page>3");
        assert!(none.problem().is_some_and(|problem| problem.contains("no field has numbers")));
    }

    #[test]
    fn unknown_values_match_no_operator() {
        let unknown = Search { hits: Count::Missing, ..search() };
        for typed in ["hits>0", "hits<1", "hits=0"] {
            assert!(!RowFilter::parse(typed).passes(&unknown), "{typed}");
        }
    }
}
