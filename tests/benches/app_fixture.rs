//! A dashboard of 160×48 without a real terminal, for benchmarks of key presses and frames.

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyEvent};
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::job::{Job, JobKey};
use docdeck::model::prompt::Thread;
use docdeck::model::pull_request::{Checks, ChecksState, FailedCheck, PullRequest, PullRequestState, ReviewDecision};
use docdeck::model::remote_job::{JobId, Status};
use docdeck::model::text::CleanText;
use docdeck::tui::draw::{ColorDepth, Theme, draw};
use docdeck::tui::keymap::Chord;
use docdeck::tui::{App, AppConfig, Effect, InitialData, JobsEffect, JobsMsg, Msg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (160, 48);

pub(crate) fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().expect("a time")
}

/// The application state, and a test terminal to draw it on.
pub(crate) struct AppFixture {
    pub(crate) app: App,
    /// The answer to every request for the thread of a job. `None` leaves these requests unanswered.
    pub(crate) thread: Option<Thread>,
    terminal: Terminal<TestBackend>,
    theme: Theme,
}

impl AppFixture {
    /// Returns a dashboard that has not loaded any data.
    pub(crate) fn empty() -> Self {
        let scope =
            Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let config = AppConfig { profile: CleanText::line("acme-docs"), size: SIZE, ..AppConfig::new(scope, utc) };
        let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
        Self { app: App::new(config, now()).0, thread: None, terminal, theme: Theme::new(ColorDepth::Indexed256) }
    }

    /// Returns a dashboard that has loaded these jobs.
    pub(crate) fn with_jobs(jobs: Vec<Job>) -> Self {
        let mut fixture = Self::empty();
        fixture
            .send(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() })))));
        fixture
    }

    /// Presses the keys `before`, then `key`. Returns the time of the last key press and the frame after it.
    pub(crate) fn time_key(&mut self, before: &str, key: &str) -> Duration {
        self.press(before);
        self.draw();
        let msg = key_press(key);
        let started = Instant::now();
        self.send(msg);
        self.draw();
        started.elapsed()
    }

    pub(crate) fn send(&mut self, msg: Msg) {
        for effect in self.app.update(msg, now()) {
            let Some(thread) = &self.thread else { continue };
            let answer = match effect {
                Effect::Jobs(JobsEffect::LoadThread(job)) => {
                    Msg::Jobs(JobsMsg::ThreadLoaded { job, result: Ok(thread.clone()) })
                }
                Effect::Jobs(JobsEffect::PrefetchThreads(jobs)) => Msg::Jobs(JobsMsg::ThreadsPrefetched(Ok(jobs
                    .into_iter()
                    .map(|job| (job, thread.clone()))
                    .collect()))),
                _ => continue,
            };
            drop(self.app.update(answer, now()));
        }
    }

    /// Presses the keys in `keys`, which are separated by spaces.
    pub(crate) fn press(&mut self, keys: &str) {
        keys.split_whitespace().for_each(|key| self.send(key_press(key)));
    }

    pub(crate) fn draw(&mut self) {
        let Self { app, terminal, theme, .. } = self;
        terminal.draw(|frame| draw(frame, app, theme, now())).expect("drawn");
    }
}

/// Parses the name of a key and returns its key press.
pub(crate) fn key_press(key: &str) -> Msg {
    let chord = Chord::parse(key).expect("a key");
    Msg::Input(Event::Key(KeyEvent::new(chord.code, chord.modifiers)))
}

/// Adds the state of the pull request to four in five of these jobs. Half of these pull requests are merged; the checks
/// of one in ten have failed.
pub(crate) fn with_pull_requests(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in jobs.iter_mut().filter(|job| job.remote.pr_link.is_some() && job.key.0 % 5 != 0) {
        job.pull_request = Some(Box::new(pull_request(job.key.0)));
    }
    jobs
}

fn pull_request(key: i64) -> PullRequest {
    let failed = ["broken links", "spelling"].map(|name| FailedCheck {
        name: CleanText::line(name),
        url: Some(CleanText::line(&format!("https://github.com/acme/docs/runs/{key}"))),
    });
    let checks = match key % 10 {
        3 => Checks { state: ChecksState::Failing, passed: 10, total: 12, failed: failed.to_vec() },
        _ => Checks { state: ChecksState::Passing, passed: 12, total: 12, failed: Vec::new() },
    };
    PullRequest {
        title: CleanText::line(&format!("Rewrite the guide about topic {key}")),
        state: if key % 2 == 0 { PullRequestState::Merged } else { PullRequestState::Open },
        checks,
        review: Some(ReviewDecision::Approved),
        conflict: Some(false),
        behind: false,
        head: CleanText::line(&format!("{key:040x}")),
        branch: CleanText::line(&format!("agent/branch-{key}")),
        additions: Some(48),
        deletions: Some(12),
        files: Some(3),
        merged_at: (key % 2 == 0).then(now),
        as_of: now(),
        checks_as_of: Some(now()),
        changed_at: now(),
    }
}

/// Returns this many finished jobs. One in ten failed, and the others have a pull request. One in seven was viewed. The
/// jobs share one repository and one model name in memory, like the jobs that the store returns.
pub(crate) fn finished_jobs(jobs: i64) -> Vec<Job> {
    let repository = Arc::new(CleanText::line("https://github.com/acme/docs"));
    let model = Arc::new(CleanText::line("sonnet"));
    let row = |key: i64| {
        let started = now() - TimeDelta::minutes(3 * (jobs - key) + 60);
        let mut job = Job::new(JobKey(key), CleanText::line(&format!("Rewrite the guide about topic {key}")), started);
        job.id = JobId::new(&format!("agent_{key:08}"));
        job.remote.status = Some(if key % 10 == 0 { Status::Failed } else { Status::Completed });
        job.remote.source.repository = Some(Arc::clone(&repository));
        job.remote.source.git_ref = Some(CleanText::line(&format!("agent/branch-{key}")));
        job.remote.model = Some(Arc::clone(&model));
        job.remote.pr_link =
            (key % 10 != 0).then(|| CleanText::line(&format!("https://github.com/acme/docs/pull/{key}")));
        job.local.finished_at = Some(started + TimeDelta::minutes(6));
        job.local.checked_at = Some(now());
        job.local.viewed_at = (key % 7 == 0).then(now);
        job.revision = key;
        job
    };
    (1..=jobs).map(row).collect()
}
