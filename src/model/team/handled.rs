//! Recognizes that another member of the team handled a job that needed the user.

use crate::model::job::{Job, JobGroup, PullRequestEndedBy};
use crate::model::pull_request::PullRequestFact;
use crate::model::text::CleanText;

/// The maximum number of characters of a job's title in the sentence of [`handled_by_member_notice`].
const MAX_QUOTED_TITLE_CHARS: usize = 80;

/// Returns a sentence about the member who took the job out of the group “needs you”: with a follow-up, by dismissing
/// it, or by merging or closing its pull request with docdeck. Returns `None` if the job was not in this group or still
/// is, or if the user of this computer or the service took it out.
pub fn handled_by_member_notice(before: &Job, after: &Job) -> Option<CleanText> {
    if before.group() != JobGroup::NeedsYou || after.group() == JobGroup::NeedsYou {
        return None;
    }
    let team = after.local.team.as_deref()?;
    let is_dismissed = after.local.dismissed && !before.local.dismissed;
    let is_followed_up = after.local.followed_up_at > before.local.followed_up_at;
    let dismissed = team.dismissed_by.as_ref().filter(|_| is_dismissed).map(|name| (name, "dismissed"));
    let followed_up = team.followed_up_by.as_ref().filter(|_| is_followed_up).map(|name| (name, "followed up on"));
    let knew_end = before.local.team.as_ref().is_some_and(|team| team.pr_ended_by.is_some());
    let verb = match after.pr_fact() {
        Some(PullRequestFact::Merged) => Some("merged"),
        Some(PullRequestFact::Closed) => Some("closed the pull request of"),
        _ => None,
    };
    let ended = match &team.pr_ended_by {
        Some(PullRequestEndedBy::Member(name)) if !knew_end => verb.map(|verb| (name, verb)),
        _ => None,
    };
    let (name, verb) = dismissed.or(followed_up).or(ended)?;
    let title = CleanText::title(after.local.title.as_str(), MAX_QUOTED_TITLE_CHARS);
    Some(CleanText::line(&format!("{name} {verb} “{title}”")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::{JobKey, TeamActivity};
    use crate::model::prompt::DeliveryKind;
    use crate::model::remote_job::{JobId, Status};

    fn at(second: i64) -> Time {
        Time::from_timestamp(second, 0).expect("in range")
    }

    /// A failed job, which needs the user.
    fn failed() -> Job {
        let mut job = Job::new(JobKey(1), CleanText::line("Fix SSO page"), at(0));
        job.id = JobId::new("j1");
        job.remote.status = Some(Status::Failed);
        job
    }

    fn with_activity(mut job: Job, activity: TeamActivity) -> Job {
        job.local.team = Some(Box::new(activity));
        job
    }

    fn followed_up(by: Option<&str>) -> Job {
        let followed_up_by = by.map(CleanText::line);
        let mut job = with_activity(failed(), TeamActivity { followed_up_by, ..TeamActivity::default() });
        job.remote.status = Some(Status::Active);
        job.local.followed_up_at = Some(at(9));
        job
    }

    fn text(before: &Job, after: &Job) -> Option<String> {
        handled_by_member_notice(before, after).map(|text| text.to_string())
    }

    #[test]
    fn a_follow_up_or_dismissal_by_another_member_is_reported() {
        let after = followed_up(Some("ana"));
        assert_eq!(text(&failed(), &after).as_deref(), Some("ana followed up on “Fix SSO page”"));
        let dismissed_by = Some(CleanText::line("bob"));
        let mut after = with_activity(failed(), TeamActivity { dismissed_by, ..TeamActivity::default() });
        after.local.dismissed = true;
        assert_eq!(text(&failed(), &after).as_deref(), Some("bob dismissed “Fix SSO page”"));
        assert_eq!(text(&after, &after), None, "it did not need the user any more");
    }

    #[test]
    fn a_merge_by_another_member_is_reported_and_one_by_the_user_is_not() {
        use crate::model::pull_request::tests::open_pull_request;
        use crate::model::pull_request::{PullRequest, PullRequestState};
        let mut before = failed();
        before.remote.status = Some(Status::Completed);
        before.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        before.pull_request = Some(Box::new(open_pull_request(at(0))));
        let ended = |by: PullRequestEndedBy, state: PullRequestState| {
            let pr_ended_by = Some(by);
            let mut after = with_activity(before.clone(), TeamActivity { pr_ended_by, ..TeamActivity::default() });
            after.pull_request = Some(Box::new(PullRequest { state, ..open_pull_request(at(0)) }));
            after
        };
        let ana = PullRequestEndedBy::Member(CleanText::line("ana"));
        let merged = ended(ana.clone(), PullRequestState::Merged);
        assert_eq!(text(&before, &merged).as_deref(), Some("ana merged “Fix SSO page”"));
        let closed = ended(ana, PullRequestState::Closed);
        assert_eq!(text(&before, &closed).as_deref(), Some("ana closed the pull request of “Fix SSO page”"));
        assert_eq!(text(&before, &ended(PullRequestEndedBy::User, PullRequestState::Merged)), None);
    }

    #[test]
    fn what_the_user_or_the_service_did_is_not_reported() {
        assert_eq!(text(&failed(), &followed_up(None)), None, "the user's follow-up");
        let mut dismissed = failed();
        dismissed.local.dismissed = true;
        assert_eq!(text(&failed(), &dismissed), None, "dismissed by the user");
        // ana followed up earlier; now the user does, or dismisses the job.
        let mut before = followed_up(Some("ana"));
        before.remote.status = Some(Status::Failed);
        let mut queued = before.clone();
        queued.local.undelivered = Some(DeliveryKind::Queued);
        let mut dismissed = before.clone();
        dismissed.local.dismissed = true;
        let mut handled = before.clone();
        handled.local.handled_at = Some(at(99));
        let mut gone = before.clone();
        gone.local.gone = true;
        for after in [queued, dismissed, handled, gone, before.clone()] {
            assert_eq!(text(&before, &after), None, "{after:?}");
        }
    }

    #[test]
    fn a_job_that_already_needs_the_user_again_is_not_reported() {
        let mut again = followed_up(Some("ana"));
        again.remote.status = Some(Status::Failed);
        assert_eq!(text(&failed(), &again), None);
    }
}
