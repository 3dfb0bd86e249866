//! Why a command did not do what it was asked: a sentence for people, an exit code for scripts, and what is known all
//! the same.

use super::exit_code::Code;
use super::out::Out;
use crate::config::ConfigError;
use crate::model::failure::Failure;
use crate::model::redaction::{redacted, redacted_setting};
use crate::model::text::CleanText;
use crate::store::StoreError;
use serde_json::{Map, Value, json};
use std::fmt;

/// A command's end in something else than its result.
#[derive(Debug)]
pub(super) struct CliError {
    pub(super) code: Code,
    pub(super) sentence: String,
    /// What `--json` tells beside the sentence: fields of the command's own shape.
    known: Map<String, Value>,
}

impl CliError {
    /// With this code and this sentence.
    pub(super) fn new(code: Code, sentence: impl fmt::Display) -> Self {
        Self { code, sentence: redacted(&sentence.to_string()).into_owned(), known: Map::new() }
    }

    /// Usage, configuration, store or terminal.
    pub(super) fn unusable(why: impl fmt::Display) -> Self {
        Self::new(Code::Unusable, why)
    }

    /// With what is known: an object whose fields stand beside `error` in JSON.
    pub(super) fn with(mut self, known: Value) -> Self {
        if let Value::Object(fields) = known {
            self.known = fields;
        }
        self
    }

    /// Says it on stderr and, for a command that answers in JSON, as an object on stdout: what is known, the sentence as
    /// `error`, the exit code as `exitCode`.
    pub(super) fn report(self, out: &mut Out, as_json: bool) -> Code {
        let Self { code, sentence, mut known } = self;
        let sentence = out.without_key(&sentence).into_owned();
        out.note(CleanText::block(&format!("docdeck: {sentence}")).as_str());
        if as_json {
            known.insert("error".to_owned(), json!(sentence));
            known.insert("exitCode".to_owned(), json!(code.number()));
            out.json(&Value::Object(known));
        }
        code
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::unusable(redacted_setting(&error.to_string()))
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.kind.into(), failure.sentence)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        error.failure().into()
    }
}
