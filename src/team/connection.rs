//! A connection to the team's database. Every call has a time limit.

use super::error::TeamError;
use super::schema;
use super::signals::{NotificationReceiver, run_connection};
use super::tls::PostgresTls;
use super::url::TeamUrl;
use crate::api::ExtraRoots;
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::team::TeamClock;
use crate::model::text::CleanText;
use chrono::Utc;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Row};

/// The longest time that the server may take to answer one message.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limits that the server enforces, so that a member whose network is cut while it holds a lock doesn't block the
/// others for long.
const SESSION_SETTINGS: &str = "SET statement_timeout = '20s'; SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '10s'; SET client_encoding = 'UTF8'; SET timezone = 'UTC'";

/// Where the team's database is.
#[derive(Debug, Clone)]
pub struct TeamAddress {
    url: TeamUrl,
    roots: Option<ExtraRoots>,
}

impl TeamAddress {
    /// # Errors
    /// The URL is invalid, or turns TLS off for a server on another computer.
    pub fn new(url: &ApiKey, roots: Option<ExtraRoots>) -> Result<Self, TeamError> {
        Ok(Self { url: TeamUrl::parse(url)?, roots })
    }

    /// Returns the host, for use in messages.
    pub fn host(&self) -> CleanText {
        self.url.host()
    }

    /// Whether the connection is encrypted and the server's certificate checked.
    pub fn uses_tls(&self) -> bool {
        self.url.uses_tls
    }
}

/// A connection to the team's database. It is closed when it is dropped.
#[derive(Debug)]
pub struct TeamConnection {
    client: Client,
    address: TeamAddress,
    connection_task: JoinHandle<()>,
    pub(super) notification_receiver: Arc<NotificationReceiver>,
}

impl Drop for TeamConnection {
    fn drop(&mut self) {
        self.connection_task.abort();
    }
}

impl TeamConnection {
    /// Connects to the server, without checking the schema.
    ///
    /// # Errors
    /// The server can't be reached within `timeout`, its certificate is not trusted, or it refuses the login.
    pub async fn open(address: &TeamAddress, timeout: Duration) -> Result<Self, TeamError> {
        let url = &address.url;
        let unreachable = |why: &str| TeamError::Unreachable { host: url.host(), why: url.clean(why) };
        let notification_receiver = Arc::new(NotificationReceiver::default());
        let connect = async {
            let (client, connection_task) = if url.uses_tls {
                let tls = PostgresTls::new(address.roots.as_ref()).map_err(|error| unreachable(&error.to_string()))?;
                let (client, connection) =
                    url.config().connect(tls).await.map_err(|error| address.connect_error(&error))?;
                (client, tokio::spawn(run_connection(connection, Arc::clone(&notification_receiver))))
            } else {
                let (client, connection) =
                    url.config().connect(NoTls).await.map_err(|error| address.connect_error(&error))?;
                (client, tokio::spawn(run_connection(connection, Arc::clone(&notification_receiver))))
            };
            let connection = Self { client, address: address.clone(), connection_task, notification_receiver };
            connection
                .client
                .batch_execute(SESSION_SETTINGS)
                .await
                .map_err(|error| connection.to_team_error(&error))?;
            Ok(connection)
        };
        tokio::time::timeout(timeout, connect)
            .await
            .unwrap_or_else(|_| Err(unreachable(&format!("no answer within {} s", timeout.as_secs_f32()))))
    }

    /// Connects, and checks that the schema has the version of this docdeck.
    ///
    /// # Errors
    /// The errors of [`Self::open`], or the schema is missing, older or newer.
    pub async fn open_checked(address: &TeamAddress, timeout: Duration) -> Result<Self, TeamError> {
        let connection = Self::open(address, timeout).await?;
        schema::check_version(&connection).await?;
        Ok(connection)
    }

    /// Returns the host, for use in messages.
    pub fn host(&self) -> CleanText {
        self.address.host()
    }

    /// Runs a query with one message to the server.
    pub(super) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, TeamError> {
        self.with_answer_timeout(self.client.query_typed(sql, params)).await
    }

    /// Like [`Self::query`], for a query that returns one row. Fails if there is no row.
    pub(super) async fn query_one(&self, sql: &str, params: &[Param<'_>]) -> Result<Row, TeamError> {
        self.query(sql, params).await?.pop().ok_or(TeamError::Malformed { what: "no row" })
    }

    /// Runs statements without parameters.
    pub(super) async fn run_statements(&self, sql: &str) -> Result<(), TeamError> {
        self.with_answer_timeout(self.client.batch_execute(sql)).await
    }

    /// Runs a query. Returns an error of the server unchanged as the inner error. Only a timeout is a [`TeamError`].
    pub(super) async fn try_query(&self, sql: &str) -> Result<Result<Vec<Row>, tokio_postgres::Error>, TeamError> {
        self.with_answer_timeout(async { Ok(self.client.query_typed(sql, &[]).await) }).await
    }

    /// Returns the error for a connection that the server has closed.
    pub(super) fn closed_error(&self) -> TeamError {
        TeamError::Unreachable { host: self.host(), why: CleanText::line("the connection was closed") }
    }

    /// Sends one message to the server and waits for the answer, for at most [`ANSWER_TIMEOUT`].
    async fn with_answer_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, TeamError> {
        match tokio::time::timeout(ANSWER_TIMEOUT, work).await {
            Ok(result) => result.map_err(|error| self.to_team_error(&error)),
            Err(_) => {
                let why = CleanText::line(&format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()));
                Err(TeamError::Unreachable { host: self.host(), why })
            }
        }
    }

    /// Reads the clock of the database.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn clock(&self) -> Result<TeamClock, TeamError> {
        let requested_at = Utc::now();
        let row = self.query_one(NOW_SQL, &[]).await?;
        let local_time = requested_at + (Utc::now() - requested_at) / 2;
        Ok(TeamClock::new(time_from_millis(read_number(&row, 0)?)?, local_time))
    }

    pub(super) fn to_team_error(&self, error: &tokio_postgres::Error) -> TeamError {
        self.address.statement_error(error)
    }
}

/// A parameter of a statement with its type: otherwise an extra message would ask the server for the type.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) fn read_text(row: &Row, column: usize) -> Result<String, TeamError> {
    row.try_get(column).map_err(|_| malformed_row())
}

pub(super) fn read_number(row: &Row, column: usize) -> Result<i64, TeamError> {
    row.try_get(column).map_err(|_| malformed_row())
}

pub(super) fn malformed_row() -> TeamError {
    TeamError::Malformed { what: "a row of another type" }
}

/// The query for the time on the clock of the database, in milliseconds.
pub(super) const NOW_SQL: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

pub(super) fn time_from_millis(millis: i64) -> Result<Time, TeamError> {
    Time::from_timestamp_millis(millis).ok_or(TeamError::Malformed { what: "its clock" })
}

impl TeamAddress {
    fn connect_error(&self, error: &tokio_postgres::Error) -> TeamError {
        let (host, url) = (self.url.host(), &self.url);
        match error.as_db_error() {
            Some(db_error) if is_login_error(db_error.code()) => {
                TeamError::LoginRefused { host, why: url.clean(db_error.message()) }
            }
            Some(db_error) => TeamError::Unavailable { host, why: url.clean(db_error.message()) },
            None => TeamError::Unreachable { host, why: self.url.clean(&innermost_reason(error)) },
        }
    }

    fn statement_error(&self, error: &tokio_postgres::Error) -> TeamError {
        match error.as_db_error() {
            Some(db_error) if is_temporary_error(db_error.code()) => {
                TeamError::Unavailable { host: self.url.host(), why: self.url.clean(db_error.message()) }
            }
            Some(db_error) => TeamError::Refused { why: self.url.clean(db_error.message()) },
            None => TeamError::Unreachable { host: self.url.host(), why: self.url.clean(&innermost_reason(error)) },
        }
    }
}

/// Whether trying again later may help: the server is shutting down, restarting or out of space, has trouble with its
/// disk, or canceled the statement because it took too long or conflicted with another one.
fn is_temporary_error(code: &SqlState) -> bool {
    code == &SqlState::LOCK_NOT_AVAILABLE
        || code == &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        // A hosted database whose quota is used up reports an internal error.
        || code == &SqlState::INTERNAL_ERROR
        || ["08", "40", "53", "57", "58"].iter().any(|class| code.code().starts_with(class))
}

fn is_login_error(code: &SqlState) -> bool {
    // Class 28 is invalid authorization. An unknown database has a code of another class.
    code.code().starts_with("28") || code == &SqlState::INVALID_CATALOG_NAME
}

/// Returns the last reason in the chain of errors, which is the most precise one.
fn innermost_reason(error: &tokio_postgres::Error) -> String {
    let mut source = error.source();
    let mut text = error.to_string();
    while let Some(cause) = source {
        text = match cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => match inner.downcast_ref::<rustls::Error>() {
                Some(tls) => crate::api::tls_reason(tls).to_string(),
                None => inner.to_string(),
            },
            None => cause.to_string(),
        };
        source = cause.source();
    }
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_that_can_resolve_themselves_are_temporary() {
        let temporary = [
            SqlState::DISK_FULL,
            SqlState::IO_ERROR,
            SqlState::INTERNAL_ERROR,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        assert!(temporary.iter().all(is_temporary_error));
        let others = [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::UNDEFINED_TABLE, SqlState::DATA_CORRUPTED];
        assert!(!others.iter().any(is_temporary_error));
    }
}
