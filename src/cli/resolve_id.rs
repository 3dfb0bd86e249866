//! Which job an id on the command line means: the service's id, or the beginning of one that no other job known here has.

use super::error::CliError;
use super::exit_code::Code;
use super::out::clean;
use crate::model::row::Job;

/// Ids that a sentence names before it only counts.
const NAMED: usize = 5;

/// The job that is meant.
///
/// # Errors
/// None known here has such an id (4), or more than one does (2).
pub(super) fn find<'a>(rows: &'a [Job], wanted: &str) -> Result<&'a Job, CliError> {
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return Err(CliError::unusable("The id is blank: give the id of a job, as `docdeck jobs` lists it."));
    }
    let id = |row: &&Job, fits: fn(&str, &str) -> bool| row.id.as_ref().is_some_and(|id| fits(id.as_str(), wanted));
    if let Some(row) = rows.iter().find(|row| id(row, |id, wanted| id == wanted)) {
        return Ok(row);
    }
    let found: Vec<&Job> = rows.iter().filter(|row| id(row, |id, wanted| id.starts_with(wanted))).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(unknown(wanted)),
        many => Err(ambiguous(wanted, many)),
    }
}

fn unknown(wanted: &str) -> CliError {
    let wanted = clean(wanted);
    CliError::new(
        Code::Service,
        format!(
            "No job {wanted} is known on this computer. `docdeck jobs` lists those that are; `docdeck track {wanted}` \
             asks the service for one that was made elsewhere."
        ),
    )
}

fn ambiguous(wanted: &str, found: &[&Job]) -> CliError {
    let ids = found.iter().take(NAMED).filter_map(|row| row.id.as_ref()).map(|id| id.clean().to_string());
    let mut listed = ids.collect::<Vec<_>>().join(", ");
    if found.len() > NAMED {
        listed.push_str(&format!(" and {} more", found.len() - NAMED));
    }
    CliError::unusable(format!(
        "{} jobs known here have an id that begins with {}: {listed}. Give more of it.",
        found.len(),
        clean(wanted)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::JobId;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;

    fn rows(ids: &[&str]) -> Vec<Job> {
        let row = |(key, id): (i64, &&str)| Job {
            id: JobId::new(id),
            ..Job::new(JobKey(key), CleanText::line("Job"), Time::default())
        };
        (1..).zip(ids).map(row).collect()
    }

    fn found(ids: &[&str], wanted: &str) -> Result<JobKey, (Code, String)> {
        let rows = rows(ids);
        find(&rows, wanted).map(|row| row.key).map_err(|refusal| (refusal.code, refusal.sentence))
    }

    #[test]
    fn an_id_or_its_unique_beginning_means_a_job() {
        let ids = ["ab", "abc", "", "xyz"];
        assert_eq!(found(&ids, "ab"), Ok(JobKey(1)), "the whole id goes before a beginning");
        assert_eq!(found(&ids, "abc"), Ok(JobKey(2)));
        assert_eq!(found(&ids, " x "), Ok(JobKey(4)));
    }

    #[test]
    fn a_beginning_of_several_ids_lists_them() {
        let (code, sentence) = found(&["ab1", "ab2", "ab3", "ab4", "ab5", "ab6"], "ab").expect_err("ambiguous");
        assert_eq!(code, Code::Unusable);
        assert!(sentence.contains("6 jobs") && sentence.contains("ab1, ab2, ab3, ab4, ab5 and 1 more"), "{sentence}");
    }

    #[test]
    fn an_unknown_id_names_the_command_that_asks_for_it() {
        let (code, sentence) = found(&["ab"], "no\x1b[2Jpe").expect_err("unknown");
        assert_eq!(code, Code::Service);
        assert!(sentence.contains("`docdeck track nope`"), "{sentence}");
        assert_eq!(found(&["ab"], " ").expect_err("blank").0, Code::Unusable);
    }
}
