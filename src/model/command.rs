//! Placeholders such as `{pr}` in the arguments of custom commands. A value always stays part of one argument and can't
//! be mistaken for an option. The module also splits command lines into words.

use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A placeholder that an argument may contain: a word in braces, such as `{pr}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Placeholder {
    /// The URL of the selected job's pull request.
    Pr,
    /// The selected job's id on the service.
    Id,
    /// The path of the selected page on the views screen.
    Path,
    /// The selected job's repository, as the service names it.
    Repository,
    /// The branch that the selected job works on.
    Ref,
}

impl Placeholder {
    /// All placeholders, in the order in which they are shown to the user.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the word between the braces.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns a description of the value, for the message "has no ...".
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Pr => "pull request",
            Self::Id => "id",
            Self::Path => "path",
            Self::Repository => "repository",
            Self::Ref => "branch",
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.word())
    }
}

/// Part of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentPiece<'a> {
    Text(&'a str),
    /// A word between single braces, which may or may not be the word of a [`Placeholder`].
    Word(&'a str),
}

/// Splits an argument into text and words in single braces. The braces in `{{end}}`, `{}` and `{"a": 1}`, which a
/// template may contain, are text.
fn split_pieces(argument: &str) -> Vec<ArgumentPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = argument;
    let mut doubled = false;
    while let Some((before, from)) = rest.split_once('{') {
        let is_doubled = doubled && before.is_empty();
        if !before.is_empty() {
            pieces.push(ArgumentPiece::Text(before));
        }
        let word = from.split_once('}').filter(|(word, after)| {
            let letters = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            letters && !is_doubled && !after.starts_with('}')
        });
        match word {
            Some((word, after)) => {
                pieces.push(ArgumentPiece::Word(word));
                rest = after;
                doubled = false;
            }
            None => {
                pieces.push(ArgumentPiece::Text("{"));
                rest = from;
                doubled = true;
            }
        }
    }
    if !rest.is_empty() {
        pieces.push(ArgumentPiece::Text(rest));
    }
    pieces
}

/// Returns the placeholders of an argument.
///
/// # Errors
/// Returns the first word in braces that is not a placeholder.
pub fn placeholders(argument: &str) -> Result<Vec<Placeholder>, &str> {
    let words = split_pieces(argument).into_iter().filter_map(|piece| match piece {
        ArgumentPiece::Word(word) => Some(word.parse().map_err(|_| word)),
        ArgumentPiece::Text(_) => None,
    });
    words.collect()
}

/// Why a placeholder of a command can't be replaced. The command is not run in this case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillError {
    /// The placeholder has no value.
    Missing(Placeholder),
    /// The value starts with `-`, so a program could read it as an option.
    LooksLikeOption(Placeholder),
    /// The value contains a control character.
    Unprintable(Placeholder),
}

/// Replaces each placeholder with its value. An argument stays one argument, whatever the value contains.
///
/// # Errors
/// Fails if a value is missing, starts with `-` or contains a control character.
pub fn fill_arguments(
    arguments: &[String],
    value: impl Fn(Placeholder) -> Option<String>,
) -> Result<Vec<String>, FillError> {
    let fill_one = |argument: &String| {
        let mut filled = String::new();
        for piece in split_pieces(argument) {
            match piece {
                ArgumentPiece::Text(text) => filled.push_str(text),
                ArgumentPiece::Word(word) => match word.parse() {
                    Ok(placeholder) => filled.push_str(&check_value(placeholder, value(placeholder))?),
                    Err(_) => filled.push_str(&format!("{{{word}}}")),
                },
            }
        }
        Ok(filled)
    };
    arguments.iter().map(fill_one).collect()
}

fn check_value(placeholder: Placeholder, value: Option<String>) -> Result<String, FillError> {
    match value {
        None => Err(FillError::Missing(placeholder)),
        Some(value) if value.is_empty() => Err(FillError::Missing(placeholder)),
        Some(value) if value.starts_with('-') => Err(FillError::LooksLikeOption(placeholder)),
        Some(value) if value.chars().any(char::is_control) => Err(FillError::Unprintable(placeholder)),
        Some(value) => Ok(value),
    }
}

/// Splits a command line, such as the value of `$EDITOR`, into words as a shell does. Variables are not expanded. If a
/// quote is not closed, the line is split only at white space.
pub fn split_command_line(line: &str) -> Vec<String> {
    shell_words::split(line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(arguments: &[&str], value: &str) -> Result<Vec<String>, FillError> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        fill_arguments(&arguments, |_| (!value.is_empty()).then(|| value.to_owned()))
    }

    #[test]
    fn a_value_stays_part_of_its_argument() {
        let value = "a b; rm -rf ~ $(x) {id}";
        assert_eq!(filled(&["gh", "x={ref}:{id}"], value).expect("filled"), ["gh", &format!("x={value}:{value}")]);
    }

    #[test]
    fn braces_without_a_placeholder_stay_unchanged() {
        let template = "{{range .}}{{end}} {} {\"a\": 1} {{pr}} {";
        assert_eq!(placeholders(template), Ok(Vec::new()));
        assert_eq!(filled(&[template], "v").expect("filled"), [template]);
    }

    #[test]
    fn placeholders_are_recognized_by_their_words() {
        assert_eq!(placeholders("{pr}/{ref}"), Ok(vec![Placeholder::Pr, Placeholder::Ref]));
        assert_eq!(placeholders("{pr} {foo}"), Err("foo"));
    }

    #[test]
    fn a_value_that_is_missing_or_could_be_misread_is_an_error() {
        assert_eq!(filled(&["gh", "{pr}"], ""), Err(FillError::Missing(Placeholder::Pr)));
        assert_eq!(filled(&["gh", "{ref}"], "--upload-pack=x"), Err(FillError::LooksLikeOption(Placeholder::Ref)));
        assert_eq!(filled(&["gh", "{id}"], "a\x1b[2J"), Err(FillError::Unprintable(Placeholder::Id)));
    }

    #[test]
    fn a_command_line_is_split_as_in_a_shell() {
        assert_eq!(split_command_line("code --wait"), ["code", "--wait"]);
        assert_eq!(
            split_command_line(r#" "/opt/my editor/e" -c 'set ft=x y' a\ b"""#),
            ["/opt/my editor/e", "-c", "set ft=x y", "a b"]
        );
        assert_eq!(split_command_line("  "), Vec::<String>::new());
        assert_eq!(split_command_line("'it''s' $HOME;ls"), ["its", "$HOME;ls"]);
    }
}
