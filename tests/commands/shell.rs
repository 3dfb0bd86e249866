//! What makes docdeck at home in a shell: `--version`, `completions` with ids of jobs, `man`.

use crate::command_fixture::{CommandFixture, Ran};
use docdeck::model::change::LocalChange;
use docdeck::model::job::{JobId, RemoteJob, Status};
use docdeck::model::log::Operation;
use std::path::Path;

fn track(world: &CommandFixture, ids: &[&str]) {
    world.store(async |store, scope| {
        for id in ids {
            let id = JobId::new(id).expect("an id");
            let (status, none) = (Status::Completed, None);
            let job = RemoteJob {
                id,
                status,
                repository: None,
                git_ref: None,
                model: None,
                pr_link: none,
                created_at: None,
                archived_at: None,
            };
            store.track(scope, job, chrono::Utc::now()).await.expect("kept");
        }
    });
}

/// What the program offers a shell for these words, the last of which is being typed.
fn offered(world: &CommandFixture, shell: &str, words: &[&str]) -> Ran {
    let index = (words.len() - 1).to_string();
    let variables = [("DOCDECK_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", &index), ("_CLAP_IFS", "\n")];
    world.run_with(&[&["--"], words].concat(), &variables, "").ends(0)
}

/// The built program's folder before all others, as if it were installed.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_docdeck"));
    format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display())
}

#[test]
fn the_version_names_the_build() {
    let world = CommandFixture::new(&[]);
    for word in ["--version", "-V"] {
        let ran = world.run(&[word]).ends(0);
        let rest =
            ran.out.strip_prefix(concat!("docdeck ", env!("CARGO_PKG_VERSION"))).expect("the version").trim_end();
        let inside = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
        if cfg!(debug_assertions) {
            assert_eq!(inside, Some("debug build"));
        } else if let Some(inside) = inside {
            // The commit's date, at least; outside of a checkout nothing at all.
            let date = inside.rsplit(' ').next().expect("a word");
            assert!(date.parse::<chrono::NaiveDate>().is_ok(), "{inside}");
        }
    }
}

#[test]
fn each_shell_gets_a_script_that_asks_docdeck() {
    let world = CommandFixture::new(&[]);
    for (shell, part) in [
        ("bash", "complete -o nospace -o bashdefault -o nosort -F _clap_complete_docdeck docdeck"),
        ("zsh", "#compdef docdeck"),
        ("fish", "complete --keep-order --exclusive --command docdeck"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName docdeck"),
    ] {
        let ran = world.run(&["completions", shell]).ends(0);
        assert!(ran.out.contains(part) && ran.out.contains("DOCDECK_COMPLETE"), "{ran:?}");
        assert_eq!(ran.out.contains("_clap_dynamic_completer_docdeck \"$@\""), shell == "zsh", "read from a folder");
        // No path of this computer: a package ships it.
        assert!(!ran.out.contains(env!("CARGO_BIN_EXE_docdeck")), "{ran:?}");
    }
    assert!(world.run(&["completions", "tcsh"]).ends(2).err.contains("[possible values: bash, zsh, fish, powershell]"));
    assert!(!world.data().exists());
}

#[test]
fn in_bash_ids_of_jobs_are_completed_without_a_request() {
    let world = CommandFixture::new(&[]);
    track(&world, &["job-1", "job-2", "other"]);
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
    let output = shell.env_clear().envs(world.variables()).env("PATH", path()).args(["-c", script]).output();
    let output = output.expect("it ran");
    let out = String::from_utf8(output.stdout).expect("text");
    let err = String::from_utf8(output.stderr).expect("text");
    assert_eq!((out.as_str(), err.as_str()), ("job-2 job-1\nother\nshow\nfish\n", ""));
    assert_eq!(world.sim.requests(Operation::Get), 0);
}

#[test]
fn words_of_docdecks_own_and_names_of_profiles_are_offered() {
    let world = CommandFixture::new(&[]);
    let config = world.home.path().join("config.toml");
    let text = "[profiles.docs]\nproject_id = \"p\"\n[profiles.blog]\n[profiles.\"two words\"]\n";
    std::fs::write(&config, text).expect("written");
    let config = config.to_str().expect("a path");
    let offers = |words: &[&str]| offered(&world, "bash", words).out.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(offers(&["docdeck", "--config", config, "jobs", "--profile", ""]), ["blog", "docs"]);
    assert_eq!(offers(&["docdeck", "jobs", "--status", "un"]), ["unconfirmed"]);
    assert_eq!(offers(&["docdeck", "jobs", "--status", "a"]), ["active", "archived"]);
    assert_eq!(offers(&["docdeck", "man", "w"]), ["wait", "watch"]);
    assert_eq!(offers(&["docdeck", "views", "--last", "3"]), ["30d"]);
    assert_eq!(offers(&["docdeck", "views", "--format", "c"]), ["csv"]);
    // Each status that is offered is one that the list is narrowed by.
    for status in offers(&["docdeck", "jobs", "--status", ""]) {
        world.run(&["jobs", "--status", &status]).ends(0);
    }
}

#[test]
fn titles_stand_beside_the_ids_and_what_was_put_away_is_not_offered() {
    let world = CommandFixture::new(&[]);
    track(&world, &["job-1", "job-2"]);
    world.store(async |store, scope| {
        let rows = store.jobs(scope).await.expect("rows");
        let title = LocalChange::Title(Some(docdeck::model::text::CleanText::line("Fix the links")));
        store.change_jobs(&[rows[0].key], title, chrono::Utc::now()).await.expect("kept");
        store.change_jobs(&[rows[1].key], LocalChange::Dismissed(true), chrono::Utc::now()).await.expect("kept");
    });
    assert_eq!(offered(&world, "fish", &["docdeck", "show", "j"]).out, "job-1\tcompleted, Fix the links\n");
    assert_eq!(offered(&world, "zsh", &["docdeck", "show", "j"]).out, "job-1:completed, Fix the links");
}

#[test]
fn an_id_that_a_shell_would_carry_out_is_not_offered() {
    let world = CommandFixture::new(&[]);
    track(&world, &["$(touch owned)", "a;b", "job-1"]);
    assert_eq!(offered(&world, "bash", &["docdeck", "show", ""]).out.lines().next(), Some("job-1"));
    assert!(!offered(&world, "bash", &["docdeck", "show", ""]).out.contains("touch"));
}

#[test]
fn where_nothing_is_known_or_set_nothing_is_offered_and_nothing_is_made() {
    let world = CommandFixture::new(&[]);
    assert_eq!(offered(&world, "bash", &["docdeck", "show", "x"]).out, "");
    let unset = [("DOCDECK_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "2"), ("DOCDECK_PROJECT_ID", "")];
    let ran = world.run_with(&["--", "docdeck", "show", "x"], &unset, "").ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert!(!world.data().exists());
    // A store that makes no sense is left for the next start to mend.
    std::fs::create_dir(world.data()).expect("made");
    std::fs::write(world.data().join("docdeck.db"), "no database at all").expect("written");
    assert_eq!(offered(&world, "bash", &["docdeck", "show", "x"]).out, "");
    assert_eq!(std::fs::read_dir(world.data()).expect("read").count(), 1);
}

#[test]
fn the_manual_has_every_command_and_every_exit_code() {
    let world = CommandFixture::new(&[]);
    let page = world.run(&["man"]).ends(0).out;
    assert!(page.starts_with(".ie") || page.contains(".TH docdeck 1"), "{page}");
    let help = world.run(&["--help"]).ends(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.len() >= 10, "{names:?}");
    let folder = world.home.path().join("man");
    world.run(&["man", "--dir", "man"]).ends(0);
    for name in &names {
        assert!(page.contains(&format!("docdeck\\-{name}(1)")), "{name} is not in the page");
        let own = std::fs::read_to_string(folder.join(format!("docdeck-{name}.1"))).expect("a page of its own");
        assert!(own.contains(".SH \"OPTIONS OF EVERY COMMAND\"") && !own.contains(".SH EXTRA"), "{own}");
        assert_eq!(world.run(&["man", name]).ends(0).out, own);
    }
    assert_eq!(std::fs::read_to_string(folder.join("docdeck.1")).expect("written"), page);
    assert_eq!(std::fs::read_dir(&folder).expect("read").count(), names.len() + 1);
    for code in ["0", "1", "2", "3", "4", "5", "6", "101", "124", "130"] {
        assert!(page.contains(&format!(".TP\n\\fB{code}\\fR\n")), "{code}");
    }
    assert!(!page.contains("debug build"));
    let unknown = world.run(&["man", "nothing"]).ends(2);
    assert!(unknown.err.contains("There is no command nothing: `docdeck --help` lists them."), "{unknown:?}");
}
