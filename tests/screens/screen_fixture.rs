//! Brings the dashboard into the states of the snapshots, with the same messages and key presses as in real use.

use crate::keys;
use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::model::Time;
use docdeck::model::analytics::page_reports::{PageComments, PageReports, PageSearches, PageVotes, ReportNumbers};
use docdeck::model::connection::ConnectionState;
use docdeck::model::endpoint::Scope;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::impact::{PageHistory, PageImpact, PageViewsInRange, PageViewsState};
use docdeck::model::job::{Job, JobKey, TeamActivity};
use docdeck::model::ledger::{Budget, CountedBy, Quota, Wait};
use docdeck::model::load::Timed;
use docdeck::model::log::{LogEntry, LogKind, Operation};
use docdeck::model::period::DateRange;
use docdeck::model::prompt::{
    Delivery, DeliveryKind, DraftTarget, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread,
};
use docdeck::model::pull_request::{Checks, ChecksState, FailedCheck, PullRequest, PullRequestState, ReviewDecision};
use docdeck::model::remote_job::{JobId, Status};
use docdeck::model::report::Report;
use docdeck::model::setup::ExistingSettings;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsResponse};
use docdeck::tui::welcome::Welcome;
use docdeck::tui::{
    App, AppConfig, Effect, InitialData, JobsEffect, JobsMsg, Msg, PromptsEffect, PromptsMsg, SavedFilter, Template,
    ViewsMsg,
};
use std::sync::Arc;

/// Returns the time at which every snapshot is taken.
pub(crate) fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().expect("a time")
}

fn ago(minutes: i64) -> Time {
    now() - TimeDelta::minutes(minutes)
}

/// The application state, and all effects that it has requested.
pub(crate) struct ScreenFixture {
    pub(crate) app: App,
    pub(crate) effects: Vec<Effect>,
    thread: Thread,
}

fn app_config(size: (u16, u16)) -> AppConfig {
    let scope =
        Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
    let utc = FixedOffset::east_opt(0).expect("UTC");
    AppConfig { profile: CleanText::line("acme-docs"), size, ..AppConfig::new(scope, utc) }
}

fn row(key: i64, title: &str, status: Option<Status>, minutes: i64) -> Job {
    let mut job = Job::new(JobKey(key), CleanText::line(title), ago(minutes + 6));
    job.id = JobId::new(&format!("01J9ZK4M8Q{key:04}"));
    job.remote.archived_at = (status == Some(Status::Archived)).then(|| ago(minutes));
    job.remote.status = status;
    job.remote.source.repository = Some(CleanText::line("https://github.com/acme/docs").into());
    job.remote.source.git_ref = Some(CleanText::line("agent/broken-links"));
    job.remote.model = Some(CleanText::line("sonnet").into());
    job.local.finished_at = Some(ago(minutes));
    job.local.changed_at = ago(minutes);
    job.local.checked_at = Some(ago(minutes));
    job.revision = key;
    job
}

fn with_pr(mut row: Job, number: u32) -> Job {
    row.remote.pr_link = Some(CleanText::line(&format!("https://github.com/acme/docs/pull/{number}")));
    row
}

/// Returns the job that [`thread`] belongs to.
fn job_of_thread() -> Job {
    with_pr(Job { created_at: ago(60), ..row(1, "Fix broken links in /api", Some(Status::Completed), 14) }, 1423)
}

fn started_by(author: &str) -> TeamActivity {
    TeamActivity { author: Some(CleanText::line(author)), ..TeamActivity::default() }
}

fn viewed(mut row: Job) -> Job {
    row.local.viewed_at = Some(now());
    row.local.handled_at = Some(now());
    row
}

fn working(mut row: Job) -> Job {
    row.local.finished_at = None;
    row.local.checked_at = Some(now() - TimeDelta::seconds(7));
    row
}

fn undelivered(mut row: Job, kind: DeliveryKind) -> Job {
    row.local.undelivered = Some(kind);
    row.local.undelivered_at = Some(row.created_at);
    row.local.queue_position = (kind == DeliveryKind::Queued).then_some(row.key.0);
    row.id = None;
    row.remote.status = None;
    row.local.finished_at = None;
    row.local.checked_at = None;
    row
}

fn rows() -> Vec<Job> {
    let done = |key: i64, title: &str, number: u32, hours: i64| {
        viewed(with_pr(row(key, title, Some(Status::Completed), hours * 60), number))
    };
    let mut gone = viewed(row(14, "Draft the SLA page", Some(Status::Active), 3000));
    gone.local.gone = true;
    gone.local.gone_at = Some(ago(2900));
    let mut dismissed = viewed(row(15, "An old experiment", Some(Status::Failed), 9000));
    dismissed.local.dismissed = true;
    vec![
        job_of_thread(),
        undelivered(row(2, "Rewrite the SSO guide", None, 2), DeliveryKind::Unconfirmed),
        row(3, "Translate /billing into German and keep every code sample as it is", Some(Status::Failed), 300),
        working(row(4, "Add a Python quickstart", Some(Status::Active), -4)),
        working(row(5, "設定ガイドを更新する (update the settings guide)", Some(Status::Active), 30)),
        working(row(6, "Check every code sample", Some(Status::parse("reviewing")), 40)),
        undelivered(row(7, "Explain rate limits", None, 1), DeliveryKind::Queued),
        done(8, "Update the changelog", 1419, 3),
        done(9, "Document webhooks", 1418, 5),
        viewed(row(10, "Find pages without a description", Some(Status::Completed), 400)),
        done(11, "Merge the two install pages 👨‍👩‍👧", 1402, 30),
        viewed(row(12, "Old migration notes", Some(Status::Archived), 12_960)),
        viewed(row(13, "Try the new template", Some(Status::Failed), 2000)),
        gone,
        dismissed,
    ]
}

fn prompt(id: i64, kind: PromptKind, text: &str, delivery: Delivery, minutes: i64) -> Prompt {
    let at = ago(minutes);
    Prompt {
        id: PromptId(id),
        kind,
        text: text.to_owned(),
        delivery,
        written_at: at,
        sent_at: Some(at),
        state_at: Some(at),
        author: None,
    }
}

fn thread() -> Thread {
    let long = "Fix broken links in /api\n\nGo through every page under /api, follow each link, and fix or remove the \
                ones that lead nowhere.";
    let event = |kind: EventKind, minutes: i64| JobEvent { at: ago(minutes), kind };
    Thread {
        prompts: vec![
            prompt(1, PromptKind::Create, long, Delivery::Accepted, 60),
            prompt(2, PromptKind::FollowUp, "Also check the redirects", Delivery::Accepted, 20),
        ],
        events: vec![
            event(EventKind::Status { from: Some(Status::Active), to: Status::Completed }, 54),
            event(EventKind::PullRequest(CleanText::line("https://github.com/acme/docs/pull/1423")), 54),
            event(EventKind::Status { from: Some(Status::Completed), to: Status::Active }, 19),
            event(EventKind::Status { from: Some(Status::Active), to: Status::Completed }, 14),
        ],
    }
}

pub(crate) fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn range(from: &str, to: &str) -> DateRange {
    DateRange::new(from.parse().expect("a day"), to.parse().expect("a day")).expect("a range")
}

impl ScreenFixture {
    pub(crate) fn new(size: (u16, u16)) -> Self {
        let (app, effects) = App::new(app_config(size), now());
        Self { app, effects, thread: thread() }
    }

    pub(crate) fn with_saved_filters(size: (u16, u16)) -> Self {
        let saved = |name: &str, text: &str| SavedFilter { name: CleanText::line(name), text: text.to_owned() };
        let filters =
            vec![saved("Failed", "s:failed"), saved("Docs", "tag:docs"), saved("Everything else", "!tag:docs")];
        let (app, effects) = App::new(AppConfig { filters, ..app_config(size) }, now());
        Self { app, effects, thread: thread() }
    }

    pub(crate) fn unconfigured(size: (u16, u16)) -> Self {
        let config = CleanText::line("/home/me/.config/docdeck/config.toml");
        let (mut app, effects) = App::new(AppConfig { needs_setup: true, ..app_config(size) }, now());
        app.open(Welcome::new(&ExistingSettings::default(), config));
        Self { app, effects, thread: thread() }
    }

    /// Handles a message, and answers the requests for threads that result from it. A key press runs the default action
    /// of its key, even if keys are rebound.
    pub(crate) fn handle(&mut self, msg: Msg) {
        let msg = match msg {
            Msg::Input(Event::Key(key)) => Msg::Input(Event::Key(keys::rebound_key(&self.app, key))),
            other => other,
        };
        // For a moment after a prompt was sent, letters are not shortcuts. So sending happens one second earlier.
        let sends_prompt =
            matches!(&msg, Msg::Input(Event::Key(key)) if key.code == KeyCode::Char('s') && !key.modifiers.is_empty());
        let at = if sends_prompt { now() - TimeDelta::seconds(1) } else { now() };
        let mut waiting = vec![msg];
        while let Some(msg) = waiting.pop() {
            for effect in self.app.update(msg, at) {
                if let Effect::Jobs(JobsEffect::LoadThread(job)) = effect {
                    waiting.push(Msg::Jobs(JobsMsg::ThreadLoaded { job, result: Ok(self.thread.clone()) }));
                }
                self.effects.push(effect);
            }
        }
    }

    /// Presses the keys in `keys`, which are separated by spaces: characters, `Enter`, `Esc`, `Ctrl-x`.
    pub(crate) fn press_keys(&mut self, keys: &str) {
        for name in keys.split_whitespace() {
            let (mods, name) =
                name.strip_prefix("Ctrl-").map_or((KeyModifiers::NONE, name), |rest| (KeyModifiers::CONTROL, rest));
            let code = match name {
                "Enter" => KeyCode::Enter,
                "Esc" => KeyCode::Esc,
                "Tab" => KeyCode::Tab,
                "Up" => KeyCode::Up,
                "Left" => KeyCode::Left,
                "Right" => KeyCode::Right,
                "F1" => KeyCode::F(1),
                one => KeyCode::Char(one.chars().next().expect("a key")),
            };
            self.handle(Msg::Input(Event::Key(KeyEvent::new(code, mods))));
        }
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.handle(Msg::Input(Event::Paste(text.to_owned())));
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.handle(Msg::Input(Event::Resize(columns, rows)));
    }

    fn load_budgets(&mut self) {
        let resets_at = Some(now() + TimeDelta::minutes(22));
        for (quota, used) in [(Quota::Create, 37), (Quota::FollowUp, 4), (Quota::Views, 12)] {
            let budget = Budget { used, limit: 100, resets_at, blocked: None, counted_by: CountedBy::ThisComputer };
            self.handle(Msg::Engine(EngineEvent::Budget(quota, budget)));
        }
    }

    /// Loads the jobs with tips enabled, as on the first start on this computer.
    pub(crate) fn load_jobs_with_tips(&mut self) {
        let known = InitialData { jobs: rows(), seen_tips: Some(String::new()), ..InitialData::default() };
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(known)))));
    }

    pub(crate) fn load_no_jobs(&mut self) {
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData::default())))));
    }

    pub(crate) fn load_jobs(&mut self) {
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs: rows(),
            ..InitialData::default()
        })))));
        self.load_budgets();
        self.handle(Msg::Engine(EngineEvent::ConnectionState(ConnectionState::Ready)));
        // The snapshots show job 1 as selected instead of the newest job that needs the user.
        self.app.jobs.select(JobKey(1));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    /// Shows some of the jobs and prompts as those of other members of a team.
    pub(crate) fn share_jobs(&mut self) {
        let mut jobs = rows();
        for (key, author) in [(1, "ana"), (4, "bob@laptop"), (8, "ana"), (11, "maximilian@workstation")] {
            let job = jobs.iter_mut().find(|job| job.key == JobKey(key)).expect("the job");
            job.local.team = Some(Box::new(started_by(author)));
        }
        let data = InitialData { jobs, is_project_shared: true, ..InitialData::default() };
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))));
        self.load_budgets();
        self.handle(Msg::Engine(EngineEvent::ConnectionState(ConnectionState::Ready)));
        self.set_first_author("ana");
        self.app.jobs.select(JobKey(1));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    /// Sets the author of the first prompt of the thread.
    fn set_first_author(&mut self, author: &str) {
        let first = self.thread.prompts.first_mut().expect("a prompt");
        first.author = Some(CleanText::line(author));
    }

    /// Adds a follow-up of another member, whose answer was lost.
    pub(crate) fn add_unconfirmed_prompt_of_member(&mut self) {
        self.share_jobs();
        let lost = Delivery::Unconfirmed(CleanText::line("The connection was lost after the request had gone out."));
        let mut prompt = prompt(20, PromptKind::FollowUp, "Also check the images", lost, 3);
        prompt.author = Some(CleanText::line("ana"));
        self.thread.prompts.push(prompt);
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    /// Adds custom titles, tags and notes to some of the jobs.
    pub(crate) fn add_custom_labels(&mut self) {
        let tags = |words: &[&str]| words.iter().map(|word| CleanText::line(word)).collect::<Vec<_>>();
        let mut changed = rows();
        for row in &mut changed {
            row.revision += 100;
            match row.key.0 {
                1 => {
                    row.local.tags = tags(&["docs", "api"]).into();
                    let note = "Ask Mira before merging: the redirects under /api/v1 are still linked from the old \
                                changelog, and support points people there.";
                    row.local.note = Some(CleanText::line(note));
                }
                3 => {
                    row.local.tags =
                        tags(&["docs", "i18n", "a-tag-that-is-far-too-long-for-the-room-that-is-left-here"]).into()
                }
                8 => {
                    (row.local.title, row.local.has_custom_title) = (CleanText::line("Changelog for 2.4"), true);
                    row.local.tags = tags(&["release"]).into();
                }
                _ => {}
            }
        }
        changed.into_iter().for_each(|job| self.handle(Msg::Engine(EngineEvent::Job(Box::new(job)))));
    }

    /// Adds a follow-up that was not sent, and two follow-ups that wait behind it.
    pub(crate) fn add_blocked_follow_ups(&mut self) {
        let reason = CleanText::line("No network: the service's name could not be resolved.");
        let follow_up = |id: i64, text: &str, delivery: Delivery, minutes: i64| {
            prompt(id, PromptKind::FollowUp, text, delivery, minutes)
        };
        self.thread.prompts.extend([
            follow_up(21, "Keep the anchors as they are", Delivery::NotSent(reason), 9),
            follow_up(22, "Then update the sitemap", Delivery::Queued { until: None }, 8),
            follow_up(23, "And the search index", Delivery::Paused, 7),
        ]);
        let mut job = job_of_thread();
        (job.local.undelivered, job.revision) = (Some(DeliveryKind::NotSent), 200);
        self.handle(Msg::Engine(EngineEvent::Job(Box::new(job))));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    pub(crate) fn load_job_without_pull_request(&mut self, seen: bool) {
        let mut ended = row(90, "Tidy the glossary", Some(Status::Completed), 5);
        (ended.local.viewed_at, ended.revision) = (seen.then(now), 90 + i64::from(seen));
        // The first job is selected, so that `ended` is not viewed.
        let jobs = vec![row(1, "Fix it", Some(Status::Failed), 3), ended];
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs,
            ..InitialData::default()
        })))));
    }

    /// Loads one completed job for each state that a pull request can be in.
    pub(crate) fn load_pull_requests(&mut self) {
        let open = PullRequest {
            title: CleanText::line("A pull request"),
            state: PullRequestState::Open,
            checks: Checks { state: ChecksState::Passing, passed: 12, total: 12, failed: Vec::new() },
            review: Some(ReviewDecision::None),
            conflict: Some(false),
            behind: false,
            head: CleanText::line("7d40698"),
            branch: CleanText::line("agent/fix"),
            additions: Some(48),
            deletions: Some(12),
            files: Some(3),
            merged_at: None,
            as_of: now(),
            checks_as_of: Some(now()),
            changed_at: now(),
        };
        let checks = |state, passed| Checks { state, passed, total: 12, failed: Vec::new() };
        let in_state = |state| PullRequest { state, ..open.clone() };
        let states = [
            open.clone(),
            PullRequest { checks: checks(ChecksState::Failing, 2), ..open.clone() },
            PullRequest { conflict: Some(true), ..open.clone() },
            PullRequest { review: Some(ReviewDecision::ChangesRequested), ..open.clone() },
            in_state(PullRequestState::Draft),
            PullRequest { checks: checks(ChecksState::Pending, 3), ..open.clone() },
            in_state(PullRequestState::Queued),
            in_state(PullRequestState::Merged),
            in_state(PullRequestState::Closed),
        ];
        let mut jobs: Vec<Job> = (1..)
            .zip(states)
            .map(|(n, state)| {
                let mut job = row(n, &format!("Change page {n}"), Some(Status::Completed), n);
                job.remote.pr_link = Some(CleanText::line(&format!("https://github.com/acme/docs/pull/{}", 1420 + n)));
                job.pull_request = Some(Box::new(state));
                job
            })
            .collect();
        jobs.extend(jobs.first().cloned().map(|first| {
            let mut unknown = Job { key: JobKey(20), pull_request: None, ..first };
            unknown.local.title = CleanText::line("Not read yet");
            unknown.local.finished_at = Some(ago(30));
            unknown
        }));
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs,
            ..InitialData::default()
        })))));
    }

    /// Loads a job with a pull request, in which every text contains `text`, with failed checks of this name and link.
    pub(crate) fn load_pull_request_with(&mut self, text: &str) {
        let (line, title) = (CleanText::line(text), CleanText::title(text, 100));
        let failed = FailedCheck { name: title.clone(), url: Some(line.clone()) };
        let failed = vec![failed, FailedCheck { name: title, url: None }];
        let state = PullRequest {
            title: line.clone(),
            state: PullRequestState::Open,
            checks: Checks { state: ChecksState::Failing, passed: 1, total: 3, failed },
            review: Some(ReviewDecision::None),
            conflict: None,
            behind: true,
            head: line.clone(),
            branch: line,
            additions: Some(u64::MAX),
            deletions: Some(u64::MAX),
            files: Some(u64::MAX),
            merged_at: None,
            as_of: now(),
            checks_as_of: Some(now()),
            changed_at: now(),
        };
        let mut job = row(1, text, Some(Status::Completed), 3);
        job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/1423"));
        job.pull_request = Some(Box::new(state));
        let data = InitialData { jobs: vec![job], ..InitialData::default() };
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))));
    }

    pub(crate) fn load_hostile_job(&mut self, title: &str) {
        let mut job = row(1, title, Some(Status::Active), 3);
        job.local.team = Some(Box::new(started_by(title)));
        self.set_first_author(title);
        let jobs = vec![job];
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs,
            ..InitialData::default()
        })))));
    }

    pub(crate) fn lose_connection(&mut self) {
        let connection = ConnectionState::Offline {
            reason: CleanText::line("no network"),
            next_try: Some(now() + TimeDelta::seconds(12)),
        };
        self.handle(Msg::Engine(EngineEvent::ConnectionState(connection)));
    }

    pub(crate) fn load_long_thread(&mut self) {
        let text: Vec<String> = (1..=60).map(|n| format!("Step {n}: look at page number {n}.")).collect();
        self.thread.prompts.push(prompt(3, PromptKind::FollowUp, &text.join("\n"), Delivery::Accepted, 10));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    pub(crate) fn select_unconfirmed_job(&mut self) {
        let reason = CleanText::line("The connection was lost after the request was sent.");
        let text = "Rewrite the SSO guide\n\nStart from the questions that support gets.";
        let lost = prompt(9, PromptKind::Create, text, Delivery::Unconfirmed(reason), 2);
        self.thread = Thread { prompts: vec![lost], events: Vec::new() };
        self.app.jobs.select(JobKey(2));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(2))));
    }

    /// Reaches the hourly limit of new jobs, which resets after `left`, and selects a job whose prompt is queued until
    /// then.
    pub(crate) fn reach_limit(&mut self, left: TimeDelta, is_estimate: bool) {
        self.load_jobs();
        let wait = Wait { until: now() + left, is_estimate };
        let blocked = is_estimate.then_some(wait);
        let budget =
            Budget { used: 100, limit: 100, resets_at: Some(wait.until), blocked, counted_by: CountedBy::ThisComputer };
        self.handle(Msg::Engine(EngineEvent::Budget(Quota::Create, budget)));
        let delivery = Delivery::Queued { until: Some(wait.until) };
        let queued = prompt(9, PromptKind::Create, "Explain rate limits", delivery.clone(), 1);
        self.thread = Thread { prompts: vec![queued], events: Vec::new() };
        self.app.jobs.select(JobKey(7));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(7))));
        let job = Box::new(self.app.jobs.get(JobKey(7)).expect("the job").clone());
        self.handle(Msg::Engine(EngineEvent::Prompt { prompt: PromptId(9), delivery, job }));
    }

    pub(crate) fn add_undelivered_follow_up(&mut self, kind: DeliveryKind) {
        let delivery = match kind {
            DeliveryKind::Unconfirmed => {
                Delivery::Unconfirmed(CleanText::line("The service answered with status 502 and an HTML page."))
            }
            _ => Delivery::Rejected(CleanText::line("400: prompt is too long for this project.")),
        };
        let text = format!("Also check the redirects\n\n{}", "Look at every page under /api. ".repeat(20));
        let lost = prompt(12, PromptKind::FollowUp, &text, delivery, 3);
        self.thread.prompts.push(lost);
        let mut job = row(1, "Fix broken links in /api", Some(Status::Completed), 14);
        (job.local.undelivered, job.local.undelivered_at, job.revision) = (Some(kind), Some(ago(3)), 100);
        self.handle(Msg::Engine(EngineEvent::Job(Box::new(job))));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    pub(crate) fn load_history(&mut self) {
        let texts =
            ["Fix the landing page\n\nIt is too long.", "Translate /billing", "Write a page about webhooks 日本語"];
        let many = (1..40).map(|n| format!("Improve page number {n}\nand its neighbours"));
        self.handle(Msg::Prompts(PromptsMsg::HistoryLoaded(Ok(texts
            .into_iter()
            .map(str::to_owned)
            .chain(many)
            .collect()))));
    }

    pub(crate) fn load_templates(&mut self) {
        let template = |name: &str, text: &str| Template { name: CleanText::line(name), text: text.to_owned() };
        self.handle(Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![
            template("fix-page", "Fix {{path}}\n\nWhat is wrong: {{problem}}\nSeen while at work on {{job}}."),
            template("translate", "Translate {{path}} into {{language}}"),
        ])));
    }

    pub(crate) fn load_drafts(&mut self) {
        let drafts = vec![
            (DraftTarget::FollowUp(JobKey(8)), "And the one before it, too.\nPlease.".to_owned()),
            (DraftTarget::NewJob, "Write about rate limits".to_owned()),
        ];
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs: rows(),
            drafts,
            ..InitialData::default()
        })))));
        self.load_budgets();
    }

    pub(crate) fn review_batch(&mut self, prompts: usize) {
        let texts: Vec<String> = (1..=prompts).map(|n| format!("Describe endpoint {n}\nwith an example")).collect();
        self.press_keys("b");
        self.paste(&texts.join("\n\n"));
        self.press_keys("Ctrl-s");
    }

    pub(crate) fn save_drafts(&mut self) {
        let later = now() + TimeDelta::seconds(1);
        for effect in self.app.update(Msg::Timer, later) {
            if let Effect::Prompts(PromptsEffect::SaveDraft(draft_target, _)) = effect {
                self.handle(Msg::Prompts(PromptsMsg::DraftSaved { draft_target, result: Ok(later) }));
            }
        }
    }

    /// Sends the new job in the editor; its prompt is then stored and queued.
    pub(crate) fn submit_new_job(&mut self) {
        self.press_keys("Ctrl-s");
        let job = undelivered(row(30, "Rewrite the landing page", None, 0), DeliveryKind::Queued);
        let (prompt, delivery) = (PromptId(30), Delivery::Queued { until: None });
        self.handle(Msg::Engine(EngineEvent::Prompt { prompt, delivery, job: Box::new(job.clone()) }));
        self.handle(Msg::Prompts(PromptsMsg::Submitted {
            draft_target: DraftTarget::NewJob,
            result: Ok((prompt, job)),
        }));
    }

    pub(crate) fn submit_rejected_job(&mut self, reason: &str) {
        self.submit_new_job();
        let mut job = undelivered(row(30, "Rewrite the landing page", None, 0), DeliveryKind::Rejected);
        job.revision += 1;
        let prompt = PromptId(30);
        let delivery = Delivery::Rejected(CleanText::line(reason));
        self.handle(Msg::Engine(EngineEvent::Prompt { prompt, delivery, job: Box::new(job) }));
    }

    pub(crate) fn load_views(&mut self, rows: i64, has_more: bool) {
        self.press_keys("2");
        let page = |n: i64| {
            let path = match n {
                0 => "/quickstart".to_owned(),
                1 => "/api/create-job".to_owned(),
                2 => "/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority".to_owned(),
                3 => "/ja/クイックスタート".to_owned(),
                n => format!("/guides/page-{n}"),
            };
            let human = 9120 / (n + 1) + 3;
            let ai = if n % 3 == 1 { human * 2 } else { human / 2 };
            PageRow { path: CleanText::line(&path), counts: counts(human, ai) }
        };
        let totals = if rows == 0 { counts(0, 0) } else { counts(128_402, 61_220) };
        let value = ViewsResponse { totals, rows: (0..rows).map(page).collect(), has_more: Some(has_more) };
        let response = Timed { value, as_of: ago(3) };
        self.handle(Msg::Views(ViewsMsg::Loaded { query: self.app.views.query(), result: Ok(response), old: None }));
        self.load_no_totals();
    }

    /// Answers that no totals of the site are cached.
    pub(crate) fn load_no_totals(&mut self) {
        self.handle(Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(Vec::new()))));
    }

    /// Shows a complete report with three pages instead of a single response.
    pub(crate) fn show_all_pages(&mut self) {
        let page = |path: &str, human: i64, ai: i64| PageRow { path: CleanText::line(path), counts: counts(human, ai) };
        let rows = vec![page("/quickstart", 9123, 4561), page("/a", 9900, 3), page("/b", 4, 8000)];
        let response = ViewsResponse { totals: counts(19_027, 12_564), rows, has_more: Some(false) };
        let report = Report::from_first_response(self.app.views.query().range, response, true, ago(3));
        self.app.views.table.show_report(Arc::new(report), None);
    }

    /// Delivers the stored history of the page whose details are open.
    pub(crate) fn load_page_history(&mut self, history: PageHistory) {
        let path = CleanText::line("/quickstart");
        self.handle(Msg::Views(ViewsMsg::PageHistoryLoaded { path, result: Ok(history) }));
    }

    pub(crate) fn load_long_page_history(&mut self) {
        let known = |human: i64, ai: i64, minutes: i64| {
            PageViewsState::Known(Timed { value: counts(human, ai), as_of: ago(minutes) })
        };
        let period = |from: &str, to: &str, human: i64, ai: i64| PageViewsInRange {
            range: range(from, to),
            views: Timed { value: counts(human, ai), as_of: ago(3) },
        };
        let periods = vec![
            period("2026-11-14", "2026-11-20", 9123, 4561),
            period("2026-11-14", "2026-11-19", 8102, 4011),
            period("2026-11-07", "2026-11-13", 8800, 3301),
            period("2026-11-07", "2026-11-12", 7811, 2904),
            period("2026-10-01", "2026-10-31", 36_100, 9_020),
            period("2026-10-01", "2026-10-01", 1204, 310),
        ];
        let jobs = vec![
            (JobKey(4), known(8800, 3301, 1), PageViewsState::Unknown),
            (JobKey(12), known(9120, 4310, 600), known(10_002, 5100, 600)),
            (JobKey(15), PageViewsState::NotListed(ago(5)), PageViewsState::Unknown),
        ];
        self.load_page_history(PageHistory { periods, jobs, ..PageHistory::default() });
    }

    /// Delivers a stored history with single days, of which one is missing, and with what some reports say.
    pub(crate) fn load_daily_page_history(&mut self) {
        let day = |day: u32, human: i64, ai: i64| PageViewsInRange {
            range: range(&format!("2026-11-{day:02}"), &format!("2026-11-{day:02}")),
            views: Timed { value: counts(human, ai), as_of: ago(3) },
        };
        let week = |from: &str, to: &str, human: i64, ai: i64| PageViewsInRange {
            range: range(from, to),
            views: Timed { value: counts(human, ai), as_of: ago(3) },
        };
        let periods = vec![
            day(20, 700, 350),
            day(19, 1650, 760),
            day(18, 1702, 741),
            day(16, 1590, 802),
            day(15, 811, 598),
            day(14, 903, 510),
            week("2026-11-14", "2026-11-20", 9123, 4561),
            week("2026-11-14", "2026-11-19", 8102, 4011),
            week("2026-11-07", "2026-11-12", 7811, 2904),
        ];
        let votes = PageVotes { down: 3.into(), up: 6.into() };
        let comments = PageComments { all: 7, open: 2 };
        let searches = PageSearches {
            hits: 98.into(),
            searches_with_click: Some(45.into()),
            queries: vec![CleanText::line("quickstart"), CleanText::line("get started")],
        };
        let reports = PageReports {
            votes: Some(ReportNumbers { numbers: votes, is_partial: false, as_of: ago(12) }),
            comments: Some(ReportNumbers { numbers: comments, is_partial: false, as_of: ago(12) }),
            questions: None,
            searches: Some(ReportNumbers { numbers: searches, is_partial: true, as_of: ago(7) }),
        };
        let jobs = vec![(JobKey(12), PageViewsState::Unknown, PageViewsState::Unknown)];
        self.load_page_history(PageHistory { periods, reports, jobs, ..PageHistory::default() });
    }

    pub(crate) fn load_odd_page_history(&mut self) {
        let odd = Counts::new(Count::Known(10), Count::Known(5), Count::Known(99));
        let beyond = Counts {
            human: Count::Other(CleanText::line("99999999999999999999")),
            ai: Count::Missing,
            total: Count::Known(-4),
            ..Counts::default()
        };
        let periods =
            [("2026-11-07", "2026-11-12", odd), ("2026-10-31", "2026-11-06", beyond)].map(|(from, to, value)| {
                PageViewsInRange { range: range(from, to), views: Timed { value, as_of: ago(3) } }
            });
        self.load_page_history(PageHistory { periods: periods.to_vec(), ..PageHistory::default() });
    }

    /// Makes job 1 a job about two pages that was started three weeks ago. Views are known for one of the two pages.
    pub(crate) fn load_job_about_pages(&mut self) {
        let long = "/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority";
        let finished = 21 * 1440;
        let mut job = with_pr(row(1, "Fix broken links in /api", Some(Status::Completed), finished), 1423);
        self.thread.prompts.truncate(1);
        self.thread.events.truncate(2);
        for prompt in &mut self.thread.prompts {
            prompt.written_at = ago(finished + 6);
            (prompt.sent_at, prompt.state_at) = (Some(ago(finished + 6)), Some(ago(finished + 6)));
        }
        for event in &mut self.thread.events {
            event.at = ago(finished);
        }
        (job.local.pages, job.revision) = ([CleanText::line("/quickstart"), CleanText::line(long)].into(), 300);
        self.handle(Msg::Engine(EngineEvent::Job(Box::new(job))));
        let known = |human: i64, ai: i64| PageViewsState::Known(Timed { value: counts(human, ai), as_of: ago(60) });
        let about = vec![
            PageImpact {
                path: CleanText::line("/quickstart"),
                before: known(9120, 4310),
                after: known(10_002, 5100),
                signals: None,
            },
            PageImpact {
                path: CleanText::line(long),
                before: PageViewsState::NotListed(ago(60)),
                after: PageViewsState::Unknown,
                signals: None,
            },
        ];
        self.handle(Msg::Jobs(JobsMsg::ImpactLoaded { job: JobKey(1), result: Ok(about) }));
        self.handle(Msg::Engine(EngineEvent::Thread(JobKey(1))));
    }

    pub(crate) fn load_draft_about_pages(&mut self) {
        let drafts = vec![
            (DraftTarget::NewJob, "Write about rate limits".to_owned()),
            (DraftTarget::AboutPages, "Say which plan has SSO\n\nOn both pages.".to_owned()),
        ];
        let draft_pages = ["/pricing", "/guides/sso"].map(CleanText::line).to_vec();
        self.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs: rows(),
            drafts,
            draft_pages,
            ..InitialData::default()
        })))));
        self.load_budgets();
    }

    pub(crate) fn load_page_templates(&mut self) {
        let template = |name: &str, text: &str| Template { name: CleanText::line(name), text: text.to_owned() };
        self.handle(Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![
            template("changelog", "Update the changelog up to {{version}}"),
            template("fix-page", "Fix {{path}}\n\n{{human}} views by people, {{ai}} by AI ({{share}}): {{problem}}"),
            template("improve-pages", "Improve these pages together: {{path}}\n\n{{pages}}"),
        ])));
    }

    pub(crate) fn load_odd_views(&mut self) {
        self.press_keys("2");
        let odd = |path: &str, human: Count, ai: Count, total: Count| PageRow {
            path: CleanText::line(path),
            counts: Counts::new(human, ai, total),
        };
        let rows = vec![
            odd("/sum", Count::Known(10), Count::Known(5), Count::Known(99)),
            odd("/negative", Count::Known(-3), Count::Known(5), Count::Known(2)),
            odd("/huge", Count::Other(CleanText::line("99999999999999999999")), Count::Known(1), Count::Known(1)),
            odd("/missing", Count::Missing, Count::Known(7), Count::Known(7)),
        ];
        let value = ViewsResponse { totals: counts(20, 18), rows, has_more: None };
        let response = Timed { value, as_of: now() };
        self.handle(Msg::Views(ViewsMsg::Loaded { query: self.app.views.query(), result: Ok(response), old: None }));
    }

    pub(crate) fn load_failing_views(&mut self) {
        self.press_keys("2");
        self.fail_views_request();
    }

    pub(crate) fn fail_views_request(&mut self) {
        let failure = Failure::new(FailureKind::Offline, "The service can't be reached: no network.");
        self.handle(Msg::Views(ViewsMsg::Loaded { query: self.app.views.query(), result: Err(failure), old: None }));
    }

    pub(crate) fn fill_log(&mut self) {
        let request = |operation, status, millis, reason: Option<&str>| LogKind::Request {
            operation,
            status,
            millis,
            reason: reason.map(CleanText::line),
        };
        let entries = [
            request(Operation::Create, Some(201), 412, None),
            request(Operation::GetJob, Some(200), 38, None),
            LogKind::Transition(CleanText::line("working → completed")),
            request(Operation::Views, Some(429), 21, Some("limit reached, retry in 60 s")),
            request(Operation::FollowUp, None, 10_000, Some("timed out after 10 s")),
            LogKind::Note(CleanText::line("unconfirmed: docdeck ended while sending")),
        ];
        for (n, what) in entries.into_iter().cycle().take(70).enumerate() {
            let at = ago(70) + TimeDelta::seconds(i64::try_from(n).expect("small") * 41);
            let entry = LogEntry { at, subject: CleanText::line("01J9ZK4M8Q0001"), kind: what };
            self.handle(Msg::Engine(EngineEvent::Logged(entry)));
        }
    }
}
