//! Writing prompts: the editor with its drafts and templates, and the dialog for new jobs from a list.

pub mod batch;
mod bulk_follow_up;
pub mod drafts;
pub mod editor;
pub mod picker;
pub mod templates;

pub(super) use bulk_follow_up::BulkFollowUp;

#[cfg(test)]
mod tests;
