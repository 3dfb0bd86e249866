//! Every source of text from outside against every attack, one cell each: what is said of it is text. The table of what was
//! tried is printed (`cargo test --test terminal sources -- --nocapture`).

use crate::hostile::{HostileService, assert_plain, assert_readable, assert_tame, attacks, piped_with};
use crate::pty::{Pty, Setup};
use docdeck::config::customization::How;
use docdeck::model::text::{CleanText, is_hidden};
use docdeck::runtime::multiplexer::Multiplexer;
use docdeck::runtime::notify;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A folder of one user, with the service that answers them.
struct Bench {
    home: tempfile::TempDir,
    url: String,
}

impl Bench {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a folder"), url: HostileService::start().url }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// A good profile, then these lines.
    fn config(&self, more: &str) {
        let good = format!("[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\napi_key = \"mint_k\"\n", self.url);
        self.whole_config(&(good + more));
    }

    fn whole_config(&self, text: &str) {
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

    /// All that a command says.
    fn says(&self, words: &[&str]) -> String {
        self.says_with(words, &[])
    }

    fn says_with(&self, words: &[&str], variables: &[(&str, &str)]) -> String {
        let (code, out, err) = piped_with(self.path(), words, "", variables);
        assert_ne!(code, 101, "{words:?}: {err}");
        out + &err
    }
}

/// How one source is given a text; what docdeck then says.
type Source = fn(&Bench, &Attack<'_>) -> Vec<String>;

/// A text, and its number at the hostile service.
struct Attack<'a> {
    n: usize,
    text: &'a str,
}

impl Attack<'_> {
    /// As a string of TOML.
    fn quoted(&self) -> String {
        let text = serde_json::to_string(self.text).expect("JSON");
        text.replace("\\b", "\\u0008").replace("\\f", "\\u000c").replace('\u{7f}', "\\u007f")
    }

    /// As an argument, a variable or a file's name can hold it.
    fn short(&self) -> String {
        self.text.chars().filter(|c| *c != '\0').take(150).collect()
    }

    /// As the name of a file.
    fn name(&self) -> String {
        self.short().replace('/', "-").chars().take(60).collect()
    }
}

/// Sources whose text is said by a command.
const SOURCES: &[(&str, Source)] = &[
    ("profile name", |bench, attack| {
        bench.config(&format!("[profiles.{}]\nproject_id = \"q\"\n", attack.quoted()));
        let odd = bench.says(&["jobs", "--profile", "none"]);
        vec![
            odd,
            bench.says(&["jobs"]),
            bench.says(&["doctor", "--offline"]),
            bench.says(&["jobs", "--profile", &attack.short()]),
        ]
    }),
    ("values of a profile", |bench, attack| {
        let quoted = attack.quoted();
        let fields = ["base_url", "project_id", "organization", "ca_file", "api_key_file"];
        let said = fields.map(|field| {
            bench.whole_config(
                &format!("[profiles.a]\nproject_id = \"p\"\n{field} = {quoted}\n")
                    .replace(if field == "project_id" { "project_id = \"p\"\n" } else { "\0" }, ""),
            );
            [bench.says(&["doctor", "--offline"]), bench.says(&["views", "--last", "7d"])].concat()
        });
        said.to_vec()
    }),
    ("theme's name", |bench, attack| {
        bench.config(&format!("[ui]\ntheme = {}\n", attack.quoted()));
        vec![bench.says(&["jobs"])]
    }),
    ("theme's file name", |bench, attack| {
        bench.write(&format!("themes/{}.toml", attack.name()), "[dark]\n");
        bench.config("[ui]\ntheme = \"none\"\n");
        vec![bench.says(&["jobs"])]
    }),
    ("theme's content", |bench, attack| {
        bench.config("[ui]\ntheme = \"mine\"\n");
        let texts = [
            format!("[dark]\n{} = \"red\"\n", attack.quoted()),
            format!("[dark]\nbad = {}\n", attack.quoted()),
            format!("[dark]\nmade_for = [{}]\n", attack.quoted()),
            format!("[dark]\nbad = {} {{\n", attack.text),
        ];
        texts
            .map(|text| {
                bench.write("themes/mine.toml", &text);
                bench.says(&["jobs"])
            })
            .to_vec()
    }),
    ("own command", |bench, attack| {
        let (quoted, good) = (attack.quoted(), "key = \"F5\"\nname = \"n\"\nrun = [\"true\"]\n");
        let entries = [
            format!("key = {quoted}\nname = {quoted}\nrun = [\"true\"]\n"),
            format!("key = \"q\"\nname = {quoted}\nrun = [\"true\"]\n"),
            format!("key = \"F6\"\nname = {quoted}\nrun = [{quoted}, \"{{nonsense}}\"]\n"),
            format!("{good}{quoted} = 1\n"),
        ];
        entries
            .map(|entry| {
                bench.config(&format!("[[commands]]\n{entry}"));
                bench.says(&["doctor", "--offline"])
            })
            .to_vec()
    }),
    ("filter", |bench, attack| {
        let quoted = attack.quoted();
        let filter = format!("[[filters]]\nname = {quoted}\nfilter = \"x\"\n");
        bench.config(&format!("{filter}{filter}"));
        vec![bench.says(&["doctor", "--offline"])]
    }),
    ("keys of one's own", |bench, attack| {
        let quoted = attack.quoted();
        let tables = [
            format!("[keys.{quoted}]\nx = \"x\"\n"),
            format!("[keys.jobs]\n{quoted} = \"x\"\n"),
            format!("[keys.jobs]\nnew-job = {quoted}\n"),
        ];
        tables
            .map(|table| {
                bench.config(&table);
                bench.says(&["doctor", "--offline"])
            })
            .to_vec()
    }),
    ("words of a configuration", |bench, attack| {
        let tables = [
            format!("{} = 1\n", attack.quoted()),
            format!("{}\n", attack.text),
            format!("[ui]\ncolor = {}\n", attack.quoted()),
        ];
        tables
            .map(|table| {
                bench.config(&table);
                bench.says(&["jobs"])
            })
            .to_vec()
    }),
    ("key command's words", |bench, attack| {
        bench.write("said", attack.text);
        let quoted = attack.quoted().replace("\\u0000", "");
        let commands = [
            "[\"sh\", \"-c\", \"cat said >&2; exit 3\"]".to_owned(),
            "[\"sh\", \"-c\", \"cat said\"]".to_owned(),
            format!("[{quoted}, \"x\"]"),
        ];
        commands
            .map(|command| {
                bench.whole_config(&format!(
                    "[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\napi_key_command = {command}\n",
                    bench.url
                ));
                bench.says(&["track", "e0"])
            })
            .to_vec()
    }),
    ("environment", |bench, attack| {
        bench.config("");
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
        names.map(|name| bench.says_with(&["doctor", "--offline"], &[(name, &value)])).to_vec()
    }),
    ("paths in the environment", |bench, attack| {
        bench.config("");
        let value = bench.path().join(attack.name()).join("x").display().to_string();
        let names = ["DOCDECK_CONFIG", "DOCDECK_DATA_DIR"];
        names
            .map(|name| {
                bench.says_with(&["doctor", "--offline"], &[(name, &value)])
                    + &bench.says_with(&["jobs"], &[(name, &value)])
            })
            .to_vec()
    }),
    ("arguments", |bench, attack| {
        bench.config("");
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
        all.map(|words| bench.says(words)).to_vec()
    }),
    ("file of prompts", |bench, attack| {
        bench.config("");
        let texts = [
            ("p.jsonl", format!("{{{}\n", attack.text)),
            ("p.csv", format!("{}\n1,2\n", attack.text)),
            ("p.txt", attack.text.to_owned()),
        ];
        texts
            .map(|(name, text)| {
                bench.write(name, &text);
                bench.says(&["new", "--batch", name, "--dry-run"])
            })
            .to_vec()
    }),
    ("service's error", |bench, attack| {
        bench.config("");
        // JSON, a page, a bare text, a place to go to, a status' own words.
        ["e", "h", "t", "r", "s"].map(|kind| bench.says(&["track", &format!("{kind}{}", attack.n)])).to_vec()
    }),
    ("service's page views", |bench, attack| {
        bench.config(&format!(
            "[profiles.v]\nbase_url = \"{}\"\nproject_id = \"v{}\"\napi_key = \"mint_k\"\n",
            bench.url, attack.n
        ));
        let formats = ["table", "csv", "md"];
        formats.map(|format| bench.says(&["views", "--profile", "v", "--format", format])).to_vec()
    }),
    ("service's job", |bench, attack| {
        bench.config("");
        let id = attack.n.to_string();
        vec![bench.says(&["track", &id]), bench.says(&["show", &id]), bench.says(&["jobs"])]
    }),
];

#[test]
fn every_source_of_text_gives_nothing_but_text_whatever_stands_in_it() {
    let attacks = attacks();
    // Each source in a thread of its own.
    let rows: Vec<(&str, usize)> = std::thread::scope(|scope| {
        let attacks = &attacks;
        let run = |(name, source): &'static (&'static str, Source)| {
            let bench = Bench::new();
            let mut said = 0;
            for (n, (attack, text)) in attacks.iter().enumerate() {
                for text in source(&bench, &Attack { n, text }) {
                    assert_readable(&format!("{name} × {attack}"), &text);
                    said += 1;
                }
            }
            let log = std::fs::read_to_string(bench.path().join("data/docdeck.log")).unwrap_or_default();
            assert_readable(&format!("the log, {name}"), &log);
            (*name, said)
        };
        let threads: Vec<_> = SOURCES.iter().map(|source| scope.spawn(move || run(source))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the source's cells hold")).collect()
    });
    println!("{:<28}{:>8}{:>12}", "source", "attacks", "texts said");
    for (name, said) in &rows {
        println!("{name:<28}{:>8}{said:>12}", attacks.len());
    }
    println!("{} cells, {} texts", rows.len() * attacks.len(), rows.iter().map(|(_, said)| said).sum::<usize>());
    assert!(rows.iter().all(|(_, said)| *said >= attacks.len()), "every cell said something");
}

/// A file's name need not be text at all.
#[test]
fn a_name_that_is_no_text_is_told_as_text() {
    let bench = Bench::new();
    bench.config("");
    let name = OsString::from_vec(b"a\xff\x1b[2Jb".to_vec());
    std::fs::create_dir_all(bench.path().join("themes")).expect("made");
    std::fs::write(bench.path().join("themes").join(&name), "").expect("written");
    for command in ["import", "jobs"] {
        let mut run = assert_cmd::Command::new(crate::pty::program());
        run.env_clear().envs(crate::pty::environment(bench.path())).current_dir(bench.path());
        let flag = if command == "jobs" { vec![OsString::from("--config"), name.clone()] } else { vec![name.clone()] };
        let output = run.arg(command).args(flag).output().expect("it ran");
        assert_plain(command, &String::from_utf8(output.stderr).expect("UTF-8"));
    }
}

#[test]
fn a_link_is_shown_with_the_host_that_a_browser_goes_to() {
    let bench = Bench::new();
    bench.config("");
    let links = [
        ("https://g\u{456}thub.com/a", "https://xn--gthub-n2e.com/a"),
        ("https://github.com\u{ff0e}evil.example/", "https://github.com.evil.example/"),
        ("https://evil.example\\@github.com/", "https://evil.example/@github.com/"),
        ("https://0x7f.1/", "https://127.0.0.1/"),
        // What hides its host is no link, and is shown as it came.
        ("https://github.com@evil.example/", "https://github.com@evil.example/"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ];
    let url = HostileService::with_links(links.iter().map(|(link, _)| (*link).to_owned()).collect()).url;
    bench.whole_config(&format!("[profiles.a]\nbase_url = \"{url}\"\nproject_id = \"p\"\napi_key = \"mint_k\"\n"));
    for (n, (link, shown)) in links.iter().enumerate() {
        bench.says(&["track", &format!("l{n}")]);
        let said = bench.says(&["show", &format!("l{n}")]);
        assert!(said.contains(shown), "{link}: {said}");
        assert!(shown == link || !said.contains(link), "{link}: {said}");
    }
}

#[test]
fn a_notification_is_one_sequence_of_docdecks_own_whatever_its_text() {
    for (name, text) in attacks() {
        for (how, begin) in [(How::Osc9, "\x1b]9;"), (How::Osc777, "\x1b]777;notify;docdeck;")] {
            let sent = notify::sequence(how, &CleanText::line(&text), Multiplexer::None);
            let sent = String::from_utf8(sent).expect("UTF-8");
            let said = sent.strip_prefix(begin).and_then(|rest| rest.strip_suffix('\x07')).expect("one sequence");
            assert!(!said.contains(|c| is_hidden(c) || c == ';'), "{name}: {said:?}");
        }
    }
}

/// Templates by name and text, filters and commands of one's own, in the places that list them.
#[test]
fn what_users_have_of_their_own_stays_text_on_the_screen() {
    let bench = Bench::new();
    let words: String = attacks().iter().take(23).map(|(_, text)| text.as_str()).collect();
    let all = Attack { n: 0, text: &words };
    bench.config(&format!(
        "[[filters]]\nname = {quoted}\nfilter = {quoted}\n[[commands]]\nkey = \"F5\"\nname = {quoted}\nrun = [\"true\"]\n\
         [notify]\nhow = \"osc9\"\n",
        quoted = all.quoted()
    ));
    for (n, (_, text)) in attacks().iter().take(23).enumerate() {
        let attack = Attack { n, text };
        bench.write(&format!("templates/{n}{}.md", attack.name()), &format!("template {n} {text}\n{text}"));
    }
    let at = |name: &str| bench.path().join(name).display().to_string();
    let setup = Setup::dashboard().with("DOCDECK_DATA_DIR", &at("data")).with("DOCDECK_CONFIG", &at("config.toml"));
    let mut pty = Pty::spawn_at(160, 48, setup);
    pty.wait_for_text("No jobs are known");
    for keys in ["n", "\x14", "\x1b[B", "\x1b[B", "\r", "\x1b", "]", "[", ":", "\x1b", "?", "\x1b", "q"] {
        pty.send(keys);
        pty.wait_for_quiet();
    }
    assert_tame("templates, filters and commands", &pty.sent());
    assert!(!pty.sent().contains("pwned"));
}
