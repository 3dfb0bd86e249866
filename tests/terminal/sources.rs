//! Puts every attack text into every source of text from outside; all output about it must be plain text. `cargo test
//! --test terminal sources -- --nocapture` prints how many outputs of each source were checked.

use crate::hostile::{
    HostileService, assert_no_foreign_sequences, assert_plain, assert_readable, attacks, run_with_variables,
};
use crate::support::pty::{Pty, Setup};
use crate::support::slow::sample;
use docdeck::config::customization::NotifyMethod;
use docdeck::model::text::{CleanText, is_hidden};
use docdeck::runtime::notify;
use docdeck::terminal::multiplexer::Multiplexer;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A home folder, and the URL of a hostile service that responds to the commands.
struct SourceFixture {
    home: tempfile::TempDir,
    url: String,
}

impl SourceFixture {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a folder"), url: HostileService::start().url }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// Writes a valid profile followed by these lines.
    fn write_profile_and(&self, more: &str) {
        let good = format!("[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\napi_key = \"mint_k\"\n", self.url);
        self.write_config(&(good + more));
    }

    fn write_config(&self, text: &str) {
        let path = self.path().join("config.toml");
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(path).expect("a file");
        std::io::Write::write_all(&mut { file }, text.as_bytes()).expect("written");
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    /// Runs a command and returns its stdout and stderr.
    fn output(&self, words: &[&str]) -> String {
        self.output_with(words, &[])
    }

    fn output_with(&self, words: &[&str], variables: &[(&str, &str)]) -> String {
        let (code, out, err) = run_with_variables(self.path(), words, "", variables);
        assert_ne!(code, 101, "{words:?}: {err}");
        out + &err
    }
}

/// A function that puts the attack text into one source and returns docdeck's outputs about it.
type Source = fn(&SourceFixture, &Attack<'_>) -> Vec<String>;

/// An attack text, and the number that selects it at the hostile service.
struct Attack<'a> {
    n: usize,
    text: &'a str,
}

impl Attack<'_> {
    /// The text as a TOML string.
    fn quoted(&self) -> String {
        let text = serde_json::to_string(self.text).expect("JSON");
        text.replace("\\b", "\\u0008").replace("\\f", "\\u000c").replace('\u{7f}', "\\u007f")
    }

    /// The text without NUL and cut to 150 characters, for arguments and variables.
    fn short(&self) -> String {
        self.text.chars().filter(|c| *c != '\0').take(150).collect()
    }

    /// The text as a file name.
    fn file_name(&self) -> String {
        self.short().replace('/', "-").chars().take(60).collect()
    }
}

/// Sources whose text a command prints.
const SOURCES: &[(&str, Source)] = &[
    ("profile name", |fixture, attack| {
        fixture.write_profile_and(&format!("[profiles.{}]\nproject_id = \"q\"\n", attack.quoted()));
        let odd = fixture.output(&["jobs", "--profile", "none"]);
        vec![
            odd,
            fixture.output(&["jobs"]),
            fixture.output(&["doctor", "--offline"]),
            fixture.output(&["jobs", "--profile", &attack.short()]),
        ]
    }),
    ("values of a profile", |fixture, attack| {
        let quoted = attack.quoted();
        let fields = ["base_url", "project_id", "organization", "ca_file", "api_key_file"];
        let printed = fields.map(|field| {
            fixture.write_config(
                &format!("[profiles.a]\nproject_id = \"p\"\n{field} = {quoted}\n")
                    .replace(if field == "project_id" { "project_id = \"p\"\n" } else { "\0" }, ""),
            );
            [fixture.output(&["doctor", "--offline"]), fixture.output(&["views", "--last", "7d"])].concat()
        });
        printed.to_vec()
    }),
    ("theme's name", |fixture, attack| {
        fixture.write_profile_and(&format!("[ui]\ntheme = {}\n", attack.quoted()));
        vec![fixture.output(&["jobs"])]
    }),
    ("theme's file name", |fixture, attack| {
        fixture.write(&format!("themes/{}.toml", attack.file_name()), "[dark]\n");
        fixture.write_profile_and("[ui]\ntheme = \"none\"\n");
        vec![fixture.output(&["jobs"])]
    }),
    ("theme's content", |fixture, attack| {
        fixture.write_profile_and("[ui]\ntheme = \"mine\"\n");
        let texts = [
            format!("[dark]\n{} = \"red\"\n", attack.quoted()),
            format!("[dark]\nbad = {}\n", attack.quoted()),
            format!("[dark]\nmade_for = [{}]\n", attack.quoted()),
            format!("[dark]\nbad = {} {{\n", attack.text),
        ];
        texts
            .map(|text| {
                fixture.write("themes/mine.toml", &text);
                fixture.output(&["jobs"])
            })
            .to_vec()
    }),
    ("own command", |fixture, attack| {
        let (quoted, good) = (attack.quoted(), "key = \"F5\"\nname = \"n\"\nrun = [\"true\"]\n");
        let entries = [
            format!("key = {quoted}\nname = {quoted}\nrun = [\"true\"]\n"),
            format!("key = \"q\"\nname = {quoted}\nrun = [\"true\"]\n"),
            format!("key = \"F6\"\nname = {quoted}\nrun = [{quoted}, \"{{nonsense}}\"]\n"),
            format!("{good}{quoted} = 1\n"),
        ];
        entries
            .map(|entry| {
                fixture.write_profile_and(&format!("[[commands]]\n{entry}"));
                fixture.output(&["doctor", "--offline"])
            })
            .to_vec()
    }),
    ("filter", |fixture, attack| {
        let quoted = attack.quoted();
        let filter = format!("[[filters]]\nname = {quoted}\nfilter = \"x\"\n");
        fixture.write_profile_and(&format!("{filter}{filter}"));
        vec![fixture.output(&["doctor", "--offline"])]
    }),
    ("custom keys", |fixture, attack| {
        let quoted = attack.quoted();
        let tables = [
            format!("[keys.{quoted}]\nx = \"x\"\n"),
            format!("[keys.jobs]\n{quoted} = \"x\"\n"),
            format!("[keys.jobs]\nnew-job = {quoted}\n"),
        ];
        tables
            .map(|table| {
                fixture.write_profile_and(&table);
                fixture.output(&["doctor", "--offline"])
            })
            .to_vec()
    }),
    ("words of a configuration", |fixture, attack| {
        let tables = [
            format!("{} = 1\n", attack.quoted()),
            format!("{}\n", attack.text),
            format!("[ui]\ncolor = {}\n", attack.quoted()),
        ];
        tables
            .map(|table| {
                fixture.write_profile_and(&table);
                fixture.output(&["jobs"])
            })
            .to_vec()
    }),
    ("key command's words", |fixture, attack| {
        fixture.write("said", attack.text);
        let quoted = attack.quoted().replace("\\u0000", "");
        let commands = [
            "[\"sh\", \"-c\", \"cat said >&2; exit 3\"]".to_owned(),
            "[\"sh\", \"-c\", \"cat said\"]".to_owned(),
            format!("[{quoted}, \"x\"]"),
        ];
        commands
            .map(|command| {
                fixture.write_config(&format!(
                    "[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\napi_key_command = {command}\n",
                    fixture.url
                ));
                fixture.output(&["track", "e0"])
            })
            .to_vec()
    }),
    ("environment", |fixture, attack| {
        fixture.write_profile_and("");
        let value = attack.short();
        let names = [
            "DOCDECK_BASE_URL",
            "DOCDECK_PROJECT_ID",
            "DOCDECK_PROFILE",
            "DOCDECK_API_KEY",
            "TERM",
            "COLORTERM",
            "LANG",
            "EDITOR",
            "BROWSER",
        ];
        names.map(|name| fixture.output_with(&["doctor", "--offline"], &[(name, &value)])).to_vec()
    }),
    ("paths in the environment", |fixture, attack| {
        fixture.write_profile_and("");
        let value = fixture.path().join(attack.file_name()).join("x").display().to_string();
        let names = ["DOCDECK_CONFIG", "DOCDECK_DATA_DIR"];
        names
            .map(|name| {
                fixture.output_with(&["doctor", "--offline"], &[(name, &value)])
                    + &fixture.output_with(&["jobs"], &[(name, &value)])
            })
            .to_vec()
    }),
    ("arguments", |fixture, attack| {
        fixture.write_profile_and("");
        let text = attack.short();
        let option = format!("--{text}");
        let all: [&[&str]; 12] = [
            &[&text],
            &[&option],
            &["show", &text],
            &["wait", &text, "--timeout", "1"],
            &["jobs", "--status", &text],
            &["views", "--from", &text, "--to", "2026-01-01"],
            &["views", "--last", &text],
            &["completions", &text],
            &["new", "--file", &text],
            &["new", "--batch", &text],
            &["import", &text],
            &["jobs", "--profile", &text],
        ];
        all.map(|words| fixture.output(words)).to_vec()
    }),
    ("file of prompts", |fixture, attack| {
        fixture.write_profile_and("");
        let texts = [
            ("p.jsonl", format!("{{{}\n", attack.text)),
            ("p.csv", format!("{}\n1,2\n", attack.text)),
            ("p.txt", attack.text.to_owned()),
        ];
        texts
            .map(|(name, text)| {
                fixture.write(name, &text);
                fixture.output(&["new", "--batch", name, "--dry-run"])
            })
            .to_vec()
    }),
    ("service's error", |fixture, attack| {
        fixture.write_profile_and("");
        // JSON, HTML, plain text, a redirect target, a reason phrase.
        ["e", "h", "t", "r", "s"].map(|kind| fixture.output(&["track", &format!("{kind}{}", attack.n)])).to_vec()
    }),
    ("service's page views", |fixture, attack| {
        fixture.write_profile_and(&format!(
            "[profiles.v]\nbase_url = \"{}\"\nproject_id = \"v{}\"\napi_key = \"mint_k\"\n",
            fixture.url, attack.n
        ));
        let formats = ["table", "csv", "md"];
        formats.map(|format| fixture.output(&["views", "--profile", "v", "--format", format])).to_vec()
    }),
    ("name of a team member", |fixture, attack| {
        fixture.write_profile_and(&format!("[team]\nname = {}\nurl_file = \"missing\"\n", attack.quoted()));
        let header = serde_json::json!({ "kind": "docdeck", "version": 1, "program": "docdeck" });
        let job = serde_json::json!({
            "kind": "job", "baseUrl": fixture.url, "project": "p", "id": format!("t{}", attack.n), "status": "active",
            "createdAt": "2026-01-01T00:00:00Z",
            "prompts": [{ "kind": "create", "text": "go", "delivery": "accepted", "author": attack.text }],
        });
        fixture.write("backup.jsonl", &format!("{header}\n{job}\n"));
        let (id, short) = (format!("t{}", attack.n), attack.short());
        let all: [&[&str]; 7] = [
            &["import", "backup.jsonl"],
            &["show", &id],
            &["show", &id, "--json"],
            &["jobs"],
            &["jobs", "--json"],
            &["jobs", "--by", &short],
            &["team", "status"],
        ];
        all.map(|words| fixture.output(words)).to_vec()
    }),
    ("service's job", |fixture, attack| {
        fixture.write_profile_and("");
        let id = attack.n.to_string();
        vec![fixture.output(&["track", &id]), fixture.output(&["show", &id]), fixture.output(&["jobs"])]
    }),
];

/// Runs a sample, and all attacks with `DOCDECK_SLOW_TESTS`.
#[test]
fn every_source_of_text_prints_only_text_whatever_it_contains() {
    let attacks = attacks();
    let sampled = sample(attacks.iter().enumerate(), 9);
    // Each source runs on a separate thread.
    let rows: Vec<(&str, usize)> = std::thread::scope(|scope| {
        let sampled = &sampled;
        let run = |(name, source): &'static (&'static str, Source)| {
            let fixture = SourceFixture::new();
            let mut printed = 0;
            for (n, (attack, text)) in sampled.iter() {
                for text in source(&fixture, &Attack { n: *n, text }) {
                    assert_readable(&format!("{name} × {attack}"), &text);
                    printed += 1;
                }
            }
            let log = std::fs::read_to_string(fixture.path().join("data/docdeck.log")).unwrap_or_default();
            assert_readable(&format!("the log, {name}"), &log);
            (*name, printed)
        };
        let threads: Vec<_> = SOURCES.iter().map(|source| scope.spawn(move || run(source))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no check of the source fails")).collect()
    });
    println!("{:<28}{:>8}{:>12}", "source", "attacks", "outputs");
    for (name, printed) in &rows {
        println!("{name:<28}{:>8}{printed:>12}", sampled.len());
    }
    let outputs: usize = rows.iter().map(|(_, printed)| printed).sum();
    println!("{} attacks, {outputs} outputs", rows.len() * sampled.len());
    assert!(rows.iter().all(|(_, printed)| *printed >= sampled.len()), "every attack on every source has an output");
}

/// A file name doesn't have to be valid UTF-8.
#[test]
fn a_file_name_that_is_not_utf_8_is_printed_as_text() {
    let fixture = SourceFixture::new();
    fixture.write_profile_and("");
    let name = OsString::from_vec(b"a\xff\x1b[2Jb".to_vec());
    std::fs::create_dir_all(fixture.path().join("themes")).expect("made");
    std::fs::write(fixture.path().join("themes").join(&name), "").expect("written");
    for command in ["import", "jobs"] {
        let mut run = assert_cmd::Command::new(crate::support::pty::program());
        run.env_clear().envs(crate::support::pty::environment(fixture.path())).current_dir(fixture.path());
        let flag = if command == "jobs" { vec![OsString::from("--config"), name.clone()] } else { vec![name.clone()] };
        let output = run.arg(command).args(flag).output().expect("it ran");
        assert_plain(command, &String::from_utf8(output.stderr).expect("UTF-8"));
    }
}

#[test]
fn a_link_is_shown_with_the_host_that_a_browser_opens() {
    let fixture = SourceFixture::new();
    fixture.write_profile_and("");
    let links = [
        ("https://g\u{456}thub.com/a", "https://xn--gthub-n2e.com/a"),
        ("https://github.com\u{ff0e}evil.example/", "https://github.com.evil.example/"),
        ("https://evil.example\\@github.com/", "https://evil.example/@github.com/"),
        ("https://0x7f.1/", "https://127.0.0.1/"),
        // A text that hides its host is not treated as a link, and is shown unchanged.
        ("https://github.com@evil.example/", "https://github.com@evil.example/"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ];
    let url = HostileService::with_links(links.iter().map(|(link, _)| (*link).to_owned()).collect()).url;
    fixture.write_config(&format!("[profiles.a]\nbase_url = \"{url}\"\nproject_id = \"p\"\napi_key = \"mint_k\"\n"));
    for (n, (link, shown)) in links.iter().enumerate() {
        fixture.output(&["track", &format!("l{n}")]);
        let printed = fixture.output(&["show", &format!("l{n}")]);
        assert!(printed.contains(shown), "{link}: {printed}");
        assert!(shown == link || !printed.contains(link), "{link}: {printed}");
    }
}

#[test]
fn a_notification_is_one_sequence_whatever_its_text() {
    for (name, text) in attacks() {
        for (how, begin) in [(NotifyMethod::Osc9, "\x1b]9;"), (NotifyMethod::Osc777, "\x1b]777;notify;docdeck;")] {
            let sent = notify::notification_sequence(how, &CleanText::line(&text), Multiplexer::None);
            let sent = String::from_utf8(sent).expect("UTF-8");
            let printed = sent.strip_prefix(begin).and_then(|rest| rest.strip_suffix('\x07')).expect("one sequence");
            assert!(!printed.contains(|c| is_hidden(c) || c == ';'), "{name}: {printed:?}");
        }
    }
}

/// Shows custom templates (name and text), filters and commands on the screens that list them.
#[test]
fn custom_templates_filters_and_commands_stay_text_on_the_screen() {
    let fixture = SourceFixture::new();
    let words: String = attacks().iter().take(23).map(|(_, text)| text.as_str()).collect();
    let all = Attack { n: 0, text: &words };
    fixture.write_profile_and(&format!(
        "[[filters]]\nname = {quoted}\nfilter = {quoted}\n[[commands]]\nkey = \"F5\"\nname = {quoted}\nrun = [\"true\"]\n\
         [notify]\nhow = \"osc9\"\n",
        quoted = all.quoted()
    ));
    for (n, (_, text)) in attacks().iter().take(23).enumerate() {
        let attack = Attack { n, text };
        fixture.write(&format!("templates/{n}{}.md", attack.file_name()), &format!("template {n} {text}\n{text}"));
    }
    let at = |name: &str| fixture.path().join(name).display().to_string();
    let setup = Setup::dashboard().with("DOCDECK_DATA_DIR", &at("data")).with("DOCDECK_CONFIG", &at("config.toml"));
    let mut pty = Pty::spawn_at(160, 48, setup);
    pty.wait_for_text("No jobs yet");
    for keys in ["n", "\x14", "\x1b[B", "\x1b[B", "\r", "\x1b", "]", "[", ":", "\x1b", "?", "\x1b", "q"] {
        pty.send(keys);
        pty.wait_for_quiet();
    }
    assert_no_foreign_sequences("templates, filters and commands", &pty.sent());
    assert!(!pty.sent().contains("pwned"));
}
