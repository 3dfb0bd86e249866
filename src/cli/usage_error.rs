//! Prints clap's errors about arguments in the style of all other errors, followed by clap's hints and usage.

use super::arguments::Arguments;
use super::exit_code::Code;
use super::out::{Out, escape_line_breaks};
use crate::model::redaction::redacted_setting;
use crate::model::text::{CleanText, sentence_case};
use clap::Parser as _;
use std::process::ExitCode;

/// Prints an error in the arguments, and prints it as JSON too if an argument is `--json`. If the arguments ask for the
/// help or the version, prints that instead.
pub(super) fn report(error: clap::Error) -> ExitCode {
    let error = clean_usage_error(error);
    if !error.use_stderr() {
        // A closed stdout is not an error.
        let _ = error.print();
        return Code::Done.into();
    }
    let mut out = Out::from_process();
    let text = as_sentence(&redacted_setting(&error.to_string()));
    out.note(&format!("docdeck: {text}"));
    if std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json") {
        let what = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        out.print_json(&serde_json::json!({ "error": what, "exitCode": Code::Unusable.number() }));
    }
    Code::Unusable.into()
}

/// Returns the same error or help, with control characters removed from the quoted arguments, which may come from a
/// file or another program.
fn clean_usage_error(error: clap::Error) -> clap::Error {
    let clean =
        std::env::args_os().map(|typed| CleanText::line(&escape_line_breaks(&typed.to_string_lossy())).to_string());
    // If the cleaned arguments are valid, parsing them returns no error. Then the original message is used, with
    // control characters removed.
    let plain = || clap::Error::raw(error.kind(), CleanText::block(&error.render().to_string()).as_str());
    Arguments::try_parse_from(clean).err().unwrap_or_else(plain)
}

/// Turns the first line of clap's message into a sentence. The hints after it are unchanged.
fn as_sentence(text: &str) -> String {
    let text = text.trim_start_matches("error: ").trim_end();
    let (first, rest) = text.find('\n').map_or((text, ""), |end| text.split_at(end));
    let mut sentence = sentence_case(first);
    if !sentence.ends_with(['.', ':', '?', '!']) {
        sentence.push('.');
    }
    sentence + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_becomes_a_sentence_and_the_hints_are_unchanged() {
        assert_eq!(
            as_sentence("error: unexpected argument '-x' found\n\nUsage: docdeck jobs\n"),
            "Unexpected argument '-x' found.\n\nUsage: docdeck jobs"
        );
        assert_eq!(
            as_sentence("error: the following required arguments were not provided:\n  <ID>...\n"),
            "The following required arguments were not provided:\n  <ID>..."
        );
        assert_eq!(as_sentence("error: error: it is so."), "It is so.");
    }
}
