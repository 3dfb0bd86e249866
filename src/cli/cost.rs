//! Estimates the cost of a batch of new jobs: how many of them can start now, and when the others can start. Considers
//! only the requests of this computer.

use super::out::rfc3339_seconds;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::JobKey;
use crate::model::ledger::{Budget, Quota, RATE_LIMIT_WINDOW};
use crate::model::prompt::PromptKind;
use crate::store::{Store, StoreError};
use crate::tui::compose::batch::schedule_text;
use chrono::{Local, Utc};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct BatchCost {
    /// The number of jobs of the batch, including those that are already in the store.
    jobs: usize,
    /// The number of new jobs outside the batch that are in the queue. They are sent before the batch.
    jobs_ahead: usize,
    budget: Budget,
    now: Time,
}

impl BatchCost {
    /// Estimates the cost of `new_jobs` new jobs and of `batch_jobs`, the jobs of the batch that are already in the
    /// store. Uses the ledger and the queue of this computer.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub(super) async fn estimate(
        store: &Store,
        scope: &Scope,
        new_jobs: usize,
        batch_jobs: &[JobKey],
    ) -> Result<Self, StoreError> {
        let now = Utc::now();
        let budget = store.budget(scope, Quota::Create, now).await?;
        let queued = store.sendable_prompts(scope).await?;
        let creates = queued.iter().filter(|waiting| waiting.kind == PromptKind::Create);
        // Queued jobs of the batch are already counted in `jobs`, so they are not ahead of the batch.
        let jobs_ahead = creates.filter(|waiting| !batch_jobs.contains(&waiting.job)).count();
        Ok(Self { jobs: new_jobs + batch_jobs.len(), jobs_ahead, budget, now })
    }

    /// Returns how many jobs can start now. If some jobs must wait, also returns the earliest start times of the first
    /// and of the last waiting job.
    fn startable_count_and_later_starts(&self) -> (usize, Option<(Time, Time)>) {
        let slots = usize::try_from(self.budget.requests_left()).unwrap_or(usize::MAX);
        let now_count = self.jobs.min(slots.saturating_sub(self.jobs_ahead));
        let Some(more) = (self.jobs - now_count).checked_sub(1) else { return (now_count, None) };
        let more = more.saturating_add(self.jobs_ahead.saturating_sub(slots));
        let first = self.budget.resets_at.filter(|at| *at > self.now).unwrap_or(self.now + RATE_LIMIT_WINDOW);
        let hours = more / usize::try_from(self.budget.limit.max(1)).unwrap_or(usize::MAX);
        (now_count, Some((first, first + RATE_LIMIT_WINDOW * i32::try_from(hours).unwrap_or(i32::MAX))))
    }

    /// Describes the cost in a sentence.
    pub(super) fn sentence(&self) -> String {
        let offset = *Local::now().offset();
        let mut text = schedule_text(self.jobs, self.jobs_ahead, self.budget, self.now, offset);
        if let (_, Some((first, last))) = self.startable_count_and_later_starts()
            && last > first
        {
            text.push_str(&format!("; the last at {} or later", last.with_timezone(&Local).format("%Y-%m-%d %H:%M")));
        }
        format!("{text}. New jobs {}/{} this hour on this computer.", self.budget.used, self.budget.limit)
    }

    /// Returns the cost as JSON. `sent_before` is the number of prompts in the file that are not part of the cost,
    /// because they were sent before.
    pub(super) fn as_json(&self, sent_before: usize) -> Value {
        let (now_count, later) = self.startable_count_and_later_starts();
        json!({
            "prompts": self.jobs,
            "known": sent_before,
            "now": now_count,
            "later": self.jobs - now_count,
            "laterFrom": later.map(|(first, _)| rfc3339_seconds(first)),
            "lastNotBefore": later.map(|(_, last)| rfc3339_seconds(last)),
            "ahead": self.jobs_ahead,
            "usedHere": self.budget.used,
            "limit": self.budget.limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    fn cost(jobs: usize, ahead: usize, used: u32, minutes_to_reset: i64) -> (usize, Option<(i64, i64)>) {
        let now: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
        let resets_at = (used > 0).then(|| now + TimeDelta::minutes(minutes_to_reset));
        let budget = Budget { used, resets_at, ..Budget::unused(Quota::Create) };
        let (now_count, later) = BatchCost { jobs, jobs_ahead: ahead, budget, now }.startable_count_and_later_starts();
        (now_count, later.map(|(first, last)| ((first - now).num_minutes(), (last - now).num_minutes())))
    }

    #[test]
    fn jobs_over_the_limit_start_later_at_most_a_hundred_an_hour() {
        assert_eq!(cost(100, 0, 0, 0), (100, None));
        assert_eq!(cost(140, 0, 37, 22), (63, Some((22, 22))));
        assert_eq!(cost(140, 60, 37, 22), (3, Some((22, 82))), "jobs ahead in the queue use slots");
        assert_eq!(cost(10, 0, 100, 5), (0, Some((5, 5))));
        assert_eq!(cost(301, 0, 0, 0), (100, Some((60, 180))), "the last job starts after two hours more");
        assert_eq!(cost(300, 0, 0, 0), (100, Some((60, 120))));
        assert_eq!(cost(1, 200, 0, 0), (0, Some((60, 120))), "a hundred of the jobs ahead wait too");
    }
}
