//! Notices that another member of the team handled a job that needed the user.

use super::shared_notice::SharedNotice;
use crate::model::Time;
use crate::model::job::{Job, JobKey};
use crate::model::team::handled_by_member_notice;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// How long no notices are shown after the first change of another member, if the project was not shared when docdeck
/// started. Right after a computer has joined a team, all changes that the members made earlier arrive. They need no
/// notices.
const JOIN_QUIET_TIME: TimeDelta = TimeDelta::minutes(1);

/// The jobs that other members have handled since the last [`TeamNotices::take`].
#[derive(Debug, Default)]
pub(super) struct TeamNotices {
    /// The jobs that another member has handled since then, each with its notice.
    handled_jobs: Vec<(JobKey, CleanText)>,
    /// Whether a change of another member has arrived since then.
    has_change_by_others: bool,
    /// The time from which notices are shown; `None` if no change of another member has arrived yet.
    starts_at: Option<Time>,
    shown: SharedNotice,
}

impl TeamNotices {
    /// Shows notices from now on, because the project was already shared when docdeck started.
    pub(super) fn start(&mut self) {
        self.starts_at = Some(Time::UNIX_EPOCH);
    }

    /// Adds a change of a job, if another member made it.
    pub(super) fn add_if_handled_by_member(&mut self, old: &Job, new: &Job) {
        self.has_change_by_others |= new.local.team != old.local.team;
        self.handled_jobs.extend(handled_by_member_notice(old, new).map(|text| (new.key, text)));
    }

    /// Returns the notice about the jobs that were handled since the last call, and about those that share a notice with
    /// them. `None` if none were handled since then, or if no notices are shown yet.
    pub(super) fn take(&mut self, now: Time) -> Option<CleanText> {
        let handled = std::mem::take(&mut self.handled_jobs);
        if std::mem::take(&mut self.has_change_by_others) && self.starts_at.is_none() {
            self.starts_at = Some(now + JOIN_QUIET_TIME);
        }
        if handled.is_empty() || self.starts_at.is_none_or(|start| now < start) {
            return None;
        }
        Some(match self.shown.extend(handled, now) {
            [(_, text)] => text.clone(),
            jobs => CleanText::line(&format!("{} jobs were handled by your team", jobs.len())),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::{Job, TeamActivity};
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::{App, AppConfig, InitialData, JobsMsg, Msg};

    /// A dashboard with two failed jobs.
    fn app(is_project_shared: bool) -> App {
        let app = crate::tui::finish_alerts::tests::app(Vec::new());
        let (mut app, _) = App::new(AppConfig { size: (80, 24), ..app.config }, at(0));
        let jobs = vec![row(1, Status::Failed), row(2, Status::Failed)];
        let data = InitialData { jobs, is_project_shared, ..InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        app
    }

    fn followed_up(key: i64, second: i64) -> Job {
        let mut job = row(key, Status::Active);
        let followed_up_by = Some(CleanText::line("ana"));
        job.local.team = Some(Box::new(TeamActivity { followed_up_by, ..TeamActivity::default() }));
        job.local.followed_up_at = Some(at(second));
        job.revision = second;
        job
    }

    fn change(app: &mut App, job: Job, second: i64) {
        app.update(Msg::Engine(EngineEvent::Job(Box::new(job))), at(second));
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_follow_up_by_another_member_shows_one_notice() {
        let mut app = app(true);
        change(&mut app, followed_up(1, 100), 100);
        assert_eq!(notice(&app), "ana followed up on “Job 1”");
    }

    #[test]
    fn jobs_that_arrive_within_a_second_share_a_notice() {
        let mut app = app(true);
        change(&mut app, followed_up(1, 100), 100);
        change(&mut app, followed_up(2, 100), 101);
        assert_eq!(notice(&app), "2 jobs were handled by your team");
        change(&mut app, Job { revision: 102, ..row(1, Status::Failed) }, 102);
        change(&mut app, followed_up(1, 103), 103);
        assert_eq!(notice(&app), "ana followed up on “Job 1”", "the notice of the two jobs is too old");
    }

    #[test]
    fn joining_a_team_shows_no_notice_about_what_its_members_did_before() {
        let mut app = app(false);
        change(&mut app, followed_up(1, 100), 100);
        assert_eq!(notice(&app), "");
        let mut again = row(1, Status::Failed);
        again.revision = 150;
        change(&mut app, again, 150);
        change(&mut app, followed_up(1, 200), 200);
        assert_eq!(notice(&app), "ana followed up on “Job 1”");
    }
}
