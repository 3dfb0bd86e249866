use super::*;
use crate::app::dialog::{ConfirmAction, Dialog};
use crate::app::finish_alerts::tests::{app, press};
use crate::app::jobs::tests::row;
use crate::app::{Msg, Pane};
use crate::model::impact::PageViews;
use crate::model::job::Status;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::Counts;
use chrono::TimeDelta;

fn day(days: i64) -> Time {
    let noon: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
    noon + TimeDelta::days(days)
}

/// Started 30 days ago; finished so many days after that.
fn about(key: i64, finished: Option<i64>) -> Job {
    let mut job = row(key, if finished.is_some() { Status::Completed } else { Status::Active });
    job.pages = [CleanText::line("/a")].into();
    job.created_at = day(-30);
    job.finished_at = finished.map(|days| day(-30 + days));
    job
}

fn unknown() -> Vec<PageImpact> {
    vec![PageImpact { path: CleanText::line("/a"), before: PageViews::Unknown, after: PageViews::Unknown }]
}

fn recalled(effects: &[Effect]) -> Vec<i64> {
    let keys = effects.iter().filter_map(|effect| match effect {
        Effect::RecallAbout(job) => Some(job.0),
        _ => None,
    });
    keys.collect()
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| notice.text.as_str())
}

#[test]
fn one_jobs_pages_are_read_at_a_time_and_the_last_one_wanted_comes_next() {
    let mut pages = JobPages::default();
    let (one, two, three) = (about(1, None), about(2, None), about(3, None));
    assert_eq!(pages.show(Some(&one)), Some(JobKey(1)));
    assert_eq!(pages.show(Some(&one)), None);
    assert_eq!((pages.show(Some(&two)), pages.show(Some(&three))), (None, None));
    assert_eq!(pages.take(JobKey(1), Ok(unknown()), day(0)), Some(JobKey(3)));
    assert_eq!(pages.take(JobKey(3), Ok(unknown()), day(0)), None);
    assert!(pages.page(0).is_some());
    assert_eq!(pages.show(Some(&about(3, Some(2)))), Some(JobKey(3)), "finished: there is a window after");
    assert!(pages.page(0).is_none(), "numbers of other windows are not shown");
    assert_eq!(pages.read(), None, "once more when this one is there");
    assert_eq!(pages.take(JobKey(3), Ok(unknown()), day(0)), Some(JobKey(3)));
    assert_eq!((pages.show(None), pages.take(JobKey(3), Ok(unknown()), day(0))), (None, None));
    assert!(pages.page(0).is_none());
}

#[test]
fn the_pages_of_the_selected_job_are_read_and_once_more_after_a_load() {
    let mut app = app(vec![about(1, Some(1))]);
    assert_eq!(recalled(&app.update(Msg::About { job: JobKey(1), result: Ok(unknown()) }, day(0))), Vec::<i64>::new());
    let end = crate::model::report::LoadOutcome {
        report: None,
        ended: crate::model::report::LoadEnded::Complete,
        requests: 1,
    };
    let range = DateRange::last_days(7, day(-1).date_naive());
    assert!(recalled(&app.update(Msg::LoadEnded { range, end }, day(0))).contains(&1));
}

#[test]
fn the_key_asks_for_what_is_over_and_not_known() {
    let mut app = app(vec![about(1, Some(1))]);
    app.update(Msg::About { job: JobKey(1), result: Ok(unknown()) }, day(0));
    for pane in [Pane::List, Pane::Detail] {
        app.pane = pane;
        let key = Msg::Input(crossterm::event::Event::Key(crossterm::event::KeyCode::Char('a').into()));
        // What the price depends on may be read first.
        for effect in app.update(key, day(0)) {
            if let Effect::LoadCached(range) = effect {
                app.update(Msg::CachedReport { range, recalled: Ok(Default::default()) }, day(0));
            }
        }
        let Some(Dialog::Question(question)) = app.dialogs.pop() else { panic!("no question in {pane:?}") };
        let ConfirmAction::LoadAll(orders) = question.yes else { panic!("{:?}", question.yes) };
        let ranges: Vec<String> = orders.iter().map(|order| order.range.to_string()).collect();
        assert_eq!(ranges, ["2026-10-14 … 2026-10-20", "2026-10-23 … 2026-10-29"]);
    }
}

#[test]
fn what_can_not_be_asked_for_is_said() {
    let whole = |views: &mut PageViews| {
        *views = PageViews::Known(Timed { value: Counts::default(), as_of: day(0) });
    };
    let said = |finished: Option<i64>| {
        let mut app = app(vec![about(1, finished)]);
        let mut pages = unknown();
        whole(&mut pages[0].before);
        app.update(Msg::About { job: JobKey(1), result: Ok(pages) }, day(0));
        app.update(Msg::Input(crossterm::event::Event::Key(crossterm::event::KeyCode::Char('a').into())), day(0));
        assert!(app.dialogs.is_empty());
        notice(&app).to_owned()
    };
    assert_eq!(said(None), "Nothing to ask for yet: the days after begin once it has finished.");
    assert_eq!(said(Some(28)), "Nothing to ask for yet: the days after it end on 2026-11-25 (UTC).");
    let mut plain = app(vec![row(1, Status::Active)]);
    press(&mut plain, 'a');
    assert!(notice(&plain).starts_with("This job was not started about pages"), "{}", notice(&plain));
    let mut early = app(vec![about(1, None)]);
    press(&mut early, 'a');
    assert!(notice(&early).contains("still being read"), "{}", notice(&early));
}

#[test]
fn many_pages_are_listed_in_part_and_the_others_counted() {
    let mut job = about(1, None);
    assert_eq!(
        pages_lines(&job, 110),
        [PagesLine::DaysBefore, PagesLine::DaysAfter, PagesLine::Path(0), PagesLine::Views(0)]
    );
    job.pages = (0..PAGES_MAX + 3).map(|n| CleanText::line(&format!("/{n}"))).collect();
    let lines = pages_lines(&job, 40);
    assert_eq!((lines.len(), lines.last()), (2 + 3 * PAGES_MAX + 1, Some(&PagesLine::More(3))));
}
