//! The three tabs of a job with a pull request: its thread, its pull request and its changes. The upper rule shows
//! their names, and the Tab key switches between them.
//!
//! ```text
//! ─ Thread  Pull request  Changes  #1423 Fix broken links ──────── as of 14:02 ─
//! ```

use super::geometry::title_area;
use super::view::View;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr as _;

/// The minimum width of the upper rule at which it shows the names of the tabs. In a narrower rule, the title needs the
/// space.
const MIN_RULE_WIDTH_WITH_NAMES: u16 = 80;
/// The minimum width of the rule above the thread at which it shows the names of the tabs. This rule has no title.
const MIN_THREAD_RULE_WIDTH_WITH_NAMES: u16 = 36;
/// The number of blank cells after the name of each tab.
const TAB_GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobTab {
    Thread,
    PullRequest,
    Changes,
}

impl JobTab {
    const ALL: [Self; 3] = [Self::Thread, Self::PullRequest, Self::Changes];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Thread => "Thread",
            Self::PullRequest => "Pull request",
            Self::Changes => "Changes",
        }
    }

    /// Returns the tab whose name is at a position, while the tab `self` is shown. `rule` is the upper rule.
    pub(super) fn tab_at(self, at: Position, rule: Rect) -> Option<Self> {
        let mut x = usize::from(title_area(rule).x);
        let is_named = self.has_space_for_names(rule) && at.y == rule.y;
        Self::ALL.into_iter().filter(|_| is_named).find(|tab| {
            let start = x;
            x += tab.name().width() + TAB_GAP;
            (start..start + tab.name().width()).contains(&usize::from(at.x))
        })
    }

    /// Returns the names of the tabs for the start of the upper rule. After the last name comes a gap before the title,
    /// except in the tab of the thread, which has no title. If the rule is too narrow for all names, the tab of the
    /// thread shows only its name, and the other tabs show no name, because their title needs the space.
    pub(super) fn names<'a>(self, view: View<'_>, rule: Rect, is_focused: bool) -> Vec<Span<'a>> {
        let theme = view.theme;
        let current = if is_focused { theme.mark.add_modifier(Modifier::UNDERLINED) } else { theme.text };
        if !self.has_space_for_names(rule) {
            return if self == Self::Thread { vec![Span::styled(self.name(), current)] } else { Vec::new() };
        }
        let name = |tab: Self| {
            let style = if tab == self { current } else { theme.muted };
            [Span::styled(tab.name(), style), Span::raw(" ".repeat(TAB_GAP))]
        };
        let mut names: Vec<_> = Self::ALL.into_iter().flat_map(name).collect();
        if self == Self::Thread {
            names.pop();
        }
        names
    }

    /// Whether the rule of this tab has space for the names of the tabs.
    fn has_space_for_names(self, rule: Rect) -> bool {
        rule.width >= if self == Self::Thread { MIN_THREAD_RULE_WIDTH_WITH_NAMES } else { MIN_RULE_WIDTH_WITH_NAMES }
    }
}
