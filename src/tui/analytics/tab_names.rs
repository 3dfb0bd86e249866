//! Formats the names of the analytics screen's tabs for its upper rule.

use super::tab::{AnalyticsTab, TAB_GAP};
use crate::tui::view::View;
use ratatui::style::Modifier;
use ratatui::text::Span;

/// Returns the names of the tabs for the start of an upper rule of this width. `tab` is the current one.
pub(in crate::tui) fn tab_names<'a>(tab: AnalyticsTab, view: View<'_>, width: u16) -> Vec<Span<'a>> {
    let theme = view.theme;
    let name = |shown: AnalyticsTab| {
        let style = if shown == tab { theme.mark.add_modifier(Modifier::UNDERLINED) } else { theme.muted };
        [Span::styled(shown.name(), style), Span::raw(" ".repeat(TAB_GAP))]
    };
    tab.visible_tabs(width, view.app.is_filtering()).flat_map(name).collect()
}
