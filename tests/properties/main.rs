//! Properties of the dashboard for any sequence of keys, messages, sizes and clock changes: the state stays consistent,
//! every state can be drawn, and no prompt is submitted twice. The module `stored` tests stored data, and `ledgers`
//! tests request limits.

#![expect(clippy::expect_used, reason = "a test that can't be set up should fail")]
#![expect(clippy::indexing_slicing, reason = "a wrong index should fail the test")]

mod ledgers;
#[path = "../support/slow.rs"]
mod slow;
mod stored;
mod team;
mod team_reports;

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use docdeck::model::Time;
use docdeck::model::analytics::AnalyticsKind;
use docdeck::model::connection::ConnectionState;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::impact::{PageHistory, PageImpact, PageViewsState};
use docdeck::model::job::{FirstJobs, Job, JobKey};
use docdeck::model::layout::Layout;
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::prompt::{
    Delivery, DeliveryKind, DraftTarget, Prompt, PromptId, PromptKind, PromptResolution, Thread,
};
use docdeck::model::remote_job::{JobId, Status};
use docdeck::model::report::{
    CacheOverview, CachedPages, CachedRange, LoadEndReason, LoadOutcome, Report, StoredReport,
};
use docdeck::model::setup::{ConfigWritePermission, ExistingSettings, SetupField, SetupProblem};
use docdeck::model::team::{ReportKey, ReportKind};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsResponse};
use docdeck::tui::ConfigWriteError;
use docdeck::tui::ProfileEntry;
use docdeck::tui::compose::batch::BatchDialog;
use docdeck::tui::compose::editor::Editor;
use docdeck::tui::draw::{ColorDepth, Theme, draw};
use docdeck::tui::welcome::Welcome;
use docdeck::tui::{
    App, AppConfig, Effect, InitialData, JobsEffect, JobsMsg, Msg, Overwrite, ProfilesEffect, ProfilesMsg,
    PromptsEffect, PromptsMsg, SavedFilter, StoreState, SubmitError, Template, ViewsEffect, ViewsMsg,
};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::collections::HashSet;
use std::sync::Arc;

/// Creates a folder, in memory if the system allows it: the tests open hundreds of stores, whose commits wait for the
/// disk.
fn create_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// An event that the dashboard has to handle.
#[derive(Debug, Clone)]
enum Step {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// The oldest pending effect is answered: with success if `true`, otherwise with an error.
    Answer(bool),
    /// A job changes: its key, the number of its status, and the delivery of an undelivered prompt.
    JobChanged(i64, u8, Option<DeliveryKind>),
    /// The delivery of a prompt changes: the number of the prompt, and the number of the delivery.
    DeliveryChanged(i64, u8),
    /// The service becomes reachable if `true`, otherwise unreachable.
    ConnectionChanged(bool),
    /// A report arrives that another member of the team has loaded: the number of its kind.
    ReportReceived(usize),
    /// This many milliseconds pass.
    TimePassed(i64),
    /// The clock is set forward by this many seconds, or back if the number is negative.
    ClockSet(i64),
    Resumed,
}

fn key_press() -> impl Strategy<Value = Step> {
    let special = prop::sample::select(vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::F(1),
    ]);
    let chars =
        prop::sample::select("abcdefghijklmnoprstuvwxyzCDGHLNPRSTVY!?+[]<>1234 -/#:".chars().collect::<Vec<_>>());
    let ctrl_letters = prop::sample::select("suwkjaelyzdbrtgfnp".chars().collect::<Vec<_>>());
    prop_oneof![
        3 => special.prop_map(|code| Step::Key(KeyEvent::new(code, KeyModifiers::NONE))),
        6 => chars.prop_map(|c| Step::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))),
        2 => ctrl_letters.prop_map(|c| Step::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))),
    ]
}

/// A mouse event at a position on or outside the screen.
fn mouse_event() -> impl Strategy<Value = Step> {
    let kinds = prop::sample::select(vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Drag(MouseButton::Left),
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollUp,
        MouseEventKind::Moved,
    ]);
    let cell = |usual: u16| prop_oneof![9 => 0..usual, 1 => Just(u16::MAX)];
    (kinds, cell(170), cell(60))
        .prop_map(|(kind, column, row)| Step::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

/// A layout that this version or another version of docdeck has saved, or none.
fn saved_layout() -> impl Strategy<Value = Option<Layout>> {
    let texts = prop::sample::select(vec![
        "{}",
        "{\"columns\":300,\"rows\":0,\"place\":\"views\",\"views\":{\"range\":{\"preset\":\"30d\"},\"filter\":\"/1\"}}",
        "{\"hidden\":true,\"jobs\":{\"filter\":\"Job\",\"tab\":\"Failed\",\"dismissed\":true},\"views\":{\"limit\":0}}",
        "{\"columns\":-1,\"place\":\"log\",\"views\":{\"range\":{\"days\":[\"9999-01-01\",\"9999-12-31\"]},\"log\":true}}",
    ]);
    prop::option::of(texts.prop_map(Layout::parse))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = prop::option::of(prop::sample::select(DeliveryKind::ALL.to_vec()));
    let step = prop_oneof![
        12 => key_press(),
        6 => mouse_event(),
        1 => "[a-z\\n\\r日é{}]{0,30}".prop_map(Step::Paste),
        1 => (0_u16..170, 0_u16..60).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        6 => any::<bool>().prop_map(Step::Answer),
        3 => (1_i64..12, 0_u8..6, kinds).prop_map(|(key, status, kind)| Step::JobChanged(key, status, kind)),
        2 => (1_i64..12, 0_u8..7).prop_map(|(prompt, delivery)| Step::DeliveryChanged(prompt, delivery)),
        1 => any::<bool>().prop_map(Step::ConnectionChanged),
        1 => (0..ReportKind::SHARED.len()).prop_map(Step::ReportReceived),
        2 => (0_i64..4000).prop_map(Step::TimePassed),
        1 => prop_oneof![-7200_i64..7200, -1_000_000_000_i64..1_000_000_000].prop_map(Step::ClockSet),
        1 => Just(Step::Resumed),
    ];
    prop::collection::vec(step, 1..120)
}

fn status(n: u8) -> Option<Status> {
    match n {
        0 => None,
        1 => Some(Status::Active),
        2 => Some(Status::Completed),
        3 => Some(Status::Failed),
        4 => Some(Status::Archived),
        _ => Some(Status::parse("odd")),
    }
}

fn row(key: i64, n: u8, undelivered: Option<DeliveryKind>, revision: i64, now: Time) -> Job {
    let pending = undelivered.filter(|kind| *kind != DeliveryKind::Accepted);
    let mut job = Job::new(JobKey(key), CleanText::line(&format!("Job {key}")), now);
    job.id = if n == 0 { None } else { JobId::new(&format!("job-{key}")) };
    job.remote.status = status(n);
    job.remote.pr_link = (n == 2).then(|| CleanText::line("https://example.com/a/pull/7"));
    job.local.gone = n == 5 && key % 2 == 0;
    job.local.dismissed = n == 4 && key % 2 == 0;
    job.local.pages =
        if key % 2 == 0 { [CleanText::line("/a"), CleanText::line("/b")].into() } else { Default::default() };
    job.local.undelivered = pending;
    job.revision = revision;
    job
}

fn delivery(n: u8, now: Time) -> Delivery {
    let why = CleanText::line("a reason");
    match n {
        0 => Delivery::Queued { until: Some(now + TimeDelta::minutes(9)) },
        1 => Delivery::Queued { until: None },
        2 => Delivery::Sending,
        3 => Delivery::Accepted,
        4 => Delivery::NotSent(why),
        5 => Delivery::Rejected(why),
        _ => Delivery::Unconfirmed(why),
    }
}

fn thread(job: JobKey, now: Time) -> Thread {
    let prompt = Prompt {
        id: PromptId(job.0),
        kind: PromptKind::Create,
        text: "words\n".repeat(50),
        delivery: delivery(6, now),
        written_at: now,
        sent_at: Some(now),
        state_at: Some(now),
        author: None,
    };
    Thread { prompts: vec![prompt], events: Vec::new() }
}

fn totals(now: Time) -> Timed<Counts> {
    let value = Counts::new(Count::Known(500), Count::Known(80), Count::Known(580));
    Timed { value, as_of: now }
}

fn report(range: DateRange, complete: bool, now: Time) -> Report {
    let odd = Counts::new(Count::Known(5), Count::Known(-1), Count::Missing);
    let path = |n: u32| CleanText::line(&format!("/{}/{n}", range.days()));
    let row = |n: u32| PageRow { path: path(n), counts: if n == 3 { odd.clone() } else { totals(now).value } };
    let page = ViewsResponse { totals: totals(now).value, rows: (0..40).map(row).collect(), has_more: Some(!complete) };
    Report::from_first_response(range, page, complete, now)
}

/// Returns the prompt that an effect submits and the target of its draft, or `None` if the effect submits nothing.
fn submission(effect: &Effect) -> Option<(DraftTarget, String)> {
    Some(match effect {
        Effect::Prompts(PromptsEffect::SubmitNewJob(text)) => (DraftTarget::NewJob, text.clone()),
        Effect::Prompts(PromptsEffect::SubmitJobAbout(text, _, _)) => (DraftTarget::AboutPages, text.clone()),
        Effect::Prompts(PromptsEffect::SubmitFollowUp(job, text)) => (DraftTarget::FollowUp(*job), text.clone()),
        Effect::Prompts(PromptsEffect::Resolve(prompt, PromptResolution::SendEdited(text))) => {
            (DraftTarget::Prompt(*prompt), text.clone())
        }
        Effect::Prompts(PromptsEffect::SubmitBatch { prompts, .. }) => (DraftTarget::Batch, prompts.concat()),
        _ => return None,
    })
}

/// A dashboard and its pending effects, which are answered by a simulated store and service.
struct TestDashboard {
    app: App,
    now: Time,
    pending: Vec<Effect>,
    revision: i64,
    next_prompt: i64,
    /// Whether a configuration is being written.
    is_writing: bool,
}

impl TestDashboard {
    fn new() -> Self {
        Self::with(None, None)
    }

    fn welcome() -> Self {
        Self::with(Some(Box::new(Welcome::new(&ExistingSettings::default(), CleanText::line("/c/config.toml")))), None)
    }

    /// Returns a dashboard with this saved layout.
    fn with_layout(layout: Option<Layout>) -> Self {
        Self::with(None, layout)
    }

    fn with(welcome: Option<Box<Welcome>>, layout: Option<Layout>) -> Self {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let start = AppConfig {
            size: (80, 24),
            needs_setup: welcome.is_some(),
            layout,
            filters: vec![SavedFilter { name: CleanText::line("Failed"), text: "s:failed".to_owned() }],
            ..AppConfig::new(scope, FixedOffset::east_opt(3600).expect("an offset"))
        };
        let now = Time::from_timestamp(1_800_000_000, 0).expect("a time");
        let (mut app, pending) = App::new(start, now);
        if let Some(form) = welcome {
            app.open(*form);
        }
        Self { app, now, pending, revision: 0, next_prompt: 100, is_writing: false }
    }

    fn send(&mut self, msg: Msg) {
        let effects = self.app.update(msg, self.now);
        let mut submitted = HashSet::new();
        for effect in effects {
            if let Some((draft_target, text)) = submission(&effect) {
                assert!(!text.trim().is_empty(), "nothing blank is sent");
                assert!(submitted.insert(draft_target), "the same prompt is submitted twice");
                // If the draft remained, the user could submit it again.
                assert_ne!(self.app.draft(draft_target), Some(text.as_str()), "a submitted prompt is not a draft");
                let has_prompt = |editor: &Editor| editor.draft_target == draft_target && editor.input.text() == text;
                assert!(!self.app.find().is_some_and(has_prompt), "a submitted prompt is in no editor");
                let is_batch = draft_target == DraftTarget::Batch;
                assert!(!is_batch || self.app.find::<BatchDialog>().is_none(), "submitted prompts are in no dialog");
            }
            match &effect {
                Effect::Prompts(PromptsEffect::SubmitJobAbout(_, pages, _)) => {
                    assert!(!pages.is_empty(), "the job has pages")
                }
                Effect::Prompts(PromptsEffect::SubmitBatch { prompts, .. }) => {
                    assert!(prompts.iter().all(|prompt| !prompt.trim().is_empty()), "nothing blank is queued");
                }
                Effect::Profiles(ProfilesEffect::WriteConfig { profile, .. }) => {
                    assert!(!profile.project.is_empty(), "nothing without a project is written");
                    assert!(!self.is_writing, "two configurations are written at once");
                    self.is_writing = true;
                }
                Effect::SaveLayout { text, .. } => {
                    assert_eq!(Layout::parse(text).to_json(), *text, "a saved layout can be read");
                }
                _ => {}
            }
            self.pending.push(effect);
        }
        let shown = self.app.jobs.selected().map(|row| row.key);
        let has_lines = self.app.jobs.listed_count() > 0;
        assert_eq!(shown.is_some(), has_lines, "a row is selected if and only if rows are shown");
    }

    /// Delivers timers until none is due. Fails if a timer is still due after eight, because the dashboard would then
    /// wake up endlessly.
    fn run_due_timers(&mut self) {
        for _ in 0..8 {
            match self.app.next_timer(self.now) {
                Some(due) if due <= self.now => self.send(Msg::Timer),
                _ => return,
            }
        }
        unreachable!("a timer is still due at {:?}, the time is {}", self.app.next_timer(self.now), self.now);
    }

    /// Answers the initial reads of the store and discards all other pending effects.
    fn load_store(&mut self) {
        while !self.pending.is_empty() && self.app.store != StoreState::Loaded {
            self.answer(true);
        }
        self.pending.clear();
    }

    fn answer(&mut self, is_ok: bool) {
        if self.pending.is_empty() {
            return;
        }
        let failure = || Failure::new(FailureKind::Store, "It did not work.");
        let refused = |text, pages| SubmitError { failure: failure(), text, pages };
        self.revision += 1;
        let (revision, now) = (self.revision, self.now);
        let changed = |key: i64| row(key, 1, None, revision, now);
        let msg = match self.pending.remove(0) {
            Effect::Jobs(JobsEffect::LoadFirstRows(_)) => {
                let rows = (1..3).map(|key| row(key, 1 + u8::try_from(key % 5).expect("small"), None, 0, now));
                let (rows, group_counts) = (rows.collect(), [0, 2, 0, 3, 0]);
                let first = FirstJobs { jobs: rows, group_counts, working_count: 2, ..FirstJobs::default() };
                Msg::Jobs(JobsMsg::FirstRowsLoaded(if is_ok { Ok(first) } else { Err(failure()) }))
            }
            Effect::Jobs(JobsEffect::LoadInitialData) => {
                let jobs =
                    (1..6).map(|key| row(key, 1 + u8::try_from(key % 5).expect("small"), None, 0, now)).collect();
                let drafts = vec![(DraftTarget::NewJob, "kept".to_owned())];
                let known = InitialData { jobs, drafts, ..InitialData::default() };
                Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(known))))
            }
            Effect::Jobs(JobsEffect::LoadThread(job)) => Msg::Jobs(JobsMsg::ThreadLoaded {
                job,
                result: if is_ok { Ok(thread(job, now)) } else { Err(failure()) },
            }),
            Effect::Jobs(JobsEffect::PrefetchThreads(jobs)) => {
                let threads = jobs.into_iter().map(|job| (job, thread(job, now)));
                Msg::Jobs(JobsMsg::ThreadsPrefetched(if is_ok { Ok(threads.collect()) } else { Err(failure()) }))
            }
            Effect::Prompts(PromptsEffect::SubmitNewJob(text)) => {
                self.next_prompt += 1;
                let made =
                    (PromptId(self.next_prompt), row(self.next_prompt, 0, Some(DeliveryKind::Queued), revision, now));
                Msg::Prompts(PromptsMsg::Submitted {
                    draft_target: DraftTarget::NewJob,
                    result: if is_ok { Ok(made) } else { Err(refused(text, Vec::new())) },
                })
            }
            Effect::Prompts(PromptsEffect::SubmitJobAbout(text, pages, _)) => {
                self.next_prompt += 1;
                let mut job = row(self.next_prompt, 0, Some(DeliveryKind::Queued), revision, now);
                job.local.pages = pages.clone().into();
                let made = (PromptId(self.next_prompt), job);
                Msg::Prompts(PromptsMsg::Submitted {
                    draft_target: DraftTarget::AboutPages,
                    result: if is_ok { Ok(made) } else { Err(refused(text, pages)) },
                })
            }
            Effect::Prompts(PromptsEffect::SubmitFollowUp(job, text)) => {
                self.next_prompt += 1;
                let made = (PromptId(self.next_prompt), changed(job.0));
                let result = if is_ok { Ok(made) } else { Err(refused(text, Vec::new())) };
                Msg::Prompts(PromptsMsg::Submitted { draft_target: DraftTarget::FollowUp(job), result })
            }
            Effect::Prompts(PromptsEffect::Resolve(prompt, PromptResolution::SendEdited(text))) => {
                let result = if is_ok { Ok((prompt, changed(prompt.0))) } else { Err(refused(text, Vec::new())) };
                Msg::Prompts(PromptsMsg::Submitted { draft_target: DraftTarget::Prompt(prompt), result })
            }
            Effect::Prompts(PromptsEffect::Resolve(prompt, _)) => Msg::Prompts(PromptsMsg::Resolved {
                prompt,
                result: if is_ok { Ok(changed(prompt.0)) } else { Err(failure()) },
            }),
            Effect::Jobs(JobsEffect::ChangeLocalData(jobs, _)) => {
                let rows = jobs.iter().map(|job| changed(job.0)).collect();
                Msg::Jobs(JobsMsg::LocalDataChanged(if is_ok { Ok(rows) } else { Err(failure()) }))
            }
            Effect::Jobs(JobsEffect::Check(job)) => {
                Msg::Jobs(JobsMsg::Checked(if is_ok { Ok(changed(job.0)) } else { Err(failure()) }))
            }
            Effect::Jobs(JobsEffect::Track(id)) => Msg::Jobs(JobsMsg::Tracked {
                id: id.to_clean_text(),
                result: if is_ok { Ok(changed(50)) } else { Err(failure()) },
            }),
            Effect::Jobs(JobsEffect::FindJobsByPrompt(text)) => {
                let jobs = if is_ok { Ok(vec![JobKey(1), JobKey(3), JobKey(99)]) } else { Err(failure()) };
                Msg::Jobs(JobsMsg::JobsFoundByPrompt { text, jobs })
            }
            Effect::Views(ViewsEffect::ListCachedRanges) => {
                let range = self.app.views.query().range;
                let totals = Counts::default();
                let known = CachedRange {
                    range,
                    as_of: now,
                    views: Some(CachedPages { rows: 9, complete: is_ok, totals }),
                    reports: vec![AnalyticsKind::Searches],
                };
                Msg::Views(ViewsMsg::CachedRangesListed(if is_ok {
                    Ok(CacheOverview { ranges: vec![known; 40], bytes: 9 })
                } else {
                    Err(failure())
                }))
            }
            Effect::WriteFile(file, Overwrite::Ask) if !is_ok => Msg::FileExists(file),
            Effect::WriteFile(file, _) => Msg::ActionFinished {
                success_notice: file.description,
                result: if is_ok { Ok(()) } else { Err(failure()) },
            },
            Effect::Prompts(PromptsEffect::SaveDraft(draft_target, _))
            | Effect::Prompts(PromptsEffect::DeleteDraft(draft_target)) => Msg::Prompts(PromptsMsg::DraftSaved {
                draft_target,
                result: if is_ok { Ok(now) } else { Err(failure()) },
            }),
            Effect::Prompts(PromptsEffect::SaveDraftAbout(..)) => {
                let draft_target = DraftTarget::AboutPages;
                Msg::Prompts(PromptsMsg::DraftSaved {
                    draft_target,
                    result: if is_ok { Ok(now) } else { Err(failure()) },
                })
            }
            Effect::Prompts(PromptsEffect::ReadDraft(draft_target)) => {
                let pages =
                    if draft_target == DraftTarget::AboutPages { vec![CleanText::line("/b")] } else { Vec::new() };
                Msg::Prompts(PromptsMsg::DraftRead {
                    draft_target,
                    text: is_ok.then(|| "from elsewhere".to_owned()),
                    pages,
                })
            }
            Effect::Views(ViewsEffect::LoadPageHistory { path, .. }) => {
                let jobs = [1, 3, 99]
                    .map(|key| (JobKey(key), PageViewsState::Unknown, PageViewsState::NotListed(now)))
                    .to_vec();
                let history = PageHistory { jobs, ..PageHistory::default() };
                Msg::Views(ViewsMsg::PageHistoryLoaded {
                    path,
                    result: if is_ok { Ok(history) } else { Err(failure()) },
                })
            }
            Effect::Jobs(JobsEffect::LoadJobImpact(job)) => {
                let about = |path: &str| PageImpact {
                    path: CleanText::line(path),
                    before: PageViewsState::NotListed(now),
                    after: PageViewsState::Unknown,
                    signals: None,
                };
                Msg::Jobs(JobsMsg::ImpactLoaded {
                    job,
                    result: if is_ok { Ok(vec![about("/a")]) } else { Err(failure()) },
                })
            }
            Effect::Views(ViewsEffect::Load { query, .. }) => {
                let counts = Counts::new(Count::Known(5), Count::Known(-1), Count::Missing);
                let row = PageRow { path: CleanText::line("/a"), counts: counts.clone() };
                let value = ViewsResponse { totals: counts, rows: vec![row; 60], has_more: None };
                let result = if is_ok { Ok(Timed { value, as_of: now }) } else { Err(failure()) };
                Msg::Views(ViewsMsg::Loaded { query, result, old: None })
            }
            Effect::Views(ViewsEffect::LoadCachedReport(range) | ViewsEffect::LoadReceivedReport(range)) => {
                let report = (revision % 2 == 0).then(|| Arc::new(report(range, revision % 4 == 0, now)));
                let broken_off = report.as_ref().filter(|report| !report.complete).map(|report| report.responses);
                let stored = StoredReport {
                    report,
                    responses_before_interruption: broken_off,
                    last_load_requests: Some(3),
                    ..StoredReport::default()
                };
                Msg::Views(ViewsMsg::CachedReportLoaded {
                    range,
                    stored: if is_ok { Ok(stored) } else { Err(failure()) },
                })
            }
            Effect::Views(ViewsEffect::LoadAll(order)) => {
                let complete = revision % 3 == 0;
                let ended = match (is_ok, complete) {
                    (true, true) => LoadEndReason::Complete,
                    (true, false) => LoadEndReason::RequestLimit,
                    (false, _) => LoadEndReason::Failed(failure()),
                };
                let complete = ended == LoadEndReason::Complete;
                let end = LoadOutcome {
                    report: Some(Arc::new(report(order.range, complete, now))),
                    end_reason: ended,
                    requests: 2,
                };
                Msg::Views(ViewsMsg::LoadEnded { range: order.range, end })
            }
            Effect::Views(ViewsEffect::LoadCachedTotals(ranges)) => {
                let totals = ranges.into_iter().step_by(2).map(|range| (range, totals(now))).collect();
                Msg::Views(ViewsMsg::CachedTotalsLoaded(if is_ok { Ok(totals) } else { Err(failure()) }))
            }
            Effect::Views(ViewsEffect::LoadTotals(ranges)) => {
                for range in ranges {
                    self.send(Msg::Engine(EngineEvent::Totals { range, totals: totals(now) }));
                }
                Msg::Views(ViewsMsg::TotalsLoadEnded(if is_ok { Ok(()) } else { Err(failure()) }))
            }
            Effect::OpenUrl(what) | Effect::Copy { success_notice: what, .. } => {
                Msg::ActionFinished { success_notice: what, result: if is_ok { Ok(()) } else { Err(failure()) } }
            }
            Effect::Prompts(PromptsEffect::LoadHistory) => {
                let prompts = vec!["one\n{{path}}".to_owned(), "two 日".to_owned()];
                Msg::Prompts(PromptsMsg::HistoryLoaded(if is_ok { Ok(prompts) } else { Err(failure()) }))
            }
            Effect::Prompts(PromptsEffect::LoadTemplates) => {
                Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![Template {
                    name: CleanText::line("t"),
                    text: "Do {{job}} {{x}}".to_owned(),
                }]))
            }
            Effect::OpenExternalEditor(text) => Msg::Prompts(PromptsMsg::EditedExternally(if is_ok {
                Ok(format!("{text} more\n"))
            } else {
                Err(failure())
            })),
            Effect::Prompts(PromptsEffect::ReadPrompts(file)) => {
                let prompts = (0..200).map(|n| format!("prompt {n}")).collect();
                Msg::Prompts(PromptsMsg::PromptsRead { file, result: if is_ok { Ok(prompts) } else { Err(failure()) } })
            }
            Effect::Prompts(PromptsEffect::SubmitBatch { prompts, typed_text: typed }) => {
                let rows = (0..prompts.len())
                    .map(|n| row(200 + i64::try_from(n).expect("small"), 0, Some(DeliveryKind::Queued), revision, now));
                Msg::Prompts(PromptsMsg::BatchAdded(if is_ok {
                    Ok(rows.collect())
                } else {
                    Err(refused(typed, Vec::new()))
                }))
            }
            Effect::Jobs(JobsEffect::ChangeQueue(jobs, _)) => {
                let rows = jobs.iter().map(|job| changed(job.0)).collect();
                Msg::Jobs(JobsMsg::LocalDataChanged(if is_ok { Ok(rows) } else { Err(failure()) }))
            }
            Effect::Profiles(ProfilesEffect::CheckProfile { attempt, .. }) => {
                let problem = SetupProblem::new(Some(SetupField::BaseUrl), "It is wrong.");
                Msg::Profiles(ProfilesMsg::ProfileChecked {
                    attempt,
                    result: if is_ok { Ok(()) } else { Err(problem) },
                })
            }
            Effect::Profiles(ProfilesEffect::AddProfile(profile, key)) => {
                let name = CleanText::line(&profile.name);
                let profile = ProfileEntry { name, scope: Some(profile.scope()), problem: None };
                Msg::Profiles(ProfilesMsg::ProfileAdded { profile, key })
            }
            Effect::SaveFilter { filter, .. } => {
                Msg::FilterSaved { filter, result: if is_ok { Ok(()) } else { Err(failure()) } }
            }
            Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt, .. }) => {
                let key = ApiKey::new("mint_k").expect("a key");
                Msg::Profiles(ProfilesMsg::NewProfileKeyRead {
                    attempt,
                    result: if is_ok { Ok(key) } else { Err(failure()) },
                })
            }
            Effect::Profiles(ProfilesEffect::TestProfile { attempt, .. }) => {
                let message = CleanText::line("It works.");
                Msg::Profiles(ProfilesMsg::ProfileTested {
                    attempt,
                    result: if is_ok { Ok(message) } else { Err(failure()) },
                })
            }
            Effect::Profiles(ProfilesEffect::WriteConfig { attempt, allowed, .. }) => {
                self.is_writing = false;
                let there = ConfigWriteError::NeedsConfirmation(ConfigWritePermission::Change);
                let result = if is_ok || allowed == ConfigWritePermission::Change { Ok(()) } else { Err(there) };
                Msg::Profiles(ProfilesMsg::ConfigWritten { attempt, result })
            }
            _ => Msg::Timer,
        };
        self.send(msg);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Key(key) => self.send(Msg::Input(Event::Key(key))),
            Step::Mouse(event) => self.send(Msg::Input(Event::Mouse(event))),
            Step::Paste(text) => self.send(Msg::Input(Event::Paste(text))),
            Step::Resize(columns, rows) => self.send(Msg::Input(Event::Resize(columns, rows))),
            Step::Answer(is_ok) => self.answer(is_ok),
            Step::JobChanged(key, status, undelivered) => {
                self.revision += 1;
                let row = row(key, status, undelivered, self.revision, self.now);
                self.send(Msg::Engine(EngineEvent::Job(Box::new(row))));
            }
            Step::DeliveryChanged(prompt, n) => {
                self.revision += 1;
                let (prompt, delivery) = (PromptId(prompt + 95), delivery(n, self.now));
                let job = Box::new(row(prompt.0, 1, Some(delivery.kind()), self.revision, self.now));
                self.send(Msg::Engine(EngineEvent::Prompt { prompt, delivery, job }));
            }
            Step::ConnectionChanged(live) => {
                let reason = CleanText::line("no network");
                let next_try = self.now + TimeDelta::seconds(8);
                let offline = ConnectionState::Offline { reason, next_try: Some(next_try) };
                self.send(Msg::Engine(EngineEvent::ConnectionState(if live {
                    ConnectionState::Ready
                } else {
                    offline
                })));
            }
            Step::ReportReceived(kind) => {
                let range = self.app.views.query().range;
                let key = ReportKey { kind: ReportKind::SHARED[kind], range };
                self.send(Msg::Engine(EngineEvent::ReportReceived(key)));
            }
            Step::TimePassed(millis) => {
                self.now += TimeDelta::milliseconds(millis);
                self.send(Msg::Timer);
                self.run_due_timers();
            }
            Step::ClockSet(seconds) => {
                self.now += TimeDelta::seconds(seconds);
                self.send(Msg::Timer);
                self.run_due_timers();
            }
            Step::Resumed => self.send(Msg::Resumed),
        }
    }

    fn draw(&self) {
        let Ok(mut terminal) = Terminal::new(TestBackend::new(self.app.size.0, self.app.size.1));
        let theme = Theme::new(ColorDepth::Indexed256);
        let Ok(_) = terminal.draw(|frame| draw(frame, &self.app, &theme, self.now));
    }
}

/// Returns the number of random sequences: a sample, and all of them with `DOCDECK_SLOW_TESTS`.
fn case_count() -> u32 {
    u32::try_from(slow::sample(0..300, 3).len()).expect("few")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: case_count(), ..ProptestConfig::default() })]

    #[test]
    fn every_state_can_be_drawn_and_no_prompt_is_submitted_twice(layout in saved_layout(), steps in steps()) {
        let mut dashboard = TestDashboard::with_layout(layout);
        dashboard.answer(true);
        for step in steps {
            dashboard.step(step);
            dashboard.draw();
        }
    }

    #[test]
    fn the_setup_screen_writes_one_configuration_at_a_time(steps in steps()) {
        let mut dashboard = TestDashboard::welcome();
        for (n, step) in steps.into_iter().enumerate() {
            dashboard.step(step);
            if n % 8 == 0 {
                dashboard.draw();
            }
        }
    }

    #[test]
    fn a_prompt_that_is_being_saved_can_not_be_submitted_again(text in "[a-z]{1,20}", is_ok in any::<bool>()) {
        let mut dashboard = TestDashboard::new();
        dashboard.load_store();
        let press = |dashboard: &mut TestDashboard, code, mods| dashboard.step(Step::Key(KeyEvent::new(code, mods)));
        press(&mut dashboard, KeyCode::Char('n'), KeyModifiers::NONE);
        dashboard.step(Step::Paste(text.clone()));
        press(&mut dashboard, KeyCode::Char('s'), KeyModifiers::CONTROL);
        press(&mut dashboard, KeyCode::Esc, KeyModifiers::NONE);
        // Try to submit the prompt again before the store has answered. `TestDashboard::send` fails if it is submitted
        // twice.
        press(&mut dashboard, KeyCode::Char('n'), KeyModifiers::NONE);
        press(&mut dashboard, KeyCode::Char('s'), KeyModifiers::CONTROL);
        let submitted = dashboard.pending.iter().position(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitNewJob(_))));
        dashboard.pending.drain(..submitted.expect("submitted once"));
        dashboard.answer(is_ok);
        // Depending on the store's answer, the text is now a prompt or a draft again.
        prop_assert_eq!(dashboard.app.draft(DraftTarget::NewJob).is_some_and(|draft| draft.contains(&text)), !is_ok);
    }

    #[test]
    fn quitting_saves_typed_text_first(text in "[a-z日 ]{0,20}[a-z日]") {
        let mut dashboard = TestDashboard::new();
        dashboard.load_store();
        dashboard.step(Step::Key(KeyEvent::new(KeyCode::Char('n'), KeyModifiers::NONE)));
        dashboard.step(Step::Paste(text.clone()));
        dashboard.send(Msg::Terminate);
        let saved = dashboard.pending.iter().position(|effect| {
            matches!(effect, Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, saved)) if saved.contains(&text))
        });
        let quit = dashboard.pending.iter().position(|effect| *effect == Effect::Quit);
        prop_assert!(saved.is_some() && saved < quit, "{:?}", dashboard.pending);
    }
}
