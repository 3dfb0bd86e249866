//! Tests of text from outside that tries to control the terminal. Every string that the service, the configuration, a
//! file or a paste can contain is filled with such text. Every output to a terminal or file may then contain only plain
//! text.

#![expect(clippy::panic, clippy::string_slice, reason = "a test fails by panicking")]

use crate::support::pty::{Pty, Setup};
use crate::support::slow::sample;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// Returns the attack texts, each with a name. They start and end escape sequences in all possible ways, and none of
/// them may take effect.
pub(crate) fn attacks() -> Vec<(&'static str, String)> {
    let plain = [
        ("CSI", "a\x1b[77;66H\x1b[2Jb\x1b[?1049l"),
        ("CSI in 8 bits", "a\u{9b}77;66Hb"),
        ("SGR", "a\x1b[35;7mb"),
        ("OSC 52", "a\x1b]52;c;cHduZWQ=\x07b"),
        ("OSC 52 with ST", "a\x1b]52;c;cHduZWQ=\x1b\\b"),
        ("OSC 8", "a\x1b]8;;https://pwned.example\x1b\\b\x1b]8;;\x1b\\"),
        ("OSC 0", "a\x1b]0;pwned\x07b"),
        ("OSC in 8 bits", "a\u{9d}0;pwned\u{9c}b"),
        ("OSC without an end", "a\x1b]0;pwned"),
        ("DCS", "a\x1bP$q\"p\x1b\\b\u{90}pwned\u{9c}"),
        ("APC, PM, SOS", "a\x1b_G\x1b\\\x1b^x\x1b\\\x1bXy\x1b\\b"),
        ("C1", "a\u{80}\u{84}\u{85}\u{8d}\u{9f}b"),
        ("C0", "a\x01\x05\x07\x08\x08\x0b\x0c\x0e\x0f\x18\x1a\x7fb"),
        ("NUL", "a\0b"),
        ("CR", "aaaa\rbb\r\nc"),
        ("tabs", "a\t\t\tb"),
        ("reset", "a\x1bc\x1b(0\x1b7\x1b8b"),
        ("a bidi override", "a\u{202e}b\u{202d}c\u{202c}"),
        ("bidi isolates", "a\u{2066}b\u{2067}c\u{2068}d\u{2069}\u{200e}\u{200f}\u{61c}"),
        ("zero width", "a\u{200b}b\u{2060}c\u{feff}d\u{ad}e\u{180e}"),
        ("tag characters", "a\u{e0001}\u{e0041}\u{e007f}b"),
        ("separators of lines", "a\u{2028}b\u{2029}c"),
        ("interlinear notes", "a\u{fff9}b\u{fffa}c\u{fffb}"),
    ];
    let mut all: Vec<_> = plain.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    all.push(("a flood of marks", format!("a{}b", "\u{301}\u{489}".repeat(5000))));
    all.push(("100 kB without a space", "x".repeat(100_000)));
    all.push(("100 kB of escapes", "\x1b[".repeat(50_000)));
    all
}

/// Whether this character is forbidden in all output: control characters other than line breaks and tabs, and invisible
/// format characters.
fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[track_caller]
pub(crate) fn assert_plain(what: &str, text: &str) {
    let found = text.char_indices().find(|(_, c)| is_forbidden(*c));
    let around =
        |at: usize| text.chars().skip(text[..at].chars().count().saturating_sub(30)).take(60).collect::<String>();
    assert!(found.is_none(), "{what}: {:?} in {:?}", found, found.map(|(at, _)| around(at)));
}

/// Asserts that a text is plain (see [`assert_plain`]) and that no letter has more than four combining marks, as in
/// real scripts. JSON output may have more, because it is for programs.
#[track_caller]
pub(crate) fn assert_readable(what: &str, text: &str) {
    assert_plain(what, text);
    let marks = text.chars().fold((0, 0), |(most, run), c| {
        let run = if matches!(c, '\u{301}' | '\u{489}') { run + 1 } else { 0 };
        (most.max(run), run)
    });
    assert!(marks.0 <= 4, "{what}: {} marks on one letter", marks.0);
}

/// Asserts that the bytes sent to a terminal contain no sequence of an attack, and that they are plain text apart from
/// docdeck's own sequences (cursor, colours, modes, title, links).
#[track_caller]
pub(crate) fn assert_no_foreign_sequences(what: &str, sent: &str) {
    for mark in ["\x1b[77;66H", "\x1b]52;", "\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1bc", "\x1b(0"] {
        assert!(!sent.contains(mark), "{what}: {mark:?} got through");
    }
    assert!(!sent.contains("\x1b[35;7m"), "{what}: colours from outside");
    let mut text = String::new();
    let mut rest = sent;
    while let Some(at) = rest.find('\x1b') {
        text.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let (length, content) = docdeck_sequence(sequence).unwrap_or_else(|| {
            let head: String = sequence.chars().take(40).collect();
            panic!("{what}: not one of docdeck's own sequences: {head:?}")
        });
        assert_plain(what, content);
        rest = &sequence[length..];
    }
    text.push_str(rest);
    assert_plain(what, &text.replace("\r\n", "\n").replace("\r", ""));
}

/// Returns the length of the sequence at the start of `text`, and the text in the sequence. Returns `None` if docdeck
/// never sends such a sequence.
fn docdeck_sequence(text: &str) -> Option<(usize, &str)> {
    if let Some(body) = text.strip_prefix("\x1b[") {
        let end = body.find(|c: char| ('@'..='~').contains(&c))?;
        return Some((2 + end + 1, ""));
    }
    if let Some(body) = text.strip_prefix("\x1b]") {
        let known = ["2;", "8;;", "9;", "11;?", "777;"].iter().any(|start| body.starts_with(start));
        let bell = body.find('\x07').map(|at| (at, 1));
        let st = body.find("\x1b\\").map(|at| (at, 2));
        let (end, length) = [bell, st].into_iter().flatten().min()?;
        return known.then_some((2 + end + length, &body[..end]));
    }
    // The keypad modes.
    ["\x1b=", "\x1b>"].iter().any(|known| text.starts_with(known)).then_some((2, ""))
}

/// A service that puts attack texts into every string of its responses, and the code hosts of [`crate::hostile_hosts`].
pub(crate) struct HostileService {
    pub(crate) url: String,
}

impl HostileService {
    /// Starts the service. The id of a job selects its attack text, see [`reply`].
    pub(crate) fn start() -> Self {
        Self::with_links(Vec::new())
    }

    /// Starts the service; the jobs `l0`, `l1` and so on have these pull request links.
    pub(crate) fn with_links(links: Vec<String>) -> Self {
        let links = std::sync::Arc::new(links);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let links = std::sync::Arc::clone(&links);
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some((line, body)) = read_request(&mut reader) {
                        let of_host = crate::hostile_hosts::reply(&line, &body);
                        let Reply { status, headers, body } = of_host.unwrap_or_else(|| reply(&line, &links));
                        let head = format!(
                            "HTTP/1.1 {status}\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                            body.len()
                        );
                        let written = reader.get_mut().write_all(head.as_bytes());
                        if written.and_then(|()| reader.get_mut().write_all(body.as_bytes())).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url }
    }
}

fn read_request(reader: &mut BufReader<std::net::TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    let mut length = 0;
    for n in 0.. {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if n == 0 {
            first.clone_from(&line);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// A response of the service, or of one of the code hosts.
pub(crate) struct Reply {
    /// Status code and reason phrase.
    status: String,
    headers: String,
    body: String,
}

impl Reply {
    pub(crate) fn new(status: u16, body: String) -> Self {
        Self { status: format!("{status} X"), headers: String::new(), body }
    }
}

/// Returns the reply to a request line. In a path `/job/N`, the number N selects the attack text in the job. With a
/// letter before N, the reply is an error or a job with a link.
fn reply(line: &str, links: &[String]) -> Reply {
    let attacks = attacks();
    let path = line.split(' ').nth(1).unwrap_or_default();
    if let Some((before, _)) = path.split_once("/views") {
        // The pages contain all attack texts, or only attack text N if the project is called `vN`.
        let only = before.rsplit('/').next().and_then(|project| project.strip_prefix('v')?.parse::<usize>().ok());
        let texts = attacks.iter().enumerate().filter(|(n, _)| only.is_none_or(|only| only == *n));
        let pages = texts.map(|(_, (_, text))| {
            serde_json::json!({ "path": format!("/{text}"), "human": 3, "ai": format!("{text}"), "total": 3 })
        });
        let body = serde_json::json!({
            "totals": { "human": 9, "ai": 9, "total": 18 }, "views": pages.collect::<Vec<_>>(), "hasMore": false
        });
        return Reply::new(200, body.to_string());
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let kind = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let n: Option<usize> = last[kind.len()..].parse().ok();
    if let Some(link) = n.filter(|_| kind == "l").and_then(|n| links.get(n)) {
        return Reply::new(200, serde_json::json!({ "id": last, "status": "completed", "prLink": link }).to_string());
    }
    match (kind, n.and_then(|n| attacks.get(n))) {
        ("", Some((_, text))) => {
            let link = format!("https://g\u{456}thub.com/{text}");
            let body = serde_json::json!({
                "id": last, "status": text, "source": { "repository": text, "ref": text },
                "model": text, "prLink": link, "createdAt": text, "archivedAt": null,
            });
            Reply::new(200, body.to_string())
        }
        (kind, Some((_, text))) => error_reply(kind, text),
        // An error whose message contains all short attack texts.
        (_, None) => {
            let all: Vec<&str> = attacks.iter().take(23).map(|(_, text)| text.as_str()).collect();
            let details = all.iter().map(|text| serde_json::json!({ "message": text })).collect::<Vec<_>>();
            Reply::new(400, serde_json::json!({ "error": all.concat(), "details": details }).to_string())
        }
    }
}

/// An error with this text: in JSON, in HTML, as plain text, as a redirect target, or as the reason phrase.
fn error_reply(kind: &str, text: &str) -> Reply {
    // The part of the text that a header line can contain.
    let line: String = text.chars().filter(|c| !matches!(c, '\r' | '\n' | '\0')).take(2000).collect();
    match kind {
        "e" => {
            let body = serde_json::json!({ "error": text, "details": [{ "message": text }, text] });
            Reply::new(400, body.to_string())
        }
        "h" => Reply::new(502, format!("<html><head><title>{text}</title></head><body>{text}</body></html>")),
        "r" => Reply { headers: format!("location: https://x.example/{line}\r\n"), ..Reply::new(302, String::new()) },
        "s" => Reply { status: format!("500 {line}"), headers: format!("x: {line}\r\n"), body: text.to_owned() },
        _ => Reply::new(500, text.to_owned()),
    }
}

/// Writes a configuration for the service at `url` with all short attack texts in its names, filter and command;
/// returns its path.
fn write_config(home: &Path, url: &str) -> PathBuf {
    use std::os::unix::fs::OpenOptionsExt as _;
    let words: String = attacks().iter().take(23).map(|(_, text)| text.as_str()).collect();
    let quoted = serde_json::to_string(&words).expect("JSON").replace("\\b", "\\u0008").replace('\u{7f}', "\\u007f");
    let config = format!(
        "default_profile = {quoted}\n[profiles.{quoted}]\nbase_url = \"{url}\"\nproject_id = \"p\"\napi_key = \"mint_k\"\n\
         [[filters]]\nname = {quoted}\nfilter = {quoted}\n[[commands]]\nkey = \"F5\"\nname = {quoted}\nrun = [\"true\"]\n"
    );
    let path = home.join("config.toml");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path).expect("a file");
    file.write_all(config.as_bytes()).expect("written");
    path
}

/// Writes a configuration and tracks one job for each attack text; returns the path of the configuration.
fn write_config_and_track(home: &Path, service: &HostileService) -> PathBuf {
    let config = write_config(home, &service.url);
    let ids: Vec<String> = (0..attacks().len()).map(|n| n.to_string()).collect();
    let words: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (code, out, err) = run_without_terminal(home, &[&["track"], words.as_slice()].concat(), "");
    assert_eq!(code, 0, "{out}{err}");
    config
}

/// Runs the program without a terminal; returns its exit code, stdout and stderr.
fn run_without_terminal(home: &Path, words: &[&str], stdin: &str) -> (i32, String, String) {
    run_with_variables(home, words, stdin, &[])
}

/// Runs the program without a terminal and with these environment variables; returns its exit code, stdout and stderr.
pub(crate) fn run_with_variables(
    home: &Path,
    words: &[&str],
    stdin: &str,
    variables: &[(&str, &str)],
) -> (i32, String, String) {
    let mut command = assert_cmd::Command::new(crate::support::pty::program());
    let data = home.join("data");
    command.env_clear().envs(crate::support::pty::environment(home)).env("DOCDECK_DATA_DIR", data).current_dir(home);
    command.env("DOCDECK_CONFIG", home.join("config.toml")).envs(variables.iter().copied());
    let output =
        command.args(words).write_stdin(stdin).timeout(std::time::Duration::from_secs(60)).output().expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Commands that print stored data or responses of the service.
const COMMANDS: &[&[&str]] = &[
    &["jobs"],
    &["jobs", "--json"],
    &["jobs", "--color", "always"],
    &["jobs", "--ascii"],
    &["status"],
    &["status", "--json"],
    &["views"],
    &["views", "--format", "csv"],
    &["views", "--format", "md"],
    &["views", "--format", "json"],
    &["views", "--format", "csv", "--all"],
    &["new", "Mend it"],
    &["new", "Mend it", "--json"],
    &["export"],
    &["doctor"],
    &["doctor", "--json"],
    &["track", "no such job"],
];

#[test]
fn no_piped_command_prints_a_control_character() {
    let home = tempfile::tempdir().expect("a folder");
    let service = HostileService::start();
    write_config_and_track(home.path(), &service);
    let shows: Vec<Vec<String>> = (0..attacks().len())
        .flat_map(|n| {
            [vec!["show".to_owned(), n.to_string()], vec!["show".to_owned(), n.to_string(), "--json".to_owned()]]
        })
        .collect();
    let shows: Vec<Vec<&str>> = shows.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    for words in COMMANDS.iter().map(|words| words.to_vec()).chain(shows) {
        let (code, out, err) = run_without_terminal(home.path(), &words, "");
        assert!(code != 101 && !out.is_empty() | !err.is_empty(), "{words:?} {code}");
        let out = if words.contains(&"always") { without_theme_colours(&out) } else { out };
        let assert_out = if words.contains(&"--json") || words.contains(&"json") || words == ["export"] {
            assert_plain
        } else {
            assert_readable
        };
        assert_out(&format!("stdout of {words:?}"), &out);
        assert_readable(&format!("stderr of {words:?}"), &err);
        assert!(!out.contains("g\u{456}thub") || words.contains(&"--json") || words == ["export"], "{words:?}: {out}");
    }
    let (_, shown, _) = run_without_terminal(home.path(), &["show", "0"], "");
    assert!(shown.contains("https://xn--gthub-n2e.com/"), "{shown}");
}

/// Returns the text without the theme's escape sequences.
fn without_theme_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn no_command_lets_text_control_the_terminal() {
    let home = tempfile::tempdir().expect("a folder");
    let service = HostileService::start();
    write_config_and_track(home.path(), &service);
    let words =
        [&["jobs"][..], &["show", "0"], &["show", "7", "--json"], &["jobs", "--json"], &["views"], &["new", "Mend it"]];
    for words in words {
        let data = home.path().join("data").display().to_string();
        let config = home.path().join("config.toml").display().to_string();
        let mut pty = Pty::spawn(Setup::command(words).with("DOCDECK_DATA_DIR", &data).with("DOCDECK_CONFIG", &config));
        pty.wait_for_end();
        assert_no_foreign_sequences(&format!("{words:?}"), &pty.sent());
        assert!(words.contains(&"--json") || !pty.sent().contains("pwned"), "{words:?}");
    }
}

#[test]
fn no_screen_title_link_or_log_of_the_dashboard_contains_a_control_character() {
    let home = tempfile::tempdir().expect("a folder");
    let service = HostileService::start();
    write_config_and_track(home.path(), &service);
    let data = home.path().join("data").display().to_string();
    let config = home.path().join("config.toml").display().to_string();
    let setup = Setup::dashboard().with("DOCDECK_DATA_DIR", &data).with("DOCDECK_CONFIG", &config);
    let mut pty = Pty::spawn_at(160, 48, setup);
    pty.wait_for_text("xn--gthub");
    // Shows each job with its details, then the other screens and the dialogs. Then pastes a prompt, sends it and
    // quits.
    for _ in 0..attacks().len() {
        pty.send("j");
        pty.wait_for_quiet();
    }
    for keys in ["2", "3", "1", "?", "\x1b", ":", "\x1b", "P", "\x1b", "A", "\x1b", "/", "\x1b"] {
        pty.send(keys);
        pty.wait_for_quiet();
    }
    assert!(!pty.sent().contains("pwned"));
    // Pasted attack texts must not control the terminal either.
    let words: String = attacks().iter().take(23).map(|(_, text)| text.as_str()).collect();
    pty.send(&format!("n\x1b[200~{words}\x1b[201~"));
    pty.wait_for_quiet();
    pty.send("\x13");
    pty.wait_for_quiet();
    pty.send("\x1b");
    pty.press_until("?", "Help: ");
    pty.quit();
    assert_no_foreign_sequences("the dashboard", &pty.sent());
    assert_readable("the screen", &pty.screen().contents());
    let log = std::fs::read_to_string(home.path().join("data/docdeck.log")).expect("a log");
    assert_readable("the log", &log);
    assert!(log.contains("views"), "{log}");
}

/// Runs a sample, and all attacks with `DOCDECK_SLOW_TESTS`.
#[test]
fn import_batch_files_themes_and_templates_print_only_text() {
    let home = tempfile::tempdir().expect("a folder");
    write_config(home.path(), "http://127.0.0.1:9");
    for (name, text) in sample(attacks(), 9) {
        let header = serde_json::json!({ "kind": "docdeck", "version": 1, "program": text });
        let job = serde_json::json!({
            "kind": "job", "baseUrl": "http://127.0.0.1:9", "project": "p", "id": format!("i{text}"), "status": text,
            "source": { "repository": text, "ref": text }, "model": text, "prLink": text, "title": text, "note": text,
            "tags": [text], "pages": [text], "prompt": text, "createdAt": "2026-01-01T00:00:00Z",
            "prompts": [{ "kind": "create", "text": format!("go {text}"), "delivery": "accepted", "reason": text,
                          "author": text }],
        });
        let odd = serde_json::json!({ "kind": text, "baseUrl": text });
        for lines in [vec![&header, &job], vec![&header, &odd]] {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let (_, out, err) = run_without_terminal(home.path(), &["import", "-"], &(lines.join("\n") + "\n"));
            assert_plain(&format!("import, {name}"), &(out + &err));
        }
        std::fs::write(home.path().join("prompts.jsonl"), format!("{{\"prompt\": {}, \"x\": 1}}\n", job["title"]))
            .expect("written");
        let (_, out, err) = run_without_terminal(home.path(), &["new", "--batch", "prompts.jsonl", "--dry-run"], "");
        assert_plain(&format!("prompts, {name}"), &(out + &err));
        if text.contains('\0') || text.len() > 1000 {
            continue;
        }
        // Error messages contain the names of files and profiles.
        let (_, out, err) = run_without_terminal(home.path(), &["new", "--file", &text], "");
        assert_plain(&format!("a file's name, {name}"), &(out + &err));
        let (_, out, err) = run_without_terminal(home.path(), &["jobs", "--profile", &text], "");
        assert_plain(&format!("a profile's name, {name}"), &(out + &err));
        std::fs::write(home.path().join("odd.toml"), format!("[ui]\ntheme = {}\n{text} = 1\n", job["title"]))
            .expect("written");
        let (_, out, err) = run_without_terminal(home.path(), &["jobs", "--config", "odd.toml"], "");
        assert_plain(&format!("a configuration, {name}"), &(out + &err));
    }
    for words in [&["jobs"][..], &["jobs", "--json"], &["export"]] {
        let (_, out, err) = run_without_terminal(home.path(), words, "");
        assert_plain(&format!("{words:?} of what was imported"), &(out + &err));
    }
}
