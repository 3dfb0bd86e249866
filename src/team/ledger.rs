//! The team's ledger: which requests of the hourly limits are used. A limit has one row for each of its requests, and a
//! request that is booked takes a row that has been free for more than an hour, in one statement. So two members never
//! get the same row, and nothing is locked while a message is on its way.

use super::connection::{Param, TeamConnection, malformed, number, parse_millis, text};
use super::error::TeamError;
use super::signals::{LEDGER_PAYLOAD, channel};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{Quota, RATE_LIMIT_WINDOW};
use crate::model::team::{TeamClock, booking_window};
use crate::store::Store;
use tokio_postgres::types::Type;

/// The clock of the database as a row of a query, in milliseconds.
const CLOCK: &str = "clock AS MATERIALIZED (
     SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)";
/// The rows of a limit: the first four parameters.
const OF_LIMIT: &str = "slot.organization = $1 AND slot.base_url = $2 AND slot.owner = $3 AND slot.operation = $4";

/// A limit in the ledger of an organization.
#[derive(Debug, Clone, Copy)]
pub struct TeamLimit<'a> {
    pub organization: &'a str,
    pub scope: &'a Scope,
    pub quota: Quota,
}

/// The parameters of [`OF_LIMIT`].
struct LimitParams<'a>([&'a str; 4]);

impl LimitParams<'_> {
    /// Returns the parameters, followed by these.
    fn with<'p>(&'p self, others: &[Param<'p>]) -> Vec<Param<'p>> {
        let of_limit = self.0.iter().map(|value| -> Param<'p> { (value, Type::TEXT) });
        of_limit.chain(others.iter().cloned()).collect()
    }
}

impl<'a> TeamLimit<'a> {
    fn params(self) -> LimitParams<'a> {
        let Self { organization, scope, quota } = self;
        LimitParams([organization, &scope.base_url, quota.owner(scope), quota.store_name()])
    }
}

/// What the team has used of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerCount {
    pub quota: Quota,
    pub used: u32,
    /// When the oldest request stops counting; `None` if there is none.
    pub resets_at: Option<Time>,
}

/// Reports the requests of this computer that could not be booked when they were sent, for a command without an engine.
/// `now` is the local time.
///
/// # Errors
/// The connection is lost, or the store can't be used. What was reported before stays.
pub async fn report_unbooked_requests(
    connection: &TeamConnection,
    store: &Store,
    scope: &Scope,
    now: Time,
) -> Result<(), TeamError> {
    let Some(team) = store.team(scope).await? else { return Ok(()) };
    let offset = store.service_clock_offset(scope).await?.unwrap_or_default();
    let since = now.checked_add_signed(offset).unwrap_or(now) - RATE_LIMIT_WINDOW;
    let uses = store.unreported_uses(scope, since).await?;
    if uses.is_empty() {
        return Ok(());
    }
    let clock = connection.clock().await?;
    for unreported in &uses {
        let limit = TeamLimit { organization: &team.organization, scope, quota: unreported.quota };
        let at = unreported.at.checked_sub_signed(offset).unwrap_or(unreported.at);
        connection.report_use(limit, &unreported.booking, clock.to_team(at)).await?;
    }
    Ok(store.delete_reported_uses(&uses).await?)
}

impl TeamConnection {
    /// Books a request under a random id, if one is left. The booked time is not before the call.
    ///
    /// # Errors
    /// The connection is lost, or the login is no longer a member.
    pub async fn book(&self, limit: TeamLimit<'_>, booking: &str) -> Result<bool, TeamError> {
        let sql = format!(
            "WITH {CLOCK}, free AS (
                 SELECT number FROM docdeck.request_slot AS slot
                 WHERE {OF_LIMIT} AND used_at <= (SELECT now FROM clock) - $6
                 ORDER BY used_at, number LIMIT 1 FOR UPDATE SKIP LOCKED
             ), booked AS (
                 UPDATE docdeck.request_slot AS slot SET booking = $5, used_at = clock.now FROM clock, free
                 WHERE {OF_LIMIT} AND slot.number = free.number RETURNING slot.number
             )
             SELECT (SELECT count(*) FROM booked), (SELECT count(*) FROM docdeck.request_slot AS slot WHERE {OF_LIMIT}),
                 (SELECT pg_notify($7, $8)::text FROM booked)"
        );
        let (limit_params, channel) = (limit.params(), channel(limit.organization));
        let window = booking_window().num_milliseconds();
        let params = limit_params.with(&[
            (&booking, Type::TEXT),
            (&window, Type::INT8),
            (&channel, Type::TEXT),
            (&LEDGER_PAYLOAD, Type::TEXT),
        ]);
        let row = self.query_one(&sql, &params).await?;
        if number(&row, 0)? > 0 {
            return Ok(true);
        }
        if number(&row, 1)? >= i64::from(limit.quota.limit()) {
            return Ok(false);
        }
        self.add_rows(limit).await?;
        Ok(number(&self.query_one(&sql, &params).await?, 0)? > 0)
    }

    /// Adds the rows of a limit that is used for the first time.
    async fn add_rows(&self, limit: TeamLimit<'_>) -> Result<(), TeamError> {
        let sql = "INSERT INTO docdeck.request_slot (organization, base_url, owner, operation, number)
             SELECT $1, $2, $3, $4, generate_series(1, $5::integer) ON CONFLICT DO NOTHING";
        let count = i32::try_from(limit.quota.limit()).unwrap_or(i32::MAX);
        self.query(sql, &limit.params().with(&[(&count, Type::INT4)])).await.map(drop)
    }

    /// Gives back a booked request that was not sent.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn return_booking(&self, limit: TeamLimit<'_>, booking: &str) -> Result<(), TeamError> {
        let sql = format!(
            "WITH returned AS (
                 UPDATE docdeck.request_slot AS slot SET booking = '', used_at = 0
                 WHERE {OF_LIMIT} AND slot.booking = $5 RETURNING number
             )
             SELECT pg_notify($6, $7) FROM returned"
        );
        let (limit_params, channel) = (limit.params(), channel(limit.organization));
        let params =
            limit_params.with(&[(&booking, Type::TEXT), (&channel, Type::TEXT), (&LEDGER_PAYLOAD, Type::TEXT)]);
        self.query(&sql, &params).await.map(drop)
    }

    /// Reports a request that was sent at this time of the database's clock without being booked. It takes the row of the
    /// oldest request, so that the ledger has the latest ones, even if there were more than the limit. Changes nothing if
    /// the ledger has the request already.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn report_use(&self, limit: TeamLimit<'_>, booking: &str, at: Time) -> Result<(), TeamError> {
        self.add_rows(limit).await?;
        let sql = format!(
            "WITH {CLOCK}, oldest AS (
                 SELECT number FROM docdeck.request_slot AS slot
                 WHERE {OF_LIMIT} AND used_at < $6
                     AND NOT EXISTS (SELECT 1 FROM docdeck.request_slot AS slot WHERE {OF_LIMIT} AND slot.booking = $5)
                 ORDER BY used_at, number LIMIT 1 FOR UPDATE SKIP LOCKED
             ), reported AS (
                 UPDATE docdeck.request_slot AS slot SET booking = $5, used_at = least($6, clock.now) FROM clock, oldest
                 WHERE {OF_LIMIT} AND slot.number = oldest.number RETURNING slot.number
             )
             SELECT pg_notify($7, $8) FROM reported"
        );
        let (limit_params, channel, at) = (limit.params(), channel(limit.organization), at.timestamp_millis());
        let params = limit_params.with(&[
            (&booking, Type::TEXT),
            (&at, Type::INT8),
            (&channel, Type::TEXT),
            (&LEDGER_PAYLOAD, Type::TEXT),
        ]);
        self.query(&sql, &params).await.map(drop)
    }

    /// Returns what the team has used of each hourly limit that concerns the project.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn ledger_counts(&self, organization: &str, scope: &Scope) -> Result<Vec<LedgerCount>, TeamError> {
        let sql = format!(
            "WITH {CLOCK}
             SELECT operation, owner, count(*), min(used_at) FROM docdeck.request_slot, clock
             WHERE organization = $1 AND base_url = $2 AND owner = ANY($3) AND used_at > clock.now - $4
             GROUP BY operation, owner"
        );
        let owners = Quota::HOURLY.map(|quota| quota.owner(scope)).to_vec();
        let window = booking_window().num_milliseconds();
        let params: [Param<'_>; 4] = [
            (&organization, Type::TEXT),
            (&scope.base_url, Type::TEXT),
            (&owners, Type::TEXT_ARRAY),
            (&window, Type::INT8),
        ];
        let rows = self.query(&sql, &params).await?;
        let count = |quota: Quota| {
            for row in &rows {
                if text(row, 0)? == quota.store_name() && text(row, 1)? == quota.owner(scope) {
                    let used = u32::try_from(number(row, 2)?).map_err(|_| malformed())?;
                    let oldest = parse_millis(number(row, 3)?)?;
                    let resets_at = oldest.checked_add_signed(booking_window()).ok_or_else(malformed)?;
                    return Ok(LedgerCount { quota, used, resets_at: Some(resets_at) });
                }
            }
            Ok(LedgerCount { quota, used: 0, resets_at: None })
        };
        Quota::HOURLY.into_iter().map(count).collect()
    }
}

impl LedgerCount {
    /// Converts the time to the local clock.
    #[must_use]
    pub fn to_local(self, clock: TeamClock) -> Self {
        Self { resets_at: self.resets_at.map(|at| clock.to_local(at)), ..self }
    }
}
