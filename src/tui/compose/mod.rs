//! Writing prompts: the editor with its drafts and templates, and the dialog for new jobs from a list.

pub(in crate::tui) mod about_pages;
pub mod batch;
pub mod blanks;
mod bulk_follow_up;
pub mod draft_state;
pub mod drafts;
pub mod editor;
pub mod messages;
pub mod picker;
pub(in crate::tui) mod status_line;
mod submit;
pub mod templates;

#[cfg(test)]
mod tests;
