//! What is kept of page views: the ranges, how old they are, and the room they take.

use crate::app::views::kept::KeptRanges;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &KeptRanges, _area: Rect) {}
