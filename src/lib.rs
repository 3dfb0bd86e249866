//! docdeck is a terminal dashboard for documentation sites that are maintained by background agents.
//!
//! This page describes the architecture. Each module's own documentation has the details.
//!
//! # Design goals
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
//!               cli ──────────────┐
//!                │                │          one file per command; mod.rs parses arguments and returns the exit code
//!             runtime             │          event loop and effects, log file
//!    ┌────────┤     │             │
//! terminal    │    engine  sim  config      sending, polling, load all, leases │ simulated service │ settings
//!             │      │   │   │    │
//!             tui   api store └ api::wire    screens, dialogs and shortcuts │ HTTP client │ SQLite in its own thread
//!             │      │   │
//!             └──── model ────────┘          data types and rules: no I/O, no runtime, no clock
//! ```
//!
//! Imports only point down; `tests/layers.rs` enforces this. The core (`model`, `tui`) is pure: the current time is
//! always an argument. [`terminal`] is independent of everything else: it takes over the terminal, reads input, receives
//! signals, and sends frames.
//!
//! A feature has the same name in every layer. For example, page views are in `model::views` and `model::report`,
//! `store::views` and `store::reports`, `engine::views`, `engine::reports` and `engine::load_all`, `tui::views` (state
//! and keys) and `tui::views::draw` (drawing). Every dialog is a variant of [`tui::dialog::Dialog`], with its state in `tui`
//! and its drawing in `tui/draw`.
//!
//! # Messages and effects
//!
//! The event loop in [`runtime`] owns the only [`tui::App`]. Background tasks share no state with it and communicate
//! through one bounded channel. [`tui::App::update`] takes a message and the current time, changes the state and
//! returns [`tui::Effect`]s. The runtime runs each effect as a task, and every task ends with a message, even if it
//! fails.
//!
//! ```text
//! terminal ── event ───────┐                                ┌─ Effect ─ task ─ engine, store, opener ─┐
//! engine ──── EngineEvent ─┼─ Msg ─ App::update(msg, now) ──┤                                         │
//! timer ───── wake ────────┘        changes the state       └─ frame scheduler ─ tui::draw::draw ─ one write │
//!      ▲                                                                                              │
//!      └───────────────────────────────────────── Msg ◄───────────────────────────────────────────────┘
//! ```
//!
//! - **A key press** is looked up in [`tui::keymap`], which yields an action. The action changes the state and may
//!   return effects. The footer, the help and the command palette are generated from the same keymap.
//! - **A click** is resolved to the element under the pointer, with the same layout functions that drawing uses
//!   ([`tui::geometry`], `header`, `footer`, `views::columns` and `views::calendar_layout`), and runs the same action.
//! - **A poll** goes from the engine's scheduler to the HTTP client. The store merges the answer in one transaction,
//!   and a [`model::engine_event::EngineEvent`] updates the row in the list. Because the store merges, not the screen,
//!   two dashboards on one computer always show the same data.
//!
//! # Startup
//!
//! The time until the first frame doesn't depend on the number of jobs: the frame waits only for the rows that it
//! shows. As soon as the settings are known, the store's thread opens the database and reads the first rows, the number
//! of jobs in each group, and the thread of the selected job ([`runtime::startup`]). Meanwhile the theme and the
//! terminal are prepared. The terminal switches to the dashboard only after the database is open, so that errors are
//! printed in the shell. Everything else happens after the first frame: handling typed keys, querying the terminal's
//! background, opening the log file, testing whether the store is writable, reading all rows, and starting the engine.
//!
//! [`store::Store::open`] repairs a damaged database. If only indexes are damaged, it rebuilds them; otherwise it
//! copies every readable row into a new file (`store::salvage`). Recovered prompts are never sent automatically. Damage
//! that opening doesn't detect is found by a check on a separate connection after the first frame
//! ([`store::check_store`]).
//!
//! # Drawing
//!
//! A frame is drawn only when something has changed: immediately if the screen was idle, otherwise at most every 16 ms.
//! Key presses don't wait for a frame that background data caused. There is no fixed tick; [`tui::App::next_timer`]
//! returns the next time at which the screen changes on its own ([`terminal::frame_scheduler`]). Drawing only visits
//! visible rows: sorting, folding, widths and sums are computed when data changes. ratatui finds the cells that differ
//! from the displayed frame; `terminal::backend` generates short escape sequences for the difference and sends them in
//! one write.
//!
//! When the selection moves, the thread of the new row is usually already in memory: the threads of neighbouring rows
//! are prefetched together when the screen is idle (`tui::thread_prefetch`). A prefetched thread is used as long as its
//! job's revision is unchanged.
//!
//! Drawing uses colour roles, never colours. A theme is a file, in `assets/themes` or next to the user's configuration.
//! [`config::themes`] parses it into the colours of [`model::colors`], one set each for dark, light and unknown
//! backgrounds. [`terminal::osc_replies`] queries the terminal's background and removes the reply from the input;
//! `runtime::theme_state` selects the set, and [`tui::draw::Theme`] converts it to styles with the number of colours that the
//! terminal supports.
//!
//! # Customization
//!
//! [`config`] parses custom keys, commands and filters with their positions in the file, but doesn't depend on screens
//! (`config::keys`, `config::customization`). `cli::customization` merges them with the keymap before the dashboard
//! starts, so that errors are printed in the shell.
//!
//! # Sending prompts
//!
//! `queued → sending (saved with its ledger entry in one transaction) → accepted | not sent | rejected | unconfirmed`.
//!
//! Every send needs a permit from [`store::Store::request_permit`], which only one instance can get for a prompt. If a
//! process is killed while sending, the next start marks the prompt as unconfirmed. A discarded prompt keeps its
//! previous state, which undo restores in a transaction that fails if the prompt was accepted in the meantime.
//!
//! Queued prompts are in one queue on disk, in the user's order; paused prompts are skipped. A batch is stored only as
//! prompts in this queue, so the ledger limits how fast it is sent, and it continues after a restart.
//!
//! # Commands
//!
//! Each command is a file in `cli`. Read-only commands use a `StoreSession`: the store of one scope, without an API
//! key. The other commands use a `Session`: a store with an engine that acquires the leases the command needs, a stream
//! of engine events, and signal handling. Results are printed through `Out`, separately from progress and warnings. A
//! failure is a `CliError`: a sentence, an exit code, and an object for `--json`. If a command can't send a prompt
//! immediately, it pauses the prompt, so that nothing is sent after the command has ended. Only prompts that the user
//! asked to queue are sent later.
//!
//! # Loading all pages
//!
//! The service returns page views in answers of at most 250 rows and no row count. The answers of a range are merged
//! into a [`model::report::Report`]; only reports are sorted, filtered, folded and compared.
//! [`engine::Engine::load_all`] requests one answer after the other, within the hourly limit. The store saves each in
//! its own transaction, so an interrupted load can be continued. After the last answer, the rows of the report are
//! written at once, sorted by key (`store::loading`, `store::report_writer`). A complete report of a range is kept
//! until a new one replaces it. The screen first shows the cached report ([`tui::Effect::LoadCachedReport`]), shows the
//! expected cost before loading, and marks a report that is partial.

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
