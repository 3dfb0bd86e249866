//! The terminal for an event loop: takes the terminal over and restores it, reads input, and draws frames. Contains
//! nothing specific to docdeck; depends only on base64, crossterm, nix, ratatui, rustix, termina, tokio and
//! unicode-width.
//!
//! - [`session`]: [`session::TerminalSession`] has everything an event loop needs: draws frames, waits for events and
//!   signals, copies text, and gives the terminal to the shell or to a program for a while. It is based on:
//!     - `modes`: takes the terminal over, and restores it whatever happens: drop, panic, signal, suspension
//!     - `reader`: reads bytes; [`input_decoder`] decodes them, joins sequences that arrive in pieces, and removes the
//!       terminal's replies from the typed keys; `background`: the reply with the background colour
//!     - `backend`: a ratatui backend that sends each frame as one write of few bytes
//!     - [`signals`]: signals as values, and job control; `hangup`: detects that the terminal is gone
//! - [`frame_scheduler`]: decides when to draw the next frame
//! - [`caps`]: what can be sent to a terminal, judged by its name; [`probe`]: what it replies to queries
//! - [`multiplexer`]: sequences that pass through tmux and screen

mod backend;
mod background;
pub mod caps;
pub mod frame_scheduler;
mod hangup;
pub mod input_decoder;
mod modes;
pub mod multiplexer;
pub mod probe;
mod reader;
pub mod session;
pub mod signals;
pub mod tty;
