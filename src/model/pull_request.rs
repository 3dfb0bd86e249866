//! Pull requests on GitHub and merge requests on GitLab: links to them, and their state on the code host.
//!
//! GitLab's merge requests are called pull requests here too.

use super::Time;
use super::colors::ColorRole;
use super::link::WebLink;
use super::text::CleanText;
use serde::{Deserialize, Serialize};

/// The kind of a code host, which determines its API and the form of its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostKind {
    GitHub,
    GitLab,
}

impl HostKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
        }
    }
}

/// A link to a pull request, split into its parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PullRequestLink {
    pub kind: HostKind,
    /// The host in lower case, with the port if the link has one.
    pub host: String,
    /// The path of the repository: `acme/docs`, or on GitLab also `acme/web/docs`.
    pub repository: String,
    pub number: u64,
}

impl PullRequestLink {
    /// Parses `https://HOST/OWNER/REPOSITORY/pull/N` and `https://HOST/GROUP/…/-/merge_requests/N`. Ignores what
    /// follows `N`, such as `/files`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let link = WebLink::parse(text)?;
        let rest = link.as_str().strip_prefix("https://")?;
        let path_end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.get(..path_end)?.split_once('/')?;
        let segments: Vec<&str> = path.split('/').take_while(|segment| !segment.is_empty()).collect();
        let (kind, repository, number) = match segments.as_slice() {
            [owner, name, "pull", number, ..] => (HostKind::GitHub, [*owner, *name].join("/"), number),
            segments => {
                let at = segments.windows(2).position(|pair| pair == ["-", "merge_requests"])?;
                let repository = segments.get(..at).filter(|groups| groups.len() >= 2)?.join("/");
                (HostKind::GitLab, repository, segments.get(at + 2)?)
            }
        };
        let number = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
        Some(Self { kind, host: host.to_owned(), repository, number })
    }

    /// Returns the URL of the pull request, without anything that followed the number in the link.
    pub fn url(&self) -> String {
        let part = match self.kind {
            HostKind::GitHub => "pull",
            HostKind::GitLab => "-/merge_requests",
        };
        format!("https://{}/{}/{part}/{}", self.host, self.repository, self.number)
    }
}

/// The state of a pull request, apart from its checks and reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestState {
    Open,
    Draft,
    /// The pull request waits in the merge queue.
    Queued,
    Merged,
    Closed,
}

impl PullRequestState {
    /// Whether the pull request is merged or closed. Only reopening it can still change its state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Merged | Self::Closed)
    }
}

/// The result of all checks of the head commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChecksState {
    Passing,
    Failing,
    Pending,
    /// The commit has no checks.
    None,
    /// The checks are unknown, for example because the token may not read them.
    #[default]
    Unavailable,
}

impl ChecksState {
    /// Returns the name of the state, which JSON output uses too.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passing => "passing",
            Self::Failing => "failing",
            Self::Pending => "pending",
            Self::None => "none",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The checks of the head commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checks {
    pub state: ChecksState,
    /// The number of checks that passed. On GitLab it is 0, because only the state of the pipeline is known.
    pub passed: u32,
    pub total: u32,
    /// The checks that failed, up to [`Self::MAX_FAILED_CHECKS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedCheck>,
}

impl Checks {
    /// The maximum number of failed checks to store.
    pub const MAX_FAILED_CHECKS: usize = 20;
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    pub name: CleanText,
    /// The web page with the details of the check.
    pub url: Option<CleanText>,
}

/// What the reviewers decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    Approved,
    ChangesRequested,
    /// The repository requires a review.
    Required,
    #[default]
    None,
}

impl ReviewDecision {
    pub fn word(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ChangesRequested => "changes requested",
            Self::Required => "required",
            Self::None => "none",
        }
    }
}

/// The state of a pull request, as the code host reported it. Its JSON is stored, and printed for scripts together with
/// `number` and `url`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequest {
    pub title: CleanText,
    pub state: PullRequestState,
    pub checks: Checks,
    /// The decision of the reviewers; `None` if the code host's response about the state doesn't contain it.
    pub review: Option<ReviewDecision>,
    /// Whether the pull request conflicts with the base branch; `None` if the host has not computed it yet.
    pub conflict: Option<bool>,
    /// Whether the branch with the changes lacks commits of the base branch, and must get them before the pull request
    /// can be merged.
    #[serde(default)]
    pub behind: bool,
    /// The head commit.
    pub head: CleanText,
    /// The branch with the changes.
    #[serde(default)]
    pub branch: CleanText,
    /// How many lines were added and removed, and how many files changed; `None` if the host doesn't report it.
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
    pub files: Option<u64>,
    #[serde(with = "super::time_format")]
    pub merged_at: Option<Time>,
    /// When the code host reported this state. The time of the checks is `checks_as_of`.
    #[serde(with = "super::time_format::required")]
    pub as_of: Time,
    /// When the code host reported the checks, or that the token may not read them; `None` if they were never read.
    #[serde(default, with = "super::time_format")]
    pub checks_as_of: Option<Time>,
    /// When docdeck saw the current [`PullRequestFact`] for the first time.
    #[serde(with = "super::time_format::required")]
    pub changed_at: Time,
}

/// The error message if the configuration forbids requests to code hosts.
pub const PULL_REQUESTS_DISABLED: &str = "Pull requests are turned off: set enabled = true in [pull_requests].";

/// Returns the abbreviation of a commit id, as Git prints it.
pub fn short_commit(id: &CleanText) -> String {
    id.as_str().chars().take(7).collect()
}

impl PullRequest {
    /// Returns the facts that are true, the most important first; at least one. A pull request that is merged or closed
    /// has no other fact, and [`PullRequestFact::Ready`] is true only if no other fact is.
    pub fn facts(&self) -> impl Iterator<Item = PullRequestFact> {
        let is_open = !self.state.is_final();
        // An open pull request counts as pending until docdeck has tried to read its checks. Checks that the token may
        // not read are ignored.
        let is_pending = self.checks.state == ChecksState::Pending
            || (self.state == PullRequestState::Open && self.has_never_requested_checks());
        let facts = [
            (self.state == PullRequestState::Merged, PullRequestFact::Merged),
            (self.state == PullRequestState::Closed, PullRequestFact::Closed),
            (is_open && self.conflict == Some(true), PullRequestFact::Conflict),
            (is_open && self.checks.state == ChecksState::Failing, PullRequestFact::Failing),
            (is_open && self.review == Some(ReviewDecision::ChangesRequested), PullRequestFact::ChangesRequested),
            (self.state == PullRequestState::Queued, PullRequestFact::Queued),
            (is_open && is_pending, PullRequestFact::Pending),
            (self.state == PullRequestState::Draft, PullRequestFact::Draft),
        ];
        let is_ready = facts.iter().all(|(is_true, _)| !is_true);
        let ready = [(is_ready, PullRequestFact::Ready)];
        facts.into_iter().chain(ready).filter(|(is_true, _)| *is_true).map(|(_, fact)| fact)
    }

    /// Returns the most important fact about the state.
    pub fn main_fact(&self) -> PullRequestFact {
        self.facts().next().unwrap_or(PullRequestFact::Ready)
    }

    /// Returns the most important fact in words.
    pub fn fact_text(&self) -> &'static str {
        match self.main_fact() {
            // Before the checks are read, nothing is known about them, so the text must not claim that they run.
            PullRequestFact::Pending if self.has_never_requested_checks() => "open",
            fact => fact.word_and_meaning().1,
        }
    }

    /// Returns the words by which a filter finds the pull request: those of all facts, and `open` unless it is merged
    /// or closed.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let open = (!self.state.is_final()).then_some("open");
        open.into_iter().chain(self.facts().flat_map(PullRequestFact::words))
    }

    /// Whether docdeck has not tried to read the checks yet.
    pub fn has_never_requested_checks(&self) -> bool {
        self.checks_as_of.is_none() && self.checks.state == ChecksState::Unavailable
    }

    /// Whether the checks are at least as recent as the rest of the state. Also true if the code host last reported
    /// that the token may not read the checks.
    pub fn has_current_checks(&self) -> bool {
        self.checks_as_of.is_some_and(|as_of| as_of >= self.as_of)
    }

    /// Returns `newer`, completed with parts of `self` if both have the same head commit: if `newer` has no checks, it
    /// gets the checks of `self` and their time; if it has no review decision, it gets an approval from `self`. If both
    /// also have the same most important fact, the result has the `changed_at` of `self`.
    #[must_use]
    pub fn combined_with(&self, newer: Self) -> Self {
        let same_head = self.head == newer.head;
        let mut merged = newer;
        if same_head && merged.checks_as_of.is_none() {
            (merged.checks, merged.checks_as_of) = (self.checks.clone(), self.checks_as_of);
        }
        if same_head && merged.review.is_none() {
            merged.review = self.review.filter(|review| *review == ReviewDecision::Approved);
        }
        if merged.main_fact() == self.main_fact() && same_head {
            merged.changed_at = self.changed_at;
        }
        merged
    }
}

/// A fact about a pull request. Several can be true at once; lists show the most important one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PullRequestFact {
    Conflict,
    Failing,
    ChangesRequested,
    /// No other fact is true, so the pull request can be reviewed or merged.
    Ready,
    Draft,
    Pending,
    Queued,
    Merged,
    Closed,
}

/// Who has to act on a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestTurn {
    User,
    /// The code host, because checks or the merge queue are running.
    Host,
    /// The pull request is merged or closed.
    Nobody,
}

impl PullRequestFact {
    pub const ALL: [Self; 9] = [
        Self::Ready,
        Self::Failing,
        Self::Conflict,
        Self::ChangesRequested,
        Self::Pending,
        Self::Queued,
        Self::Draft,
        Self::Merged,
        Self::Closed,
    ];

    /// Returns the symbol, one character; [`super::ascii`] has a replacement for each symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Ready => "✓",
            Self::Failing => "✗",
            Self::Conflict => "≠",
            Self::ChangesRequested => "±",
            Self::Pending => "◌",
            Self::Queued => "»",
            Self::Draft => "□",
            Self::Merged => "⬢",
            Self::Closed => "⊘",
        }
    }

    /// Returns the word for the state and its meaning. Filters accept the word after `pr:`, with hyphens instead of
    /// spaces.
    pub fn word_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::Ready => ("ready", "ready for review"),
            Self::Failing => ("failing", "checks are failing"),
            Self::Conflict => ("conflict", "has a merge conflict"),
            Self::ChangesRequested => ("rework", "a reviewer requested changes"),
            Self::Pending => ("pending", "checks are running"),
            Self::Queued => ("merge queue", "waiting in the merge queue"),
            Self::Draft => ("draft", "a draft pull request"),
            Self::Merged => ("merged", "merged"),
            Self::Closed => ("closed", "closed without merging"),
        }
    }

    /// Returns the word for the state on screen, where `draft` alone could also mean the draft of a prompt.
    pub fn screen_word(self) -> &'static str {
        if self == Self::Draft { "draft PR" } else { self.word_and_meaning().0 }
    }

    /// Returns the words by which a filter finds the fact: its own word and, for `rework`, also `changes`, as the code
    /// hosts call it.
    fn words(self) -> impl Iterator<Item = &'static str> {
        let word_of_hosts = (self == Self::ChangesRequested).then_some("changes");
        [self.word_and_meaning().0].into_iter().chain(word_of_hosts)
    }

    /// Returns all words that filters accept after `pr:`, with hyphens instead of spaces. Besides the words of the
    /// facts, these are `unknown`, and `open` for every pull request that is not merged or closed.
    pub fn known_filter_words() -> impl Iterator<Item = String> {
        let facts = Self::ALL.into_iter().flat_map(Self::words);
        ["open"].into_iter().chain(facts).chain(["unknown"]).map(|word| word.replace(' ', "-"))
    }

    /// Returns the colour of the symbol and the word.
    pub fn color_role(self) -> ColorRole {
        match self {
            Self::Ready => ColorRole::Good,
            Self::Failing | Self::Conflict => ColorRole::Bad,
            Self::ChangesRequested => ColorRole::Warning,
            Self::Pending | Self::Queued => ColorRole::Working,
            Self::Draft | Self::Merged | Self::Closed => ColorRole::Muted,
        }
    }

    /// Returns who has to act. A draft waits for the user, because lists show it only after the agent has finished.
    pub fn turn(self) -> PullRequestTurn {
        match self {
            Self::Ready | Self::Failing | Self::Conflict | Self::ChangesRequested | Self::Draft => {
                PullRequestTurn::User
            }
            Self::Pending | Self::Queued => PullRequestTurn::Host,
            Self::Merged | Self::Closed => PullRequestTurn::Nobody,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an open pull request without checks.
    pub(crate) fn open_pull_request(at: Time) -> PullRequest {
        PullRequest {
            title: CleanText::line("Fix broken links"),
            state: PullRequestState::Open,
            checks: Checks { state: ChecksState::None, ..Checks::default() },
            review: Some(ReviewDecision::None),
            conflict: Some(false),
            behind: false,
            head: CleanText::line("7d40698"),
            branch: CleanText::line("agent/links"),
            additions: Some(48),
            deletions: Some(12),
            files: Some(3),
            merged_at: None,
            as_of: at,
            checks_as_of: Some(at),
            changed_at: at,
        }
    }

    fn at(minute: u32) -> Time {
        chrono::TimeZone::with_ymd_and_hms(&chrono::Utc, 2026, 11, 20, 14, minute, 0).single().expect("a time")
    }

    #[test]
    fn links_of_both_hosts_are_parsed() {
        let parts =
            |text: &str| PullRequestLink::parse(text).map(|link| (link.host.clone(), link.repository, link.number));
        let expected = |host: &str, repository: &str, number| Some((host.to_owned(), repository.to_owned(), number));
        assert_eq!(
            parts("https://GitHub.com/acme/docs/pull/1423/files?w=1#x"),
            expected("github.com", "acme/docs", 1423)
        );
        assert_eq!(parts("https://ghe.corp:8443/acme/docs/pull/7"), expected("ghe.corp:8443", "acme/docs", 7));
        assert_eq!(
            parts("https://gitlab.com/acme/web/docs/-/merge_requests/5/diffs"),
            expected("gitlab.com", "acme/web/docs", 5)
        );
        for other in [
            "http://github.com/acme/docs/pull/1",
            "https://github.com/acme/docs/issues/1",
            "https://github.com/acme/pull/1",
            "https://github.com/acme/docs/pull/+1",
            "https://gitlab.com/docs/-/merge_requests/5",
            "https://bitbucket.org/acme/docs/pull-requests/5",
            "acme/docs/pull/1",
        ] {
            assert_eq!(PullRequestLink::parse(other), None, "{other}");
        }
        let link = PullRequestLink::parse("https://gitlab.com/acme/web/docs/-/merge_requests/5/diffs").expect("a link");
        assert_eq!(link.url(), "https://gitlab.com/acme/web/docs/-/merge_requests/5");
    }

    #[test]
    fn the_most_important_fact_wins() {
        let open = open_pull_request(at(0));
        let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
        assert_eq!(open.main_fact(), PullRequestFact::Ready);
        assert_eq!(PullRequest { checks: failing.clone(), ..open.clone() }.main_fact(), PullRequestFact::Failing);
        let conflict = PullRequest { conflict: Some(true), checks: failing, ..open.clone() };
        assert_eq!(conflict.main_fact(), PullRequestFact::Conflict);
        assert_eq!(PullRequest { state: PullRequestState::Merged, ..conflict }.main_fact(), PullRequestFact::Merged);
        assert_eq!(
            PullRequest { conflict: None, ..open.clone() }.main_fact(),
            PullRequestFact::Ready,
            "unknown is no conflict"
        );
        let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
        let draft = PullRequest { state: PullRequestState::Draft, ..open };
        assert_eq!(draft.main_fact(), PullRequestFact::Draft);
        assert_eq!(PullRequest { checks: pending, ..draft }.main_fact(), PullRequestFact::Pending);
    }

    #[test]
    fn several_words_can_describe_a_pull_request() {
        let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
        let draft = PullRequest { state: PullRequestState::Draft, checks: failing, ..open_pull_request(at(0)) };
        let has = |state: &PullRequest, wanted: &str| state.words().any(|word| word == wanted);
        assert!(["open", "draft", "failing"].iter().all(|word| has(&draft, word)) && !has(&draft, "ready"));
        let merged = PullRequest { state: PullRequestState::Merged, ..draft };
        assert!(has(&merged, "merged") && !["open", "draft", "failing"].iter().any(|word| has(&merged, word)));
    }

    #[test]
    fn a_new_head_commit_invalidates_the_checks_of_the_old_one() {
        let passing = Checks { state: ChecksState::Passing, passed: 12, total: 12, failed: Vec::new() };
        let before = PullRequest { checks: passing.clone(), ..open_pull_request(at(0)) };
        let unknown =
            PullRequest { checks: Checks::default(), checks_as_of: None, conflict: None, ..open_pull_request(at(5)) };
        let same_head = before.combined_with(unknown.clone());
        assert_eq!((&same_head.checks, same_head.checks_as_of), (&passing, Some(at(0))));
        assert_eq!((same_head.conflict, same_head.has_current_checks()), (None, false));
        assert_eq!((same_head.as_of, same_head.changed_at), (at(5), at(0)));
        let moved = before.combined_with(PullRequest { head: CleanText::line("8e51709"), ..unknown.clone() });
        assert_eq!((moved.checks, moved.checks_as_of, moved.changed_at), (Checks::default(), None, at(5)));
        let forbidden = before.combined_with(PullRequest { checks_as_of: Some(at(5)), ..unknown });
        assert_eq!((&forbidden.checks, forbidden.has_current_checks()), (&Checks::default(), true));
    }
}
