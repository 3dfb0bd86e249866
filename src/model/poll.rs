//! Decides from the stored data of a job when to ask the service for its status again.

use super::Time;
use super::job::Job;
use super::remote_job::Status;
use chrono::TimeDelta;

/// The shortest interval between two checks, and the time from an accepted prompt to the first check.
pub const MIN_INTERVAL: TimeDelta = TimeDelta::seconds(2);
/// The longest interval between two checks in the first hour after the service accepted a prompt.
pub const MAX_FIRST_HOUR_INTERVAL: TimeDelta = TimeDelta::seconds(30);
/// The interval between two checks if the last prompt was accepted more than an hour ago, or if the status is unknown.
pub const SLOW_INTERVAL: TimeDelta = TimeDelta::seconds(60);
/// The time after a follow-up during which a finished status is not trusted, because the service may still report the
/// status from before the follow-up.
pub const FOLLOW_UP_GRACE: TimeDelta = TimeDelta::seconds(90);
/// When a job that completed without a pull request is checked for a late pull request, counted from when it finished.
pub const LATE_PULL_REQUEST_POLL_DELAYS: [TimeDelta; 3] =
    [TimeDelta::seconds(5), TimeDelta::seconds(15), TimeDelta::seconds(45)];

/// Returns when to check the job next, or `None` if no further change is expected. `Store::jobs_to_check` already
/// leaves out, in SQL, most jobs for which no change is expected.
///
/// While the agent is working, the interval after a check depends only on t, the time from the last accepted prompt to
/// that check. In the first hour, it is 2 + t/2 seconds, but at most 30, so the checks come 2, 5, 9.5, … seconds after
/// the prompt. After that, it is [`SLOW_INTERVAL`].
pub fn next_poll(job: &Job) -> Option<Time> {
    if job.local.gone || job.id.is_none() {
        return None;
    }
    let Some(checked) = job.local.checked_at else {
        return Some(job.last_accepted_at() + MIN_INTERVAL);
    };
    let elapsed = (checked - job.last_accepted_at()).max(TimeDelta::zero());
    let with_growing_interval = || {
        checked
            + if elapsed >= TimeDelta::hours(1) {
                SLOW_INTERVAL
            } else {
                (MIN_INTERVAL + elapsed / 2).min(MAX_FIRST_HOUR_INTERVAL)
            }
    };
    match &job.remote.status {
        // A follow-up has restarted the job, but the service still reports the status from before the follow-up.
        Some(status) if status.is_finished() && job.local.finished_at.is_none() && elapsed < FOLLOW_UP_GRACE => {
            Some(with_growing_interval())
        }
        Some(Status::Completed) if job.remote.pr_link.is_none() => {
            let finished = job.local.finished_at?;
            LATE_PULL_REQUEST_POLL_DELAYS.iter().map(|&after| finished + after).find(|&check| check > checked)
        }
        Some(Status::Completed | Status::Archived | Status::Failed) => None,
        Some(Status::Unknown(_)) => Some(checked + SLOW_INTERVAL),
        None | Some(Status::Active) => Some(with_growing_interval()),
    }
}

/// Whether the job has ended, so that nobody has to wait for it any longer: it is finished or gone. A job that
/// completed without a pull request has ended only after one more check, because the link may arrive late. After a
/// follow-up, a finished status counts only after [`FOLLOW_UP_GRACE`].
pub fn has_ended(job: &Job) -> bool {
    let Some(checked) = job.local.checked_at else { return false };
    let late = LATE_PULL_REQUEST_POLL_DELAYS.first().copied().unwrap_or_default();
    match (&job.remote.status, job.local.finished_at) {
        _ if job.local.gone => true,
        (Some(Status::Completed), Some(finished)) if job.remote.pr_link.is_none() => checked >= finished + late,
        (Some(status), Some(_)) => status.is_finished(),
        (Some(status), None) => status.is_finished() && checked - job.last_accepted_at() >= FOLLOW_UP_GRACE,
        (None, _) => false,
    }
}

/// Returns how long to wait after this many failures in a row: 2, 4, 8 … 120 seconds.
pub fn backoff(failures: u32) -> TimeDelta {
    let doubled = 2_i64.saturating_pow(failures.clamp(1, 16));
    TimeDelta::seconds(doubled.min(120))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobKey;
    use crate::model::remote_job::JobId;
    use crate::model::text::CleanText;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    fn job(status: Option<Status>, checked: Option<i64>) -> Job {
        let checked_at = checked.map(at);
        let mut job = Job::new(JobKey(1), CleanText::line("t"), at(0));
        job.id = JobId::new("j");
        job.remote.status = status;
        job.local.checked_at = checked_at;
        job
    }

    #[test]
    fn intervals_grow_by_half_up_to_thirty_seconds() {
        let mut pauses = Vec::new();
        let mut last = next_poll(&job(None, None)).expect("a first check");
        assert_eq!(last, at(2));
        for _ in 0..9 {
            let mut row = job(Some(Status::Active), None);
            row.local.checked_at = Some(last);
            let next = next_poll(&row).expect("a next check");
            pauses.push((next - last).num_milliseconds());
            last = next;
        }
        assert_eq!(pauses, [3000, 4500, 6750, 10125, 15187, 22781, 30000, 30000, 30000]);
    }

    #[test]
    fn old_jobs_and_unknown_statuses_are_checked_once_a_minute() {
        assert_eq!(next_poll(&job(Some(Status::Active), Some(3600))), Some(at(3660)));
        assert_eq!(next_poll(&job(Some(Status::parse("paused")), Some(5))), Some(at(65)));
    }

    #[test]
    fn a_completed_job_without_a_pull_request_is_checked_three_more_times() {
        let mut row = job(Some(Status::Completed), Some(100));
        row.local.finished_at = Some(at(100));
        let mut checks = Vec::new();
        while let Some(next) = next_poll(&row) {
            checks.push((next - at(100)).num_seconds());
            row.local.checked_at = Some(next);
        }
        assert_eq!(checks, [5, 15, 45]);
    }

    #[test]
    fn a_finished_job_is_polled_for_a_while_after_a_follow_up() {
        let mut row = job(Some(Status::Completed), Some(10));
        row.remote.pr_link = Some(CleanText::line("https://example.com/pull/1"));
        assert_eq!(next_poll(&row), Some(at(17)));
        row.local.checked_at = Some(at(90));
        assert_eq!(next_poll(&row), None);
    }

    #[test]
    fn finished_gone_and_unsent_jobs_are_not_polled() {
        let mut failed = job(Some(Status::Failed), Some(5));
        failed.local.finished_at = Some(at(5));
        assert_eq!(next_poll(&failed), None);
        let mut gone = job(Some(Status::Active), Some(5));
        gone.local.gone = true;
        assert_eq!(next_poll(&gone), None);
        let mut unsent = job(None, None);
        unsent.id = None;
        assert_eq!(next_poll(&unsent), None);
    }

    #[test]
    fn a_wait_for_a_completed_job_ends_after_one_check_for_a_late_link() {
        let mut row = job(Some(Status::Active), Some(5));
        assert!(!has_ended(&row));
        row.remote.status = Some(Status::parse("reviewing"));
        assert!(!has_ended(&row), "an unknown status may not be final");
        row.local.finished_at = Some(at(10));
        for (status, over) in [(Status::Failed, true), (Status::Archived, true), (Status::Completed, false)] {
            row.remote.status = Some(status);
            assert_eq!(has_ended(&row), over, "{:?}", row.remote.status);
        }
        row.local.checked_at = Some(at(15));
        assert!(has_ended(&row), "checked once more");
        row.local.checked_at = Some(at(10));
        row.remote.pr_link = Some(CleanText::line("https://example.com/pull/1"));
        assert!(has_ended(&row));
    }

    #[test]
    fn a_wait_does_not_end_before_a_follow_up_takes_effect() {
        let mut row = job(Some(Status::Failed), None);
        assert!(!has_ended(&row), "not checked since the follow-up");
        row.local.checked_at = Some(at(20));
        assert!(!has_ended(&row));
        row.local.checked_at = Some(at(90));
        assert!(has_ended(&row));
        row.local.gone = true;
        row.remote.status = Some(Status::Active);
        assert!(has_ended(&row));
    }

    #[test]
    fn the_backoff_doubles_up_to_two_minutes() {
        assert_eq!(backoff(1).num_seconds(), 2);
        assert_eq!(backoff(3).num_seconds(), 8);
        assert_eq!(backoff(40).num_seconds(), 120);
    }
}
