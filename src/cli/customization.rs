//! What users configured of their own, as the dashboard takes it: keys are read, and compared with docdeck's own and
//! with each other, before the terminal is taken over.

use crate::app::keymap::{BINDINGS, Chord, Context, Keymap};
use crate::app::{CustomCommand, SavedFilter};
use crate::config::ConfigError;
use crate::config::customization::Customization;
use crate::config::keys::KeyOverride;
use crate::model::text::CleanText;
use std::path::Path;
use strum::IntoEnumIterator as _;

/// The saved filters.
pub fn filters(own: &Customization) -> Vec<SavedFilter> {
    let saved = own.filters.iter().map(|filter| SavedFilter {
        name: CleanText::line(filter.name.get_ref()),
        text: filter.filter.get_ref().trim().to_owned(),
    });
    saved.collect()
}

/// The table of bindings with the user's own keys; `path` is the file that they stand in.
///
/// # Errors
/// A context, action or key that there is not, a key that would type a character, the last way to leave taken away, or a
/// key that two rows of a context have, or that hides one that holds everywhere: with its place.
pub fn keymap(own: &Customization, path: &Path) -> Result<Keymap, ConfigError> {
    let mut keymap = Keymap::default();
    if own.keys.is_empty() {
        // docdeck's own neither collide nor hide each other: tests see to it.
        return Ok(keymap);
    }
    for keys in &own.keys {
        let [of_context, of_action, of_keys] = keys.places;
        let wrong = |place, what: String| mistake(path, place, &what);
        let context: Context = keys.context.parse().map_err(|_| {
            let known: Vec<&str> = Context::iter().map(Context::word).collect();
            wrong(of_context, format!("there are no keys of {}; there are {}", keys.context, known.join(", ")))
        })?;
        let chords = keys.keys.iter().map(|written| match Chord::parse(written) {
            None => Err(wrong(of_keys, format!("\"{written}\" is no key that docdeck knows; {WRITE}"))),
            Some(chord) if context.takes_text() && chord.types_text() => {
                Err(wrong(of_keys, format!("{chord} types a character there; hold Ctrl or Alt with it")))
            }
            Some(chord) => Ok(chord),
        });
        let chords = chords.collect::<Result<Vec<Chord>, _>>()?;
        if chords.is_empty() && matches!(keys.action.as_str(), "close" | "interrupt") {
            return Err(wrong(of_keys, format!("{} has to have a key: it is the way out", keys.action)));
        }
        if !keymap.change(context, &keys.action, chords) {
            let rows = BINDINGS.iter().filter(|row| row.context == context);
            let known: Vec<&str> = rows.map(|row| row.action.word()).collect();
            let what = format!("{} has no action {}; there are {}", keys.context, keys.action, known.join(", "));
            return Err(wrong(of_action, what));
        }
    }
    if let Some((chord, row, general)) = keymap.hidden() {
        let is_of = |keys: &&KeyOverride| {
            [row, general].iter().any(|row| row.context.word() == keys.context && row.action.word() == keys.action)
        };
        let place = own.keys.iter().rev().find(is_of).map_or((1, 1), |keys| keys.places[2]);
        let (name, hidden, context) = (row.action.word(), general.action.word(), row.context.word());
        let what =
            format!("{name} ({context}) hides {hidden} (everywhere) with the key {chord}; give one of them another");
        return Err(mistake(path, place, &what));
    }
    let Some((chord, one, other)) = keymap.conflict() else { return Ok(keymap) };
    // The row that the file changed, the later one of two.
    let is_of = |keys: &&KeyOverride| {
        keys.context == one.context.word() && [one, other].iter().any(|row| row.action.word() == keys.action)
    };
    let place = own.keys.iter().rev().find(is_of).map_or((1, 1), |keys| keys.places[2]);
    let (one, other, context) = (one.action.word(), other.action.word(), one.context.word());
    Err(mistake(
        path,
        place,
        &format!("{one} and {other} have the same key {chord} ({context}); give one of them another"),
    ))
}

fn mistake(path: &Path, place: (usize, usize), what: &str) -> ConfigError {
    ConfigError::invalid(path, place, what)
}

/// How keys are written.
const WRITE: &str = "write it like x, X, Ctrl-x, Alt-x, F5 or Enter";

/// The commands; `path` is the file that they stand in.
///
/// # Errors
/// A key that is none, is docdeck's own where the command holds, or is another command's, with its place.
pub fn commands(own: &Customization, keymap: &Keymap, path: &Path) -> Result<Vec<CustomCommand>, ConfigError> {
    let mut taken: Vec<CustomCommand> = Vec::new();
    for (command, (line, column)) in &own.commands {
        let name = CleanText::line(command.name.get_ref());
        let wrong = |what: String| mistake(path, (*line, *column), &what);
        let written = command.key.get_ref();
        let key = Chord::parse(written).ok_or_else(|| {
            wrong(format!("the key \"{written}\" of the command {name} is none that docdeck knows; {WRITE}"))
        })?;
        let new = CustomCommand { key, name, args: command.words() };
        if let Some(binding) = new.contexts().iter().find_map(|&context| keymap.binding(context, key)) {
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

    fn read(text: &str) -> Result<Vec<CustomCommand>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).expect("written");
        let flags = Flags { config: Some(path), ..Flags::default() };
        let (file, path) = named_file(&flags, &Environment::default()).expect("a good file");
        let without_folder = |error: ConfigError| {
            let error = error.to_string();
            error.split_once("config.toml:").map_or(error.clone(), |(_, rest)| rest.to_owned())
        };
        let own = file.own();
        keymap(&own, &path).and_then(|keymap| commands(&own, &keymap, &path)).map_err(without_folder)
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
            Err(format!(
                "2:7: the key q of the command diff is docdeck's own: quit, or close the topmost dialog (everywhere). {MEND}"
            ))
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

    #[test]
    fn a_key_of_ones_own_takes_the_place_of_the_tables_and_frees_it() {
        let text = "[keys.jobs]\nexport = [\"E\", \"F6\"]\n".to_owned() + &command("e", "diff", "[\"gh\", \"{pr}\"]");
        assert_eq!(read(&text).map(|own| own.len()), Ok(1), "e is free for a command");
    }

    #[test]
    fn a_key_that_everywhere_gave_up_is_free_and_where_text_is_typed_it_hides_nothing() {
        assert!(read("[keys.jobs]\nnew-job = \"q\"\n[keys.everywhere]\nquit = \"Q\"\n").is_ok());
        assert!(read("[keys.editor]\nsend = \"Ctrl-l\"\n").is_ok());
        assert!(read("[keys.all-jobs]\nrefresh = [\"r\", \"F5\"]\n").is_ok());
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said_with_its_place() {
        let cases = [
            ("[keys.jobs]\nnew-job = \"D\"\n", "2:11: new-job and drafts have the same key D (jobs)"),
            (
                "[keys.jobs]\nnote = []\nnew-job = \"q\"\n",
                "3:11: new-job (jobs) hides quit (everywhere) with the key q; give one of them another",
            ),
            ("[keys.jobs]\nfilter = \"?\"\n", "2:10: filter (jobs) hides help (everywhere) with the key ?;"),
            ("[keys.everywhere]\nquit = \"x\"\n", "2:8: queue-remove (jobs) hides quit (everywhere) with the key x;"),
            ("[keys.job]\nnew-job = \"N\"\n", "1:7: there are no keys of job; there are everywhere, lists, jobs,"),
            ("[keys.jobs]\nnew = \"N\"\n", "2:1: jobs has no action new; there are new-job,"),
            ("[keys.jobs]\nnew-job = \"Hyper-x\"\n", "2:11: \"Hyper-x\" is no key that docdeck knows; write it like"),
            ("[keys.editor]\nsend = \"s\"\n", "2:8: s types a character there; hold Ctrl or Alt with it"),
            ("[keys.everywhere]\ninterrupt = []\n", "2:13: interrupt has to have a key: it is the way out"),
        ];
        for (text, said) in cases {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(said), "{error}");
        }
    }
}
