//! A page's own card: its numbers now and before, its rank, what other ranges say of it, and the jobs about it.

use crate::app::views::card::Card;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &Card, _area: Rect) {}
