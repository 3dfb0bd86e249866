use super::*;
use crate::model::impact::PageViewsState;
use crate::model::period::DateRange;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use crate::model::views::Counts;
use crate::tui::App;
use crate::tui::Effect;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::finish_alerts::tests::{app, press};
use crate::tui::jobs::tests::row;
use crate::tui::{JobsEffect, JobsMsg, Msg, Pane, ViewsEffect, ViewsMsg};
use chrono::TimeDelta;

fn day(days: i64) -> Time {
    let noon: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
    noon + TimeDelta::days(days)
}

/// Creates a job that was started for a page 30 days ago and finished `finished` days later. If `finished` is `None`,
/// the job is still active.
fn job_about_page(key: i64, finished: Option<i64>) -> Job {
    let mut job = row(key, if finished.is_some() { Status::Completed } else { Status::Active });
    job.local.pages = [CleanText::line("/a")].into();
    job.created_at = day(-30);
    job.local.finished_at = finished.map(|days| day(-30 + days));
    job
}

fn pages_with_unknown_views() -> Vec<PageImpact> {
    vec![PageImpact {
        path: CleanText::line("/a"),
        before: PageViewsState::Unknown,
        after: PageViewsState::Unknown,
        signals: None,
    }]
}

fn jobs_to_read(effects: &[Effect]) -> Vec<i64> {
    let keys = effects.iter().filter_map(|effect| match effect {
        Effect::Jobs(JobsEffect::LoadJobImpact(job)) => Some(job.0),
        _ => None,
    });
    keys.collect()
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| notice.text.as_str())
}

#[test]
fn the_pages_of_only_one_job_are_read_at_a_time_and_the_last_requested_job_is_next() {
    let mut pages = JobTargetPages::default();
    let (one, two, three) = (job_about_page(1, None), job_about_page(2, None), job_about_page(3, None));
    assert_eq!(pages.show(Some(&one)), Some(JobKey(1)));
    assert_eq!(pages.show(Some(&one)), None);
    assert_eq!((pages.show(Some(&two)), pages.show(Some(&three))), (None, None));
    assert_eq!(pages.finish_read(JobKey(1), Ok(pages_with_unknown_views()), day(0)), Some(JobKey(3)));
    assert_eq!(pages.finish_read(JobKey(3), Ok(pages_with_unknown_views()), day(0)), None);
    assert!(pages.page(0).is_some());
    assert_eq!(pages.show(Some(&job_about_page(3, Some(2)))), Some(JobKey(3)), "finished: there is a week after");
    assert!(pages.page(0).is_none(), "numbers of other weeks are not shown");
    assert_eq!(pages.request_read(), None, "read again after this read");
    assert_eq!(pages.finish_read(JobKey(3), Ok(pages_with_unknown_views()), day(0)), Some(JobKey(3)));
    assert_eq!((pages.show(None), pages.finish_read(JobKey(3), Ok(pages_with_unknown_views()), day(0))), (None, None));
    assert!(pages.page(0).is_none());
}

#[test]
fn the_pages_of_the_selected_job_are_read_again_after_page_views_were_loaded() {
    let mut app = app(vec![job_about_page(1, Some(1))]);
    let effects =
        app.update(Msg::Jobs(JobsMsg::ImpactLoaded { job: JobKey(1), result: Ok(pages_with_unknown_views()) }), day(0));
    assert_eq!(jobs_to_read(&effects), Vec::<i64>::new());
    let end = crate::model::report::LoadOutcome {
        report: None,
        end_reason: crate::model::report::LoadEndReason::Complete,
        requests: 1,
    };
    let range = DateRange::last_days(7, day(-1).date_naive());
    assert!(jobs_to_read(&app.update(Msg::Views(ViewsMsg::LoadEnded { range, end }), day(0))).contains(&1));
}

#[test]
fn complete_weeks_that_are_not_loaded_can_be_fetched_with_the_key_a() {
    let mut app = app(vec![job_about_page(1, Some(1))]);
    app.update(Msg::Jobs(JobsMsg::ImpactLoaded { job: JobKey(1), result: Ok(pages_with_unknown_views()) }), day(0));
    for pane in [Pane::List, Pane::Detail] {
        app.pane = pane;
        let key = Msg::Input(crossterm::event::Event::Key(crossterm::event::KeyCode::Char('a').into()));
        // Before the confirmation, docdeck may read cached reports, because the cost depends on them.
        for effect in app.update(key, day(0)) {
            if let Effect::Views(ViewsEffect::LoadCachedReport(range)) = effect {
                app.update(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored: Ok(Default::default()) }), day(0));
            }
        }
        let question = app.top::<ConfirmDialog>().expect("a question");
        let ConfirmAction::LoadAllPageViews(orders) = &question.on_yes else { panic!("{:?}", question.on_yes) };
        let ranges: Vec<String> = orders.iter().map(|order| order.range.to_string()).collect();
        assert_eq!(ranges, ["2026-10-14 … 2026-10-20", "2026-10-23 … 2026-10-29"]);
        app.dialogs.pop();
    }
}

#[test]
fn a_notice_explains_why_there_is_nothing_to_fetch() {
    let load = |views: &mut PageViewsState| {
        *views = PageViewsState::Known(Timed { value: Counts::default(), as_of: day(0) });
    };
    let notice_for = |finished: Option<i64>| {
        let mut app = app(vec![job_about_page(1, finished)]);
        let mut pages = pages_with_unknown_views();
        load(&mut pages[0].before);
        app.update(Msg::Jobs(JobsMsg::ImpactLoaded { job: JobKey(1), result: Ok(pages) }), day(0));
        app.update(Msg::Input(crossterm::event::Event::Key(crossterm::event::KeyCode::Char('a').into())), day(0));
        assert!(app.dialogs.is_empty());
        notice(&app).to_owned()
    };
    assert_eq!(notice_for(None), "Nothing to load yet: the job has not finished.");
    assert_eq!(notice_for(Some(28)), "Nothing to load yet: the week after the job is available from 26 Nov (UTC).");
    let mut plain = app(vec![row(1, Status::Active)]);
    press(&mut plain, 'a');
    assert!(notice(&plain).starts_with("This job was not started for a page"), "{}", notice(&plain));
    let mut early = app(vec![job_about_page(1, None)]);
    press(&mut early, 'a');
    assert!(notice(&early).contains("still loading"), "{}", notice(&early));
}

#[test]
fn long_lists_of_pages_are_truncated_and_show_how_many_pages_are_left_out() {
    let mut job = job_about_page(1, None);
    assert_eq!(pages_lines(&job, &JobTargetPages::default(), 110), [PagesLine::Days, PagesLine::Page(0)]);
    job.local.pages = (0..MAX_LISTED_PAGES + 3).map(|n| CleanText::line(&format!("/{n}"))).collect();
    let lines = pages_lines(&job, &JobTargetPages::default(), 40);
    assert_eq!((lines.len(), lines.last()), (1 + MAX_LISTED_PAGES + 1, Some(&PagesLine::More(3))));
}
