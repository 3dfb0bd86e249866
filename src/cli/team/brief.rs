//! A short exchange with the team's database, before a command prints jobs and after a command has changed some. It
//! takes at most a second once the URL is read, and none of its errors ends a command.

use super::database::CONNECT_TIMEOUT;
use crate::cli::data_folder::open_store;
use crate::cli::error::CliError;
use crate::cli::session::CommandContext;
use crate::config::{SetupState, TeamSettings, data_folder, resolve, team_settings};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::store::Store;
use crate::team::{TeamAddress, TeamConnection, exchange, report_unbooked_requests};
use chrono::{TimeDelta, Utc};
use std::time::Duration;

/// How long an exchange may take. What was exchanged before it is ended stays.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// How long commands don't try again after the database did not answer.
const PAUSE_AFTER_FAILURE: TimeDelta = TimeDelta::seconds(30);
/// The key under which the store holds the time of the last failed exchange.
const FAILED_AT_KEY: &str = "team-failed-at";
/// If the last exchange was longer ago than this, a command mentions it.
const OLD_AFTER: TimeDelta = TimeDelta::hours(1);
/// `docdeck status`, which shells run at every prompt, exchanges only if the last exchange was longer ago than this.
const STATUS_INTERVAL: TimeDelta = TimeDelta::seconds(60);

/// Exchanges changes if a team is configured and the project is shared. If that fails and the last exchange was long ago,
/// prints a warning.
pub(in crate::cli) async fn exchange_briefly(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.flags, cx.environment) else { return };
    if let Some(BriefExchange::Failed { exchanged_at }) = exchange_with(cx, &settings, TimeDelta::zero()).await {
        let now = Utc::now();
        if exchanged_at.is_none_or(|at| now - at > OLD_AFTER) {
            let last = exchanged_at.map_or("never".to_owned(), |at| cx.out.time_in_words(at, now));
            cx.out.note(&format!("Last exchange with the team {last}; `docdeck team sync` shows why."));
        }
    }
}

/// Sends reports of analytics that the team doesn't have. Prints nothing.
pub(in crate::cli) async fn send_reports_briefly(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.flags, cx.environment) else { return };
    let Some((store, scope)) = open_shared_store(cx) else { return };
    if store.unsent_team_reports(&scope, Utc::now()).await.is_ok_and(|unsent| unsent > 0) {
        exchange_in_store(cx, &settings, &store, &scope, TimeDelta::zero()).await;
    }
    store.close().await;
}

/// Exchanges changes before `docdeck status`, unless the last exchange was recent. Doesn't run a command for the URL,
/// since that may ask for a password, and prints nothing.
pub(in crate::cli) fn exchange_before_status(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.flags, cx.environment) else { return };
    if settings.runs_command() {
        return;
    }
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        runtime.block_on(exchange_with(cx, &settings, STATUS_INTERVAL));
        runtime.shutdown_background();
    }
}

/// How a short exchange ended.
enum BriefExchange {
    Done,
    /// It failed, now or a moment ago.
    Failed {
        /// When the last exchange succeeded; `None` if none has.
        exchanged_at: Option<Time>,
    },
}

/// Opens the store and exchanges changes, see [`exchange_in_store`].
async fn exchange_with(
    cx: &mut CommandContext<'_>,
    settings: &TeamSettings,
    min_age: TimeDelta,
) -> Option<BriefExchange> {
    let (store, scope) = open_shared_store(cx)?;
    let failed = exchange_in_store(cx, settings, &store, &scope, min_age).await;
    store.close().await;
    failed
}

/// Opens the store. Returns `None` if there is none, or no project is configured. If the store can't be opened, the command
/// reports it.
fn open_shared_store(cx: &mut CommandContext<'_>) -> Option<(Store, Scope)> {
    let scope = match resolve(cx.flags, cx.environment).ok()? {
        SetupState::Ready(ready) => ready.scope,
        SetupState::Missing(missing) => missing.scope.clone()?,
    };
    let folder = data_folder(cx.flags, cx.environment).ok()?;
    if !Store::exists(&folder) {
        return None;
    }
    Some((open_store(&folder, true, cx.out).ok()?, scope))
}

/// Exchanges changes unless the last exchange, or the last failure, was less than `min_age` ago. Returns `None` if none is
/// due, or the project is not shared.
async fn exchange_in_store(
    cx: &mut CommandContext<'_>,
    settings: &TeamSettings,
    store: &Store,
    scope: &Scope,
    min_age: TimeDelta,
) -> Option<BriefExchange> {
    let exchanged_at = store.team(scope).await.ok()??.exchanged_at;
    let now = Utc::now();
    let is_within = |at: Time, time: TimeDelta| (TimeDelta::zero()..time).contains(&(now - at));
    if exchanged_at.is_some_and(|at| is_within(at, min_age)) {
        return None;
    }
    let failed = BriefExchange::Failed { exchanged_at };
    let failed_at = store.value(FAILED_AT_KEY).await.ok()?.and_then(|at| at.parse::<Time>().ok());
    if failed_at.is_some_and(|at| is_within(at, min_age.max(PAUSE_AFTER_FAILURE))) {
        return Some(failed);
    }
    let attempt = async {
        let url = settings.read_url().await?;
        cx.out.hide_key(&url);
        let address = TeamAddress::new(&url, settings.roots()?)?;
        let exchange = async {
            let connection = TeamConnection::open_checked(&address, CONNECT_TIMEOUT).await?;
            exchange(&connection, store, scope, settings.name.as_str(), now).await?;
            report_unbooked_requests(&connection, store, scope, now).await
        };
        // A command that prints the URL may ask for a password, so it isn't limited to a second.
        let ended = tokio::time::timeout(TIME_LIMIT, exchange).await;
        Ok::<bool, CliError>(matches!(ended, Ok(Ok(()))))
    };
    if matches!(attempt.await, Ok(true)) {
        return Some(BriefExchange::Done);
    }
    // Only a report of analytics did not arrive in time. Jobs are exchanged first.
    if store.team(scope).await.ok()??.exchanged_at != exchanged_at {
        return Some(BriefExchange::Done);
    }
    let _ = store.set_value(FAILED_AT_KEY, &now.to_rfc3339()).await;
    Some(failed)
}
