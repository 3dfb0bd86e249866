//! Alerts for finished jobs: a notice on screen and, if the terminal doesn't have the focus, a terminal notification.
//! At most one notification is sent per second. A terminal that never reports its focus is treated as focused.

use super::shared_notice::{SharedNotice, add_job_texts};
use crate::model::Time;
use crate::model::job::{Job, JobKey};
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// The minimum time between two notifications.
const MIN_NOTIFICATION_INTERVAL: TimeDelta = TimeDelta::seconds(1);
/// The maximum number of characters of a title in a notification.
const MAX_ALERT_TITLE_CHARS: usize = 80;

/// The alerts that are not shown yet, and the focus of the terminal.
#[derive(Debug, Default)]
pub(super) struct FinishAlerts {
    /// Whether the terminal has lost the focus.
    is_unfocused: bool,
    /// Alerts that were added during this update. They are shown when the update ends.
    new_alerts: Vec<(JobKey, CleanText)>,
    /// Alerts that the next notification reports.
    unsent_alerts: Vec<(JobKey, CleanText)>,
    /// The earliest time of the next notification.
    earliest_next_notification: Option<Time>,
    shown: SharedNotice,
}

impl FinishAlerts {
    /// Adds an alert if the job has finished or got its pull request between `old` and `new`.
    pub(super) fn add_alert_if_finished(&mut self, old: &Job, new: &Job) {
        let finished =
            new.remote.status.as_ref().filter(|status| status.is_finished() && old.is_working() && !new.local.gone);
        let text = match (finished, &old.remote.pr_link, &new.remote.pr_link) {
            (Some(status), ..) => format!("{status}: {}", alert_title(new)),
            (None, None, Some(_)) => match new.pr_number() {
                Some(number) => format!("PR {number}: {}", alert_title(new)),
                None => format!("pull request: {}", alert_title(new)),
            },
            _ => return,
        };
        self.new_alerts.push((new.key, CleanText::line(&text)));
    }

    /// Sets whether the terminal is focused. While it is focused, the user sees the screen, so pending notifications
    /// are dropped. Returns whether the focus changed.
    pub(super) fn set_focused(&mut self, is_focused: bool) -> bool {
        if is_focused {
            self.unsent_alerts.clear();
        }
        std::mem::replace(&mut self.is_unfocused, !is_focused) == is_focused
    }

    /// Returns when the pending notification can be sent. `None` if no notification is pending. Also `None` if no
    /// notification was sent before, because the pending one can then be sent at once.
    pub(super) fn notification_due_at(&self) -> Option<Time> {
        self.earliest_next_notification.filter(|_| !self.unsent_alerts.is_empty())
    }

    /// Returns the notice about the alerts that were added during this update, if there are any, and about those that
    /// share a notice with them. If the terminal is not focused, the next notification reports the new alerts too.
    pub(super) fn take_new_summary(&mut self, now: Time) -> Option<CleanText> {
        let added = std::mem::take(&mut self.new_alerts);
        if added.is_empty() {
            return None;
        }
        if self.is_unfocused {
            add_job_texts(&mut self.unsent_alerts, added.clone());
        }
        Some(summarize(self.shown.extend(added, now)))
    }

    /// Returns the notification to send now, if there is one.
    pub(super) fn take_due_notification(&mut self, now: Time) -> Option<CleanText> {
        if self.unsent_alerts.is_empty()
            || self.earliest_next_notification.is_some_and(|at| now < at && at - now <= MIN_NOTIFICATION_INTERVAL)
        {
            return None;
        }
        self.earliest_next_notification = Some(now + MIN_NOTIFICATION_INTERVAL);
        Some(summarize(&std::mem::take(&mut self.unsent_alerts)))
    }
}

fn alert_title(row: &Job) -> CleanText {
    CleanText::title(row.local.title.as_str(), MAX_ALERT_TITLE_CHARS)
}

fn summarize(alerts: &[(JobKey, CleanText)]) -> CleanText {
    match alerts {
        [(_, text)] => text.clone(),
        _ => CleanText::line(&format!("{} jobs finished", alerts.len())),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::JobKey;
    use crate::model::remote_job::{RemoteState, Status};
    use crate::tui::App;
    use crate::tui::Effect;
    use crate::tui::Severity;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::{AppConfig, InitialData, JobsEffect, JobsMsg, Msg};
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    pub(crate) fn app(jobs: Vec<Job>) -> App {
        let scope = Scope { base_url: "http://127.0.0.1:1".into(), project: "p".into(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let config = AppConfig { size: (80, 24), reduced_motion: true, ..AppConfig::new(scope, utc) };
        let (mut app, _) = App::new(config, at(0));
        let data = InitialData { jobs, ..InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        app
    }

    pub(crate) fn press(app: &mut App, key: char) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE))), at(0))
    }

    #[test]
    fn each_focus_change_is_reported_once_and_a_key_press_counts_as_focus() {
        let mut app = app(Vec::new());
        let mut reported = |event: Event| {
            let effects = app.update(Msg::Input(event), at(0));
            effects.into_iter().find_map(|effect| match effect {
                Effect::Jobs(JobsEffect::ReportFocus(is_focused)) => Some(is_focused),
                _ => None,
            })
        };
        assert_eq!(reported(Event::FocusGained), None);
        assert_eq!([reported(Event::FocusLost), reported(Event::FocusLost)], [Some(false), None]);
        let key = Event::Key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE));
        assert_eq!([reported(key), reported(Event::FocusGained)], [Some(true), None]);
    }

    #[test]
    fn refreshing_a_job_also_refreshes_its_pull_request() {
        let job = row(1, Status::Completed);
        let refreshes = |job: Job| {
            let effects = press(&mut app(vec![job]), 'r');
            effects.contains(&Effect::Jobs(JobsEffect::RefreshPullRequests(vec![JobKey(1)])))
        };
        let pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        let remote = RemoteState { pr_link, ..job.remote.clone() };
        assert!(refreshes(job.clone()), "tokens are read again");
        assert!(refreshes(Job { remote, ..job }));
    }

    fn app_with_working_jobs(keys: std::ops::RangeInclusive<i64>) -> App {
        app(keys.map(|key| row(key, Status::Active)).collect())
    }

    fn status_change(key: i64, status: Status) -> Msg {
        let mut row = row(key, status);
        row.revision += 1;
        Msg::Engine(EngineEvent::Job(Box::new(row)))
    }

    fn notifications(effects: Vec<Effect>) -> Vec<String> {
        let texts = effects.into_iter().filter_map(|effect| match effect {
            Effect::ShowDesktopNotification(text) => Some(text.to_string()),
            _ => None,
        });
        texts.collect()
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn without_focus_a_finished_job_shows_a_notification_and_a_notice() {
        for (status, text) in [
            (Status::Completed, "completed: Job 1"),
            (Status::Failed, "failed: Job 1"),
            (Status::Archived, "archived: Job 1"),
        ] {
            let mut app = app_with_working_jobs(1..=1);
            app.update(Msg::Input(Event::FocusLost), at(0));
            assert_eq!(notifications(app.update(status_change(1, status), at(1))), [text]);
            assert_eq!(notice(&app), text);
        }
    }

    #[test]
    fn with_focus_a_finished_job_shows_only_a_notice() {
        let mut app = app_with_working_jobs(1..=1);
        assert!(notifications(app.update(status_change(1, Status::Completed), at(1))).is_empty());
        assert_eq!(notice(&app), "completed: Job 1");
    }

    #[test]
    fn a_key_press_means_that_the_terminal_has_the_focus() {
        let mut app = app_with_working_jobs(1..=1);
        app.update(Msg::Input(Event::FocusLost), at(0));
        press(&mut app, 'j');
        assert!(notifications(app.update(status_change(1, Status::Completed), at(1))).is_empty());
    }

    #[test]
    fn alerts_within_a_second_are_summarized_in_one_notification() {
        let mut app = app_with_working_jobs(1..=4);
        app.update(Msg::Input(Event::FocusLost), at(0));
        assert_eq!(notifications(app.update(status_change(1, Status::Completed), at(1))), ["completed: Job 1"]);
        for key in 2..=4 {
            assert!(notifications(app.update(status_change(key, Status::Failed), at(1))).is_empty());
        }
        assert_eq!(notice(&app), "4 jobs finished");
        assert_eq!(app.next_timer(at(1)), Some(at(2)));
        assert_eq!(notifications(app.update(Msg::Timer, at(2))), ["3 jobs finished"]);
        assert!(notifications(app.update(Msg::Timer, at(3))).is_empty());
    }

    #[test]
    fn pending_notifications_are_dropped_when_the_focus_returns() {
        let mut app = app_with_working_jobs(1..=2);
        app.update(Msg::Input(Event::FocusLost), at(0));
        app.update(status_change(1, Status::Completed), at(1));
        app.update(status_change(2, Status::Completed), at(1));
        app.update(Msg::Input(Event::FocusGained), at(1));
        assert!(notifications(app.update(Msg::Timer, at(2))).is_empty());
    }

    #[test]
    fn a_pull_request_that_comes_after_the_job_has_finished_shows_a_notification() {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.update(Msg::Input(Event::FocusLost), at(0));
        let mut with_pr = row(1, Status::Completed);
        with_pr.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        with_pr.revision += 1;
        let effects = app.update(Msg::Engine(EngineEvent::Job(Box::new(with_pr))), at(1));
        assert_eq!(notifications(effects), ["PR 7: Job 1"]);
    }

    #[test]
    fn a_job_that_finishes_and_gets_its_pull_request_at_the_same_time_is_one_job() {
        let mut app = app_with_working_jobs(1..=2);
        app.update(Msg::Input(Event::FocusLost), at(0));
        assert_eq!(notifications(app.update(status_change(2, Status::Failed), at(0))), ["failed: Job 2"]);
        app.update(status_change(1, Status::Completed), at(0));
        let mut with_pr = row(1, Status::Completed);
        with_pr.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        with_pr.revision += 2;
        app.update(Msg::Engine(EngineEvent::Job(Box::new(with_pr))), at(0));
        assert_eq!(notice(&app), "2 jobs finished");
        assert_eq!(notifications(app.update(Msg::Timer, at(1))), ["PR 7: Job 1"]);
    }

    #[test]
    fn new_jobs_and_other_changes_show_no_notification() {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.update(Msg::Input(Event::FocusLost), at(0));
        assert!(notifications(app.update(status_change(1, Status::Archived), at(1))).is_empty());
        assert!(notifications(app.update(status_change(9, Status::Completed), at(1))).is_empty());
    }

    #[test]
    fn an_alert_does_not_replace_the_notice_of_a_problem() {
        let mut app = app_with_working_jobs(1..=1);
        app.notify(Severity::Error, "the disk is full", at(0));
        app.update(status_change(1, Status::Completed), at(1));
        assert_eq!(notice(&app), "the disk is full");
    }
}
