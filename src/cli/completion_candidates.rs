//! What a shell completes that is known here: ids of jobs with their titles, profiles, and words of docdeck's own. Record
//! and configuration are only looked at: no request, nothing made, mended or moved, and no answer where anything is not as it
//! should be.

use super::arguments::Arguments;
use super::job_line::state;
use crate::config::environment::Environment;
use crate::config::{self, Flags, SetupState, data_folder, resolve};
use crate::model::job_state::search_words;
use crate::model::row::Job;
use crate::model::text::CleanText;
use crate::store::Store;
use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use std::ffi::OsString;

/// Ids that are offered, the newest first.
const MOST: usize = 200;
const SPANS: [(&str, &str); 7] = [
    ("7d", "today and the six days before it"),
    ("30d", "30 days up to today"),
    ("90d", "90 days up to today"),
    ("yesterday", "the last complete day"),
    ("week", "the last complete week, Monday to Sunday"),
    ("month", "the last complete month"),
    ("quarter", "the last complete quarter"),
];
/// Characters of a title beside its id.
const TITLE: usize = 60;

/// Ids of the jobs known here.
pub(super) fn job_ids() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(&words(std::env::args_os())).unwrap_or_default())
}

/// Names of the profiles in the configuration file.
pub(super) fn profiles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let known = profile_names(&words(std::env::args_os()), &Environment::of_process()).unwrap_or_default();
        known.iter().filter(|name| is_plain(name)).map(CompletionCandidate::new).collect()
    })
}

/// The words that `jobs --status` always takes; jobs may have other statuses.
pub(super) fn statuses() -> ArgValueCandidates {
    ArgValueCandidates::new(|| search_words().map(|(word, help)| offered(&word, help)).collect())
}

/// The spans that `views --last` is mostly given.
pub(super) fn spans() -> ArgValueCandidates {
    ArgValueCandidates::new(|| SPANS.map(|(word, help)| offered(word, help)).into())
}

/// The commands that have a page in the manual.
pub(super) fn commands() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let whole = Arguments::command();
        let known = whole
            .get_subcommands()
            .map(|command| CompletionCandidate::new(command.get_name()).help(command.get_about().cloned()));
        known.collect()
    })
}

fn offered(word: &str, help: &'static str) -> CompletionCandidate {
    CompletionCandidate::new(word).help(Some(help.into()))
}

fn profile_names(words: &[String], environment: &Environment) -> Option<Vec<String>> {
    let path = config::path(&flags(words), environment).ok()?;
    let found = config::file::read(&path).ok()??;
    Some(found.file.profiles.into_keys().collect())
}

fn words(words: impl Iterator<Item = OsString>) -> Vec<String> {
    words.filter_map(|word| word.into_string().ok()).collect()
}

fn candidates(words: &[String]) -> Option<Vec<CompletionCandidate>> {
    let environment = Environment::of_process();
    let flags = flags(words);
    let scope = match resolve(&flags, &environment).ok()? {
        SetupState::Ready(settings) => settings.scope,
        SetupState::Missing(missing) => missing.scope?,
    };
    let folder = data_folder(&flags, &environment).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    let mut rows = runtime.block_on(async { Store::peek(&folder).ok()?.jobs(&scope).await.ok() })?;
    rows.sort_by_key(|row| std::cmp::Reverse((row.created_at, row.key)));
    let offered = rows.iter().filter(|row| !row.dismissed).filter_map(candidate).take(MOST);
    Some(offered.enumerate().map(|(place, offered)| offered.display_order(Some(place))).collect())
}

fn candidate(row: &Job) -> Option<CompletionCandidate> {
    let id = row.id.as_ref()?.as_str();
    if !is_plain(id) {
        return None;
    }
    let help = format!("{}, {}", state(row).0, CleanText::title(row.title.as_str(), TITLE));
    Some(CompletionCandidate::new(id).help(Some(help.into())))
}

/// Whether a shell takes the id as it is: it comes from the service and is put into the line unquoted.
fn is_plain(id: &str) -> bool {
    !id.starts_with(['-', '.', '~']) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~-/@+".contains(&b))
}

/// The options on the line being typed that say whose jobs are meant.
fn flags(words: &[String]) -> Flags {
    let value = |name: &str| {
        let after = |place: usize| words.get(place + 1).cloned();
        let mut found = None;
        for (place, word) in words.iter().enumerate() {
            if word == name {
                found = after(place).or(found);
            } else if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                found = Some(value.to_owned());
            }
        }
        found
    };
    Flags {
        profile: value("--profile"),
        base_url: value("--base-url"),
        project: value("--project"),
        config: value("--config").map(Into::into),
        data_dir: value("--data-dir").map(Into::into),
        ..Flags::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_would_mean_something_to_a_shell_is_not_offered() {
        assert!(is_plain("01J9ZK-a_b.c/d"));
        for bad in ["$(reboot)", "a b", "a;b", "-rf", "~root", "*", "a'b", "a\"b", "a`b`", "a&b", "a|b", "a\nb", "ä"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn options_on_the_line_say_whose_jobs_are_meant() {
        let words = ["docdeck", "--project=p", "show", "--data-dir", "/tmp/x", "--profile"].map(str::to_owned);
        let flags = flags(&words);
        assert_eq!((flags.project.as_deref(), flags.profile), (Some("p"), None));
        assert_eq!(flags.data_dir, Some("/tmp/x".into()));
    }
}
