//! Folds the pages into a tree, and navigates in the tree: opens and closes folders, goes into them and out of them.

use super::PageTable;

impl PageTable {
    /// Whether the list is a tree: a report whose pages are folded into folders.
    pub fn is_tree(&self) -> bool {
        self.groups_by_folder && self.lists_report()
    }

    /// Folds pages into folders, or unfolds them.
    pub fn toggle_tree(&mut self) {
        self.groups_by_folder = !self.groups_by_folder;
        self.rebuild_lines();
    }

    /// Opens or closes the selected folder. Returns `false` if a page is selected.
    pub fn toggle_folder(&mut self) -> bool {
        let Some(folder) = self.selected_folder() else { return false };
        let path = folder.path(&self.pages);
        if !self.open_folders.remove(path) {
            self.open_folders.insert(path.into());
        }
        self.rebuild_lines();
        true
    }

    /// Opens the selected folder. If it is already open, selects the first line in it.
    pub fn enter_folder(&mut self) {
        match self.selected_folder().map(|folder| folder.is_open) {
            Some(true) => self.move_by(1),
            Some(false) => {
                self.toggle_folder();
            }
            None => {}
        }
    }

    /// Whether [`PageTable::leave_folder`] would do something.
    pub fn can_leave_folder(&self) -> bool {
        let is_open = self.selected_folder().is_some_and(|folder| folder.is_open);
        is_open || self.lines.get(self.selected).is_some_and(|line| line.depth > 0)
    }

    /// Closes the selected folder. If no open folder is selected, selects the folder that contains the selected line.
    pub fn leave_folder(&mut self) {
        if self.selected_folder().is_some_and(|folder| folder.is_open) {
            self.toggle_folder();
            return;
        }
        let depth_at = |at: usize| self.lines.get(at).map(|line| line.depth);
        let depth = depth_at(self.selected);
        if let Some(around) = (0..self.selected).rev().find(|at| depth_at(*at) < depth) {
            self.select(around);
        }
    }
}
