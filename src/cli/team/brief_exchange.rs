//! Exchanges changes with the team's database before a command prints jobs and after a command has changed jobs. The
//! exchange takes at most a second, not counting the time to read the URL. A failed exchange never ends the command.

use super::database::{CONNECT_TIMEOUT, member_settings};
use crate::cli::data_folder::open_store;
use crate::cli::error::CliError;
use crate::cli::session::CommandContext;
use crate::config::{SetupState, TeamSettings, data_folder, resolve, team_settings};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::team::ReportRules;
use crate::store::{Store, TeamExchangeTimes};
use crate::team::{TeamAddress, TeamConnection, exchange, report_unbooked_requests};
use chrono::{TimeDelta, Utc};
use std::path::PathBuf;
use std::time::Duration;

/// How long an exchange may take. After this time, the exchange is stopped. The changes that were already exchanged are
/// kept.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(1);
/// After a failed exchange, commands don't try again for this long.
const PAUSE_AFTER_FAILURE: TimeDelta = TimeDelta::seconds(30);
/// If the last exchange was longer ago than this, a command prints a warning.
const EXCHANGE_WARNING_AGE: TimeDelta = TimeDelta::hours(1);
/// `docdeck status`, which shells run at every prompt, exchanges only if the last exchange was longer ago than this.
const MIN_STATUS_EXCHANGE_INTERVAL: TimeDelta = TimeDelta::seconds(60);

/// Exchanges changes if a team is configured and the project is shared. If that fails and the last exchange was long
/// ago, prints a warning.
pub(in crate::cli) async fn exchange_briefly(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.global_options, cx.environment) else { return };
    let Some(project) = shared_project(cx) else { return };
    if project.has_failed_within(PAUSE_AFTER_FAILURE) || !exchange_once(cx, &settings, &project).await {
        let (exchanged_at, now) = (project.times.exchanged_at, Utc::now());
        if exchanged_at.is_none_or(|at| now - at > EXCHANGE_WARNING_AGE) {
            let last = exchanged_at.map_or("never".to_owned(), |at| cx.out.time_in_words(at, now));
            cx.out.note(&format!(
                "Changes can't be exchanged with the team. Last exchange with the team: {last}. Run `docdeck team \
                 sync` to see why."
            ));
        }
    }
}

/// Sends reports of analytics that the team doesn't have. Prints nothing.
pub(in crate::cli) async fn send_reports_briefly(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.global_options, cx.environment) else { return };
    let Some(project) = shared_project(cx).filter(|project| !project.has_failed_within(PAUSE_AFTER_FAILURE)) else {
        return;
    };
    let Ok(store) = open_store(&project.folder, true, cx.out) else { return };
    let rules = ReportRules { now: Utc::now(), reader_text_days: settings.reader_text_days };
    let has_unsent = store.count_unsent_team_reports(&project.scope, rules).await.is_ok_and(|unsent| unsent > 0);
    store.close().await;
    if has_unsent {
        exchange_once(cx, &settings, &project).await;
    }
}

/// Exchanges changes before `docdeck status`, unless the last exchange was recent. If reading the URL would run a
/// command, which may ask for a password, doesn't exchange changes. Prints nothing. Opens the store for writing only if
/// an exchange is due.
pub(in crate::cli) fn exchange_before_status(cx: &mut CommandContext<'_>) {
    let Ok(Some(settings)) = team_settings(cx.global_options, cx.environment) else { return };
    if settings.url_comes_from_command() {
        return;
    }
    let Some(project) = shared_project(cx) else { return };
    if project.times.exchanged_at.is_some_and(|at| is_within_last(at, MIN_STATUS_EXCHANGE_INTERVAL))
        || project.has_failed_within(MIN_STATUS_EXCHANGE_INTERVAL)
    {
        return;
    }
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        runtime.block_on(exchange_once(cx, &settings, &project));
        runtime.shutdown_background();
    }
}

/// The project of the current profile, which is shared with the team.
struct SharedProject {
    scope: Scope,
    /// The folder with the store.
    folder: PathBuf,
    times: TeamExchangeTimes,
}

impl SharedProject {
    /// Whether an exchange of any project failed less than `period` ago.
    fn has_failed_within(&self, period: TimeDelta) -> bool {
        self.times.failed_at.is_some_and(|at| is_within_last(at, period))
    }
}

/// Whether `at` is less than `period` ago, and not in the future.
fn is_within_last(at: Time, period: TimeDelta) -> bool {
    (TimeDelta::zero()..period).contains(&(Utc::now() - at))
}

/// Returns the project if it is shared. Ignores errors of the settings and the store, which the command reports later.
fn shared_project(cx: &CommandContext<'_>) -> Option<SharedProject> {
    let scope = match resolve(cx.global_options, cx.environment).ok()? {
        SetupState::Ready(ready) => ready.scope,
        SetupState::Missing(missing) => missing.scope.clone()?,
    };
    let folder = data_folder(cx.global_options, cx.environment).ok()?;
    let times = Store::team_exchange_times(&folder, &scope).ok()??;
    Some(SharedProject { scope, folder, times })
}

/// Exchanges the jobs, then the reports. Returns false if exchanging the jobs failed. If the store can't be opened,
/// returns true, because the command reports that error later.
async fn exchange_once(cx: &mut CommandContext<'_>, settings: &TeamSettings, project: &SharedProject) -> bool {
    let Ok(store) = open_store(&project.folder, true, cx.out) else { return true };
    let now = Utc::now();
    let attempt = async {
        let url = cx.team_url.read(settings).await?;
        cx.out.hide_key(&url);
        let address = TeamAddress::new(&url, settings.read_roots()?)?;
        let exchange = async {
            let connection = TeamConnection::open_checked(&address, CONNECT_TIMEOUT).await?;
            exchange(&connection, &store, &project.scope, member_settings(settings), now).await?;
            report_unbooked_requests(&connection, &store, &project.scope, now).await
        };
        // Reading the URL has no time limit, because a command that prints the URL may ask for a password.
        let ended = tokio::time::timeout(EXCHANGE_TIMEOUT, exchange).await;
        Ok::<bool, CliError>(matches!(ended, Ok(Ok(()))))
    };
    let is_complete = matches!(attempt.await, Ok(true));
    // The exchange counts as successful if the jobs were exchanged, even if exchanging the reports failed. The store
    // records the time of an exchange after the jobs and before the reports, so a new time shows that the jobs were
    // exchanged.
    let team = store.team_membership(&project.scope).await.ok().flatten();
    let has_succeeded = is_complete || team.is_some_and(|team| team.exchanged_at != project.times.exchanged_at);
    if !has_succeeded {
        let _ = store.record_failed_team_exchange(now).await;
    }
    store.close().await;
    has_succeeded
}
