//! Counts, for each minute, the points of a code host's hourly limit that were spent on requests for the state of pull
//! requests. The counts are in the store because other instances and later runs of docdeck share the limit.

use super::Store;
use super::error::StoreResult;
use super::kv;
use crate::model::Time;
use chrono::TimeDelta;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The prefix of the keys; the rest of a key is the name of the host.
const KEY_PREFIX: &str = "host_points:";

impl Store {
    /// Records points that were spent on a host.
    pub async fn record_host_points(&self, host: &str, points: u64, now: Time) -> StoreResult<()> {
        let key = format!("{KEY_PREFIX}{host}");
        self.write(move |tx| {
            let mut spent = read_points_by_minute(tx, &key, now)?;
            let points_of_minute = spent.entry(unix_minute(now)).or_default();
            *points_of_minute = points_of_minute.saturating_add(points);
            let text = serde_json::to_string(&spent).unwrap_or_default();
            kv::set(tx, &key, &text)
        })
        .await
    }

    /// Returns the points that were spent on a host in the hour before `now`.
    pub async fn spent_host_points(&self, host: &str, now: Time) -> StoreResult<u64> {
        let key = format!("{KEY_PREFIX}{host}");
        let spent = self.read(move |db| read_points_by_minute(db, &key, now)).await?;
        Ok(spent.values().fold(0, |sum, points| sum.saturating_add(*points)))
    }
}

/// Returns the spent points by minute. Leaves out minutes that are more than an hour ago, or so far in the
/// future that the clock must have been set back.
fn read_points_by_minute(db: &Connection, key: &str, now: Time) -> StoreResult<BTreeMap<i64, u64>> {
    let text = kv::get(db, key)?.unwrap_or_default();
    let mut spent: BTreeMap<i64, u64> = serde_json::from_str(&text).unwrap_or_default();
    let hour = TimeDelta::hours(1).num_minutes();
    spent.retain(|at, _| (unix_minute(now) - *at).abs() < hour);
    Ok(spent)
}

fn unix_minute(at: Time) -> i64 {
    at.timestamp().div_euclid(60)
}
