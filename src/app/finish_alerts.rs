//! Jobs that finish: a line in the program always, and a terminal notification when the terminal has no focus, at most
//! one a second. A terminal that never reports its focus counts as looked at.

use super::{App, Effect, Severity};
use crate::model::Time;
use crate::model::row::Job;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// Shortest time between two notifications.
const PAUSE: TimeDelta = TimeDelta::seconds(1);
/// Characters of a title that a notification holds.
const TITLE: usize = 80;

/// What is to be told, and whether anybody looks.
#[derive(Debug, Default)]
pub(super) struct FinishAlerts {
    /// The terminal said that it lost the focus.
    away: bool,
    /// Said on the screen at the end of this update.
    fresh: Vec<CleanText>,
    /// To go out as a notification.
    waiting: Vec<CleanText>,
    /// The next notification goes out no earlier.
    not_before: Option<Time>,
}

impl FinishAlerts {
    /// Notes what a change of a row says: that the job finished, or that its pull request came.
    pub(super) fn compare(&mut self, old: &Job, new: &Job) {
        let finished = new.status.as_ref().filter(|status| status.is_finished() && old.is_working() && !new.gone);
        let text = match (finished, &old.pr_link, &new.pr_link) {
            (Some(status), ..) => format!("{status}: {}", title(new)),
            (None, None, Some(_)) => match new.pr_number() {
                Some(number) => format!("PR {number}: {}", title(new)),
                None => format!("pull request: {}", title(new)),
            },
            _ => return,
        };
        self.fresh.push(CleanText::line(&text));
    }

    /// The terminal got the focus or lost it. Who is back sees the screen.
    pub(super) fn focus(&mut self, here: bool) {
        self.away = !here;
        if here {
            self.waiting.clear();
        }
    }

    /// When a notification that waits may go out.
    pub(super) fn due(&self) -> Option<Time> {
        self.not_before.filter(|_| !self.waiting.is_empty())
    }

    /// The notification to send now.
    fn take(&mut self, now: Time) -> Option<CleanText> {
        if self.waiting.is_empty() || self.not_before.is_some_and(|at| now < at && at - now <= PAUSE) {
            return None;
        }
        self.not_before = Some(now + PAUSE);
        Some(summed_up(&std::mem::take(&mut self.waiting)))
    }
}

fn title(row: &Job) -> CleanText {
    CleanText::title(row.title.as_str(), TITLE)
}

fn summed_up(texts: &[CleanText]) -> CleanText {
    match texts {
        [one] => one.clone(),
        many => CleanText::line(&format!("{} jobs finished", many.len())),
    }
}

impl App {
    /// Tells of the jobs that finished in this update.
    pub(super) fn signal(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let fresh = std::mem::take(&mut self.finish_alerts.fresh);
        if !fresh.is_empty() {
            // A problem that stands there is not wiped away by good news.
            if self.notice.as_ref().is_none_or(|notice| notice.severity == Severity::Info || notice.until <= now) {
                self.notify(Severity::Info, summed_up(&fresh).as_str(), now);
            }
            if self.finish_alerts.away {
                self.finish_alerts.waiting.extend(fresh);
            }
        }
        effects.extend(self.finish_alerts.take(now).map(Effect::Notify));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};
    use crate::app::{AppConfig, InitialData, Msg};
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::Status;
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    pub(crate) fn app(jobs: Vec<Job>) -> App {
        let scope = Scope { base_url: "http://127.0.0.1:1".into(), project: "p".into(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (80, 24), calm: true, ..AppConfig::new(scope, utc) };
        let (mut app, _) = App::new(start, at(0));
        let known = InitialData { jobs, ..InitialData::default() };
        app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
        app
    }

    pub(crate) fn press(app: &mut App, key: char) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE))), at(0))
    }

    fn working(keys: std::ops::RangeInclusive<i64>) -> App {
        app(keys.map(|key| row(key, Status::Active)).collect())
    }

    fn changed(key: i64, status: Status) -> Msg {
        let mut row = row(key, status);
        row.revision += 1;
        Msg::News(EngineEvent::Job(Box::new(row)))
    }

    fn notified(effects: Vec<Effect>) -> Vec<String> {
        let texts = effects.into_iter().filter_map(|effect| match effect {
            Effect::Notify(text) => Some(text.to_string()),
            _ => None,
        });
        texts.collect()
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_job_that_finishes_while_nobody_looks_is_notified_and_said() {
        for (status, said) in [
            (Status::Completed, "completed: Job 1"),
            (Status::Failed, "failed: Job 1"),
            (Status::Archived, "archived: Job 1"),
        ] {
            let mut app = working(1..=1);
            app.update(Msg::Input(Event::FocusLost), at(0));
            assert_eq!(notified(app.update(changed(1, status), at(1))), [said]);
            assert_eq!(notice(&app), said);
        }
    }

    #[test]
    fn while_somebody_looks_it_is_only_said_in_the_program() {
        let mut app = working(1..=1);
        assert!(notified(app.update(changed(1, Status::Completed), at(1))).is_empty());
        assert_eq!(notice(&app), "completed: Job 1");
    }

    #[test]
    fn a_key_says_that_somebody_looks() {
        let mut app = working(1..=1);
        app.update(Msg::Input(Event::FocusLost), at(0));
        press(&mut app, 'j');
        assert!(notified(app.update(changed(1, Status::Completed), at(1))).is_empty());
    }

    #[test]
    fn several_within_a_second_are_summed_up() {
        let mut app = working(1..=4);
        app.update(Msg::Input(Event::FocusLost), at(0));
        assert_eq!(notified(app.update(changed(1, Status::Completed), at(1))), ["completed: Job 1"]);
        for key in 2..=4 {
            assert!(notified(app.update(changed(key, Status::Failed), at(1))).is_empty());
        }
        assert_eq!(app.next_timer(at(1)), Some(at(2)));
        assert_eq!(notified(app.update(Msg::Wake, at(2))), ["3 jobs finished"]);
        assert!(notified(app.update(Msg::Wake, at(3))).is_empty());
    }

    #[test]
    fn who_comes_back_is_not_told_any_more() {
        let mut app = working(1..=2);
        app.update(Msg::Input(Event::FocusLost), at(0));
        app.update(changed(1, Status::Completed), at(1));
        app.update(changed(2, Status::Completed), at(1));
        app.update(Msg::Input(Event::FocusGained), at(1));
        assert!(notified(app.update(Msg::Wake, at(2))).is_empty());
    }

    #[test]
    fn a_pull_request_that_comes_later_is_told_too() {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.update(Msg::Input(Event::FocusLost), at(0));
        let mut with_pr = row(1, Status::Completed);
        with_pr.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        with_pr.revision += 1;
        let effects = app.update(Msg::News(EngineEvent::Job(Box::new(with_pr))), at(1));
        assert_eq!(notified(effects), ["PR 7: Job 1"]);
    }

    #[test]
    fn jobs_that_are_new_here_or_change_otherwise_tell_nothing() {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.update(Msg::Input(Event::FocusLost), at(0));
        assert!(notified(app.update(changed(1, Status::Archived), at(1))).is_empty());
        assert!(notified(app.update(changed(9, Status::Completed), at(1))).is_empty());
    }

    #[test]
    fn a_problem_is_not_wiped_away_by_good_news() {
        let mut app = working(1..=1);
        app.notify(Severity::Problem, "the disk is full", at(0));
        app.update(changed(1, Status::Completed), at(1));
        assert_eq!(notice(&app), "the disk is full");
    }
}
