//! Arguments that clap can't make anything of: said as every other refusal is, with clap's own hints and usage below.

use super::arguments::Arguments;
use super::exit_code::Code;
use super::out::{Out, on_one_line};
use crate::model::redaction::redacted_setting;
use crate::model::text::CleanText;
use clap::Parser as _;
use std::process::ExitCode;

/// Says what is wrong with the arguments, as JSON as well where that was asked for; or prints help or the version.
pub(super) fn report(error: clap::Error) -> ExitCode {
    let error = as_text(error);
    if !error.use_stderr() {
        // Nobody may be reading it.
        let _ = error.print();
        return Code::Done.into();
    }
    let mut out = Out::of_process();
    let text = as_refusal(&redacted_setting(&error.to_string()));
    out.note(&format!("docdeck: {text}"));
    if std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json") {
        let what = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        out.json(&serde_json::json!({ "error": what, "exitCode": Code::Unusable.number() }));
    }
    Code::Unusable.into()
}

/// The same mistake, or the help that was asked for, with what was typed as text: an argument may come out of a file or
/// another program.
fn as_text(error: clap::Error) -> clap::Error {
    let clean = std::env::args_os().map(|typed| CleanText::line(&on_one_line(&typed.to_string_lossy())).to_string());
    // What is clean may be no mistake any more. The text has its usage already.
    let plain = || clap::Error::raw(error.kind(), CleanText::block(&error.render().to_string()).as_str());
    Arguments::try_parse_from(clean).err().unwrap_or_else(plain)
}

/// What clap says with its first line as a sentence, like all refusals; what it hints at stays as it is.
fn as_refusal(text: &str) -> String {
    let text = text.trim_start_matches("error: ").trim_end();
    let (first, rest) = text.find('\n').map_or((text, ""), |end| text.split_at(end));
    let mut letters = first.chars();
    let mut sentence: String = letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with(['.', ':', '?', '!']) {
        sentence.push('.');
    }
    sentence + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_becomes_a_sentence_and_the_hints_stay() {
        assert_eq!(
            as_refusal("error: unexpected argument '-x' found\n\nUsage: docdeck jobs\n"),
            "Unexpected argument '-x' found.\n\nUsage: docdeck jobs"
        );
        assert_eq!(
            as_refusal("error: the following required arguments were not provided:\n  <ID>...\n"),
            "The following required arguments were not provided:\n  <ID>..."
        );
        assert_eq!(as_refusal("error: error: it is so."), "It is so.");
    }
}
