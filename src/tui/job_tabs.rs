//! The three views of a job with a pull request: its thread, its pull request and its changes. They are named in the
//! upper rule, and `Tab` goes from one to the next.
//!
//! ```text
//! ─ Thread  Pull request  Changes  #1423 Fix broken links ──────── as of 14:02 ─
//! ```

use super::App;
use super::geometry::title_area;
use super::view::View;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

/// The narrowest rule that names the tabs. In a narrower one, the title needs the space.
const MIN_RULE_WIDTH: u16 = 80;
/// The same for details next to the list, which shows the title too.
const MIN_RULE_WIDTH_BESIDE_LIST: u16 = 40;
/// The cells between two tabs, and after the last one.
const GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobTab {
    Thread,
    PullRequest,
    Changes,
}

impl JobTab {
    const ALL: [Self; 3] = [Self::Thread, Self::PullRequest, Self::Changes];

    fn name(self) -> &'static str {
        match self {
            Self::Thread => "Thread",
            Self::PullRequest => "Pull request",
            Self::Changes => "Changes",
        }
    }

    /// Returns the tab that was clicked. `rule` is the upper rule of the current one.
    pub(super) fn at(at: Position, rule: Rect, app: &App) -> Option<Self> {
        let mut x = usize::from(title_area(rule).x);
        let is_named = are_named(rule, app) && at.y == rule.y;
        Self::ALL.into_iter().filter(|_| is_named).find(|tab| {
            let start = x;
            x += tab.name().width() + GAP;
            (start..start + tab.name().width()).contains(&usize::from(at.x))
        })
    }

    /// Returns the names of the tabs, for the start of the upper rule. Empty if the rule is too narrow.
    pub(super) fn names<'a>(self, view: View<'_>, rule: Rect) -> Vec<Span<'a>> {
        let theme = view.theme;
        if !are_named(rule, view.app) {
            return Vec::new();
        }
        let name = |tab: Self| {
            let style = if tab == self { theme.mark.add_modifier(Modifier::UNDERLINED) } else { theme.muted };
            [Span::styled(tab.name(), style), Span::raw(" ".repeat(GAP))]
        };
        Self::ALL.into_iter().flat_map(name).collect()
    }

    /// Returns the number of cells of the names in a rule.
    pub(super) fn names_width(rule: Rect, app: &App) -> usize {
        let total = Self::ALL.iter().map(|tab| tab.name().width() + GAP).sum();
        if are_named(rule, app) { total } else { 0 }
    }
}

/// Whether the rule has space for the names of the tabs.
fn are_named(rule: Rect, app: &App) -> bool {
    rule.width >= if app.geometry().shows_both() { MIN_RULE_WIDTH_BESIDE_LIST } else { MIN_RULE_WIDTH }
}
