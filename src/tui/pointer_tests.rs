//! Tests of the mouse. They find the cell to click by the text or the geometry of what is clicked.

use super::*;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::job::JobKey;
use crate::model::remote_job::Status;
use crate::model::report::{Report, StoredReport};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use crate::tui::compose::editor::Editor;
use crate::tui::compose::picker::{Picker, entry_list_area};
use crate::tui::help::Help;
use crate::tui::jobs::tests::{at, row};
use crate::tui::keymap::{Chord, Context};
use crate::tui::order::Sort;
use crate::tui::palette::{CommandPalette, palette_area};
use crate::tui::views::calendar::Calendar;
use crate::tui::views::calendar_layout::{CalendarLayout, CalendarTarget};
use crate::tui::views::columns::{PageTableColumn, page_table};
use crate::tui::views::export::{ExportDialog, ExportLine};
use crate::tui::views::movers::{Movers, MoversLayout};
use crate::tui::views::page_detail::PageDetail;
use crate::tui::views::range_line::RangeNameAction;
use crate::tui::{
    AppConfig, InitialData, JobsEffect, JobsMsg, Msg, Pane, PromptsEffect, PromptsMsg, SavedFilter, Template, ViewsMsg,
};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use std::sync::Arc;

const LEFT: MouseButton = MouseButton::Left;

/// Creates a dashboard with this number of jobs. The newest job is listed first, so job 1 is the last.
fn app(size: (u16, u16), jobs: i64) -> App {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, _) = App::new(AppConfig { size, ..AppConfig::new(scope, utc) }, at(0));
    let looked_at = Some(at(1000));
    let jobs = (1..=jobs)
        .map(|key| {
            let mut job = row(key, Status::Completed);
            job.local.viewed_at = looked_at;
            job
        })
        .collect();
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() })))),
        at(0),
    );
    app
}

fn send_mouse_event(app: &mut App, kind: MouseEventKind, column: u16, row: u16) -> Vec<Effect> {
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    app.update(Msg::Input(Event::Mouse(event)), at(1))
}

fn click(app: &mut App, column: u16, row: u16) -> Vec<Effect> {
    let mut effects = send_mouse_event(app, MouseEventKind::Down(LEFT), column, row);
    effects.extend(send_mouse_event(app, MouseEventKind::Up(LEFT), column, row));
    effects
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let key = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    keys.chars().flat_map(|c| app.update(Msg::Input(key(c)), at(1))).collect()
}

fn selected(app: &App) -> i64 {
    app.jobs.selected().expect("a job").key.0
}

/// Returns a column of the footer hint with the label `word`.
fn hint_column(app: &App, word: &str) -> u16 {
    let hints = app.footer(usize::from(app.size.0));
    let hint = hints.iter().find(|hint| hint.label == word).unwrap_or_else(|| panic!("no {word:?} in {hints:?}"));
    u16::try_from(hint.start + 1).expect("a cell")
}

/// Creates a dashboard that shows the views screen with this number of pages, all of them loaded.
fn views_app(size: (u16, u16), pages: i64) -> App {
    let mut app = app(size, 3);
    press(&mut app, "2");
    let range = app.views.query().range;
    let counts = |n: i64| Counts::new(Count::Known(n), Count::Known(1000 - n), Count::Known(1000));
    let rows = (0..pages).map(|n| PageRow { path: CleanText::line(&format!("/{n:03}")), counts: counts(n) }).collect();
    let page = ViewsResponse { totals: counts(5), rows, has_more: Some(false) };
    let report = Some(Arc::new(Report::from_first_response(range, page, true, at(0))));
    let known = StoredReport { report, ..StoredReport::default() };
    app.update(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored: Ok(known) }), at(1));
    assert!(app.views.table.lists_report());
    app
}

fn selected_path(app: &App) -> String {
    app.views.selected_row().expect("a page").path.to_string()
}

/// Returns the row of the second job of five. Above it are a heading and job 5.
fn row_of_job_4(app: &App) -> u16 {
    app.geometry().list_lines().y + 2
}

#[test]
fn a_click_selects_a_job_and_a_second_click_opens_the_job() {
    for size in [(80, 24), (160, 40)] {
        let mut app = app(size, 5);
        assert_eq!(selected(&app), 5);
        let row = row_of_job_4(&app);
        click(&mut app, 10, row);
        assert_eq!((selected(&app), app.pane), (4, Pane::List));
        click(&mut app, 3, row);
        assert_eq!((selected(&app), app.pane), (4, Pane::Detail));
    }
}

#[test]
fn a_click_on_a_rule_or_below_the_list_selects_nothing() {
    let mut app = app((160, 40), 5);
    press(&mut app, "j");
    for (column, row) in [(10, 1), (10, 20), (10, 38)] {
        click(&mut app, column, row);
        assert_eq!((selected(&app), app.pane), (4, Pane::List), "{column} {row}");
    }
}

#[test]
fn a_click_on_the_heading_of_a_group_selects_its_first_job() {
    for size in [(80, 24), (160, 40)] {
        let mut app = app(size, 5);
        press(&mut app, "jj");
        assert_eq!(selected(&app), 3);
        let row = row_of_job_4(&app) - 2;
        click(&mut app, 3, row);
        click(&mut app, 3, row);
        assert_eq!((selected(&app), app.pane), (5, Pane::List), "a second click opens no job");
    }
}

#[test]
fn a_click_on_a_column_heading_of_the_jobs_sorts_them_and_a_second_click_reverses_the_order() {
    let mut app = app((160, 40), 5);
    let row = app.geometry().list_lines().y - 1;
    let age = app.geometry().list.right() - 3;
    let mut sorting = |column| {
        click(&mut app, column, row);
        (app.jobs.sorting().by, app.jobs.sorting().is_reversed)
    };
    assert_eq!(sorting(5), (Sort::Status, false));
    assert_eq!(sorting(age), (Sort::Age, false));
    assert_eq!(sorting(age), (Sort::Age, true));
    assert_eq!(sorting(20), (Sort::Group, false));
    assert_eq!(sorting(20), (Sort::Group, false));
}

#[test]
fn clicks_on_the_tab_of_the_current_jobs_go_through_those_that_need_the_user() {
    let mut app = app((80, 24), 5);
    for key in [1, 3] {
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row(key, Status::Failed)))), at(1));
    }
    let tab = u16::try_from(app.header(80, at(1)).tabs[0].start).expect("a cell");
    let mut seen = Vec::new();
    for _ in 0..3 {
        click(&mut app, tab, 0);
        seen.push(selected(&app));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((seen, app.pane), (vec![1, 3], Pane::List));
}

#[test]
fn a_click_focuses_the_clicked_pane_and_opens_no_job() {
    let mut app = app((160, 40), 5);
    click(&mut app, 120, 10);
    assert_eq!(app.pane, Pane::Detail);
    click(&mut app, 10, 3);
    assert_eq!((selected(&app), app.pane), (5, Pane::List));
}

#[test]
fn the_wheel_scrolls_the_list_under_the_pointer_and_the_selection_stays_visible() {
    let mut app = app((160, 24), 100);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 10, 10);
    assert_eq!(app.jobs.top(), 3);
    let rows = app.geometry().list_rows();
    let seen = (0..rows).filter_map(|line| app.jobs.visible_job(line)).collect::<Vec<_>>();
    assert!(seen.contains(&JobKey(selected(&app))));
    for _ in 0..60 {
        send_mouse_event(&mut app, MouseEventKind::ScrollDown, 10, 10);
    }
    assert_eq!(app.jobs.top(), 101 - rows, "the last one is in sight");
    for _ in 0..60 {
        send_mouse_event(&mut app, MouseEventKind::ScrollUp, 10, 10);
    }
    assert_eq!(app.jobs.top(), 0);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 10, 0);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 10, 23);
    assert_eq!(app.jobs.top(), 0, "not over the header, not over the footer");
}

#[test]
fn the_wheel_over_the_detail_changes_neither_selection_nor_focus() {
    let mut app = app((160, 12), 5);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 120, 5);
    assert_eq!((selected(&app), app.pane), (5, Pane::List));
}

#[test]
fn a_click_on_a_tab_of_the_header_switches_screens() {
    for size in [(40, 12), (80, 24), (160, 40)] {
        let mut app = app(size, 5);
        for screen in [Screen::Log, Screen::Analytics, Screen::Jobs] {
            let tabs = app.header(usize::from(size.0), at(1)).tabs;
            let tab = tabs.iter().find(|tab| tab.screen == screen).expect("a tab");
            click(&mut app, u16::try_from(tab.start).expect("a cell"), 0);
            assert_eq!(app.screen, screen, "{size:?}");
        }
        click(&mut app, 0, 0);
        assert_eq!(app.screen, Screen::Jobs);
    }
}

#[test]
fn a_click_on_a_key_of_the_footer_presses_it() {
    let mut app = app((160, 40), 5);
    let at = hint_column(&app, "new");
    let effects = click(&mut app, at, 39);
    assert!(app.top::<Editor>().is_some());
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::ReadDraft(_)))),
        "as when its key is pressed"
    );
    let close = app.footer(160).into_iter().find(|hint| hint.chord.code == KeyCode::Esc).expect("Esc");
    click(&mut app, u16::try_from(close.start).expect("a cell"), 39);
    assert!(app.dialogs.is_empty());
}

#[test]
fn a_notice_does_not_cover_the_keys_of_the_footer() {
    let mut app = app((160, 40), 5);
    let at_new = hint_column(&app, "new");
    press(&mut app, "MM");
    assert_eq!(app.message_area(&app.message_lines(160)), Rect::new(0, 38, 87, 1));
    click(&mut app, at_new, 39);
    assert!(app.top::<Editor>().is_some());
}

#[test]
fn a_notice_does_not_cover_the_position_on_the_views_screen() {
    let mut app = views_app((80, 24), 5);
    press(&mut app, "MM");
    let notice_area = |app: &App| app.message_area(&app.message_lines(80));
    assert_eq!(notice_area(&app), Rect::new(0, 22, 71, 1));
    press(&mut app, "/");
    app.update(Msg::Engine(EngineEvent::Notice(CleanText::line("The disk is full."))), at(1));
    assert_eq!(notice_area(&app), Rect::new(0, 22, 71, 1));
    press(&mut app, "w");
    app.update(Msg::Input(Event::Key(KeyCode::Esc.into())), at(1));
    press(&mut app, "t");
    assert_eq!(notice_area(&app), Rect::new(0, 22, 80, 1), "in the rule of a dialog");
}

#[test]
fn a_click_into_a_text_moves_the_cursor_there() {
    let mut app = app((80, 24), 1);
    press(&mut app, "n");
    app.update(Msg::Input(Event::Paste("one two\nthree\n".to_owned())), at(1));
    let area = app.top::<Editor>().expect("an editor").text_area(&app);
    let input = |app: &App| app.top::<Editor>().expect("an editor").input.clone();
    // The text widget computes its lines only when it is drawn.
    ratatui::widgets::Widget::render(input(&app).area(), area, &mut ratatui::buffer::Buffer::empty(area));
    for (at, typed) in [((4, 0), "one Xtwo\nthree\n"), ((40, 1), "one Xtwo\nthreeX\n")] {
        click(&mut app, area.x + at.0, area.y + at.1);
        press(&mut app, "X");
        assert_eq!(input(&app).text(), typed);
    }
    let before = input(&app).text();
    click(&mut app, area.x, area.bottom() + 1);
    press(&mut app, "Y");
    assert_eq!(input(&app).text(), before.replace("threeX", "threeXY"), "a click below the text does nothing");
}

#[test]
fn a_click_outside_a_dialog_does_nothing() {
    let mut app = app((160, 40), 5);
    press(&mut app, "n");
    for (column, row) in [(1, 3), (150, 20), (30, 0), (80, 20)] {
        click(&mut app, column, row);
        assert!(app.top::<Editor>().is_some(), "{column} {row}");
        assert_eq!((selected(&app), app.screen), (5, Screen::Jobs));
    }
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 1, 3);
    assert_eq!(selected(&app), 5);
}

#[test]
fn a_click_in_the_palette_selects_a_command_and_a_second_click_runs_it() {
    let mut app = app((160, 40), 5);
    press(&mut app, ":");
    let area = palette_area(app.geometry());
    let shown = |app: &App| {
        let palette = app.top::<CommandPalette>().expect("the palette");
        palette.visible(99).position(|(_, chosen)| chosen).expect("one is chosen")
    };
    click(&mut app, area.x + 5, area.y + 2 + 4);
    assert_eq!(shown(&app), 4);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, area.x + 5, area.y + 5);
    assert_eq!(shown(&app), 7);
    click(&mut app, area.x + 5, area.y + 2);
    assert_eq!(shown(&app), 0);
    click(&mut app, area.x + 5, area.y + 2);
    assert!(app.top::<CommandPalette>().is_none(), "the command was run");
}

#[test]
fn both_panes_stay_usable_when_the_divider_is_dragged() {
    let mut app = app((160, 40), 5);
    let divider = app.geometry().divider();
    for (from, to, width) in [(divider.x, 99, 99), (99, 2, 38), (38, 159, 121), (121, 60, 60)] {
        send_mouse_event(&mut app, MouseEventKind::Down(LEFT), from, 10);
        send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 70, 30);
        send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), to, 30);
        send_mouse_event(&mut app, MouseEventKind::Up(LEFT), to, 30);
        assert_eq!(app.geometry().list.width, width, "from {from} to {to}");
        send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 70, 30);
        assert_eq!(app.geometry().list.width, width, "released");
    }
    assert_eq!((selected(&app), app.pane), (5, Pane::List));
    app.update(Msg::Input(Event::Resize(130, 40)), at(1));
    assert_eq!(app.geometry().list.width, 60);
}

#[test]
fn a_click_on_a_column_heading_sorts_and_a_second_click_reverses_the_order() {
    for size in [(80, 24), (160, 40)] {
        let mut app = views_app(size, 30);
        let columns = page_table(&app.views, usize::from(size.0));
        let first = |wanted: fn(&PageTableColumn) -> bool| {
            let at = (0..usize::from(size.0)).find(|cell| columns.key_at(*cell).is_some_and(wanted)).expect("a column");
            u16::try_from(at).expect("a cell")
        };
        let heads = app.views_areas().headings.y;
        let path = first(|column| *column == PageTableColumn::Path);
        click(&mut app, path, heads);
        assert_eq!(first_page(&app), "/000");
        click(&mut app, path + 3, heads);
        assert_eq!(first_page(&app), "/029");
        // The first column after the paths shows human views.
        let human = first(|column| matches!(column, PageTableColumn::Number(_)));
        click(&mut app, human, heads);
        assert_eq!(first_page(&app), "/029");
        click(&mut app, human, heads);
        assert_eq!(first_page(&app), "/000");
    }
}

fn first_page(app: &App) -> String {
    app.views.table.shown_pages().next().expect("a page").path.to_string()
}

fn page_at(app: &App, line: usize) -> String {
    app.views.table.visible(99).nth(line).expect("a line").name.to_owned()
}

#[test]
fn a_click_on_a_column_heading_does_nothing_before_page_views_are_loaded() {
    let mut app = app((160, 40), 1);
    press(&mut app, "2");
    let heads = app.views_areas().headings.y;
    click(&mut app, 10, heads);
    assert!(app.notice.is_none(), "nothing is listed yet");
}

#[test]
fn pages_can_be_selected_opened_and_scrolled_with_the_mouse() {
    let mut app = views_app((160, 24), 100);
    let first = app.views_areas().lines.y;
    click(&mut app, 20, first + 2);
    assert_eq!(selected_path(&app), page_at(&app, 2));
    assert!(app.dialogs.is_empty());
    click(&mut app, 20, first + 2);
    assert!(app.top::<PageDetail>().is_some());
    click(&mut app, 5, 20);
    assert!(app.top::<PageDetail>().is_some());
    app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))), at(1));
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 20, 10);
    assert_eq!((app.views.table.top(), app.views.table.selected()), (3, 3));
    for _ in 0..60 {
        send_mouse_event(&mut app, MouseEventKind::ScrollDown, 20, 10);
    }
    assert_eq!(app.views.table.top(), 100 - app.visible_table_rows());
    let mut app = views_app((160, 40), 3);
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 20, 10);
    assert_eq!(app.views.table.selected(), 0, "there is nothing to scroll");
}

#[test]
fn m_turns_the_mouse_off_with_a_notice() {
    let mut app = app((160, 40), 5);
    let row = row_of_job_4(&app);
    assert!(app.is_mouse_enabled());
    assert!(press(&mut app, "M").contains(&Effect::SetMouse(false)));
    assert!(app.notice.as_ref().is_some_and(|notice| notice.text.as_str().contains("off")));
    click(&mut app, 10, row);
    assert_eq!(selected(&app), 5, "late mouse events are ignored");
    assert!(press(&mut app, "M").contains(&Effect::SetMouse(true)));
    click(&mut app, 10, row);
    assert_eq!(selected(&app), 4);
}

#[test]
fn the_list_can_be_clicked_while_a_filter_is_typed() {
    let mut app = app((160, 40), 5);
    let row = row_of_job_4(&app);
    press(&mut app, "/job");
    click(&mut app, 10, row);
    assert_eq!(selected(&app), 4);
    assert!(app.filter_input().is_some());
    click(&mut app, 10, row);
    assert_eq!((app.filter_input().is_none(), app.filter_text(), app.pane), (true, "job", Pane::Detail));
}

#[test]
fn the_divider_between_stacked_panes_can_be_dragged() {
    let mut app = app((90, 50), 5);
    assert_eq!(app.geometry().arrangement, JobsArrangement::Stacked);
    let divider = app.geometry().divider();
    for (from, to, height) in [(divider.y, 20, 18), (20, 0, 6), (8, 49, 39), (41, 30, 28)] {
        send_mouse_event(&mut app, MouseEventKind::Down(LEFT), 40, from);
        send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 3, to);
        send_mouse_event(&mut app, MouseEventKind::Up(LEFT), 3, to);
        assert_eq!(app.geometry().list.height, height, "from {from} to {to}");
    }
    assert_eq!((selected(&app), app.pane), (5, Pane::List));
    click(&mut app, 10, 45);
    assert_eq!(app.pane, Pane::Detail, "the lower pane");
}

#[test]
fn a_drag_ends_if_the_divider_disappears() {
    let mut app = app((160, 40), 5);
    let divider = app.geometry().divider();
    send_mouse_event(&mut app, MouseEventKind::Down(LEFT), divider.x, 10);
    app.update(Msg::Input(Event::Resize(80, 24)), at(1));
    send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 50, 10);
    app.update(Msg::Input(Event::Resize(160, 40)), at(1));
    send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 50, 10);
    assert_eq!(app.geometry().list.width, 96, "as it was");
    send_mouse_event(&mut app, MouseEventKind::Down(LEFT), divider.x, 10);
    press(&mut app, "n");
    send_mouse_event(&mut app, MouseEventKind::Drag(LEFT), 50, 10);
    assert_eq!(app.geometry().list.width, 96, "a dialog covers it");
}

#[test]
fn moves_without_a_button_and_events_outside_the_screen_do_nothing() {
    let mut app = app((160, 40), 50);
    app.take_dirty();
    let kinds = [
        MouseEventKind::Moved,
        MouseEventKind::Up(LEFT),
        MouseEventKind::Drag(LEFT),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::ScrollLeft,
    ];
    for kind in kinds {
        assert!(send_mouse_event(&mut app, kind, 20, 5).is_empty());
    }
    assert!(!app.take_dirty(), "nothing is drawn for that");
    for (column, row) in [(160, 5), (5, 40), (u16::MAX, u16::MAX)] {
        click(&mut app, column, row);
        send_mouse_event(&mut app, MouseEventKind::ScrollDown, column, row);
        assert_eq!((selected(&app), app.jobs.top(), app.dialogs.len()), (50, 0, 0));
    }
}

#[test]
fn a_custom_key_in_the_footer_can_be_clicked() {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let mut start = AppConfig { size: (160, 40), ..AppConfig::new(scope, utc) };
    let f5 = Chord::from_event(KeyEvent::new(KeyCode::F(5), KeyModifiers::NONE));
    assert!(start.keymap.set_keys(Context::Jobs, "new-job", vec![f5]));
    let (mut app, _) = App::new(start, at(0));
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData::default())))), at(0));
    let new = app.footer(160).into_iter().find(|hint| hint.label == "new").expect("a key");
    assert_eq!(new.key, "F5");
    click(&mut app, u16::try_from(new.start).expect("a cell"), 39);
    assert!(app.top::<Editor>().is_some());
}

#[test]
fn a_click_on_a_message_does_not_reach_the_list_below() {
    let mut app = app((40, 12), 20);
    app.notify(
        Severity::Error,
        "The service can't be reached, so nothing was sent, and this takes more than one line.",
        at(1),
    );
    let message = app.message_area(&app.message_lines(40));
    assert!(message.height > 2 && message.bottom() == 10, "{message:?}");
    let row = message.y;
    click(&mut app, 10, row);
    assert_eq!(selected(&app), 20);
    click(&mut app, 10, row - 1);
    assert_ne!(selected(&app), 20);
}

#[test]
fn a_click_on_the_heading_of_dismissed_jobs_shows_or_hides_the_jobs() {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, _) = App::new(AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) }, at(0));
    let mut dismissed = row(2, Status::Completed);
    dismissed.local.dismissed = true;
    dismissed.local.viewed_at = Some(at(9));
    let jobs = vec![row(1, Status::Active), dismissed];
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() })))),
        at(0),
    );
    // Rows 1 to 4 show a border, a heading, job 1 and the heading of the dismissed jobs.
    click(&mut app, 5, 4);
    assert!(app.jobs.shows_dismissed());
    click(&mut app, 5, 4);
    assert!(!app.jobs.shows_dismissed());
    assert_eq!((selected(&app), app.pane), (1, Pane::List));
}

#[test]
fn a_confirmation_is_answered_only_by_a_click_on_an_answer() {
    for (yes, size) in [(true, (40, 12)), (false, (40, 12)), (true, (160, 40)), (false, (160, 40))] {
        let mut app = app(size, 2);
        let text = "Dismiss these two jobs, of which one is still being worked on by the agent?".to_owned();
        let targets = app.job_targets(&[JobKey(1), JobKey(2)]);
        let yes_means =
            super::super::confirm::ConfirmAction::Bulk(crate::tui::bulk_action::BulkAction::Dismiss, targets);
        let question = super::super::confirm::ConfirmDialog { text, on_yes: yes_means };
        let place = question.layout(&app);
        app.open(question);
        for (column, row) in [(place.text.x, place.text.y), (0, 3), (place.no.right() + 2, place.no.y)] {
            assert!(click(&mut app, column, row).is_empty());
            assert_eq!(app.dialogs.len(), 1, "{size:?} {column} {row}");
        }
        let answer = if yes { place.yes } else { place.no };
        let effects = click(&mut app, answer.right() - 1, answer.y);
        assert!(app.dialogs.is_empty(), "{size:?}");
        assert_eq!(
            effects.iter().any(|effect| matches!(effect, Effect::Jobs(JobsEffect::ChangeLocalData(..)))),
            yes,
            "{effects:?}"
        );
    }
}

#[test]
fn a_second_click_on_a_day_picks_the_day_and_a_click_on_the_text_line_focuses_the_line() {
    for size in [(40, 12), (80, 24), (160, 40)] {
        let mut app = views_app(size, 3);
        press(&mut app, "D");
        let body = app.geometry().body;
        let cell_of = |app: &App, target: CalendarTarget| {
            let open = app.top::<Calendar>().expect("a calendar");
            let months = CalendarLayout::for_area(open, body);
            body.positions().find(|cell| months.target_at(open, *cell) == Some(target)).expect("in sight")
        };
        let today = at(1).date_naive();
        let days = [today.pred_opt().expect("a day"), today].map(CalendarTarget::Day);
        for target in days {
            let cell = cell_of(&app, target);
            click(&mut app, cell.x, cell.y);
            assert!(app.top::<Calendar>().is_some_and(|open| CalendarTarget::Day(open.cursor) == target));
            click(&mut app, cell.x, cell.y);
        }
        assert!(app.dialogs.is_empty(), "both ends are picked at {size:?}");
        assert_eq!(app.views.query().range.days(), 2);
        press(&mut app, "D");
        let cell = cell_of(&app, CalendarTarget::TypedRange);
        click(&mut app, cell.x, cell.y);
        press(&mut app, "7d");
        assert!(app.top::<Calendar>().is_some_and(|open| open.input.text() == "7d"));
    }
}

#[test]
fn a_click_selects_an_option_of_the_export() {
    let mut app = views_app((80, 24), 3);
    press(&mut app, "e");
    let body = app.geometry().body;
    let open = app.top::<ExportDialog>().expect("the export");
    let cells: Vec<_> = body.positions().filter_map(|cell| Some((cell, open.choice_at(body, cell)?))).collect();
    for part in ExportLine::ALL {
        let places = if part == ExportLine::Format { 3 } else { 2 };
        for place in (0..places).rev() {
            let (cell, _) = cells.iter().find(|(_, target)| *target == (part, place)).expect("a place");
            click(&mut app, cell.x, cell.y);
            let open = app.top::<ExportDialog>().expect("the export");
            let chosen = open.choices(part).iter().position(|(_, chosen)| *chosen);
            assert_eq!((open.line, chosen), (part, Some(place)));
        }
    }
}

#[test]
fn a_click_selects_an_entry_of_a_picker_and_a_second_click_inserts_the_entry() {
    let mut app = app((80, 24), 1);
    press(&mut app, "n");
    app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char('t'), KeyModifiers::CONTROL))), at(1));
    let template = |n: usize| Template { name: CleanText::line(&format!("T{n}")), text: format!("text {n}") };
    app.update(Msg::Prompts(PromptsMsg::TemplatesLoaded((0..5).map(template).collect())), at(1));
    let lines = entry_list_area(app.geometry(), 5);
    click(&mut app, lines.x + 4, lines.y + 3);
    let Some(open) = app.top::<Picker>() else { panic!("{:?}", app.dialogs.last()) };
    let title = open.selected().expect("chosen").title.to_string();
    click(&mut app, lines.x + 4, lines.y + 20);
    click(&mut app, lines.x + 4, lines.y + 3);
    let Some(editor) = app.top::<Editor>() else { panic!("it was taken") };
    assert!(editor.input.text().contains(&title.replace('T', "text ")), "{title} {:?}", editor.input.text());
}

#[test]
fn movers_are_scrolled_selected_and_opened_in_either_half() {
    for size in [(80, 24), (160, 40)] {
        let mut app = views_app(size, 30);
        let range = app.views.query().range;
        let report = |factor: i64| {
            let row = |n: i64| {
                let n_views = Count::Known(if n % 2 == 0 { 500 + factor * n } else { 500 - factor * n });
                let counts = Counts::new(n_views.clone(), Count::Known(0), n_views);
                PageRow { path: CleanText::line(&format!("/{n:03}")), counts }
            };
            let page =
                ViewsResponse { rows: (1..40).map(row).collect(), has_more: Some(false), ..ViewsResponse::default() };
            Arc::new(Report::from_first_response(range, page, true, at(0)))
        };
        app.views.table.show_report(report(9), Some(report(1)));
        press(&mut app, "w");
        let path = |app: &App| {
            let open = app.top::<Movers>().expect("the movers");
            open.selected().expect("a page").path.to_string()
        };
        let [upper, lower] = MoversLayout::of(app.geometry()).halves;
        let most = path(&app);
        click(&mut app, lower.x + 4, lower.y + 3);
        let lost = path(&app);
        assert_ne!(most, lost);
        send_mouse_event(&mut app, MouseEventKind::ScrollDown, upper.x + 4, upper.y + 2);
        assert_eq!(path(&app), lost, "the other half scrolls, this one keeps the focus");
        click(&mut app, lower.x + 4, lower.y);
        click(&mut app, lower.x + 4, lower.y + 3);
        assert!(app.top::<PageDetail>().is_some(), "{size:?}");
    }
}

#[test]
fn the_wheel_scrolls_the_help() {
    let mut app = app((80, 24), 5);
    press(&mut app, "?");
    send_mouse_event(&mut app, MouseEventKind::ScrollDown, 40, 10);
    assert!(app.top::<Help>().is_some_and(|help| help.scroll == 3));
    send_mouse_event(&mut app, MouseEventKind::ScrollUp, 40, 10);
    assert!(app.top::<Help>().is_some_and(|help| help.scroll == 0));
}

#[test]
fn a_click_on_a_tab_of_the_list_title_selects_its_saved_filter() {
    for (size, found) in [((160, 40), 3), ((80, 24), 3), ((40, 12), 3)] {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        let filter = |name: &str| SavedFilter { name: CleanText::line(name), text: "s:failed".to_owned() };
        let filters = vec![filter("失敗"), filter("failed")];
        let (mut app, _) = App::new(AppConfig { size, filters, ..AppConfig::new(scope, utc) }, at(0));
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
                jobs: vec![row(1, Status::Active)],
                ..InitialData::default()
            })))),
            at(0),
        );
        let title = crate::tui::geometry::title_area(app.geometry().list_rule());
        let tabs = |app: &App| -> Vec<(u16, usize)> {
            title
                .columns()
                .filter_map(|cell| {
                    Some((cell.x, app.filter_tab_at(usize::from(cell.x - title.x), usize::from(title.width))?))
                })
                .collect()
        };
        let mut places: Vec<usize> = tabs(&app).into_iter().map(|(_, place)| place).collect();
        places.dedup();
        assert_eq!(places.len(), found.max(usize::from(!places.is_empty())), "{size:?}");
        for place in places.into_iter().rev() {
            let cells = tabs(&app);
            let (column, _) = cells.iter().find(|(_, at)| *at == place).expect("in sight");
            click(&mut app, *column, title.y);
            assert_eq!(app.filter_tabs().position(|(_, holds)| holds), Some(place), "{size:?}");
        }
    }
}

#[test]
fn a_click_on_a_preset_selects_its_range() {
    let mut app = views_app((160, 40), 3);
    let names = app.range_line(160, at(1)).1;
    assert!(names.iter().any(|name| name.is_current && name.text == "[7d]"), "{names:?}");
    for name in names.iter().rev().filter(|name| matches!(name.choice, RangeNameAction::Preset(_))) {
        // The current preset is in brackets, which shift the other presets, so the position is looked up again.
        let now = app.range_line(160, at(1)).1.into_iter().find(|other| other.choice == name.choice).expect("there");
        click(&mut app, u16::try_from(now.start_column).expect("a cell"), 1);
        assert_eq!(app.views.preset().map(RangeNameAction::Preset), Some(name.choice));
    }
    let custom =
        app.range_line(160, at(1)).1.into_iter().find(|name| name.choice == RangeNameAction::Custom).expect("there");
    click(&mut app, u16::try_from(custom.start_column).expect("a cell"), 1);
    assert!(app.top::<Calendar>().is_some());
    let mut app = views_app((40, 24), 3);
    let only = app.range_line(40, at(1)).1;
    assert!(matches!(only.as_slice(), [name] if name.choice == RangeNameAction::Next), "{only:?}");
    click(&mut app, u16::try_from(only[0].start_column + 2).expect("a cell"), 1);
    assert_eq!(app.views.range_name(at(1).date_naive()).as_deref(), Some("30d"));
}

#[test]
fn a_smaller_terminal_and_back_keeps_selection_scroll_position_and_focus() {
    for small in [(40, 12), (80, 24), (39, 11)] {
        let mut app = app((160, 48), 100);
        press(&mut app, &"j".repeat(70));
        press(&mut app, &"k".repeat(10));
        for open in [false, true] {
            if open {
                app.update(Msg::Input(Event::Key(KeyCode::Enter.into())), at(1));
            }
            let state = |app: &App| (selected(app), app.jobs.top(), app.pane, app.screen);
            let before = state(&app);
            app.update(Msg::Input(Event::Resize(small.0, small.1)), at(1));
            assert_eq!((selected(&app), app.pane), (before.0, before.2));
            app.update(Msg::Input(Event::Resize(160, 48)), at(1));
            assert_eq!(state(&app), before, "{small:?}");
        }
        let mut app = views_app((160, 48), 200);
        press(&mut app, &"j".repeat(90));
        press(&mut app, &"k".repeat(10));
        let state = |app: &App| (selected_path(app), app.views.table.top());
        let before = state(&app);
        app.update(Msg::Input(Event::Resize(small.0, small.1)), at(1));
        assert_eq!(selected_path(&app), before.0);
        app.update(Msg::Input(Event::Resize(160, 48)), at(1));
        assert_eq!(state(&app), before, "{small:?}");
    }
}
