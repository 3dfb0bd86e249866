//! What many new jobs cost: how many can go at once, and when the others can, as far as this computer knows.

use super::out::rfc3339;
use crate::app::batch::price;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{Budget, RateLimited, WINDOW};
use crate::model::prompt::PromptKind;
use crate::model::row::JobKey;
use crate::store::{Store, StoreError};
use chrono::{Local, Utc};
use serde_json::{Value, json};

/// What so many new jobs cost.
#[derive(Debug)]
pub(super) struct Cost {
    jobs: usize,
    /// That wait already.
    ahead: usize,
    budget: Budget,
    now: Time,
}

impl Cost {
    /// Of so many new ones and of those that wait in the record already, by the ledger and the queue as they stand here.
    ///
    /// # Errors
    /// The record can't be read.
    pub(super) async fn of(store: &Store, scope: &Scope, fresh: usize, own: &[JobKey]) -> Result<Self, StoreError> {
        let now = Utc::now();
        let budget = store.budget(scope, RateLimited::Create, now).await?;
        let queued = store.queued(scope).await?;
        let creates = queued.iter().filter(|waiting| waiting.kind == PromptKind::Create);
        // None waits behind itself.
        let ahead = creates.filter(|waiting| !own.contains(&waiting.job)).count();
        Ok(Self { jobs: fresh + own.len(), ahead, budget, now })
    }

    /// How many can go at once, and the earliest moments for the first and the last of the others.
    fn later(&self) -> (usize, Option<(Time, Time)>) {
        let places = usize::try_from(self.budget.left()).unwrap_or(usize::MAX);
        let at_once = self.jobs.min(places.saturating_sub(self.ahead));
        let Some(more) = (self.jobs - at_once).checked_sub(1) else { return (at_once, None) };
        let more = more.saturating_add(self.ahead.saturating_sub(places));
        let first = self.budget.resets_at.filter(|at| *at > self.now).unwrap_or(self.now + WINDOW);
        let hours = more / usize::try_from(self.budget.limit.max(1)).unwrap_or(usize::MAX);
        (at_once, Some((first, first + WINDOW * i32::try_from(hours).unwrap_or(i32::MAX))))
    }

    /// In a sentence.
    pub(super) fn sentence(&self) -> String {
        let offset = *Local::now().offset();
        let mut text = price(self.jobs, self.ahead, self.budget, self.now, offset);
        if let (_, Some((first, last))) = self.later()
            && last > first
        {
            text.push_str(&format!("; the last not before {}", last.with_timezone(&Local).format("%Y-%m-%d %H:%M")));
        }
        format!("{text}. New jobs {}/{} this hour on this computer.", self.budget.used, self.budget.limit)
    }

    /// For programs; `known` are prompts of the file that are not counted.
    pub(super) fn as_json(&self, known: usize) -> Value {
        let (at_once, later) = self.later();
        json!({
            "prompts": self.jobs,
            "known": known,
            "now": at_once,
            "later": self.jobs - at_once,
            "laterFrom": later.map(|(first, _)| rfc3339(first)),
            "lastNotBefore": later.map(|(_, last)| rfc3339(last)),
            "ahead": self.ahead,
            "usedHere": self.budget.used,
            "limit": self.budget.limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    fn cost(jobs: usize, ahead: usize, used: u32, frees_in: i64) -> (usize, Option<(i64, i64)>) {
        let now: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
        let resets_at = (used > 0).then(|| now + TimeDelta::minutes(frees_in));
        let budget = Budget { used, resets_at, ..Budget::unused(RateLimited::Create) };
        let (at_once, later) = Cost { jobs, ahead, budget, now }.later();
        (at_once, later.map(|(first, last)| ((first - now).num_minutes(), (last - now).num_minutes())))
    }

    #[test]
    fn what_has_no_place_now_goes_when_the_first_is_free_and_a_hundred_an_hour() {
        assert_eq!(cost(100, 0, 0, 0), (100, None));
        assert_eq!(cost(140, 0, 37, 22), (63, Some((22, 22))));
        assert_eq!(cost(140, 60, 37, 22), (3, Some((22, 82))), "those ahead take their places");
        assert_eq!(cost(10, 0, 100, 5), (0, Some((5, 5))));
        assert_eq!(cost(301, 0, 0, 0), (100, Some((60, 180))), "101 more wait two hours for the last");
        assert_eq!(cost(300, 0, 0, 0), (100, Some((60, 120))));
        assert_eq!(cost(1, 200, 0, 0), (0, Some((60, 120))), "a hundred of those ahead wait as well");
    }
}
