//! The filter of the jobs list: what is typed, read into terms, and whether a row passes them all.
//!
//! Words are looked for fuzzily in what a row shows. Prompts are not in memory: which jobs have a word in their prompts
//! comes from the store, word by word, and is kept here; asking for it is `searching`'s.
//!
//! A fuzzy match weighs each letter, so a row that is no match for `gd` may be one for `gdpr`. What can be said before the
//! next letter is typed is that a row without these letters in this order never will be: the others are *near*.

use crate::model::job::Status;
use crate::model::job_state::{self, begins, search_words, squeezed, words};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Matcher, Utf32Str};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A match with gaps counts when the matcher weighs it at least so much for each character (16 is a bare match, the start
/// of a word brings up to 16 more, a gap costs 3 and more): else every long title has every short word strewn over it.
const SCORE_PER_CHAR: usize = 19;
/// Shorter words stand in nearly every prompt; the store is not asked for them.
const MIN_IN_PROMPTS: usize = 2;

/// What a filter asks for; a row passes when it passes every term.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFilter {
    terms: Vec<JobTerm>,
}

#[derive(Debug, Clone, PartialEq)]
struct JobTerm {
    /// `!` before it: a row must not have it.
    not: bool,
    what: Criterion,
}

#[derive(Debug, Clone, PartialEq)]
enum Criterion {
    /// Anywhere in what the row shows (its state's word and pull request too), or in a prompt.
    Word(Word),
    /// Start of the status' or the delivery's word, or of the group's; squeezed.
    Status(String),
    Model(Atom),
    /// First digits of the pull request's number.
    PullRequest(String),
    /// Start of a tag.
    Tag(String),
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    /// As state words are compared.
    squeezed: String,
    letters: usize,
    fuzzy: Atom,
    plain: Atom,
    /// Made of digits alone: it may be a pull request's number.
    number: bool,
}

fn atom(word: &str, kind: AtomKind) -> Atom {
    Atom::new(word, CaseMatching::Ignore, Normalization::Smart, kind, false)
}

impl JobFilter {
    /// Reads what is typed: words, `s:` status, `m:` model, `#1423`, `tag:x` or `#x`, each with `!` before it for "not".
    /// Terms that are not finished (`s:`, `!`) ask for nothing yet.
    pub fn parse(typed: &str) -> Self {
        Self { terms: typed.split_whitespace().filter_map(JobTerm::parse).collect() }
    }

    /// Whether every row passes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The words that may also stand in prompts, lower case, each once.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for term in &self.terms {
            if let Criterion::Word(word) = &term.what
                && word.letters >= MIN_IN_PROMPTS
                && !words.contains(&word.text)
            {
                words.push(word.text.clone());
            }
        }
        words
    }

    /// The first value of `s:` that begins no word for a job's state: neither one of docdeck's own nor one of `others`.
    pub fn unknown_status<'a>(&self, others: impl Iterator<Item = &'a str> + Clone) -> Option<&str> {
        let is_known = |start: &str| {
            search_words().any(|(word, _)| begins(&word, start)) || others.clone().any(|word| begins(word, start))
        };
        self.terms.iter().find_map(|term| match &term.what {
            Criterion::Status(start) if !is_known(start) => Some(start.as_str()),
            _ => None,
        })
    }

    /// Whether no row can pass that `before` neither let through nor found near: terms were added, or went on, none of
    /// those as far as a word whose prompts are `known`.
    fn narrows(&self, before: &Self, known: impl Fn(&str) -> bool) -> bool {
        let went_on = |(now, before): (&JobTerm, &JobTerm)| now == before || now.goes_on_from(before, &known);
        self.terms.len() >= before.terms.len() && self.terms.iter().zip(&before.terms).all(went_on)
    }
}

/// What a filter makes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// What it shows passes neither this filter nor one that goes on from it.
    Fails,
    /// It may pass when more is typed.
    Fuzzy,
    Passes,
}

/// What comes of it that the jobs are known in whose prompts a word stands.
#[derive(Debug, PartialEq)]
pub enum Taken {
    /// The filter no longer asks for the word.
    Unwanted,
    /// Of all rows that don't pass, those of these jobs may by now; all that pass still do.
    More(Vec<JobKey>),
    /// Any row may pass or not.
    Anew,
}

impl JobTerm {
    fn goes_on_from(&self, before: &Self, known: impl Fn(&str) -> bool) -> bool {
        if self.not || before.not {
            return false;
        }
        match (&self.what, &before.what) {
            (Criterion::Word(now), Criterion::Word(before)) => now.text.starts_with(&before.text) && !known(&now.text),
            (Criterion::Status(now), Criterion::Status(before))
            | (Criterion::PullRequest(now), Criterion::PullRequest(before))
            | (Criterion::Tag(now), Criterion::Tag(before)) => now.starts_with(before),
            _ => false,
        }
    }

    fn parse(typed: &str) -> Option<Self> {
        let (not, rest) = typed.strip_prefix('!').map_or((false, typed), |rest| (true, rest));
        let rest = rest.to_lowercase();
        let named = |prefix: &str| rest.strip_prefix(prefix).map(str::to_owned);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let what = if let Some(status) = named("s:") {
            Criterion::Status(squeezed(&status))
        } else if let Some(model) = named("m:") {
            if model.is_empty() {
                return None;
            }
            Criterion::Model(atom(&model, AtomKind::Substring))
        } else if let Some(tag) = named("tag:") {
            Criterion::Tag(tag.trim_start_matches('#').to_owned())
        } else if let Some(number) = named("#").filter(|number| is_number(number)) {
            Criterion::PullRequest(number)
        } else if let Some(tag) = named("#") {
            Criterion::Tag(tag)
        } else {
            let (fuzzy, plain) = (atom(&rest, AtomKind::Fuzzy), atom(&rest, AtomKind::Substring));
            let (letters, number) = (rest.chars().count(), is_number(&rest));
            Criterion::Word(Word { letters, number, fuzzy, plain, squeezed: squeezed(&rest), text: rest })
        };
        let is_open = match &what {
            Criterion::Word(Word { text, .. })
            | Criterion::Status(text)
            | Criterion::PullRequest(text)
            | Criterion::Tag(text) => text.is_empty(),
            Criterion::Model(_) => false,
        };
        (!is_open).then_some(Self { not, what })
    }
}

/// A filter at work: with the matcher's scratch memory and with what the store found in prompts.
#[derive(Debug, Default)]
pub struct FilterState {
    filter: JobFilter,
    /// The first term that the filter before did not have.
    fresh: usize,
    matcher: Matcher,
    scratch: Vec<char>,
    /// What each term makes of the repository that was looked at last: most rows share one.
    repositories: Vec<Option<(Arc<CleanText>, Match)>>,
    /// By word, in order.
    found: HashMap<String, Vec<JobKey>>,
    /// Words whose prompts have to be looked through again: there are new ones. What was found holds meanwhile.
    stale: HashSet<String>,
}

impl FilterState {
    /// The filter.
    pub fn filter(&self) -> &JobFilter {
        &self.filter
    }

    /// Takes another filter; what was found for words that it shares stays. Whether only rows can pass now that passed
    /// until now, or were near to it.
    pub fn set(&mut self, filter: JobFilter) -> bool {
        let narrows = filter.narrows(&self.filter, |word| self.found.contains_key(word));
        let words = filter.words();
        self.found.retain(|word, _| words.contains(word));
        self.fresh = filter.terms.iter().zip(&self.filter.terms).take_while(|(now, before)| now == before).count();
        self.repositories = vec![None; filter.terms.len()];
        self.filter = filter;
        narrows
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
    pub fn take(&mut self, word: String, mut jobs: Vec<JobKey>) -> Taken {
        self.stale.remove(&word);
        if !self.filter.words().contains(&word) {
            return Taken::Unwanted;
        }
        jobs.sort_unstable();
        jobs.dedup();
        let is_not = |term: &JobTerm| term.not && matches!(&term.what, Criterion::Word(other) if other.text == word);
        let only_more = !self.found.contains_key(&word) && !self.filter.terms.iter().any(is_not);
        let more = only_more.then(|| jobs.clone());
        self.found.insert(word, jobs);
        more.map_or(Taken::Anew, Taken::More)
    }

    /// What the filter makes of a row.
    pub fn verdict(&mut self, row: &Job) -> Match {
        self.weigh(row, 0)
    }

    /// What it makes of a row that the filter before let through.
    pub fn verdict_anew(&mut self, row: &Job) -> Match {
        self.weigh(row, self.fresh)
    }

    fn weigh(&mut self, row: &Job, from: usize) -> Match {
        let Self { filter, matcher, scratch, repositories, found, .. } = self;
        let mut verdict = Match::Passes;
        for (term, repository) in filter.terms.iter().zip(repositories).skip(from) {
            let in_prompt = |word: &str| found.get(word).is_some_and(|jobs| jobs.binary_search(&row.key).is_ok());
            let of_term = match has(&term.what, row, &mut MatchScratch { matcher, scratch, repository }, in_prompt) {
                Match::Passes if term.not => Match::Fails,
                _ if term.not => Match::Passes,
                verdict => verdict,
            };
            if of_term == Match::Fails {
                return of_term;
            }
            verdict = verdict.min(of_term);
        }
        verdict
    }
}

/// The matcher's working memory.
struct MatchScratch<'a> {
    matcher: &'a mut Matcher,
    scratch: &'a mut Vec<char>,
    repository: &'a mut Option<(Arc<CleanText>, Match)>,
}

impl MatchScratch<'_> {
    fn score(&mut self, atom: &Atom, text: &str) -> Option<u16> {
        atom.score(Utf32Str::new(text, self.scratch), self.matcher)
    }

    /// What a word makes of a text that it may match with gaps.
    fn near(&mut self, word: &Word, text: &CleanText) -> Match {
        if self.score(&word.plain, text.as_str()).is_some() {
            return Match::Passes;
        }
        // One letter has no gaps.
        let score = if word.letters > 1 { self.score(&word.fuzzy, text.as_str()) } else { None };
        match score {
            Some(score) if usize::from(score) >= word.letters * SCORE_PER_CHAR => Match::Passes,
            Some(_) => Match::Fuzzy,
            None => Match::Fails,
        }
    }

    fn near_repository(&mut self, word: &Word, row: &Job) -> Match {
        let Some(repository) = &row.repository else { return Match::Fails };
        if let Some((known, verdict)) = &self.repository
            && Arc::ptr_eq(known, repository)
        {
            return *verdict;
        }
        let verdict = self.near(word, repository);
        *self.repository = Some((Arc::clone(repository), verdict));
        verdict
    }
}

fn has(what: &Criterion, row: &Job, hay: &mut MatchScratch<'_>, in_prompt: impl Fn(&str) -> bool) -> Match {
    let passes = match what {
        Criterion::Word(word) => return has_word(word, row, hay, in_prompt),
        Criterion::Status(start) => words(row).any(|word| begins(word, start)),
        Criterion::Model(part) => row.model.as_ref().is_some_and(|model| hay.score(part, model.as_str()).is_some()),
        Criterion::PullRequest(digits) => row.pr_number().is_some_and(|number| number.to_string().starts_with(digits)),
        Criterion::Tag(start) => row.tags.iter().any(|tag| tag.as_str().starts_with(start.as_str())),
    };
    if passes { Match::Passes } else { Match::Fails }
}

fn has_word(word: &Word, row: &Job, hay: &mut MatchScratch<'_>, in_prompt: impl Fn(&str) -> bool) -> Match {
    if in_prompt(&word.text) {
        return Match::Passes;
    }
    let mut best = hay.near(word, &row.title);
    if best < Match::Passes
        && let Some(git_ref) = &row.git_ref
    {
        best = best.max(hay.near(word, git_ref));
    }
    if best < Match::Passes {
        best = best.max(hay.near_repository(word, row));
    }
    if best == Match::Passes {
        return best;
    }
    // An id is opaque: something near it is another one.
    if row.id.as_ref().is_some_and(|id| hay.score(&word.plain, id.as_str()).is_some())
        || row.tags.iter().any(|tag| hay.score(&word.plain, tag.as_str()).is_some())
        || shows_state(row, word)
    {
        return Match::Passes;
    }
    if word.number && row.pr_number().is_some_and(|number| number.to_string().starts_with(&word.text)) {
        return Match::Passes;
    }
    best
}

/// Whether a typed word is the beginning of a word that the row shows for its state: of each part of `not sent`, but only
/// of the whole name of its group. The number of a pull request is compared elsewhere.
fn shows_state(row: &Job, word: &Word) -> bool {
    if word.squeezed.is_empty() {
        return false;
    }
    let pull_request = match (&row.pr_link, &row.status) {
        (Some(_), _) => "PR",
        (None, Some(Status::Completed)) => "no PR",
        (None, _) => "",
    };
    let mut parts = job_state::word(row).split(' ').chain(pull_request.split(' '));
    words(row).any(|shown| begins(shown, &word.squeezed)) || parts.any(|part| begins(part, &word.squeezed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::row;

    fn job() -> Job {
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
        let mut sieve = FilterState::default();
        sieve.set(JobFilter::parse(typed));
        sieve.verdict(&job()) == Match::Passes
    }

    #[test]
    fn every_kind_of_term_looks_at_its_own_part_of_a_job() {
        for typed in [
            "sso",
            "writ",
            "SSO guide",
            "rwrte",
            "failed",
            "fail",
            "needs",
            "PR 1423",
            "pr",
            "14",
            "s:Needs-You",
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
        for typed in [
            "billing",
            "!sso",
            "s:active",
            "m:opus",
            "#15",
            "tag:docs",
            "!#1423",
            "!tag:auth",
            "sso s:queued",
            "job-8",
            "!failed",
            "completed",
            "PR 1424",
            "423",
            "queued",
            "you",
        ] {
            assert!(!passes(typed), "{typed:?} does not pass");
        }
    }

    #[test]
    fn every_word_that_a_row_shows_for_its_state_finds_it() {
        use crate::model::job_state::{JobState, word};
        use crate::model::prompt::DeliveryKind;
        let finds = |typed: &str, row: &Job| {
            let mut sieve = FilterState::default();
            sieve.set(JobFilter::parse(typed));
            sieve.verdict(row) == Match::Passes
        };
        for kind in DeliveryKind::ALL.into_iter().filter(|kind| kind.holds_the_rest()) {
            let mut row = row(1, Status::Active);
            row.undelivered = Some(kind);
            let typed = word(&row).to_owned();
            assert!(finds(&typed, &row) && finds(&format!("s:{}", typed.replace(' ', "-")), &row), "{typed}");
            assert!(!finds("completed", &row) && !finds("s:completed", &row), "{typed}");
        }
        let other = row(1, Status::Unknown(CleanText::line("In review")));
        assert_eq!(JobState::of(&other), JobState::Other);
        assert!(finds("in review", &other) && finds("s:in-review", &other));
        let without = row(1, Status::Completed);
        assert!(finds("no PR", &without) && finds("completed", &without) && !finds("failed", &without));
    }

    #[test]
    fn a_status_that_there_is_not_is_named() {
        let unknown =
            |typed: &str| JobFilter::parse(typed).unknown_status(["reviewing"].into_iter()).map(str::to_owned);
        for known in ["s:f", "s:not-sent", "s:needs_you", "!s:QUEUED", "s:rev", "s:", "fial", "s:discarded"] {
            assert_eq!(unknown(known), None, "{known}");
        }
        assert_eq!(unknown("sso !s:Fial").as_deref(), Some("fial"));
    }

    #[test]
    fn letters_strewn_over_a_title_are_no_match() {
        let mut sieve = FilterState::default();
        sieve.set(JobFilter::parse("sso"));
        let mut other = job();
        (other.git_ref, other.tags) = (None, Default::default());
        other.title = CleanText::line("Translate billing, ask also about refunds");
        assert!(sieve.verdict(&other) != Match::Passes);
    }

    #[test]
    fn a_word_in_a_prompt_counts_as_the_row_having_it() {
        let mut sieve = FilterState::default();
        sieve.set(JobFilter::parse("Redirects !legacy"));
        assert_eq!(sieve.filter().words(), ["redirects", "legacy"]);
        assert!(sieve.verdict(&job()) != Match::Passes);
        assert_eq!(sieve.take("redirects".to_owned(), vec![JobKey(7)]), Taken::More(vec![JobKey(7)]));
        assert_eq!(sieve.verdict(&job()), Match::Passes);
        assert_eq!(sieve.take("legacy".to_owned(), vec![JobKey(7)]), Taken::Anew);
        assert!(sieve.verdict(&job()) != Match::Passes, "a prompt with the word that must not be there");
    }

    #[test]
    fn what_was_found_for_an_older_filter_is_dropped() {
        let mut sieve = FilterState::default();
        sieve.set(JobFilter::parse("redirects"));
        sieve.set(JobFilter::parse("redirect"));
        assert_eq!(sieve.take("redirects".to_owned(), vec![JobKey(7)]), Taken::Unwanted);
        assert!(sieve.verdict(&job()) != Match::Passes);
    }
}
