//! Finds the tracked job for an id on the command line. The id may be a unique prefix of the job's id.

use super::error::CliError;
use super::exit_code::Code;
use super::out::clean_line;
use crate::model::job::Job;

/// The maximum number of job ids that an error message lists.
const MAX_LISTED_IDS: usize = 5;

/// Finds the job whose id is `wanted`, otherwise the only job whose id begins with `wanted`.
///
/// # Errors
/// Fails if no tracked job matches (exit code 4), several jobs match, or `wanted` is blank (exit code 2).
pub(super) fn find_by_id_prefix<'a>(rows: &'a [Job], wanted: &str) -> Result<&'a Job, CliError> {
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return Err(CliError::local_error("The id is blank. Give the id of a job, as listed by `docdeck jobs`."));
    }
    let id =
        |row: &&Job, matches: fn(&str, &str) -> bool| row.id.as_ref().is_some_and(|id| matches(id.as_str(), wanted));
    if let Some(row) = rows.iter().find(|row| id(row, |id, wanted| id == wanted)) {
        return Ok(row);
    }
    let found: Vec<&Job> = rows.iter().filter(|row| id(row, |id, wanted| id.starts_with(wanted))).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(untracked_job_error(wanted)),
        many => Err(ambiguous_prefix_error(wanted, many)),
    }
}

/// Finds the jobs for these ids, in the order of the ids, each once.
///
/// # Errors
/// Fails if [`find_by_id_prefix`] fails for one of them.
pub(super) fn find_all_by_id_prefix<'a>(rows: &'a [Job], wanted: &[String]) -> Result<Vec<&'a Job>, CliError> {
    let mut found: Vec<&Job> = Vec::new();
    for id in wanted {
        let job = find_by_id_prefix(rows, id)?;
        if !found.iter().any(|other| other.key == job.key) {
            found.push(job);
        }
    }
    Ok(found)
}

fn untracked_job_error(wanted: &str) -> CliError {
    let wanted = clean_line(wanted);
    CliError::new(
        Code::Service,
        format!(
            "Job {wanted} is not tracked. List the tracked jobs with `docdeck jobs`, or add a job that was created \
             elsewhere with `docdeck track {wanted}`."
        ),
    )
}

fn ambiguous_prefix_error(wanted: &str, found: &[&Job]) -> CliError {
    let ids =
        found.iter().take(MAX_LISTED_IDS).filter_map(|row| row.id.as_ref()).map(|id| id.to_clean_text().to_string());
    let mut listed = ids.collect::<Vec<_>>().join(", ");
    if found.len() > MAX_LISTED_IDS {
        listed.push_str(&format!(" and {} more", found.len() - MAX_LISTED_IDS));
    }
    CliError::local_error(format!(
        "{} jobs have an id that begins with {}: {listed}. Give more of the id.",
        found.len(),
        clean_line(wanted)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::JobKey;
    use crate::model::remote_job::JobId;
    use crate::model::text::CleanText;

    fn rows(ids: &[&str]) -> Vec<Job> {
        let row = |(key, id): (i64, &&str)| Job {
            id: JobId::new(id),
            ..Job::new(JobKey(key), CleanText::line("Job"), Time::default())
        };
        (1..).zip(ids).map(row).collect()
    }

    fn find(ids: &[&str], wanted: &str) -> Result<JobKey, (Code, String)> {
        let rows = rows(ids);
        find_by_id_prefix(&rows, wanted).map(|row| row.key).map_err(|error| (error.code, error.sentence))
    }

    #[test]
    fn an_id_or_its_unique_prefix_finds_a_job() {
        let ids = ["ab", "abc", "", "xyz"];
        assert_eq!(find(&ids, "ab"), Ok(JobKey(1)), "an exact id wins over a prefix");
        assert_eq!(find(&ids, "abc"), Ok(JobKey(2)));
        assert_eq!(find(&ids, " x "), Ok(JobKey(4)));
    }

    #[test]
    fn an_ambiguous_prefix_lists_the_ids() {
        let (code, sentence) = find(&["ab1", "ab2", "ab3", "ab4", "ab5", "ab6"], "ab").expect_err("ambiguous");
        assert_eq!(code, Code::Unusable);
        assert!(sentence.contains("6 jobs") && sentence.contains("ab1, ab2, ab3, ab4, ab5 and 1 more"), "{sentence}");
    }

    #[test]
    fn the_error_for_an_unknown_id_names_docdeck_track() {
        let (code, sentence) = find(&["ab"], "no\x1b[2Jpe").expect_err("unknown");
        assert_eq!(code, Code::Service);
        assert!(sentence.contains("`docdeck track nope`"), "{sentence}");
        assert_eq!(find(&["ab"], " ").expect_err("blank").0, Code::Unusable);
    }
}
