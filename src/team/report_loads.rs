//! Records which report a member is loading, so that members who need the same report at the same time don't all spend
//! requests on it.

use super::connection::{Param, TeamConnection, read_number};
use super::error::TeamError;
use crate::model::endpoint::Scope;
use crate::model::team::ReportKey;
use crate::store::TeamMembership;
use tokio_postgres::types::Type;

/// After this time, in milliseconds, a load of another member no longer counts.
const MAX_LOAD_AGE_MILLIS: i64 = 60_000;

impl TeamConnection {
    /// Records that this member begins to load the report. Returns `false` and records nothing if another member has
    /// begun the same load less than a minute ago. The database stores only the last load of each kind of report.
    ///
    /// # Errors
    /// The connection is lost, or the login is no longer a member.
    pub async fn begin_report_load(
        &self,
        scope: &Scope,
        team: &TeamMembership,
        key: ReportKey,
    ) -> Result<bool, TeamError> {
        let sql = "WITH begun AS (
                 INSERT INTO docdeck.report_load AS load
                     (organization, base_url, project, kind, date_from, date_to, member, begun_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                 ON CONFLICT (organization, base_url, project, kind) DO UPDATE SET date_from = EXCLUDED.date_from,
                     date_to = EXCLUDED.date_to, member = EXCLUDED.member, begun_at = EXCLUDED.begun_at
                 WHERE load.member = EXCLUDED.member
                     OR (load.date_from, load.date_to) <> (EXCLUDED.date_from, EXCLUDED.date_to)
                     OR abs(EXCLUDED.begun_at - load.begun_at) > $8
                 RETURNING 1
             )
             SELECT count(*) FROM begun";
        let (kind, from, to) = (key.kind.name(), key.range.from().to_string(), key.range.to().to_string());
        let params: [Param<'_>; 8] = [
            (&team.organization, Type::TEXT),
            (&scope.base_url, Type::TEXT),
            (&scope.project, Type::TEXT),
            (&kind, Type::TEXT),
            (&from, Type::TEXT),
            (&to, Type::TEXT),
            (&team.member_id, Type::TEXT),
            (&MAX_LOAD_AGE_MILLIS, Type::INT8),
        ];
        Ok(read_number(&self.query_one(sql, &params).await?, 0)? > 0)
    }
}
