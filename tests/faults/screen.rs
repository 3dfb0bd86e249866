//! What the dashboard shows for a fault: the real dashboard on a real store, driven by a user's keys and drawn at three
//! sizes.

use crate::cell::{Mistake, check, folder, options, query, seed, service};
use crate::dashboard_fixture::DashboardFixture;
use crate::list::{Fault, KEY, Outcome};
use crate::server::Server;
use crossterm::event::{Event, KeyCode};
use docdeck::app::Severity;
use docdeck::model::connection::Connection;
use docdeck::model::load::Load;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use std::time::Duration;

/// The sizes that are checked; the fault happens at the first one.
pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (160, 48), (40, 12)];
/// Longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// The typed prompt; its first line becomes the title.
const TEXT: &str = "Mend the links\nin \"all\" guides; it's {urgent} \\ \u{1f980}";
const TITLE: &str = "Mend the links";

/// Runs the fault while a user presses keys; returns the message on the screen. Repeats the run once if the day ended
/// meanwhile, since the dashboard may then have loaded another range than the one in its store.
pub(crate) async fn run(fault: &Fault, operation: Operation, expected: &Outcome) -> Result<String, Mistake> {
    let range = query().range;
    match run_once(fault, operation, expected).await {
        Err(_) if range != query().range => run_once(fault, operation, expected).await,
        result => result,
    }
}

async fn run_once(fault: &Fault, operation: Operation, expected: &Outcome) -> Result<String, Mistake> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, folder());
    let scope = service(&server);
    let hours_ago = chrono::Utc::now() - chrono::TimeDelta::hours(3);
    seed(&scope, operation, folder.path(), query(), hours_ago).await;
    let mut dashboard =
        DashboardFixture::start_with_options(options(fault.short_timeout), scope, KEY, folder.path()).await;
    dashboard.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    act(&mut dashboard, operation);
    let settled = dashboard.within(PATIENCE, |dashboard| has_settled(dashboard, operation, expected)).await;
    check(settled, || format!("it does not come to {expected}:\n{}", dashboard.screen()))?;
    let message = check_all_sizes(&mut dashboard, operation, expected).await?;
    dashboard.crash().await;
    let requests = server.requests();
    // The dashboard also checks jobs in the background, so only requests that count against a limit are compared.
    let costly = requests.iter().filter(|line| line.starts_with("POST") || line.contains("/views")).count();
    check(costly == usize::from(operation != Operation::Get && wire.can_receive()), || {
        format!("requests were {requests:?}")
    })?;
    Ok(message)
}

fn act(dashboard: &mut DashboardFixture, operation: Operation) {
    match operation {
        Operation::Create | Operation::FollowUp => {
            dashboard.keys(if operation == Operation::Create { "n" } else { "f" });
            dashboard.paste(TEXT);
            dashboard.ctrl('s');
        }
        Operation::Get => dashboard.keys("r"),
        Operation::Views => dashboard.keys("2"),
    }
}

/// Whether the outcome has reached the screen; `judge` checks how it is shown.
fn has_settled(dashboard: &DashboardFixture, operation: Operation, expected: &Outcome) -> bool {
    let Some(row) = dashboard.app.jobs.selected() else { return false };
    let is_read = matches!(dashboard.app.detail.thread(), Load::Ready(_));
    let stands = |kind| row.undelivered == Some(kind) && is_read;
    let is_known = match (operation, expected) {
        (_, Outcome::Offline | Outcome::NotSent) => matches!(dashboard.app.connection, Connection::Offline { .. }),
        (_, Outcome::KeyRefused) => matches!(dashboard.app.connection, Connection::Refused { .. }),
        (Operation::Get, Outcome::Limited(_)) => matches!(dashboard.app.connection, Connection::Limited(_)),
        _ => true,
    };
    if !is_known {
        return false;
    }
    // A notice that the prompt is saved appears before anything is sent.
    let has_outcome = dashboard.app.notice.as_ref().is_some_and(|notice| !notice.text.as_str().starts_with("Saved"));
    let has_problem = dashboard.app.notice.as_ref().is_some_and(|notice| notice.severity == Severity::Problem);
    match (operation, expected) {
        (_, Outcome::NotSent | Outcome::Rejected | Outcome::Unconfirmed) => {
            let is_in_thread = dashboard.app.detail.undelivered().is_some();
            dashboard.app.dialogs.is_empty() && stands(undelivered(expected)) && is_in_thread
        }
        (Operation::Create | Operation::FollowUp, Outcome::Limited(_)) => {
            dashboard.app.dialogs.is_empty() && stands(DeliveryKind::Queued) && has_outcome
        }
        (_, Outcome::Accepted(..)) => row.id.is_some() && row.undelivered.is_none() && has_outcome,
        (_, Outcome::Gone) => row.gone,
        (_, Outcome::Row(_)) => row.checked_at.is_some_and(|at| (chrono::Utc::now() - at).num_hours() < 1),
        (_, Outcome::Loaded(_)) => matches!(dashboard.app.views.load(), Load::Ready(_)),
        _ => has_problem,
    }
}

/// The delivery of a prompt that was not accepted.
fn undelivered(expected: &Outcome) -> DeliveryKind {
    match expected {
        Outcome::NotSent => DeliveryKind::NotSent,
        Outcome::Rejected => DeliveryKind::Rejected,
        _ => DeliveryKind::Unconfirmed,
    }
}

/// Checks every size; returns the message that was shown.
async fn check_all_sizes(
    dashboard: &mut DashboardFixture,
    operation: Operation,
    expected: &Outcome,
) -> Result<String, Mistake> {
    let is_prompt = matches!(operation, Operation::Create | Operation::FollowUp);
    let (store, key) = (dashboard.store.clone(), dashboard.selected().key);
    let thread = store.thread(key).await.expect("read");
    let reason = thread.prompts.last().and_then(|prompt| prompt.delivery.reason().map(ToString::to_string));
    let notice = dashboard.app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    for size in SIZES {
        dashboard.input(Event::Resize(size.0, size.1));
        let look = ScreenText::capture(dashboard)?;
        match expected {
            Outcome::NotSent | Outcome::Rejected => {
                let reason = reason.as_deref().ok_or("no reason is known")?;
                check(notice.ends_with(reason), || format!("{notice:?} does not say {reason:?}"))?;
                look.check_sentence(&notice)?;
                look.check_meaning(
                    reason,
                    if *expected == Outcome::NotSent { &["nothing was sent"] } else { &REFUSED },
                )?;
                look.has(if *expected == Outcome::NotSent { "Not sent: " } else { "Rejected: " })?;
                look.has(if operation == Operation::Create { TITLE } else { "job_1" })?;
                look.has("NEEDS YOU")?;
                look.has_not(&["Accepted", "accepted", "Saved", "sending now", "QUEUED", "unconfirmed"])?;
            }
            Outcome::Unconfirmed => {
                look.check_sentence(&notice)?;
                look.has("unconfirmed")?;
                look.has("NEEDS YOU")?;
                look.has_not(&["Accepted", "accepted", "not sent", "rejected", "Saved", "sending now", "QUEUED"])?;
            }
            Outcome::Limited(_) if is_prompt => {
                look.has("QUEUED 1")?;
                look.check_sentence(&notice)?;
                look.check_meaning(&notice, &["Hourly limit reached"])?;
                look.has_not(&["Accepted", "accepted", "sending now", "unconfirmed", "not sent"])?;
            }
            Outcome::Accepted(..) => {
                look.has("Accepted: ")?;
                look.has_not(&["unconfirmed", "not sent", "rejected", "QUEUED"])?;
            }
            Outcome::Gone => look.has("gone")?,
            Outcome::Row(_) => look.has_not(&["offline", "refused", "limited", "gone"])?,
            Outcome::Loaded(_) => {
                look.has("as of")?;
                look.has_not(&["ago", "offline", "refused", "limited", "/kept"])?;
            }
            Outcome::Offline | Outcome::KeyRefused | Outcome::NotFound | Outcome::Service | Outcome::Limited(_) => {
                look.check_sentence(&notice)?;
                look.has(if operation == Operation::Views { "3h" } else { "PR 7" })?;
                if operation == Operation::Views {
                    look.has("as of")?;
                    look.has("ago")?;
                }
            }
        }
        look.has(match expected {
            Outcome::Offline | Outcome::NotSent => "offline",
            Outcome::KeyRefused => "refused",
            Outcome::Limited(_) if operation == Operation::Get => "limited",
            _ => "Jobs",
        })?;
    }
    if !is_prompt {
        // The message covers much of the smallest screen; the next key hides it.
        dashboard.keys("g");
        let look = ScreenText::capture(dashboard)?;
        look.has(match (operation, expected) {
            (Operation::Views, Outcome::Loaded(_)) => "as of",
            (Operation::Views, _) => "/kept",
            _ => "job_1",
        })?;
        let kind = KINDS.iter().find(|(kind, _)| kind == expected && operation == Operation::Views);
        look.has(kind.map_or("Jobs", |(_, words)| words))?;
    }
    if matches!(expected, Outcome::NotSent | Outcome::Rejected | Outcome::Unconfirmed) {
        let reason = reason.as_deref().ok_or("no reason is known")?;
        resolve(dashboard, reason, operation, expected)?;
    }
    log(dashboard, operation).await?;
    Ok(reason.unwrap_or(notice))
}

/// The short reason, in the line above the pages, why there is nothing newer.
const KINDS: [(Outcome, &str); 4] = [
    (Outcome::Offline, "offline"),
    (Outcome::KeyRefused, "key refused"),
    (Outcome::Service, "no usable answer"),
    (Outcome::NotFound, "not found"),
];

/// Words that state that a prompt was not carried out.
const REFUSED: [&str; 6] = [
    "no job was started",
    "was rejected",
    "nothing was done",
    "does not accept the key",
    "may not do this",
    "web page answered instead of the service",
];

/// The page that `!` opens explains what happened and shows the complete prompt; a prompt that was not carried out can
/// be edited.
fn resolve(
    dashboard: &mut DashboardFixture,
    reason: &str,
    operation: Operation,
    expected: &Outcome,
) -> Result<(), Mistake> {
    dashboard.keys("!");
    for size in SIZES {
        dashboard.input(Event::Resize(size.0, size.1));
        dashboard.key(KeyCode::Home);
        let mut pages = ScreenText::capture(dashboard)?;
        loop {
            dashboard.key(KeyCode::PageDown);
            let page = ScreenText::capture(dashboard)?;
            if pages.0.ends_with(&page.0) {
                break;
            }
            pages.0.push_str(&page.0);
        }
        pages.check_sentence(reason)?;
        match (expected, operation) {
            (Outcome::NotSent, _) => pages.check_sentence("It never reached the service. Nothing was started.")?,
            (Outcome::Rejected, _) => pages.check_sentence("The service rejected it. Nothing was started.")?,
            (_, Operation::Create) => pages.check_sentence("may or may not have started this job")?,
            _ => pages.check_sentence("may have received")?,
        }
        if *expected == Outcome::Unconfirmed {
            pages.check_sentence("automatically")?;
        }
        for line in TEXT.lines() {
            pages.check_sentence(line)?;
        }
    }
    if *expected != Outcome::Unconfirmed {
        dashboard.keys("e");
        for size in SIZES {
            dashboard.input(Event::Resize(size.0, size.1));
            let editor = ScreenText::capture(dashboard)?;
            editor.check_sentence(&format!("Last attempt: {reason}"))?;
            editor.has("guides; it's {urgent}")?;
        }
    }
    dashboard.key(KeyCode::Esc);
    Ok(())
}

/// The log lists the request.
async fn log(dashboard: &mut DashboardFixture, operation: Operation) -> Result<(), Mistake> {
    while !dashboard.app.dialogs.is_empty() {
        dashboard.key(KeyCode::Esc);
    }
    dashboard.keys("3");
    dashboard.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    let name = format!(" {} ", operation.name());
    let is_there = dashboard.within(PATIENCE, |dashboard| dashboard.shows(&name)).await;
    check(is_there, || format!("no line of the request:\n{}", dashboard.screen()))?;
    ScreenText::capture(dashboard).map(|_| ())
}

/// The text of a screen without the key and without control characters.
struct ScreenText(String);

impl ScreenText {
    fn capture(dashboard: &DashboardFixture) -> Result<Self, Mistake> {
        let screen = dashboard.screen();
        let is_plain = |c: char| {
            c == '\n'
                || !c.is_control()
                    && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let is_clean = screen.chars().all(is_plain) && !screen.contains(KEY);
        check(is_clean, || format!("the screen is {screen:?}"))?;
        Ok(Self(screen))
    }

    fn has(&self, text: &str) -> Result<(), Mistake> {
        check(self.0.contains(text), || format!("no {text:?} on the screen:\n{}", self.0))
    }

    fn has_not(&self, texts: &[&str]) -> Result<(), Mistake> {
        let found = texts.iter().find(|text| self.0.contains(**text));
        check(found.is_none(), || format!("{found:?} is on the screen:\n{}", self.0))
    }

    /// Asserts that the words of the sentence appear in order, whatever borders and lines separate them. A quoted part
    /// may be shortened if the screen marks the omission.
    fn check_sentence(&self, sentence: &str) -> Result<(), Mistake> {
        let seen: Vec<char> = self.0.chars().filter(|c| !c.is_whitespace() && !BOX.contains(*c)).collect();
        let is_complete = find(&seen, sentence, 0).is_some();
        let around = || {
            let (before, rest) = sentence.split_once('“')?;
            let (_, after) = rest.rsplit_once('”')?;
            let at = find(&seen, &format!("{before}“"), 0)?;
            find(&seen, &format!("…”{after}"), at)
        };
        let without_aside = || {
            let (most, _) = sentence.rsplit_once(" (")?;
            find(&seen, most, 0).filter(|at| seen.iter().skip(*at).take(40).any(|c| *c == '…'))
        };
        check(is_complete || around().is_some() || without_aside().is_some(), || {
            format!("not on the screen: {sentence:?}\n{}", self.0)
        })
    }

    fn check_meaning(&self, sentence: &str, one_of: &[&str]) -> Result<(), Mistake> {
        check(one_of.iter().any(|words| sentence.contains(words)), || format!("no expected phrase in {sentence:?}"))
    }
}

/// Characters that may separate the words of a sentence that takes several lines.
const BOX: &str = "│┌┐└┘─";

/// The position after the sentence, searched from `from`. Text beside a box can come between its lines: so words may be
/// separated, but not the letters of a word.
fn find(seen: &[char], sentence: &str, from: usize) -> Option<usize> {
    let words: Vec<Vec<char>> =
        sentence.split_whitespace().map(|word| word.chars().filter(|c| !BOX.contains(*c)).collect()).collect();
    words.iter().try_fold(from, |at, word| {
        let rest = seen.get(at..)?;
        rest.windows(word.len().max(1))
            .position(|window| window == word.as_slice())
            .map(|found| at + found + word.len())
    })
}
