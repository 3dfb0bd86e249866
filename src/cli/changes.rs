//! Finds the changes between two versions of a job. Each change has a text for log lines and a name for JSON.

use super::job_format::{id_text, state_and_role};
use crate::model::job::Job;
use crate::model::link;
use crate::model::prompt::DeliveryKind;
use crate::model::pull_request::{ChecksState, PullRequest, PullRequestFact, ReviewDecision};
use crate::model::remote_job::Status;

/// A kind of change between two versions of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobChangeKind {
    /// The job was not tracked before.
    New,
    Status,
    PullRequest,
    /// The state, checks, review or conflict of the pull request changed.
    PullRequestState,
    /// The service no longer has the job.
    Gone,
    /// The service has the job again.
    Back,
    /// The delivery of a prompt changed.
    Delivery,
}

impl JobChangeKind {
    /// Returns the name of the change in JSON output.
    pub(super) fn json_name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Status => "status",
            Self::PullRequest => "pullRequest",
            Self::PullRequestState => "pullRequestState",
            Self::Gone => "gone",
            Self::Back => "back",
            Self::Delivery => "delivery",
        }
    }
}

/// Returns the changes from `old` to `new`. `old` is `None` if the job was not tracked before.
pub(super) fn changes_between(old: Option<&Job>, new: &Job) -> Vec<JobChangeKind> {
    let Some(old) = old else { return vec![JobChangeKind::New] };
    // The number of passed checks is not compared, because it keeps changing while checks are running.
    let compared = |job: &Job| {
        let state = job.pull_request.as_deref()?;
        Some((state.state, state.checks.state, state.checks.failed.clone(), state.review, state.conflict))
    };
    let all = [
        (old.remote.status != new.remote.status, JobChangeKind::Status),
        (old.remote.pr_link != new.remote.pr_link && new.remote.pr_link.is_some(), JobChangeKind::PullRequest),
        (new.pull_request.is_some() && compared(old) != compared(new), JobChangeKind::PullRequestState),
        (!old.local.gone && new.local.gone, JobChangeKind::Gone),
        (old.local.gone && !new.local.gone, JobChangeKind::Back),
        (old.local.undelivered != new.local.undelivered, JobChangeKind::Delivery),
    ];
    all.into_iter().filter(|(changed, _)| *changed).map(|(_, change)| change).collect()
}

/// Describes the changes and the job in one line.
pub(super) fn describe_changes(changes: &[JobChangeKind], row: &Job) -> String {
    let mut words: Vec<String> = Vec::new();
    for change in changes {
        let word = match change {
            JobChangeKind::New => state_and_role(row).0.to_owned(),
            JobChangeKind::Status => row.remote.status.as_ref().map_or("not checked yet", Status::word).to_owned(),
            JobChangeKind::PullRequest => match &row.remote.pr_link {
                Some(link) => format!("pull request {}", link::display_url(link)),
                None => continue,
            },
            JobChangeKind::PullRequestState => match &row.pull_request {
                Some(state) => {
                    let number = row.pr_number().map(|number| format!("#{number}: ")).unwrap_or_default();
                    format!("{number}{}", describe_pull_request(state))
                }
                None => continue,
            },
            JobChangeKind::Gone => "gone from the service".to_owned(),
            JobChangeKind::Back => "back on the service".to_owned(),
            JobChangeKind::Delivery => match row.local.undelivered {
                Some(DeliveryKind::Sending) => "sending the prompt".to_owned(),
                Some(kind) => format!("prompt {}", kind.word()),
                None => "prompt accepted".to_owned(),
            },
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let id = id_text(row);
    let id = if id.is_empty() { String::new() } else { format!(" (job {id})") };
    format!("{}: {}{id}", words.join(", "), row.local.title)
}

/// Describes the state of a pull request: first the most important fact, then the others, such as the failed checks.
fn describe_pull_request(state: &PullRequest) -> String {
    let others = state.facts().skip(1).map(|fact| fact.word_and_meaning().1);
    let mut words: Vec<String> = [state.fact_text()].into_iter().chain(others).map(str::to_owned).collect();
    if state.state.is_final() {
        return words.concat();
    }
    let is_ready = state.main_fact() == PullRequestFact::Ready;
    if state.checks.state == ChecksState::Failing && !state.checks.failed.is_empty() {
        let names: Vec<&str> = state.checks.failed.iter().map(|check| check.name.as_str()).collect();
        words.push(format!("failed: {}", names.join(" · ")));
    }
    let more = [
        (state.checks.state == ChecksState::Passing && !is_ready, "checks passed"),
        (state.review == Some(ReviewDecision::Approved), "approved"),
        (state.review == Some(ReviewDecision::Required), "a review is required"),
        (state.conflict.is_none(), "conflicts unknown"),
    ];
    words.extend(more.into_iter().filter(|(is_true, _)| *is_true).map(|(_, word)| word.to_owned()));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::JobKey;
    use crate::model::pull_request::{Checks, FailedCheck, PullRequestState};
    use crate::model::remote_job::JobId;
    use crate::model::text::CleanText;

    fn row() -> Job {
        let mut row = Job::new(JobKey(1), CleanText::line("Fix the links"), Time::default());
        row.id = JobId::new("j1");
        row.remote.status = Some(Status::Active);
        row
    }

    #[test]
    fn a_line_names_the_changes_and_the_job() {
        let old = row();
        assert_eq!(changes_between(Some(&old), &old), []);
        assert_eq!(describe_changes(&changes_between(None, &old), &old), "active: Fix the links (job j1)");
        let mut new = old.clone();
        new.remote.status = Some(Status::Completed);
        new.remote.pr_link = Some(CleanText::line("https://x.example/pull/7"));
        let changes = changes_between(Some(&old), &new);
        assert_eq!(changes, [JobChangeKind::Status, JobChangeKind::PullRequest]);
        assert_eq!(
            describe_changes(&changes, &new),
            "completed, pull request https://x.example/pull/7: Fix the links (job j1)"
        );
        let mut ready = new.clone();
        ready.pull_request = Some(Box::new(crate::model::pull_request::tests::open_pull_request(Time::default())));
        let changes = changes_between(Some(&new), &ready);
        assert_eq!(changes, [JobChangeKind::PullRequestState]);
        assert_eq!(describe_changes(&changes, &ready), "#7: ready for review: Fix the links (job j1)");
        assert_eq!(changes_between(Some(&ready), &ready), []);
        for (change, words) in [
            (
                (|state| state.review = Some(ReviewDecision::Approved)) as fn(&mut PullRequest),
                "ready for review, approved",
            ),
            (|state| state.review = Some(ReviewDecision::Required), "ready for review, a review is required"),
            (|state| state.conflict = None, "ready for review, conflicts unknown"),
            (|state| state.checks.state = ChecksState::Passing, "ready for review"),
            (|state| state.state = PullRequestState::Queued, "waiting in the merge queue"),
        ] {
            let mut changed = ready.clone();
            change(changed.pull_request.as_mut().expect("a state"));
            let changes = changes_between(Some(&ready), &changed);
            assert_eq!(changes, [JobChangeKind::PullRequestState], "{words}");
            assert_eq!(describe_changes(&changes, &changed), format!("#7: {words}: Fix the links (job j1)"));
        }
        let mut conflict = ready.clone();
        conflict.pull_request.as_mut().expect("a state").conflict = Some(true);
        for (change, words) in [
            ((|state| state.review = Some(ReviewDecision::Approved)) as fn(&mut PullRequest), "approved"),
            (|state| state.review = Some(ReviewDecision::ChangesRequested), "a reviewer requested changes"),
            (|state| state.checks.state = ChecksState::Failing, "checks are failing"),
            (|state| state.checks.state = ChecksState::Pending, "checks are running"),
            (|state| state.checks.state = ChecksState::Passing, "checks passed"),
            (|state| state.state = PullRequestState::Draft, "a draft pull request"),
        ] {
            let mut changed = conflict.clone();
            change(changed.pull_request.as_mut().expect("a state"));
            let changes = changes_between(Some(&conflict), &changed);
            assert_eq!(changes, [JobChangeKind::PullRequestState], "{words}");
            let line = describe_changes(&changes, &changed);
            assert_eq!(line, format!("#7: has a merge conflict, {words}: Fix the links (job j1)"));
        }
        let failed = FailedCheck { name: CleanText::line("links"), url: None };
        let mut failing = ready.clone();
        failing.pull_request.as_mut().expect("a state").checks =
            Checks { state: ChecksState::Failing, passed: 1, total: 2, failed: vec![failed] };
        let line = describe_changes(&changes_between(Some(&ready), &failing), &failing);
        assert_eq!(line, "#7: checks are failing, failed: links: Fix the links (job j1)");
        let mut newer = ready.clone();
        newer.pull_request.as_mut().expect("a state").as_of += chrono::TimeDelta::minutes(1);
        assert_eq!(changes_between(Some(&ready), &newer), [], "it was read again");
        let mut gone = new.clone();
        gone.local.gone = true;
        assert_eq!(changes_between(Some(&new), &gone), [JobChangeKind::Gone]);
        assert_eq!(changes_between(Some(&gone), &new), [JobChangeKind::Back]);
    }

    #[test]
    fn the_delivery_of_a_prompt_is_a_change() {
        let mut old = row();
        (old.id, old.remote.status, old.local.undelivered) = (None, None, Some(DeliveryKind::Queued));
        let mut sending = old.clone();
        sending.local.undelivered = Some(DeliveryKind::Sending);
        assert_eq!(
            describe_changes(&changes_between(Some(&old), &sending), &sending),
            "sending the prompt: Fix the links"
        );
        let accepted = row();
        let changes = changes_between(Some(&sending), &accepted);
        assert_eq!(changes, [JobChangeKind::Status, JobChangeKind::Delivery]);
        assert_eq!(describe_changes(&changes, &accepted), "active, prompt accepted: Fix the links (job j1)");
    }
}
