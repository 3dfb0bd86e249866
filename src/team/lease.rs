//! The lease for polling: one computer polls the jobs of a project for the whole team. It expires on the database's
//! clock, and each new holder gets a higher token.

use super::connection::{Param, TeamConnection, malformed_row, read_number};
use super::error::TeamError;
use super::signals::{channel, lease_payload};
use std::time::Duration;
use tokio_postgres::types::Type;

/// How long a lease lasts unless it is renewed. After a crash, another member takes it over within 15 s.
pub const LEASE_DURATION: Duration = Duration::from_secs(12);

/// The lease of one process for polling a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollLease {
    /// A random id of the process.
    pub holder: String,
    /// The number of this lease. Each new holder gets a higher one.
    pub token: i64,
}

/// The result of trying to take the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAttempt {
    Held(PollLease),
    /// Another member has the lease. It expires after this time unless it is renewed.
    HeldByOther(Duration),
}

/// Takes or renews the lease.
///
/// # Errors
/// The connection is lost.
pub(super) async fn take_lease(
    connection: &TeamConnection,
    project: i64,
    holder: &str,
) -> Result<LeaseAttempt, TeamError> {
    let sql = "WITH taken AS (
             INSERT INTO docdeck.lease AS lease (project, role, holder, token, expires_at)
             VALUES ($1, 'poll', $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
             ON CONFLICT (project, role) DO UPDATE SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at,
                 token = lease.token + CASE WHEN lease.holder = EXCLUDED.holder THEN 0 ELSE 1 END
             WHERE lease.holder = EXCLUDED.holder OR lease.expires_at <= clock_timestamp()
             RETURNING token
         )
         SELECT (SELECT token FROM taken), (
             SELECT ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint FROM docdeck.lease
             WHERE project = $1 AND role = 'poll')";
    let millis = i64::try_from(LEASE_DURATION.as_millis()).unwrap_or(i64::MAX);
    let params: [Param<'_>; 3] = [(&project, Type::INT8), (&holder, Type::TEXT), (&millis, Type::INT8)];
    let row = connection.query_one(sql, &params).await?;
    let optional = |column: usize| row.try_get::<_, Option<i64>>(column).map_err(|_| malformed_row());
    Ok(match optional(0)? {
        Some(token) => LeaseAttempt::Held(PollLease { holder: holder.to_owned(), token }),
        None => {
            let millis = optional(1)?.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default();
            LeaseAttempt::HeldByOther(Duration::from_millis(millis).min(LEASE_DURATION))
        }
    })
}

/// Releases the lease, and notifies the other members. Does nothing if another holder has taken the lease.
///
/// # Errors
/// The connection is lost.
pub(super) async fn release_lease(
    connection: &TeamConnection,
    organization: &str,
    project: i64,
    lease: &PollLease,
) -> Result<(), TeamError> {
    let sql = "WITH released AS (
             UPDATE docdeck.lease SET holder = '', expires_at = clock_timestamp()
             WHERE project = $1 AND role = 'poll' AND holder = $2 RETURNING role
         )
         SELECT pg_notify($3, $4) FROM released";
    let (channel, payload) = (channel(organization), lease_payload(project));
    let params: [Param<'_>; 4] =
        [(&project, Type::INT8), (&lease.holder, Type::TEXT), (&channel, Type::TEXT), (&payload, Type::TEXT)];
    connection.query(sql, &params).await.map(drop)
}

/// Whether the lease still belongs to this holder. Until the end of the transaction, no other member can take it.
///
/// # Errors
/// The connection is lost.
pub(super) async fn is_lease_current(
    connection: &TeamConnection,
    project: i64,
    lease: &PollLease,
) -> Result<bool, TeamError> {
    let sql = "SELECT token FROM docdeck.lease WHERE project = $1 AND role = 'poll' AND holder = $2 FOR SHARE";
    let params: [Param<'_>; 2] = [(&project, Type::INT8), (&lease.holder, Type::TEXT)];
    match connection.query(sql, &params).await?.first() {
        Some(row) => Ok(read_number(row, 0)? == lease.token),
        None => Ok(false),
    }
}
