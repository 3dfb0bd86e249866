//! Waits for a report that another member is loading, instead of loading it, too.

use super::budget::BOOKING_TIMEOUT;
use crate::engine::state::EngineState;
use crate::model::team::ReportKey;
use std::time::Duration;
use tokio::time::Instant;

/// How long a load waits for the report of another member before it makes its own requests.
const MEMBER_REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a waiting load looks for the report in the store.
const REPORT_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A wait for the report of another member.
#[derive(Debug)]
pub(in crate::engine) struct ReportWait {
    end: Instant,
}

impl ReportWait {
    /// Sleeps until the store should be checked again. Returns `false` if the wait is over.
    pub(in crate::engine) async fn sleep_until_check(&self) -> bool {
        tokio::time::sleep(REPORT_CHECK_INTERVAL).await;
        Instant::now() < self.end
    }
}

impl EngineState {
    /// Records in the team's database that this computer begins to load a report. If another member has just begun the
    /// same load, records nothing and returns a [`ReportWait`], during which the caller checks whether the exchange has
    /// stored that member's report. Returns `None` if the caller must load the report itself. If the database can't be
    /// used, also returns `None`, because no report would arrive.
    pub(in crate::engine) async fn begin_report_load(&self, key: ReportKey) -> Option<ReportWait> {
        let access = self.team.access().filter(|_| self.team.is_online())?;
        let team = self.store.team_membership(&self.scope).await.ok()??;
        let begin = async {
            let mut slot = self.team.booking_connection.lock().await;
            let connection = self.open_booking_connection(access, &mut slot).await?;
            connection.begin_report_load(&self.scope, &team, key).await
        };
        match tokio::time::timeout(BOOKING_TIMEOUT, begin).await {
            Ok(Ok(has_begun)) => (!has_begun).then(|| ReportWait { end: Instant::now() + MEMBER_REPORT_TIMEOUT }),
            Ok(Err(_)) | Err(_) => {
                // After an unfinished statement, the connection can't be used any more.
                *self.team.booking_connection.lock().await = None;
                None
            }
        }
    }
}
