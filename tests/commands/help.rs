//! The help texts of all commands, with snapshots, and the guide that `docdeck help` prints.

use crate::support::command::CommandFixture;

/// Returns the long help of a command, wrapped at 100 columns.
fn help(words: &[&str]) -> String {
    help_at(words, "100")
}

fn help_at(words: &[&str], columns: &str) -> String {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&[words, &["--help"]].concat(), &[("COLUMNS", columns)], "").expect_exit_code(0);
    assert_eq!(ran.err, "");
    ran.out
}

/// Every command with its subcommands.
const COMMANDS: &[&[&str]] = &[
    &["init"],
    &[],
    &["new"],
    &["follow"],
    &["watch"],
    &["status"],
    &["team"],
    &["team", "init"],
    &["team", "join"],
    &["jobs"],
    &["show"],
    &["pr"],
    &["diff"],
    &["approve"],
    &["merge"],
    &["track"],
    &["wait"],
    &["export"],
    &["import"],
    &["prune"],
    &["views"],
    &["searches"],
    &["feedback"],
    &["questions"],
    &["visitors"],
    &["needs-work"],
    &["completions"],
    &["man"],
    &["help"],
    &["doctor"],
    &["demo"],
    &["sim"],
];

#[test]
fn the_help_of_all_commands() {
    let texts = COMMANDS.iter().map(|words| {
        let name = ["docdeck"].iter().chain(*words).copied().collect::<Vec<_>>().join(" ");
        format!("===== {name} =====\n\n{}", help(words))
    });
    insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_command_has_help_that_fits_80_columns() {
    let whole = help_at(&[], "80");
    let (_, commands) = whole.split_once("Commands:\n").expect("commands");
    let (commands, _) = commands.split_once("\nOptions:").expect("options");
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    assert_eq!(names.len(), 29, "{names:?}");
    for name in names {
        assert!(COMMANDS.contains(&[name].as_slice()), "the help of {name} has no snapshot");
        let text = help_at(&[name], "80");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(whole.lines().all(|line| line.chars().count() <= 80), "{whole}");
}

/// Returns the topics in the output of `docdeck help`.
fn topics(list: &str) -> Vec<&str> {
    let (_, rows) = list.split_once("Topics of the guide:\n").expect("a heading");
    rows.lines().map_while(|line| line.strip_prefix("  ")?.split(' ').next()).collect()
}

#[test]
fn help_lists_the_topics_of_the_guide() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["help"]).expect_exit_code(0);
    assert_eq!(ran.err, "");
    insta::assert_snapshot!(ran.out);
    assert_eq!(topics(&ran.out).len(), 13, "{ran:?}");
    assert!(!fixture.data_folder().exists());
}

#[test]
fn help_with_a_topic_prints_a_guide_page_without_markup() {
    let fixture = CommandFixture::new(&[]);
    let list = fixture.run(&["help"]).expect_exit_code(0).out;
    for topic in topics(&list) {
        let ran = fixture.run(&["help", topic]).expect_exit_code(0);
        assert_eq!(ran.err, "");
        assert!(ran.out.lines().count() > 10, "{topic}: {}", ran.out);
        for markup in ["<!--", "<picture>", "```", "**", "|---", "\x1b"] {
            assert!(!ran.out.contains(markup), "{topic}: {markup} in {}", ran.out);
        }
    }
    let scripting = fixture.run(&["help", "scripting"]).expect_exit_code(0).out;
    assert!(scripting.starts_with("Scripting\n"), "{scripting}");
    assert!(scripting.lines().any(|line| line.starts_with("130 ")), "exit codes: {scripting}");
    for part in ["diff ID", "approve ID --head SHA", "merge ID --head SHA", "--pr merged", "new head commit"] {
        assert!(scripting.contains(part), "{part} in {scripting}");
    }
}

#[test]
fn help_with_a_command_prints_the_same_as_the_help_option() {
    let fixture = CommandFixture::new(&[]);
    let columns = [("COLUMNS", "100")];
    let by_help_command = fixture.run_with(&["help", "views"], &columns, "").expect_exit_code(0).out;
    assert_eq!(by_help_command, help(&["views"]));
}

#[test]
fn help_with_an_unknown_topic_lists_the_topics() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["help", "keys\x1b[31m"]).expect_exit_code(2);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("docdeck: “keys"), "{ran:?}");
    assert!(ran.err.contains("” is neither a topic nor a command.\n\nTopics of the guide:\n"), "{ran:?}");
    assert_eq!(topics(&ran.err).len(), 13);
    assert!(!ran.err.contains('\x1b'));
}

#[test]
fn without_a_terminal_no_pager_is_started() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["help", "jobs"], &[("PAGER", "false")], "").expect_exit_code(0);
    assert!(ran.out.starts_with("Jobs\n"), "{ran:?}");
}
