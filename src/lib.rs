//! docdeck is a terminal dashboard for documentation sites that are maintained by background agents.
//!
//! This page describes the architecture; each module's documentation has the details. The service can't list jobs, has
//! no idempotency keys, and limits the number of requests per hour. Therefore:
//! - A prompt is saved before it is sent. A POST that may have reached the service is never repeated automatically.
//! - Every rate-limited request is recorded in a ledger before it is sent. All instances on the computer share the
//!   ledger. If the ledger can't be written, only requests for analytics are sent; they are then counted in memory.
//! - The screen marks data that is outdated, unknown or not loaded. Text from outside is cleaned before it is shown.
//!
//! # Layers
//!
//! ```text
//! layer       contains                                                          imports
//! cli         the commands; mod.rs parses arguments, returns the exit code      all others
//! runtime     the event loop and the runners of effects                         all others except cli
//! engine      sending, polling, leases                                          team, api, store, model
//! team        sharing jobs and analytics through PostgreSQL                     api, store, model
//! config      options, environment, configuration file, themes                  api, store, model
//! sim         the simulated service                                             api, model
//! api         the HTTP client                                                   model
//! store       SQLite in its own thread                                          model
//! tui         screens and dialogs                                               model
//! model       data types and rules                                              nothing
//! terminal    the terminal session, frames                                      nothing
//! ```
//!
//! Within a layer, at most three files import each other in a cycle; `tests/layers.rs` enforces this and the table. The
//! core (`model`, `tui`) does no I/O and reads no clock: the current time is an argument.
//!
//! # Screens and dialogs
//!
//! A screen or dialog is a file or folder of [`tui`] that implements [`tui::component::Component`]: its state, labels
//! of its shortcuts, clicks, text input, the messages that it waits for, timers and drawing. A key is looked up in
//! [`tui::keymap`], the table of all shortcuts except custom commands, from which footer, help and command palette are
//! also made. Which shortcuts apply depends on the contexts of the topmost dialog or screen. The action goes to the
//! topmost dialog, then to the screen if no dialog covers it, then to the app (`tui::dispatch`);
//! [`Flow::Unhandled`](tui::component::Flow) passes it to the next of these. The app turns a move in a list, such as
//! `j`, into a `Scroll` of that list. Drawing and clicking share the layout; drawing changes no state. After a move,
//! unchanged rows keep their cells ([`tui::draw::KeptCells`]). Themes (`assets/themes`) assign colours to roles.
//!
//! # Messages and effects
//!
//! The event loop in [`runtime`] owns the only [`tui::App`]. Background tasks share no state with it: engine events
//! arrive through a bounded channel, results of effects when their task ends. [`tui::App::update`] takes a message and
//! the current time, changes the state and returns [`tui::Effect`]s. The event loop handles an effect itself if it
//! needs the terminal, such as suspending, and runs the others as tasks. Most tasks return a message, even if they
//! fail; some, such as saving the layout, have no result. Messages and effects are grouped by feature, such as
//! [`tui::ViewsMsg`] and [`tui::ViewsEffect`].
//!
//! ```text
//! terminal ── event ───────┐                                ┌─ Effect ─ task ─ engine, store, browser ─┐
//! engine ──── EngineEvent ─┼─ Msg ─ App::update(msg, now) ──┤                                          │
//! timer ───── wake ────────┘        changes the state       └─ frame scheduler ─ draw ─ one write      │
//!      ▲                                                                                               │
//!      └───────────────────────────────────────── Msg ◄────────────────────────────────────────────────┘
//! ```
//!
//! A frame is drawn only when something has changed, and at most one per 16 ms. Frames that respond to input have their
//! own interval, so that a key press never waits for another frame. There is no fixed tick: [`tui::App::next_timer`]
//! returns when the screen next changes on its own. The first frame waits only for the rows that it shows.
//!
//! # Jobs and prompts
//!
//! Polling a job: `engine::poll` asks `engine::schedule` which jobs are due, `engine::fetch` requests them with
//! [`api::Client`], the store merges the response by the rules of `model::merge` in one transaction, and a
//! [`model::engine_event::EngineEvent`] updates the row (`put_job` in `tui::jobs::update`, `upsert` in `tui::jobs`). Of
//! all instances on the computer, one has the poll lease and polls, and one has the dispatch lease and sends queued
//! prompts; the others send only prompts that were submitted in them. Leases are file locks (`engine::lease`). Every
//! instance notices what others write to the store (`engine::watch`), so all show the same data.
//!
//! A prompt goes from `tui::compose` to `engine::submit`, which saves it; independently, `engine::dispatch` sends it
//! and records the outcome (`store::sending`). A prompt is `queued → sending (saved with its ledger entry in one
//! transaction) → accepted | not sent | rejected | unconfirmed`. After a 429 it is queued again. A queued prompt can be
//! `paused`; one that is neither being sent nor accepted can be `discarded`. Every send needs a permit from
//! [`store::Store::request_permit_with_team_permission`]; only one instance can get this permit. If a process is killed
//! while sending, the next start or, within seconds, another instance marks the prompt as unconfirmed. Queued prompts
//! are in one queue on disk, in the user's order. A task asks code hosts about pull requests (`engine::pull_requests`).
//!
//! [`store::Store::open`] repairs a damaged database: it rebuilds indexes, or copies every readable row into a new file
//! (`store::salvage`). Recovered prompts are never sent automatically.
//!
//! [`mod@team`] exchanges jobs and reports with other computers through PostgreSQL, by the rules of [`model::team`].
//! `engine::team` starts an exchange as soon as something changes, books requests in the team's ledger, and decides
//! which member polls. A prompt is sent only by the computer on which it was written.
//!
//! # Analytics
//!
//! The service returns page views in responses of at most 250 rows, without a total number of rows.
//! [`engine::Engine::load_all`] requests one response after the other, within the hourly limit, and the store saves
//! each in its own transaction, so an interrupted load can be continued. The responses of a range are merged into a
//! [`model::report::Report`]; only reports are sorted, filtered, grouped by folder and compared. A complete report
//! stays cached until a new one replaces it. The screen shows the expected cost before loading, and marks partial
//! reports. [`engine::Engine::load_rows`] loads visitors, searches, feedback and questions in the same way.
//!
//! # Commands
//!
//! Each command is a file or folder in `cli`. Commands that send no request to the service open at most the store, and
//! need no API key. Most other commands also start an engine, which acquires the leases that they need. Results are
//! printed through `Out`, separately from progress and warnings. A failure is a `CliError`: a sentence, an exit code,
//! and an object for `--json`. If a command can't send a prompt immediately, it pauses the prompt.

pub mod api;
pub mod cli;
pub mod config;
pub mod engine;
pub mod model;
pub mod runtime;
pub mod sim;
pub mod store;
pub mod team;
pub mod terminal;
pub mod tui;
