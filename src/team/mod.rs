//! Shares jobs and analytics between the computers of a team through a schema in PostgreSQL.
//!
//! The local database stays what screens and commands read and write, so no key press waits for the network and
//! everything works offline. An exchange sends what changed here and merges what changed elsewhere. The
//! service's requests, the API keys and drafts never go through the team's database.
//!
//! # What is shared
//!
//! Joining shares one project of one service. Shared are its jobs (what the service and the code host reported, with
//! times), titles, tags, notes and dismissals, and prompts with their delivery and author. All members can read all
//! prompts. Private are API keys, drafts, the queue, what a user has viewed, filters and layout. A job is shared as soon
//! as the service has given it an id, a prompt as soon as it is sent for the first time.
//!
//! Of the analytics, complete reports of page views, visitors, searches and votes per page are shared, and the site's
//! totals of single days, since the requests for them count against a limit that all members share. What readers wrote
//! (comments, questions and conversations) is private: each member stores it for its own number of days, and the database
//! could not keep all of these promises.
//!
//! # Sending
//!
//! A prompt is sent only by the computer on which it was written. On all others, the store has it with its author, and
//! a constraint of the table forbids marking such a prompt as being sent. So whatever the exchange does, it can't cause
//! a second sending. The other way round, a computer that was restored from a backup learns from the team that one of
//! its queued prompts was accepted, and doesn't send it again.
//!
//! # Schema
//!
//! The schema `docdeck` has the tables `organization`, `project` (a service and a project), `member`, `job`, `prompt`,
//! `batch`, `lease`, `request_slot`, `report` and `report_part`; `assets/team` has the statements. A job is identified by
//! the service's id, a prompt by its member, number and time, a report by its kind and range. Their contents are JSON as text, since the rules for merging are in
//! [`crate::model::team`] and not in SQL. The schema has a version; migrations run in one transaction behind an
//! advisory lock, and only `docdeck team init` runs them. A docdeck that finds a newer version says so and continues
//! locally.
//!
//! Row-level security separates organizations: each has a role, `docdeck_NAME`, and rows are visible only to the members
//! of that role. Members have no right to delete or to change the schema.
//!
//! # Changes and cursors
//!
//! Each project has a counter of changes. A transaction that writes first locks the row of the project, then gives each
//! changed job and prompt the next number, so numbers become visible in their order: a reader that has seen number 7
//! never misses number 6. (A PostgreSQL sequence would not guarantee this, because transactions commit in another order
//! than they draw numbers.) A reader stores the last number, and asks for larger ones.
//!
//! Each transaction that writes has a random id, the batch, and writes it together with its last number. A reader stores
//! the batch of its cursor, too. If the database doesn't have this batch any more, it was restored from an older copy:
//! the reader then starts again at 0 and sends all that it knows.
//!
//! # Notifications
//!
//! Each transaction that writes a batch notifies the channel of its organization. A member that listens then asks for
//! the changes after its cursor. Its own changes it sends as soon as the store has committed them. So nothing is asked
//! while nothing happens, except once a minute, in case a notification was lost. Every login of the database can
//! listen and notify, so a notification has only the number of a project, and a wrong one causes at most a query.
//!
//! # One budget
//!
//! An hourly limit has a hundred rows. Before a request goes out, it is booked: one statement takes a row that was last
//! used more than an hour and 30 s ago, and skips rows that another member is just taking. Two requests that use the
//! same row are more than an hour apart although a request goes out a moment after it was booked, because it must go out
//! within 10 s. So no hour has more than a hundred requests of all members, and no lock waits for the network.
//!
//! If the database doesn't answer within a second, the ledger of the computer decides alone. The request is reported
//! later under the id with which it would have been booked, so it counts once even if only the answer was lost. A
//! report takes the row of the oldest request: the ledger has the latest hundred, even if there were more. The ledger
//! allows a request, but only [`crate::store::Store::request_permit_with_team_permission`] lets a prompt be sent, and only once.
//!
//! # One poller
//!
//! A computer that has jobs to poll takes the lease of the project for 12 s and renews it every 4 s. The others receive
//! what it finds. The lease is released when docdeck ends or is suspended, or when there is nothing to poll; after a
//! crash, it expires. Each new holder gets a higher token, which is checked in the transaction that writes a result, so a
//! computer that slept notices that it lost the lease. Its results are still valid, since each has the time of its
//! response. Without the database, each computer polls for itself.
//!
//! Sending needs no lease: a prompt is sent only by the computer on which it was written, and the ledger keeps all
//! members together within the limits.
//!
//! # Outbox
//!
//! The store gives each change of a job a higher revision in the same transaction, so no write of the store knows of the
//! team. An exchange compares the jobs after the last compared revision with what the team knew about them, and stores
//! the difference as a batch before it sends it. If the answer of the database is lost, the next exchange first sends the
//! same batch again, and the database recognizes it by its id. A batch changes nothing if it arrives twice.
//!
//! # Merging
//!
//! The rules are those of [`crate::model::team`]. The transaction that stores a batch reads the jobs that it changes,
//! merges and writes them. A write gets the time of the database's clock, which never goes back within a project. What
//! changed locally since the last exchange is kept when the team's state is taken over, and sent afterwards.
//!
//! # Reports of analytics
//!
//! Of each kind and range, the database has one report, the one that was loaded last: by the service's clock, which is the
//! same for all members, so these times are not converted. Its rows are JSON in up to 64 parts of at most 256 KB. The
//! header of a report takes a number of the project's counter and a batch like a job, and a member has a second cursor for
//! reports, so jobs never wait for them. There is no outbox: the local table `team_report` has the version of each report
//! that was last sent or received, and what is newer in the cache is sent.
//!
//! A sender stores the parts one by one, without a transaction, in the slot of the report that is not in use. Then a short
//! transaction checks that all parts are there and that no later version is, and lets the header refer to them. An upload
//! that was cut continues with the missing parts, since they are marked with the version, a time and a hash of the
//! content. A receiver reads the headers after its cursor, those of the last 90 days and the newest first, and then the
//! parts of the reports that it lacks, at most 1 MB at once. It checks the hash, and stores each report as if it had been
//! loaded there, in one transaction. A load that is not finished stays, but if the report is newer, the load is not
//! continued later, and when it ends, it doesn't replace the report. The cursor moves only when all are stored.
//!
//! Since members can't delete anything, the next member who sends a report empties the parts of those that are older than
//! 90 days.
//!
//! # Removed jobs
//!
//! The administrator can remove old jobs from the database ([`forget()`]). Each leaves an empty row, its tombstone. A
//! member who sends such a job without a change, because it joins again or the database was restored, doesn't bring it
//! back; a change by a member who knows the job does.
//!
//! # Clocks
//!
//! An exchange reads the clock of the database. Times are stored by this clock and converted for each computer, so that
//! a wrong local clock changes neither the result of a merge nor the times on other screens.
//!
//! # Failure
//!
//! Every step of an exchange is a transaction of one database, and can be repeated. If the database can't be reached,
//! nothing else stops, and the next exchange sends what has accumulated. If it was restored from an older copy, members
//! also report their requests of the last hour again; some then count twice for an hour, which is safe. Statements and
//! locks have time limits on the server, so that a member whose network is cut in a transaction doesn't block the
//! others.
//!
//! Everything that comes from the database is untrusted: it is parsed and cleaned like a response of the service.

mod connection;
mod error;
mod exchange;
mod forget;
mod lease;
mod ledger;
mod reports;
mod schema;
mod signals;
mod tls;
mod url;

pub use connection::{TeamAddress, TeamConnection};
pub use error::TeamError;
pub use exchange::{
    Exchange, ExchangeReport, ExchangeStep, TeamMember, exchange, exchange_with_progress, members, organizations,
};
pub use forget::{ForgetReport, forget};
pub use lease::{LEASE_DURATION, LeaseAttempt, PollLease};
pub use ledger::{LedgerCount, TeamLimit, report_unbooked_requests};
pub use schema::{OrganizationName, create, sql_for_administrator, supported_version};
pub use signals::TeamSignals;
