//! Marks: the pages that an action is about. Marks of pages that the filter hides don't count.

use super::PageTable;
use super::pages::{PageData, short};
use super::tree::{Folder, TreeItem};
use crate::model::text::CleanText;
use std::collections::HashSet;

/// The marked pages.
#[derive(Debug, Default)]
pub(super) struct MarkedPages {
    /// Marked or not, by entry.
    marked: Vec<bool>,
    /// How many of them are: each frame tells of those that are hidden.
    count: usize,
    /// Marked pages that are not among the present ones.
    away: HashSet<CleanText>,
    /// Where a range begins: a path, or that of a folder.
    last: Option<Box<str>>,
}

impl MarkedPages {
    /// Whether an entry is marked.
    pub(super) fn has(&self, entry: u32) -> bool {
        self.marked.get(entry as usize).copied().unwrap_or(false)
    }

    /// Marked or not, by entry.
    pub(super) fn by_entry(&self) -> &[bool] {
        &self.marked
    }

    /// Remembers the marked pages by their paths: others come in their place.
    pub(super) fn part(&mut self, pages: &PageData) {
        let entries = (0..short(self.marked.len())).filter(|entry| self.has(*entry));
        let paths: Vec<CleanText> = entries.filter_map(|entry| Some(pages.row(entry)?.path.clone())).collect();
        self.away.extend(paths);
    }

    /// Finds the marked pages among those that came.
    pub(super) fn find(&mut self, pages: &PageData) {
        let any = !self.away.is_empty();
        let is_marked = |entry: u32| any && pages.row(entry).is_some_and(|row| self.away.contains(&row.path));
        self.marked = (0..short(pages.len())).map(is_marked).collect();
        let found = (0..short(pages.len())).filter(|entry| self.has(*entry)).filter_map(|entry| pages.row(entry));
        let found: Vec<&CleanText> = found.map(|row| &row.path).collect();
        self.count = found.len();
        found.into_iter().for_each(|path| {
            self.away.remove(path);
        });
    }

    fn set(&mut self, entries: &[u32], marked: bool) {
        for entry in entries {
            if let Some(kept) = self.marked.get_mut(*entry as usize).filter(|kept| **kept != marked) {
                *kept = marked;
                self.count = if marked { self.count + 1 } else { self.count.saturating_sub(1) };
            }
        }
    }
}

impl PageTable {
    /// How many of the pages that pass the filter are marked.
    pub fn marked(&self) -> usize {
        self.measures.marked
    }

    /// How many marked pages the filter hides.
    pub fn marks_hidden(&self) -> usize {
        self.marks.count.saturating_sub(self.marked())
    }

    /// Marks the selected page or takes its mark away, and goes one down; on a folder for all pages in it that pass the
    /// filter.
    pub fn toggle_mark(&mut self) {
        let entries = self.entries_at(self.selected..=self.selected);
        if entries.is_empty() {
            return;
        }
        let marked = entries.iter().all(|entry| self.marks.has(*entry));
        self.mark(&entries, !marked);
        self.marks.last = self.anchor_path_of_selected();
        self.move_by(1);
    }

    /// Marks all from the last marked line to the selected one.
    pub fn mark_range(&mut self) {
        let to = self.selected;
        let from = self.marks.last.as_deref().and_then(|path| self.line_at(path)).unwrap_or(to);
        let entries = self.entries_at(from.min(to)..=from.max(to));
        self.mark(&entries, true);
        self.marks.last = self.anchor_path_of_selected();
    }

    /// Takes all marks away, those of hidden pages as well.
    pub fn clear_marks(&mut self) {
        self.marks = MarkedPages::default();
        self.marks.find(&self.pages);
        self.list();
    }

    fn mark(&mut self, entries: &[u32], marked: bool) {
        let passes = |entry: &&u32| self.passing.get(**entry as usize).copied().unwrap_or(false);
        let changed = entries.iter().filter(|entry| self.marks.has(**entry) != marked).filter(passes).count();
        self.marks.set(entries, marked);
        if self.is_tree() {
            self.list();
        } else {
            // Nothing else that is measured depends on marks: one more doesn't cost a look at all pages.
            let before = self.measures.marked;
            self.measures.marked = if marked { before + changed } else { before.saturating_sub(changed) };
        }
    }

    /// The pages on these lines, those in folders included.
    fn entries_at(&self, lines: std::ops::RangeInclusive<usize>) -> Vec<u32> {
        let mut entries = Vec::new();
        for at in lines {
            match self.lines.get(at).map(|line| line.what) {
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

    /// The pages in a folder that pass the filter: a stretch in the order of the paths.
    fn entries_in(&self, folder: &Folder) -> impl Iterator<Item = u32> {
        let path = folder.path(&self.pages);
        let from = self.pages.place(folder.page()) as usize;
        let stretch = self.pages.by_path().iter().skip(from).copied();
        let within = stretch.take_while(move |entry| self.pages.path(*entry).starts_with(path));
        within.filter(|entry| self.passing.get(*entry as usize).copied().unwrap_or(false))
    }

    fn anchor_path_of_selected(&self) -> Option<Box<str>> {
        match self.lines.get(self.selected)?.what {
            TreeItem::Page(entry) => Some(self.pages.path(entry).into()),
            TreeItem::Folder(at) => self.folders.get(at as usize).map(|folder| folder.path(&self.pages).into()),
        }
    }

    /// The line of a page or folder.
    fn line_at(&self, path: &str) -> Option<usize> {
        self.lines.iter().position(|line| match line.what {
            TreeItem::Page(entry) => self.pages.path(entry) == path,
            TreeItem::Folder(at) => {
                self.folders.get(at as usize).is_some_and(|folder| folder.path(&self.pages) == path)
            }
        })
    }
}
