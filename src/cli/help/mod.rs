//! `docdeck help`: prints the list of the guide's topics, the page of one topic, or the help of a command. The pages
//! are the files of `assets/guide`, built into the program; [`page`] lays them out for a terminal.

#[cfg(test)]
mod generated;
mod page;

use super::error::CliError;
use super::exit_code::Code;
use super::session::CommandContext;
use crate::config::ColorChoice;
use crate::model::endpoint::{API_KEY_VARIABLE, TEAM_URL_VARIABLE};
use crate::model::guide::{TOPICS, Topic};
use clap::Args;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

macro_rules! pages {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../assets/guide/", $name, ".md")))),*]
    };
}

/// The guide: the name and the page of each topic. Pages are Markdown.
const PAGES: [(&str, &str); TOPICS.len()] = pages![
    "configuration",
    "shortcuts",
    "jobs",
    "analytics",
    "prompts",
    "scripting",
    "team",
    "backup",
    "terminals",
    "security",
    "testing",
    "performance",
    "contributing"
];

/// The pager that is used if `PAGER` is not set. Its options make it exit if the text fits the screen, show styles, and
/// leave the text on the screen.
const DEFAULT_PAGER: &str = "less -FRX";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// topic of the guide, or a command; `jobs` and `team` open the topic (the command's help: `docdeck jobs --help`)
    #[arg(value_name = "TOPIC", add = super::completion_candidates::topics())]
    topic: Option<String>,
}

/// Prints the list of topics, the page of a topic, or the help of a command of `program`. On a terminal, a page opens
/// in the pager.
///
/// # Errors
/// Fails if there is no topic or command with this name.
pub(super) fn run(
    cx: &mut CommandContext<'_>,
    options: &Options,
    mut program: clap::Command,
) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    let bold = match global_options.color {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => {
            out.stdout_is_terminal() && !environment.no_color && environment.term.as_deref() != Some("dumb")
        }
    };
    let Some(name) = &options.topic else {
        out.write(&list_topics());
        return Ok(Code::Done);
    };
    if let Some((_, markdown)) = PAGES.iter().find(|(topic, _)| topic == name) {
        let text = page::lay_out(markdown, out.width(), bold);
        if !(out.stdout_is_terminal() && show_in_pager(&text, environment.pager.as_deref())) {
            out.write(&text);
        }
        return Ok(Code::Done);
    }
    program.build();
    let command = program.find_subcommand_mut(name).filter(|command| !command.is_hide_set()).ok_or_else(|| {
        CliError::local_error(format!(
            "“{}” is neither a topic nor a command.\n\n{}",
            super::out::clean_line(name),
            list_topics().trim_end()
        ))
    })?;
    let text = command.render_long_help();
    out.write(&if bold { text.ansi().to_string() } else { text.to_string() });
    Ok(Code::Done)
}

/// Returns the list of topics, each with its description.
fn list_topics() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let mut text = "Topics of the guide:\n".to_owned();
    for Topic { name, summary: about } in TOPICS {
        text.push_str(&format!("  {name:width$}  {about}\n"));
    }
    text + "\nOpen one with `docdeck help TOPIC`. For a command: `docdeck COMMAND --help`.\n"
}

/// Shows the text in a pager. Returns false if the pager can't be started or fails; the caller then prints the text.
fn show_in_pager(text: &str, chosen: Option<&str>) -> bool {
    let mut words = chosen.unwrap_or(DEFAULT_PAGER).split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped()).env_remove(API_KEY_VARIABLE).env_remove(TEAM_URL_VARIABLE);
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    // Ctrl-C must not end docdeck while the pager runs, because the pager may use it to stop a search.
    #[cfg(unix)]
    let _interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let written = pager.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let has_shown = pager.wait().is_ok_and(|status| status.success());
    // A broken pipe is not an error: the user quit the pager before the end of the text.
    has_shown && written.err().is_none_or(|error| error.kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_guide_is_a_topic() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/guide");
        let files = std::fs::read_dir(folder).expect("the guide");
        let mut files: Vec<String> = files
            .map(|file| file.expect("a page").file_name().to_string_lossy().trim_end_matches(".md").to_owned())
            .collect();
        files.sort_unstable();
        let mut topics = TOPICS.map(|topic| topic.name);
        assert_eq!(PAGES.map(|(name, _)| name), topics);
        topics.sort_unstable();
        assert_eq!(files, topics);
    }

    #[test]
    fn the_list_and_every_page_fit_a_terminal_of_80_columns() {
        use unicode_width::UnicodeWidthStr as _;
        assert!(list_topics().lines().all(|line| line.width() <= 80), "{}", list_topics());
        for (name, markdown) in PAGES {
            let text = page::lay_out(markdown, Some(80), false);
            // Lines of code are not wrapped, so they may be wider.
            let wide: Vec<&str> = text.lines().filter(|line| line.width() > 80 && !line.starts_with("    ")).collect();
            assert_eq!(wide, [""; 0], "{name}");
        }
    }

    #[test]
    fn every_file_named_on_the_contributing_page_exists() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let (_, markdown) = PAGES.into_iter().find(|(name, _)| *name == "contributing").expect("the page");
        let prose = markdown.split("```").step_by(2).collect::<String>();
        for name in prose.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs") || name.contains('/')) {
            let is_placeholder =
                name.contains("NAME") || name.contains('*') || name.contains('…') || name.contains(' ');
            let exists = [root.join(name), root.join("src").join(name)].iter().any(|path| path.exists());
            assert!(is_placeholder || exists, "{name}");
        }
    }

    #[test]
    fn links_between_pages_lead_to_existing_files() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/guide");
        for (name, markdown) in PAGES {
            for link in markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = link.split('#').next().unwrap_or_default();
                assert!(link.contains("://") || folder.join(file).exists(), "{name}: {link}");
            }
        }
    }
}
