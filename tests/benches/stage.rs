//! A dashboard at 160×48 without a terminal and with a long list of jobs, for benchmarks of keys and frames, and for
//! the guard test that counts their allocations.

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyEvent};
use docdeck::app::keymap::Chord;
use docdeck::app::{App, AppConfig, Effect, InitialData, Msg};
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::job::{JobId, Status};
use docdeck::model::prompt::Thread;
use docdeck::model::row::{Job, JobKey};
use docdeck::model::text::CleanText;
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;

const SIZE: (u16, u16) = (160, 48);

pub(crate) fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().expect("a time")
}

/// The application state and its screen.
pub(crate) struct Stage {
    pub(crate) app: App,
    /// The thread that is returned for every job; without it, effects are not answered.
    pub(crate) thread: Option<Thread>,
    terminal: Terminal<TestBackend>,
    theme: Theme,
}

impl Stage {
    /// A dashboard before anything is loaded.
    pub(crate) fn empty() -> Self {
        let scope =
            Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { profile: CleanText::line("acme-docs"), size: SIZE, ..AppConfig::new(scope, utc) };
        let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
        Self { app: App::new(start, now()).0, thread: None, terminal, theme: Theme::new(Depth::Indexed256) }
    }

    /// A dashboard with these jobs.
    pub(crate) fn of(jobs: Vec<Job>) -> Self {
        let mut stage = Self::empty();
        stage.send(Msg::Loaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() }))));
        stage
    }

    pub(crate) fn send(&mut self, msg: Msg) {
        for effect in self.app.update(msg, now()) {
            let Some(thread) = &self.thread else { continue };
            let answer = match effect {
                Effect::LoadThread(job) => Msg::Thread { job, result: Ok(thread.clone()) },
                Effect::PrefetchThreads(jobs) => {
                    Msg::ThreadsPrefetched(Ok(jobs.into_iter().map(|job| (job, thread.clone())).collect()))
                }
                _ => continue,
            };
            drop(self.app.update(answer, now()));
        }
    }

    /// Presses keys, separated by spaces.
    pub(crate) fn press(&mut self, keys: &str) {
        keys.split_whitespace().for_each(|key| self.send(input(key)));
    }

    pub(crate) fn draw(&mut self) {
        let Self { app, terminal, theme, .. } = self;
        terminal.draw(|frame| draw(frame, app, theme, now())).expect("drawn");
    }
}

/// Parses a key.
pub(crate) fn input(key: &str) -> Msg {
    let chord = Chord::parse(key).expect("a key");
    Msg::Input(Event::Key(KeyEvent::new(chord.code, chord.mods)))
}

/// Jobs with shared values, as the store returns them. All are finished: one in ten failed, the others have a pull
/// request, and one in seven was viewed.
pub(crate) fn rows(jobs: i64) -> Vec<Job> {
    let repository = Arc::new(CleanText::line("https://github.com/acme/docs"));
    let model = Arc::new(CleanText::line("sonnet"));
    let row = |key: i64| {
        let started = now() - TimeDelta::minutes(3 * (jobs - key) + 60);
        Job {
            id: JobId::new(&format!("agent_{key:08}")),
            status: Some(if key % 10 == 0 { Status::Failed } else { Status::Completed }),
            repository: Some(Arc::clone(&repository)),
            git_ref: Some(CleanText::line(&format!("agent/branch-{key}"))),
            model: Some(Arc::clone(&model)),
            pr_link: (key % 10 != 0).then(|| CleanText::line(&format!("https://github.com/acme/docs/pull/{key}"))),
            finished_at: Some(started + TimeDelta::minutes(6)),
            checked_at: Some(now()),
            viewed_at: (key % 7 == 0).then(now),
            revision: key,
            ..Job::new(JobKey(key), CleanText::line(&format!("Rewrite the guide about topic {key}")), started)
        }
    };
    (1..=jobs).map(row).collect()
}
