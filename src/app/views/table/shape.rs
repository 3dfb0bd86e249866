//! How the list of pages is shaped: what is remembered of it from one start to the next.

use super::{Metric, PageSorting, PageTable};

/// Metric, scale, order, filter and folding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    pub metric: Metric,
    pub log: bool,
    pub sorting: PageSorting,
    pub filter: String,
    pub folded: bool,
}

impl PageTable {
    /// As the user chose it, also where what is listed allows less.
    pub(in crate::app) fn shape(&self) -> Shape {
        let Self { metric, log, sorting, folded, .. } = *self;
        Shape { metric, log, sorting, folded, filter: self.typed.clone() }
    }

    /// Shapes what will be listed.
    pub(in crate::app) fn take_shape(&mut self, shape: Shape) {
        (self.log, self.sorting, self.typed, self.folded) = (shape.log, shape.sorting, shape.filter, shape.folded);
        self.narrow();
        self.put_in_order();
        self.list();
        self.show_metric(shape.metric);
    }
}
