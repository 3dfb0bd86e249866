//! Custom filters, commands and notifications in `config.toml`: `[[filters]]`, `[[commands]]`, `[notify]` and
//! `on_change`. Errors contain line and column. Conflicts with built-in keys are checked in `cli::customization`.

use super::file::Mistake;
use super::keys::KeyOverride;
use crate::model::command::{self, Placeholder};
use crate::model::text::CleanText;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// `[[filters]]`: a named filter, shown as a tab of the jobs list.
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
    /// The program and its arguments, with placeholders.
    pub run: Spanned<Vec<Spanned<String>>>,
}

impl CommandConfig {
    /// The program and its arguments.
    pub fn program_and_arguments(&self) -> Vec<String> {
        self.run.get_ref().iter().map(|word| word.get_ref().clone()).collect()
    }
}

/// `[notify]`: how the terminal notifies the user about a job that finished while the window was not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notify {
    pub how: NotifyMethod,
    /// Whether the window title shows the number of jobs that need the user.
    pub title: bool,
}

impl Default for Notify {
    fn default() -> Self {
        Self { how: NotifyMethod::default(), title: true }
    }
}

/// Ways to notify. The bell is the default because every terminal and multiplexer supports it. Over SSH the terminal is
/// unknown, and one that doesn't support a sequence may print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifyMethod {
    Osc9,
    Osc777,
    #[default]
    Bell,
    Off,
}

/// The validated customization.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Customization {
    pub filters: Vec<FilterConfig>,
    /// Each with the line and column of its key.
    pub commands: Vec<(CommandConfig, (usize, usize))>,
    pub keys: Vec<KeyOverride>,
    pub notify: Notify,
    /// A program and its arguments, run for each change of a job; empty if there is none.
    pub on_change: Vec<String>,
    /// A program and its arguments that copies its stdin to the clipboard; empty if there is none.
    pub clipboard: Vec<String>,
}

/// A range of bytes of the file, and what is wrong with it.
type CommandMistake = (Range<usize>, String);

/// Checks what the types don't ensure. Returns the first mistake in filters, commands, then programs.
pub(super) fn check_customization(
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
            return Err((filter.name.span(), format!("two filters are named {}", filter.name.get_ref())));
        }
    }
    commands.iter().try_for_each(check_command)?;
    for (name, words) in programs {
        if let Some(words) = words.filter(|words| words.get_ref().first().is_none_or(|first| first.trim().is_empty())) {
            let what = format!("{name} is empty; it must be an array of the program and its arguments");
            return Err((words.span(), what));
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
        let what = format!("run of the command {name} is empty; it must be an array of the program and its arguments");
        return Err((command.run.span(), what));
    };
    let mut used: Vec<Placeholder> = Vec::new();
    for word in words {
        let found = command::placeholders(word.get_ref()).map_err(|unknown| {
            let known: Vec<String> = Placeholder::ALL.iter().map(ToString::to_string).collect();
            let known = known.join(", ");
            (word.span(), format!("the command {name} has the unknown placeholder {{{unknown}}}; valid: {known}"))
        })?;
        used.extend(found);
        if word.span() == program.span() && !used.is_empty() {
            return Err((word.span(), format!("the program of the command {name} can't be a placeholder")));
        }
        let of_a_job = used.iter().find(|placeholder| **placeholder != Placeholder::Path);
        if let (Some(of_a_job), true) = (of_a_job, used.contains(&Placeholder::Path)) {
            let what = format!(
                "the command {name} can't use both {{path}} (the selected page) and {of_a_job} (the selected job)"
            );
            return Err((word.span(), what));
        }
    }
    Ok(())
}

/// A mistake at the start of these bytes of the text.
pub(super) fn command_mistake(text: &str, (span, what): CommandMistake) -> Mistake {
    Mistake::at(text, span.start, &what)
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    /// Line, column and message of the mistake in a text.
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
        let own = file::parse(&text).expect("a good file").customization();
        assert_eq!(own.on_change, ["ntfy", "docs"]);
        let copies = file::parse("[ui]\nclipboard = [\"wl-copy\", \"-n\"]\n").expect("a good file").customization();
        assert_eq!(copies.clipboard, ["wl-copy", "-n"]);
        assert_eq!((own.notify.how, own.notify.title), (super::NotifyMethod::Osc9, true));
        assert_eq!(own.filters[0].filter.get_ref(), "s:failed");
        assert_eq!(own.commands[0].0.program_and_arguments(), ["gh", "pr", "diff", "{pr}"]);
        assert_eq!(file::parse("").expect("empty").customization().notify.how, super::NotifyMethod::Bell);
    }

    #[test]
    fn an_empty_program_is_an_error_with_its_position() {
        let expected = "4:7: run of the command diff is empty; it must be an array of the program and its arguments";
        assert_eq!(mistake(&command("[]")), expected);
        assert_eq!(mistake(&command("[\" \"]")), expected);
        assert_eq!(
            mistake("\non_change = []\n"),
            "2:13: on_change is empty; it must be an array of the program and its arguments"
        );
        let expected = "2:13: clipboard is empty; it must be an array of the program and its arguments";
        assert_eq!(mistake("[ui]\nclipboard = [\"\"]\n"), expected);
    }

    #[test]
    fn an_unknown_placeholder_is_an_error_that_lists_the_valid_ones() {
        assert_eq!(
            mistake(&command("[\"gh\",\n  \"x{foo}\"]")),
            "5:3: the command diff has the unknown placeholder {foo}; valid: {pr}, {id}, {path}, {repository}, {ref}"
        );
    }

    #[test]
    fn a_program_can_not_be_a_placeholder() {
        assert_eq!(mistake(&command("[\"{pr}\"]")), "4:8: the program of the command diff can't be a placeholder");
    }

    #[test]
    fn a_page_and_a_job_in_one_command_are_rejected() {
        assert_eq!(
            mistake(&command("[\"echo\", \"{path}\", \"{id}\"]")),
            "4:26: the command diff can't use both {path} (the selected page) and {id} (the selected job)"
        );
    }

    #[test]
    fn filters_need_a_unique_name_and_a_text() {
        let filter = |name: &str, filter: &str| format!("[[filters]]\nname = \"{name}\"\nfilter = \"{filter}\"\n");
        assert_eq!(mistake(&filter(" ", "x")), "2:8: the name of a filter is empty");
        assert_eq!(mistake(&filter("a", "")), "3:10: the filter a is empty");
        assert_eq!(mistake(&(filter("a", "x") + &filter("a", "y"))), "5:8: two filters are named a");
    }

    #[test]
    fn an_unknown_field_or_value_is_an_error_with_its_position() {
        let field = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\nrun = [\"x\"]\nshell = true\n");
        assert!(field.starts_with("5:1: unknown field `shell`"), "{field}");
        let how = mistake("[notify]\nhow = \"email\"\n");
        assert!(how.starts_with("2:7: unknown value `email`") && how.contains("`osc777`"), "{how}");
        assert!(mistake("[notify]\nsound = true\n").starts_with("2:1: unknown field `sound`"));
    }

    #[test]
    fn a_missing_field_is_named() {
        let message = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\n");
        assert_eq!(message, "1:1: missing field `run`");
    }
}
