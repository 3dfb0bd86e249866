//! Reuses cells of the last frame in the next one. If only the selection has moved, most rows look the same as
//! before and are not drawn again. This saves most of the work for a frame: formatting their texts.

use super::Theme;
use crate::model::Time;
use crate::tui::App;
use chrono::TimeDelta;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::ops::Range;

/// The time after which a frame is drawn completely again, because ages and other texts on screen depend on the time.
/// When such a text changes, [`Msg::Timer`](crate::tui::Msg::Timer) also causes a complete frame.
const MAX_AGE: TimeDelta = TimeDelta::seconds(1);
/// The key, for [`KeptCells::try_keep`], of content that is always in the same place of a screen, such as headings.
pub(in crate::tui) const FIXED_CONTENT_KEY: u64 = u64::MAX;

/// The cells of the last frame that the next frame may keep: at most one part of each row of the screen.
#[derive(Debug, Default)]
pub struct KeptCells(RefCell<KeptCellsState>);

#[derive(Debug, Default)]
struct KeptCellsState {
    /// What the last frame was drawn with; `None` before the first frame.
    basis: Option<FrameBasis>,
    /// When a frame was last drawn completely.
    drawn_at: Time,
    rows: Vec<KeptRow>,
    /// Whether something was drawn over cells that could be kept otherwise.
    is_covered: bool,
}

/// What all kept cells depend on. If any of it has changed since the last frame, nothing is kept.
#[derive(Debug, PartialEq)]
struct FrameBasis {
    area: Rect,
    /// [`App::content_version`].
    version: u64,
    theme: Theme,
}

/// A part of a row of the screen: its columns, and the key of what it shows.
type KeptPart = (Range<u16>, u64);

#[derive(Debug, Default)]
struct KeptRow {
    /// The part that the last frame drew or kept, until this frame has drawn the row.
    previous: Option<KeptPart>,
    /// The part that this frame has drawn or kept.
    current: Option<KeptPart>,
}

impl KeptCells {
    /// Begins a frame. The buffer must be blank, except for the cells that [`Self::blank_others`] has left. If the
    /// frame has to be drawn completely, these become blank, too.
    pub(super) fn begin_frame(&self, buffer: &mut Buffer, app: &App, theme: &Theme, now: Time) {
        let state = &mut *self.0.borrow_mut();
        let is_same = state.basis.as_ref().is_some_and(|basis| {
            (basis.area, basis.version) == (buffer.area, app.content_version) && basis.theme == *theme
        });
        state.is_covered = false;
        if is_same && (state.drawn_at..state.drawn_at + MAX_AGE).contains(&now) {
            state.rows.iter_mut().for_each(|row| row.previous = row.current.take());
            return;
        }
        for (y, row) in (0..).zip(state.rows.drain(..)) {
            row.current.iter().for_each(|(columns, _)| blank(buffer, y, columns));
        }
        state.rows.resize_with(usize::from(buffer.area.height), KeptRow::default);
        state.drawn_at = now;
        state.basis = Some(FrameBasis { area: buffer.area, version: app.content_version, theme: theme.clone() });
    }

    /// Keeps the cells of an area if the last frame drew them with the same `key`, and returns true. Otherwise makes
    /// them blank and returns false, so that the caller draws them. `key` identifies what the area shows. What is drawn
    /// must depend only on the key and the content of the app, not on the selection.
    pub(in crate::tui) fn try_keep(&self, buffer: &mut Buffer, area: Rect, key: u64) -> bool {
        let state = &mut *self.0.borrow_mut();
        let Some(rows) = state.rows.get_mut(usize::from(area.y)..usize::from(area.bottom())) else { return false };
        let wanted = Some((area.x..area.right(), key));
        let is_kept = rows.iter().all(|row| row.previous == wanted);
        for (y, row) in (area.y..).zip(rows) {
            let previous = row.previous.take().filter(|_| !is_kept);
            previous.iter().for_each(|(columns, _)| blank(buffer, y, columns));
            row.current.clone_from(&wanted);
        }
        is_kept
    }

    /// Makes the cells that the last frame left in a row blank. The next frame doesn't keep the cells of this row.
    pub(in crate::tui) fn discard_kept_row(&self, buffer: &mut Buffer, y: u16) {
        if let Some(row) = self.0.borrow_mut().rows.get_mut(usize::from(y)) {
            row.current = None;
            row.previous.take().iter().for_each(|(columns, _)| blank(buffer, y, columns));
        }
    }

    /// Records that this frame draws something, such as a dialog, over other content. The next frame then keeps no
    /// cells.
    pub(in crate::tui) fn mark_covered(&self) {
        self.0.borrow_mut().is_covered = true;
    }

    /// Ends a frame: cells of the last frame for which nothing has called [`Self::try_keep`] become blank.
    pub(super) fn end_frame(&self, buffer: &mut Buffer) {
        let state = &mut *self.0.borrow_mut();
        for (y, row) in (0..).zip(&mut state.rows) {
            row.previous.take().iter().for_each(|(columns, _)| blank(buffer, y, columns));
            row.current.take_if(|_| state.is_covered);
        }
    }

    /// Prepares the buffer for the next frame: all cells but those that it may keep become blank.
    pub fn blank_others(&self, buffer: &mut Buffer) {
        let state = &mut *self.0.borrow_mut();
        // A screen of size 0 is not drawn, so the last drawn frame may have had another size. Then nothing is kept.
        state.basis.take_if(|basis| basis.area != buffer.area);
        let width = usize::from(buffer.area.width).max(1);
        let mut kept = state.rows.iter().map(|row| row.current.as_ref());
        for row in buffer.content.chunks_mut(width) {
            let columns =
                kept.next().flatten().map_or(0..0, |(columns, _)| usize::from(columns.start)..columns.end.into());
            let before = columns.start.min(row.len());
            row.iter_mut().take(before).for_each(Cell::reset);
            row.iter_mut().skip(columns.end).for_each(Cell::reset);
        }
    }
}

/// Makes some cells of a row blank.
fn blank(buffer: &mut Buffer, y: u16, columns: &Range<u16>) {
    for x in columns.clone() {
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.reset();
        }
    }
}
