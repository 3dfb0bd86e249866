//! Generates parts of the guide from the code, such as the tables of shortcuts, options and exit codes. Each part is
//! between `<!-- generated: NAME -->` and `<!-- end -->` in a page. The test compares the pages with the generated
//! parts; with `UPDATE_GUIDE=1` it updates the pages.

use super::super::arguments::Arguments;
use super::super::man::{ENVIRONMENT_VARIABLES, EXIT_CODES};
use crate::config::themes;
use crate::model::job_state::{JobState, ROW_MARKS};
use crate::model::period::Preset;
use crate::model::pull_request::PullRequestFact;
use crate::tui::keymap::{BINDINGS, Context};
use clap::CommandFactory as _;
use std::fmt::Write as _;
use strum::IntoEnumIterator as _;

fn shortcut_tables() -> String {
    let mut text = String::new();
    for context in Context::iter() {
        let rows: Vec<_> = BINDINGS.iter().filter(|row| row.context == context && !row.keys.is_empty()).collect();
        if rows.is_empty() {
            continue;
        }
        let name = context.config_name();
        let _ = write!(text, "\n## {}: `[keys.{name}]`\n\n| key | action | does |\n|---|---|---|\n", context.title());
        for row in rows {
            let keys: Vec<String> =
                row.keys.iter().map(|key| format!("`{}`", key.to_string().replace('|', "\\|"))).collect();
            let _ = writeln!(text, "| {} | {} | {} |", keys.join(" "), row.action.config_name(), row.help);
        }
    }
    text.trim_start().to_owned()
}

fn options() -> String {
    let mut text = "| option | does |\n|---|---|\n".to_owned();
    for option in Arguments::command().get_arguments().filter(|option| option.is_global_set()) {
        let Some(long) = option.get_long() else { continue };
        let value = option.get_value_names().and_then(|names| names.first()).map(|name| format!(" {name}"));
        let value = value.filter(|_| option.get_action().takes_values()).unwrap_or_default();
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `--{long}{value}` | {help} |");
    }
    text
}

fn variables() -> String {
    let mut text = "| variable | meaning |\n|---|---|\n".to_owned();
    for (name, meaning) in ENVIRONMENT_VARIABLES {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text
}

/// Returns the sections of a new configuration file, in which every setting is commented out.
fn settings() -> String {
    format!("```toml\n{}\n```\n", include_str!("../../../assets/config/rest.toml").trim_end())
}

fn job_states() -> String {
    let mut text = "| symbol | state | meaning |\n|---|---|---|\n".to_owned();
    for state in JobState::ALL {
        let (word, (_, meaning)) = (state.screen_word(), state.word_and_meaning());
        let _ = writeln!(text, "| `{}` | {word} | {meaning} |", state.symbol());
    }
    for fact in PullRequestFact::ALL {
        let (word, meaning) = fact.word_and_meaning();
        let _ = writeln!(text, "| `{}` | {word} | pull request: {meaning} |", fact.symbol());
    }
    for (mark, meaning) in ROW_MARKS {
        let _ = writeln!(text, "| `{mark}` | | {meaning} |");
    }
    text
}

fn range_presets() -> String {
    let names: Vec<String> = Preset::ALL.iter().map(|preset| format!("`{}`", preset.name())).collect();
    format!("{}\n", names.join(", "))
}

fn themes() -> String {
    let names: Vec<String> = themes::BUILT_IN_THEMES.iter().map(|(name, _)| format!("`{name}`")).collect();
    format!("{}\n", names.join(", "))
}

/// Returns the faults that `--fault` accepts, as listed in its help.
fn fault_list() -> String {
    let command = Arguments::command();
    let sim = command.find_subcommand("sim").expect("the simulator");
    let fault = sim.get_arguments().find(|option| option.get_long() == Some("fault")).expect("its faults");
    let help = fault.get_long_help().map(ToString::to_string).unwrap_or_default();
    let (_, lists) = help.split_once("\n\n").expect("the lists of faults");
    format!("```\n{}\n```\n", lists.trim_end())
}

fn command_table() -> String {
    let mut text = "| command | does |\n|---|---|\n".to_owned();
    for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `docdeck {}` | {about} |", command.get_name());
    }
    text
}

fn exit_codes() -> String {
    let mut text = "| exit code | meaning |\n|---|---|\n".to_owned();
    for (code, meaning) in EXIT_CODES {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text
}

#[test]
fn generated_parts_of_the_guide_are_up_to_date() {
    let parts = [
        ("shortcuts", shortcut_tables()),
        ("options", options()),
        ("variables", variables()),
        ("settings", settings()),
        ("themes", themes()),
        ("job states", job_states()),
        ("presets", range_presets()),
        ("commands", command_table()),
        ("exit codes", exit_codes()),
        ("faults", fault_list()),
    ];
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/guide");
    let mut found = 0;
    for (topic, markdown) in super::PAGES {
        let file = guide.join(topic).with_extension("md");
        let mut text = markdown.to_owned();
        for (name, part) in &parts {
            let start = format!("<!-- generated: {name} -->\n");
            let Some((before, rest)) = text.split_once(&start) else { continue };
            let (_, after) = rest.split_once("<!-- end -->").expect("an end of the generated part");
            text = format!("{before}{start}{part}<!-- end -->{after}");
            found += 1;
        }
        if std::env::var_os("UPDATE_GUIDE").is_some() {
            std::fs::write(file, text).expect("write the page");
        } else {
            assert!(markdown == text, "{} is out of date: UPDATE_GUIDE=1 cargo test --lib cli::help", file.display());
        }
    }
    assert_eq!(found, parts.len());
}

#[test]
fn every_variable_that_docdeck_reads_is_in_the_guide() {
    let source = include_str!("../../config/environment.rs").split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let page = super::PAGES.iter().find(|(name, _)| *name == "configuration").map_or("", |(_, markdown)| markdown);
    for name in code.join("\n").split('"').skip(1).step_by(2) {
        let is_variable = name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        assert!(!is_variable || page.contains(&format!("`{name}`")), "{name} is not in configuration.md");
    }
}
