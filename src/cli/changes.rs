//! Finds the changes between two versions of a job. Each change has a text for log lines and a name for JSON.

use super::job_line::{id_text, state_and_role};
use crate::model::job::Status;
use crate::model::link;
use crate::model::prompt::DeliveryKind;
use crate::model::row::Job;

/// A kind of change between two versions of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobChange {
    /// The job was not tracked before.
    New,
    Status,
    PullRequest,
    /// The most important fact about the pull request changed.
    PullRequestState,
    /// The service no longer has the job.
    Gone,
    /// The service has the job again.
    Back,
    /// The delivery of a prompt changed.
    Delivery,
}

impl JobChange {
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
pub(super) fn changes_between(old: Option<&Job>, new: &Job) -> Vec<JobChange> {
    let Some(old) = old else { return vec![JobChange::New] };
    let fact = |job: &Job| job.pull_request.as_ref().map(|state| state.fact());
    let all = [
        (old.remote.status != new.remote.status, JobChange::Status),
        (old.remote.pr_link != new.remote.pr_link && new.remote.pr_link.is_some(), JobChange::PullRequest),
        (new.pull_request.is_some() && fact(old) != fact(new), JobChange::PullRequestState),
        (!old.local.gone && new.local.gone, JobChange::Gone),
        (old.local.gone && !new.local.gone, JobChange::Back),
        (old.local.undelivered != new.local.undelivered, JobChange::Delivery),
    ];
    all.into_iter().filter(|(changed, _)| *changed).map(|(_, change)| change).collect()
}

/// Describes the changes and the job in one line.
pub(super) fn describe_changes(changes: &[JobChange], row: &Job) -> String {
    let mut words: Vec<String> = Vec::new();
    for change in changes {
        let word = match change {
            JobChange::New => state_and_role(row).0.to_owned(),
            JobChange::Status => row.remote.status.as_ref().map_or("not checked yet", Status::word).to_owned(),
            JobChange::PullRequest => match &row.remote.pr_link {
                Some(link) => format!("pull request {}", link::display_url(link)),
                None => continue,
            },
            JobChange::PullRequestState => match &row.pull_request {
                Some(state) => {
                    let number = row.pr_number().map(|number| format!("#{number}: ")).unwrap_or_default();
                    format!("{number}{}", state.fact().word_and_meaning().1)
                }
                None => continue,
            },
            JobChange::Gone => "gone from the service".to_owned(),
            JobChange::Back => "back on the service".to_owned(),
            JobChange::Delivery => match row.local.undelivered {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::JobId;
    use crate::model::row::JobKey;
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
        assert_eq!(changes, [JobChange::Status, JobChange::PullRequest]);
        assert_eq!(
            describe_changes(&changes, &new),
            "completed, pull request https://x.example/pull/7: Fix the links (job j1)"
        );
        let mut ready = new.clone();
        ready.pull_request = Some(Box::new(crate::model::pull_request::tests::open_pull_request(Time::default())));
        let changes = changes_between(Some(&new), &ready);
        assert_eq!(changes, [JobChange::PullRequestState]);
        assert_eq!(describe_changes(&changes, &ready), "#7: ready for review: Fix the links (job j1)");
        assert_eq!(changes_between(Some(&ready), &ready), []);
        let mut gone = new.clone();
        gone.local.gone = true;
        assert_eq!(changes_between(Some(&new), &gone), [JobChange::Gone]);
        assert_eq!(changes_between(Some(&gone), &new), [JobChange::Back]);
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
        assert_eq!(changes, [JobChange::Status, JobChange::Delivery]);
        assert_eq!(describe_changes(&changes, &accepted), "active, prompt accepted: Fix the links (job j1)");
    }
}
