//! Simulates one job. When a run starts, `world` plans when and how it ends; this module computes the job's state at
//! any later time from that plan. It does not read the clock: the time is always an argument.

use super::prompt_directives::{RunOutcome, without_directives};
use super::rng::SeededRng;
use crate::api::wire::JobBody;
use crate::model::Time;
use crate::model::pull_request::HostKind;
use crate::model::remote_job::{JobSource, RemoteState, Status};
use crate::model::text::CleanText;
use crate::model::time_format::json_time;
use chrono::DateTime;

/// The repository of most jobs of the simulated project.
const GITHUB_REPOSITORY: &str = "https://github.com/acme/docs";
/// The repository of the other jobs.
const GITLAB_REPOSITORY: &str = "https://gitlab.com/acme/platform/docs";
/// The digits of an id.
const ID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// When and how one run of the agent ends. A run starts with a prompt.
#[derive(Debug, Clone)]
pub(super) struct SimRun {
    pub(super) ends_at: Time,
    pub(super) outcome: RunOutcome,
    /// When the job is archived after the run; `None` if it is not archived.
    pub(super) archived_at: Option<Time>,
}

/// A pull request and the time from which the service reports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SimPullRequest {
    pub(super) number: u32,
    pub(super) visible_from: Time,
}

/// Why a pull request is not merged although its checks pass and it has no conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeBlocker {
    /// The base branch has commits that the branch of the pull request does not contain.
    Behind,
    /// The pull request is put into the merge queue as soon as its checks have passed.
    Queued,
    /// A reviewer requests changes a few minutes after the pull request was opened.
    ChangesRequested,
    /// The pull request is closed without merging a few minutes after it was opened.
    Closed,
}

#[derive(Debug, Clone)]
pub(super) struct SimJob {
    pub(super) id: String,
    /// The title of its pull request.
    pub(super) title: String,
    pub(super) git_ref: String,
    pub(super) model: &'static str,
    pub(super) created_at: Time,
    /// The code host of the job's repository.
    pub(super) host: HostKind,
    pub(super) run: SimRun,
    pub(super) pull_request: Option<SimPullRequest>,
    /// Why the pull request is not merged; `None` if chance decides its state.
    pub(super) merge_blocker: Option<MergeBlocker>,
}

impl SimJob {
    /// Whether the agent is working on the job at `now`.
    pub(super) fn is_active(&self, now: Time) -> bool {
        now < self.run.ends_at
    }

    /// Returns the job as the service returns it at `now`. An active job has no pull request link.
    pub(super) fn body(&self, now: Time) -> JobBody {
        let archived_at = self.run.archived_at.filter(|&at| at <= now && !self.is_active(now));
        let pull_request =
            self.pull_request.filter(|pull_request| pull_request.visible_from <= now && !self.is_active(now));
        let state = RemoteState {
            status: Some(self.status(now)),
            source: JobSource {
                repository: Some(CleanText::line(repository_url(self.host)).into()),
                git_ref: Some(CleanText::line(&self.git_ref)),
            },
            model: Some(CleanText::line(self.model).into()),
            pr_link: pull_request
                .map(|pull_request| CleanText::line(&pull_request_url(self.host, pull_request.number))),
            archived_at,
        };
        JobBody { id: self.id.clone(), created_at: json_time(self.created_at), state }
    }

    /// Returns the URL of the job's pull request, even before the service reports it.
    pub(super) fn pull_request_url(&self) -> Option<String> {
        self.pull_request.map(|pull_request| pull_request_url(self.host, pull_request.number))
    }

    pub(super) fn status(&self, now: Time) -> Status {
        if self.is_active(now) {
            return Status::Active;
        }
        if self.run.archived_at.is_some_and(|at| at <= now) {
            return Status::Archived;
        }
        match &self.run.outcome {
            RunOutcome::PullRequest { .. } | RunOutcome::NoPullRequest => Status::Completed,
            RunOutcome::Failed => Status::Failed,
            RunOutcome::OtherStatus(word) => Status::parse(word),
        }
    }
}

/// Returns the URL of the repository on this code host.
pub(super) fn repository_url(host: HostKind) -> &'static str {
    match host {
        HostKind::GitHub => GITHUB_REPOSITORY,
        HostKind::GitLab => GITLAB_REPOSITORY,
    }
}

/// Returns the URL of the pull request with this number.
pub(super) fn pull_request_url(host: HostKind, number: u32) -> String {
    let path = match host {
        HostKind::GitHub => "pull",
        HostKind::GitLab => "-/merge_requests",
    };
    format!("{}/{path}/{number}", repository_url(host))
}

/// Returns a new id in the form of a ULID: 48 bits of time and 80 random bits.
pub(super) fn new_id(at: Time, rng: &mut SeededRng) -> String {
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
    let mut id = String::with_capacity(26);
    push_base32(&mut id, millis, 10);
    push_base32(&mut id, rng.next(), 8);
    push_base32(&mut id, rng.next(), 8);
    id
}

/// Returns the time in an id, or `None` if the text is not an id.
pub(super) fn time_of_id(id: &str) -> Option<Time> {
    let digit =
        |byte: u8| ID_DIGITS.iter().position(|known| *known == byte).and_then(|digit| i64::try_from(digit).ok());
    let digits: Vec<i64> = id.bytes().map(digit).collect::<Option<_>>()?;
    let millis = digits.get(..10).filter(|_| digits.len() == 26)?;
    DateTime::from_timestamp_millis(millis.iter().fold(0, |millis, digit| millis * 32 + digit))
}

fn push_base32(out: &mut String, value: u64, digits: u32) {
    for place in (0..digits).rev() {
        let digit = usize::try_from((value >> (5 * place)) & 31).unwrap_or(0);
        out.push(ID_DIGITS.get(digit).copied().map_or('0', char::from));
    }
}

/// Returns the title of the pull request for a prompt: the prompt's first line.
pub(super) fn pull_request_title(prompt: &str) -> String {
    without_directives(prompt).lines().next().unwrap_or_default().trim().to_owned()
}

/// Returns the branch name for a prompt: `agent/` and the prompt's first words. Leaves out articles, conjunctions and
/// prepositions at the end, because a name that ends with such a word would look cut off.
pub(super) fn branch_name(prompt: &str) -> String {
    const MAX_CHARS: usize = 40;
    const INCOMPLETE_ENDS: [&str; 12] = ["a", "an", "the", "and", "or", "of", "for", "to", "in", "on", "with", "from"];
    let words = without_directives(prompt).to_ascii_lowercase();
    let (mut slug, mut chars) = (Vec::new(), 0);
    for word in words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if chars + word.len() > MAX_CHARS {
            break;
        }
        chars += word.len() + 1;
        slug.push(word);
    }
    while slug.last().is_some_and(|word| INCOMPLETE_ENDS.contains(word)) {
        slug.pop();
    }
    format!("agent/{}", if slug.is_empty() { "task".to_owned() } else { slug.join("-") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_contains_the_first_words_of_the_prompt() {
        assert_eq!(branch_name("Fix broken links in /api [sim:fail]"), "agent/fix-broken-links-in-api");
        assert_eq!(branch_name("修复链接"), "agent/task");
        assert_eq!(
            branch_name("Write a troubleshooting page for the GitHub app"),
            "agent/write-a-troubleshooting-page"
        );
        assert!(branch_name(&"word ".repeat(100)).len() <= 46);
    }

    #[test]
    fn an_id_has_26_characters_and_ids_sort_by_time() {
        let mut rng = SeededRng::new(7, 7);
        let at = Time::from_timestamp(1_795_000_000, 0).expect("in range");
        let (first, second) = (new_id(at, &mut rng), new_id(at + chrono::TimeDelta::seconds(1), &mut rng));
        assert_eq!(first.len(), 26);
        assert!(first < second);
    }
}
