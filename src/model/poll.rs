//! When to look at a job again, as a pure function of what is known of it (design.md: polling).

use super::Time;
use super::job::Status;
use super::row::Job;
use chrono::TimeDelta;

/// Shortest pause, right after a creation or a follow-up.
pub const FIRST: TimeDelta = TimeDelta::seconds(2);
/// Longest pause in the first hour.
pub const USUAL: TimeDelta = TimeDelta::seconds(30);
/// The pause for jobs older than an hour and for unknown statuses.
pub const SLOW: TimeDelta = TimeDelta::seconds(60);
/// How long a job that took a follow-up may go on saying that it is finished before that is believed.
pub const WAKING: TimeDelta = TimeDelta::seconds(90);
/// Looks for a pull request after `completed` came without one.
pub const LATE_LOOKS: [TimeDelta; 3] = [TimeDelta::seconds(5), TimeDelta::seconds(15), TimeDelta::seconds(45)];

/// The moment of the next look at a job; none when there is nothing more to wait for.
///
/// Pauses grow by half: with the looks at t₀ = 0, t₁ = 2, t₂ = 5, … each pause is 2 + t/2 seconds, so the last look and
/// the start are all that has to be known.
pub fn next_poll(job: &Job) -> Option<Time> {
    if job.gone || job.id.is_none() {
        return None;
    }
    let Some(checked) = job.checked_at else {
        return Some(job.last_accepted_at() + FIRST);
    };
    let elapsed = (checked - job.last_accepted_at()).max(TimeDelta::zero());
    let growing = || checked + if elapsed >= TimeDelta::hours(1) { SLOW } else { (FIRST + elapsed / 2).min(USUAL) };
    match &job.status {
        // Set to work again, and not at work yet as far as the service says.
        Some(status) if status.is_finished() && job.finished_at.is_none() && elapsed < WAKING => Some(growing()),
        Some(Status::Completed) if job.pr_link.is_none() => {
            let finished = job.finished_at?;
            LATE_LOOKS.iter().map(|&after| finished + after).find(|&look| look > checked)
        }
        Some(Status::Completed | Status::Archived | Status::Failed) => None,
        Some(Status::Unknown(_)) => Some(checked + SLOW),
        None | Some(Status::Active) => Some(growing()),
    }
}

/// Whether a caller that waits for the job may stop: it is finished, or the service no longer knows it. One that completed
/// without a pull request is looked at once more, since its link may come late; one that has just taken a follow-up is
/// not believed to be finished before it was looked at.
pub fn is_over(job: &Job) -> bool {
    let Some(checked) = job.checked_at else { return false };
    let late = LATE_LOOKS.first().copied().unwrap_or_default();
    match (&job.status, job.finished_at) {
        _ if job.gone => true,
        (Some(Status::Completed), Some(finished)) if job.pr_link.is_none() => checked >= finished + late,
        (Some(status), Some(_)) => status.is_finished(),
        (Some(status), None) => status.is_finished() && checked - job.last_accepted_at() >= WAKING,
        (None, _) => false,
    }
}

/// Pauses of the one exponential backoff for the service: 2, 4, 8 … 120 s.
pub fn backoff(failures: u32) -> TimeDelta {
    let doubled = 2_i64.saturating_pow(failures.clamp(1, 16));
    TimeDelta::seconds(doubled.min(120))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobId;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    fn job(status: Option<Status>, checked: Option<i64>) -> Job {
        let checked_at = checked.map(at);
        Job { id: JobId::new("j"), status, checked_at, ..Job::new(JobKey(1), CleanText::line("t"), at(0)) }
    }

    #[test]
    fn pauses_grow_by_half_up_to_thirty_seconds() {
        let mut pauses = Vec::new();
        let mut last = next_poll(&job(None, None)).expect("a first look");
        assert_eq!(last, at(2));
        for _ in 0..9 {
            let mut row = job(Some(Status::Active), None);
            row.checked_at = Some(last);
            let next = next_poll(&row).expect("a next look");
            pauses.push((next - last).num_milliseconds());
            last = next;
        }
        assert_eq!(pauses, [3000, 4500, 6750, 10125, 15187, 22781, 30000, 30000, 30000]);
    }

    #[test]
    fn an_old_job_and_an_unknown_status_are_looked_at_once_a_minute() {
        assert_eq!(next_poll(&job(Some(Status::Active), Some(3600))), Some(at(3660)));
        assert_eq!(next_poll(&job(Some(Status::parse("paused")), Some(5))), Some(at(65)));
    }

    #[test]
    fn a_completed_job_without_a_pull_request_gets_three_more_looks() {
        let mut row = job(Some(Status::Completed), Some(100));
        row.finished_at = Some(at(100));
        let mut looks = Vec::new();
        while let Some(next) = next_poll(&row) {
            looks.push((next - at(100)).num_seconds());
            row.checked_at = Some(next);
        }
        assert_eq!(looks, [5, 15, 45]);
    }

    #[test]
    fn a_job_that_took_a_follow_up_is_given_time_to_wake() {
        let mut row = job(Some(Status::Completed), Some(10));
        row.pr_link = Some(CleanText::line("https://example.com/pull/1"));
        assert_eq!(next_poll(&row), Some(at(17)));
        row.checked_at = Some(at(90));
        assert_eq!(next_poll(&row), None);
    }

    #[test]
    fn finished_gone_and_unsent_jobs_are_not_polled() {
        let mut failed = job(Some(Status::Failed), Some(5));
        failed.finished_at = Some(at(5));
        assert_eq!(next_poll(&failed), None);
        let mut gone = job(Some(Status::Active), Some(5));
        gone.gone = true;
        assert_eq!(next_poll(&gone), None);
        let mut unsent = job(None, None);
        unsent.id = None;
        assert_eq!(next_poll(&unsent), None);
    }

    #[test]
    fn a_wait_ends_with_the_job_and_gives_a_late_link_one_look() {
        let mut row = job(Some(Status::Active), Some(5));
        assert!(!is_over(&row));
        row.status = Some(Status::parse("reviewing"));
        assert!(!is_over(&row), "nobody knows whether it ends there");
        row.finished_at = Some(at(10));
        for (status, over) in [(Status::Failed, true), (Status::Archived, true), (Status::Completed, false)] {
            row.status = Some(status);
            assert_eq!(is_over(&row), over, "{:?}", row.status);
        }
        row.checked_at = Some(at(15));
        assert!(is_over(&row), "looked at once more");
        row.checked_at = Some(at(10));
        row.pr_link = Some(CleanText::line("https://example.com/pull/1"));
        assert!(is_over(&row));
    }

    #[test]
    fn a_wait_does_not_end_before_a_follow_up_has_shown() {
        let mut row = job(Some(Status::Failed), None);
        assert!(!is_over(&row), "not looked at since the follow-up");
        row.checked_at = Some(at(20));
        assert!(!is_over(&row));
        row.checked_at = Some(at(90));
        assert!(is_over(&row));
        row.gone = true;
        row.status = Some(Status::Active);
        assert!(is_over(&row));
    }

    #[test]
    fn the_backoff_doubles_up_to_two_minutes() {
        assert_eq!(backoff(1).num_seconds(), 2);
        assert_eq!(backoff(3).num_seconds(), 8);
        assert_eq!(backoff(40).num_seconds(), 120);
    }
}
