//! Converts the keys, commands and filters of the configuration file for the dashboard. Checks the keys against
//! docdeck's keys and against each other before the dashboard opens.

use crate::config::ConfigError;
use crate::config::customization::Customization;
use crate::config::keys::KeyOverride;
use crate::model::text::CleanText;
use crate::tui::keymap::{BINDINGS, Binding, Chord, Context, Keymap};
use crate::tui::{CustomCommand, SavedFilter};
use std::path::Path;
use strum::IntoEnumIterator as _;

pub fn filters(custom: &Customization) -> Vec<SavedFilter> {
    let saved = custom.filters.iter().map(|filter| SavedFilter {
        name: CleanText::line(filter.name.get_ref()),
        text: filter.filter.get_ref().trim().to_owned(),
    });
    saved.collect()
}

/// Returns the keymap with the user's keys. `path` is the configuration file, for error messages.
///
/// # Errors
/// Fails if a context, action or key is unknown, or if a key types a character in a text field. Fails if the list of
/// keys for `close` or `interrupt` is empty. Also fails if a key is bound twice in a context or hides a global key. The
/// error states the position in the file.
pub fn keymap(custom: &Customization, path: &Path) -> Result<Keymap, ConfigError> {
    let mut keymap = Keymap::default();
    if custom.keys.is_empty() {
        // The built-in keys need no check: tests ensure that they don't conflict.
        return Ok(keymap);
    }
    for keys in &custom.keys {
        let [of_context, of_action, of_keys] = keys.positions;
        let wrong = |place, what: String| ConfigError::invalid(path, place, &what);
        let context: Context = keys.context.parse().map_err(|_| {
            let known: Vec<&str> = Context::iter().map(Context::config_name).collect();
            wrong(of_context, format!("unknown key context {}; valid: {}", keys.context, known.join(", ")))
        })?;
        let chords = keys.keys.iter().map(|written| match Chord::parse(written) {
            None => Err(wrong(of_keys, format!("unknown key \"{written}\"; {KEY_SYNTAX_HINT}"))),
            Some(chord) if context.takes_text() && chord.types_text() => {
                Err(wrong(of_keys, format!("{chord} types a character in {}; add Ctrl or Alt", keys.context)))
            }
            Some(chord) => Ok(chord),
        });
        let chords = chords.collect::<Result<Vec<Chord>, _>>()?;
        if chords.is_empty() && matches!(keys.action.as_str(), "close" | "interrupt") {
            return Err(wrong(of_keys, format!("{} must have a key, to leave or close", keys.action)));
        }
        if !keymap.set_keys(context, &keys.action, chords) {
            let rows = BINDINGS.iter().filter(|row| row.context == context);
            let known: Vec<&str> = rows.map(|row| row.action.config_name()).collect();
            let what = format!("{} has no action {}; valid: {}", keys.context, keys.action, known.join(", "));
            return Err(wrong(of_action, what));
        }
    }
    // If two bindings conflict, the error points to the last override that set one of their keys.
    let wrong = |rows: [&Binding; 2], what: String| {
        let sets_key = |keys: &&KeyOverride, row: &&Binding| {
            keys.context.parse() == Ok(row.context) && row.action.has_name(&keys.action)
        };
        let last = custom.keys.iter().rev().find(|keys| rows.iter().any(|row| sets_key(keys, row)));
        ConfigError::invalid(
            path,
            last.map_or((1, 1), |keys| keys.positions[2]),
            &format!("{what}; change one of them"),
        )
    };
    let names = |one: &Binding, other: &Binding| {
        (one.action.config_name(), other.action.config_name(), one.context.config_name())
    };
    if let Some((chord, row, general)) = keymap.find_shadowed_global_binding() {
        let (name, hidden, context) = names(row, general);
        let what = format!("{name} ({context}) hides {hidden} (everywhere) with the key {chord}");
        return Err(wrong([row, general], what));
    }
    if let Some((chord, one, other)) = keymap.find_conflict() {
        let rows = [one, other];
        let (one, other, context) = names(one, other);
        return Err(wrong(rows, format!("{one} and {other} have the same key {chord} ({context})")));
    }
    Ok(keymap)
}

const KEY_SYNTAX_HINT: &str = "write it like x, X, Ctrl-x, Alt-x, F5 or Enter";

/// Converts the custom commands. `path` is the configuration file, for error messages.
///
/// # Errors
/// Fails if a command's key is unknown, or if docdeck or another command uses the key in the same context. The error
/// states the position in the file.
pub fn parse_commands(custom: &Customization, keymap: &Keymap, path: &Path) -> Result<Vec<CustomCommand>, ConfigError> {
    let mut commands: Vec<CustomCommand> = Vec::new();
    for (command, (line, column)) in &custom.commands {
        let name = CleanText::line(command.name.get_ref());
        let wrong = |what: String| ConfigError::invalid(path, (*line, *column), &what);
        let written = command.key.get_ref();
        let key = Chord::parse(written)
            .ok_or_else(|| wrong(format!("unknown key \"{written}\" of the command {name}; {KEY_SYNTAX_HINT}")))?;
        let new = CustomCommand { key, name, args: command.program_and_arguments() };
        if let Some(binding) = new.contexts().iter().find_map(|&context| keymap.binding(context, key)) {
            let (name, context, help) = (&new.name, binding.context.title(), binding.help);
            return Err(wrong(format!("the key {key} of the command {name} is used by docdeck: {help} ({context})")));
        }
        if let Some(other) =
            commands.iter().find(|other| other.key == key && other.is_about_a_page() == new.is_about_a_page())
        {
            return Err(wrong(format!("the commands {} and {} have the same key {key}", other.name, new.name)));
        }
        commands.push(new);
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Environment;
    use crate::config::{GlobalOptions, read_explicit_config_file};

    fn read(text: &str) -> Result<Vec<CustomCommand>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).expect("written");
        let global_options = GlobalOptions { config: Some(path), ..GlobalOptions::default() };
        let (file, path) = read_explicit_config_file(&global_options, &Environment::default()).expect("a good file");
        let without_folder = |error: ConfigError| {
            let error = error.to_string();
            error.split_once("config.toml:").map_or(error.clone(), |(_, rest)| rest.to_owned())
        };
        let custom = file.customization();
        keymap(&custom, &path).and_then(|keymap| parse_commands(&custom, &keymap, &path)).map_err(without_folder)
    }

    fn command(key: &str, name: &str, run: &str) -> String {
        format!("[[commands]]\nkey = \"{key}\"\nname = \"{name}\"\nrun = {run}\n")
    }

    const REMEDY: &str = "Fix the line, or choose another file with --config.";

    #[test]
    fn a_free_key_can_run_a_custom_command() {
        let commands = read(&command("Ctrl-x", "diff", "[\"gh\", \"{pr}\"]")).expect("free");
        assert_eq!(commands[0].key.to_string(), "Ctrl-X");
        assert_eq!(commands[0].args, ["gh", "{pr}"]);
    }

    #[test]
    fn a_built_in_key_is_refused_with_both_names() {
        assert_eq!(
            read(&command("n", "diff", "[\"gh\"]")),
            Err(format!("2:7: the key n of the command diff is used by docdeck: start a new job (jobs). {REMEDY}"))
        );
        assert_eq!(
            read(&command("q", "diff", "[\"gh\"]")),
            Err(format!(
                "2:7: the key q of the command diff is used by docdeck: close the top dialog, or quit (everywhere). {REMEDY}"
            ))
        );
    }

    #[test]
    fn a_built_in_key_is_refused_only_in_the_contexts_of_the_command() {
        assert!(read(&command("L", "diff", "[\"gh\", \"{pr}\"]")).is_ok());
        let page = read(&command("L", "look", "[\"echo\", \"{path}\"]"));
        assert_eq!(
            page,
            Err(format!(
                "2:7: the key L of the command look is used by docdeck: set the rows per request, 1 to 250 (pages). {REMEDY}"
            ))
        );
    }

    #[test]
    fn two_commands_with_the_same_key_are_refused_with_both_names() {
        let text = command("C", "diff", "[\"gh\"]") + &command("C", "checkout", "[\"gh\"]");
        assert_eq!(read(&text), Err(format!("6:7: the commands diff and checkout have the same key C. {REMEDY}")));
    }

    #[test]
    fn an_unknown_key_is_refused_with_examples() {
        assert_eq!(
            read(&command("Hyper-x", "diff", "[\"gh\"]")),
            Err(format!(
                "2:7: unknown key \"Hyper-x\" of the command diff; write it like x, X, Ctrl-x, Alt-x, F5 or Enter. {REMEDY}"
            ))
        );
    }

    #[test]
    fn a_custom_key_replaces_and_frees_the_default_key() {
        let text = "[keys.jobs]\nexport = [\"E\", \"F6\"]\n".to_owned() + &command("e", "diff", "[\"gh\", \"{pr}\"]");
        assert_eq!(read(&text).map(|custom| custom.len()), Ok(1), "e is free for a command");
    }

    #[test]
    fn a_freed_global_key_or_a_global_key_in_a_text_field_can_be_bound() {
        assert!(read("[keys.jobs]\nnew-job = \"q\"\n[keys.everywhere]\nquit = \"Q\"\n").is_ok());
        assert!(read("[keys.editor]\nsend = \"Ctrl-l\"\n").is_ok());
        assert!(read("[keys.all-jobs]\nrefresh = [\"r\", \"F5\"]\n").is_ok());
    }

    #[test]
    fn an_error_about_a_key_states_its_position() {
        let cases = [
            ("[keys.jobs]\nnew-job = \"D\"\n", "2:11: new-job and drafts have the same key D (jobs)"),
            (
                "[keys.jobs]\nnote = []\nnew-job = \"q\"\n",
                "3:11: new-job (jobs) hides quit (everywhere) with the key q; change one of them",
            ),
            ("[keys.jobs]\nfilter = \"?\"\n", "2:10: filter (jobs) hides help (everywhere) with the key ?;"),
            (
                "[keys.everywhere]\nquit = \"x\"\n",
                "2:8: remove-from-queue (jobs) hides quit (everywhere) with the key x;",
            ),
            ("[keys.job]\nnew-job = \"N\"\n", "1:7: unknown key context job; valid: everywhere, lists, jobs,"),
            ("[keys.jobs]\nnew = \"N\"\n", "2:1: jobs has no action new; valid: new-job,"),
            ("[keys.jobs]\nnew-job = \"Hyper-x\"\n", "2:11: unknown key \"Hyper-x\"; write it like"),
            ("[keys.editor]\nsend = \"s\"\n", "2:8: s types a character in editor; add Ctrl or Alt"),
            ("[keys.everywhere]\ninterrupt = []\n", "2:13: interrupt must have a key, to leave or close"),
        ];
        for (text, expected) in cases {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
