//! Makes requests for analytics within their hourly limit and emits the budgets of the three hourly limits.
//! Requests that the store can't record (disk full) are counted in memory, so that they count toward the
//! limit.

use super::lock::lock;
use super::poller_message::{FetchOutcome, PollerMessage};
use super::state::EngineState;
use crate::api::{ApiError, ApiResponse, RequestEffect};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::{Budget, Quota, RATE_LIMIT_WINDOW, Wait};
use crate::model::log::Operation;
use crate::model::team::TeamRequestPermission;
use crate::model::text::CleanText;

/// Why a request for analytics failed or was not made.
#[derive(Debug)]
pub(super) struct RequestFailure {
    pub(super) failure: Failure,
    /// Whether the request counts toward the hourly limit.
    pub(super) has_used_request: bool,
    /// Whether the service responded with 400.
    pub(super) is_bad_request: bool,
}

impl EngineState {
    /// Makes one request for analytics within the hourly limit that all analytics share. Refunds a request that never
    /// reached the service. A 429 blocks further requests. `subject` is the subject of the log entry.
    pub(super) async fn request_analytics<T>(
        &self,
        operation: Operation,
        subject: CleanText,
        request: impl Future<Output = ApiResponse<T>>,
    ) -> Result<T, RequestFailure> {
        let booking = self.book_request(Quota::Views).await;
        let mut spent = self.spend_analytics_request(booking.permission.clone()).await;
        if let Ok(spent_at) = spent
            && booking.is_expired()
        {
            self.refund_analytics_request(spent_at).await;
            spent = Err(Failure::local("docdeck was interrupted, so no request was made. Try again."));
        }
        let spent_at = match spent {
            Ok(spent_at) => spent_at,
            Err(failure) => {
                self.cancel_booking(&booking).await;
                return Err(RequestFailure { failure, has_used_request: false, is_bad_request: false });
            }
        };
        let _in_flight = self.in_flight_guard();
        let response = request.await;
        match self.record_response(operation, subject, response).await {
            Ok(response) => {
                self.send_to_poller(PollerMessage::Outcome(FetchOutcome::service_responded()));
                Ok(response)
            }
            Err(error) => {
                let failed = self.record_failed_request(&error, spent_at).await;
                if !failed.has_used_request {
                    self.cancel_booking(&booking).await;
                }
                Err(failed)
            }
        }
    }

    async fn record_failed_request(&self, error: &ApiError, spent_at: Time) -> RequestFailure {
        let now = self.clock.now();
        let failure = error.failure(now);
        let has_used_request = error.request_effect() != RequestEffect::NotReached;
        if let Some(wait) = error.wait(now) {
            if let Err(error) = self.store.record_rate_limit(&self.scope, Quota::Views, wait, now).await {
                self.emit_problem(error.failure()).await;
            }
            self.emit_budget(Quota::Views).await;
            self.share_wait_with_team(Quota::Views, wait).await;
        } else if !has_used_request {
            self.refund_analytics_request(spent_at).await;
        }
        let message = failure.message.clone();
        match error {
            // The id was rejected before a request was sent, so this error proves nothing about the service.
            ApiError::UnusableId { .. } => {}
            _ if !has_used_request => {
                self.send_to_poller(PollerMessage::Outcome(FetchOutcome::service_unreachable(message)));
            }
            _ if failure.kind == FailureKind::Service => {
                self.send_to_poller(PollerMessage::Outcome(FetchOutcome::unusable_response(message)));
            }
            _ => {}
        }
        RequestFailure { failure, has_used_request, is_bad_request: matches!(error, ApiError::BadRequest { .. }) }
    }

    /// Emits the budgets of the three hourly limits.
    pub(super) async fn emit_budgets(&self) {
        for quota in Quota::HOURLY {
            self.emit_budget(quota).await;
        }
    }

    /// Emits the budget of one hourly limit.
    pub(super) async fn emit_budget(&self, quota: Quota) {
        let _order = self.budget_emit_lock.lock().await;
        let now = self.clock.now();
        match self.store.budget(&self.scope, quota, now).await {
            Ok(budget) if quota == Quota::Views => self.emit_analytics_budget(budget, now).await,
            Ok(budget) => self.emit(EngineEvent::Budget(quota, self.with_team_count(quota, budget).await)).await,
            Err(error) => self.emit_problem(error.failure()).await,
        }
    }

    /// Spends one request for analytics. Returns the time at which it is recorded, for a later refund.
    ///
    /// # Errors
    /// No request is left; the message states when to try again.
    async fn spend_analytics_request(&self, permission: TeamRequestPermission) -> Result<Time, Failure> {
        let _order = self.budget_emit_lock.lock().await;
        let now = self.clock.now();
        match self.store.spend_with_team_permission(&self.scope, Quota::Views, now, permission.clone()).await {
            Ok(Ok(budget)) => {
                self.emit_analytics_budget(budget, now).await;
                Ok(now)
            }
            Ok(Err(wait)) => Err(self.limit_reached_failure(wait, now).await),
            Err(error) => {
                // If the store can't be written, analytics can be loaded nevertheless, and the request is counted in
                // memory.
                self.emit_problem(error.failure()).await;
                self.spend_request_in_memory(&permission, now).await
            }
        }
    }

    /// Refunds the request that was spent at `spent_at`, because it never reached the service.
    async fn refund_analytics_request(&self, spent_at: Time) {
        let unwritten = {
            let mut spends = lock(&self.unrecorded_request_times);
            let position = spends.iter().position(|at| *at == spent_at);
            position.map(|position| spends.swap_remove(position))
        };
        if unwritten.is_none()
            && let Err(error) = self.store.refund(&self.scope, Quota::Views, spent_at).await
        {
            // Without the refund, the request counts as used for an hour. So the user may have to wait, but no limit is
            // exceeded.
            self.emit_problem(error.failure()).await;
        }
        self.emit_budget(Quota::Views).await;
    }

    /// Spends a request that the store can't record. If the team's database can't be reached, the team's ledger never
    /// includes this request.
    async fn spend_request_in_memory(&self, permission: &TeamRequestPermission, now: Time) -> Result<Time, Failure> {
        if let TeamRequestPermission::LimitReached { until } = permission {
            return Err(self.limit_reached_failure(Wait { until: *until, is_estimate: false }, now).await);
        }
        let written = self.store.budget(&self.scope, Quota::Views, now).await;
        let budget = written.unwrap_or_else(|_| Budget::unused(Quota::Views));
        if let Some(wait) = self.with_unrecorded_requests(budget, now).wait() {
            return Err(self.limit_reached_failure(wait, now).await);
        }
        lock(&self.unrecorded_request_times).push(now);
        self.emit_analytics_budget(budget, now).await;
        Ok(now)
    }

    /// Emits the budget of analytics. `budget` contains only the requests in this computer's ledger.
    async fn emit_analytics_budget(&self, budget: Budget, now: Time) {
        let local = self.with_unrecorded_requests(budget, now);
        let budget = self.with_team_count(Quota::Views, local).await;
        self.emit(EngineEvent::Budget(Quota::Views, budget)).await;
    }

    /// Adds to `budget` the requests that are counted only in memory.
    fn with_unrecorded_requests(&self, budget: Budget, now: Time) -> Budget {
        let mut spends = lock(&self.unrecorded_request_times);
        // A time in the future is from a clock that was ahead, and counts as now.
        spends.iter_mut().for_each(|at| *at = (*at).min(now));
        spends.retain(|at| *at + RATE_LIMIT_WINDOW > now);
        let Some(oldest) = spends.iter().min() else { return budget };
        let unwritten = u32::try_from(spends.len()).unwrap_or(u32::MAX);
        let oldest_expires_at = *oldest + RATE_LIMIT_WINDOW;
        let resets_at = match budget.blocked {
            Some(wait) => Some(wait.until),
            None => Some(budget.resets_at.map_or(oldest_expires_at, |at| at.min(oldest_expires_at))),
        };
        Budget { used: budget.used.saturating_add(unwritten), resets_at, ..budget }
    }

    async fn limit_reached_failure(&self, wait: Wait, now: Time) -> Failure {
        let is_reported_by_service = match self.store.budget(&self.scope, Quota::Views, now).await {
            Ok(budget) => {
                self.emit_analytics_budget(budget, now).await;
                budget.blocked.is_some()
            }
            Err(_) => false,
        };
        let counted_by = if self.team.usage(Quota::Views).is_some() { "the team" } else { "this computer" };
        limit_failure(is_reported_by_service, counted_by, wait, now)
    }
}

fn limit_failure(is_reported_by_service: bool, counted_by: &str, wait: Wait, now: Time) -> Failure {
    let when = match wait.is_estimate {
        true => format!("in {}", wait.time_left_text(now)),
        false => format!("in {}, at {}", wait.time_left_text(now), wait.until.format("%H:%M:%S UTC")),
    };
    let why = if is_reported_by_service {
        "The service reported that the limit is reached".to_owned()
    } else {
        format!(
            "The hourly limit of {} analytics requests is reached, as counted by {counted_by}",
            Quota::Views.limit()
        )
    };
    Failure::new(FailureKind::Limited(wait), &format!("{why}, so no request was made. Try again {when}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_at_a_reached_limit_states_the_reason_and_when_to_try_again() {
        let now: Time = "2026-11-20T14:29:00Z".parse().expect("a time");
        let until: Time = "2026-11-20T14:41:00Z".parse().expect("a time");
        let wait = Wait { until, is_estimate: false };
        let failure = limit_failure(false, "this computer", wait, now);
        assert_eq!(failure.kind, FailureKind::Limited(wait));
        assert_eq!(
            failure.message.as_str(),
            "The hourly limit of 100 analytics requests is reached, as counted by this computer, so no request was \
             made. Try again in 12m, at 14:41:00 UTC."
        );
        let guessed = limit_failure(
            true,
            "this computer",
            Wait { until: now + chrono::TimeDelta::minutes(1), is_estimate: true },
            now,
        );
        assert_eq!(
            guessed.message.as_str(),
            "The service reported that the limit is reached, so no request was made. Try again in about a minute."
        );
    }
}
