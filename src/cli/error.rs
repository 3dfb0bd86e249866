//! The error of a command: a message for people, an exit code for scripts, and partial results for JSON.

use super::exit_code::Code;
use super::out::Out;
use crate::config::ConfigError;
use crate::model::failure::Failure;
use crate::model::redaction::{redacted, redacted_setting};
use crate::model::text::CleanText;
use crate::store::StoreError;
use serde_json::{Map, Value, json};
use std::fmt;

#[derive(Debug)]
pub(super) struct CliError {
    pub(super) code: Code,
    pub(super) sentence: String,
    /// The part of the command's JSON output that is known despite the error.
    json_fields: Map<String, Value>,
}

impl CliError {
    pub(super) fn new(code: Code, sentence: impl fmt::Display) -> Self {
        Self { code, sentence: redacted(&sentence.to_string()).into_owned(), json_fields: Map::new() }
    }

    /// Creates an error whose cause is on this computer, such as wrong usage or a store that can't be used.
    pub(super) fn local_error(why: impl fmt::Display) -> Self {
        Self::new(Code::Unusable, why)
    }

    /// Sets the fields that are printed as JSON in addition to the error. Ignores `known` if it is not an object.
    pub(super) fn with_json_fields(mut self, known: Value) -> Self {
        if let Value::Object(fields) = known {
            self.json_fields = fields;
        }
        self
    }

    /// Whether the command has a part of its results despite the error, such as the jobs that it changed.
    pub(super) fn has_partial_results(&self) -> bool {
        !self.json_fields.is_empty()
    }

    /// Prints the message on stderr. If `as_json` is true, also prints an object on stdout: the known fields, the
    /// message as `error` and the exit code as `exitCode`.
    pub(super) fn report(self, out: &mut Out, as_json: bool) -> Code {
        let Self { code, sentence, json_fields: mut known } = self;
        let sentence = out.without_key(&sentence).into_owned();
        out.note(CleanText::block(&format!("docdeck: {sentence}")).as_str());
        if as_json {
            known.insert("error".to_owned(), json!(sentence));
            known.insert("exitCode".to_owned(), json!(code.number()));
            out.print_json(&Value::Object(known));
        }
        code
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::local_error(redacted_setting(&error.to_string()))
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind.into(), failure.message)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        error.failure().into()
    }
}
