//! Every help text, as it is printed.

use crate::command_fixture::CommandFixture;

/// The long help of a command at the width of a page, whatever the terminal.
fn help(words: &[&str]) -> String {
    help_at(words, "100")
}

fn help_at(words: &[&str], columns: &str) -> String {
    let world = CommandFixture::new(&[]);
    let ran = world.run_with(&[words, &["--help"]].concat(), &[("COLUMNS", columns)], "").ends(0);
    assert_eq!(ran.err, "");
    ran.out
}

macro_rules! help_texts {
    ($($name:ident: $words:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(help(&$words));
        })*
    };
}

help_texts! {
    the_help_of_init: ["init"];
    the_help_of_docdeck: [];
    the_help_of_new: ["new"];
    the_help_of_follow: ["follow"];
    the_help_of_watch: ["watch"];
    the_help_of_status: ["status"];
    the_help_of_jobs: ["jobs"];
    the_help_of_show: ["show"];
    the_help_of_track: ["track"];
    the_help_of_wait: ["wait"];
    the_help_of_export: ["export"];
    the_help_of_import: ["import"];
    the_help_of_prune: ["prune"];
    the_help_of_views: ["views"];
    the_help_of_completions: ["completions"];
    the_help_of_man: ["man"];
    the_help_of_doctor: ["doctor"];
    the_help_of_demo: ["demo"];
    the_help_of_sim: ["sim"];
}

#[test]
fn no_command_is_without_help_and_none_is_wider_than_a_terminal_of_80_columns() {
    let whole = help_at(&[], "80");
    let (_, commands) = whole.split_once("Commands:\n").expect("commands");
    let (commands, _) = commands.split_once("\nOptions:").expect("options");
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert_eq!(names.len(), 18, "{names:?}");
    let this = include_str!("help.rs");
    for name in names {
        assert!(this.contains(&format!("the_help_of_{name}: [\"{name}\"];")), "{name} has no snapshot");
        let text = help_at(&[name], "80");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(whole.lines().all(|line| line.chars().count() <= 80), "{whole}");
}
