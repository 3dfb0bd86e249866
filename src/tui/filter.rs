//! The filter of the jobs list: parses the typed text into terms and matches rows against them.
//!
//! Words are matched fuzzily against the text that a row shows. Prompts are not in memory: the store searches them for
//! each word, and this module caches which jobs have the word in a prompt (see `job_filter_bar`).
//!
//! A fuzzy match needs a minimum score per letter, so a row that doesn't match `gd` may still match `gdpr`. Such a row
//! is `Match::Candidate`. A row that doesn't contain the letters of `gd` in this order can't match any word that starts
//! with `gd` either. Such a row is `Match::Fails`.

use crate::model::job::{Job, JobKey};
use crate::model::job_state::{
    self, known_filter_words, normalize_word, pull_request_words, starts_with_normalized, state_words,
};
use crate::model::pull_request::PullRequestFact;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Matcher, Utf32Str};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The minimum score per character of a match with gaps. A matched character scores 16, the start of a word adds up to
/// 16, and a gap costs at least 3. Without the minimum, nearly every long title would match every short word.
const MIN_SCORE_PER_CHAR: usize = 19;
/// The minimum length of a word that is searched in prompts. A shorter word would be found in nearly every prompt.
const MIN_PROMPT_WORD_CHARS: usize = 2;

/// The term for the jobs that no other member of the team started.
const MINE: &str = "mine";

/// A parsed filter. A row passes if it matches every term.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFilter {
    terms: Vec<JobTerm>,
}

#[derive(Debug, Clone, PartialEq)]
struct JobTerm {
    /// Whether the term starts with `!`. If so, a row passes only if it doesn't match the rest of the term.
    is_negated: bool,
    criterion: Criterion,
}

#[derive(Debug, Clone, PartialEq)]
enum Criterion {
    /// A word in the text that the row shows, including its status and pull request, or in a prompt of the job.
    Word(Word),
    /// The start of the name of the status, delivery state or group, without spaces and hyphens.
    Status(String),
    Model(Atom),
    /// The first digits of the pull request number.
    PullRequest(String),
    /// The start of a word for the state of the pull request, without spaces and hyphens.
    PullRequestState(String),
    /// A part of the name of a failed check, without spaces and hyphens.
    FailedCheck(String),
    /// The start of a tag.
    Tag(String),
    /// The start of the name of the member who started the job.
    Author(String),
    /// This computer started the job, or it is unknown who did.
    Mine,
}

/// A word to search for.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    /// The word in lower case without spaces and hyphens, for comparison with the names of states.
    normalized_text: String,
    char_count: usize,
    fuzzy_atom: Atom,
    substring_atom: Atom,
    /// Whether the word consists of digits, so that it may be a pull request number.
    is_numeric: bool,
}

fn parse_atom(word: &str, kind: AtomKind) -> Atom {
    Atom::new(word, CaseMatching::Ignore, Normalization::Smart, kind, false)
}

impl JobFilter {
    /// Parses a filter. Its terms are words, `s:` status, `m:` model, `#1423`, `pr:` state of the pull request,
    /// `check:` failed check, `tag:x` or `#x`, `by:` author, and `mine`. An optional `!` before a term means “not”.
    /// Ignores incomplete terms (`s:`, `!`).
    pub fn parse(typed: &str) -> Self {
        Self { terms: typed.split_whitespace().filter_map(JobTerm::parse).collect() }
    }

    /// Whether the filter has no terms, so that every row passes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the words to search in prompts, in lower case and without duplicates.
    pub fn prompt_words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for term in &self.terms {
            if let Criterion::Word(word) = &term.criterion
                && word.char_count >= MIN_PROMPT_WORD_CHARS
                && !words.contains(&word.text)
            {
                words.push(word.text.clone());
            }
        }
        words
    }

    /// Returns the first value of an `s:` term that matches no job state: neither a state of docdeck nor a status in
    /// `unrecognized_statuses` starts with it.
    pub fn unknown_status<'a>(&self, unrecognized_statuses: impl Iterator<Item = &'a str> + Clone) -> Option<&str> {
        let is_known = |start: &str| {
            known_filter_words().any(|(word, _)| starts_with_normalized(&word, start))
                || unrecognized_statuses.clone().any(|word| starts_with_normalized(word, start))
        };
        self.terms.iter().find_map(|term| match &term.criterion {
            Criterion::Status(start) if !is_known(start) => Some(start.as_str()),
            _ => None,
        })
    }

    /// Returns the first value of a `pr:` term that is not the start of any word for the state of a pull request.
    pub fn unknown_pull_request_state(&self) -> Option<&str> {
        let is_known =
            |start: &str| PullRequestFact::known_filter_words().any(|word| starts_with_normalized(&word, start));
        self.terms.iter().find_map(|term| match &term.criterion {
            Criterion::PullRequestState(start) if !is_known(start) => Some(start.as_str()),
            _ => None,
        })
    }

    /// Whether every row that was `Match::Fails` for the filter `before` certainly fails this filter, too. True if
    /// terms were only added or extended. False if an extended term is negated. Also false if `has_search_result` is
    /// true for an extended word: the prompts have then been searched for this word, and a row that was `Match::Fails`
    /// for `before` may pass because of the result.
    fn narrows(&self, before: &Self, has_search_result: impl Fn(&str) -> bool) -> bool {
        let extends = |(now, before): (&JobTerm, &JobTerm)| now == before || now.extends(before, &has_search_result);
        self.terms.len() >= before.terms.len() && self.terms.iter().zip(&before.terms).all(extends)
    }
}

/// The result of matching a row against the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// The row doesn't match, and can't match if the filter is extended.
    Fails,
    /// The row doesn't match, but may match if the filter is extended.
    Candidate,
    Passes,
}

/// The rows to match again after the prompts were searched for a word.
#[derive(Debug, PartialEq)]
pub enum RowsToRematch {
    /// No rows, because the filter no longer has the word.
    NoRows,
    /// The rows of these jobs, which may pass now. All rows that passed before still pass.
    Jobs(Vec<JobKey>),
    /// All rows.
    All,
}

impl JobTerm {
    fn extends(&self, before: &Self, has_search_result: impl Fn(&str) -> bool) -> bool {
        if self.is_negated || before.is_negated {
            return false;
        }
        match (&self.criterion, &before.criterion) {
            (Criterion::Word(now), Criterion::Word(before)) => {
                now.text.starts_with(&before.text) && !has_search_result(&now.text)
            }
            (Criterion::Status(now), Criterion::Status(before))
            | (Criterion::PullRequestState(now), Criterion::PullRequestState(before))
            | (Criterion::FailedCheck(now), Criterion::FailedCheck(before))
            | (Criterion::PullRequest(now), Criterion::PullRequest(before))
            | (Criterion::Author(now), Criterion::Author(before))
            | (Criterion::Tag(now), Criterion::Tag(before)) => now.starts_with(before),
            _ => false,
        }
    }

    fn parse(typed: &str) -> Option<Self> {
        let (not, rest) = typed.strip_prefix('!').map_or((false, typed), |rest| (true, rest));
        let rest = rest.to_lowercase();
        let after_prefix = |prefix: &str| rest.strip_prefix(prefix).map(str::to_owned);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let criterion = if let Some(status) = after_prefix("s:") {
            Criterion::Status(normalize_word(&status))
        } else if let Some(model) = after_prefix("m:") {
            if model.is_empty() {
                return None;
            }
            Criterion::Model(parse_atom(&model, AtomKind::Substring))
        } else if let Some(state) = after_prefix("pr:") {
            Criterion::PullRequestState(normalize_word(&state))
        } else if let Some(check) = after_prefix("check:") {
            Criterion::FailedCheck(normalize_word(&check))
        } else if let Some(tag) = after_prefix("tag:") {
            Criterion::Tag(tag.trim_start_matches('#').to_owned())
        } else if let Some(author) = after_prefix("by:") {
            Criterion::Author(normalize_word(&author))
        } else if rest == MINE {
            Criterion::Mine
        } else if let Some(number) = after_prefix("#").filter(|number| is_number(number)) {
            Criterion::PullRequest(number)
        } else if let Some(tag) = after_prefix("#") {
            Criterion::Tag(tag)
        } else {
            let fuzzy_atom = parse_atom(&rest, AtomKind::Fuzzy);
            let substring_atom = parse_atom(&rest, AtomKind::Substring);
            let (char_count, is_numeric) = (rest.chars().count(), is_number(&rest));
            Criterion::Word(Word {
                char_count,
                is_numeric,
                fuzzy_atom,
                substring_atom,
                normalized_text: normalize_word(&rest),
                text: rest,
            })
        };
        let is_incomplete = match &criterion {
            Criterion::Word(Word { text, .. })
            | Criterion::Status(text)
            | Criterion::PullRequestState(text)
            | Criterion::FailedCheck(text)
            | Criterion::PullRequest(text)
            | Criterion::Tag(text)
            | Criterion::Author(text) => text.is_empty(),
            Criterion::Model(_) | Criterion::Mine => false,
        };
        (!is_incomplete).then_some(Self { is_negated: not, criterion })
    }
}

/// A filter, with the buffers of the matcher and the results of searching the prompts.
#[derive(Debug, Default)]
pub struct FilterState {
    filter: JobFilter,
    /// The index of the first term that the previous filter did not have.
    first_new_term: usize,
    matcher: Matcher,
    char_buffer: Vec<char>,
    /// For each term, the repository that was matched last and the result. It is cached because most rows have the same
    /// repository.
    last_repository_matches: Vec<Option<(Arc<CleanText>, Match)>>,
    /// For each word that was searched, the sorted keys of the jobs that have the word in a prompt.
    jobs_by_word: HashMap<String, Vec<JobKey>>,
    /// The words that have to be searched again because there are new prompts. Until then, their previous results
    /// apply.
    words_to_search_again: HashSet<String>,
}

impl FilterState {
    pub fn filter(&self) -> &JobFilter {
        &self.filter
    }

    /// Sets the filter. Keeps the search results of words that the previous filter also had. Returns true if every row
    /// that was `Match::Fails` for the previous filter certainly fails the new one, too.
    pub fn set(&mut self, filter: JobFilter) -> bool {
        let narrows = filter.narrows(&self.filter, |word| self.jobs_by_word.contains_key(word));
        let words = filter.prompt_words();
        self.jobs_by_word.retain(|word, _| words.contains(word));
        self.first_new_term =
            filter.terms.iter().zip(&self.filter.terms).take_while(|(now, before)| now == before).count();
        self.last_repository_matches = vec![None; filter.terms.len()];
        self.filter = filter;
        narrows
    }

    /// Whether the prompts have been searched for a word, and no prompts have been added since.
    pub fn has_search_result(&self, word: &str) -> bool {
        self.jobs_by_word.contains_key(word) && !self.words_to_search_again.contains(word)
    }

    /// Marks all search results as outdated, because there are new prompts.
    pub fn mark_searches_stale(&mut self) {
        self.words_to_search_again = self.filter.prompt_words().into_iter().collect();
    }

    /// Applies a search result: the jobs that have `word` in a prompt. Ignores it if the filter no longer has the word.
    /// Returns which rows have to be matched again.
    pub fn apply_search_result(&mut self, word: String, mut jobs: Vec<JobKey>) -> RowsToRematch {
        self.words_to_search_again.remove(&word);
        if !self.filter.prompt_words().contains(&word) {
            return RowsToRematch::NoRows;
        }
        jobs.sort_unstable();
        jobs.dedup();
        let is_not =
            |term: &JobTerm| term.is_negated && matches!(&term.criterion, Criterion::Word(other) if other.text == word);
        let only_more = !self.jobs_by_word.contains_key(&word) && !self.filter.terms.iter().any(is_not);
        let more = only_more.then(|| jobs.clone());
        self.jobs_by_word.insert(word, jobs);
        more.map_or(RowsToRematch::All, RowsToRematch::Jobs)
    }

    /// Matches a row against all terms.
    pub fn match_row(&mut self, row: &Job) -> Match {
        self.match_terms(row, 0)
    }

    /// Matches a row that passed the previous filter against the new terms only.
    pub fn match_new_terms(&mut self, row: &Job) -> Match {
        self.match_terms(row, self.first_new_term)
    }

    fn match_terms(&mut self, row: &Job, first_term: usize) -> Match {
        let Self { filter, matcher, char_buffer, last_repository_matches, jobs_by_word: found, .. } = self;
        let mut result = Match::Passes;
        for (term, last_repository_match) in filter.terms.iter().zip(last_repository_matches).skip(first_term) {
            let is_in_prompt = |word: &str| found.get(word).is_some_and(|jobs| jobs.binary_search(&row.key).is_ok());
            let mut scratch = MatchScratch { matcher, char_buffer, last_repository_match };
            let of_term = match match_criterion(&term.criterion, row, &mut scratch, is_in_prompt) {
                Match::Passes if term.is_negated => Match::Fails,
                _ if term.is_negated => Match::Passes,
                outcome => outcome,
            };
            if of_term == Match::Fails {
                return of_term;
            }
            result = result.min(of_term);
        }
        result
    }
}

/// What matching a row against one term uses: the matcher, its buffer, and the cached result for a repository.
struct MatchScratch<'a> {
    matcher: &'a mut Matcher,
    char_buffer: &'a mut Vec<char>,
    last_repository_match: &'a mut Option<(Arc<CleanText>, Match)>,
}

impl MatchScratch<'_> {
    fn score(&mut self, atom: &Atom, text: &str) -> Option<u16> {
        atom.score(Utf32Str::new(text, self.char_buffer), self.matcher)
    }

    /// Matches a word against a text, allowing gaps.
    fn match_fuzzy(&mut self, word: &Word, text: &CleanText) -> Match {
        if self.score(&word.substring_atom, text.as_str()).is_some() {
            return Match::Passes;
        }
        // A word of one letter can't match with gaps.
        let score = if word.char_count > 1 { self.score(&word.fuzzy_atom, text.as_str()) } else { None };
        match score {
            Some(score) if usize::from(score) >= word.char_count * MIN_SCORE_PER_CHAR => Match::Passes,
            Some(_) => Match::Candidate,
            None => Match::Fails,
        }
    }

    fn match_repository(&mut self, word: &Word, row: &Job) -> Match {
        let Some(repository) = &row.remote.source.repository else { return Match::Fails };
        if let Some((known, outcome)) = &self.last_repository_match
            && Arc::ptr_eq(known, repository)
        {
            return *outcome;
        }
        let outcome = self.match_fuzzy(word, repository);
        *self.last_repository_match = Some((Arc::clone(repository), outcome));
        outcome
    }
}

fn match_criterion(
    criterion: &Criterion,
    row: &Job,
    scratch: &mut MatchScratch<'_>,
    is_in_prompt: impl Fn(&str) -> bool,
) -> Match {
    let passes = match criterion {
        Criterion::Word(word) => return match_word(word, row, scratch, is_in_prompt),
        Criterion::Status(start) => state_words(row).any(|word| starts_with_normalized(word, start)),
        Criterion::Model(part) => {
            row.remote.model.as_ref().is_some_and(|model| scratch.score(part, model.as_str()).is_some())
        }
        Criterion::PullRequest(digits) => row.pr_number().is_some_and(|number| number.to_string().starts_with(digits)),
        Criterion::PullRequestState(start) => pull_request_words(row).any(|word| starts_with_normalized(word, start)),
        Criterion::FailedCheck(part) => row.pull_request.as_ref().is_some_and(|state| {
            state.checks.failed.iter().any(|check| normalize_word(check.name.as_str()).contains(part))
        }),
        Criterion::Tag(start) => row.local.tags.iter().any(|tag| tag.as_str().starts_with(start.as_str())),
        Criterion::Author(start) => row.author().is_some_and(|author| starts_with_normalized(author.as_str(), start)),
        Criterion::Mine => row.author().is_none(),
    };
    if passes { Match::Passes } else { Match::Fails }
}

fn match_word(word: &Word, row: &Job, scratch: &mut MatchScratch<'_>, is_in_prompt: impl Fn(&str) -> bool) -> Match {
    if is_in_prompt(&word.text) {
        return Match::Passes;
    }
    let mut best = scratch.match_fuzzy(word, &row.local.title);
    if best < Match::Passes
        && let Some(git_ref) = &row.remote.source.git_ref
    {
        best = best.max(scratch.match_fuzzy(word, git_ref));
    }
    if best < Match::Passes {
        best = best.max(scratch.match_repository(word, row));
    }
    if best == Match::Passes {
        return best;
    }
    // Ids and tags are not matched fuzzily, because a similar id or tag is a different one.
    if row.id.as_ref().is_some_and(|id| scratch.score(&word.substring_atom, id.as_str()).is_some())
        || row.local.tags.iter().any(|tag| scratch.score(&word.substring_atom, tag.as_str()).is_some())
        || matches_state(row, word)
    {
        return Match::Passes;
    }
    if word.is_numeric && row.pr_number().is_some_and(|number| number.to_string().starts_with(&word.text)) {
        return Match::Passes;
    }
    best
}

/// Whether the typed word is the start of a word that the row shows for its state. In the name of a state such as
/// `not sent`, the typed word can be the start of any part. In the name of a group such as `needs you`, it must be the
/// start of the whole name. The number of the pull request is not compared here.
fn matches_state(row: &Job, word: &Word) -> bool {
    if word.normalized_text.is_empty() {
        return false;
    }
    let pull_request = match (&row.remote.pr_link, &row.remote.status) {
        (Some(_), _) => "PR",
        (None, Some(Status::Completed)) => "no PR",
        (None, _) => "",
    };
    let mut parts = job_state::state_word(row).split(' ').chain(pull_request.split(' '));
    state_words(row).any(|shown| starts_with_normalized(shown, &word.normalized_text))
        || parts.any(|part| starts_with_normalized(part, &word.normalized_text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::jobs::tests::{at, row};

    fn job() -> Job {
        let mut job = row(7, Status::Failed);
        job.local.title = CleanText::line("Rewrite the SSO guide");
        job.remote.model = Some(CleanText::line("Big Sonnet").into());
        job.remote.source.git_ref = Some(CleanText::line("agent/sso-guide"));
        job.remote.source.repository = Some(CleanText::line("https://github.com/acme/docs").into());
        job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/1423"));
        job.local.tags = [CleanText::line("auth")].into();
        job
    }

    fn passes(typed: &str) -> bool {
        let mut state = FilterState::default();
        state.set(JobFilter::parse(typed));
        state.match_row(&job()) == Match::Passes
    }

    #[test]
    fn every_kind_of_term_matches_its_part_of_a_job() {
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
    fn a_job_is_found_by_every_word_that_it_shows_for_its_state() {
        use crate::model::job_state::{JobState, state_word};
        use crate::model::prompt::DeliveryKind;
        let finds = |typed: &str, row: &Job| {
            let mut state = FilterState::default();
            state.set(JobFilter::parse(typed));
            state.match_row(row) == Match::Passes
        };
        for kind in DeliveryKind::ALL.iter().copied().filter(|kind| kind.blocks_later_prompts()) {
            let mut row = row(1, Status::Active);
            row.local.undelivered = Some(kind);
            let typed = state_word(&row).to_owned();
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
    fn a_job_is_found_by_the_state_and_the_failed_checks_of_its_pull_request() {
        use crate::model::pull_request::tests::open_pull_request;
        use crate::model::pull_request::{Checks, ChecksState, FailedCheck, PullRequest};
        let finds = |typed: &str, row: &Job| {
            let mut state = FilterState::default();
            state.set(JobFilter::parse(typed));
            state.match_row(row) == Match::Passes
        };
        let (without, mut unread) = (row(1, Status::Completed), job());
        assert!(finds("pr:unknown", &unread) && !finds("pr:open", &unread));
        assert!(!finds("pr:unknown", &without) && finds("pr:", &without), "an incomplete term matches everything");
        let failed = vec![FailedCheck { name: CleanText::line("Broken links"), url: None }];
        let checks = Checks { state: ChecksState::Failing, passed: 2, total: 3, failed };
        let state = PullRequest { checks, conflict: Some(true), ..open_pull_request(at(0)) };
        unread.pull_request = Some(Box::new(state));
        for typed in ["pr:open", "pr:failing", "pr:Conf", "!pr:merged", "check:broken-links", "check:links"] {
            assert!(finds(typed, &unread), "{typed}");
        }
        for typed in ["pr:draft", "pr:ready", "pr:unknown", "check:spelling", "!pr:open"] {
            assert!(!finds(typed, &unread), "{typed}");
        }
    }

    #[test]
    fn jobs_are_found_by_the_member_who_started_them() {
        use crate::model::job::TeamActivity;
        let finds = |typed: &str, row: &Job| {
            let mut state = FilterState::default();
            state.set(JobFilter::parse(typed));
            state.match_row(row) == Match::Passes
        };
        let (mine, mut other) = (job(), job());
        let author = Some(CleanText::line("Ana@desk"));
        other.local.team = Some(Box::new(TeamActivity { author, ..TeamActivity::default() }));
        for typed in ["by:ana", "by:ANA@desk", "!mine", "by:", "!by:bob", "sso by:a"] {
            assert!(finds(typed, &other), "{typed}");
        }
        for typed in ["by:bob", "by:desk", "mine", "!by:ana"] {
            assert!(!finds(typed, &other), "{typed}");
        }
        assert!(finds("mine", &mine) && !finds("by:ana", &mine) && !finds("!MINE", &mine));
    }

    #[test]
    fn an_unknown_status_is_reported() {
        let unknown =
            |typed: &str| JobFilter::parse(typed).unknown_status(["reviewing"].into_iter()).map(str::to_owned);
        for known in ["s:f", "s:not-sent", "s:needs_you", "!s:QUEUED", "s:rev", "s:", "fial", "s:discarded"] {
            assert_eq!(unknown(known), None, "{known}");
        }
        assert_eq!(unknown("sso !s:Fial").as_deref(), Some("fial"));
    }

    #[test]
    fn an_unknown_state_of_a_pull_request_is_reported() {
        use crate::model::pull_request::tests::open_pull_request;
        let unknown = |typed: &str| JobFilter::parse(typed).unknown_pull_request_state().map(str::to_owned);
        let words = PullRequestFact::known_filter_words().map(|word| format!("pr:{word}"));
        for known in words.chain(["pr:", "pr:changes", "!pr:Fail", "pr:merge_queue", "redy"].map(str::to_owned)) {
            assert_eq!(unknown(&known), None, "{known}");
        }
        assert_eq!(unknown("sso pr:open !pr:Redy").as_deref(), Some("redy"));
        for word in open_pull_request(at(0)).words() {
            assert!(PullRequestFact::known_filter_words().any(|other| other == word), "{word}");
        }
    }

    #[test]
    fn letters_scattered_over_a_title_do_not_match() {
        let mut state = FilterState::default();
        state.set(JobFilter::parse("sso"));
        let mut other = job();
        (other.remote.source.git_ref, other.local.tags) = (None, Default::default());
        other.local.title = CleanText::line("Translate billing, ask also about refunds");
        assert!(state.match_row(&other) != Match::Passes);
    }

    #[test]
    fn a_word_in_a_prompt_matches_the_job() {
        let mut state = FilterState::default();
        state.set(JobFilter::parse("Redirects !legacy"));
        assert_eq!(state.filter().prompt_words(), ["redirects", "legacy"]);
        assert!(state.match_row(&job()) != Match::Passes);
        assert_eq!(
            state.apply_search_result("redirects".to_owned(), vec![JobKey(7)]),
            RowsToRematch::Jobs(vec![JobKey(7)])
        );
        assert_eq!(state.match_row(&job()), Match::Passes);
        assert_eq!(state.apply_search_result("legacy".to_owned(), vec![JobKey(7)]), RowsToRematch::All);
        assert!(state.match_row(&job()) != Match::Passes, "a prompt has the excluded word");
    }

    #[test]
    fn search_results_for_a_word_that_the_filter_no_longer_has_are_ignored() {
        let mut state = FilterState::default();
        state.set(JobFilter::parse("redirects"));
        state.set(JobFilter::parse("redirect"));
        assert_eq!(state.apply_search_result("redirects".to_owned(), vec![JobKey(7)]), RowsToRematch::NoRows);
        assert!(state.match_row(&job()) != Match::Passes);
    }
}
