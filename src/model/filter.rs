//! The parts of report filters: words, and comparisons of a value with a number. The filter of page views
//! (`tui::views::table`) and the filters of the other reports (`model::analytics`) use them.

use super::views::DecimalCount;

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
}

/// The characters that operators consist of.
pub const OPERATOR_CHARS: [char; 5] = ['<', '>', '=', '≤', '≥'];

impl Operator {
    /// Whether the comparison of `actual` with the typed `value` is true. `is_equal` states whether the two count as
    /// equal; only [`Operator::Equal`] uses it.
    pub fn holds<T: PartialOrd>(self, actual: &T, value: &T, is_equal: bool) -> bool {
        match self {
            Self::Less => actual < value,
            Self::AtMost => actual <= value,
            Self::More => actual > value,
            Self::AtLeast => actual >= value,
            Self::Equal => is_equal,
        }
    }
}

/// A term that compares a value: `total>=1k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonTerm<'a> {
    pub name: &'a str,
    /// The operator as typed.
    pub operator_text: &'a str,
    pub operator: Operator,
    /// What follows the operator; may be empty.
    pub value: &'a str,
}

impl<'a> ComparisonTerm<'a> {
    /// Splits a term that contains an operator.
    ///
    /// # Errors
    /// Returns what is wrong with the term.
    pub fn parse(token: &'a str) -> Result<Self, String> {
        let at = token.find(OPERATOR_CHARS).unwrap_or(token.len());
        let (name, rest) = token.split_at_checked(at).unwrap_or((token, ""));
        let value = rest.trim_start_matches(OPERATOR_CHARS);
        let operator_text = rest.strip_suffix(value).unwrap_or(rest);
        let operator = match operator_text {
            "<" => Operator::Less,
            "<=" | "=<" | "≤" => Operator::AtMost,
            ">" => Operator::More,
            ">=" | "=>" | "≥" => Operator::AtLeast,
            "=" | "==" => Operator::Equal,
            _ => return Err(format!("{operator_text} is not an operator: use < <= > >= or =")),
        };
        if name.starts_with('!') {
            return Err(format!("{token}: ! works only before words; reverse the comparison instead"));
        }
        Ok(Self { name, operator_text, operator, value })
    }
}

/// Whether the text contains `word`, ignoring case. `word` is in lower case.
pub fn contains_ignoring_case(text: &str, word: &str) -> bool {
    let may_differ = |text: &str| text.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
    text.contains(word) || (may_differ(text) && text.to_lowercase().contains(word))
}

/// Splits the typed text into terms at its spaces. Spaces inside a comparison don't split it: `hits > 20` becomes the
/// term `hits>20`, and `ctr < 5 %` becomes `ctr<5%`. `is_operand` returns whether a name can be compared.
pub fn split_terms(typed: &str, is_operand: impl Fn(&str) -> bool) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in typed.split_whitespace() {
        let continues_last_term = tokens.last().is_some_and(|last| {
            let begins = word.starts_with(OPERATOR_CHARS) && is_operand(last);
            let is_open =
                last.strip_suffix(OPERATOR_CHARS).is_some_and(|name| is_operand(name.trim_end_matches(OPERATOR_CHARS)));
            let is_percent = word == "%" && last.contains(OPERATOR_CHARS);
            begins || is_open || is_percent
        });
        match tokens.last_mut() {
            Some(last) if continues_last_term => last.push_str(word),
            _ => tokens.push(word.to_owned()),
        }
    }
    tokens
}

/// Removes the commas from a number. Returns `None` unless the result is an optional sign, then a digit, then only
/// digits and decimal points.
pub fn number_without_commas(typed: &str) -> Option<String> {
    let plain = typed.replace(',', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    (unsigned.starts_with(|c: char| c.is_ascii_digit()) && unsigned.bytes().all(is_digit)).then_some(plain)
}

/// Parses a count such as `12.5` or `1,000`, or a short form such as `1.5k` or `2m`.
pub fn parse_count(typed: &str) -> Option<DecimalCount> {
    let (digits, zeros) = match typed.strip_suffix(['k', 'K', 'm', 'M']) {
        Some(digits) => (digits, if typed.ends_with(['k', 'K']) { 3 } else { 6 }),
        None => (typed, 0),
    };
    let digits = number_without_commas(digits)?;
    let (integer, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    // Moves the decimal point to the right: by three digits for k, by six for m.
    let (moved, rest) = decimals.split_at_checked(zeros).unwrap_or((decimals, ""));
    let point = if rest.is_empty() { "" } else { "." };
    DecimalCount::parse(&format!("{integer}{moved:0<zeros$}{point}{rest}"))
}
