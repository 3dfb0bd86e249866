use crate::model::analytics::{AnalyticsKind, Cursor, RowsLoadOutcome, RowsMerge, RowsReport, RowsResponse};
use crate::model::failure::{Failure, FailureKind};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, Report, StoredReport};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use crate::tui::draw::{ColorDepth, Theme, draw};
use crate::tui::finish_alerts::tests::{app, press};
use crate::tui::jobs::tests::at;
use crate::tui::views::table::Metric;
use crate::tui::{AnalyticsEffect, AnalyticsMsg, App, Effect, Msg, RowsMsg, ViewsMsg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn row(path: &str, human: i64, ai: i64) -> PageRow {
    PageRow { path: CleanText::line(path), counts: counts(human, ai) }
}

fn screen(app: &App) -> String {
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).expect("a terminal");
    let theme = Theme::new(ColorDepth::None);
    terminal.draw(|frame| draw(frame, app, &theme, at(0))).expect("drawn");
    terminal.backend().to_string()
}

/// Returns the app with the views of two pages on screen.
fn open() -> (App, DateRange) {
    let mut app = app(Vec::new());
    app.size = (120, 30);
    press(&mut app, '2');
    let range = app.views.query().range;
    let page =
        ViewsResponse { totals: counts(90, 30), rows: vec![row("/sso", 60, 20), row("/api", 30, 10)], has_more: None };
    let report = Some(Arc::new(Report::from_first_response(range, page, true, at(0))));
    let stored = Ok(StoredReport { report, ..StoredReport::default() });
    app.update(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored }), at(0));
    (app, range)
}

fn report(range: DateRange, rows: Vec<PageRow>, next: Option<&str>) -> Arc<RowsReport<PageRow>> {
    let response =
        RowsResponse { rows, totals: counts(33, 11), next: next.and_then(Cursor::new), has_unavailable_rows: false };
    Arc::new(RowsMerge::start(range, response, at(0)).into_report())
}

fn receive(app: &mut App, msg: RowsMsg<PageRow>) -> Vec<AnalyticsEffect> {
    analytics_effects(app.update(Msg::Analytics(AnalyticsMsg::Visitors(msg)), at(0)))
}

fn analytics_effects(effects: Vec<Effect>) -> Vec<AnalyticsEffect> {
    let analytics = |effect| match effect {
        Effect::Analytics(effect) => Some(effect),
        _ => None,
    };
    effects.into_iter().filter_map(analytics).collect()
}

fn ended(range: DateRange, report: Option<Arc<RowsReport<PageRow>>>, end_reason: LoadEndReason) -> RowsMsg<PageRow> {
    RowsMsg::Ended { range, outcome: RowsLoadOutcome { report, end_reason, requests: 1 } }
}

#[test]
fn visitors_are_requested_only_while_they_are_shown_and_once_per_range() {
    let (mut app, range) = open();
    let effects = analytics_effects(press(&mut app, 'u'));
    assert_eq!(effects, [AnalyticsEffect::LoadCached(AnalyticsKind::Visitors, range)]);
    let effects = receive(&mut app, RowsMsg::Cached { range, report: None, is_fresh: false });
    let [AnalyticsEffect::Load(AnalyticsKind::Visitors, plan)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((plan.range, plan.max_requests), (range, 1));
    assert!(screen(&app).contains("loading visitors…"), "{}", screen(&app));
    let rows = vec![row("/sso", 21, 7)];
    receive(&mut app, ended(range, Some(report(range, rows, Some("250"))), LoadEndReason::RequestLimit));
    let text = screen(&app);
    let line = |path: &str| text.lines().find(|line| line.contains(path)).expect("a row").to_owned();
    assert!(line("/sso").contains("28"), "{text}");
    assert!(line("/api").contains('?'), "not loaded, and so unknown: {text}");
    assert!(text.contains("visitors 44") && text.contains("visitors loaded for 1 page"), "{text}");
    press(&mut app, 'a');
    assert!(screen(&app).contains("continuing"), "{}", screen(&app));
    let effects = analytics_effects(press(&mut app, 'y'));
    let [AnalyticsEffect::Load(AnalyticsKind::Visitors, plan)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((plan.max_requests, plan.from_start), (20, false));
    receive(&mut app, ended(range, Some(report(range, vec![row("/sso", 21, 7)], None)), LoadEndReason::Complete));
    let text = screen(&app);
    let line = text.lines().find(|line| line.contains("/api")).expect("a row");
    assert!(!line.contains('?'), "a complete report doesn't list pages without visitors: {text}");
    press(&mut app, 'u');
    assert!(!screen(&app).contains("visitors 44"), "{}", screen(&app));
    assert_eq!(analytics_effects(press(&mut app, 'u')), [], "they are known");
}

#[test]
fn a_failure_is_shown_and_not_repeated() {
    let (mut app, range) = open();
    press(&mut app, 'u');
    receive(&mut app, RowsMsg::Cached { range, report: None, is_fresh: false });
    let failure = Failure::new(FailureKind::Offline, "Could not reach the service.");
    let effects = receive(&mut app, ended(range, None, LoadEndReason::Failed(failure)));
    assert_eq!(effects, []);
    assert!(screen(&app).contains("visitors not loaded: Could not reach the service."), "{}", screen(&app));
    let effects = analytics_effects(press(&mut app, 'r'));
    let is_load = |effect: &AnalyticsEffect| matches!(effect, AnalyticsEffect::Load(AnalyticsKind::Visitors, _));
    assert!(effects.iter().any(is_load), "{effects:?}");
}

#[test]
fn visitors_are_a_metric_to_sort_and_filter_by_while_they_are_shown() {
    let (mut app, range) = open();
    press(&mut app, 'u');
    let rows = vec![row("/sso", 3, 1), row("/api", 20, 9)];
    let cached = RowsMsg::Cached { range, report: Some(report(range, rows, None)), is_fresh: true };
    assert_eq!(receive(&mut app, cached), [], "fresh visitors take no request");
    while app.views.table.metric() != Metric::Visitors {
        press(&mut app, 'm');
    }
    let paths =
        |app: &App| -> Vec<String> { app.views.table.shown_pages().map(|page| page.path.to_string()).collect() };
    assert_eq!(paths(&app), ["/api", "/sso"]);
    app.views.table.set_filter("visitors>10");
    assert_eq!(paths(&app), ["/api"]);
    press(&mut app, 'u');
    assert_eq!(app.views.table.metric(), Metric::Total);
    assert!(app.views.table.filter_problem().is_some_and(|problem| problem.contains("needs visitors")));
}

#[test]
fn the_trend_of_visitors_loads_one_day_after_the_other() {
    let (mut app, range) = open();
    press(&mut app, 't');
    let effects = analytics_effects(press(&mut app, 'm'));
    let is_read = |effect: &AnalyticsEffect| matches!(effect, AnalyticsEffect::LoadCached(AnalyticsKind::Visitors, _));
    assert!(effects.len() >= 7 && effects.iter().all(is_read), "{effects:?}");
    for day in range.single_days() {
        let effects = receive(&mut app, RowsMsg::Cached { range: day, report: None, is_fresh: false });
        assert_eq!(effects, [], "nothing is requested before the cost was confirmed");
    }
    assert!(screen(&app).contains("Visitor trend"), "{}", screen(&app));
    press(&mut app, 'a');
    assert!(screen(&app).contains("7 requests"), "{}", screen(&app));
    let mut effects = analytics_effects(press(&mut app, 'y'));
    for day in range.single_days().collect::<Vec<_>>().into_iter().rev() {
        let [AnalyticsEffect::Load(AnalyticsKind::Visitors, plan)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(plan.range, day, "newest first");
        effects = receive(&mut app, ended(day, Some(report(day, Vec::new(), None)), LoadEndReason::Complete));
    }
    assert_eq!(effects, []);
    let text = screen(&app);
    assert!(text.contains("all 7 days loaded") && text.contains("AI visitors"), "{text}");
}
