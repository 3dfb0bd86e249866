//! The state of a pull request of the simulated code hosts, as it follows from its job, from the time, and from what
//! the user did with it.

use super::diffs::{ChangedFile, changed_files};
use super::host_fault::HostFault;
use super::host_world::HostWorld;
use crate::model::Time;
use crate::sim::jobs::{MergeBlocker, SimJob};
use crate::sim::options::scaled;
use crate::sim::rng::{SeededRng, mix};
use chrono::TimeDelta;

/// How long after its creation a pull request is reviewed, or closed without merging, at speed 1.
const DECISION_DELAY: TimeDelta = TimeDelta::minutes(3);
/// Added to the number of a pull request to get its random stream.
const PULL_REQUEST_RNG_STREAM: u64 = 11 << 32;

/// The names of the checks of the simulated repository.
const CHECK_NAMES: [&str; 12] = [
    "build",
    "broken links",
    "spelling",
    "style guide",
    "code samples",
    "OpenAPI",
    "redirects",
    "images",
    "accessibility",
    "front matter",
    "preview",
    "license",
];

/// What reviewers of the simulated repository write.
const REVIEW_TEXTS: [&str; 4] = [
    "The steps are right, but the screenshot still shows the old settings page. Can you replace it?",
    "Please keep the anchor `#before-you-begin`: the product links to it.",
    "Nice. One question: does this also apply to the free plan?",
    "The second example doesn't run: `client.views` needs the project id.",
];

/// A pull request as it is at one time.
#[derive(Debug)]
pub(super) struct HostPullRequest {
    pub(super) number: u32,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) branch: String,
    pub(super) state: HostPullRequestState,
    pub(super) is_draft: bool,
    /// When the only commit of the pull request was pushed.
    pub(super) pushed_at: Time,
    pub(super) head_commit: String,
    /// Whether the pull request conflicts with its base branch; `None` if the host has not computed it yet.
    pub(super) has_conflicts: Option<bool>,
    /// Why the pull request is not merged; `None` if chance decides its state.
    merge_blocker: Option<MergeBlocker>,
    pub(super) checks: Vec<HostCheck>,
    /// Reviews and comments: those of others, oldest first, then those of the user.
    pub(super) entries: Vec<HostReviewEntry>,
    pub(super) files: Vec<ChangedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostPullRequestState {
    Open,
    Closed,
    Merged(Time),
}

/// A check of the head commit.
#[derive(Debug)]
pub(super) struct HostCheck {
    pub(super) name: &'static str,
    pub(super) state: CheckRunState,
    /// How the check ends.
    final_state: CheckRunState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckRunState {
    Running,
    Passed,
    Failed,
}

/// A review or a comment.
#[derive(Debug, Clone)]
pub(super) struct HostReviewEntry {
    pub(super) author: &'static str,
    pub(super) kind: ReviewEntryKind,
    pub(super) text: String,
    pub(super) at: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReviewEntryKind {
    Approval,
    ChangeRequest,
    /// A review without a decision.
    CommentReview,
    Comment,
}

/// What the user did with one pull request, and how many commits others have pushed in the meantime.
#[derive(Debug, Clone, Default)]
pub(in crate::sim) struct UserActions {
    pub(super) entries: Vec<HostReviewEntry>,
    pub(super) merged_at: Option<Time>,
    pub(super) closed_at: Option<Time>,
    pub(super) is_marked_ready: bool,
    pub(super) new_title: Option<String>,
    /// How often others have pushed a commit just before the user's merge.
    pub(super) push_count: u32,
}

impl UserActions {
    /// Adds a review or comment of the user.
    pub(super) fn add_entry(&mut self, kind: ReviewEntryKind, text: &str, at: Time) {
        self.entries.push(HostReviewEntry { author: "you", kind, text: text.to_owned(), at });
    }

    /// Returns when the user merged or closed the pull request.
    fn ended_at(&self) -> Option<Time> {
        self.merged_at.or(self.closed_at)
    }
}

impl HostPullRequest {
    /// Returns the pull request of a job after the actions of the user, or `None` if the job has none yet. A pull
    /// request that the user has merged or closed no longer changes.
    pub(super) fn from_job(job: &SimJob, world: &HostWorld<'_>, actions: &UserActions) -> Option<Self> {
        let now = actions.ended_at().map_or(world.now, |end| end.min(world.now));
        let has_fault = |fault| world.fault == Some(fault);
        let pull_request = job.pull_request.filter(|pull_request| pull_request.visible_from <= now)?;
        let number = u64::from(pull_request.number);
        let mut rng = SeededRng::new(world.seed, PULL_REQUEST_RNG_STREAM + number);
        let pushed_at = job.run.ends_at.max(pull_request.visible_from).min(now);
        let is_older_than = |age: TimeDelta| now - pushed_at > age;
        let scaled = |delay: TimeDelta| scaled(delay, world.speed);
        let total = usize::try_from(rng.between(3, 12)).unwrap_or(3);
        let (fails, conflicts, wants_changes) = (rng.chance(150), rng.chance(60), rng.chance(120));
        let (is_draft, is_abandoned, is_merged) = (rng.chance(80), rng.chance(40), rng.chance(850));
        // A pull request with a merge blocker has no random problem, so that the blocker is the only reason why it is
        // not merged.
        let is_usual = job.merge_blocker.is_none();
        let (fails, conflicts, wants_changes) = (fails && is_usual, conflicts && is_usual, wants_changes && is_usual);
        let wants_changes = wants_changes || job.merge_blocker == Some(MergeBlocker::ChangesRequested);
        let is_decided = is_older_than(scaled(DECISION_DELAY));
        let is_draft = is_draft && is_usual;
        let failing = usize::try_from(rng.between(0, 11)).unwrap_or(0) % total;
        let checks = CHECK_NAMES.iter().zip(0..).take(total).map(|(name, n)| {
            let is_failing = fails && usize::try_from(n) == Ok(failing);
            let final_state = if is_failing { CheckRunState::Failed } else { CheckRunState::Passed };
            let state = if is_older_than(scaled(TimeDelta::seconds(15 + 8 * n))) {
                final_state
            } else {
                CheckRunState::Running
            };
            HostCheck { name, state, final_state }
        });
        let is_over = is_older_than(TimeDelta::hours(6)) && !fails && !conflicts;
        let is_closed = (is_over && is_abandoned) || (is_decided && job.merge_blocker == Some(MergeBlocker::Closed));
        let state = match (is_closed, is_over && is_merged) {
            (true, _) => HostPullRequestState::Closed,
            (false, true) => HostPullRequestState::Merged(pushed_at + TimeDelta::hours(5)),
            (false, false) => HostPullRequestState::Open,
        };
        let is_merged = matches!(state, HostPullRequestState::Merged(_));
        let head_commit = format!("{:016x}{:016x}{:08x}", mix(number), rng.next(), mix(world.seed) >> 32);
        let review = match is_decided && wants_changes {
            true => Some(ReviewEntryKind::ChangeRequest),
            false => is_merged.then_some(ReviewEntryKind::Approval),
        };
        let mut found = Self {
            number: pull_request.number,
            url: job.pull_request_url()?,
            title: job.title.clone(),
            branch: job.git_ref.clone(),
            state,
            is_draft: is_draft && !is_merged,
            pushed_at,
            head_commit: if has_fault(HostFault::MovingHead) {
                format!("{:040x}", now.timestamp_micros())
            } else {
                head_commit
            },
            has_conflicts: (!has_fault(HostFault::UnknownConflicts)).then_some(conflicts),
            merge_blocker: job.merge_blocker,
            checks: checks.collect(),
            entries: entries(number, review, now, |delay| pushed_at + scaled(delay)),
            files: changed_files(world.seed, pull_request.number, has_fault(HostFault::ManyFiles)),
        };
        if has_fault(HostFault::HostileText) {
            found.add_hostile_text(world.token);
        }
        found.apply_actions(actions);
        if found.state != HostPullRequestState::Open {
            found.checks.iter_mut().for_each(|check| check.state = check.final_state);
        }
        Some(found)
    }

    /// Adds the token, and control sequences that a terminal must not receive, to the title, to all reviews and
    /// comments, and to the diff of each file.
    fn add_hostile_text(&mut self, token: &str) {
        // The token is added a second time, split by an invisible character that docdeck removes before it shows the
        // text.
        let (start, end) = token.split_at_checked(4).unwrap_or((token, ""));
        let hostile = format!("\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}{token} {start}\u{200b}{end}");
        self.title.push_str(&hostile);
        self.entries.iter_mut().for_each(|entry| entry.text.push_str(&hostile));
        for file in &mut self.files {
            file.hunks = file.hunks.replacen("\n+", &format!("\n+{hostile}"), 1);
        }
    }

    /// Applies the user's actions to the pull request.
    fn apply_actions(&mut self, actions: &UserActions) {
        if let Some(at) = actions.merged_at {
            self.state = HostPullRequestState::Merged(at);
        } else if actions.closed_at.is_some() {
            self.state = HostPullRequestState::Closed;
        }
        self.is_draft &= !actions.is_marked_ready;
        if let Some(title) = &actions.new_title {
            self.title.clone_from(title);
        }
        self.entries.extend(actions.entries.iter().cloned());
        if actions.push_count > 0 {
            self.head_commit = format!("{:08x}{}", actions.push_count, self.head_commit.get(8..).unwrap_or_default());
        }
    }

    /// Returns the kind of the user's last approval or request for changes. If the user has added neither, returns the
    /// kind of the last approval or request for changes by another reviewer.
    pub(super) fn decision(&self) -> Option<ReviewEntryKind> {
        let decides =
            |kind: &ReviewEntryKind| matches!(kind, ReviewEntryKind::Approval | ReviewEntryKind::ChangeRequest);
        self.entries.iter().rev().map(|entry| entry.kind).find(decides)
    }

    /// Whether one of the checks is in this state.
    pub(super) fn has_check(&self, state: CheckRunState) -> bool {
        self.checks.iter().any(|check| check.state == state)
    }

    /// Whether the pull request is open and its base branch has commits that its own branch does not contain.
    pub(super) fn is_behind(&self) -> bool {
        self.state == HostPullRequestState::Open && self.merge_blocker == Some(MergeBlocker::Behind)
    }

    /// Whether the pull request waits in the merge queue of GitHub. GitLab has no merge queue.
    pub(super) fn is_in_merge_queue(&self) -> bool {
        let has_passed = self.checks.iter().all(|check| check.state == CheckRunState::Passed);
        self.state == HostPullRequestState::Open && self.merge_blocker == Some(MergeBlocker::Queued) && has_passed
    }

    pub(super) fn merged_at(&self) -> Option<Time> {
        match self.state {
            HostPullRequestState::Merged(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the address of the preview. Every fourth pull request has none, so that the user can build one.
    pub(super) fn preview_url(&self) -> Option<String> {
        preview_url(u64::from(self.number))
    }
}

/// Returns the reviews and comments of everyone but the user. `at` converts a delay after the push (at speed 1) to a
/// time.
fn entries(
    number: u64,
    review: Option<ReviewEntryKind>,
    now: Time,
    at: impl Fn(TimeDelta) -> Time,
) -> Vec<HostReviewEntry> {
    let text = |n: u64| {
        let index = usize::try_from(mix(number + n) % 4).unwrap_or(0);
        REVIEW_TEXTS.get(index).copied().unwrap_or_default().to_owned()
    };
    let bot = |url: String| HostReviewEntry {
        author: "mintlify",
        kind: ReviewEntryKind::Comment,
        text: format!(
            "Preview deployment for your docs.\n\n| Project | Status | Preview |\n|---|---|---|\n| acme | Ready | \
             [View Preview]({url}) |"
        ),
        at: at(TimeDelta::zero()),
    };
    let mut entries: Vec<HostReviewEntry> = preview_url(number).map(bot).into_iter().collect();
    entries.extend(review.map(|kind| {
        let text = if kind == ReviewEntryKind::ChangeRequest { text(0) } else { String::new() };
        HostReviewEntry { author: "maya", kind, text, at: at(DECISION_DELAY) }
    }));
    let commented_at = at(TimeDelta::minutes(9));
    if number.is_multiple_of(3) && now > commented_at {
        entries.push(HostReviewEntry {
            author: "jonas",
            kind: ReviewEntryKind::Comment,
            text: text(1),
            at: commented_at,
        });
    }
    entries
}

fn preview_url(number: u64) -> Option<String> {
    let has_preview = number % 4 != 1;
    has_preview.then(|| format!("https://acme-{:06x}.mintlify.site/", mix(number) >> 40))
}
