//! The trend: human and AI views per day of the range, or per week of a long one, from the site's totals.

use crate::app::views::trend::Trend;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &Trend, _area: Rect) {}
