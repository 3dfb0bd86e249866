//! The analytics screen: page views (`tui::views`), and the reports about searches, feedback and questions, each in a
//! tab. All tabs show the same date range.
//!
//! `row_list` lists the rows of a tab, `rows_tab` has the state of a report, `report_row` what is specific to a
//! kind of row, `screen` the component of these tabs, and `needs_work` the tab that combines all reports.

pub(in crate::tui) mod columns;
mod detail;
mod draw;
mod evidence;
pub mod messages;
pub mod needs_work;
pub(in crate::tui) mod needs_work_screen;
pub mod question_groups;
pub(in crate::tui) mod question_groups_screen;
mod report_row;
pub mod row_list;
pub mod rows_tab;
pub(in crate::tui) mod screen;
pub mod state;
pub mod tab;
pub(in crate::tui) mod tab_names;
mod update;

#[cfg(test)]
mod tests;

pub use state::AnalyticsState;
pub use tab::AnalyticsTab;
