//! Shell integration: `--version`, `completions` with job ids, and `man`.

use crate::support::command::{CommandFixture, CommandResult};
use docdeck::model::change::LocalChange;
use docdeck::model::log::Operation;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use std::path::Path;

fn track(fixture: &CommandFixture, ids: &[&str]) {
    fixture.with_store(async |store, scope| {
        for id in ids {
            let id = JobId::new(id).expect("an id");
            store.track(scope, RemoteJob::new(id, Status::Completed), chrono::Utc::now()).await.expect("kept");
        }
    });
}

/// Asks for completions of the last of `words`, as the script of this shell does. Stdout lists the candidates.
fn run_completion(fixture: &CommandFixture, shell: &str, words: &[&str]) -> CommandResult {
    let index = (words.len() - 1).to_string();
    let variables = [("DOCDECK_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", &index), ("_CLAP_IFS", "\n")];
    fixture.run_with(&[&["--"], words].concat(), &variables, "").expect_exit_code(0)
}

/// Returns a PATH that begins with the folder of the built program, as if docdeck were installed there.
fn path_variable() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_docdeck"));
    format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display())
}

#[test]
fn the_version_identifies_the_build() {
    let fixture = CommandFixture::new(&[]);
    for word in ["--version", "-V"] {
        let ran = fixture.run(&[word]).expect_exit_code(0);
        let rest =
            ran.out.strip_prefix(concat!("docdeck ", env!("CARGO_PKG_VERSION"))).expect("the version").trim_end();
        let inside = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
        if cfg!(debug_assertions) {
            assert_eq!(inside, Some("debug build"));
        } else if let Some(inside) = inside {
            // The text in parentheses ends with the commit's date. Outside a checkout, there are no parentheses.
            let date = inside.rsplit(' ').next().expect("a word");
            assert!(date.parse::<chrono::NaiveDate>().is_ok(), "{inside}");
        }
    }
}

#[test]
fn each_shell_gets_a_script_that_calls_docdeck() {
    let fixture = CommandFixture::new(&[]);
    for (shell, part) in [
        ("bash", "complete -o nospace -o bashdefault -o nosort -F _clap_complete_docdeck docdeck"),
        ("zsh", "#compdef docdeck"),
        ("fish", "complete --keep-order --exclusive --command docdeck"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName docdeck"),
    ] {
        let ran = fixture.run(&["completions", shell]).expect_exit_code(0);
        assert!(ran.out.contains(part) && ran.out.contains("DOCDECK_COMPLETE"), "{ran:?}");
        assert_eq!(ran.out.contains("_clap_dynamic_completer_docdeck \"$@\""), shell == "zsh", "read from a folder");
        // The script contains no path of this computer, so that packages can ship it.
        assert!(!ran.out.contains(env!("CARGO_BIN_EXE_docdeck")), "{ran:?}");
    }
    assert!(
        fixture
            .run(&["completions", "tcsh"])
            .expect_exit_code(2)
            .err
            .contains("[possible values: bash, zsh, fish, powershell]")
    );
    assert!(!fixture.data_folder().exists());
}

#[test]
fn bash_completes_job_ids_without_a_request() {
    let fixture = CommandFixture::new(&[]);
    track(&fixture, &["job-1", "job-2", "other"]);
    let script = r#"
        source <(docdeck completions bash)
        complete -p docdeck > /dev/null || exit 9
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
            _clap_complete_docdeck docdeck "${COMP_WORDS[COMP_CWORD]}" ""
            echo "${COMPREPLY[*]}"
        }
        ask docdeck show job-
        ask docdeck wait job-1 oth
        ask docdeck sho
        ask docdeck completions f
    "#;
    let mut shell = assert_cmd::Command::new("bash");
    let output = shell
        .env_clear()
        .envs(fixture.environment_variables())
        .env("PATH", path_variable())
        .args(["-c", script])
        .output();
    let output = output.expect("it ran");
    let out = String::from_utf8(output.stdout).expect("text");
    let err = String::from_utf8(output.stderr).expect("text");
    assert_eq!((out.as_str(), err.as_str()), ("job-2 job-1\nother\nshow\nfish\n", ""));
    assert_eq!(fixture.sim.requests(Operation::GetJob), 0);
}

#[test]
fn statuses_ranges_commands_and_profiles_are_completed() {
    let fixture = CommandFixture::new(&[]);
    let config = fixture.home.path().join("config.toml");
    let text = "[profiles.docs]\nproject_id = \"p\"\n[profiles.blog]\n[profiles.\"two words\"]\n";
    std::fs::write(&config, text).expect("written");
    let config = config.to_str().expect("a path");
    let offers =
        |words: &[&str]| run_completion(&fixture, "bash", words).out.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(offers(&["docdeck", "--config", config, "jobs", "--profile", ""]), ["blog", "docs"]);
    assert_eq!(offers(&["docdeck", "jobs", "--status", "un"]), ["unconfirmed"]);
    assert_eq!(offers(&["docdeck", "jobs", "--status", "a"]), ["active", "archived"]);
    assert_eq!(offers(&["docdeck", "man", "w"]), ["wait", "watch"]);
    assert_eq!(offers(&["docdeck", "views", "--last", "3"]), ["30d"]);
    assert_eq!(offers(&["docdeck", "views", "--format", "c"]), ["csv"]);
    // `jobs --status` accepts each status that completion offers.
    for status in offers(&["docdeck", "jobs", "--status", ""]) {
        fixture.run(&["jobs", "--status", &status]).expect_exit_code(0);
    }
}

#[test]
fn job_ids_are_completed_with_titles_except_those_of_dismissed_jobs() {
    let fixture = CommandFixture::new(&[]);
    track(&fixture, &["job-1", "job-2"]);
    fixture.with_store(async |store, scope| {
        let rows = store.jobs(scope).await.expect("rows");
        let title = LocalChange::Title(Some(docdeck::model::text::CleanText::line("Fix the links")));
        store.change_jobs(&[rows[0].key], title, chrono::Utc::now()).await.expect("kept");
        store.change_jobs(&[rows[1].key], LocalChange::Dismissed(true), chrono::Utc::now()).await.expect("kept");
    });
    assert_eq!(run_completion(&fixture, "fish", &["docdeck", "show", "j"]).out, "job-1\tcompleted, Fix the links\n");
    assert_eq!(run_completion(&fixture, "zsh", &["docdeck", "show", "j"]).out, "job-1:completed, Fix the links");
}

#[test]
fn an_id_that_a_shell_would_execute_is_not_a_completion() {
    let fixture = CommandFixture::new(&[]);
    track(&fixture, &["$(touch owned)", "a;b", "job-1"]);
    assert_eq!(run_completion(&fixture, "bash", &["docdeck", "show", ""]).out.lines().next(), Some("job-1"));
    assert!(!run_completion(&fixture, "bash", &["docdeck", "show", ""]).out.contains("touch"));
}

#[test]
fn without_jobs_or_settings_completion_prints_nothing_and_creates_nothing() {
    let fixture = CommandFixture::new(&[]);
    assert_eq!(run_completion(&fixture, "bash", &["docdeck", "show", "x"]).out, "");
    let unset = [("DOCDECK_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "2"), ("DOCDECK_PROJECT_ID", "")];
    let ran = fixture.run_with(&["--", "docdeck", "show", "x"], &unset, "").expect_exit_code(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert!(!fixture.data_folder().exists());
    // Completion doesn't change a damaged store; the next other command repairs it.
    std::fs::create_dir(fixture.data_folder()).expect("made");
    std::fs::write(fixture.data_folder().join("docdeck.db"), "no database at all").expect("written");
    assert_eq!(run_completion(&fixture, "bash", &["docdeck", "show", "x"]).out, "");
    assert_eq!(std::fs::read_dir(fixture.data_folder()).expect("read").count(), 1);
}

#[test]
fn the_manual_has_every_command_and_every_exit_code() {
    let fixture = CommandFixture::new(&[]);
    let page = fixture.run(&["man"]).expect_exit_code(0).out;
    assert!(page.starts_with(".ie") || page.contains(".TH docdeck 1"), "{page}");
    let help = fixture.run(&["--help"]).expect_exit_code(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(names.len() >= 10 && names.contains(&"help"), "{names:?}");
    let folder = fixture.home.path().join("man");
    fixture.run(&["man", "--dir", "man"]).expect_exit_code(0);
    for name in &names {
        let escaped = name.replace('-', "\\-");
        assert!(page.contains(&format!("docdeck\\-{escaped}(1)")), "{name} is not in the page");
        let command_page =
            std::fs::read_to_string(folder.join(format!("docdeck-{name}.1"))).expect("a page of its own");
        assert!(
            command_page.contains(".SH \"GLOBAL OPTIONS\"") && !command_page.contains(".SH EXTRA"),
            "{command_page}"
        );
        assert_eq!(fixture.run(&["man", name]).expect_exit_code(0).out, command_page);
    }
    assert_eq!(std::fs::read_to_string(folder.join("docdeck.1")).expect("written"), page);
    let of_team = ["forget", "init", "join", "leave", "status", "sync"];
    for name in of_team {
        assert!(folder.join(format!("docdeck-team-{name}.1")).exists(), "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder).expect("read").count(), names.len() + 1 + of_team.len());
    for code in ["0", "1", "2", "3", "4", "5", "6", "101", "124", "130"] {
        assert!(page.contains(&format!(".TP\n\\fB{code}\\fR\n")), "{code}");
    }
    assert!(!page.contains("debug build"));
    let unknown = fixture.run(&["man", "nothing"]).expect_exit_code(2);
    assert!(unknown.err.contains("Unknown command nothing. List the commands with `docdeck --help`."), "{unknown:?}");
}
