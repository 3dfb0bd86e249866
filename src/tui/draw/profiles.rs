//! Draws the dialog with the configured profiles.
//!
//! ```text
//! ┌ Profiles: 3 ───────────────────────────────────────────────┐
//! │▌● acme       acme-docs           api.mintlify.com   current │
//! │   beta       beta-docs           api.mintlify.com           │
//! │   internal   handbook            docs.corp:8443     no key  │
//! ```

use super::text::{TextRow, fit, left};
use super::{View, draw_box, draw_line, draw_more_below};
use crate::tui::keymap::{Action, Context};
use crate::tui::profiles::{ProfileEntry, ProfilesDialog, SwitchStep};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Width of the last column, the state of a profile.
const STATE_CELLS: usize = 11;
/// Width of the symbols before a name.
const SYMBOLS_CELLS: usize = 3;
/// Minimum width at which there is a column for the service.
const MIN_WIDTH_WITH_HOST: usize = 56;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &ProfilesDialog, area: Rect) {
    let View { app, theme, .. } = view;
    let profiles = &app.config.profiles;
    let title = format!(" Profiles: {} ", profiles.len());
    let inner = draw_box(frame, area, Line::styled(title, theme.title), theme.focus);
    let (g, failed) = (app.geometry(), open.message.is_some());
    let (lines, rows) = (g.profile_lines(profiles.len(), failed), g.profile_rows(profiles.len(), failed));
    let columns = ProfileColumns::fitting(profiles, usize::from(inner.width));
    for (n, ((at, profile), chosen)) in open.list.visible(profiles.iter().enumerate(), rows).enumerate() {
        let line = profile_entry_line(view, profile, (at, chosen), open, columns, usize::from(inner.width));
        draw_line(frame, lines, n, line);
    }
    let below = Rect {
        x: inner.x + 1,
        y: inner.y + u16::try_from(rows + 1).unwrap_or(inner.height),
        width: inner.width.saturating_sub(2),
        height: inner.height.saturating_sub(u16::try_from(rows + 1).unwrap_or(inner.height)),
    };
    let (text, style) = profiles_message(view, open);
    frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), below);
    draw_more_below(frame, view, area, open.list.hidden_below(rows));
}

/// The widths of the columns, in cells.
#[derive(Debug, Clone, Copy)]
struct ProfileColumns {
    name: usize,
    project: usize,
    /// The width of the column for the service; 0 if there is none.
    host: usize,
}

impl ProfileColumns {
    /// Distributes the width. The name gets the width that it needs, up to half of the space. The service gets the
    /// width that it needs, up to half of the rest, or more if the project doesn't need it. The project gets what
    /// remains.
    fn fitting(profiles: &[ProfileEntry], width: usize) -> Self {
        let most = |of: fn(&ProfileEntry) -> usize| profiles.iter().map(of).max().unwrap_or(0);
        let (names, projects) =
            (most(|profile| profile.name.as_str().width()), most(|profile| profile.project().as_str().width()));
        let hosts = if width < MIN_WIDTH_WITH_HOST { 0 } else { most(|profile| profile.host().as_str().width()) };
        let space = width.saturating_sub(SYMBOLS_CELLS + STATE_CELLS + 2);
        let gaps = if hosts > 0 { 4 } else { 2 };
        let name = names.min(space / 2).max(8);
        let rest = space.saturating_sub(name + gaps);
        let host = hosts.min(rest.saturating_sub(projects).max(rest / 2));
        Self { name, project: rest.saturating_sub(host), host }
    }
}

/// Returns the service in exactly `cells` cells. If the service is too long, its port is not cut, because two services
/// may differ only in their ports.
fn service_text(host: &str, cells: usize) -> String {
    let port = host.rfind(':').filter(|at| host.get(at + 1..).is_some_and(|port| port.parse::<u16>().is_ok()));
    match port.and_then(|at| host.split_at_checked(at)) {
        Some((name, port)) if host.width() > cells && port.width() < cells => {
            left(&format!("{}{port}", fit(name, cells - port.width())), cells)
        }
        _ => left(host, cells),
    }
}

fn profile_entry_line<'a>(
    view: View<'_>,
    profile: &ProfileEntry,
    (at, chosen): (usize, bool),
    open: &ProfilesDialog,
    columns: ProfileColumns,
    width: usize,
) -> Line<'a> {
    let View { app, theme, .. } = view;
    let is_current = app.config.current_profile == at;
    let style = match (chosen, profile.problem.is_some()) {
        (true, _) => theme.selected,
        (false, true) => theme.muted,
        (false, false) => theme.text,
    };
    let (state, state_style): (&str, Style) = match (&open.step, profile) {
        (SwitchStep::ReadingKey(of), _) if *of == at => ("reading key", theme.working),
        (SwitchStep::TestingKey(of), _) if *of == at => ("checking", theme.working),
        _ if is_current => ("current", theme.good),
        (_, ProfileEntry { scope: None, .. }) => ("no project", theme.warning),
        (_, ProfileEntry { problem: Some(_), .. }) => ("no key", theme.warning),
        _ => ("", theme.muted),
    };
    let mut row = TextRow::new(width);
    row.push(if chosen { "▌" } else { " " }, theme.mark);
    row.push(if is_current { "● " } else { "  " }, theme.good);
    let ProfileColumns { name, project, host } = columns;
    row.push(left(profile.name.as_str(), name), style).push("  ", theme.text);
    row.push(left(profile.project().as_str(), project), style);
    if host > 0 {
        row.push("  ", theme.text).push(service_text(profile.host().as_str(), host), theme.muted);
    }
    row.push("  ", theme.text).push(left(state, STATE_CELLS), state_style);
    row.line()
}

/// Returns the text below the list, and its style: the progress of switching, its failure, or what switching does.
fn profiles_message(view: View<'_>, open: &ProfilesDialog) -> (String, Style) {
    let View { app, theme, .. } = view;
    let name = |at: usize| app.config.profiles.get(at).map(|profile| profile.name.to_string()).unwrap_or_default();
    match (&open.step, &open.message) {
        (SwitchStep::ReadingKey(at), _) => (format!("Reading the key of {}…", name(*at)), theme.working),
        (SwitchStep::TestingKey(at), _) => {
            (format!("Checking the key of {} with the service…", name(*at)), theme.working)
        }
        (SwitchStep::Choosing, Some(message)) => (message.to_string(), theme.bad),
        (SwitchStep::Choosing, None) => {
            let key = app.key_label(Context::Profiles, Action::Confirm);
            let what = "switches (one free request checks the key). Drafts and prompts stay in their profile.";
            (format!("{key} {what}"), theme.muted)
        }
    }
}
