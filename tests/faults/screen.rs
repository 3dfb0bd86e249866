//! Checks what the dashboard shows for a fault: the real dashboard on a real store, driven by keys and drawn at three
//! sizes.

use crate::case::{CaseError, check, client_options, create_case_store, create_store_folder, scope_of, todays_query};
use crate::list::{API_KEY, ExpectedOutcome, Fault};
use crate::support::dashboard::DashboardFixture;
use crate::support::server::Server;
use crossterm::event::{Event, KeyCode};
use docdeck::model::connection::ConnectionState;
use docdeck::model::load::Load;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::tui::Severity;
use std::time::Duration;

/// The screen sizes that are checked. The dashboard has the first size when the fault happens.
pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (160, 48), (40, 12)];
/// The time after which a wait fails the case; much longer than any wait takes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The prompt that the user pastes. Its first line becomes the title of the job.
const PROMPT_TEXT: &str = "Mend the links\nin \"all\" guides; it's {urgent} \\ \u{1f980}";
const TITLE: &str = "Mend the links";

/// Runs one case with keys as input. Returns the message on the screen. If midnight (UTC) passed during a failed run,
/// repeats the run, because the dashboard may have requested a different range than the one in its store.
pub(crate) async fn run(fault: &Fault, operation: Operation, expected: &ExpectedOutcome) -> Result<String, CaseError> {
    let range = todays_query().range;
    match run_once(fault, operation, expected).await {
        Err(_) if range != todays_query().range => run_once(fault, operation, expected).await,
        result => result,
    }
}

async fn run_once(fault: &Fault, operation: Operation, expected: &ExpectedOutcome) -> Result<String, CaseError> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, create_store_folder());
    let scope = scope_of(&server);
    // A check of an old job may end before its follow-up is written, and the job may be gone then.
    let age = if operation == Operation::FollowUp { chrono::TimeDelta::zero() } else { chrono::TimeDelta::hours(3) };
    create_case_store(&scope, operation, folder.path(), todays_query(), chrono::Utc::now() - age).await;
    let mut dashboard =
        DashboardFixture::start_with_options(client_options(fault.short_timeout), scope, API_KEY, folder.path()).await;
    dashboard.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    press_keys(&mut dashboard, operation);
    let settled = dashboard.holds_within(WAIT_TIMEOUT, |dashboard| has_settled(dashboard, operation, expected)).await;
    check(settled, || format!("it does not come to {expected}:\n{}", dashboard.screen()))?;
    let message = check_all_sizes(&mut dashboard, operation, expected).await?;
    dashboard.crash().await;
    let requests = server.requests();
    // Requests that count against no limit are ignored, because the dashboard also checks jobs in the background.
    let costly = requests
        .iter()
        .filter(|request| request.line().starts_with("POST") || request.line().contains("/views"))
        .count();
    check(costly == usize::from(operation != Operation::GetJob && wire.reads_requests()), || {
        format!("requests were {requests:?}")
    })?;
    Ok(message)
}

fn press_keys(dashboard: &mut DashboardFixture, operation: Operation) {
    match operation {
        Operation::Create | Operation::FollowUp => {
            dashboard.press_chars(if operation == Operation::Create { "n" } else { "f" });
            dashboard.paste(PROMPT_TEXT);
            dashboard.press_ctrl('s');
        }
        Operation::GetJob => dashboard.press_chars("r"),
        Operation::Views => dashboard.press_chars("2"),
        Operation::Preview | Operation::Build | Operation::Analytics(_) | Operation::Conversation => {
            unreachable!("these have tests of their own")
        }
    }
}

/// Whether the dashboard knows the outcome of the operation. [`check_all_sizes`] checks how it is shown.
fn has_settled(dashboard: &DashboardFixture, operation: Operation, expected: &ExpectedOutcome) -> bool {
    let Some(row) = dashboard.app.jobs.selected() else { return false };
    let is_read = matches!(dashboard.app.detail.thread(), Load::Ready(_));
    let has_delivery = |kind| row.local.undelivered == Some(kind) && is_read;
    let is_known = match (operation, expected) {
        (_, ExpectedOutcome::Offline | ExpectedOutcome::NotSent) => {
            matches!(dashboard.app.connection, ConnectionState::Offline { .. })
        }
        (_, ExpectedOutcome::KeyRefused) => matches!(dashboard.app.connection, ConnectionState::KeyRefused { .. }),
        (Operation::GetJob, ExpectedOutcome::Limited(_)) => {
            matches!(dashboard.app.connection, ConnectionState::Limited(_))
        }
        _ => true,
    };
    if !is_known {
        return false;
    }
    // The notice "Saved" appears before the prompt is sent, so it is not the outcome.
    let has_outcome = dashboard.app.notice.as_ref().is_some_and(|notice| !notice.text.as_str().starts_with("Saved"));
    let has_problem = dashboard.app.notice.as_ref().is_some_and(|notice| notice.severity == Severity::Error);
    match (operation, expected) {
        (_, ExpectedOutcome::NotSent | ExpectedOutcome::Rejected | ExpectedOutcome::Unconfirmed) => {
            let is_in_thread = dashboard.app.detail.undelivered().is_some();
            dashboard.app.dialogs.is_empty() && has_delivery(delivery_of(expected)) && is_in_thread
        }
        (Operation::Create | Operation::FollowUp, ExpectedOutcome::Limited(_)) => {
            dashboard.app.dialogs.is_empty() && has_delivery(DeliveryKind::Queued) && has_outcome
        }
        (_, ExpectedOutcome::Accepted(..)) => row.id.is_some() && row.local.undelivered.is_none() && has_outcome,
        (_, ExpectedOutcome::Gone) => row.local.gone,
        (_, ExpectedOutcome::JobStatus(_)) => {
            row.local.checked_at.is_some_and(|at| (chrono::Utc::now() - at).num_hours() < 1)
        }
        (_, ExpectedOutcome::Loaded(_)) => matches!(dashboard.app.views.load(), Load::Ready(_)),
        _ => has_problem,
    }
}

/// Returns the delivery of a prompt with this outcome, which is not sent, rejected or unconfirmed.
fn delivery_of(expected: &ExpectedOutcome) -> DeliveryKind {
    match expected {
        ExpectedOutcome::NotSent => DeliveryKind::NotSent,
        ExpectedOutcome::Rejected => DeliveryKind::Rejected,
        _ => DeliveryKind::Unconfirmed,
    }
}

/// Checks the screen at every size. Returns the message that was shown.
async fn check_all_sizes(
    dashboard: &mut DashboardFixture,
    operation: Operation,
    expected: &ExpectedOutcome,
) -> Result<String, CaseError> {
    let is_prompt = matches!(operation, Operation::Create | Operation::FollowUp);
    let (store, key) = (dashboard.store.clone(), dashboard.selected_job().key);
    let thread = store.thread(key).await.expect("read");
    let reason = thread.prompts.last().and_then(|prompt| prompt.delivery.reason().map(ToString::to_string));
    let notice = dashboard.app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    for size in SIZES {
        dashboard.input(Event::Resize(size.0, size.1));
        let screen = ScreenText::capture(dashboard)?;
        // In a narrow list, only a symbol shows the state. A message that was not read yet may cover the smallest
        // screen.
        let has_state = |symbol, word| screen.has(if size.0 < 60 { symbol } else { word });
        let has_behind = |text| if size.0 < 60 { Ok(()) } else { screen.has(text) };
        match expected {
            ExpectedOutcome::NotSent | ExpectedOutcome::Rejected => {
                let reason = reason.as_deref().ok_or("no reason is known")?;
                check(notice.contains(reason), || format!("{notice:?} does not say {reason:?}"))?;
                screen.check_sentence(&notice)?;
                screen.check_meaning(
                    reason,
                    if *expected == ExpectedOutcome::NotSent { &["nothing was sent"] } else { &REJECTED_PHRASES },
                )?;
                screen.has(if *expected == ExpectedOutcome::NotSent { "Not sent: " } else { "Rejected: " })?;
                screen.has(if operation == Operation::Create { TITLE } else { "job_1" })?;
                has_behind("Needs you")?;
                screen.has_not(&["Accepted", "accepted", "Saved", "sending now", "Queued", "unconfirmed"])?;
            }
            ExpectedOutcome::Unconfirmed => {
                screen.check_sentence(&notice)?;
                has_state("▌ !", "unconfirmed")?;
                has_behind("Needs you")?;
                screen.has_not(&["Accepted", "accepted", "not sent", "rejected", "Saved", "sending now", "Queued"])?;
            }
            ExpectedOutcome::Limited(_) if is_prompt => {
                screen.has("Queued 1")?;
                screen.check_sentence(&notice)?;
                screen.check_meaning(&notice, &["Hourly limit reached"])?;
                screen.has_not(&["Accepted", "accepted", "sending now", "unconfirmed", "not sent"])?;
            }
            ExpectedOutcome::Accepted(..) => {
                screen.has("Accepted: ")?;
                screen.has_not(&["unconfirmed", "not sent", "rejected", "Queued"])?;
            }
            ExpectedOutcome::Gone => has_state("∅", "gone")?,
            ExpectedOutcome::JobStatus(_) => screen.has_not(&["offline", "refused", "limited", "gone"])?,
            ExpectedOutcome::Loaded(_) => {
                screen.has("as of")?;
                screen.has_not(&["ago", "offline", "refused", "limited", "/kept"])?;
            }
            ExpectedOutcome::Offline
            | ExpectedOutcome::KeyRefused
            | ExpectedOutcome::NotFound
            | ExpectedOutcome::Service
            | ExpectedOutcome::Limited(_) => {
                screen.check_sentence(&notice)?;
                has_behind(if operation == Operation::Views { "as of" } else { "job_1" })?;
            }
        }
        screen.has(match expected {
            ExpectedOutcome::Offline | ExpectedOutcome::NotSent => "offline",
            ExpectedOutcome::KeyRefused => "refused",
            ExpectedOutcome::Limited(_) if operation == Operation::GetJob => "limited",
            _ => "Jobs",
        })?;
    }
    if !is_prompt {
        // The message covers much of the smallest screen. Pressing a key hides it.
        dashboard.press_chars("g");
        let screen = ScreenText::capture(dashboard)?;
        screen.has(match (operation, expected) {
            (Operation::Views, ExpectedOutcome::Loaded(_)) => "as of",
            (Operation::Views, _) => "/kept",
            _ => "job_1",
        })?;
        let kind = VIEWS_FAILURES.iter().find(|(kind, _)| kind == expected && operation == Operation::Views);
        screen.has(kind.map_or("Jobs", |(_, words)| words))?;
    }
    if matches!(expected, ExpectedOutcome::NotSent | ExpectedOutcome::Rejected | ExpectedOutcome::Unconfirmed) {
        let reason = reason.as_deref().ok_or("no reason is known")?;
        check_undelivered_page(dashboard, reason, operation, expected)?;
    }
    check_log(dashboard, operation).await?;
    Ok(reason.unwrap_or(notice))
}

/// The phrases in the line above the pages that explain why the views are not up to date.
const VIEWS_FAILURES: [(ExpectedOutcome, &str); 4] = [
    (ExpectedOutcome::Offline, "offline"),
    (ExpectedOutcome::KeyRefused, "key refused"),
    (ExpectedOutcome::Service, "no usable answer"),
    (ExpectedOutcome::NotFound, "not found"),
];

/// Phrases that state that a prompt was not carried out.
const REJECTED_PHRASES: [&str; 6] = [
    "no job was started",
    "was rejected",
    "nothing was done",
    "refused the key",
    "isn't allowed to do this",
    "web page answered instead of the service",
];

/// Checks that the page that `!` opens explains what happened and shows the complete prompt, and that a prompt that was
/// not carried out can be edited there.
fn check_undelivered_page(
    dashboard: &mut DashboardFixture,
    reason: &str,
    operation: Operation,
    expected: &ExpectedOutcome,
) -> Result<(), CaseError> {
    dashboard.press_chars("!");
    for size in SIZES {
        dashboard.input(Event::Resize(size.0, size.1));
        dashboard.press_key(KeyCode::Home);
        let pages = scroll_through(dashboard)?;
        pages.check_sentence(reason)?;
        match (expected, operation) {
            (ExpectedOutcome::NotSent, _) => {
                pages.check_sentence("This prompt never reached the service. Nothing was started.")?
            }
            (ExpectedOutcome::Rejected, _) => {
                pages.check_sentence("The service rejected this prompt. Nothing was started.")?
            }
            (_, Operation::Create) => pages.check_sentence("may or may not have started this job")?,
            _ => pages.check_sentence("may have received")?,
        }
        if *expected == ExpectedOutcome::Unconfirmed {
            pages.check_sentence("automatically")?;
        }
        for line in PROMPT_TEXT.lines() {
            pages.check_sentence(line)?;
        }
    }
    if *expected != ExpectedOutcome::Unconfirmed {
        dashboard.press_chars("e");
        for size in SIZES {
            dashboard.input(Event::Resize(size.0, size.1));
            let editor = ScreenText::capture(dashboard)?;
            editor.check_sentence(&format!("Last attempt: {reason}"))?;
            editor.has("guides; it's {urgent}")?;
        }
    }
    dashboard.press_key(KeyCode::Esc);
    Ok(())
}

/// Returns all lines of a dialog that fills the screen.
fn scroll_through(dashboard: &mut DashboardFixture) -> Result<ScreenText, CaseError> {
    let mut page = ScreenText::capture(dashboard)?;
    let mut lines = page.body_lines();
    loop {
        dashboard.press_key(KeyCode::PageDown);
        let next = ScreenText::capture(dashboard)?;
        if next.0 == page.0 {
            return Ok(ScreenText(lines.join("\n")));
        }
        // The last line of a page is also the first one of the next page; the last page repeats more.
        let body = next.body_lines();
        let overlap = (0..=body.len().min(lines.len())).rev().find(|n| lines.ends_with(body.get(..*n).unwrap_or(&[])));
        lines.extend(body.into_iter().skip(overlap.unwrap_or(0)));
        page = next;
    }
}

/// Checks that the log screen lists the request.
async fn check_log(dashboard: &mut DashboardFixture, operation: Operation) -> Result<(), CaseError> {
    while !dashboard.app.dialogs.is_empty() {
        dashboard.press_key(KeyCode::Esc);
    }
    dashboard.press_chars("3");
    dashboard.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    let name = format!(" {} ", operation.name());
    let is_there = dashboard.holds_within(WAIT_TIMEOUT, |dashboard| dashboard.shows(&name)).await;
    check(is_there, || format!("no line of the request:\n{}", dashboard.screen()))?;
    ScreenText::capture(dashboard).map(|_| ())
}

/// The text of a screen, which contains neither the API key nor control characters.
struct ScreenText(String);

impl ScreenText {
    fn capture(dashboard: &DashboardFixture) -> Result<Self, CaseError> {
        let screen = dashboard.screen();
        let is_plain = |c: char| {
            c == '\n'
                || !c.is_control()
                    && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let is_clean = screen.chars().all(is_plain) && !screen.contains(API_KEY);
        check(is_clean, || format!("the screen is {screen:?}"))?;
        Ok(Self(screen))
    }

    /// Returns the lines between the header with the title and the footer with the rule above it.
    fn body_lines(&self) -> Vec<String> {
        let lines: Vec<&str> = self.0.lines().collect();
        let end = lines.len().saturating_sub(2);
        lines.get(2..end).unwrap_or_default().iter().map(|line| (*line).to_owned()).collect()
    }

    fn has(&self, text: &str) -> Result<(), CaseError> {
        check(self.0.contains(text), || format!("no {text:?} on the screen:\n{}", self.0))
    }

    fn has_not(&self, texts: &[&str]) -> Result<(), CaseError> {
        let found = texts.iter().find(|text| self.0.contains(**text));
        check(found.is_none(), || format!("{found:?} is on the screen:\n{}", self.0))
    }

    /// Checks that the words of the sentence appear in order; borders and line breaks may separate them. A quoted text
    /// in the sentence, or the text in parentheses at its end, may be shortened if the screen shows “…”.
    fn check_sentence(&self, sentence: &str) -> Result<(), CaseError> {
        let visible: Vec<char> = self.0.chars().filter(|c| !c.is_whitespace() && !BORDERS.contains(*c)).collect();
        let is_complete = find_sentence_end(&visible, sentence, 0).is_some();
        let with_short_quote = || {
            let (before, rest) = sentence.split_once('“')?;
            let (_, after) = rest.rsplit_once('”')?;
            let at = find_sentence_end(&visible, &format!("{before}“"), 0)?;
            find_sentence_end(&visible, &format!("…”{after}"), at)
        };
        let without_parentheses = || {
            let (start, _) = sentence.rsplit_once(" (")?;
            find_sentence_end(&visible, start, 0).filter(|at| visible.iter().skip(*at).take(40).any(|c| *c == '…'))
        };
        check(is_complete || with_short_quote().is_some() || without_parentheses().is_some(), || {
            format!("not on the screen: {sentence:?}\n{}", self.0)
        })
    }

    fn check_meaning(&self, sentence: &str, one_of: &[&str]) -> Result<(), CaseError> {
        check(one_of.iter().any(|words| sentence.contains(words)), || format!("no expected phrase in {sentence:?}"))
    }
}

/// Border characters that may separate the words of a sentence on several lines.
const BORDERS: &str = "│┌┐└┘─┬┴";

/// Returns the position after the sentence, or `None` if `visible` doesn't contain it after `from`. Other text may come
/// between two words of the sentence, but not between two letters of a word, because the screen shows text beside a
/// box.
fn find_sentence_end(visible: &[char], sentence: &str, from: usize) -> Option<usize> {
    let words: Vec<Vec<char>> =
        sentence.split_whitespace().map(|word| word.chars().filter(|c| !BORDERS.contains(*c)).collect()).collect();
    words.iter().try_fold(from, |at, word| {
        let rest = visible.get(at..)?;
        rest.windows(word.len().max(1))
            .position(|window| window == word.as_slice())
            .map(|found| at + found + word.len())
    })
}
