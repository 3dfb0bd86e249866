//! Moving through the layers that list something: texts to choose from, a batch, the page about an undelivered prompt.

use super::App;
use super::act::Scroll;
use super::batch::Step;
use super::overlay::Overlay;

impl App {
    pub(super) fn scroll_layer(&mut self, by: Scroll) {
        let g = self.geometry();
        let total = self.resolve_total();
        match self.overlays.last_mut() {
            Some(Overlay::Palette(palette)) => {
                let rows = g.palette_rows();
                palette.move_to(|at, total| by.apply(at, rows, total), rows);
            }
            Some(Overlay::Picker(picker)) => {
                let rows = g.picker_rows();
                picker.move_to(|at, total| by.apply(at, rows, total), rows);
            }
            Some(Overlay::Batch(batch)) => {
                let rows = g.batch_rows();
                if let Step::Preview(preview) | Step::Storing(preview) = &mut batch.step {
                    preview.move_to(|at, total| by.apply(at, rows, total), rows);
                }
            }
            Some(Overlay::Resolve(resolve)) => {
                resolve.scroll = by.apply(resolve.scroll, g.layer_rows(), (total + 1).saturating_sub(g.layer_rows()));
            }
            Some(Overlay::Card(_)) => self.scroll_card(by),
            Some(Overlay::Calendar(calendar)) => calendar.scroll(by),
            Some(Overlay::Export(export)) => export.scroll(by),
            Some(Overlay::Kept(kept)) => {
                let rows = g.kept_rows();
                kept.move_to(|at, total| by.apply(at, rows, total), rows);
            }
            Some(Overlay::Trend(open)) => open.scroll(by, 8),
            Some(Overlay::Movers(open)) => open.scroll(by, g.movers_rows()),
            _ => {}
        }
    }

    /// Lines of the page about an undelivered prompt, when it is on top.
    fn resolve_total(&self) -> usize {
        match self.overlays.last() {
            Some(Overlay::Resolve(resolve)) => self.resolve_lines(resolve, self.geometry().layer_columns()).len(),
            _ => 0,
        }
    }

    /// After a change of size or of what is listed.
    pub(super) fn keep_layer_in_sight(&mut self) {
        let g = self.geometry();
        let total = self.resolve_total();
        match self.overlays.last_mut() {
            Some(Overlay::Palette(palette)) => palette.keep_in_sight(g.palette_rows()),
            Some(Overlay::Picker(picker)) => picker.keep_in_sight(g.picker_rows()),
            Some(Overlay::Batch(batch)) => {
                if let Step::Preview(preview) | Step::Storing(preview) = &mut batch.step {
                    preview.keep_in_sight(g.batch_rows());
                }
            }
            Some(Overlay::Resolve(resolve)) => {
                resolve.scroll = resolve.scroll.min(total.saturating_sub(g.layer_rows()));
            }
            Some(Overlay::Card(_)) => self.keep_card_in_sight(),
            Some(Overlay::Kept(kept)) => kept.keep_in_sight(g.kept_rows()),
            Some(Overlay::Movers(open)) => open.keep_in_sight(g.movers_rows()),
            _ => {}
        }
    }
}
