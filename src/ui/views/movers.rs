//! Movers: the pages that gained and lost most between two ranges, by human or by AI views.

use crate::app::views::movers::Movers;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &Movers, _area: Rect) {}
