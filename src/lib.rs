//! docdeck is a terminal dashboard for documentation sites that are maintained by background agents.
//!
//! This page describes the architecture. Each module's own documentation has the details.
//!
//! The service can't list jobs, has no idempotency keys, and allows only a limited number of requests per hour.
//! Therefore:
//!
//! - A prompt is saved on disk before it is sent. A POST that may have reached the service is never repeated
//!   automatically.
//! - Every rate-limited request is recorded in a ledger before it is sent. All instances on the computer share the
//!   ledger.
//! - The screen marks data that is outdated, unknown or not loaded. Text from outside is cleaned before it is shown.
//!
//! # Layers
//!
//! ```text
//!                cli ────────────┐
//!                 │              │      one file per command; mod.rs parses arguments and returns the exit code
//!              runtime           │      the event loop and the runners of effects
//!     ┌───────────┤     │        │
//! terminal        │   engine  sim  config      terminal session, frames │ sending, polling, leases │ simulated service
//!                tui    │  │   │    │
//!                 │   api store└ api::wire     screens and dialogs │ HTTP client │ SQLite in its own thread
//!                 └── model ─────────┘         data types and rules
//! ```
//!
//! Imports only point down; `tests/layers.rs` enforces this. The core (`model`, `tui`) does no I/O and reads no clock:
//! the current time is an argument. [`terminal`] knows nothing of docdeck. A feature has the same name in every layer,
//! such as `model::views`, `store::views`, `engine::views` and `tui::views`.
//!
//! # Screens and dialogs
//!
//! Everything about a dialog is in one file or folder of [`tui`] that implements [`tui::component::Component`]: its
//! state, its shortcuts and their labels, clicks, text input, the messages that it waits for, timers and drawing.
//! Nothing else knows the dialog, except what opens it. A key is looked up in [`tui::keymap`], the only table of
//! shortcuts, which also yields the footer, the help and the command palette. Its action goes to the topmost dialog,
//! then to the screen, then to the app; [`Flow::Pass`](tui::component::Flow) hands it on. Drawing and clicking use the
//! same layout functions.
//!
//! The jobs screen, the filter input and the list of all profiles' jobs are not components yet: their parts are in
//! `act`, `mouse`, `scrolling` and `footer_labels`.
//!
//! Drawing changes nothing and visits only visible rows: sorting, widths and sums are computed when data changes. It
//! uses colour roles; a theme (`assets/themes`, [`config::themes`]) gives them colours, and [`tui::draw::Theme`]
//! converts these to the number of colours of the terminal.
//!
//! # Messages and effects
//!
//! The event loop in [`runtime`] owns the only [`tui::App`]. Background tasks share no state with it and communicate
//! through one bounded channel. [`tui::App::update`] takes a message and the current time, changes the state and
//! returns [`tui::Effect`]s. The runtime runs each effect as a task, and every task ends with a message, even if it
//! fails.
//!
//! ```text
//! terminal ── event ───────┐                                ┌─ Effect ─ task ─ engine, store, browser ─┐
//! engine ──── EngineEvent ─┼─ Msg ─ App::update(msg, now) ──┤                                          │
//! timer ───── wake ────────┘        changes the state       └─ frame scheduler ─ draw ─ one write      │
//!      ▲                                                                                               │
//!      └───────────────────────────────────────── Msg ◄────────────────────────────────────────────────┘
//! ```
//!
//! A frame is drawn only when something has changed: at once after a key, otherwise at most every 16 ms. There is no
//! fixed tick; [`tui::App::next_timer`] returns the next time at which the screen changes on its own. The first frame
//! waits only for the rows that it shows.
//!
//! # Jobs and prompts
//!
//! A poll goes from the scheduler (`engine::schedule`) to the HTTP client. The store merges the answer in one
//! transaction, and a [`model::engine_event::EngineEvent`] updates the row in the list. Because the store merges, not
//! the screen, two dashboards on one computer show the same data.
//!
//! A prompt is `queued → sending (saved with its ledger entry in one transaction) → accepted | not sent | rejected |
//! unconfirmed`. Every send needs a permit from [`store::Store::request_permit`], which only one instance can get for a
//! prompt. If a process is killed while sending, the next start marks the prompt as unconfirmed. Queued prompts are in
//! one queue on disk, in the user's order; a batch is stored only as prompts in this queue, so the ledger limits how
//! fast it is sent, and it continues after a restart.
//!
//! [`store::Store::open`] repairs a damaged database: it rebuilds indexes, or copies every readable row into a new file
//! (`store::salvage`). Recovered prompts are never sent automatically.
//!
//! # Page views
//!
//! The service returns page views in answers of at most 250 rows and no row count. [`engine::Engine::load_all`]
//! requests one answer after the other, within the hourly limit, and the store saves each in its own transaction, so an
//! interrupted load can be continued. The answers of a range are merged into a [`model::report::Report`]; only reports
//! are sorted, filtered, folded and compared. A complete report stays cached until a new one replaces it. The screen
//! shows the expected cost before loading, and marks a report that is partial.
//!
//! # Commands
//!
//! Each command is a file in `cli`. Read-only commands open the store of one scope, without an API key. The others add
//! an engine that acquires the leases the command needs. Results are printed through `Out`, separately from progress
//! and warnings. A failure is a `CliError`: a sentence, an exit code, and an object for `--json`. If a command can't
//! send a prompt immediately, it pauses the prompt, so that nothing is sent after the command has ended.

pub mod api;
pub mod cli;
pub mod config;
pub mod engine;
pub mod model;
pub mod runtime;
pub mod sim;
pub mod store;
pub mod terminal;
pub mod tui;
