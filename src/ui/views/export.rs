//! Export of what is shown or of all: CSV, JSON or Markdown, to a file or to the clipboard.

use crate::app::views::export::Export;
use crate::ui::View;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(in crate::ui) fn draw(_frame: &mut Frame<'_>, _view: View<'_>, _open: &Export, _area: Rect) {}
