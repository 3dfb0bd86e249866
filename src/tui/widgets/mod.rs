//! Widgets: parts of screens and dialogs that don't depend on what they show.

pub mod list_state;
pub mod scroll;
pub mod table;
pub mod text_input;
