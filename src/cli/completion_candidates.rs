//! Lists the candidates for shell completion: job ids with titles, profiles, statuses, ranges and topics. Reads the
//! store and the configuration without changing them, sends no request, and lists no candidates after an error.

use super::job_format::state_and_role;
use crate::config::environment::Environment;
use crate::config::{self, GlobalOptions, SetupState, data_folder, resolve};
use crate::model::guide::TOPICS;
use crate::model::job::Job;
use crate::model::job_state::known_filter_words;
use crate::model::text::CleanText;
use crate::store::Store;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// The maximum number of job ids that are offered. The newest jobs come first.
const MAX_JOB_IDS: usize = 200;
const RANGE_NAMES: [(&str, &str); 7] = [
    ("7d", "7 days up to today"),
    ("30d", "30 days up to today"),
    ("90d", "90 days up to today"),
    ("yesterday", "the last complete day"),
    ("week", "the last complete week, Monday to Sunday"),
    ("month", "the last complete month"),
    ("quarter", "the last complete quarter"),
];
/// The maximum length of the title that is shown beside a job id, in characters.
const MAX_TITLE_CHARS: usize = 60;

/// Offers the ids of the tracked jobs.
pub(super) fn job_ids() -> ArgValueCandidates {
    ArgValueCandidates::new(|| job_candidates(&utf8_words(std::env::args_os())).unwrap_or_default())
}

/// Offers the names of the profiles in the configuration file.
pub(super) fn profiles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let known = profile_names(&utf8_words(std::env::args_os()), &Environment::from_process()).unwrap_or_default();
        known.iter().filter(|name| is_shell_safe(name)).map(CompletionCandidate::new).collect()
    })
}

/// Offers the words that `jobs --status` always accepts. The option also accepts any other status that a tracked job
/// has.
pub(super) fn statuses() -> ArgValueCandidates {
    ArgValueCandidates::new(|| known_filter_words().map(|(word, help)| candidate_with_help(&word, help)).collect())
}

/// Offers the names of the members of the team who started jobs.
pub(super) fn authors() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let rows = tracked_jobs(&utf8_words(std::env::args_os())).unwrap_or_default();
        let names: BTreeSet<&str> = rows.iter().filter_map(Job::author).map(CleanText::as_str).collect();
        names.into_iter().filter(|name| is_shell_safe(name)).map(CompletionCandidate::new).collect()
    })
}

/// Offers the common values of the option `views --last`.
pub(super) fn range_names() -> ArgValueCandidates {
    ArgValueCandidates::new(|| RANGE_NAMES.map(|(word, help)| candidate_with_help(word, help)).into())
}

/// Offers the topics of the guide.
pub(super) fn topics() -> ArgValueCandidates {
    ArgValueCandidates::new(|| TOPICS.iter().map(|topic| candidate_with_help(topic.name, topic.summary)).collect())
}

fn candidate_with_help(word: &str, help: &'static str) -> CompletionCandidate {
    CompletionCandidate::new(word).help(Some(help.into()))
}

fn profile_names(words: &[String], environment: &Environment) -> Option<Vec<String>> {
    let path = config::path(&read_global_options(words), environment).ok()?;
    let found = config::file::read_config_file(&path).ok()??;
    Some(found.file.profiles.into_keys().collect())
}

fn utf8_words(words: impl Iterator<Item = OsString>) -> Vec<String> {
    words.filter_map(|word| word.into_string().ok()).collect()
}

fn job_candidates(words: &[String]) -> Option<Vec<CompletionCandidate>> {
    let mut rows = tracked_jobs(words)?;
    rows.sort_by_key(|row| std::cmp::Reverse((row.created_at, row.key)));
    let offered = rows.iter().filter(|row| !row.local.dismissed).filter_map(job_candidate).take(MAX_JOB_IDS);
    Some(offered.enumerate().map(|(place, offered)| offered.display_order(Some(place))).collect())
}

fn tracked_jobs(words: &[String]) -> Option<Vec<Job>> {
    let environment = Environment::from_process();
    let global_options = read_global_options(words);
    let scope = match resolve(&global_options, &environment).ok()? {
        SetupState::Ready(settings) => settings.scope,
        SetupState::Missing(missing) => missing.scope?,
    };
    let folder = data_folder(&global_options, &environment).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    runtime.block_on(async { Store::open_for_reading(&folder).ok()?.jobs(&scope).await.ok() })
}

fn job_candidate(row: &Job) -> Option<CompletionCandidate> {
    let id = row.id.as_ref()?.as_str();
    if !is_shell_safe(id) {
        return None;
    }
    let help = format!("{}, {}", state_and_role(row).0, CleanText::title(row.local.title.as_str(), MAX_TITLE_CHARS));
    Some(CompletionCandidate::new(id).help(Some(help.into())))
}

/// Whether a shell takes the text literally, even without quotes. Candidates are inserted without quotes, and job ids
/// come from the service, so a candidate is offered only if it is safe.
fn is_shell_safe(id: &str) -> bool {
    !id.starts_with(['-', '.', '~']) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~-/@+".contains(&b))
}

/// Looks for `--profile`, `--base-url`, `--project`, `--config` and `--data-dir` in the words of the unfinished command
/// line, and returns their values.
fn read_global_options(words: &[String]) -> GlobalOptions {
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
    GlobalOptions {
        profile: value("--profile"),
        base_url: value("--base-url"),
        project: value("--project"),
        config: value("--config").map(Into::into),
        data_dir: value("--data-dir").map(Into::into),
        ..GlobalOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_shell_syntax_is_not_offered() {
        assert!(is_shell_safe("01J9ZK-a_b.c/d"));
        for bad in ["$(reboot)", "a b", "a;b", "-rf", "~root", "*", "a'b", "a\"b", "a`b`", "a&b", "a|b", "a\nb", "ä"] {
            assert!(!is_shell_safe(bad), "{bad}");
        }
    }

    #[test]
    fn the_options_on_the_typed_line_are_read() {
        let words = ["docdeck", "--project=p", "show", "--data-dir", "/tmp/x", "--profile"].map(str::to_owned);
        let global_options = read_global_options(&words);
        assert_eq!((global_options.project.as_deref(), global_options.profile), (Some("p"), None));
        assert_eq!(global_options.data_dir, Some("/tmp/x".into()));
    }
}
