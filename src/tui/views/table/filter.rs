//! The filter of the pages: parses the typed text into terms, and checks whether a page passes all of them.
//!
//! ```text
//! filter     = term { " " term }                     a page has to match all terms
//! term       = [ "!" ] word                          the path contains the word (with !: doesn't), ignoring case
//!            | [ "!" ] "new" | [ "!" ] "gone"        only while two ranges are compared
//!            | '"' word                              a word, even if it looks like another kind of term
//!            | operand operator value                blanks around the operator are ignored
//! operand    = metric | change [ metric ]
//! metric     = "human" | "ai" | "total" | "share"    share: AI views divided by human + AI views
//!            | [ "human" | "ai" ] "visitors"         only while visitors are shown
//! change     = "Δ" | "d"                             the change since the compared range, by default of the total
//! operator   = "<" | "<=" | ">" | ">=" | "="         also ≤ and ≥
//! value      = [ "+" | "-" ] digits [ "." digits ] [ "k" | "m" ] [ "%" ]
//!                                                    thousands separators are allowed: 1,000
//! ```
//!
//! `ai>50%` compares the share of AI, `ai>200` compares AI views. A change with `%` is relative to the previous range.
//! A change without `%` is in views, per day if the ranges differ in length. The change of the share is always in
//! percentage points. A page that is gone has lost all its views; a new page has no percentage. Unknown values match no
//! operator. Invalid terms are ignored, and the first of them is reported.

use super::comparison::{ComparisonBaseline, PageMetrics};
use super::metric::Metric;
use crate::model::comparison::ViewsChange;
use crate::model::filter::{
    ComparisonTerm, OPERATOR_CHARS, Operator, contains_ignoring_case, number_without_commas, parse_count, split_terms,
};
use crate::model::views::{Count, DecimalCount};

/// A parsed filter; a page passes if it passes every term.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PageFilter {
    terms: Vec<PageTerm>,
    /// What is wrong with the first invalid term, and how to correct it.
    problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum PageTerm {
    /// The path contains this word, which is in lower case.
    Word {
        word: String,
        is_negated: bool,
    },
    New {
        is_negated: bool,
    },
    Gone {
        is_negated: bool,
    },
    /// Compares a number of views, or a change of views.
    Views {
        operand: FilterOperand,
        operator: Operator,
        value: DecimalCount,
    },
    /// Compares percent, or percentage points.
    Percent {
        operand: FilterOperand,
        operator: Operator,
        value: f64,
        /// Half a unit of the last digit typed: values this close count as equal.
        tolerance: f64,
    },
}

/// A number of a page that a term compares.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FilterOperand {
    /// The number in the range on screen.
    Value(Metric),
    Change(Metric),
}

/// What a filter can refer to, besides page views.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterableData {
    /// Whether two ranges are compared, so that there are changes, new pages and pages that are gone.
    pub is_compared: bool,
    pub has_visitors: bool,
}

impl PageFilter {
    /// Parses the typed text. Terms about data that the table doesn't show are invalid.
    pub(super) fn parse(typed: &str, shown: FilterableData) -> Self {
        let mut filter = Self::default();
        for token in split_terms(typed, |name| find_operand(name).is_some()) {
            match parse_term(&token, shown) {
                Ok(term) => filter.terms.extend(term),
                Err(problem) => {
                    filter.problem.get_or_insert(problem);
                }
            }
        }
        filter
    }

    /// Returns what is wrong with the first invalid term, and how to correct it.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(super) fn passes(&self, path: &str, figures: &PageMetrics<'_>) -> bool {
        self.terms.iter().all(|term| match term {
            PageTerm::Word { word, is_negated } => contains_ignoring_case(path, word) != *is_negated,
            PageTerm::New { is_negated } => matches!(figures.baseline, ComparisonBaseline::New) != *is_negated,
            PageTerm::Gone { is_negated } => matches!(figures.baseline, ComparisonBaseline::Gone(_)) != *is_negated,
            PageTerm::Views { operand, operator, value } => {
                let known = match operand {
                    FilterOperand::Value(metric) => metric.count(figures.counts).and_then(Count::signed_value),
                    FilterOperand::Change(metric) => figures.change(*metric).difference(),
                };
                known.is_some_and(|known| operator.holds(&known, value, known == *value))
            }
            PageTerm::Percent { operand, operator, value, tolerance } => {
                let known = match operand {
                    FilterOperand::Value(_) => figures.counts.ai_share().map(|share| share * 100.0),
                    FilterOperand::Change(Metric::Share) => figures.share_change(),
                    FilterOperand::Change(metric) => ViewsChange::percent(figures.change(*metric)),
                };
                known.is_some_and(|known| operator.holds(&known, value, (known - value).abs() <= *tolerance))
            }
        })
    }
}

/// Looks up an operand by its name.
fn find_operand(name: &str) -> Option<FilterOperand> {
    let name = name.to_lowercase();
    let metric = |name: &str| match name {
        "human" => Some(Metric::Human),
        "ai" => Some(Metric::Ai),
        "total" => Some(Metric::Total),
        "share" => Some(Metric::Share),
        "visitors" => Some(Metric::Visitors),
        "humanvisitors" => Some(Metric::HumanVisitors),
        "aivisitors" => Some(Metric::AiVisitors),
        _ => None,
    };
    if let Some(metric) = metric(&name) {
        return Some(FilterOperand::Value(metric));
    }
    // `δ` is the lower-case form of the Greek letter `Δ`. The increment sign `∆` looks the same, but has no lower-case
    // form.
    let of = name.strip_prefix(['d', 'δ', '∆'])?;
    if of.is_empty() { Some(FilterOperand::Change(Metric::Total)) } else { metric(of).map(FilterOperand::Change) }
}

/// Parses a term. `None` if the term has no text yet, such as a single `!`.
fn parse_term(token: &str, shown: FilterableData) -> Result<Option<PageTerm>, String> {
    if let Some(word) = token.strip_prefix('"') {
        let word = word.trim_end_matches('"').to_lowercase();
        return Ok((!word.is_empty()).then_some(PageTerm::Word { word, is_negated: false }));
    }
    if token.contains(OPERATOR_CHARS) {
        return parse_comparison(token, shown).map(Some);
    }
    let (is_negated, word) = token.strip_prefix('!').map_or((false, token), |word| (true, word));
    let word = word.to_lowercase();
    Ok(match word.as_str() {
        "" => None,
        "new" if shown.is_compared => Some(PageTerm::New { is_negated }),
        "gone" if shown.is_compared => Some(PageTerm::Gone { is_negated }),
        "new" | "gone" => {
            return Err(format!("{word} needs a comparison; to find it in paths, type \"{word}"));
        }
        _ => Some(PageTerm::Word { word, is_negated }),
    })
}

fn parse_comparison(token: &str, shown: FilterableData) -> Result<PageTerm, String> {
    let ComparisonTerm { name, operator_text: sign, operator, value: typed } = ComparisonTerm::parse(token)?;
    let Some(operand) = find_operand(name) else {
        return Err(format!(
            "{name}{sign} is unknown: use human, ai, total, share or Δ, or type \" before {token} to find this text"
        ));
    };
    let (FilterOperand::Value(metric) | FilterOperand::Change(metric)) = operand;
    if metric.counts_visitors() && !shown.has_visitors {
        return Err(format!("{name}{sign} needs visitors, which are hidden or not part of the report"));
    }
    if matches!(operand, FilterOperand::Change(_)) && !shown.is_compared {
        return Err(format!("{name}{sign} needs a comparison with another range"));
    }
    let example = match operand {
        FilterOperand::Value(Metric::Ai | Metric::Share) => format!("{name}{sign}50%"),
        FilterOperand::Value(_) => format!("{name}{sign}1000"),
        FilterOperand::Change(_) => format!("{name}{sign}-20%"),
    };
    if typed.is_empty() {
        return Err(format!("{name}{sign} needs a number, like {example}"));
    }
    let (digits, percent) = typed.strip_suffix('%').map_or((typed, false), |digits| (digits, true));
    let is_share = matches!(operand, FilterOperand::Value(Metric::Share) | FilterOperand::Change(Metric::Share));
    let short_form = if is_share { String::new() } else { format!(" or {name}{sign}1k") };
    let invalid = || format!("{typed} is not a number: try {example}{short_form}");
    let in_percent = match operand {
        _ if is_share => true,
        FilterOperand::Value(metric) if percent && metric.counts_visitors() => {
            return Err(format!("{name}{sign}{typed}: visitors can't be compared with a percentage: try {example}"));
        }
        FilterOperand::Value(Metric::Human | Metric::Total) if percent => {
            return Err(format!(
                "{name}{sign}{typed}: {name} counts views, like {example}; use share{sign}50% for the share"
            ));
        }
        _ => percent,
    };
    if in_percent {
        let value: f64 = number_without_commas(digits).and_then(|digits| digits.parse().ok()).ok_or_else(invalid)?;
        // A share is typed in percent. A number below 1 without `%` is probably meant as a fraction of 1, so it is an
        // error that suggests the percentage.
        if !percent && operand == FilterOperand::Value(Metric::Share) && value > 0.0 && value < 1.0 {
            let meant = format!("{:.4}", value * 100.0);
            let meant = meant.trim_end_matches('0').trim_end_matches('.');
            return Err(format!("{name}{sign}{typed}: the share is in percent, type {meant}% (or {typed}%)"));
        }
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(6));
        let tolerance = (0..decimals).fold(0.5, |tolerance, _| tolerance / 10.0);
        return Ok(PageTerm::Percent { operand, operator, value, tolerance });
    }
    Ok(PageTerm::Views { operand, operator, value: parse_count(digits).ok_or_else(invalid)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::{Count, Counts};

    const COMPARED: FilterableData = FilterableData { is_compared: true, has_visitors: false };

    fn counts(human: i64, ai: i64) -> Counts {
        Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
    }

    /// Whether the filter passes a page with 1,200 human and 800 AI views, and 1,000 of each in the previous range.
    fn passes(typed: &str) -> bool {
        let (current, previous) = (counts(1200, 800), counts(1000, 1000));
        let figures = PageMetrics::of(&current, ComparisonBaseline::Counts(&previous));
        let filter = PageFilter::parse(typed, COMPARED);
        assert_eq!(filter.problem(), None, "{typed}");
        filter.passes("/Guides/Deploy-new", &figures)
    }

    #[test]
    fn every_kind_of_term_matches() {
        for typed in [
            "",
            "guides",
            "DEPLOY guides",
            "!billing",
            "!",
            "\"new",
            "\"",
            "!gone",
            "!new",
            "ai=40%",
            "ai>=40%",
            "ai<=40.0%",
            "ai>799",
            "ai=800",
            "share<41",
            "share=40%",
            "human>1k",
            "human>=1,200",
            "human=1.2k",
            "human=1200.0",
            "human>1199.5",
            "human<1.2005k",
            "total<=2000",
            "total<0.1m",
            "Δ=0%",
            "d=0",
            "Δhuman>100",
            "dhuman=20%",
            "dai<-19%",
            "Δai=-200",
            "Δshare=-10%",
            "dshare<-9",
            "HUMAN > 1000",
            "human >1000",
            "human> 1000 guides",
            "ai > 39 %",
            "ai≥40%",
            "human>+5",
            "total>-1",
        ] {
            assert!(passes(typed), "{typed:?} passes");
        }
        for typed in [
            "billing",
            "!guides",
            "new",
            "gone",
            "ai>40%",
            "ai<800",
            "share>50%",
            "human>1200",
            "total<2k",
            "Δ<-20%",
            "Δhuman<0",
            "dai>0%",
            "guides human<5",
            "ai = 39%",
            "ai=40.5%",
        ] {
            assert!(!passes(typed), "{typed:?} does not pass");
        }
    }

    #[test]
    fn visitors_can_be_filtered_while_they_are_shown() {
        let shown = FilterableData { has_visitors: true, ..FilterableData::default() };
        let current = Counts { visitors: Some(Box::new(counts(40, 5))), ..counts(100, 100) };
        let passes = |typed: &str| {
            let filter = PageFilter::parse(typed, shown);
            assert_eq!(filter.problem(), None, "{typed}");
            filter.passes("/a", &PageMetrics::of(&current, ComparisonBaseline::Uncompared))
        };
        assert!(passes("visitors=45") && passes("humanvisitors<41 aivisitors=5") && !passes("visitors>45"));
        let hidden = PageFilter::parse("visitors>1", FilterableData::default());
        assert_eq!(hidden.problem(), Some("visitors> needs visitors, which are hidden or not part of the report"));
        let percent = PageFilter::parse("visitors>5%", shown);
        assert!(percent.problem().is_some_and(|problem| problem.contains("can't be compared with a percentage")));
    }

    #[test]
    fn unknown_values_match_no_operator() {
        let unknown = Counts { human: Count::Other("99999999999999999999".into_clean()), ..Counts::default() };
        let figures = PageMetrics::of(&unknown, ComparisonBaseline::Unknown);
        for typed in ["human>0", "human<1", "ai<=50%", "ai>50%", "total=0", "Δ<5", "Δ>-5%", "Δshare=0", "new", "gone"]
        {
            assert!(!PageFilter::parse(typed, COMPARED).passes("/a", &figures), "{typed}");
        }
    }

    trait IntoClean {
        fn into_clean(self) -> crate::model::text::CleanText;
    }

    impl IntoClean for &str {
        fn into_clean(self) -> crate::model::text::CleanText {
            crate::model::text::CleanText::line(self)
        }
    }

    #[test]
    fn new_and_gone_pages_match_by_word_and_by_change() {
        let (some, none) = (counts(30, 10), Counts::default());
        let (new, gone) =
            (PageMetrics::of(&some, ComparisonBaseline::New), PageMetrics::of(&none, ComparisonBaseline::Gone(&some)));
        let passing = |typed: &str| {
            let filter = PageFilter::parse(typed, COMPARED);
            (filter.passes("/a", &new), filter.passes("/a", &gone))
        };
        assert_eq!(passing("new"), (true, false));
        assert_eq!(passing("gone"), (false, true));
        assert_eq!(passing("!new !gone"), (false, false));
        assert_eq!(passing("Δ>=40"), (true, false));
        assert_eq!(passing("Δ<-20%"), (false, true));
        assert_eq!(passing("Δ>20%"), (false, false), "a new page has no percentage");
    }

    #[test]
    fn the_filters_new_and_gone_need_a_comparison() {
        let current = counts(1, 0);
        let figures = PageMetrics::of(&current, ComparisonBaseline::Uncompared);
        for typed in ["new", "!gone"] {
            let filter = PageFilter::parse(typed, FilterableData::default());
            assert!(filter.problem().is_some_and(|text| text.contains("needs a comparison")), "{typed}");
            assert!(filter.passes("/old", &figures));
        }
        let word = PageFilter::parse("\"new", FilterableData::default());
        assert!(word.passes("/whats-new", &figures) && !word.passes("/old", &figures));
    }

    #[test]
    fn invalid_terms_are_reported_and_the_rest_still_applies() {
        for (typed, problem) in [
            ("ai>", "ai> needs a number, like ai>50%"),
            ("human>x1", "x1 is not a number: try human>1000 or human>1k"),
            ("human>50%", "human>50%: human counts views, like human>1000; use share>50% for the share"),
            (
                "hits>3",
                "hits> is unknown: use human, ai, total, share or Δ, or type \" before hits>3 to find this text",
            ),
            ("!ai>50%", "!ai>50%: ! works only before words; reverse the comparison instead"),
            ("ai<>5", "<> is not an operator: use < <= > >= or ="),
            ("Δ<-20%", "Δ< needs a comparison with another range"),
            ("human>1.2.3", "1.2.3 is not a number: try human>1000 or human>1k"),
            ("total>99999999999999999999", "99999999999999999999 is not a number: try total>1000 or total>1k"),
            ("share>0.9", "share>0.9: the share is in percent, type 90% (or 0.9%)"),
            ("share<=.5", ".5 is not a number: try share<=50%"),
            ("share>1e3", "1e3 is not a number: try share>50%"),
        ] {
            let filter = PageFilter::parse(&format!("guide {typed}"), FilterableData::default());
            assert_eq!(filter.problem(), Some(problem));
            let current = counts(1, 0);
            let figures = PageMetrics::of(&current, ComparisonBaseline::Uncompared);
            assert!(filter.passes("/guide", &figures) && !filter.passes("/other", &figures), "{typed}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_parsed(typed in "[aidΔhumnew!<>=≤%.,k0-9\" -]{0,24}", compared in proptest::bool::ANY) {
            let current = counts(3, 4);
            let figures = PageMetrics::of(&current, ComparisonBaseline::Uncompared);
            PageFilter::parse(&typed, FilterableData { is_compared: compared, has_visitors: compared }).passes("/a", &figures);
        }
    }
}
