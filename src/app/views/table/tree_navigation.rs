//! Folding the pages into a tree, and walking in it: folders open and close, the selection goes in and out.

use super::PageTable;

impl PageTable {
    /// Whether pages are folded into folders.
    pub fn is_tree(&self) -> bool {
        self.folded && self.is_report()
    }

    /// Folds pages into folders, or unfolds them.
    pub fn toggle_tree(&mut self) {
        self.folded = !self.folded;
        self.list();
    }

    /// Opens the selected folder or closes it; whether it is one.
    pub fn toggle_folder(&mut self) -> bool {
        let Some(folder) = self.selected_folder() else { return false };
        let path = folder.path(&self.pages);
        if !self.open.remove(path) {
            self.open.insert(path.into());
        }
        self.list();
        true
    }

    /// In a tree: into the selected folder, opening it first.
    pub fn go_in(&mut self) {
        match self.selected_folder().map(|folder| folder.open) {
            Some(true) => self.move_by(1),
            Some(false) => {
                self.toggle_folder();
            }
            None => {}
        }
    }

    /// Whether [`Table::go_out`] would do something.
    pub fn can_go_out(&self) -> bool {
        let is_open = self.selected_folder().is_some_and(|folder| folder.open);
        is_open || self.lines.get(self.selected).is_some_and(|line| line.depth > 0)
    }

    /// In a tree: closes the selected folder, else goes to the one around the selected line.
    pub fn go_out(&mut self) {
        if self.selected_folder().is_some_and(|folder| folder.open) {
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
