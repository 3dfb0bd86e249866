//! Marked pages. Actions apply to all marked pages that pass the filter.

use super::PageTable;
use super::pages::{PageData, to_u32};
use super::tree::{Folder, TreeItem};
use crate::model::text::CleanText;
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct MarkedPages {
    /// For each page, by its entry in [`PageData`], whether it is marked.
    marked: Vec<bool>,
    /// Number of marked pages. Stored, so that drawing needn't count them in each frame to show how many are hidden.
    count: usize,
    /// The paths of marked pages that are not among the current rows.
    unlisted_paths: HashSet<CleanText>,
    /// The path of the page or folder from which [`PageTable::mark_range`] marks lines.
    range_start: Option<Box<str>>,
}

impl MarkedPages {
    pub(super) fn is_marked(&self, entry: u32) -> bool {
        self.marked.get(entry as usize).copied().unwrap_or(false)
    }

    /// Returns for each page, by its entry in [`PageData`], whether it is marked.
    pub(super) fn marks_by_entry(&self) -> &[bool] {
        &self.marked
    }

    /// Saves the paths of the marked pages before the rows change.
    pub(super) fn save_paths(&mut self, pages: &PageData) {
        let entries = (0..to_u32(self.marked.len())).filter(|entry| self.is_marked(*entry));
        let paths: Vec<CleanText> = entries.filter_map(|entry| Some(pages.row(entry)?.path.clone())).collect();
        self.unlisted_paths.extend(paths);
    }

    /// Restores the marks after the rows changed.
    pub(super) fn restore(&mut self, pages: &PageData) {
        let any = !self.unlisted_paths.is_empty();
        let is_marked = |entry: u32| any && pages.row(entry).is_some_and(|row| self.unlisted_paths.contains(&row.path));
        self.marked = (0..to_u32(pages.len())).map(is_marked).collect();
        let found =
            (0..to_u32(pages.len())).filter(|entry| self.is_marked(*entry)).filter_map(|entry| pages.row(entry));
        let found: Vec<&CleanText> = found.map(|row| &row.path).collect();
        self.count = found.len();
        found.into_iter().for_each(|path| {
            self.unlisted_paths.remove(path);
        });
    }

    fn set_marked(&mut self, entries: &[u32], marked: bool) {
        for entry in entries {
            if let Some(mark) = self.marked.get_mut(*entry as usize).filter(|mark| **mark != marked) {
                *mark = marked;
                self.count = if marked { self.count + 1 } else { self.count.saturating_sub(1) };
            }
        }
    }
}

impl PageTable {
    /// Returns the number of marked pages that pass the filter.
    pub fn marked_count(&self) -> usize {
        self.measures.marked_count
    }

    /// Returns the number of marked pages that are filtered out.
    pub fn hidden_marked_count(&self) -> usize {
        self.marks.count.saturating_sub(self.marked_count())
    }

    /// Marks or unmarks the selected page and selects the next line. On a folder, marks all pages in the folder that
    /// pass the filter, or unmarks them if all are marked.
    pub fn toggle_mark(&mut self) {
        let entries = self.entries_at(self.selected..=self.selected);
        if entries.is_empty() {
            return;
        }
        let marked = entries.iter().all(|entry| self.marks.is_marked(*entry));
        self.mark(&entries, !marked);
        self.marks.range_start = self.selected_path();
        self.move_by(1);
    }

    /// Marks all pages from the line on which marks were changed last to the selected line. If there is no such line,
    /// marks only the selected one.
    pub fn mark_range(&mut self) {
        let to = self.selected;
        let from = self.marks.range_start.as_deref().and_then(|path| self.line_of_path(path)).unwrap_or(to);
        let entries = self.entries_at(from.min(to)..=from.max(to));
        self.mark(&entries, true);
        self.marks.range_start = self.selected_path();
    }

    /// Clears all marks, including marks of hidden pages.
    pub fn clear_marks(&mut self) {
        self.marks = MarkedPages::default();
        self.marks.restore(&self.pages);
        self.rebuild_lines();
    }

    fn mark(&mut self, entries: &[u32], marked: bool) {
        let passes = |entry: &&u32| self.passes_filter.get(**entry as usize).copied().unwrap_or(false);
        let changed = entries.iter().filter(|entry| self.marks.is_marked(**entry) != marked).filter(passes).count();
        self.marks.set_marked(entries, marked);
        if self.is_tree() {
            self.rebuild_lines();
        } else {
            // No other measure depends on marks, so the measures of all pages needn't be computed again.
            let before = self.measures.marked_count;
            self.measures.marked_count = if marked { before + changed } else { before.saturating_sub(changed) };
        }
    }

    /// Returns the entries of the pages on these lines and in the folders on these lines.
    fn entries_at(&self, lines: std::ops::RangeInclusive<usize>) -> Vec<u32> {
        let mut entries = Vec::new();
        for at in lines {
            match self.lines.get(at).map(|line| line.item) {
                Some(TreeItem::Page(entry)) => entries.push(entry),
                Some(TreeItem::Folder(at)) => {
                    let folder = self.folders.get(at as usize);
                    entries.extend(folder.into_iter().flat_map(|folder| self.entries_in(folder)));
                }
                None => {}
            }
        }
        entries
    }

    /// Returns the entries of the pages in a folder that pass the filter. The pages of a folder are adjacent in the
    /// order of paths.
    fn entries_in(&self, folder: &Folder) -> impl Iterator<Item = u32> {
        let path = folder.path(&self.pages);
        let from = self.pages.path_position(folder.first_page()) as usize;
        let stretch = self.pages.by_path().iter().skip(from).copied();
        let within = stretch.take_while(move |entry| self.pages.path(*entry).starts_with(path));
        within.filter(|entry| self.passes_filter.get(*entry as usize).copied().unwrap_or(false))
    }

    fn selected_path(&self) -> Option<Box<str>> {
        match self.lines.get(self.selected)?.item {
            TreeItem::Page(entry) => Some(self.pages.path(entry).into()),
            TreeItem::Folder(at) => self.folders.get(at as usize).map(|folder| folder.path(&self.pages).into()),
        }
    }

    /// Returns the line of the page or folder with this path.
    fn line_of_path(&self, path: &str) -> Option<usize> {
        self.lines.iter().position(|line| match line.item {
            TreeItem::Page(entry) => self.pages.path(entry) == path,
            TreeItem::Folder(at) => {
                self.folders.get(at as usize).is_some_and(|folder| folder.path(&self.pages) == path)
            }
        })
    }
}
