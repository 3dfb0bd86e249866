//! Directives in a prompt that control how the simulator runs it, so that tests and the demo do not depend on chance.
//!
//! | in the prompt | effect on the run |
//! |---|---|
//! | `[sim:seconds=3]` | takes 3 seconds (at speed 1; fractions and 0 are allowed) |
//! | `[sim:pr]` | completes with a pull request |
//! | `[sim:no-pr]` | completes without a pull request |
//! | `[sim:fail]` | fails |
//! | `[sim:status=reviewing]` | ends with the status `reviewing` and stays in it |
//! | `[sim:late-link=4]` | completes; the link of its pull request appears 4 seconds later |
//! | `[sim:archive]`, `[sim:archive=60]` | the job is archived when the run ends, or 60 seconds later |
//! | `[sim:behind]` | its pull request can't be merged, because the base branch has newer commits |
//! | `[sim:queued]` | its pull request is in the merge queue when its checks have passed |
//! | `[sim:changes]` | a reviewer requests changes 3 minutes after the pull request was opened (at speed 1) |
//! | `[sim:closed]` | its pull request is closed 3 minutes after it was opened (at speed 1) |
//! | `[sim:gitlab]` | the job's repository is on GitLab; only in the prompt that creates the job |
//!
//! Like `gitlab`, the directives `behind`, `queued`, `changes` and `closed` work only in the prompt that creates the
//! job. The pull request of such a job is no draft, its checks pass, and it has no conflicts.
//!
//! If a prompt contains any directive, its run does not end by chance: unless directives set another ending, the run
//! completes with a pull request whose link appears immediately, and the job is not archived.

use super::jobs::MergeBlocker;
use crate::model::pull_request::HostKind;
use chrono::TimeDelta;
use std::time::Duration;

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// The run completes with a pull request.
    PullRequest {
        /// How long after the end of the run the pull request's link appears.
        link_delay: TimeDelta,
    },
    /// The run completes without changes.
    NoPullRequest,
    Failed,
    /// The run ends with a status that is not documented.
    OtherStatus(String),
}

/// The directives of one prompt. A field is `None` if the prompt doesn't set it. The durations are at speed 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Directives {
    pub(super) work_time: Option<TimeDelta>,
    pub(super) outcome: Option<RunOutcome>,
    pub(super) archive_after: Option<TimeDelta>,
}

impl Directives {
    /// Parses the directives of a prompt and ignores unknown ones. Returns `None` if there are no known directives.
    pub(super) fn parse(prompt: &str) -> Option<Self> {
        let mut directives = Self::default();
        let mut any = false;
        for rest in prompt.split("[sim:").skip(1) {
            let Some((directive, _)) = rest.split_once(']') else { continue };
            any |= directives.apply_directive(directive);
        }
        any.then_some(directives)
    }

    /// Applies one directive. Returns whether it is known.
    fn apply_directive(&mut self, directive: &str) -> bool {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name {
            "seconds" => self.work_time = parse_delay(value),
            "pr" => self.outcome = Some(RunOutcome::PullRequest { link_delay: TimeDelta::zero() }),
            "no-pr" => self.outcome = Some(RunOutcome::NoPullRequest),
            "fail" => self.outcome = Some(RunOutcome::Failed),
            "status" => self.outcome = Some(RunOutcome::OtherStatus(value.to_owned())),
            "late-link" => {
                self.outcome = Some(RunOutcome::PullRequest { link_delay: parse_delay(value).unwrap_or_default() });
            }
            // Evaluated by `repository_host` and `merge_blocker`.
            "gitlab" | "behind" | "queued" | "changes" | "closed" => {}
            "archive" => self.archive_after = Some(parse_delay(value).unwrap_or_default()),
            _ => return false,
        }
        true
    }
}

fn parse_delay(value: &str) -> Option<TimeDelta> {
    let length = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
    TimeDelta::from_std(length).ok().filter(|length| *length < TimeDelta::days(3650))
}

/// Returns the code host of the repository for a new job with this prompt.
pub(super) fn repository_host(prompt: &str) -> HostKind {
    if prompt.contains("[sim:gitlab]") { HostKind::GitLab } else { HostKind::GitHub }
}

/// Returns why the pull request of a new job with this prompt is not merged.
pub(super) fn merge_blocker(prompt: &str) -> Option<MergeBlocker> {
    let blockers = [
        ("[sim:behind]", MergeBlocker::Behind),
        ("[sim:queued]", MergeBlocker::Queued),
        ("[sim:changes]", MergeBlocker::ChangesRequested),
        ("[sim:closed]", MergeBlocker::Closed),
    ];
    blockers.into_iter().find(|(directive, _)| prompt.contains(directive)).map(|(_, blocker)| blocker)
}

/// Returns the prompt without its directives, for text derived from the prompt.
pub(super) fn without_directives(prompt: &str) -> String {
    let mut parts = prompt.split("[sim:");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_without_directives_has_none() {
        assert_eq!(Directives::parse("Fix [simple] links"), None);
        assert_eq!(Directives::parse("[sim:unheard-of] x"), None);
        assert_eq!(Directives::parse("[sim:fail without an end"), None);
    }

    #[test]
    fn directives_may_be_anywhere_in_the_prompt() {
        let directives =
            Directives::parse("a [sim:seconds=0.5] b [sim:status=reviewing][sim:archive=60]").expect("some");
        assert_eq!(directives.work_time, Some(TimeDelta::milliseconds(500)));
        assert_eq!(directives.outcome, Some(RunOutcome::OtherStatus("reviewing".to_owned())));
        assert_eq!(directives.archive_after, Some(TimeDelta::seconds(60)));
    }

    #[test]
    fn an_invalid_duration_is_ignored() {
        for odd in ["-1", "NaN", "inf", "1e30", "x", ""] {
            let directives = Directives::parse(&format!("[sim:seconds={odd}]")).expect("some");
            assert_eq!(directives.work_time, None, "{odd}");
        }
    }

    #[test]
    fn directives_are_removed_from_the_prompt() {
        assert_eq!(without_directives("Fix [sim:fail]links[sim:seconds=1]"), "Fix links");
    }
}
