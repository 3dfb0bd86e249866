//! Whether changes are exchanged with a team, for the header of the dashboard.

use crate::model::Time;

/// The state of the exchange with the team's database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TeamStatus {
    /// The project is not shared, or another process on this computer exchanges the changes.
    #[default]
    Inactive,
    /// Many changes are being received. Contains the number of changes received so far.
    Receiving(usize),
    Online,
    /// The database has been unavailable since the local time `since`. Everything else works.
    Offline {
        since: Time,
    },
}
