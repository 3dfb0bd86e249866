//! The selected job's detail: its thread as lines that are ready to draw at the pane's width.

use super::impact::{JobPages, PagesLine, pages_lines};
use super::thread_prefetch::{JobRevision, ThreadPrefetch};
use super::wrap::wrap;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::link::shown;
use crate::model::load::{Load, Timed};
use crate::model::prompt::{Delivery, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;

/// Lines of one prompt that are shown; the whole of a longer one is in the store.
const MAX_LINES: usize = 300;
/// Characters of one prompt that are looked at for showing.
const MAX_CHARS: usize = 24_000;
/// Cells before the text of an entry: time of day, then who.
pub const INDENT: usize = 13;

/// Who said or did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    You,
    Agent,
    /// Seen or done by docdeck.
    Docdeck,
}

/// A line of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadLine {
    /// First line of an entry.
    Entry { at: Time, who: Who, text: String },
    /// A further line of it.
    More(String),
    /// How the delivery of a prompt stands, where it is not simply accepted.
    Delivery(Delivery),
    /// It goes out once the prompt before it is decided about: follow-ups go out in order.
    Waits,
    /// What was left out of a long prompt.
    Cut(String),
    /// What a discarded prompt may have led to.
    Discarded(String),
}

/// A line of facts over the thread; the text is drawn with the time of drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// What it does or how it ended, and since when.
    State,
    /// When it was last looked at and will be again.
    Checked,
    PullRequest,
    Repository,
    Model,
    Id,
    Created,
    Tags,
    /// A line of the note, the first one or a further one.
    Note(String, bool),
    /// A line about the pages that it was started about.
    Pages(PagesLine),
}

/// Cells before a fact's value.
pub const LABEL: usize = 6;
/// Lines of a note that are shown.
const NOTE_LINES: usize = 12;

/// The facts that are known of a job, in the order in which they are shown, a line each at this width.
pub fn head(row: &Job, columns: usize) -> Vec<Fact> {
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
    let (note, _) = wrap(note, columns.saturating_sub(LABEL).max(8), NOTE_LINES);
    let note = note.into_iter().enumerate().map(|(n, line)| Fact::Note(line, n == 0));
    let pages = pages_lines(row, columns).into_iter().map(Fact::Pages);
    facts.into_iter().filter(|(known, _)| *known).map(|(_, fact)| fact).chain(note).chain(pages).collect()
}

/// The detail of one job.
#[derive(Debug, Default)]
pub struct Detail {
    job: Option<JobKey>,
    thread: Load<Thread>,
    /// The revision of the job's row before its thread was read; none where changes of it may pass unheard.
    revision: Option<i64>,
    /// A thread is being read; at most one at a time, whatever the speed of the keys.
    reading: Option<JobKey>,
    /// Something was asked for while a thread was read.
    behind: bool,
    lines: Vec<ThreadLine>,
    width: usize,
    /// The pages that the job was started about.
    pub about: JobPages,
    /// Threads of the jobs around it.
    pub(super) ahead: ThreadPrefetch,
    /// First visible line, counted over the whole pane's text.
    pub scroll: usize,
}

impl Detail {
    /// Turns to a job, whose row stands like this; the thread to read now, if any.
    pub(super) fn show(&mut self, job: Option<JobRevision>) -> Option<JobKey> {
        let key = job.map(|(key, _)| key);
        if self.job != key {
            self.leave();
            self.job = key;
            self.revision = job.filter(|_| self.ahead.is_told()).map(|(_, revision)| revision);
            self.thread = job.and_then(|job| self.ahead.take(job)).map_or(Load::Idle, Load::Ready);
            self.lay_out();
            self.scroll = 0;
        }
        let wanted = key.filter(|_| matches!(self.thread, Load::Idle))?;
        self.read(wanted)
    }

    /// The thread that was shown may be shown again soon.
    fn leave(&mut self) {
        if let (Some(job), Some(revision), Load::Ready(thread)) =
            (self.job, self.revision, std::mem::take(&mut self.thread))
        {
            self.ahead.keep((job, revision), thread);
        }
    }

    /// The thread of a job has more in it; the thread to read now, if any.
    pub fn stale(&mut self, job: JobKey) -> Option<JobKey> {
        self.ahead.forget(job);
        if self.job == Some(job) { self.read(job) } else { None }
    }

    fn read(&mut self, job: JobKey) -> Option<JobKey> {
        self.thread.start();
        if self.reading.is_some() {
            self.behind = true;
            return None;
        }
        self.reading = Some(job);
        self.behind = false;
        Some(job)
    }

    /// Takes a thread; the next one to read, where the selection has moved on meanwhile.
    pub fn take(&mut self, job: JobKey, result: Result<Thread, Failure>, now: Time) -> Option<JobKey> {
        self.reading = None;
        if self.job == Some(job) {
            self.thread.finish(result.map(|value| Timed { value, as_of: now }), now);
            self.lay_out();
            // What came while it was read may not be in it.
            return if self.behind { self.read(job) } else { None };
        }
        self.job.filter(|_| self.thread.is_loading()).and_then(|wanted| self.read(wanted))
    }

    /// Fits the lines to the pane.
    pub fn fit(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.lay_out();
        }
    }

    fn lay_out(&mut self) {
        self.lines = self.thread.shown().map_or_else(Vec::new, |thread| lines(&thread.value, self.width));
    }

    /// The job that is shown.
    pub fn job(&self) -> Option<JobKey> {
        self.job
    }

    /// The thread, as far as it is known.
    pub fn thread(&self) -> &Load<Thread> {
        &self.thread
    }

    /// The thread as lines.
    pub fn lines(&self) -> &[ThreadLine] {
        &self.lines
    }

    /// The first prompt of the thread that only the user can bring further.
    pub fn undelivered(&self) -> Option<&Prompt> {
        let thread = &self.thread.shown()?.value;
        thread.prompts.iter().find(|prompt| prompt.delivery.kind().needs_user())
    }

    /// What discarding the prompt for the job may have led to; `None` if the thread is not loaded or has no such prompt.
    pub fn discarded(&self) -> Option<&'static str> {
        let prompts = &self.thread.shown()?.value.prompts;
        prompts.iter().filter(|prompt| prompt.kind == PromptKind::Create).find_map(Prompt::discarded_text)
    }

    /// A prompt of the thread.
    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.thread.shown()?.value.prompts.iter().find(|prompt| prompt.id == id)
    }
}

fn lines(thread: &Thread, width: usize) -> Vec<ThreadLine> {
    enum ThreadEntry<'a> {
        Prompt(&'a Prompt),
        Event(&'a JobEvent),
    }
    let prompts = thread.prompts.iter().map(|prompt| (prompt.written_at, ThreadEntry::Prompt(prompt)));
    let events = thread.events.iter().map(|event| (event.at, ThreadEntry::Event(event)));
    let mut entries: Vec<_> = prompts.chain(events).collect();
    entries.sort_by_key(|(at, _)| *at);
    let text_width = width.saturating_sub(INDENT).max(8);
    let mut out = Vec::new();
    let mut held = false;
    for (at, entry) in entries {
        match entry {
            ThreadEntry::Prompt(prompt) => {
                prompt_lines(prompt, at, text_width, held, &mut out);
                held |= prompt.delivery.kind().holds_the_rest();
            }
            ThreadEntry::Event(event) => {
                push_entry(at, Who::Agent, wrap(&event_text(&event.kind), text_width, 4).0, &mut out)
            }
        }
    }
    out
}

fn prompt_lines(prompt: &Prompt, at: Time, width: usize, held: bool, out: &mut Vec<ThreadLine>) {
    let head: String = prompt.text.chars().take(MAX_CHARS).collect();
    let (text, cut) = wrap(CleanText::block(&head).as_str().trim_end(), width, MAX_LINES);
    push_entry(at, Who::You, text, out);
    if cut || head.len() < prompt.text.len() {
        out.push(ThreadLine::Cut(format!("… {} characters in all", super::format::count(prompt.text.chars().count()))));
    }
    if let Some(sentence) = prompt.discarded_text() {
        out.extend(wrap(sentence, width, 4).0.into_iter().map(ThreadLine::Discarded));
    } else if held && matches!(prompt.delivery, Delivery::Queued { .. }) {
        out.push(ThreadLine::Waits);
    } else if prompt.delivery != Delivery::Accepted {
        out.push(ThreadLine::Delivery(prompt.delivery.clone()));
        if let Some(reason) = prompt.delivery.reason() {
            out.extend(wrap(reason.as_str(), width, 8).0.into_iter().map(ThreadLine::More));
        }
    }
}

fn push_entry(at: Time, who: Who, text: Vec<String>, out: &mut Vec<ThreadLine>) {
    let mut text = text.into_iter();
    let first = text.next().unwrap_or_default();
    out.push(ThreadLine::Entry { at, who, text: first });
    out.extend(text.map(ThreadLine::More));
}

/// What happened, in a few words.
pub fn event_text(kind: &EventKind) -> String {
    match kind {
        EventKind::Status { to, .. } => to.word().to_owned(),
        EventKind::PullRequest(link) => match crate::model::job::pr_number(link.as_str()) {
            Some(number) => format!("opened PR {number}"),
            None => format!("opened {}", shown(link)),
        },
        EventKind::Gone => "gone: the service no longer knows this job".to_owned(),
        EventKind::Back => "the service knows this job again".to_owned(),
    }
}

/// What a prompt's kind is called.
pub fn kind_text(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Create => "new job",
        PromptKind::FollowUp => "follow-up",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::at;
    use crate::model::job::Status;

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
    fn prompts_and_events_stand_in_the_order_of_time() {
        let lines = lines(&thread(), 60);
        let entry = |at, who, text: &str| ThreadLine::Entry { at, who, text: text.to_owned() };
        assert_eq!(lines[0], entry(at(10), Who::You, "Fix it"));
        assert_eq!(lines[1], ThreadLine::More("all".to_owned()));
        assert_eq!(lines[2], entry(at(15), Who::Agent, "completed"));
        assert_eq!(lines[3], entry(at(20), Who::You, "More"));
        assert!(matches!(lines[4], ThreadLine::Delivery(Delivery::NotSent(_))));
        assert_eq!(lines[5], ThreadLine::More("no network".to_owned()));
    }

    #[test]
    fn a_follow_up_behind_an_undelivered_one_waits_for_it() {
        let mut thread = thread();
        let mut behind = thread.prompts[1].clone();
        (behind.id, behind.delivery, behind.written_at) = (PromptId(3), Delivery::Queued { until: None }, at(30));
        thread.prompts.push(behind.clone());
        assert_eq!(lines(&thread, 60).last(), Some(&ThreadLine::Waits));
        thread.prompts[1].delivery = Delivery::Accepted;
        assert_eq!(lines(&thread, 60).last(), Some(&ThreadLine::Delivery(behind.delivery)));
    }

    #[test]
    fn one_thread_is_read_at_a_time_and_the_last_one_wanted_comes_next() {
        let mut detail = Detail::default();
        assert_eq!(detail.show(Some((JobKey(1), 0))), Some(JobKey(1)));
        assert_eq!(detail.show(Some((JobKey(2), 0))), None);
        assert_eq!(detail.show(Some((JobKey(3), 0))), None);
        assert_eq!(detail.take(JobKey(1), Ok(thread()), at(0)), Some(JobKey(3)));
        assert_eq!(detail.take(JobKey(3), Ok(thread()), at(0)), None);
        assert_eq!(detail.thread().shown().map(|t| t.value.prompts.len()), Some(2));
    }

    #[test]
    fn a_thread_that_changed_while_it_was_read_is_read_once_more() {
        let mut detail = Detail::default();
        assert_eq!(detail.show(Some((JobKey(1), 0))), Some(JobKey(1)));
        assert_eq!(detail.stale(JobKey(1)), None);
        assert_eq!(detail.stale(JobKey(1)), None);
        assert_eq!(detail.take(JobKey(1), Ok(Thread::default()), at(0)), Some(JobKey(1)));
        assert_eq!(detail.take(JobKey(1), Ok(thread()), at(0)), None);
        assert_eq!(detail.thread().shown().map(|t| t.value.prompts.len()), Some(2));
    }

    #[test]
    fn a_huge_prompt_is_shown_in_part_and_says_so() {
        let mut thread = thread();
        thread.prompts[0].text = "word ".repeat(200_000);
        let lines = lines(&thread, 60);
        assert!(lines.len() < 500);
        assert!(lines.contains(&ThreadLine::Cut("… 1,000,000 characters in all".to_owned())));
    }
}
