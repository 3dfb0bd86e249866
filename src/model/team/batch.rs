//! The batches in which changes are sent to a team's database, and the single changes that arrive from it.

use super::{JobChange, SharedJob, SharedPrompt};
use serde::{Deserialize, Serialize};

/// Changes that are stored in the team's database in one transaction, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamBatch {
    /// A random id, by which the database recognizes a batch that it has already stored.
    pub id: String,
    /// The revision of the local store up to which jobs were compared with the team's state. `changes` has the
    /// differences.
    pub revision: i64,
    pub changes: Vec<OutgoingChange>,
}

/// The changes of a job, and its changed prompts that were written on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingChange {
    /// The job's id on the service.
    pub job: String,
    /// The team's state of the job at the last exchange. The database has this state too, unless it was restored from
    /// an older copy.
    pub known: SharedJob,
    pub change: JobChange,
    pub prompts: Vec<SharedPrompt>,
    /// A hash of all prompts of the job that this computer shares.
    pub prompts_hash: i64,
}

/// A change that was received from the team's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncomingChange {
    /// The job's id on the service, and the team's state of the job.
    Job(String, Box<SharedJob>),
    /// The job's id on the service, and a prompt of the job.
    Prompt(String, Box<SharedPrompt>),
}
