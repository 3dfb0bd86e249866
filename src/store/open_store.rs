//! A store that is open, but whose thread has not started.

use super::error::StoreResult;
use super::open::{WriteCheckTime, damage_marker, open_or_create};
use super::{OpenOutcome, Store, jobs, kv, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::FirstJobs;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// An open store whose thread has not started yet. Until then, the data of the first frame can be read on the caller's
/// thread. This is faster, because a new thread takes a while to run, and its memory is slower to get.
#[derive(Debug)]
pub struct OpenStore {
    connection: Connection,
    damage_marker: PathBuf,
    outcome: OpenOutcome,
}

impl OpenStore {
    /// Opens the file in `folder` like [`Store::open`], but doesn't check whether writing works, which takes time: call
    /// [`Store::check_writable`] later.
    ///
    /// # Errors
    /// The errors of [`Store::open`].
    pub fn open(folder: &Path, now: Time) -> StoreResult<Self> {
        let (connection, outcome) = open_or_create(folder, now, WriteCheckTime::Later)?;
        Ok(Self { connection, damage_marker: damage_marker(folder), outcome })
    }

    /// Returns the value stored under this key.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn value(&self, key: &str) -> StoreResult<Option<String>> {
        kv::get(&self.connection, key)
    }

    /// Returns the same as [`Store::first_jobs`].
    ///
    /// # Errors
    /// The store can't be read.
    pub fn first_jobs(&mut self, scope: &Scope, limit: u32) -> StoreResult<FirstJobs> {
        let snapshot = self.connection.transaction()?;
        let id = scopes::find_scope(&snapshot, scope)?;
        id.map_or_else(|| Ok(FirstJobs::default()), |id| jobs::read_first_jobs(&snapshot, id, limit))
    }

    /// Starts the store's thread.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn start(self) -> StoreResult<(Store, OpenOutcome)> {
        let store = Store::start(self.connection, self.outcome.is_read_only, Some(self.damage_marker))?;
        Ok((store, self.outcome))
    }
}
