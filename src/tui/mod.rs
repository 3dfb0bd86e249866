//! The state machine of the dashboard: `update(message, now)` changes the state and returns the effects to run.
//!
//! The state machine is pure and fast: it never waits, reads no clock and does no I/O. Each screen and dialog has its
//! own file. `update` handles messages, `dispatch` passes inputs to the open dialogs and the current screen, and
//! `timers` computes when the screen has to change although no message arrives.

pub mod all_jobs;
pub mod analytics;
pub mod app;
pub mod bulk;
pub mod bulk_action;
pub mod changes;
mod chord;
pub mod component;
pub mod compose;
pub mod confirm;
mod custom_commands;
mod dispatch;
pub mod draw;
mod failure_text;
pub mod filter;
pub mod filter_input;
mod finish_alerts;
pub mod footer;
pub mod format;
pub mod geometry;
pub mod header;
pub mod help;
pub mod impact;
pub mod input_dialog;
mod job_filter_bar;
mod job_labels;
mod job_tabs;
pub mod jobs;
pub mod keymap;
mod layout;
#[cfg(test)]
mod list_tests;
pub mod list_title;
pub mod log;
pub mod log_entries;
mod marks;
pub mod message_fit;
mod msg;
mod notice;
mod notices;
pub mod order;
pub mod palette;
mod pointer;
mod profile_messages;
pub mod profiles;
mod pruned_jobs;
pub mod pull_request;
mod queue;
mod quitting;
mod received_reports;
mod shared_notice;
mod startup_queue;
mod state;
mod team_notices;
mod thread_prefetch;
mod timers;
mod tips;
pub mod tour;
mod tracking;
pub mod undelivered;
mod update;
pub mod view;
pub mod views;
pub mod welcome;
pub mod widgets;
pub mod wrap;

pub use analytics::messages::{AnalyticsEffect, AnalyticsMsg, RowsMsg};
pub use analytics::row_list::ListTab;
pub use app::{App, Pane, Screen, StoreState};
pub use compose::messages::{PromptsEffect, PromptsMsg, SubmitError, Template};
pub use jobs::messages::{AllProfilesJobs, InitialData, JobsEffect, JobsMsg};
pub use msg::{AppConfig, CustomCommand, Effect, Msg, NewFile, Overwrite, PullRequestAccess, SavedFilter};
pub use notice::{Message, Notice, Severity};
pub use profile_messages::{ConfigWriteError, ProfileEntry, ProfilesEffect, ProfilesMsg, RelaunchTarget};
pub use thread_prefetch::MAX_PREFETCHED_THREAD_BYTES;
pub use views::messages::{ViewsEffect, ViewsMsg};
