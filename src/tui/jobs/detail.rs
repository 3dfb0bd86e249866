//! The details of the selected job: its facts, and its thread as lines wrapped to the width of the pane.

use super::job_facts::{FactName, LABEL_WIDTH};
use super::next_step::KeySentence;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::job_state::JobState;
use crate::model::link::display_url;
use crate::model::load::{Load, Timed};
use crate::model::prompt::{Delivery, DeliveryKind, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread};
use crate::model::remote_job::{Status, pr_number};
use crate::model::text::CleanText;
use crate::tui::format::{format_count, format_duration, truncate};
use crate::tui::impact::{JobTargetPages, PagesLine, pages_lines};
use crate::tui::thread_prefetch::{JobRevision, ThreadPrefetch};
use crate::tui::wrap::wrap;

/// The maximum number of lines shown of one prompt. The store has the complete text.
const MAX_THREAD_PROMPT_LINES: usize = 300;
/// The maximum number of characters of one prompt that are wrapped and shown.
const MAX_THREAD_PROMPT_CHARS: usize = 24_000;
/// The width in cells of the time and the symbol before the text of an entry.
pub const ENTRY_INDENT: usize = TIME_CELLS + 2;
/// The width in cells of the time before an entry, including the blank after the time.
pub const TIME_CELLS: usize = 7;
/// The minimum number of rows at which the details show all facts, and the title on several lines.
const MIN_ROWS_WITH_ALL_FACTS: usize = 18;
/// The name for the author of the user's own prompts, in a thread with prompts of several members.
const OWN_AUTHOR: &str = "you";
/// The maximum number of lines of the title.
const MAX_TITLE_LINES: usize = 3;

/// What an entry of the timeline is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Prompt,
    /// A prompt in a thread with prompts of several members. The first line of the entry is the name of the prompt's
    /// author, and the lines of the prompt follow.
    Author,
    /// One or more events, with the state of the job after them.
    Events(JobState),
}

/// A line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadLine {
    /// The first line of an entry.
    Entry { at: Time, kind: EntryKind, text: String },
    /// A further line of a prompt, or the reason for its delivery state.
    Continuation(String),
    /// The delivery state of the prompt above. Left out if the prompt is `Accepted`, or if a remark already states what
    /// has happened to the prompt.
    Delivery(DeliveryKind),
    /// A further line of events, or a remark about the prompt above.
    Remark(String),
}

/// A line above the thread with facts about the job. Texts that depend on the current time are created only when the
/// line is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A line of the title.
    Title(String),
    Blank,
    /// The status of the job, and how long the job has had it.
    State,
    /// A line of the sentence that says what to do next, split into pieces. The `bool` of a piece is true if the piece
    /// is a key.
    NextStep(Vec<(String, bool)>),
    /// Short facts about the pull request or the source.
    ShortFacts(Vec<FactName>),
    Tags,
    /// A line of the note; true for the first line of the note.
    Note(String, bool),
    /// A line about the pages that the job was started for.
    Pages(PagesLine),
}

/// The maximum number of lines of the sentence that says what to do next.
const MAX_NEXT_STEP_LINES: usize = 3;
/// The maximum number of lines shown of a note.
const MAX_NOTE_LINES: usize = 12;

/// Returns the facts of a job in their order on screen, one per line of a pane of this size. Omits unknown facts.
/// `pages` has the loaded data about the pages of the job, `next_step` is the suggested next step.
pub(in crate::tui) fn facts(
    row: &Job,
    pages: &JobTargetPages,
    next_step: &KeySentence,
    shows_title: bool,
    (columns, rows): (usize, usize),
) -> Vec<Fact> {
    let shows_all = rows >= MIN_ROWS_WITH_ALL_FACTS;
    let title_lines = match (shows_title, shows_all) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => MAX_TITLE_LINES,
    };
    let (mut title, is_cut) = wrap(row.local.title.as_str(), columns.max(8), title_lines);
    if let Some(last) = title.last_mut().filter(|_| is_cut) {
        *last = truncate(&format!("{last} …"), columns);
    }
    let next_step = next_step.lines(columns.max(8), MAX_NEXT_STEP_LINES);
    let state = [Fact::State].into_iter().chain(next_step.into_iter().map(Fact::NextStep));
    let state = title.into_iter().map(Fact::Title).chain(state);
    let short = FactName::rows(row, columns, shows_all);
    let has_blank = shows_all && !short.is_empty();
    let short = has_blank.then_some(Fact::Blank).into_iter().chain(short.into_iter().map(Fact::ShortFacts));
    let tags = (!row.local.tags.is_empty()).then_some(Fact::Tags);
    let note = row.local.note.as_ref().map_or("", CleanText::as_str);
    let (note, _) = wrap(note, columns.saturating_sub(LABEL_WIDTH).max(8), MAX_NOTE_LINES);
    let note = note.into_iter().enumerate().map(|(n, line)| Fact::Note(line, n == 0));
    let pages = pages_lines(row, pages, columns).into_iter().map(Fact::Pages);
    state.chain(short).chain(tags).chain(note).chain(pages).collect()
}

/// The lines of the details in a pane of a certain size. The facts in `fixed_facts` stay in place, and the lines below
/// them scroll.
#[derive(Debug)]
pub(in crate::tui) struct DetailLines {
    pub fixed_facts: Vec<Fact>,
    /// The facts that scroll together with the timeline below them. If these facts were in the head, too few rows would
    /// remain for the timeline. Empty if the head has all facts.
    pub scrollable_facts: Vec<Fact>,
    /// The number of rows for the lines that scroll. These rows are below the head and a blank row.
    pub scrolled_area_rows: usize,
    /// The number of lines that scroll.
    pub scrolled_line_count: usize,
    /// The index of the first visible line that scrolls.
    pub top: usize,
}

impl DetailLines {
    /// Returns the number of lines below the visible ones.
    pub(super) fn hidden_below(&self) -> usize {
        self.scrolled_line_count.saturating_sub(self.top + self.scrolled_area_rows)
    }

    /// Returns the largest possible value of `top`.
    pub(super) fn max_top(&self) -> usize {
        self.scrolled_line_count.saturating_sub(self.scrolled_area_rows)
    }
}

/// The details of the selected job.
#[derive(Debug, Default)]
pub struct Detail {
    job: Option<JobKey>,
    thread: Load<Thread>,
    /// The revision that the job had when its thread was requested. `None` if the engine might not report
    /// later changes of the thread. Such a thread is not cached.
    revision: Option<i64>,
    /// The job whose thread is being read. At most one thread is read at a time, however fast the selection moves.
    job_being_read: Option<JobKey>,
    /// Whether a thread was requested while a thread was being read. If both threads belong to the same job, the result
    /// of the current read may be outdated, so the thread is read again.
    must_reread: bool,
    lines: Vec<ThreadLine>,
    width: usize,
    /// The pages that the job was started for.
    pub job_pages: JobTargetPages,
    /// The cached threads of the jobs around the selected one.
    pub(in crate::tui) prefetched: ThreadPrefetch,
    /// The number of lines below the visible ones. While this is 0, the newest entry is visible, and the pane scrolls
    /// when another one is added.
    pub lines_below: usize,
}

impl Detail {
    /// Shows a job at this revision, or nothing if `job` is `None`. Returns the job whose thread has to be read now, if
    /// any.
    pub(in crate::tui) fn show(&mut self, job: Option<JobRevision>) -> Option<JobKey> {
        let key = job.map(|(key, _)| key);
        if self.job != key {
            self.cache_thread();
            self.job = key;
            self.revision = job.filter(|_| self.prefetched.is_engine_reporting()).map(|(_, revision)| revision);
            self.thread = job.and_then(|job| self.prefetched.take(job)).map_or(Load::Idle, Load::Ready);
            self.wrap_lines();
            self.lines_below = 0;
        }
        let wanted = key.filter(|_| matches!(self.thread, Load::Idle))?;
        self.request_read(wanted)
    }

    /// Caches the shown thread, because the user may soon come back to it.
    fn cache_thread(&mut self) {
        if let (Some(job), Some(revision), Load::Ready(thread)) =
            (self.job, self.revision, std::mem::take(&mut self.thread))
        {
            self.prefetched.cache_thread((job, revision), thread);
        }
    }

    /// Marks the thread of a job as outdated. Returns the job whose thread has to be read now, if any.
    pub fn mark_stale(&mut self, job: JobKey) -> Option<JobKey> {
        self.prefetched.invalidate(job);
        if self.job == Some(job) { self.request_read(job) } else { None }
    }

    fn request_read(&mut self, job: JobKey) -> Option<JobKey> {
        self.thread.start();
        if self.job_being_read.is_some() {
            self.must_reread = true;
            return None;
        }
        self.job_being_read = Some(job);
        self.must_reread = false;
        Some(job)
    }

    /// Applies a thread that was read. Returns the job whose thread has to be read next, if any.
    pub fn apply_thread(&mut self, job: JobKey, result: Result<Thread, Failure>, now: Time) -> Option<JobKey> {
        self.job_being_read = None;
        if self.job == Some(job) {
            self.thread.finish(result.map(|value| Timed { value, as_of: now }), now);
            let before = self.lines.len();
            self.wrap_lines();
            if self.lines_below > 0 {
                // The visible lines stay in place while entries are added below them.
                self.lines_below += self.lines.len().saturating_sub(before);
            }
            // The thread may lack a change that was made while it was being read.
            return if self.must_reread { self.request_read(job) } else { None };
        }
        self.job.filter(|_| self.thread.is_loading()).and_then(|wanted| self.request_read(wanted))
    }

    /// Wraps the thread to this width, if the width has changed.
    pub fn set_width(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.wrap_lines();
        }
    }

    fn wrap_lines(&mut self) {
        self.lines = self.thread.shown().map_or_else(Vec::new, |thread| wrap_thread(&thread.value, self.width));
    }

    /// Lays out the facts of a job and the timeline in a pane of this many rows.
    pub(in crate::tui) fn layout(&self, mut facts: Vec<Fact>, rows: usize) -> DetailLines {
        let can_scroll = |fact: &Fact| match fact {
            Fact::ShortFacts(names) => !names.iter().any(|name| name.is_about_pull_request()),
            fact => matches!(fact, Fact::Note(..) | Fact::Pages(_)),
        };
        let leaves_enough = rows.saturating_sub(facts.len() + 1) >= (rows / 3).max(2);
        let fixed = facts.iter().position(can_scroll).filter(|_| !leaves_enough).unwrap_or(facts.len());
        let scrollable_facts = facts.split_off(fixed);
        // A blank row follows the head anyway, so the head must not end with one.
        facts.pop_if(|last| *last == Fact::Blank);
        // A blank line follows the facts that scroll.
        let above = if scrollable_facts.is_empty() { 0 } else { scrollable_facts.len() + 1 };
        let is_message = self.lines.is_empty() && !matches!(self.thread, Load::Ready(_));
        let scrolled_line_count = above + self.lines.len() + usize::from(is_message);
        let scrolled_area_rows = rows.saturating_sub(facts.len() + 1);
        let top = scrolled_line_count.saturating_sub(scrolled_area_rows).saturating_sub(self.lines_below);
        DetailLines { fixed_facts: facts, scrollable_facts, scrolled_area_rows, scrolled_line_count, top }
    }

    pub fn job(&self) -> Option<JobKey> {
        self.job
    }

    pub fn thread(&self) -> &Load<Thread> {
        &self.thread
    }

    /// Returns the wrapped lines of the thread.
    pub fn lines(&self) -> &[ThreadLine] {
        &self.lines
    }

    /// Returns the first prompt of the thread that was written on this computer and needs a decision by the user.
    pub fn undelivered(&self) -> Option<&Prompt> {
        let thread = &self.thread.shown()?.value;
        thread.prompts.iter().find(|prompt| prompt.is_from_this_computer() && prompt.delivery.kind().needs_user())
    }

    /// Returns the first prompt of the thread that another member wrote and that is being sent or needs a decision.
    pub fn undelivered_of_others(&self) -> Option<&Prompt> {
        let is_open = |prompt: &&Prompt| {
            let kind = prompt.delivery.kind();
            !prompt.is_from_this_computer() && (kind.needs_user() || kind == DeliveryKind::Sending)
        };
        self.thread.shown()?.value.prompts.iter().find(is_open)
    }

    /// Returns a sentence that explains what happened to the prompt that was to start the job, if that prompt was
    /// discarded. `None` if the prompt was not discarded or the thread is not loaded.
    pub fn discard_explanation(&self) -> Option<&'static str> {
        let prompts = &self.thread.shown()?.value.prompts;
        prompts.iter().filter(|prompt| prompt.kind == PromptKind::Create).find_map(Prompt::discard_explanation)
    }

    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.thread.shown()?.value.prompts.iter().find(|prompt| prompt.id == id)
    }
}

/// Returns the prompts and events of a thread as a timeline, wrapped to this width.
fn wrap_thread(thread: &Thread, width: usize) -> Vec<ThreadLine> {
    enum ThreadEntry<'a> {
        Prompt(&'a Prompt),
        Event(&'a JobEvent),
    }
    let prompts = thread.prompts.iter().map(|prompt| (prompt.written_at, ThreadEntry::Prompt(prompt)));
    let events = thread.events.iter().map(|event| (event.at, ThreadEntry::Event(event)));
    let mut entries: Vec<_> = prompts.chain(events).collect();
    entries.sort_by_key(|(at, _)| *at);
    let text_width = width.saturating_sub(ENTRY_INDENT).max(8);
    let mut out = Vec::new();
    let names_authors = thread.prompts.iter().any(|prompt| !prompt.is_from_this_computer());
    let mut is_blocked = false;
    let mut progress = JobProgress { state: JobState::NoStatus, running_since: None };
    let mut events: Option<(Time, String)> = None;
    for (at, entry) in entries {
        match entry {
            ThreadEntry::Prompt(prompt) => {
                push_events(events.take(), progress.state, text_width, &mut out);
                let names = names_authors.then(|| prompt.author.as_ref().map_or(OWN_AUTHOR, CleanText::as_str));
                push_prompt_lines(prompt, at, names, text_width, is_blocked, &mut out);
                is_blocked |= prompt.is_from_this_computer() && prompt.delivery.kind().blocks_later_prompts();
                if prompt.delivery == Delivery::Accepted {
                    progress.running_since = Some(prompt.sent_at.unwrap_or(at));
                }
            }
            ThreadEntry::Event(event) => {
                let minute = |time: Time| time.timestamp().div_euclid(60);
                if events.as_ref().is_some_and(|(first, _)| minute(*first) != minute(at)) {
                    push_events(events.take(), progress.state, text_width, &mut out);
                }
                let text = progress.apply(event);
                events = Some(match events.take() {
                    Some((first, before)) => (first, format!("{before}, {text}")),
                    None => (at, text),
                });
            }
        }
    }
    push_events(events, progress.state, text_width, &mut out);
    out
}

/// What the events of a job have shown so far.
struct JobProgress {
    state: JobState,
    /// When the agent started to work on the last prompt; `None` if the agent is not working. As long as docdeck has
    /// not seen the agent working, this is when the prompt was sent.
    running_since: Option<Time>,
}

impl JobProgress {
    /// Applies the next event and returns its description.
    fn apply(&mut self, event: &JobEvent) -> String {
        match &event.kind {
            EventKind::Status { to, .. } => self.state = JobState::of_status(to),
            EventKind::Gone => self.state = JobState::Gone,
            EventKind::Back => self.state = JobState::NoStatus,
            EventKind::PullRequest(_) => {}
        }
        let mut took = || {
            let duration = self.running_since.take().map(|since| event.at - since);
            duration.map(|duration| format!(" after {}", format_duration(duration))).unwrap_or_default()
        };
        match &event.kind {
            EventKind::Status { from, to: Status::Active } => {
                self.running_since = Some(event.at);
                if from.is_some() { "working again" } else { "started" }.to_owned()
            }
            EventKind::Status { to: Status::Completed, .. } => format!("finished{}", took()),
            EventKind::Status { to: Status::Failed, .. } => format!("failed{}", took()),
            EventKind::Status { to: to @ Status::Unknown(_), .. } => format!("status: {}", to.word()),
            EventKind::Status { to, .. } => to.word().to_owned(),
            EventKind::PullRequest(link) => match pr_number(link.as_str()) {
                Some(number) => format!("opened #{number}"),
                None => format!("opened {}", display_url(link)),
            },
            EventKind::Gone => "no longer on the service".to_owned(),
            EventKind::Back => "back on the service".to_owned(),
        }
    }
}

/// Adds one entry for the events of the same minute. `state` is the state of the job after them.
fn push_events(events: Option<(Time, String)>, state: JobState, width: usize, out: &mut Vec<ThreadLine>) {
    let Some((at, text)) = events else { return };
    let mut lines = wrap(&text, width, 4).0.into_iter();
    out.push(ThreadLine::Entry { at, kind: EntryKind::Events(state), text: lines.next().unwrap_or_default() });
    out.extend(lines.map(ThreadLine::Remark));
}

/// Adds the lines of a prompt. `is_blocked` is true if an earlier prompt prevents the next prompts from being sent.
fn push_prompt_lines(
    prompt: &Prompt,
    at: Time,
    author: Option<&str>,
    width: usize,
    is_blocked: bool,
    out: &mut Vec<ThreadLine>,
) {
    let head: String = prompt.text.chars().take(MAX_THREAD_PROMPT_CHARS).collect();
    let (text, cut) = wrap(CleanText::block(&head).as_str().trim_end(), width, MAX_THREAD_PROMPT_LINES);
    let mut text = text.into_iter();
    out.push(match author {
        Some(author) => ThreadLine::Entry { at, kind: EntryKind::Author, text: truncate(author, width) },
        None => ThreadLine::Entry { at, kind: EntryKind::Prompt, text: text.next().unwrap_or_default() },
    });
    out.extend(text.map(ThreadLine::Continuation));
    if cut || head.len() < prompt.text.len() {
        let total = format_count(prompt.text.chars().count());
        out.push(ThreadLine::Remark(format!("… {total} characters in total")));
    }
    if let Some(sentence) = prompt.discard_explanation() {
        out.extend(wrap(sentence, width, 4).0.into_iter().map(ThreadLine::Remark));
    } else if is_blocked && prompt.is_from_this_computer() && matches!(prompt.delivery, Delivery::Queued { .. }) {
        out.push(ThreadLine::Remark("… waiting for an earlier prompt".to_owned()));
    } else if prompt.delivery != Delivery::Accepted {
        out.push(ThreadLine::Delivery(prompt.delivery.kind()));
        if let Some(reason) = prompt.delivery.reason() {
            out.extend(wrap(reason.as_str(), width, 8).0.into_iter().map(ThreadLine::Continuation));
        }
    }
}

/// Returns the name of a kind of prompt.
pub fn kind_text(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Create => "New job",
        PromptKind::FollowUp => "Follow-up",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;
    use crate::tui::jobs::tests::at;

    fn thread() -> Thread {
        let prompt = |id: i64, text: &str, delivery: Delivery| Prompt {
            id: PromptId(id),
            kind: PromptKind::Create,
            text: text.to_owned(),
            delivery,
            written_at: at(id * 10),
            sent_at: None,
            state_at: None,
            author: None,
        };
        let event = JobEvent { at: at(15), kind: EventKind::Status { from: None, to: Status::Completed } };
        let reason = CleanText::line("no network");
        Thread {
            prompts: vec![prompt(1, "Fix it\nall", Delivery::Accepted), prompt(2, "More", Delivery::NotSent(reason))],
            events: vec![event],
        }
    }

    #[test]
    fn prompts_and_events_are_in_chronological_order() {
        let lines = wrap_thread(&thread(), 60);
        let prompt = |at, text: &str| ThreadLine::Entry { at, kind: EntryKind::Prompt, text: text.to_owned() };
        assert_eq!(lines[0], prompt(at(10), "Fix it"));
        assert_eq!(lines[1], ThreadLine::Continuation("all".to_owned()));
        let finished = EntryKind::Events(JobState::Completed);
        assert_eq!(lines[2], ThreadLine::Entry { at: at(15), kind: finished, text: "finished after 5s".to_owned() });
        assert_eq!(lines[3], prompt(at(20), "More"));
        assert_eq!(lines[4], ThreadLine::Delivery(DeliveryKind::NotSent));
        assert_eq!(lines[5], ThreadLine::Continuation("no network".to_owned()));
    }

    #[test]
    fn a_prompt_of_a_team_member_has_its_author_and_asks_for_no_decision() {
        let mut thread = thread();
        thread.prompts[1].author = Some(CleanText::line("ana@desk"));
        let queued = Delivery::Queued { until: None };
        thread.prompts.push(Prompt { id: PromptId(3), delivery: queued, ..thread.prompts[0].clone() });
        let lines = wrap_thread(&thread, 60);
        let author = |at, name: &str| ThreadLine::Entry { at, kind: EntryKind::Author, text: name.to_owned() };
        let text = |text: &str| ThreadLine::Continuation(text.to_owned());
        assert_eq!(lines[..3], [author(at(10), "you"), text("Fix it"), text("all")]);
        let of_ana = lines.iter().position(|line| *line == author(at(20), "ana@desk")).expect("an author");
        assert_eq!(lines[of_ana + 1..of_ana + 3], [text("More"), ThreadLine::Delivery(DeliveryKind::NotSent)]);
        assert!(lines.contains(&ThreadLine::Delivery(DeliveryKind::Queued)), "it waits for nothing: {lines:?}");
        let mut detail = Detail::default();
        detail.show(Some((JobKey(1), 0)));
        detail.apply_thread(JobKey(1), Ok(thread), at(0));
        assert_eq!(detail.undelivered(), None);
    }

    #[test]
    fn events_of_the_same_minute_are_on_one_line_and_say_how_long_the_agent_worked() {
        let status = |from, to| EventKind::Status { from, to };
        let link = CleanText::line("https://github.com/acme/docs/pull/7");
        let events = [
            (60, status(None, Status::Active)),
            (258, status(Some(Status::Active), Status::Completed)),
            (259, EventKind::PullRequest(link)),
            (300, status(Some(Status::Completed), Status::Active)),
            (420, status(Some(Status::Active), Status::Failed)),
            (490, EventKind::Gone),
        ];
        let events = events.into_iter().map(|(seconds, kind)| JobEvent { at: at(seconds), kind }).collect();
        let lines = wrap_thread(&Thread { prompts: Vec::new(), events }, 60);
        let shown = lines.into_iter().map(|line| match line {
            ThreadLine::Entry { kind: EntryKind::Events(state), text, .. } => format!("{} {text}", state.symbol()),
            other => format!("{other:?}"),
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "◐ started",
                "✓ finished after 3m 18s, opened #7",
                "◐ working again",
                "✗ failed after 2m 00s",
                "∅ no longer on the service",
            ]
        );
    }

    #[test]
    fn the_end_of_the_timeline_stays_visible_unless_the_user_has_scrolled_up() {
        let mut detail = Detail::default();
        detail.set_width(60);
        detail.show(Some((JobKey(1), 0)));
        let mut thread = thread();
        detail.apply_thread(JobKey(1), Ok(thread.clone()), at(0));
        let row = |name| Fact::ShortFacts(vec![name]);
        let layout = |detail: &Detail| detail.layout(vec![Fact::State, row(FactName::PullRequest)], 6);
        let lines = layout(&detail);
        assert_eq!(
            (lines.fixed_facts.as_slice(), lines.scrolled_area_rows),
            (&[Fact::State, row(FactName::PullRequest)][..], 3)
        );
        assert_eq!((lines.top, lines.hidden_below()), (3, 0));
        thread.events.push(JobEvent { at: at(90), kind: EventKind::Gone });
        detail.mark_stale(JobKey(1));
        detail.apply_thread(JobKey(1), Ok(thread.clone()), at(0));
        assert_eq!((layout(&detail).top, layout(&detail).hidden_below()), (4, 0), "it follows");
        detail.lines_below = 2;
        let top = layout(&detail).top;
        thread.events.push(JobEvent { at: at(190), kind: EventKind::Back });
        detail.mark_stale(JobKey(1));
        detail.apply_thread(JobKey(1), Ok(thread), at(0));
        assert_eq!((layout(&detail).top, layout(&detail).hidden_below()), (top, 3), "the visible lines stay");
    }

    #[test]
    fn a_follow_up_waits_for_an_earlier_undelivered_prompt() {
        let mut thread = thread();
        let mut behind = thread.prompts[1].clone();
        (behind.id, behind.delivery, behind.written_at) = (PromptId(3), Delivery::Queued { until: None }, at(30));
        thread.prompts.push(behind);
        let waits = ThreadLine::Remark("… waiting for an earlier prompt".to_owned());
        assert_eq!(wrap_thread(&thread, 60).last(), Some(&waits));
        thread.prompts[1].delivery = Delivery::Accepted;
        assert_eq!(wrap_thread(&thread, 60).last(), Some(&ThreadLine::Delivery(DeliveryKind::Queued)));
    }

    #[test]
    fn only_one_thread_is_read_at_a_time_and_the_last_requested_thread_is_read_next() {
        let mut detail = Detail::default();
        assert_eq!(detail.show(Some((JobKey(1), 0))), Some(JobKey(1)));
        assert_eq!(detail.show(Some((JobKey(2), 0))), None);
        assert_eq!(detail.show(Some((JobKey(3), 0))), None);
        assert_eq!(detail.apply_thread(JobKey(1), Ok(thread()), at(0)), Some(JobKey(3)));
        assert_eq!(detail.apply_thread(JobKey(3), Ok(thread()), at(0)), None);
        assert_eq!(detail.thread().shown().map(|t| t.value.prompts.len()), Some(2));
    }

    #[test]
    fn a_thread_that_changed_while_it_was_read_is_read_again() {
        let mut detail = Detail::default();
        assert_eq!(detail.show(Some((JobKey(1), 0))), Some(JobKey(1)));
        assert_eq!(detail.mark_stale(JobKey(1)), None);
        assert_eq!(detail.mark_stale(JobKey(1)), None);
        assert_eq!(detail.apply_thread(JobKey(1), Ok(Thread::default()), at(0)), Some(JobKey(1)));
        assert_eq!(detail.apply_thread(JobKey(1), Ok(thread()), at(0)), None);
        assert_eq!(detail.thread().shown().map(|t| t.value.prompts.len()), Some(2));
    }

    #[test]
    fn a_huge_prompt_is_truncated_and_shows_its_length() {
        let mut thread = thread();
        thread.prompts[0].text = "word ".repeat(200_000);
        let lines = wrap_thread(&thread, 60);
        assert!(lines.len() < 500);
        assert!(lines.contains(&ThreadLine::Remark("… 1,000,000 characters in total".to_owned())));
    }
}
