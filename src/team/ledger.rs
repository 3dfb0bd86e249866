//! The team's ledger: how much of the hourly limits is used. A limit has one row for each request that it allows.
//! A request is booked with a single statement, which takes a row whose last use was more than an hour ago and skips
//! rows that another member is taking. So two members never get the same row, and no lock is held while a message is on
//! its way.

use super::connection::{Param, TeamConnection, malformed_row, read_number, read_text, time_from_millis};
use super::error::TeamError;
use super::signals::{LEDGER_PAYLOAD, channel};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{MAX_RATE_LIMIT_WAIT, Quota, RATE_LIMIT_WINDOW};
use crate::model::team::{TeamClock, booking_window};
use crate::store::Store;
use chrono::TimeDelta;
use tokio_postgres::types::Type;

/// SQL for a one-row table with the time on the clock of the database, in milliseconds.
const CLOCK_ROW_SQL: &str = "clock AS MATERIALIZED (
     SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)";
/// The SQL condition that selects the rows of a limit. Uses the first four parameters of the statement.
const LIMIT_CONDITION_SQL: &str =
    "slot.organization = $1 AND slot.base_url = $2 AND slot.owner = $3 AND slot.operation = $4";

/// An hourly limit in the ledger of an organization.
#[derive(Debug, Clone, Copy)]
pub struct TeamLimit<'a> {
    pub organization: &'a str,
    pub scope: &'a Scope,
    pub quota: Quota,
}

/// The parameters of [`LIMIT_CONDITION_SQL`].
struct LimitParams<'a>([&'a str; 4]);

impl LimitParams<'_> {
    /// Returns the parameters of the limit, followed by `others`.
    fn with<'p>(&'p self, others: &[Param<'p>]) -> Vec<Param<'p>> {
        let limit_values = self.0.iter().map(|value| -> Param<'p> { (value, Type::TEXT) });
        limit_values.chain(others.iter().cloned()).collect()
    }
}

impl<'a> TeamLimit<'a> {
    fn params(self) -> LimitParams<'a> {
        let Self { organization, scope, quota } = self;
        LimitParams([organization, &scope.base_url, quota.limit_owner_id(scope), quota.store_name()])
    }
}

/// How many requests of a limit the team has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamLedgerUsage {
    pub quota: Quota,
    pub used: u32,
    /// When the oldest counted request stops counting toward the limit; `None` if `used` is 0.
    pub resets_at: Option<Time>,
    /// The wait after a 429 that a member received; `None` if there is none.
    pub rate_limit_wait: Option<RateLimitWait>,
}

/// How much longer the service refuses requests after a 429. This is a duration and not a point in time, so that
/// differences between clocks don't matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitWait {
    pub remaining: TimeDelta,
    /// Whether this is an estimate, because the service gave no time.
    pub is_estimate: bool,
}

/// Adds to the team's ledger the requests of this computer that could not be booked when they were sent. Used by
/// commands that exchange changes without an engine. `now` is the local time.
///
/// # Errors
/// The connection is lost, or the store can't be used. Requests that were reported before the error stay in the ledger.
pub async fn report_unbooked_requests(
    connection: &TeamConnection,
    store: &Store,
    scope: &Scope,
    now: Time,
) -> Result<(), TeamError> {
    let Some(team) = store.team_membership(scope).await? else { return Ok(()) };
    let offset = store.service_clock_offset(scope).await?.unwrap_or_default();
    let since = now.checked_add_signed(offset).unwrap_or(now) - RATE_LIMIT_WINDOW;
    let requests = store.unreported_requests(scope, since).await?;
    if requests.is_empty() {
        return Ok(());
    }
    let clock = connection.clock().await?;
    for request in &requests {
        let limit = TeamLimit { organization: &team.organization, scope, quota: request.quota };
        let at = request.at.checked_sub_signed(offset).unwrap_or(request.at);
        connection.add_unbooked_request(limit, &request.booking_id, clock.to_team_time(at)).await?;
    }
    Ok(store.delete_reported_requests(&requests).await?)
}

impl TeamConnection {
    /// Books a request under the random id `booking_id`. Returns `false` if no request is left. The ledger counts the
    /// request from a time that is never earlier than the call.
    ///
    /// # Errors
    /// The connection is lost, or the login is no longer a member.
    pub async fn try_book_request(&self, limit: TeamLimit<'_>, booking_id: &str) -> Result<bool, TeamError> {
        let sql = format!(
            "WITH {CLOCK_ROW_SQL}, free AS (
                 SELECT number FROM docdeck.request_slot AS slot
                 WHERE {LIMIT_CONDITION_SQL} AND used_at <= (SELECT now FROM clock) - $6
                 ORDER BY used_at, number LIMIT 1 FOR UPDATE SKIP LOCKED
             ), booked AS (
                 UPDATE docdeck.request_slot AS slot SET booking = $5, used_at = clock.now FROM clock, free
                 WHERE {LIMIT_CONDITION_SQL} AND slot.number = free.number RETURNING slot.number
             )
             SELECT (SELECT count(*) FROM booked), (SELECT count(*) FROM docdeck.request_slot AS slot WHERE {LIMIT_CONDITION_SQL}),
                 (SELECT pg_notify($7, $8)::text FROM booked)"
        );
        let (limit_params, channel) = (limit.params(), channel(limit.organization));
        let window = booking_window().num_milliseconds();
        let params = limit_params.with(&[
            (&booking_id, Type::TEXT),
            (&window, Type::INT8),
            (&channel, Type::TEXT),
            (&LEDGER_PAYLOAD, Type::TEXT),
        ]);
        let row = self.query_one(&sql, &params).await?;
        if read_number(&row, 0)? > 0 {
            return Ok(true);
        }
        if read_number(&row, 1)? >= i64::from(limit.quota.limit()) {
            return Ok(false);
        }
        self.add_request_slots(limit).await?;
        Ok(read_number(&self.query_one(&sql, &params).await?, 0)? > 0)
    }

    /// Adds the rows of a limit that is used for the first time.
    async fn add_request_slots(&self, limit: TeamLimit<'_>) -> Result<(), TeamError> {
        let sql = "INSERT INTO docdeck.request_slot (organization, base_url, owner, operation, number)
             SELECT $1, $2, $3, $4, generate_series(1, $5::integer) ON CONFLICT DO NOTHING";
        let count = i32::try_from(limit.quota.limit()).unwrap_or(i32::MAX);
        self.query(sql, &limit.params().with(&[(&count, Type::INT4)])).await.map(drop)
    }

    /// Cancels the booking of a request that was not sent.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn cancel_booking(&self, limit: TeamLimit<'_>, booking_id: &str) -> Result<(), TeamError> {
        let sql = format!(
            "WITH returned AS (
                 UPDATE docdeck.request_slot AS slot SET booking = '', used_at = 0
                 WHERE {LIMIT_CONDITION_SQL} AND slot.booking = $5 RETURNING number
             )
             SELECT pg_notify($6, $7) FROM returned"
        );
        let (limit_params, channel) = (limit.params(), channel(limit.organization));
        let params =
            limit_params.with(&[(&booking_id, Type::TEXT), (&channel, Type::TEXT), (&LEDGER_PAYLOAD, Type::TEXT)]);
        self.query(&sql, &params).await.map(drop)
    }

    /// Adds a request that was sent without a booking. `at` is the time at which it was sent, on the clock of the
    /// database. Replaces the oldest request, so that the ledger has the latest requests even if there were more than
    /// the limit. Changes nothing if the ledger already has the request, or if all requests in it are later.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn add_unbooked_request(
        &self,
        limit: TeamLimit<'_>,
        booking_id: &str,
        at: Time,
    ) -> Result<(), TeamError> {
        self.add_request_slots(limit).await?;
        let sql = format!(
            "WITH {CLOCK_ROW_SQL}, oldest AS (
                 SELECT number FROM docdeck.request_slot AS slot
                 WHERE {LIMIT_CONDITION_SQL} AND used_at < $6
                     AND NOT EXISTS (SELECT 1 FROM docdeck.request_slot AS slot WHERE {LIMIT_CONDITION_SQL} AND slot.booking = $5)
                 ORDER BY used_at, number LIMIT 1 FOR UPDATE SKIP LOCKED
             ), reported AS (
                 UPDATE docdeck.request_slot AS slot SET booking = $5, used_at = least($6, clock.now) FROM clock, oldest
                 WHERE {LIMIT_CONDITION_SQL} AND slot.number = oldest.number RETURNING slot.number
             )
             SELECT pg_notify($7, $8) FROM reported"
        );
        let (limit_params, channel, at) = (limit.params(), channel(limit.organization), at.timestamp_millis());
        let params = limit_params.with(&[
            (&booking_id, Type::TEXT),
            (&at, Type::INT8),
            (&channel, Type::TEXT),
            (&LEDGER_PAYLOAD, Type::TEXT),
        ]);
        self.query(&sql, &params).await.map(drop)
    }

    /// Shares the wait after a 429 with the other members. If the database has a wait that ends later, that wait is
    /// kept.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn share_rate_limit_wait(&self, limit: TeamLimit<'_>, blocked: RateLimitWait) -> Result<(), TeamError> {
        let sql = format!(
            "WITH {CLOCK_ROW_SQL}, written AS (
                 INSERT INTO docdeck.rate_limit_block AS block
                     (organization, base_url, owner, operation, blocked_until, is_estimate)
                 SELECT $1, $2, $3, $4, now + $5, $6 FROM clock
                 ON CONFLICT (organization, base_url, owner, operation) DO UPDATE
                     SET blocked_until = EXCLUDED.blocked_until, is_estimate = EXCLUDED.is_estimate
                     -- An end that is more than a day later was written with a wrong clock.
                     WHERE block.blocked_until NOT BETWEEN EXCLUDED.blocked_until AND (SELECT now FROM clock) + $7
                 RETURNING 1
             )
             SELECT pg_notify($8, $9) FROM written"
        );
        let (limit_params, channel) = (limit.params(), channel(limit.organization));
        let (longest, remaining) =
            (MAX_RATE_LIMIT_WAIT.num_milliseconds(), blocked.remaining.min(MAX_RATE_LIMIT_WAIT).num_milliseconds());
        let params = limit_params.with(&[
            (&remaining, Type::INT8),
            (&blocked.is_estimate, Type::BOOL),
            (&longest, Type::INT8),
            (&channel, Type::TEXT),
            (&LEDGER_PAYLOAD, Type::TEXT),
        ]);
        self.query(&sql, &params).await.map(drop)
    }

    /// Returns how much the team has used of each hourly limit that applies to the project, and which of them are
    /// blocked.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn ledger_usage(&self, organization: &str, scope: &Scope) -> Result<Vec<TeamLedgerUsage>, TeamError> {
        let sql = format!(
            "WITH {CLOCK_ROW_SQL}
             SELECT operation, owner, count(*), min(used_at), NULL::bigint, false FROM docdeck.request_slot, clock
             WHERE organization = $1 AND base_url = $2 AND owner = ANY($3) AND used_at > clock.now - $4
             GROUP BY operation, owner
             UNION ALL
             SELECT operation, owner, 0, 0, blocked_until - clock.now, is_estimate
             FROM docdeck.rate_limit_block, clock
             WHERE organization = $1 AND base_url = $2 AND owner = ANY($3)
                 AND blocked_until > clock.now AND blocked_until <= clock.now + $5"
        );
        let owners = Quota::HOURLY.map(|quota| quota.limit_owner_id(scope)).to_vec();
        let (window, longest) = (booking_window().num_milliseconds(), MAX_RATE_LIMIT_WAIT.num_milliseconds());
        let params: [Param<'_>; 5] = [
            (&organization, Type::TEXT),
            (&scope.base_url, Type::TEXT),
            (&owners, Type::TEXT_ARRAY),
            (&window, Type::INT8),
            (&longest, Type::INT8),
        ];
        let rows = self.query(&sql, &params).await?;
        let count = |quota: Quota| {
            let mut count = TeamLedgerUsage { quota, used: 0, resets_at: None, rate_limit_wait: None };
            for row in &rows {
                if read_text(row, 0)? != quota.store_name() || read_text(row, 1)? != quota.limit_owner_id(scope) {
                    continue;
                }
                if let Some(remaining) = row.try_get(4).map_err(|_| malformed_row())? {
                    let is_estimate = row.try_get(5).map_err(|_| malformed_row())?;
                    count.rate_limit_wait =
                        Some(RateLimitWait { remaining: TimeDelta::milliseconds(remaining), is_estimate });
                } else {
                    count.used = u32::try_from(read_number(row, 2)?).map_err(|_| malformed_row())?;
                    let oldest = time_from_millis(read_number(row, 3)?)?;
                    count.resets_at = Some(oldest.checked_add_signed(booking_window()).ok_or_else(malformed_row)?);
                }
            }
            Ok(count)
        };
        Quota::HOURLY.into_iter().map(count).collect()
    }
}

impl TeamLedgerUsage {
    /// Converts the time to the local clock.
    #[must_use]
    pub fn with_local_time(self, clock: TeamClock) -> Self {
        Self { resets_at: self.resets_at.map(|at| clock.to_local_time(at)), ..self }
    }
}
