//! The bodies of the fuzz targets: each one parses bytes as docdeck would, and checks conditions that must hold for any
//! input. The fuzzer and the replay of the seeds share them.

use crossterm::event::{Event, KeyModifiers};
use docdeck::api::{ApiError, BodyReader, Client, ClientOptions, DecodableRow, RetryAfterHeader};
use docdeck::cli::customization;
use docdeck::config::file::{ConfigFile, ProfileConfig};
use docdeck::config::{themes, write};
use docdeck::model::Time;
use docdeck::model::analytics::export::RowsExport;
use docdeck::model::analytics::fields::{FieldedRow, sorted_rows};
use docdeck::model::analytics::{Feedback, PageFeedback, Question, RowsMerge, Search};
use docdeck::model::batch;
use docdeck::model::comparison::Comparison;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::export::{ExportContent, ExportFormat};
use docdeck::model::layout::Layout;
use docdeck::model::link::{WebLink, display_url};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::remote_job::{JobId, RemoteJob, RemoteState, Status};
use docdeck::model::report::Report;
use docdeck::model::setup::{KeySourceInput, NewProfile};
use docdeck::model::text::{CleanText, escaped_json, filter_output, is_hidden};
use docdeck::model::views::{Count, Counts, PageRow};
use docdeck::store::{ScopeFilter, Store, check_backup};
use docdeck::terminal::input_decoder::InputDecoder;
use docdeck::tui::filter::JobFilter;
use docdeck::tui::keymap::Chord;
use docdeck::tui::wrap::wrap;
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

/// The API key of the client that parses responses. Seeds contain it, and no output may contain it.
const API_KEY: &str = "mint_k3ys3cr3t";
/// The maximum number of characters in a field.
const MAX_FIELD_CHARS: usize = 8_192;
/// The maximum number of characters in a message about a response.
const MAX_MESSAGE_CHARS: usize = 700;

/// A function that parses bytes, and panics if a condition doesn't hold.
type TargetBody = fn(&[u8]);

/// The name and the body of each target. The folder with the target's seeds has the same name.
pub(crate) const TARGETS: [(&str, TargetBody); 13] = [
    ("job", job),
    ("views", views),
    ("rows", rows),
    ("error_body", error_body),
    ("retry_after", |bytes| retry_after(&text(bytes))),
    ("config", |bytes| config(&text(bytes))),
    ("theme", |bytes| theme(&text(bytes))),
    ("prompts", |bytes| prompts(&text(bytes))),
    ("import", import),
    ("merge", merge),
    ("text", |bytes| clean_text(&text(bytes))),
    ("layout", |bytes| layout(&text(bytes))),
    ("keys", keys),
];

/// Runs the target with this name.
pub(crate) fn run(target: &str, bytes: &[u8]) {
    let body = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of this name").1;
    body(bytes);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn now() -> Time {
    Time::from_timestamp(1_800_000_000, 0).expect("a time")
}

fn key() -> ApiKey {
    ApiKey::new(API_KEY).expect("a key")
}

fn range() -> DateRange {
    let day = now().date_naive();
    DateRange::last_days(7, day)
}

/// Asserts that the text is a single line without control characters or other hidden characters.
#[track_caller]
fn assert_line(text: &str) {
    assert!(!text.contains(is_hidden), "{text:?}");
}

#[track_caller]
fn assert_field(text: &CleanText) {
    assert_line(text.as_str());
    assert!(
        text.as_str().chars().count() <= MAX_FIELD_CHARS,
        "a field of {} characters",
        text.as_str().chars().count()
    );
    assert_eq!(CleanText::line(text.as_str()), *text, "clean text stays as it is");
}

/// Checks all texts about an invalid response: the messages of the error and of the failure, the log entry, and the
/// debug output.
fn assert_error(error: &ApiError) {
    let failure = error.failure(now());
    for message in [&error.to_string(), error.log_reason().as_str(), failure.message.as_str()] {
        assert_line(message);
        assert!(message.chars().count() <= MAX_MESSAGE_CHARS, "{} characters: {message}", message.chars().count());
        assert!(!message.contains(API_KEY), "{message}");
    }
    assert!(!format!("{error:?} {failure:?}").contains(API_KEY), "{error:?}");
    if let Some(wait) = error.wait(now()) {
        assert!((1..=24 * 3600).contains(&(wait.until - now()).num_seconds()), "{wait:?}");
    }
}

/// Target: parses the body of a successful response to a job request.
fn job(bytes: &[u8]) {
    let key = key();
    let reading = BodyReader { operation: Operation::GetJob, timeout: Duration::from_secs(60), key: &key };
    let job = match reading.job(200, None, bytes) {
        Ok(job) => job,
        Err(error) => return assert_error(&error),
    };
    assert!(!job.id.as_str().trim().is_empty());
    assert_line(job.id.to_clean_text().as_str());
    let RemoteState { status, source, model, pr_link, archived_at: _ } = &job.state;
    assert_line(status.as_ref().map_or("", Status::word));
    let texts = [source.repository.as_deref(), source.git_ref.as_ref(), model.as_deref(), pr_link.as_ref()];
    texts.into_iter().flatten().for_each(assert_field);
    if let Some(link) = pr_link {
        assert_line(display_url(link).as_str());
    }
    let again = reading.job(200, None, wire(&job).to_string().as_bytes());
    assert_eq!(again, Ok(job), "a parsed job is read back from its own JSON");
}

/// Returns the job as JSON in the format of the service.
fn wire(job: &RemoteJob) -> Value {
    let time = |time: Option<Time>| time.map(|time| time.to_rfc3339());
    let mut body = json!(job.state);
    // `RemoteState` writes times with milliseconds only.
    let others = [
        ("id", json!(job.id)),
        ("createdAt", json!(time(job.created_at))),
        ("archivedAt", json!(time(job.state.archived_at))),
    ];
    body.as_object_mut().expect("an object").extend(others.map(|(name, value)| (name.to_owned(), value)));
    body
}

/// Target: parses the body of a successful response to a page views request.
fn views(bytes: &[u8]) {
    let key = key();
    let reading = BodyReader { operation: Operation::Views, timeout: Duration::from_secs(60), key: &key };
    let page = match reading.views(200, None, bytes) {
        Ok(page) => page,
        Err(error) => return assert_error(&error),
    };
    assert_counts(&page.totals);
    for PageRow { path, counts } in &page.rows {
        assert!(!path.is_empty());
        assert_field(path);
        assert_counts(counts);
    }
    let report = Report::from_first_response(range(), page.clone(), true, now());
    assert!(report.rows.len() <= page.rows.len(), "rows with the same path are merged");
    let _ = (report.sums(), report.loaded_share().map(|share| assert!((0.0..=1.0).contains(&share), "{share}")));
    let comparison = Comparison { current: report.clone().into(), previous: report.clone().into() };
    for extract in [
        ExportContent::from_response(range(), &page, true, now()),
        ExportContent::from_report(&report, Some(&comparison)),
    ] {
        check_exports(&extract);
    }
}

/// Target: parses the body of a successful response about each other report.
fn rows(bytes: &[u8]) {
    rows_of::<PageRow>(bytes);
    rows_of::<Search>(bytes);
    rows_of::<Feedback>(bytes);
    rows_of::<PageFeedback>(bytes);
    rows_of::<Question>(bytes);
}

fn rows_of<R: DecodableRow + FieldedRow>(bytes: &[u8]) {
    let key = key();
    let reading = BodyReader { operation: Operation::Analytics(R::KIND), timeout: Duration::from_secs(60), key: &key };
    let response = match reading.rows::<R>(200, None, bytes) {
        Ok(response) => response,
        Err(error) => return assert_error(&error),
    };
    assert_counts(&response.totals);
    assert!(!format!("{response:?}").contains(API_KEY), "{response:?}");
    let stored = serde_json::to_string(&response.rows).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<R>>(&stored).expect("rows"), response.rows, "rows are read back unchanged");
    let received = response.rows.len();
    let report = RowsMerge::start(range(), response, now()).into_report();
    assert!(report.rows.len() <= received, "rows with the same key are merged");
    for field in R::FIELDS {
        let sorted = sorted_rows(&report.rows.iter().collect::<Vec<_>>(), |row| row, field, false);
        assert_eq!(sorted.len(), report.rows.len());
    }
    for format in ExportFormat::ALL {
        let text = RowsExport::new(&report, report.rows.iter().collect(), true).write(format).expect("it is written");
        let bad = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\r' | '\n'));
        assert_eq!(bad, None, "{format:?}: {text:?}");
        if format == ExportFormat::Csv {
            assert_no_formulas(&text, report.rows.len());
        }
    }
}

fn assert_counts(counts: &Counts) {
    for count in [&counts.human, &counts.ai, &counts.total] {
        if let Count::Other(text) = count {
            assert_line(text.as_str());
            assert!(text.as_str().chars().count() <= 40, "{text}");
        }
    }
    if let Some(share) = counts.ai_share() {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
    assert!(!counts.adds_up() || counts.total.value().is_some());
}

/// Checks the exports in every format: they are clean text, tables have one row per page, and no cell is a formula.
fn check_exports(extract: &ExportContent<'_>) {
    for format in ExportFormat::ALL {
        let text = format.write(extract).expect("it is written");
        let bad = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\r' | '\n'));
        assert_eq!(bad, None, "{format:?}: {text:?}");
        assert_line(&extract.file_name(format));
        if format == ExportFormat::Json {
            let read: Value = serde_json::from_str(&text).expect("JSON");
            let rows = read.get("views").and_then(Value::as_array).expect("rows");
            assert_eq!(rows.len(), extract.pages.iter().filter(|line| line.counts.is_some()).count());
        }
    }
    assert_no_formulas(&ExportFormat::Csv.write(extract).expect("CSV"), extract.pages.len());
}

/// Asserts that the CSV has this many rows, and that no cell is a formula.
fn assert_no_formulas(text: &str, count: usize) {
    let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row of the same length")).collect();
    assert_eq!(rows.len(), count);
    for cell in rows.iter().flatten() {
        let is_number =
            cell.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) && cell.parse::<f64>().is_ok();
        assert!(is_number || !cell.starts_with(['=', '+', '-', '@']), "{cell:?} is read as a formula");
    }
}

/// Target: parses a failed response. The first line of the input is the status and the value of `Retry-After`; the rest
/// is the body of the response.
fn error_body(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let (head, body) = (text(parts.next().unwrap_or_default()), parts.next().unwrap_or_default());
    let (status, retry) = head.split_once(' ').map_or((head.as_str(), None), |(status, retry)| (status, Some(retry)));
    let status = status.parse().unwrap_or(500);
    let key = key();
    for operation in [Operation::Create, Operation::GetJob, Operation::FollowUp, Operation::Views] {
        let reading = BodyReader { operation, timeout: Duration::from_secs(60), key: &key };
        if let Err(error) = reading.job(status, retry, body) {
            assert_error(&error);
        }
        if let Err(error) = reading.views(status, retry, body) {
            assert_error(&error);
        }
    }
}

fn retry_after(raw: &str) {
    let retry = RetryAfterHeader::parse(Some(raw));
    let pause = retry.wait(now()).until - now();
    assert!((1..=24 * 3600).contains(&pause.num_seconds()), "{pause}");
    assert_line(&retry.to_string());
    // The wait can be computed for any time of the service's clock.
    for now in
        [Time::MIN_UTC + Duration::from_secs(90_000), Time::default(), Time::MAX_UTC - Duration::from_secs(90_000)]
    {
        let _ = retry.wait(now);
    }
}

/// Target: parses a configuration file with all its settings, and adds a profile to it.
fn config(raw: &str) {
    let path = Path::new("/nowhere/config.toml");
    let file = match ConfigFile::parse(path, raw) {
        Ok(file) => file,
        Err(error) => return assert_line(&error.to_string()),
    };
    let _ = file.polls_per_minute();
    let own = file.customization();
    for filter in customization::filters(&own) {
        assert_line(filter.name.as_str());
        check_filter(&filter.text);
    }
    match customization::keymap(&own, path).and_then(|keymap| customization::parse_commands(&own, &keymap, path)) {
        Ok(commands) => commands.iter().for_each(|command| assert_line(command.name.as_str())),
        Err(error) => assert_line(&error.to_string()),
    }
    for profile in file.profiles.values() {
        let base_url = profile.base_url.clone().unwrap_or_default();
        let scope = Scope { base_url, project: "p".to_owned(), organization: None };
        if let Err(failure) = Client::new(scope, key(), ClientOptions::default()) {
            assert_line(failure.message.as_str());
        }
        let secret = profile.api_key.as_ref().map(|key| key.expose().to_owned()).filter(|key| key.len() > 8);
        assert!(secret.is_none_or(|secret| !format!("{:?}", profile.api_key).contains(&secret)));
    }
    check_added_profile(raw, path, &file);
}

/// Adds a profile to the configuration file. Checks that the result contains the profile, and that all other profiles
/// are unchanged.
fn check_added_profile(raw: &str, path: &Path, file: &ConfigFile) {
    let name = file.profiles.keys().next().map_or("new", String::as_str);
    for (name, from) in [(name, KeySourceInput::Typed(key())), ("\"odd\" . [name]\n", KeySourceInput::SetElsewhere)] {
        let profile = NewProfile {
            name: name.to_owned(),
            base_url: Some("https://docs.example".to_owned()),
            project: "p\"1\\".to_owned(),
            organization: None,
            ca_file: None,
            key: from,
        };
        let text = match write::text_with_profile(path, raw, &profile) {
            Ok(text) => text,
            Err(error) => {
                assert_line(&error.to_string());
                continue;
            }
        };
        let new = ConfigFile::parse(path, &text).expect("what was written can be read");
        let written = new.profiles.get(name).expect("the profile");
        assert_eq!(written.project_id.as_deref(), Some("p\"1\\"));
        assert_eq!(written.base_url.as_deref(), Some("https://docs.example"));
        if name.starts_with('"') {
            assert!(written.api_key.is_none() && written.api_key_command.is_none() || file.profiles.contains_key(name));
        } else {
            assert_eq!(written.api_key.as_ref().map(|key| key.expose()), Some(API_KEY));
            assert!(written.api_key_command.is_none() && written.api_key_file.is_none());
        }
        for (other, profile) in file.profiles.iter().filter(|(other, _)| *other != name) {
            assert_eq!(new.profiles.get(other).map(settings), Some(settings(profile)));
        }
        assert_eq!(new.default_profile, file.default_profile);
        assert_eq!(customization_without_positions(&new), customization_without_positions(file));
    }
}

/// Returns the settings of a profile without their positions in the file, which another profile may change.
fn settings(profile: &ProfileConfig) -> impl PartialEq + std::fmt::Debug {
    let key = profile.api_key.as_ref().map(|key| key.expose());
    let source = (&profile.api_key_command, &profile.api_key_file, key);
    (&profile.base_url, &profile.project_id, &profile.organization, &profile.ca_file, source)
}

/// Returns the customization without its positions in the file, which another profile may change.
fn customization_without_positions(file: &ConfigFile) -> String {
    let own = file.customization();
    let filters: Vec<_> = own.filters.iter().map(|filter| (filter.name.get_ref(), filter.filter.get_ref())).collect();
    let commands: Vec<_> = own
        .commands
        .iter()
        .map(|(command, _)| (command.key.get_ref(), command.name.get_ref(), command.program_and_arguments()))
        .collect();
    let mut keys: Vec<_> = own.keys.iter().map(|keys| (&keys.context, &keys.action, &keys.keys)).collect();
    keys.sort();
    format!("{filters:?} {commands:?} {keys:?} {:?} {:?} {:?}", own.notify, own.on_change, own.clipboard)
}

fn theme(raw: &str) {
    match themes::parse("mine.toml", raw) {
        Ok(colors) => assert_eq!(themes::parse("mine.toml", raw), Ok(colors)),
        Err(error) => assert_line(&error.to_string()),
    }
}

fn prompts(raw: &str) {
    for name in [None, Some("a.jsonl"), Some("a.json"), Some("a.csv"), Some("a.md"), Some("a.txt")] {
        match batch::parse_prompts(name, raw) {
            Ok(prompts) => {
                assert!(!prompts.is_empty() && prompts.iter().all(|prompt| !prompt.trim().is_empty()), "{prompts:?}");
                let lines: Vec<String> = prompts.iter().map(|prompt| json!({ "prompt": prompt }).to_string()).collect();
                assert_eq!(batch::parse_prompts(Some("b.jsonl"), &lines.join("\n")), Ok(prompts), "unchanged");
            }
            Err(error) => assert_line(&error.to_string()),
        }
    }
}

fn import(bytes: &[u8]) {
    if let Err(error) = check_backup(bytes, now()) {
        assert_line(&error.to_string());
    }
}

/// Target: imports a valid backup into a store. Checks that another store can import the export of this store, and that
/// importing the export again changes nothing.
fn merge(bytes: &[u8]) {
    let bytes = bytes.to_vec();
    match check_backup(Cursor::new(&bytes), now()) {
        Ok(_) => {}
        Err(error) => return assert_line(&error.to_string()),
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let (first, second) = (Store::in_memory().expect("a store"), Store::in_memory().expect("a store"));
        first.import(Cursor::new(bytes), ScopeFilter::default(), false, now()).await.expect("it was checked");
        let lines = export(&first).await;
        let read = String::from_utf8(lines.clone()).expect("text");
        assert!(read.lines().all(|line| !line.contains(is_hidden)), "{read:?}");
        second
            .import(Cursor::new(lines.clone()), ScopeFilter::default(), false, now())
            .await
            .expect("what was written is read");
        let again = export(&second).await;
        assert_eq!(String::from_utf8(again).expect("text"), read, "the same record here and there");
        let twice = second
            .import(Cursor::new(lines), ScopeFilter::default(), false, now())
            .await
            .expect("what was written is read");
        assert_eq!((twice.jobs_added, twice.jobs_changed, twice.prompts_added, twice.drafts_added), (0, 0, 0, 0));
        first.close().await;
        second.close().await;
    });
}

async fn export(store: &Store) -> Vec<u8> {
    let mut file = tempfile::tempfile().expect("a file");
    let out = file.try_clone().expect("the same file");
    store.export(out, ScopeFilter::default(), "docdeck", now()).await.expect("an export");
    let mut lines = Vec::new();
    std::io::Seek::rewind(&mut file).expect("its beginning");
    std::io::Read::read_to_end(&mut file, &mut lines).expect("read");
    lines
}

fn clean_text(raw: &str) {
    let block = CleanText::block(raw);
    assert!(!block.as_str().contains(|c: char| c != '\n' && is_hidden(c)), "{block:?}");
    assert_eq!(CleanText::block(block.as_str()), block, "clean text stays as it is");
    assert_eq!(filter_output(block.as_str()), block.as_str());
    let line = CleanText::line(raw);
    assert_line(line.as_str());
    assert_eq!(CleanText::line(line.as_str()), line, "clean text stays as it is");
    for max in [1, 40] {
        let title = CleanText::title(raw, max);
        assert_line(title.as_str());
        assert!(title.as_str().chars().count() <= max, "{title:?}");
    }
    let once = filter_output(raw).into_owned();
    assert!(!once.contains(|c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\x1b')), "{once:?}");
    assert_eq!(filter_output(&once), once, "filtering twice changes nothing");
    let json = serde_json::to_string(raw).expect("JSON");
    let escaped = escaped_json(&json);
    assert_line(&escaped);
    assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), raw);
    if let Some(link) = WebLink::parse(raw) {
        assert!(link.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{link:?}");
        assert!(["https://", "http://"].iter().any(|scheme| link.as_str().starts_with(scheme)), "{link:?}");
        assert_eq!(WebLink::parse(link.as_str()).as_ref(), Some(&link), "what is shown is what is opened");
        let host = link.as_str().split("//").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
        assert!(host.is_some_and(|host| !host.contains('@')), "{link:?}");
    }
    check_filter(raw);
    check_wrapping(block.as_str());
    if let Some(chord) = Chord::parse(raw) {
        assert_eq!(Chord::parse(&chord.to_string()), Some(chord), "a formatted key is parsed back");
    }
    if let Some(id) = JobId::new(raw) {
        assert_line(id.to_clean_text().as_str());
    }
}

fn check_filter(raw: &str) {
    let filter = JobFilter::parse(raw);
    assert!(!filter.is_empty() || filter.prompt_words().is_empty());
}

/// Checks that wrapping the text makes no line too wide and loses no character.
fn check_wrapping(text: &str) {
    for width in [1, 7, 80] {
        let (lines, cut) = wrap(text, width, usize::MAX - 1);
        assert!(!cut);
        for line in &lines {
            let width_of = |text: &str| unicode_width::UnicodeWidthStr::width(text);
            let graphemes = unicode_segmentation::UnicodeSegmentation::graphemes(line.as_str(), true);
            // A grapheme that is wider than the line is alone on it, except for marks without width.
            let has_single_grapheme = graphemes.filter(|grapheme| width_of(grapheme) > 0).count() <= 1;
            assert!(has_single_grapheme || width_of(line) <= width, "{width}: {line:?}");
        }
        let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(words(&lines.concat()), words(text));
    }
}

fn layout(raw: &str) {
    let layout = Layout::parse(raw);
    assert_eq!(Layout::parse(&layout.to_json()), layout, "a saved layout is read back");
}

/// Target: bytes from a terminal that was asked for its background colour. NUL is a pause of 30 ms. Without Esc, every
/// character is a key. With Esc, the keys for characters are part of the input, in order, and nothing but an open paste
/// is held back forever.
fn keys(bytes: &[u8]) {
    let bytes = bytes.get(..4096).unwrap_or(bytes);
    let (mut decoder, mut out, mut now) = (InputDecoder::default(), Vec::new(), Instant::now());
    decoder.expect_reply(now);
    for read in bytes.split(|byte| *byte == 0) {
        decoder.push(read, now, &mut out);
        now += Duration::from_millis(30);
    }
    decoder.release_expired(now + Duration::from_secs(60), &mut out);
    assert_eq!(decoder.release_deadline(), None, "nothing is held back forever");
    let sent: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let typed: Vec<char> = String::from_utf8_lossy(&sent).chars().filter(|c| !c.is_control()).collect();
    let received: Vec<char> = out.iter().filter_map(typed_char).collect();
    // A report of the kitty keyboard protocol spells a character as a number.
    if !bytes.contains(&b'u') {
        let mut rest = typed.iter();
        assert!(received.iter().all(|c| rest.any(|sent| sent == c)), "{received:?}");
    }
    if !bytes.contains(&0x1b) && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
        assert_eq!(received, typed);
    }
}

/// Returns the character that a key types.
fn typed_char(event: &Event) -> Option<char> {
    let key = event.as_key_event().filter(|key| !key.modifiers.contains(KeyModifiers::CONTROL))?;
    key.code.as_char().filter(|c| !c.is_control())
}
