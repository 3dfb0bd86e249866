//! The selection: it stays on its page through every change of filter, folding and source. A sort selects the first line.

use super::PageTable;
use super::tree::TreeItem;

/// What the user has selected. A filter or a folder that hides it for a while doesn't change it: it is selected again
/// when it is back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum SelectionAnchor {
    #[default]
    Nowhere,
    /// A page by its entry.
    Page(u32),
    /// A folder by its path, with a slash at its end.
    Folder(Box<str>),
}

impl PageTable {
    /// Selects a line.
    pub(super) fn select(&mut self, at: usize) {
        if !self.lines.is_empty() {
            self.selected = at.min(self.lines.len() - 1);
            self.take_anchor();
        }
    }

    /// Holds on to what is selected.
    pub(super) fn take_anchor(&mut self) {
        self.anchor = match self.lines.get(self.selected).map(|line| line.what) {
            Some(TreeItem::Page(entry)) => SelectionAnchor::Page(entry),
            Some(TreeItem::Folder(at)) => {
                let folder = self.folders.get(at as usize);
                folder
                    .map_or(SelectionAnchor::Nowhere, |folder| SelectionAnchor::Folder(folder.path(&self.pages).into()))
            }
            None => SelectionAnchor::Nowhere,
        };
    }

    /// Holds on to what is seen to be selected, where something is.
    pub(super) fn settle_anchor(&mut self) {
        if !self.lines.is_empty() {
            self.take_anchor();
        }
    }

    /// The path of what is held on to, for a source to come.
    pub(super) fn anchor_path(&self) -> Option<Box<str>> {
        match &self.anchor {
            SelectionAnchor::Nowhere => None,
            SelectionAnchor::Page(entry) => Some(self.pages.path(*entry).into()),
            SelectionAnchor::Folder(path) => Some(path.clone()),
        }
    }

    /// What stands at a path in the present source.
    pub(super) fn anchor_at(&self, path: Box<str>) -> SelectionAnchor {
        match self.pages.find(&path) {
            Some(entry) => SelectionAnchor::Page(entry),
            None if path.ends_with('/') && self.is_tree() => SelectionAnchor::Folder(path),
            None => SelectionAnchor::Nowhere,
        }
    }

    /// Finds the line of what is held on to: its own, else that of the folder around it, else of a page in it, else the
    /// place stays.
    pub(super) fn find_selection(&mut self) {
        let found = match &self.anchor {
            SelectionAnchor::Nowhere => None,
            SelectionAnchor::Page(entry) => {
                let own = self.lines.iter().position(|line| line.what == TreeItem::Page(*entry));
                // A page that the filter hides has no folder either.
                let passes = self.passing.get(*entry as usize).copied().unwrap_or(false);
                own.or_else(|| self.folder_around(self.pages.path(*entry)).filter(|_| passes))
            }
            SelectionAnchor::Folder(path) => self.folder_around(path).or_else(|| {
                let within = |entry: u32| self.pages.path(entry).starts_with(path.as_ref());
                self.lines.iter().position(|line| matches!(line.what, TreeItem::Page(entry) if within(entry)))
            }),
        };
        self.selected = found.unwrap_or(self.selected).min(self.lines.len().saturating_sub(1));
        if self.anchor == SelectionAnchor::Nowhere {
            self.take_anchor();
        }
    }

    /// The line of the innermost folder around a path, or of the folder of that path.
    fn folder_around(&self, path: &str) -> Option<usize> {
        let folders = self.lines.iter().enumerate().filter_map(|(at, line)| match line.what {
            TreeItem::Folder(folder) => Some((at, self.folders.get(folder as usize)?.path(&self.pages))),
            TreeItem::Page(_) => None,
        });
        folders.filter(|(_, folder)| path.starts_with(folder)).max_by_key(|(_, folder)| folder.len()).map(|(at, _)| at)
    }
}
