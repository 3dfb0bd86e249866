//! Commands of the user's own: which placeholders their arguments may hold, and filling them in. A value stays part of
//! one argument and is never read as an option; where the values come from is the state machine's.

use std::fmt;

/// What a `{word}` in an argument stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// The link of the selected job's pull request.
    Pr,
    /// The selected job's id at the service.
    Id,
    /// The path of the page selected on the views screen.
    Path,
    /// The selected job's repository, as the service names it.
    Repository,
    /// The branch that the selected job works on.
    Ref,
}

impl Placeholder {
    /// All of them, in the order in which they are listed to the user.
    pub const ALL: [Self; 5] = [Self::Pr, Self::Id, Self::Path, Self::Repository, Self::Ref];

    /// The word between the braces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pr => "pr",
            Self::Id => "id",
            Self::Path => "path",
            Self::Repository => "repository",
            Self::Ref => "ref",
        }
    }

    /// What it stands for, as the object of "has no".
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Pr => "pull request",
            Self::Id => "id",
            Self::Path => "path",
            Self::Repository => "repository",
            Self::Ref => "branch",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|placeholder| placeholder.word() == word)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.word())
    }
}

/// A piece of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentPiece<'a> {
    Text(&'a str),
    /// A word between single braces.
    Word(&'a str),
}

/// Single braces around letters are a placeholder; `{{end}}` of a template, `{}` and `{"a": 1}` are text.
fn pieces(argument: &str) -> Vec<ArgumentPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = argument;
    let mut doubled = false;
    while let Some((before, from)) = rest.split_once('{') {
        let doubled_here = doubled && before.is_empty();
        if !before.is_empty() {
            pieces.push(ArgumentPiece::Text(before));
        }
        let word = from.split_once('}').filter(|(word, after)| {
            let letters = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            letters && !doubled_here && !after.starts_with('}')
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

/// The placeholders of an argument.
///
/// # Errors
/// The first word in braces that is none.
pub fn placeholders(argument: &str) -> Result<Vec<Placeholder>, &str> {
    let words = pieces(argument).into_iter().filter_map(|piece| match piece {
        ArgumentPiece::Word(word) => Some(Placeholder::parse(word).ok_or(word)),
        ArgumentPiece::Text(_) => None,
    });
    words.collect()
}

/// Why nothing is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfilled {
    /// There is no value.
    Missing(Placeholder),
    /// The value begins with `-`, and a program could read it as an option.
    LikeAnOption(Placeholder),
    /// The value holds a control character.
    Unprintable(Placeholder),
}

/// The arguments with each placeholder replaced by what `value` gives. An argument stays one argument, whatever the value.
///
/// # Errors
/// A value that is not there, or that a program could misread.
pub fn fill(arguments: &[String], value: impl Fn(Placeholder) -> Option<String>) -> Result<Vec<String>, Unfilled> {
    let fill_one = |argument: &String| {
        let mut filled = String::new();
        for piece in pieces(argument) {
            match piece {
                ArgumentPiece::Text(text) => filled.push_str(text),
                ArgumentPiece::Word(word) => match Placeholder::parse(word) {
                    Some(placeholder) => filled.push_str(&checked(placeholder, value(placeholder))?),
                    None => filled.push_str(&format!("{{{word}}}")),
                },
            }
        }
        Ok(filled)
    };
    arguments.iter().map(fill_one).collect()
}

fn checked(placeholder: Placeholder, value: Option<String>) -> Result<String, Unfilled> {
    match value {
        None => Err(Unfilled::Missing(placeholder)),
        Some(value) if value.is_empty() => Err(Unfilled::Missing(placeholder)),
        Some(value) if value.starts_with('-') => Err(Unfilled::LikeAnOption(placeholder)),
        Some(value) if value.chars().any(char::is_control) => Err(Unfilled::Unprintable(placeholder)),
        Some(value) => Ok(value),
    }
}

/// The words of a command line as `$EDITOR` holds it or as it is typed: parted at blanks, kept together by single or double quotes, a
/// backslash takes the next character as it is. Nothing is expanded.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', Some('"') | None) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(arguments: &[&str], value: &str) -> Result<Vec<String>, Unfilled> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        fill(&arguments, |_| (!value.is_empty()).then(|| value.to_owned()))
    }

    #[test]
    fn a_value_stays_part_of_its_argument() {
        let value = "a b; rm -rf ~ $(x) {id}";
        assert_eq!(filled(&["gh", "x={ref}:{id}"], value).expect("filled"), ["gh", &format!("x={value}:{value}")]);
    }

    #[test]
    fn braces_that_are_no_placeholder_stay() {
        let template = "{{range .}}{{end}} {} {\"a\": 1} {{pr}} {";
        assert_eq!(placeholders(template), Ok(Vec::new()));
        assert_eq!(filled(&[template], "v").expect("filled"), [template]);
    }

    #[test]
    fn placeholders_are_known_by_their_words() {
        assert_eq!(placeholders("{pr}/{ref}"), Ok(vec![Placeholder::Pr, Placeholder::Ref]));
        assert_eq!(placeholders("{pr} {foo}"), Err("foo"));
    }

    #[test]
    fn what_is_missing_or_could_be_misread_runs_nothing() {
        assert_eq!(filled(&["gh", "{pr}"], ""), Err(Unfilled::Missing(Placeholder::Pr)));
        assert_eq!(filled(&["gh", "{ref}"], "--upload-pack=x"), Err(Unfilled::LikeAnOption(Placeholder::Ref)));
        assert_eq!(filled(&["gh", "{id}"], "a\x1b[2J"), Err(Unfilled::Unprintable(Placeholder::Id)));
    }

    #[test]
    fn an_editor_with_arguments_is_split_as_a_shell_would() {
        assert_eq!(words("code --wait"), ["code", "--wait"]);
        assert_eq!(
            words(r#" "/opt/my editor/e" -c 'set ft=x y' a\ b"""#),
            ["/opt/my editor/e", "-c", "set ft=x y", "a b"]
        );
        assert_eq!(words("  "), Vec::<String>::new());
        assert_eq!(words("'it''s' $HOME;ls"), ["its", "$HOME;ls"]);
    }
}
