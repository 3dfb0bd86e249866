//! A range of one's own: picked on a calendar or typed.

use crate::app::views::calendar::Calendar;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &Calendar, _area: Rect) {}
