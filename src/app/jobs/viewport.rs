//! Which lines of the jobs list are in sight, and what stands on one of them.

use super::super::scroll;
use super::{JobLine, JobList};
use crate::model::row::{JobGroup, JobKey};

impl JobList {
    /// The job on a visible line, counted from the first one that is in sight.
    pub(in crate::app) fn visible_job(&self, line: usize) -> Option<JobKey> {
        match self.line(self.top.checked_add(line)?)? {
            JobLine::Job(row) => Some(row.key),
            JobLine::Heading(..) => None,
        }
    }

    /// Whether a visible line is the heading of the dismissed jobs, which folds them.
    pub(in crate::app) fn folds_at(&self, line: usize) -> bool {
        let line = self.top.checked_add(line).and_then(|at| self.line(at));
        matches!(line, Some(JobLine::Heading(JobGroup::Dismissed, ..)))
    }

    /// Moves what is in sight by so many lines, `rows` of them visible; the selection goes along where it would be lost
    /// from sight.
    pub(in crate::app) fn scroll_by(&mut self, by: isize, rows: usize) {
        let last = self.line_count().saturating_sub(rows);
        let top = self.top.saturating_add_signed(by).min(last);
        if top == self.top {
            return;
        }
        self.top = top;
        let Some(position) = self.selected_position() else { return };
        let mut line = self.order.line_of(position);
        let seen = top..top.saturating_add(rows.max(1));
        let mut at = position;
        while line < seen.start && at + 1 < self.shown() {
            at += 1;
            line = self.order.line_of(at);
        }
        while line >= seen.end && at > 0 {
            at -= 1;
            line = self.order.line_of(at);
        }
        self.select_position(at);
    }

    /// Keeps the selection in sight: `rows` lines are visible. Its group's heading comes with the first job.
    pub fn keep_in_sight(&mut self, rows: usize) {
        let Some(position) = self.selected_position() else {
            self.top = 0;
            return;
        };
        let line = self.order.line_of(position);
        self.top = scroll::follow(self.top, line, rows, self.line_count());
        let under_heading = matches!(line.checked_sub(1).and_then(|at| self.line(at)), Some(JobLine::Heading(..)));
        if under_heading && self.top == line && rows > 1 {
            self.top = line - 1;
        }
    }
}
