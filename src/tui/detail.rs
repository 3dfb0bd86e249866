//! The details of the selected job: its facts, and its thread as lines wrapped to the width of the pane.

use super::impact::{JobPages, PagesLine, pages_lines};
use super::thread_prefetch::{JobRevision, ThreadPrefetch};
use super::wrap::wrap;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::link::display_url;
use crate::model::load::{Load, Timed};
use crate::model::prompt::{Delivery, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;

/// The maximum number of lines shown of one prompt. The store has the complete text.
const MAX_THREAD_PROMPT_LINES: usize = 300;
/// The maximum number of characters of one prompt that are wrapped and shown.
const MAX_THREAD_PROMPT_CHARS: usize = 24_000;
/// The width in cells of the time of day and the author before the text of an entry.
pub const ENTRY_INDENT: usize = 13;

/// The author of an entry in the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    You,
    Agent,
    Docdeck,
}

/// A line of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadLine {
    /// The first line of an entry.
    Entry { at: Time, who: Author, text: String },
    /// A further line of the same entry.
    Continuation(String),
    /// The delivery state of the prompt. A prompt that is `Accepted` doesn't have this line.
    Delivery(Delivery),
    /// Shown for a `Queued` prompt that can't be sent before an earlier prompt of the job, because follow-ups are sent
    /// in order.
    WaitsForEarlierPrompt,
    /// The length of a prompt that is shown only in part.
    PromptLength(String),
    /// A line of the sentence about what became of a discarded prompt.
    Discarded(String),
}

/// A line above the thread with one fact about the job. Its text is created when it is drawn, because it may depend on
/// the current time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// The status of the job, and how long the job has had it.
    State,
    /// The times of the last and the next check.
    Checked,
    PullRequest,
    Repository,
    Model,
    Id,
    Created,
    Tags,
    /// A line of the note; true for the first line of the note.
    Note(String, bool),
    /// A line about the pages that the job was started for.
    Pages(PagesLine),
}

/// The width in cells of the label before the value of a fact.
pub const LABEL_WIDTH: usize = 8;
/// The maximum number of lines shown of a note.
const MAX_NOTE_LINES: usize = 12;

/// Returns the facts of a job in their order on screen, one per line at this width. Omits unknown facts.
pub fn facts(row: &Job, columns: usize) -> Vec<Fact> {
    let facts = [
        (true, Fact::State),
        (row.id.is_some(), Fact::Checked),
        (row.pr_link.is_some(), Fact::PullRequest),
        (row.repository.is_some() || row.git_ref.is_some(), Fact::Repository),
        (row.model.is_some(), Fact::Model),
        (row.id.is_some(), Fact::Id),
        (true, Fact::Created),
        (!row.tags.is_empty(), Fact::Tags),
    ];
    let note = row.note.as_ref().map_or("", CleanText::as_str);
    let (note, _) = wrap(note, columns.saturating_sub(LABEL_WIDTH).max(8), MAX_NOTE_LINES);
    let note = note.into_iter().enumerate().map(|(n, line)| Fact::Note(line, n == 0));
    let pages = pages_lines(row, columns).into_iter().map(Fact::Pages);
    facts.into_iter().filter(|(known, _)| *known).map(|(_, fact)| fact).chain(note).chain(pages).collect()
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
    /// Whether a thread was requested while a thread was being read. If both belong to the same job, the result of that
    /// read may be outdated, so the thread is read again.
    must_reread: bool,
    lines: Vec<ThreadLine>,
    width: usize,
    /// The pages that the job was started for.
    pub job_pages: JobPages,
    /// The cached threads of the jobs around the selected one.
    pub(super) prefetched: ThreadPrefetch,
    /// The index of the first visible line. The facts above the thread count as lines.
    pub scroll: usize,
}

impl Detail {
    /// Shows a job at this revision, or nothing if `job` is `None`. Returns the job whose thread has to be read now, if
    /// any.
    pub(super) fn show(&mut self, job: Option<JobRevision>) -> Option<JobKey> {
        let key = job.map(|(key, _)| key);
        if self.job != key {
            self.cache_thread();
            self.job = key;
            self.revision = job.filter(|_| self.prefetched.has_change_reports()).map(|(_, revision)| revision);
            self.thread = job.and_then(|job| self.prefetched.take(job)).map_or(Load::Idle, Load::Ready);
            self.wrap_lines();
            self.scroll = 0;
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
            self.wrap_lines();
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

    /// Returns the first prompt of the thread that needs a decision by the user.
    pub fn undelivered(&self) -> Option<&Prompt> {
        let thread = &self.thread.shown()?.value;
        thread.prompts.iter().find(|prompt| prompt.delivery.kind().needs_user())
    }

    /// Returns a sentence about what became of the prompt that was to start the job, if that prompt was discarded.
    /// Returns `None` if it was not discarded or the thread is not loaded.
    pub fn discarded_text(&self) -> Option<&'static str> {
        let prompts = &self.thread.shown()?.value.prompts;
        prompts.iter().filter(|prompt| prompt.kind == PromptKind::Create).find_map(Prompt::discarded_text)
    }

    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.thread.shown()?.value.prompts.iter().find(|prompt| prompt.id == id)
    }
}

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
    let mut waits = false;
    for (at, entry) in entries {
        match entry {
            ThreadEntry::Prompt(prompt) => {
                push_prompt_lines(prompt, at, text_width, waits, &mut out);
                waits |= prompt.delivery.kind().blocks_next();
            }
            ThreadEntry::Event(event) => {
                push_entry(at, Author::Agent, wrap(&event_text(&event.kind), text_width, 4).0, &mut out)
            }
        }
    }
    out
}

fn push_prompt_lines(prompt: &Prompt, at: Time, width: usize, waits: bool, out: &mut Vec<ThreadLine>) {
    let head: String = prompt.text.chars().take(MAX_THREAD_PROMPT_CHARS).collect();
    let (text, cut) = wrap(CleanText::block(&head).as_str().trim_end(), width, MAX_THREAD_PROMPT_LINES);
    push_entry(at, Author::You, text, out);
    if cut || head.len() < prompt.text.len() {
        let total = super::format::format_count(prompt.text.chars().count());
        out.push(ThreadLine::PromptLength(format!("… {total} characters in total")));
    }
    if let Some(sentence) = prompt.discarded_text() {
        out.extend(wrap(sentence, width, 4).0.into_iter().map(ThreadLine::Discarded));
    } else if waits && matches!(prompt.delivery, Delivery::Queued { .. }) {
        out.push(ThreadLine::WaitsForEarlierPrompt);
    } else if prompt.delivery != Delivery::Accepted {
        out.push(ThreadLine::Delivery(prompt.delivery.clone()));
        if let Some(reason) = prompt.delivery.reason() {
            out.extend(wrap(reason.as_str(), width, 8).0.into_iter().map(ThreadLine::Continuation));
        }
    }
}

fn push_entry(at: Time, who: Author, text: Vec<String>, out: &mut Vec<ThreadLine>) {
    let mut text = text.into_iter();
    let first = text.next().unwrap_or_default();
    out.push(ThreadLine::Entry { at, who, text: first });
    out.extend(text.map(ThreadLine::Continuation));
}

/// Returns a short description of an event.
pub fn event_text(kind: &EventKind) -> String {
    match kind {
        EventKind::Status { to, .. } => to.word().to_owned(),
        EventKind::PullRequest(link) => match crate::model::job::pr_number(link.as_str()) {
            Some(number) => format!("opened PR {number}"),
            None => format!("opened {}", display_url(link)),
        },
        EventKind::Gone => "gone: the service no longer has this job".to_owned(),
        EventKind::Back => "the service knows this job again".to_owned(),
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
    use crate::model::job::Status;
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
        let entry = |at, who, text: &str| ThreadLine::Entry { at, who, text: text.to_owned() };
        assert_eq!(lines[0], entry(at(10), Author::You, "Fix it"));
        assert_eq!(lines[1], ThreadLine::Continuation("all".to_owned()));
        assert_eq!(lines[2], entry(at(15), Author::Agent, "completed"));
        assert_eq!(lines[3], entry(at(20), Author::You, "More"));
        assert!(matches!(lines[4], ThreadLine::Delivery(Delivery::NotSent(_))));
        assert_eq!(lines[5], ThreadLine::Continuation("no network".to_owned()));
    }

    #[test]
    fn a_follow_up_waits_for_an_earlier_undelivered_prompt() {
        let mut thread = thread();
        let mut behind = thread.prompts[1].clone();
        (behind.id, behind.delivery, behind.written_at) = (PromptId(3), Delivery::Queued { until: None }, at(30));
        thread.prompts.push(behind.clone());
        assert_eq!(wrap_thread(&thread, 60).last(), Some(&ThreadLine::WaitsForEarlierPrompt));
        thread.prompts[1].delivery = Delivery::Accepted;
        assert_eq!(wrap_thread(&thread, 60).last(), Some(&ThreadLine::Delivery(behind.delivery)));
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
        assert!(lines.contains(&ThreadLine::PromptLength("… 1,000,000 characters in total".to_owned())));
    }
}
