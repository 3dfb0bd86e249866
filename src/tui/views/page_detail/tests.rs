use super::*;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::impact::PageViewsInRange;
use crate::model::ledger::{Budget, Quota};
use crate::model::remote_job::Status;
use crate::model::views::{PageRow, ViewsResponse};
use crate::tui::compose::editor::Editor;
use crate::tui::confirm::ConfirmDialog;
use crate::tui::draw::{ColorDepth, Theme, draw};
use crate::tui::finish_alerts::tests::{app, press};
use crate::tui::jobs::tests::{at, row as job};
use crate::tui::{ViewsEffect, ViewsMsg};
use crossterm::event::{Event, KeyCode};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn rows() -> Vec<PageRow> {
    [("/a", 50, 10), ("/b", 80, 5), ("/c", 50, 30)]
        .map(|(path, human, ai)| PageRow { path: CleanText::line(path), counts: counts(human, ai) })
        .to_vec()
}

fn views_screen() -> App {
    let mut dismissed = job(2, Status::Completed);
    dismissed.local.dismissed = true;
    let mut app = app(vec![job(1, Status::Active), dismissed, job(3, Status::Completed)]);
    press(&mut app, '2');
    let query = app.views.query();
    let value = ViewsResponse { totals: counts(180, 45), rows: rows(), has_more: Some(true) };
    app.update(Msg::Views(ViewsMsg::Loaded { query, result: Ok(Timed { value, as_of: at(0) }), old: None }), at(0));
    app
}

fn report(range: DateRange, rows: Vec<PageRow>, complete: bool) -> Arc<Report> {
    Arc::new(Report::from_first_response(range, ViewsResponse { rows, ..ViewsResponse::default() }, complete, at(0)))
}

fn press_enter(app: &mut App) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyCode::Enter.into())), at(0))
}

fn open(app: &mut App) -> &PageDetail {
    let wanted = CleanText::line("/a");
    let reads =
        |effect: &Effect| matches!(effect, Effect::Views(ViewsEffect::LoadPageHistory { path, .. }) if *path == wanted);
    assert!(press_enter(app).iter().any(reads));
    app.find::<PageDetail>().expect("page details")
}

fn load_history(app: &mut App, jobs: &[i64], periods: Vec<PageViewsInRange>) {
    let jobs = jobs.iter().map(|key| (JobKey(*key), PageViewsState::Unknown, PageViewsState::Unknown)).collect();
    let result = Ok(PageHistory { periods, jobs, ..PageHistory::default() });
    app.update(Msg::Views(ViewsMsg::PageHistoryLoaded { path: CleanText::line("/a"), result }), at(0));
}

#[test]
fn a_rank_is_known_only_if_all_pages_are_loaded() {
    let mut app = views_screen();
    let range = app.views.query().range;
    assert_eq!(open(&mut app).numbers.rank, None);
    press(&mut app, 'q');
    let mut app = views_screen();
    app.views.table.show_report(report(range, rows(), false), None);
    assert_eq!(open(&mut app).numbers.rank, None, "a partial report");
    let mut app = views_screen();
    app.views.table.show_report(report(range, rows(), true), None);
    let rank = open(&mut app).numbers.rank.expect("a rank");
    assert_eq!(
        (rank.human, rank.ai, rank.total, rank.page_count),
        (Some(2), Some(2), Some(3), 3),
        "equal pages share a rank"
    );
}

#[test]
fn compared_numbers_come_from_the_comparison_or_else_from_the_history() {
    let mut app = views_screen();
    let range = app.views.query().range;
    let ranges = app.views.days_to_compare_with_previous(at(0).date_naive()).expect("comparable");
    assert!(ranges.current != range, "today is not over");
    open(&mut app);
    let views = |human: i64| Timed { value: counts(human, 8), as_of: at(0) };
    let periods = [(ranges.current, views(45)), (ranges.previous, views(40))];
    load_history(&mut app, &[], periods.map(|(range, views)| PageViewsInRange { range, views }).into());
    let [current, previous] = [views(45), views(40)].map(PageViewsState::Known);
    assert_eq!(
        app.find::<PageDetail>().expect("page details").numbers.compared,
        Some(ComparedViews { ranges, current, previous })
    );
    let other = range.step(-5).expect("a range");
    let mut app = views_screen();
    app.views.table.show_report(report(range, rows(), true), Some(report(other, rows()[1..].to_vec(), true)));
    let compared = open(&mut app).numbers.compared.as_ref().expect("a comparison");
    assert_eq!(compared.ranges.previous, other);
    assert!(matches!(compared.previous, PageViewsState::NotListed(_)), "{compared:?}");
}

#[test]
fn enter_opens_the_selected_job_and_reports_that_it_is_dismissed() {
    let mut app = views_screen();
    open(&mut app);
    assert_eq!(press_enter(&mut app), [], "the jobs are not loaded yet");
    load_history(&mut app, &[3, 2], Vec::new());
    press(&mut app, 'j');
    press(&mut app, 'j');
    press_enter(&mut app);
    assert_eq!((app.screen, app.dialogs.len()), (Screen::Jobs, 0));
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(2)));
    let notice = app.notice.as_ref().map(|notice| notice.text.to_string());
    assert_eq!(notice.as_deref(), Some("This job is dismissed; z hides dismissed jobs again."));
}

#[test]
fn a_job_that_is_not_in_the_list_cannot_be_opened() {
    let mut app = views_screen();
    open(&mut app);
    load_history(&mut app, &[77], Vec::new());
    press_enter(&mut app);
    assert_eq!((app.screen, app.dialogs.len()), (Screen::Analytics, 1));
}

#[test]
fn page_details_can_copy_the_path_and_start_a_job_about_the_page() {
    let mut app = views_screen();
    open(&mut app);
    let copied = |effect: &Effect| matches!(effect, Effect::Copy { text, .. } if text == "/a");
    assert!(press(&mut app, 'y').iter().any(copied));
    press(&mut app, 'n');
    let editor = app.find::<Editor>().expect("an editor");
    assert_eq!((editor.title.as_str(), app.dialogs.len()), ("New job about /a", 3), "over the page details");
}

#[test]
fn a_failure_or_the_history_of_another_page_changes_nothing() {
    let mut app = views_screen();
    open(&mut app);
    let path = CleanText::line("/b");
    app.update(Msg::Views(ViewsMsg::PageHistoryLoaded { path, result: Ok(PageHistory::default()) }), at(0));
    assert!(app.find::<PageDetail>().expect("page details").history.is_loading());
    load_history(&mut app, &[3], Vec::new());
    let failure = Failure::new(FailureKind::Store, "No.");
    app.update(Msg::Views(ViewsMsg::PageHistoryLoaded { path: CleanText::line("/a"), result: Err(failure) }), at(0));
    assert_eq!(app.find::<PageDetail>().and_then(PageDetail::selected_job), Some(JobKey(3)));
}

#[test]
fn the_selection_stays_visible_and_everything_can_be_scrolled_to() {
    let mut app = views_screen();
    app.update(Msg::Input(Event::Resize(40, 12)), at(0));
    open(&mut app);
    load_history(&mut app, &[3, 2, 1], Vec::new());
    let rows = app.geometry().dialog_rows();
    let columns = app.geometry().dialog_columns();
    for _ in 0..30 {
        press(&mut app, 'j');
        let detail = app.find::<PageDetail>().expect("page details");
        let lines = detail.lines(columns, rows);
        let at = lines.iter().position(|line| *line == PageDetailLine::Job(detail.selected_job_index)).expect("a line");
        assert!(
            detail.selected_job_index == 0
                || detail.selected_job_index == 2
                || (detail.scroll..detail.scroll + rows).contains(&at)
        );
        assert!(detail.scroll + rows <= lines.len());
    }
    let detail = app.find::<PageDetail>().expect("page details");
    assert_eq!(
        (detail.selected_job_index, detail.scroll),
        (2, detail.lines(columns, rows).len() - rows),
        "to the last line"
    );
    press(&mut app, 'g');
    assert_eq!(
        (
            app.find::<PageDetail>().map(|detail| detail.scroll),
            app.find::<PageDetail>().and_then(PageDetail::selected_job)
        ),
        (Some(0), Some(JobKey(3)))
    );
    app.update(Msg::Input(Event::Resize(160, 48)), at(0));
    assert_eq!(app.find::<PageDetail>().map(|detail| detail.scroll), Some(0));
}

#[test]
fn a_job_opens_in_the_detail_pane_at_every_width() {
    for size in [(40, 12), (80, 24), (160, 48)] {
        let mut app = views_screen();
        app.size = size;
        open(&mut app);
        load_history(&mut app, &[3], Vec::new());
        press_enter(&mut app);
        assert_eq!(
            (app.screen, app.pane, app.jobs.selected().map(|row| row.key)),
            (Screen::Jobs, Pane::Detail, Some(JobKey(3)))
        );
        assert!(app.detail_is_visible());
    }
}

#[test]
fn missing_views_of_the_selected_job_are_loaded_after_a_confirmation() {
    let mut app = views_screen();
    let start = at(0) - chrono::TimeDelta::days(30);
    let mut finished = job(3, Status::Completed);
    (finished.created_at, finished.local.finished_at) = (start, Some(start));
    finished.local.pages = [CleanText::line("/a")].into();
    app.put_job(finished);
    open(&mut app);
    assert!(!app.hints().any(|(_, row, _)| row.hint == "before/after"), "there is no job yet");
    let is_offered = |app: &App| app.hints().any(|(_, row, _)| row.hint == "before/after");
    let known = || PageViewsState::Known(Timed { value: counts(5, 8), as_of: at(0) });
    let loaded = PageHistory { jobs: vec![(JobKey(3), known(), known())], ..PageHistory::default() };
    app.update(Msg::Views(ViewsMsg::PageHistoryLoaded { path: CleanText::line("/a"), result: Ok(loaded) }), at(0));
    assert!(!is_offered(&app), "both weeks are loaded");
    load_history(&mut app, &[3], Vec::new());
    assert!(is_offered(&app));
    // Answers the read of the cache, which comes before the confirmation.
    for effect in press(&mut app, 'b') {
        if let Effect::Views(ViewsEffect::LoadCachedReport(range)) = effect {
            app.update(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored: Ok(Default::default()) }), at(0));
        }
    }
    assert!(app.top::<ConfirmDialog>().is_some(), "{:?}", app.notice);
}

#[test]
fn the_missing_days_of_the_trend_are_loaded_after_a_confirmation() {
    let mut app = views_screen();
    let days = app.views.query().range.single_days().collect::<Vec<_>>();
    open(&mut app);
    let views = |human| Timed { value: counts(human, 8), as_of: at(0) };
    let known = days.iter().take(4).map(|range| PageViewsInRange { range: *range, views: views(5) });
    load_history(&mut app, &[], known.collect());
    let detail = app.find::<PageDetail>().expect("page details");
    assert!(detail.has_known_bars() && detail.has_missing_days(at(0)));
    press(&mut app, 't');
    let question = app.top::<ConfirmDialog>().expect("a question").text.clone();
    assert!(
        question.starts_with("Load the 50 most viewed pages of 3 days for the trend of /a? Uses 3 requests ("),
        "{question}"
    );
    press(&mut app, 'n');
    let two_left = Budget { used: 98, ..Budget::unused(Quota::Views) };
    app.update(Msg::Engine(EngineEvent::Budget(Quota::Views, two_left)), at(0));
    press(&mut app, 't');
    let question = &app.top::<ConfirmDialog>().expect("a question").text;
    assert!(
        question.contains(" of 2 days ") && question.ends_with("? Uses 2 requests (2 left this hour)."),
        "{question}"
    );
    let effects = press(&mut app, 'y');
    let is_newest_first = |effect: &Effect| matches!(effect, Effect::Views(ViewsEffect::LoadTotals(ranges)) if ranges.first() == days.last());
    assert!(effects.iter().any(is_newest_first), "{effects:?}");
    let read = app.update(Msg::Views(ViewsMsg::TotalsLoadEnded(Ok(()))), at(0));
    assert!(read.iter().any(|effect| matches!(effect, Effect::Views(ViewsEffect::LoadPageHistory { .. }))), "{read:?}");
}

#[test]
fn the_chart_has_a_legend_if_all_its_days_are_loaded() {
    let mut app = views_screen();
    app.size = (80, 48);
    let previous = app.views.previous_period().expect("a period");
    let days: Vec<DateRange> = app.views.query().range.single_days().chain(previous.single_days()).collect();
    open(&mut app);
    let views = || Timed { value: counts(5, 8), as_of: at(0) };
    load_history(&mut app, &[], days.iter().map(|range| PageViewsInRange { range: *range, views: views() }).collect());
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).expect("a terminal");
    terminal.draw(|frame| draw(frame, &app, &Theme::new(ColorDepth::None), at(0))).expect("drawn");
    let shown = terminal.backend().to_string();
    let legend = "█ human  ▒ AI  ╱╲ so far  ░ previous  ─ weekend   all 7 days loaded";
    assert!(shown.contains(legend), "{shown}");
}

#[test]
fn a_day_on_which_the_page_is_not_listed_has_no_views_and_any_other_day_is_unknown() {
    let mut app = views_screen();
    let days: Vec<DateRange> = app.views.query().range.single_days().collect();
    open(&mut app);
    let days_without_views = vec![Timed { value: days[0], as_of: at(0) }];
    let result = Ok(PageHistory { days_without_views, ..PageHistory::default() });
    app.update(Msg::Views(ViewsMsg::PageHistoryLoaded { path: CleanText::line("/a"), result }), at(0));
    let detail = app.find::<PageDetail>().expect("page details");
    let human = |day: DateRange| detail.totals.get(day).map(|known| known.value.human.clone());
    assert_eq!([human(days[0]), human(days[1])], [Some(Count::Known(0)), None]);
}
