//! Shares jobs and analytics between the computers of a team through a schema in PostgreSQL.
//!
//! Screens and commands read and write only the local database, so no key press waits for the network and everything
//! works offline. An exchange sends the changes of this computer and merges those of other members. Requests to the
//! service, API keys and drafts never go through the team's database.
//!
//! # What is shared
//!
//! Joining shares one project of one service. These data are shared: jobs (what the service and the code host reported,
//! with times), titles, tags, notes and dismissals, and prompts with their delivery and author. All members can read
//! all prompts. These data stay private: API keys, drafts, the queue, what a user has viewed, filters and layout. A job
//! is shared as soon as the service has given it an id, and a prompt as soon as it is sent for the first time.
//!
//! These analytics are shared, because the requests for them count against a limit that all members share: complete
//! reports of page views, visitors, searches, votes per page, comments and questions, and the site's totals of single
//! days. Comments and questions expire ("Texts of readers" below). Conversations with the assistant are not stored, so
//! they are not shared.
//!
//! # Sending
//!
//! A prompt is sent only by the computer on which it was written. All other computers store it with its author, and a
//! constraint of their local database forbids marking such a prompt as being sent. So an exchange can never cause a
//! prompt to be sent twice. After a computer was restored from a backup, it receives the state of its prompts from the
//! team, and doesn't resend any that were already accepted.
//!
//! # Schema
//!
//! The schema `docdeck` has the tables `organization`, `project` (a service and a project), `member`, `job`, `prompt`,
//! `batch`, `lease`, `request_slot`, `rate_limit_block`, `report`, `report_part` and `report_load`; `assets/team` has
//! the statements. A job is identified by the service's id, a prompt by its member, number and time, a report by its
//! kind and range. Their contents are stored as JSON text, since the rules for merging are in [`crate::model::team`]
//! and not in SQL. The schema has a version. Migrations run in one transaction with an advisory lock, and only
//! `docdeck team init` runs them. A docdeck that finds a newer version reports an error and continues locally.
//!
//! Row-level security separates organizations: each has a role, `docdeck_NAME`, and its rows are visible only to the
//! members of that role. Members may not change the schema, and may delete no rows except for expired texts of readers.
//!
//! # Changes and cursors
//!
//! Each project has a counter of changes. Before a transaction writes changes, it locks the row of the project. It then
//! gives each changed job and prompt the next number, so numbers become visible in ascending order: a reader that has
//! seen number 7 never misses number 6. (A PostgreSQL sequence would not guarantee this: a transaction that gets a
//! lower number may commit later.) A reader stores the last number as its cursor, and queries larger ones.
//!
//! The changes of one transaction are a batch. The transaction also writes the random id of the batch and its last
//! number. A reader stores the batch of its cursor, too. If the database no longer has this batch, it was restored from
//! an older copy: the reader then starts again at 0 and sends all of its jobs again.
//!
//! # Notifications
//!
//! Each transaction that writes a batch notifies the channel of its organization. A member that listens then queries
//! the changes after its cursor. It sends its changes as soon as the store has committed them. So there are no queries
//! while nothing changes, except for one per minute, in case a notification was lost. Every login of the database can
//! listen and notify, so a notification contains at most what kind of data has changed and the number of a project, and
//! a false one causes at most a query.
//!
//! # Shared budget
//!
//! An hourly limit has a hundred rows. A request is booked before it is sent: one statement takes a row that was last
//! used more than an hour and 30 s ago, and skips rows that another member is taking at the same time. A booked request
//! must be sent within 10 s, so two requests that use the same row are always more than an hour apart. While the
//! database answers, all members together therefore never send more than a hundred requests in an hour, and no lock is
//! held while waiting for the network.
//!
//! After a 429 of the service, no member may send a request of the same kind until the wait is over. The member that
//! received the 429 writes the time that is left. The others read this time with the counts of used requests, and store
//! it like a 429 of their own. If the database can't be reached, the wait is not shared, and another member may receive
//! a 429, too.
//!
//! If the database doesn't answer within a second, the local ledger alone decides, so the team may exceed the limit.
//! The request is then reported later, under the id of the attempted booking, so it counts once even if only the answer
//! was lost. It then replaces the oldest request: the shared ledger has the latest hundred, even if there were more.
//! Both ledgers only decide whether the limit allows another request. The store decides whether a prompt may be sent,
//! and permits this only once ([`crate::store::Store::request_permit_with_team_permission`]).
//!
//! # One poller
//!
//! A computer that has jobs to poll takes the lease of the project for 12 s and renews it every 4 s. The other members
//! receive the results. The lease is released when docdeck ends or is suspended, or when there is nothing to poll;
//! after a crash, it expires. Each new holder gets a higher token. The transaction that writes a result checks the
//! token, so a computer that was asleep notices that it has lost the lease. Its results are still valid, since each has
//! the time of its response. While the database can't be reached, each computer polls independently.
//!
//! Sending needs no lease: a prompt is sent only by the computer on which it was written, and the ledger keeps the
//! total of all members within the limits.
//!
//! # Outbox
//!
//! The store gives each change of a job a higher revision in the same transaction, so code that writes to the store
//! works without any reference to the team. An exchange takes the jobs that have changed since the last compared
//! revision, compares each with the state that the team has of it, and stores the differences as a batch before sending
//! it. If the answer of the database is lost, the next exchange first sends the same batch again, and the database
//! recognizes it by its id. A batch that arrives twice changes nothing.
//!
//! # Merging
//!
//! The rules are those of [`crate::model::team`]. The transaction that stores a batch reads, merges and writes the jobs
//! that it changes. A write gets the time of the database's clock, which never goes back within a project. When a
//! computer merges the team's state, it keeps its local changes since the last exchange, and sends them afterwards.
//!
//! # Reports of analytics
//!
//! For each kind and range, the database has one report: the one that was loaded last, by the service's clock. This
//! clock is the same for all members, so these times are not converted. The rows of a report are JSON in up to 64 parts
//! of at most 256 KB. The header of a report gets a number of the project's counter and a batch, like a job. A member
//! has a second cursor for reports, so jobs never wait for reports. There is no outbox: the local table `team_report`
//! has the last sent or received version of each report, and newer reports of the cache are sent.
//!
//! A report has two slots for parts, one of which is unused. A sender stores the parts one by one, without a
//! transaction, in the unused slot. Then a short transaction checks that all parts are stored and that there is no
//! later version, and lets the header refer to them. Parts are marked with their version (a time and a hash of the
//! content), so an interrupted upload continues with the missing parts. A receiver reads the headers after its cursor
//! (only those of the last 90 days, the newest first), and then the parts of the reports that it lacks, at most 1 MB at
//! a time. It checks the hash, and stores each report in one transaction, as if it had loaded the report itself. The
//! rows of an unfinished load of the same report are not deleted. But if the received report is newer, that load is not
//! resumed, and if it is running, its result is discarded. The cursor moves only when all reports are stored.
//!
//! A member that begins to load a complete report records this in the database, with one statement before the first
//! request. If another member has begun the same load less than a minute ago, the load first waits up to 5 s for the
//! report to arrive through the exchange. Only then does it make its own requests. So a load that fails or stops delays
//! another one only briefly.
//!
//! Members can't delete reports, except for expired texts of readers. Therefore the next member who sends a report
//! replaces the parts of all reports that are older than 90 days with empty ones.
//!
//! # Texts of readers
//!
//! Each member sets after how many days comments and questions are deleted; with 0, they are never stored. A report
//! with such texts has a time at which it expires: the member that loaded it computes this time from its own setting,
//! at most 90 days after the report was loaded. A receiver stores this time with the report, and deletes the report
//! when this time or its own setting requires it, whichever is earlier. If it sends the report again, because the
//! database was restored, the report doesn't expire later. A member whose setting is 0 sends no such reports and
//! excludes them from its queries for headers.
//!
//! Each part also has this time of expiry, since a newer version leaves the parts of the older one in the other slot,
//! and an interrupted upload leaves parts without a header. The statement that registers a member, at the start of each
//! exchange and once a minute in an open dashboard, also deletes all expired headers and parts of the project. A
//! restrictive policy lets members delete expired rows, and only these. No policy hides expired rows, since it would
//! also hide them from this statement. The queries for headers leave them out instead.
//!
//! A member stores the version of each report that it has deleted, so that it doesn't receive the report again, even if
//! the database was restored. It deletes these versions when it leaves the team.
//!
//! # Removed jobs
//!
//! The administrator can remove old jobs from the database ([`forget()`]). Each removed job leaves an empty row as a
//! tombstone. If a member sends such a job without a change, because the member joins again or the database was
//! restored, the job stays removed. If a member who still has the job changes it, it is added again.
//!
//! # Clocks
//!
//! An exchange reads the clock of the database. Times in the database are on this clock, and each computer converts
//! them to its clock. So a wrong local clock changes neither the result of a merge nor the times on other screens.
//!
//! # Failure
//!
//! Every step of an exchange is a transaction of one database, and can be repeated. If the database can't be reached,
//! everything else continues, and the next exchange sends the changes since the last one. If the database was restored
//! from an older copy, members also report their requests of the last hour again; some then count twice for an hour,
//! which is safe. Statements and locks have time limits on the server, so that a member whose network fails in a
//! transaction doesn't block the others.
//!
//! Everything that comes from the database is untrusted: it is parsed and cleaned like a response of the service.

mod connection;
mod error;
mod exchange;
mod forget;
mod lease;
mod ledger;
mod report_loads;
mod reports;
mod schema;
mod signals;
mod tls;
mod url;

pub use connection::{TeamAddress, TeamConnection};
pub use error::TeamError;
pub use exchange::{
    Exchange, ExchangeStep, ExchangeSummary, MemberSettings, TeamMember, UnreceivedData, exchange,
    exchange_with_progress, members, organizations,
};
pub use forget::{ForgetSummary, forget};
pub use lease::{LEASE_DURATION, LeaseAttempt, PollLease};
pub use ledger::{RateLimitWait, TeamLedgerUsage, TeamLimit, report_unbooked_requests};
pub use schema::{OrganizationName, set_up_schema, setup_sql_for_administrator, supported_version};
pub use signals::TeamNotifications;
