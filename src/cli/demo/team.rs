//! `docdeck demo --team`: a PostgreSQL server in a temporary folder, and a colleague with a store and an engine of her
//! own, who works on the same jobs.

use super::server::PostgresServer;
use crate::api::Client;
use crate::cli::error::CliError;
use crate::engine::{Engine, EngineSetup, HostClients, LeaseRoles, PollOptions, TeamAccess};
use crate::model::analytics::AnalyticsSettings;
use crate::model::change::LocalChange;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobGroup};
use crate::model::text::CleanText;
use crate::store::Store;
use crate::team::{OrganizationName, TeamAddress, set_up_schema};
use chrono::Utc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

/// The names of the organization and of both members.
const ORGANIZATION: &str = "demo";
const COLLEAGUE: &str = "mira";
const USER: &str = "you";
/// How long to wait until the server accepts connections.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the colleague waits before each step.
const STEP_INTERVAL: Duration = Duration::from_secs(7);
/// The capacity of the channel for the events of the colleague's engine.
const EVENT_CAPACITY: usize = 64;

/// A step of the script that the colleague repeats.
#[derive(Debug, Clone, Copy)]
enum ColleagueStep {
    NewJob(&'static str),
    /// Follows up on the newest job that needs the colleague.
    FollowUp(&'static str),
    /// Dismisses the newest job that needs the colleague.
    Dismiss,
    /// Tags the newest job that needs the colleague.
    Tag(&'static str),
    Wait,
}

const SCRIPT: [ColleagueStep; 10] = [
    ColleagueStep::NewJob("Explain what happens when a webhook is delivered twice"),
    ColleagueStep::FollowUp("Try again, and keep the old anchors."),
    ColleagueStep::Tag("release-4"),
    ColleagueStep::Wait,
    ColleagueStep::Dismiss,
    ColleagueStep::NewJob("Add a table of all error codes to /api/errors"),
    ColleagueStep::Wait,
    ColleagueStep::FollowUp("Please also update the sidebar."),
    ColleagueStep::Wait,
    ColleagueStep::Wait,
];

/// The database of the team. Dropping it ends the server.
pub(super) struct DemoTeam {
    _server: PostgresServer,
    address: TeamAddress,
}

impl DemoTeam {
    /// Starts the server and creates the schema.
    ///
    /// # Errors
    /// Fails if PostgreSQL is not installed or doesn't start.
    pub(super) async fn start() -> Result<Self, CliError> {
        let server = PostgresServer::start().map_err(CliError::local_error)?;
        let address = TeamAddress::new(&server.url()?, None)?;
        let connection = server.connect_when_ready(&address, CONNECT_TIMEOUT).await?;
        let name = OrganizationName::new(ORGANIZATION).ok_or_else(|| CliError::local_error("invalid organization"))?;
        set_up_schema(&connection, &name).await?;
        Ok(Self { _server: server, address })
    }

    /// Shares the jobs of the user's store, and starts the colleague's script in the background. Returns the user's
    /// access to the team's database.
    ///
    /// # Errors
    /// Fails if a store can't be written, or the colleague's engine doesn't start.
    pub(super) async fn share_jobs_and_start_colleague(
        &self,
        store: &Store,
        scope: &Scope,
        client: Client,
        hosts: Option<Arc<dyn HostClients>>,
    ) -> Result<TeamAccess, CliError> {
        let colleague = Store::in_memory().map_err(CliError::local_error)?;
        store.join_team(scope, ORGANIZATION).await?;
        colleague.join_team(scope, ORGANIZATION).await?;
        let (events, mut received) = mpsc::channel(EVENT_CAPACITY);
        let access = |name: &str| TeamAccess { address: self.address.clone(), name: CleanText::line(name) };
        let setup = EngineSetup {
            client,
            store: colleague.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            analytics: AnalyticsSettings::default(),
            roles: LeaseRoles::All,
            lock_folder: None,
            on_change: None,
            hosts,
            team: Some(access(COLLEAGUE)),
            events,
        };
        let engine = Engine::start(setup).await?;
        tokio::spawn(async move { while received.recv().await.is_some() {} });
        tokio::spawn(follow_script(engine, colleague, scope.clone()));
        Ok(access(USER))
    }
}

/// Repeats the script until the demo ends. Skips a step that isn't possible at the moment.
async fn follow_script(engine: Engine, store: Store, scope: Scope) {
    for step in SCRIPT.into_iter().cycle() {
        sleep(STEP_INTERVAL).await;
        let waiting = newest_waiting_job(&store, &scope).await;
        match (step, waiting) {
            (ColleagueStep::NewJob(prompt), _) => drop(engine.submit_new_job(prompt).await),
            (ColleagueStep::FollowUp(prompt), Some(job)) => drop(engine.submit_follow_up(job.key, prompt).await),
            (ColleagueStep::Dismiss, Some(job)) => {
                drop(store.change_jobs(&[job.key], LocalChange::Dismissed(true), Utc::now()).await);
            }
            (ColleagueStep::Tag(tag), Some(job)) => {
                let change = LocalChange::AddTags(vec![CleanText::line(tag)]);
                drop(store.change_jobs(&[job.key], change, Utc::now()).await);
            }
            (ColleagueStep::FollowUp(_) | ColleagueStep::Dismiss | ColleagueStep::Tag(_) | ColleagueStep::Wait, _) => {}
        }
    }
}

/// Returns the newest job that needs the colleague and has no undelivered prompt of hers.
async fn newest_waiting_job(store: &Store, scope: &Scope) -> Option<Job> {
    let jobs = store.jobs(scope).await.ok()?;
    let waits = |job: &Job| job.group() == JobGroup::NeedsYou && job.local.undelivered.is_none();
    jobs.into_iter().filter(waits).max_by_key(Job::sort_time)
}
