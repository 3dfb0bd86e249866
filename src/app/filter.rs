//! The filter of the jobs list: what is typed, read into terms, and whether a row passes them all.
//!
//! Words are looked for fuzzily in what a row shows. Prompts are not in memory: which jobs have a word in their prompts
//! comes from the store, word by word, and is kept here; asking for it is `searching`'s.

use crate::model::prompt::DeliveryKind;
use crate::model::row::{JobKey, JobRow};
use crate::model::text::CleanText;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Matcher, Utf32Str};
use std::collections::{HashMap, HashSet};

/// A match with gaps counts when the matcher weighs it at least so much for each character (16 is a bare match, the start
/// of a word brings up to 16 more, a gap costs 3 and more): else every long title has every short word strewn over it.
const SCORE_PER_CHAR: usize = 19;
/// Shorter words stand in nearly every prompt; the store is not asked for them.
const MIN_IN_PROMPTS: usize = 2;

/// What a filter asks for; a row passes when it passes every term.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    /// `!` before it: a row must not have it.
    not: bool,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// Anywhere in what the row shows, or in a prompt.
    Word {
        word: String,
        fuzzy: Atom,
        plain: Atom,
    },
    /// Start of the status' or the delivery's word, or of the group's.
    Status(String),
    Model(Atom),
    /// First digits of the pull request's number.
    PullRequest(String),
    /// Start of a tag.
    Tag(String),
}

fn atom(word: &str, kind: AtomKind) -> Atom {
    Atom::new(word, CaseMatching::Ignore, Normalization::Smart, kind, false)
}

impl Filter {
    /// Reads what is typed: words, `s:` status, `m:` model, `#1423`, `tag:x` or `#x`, each with `!` before it for "not".
    /// Terms that are not finished (`s:`, `!`) ask for nothing yet.
    pub fn parse(typed: &str) -> Self {
        Self { terms: typed.split_whitespace().filter_map(Term::parse).collect() }
    }

    /// Whether every row passes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The words that may also stand in prompts, lower case, each once.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for term in &self.terms {
            if let What::Word { word, .. } = &term.what
                && word.chars().count() >= MIN_IN_PROMPTS
                && !words.contains(word)
            {
                words.push(word.clone());
            }
        }
        words
    }
}

impl Term {
    fn parse(typed: &str) -> Option<Self> {
        let (not, rest) = typed.strip_prefix('!').map_or((false, typed), |rest| (true, rest));
        let rest = rest.to_lowercase();
        let named = |prefix: &str| rest.strip_prefix(prefix).map(str::to_owned);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let what = if let Some(status) = named("s:") {
            What::Status(status)
        } else if let Some(model) = named("m:") {
            if model.is_empty() {
                return None;
            }
            What::Model(atom(&model, AtomKind::Substring))
        } else if let Some(tag) = named("tag:") {
            What::Tag(tag.trim_start_matches('#').to_owned())
        } else if let Some(number) = named("#").filter(|number| is_number(number)) {
            What::PullRequest(number)
        } else if let Some(tag) = named("#") {
            What::Tag(tag)
        } else {
            What::Word { fuzzy: atom(&rest, AtomKind::Fuzzy), plain: atom(&rest, AtomKind::Substring), word: rest }
        };
        let is_open = match &what {
            What::Word { word: text, .. } | What::Status(text) | What::PullRequest(text) | What::Tag(text) => {
                text.is_empty()
            }
            What::Model(_) => false,
        };
        (!is_open).then_some(Self { not, what })
    }
}

/// A filter at work: with the matcher's scratch memory and with what the store found in prompts.
#[derive(Debug, Default)]
pub struct Sieve {
    filter: Filter,
    matcher: Matcher,
    scratch: Vec<char>,
    found: HashMap<String, HashSet<JobKey>>,
    /// Words whose prompts have to be looked through again: there are new ones. What was found holds meanwhile.
    stale: HashSet<String>,
}

impl Sieve {
    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Takes another filter; what was found for words that it shares stays.
    pub fn set(&mut self, filter: Filter) {
        let words = filter.words();
        self.found.retain(|word, _| words.contains(word));
        self.filter = filter;
    }

    /// Whether it is known in which prompts a word stands.
    pub fn has_found(&self, word: &str) -> bool {
        self.found.contains_key(word) && !self.stale.contains(word)
    }

    /// There are new prompts: what was found may be more by now.
    pub fn find_again(&mut self) {
        self.stale = self.filter.words().into_iter().collect();
    }

    /// Takes the jobs in whose prompts a word stands; dropped when the filter no longer asks for it.
    pub fn take(&mut self, word: String, jobs: HashSet<JobKey>) -> bool {
        let wanted = self.filter.words().contains(&word);
        self.stale.remove(&word);
        if wanted {
            self.found.insert(word, jobs);
        }
        wanted
    }

    /// Whether a row passes.
    pub fn passes(&mut self, row: &JobRow) -> bool {
        let Self { filter, matcher, scratch, found, .. } = self;
        filter.terms.iter().all(|term| {
            let in_prompt = |word: &str| found.get(word).is_some_and(|jobs| jobs.contains(&row.key));
            has(&term.what, row, &mut Hay { matcher, scratch }, in_prompt) != term.not
        })
    }
}

/// The matcher's working memory.
struct Hay<'a> {
    matcher: &'a mut Matcher,
    scratch: &'a mut Vec<char>,
}

impl Hay<'_> {
    fn score(&mut self, atom: &Atom, text: &str) -> Option<u16> {
        atom.score(Utf32Str::new(text, self.scratch), self.matcher)
    }
}

fn has(what: &What, row: &JobRow, hay: &mut Hay<'_>, in_prompt: impl Fn(&str) -> bool) -> bool {
    match what {
        What::Word { word, fuzzy, plain } => {
            let enough = word.chars().count() * SCORE_PER_CHAR;
            let mut near = |text: &str| {
                hay.score(plain, text).is_some()
                    || hay.score(fuzzy, text).is_some_and(|score| usize::from(score) >= enough)
            };
            let shown = [Some(&row.title), row.git_ref.as_ref(), row.repository.as_deref()];
            shown.into_iter().flatten().map(CleanText::as_str).any(&mut near)
                // An id is opaque: something near it is another one.
                || row.id.as_ref().is_some_and(|id| hay.score(plain, id.as_str()).is_some())
                || row.tags.iter().any(|tag| hay.score(plain, tag.as_str()).is_some())
                || row.pr_number().is_some_and(|number| number.to_string() == *word)
                || in_prompt(word)
        }
        What::Status(start) => has_status(row, start),
        What::Model(part) => row.model.as_ref().is_some_and(|model| hay.score(part, model.as_str()).is_some()),
        What::PullRequest(digits) => row.pr_number().is_some_and(|number| number.to_string().starts_with(digits)),
        What::Tag(start) => row.tags.iter().any(|tag| tag.as_str().starts_with(start.as_str())),
    }
}

fn has_status(row: &JobRow, start: &str) -> bool {
    // `s:notsent` and `s:needsyou`: a term has no space in it.
    let begins = |word: &str| word.to_lowercase().replace(' ', "").starts_with(start);
    row.undelivered.map(DeliveryKind::word).is_some_and(begins)
        || row.status.as_ref().is_some_and(|status| begins(status.word()))
        || begins(row.group().name())
        || (row.gone && begins("gone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::row;
    use crate::model::job::Status;

    fn job() -> JobRow {
        let mut job = row(7, Status::Failed);
        job.title = CleanText::line("Rewrite the SSO guide");
        job.model = Some(CleanText::line("Big Sonnet").into());
        job.git_ref = Some(CleanText::line("agent/sso-guide"));
        job.repository = Some(CleanText::line("https://github.com/acme/docs").into());
        job.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/1423"));
        job.tags = [CleanText::line("auth")].into();
        job
    }

    fn passes(typed: &str) -> bool {
        let mut sieve = Sieve::default();
        sieve.set(Filter::parse(typed));
        sieve.passes(&job())
    }

    #[test]
    fn every_kind_of_term_looks_at_its_own_part_of_a_job() {
        for typed in [
            "sso",
            "writ",
            "SSO guide",
            "rwrte",
            "acme",
            "job-7",
            "1423",
            "auth",
            "s:failed",
            "s:fa",
            "s:needsyou",
            "m:sonnet",
            "#1423",
            "#14",
            "tag:auth",
            "#auth",
            "!billing",
            "!s:active",
            "",
            "s:",
            "!",
            "sso s:failed m:son tag:a",
        ] {
            assert!(passes(typed), "{typed:?} passes");
        }
        for typed in
            ["billing", "!sso", "s:active", "m:opus", "#15", "tag:docs", "!#1423", "!tag:auth", "sso s:queued", "job-8"]
        {
            assert!(!passes(typed), "{typed:?} does not pass");
        }
    }

    #[test]
    fn letters_strewn_over_a_title_are_no_match() {
        let mut sieve = Sieve::default();
        sieve.set(Filter::parse("sso"));
        let mut other = job();
        (other.git_ref, other.tags) = (None, Default::default());
        other.title = CleanText::line("Translate billing, ask also about refunds");
        assert!(!sieve.passes(&other));
    }

    #[test]
    fn a_word_in_a_prompt_counts_as_the_row_having_it() {
        let mut sieve = Sieve::default();
        sieve.set(Filter::parse("Redirects !legacy"));
        assert_eq!(sieve.filter().words(), ["redirects", "legacy"]);
        assert!(!sieve.passes(&job()));
        assert!(sieve.take("redirects".to_owned(), HashSet::from([JobKey(7)])));
        assert!(sieve.passes(&job()));
        assert!(sieve.take("legacy".to_owned(), HashSet::from([JobKey(7)])));
        assert!(!sieve.passes(&job()), "a prompt with the word that must not be there");
    }

    #[test]
    fn what_was_found_for_an_older_filter_is_dropped() {
        let mut sieve = Sieve::default();
        sieve.set(Filter::parse("redirects"));
        sieve.set(Filter::parse("redirect"));
        assert!(!sieve.take("redirects".to_owned(), HashSet::from([JobKey(7)])));
        assert!(!sieve.passes(&job()));
    }
}
