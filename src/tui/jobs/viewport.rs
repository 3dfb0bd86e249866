//! The visible lines of the jobs list.

use super::{JobLine, JobList};
use crate::model::job::{JobGroup, JobKey};

impl JobList {
    /// Returns the job on a visible line, counted from the top of the view. Returns `None` if no job is on that line.
    pub(in crate::tui) fn visible_job(&self, line: usize) -> Option<JobKey> {
        match self.line(self.top().checked_add(line)?)? {
            JobLine::Job(row) => Some(row.key),
            JobLine::Heading(..) => None,
        }
    }

    /// Returns the first job of the group whose heading is on a visible line. `None` if the line is not a heading, or
    /// if the jobs of the group are hidden.
    pub(in crate::tui) fn first_job_below(&self, line: usize) -> Option<JobKey> {
        let at = self.top().checked_add(line)?;
        self.line(at).filter(|found| matches!(found, JobLine::Heading(..)))?;
        self.visible_job(line + 1)
    }

    /// Whether a visible line is the heading of the dismissed jobs. A click on this heading shows or hides them.
    pub(in crate::tui) fn is_dismissed_heading(&self, line: usize) -> bool {
        let line = self.top().checked_add(line).and_then(|at| self.line(at));
        matches!(line, Some(JobLine::Heading(JobGroup::Dismissed, ..)))
    }

    /// Scrolls a view of `rows` lines by `by` lines. If the selected job would leave the view, selects the nearest
    /// visible job instead.
    pub(in crate::tui) fn scroll_by(&mut self, by: isize, rows: usize) {
        let last = self.line_count().saturating_sub(rows);
        let top = self.top().saturating_add_signed(by).min(last);
        if top == self.top() {
            return;
        }
        self.top.set(top);
        let Some(position) = self.selected_position() else { return };
        let mut line = self.order.line_of(position);
        let seen = top..top.saturating_add(rows.max(1));
        let mut at = position;
        while line < seen.start && at + 1 < self.listed_count() {
            at += 1;
            line = self.order.line_of(at);
        }
        while line >= seen.end && at > 0 {
            at -= 1;
            line = self.order.line_of(at);
        }
        self.select_position(at);
    }

    /// Scrolls until the selected job is visible in a view of `rows` lines. If it is the first job of its group, also
    /// shows the heading of the group.
    pub fn keep_selected_visible(&mut self, rows: usize) {
        let Some(position) = self.selected_position() else {
            self.top.set(0);
            return;
        };
        let line = self.order.line_of(position);
        let total = self.line_count();
        self.top.show(line, rows, total);
        let under_heading = matches!(line.checked_sub(1).and_then(|at| self.line(at)), Some(JobLine::Heading(..)));
        if under_heading && self.top() == line && rows > 1 {
            self.top.show_line_above();
        }
    }
}
