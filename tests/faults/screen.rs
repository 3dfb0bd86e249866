//! What the dashboard shows of a fault: the real one on a real record, with the keys pressed that a user would press, drawn
//! at three sizes.

use crate::cell::{Wrong, check, folder, options, query, seed, service};
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

/// The sizes at which it is looked at; it happens at the first.
pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (160, 48), (40, 12)];
/// Longer than any of it takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is typed: its first line becomes the title.
const TEXT: &str = "Mend the links\nin \"all\" guides; it's {urgent} \\ \u{1f980}";
const TITLE: &str = "Mend the links";

/// Lets the fault happen under the hands of a user; gives what the screen said. When the day ended meanwhile, the dashboard
/// may have asked for another range than was put into its record: then once more.
pub(crate) async fn run(fault: &Fault, operation: Operation, expected: &Outcome) -> Result<String, Wrong> {
    let range = query().range;
    match run_once(fault, operation, expected).await {
        Err(_) if range != query().range => run_once(fault, operation, expected).await,
        result => result,
    }
}

async fn run_once(fault: &Fault, operation: Operation, expected: &Outcome) -> Result<String, Wrong> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, folder());
    let scope = service(&server);
    let hours_ago = chrono::Utc::now() - chrono::TimeDelta::hours(3);
    seed(&scope, operation, folder.path(), query(), hours_ago).await;
    let mut desk = DashboardFixture::begin_by(options(fault.hasty), scope, KEY, folder.path()).await;
    desk.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    act(&mut desk, operation);
    let settled = desk.within(PATIENCE, |desk| has_settled(desk, operation, expected)).await;
    check(settled, || format!("it does not come to {expected}:\n{}", desk.screen()))?;
    let said = judge(&mut desk, operation, expected).await?;
    desk.crash().await;
    let requests = server.requests();
    // The dashboard looks at jobs by itself as well; what costs is counted.
    let costly = requests.iter().filter(|line| line.starts_with("POST") || line.contains("/views")).count();
    check(costly == usize::from(operation != Operation::Get && wire.hears()), || {
        format!("requests were {requests:?}")
    })?;
    Ok(said)
}

fn act(desk: &mut DashboardFixture, operation: Operation) {
    match operation {
        Operation::Create | Operation::FollowUp => {
            desk.keys(if operation == Operation::Create { "n" } else { "f" });
            desk.paste(TEXT);
            desk.ctrl('s');
        }
        Operation::Get => desk.keys("r"),
        Operation::Views => desk.keys("2"),
    }
}

/// Whether the outcome has reached the screen; whether it is shown as it should is another matter.
fn has_settled(desk: &DashboardFixture, operation: Operation, expected: &Outcome) -> bool {
    let Some(row) = desk.app.jobs.selected() else { return false };
    let is_read = matches!(desk.app.detail.thread(), Load::Ready(_));
    let stands = |kind| row.undelivered == Some(kind) && is_read;
    let is_known = match (operation, expected) {
        (_, Outcome::Offline | Outcome::NotSent) => matches!(desk.app.connection, Connection::Offline { .. }),
        (_, Outcome::KeyRefused) => matches!(desk.app.connection, Connection::Refused { .. }),
        (Operation::Get, Outcome::Limited(_)) => matches!(desk.app.connection, Connection::Limited(_)),
        _ => true,
    };
    if !is_known {
        return false;
    }
    // That it is saved is shown before anything is sent.
    let has_outcome = desk.app.notice.as_ref().is_some_and(|notice| !notice.text.as_str().starts_with("Saved"));
    let has_problem = desk.app.notice.as_ref().is_some_and(|notice| notice.severity == Severity::Problem);
    match (operation, expected) {
        (_, Outcome::NotSent | Outcome::Rejected | Outcome::Unconfirmed) => {
            let is_in_thread = desk.app.detail.undelivered().is_some();
            desk.app.dialogs.is_empty() && stands(undelivered(expected)) && is_in_thread
        }
        (Operation::Create | Operation::FollowUp, Outcome::Limited(_)) => {
            desk.app.dialogs.is_empty() && stands(DeliveryKind::Queued) && has_outcome
        }
        (_, Outcome::Accepted(..)) => row.id.is_some() && row.undelivered.is_none() && has_outcome,
        (_, Outcome::Gone) => row.gone,
        (_, Outcome::Row(_)) => row.checked_at.is_some_and(|at| (chrono::Utc::now() - at).num_hours() < 1),
        (_, Outcome::Loaded(_)) => matches!(desk.app.views.load(), Load::Ready(_)),
        _ => has_problem,
    }
}

/// How a prompt stands that did not get through.
fn undelivered(expected: &Outcome) -> DeliveryKind {
    match expected {
        Outcome::NotSent => DeliveryKind::NotSent,
        Outcome::Rejected => DeliveryKind::Rejected,
        _ => DeliveryKind::Unconfirmed,
    }
}

/// Looks at every size; gives the sentence that was said.
async fn judge(desk: &mut DashboardFixture, operation: Operation, expected: &Outcome) -> Result<String, Wrong> {
    let is_prompt = matches!(operation, Operation::Create | Operation::FollowUp);
    let (store, key) = (desk.store.clone(), desk.selected().key);
    let thread = store.thread(key).await.expect("read");
    let reason = thread.prompts.last().and_then(|prompt| prompt.delivery.reason().map(ToString::to_string));
    let notice = desk.app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    for size in SIZES {
        desk.input(Event::Resize(size.0, size.1));
        let look = Look::at(desk)?;
        match expected {
            Outcome::NotSent | Outcome::Rejected => {
                let reason = reason.as_deref().ok_or("no reason is known")?;
                check(notice.ends_with(reason), || format!("{notice:?} does not say {reason:?}"))?;
                look.tells(&notice)?;
                look.means(reason, if *expected == Outcome::NotSent { &["nothing was sent"] } else { &REFUSED })?;
                look.has(if *expected == Outcome::NotSent { "Not sent: " } else { "Rejected: " })?;
                look.has(if operation == Operation::Create { TITLE } else { "job_1" })?;
                look.has("NEEDS YOU")?;
                look.has_not(&["Accepted", "accepted", "Saved", "sending now", "QUEUED", "unconfirmed"])?;
            }
            Outcome::Unconfirmed => {
                look.tells(&notice)?;
                look.has("unconfirmed")?;
                look.has("NEEDS YOU")?;
                look.has_not(&["Accepted", "accepted", "not sent", "rejected", "Saved", "sending now", "QUEUED"])?;
            }
            Outcome::Limited(_) if is_prompt => {
                look.has("QUEUED 1")?;
                look.tells(&notice)?;
                look.means(&notice, &["Hourly limit reached"])?;
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
                look.tells(&notice)?;
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
        // What was said covers much of the smallest screen; the next key gives it back.
        desk.keys("g");
        let look = Look::at(desk)?;
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
        resolve(desk, reason, operation, expected)?;
    }
    log(desk, operation).await?;
    Ok(reason.unwrap_or(notice))
}

/// How the line over the pages says in little room why there is nothing newer.
const KINDS: [(Outcome, &str); 4] = [
    (Outcome::Offline, "offline"),
    (Outcome::KeyRefused, "key refused"),
    (Outcome::Service, "no usable answer"),
    (Outcome::NotFound, "not found"),
];

/// What says that a prompt was not carried out.
const REFUSED: [&str; 6] = [
    "no job was started",
    "was not taken",
    "nothing was done",
    "does not accept the key",
    "may not do this",
    "web page answered in place of the service",
];

/// The page that `!` opens says what happened, and has the whole prompt; what was not carried out can be edited.
fn resolve(desk: &mut DashboardFixture, reason: &str, operation: Operation, expected: &Outcome) -> Result<(), Wrong> {
    desk.keys("!");
    for size in SIZES {
        desk.input(Event::Resize(size.0, size.1));
        desk.key(KeyCode::Home);
        let mut pages = Look::at(desk)?;
        loop {
            desk.key(KeyCode::PageDown);
            let page = Look::at(desk)?;
            if pages.0.ends_with(&page.0) {
                break;
            }
            pages.0.push_str(&page.0);
        }
        pages.tells(reason)?;
        match (expected, operation) {
            (Outcome::NotSent, _) => pages.tells("It never reached the service. Nothing was carried out.")?,
            (Outcome::Rejected, _) => pages.tells("The service refused it. Nothing was carried out.")?,
            (_, Operation::Create) => pages.tells("may have made this job, or may not")?,
            _ => pages.tells("may have taken")?,
        }
        if *expected == Outcome::Unconfirmed {
            pages.tells("by itself")?;
        }
        for line in TEXT.lines() {
            pages.tells(line)?;
        }
    }
    if *expected != Outcome::Unconfirmed {
        desk.keys("e");
        for size in SIZES {
            desk.input(Event::Resize(size.0, size.1));
            let editor = Look::at(desk)?;
            editor.tells(&format!("Last attempt: {reason}"))?;
            editor.has("guides; it's {urgent}")?;
        }
    }
    desk.key(KeyCode::Esc);
    Ok(())
}

/// The log names the request.
async fn log(desk: &mut DashboardFixture, operation: Operation) -> Result<(), Wrong> {
    while !desk.app.dialogs.is_empty() {
        desk.key(KeyCode::Esc);
    }
    desk.keys("3");
    desk.input(Event::Resize(SIZES[0].0, SIZES[0].1));
    let name = format!(" {} ", operation.name());
    let is_there = desk.within(PATIENCE, |desk| desk.shows(&name)).await;
    check(is_there, || format!("no line of the request:\n{}", desk.screen()))?;
    Look::at(desk).map(|_| ())
}

/// A screen that was looked at: nothing in it that a terminal would obey, and not the key.
struct Look(String);

impl Look {
    fn at(desk: &DashboardFixture) -> Result<Self, Wrong> {
        let screen = desk.screen();
        let is_plain = |c: char| {
            c == '\n'
                || !c.is_control()
                    && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let sound = screen.chars().all(is_plain) && !screen.contains(KEY);
        check(sound, || format!("the screen is {screen:?}"))?;
        Ok(Self(screen))
    }

    fn has(&self, text: &str) -> Result<(), Wrong> {
        check(self.0.contains(text), || format!("no {text:?} on the screen:\n{}", self.0))
    }

    fn has_not(&self, texts: &[&str]) -> Result<(), Wrong> {
        let found = texts.iter().find(|text| self.0.contains(**text));
        check(found.is_none(), || format!("{found:?} is on the screen:\n{}", self.0))
    }

    /// The words of the sentence are there one after the other, whatever boxes and lines part them. Of what it quotes a part
    /// may be left out, and then it says so.
    fn tells(&self, sentence: &str) -> Result<(), Wrong> {
        let seen: Vec<char> = self.0.chars().filter(|c| !c.is_whitespace() && !BOX.contains(*c)).collect();
        let whole = find(&seen, sentence, 0).is_some();
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
        check(whole || around().is_some() || without_aside().is_some(), || {
            format!("not to be read: {sentence:?}\n{}", self.0)
        })
    }

    fn means(&self, sentence: &str, one_of: &[&str]) -> Result<(), Wrong> {
        check(one_of.iter().any(|words| sentence.contains(words)), || format!("it means nothing: {sentence:?}"))
    }
}

/// What parts the words of a sentence that takes several lines.
const BOX: &str = "│┌┐└┘─";

/// Where the sentence ends, looked for from there on. What stands beside a box comes between its lines: so words may be parted,
/// letters of a word may not.
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
