//! Draws the page views: the range, the site's totals, and the pages with bars and their scale.
//!
//! ```text
//!  Pages  14–20 Nov 2026 UTC, 7 days incl. today                             [7d]  30d  90d  custom
//!  human 128,402 ▲ 9.1%   AI 61,220 ▲ 31%   total 189,622 ▲ 15%   AI share 32.3% ▲ 1.2 pp
//!  totals: complete days, 14–19 Nov vs 7–12 Nov                                          as of 14:02
//!
//!    #  page                                human       AI    total   AI %  0 ──────────────────────── 14k
//!    1  /quickstart                         9,120    4,310   13,430    32%  ████████████████▒▒▒▒▒▒▒▒
//! ```

pub(in crate::tui) mod change;
pub(in crate::tui) mod lower_rule;
pub(in crate::tui) mod presets;
pub(in crate::tui) mod status_line;
pub(in crate::tui) mod table;
pub(in crate::tui) mod totals;

use crate::model::failure::FailureKind;
use crate::model::load::Load;
use crate::tui::component::Component as _;
use crate::tui::draw::FIXED_CONTENT_KEY;
use crate::tui::draw::boxes::draw_line;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::areas::AboveTable;
use crate::tui::views::request_cost::AVAILABLE_WITHOUT_REQUESTS;
use crate::tui::views::screen::ViewsScreen;
use crate::tui::views::trend::draw::{draw_above_table, unloaded_trend_line};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>) {
    let areas = view.app.views_areas();
    let width = usize::from(areas.lines.width);
    if !view.kept_cells.try_keep(frame.buffer_mut(), areas.range, FIXED_CONTENT_KEY) {
        presets::draw_range_rule(frame, view, areas.range);
    }
    lower_rule::draw_lower_rule(frame, view, areas.lower_rule_row, ViewsScreen.position_text(view.app));
    let Some(totals) = view.app.views.site_totals() else {
        draw_not_loaded(frame, view, view.app.geometry().content);
        return;
    };
    if !view.kept_cells.try_keep(frame.buffer_mut(), areas.totals, FIXED_CONTENT_KEY) {
        draw_line(frame, areas.totals, 0, totals::site_totals_line(view, totals, width));
    }
    // The cells of this line are never kept from the previous frame, because its text depends on the visible rows and
    // on the notice.
    draw_line(frame, areas.status, 0, status_line::table_status_line(view, width));
    if !areas.trend.is_empty() && !view.kept_cells.try_keep(frame.buffer_mut(), areas.trend, FIXED_CONTENT_KEY) {
        match view.app.views.above_table() {
            AboveTable::Trend => draw_above_table(frame, view, areas.trend),
            _ => draw_line(frame, areas.trend, 0, unloaded_trend_line(view, width)),
        }
    }
    table::draw(frame, view);
}

/// Draws the text before the first response: that page views are being loaded, or why they are not loaded and what is
/// still available.
fn draw_not_loaded(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let theme = view.theme;
    let views = &view.app.views;
    let (text, style) = match (views.load(), views.load_failure(view.now)) {
        (Load::Failed { .. }, Some(failure)) => {
            let still = match failure.kind {
                FailureKind::Limited(_) | FailureKind::Offline => {
                    format!(" This range is not cached. {AVAILABLE_WITHOUT_REQUESTS}")
                }
                _ => String::new(),
            };
            let again = match failure.kind {
                FailureKind::Limited(_) => String::new(),
                _ => format!(" Press {} to try again.", view.app.key_label(Context::Views, Action::Refresh)),
            };
            (format!("Not loaded. {}{again}{still}", view.app.failure_text(failure, view.now)), theme.warning)
        }
        (Load::Loading { .. }, _) => ("Loading…".to_owned(), theme.muted),
        // A load that failed because of a rate limit is handled here once the limit has ended.
        (Load::Idle | Load::Ready(_) | Load::Failed { .. }, _) => (
            format!("Not loaded. Press {} to load it.", view.app.key_label(Context::Views, Action::Refresh)),
            theme.muted,
        ),
    };
    let inner = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(1),
    };
    frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inner);
}
