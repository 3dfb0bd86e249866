//! Custom filters, commands and notifications in `config.toml`: `[[filters]]`, `[[commands]]`, `[notify]` and
//! `on_change`. Errors contain the line and column. `cli::customization` checks whether a custom command's keyboard key
//! conflicts with a built-in keyboard key.

use super::keys::KeyOverride;
use super::positions::Mistake;
use crate::model::command::{self, Placeholder};
use crate::model::text::CleanText;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// An entry of `[[filters]]`: a filter with a name, shown as a tab of the job list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterConfig {
    pub name: Spanned<String>,
    pub filter: Spanned<String>,
}

/// An entry of `[[commands]]`: a program that runs when the user presses a keyboard key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The keyboard key as written in the file, such as `C` or `Ctrl-x`.
    pub key: Spanned<String>,
    pub name: Spanned<String>,
    /// The program and its arguments, which may contain placeholders such as `{id}`.
    pub run: Spanned<Vec<Spanned<String>>>,
}

impl CommandConfig {
    /// Returns the program and its arguments without their positions in the file.
    pub fn program_and_arguments(&self) -> Vec<String> {
        self.run.get_ref().iter().map(|word| word.get_ref().clone()).collect()
    }
}

/// The section `[notify]`: how the terminal notifies the user when a job finishes while the window is not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifyConfig {
    #[serde(alias = "how")]
    pub method: NotifyMethod,
    /// Whether the window title shows how many jobs need the user's decision.
    pub title: bool,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self { method: NotifyMethod::default(), title: true }
    }
}

/// How the terminal notifies the user. The bell is the default because every terminal and multiplexer supports it.
/// `Osc9` and `Osc777` send escape sequences that some terminals print as text, and over SSH docdeck can't find out
/// which terminal it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifyMethod {
    Osc9,
    Osc777,
    #[default]
    Bell,
    Off,
}

/// The user's custom filters, commands, keyboard keys and notifications, after validation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Customization {
    pub filters: Vec<FilterConfig>,
    /// Each command with the line and column at which the file sets its keyboard key.
    pub commands: Vec<(CommandConfig, (usize, usize))>,
    pub keys: Vec<KeyOverride>,
    pub notify: NotifyConfig,
    /// The program to run for each change of a job, and its arguments. Empty if not configured.
    pub on_change: Vec<String>,
    /// The program that copies its stdin to the clipboard, and its arguments. Empty if not configured.
    pub clipboard: Vec<String>,
}

/// A mistake in the customization: its byte range in the file, and a message.
type CustomizationMistake = (Range<usize>, String);

/// Checks the rules that the types can't express, such as unique filter names. Checks the filters, then the commands,
/// then the programs (`on_change` and `clipboard`), and returns the first mistake.
pub(super) fn check_customization(
    filters: &[FilterConfig],
    commands: &[CommandConfig],
    programs: [(&str, Option<&Spanned<Vec<String>>>); 2],
) -> Result<(), CustomizationMistake> {
    for (n, filter) in filters.iter().enumerate() {
        check_name_is_not_empty("a filter", &filter.name)?;
        if filter.filter.get_ref().trim().is_empty() {
            return Err((filter.filter.span(), format!("the filter {} is empty", filter.name.get_ref())));
        }
        if filters.iter().take(n).any(|earlier| earlier.name.get_ref() == filter.name.get_ref()) {
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

fn check_name_is_not_empty(what: &str, name: &Spanned<String>) -> Result<(), CustomizationMistake> {
    let empty = CleanText::line(name.get_ref()).is_empty();
    if empty { Err((name.span(), format!("the name of {what} is empty"))) } else { Ok(()) }
}

fn check_command(command: &CommandConfig) -> Result<(), CustomizationMistake> {
    check_name_is_not_empty("a command", &command.name)?;
    let name = command.name.get_ref();
    let words = command.run.get_ref();
    let Some(program) = words.first().filter(|program| !program.get_ref().trim().is_empty()) else {
        let what =
            format!("the command {name} has nothing to run: `run` must be an array of the program and its arguments");
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
        let job_placeholder = used.iter().find(|placeholder| **placeholder != Placeholder::Path);
        if let (Some(job_placeholder), true) = (job_placeholder, used.contains(&Placeholder::Path)) {
            let what = format!(
                "the command {name} can't use both {{path}} (the selected page) and \
                 {job_placeholder} (the selected job)"
            );
            return Err((word.span(), what));
        }
    }
    Ok(())
}

/// Converts the byte range of a mistake in `text` to a line and column.
pub(super) fn locate_mistake(text: &str, (span, what): CustomizationMistake) -> Mistake {
    Mistake::at(text, span.start, &what)
}

#[cfg(test)]
mod tests {
    use crate::config::file;

    /// Parses an invalid `text` and returns the mistake as `line:column: message`.
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
        let customization = file::parse(&text).expect("a good file").customization();
        assert_eq!(customization.on_change, ["ntfy", "docs"]);
        let with_clipboard =
            file::parse("[ui]\nclipboard = [\"wl-copy\", \"-n\"]\n").expect("a good file").customization();
        assert_eq!(with_clipboard.clipboard, ["wl-copy", "-n"]);
        assert_eq!((customization.notify.method, customization.notify.title), (super::NotifyMethod::Osc9, true));
        assert_eq!(customization.filters[0].filter.get_ref(), "s:failed");
        assert_eq!(customization.commands[0].0.program_and_arguments(), ["gh", "pr", "diff", "{pr}"]);
        let former = file::parse("[notify]\nhow = \"osc9\"\n[ui]\nground = \"dark\"\n").expect("former names");
        assert_eq!(former.customization().notify.method, super::NotifyMethod::Osc9);
        assert_eq!(file::parse("").expect("empty").customization().notify.method, super::NotifyMethod::Bell);
    }

    #[test]
    fn an_empty_program_is_an_error_with_line_and_column() {
        let expected =
            "4:7: the command diff has nothing to run: `run` must be an array of the program and its arguments";
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
    fn the_error_for_an_unknown_placeholder_lists_the_valid_placeholders() {
        assert_eq!(
            mistake(&command("[\"gh\",\n  \"x{foo}\"]")),
            "5:3: the command diff has the unknown placeholder {foo}; valid: {pr}, {id}, {path}, {repository}, {ref}"
        );
    }

    #[test]
    fn the_program_of_a_command_cannot_be_a_placeholder() {
        assert_eq!(mistake(&command("[\"{pr}\"]")), "4:8: the program of the command diff can't be a placeholder");
    }

    #[test]
    fn a_command_with_placeholders_for_both_a_page_and_a_job_is_rejected() {
        assert_eq!(
            mistake(&command("[\"echo\", \"{path}\", \"{id}\"]")),
            "4:26: the command diff can't use both {path} (the selected page) and {id} (the selected job)"
        );
    }

    #[test]
    fn filters_need_a_unique_name_and_must_not_be_empty() {
        let filter = |name: &str, filter: &str| format!("[[filters]]\nname = \"{name}\"\nfilter = \"{filter}\"\n");
        assert_eq!(mistake(&filter(" ", "x")), "2:8: the name of a filter is empty");
        assert_eq!(mistake(&filter("a", "")), "3:10: the filter a is empty");
        assert_eq!(mistake(&(filter("a", "x") + &filter("a", "y"))), "5:8: two filters are named a");
    }

    #[test]
    fn an_unknown_field_or_value_is_an_error_with_line_and_column() {
        let field = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\nrun = [\"x\"]\nshell = true\n");
        assert!(field.starts_with("5:1: unknown field `shell`"), "{field}");
        let method = mistake("[notify]\nmethod = \"email\"\n");
        assert!(method.starts_with("2:10: unknown value `email`") && method.contains("`osc777`"), "{method}");
        assert!(mistake("[notify]\nsound = true\n").starts_with("2:1: unknown field `sound`"));
    }

    #[test]
    fn the_error_for_a_missing_field_names_the_field() {
        let message = mistake("[[commands]]\nkey = \"D\"\nname = \"d\"\n");
        assert_eq!(message, "1:1: missing field `run`");
    }
}
