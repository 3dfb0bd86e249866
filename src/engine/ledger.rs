//! Spends page-view requests from the ledger and emits the three budgets. Requests that the store
//! can't record (disk full) are counted in memory, so that they are not free.

use super::state::{EngineState, lock};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::{Budget, RateLimited, WINDOW, Wait};

impl EngineState {
    /// Emits the three budgets.
    pub(super) async fn report_budgets(&self) {
        for limited in RateLimited::ALL {
            self.report_budget(limited).await;
        }
    }

    /// Emits one budget.
    pub(super) async fn report_budget(&self, limited: RateLimited) {
        let now = self.clock.now();
        match self.store.budget(&self.scope, limited, now).await {
            Ok(budget) if limited == RateLimited::Views => {
                self.emit(EngineEvent::Budget(limited, self.with_unwritten(budget, now))).await;
            }
            Ok(budget) => self.emit(EngineEvent::Budget(limited, budget)).await,
            Err(error) => self.trouble(error.failure()).await,
        }
    }

    /// Spends one page-view request. Returns the time under which it is recorded.
    ///
    /// # Errors
    /// No request is left; the message says when there will be one.
    pub(super) async fn spend_view(&self) -> Result<Time, Failure> {
        let now = self.clock.now();
        match self.store.spend(&self.scope, RateLimited::Views, now).await {
            Ok(Ok(budget)) => {
                self.emit(EngineEvent::Budget(RateLimited::Views, self.with_unwritten(budget, now))).await;
                Ok(now)
            }
            Ok(Err(wait)) => Err(self.none_left(wait, now).await),
            Err(error) => {
                // Page views can still be loaded while the store can't be written.
                self.trouble(error.failure()).await;
                self.spend_unwritten(now).await
            }
        }
    }

    /// Refunds the request spent at that time, because it never reached the service.
    pub(super) async fn refund_view(&self, paid_at: Time) {
        let unwritten = {
            let mut spends = lock(&self.unwritten_spends);
            let position = spends.iter().position(|at| *at == paid_at);
            position.map(|position| spends.swap_remove(position))
        };
        if unwritten.is_none()
            && let Err(error) = self.store.refund(&self.scope, RateLimited::Views, paid_at).await
        {
            // It counts as used for an hour, which costs a wait but no request.
            self.trouble(error.failure()).await;
        }
        self.report_budget(RateLimited::Views).await;
    }

    async fn spend_unwritten(&self, now: Time) -> Result<Time, Failure> {
        let written = self.store.budget(&self.scope, RateLimited::Views, now).await;
        let budget = written.unwrap_or_else(|_| Budget::unused(RateLimited::Views));
        if let Some(wait) = self.with_unwritten(budget, now).wait() {
            return Err(self.none_left(wait, now).await);
        }
        lock(&self.unwritten_spends).push(now);
        self.emit(EngineEvent::Budget(RateLimited::Views, self.with_unwritten(budget, now))).await;
        Ok(now)
    }

    /// The budget including the requests that are counted only in memory.
    fn with_unwritten(&self, budget: Budget, now: Time) -> Budget {
        let mut spends = lock(&self.unwritten_spends);
        // A time from a clock that was ahead counts as now.
        spends.iter_mut().for_each(|at| *at = (*at).min(now));
        spends.retain(|at| *at + WINDOW > now);
        let Some(first) = spends.iter().min() else { return budget };
        let more = u32::try_from(spends.len()).unwrap_or(u32::MAX);
        let frees = *first + WINDOW;
        let resets_at = match budget.blocked {
            Some(wait) => Some(wait.until),
            None => Some(budget.resets_at.map_or(frees, |at| at.min(frees))),
        };
        Budget { used: budget.used.saturating_add(more), resets_at, ..budget }
    }

    async fn none_left(&self, wait: Wait, now: Time) -> Failure {
        let blocked = match self.store.budget(&self.scope, RateLimited::Views, now).await {
            Ok(budget) => {
                self.emit(EngineEvent::Budget(RateLimited::Views, self.with_unwritten(budget, now))).await;
                budget.blocked.is_some()
            }
            Err(_) => false,
        };
        none_left_failure(blocked, wait, now)
    }
}

fn none_left_failure(blocked: bool, wait: Wait, now: Time) -> Failure {
    let when = match wait.is_estimate {
        true => format!("in {}", wait.remaining_text(now)),
        false => format!("in {}, at {}", wait.remaining_text(now), wait.until.format("%H:%M:%S UTC")),
    };
    let why = if blocked {
        "The service reported that the limit is reached".to_owned()
    } else {
        format!("All {} page-view requests of this hour are used (this computer)", RateLimited::Views.limit())
    };
    Failure::new(FailureKind::Limited(wait), &format!("{why}, so no request was made. Try again {when}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ledger_reports_the_reason_and_when_to_try_again() {
        let now: Time = "2026-11-20T14:29:00Z".parse().expect("a time");
        let until: Time = "2026-11-20T14:41:00Z".parse().expect("a time");
        let wait = Wait { until, is_estimate: false };
        let failure = none_left_failure(false, wait, now);
        assert_eq!(failure.kind, FailureKind::Limited(wait));
        assert_eq!(
            failure.message.as_str(),
            "All 100 page-view requests of this hour are used (this computer), so no request was made. Try again in \
             12m, at 14:41:00 UTC."
        );
        let guessed =
            none_left_failure(true, Wait { until: now + chrono::TimeDelta::minutes(1), is_estimate: true }, now);
        assert_eq!(
            guessed.message.as_str(),
            "The service reported that the limit is reached, so no request was made. Try again in about a minute."
        );
    }
}
