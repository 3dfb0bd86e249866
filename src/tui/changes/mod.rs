//! The changes of a job's pull request: a diff with all files one below the other.
//!
//! ```text
//! ─ Thread  Pull request  Changes  #1423 Fix… 3 files  +48 −12  head 7d40698 ─
//!  guides/sso.mdx  → /guides/sso · 4,897 human · 1,530 AI            +12  −4
//!  line 41 · Set it up
//!     41    Before
//!        −  Open the setting page and follow the steps.
//! ▌   42 +  Open the settings page and follow the three steps below.
//! ────────────────────────────────────────────────── 6 of 61, 55 more ↓ ─
//! ```

mod draw;
mod quote;
mod rows;

use crate::model::diff::{Diff, LoadedDiff, changed_words};
use crate::model::filter::contains_ignoring_case;
use crate::model::job::{JobKey, JobsLeftAfterPrune};
use crate::model::load::{Load, Timed};
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::compose::editor::Editor;
use crate::tui::format::position_text;
use crate::tui::job_tabs::JobTab;
use crate::tui::keymap::Keymap;
use crate::tui::pull_request::preview::page_url_in_preview;
use crate::tui::pull_request::{close_pull_request_tabs, show_tab};
use crate::tui::widgets::scroll::page_step;
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{JobsEffect, JobsMsg};
use rows::{DiffRow, DiffRows};
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

/// The maximum number of lines in each cache of this dialog. A cache with more lines is cleared.
const MAX_CACHED_LINES: usize = 4000;
/// The notice if there are no changes to show.
const NO_CHANGES: &str = "This job has no pull request whose changes docdeck can show.";

#[derive(Debug)]
pub struct Changes {
    job: JobKey,
    load: Load<Box<LoadedDiff>>,
    rows: DiffRows,
    /// The index of the selected row.
    selected_row: usize,
    /// The index of the first visible row.
    first_visible_row: usize,
    /// The row at which the user began to mark lines.
    marking_start: Option<usize>,
    ignores_whitespace: bool,
    search: Option<TextInput>,
    is_typing: bool,
    /// The changed words of the lines that were visible, by the index of the line.
    highlights: HashMap<usize, Vec<Range<usize>>>,
    /// The screen lines into which the visible lines were wrapped, by the index of the line and the width.
    wrapped_lines: HashMap<(usize, usize), Vec<String>>,
    /// The file to select when the changes are read.
    wanted_file: Option<CleanText>,
}

impl Changes {
    /// Opens the changes of the selected job's pull request.
    pub fn open(cx: &mut Cx<'_>) {
        Self::open_at(None, cx);
    }

    /// Opens the changes of the selected job's pull request, with this file selected if there is one.
    pub fn open_at(file: Option<CleanText>, cx: &mut Cx<'_>) {
        let job = match cx.app.selected_job_with_pull_request(NO_CHANGES) {
            Ok(job) => job,
            Err(reason) => return cx.notify(Severity::Info, reason),
        };
        let mut open = Self {
            job,
            load: Load::Idle,
            rows: DiffRows::default(),
            selected_row: 0,
            first_visible_row: 0,
            marking_start: None,
            ignores_whitespace: false,
            search: None,
            is_typing: false,
            highlights: HashMap::new(),
            wrapped_lines: HashMap::new(),
            wanted_file: file,
        };
        open.request(false, cx);
        cx.open(open);
    }

    fn request(&mut self, is_reload: bool, cx: &mut Cx<'_>) {
        self.load.start();
        cx.run(Effect::Jobs(JobsEffect::LoadDiff { job: self.job, is_reload }));
    }

    fn diff(&self) -> Option<&Diff> {
        self.load.shown().map(|loaded| &loaded.value.diff)
    }

    /// Lists the rows again, after the diff or the treatment of whitespace has changed. The selected row stays selected
    /// or, if it is no longer listed, an earlier row is selected. Removes the mark.
    fn rebuild_rows(&mut self) {
        let before = self.rows.get(self.selected_row);
        let rows = self.diff().map(|diff| DiffRows::new(diff, self.ignores_whitespace)).unwrap_or_default();
        self.rows = rows;
        self.selected_row = before.map_or(0, |row| self.rows.nearest_position(row));
        self.marking_start = None;
    }

    fn select_wanted_file(&mut self) {
        let (Some(path), Some(diff)) = (self.wanted_file.take(), self.diff()) else { return };
        let file = diff.files.iter().position(|file| file.path == path);
        if let Some(row) = file.and_then(|file| self.rows.file_starts().nth(file)) {
            (self.selected_row, self.first_visible_row) = (row, row);
        }
    }

    /// Returns the marked rows or, if no rows are marked, the selected row.
    fn marked_rows(&self) -> RangeInclusive<usize> {
        let anchor = self.marking_start.unwrap_or(self.selected_row);
        anchor.min(self.selected_row)..=anchor.max(self.selected_row)
    }

    /// Selects the next or previous file.
    fn go_to_file(&mut self, is_next: bool) {
        let mut starts = self.rows.file_starts();
        let found = match is_next {
            true => starts.find(|at| *at > self.selected_row),
            false => starts.rfind(|at| *at < self.selected_row),
        };
        if let Some(at) = found {
            self.selected_row = at;
            // The file starts at the top of the screen, so that as much of it as possible is visible.
            self.first_visible_row = at;
        }
    }

    /// Selects the next row that contains the searched text: the first one at or after `from` or, if `is_forward` is
    /// false, the last one before `from`. Wraps around at the ends. Returns whether there is such a row.
    fn find_from(&mut self, from: usize, is_forward: bool) -> bool {
        let wanted = self.search.as_ref().map(|search| search.text().to_lowercase()).unwrap_or_default();
        if wanted.is_empty() {
            return false;
        }
        let (Some(diff), total) = (self.diff(), self.rows.len()) else { return false };
        let holds = |row: &usize| contains_ignoring_case(self.rows.text(*row, diff), &wanted);
        let found = match is_forward {
            true => (from..total).chain(0..from).find(holds),
            false => (0..from).rev().chain((from..total).rev()).find(holds),
        };
        if let Some(row) = found {
            self.selected_row = row;
        }
        found.is_some()
    }

    fn find_again(&mut self, is_forward: bool, cx: &mut Cx<'_>) {
        let from = if is_forward { self.selected_row + 1 } else { self.selected_row };
        if self.search.is_some() && !self.find_from(from.min(self.rows.len()), is_forward) {
            cx.notify(Severity::Info, "Not found.");
        }
    }

    /// Returns the address that the page of the selected file has in the preview. `None` if there is no preview, or if
    /// the file is not a page.
    fn selected_page(&self) -> Option<CleanText> {
        let loaded = &self.load.shown()?.value;
        let file = loaded.diff.files.get(self.rows.file_of(self.selected_row))?;
        page_url_in_preview(loaded.site.preview.as_ref()?, file.path.as_str())
    }

    /// Opens a follow-up that quotes the marked lines or, if none are marked, the selected line.
    fn follow_up(&mut self, cx: &mut Cx<'_>) {
        let quoted = self.diff().and_then(|diff| quote::quote(diff, &self.rows, self.marked_rows()));
        cx.app.open_follow_up(cx.now);
        let Some(editor) = cx.app.dialogs.last_mut().and_then(|top| top.downcast_mut::<Editor>()) else { return };
        editor.is_inline = false;
        if let Some(quoted) = quoted {
            editor.quote(&quoted, cx.now);
            self.marking_start = None;
        }
    }

    /// Scrolls so that the selected row is visible, with `height` lines on screen.
    fn scroll_to_selected_row(&mut self, width: usize, height: usize) {
        let Some(diff) = self.load.shown().map(|loaded| &loaded.value.diff) else { return };
        self.first_visible_row = self.first_visible_row.min(self.selected_row);
        let mut used = 0;
        let heights =
            (self.first_visible_row..=self.selected_row).rev().map(|row| (row, self.height(row, diff, width)));
        for (row, lines) in heights {
            used += lines;
            if used > height && row < self.selected_row {
                self.first_visible_row = row + 1;
                break;
            }
        }
    }

    /// Returns how many lines on screen a row needs, if there are `width` columns for the text of a line.
    fn height(&self, row: usize, diff: &Diff, width: usize) -> usize {
        let known = match self.rows.get(row) {
            Some(DiffRow::Line { line, .. }) => self.wrapped_lines.get(&(line, width)).map(Vec::len),
            _ => None,
        };
        known.unwrap_or_else(|| self.rows.height(row, diff, width))
    }

    /// Returns the visible rows.
    fn visible(&self, width: usize, height: usize) -> Range<usize> {
        let Some(diff) = self.diff() else { return 0..0 };
        let mut used = 0;
        let fits = |row: &usize| {
            let is_visible = used < height;
            used += self.height(*row, diff, width);
            is_visible
        };
        let count = (self.first_visible_row..self.rows.len()).take_while(fits).count();
        self.first_visible_row..self.first_visible_row + count
    }

    /// Wraps the visible lines and finds their changed words, so that drawing does neither.
    fn prepare_visible(&mut self, width: usize, height: usize) {
        let visible = self.visible(width, height);
        let Some(diff) = self.load.shown().map(|loaded| &loaded.value.diff) else { return };
        if self.highlights.len() > MAX_CACHED_LINES {
            self.highlights.clear();
        }
        if self.wrapped_lines.len() > MAX_CACHED_LINES {
            self.wrapped_lines.clear();
        }
        for row in visible {
            let Some(DiffRow::Line { line, is_context }) = self.rows.get(row) else { continue };
            self.wrapped_lines
                .entry((line, width))
                .or_insert_with(|| rows::wrap_line(&rows::line_text(diff, line), width));
            if is_context || self.highlights.contains_key(&line) {
                continue;
            }
            let Some(other) = diff.counterpart(line) else { continue };
            let (old, new) = (line.min(other), line.max(other));
            let (removed, added) = changed_words(&rows::line_text(diff, old), &rows::line_text(diff, new));
            self.highlights.insert(old, removed);
            self.highlights.insert(new, added);
        }
    }
}

impl Component for Changes {
    fn contexts(&self) -> &'static [Context] {
        match self.is_typing {
            true => &[Context::Filter, Context::Text, Context::Everywhere],
            false => &[Context::Changes, Context::Lists, Context::Everywhere],
        }
    }

    fn fills_screen(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let has_rows = self.rows.len() > 0;
        match action {
            Action::SaveFilter => None,
            Action::Close if self.marking_start.is_some() => Some("unmark".into()),
            Action::Close if self.search.is_some() => Some("end search".into()),
            Action::NextMatch | Action::PreviousMatch => FooterLabel::default_if(self.search.is_some()),
            Action::NextFile | Action::PreviousFile => FooterLabel::default_if(self.rows.file_starts().count() > 1),
            Action::Whitespace => has_rows.then(|| match self.ignores_whitespace {
                true => "show whitespace".into(),
                false => FooterLabel::Default,
            }),
            Action::Mark | Action::Filter => FooterLabel::default_if(has_rows),
            Action::OpenPr if self.selected_page().is_some() => Some("open page".into()),
            Action::FollowUp => FooterLabel::default_if(app.jobs.get(self.job).is_some_and(|job| job.id.is_some())),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::NextFile => self.go_to_file(true),
            Action::PreviousFile => self.go_to_file(false),
            Action::Mark => {
                self.marking_start = if self.marking_start.is_some() { None } else { Some(self.selected_row) }
            }
            Action::Whitespace => {
                self.ignores_whitespace = !self.ignores_whitespace;
                self.rebuild_rows();
            }
            Action::FollowUp => self.follow_up(cx),
            Action::NextPane => return show_tab(JobTab::Thread, cx),
            Action::PreviousPane | Action::PullRequest => return show_tab(JobTab::PullRequest, cx),
            Action::OpenPr => match self.selected_page() {
                Some(page) => cx.run(Effect::OpenUrl(page)),
                None => cx.app.open_prs(cx.now, cx.effects),
            },
            Action::Copy => cx.app.copy_links(cx.now, cx.effects),
            Action::Refresh => self.request(true, cx),
            Action::Filter => {
                let old = self.search.take().map(|search| search.text()).unwrap_or_default();
                (self.search, self.is_typing) = (Some(TextInput::single_line_selected(&old)), true);
            }
            Action::Confirm if self.is_typing => {
                self.is_typing = false;
                self.search.take_if(|search| search.is_blank());
            }
            Action::NextMatch => self.find_again(true, cx),
            Action::PreviousMatch => self.find_again(false, cx),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// If the search text is being typed, ends the search. Otherwise, if lines are marked, removes their mark.
    /// Otherwise, if there is a search, ends it. If there are neither marked lines nor a search, closes the dialogs of
    /// the pull request and its changes.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if std::mem::take(&mut self.is_typing) {
            self.search = None;
        } else if self.marking_start.take().is_none() && self.search.take().is_none() {
            close_pull_request_tabs(cx.app);
            return Flow::Close;
        }
        Flow::Handled
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        self.search.as_mut().filter(|_| self.is_typing)
    }

    fn input_changed(&mut self, _cx: &mut Cx<'_>) {
        self.find_from(self.selected_row, true);
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = cx.app.geometry().dialog_rows();
        let by = match by {
            // A wrapped line takes several lines on screen, so a page has fewer rows than the screen has lines.
            Scroll::Page(n) => {
                let g = cx.app.geometry();
                let visible = self.visible(rows::text_columns(g), rows).len();
                Scroll::By(page_step(visible).saturating_mul(n))
            }
            by => by,
        };
        self.selected_row = by.apply(self.selected_row, rows, self.rows.len());
    }

    /// Shows the clicked tab, or selects the clicked row.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        if let Some(tab) = JobTab::Changes.tab_at(at, self.area(cx.app)) {
            return if tab == JobTab::Changes { Flow::Handled } else { show_tab(tab, cx) };
        }
        let g = cx.app.geometry();
        let Some(diff) = self.diff().filter(|_| g.content.contains(at)) else { return Flow::Handled };
        let (width, mut below) = (rows::text_columns(g), usize::from(at.y - g.content.y));
        let clicked = self.visible(width, g.dialog_rows()).find(|row| {
            let height = self.rows.height(*row, diff, width);
            let is_hit = below < height;
            below = below.saturating_sub(height);
            is_hit
        });
        if let Some(row) = clicked {
            self.selected_row = row;
        }
        Flow::Handled
    }

    fn position_text(&self, app: &App) -> String {
        let g = app.geometry();
        let (total, end) = (self.rows.len(), self.visible(rows::text_columns(g), g.dialog_rows()).end);
        if total == 0 {
            return String::new();
        }
        let ignored = if self.ignores_whitespace { "whitespace ignored · " } else { "" };
        format!("{ignored}line {}", position_text(self.selected_row, total, total - end))
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Jobs(JobsMsg::DiffLoaded { job, result }) if job == self.job => {
                self.load.finish(result.map(|value| Timed { as_of: value.as_of, value }), cx.now);
                self.highlights.clear();
                self.wrapped_lines.clear();
                self.rebuild_rows();
                self.select_wanted_file();
                Ok(Flow::Handled)
            }
            msg => Err(msg),
        }
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        remaining.contains(self.job)
    }

    fn refresh(&mut self, app: &App) {
        let g = app.geometry();
        let (width, height) = (rows::text_columns(g), g.dialog_rows());
        // An editor that is open over this dialog covers rows of the content. The last row of the editor is not
        // counted, because it covers the lower rule of this dialog. The input of the search text covers one row.
        let covered = usize::from(app.panes.editor_rows).saturating_sub(1) + usize::from(self.is_typing);
        self.scroll_to_selected_row(width, height.saturating_sub(covered));
        self.prepare_visible(width, height);
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}

#[cfg(test)]
mod tests;
