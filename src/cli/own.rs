//! What users configured of their own, as the dashboard takes it: keys are read, and compared with docdeck's own and
//! with each other, before the terminal is taken over.

use crate::app::keymap::{self, Chord};
use crate::app::{OwnCommand, SavedFilter};
use crate::config::ConfigError;
use crate::config::own::Own;
use crate::model::text::CleanText;
use std::path::Path;

/// The saved filters.
pub(super) fn filters(own: &Own) -> Vec<SavedFilter> {
    let saved = own.filters.iter().map(|filter| SavedFilter {
        name: CleanText::line(filter.name.get_ref()),
        text: filter.filter.get_ref().trim().to_owned(),
    });
    saved.collect()
}

/// The commands; `path` is the file that they stand in.
///
/// # Errors
/// A key that is none, is docdeck's own where the command holds, or is another command's, with its place.
pub(super) fn commands(own: &Own, path: &Path) -> Result<Vec<OwnCommand>, ConfigError> {
    let mut taken: Vec<OwnCommand> = Vec::new();
    for (command, (line, column)) in &own.commands {
        let name = CleanText::line(command.name.get_ref());
        let wrong = |what: String| ConfigError::Invalid {
            path: path.into(),
            line: *line,
            column: *column,
            what: CleanText::line(&what),
        };
        let written = command.key.get_ref();
        let key = Chord::parse(written).ok_or_else(|| {
            wrong(format!(
                "the key \"{written}\" of the command {name} is none that docdeck knows; write it like x, X, Ctrl-x, Alt-x, F5 or Enter"
            ))
        })?;
        let new = OwnCommand { key, name, args: command.words() };
        if let Some(binding) = new.contexts().iter().find_map(|&context| keymap::binding(context, key)) {
            let (name, context, help) = (&new.name, binding.context.name(), binding.help);
            return Err(wrong(format!("the key {key} of the command {name} is docdeck's own: {help} ({context})")));
        }
        if let Some(other) =
            taken.iter().find(|other| other.key == key && other.is_about_a_page() == new.is_about_a_page())
        {
            return Err(wrong(format!("the commands {} and {} have the same key {key}", other.name, new.name)));
        }
        taken.push(new);
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Environment;
    use crate::config::{Flags, named_file};

    fn read(text: &str) -> Result<Vec<OwnCommand>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).expect("written");
        let flags = Flags { config: Some(path), ..Flags::default() };
        let (file, path) = named_file(&flags, &Environment::default()).expect("a good file");
        let without_folder = |error: ConfigError| {
            let error = error.to_string();
            error.split_once("config.toml:").map_or(error.clone(), |(_, rest)| rest.to_owned())
        };
        commands(&file.own(), &path).map_err(without_folder)
    }

    fn command(key: &str, name: &str, run: &str) -> String {
        format!("[[commands]]\nkey = \"{key}\"\nname = \"{name}\"\nrun = {run}\n")
    }

    const MEND: &str = "Mend the line, or try another file with --config.";

    #[test]
    fn a_free_key_is_taken() {
        let commands = read(&command("Ctrl-x", "diff", "[\"gh\", \"{pr}\"]")).expect("free");
        assert_eq!(commands[0].key.to_string(), "Ctrl-X");
        assert_eq!(commands[0].args, ["gh", "{pr}"]);
    }

    #[test]
    fn a_key_of_docdecks_own_is_refused_with_both_names() {
        assert_eq!(
            read(&command("n", "diff", "[\"gh\"]")),
            Err(format!("2:7: the key n of the command diff is docdeck's own: new job (jobs). {MEND}"))
        );
        assert_eq!(
            read(&command("q", "diff", "[\"gh\"]")),
            Err(format!("2:7: the key q of the command diff is docdeck's own: quit (everywhere). {MEND}"))
        );
    }

    #[test]
    fn a_key_is_docdecks_own_only_where_the_command_holds() {
        assert!(read(&command("L", "diff", "[\"gh\", \"{pr}\"]")).is_ok());
        let page = read(&command("L", "look", "[\"echo\", \"{path}\"]"));
        assert_eq!(
            page,
            Err(format!(
                "2:7: the key L of the command look is docdeck's own: rows per page, 1 to 250 (views). {MEND}"
            ))
        );
    }

    #[test]
    fn two_commands_with_one_key_are_refused_with_both_names() {
        let text = command("C", "diff", "[\"gh\"]") + &command("C", "checkout", "[\"gh\"]");
        assert_eq!(read(&text), Err(format!("6:7: the commands diff and checkout have the same key C. {MEND}")));
    }

    #[test]
    fn a_key_that_is_none_is_refused_with_examples() {
        assert_eq!(
            read(&command("Hyper-x", "diff", "[\"gh\"]")),
            Err(format!(
                "2:7: the key \"Hyper-x\" of the command diff is none that docdeck knows; write it like x, X, Ctrl-x, Alt-x, F5 or Enter. {MEND}"
            ))
        );
    }
}
