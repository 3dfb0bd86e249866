//! The terminal: takes it over and restores it, reads input, and draws frames.

mod cell_key;
pub mod clipboard;
mod cursor_backend;
mod double_buffer;
mod encode;
pub mod escape_reassembly;
pub mod frame_scheduler;
pub mod hangup;
pub mod modes;
pub mod multiplexer;
pub mod osc_replies;
pub mod output;
pub mod probe;
pub mod reader;
pub mod session;
mod sgr;
pub mod signals;
