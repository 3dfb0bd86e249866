//! The selection in the list of pages. The selected page stays selected when the filter, the folding or the rows
//! change; a sort selects the first line.

use super::tree::TreeItem;
use super::{PageTable, SelectionAnchor};

impl PageTable {
    /// Selects the line at this index, or the last line if there are fewer.
    pub(super) fn select(&mut self, at: usize) {
        if !self.lines.is_empty() {
            self.selected = at.min(self.lines.len() - 1);
            self.anchor_selection();
        }
    }

    /// Makes the page or folder on the selected line the anchor, which [`Self::restore_selection`] selects again after
    /// the lines have changed.
    pub(super) fn anchor_selection(&mut self) {
        self.anchor = match self.lines.get(self.selected).map(|line| line.item) {
            Some(TreeItem::Page(entry)) => SelectionAnchor::Page(entry),
            Some(TreeItem::Folder(at)) => {
                let folder = self.folders.get(at as usize);
                folder.map_or(SelectionAnchor::None, |folder| SelectionAnchor::Folder(folder.path(&self.pages).into()))
            }
            None => SelectionAnchor::None,
        };
    }

    /// Makes the page or folder on the selected line the anchor, unless the list is empty.
    pub(super) fn anchor_unless_empty(&mut self) {
        if !self.lines.is_empty() {
            self.anchor_selection();
        }
    }

    /// Returns the path of the anchor, to find the anchor again after the rows changed.
    pub(super) fn anchor_path(&self) -> Option<Box<str>> {
        match &self.anchor {
            SelectionAnchor::None => None,
            SelectionAnchor::Page(entry) => Some(self.pages.path(*entry).into()),
            SelectionAnchor::Folder(path) => Some(path.clone()),
        }
    }

    /// Returns the anchor for a path, or no anchor if the current rows don't contain the path.
    pub(super) fn anchor_for_path(&self, path: Box<str>) -> SelectionAnchor {
        match self.pages.find(&path) {
            Some(entry) => SelectionAnchor::Page(entry),
            None if path.ends_with('/') && self.is_tree() => SelectionAnchor::Folder(path),
            None => SelectionAnchor::None,
        }
    }

    /// Selects the anchor if it is visible. Otherwise selects the innermost visible folder that contains it, unless the
    /// anchor is a page that the filter hides. If there is no such folder and the anchor is a folder, selects its first
    /// visible page. In all other cases, the selection stays on the same index.
    pub(super) fn restore_selection(&mut self) {
        let found = match &self.anchor {
            SelectionAnchor::None => None,
            SelectionAnchor::Page(entry) => {
                let line = self.lines.iter().position(|other| other.item == TreeItem::Page(*entry));
                // If the filter hides the page, the folder around the page must not be selected in its place.
                let passes = self.passes_filter.get(*entry as usize).copied().unwrap_or(false);
                line.or_else(|| self.folder_around(self.pages.path(*entry)).filter(|_| passes))
            }
            SelectionAnchor::Folder(path) => self.folder_around(path).or_else(|| {
                let within = |entry: u32| self.pages.path(entry).starts_with(path.as_ref());
                self.lines.iter().position(|line| matches!(line.item, TreeItem::Page(entry) if within(entry)))
            }),
        };
        self.selected = found.unwrap_or(self.selected).min(self.lines.len().saturating_sub(1));
        if self.anchor == SelectionAnchor::None {
            self.anchor_selection();
        }
    }

    /// Returns the line of the innermost visible folder that contains a path, or that has exactly this path.
    fn folder_around(&self, path: &str) -> Option<usize> {
        let folders = self.lines.iter().enumerate().filter_map(|(at, line)| match line.item {
            TreeItem::Folder(folder) => Some((at, self.folders.get(folder as usize)?.path(&self.pages))),
            TreeItem::Page(_) => None,
        });
        folders.filter(|(_, folder)| path.starts_with(folder)).max_by_key(|(_, folder)| folder.len()).map(|(at, _)| at)
    }
}
