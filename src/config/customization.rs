//! What users add of their own to `config.toml`: `[[filters]]`, `[[commands]]`, `[notify]` and `on_change`. Read and
//! checked here, with the place of what is wrong; which keys are free is known to the command line and the key table.

use super::file::Mistake;
use super::keys::KeyOverride;
use crate::model::command::{self, Placeholder};
use crate::model::text::CleanText;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// `[[filters]]`: a filter with a name, a tab of the jobs list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterConfig {
    pub name: Spanned<String>,
    pub filter: Spanned<String>,
}

/// `[[commands]]`: a program bound to a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// As written, like `C` or `Ctrl-x`.
    pub key: Spanned<String>,
    pub name: Spanned<String>,
    /// The program, then its arguments, with placeholders in them.
    pub run: Spanned<Vec<Spanned<String>>>,
}

impl CommandConfig {
    /// The program and its arguments.
    pub fn words(&self) -> Vec<String> {
        self.run.get_ref().iter().map(|word| word.get_ref().clone()).collect()
    }
}

/// `[notify]`: how a job that finished while nobody looked is told to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notify {
    pub how: How,
    /// Whether the window's title tells how many jobs need the user.
    pub title: bool,
}

impl Default for Notify {
    fn default() -> Self {
        Self { how: How::default(), title: true }
    }
}

/// Ways to notify. The bell is the default: every terminal and multiplexer knows it, also through SSH, where nothing
/// tells which terminal is at the other end; a sequence that a terminal doesn't know may be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    Osc9,
    Osc777,
    #[default]
    Bell,
    Off,
}

/// All of it, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Customization {
    pub filters: Vec<FilterConfig>,
    /// Each with the line and the column of its key.
    pub commands: Vec<(CommandConfig, (usize, usize))>,
    pub keys: Vec<KeyOverride>,
    pub notify: Notify,
    /// A program and its arguments, run for each change of a job; empty for none.
    pub on_change: Vec<String>,
    /// A program and its arguments that takes copies; empty for none.
    pub clipboard: Vec<String>,
}

/// What is wrong with the file's text, and which bytes of it.
type CommandMistake = (Range<usize>, String);

/// Checks what the types don't say. The first mistake in the order of filters, commands, programs by their names.
pub(super) fn check(
    filters: &[FilterConfig],
    commands: &[CommandConfig],
    programs: [(&str, Option<&Spanned<Vec<String>>>); 2],
) -> Result<(), CommandMistake> {
    for (n, filter) in filters.iter().enumerate() {
        named("a filter", &filter.name)?;
        if filter.filter.get_ref().trim().is_empty() {
            return Err((filter.filter.span(), format!("the filter {} is empty", filter.name.get_ref())));
        }
        if filters.iter().take(n).any(|before| before.name.get_ref() == filter.name.get_ref()) {
            return Err((filter.name.span(), format!("two filters have the name {}", filter.name.get_ref())));
        }
    }
    commands.iter().try_for_each(check_command)?;
    for (name, words) in programs {
        if let Some(words) = words.filter(|words| words.get_ref().first().is_none_or(|first| first.trim().is_empty())) {
            return Err((words.span(), format!("{name} is empty; it is an array: the program, then its arguments")));
        }
    }
    Ok(())
}

fn named(what: &str, name: &Spanned<String>) -> Result<(), CommandMistake> {
    let empty = CleanText::line(name.get_ref()).is_empty();
    if empty { Err((name.span(), format!("the name of {what} is empty"))) } else { Ok(()) }
}

fn check_command(command: &CommandConfig) -> Result<(), CommandMistake> {
    named("a command", &command.name)?;
    let name = command.name.get_ref();
    let words = command.run.get_ref();
    let Some(program) = words.first().filter(|program| !program.get_ref().trim().is_empty()) else {
        let what = format!("run of the command {name} is empty; it is an array: the program, then its arguments");
        return Err((command.run.span(), what));
    };
    let mut used: Vec<Placeholder> = Vec::new();
    for word in words {
        let found = command::placeholders(word.get_ref()).map_err(|unknown| {
            let known: Vec<String> = Placeholder::ALL.iter().map(ToString::to_string).collect();
            let known = known.join(", ");
            (word.span(), format!("the command {name} has the unknown placeholder {{{unknown}}}; known are {known}"))
        })?;
        used.extend(found);
        if word.span() == program.span() && !used.is_empty() {
            return Err((word.span(), format!("the program of the command {name} can't be a placeholder")));
        }
        let of_a_job = used.iter().find(|placeholder| **placeholder != Placeholder::Path);
        if let (Some(of_a_job), true) = (of_a_job, used.contains(&Placeholder::Path)) {
            let what = format!(
                "the command {name} mixes {{path}}, of the page selected on the views screen, with {of_a_job}, of the selected job"
            );
            return Err((word.span(), what));
        }
    }
    Ok(())
}

/// A mistake at the beginning of these bytes of the text.
pub(super) fn mistake(text: &str, (span, what): CommandMistake) -> Mistake {
    Mistake::at(text, span.start, &what)
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    /// Line, column and sentence of the mistake in a text.
    fn mistake(text: &str) -> String {
        let mistake = file::parse(text).expect_err("a mistake");
        format!("{}:{}: {}", mistake.line, mistake.column, mistake.what)
    }

    fn command(run: &str) -> String {
        format!("[[commands]]\nkey = \"D\"\nname = \"diff\"\nrun = {run}\n")
    }

    #[test]
    fn filters_commands_notify_and_on_change_are_read() {
        let text = "on_change = [\"ntfy\", \"docs\"]\n[notify]\nhow = \"osc9\"\n[[filters]]\nname = \"failed\"\nfilter = \"s:failed\"\n"
            .to_owned()
            + &command("[\"gh\", \"pr\", \"diff\", \"{pr}\"]");
        let own = file::parse(&text).expect("a good file").own();
        assert_eq!(own.on_change, ["ntfy", "docs"]);
        let copies = file::parse("[ui]\nclipboard = [\"wl-copy\", \"-n\"]\n").expect("a good file").own();
        assert_eq!(copies.clipboard, ["wl-copy", "-n"]);
        assert_eq!((own.notify.how, own.notify.title), (super::How::Osc9, true));
        assert_eq!(own.filters[0].filter.get_ref(), "s:failed");
        assert_eq!(own.commands[0].0.words(), ["gh", "pr", "diff", "{pr}"]);
        assert_eq!(file::parse("").expect("empty").own().notify.how, super::How::Bell);
    }

    #[test]
    fn an_empty_run_is_said_with_its_place() {
        let said = "4:7: run of the command diff is empty; it is an array: the program, then its arguments";
        assert_eq!(mistake(&command("[]")), said);
        assert_eq!(mistake(&command("[\" \"]")), said);
        assert_eq!(
            mistake("\non_change = []\n"),
            "2:13: on_change is empty; it is an array: the program, then its arguments"
        );
        let said = "2:13: clipboard is empty; it is an array: the program, then its arguments";
        assert_eq!(mistake("[ui]\nclipboard = [\"\"]\n"), said);
    }

    #[test]
    fn an_unknown_placeholder_is_said_with_its_place_and_the_known_ones() {
        assert_eq!(
            mistake(&command("[\"gh\",\n  \"x{foo}\"]")),
            "5:3: the command diff has the unknown placeholder {foo}; known are {pr}, {id}, {path}, {repository}, {ref}"
        );
    }

    #[test]
    fn a_program_from_outside_is_refused() {
        assert_eq!(mistake(&command("[\"{pr}\"]")), "4:8: the program of the command diff can't be a placeholder");
    }

    #[test]
    fn a_page_and_a_job_in_one_command_are_refused() {
        assert_eq!(
            mistake(&command("[\"echo\", \"{path}\", \"{id}\"]")),
            "4:26: the command diff mixes {path}, of the page selected on the views screen, with {id}, of the selected job"
        );
    }

    #[test]
    fn filters_need_a_name_of_their_own_and_a_text() {
        let filter = |name: &str, filter: &str| format!("[[filters]]\nname = \"{name}\"\nfilter = \"{filter}\"\n");
        assert_eq!(mistake(&filter(" ", "x")), "2:8: the name of a filter is empty");
        assert_eq!(mistake(&filter("a", "")), "3:10: the filter a is empty");
        assert_eq!(mistake(&(filter("a", "x") + &filter("a", "y"))), "5:8: two filters have the name a");
    }

    #[test]
    fn a_field_or_a_way_to_notify_that_is_unknown_is_said_with_its_place() {
        let field = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\nrun = [\"x\"]\nshell = true\n");
        assert!(field.starts_with("5:1: unknown field `shell`"), "{field}");
        let how = mistake("[notify]\nhow = \"email\"\n");
        assert!(how.starts_with("2:7: unknown value `email`") && how.contains("`osc777`"), "{how}");
        assert!(mistake("[notify]\nsound = true\n").starts_with("2:1: unknown field `sound`"));
    }

    #[test]
    fn a_missing_field_is_named() {
        let said = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\n");
        assert_eq!(said, "1:1: missing field `run`");
    }
}
