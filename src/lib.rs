//! docdeck: a terminal dashboard for people who keep a documentation site with background agents.
//!
//! # What shapes it
//!
//! The service has no operation that lists jobs, gives out few requests an hour and no idempotency keys. So docdeck is
//! a durable local record, a careful spender of requests, and an honest screen:
//!
//! - a prompt is on disk before it is sent, and a POST that may have reached the service is never sent again by itself;
//! - every limited request is written into a ledger before it goes out, shared by all instances on the computer;
//! - what is stale, unknown or not loaded is shown as that, and text from outside is nothing but text.
//!
//! # The rooms
//!
//! ```text
//!            cli ──────────────┐
//!             │                │          one file per command; main.rs: arguments in, exit code out
//!          runtime             │          event loop, effects, frame gate, terminal guard, log file
//!          │     │             │
//!          ui    engine  sim  config      drawing │ submit, poll, load all, leases │ simulated service │ settings
//!          │      │   │   │    │
//!          app   api store └ api::wire    state machine │ HTTP client │ SQLite on a thread of its own
//!          │      │   │
//!          └──── model ────────┘          plain data and rules: no I/O, no runtime, no clock
//! ```
//!
//! Imports point down only; `tests/layers.rs` reads the source and fails on one that doesn't. The core (`model`, `app`,
//! `ui`) is pure: time is an argument everywhere.
//!
//! What belongs together has the same name in every room it passes: page views are `model::views` and `model::report`,
//! `store::views` and `store::reports`, `engine::views`, `engine::reports` and `engine::load_all`, the folders
//! `app/views` (state and keys, one file per layer, `table` for what is listed) and `ui/views` (how each is drawn). The
//! same goes for the palette of actions (`app::palette`, `ui::palette`), a batch, the log. An overlay is a variant of
//! [`app::overlay::Overlay`]: its state lies in `app`, its drawing in `ui`.
//!
//! # The way of a message
//!
//! The event loop in [`runtime`] owns the only [`app::App`]. Background tasks share nothing with it but messages
//! through one bounded channel. [`app::App::update`] takes a message and the time and names [`app::Effect`]s; the
//! runtime carries each out as a task, and every task ends in a message, also when it failed.
//!
//! ```text
//! terminal ─ event ─┐                                   ┌─ Effect ─ task ─ engine, store, opener ─┐
//! engine ── news ───┼─ Msg ─ App::update(msg, now) ─────┤                                         │
//! timer ─── wake ───┘        state, dirty               └─ frame gate ─ ui::draw ─ one write      │
//!      ▲                                                                                          │
//!      └──────────────────────────────────────── Msg ◄────────────────────────────────────────────┘
//! ```
//!
//! A key press: event → [`app::keymap`] row → action → state and effects → frame. Footer, help and the palette read the
//! same rows. A click: event → what stands there, by the places that drawing uses too ([`app::geometry`], and `header`,
//! `footer`, `views::columns` and `views::months` beside it) → the same action. A poll: the engine's scheduler → client → merged into the record by the store, in one transaction →
//! [`model::news::News`] → row in the list. The merge lives in the store, not in the screen: what the dashboard shows
//! is what is on disk, and two dashboards on one computer can't disagree.
//!
//! # The start
//!
//! The first frame has the first rows, however many jobs there are, and waits for nothing that is not on it. As soon as the
//! settings say where the store lies, its thread opens it and reads what that frame shows ([`runtime::remembered`]): the first
//! rows, how many jobs each group has, which the file itself keeps, and the thread of the selected one. Theme and terminal
//! are made ready meanwhile. The terminal is taken over only once the store is open: what is wrong with it is said in the
//! shell. After the frame comes all else: what is typed is read, the terminal asked for its background, the log file opened,
//! writing to the store tried, the rest of the record read, the engine started.
//!
//! A damaged database is repaired when it is opened ([`store::Store::open`]): wrong indexes are rebuilt, otherwise every row
//! that can be read goes into a new file (`store::salvage`), and nothing of it is sent by itself. Damage that an opening
//! doesn't meet is found by a check on a connection of its own after the first frame ([`store::check`]).
//!
//! # Redraw
//!
//! A frame is drawn when something changed: at once after a quiet moment, then at most one per 16 ms; a key does not wait for
//! a frame that came by itself. Nothing ticks; [`app::App::next_wake`] names the next moment at which the screen changes by
//! itself, if there is one. Drawing visits visible rows only: order, folding, widths and sums of a list are worked out when
//! something changes. `runtime::frames` compares what is drawn with what is shown, cell by cell, as two numbers each
//! (`runtime::look`); `runtime::encode` and `runtime::pen` make the shortest bytes of the difference, and they go out as one
//! write.
//!
//! A step of the selection has its thread in its first frame and mostly asks the store for nothing: the threads of the rows
//! around are read before ([`app::Effect::ReadAhead`]), many at once, when nothing is left to draw. One counts for as long as
//! its job's row keeps the revision that it was asked for with, and no word of a change has come.
//!
//! Drawing names meanings, never colours. A theme is a file: the shipped ones in `assets/themes`, a user's own beside
//! the configuration. [`config::themes`] reads it into the palettes of [`model::palette`], one each for a dark, a light
//! and an unknown ground; `runtime::answer` asks the terminal for its background and takes the answer out of what is
//! typed; `runtime::paints` picks the palette, and [`ui::Theme`] makes styles of it in as many colours as there are.
//!
//! # What users make their own
//!
//! [`config`] reads words with their places in the file and knows no screen: `config::keys`, `config::own`. `cli::own`
//! brings them together with the key table before the terminal is taken over, so that a wrong key is said in the shell.
//!
//! # Sending
//!
//! `queued → sending (on disk, with its ledger entry, in one transaction) → accepted | not sent | rejected |
//! unconfirmed`. [`store::Store::take_turn`] is the only door to the network for a prompt: of any number of instances
//! one gets through. A killed process leaves `sending` behind, which the next start turns into `unconfirmed`. A discarded prompt
//! keeps the state that it had, so that undo restores exactly that one, in a transaction that refuses if the prompt was
//! accepted after all. What
//! waits stands in one line on disk, in the user's order; what the user paused gets no turn. A batch is nothing but
//! many prompts in that line, so the ledger paces it and a restart goes on with it.
//!
//! # Commands
//!
//! Each is a file of `cli`. Those that only read open a `Record`: the store of one scope, without a key. The others open
//! a `Desk`: the store with an engine on it, which takes the leases that the command is for, its news one after the
//! other, and signals. What a command finds out goes through `Out`, results apart from all else; what it can't do is a
//! `Refusal`: a sentence, an exit code, and for `--json` an object. A prompt that a command can't send now is paused: no
//! command leaves something behind that goes out by itself, unless it was told to queue it.
//!
//! # Loading all pages
//!
//! The service gives page views out in answers of 250 rows at most and never says how many there are. All answers of a
//! range make a [`model::report::Report`]; only a report is sorted, filtered, folded and compared.
//! [`engine::Engine::load_all`] asks for one answer after the other, within the ledger, and the store takes each in as
//! it comes, in one transaction: whatever ends a load, the next one can go on from there. The last one makes a report of
//! all, whose rows are written then, at once and in the order of their keys (`store::loading`, `store::filing`). One report
//! of a range is whole and stays until another one is. The screen reads the record before it asks ([`app::Effect::Recall`]), says
//! what it knows of the price, and shows a report that is not whole as that.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod engine;
pub mod model;
pub mod runtime;
pub mod sim;
pub mod store;
pub mod ui;
