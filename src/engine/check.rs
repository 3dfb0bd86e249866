//! Tests a new profile with one request that counts towards no limit: it fetches a probe job that
//! does not exist. The message states exactly what the answer proves.

use crate::api::{ApiError, Client};
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobId;
use crate::model::text::CleanText;
use chrono::Utc;

/// An id that no service assigns.
const PROBE_JOB: &str = "docdeck-asks-whether-the-key-works";

/// Makes one GET. Returns what the answer proves, as a sentence.
///
/// # Errors
/// The key is refused, the project is unknown, the limit is reached, the service can't be reached,
/// or it answered unexpectedly.
pub async fn probe_key(client: &Client) -> Result<CleanText, Failure> {
    let Some(id) = JobId::new(PROBE_JOB) else {
        return Err(Failure::local("The probe job has no valid id."));
    };
    let answer = client.get_job(&id).await;
    match answer.result {
        Ok(_) => Ok(CleanText::line("The key works, and the project exists.")),
        Err(ApiError::NotFound { words, is_page: false, .. }) => check_not_found(&words),
        // The answer is a job with another id; that still proves that the key works.
        Err(ApiError::OtherJob { .. }) => Ok(CleanText::line("The key works (the service answered with a job).")),
        Err(error) => Err(error.failure(answer.date.unwrap_or_else(Utc::now))),
    }
}

/// The failure for a 404 whose text is about the project, not the job; `None` if the text does not
/// mention the project.
pub fn no_project(words: &CleanText) -> Option<Failure> {
    if !words.as_str().to_ascii_lowercase().contains("project") {
        return None;
    }
    let sentence = format!(
        "The key works, but the project was not found (404: “{words}”): check the project id and the base URL."
    );
    Some(Failure::new(FailureKind::NotFound, &sentence))
}

/// A refused key is answered with 401 or 403, so a 404 proves that the key works. Only the
/// service's text shows whether the project or the job is missing.
fn check_not_found(words: &CleanText) -> Result<CleanText, Failure> {
    if let Some(failure) = no_project(words) {
        return Err(failure);
    }
    let quoted = if words.is_empty() { String::new() } else { format!(" (“{words}”)") };
    Ok(CleanText::line(&format!(
        "The key works: a probe job was not found, as expected{quoted}. Whether it may start jobs in this project will \
         show with the first job."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_404_proves_only_that_the_key_works() {
        let quoted = check_not_found(&CleanText::line("Job not found")).expect("a good answer");
        for part in ["The key works", "“Job not found”", "with the first job"] {
            assert!(quoted.as_str().contains(part), "{quoted}");
        }
        assert!(check_not_found(&CleanText::default()).is_ok(), "no words are documented");
    }

    #[test]
    fn a_404_about_the_project_is_an_error() {
        let failure = check_not_found(&CleanText::line("Project not found")).expect_err("no project");
        assert_eq!(failure.kind, FailureKind::NotFound);
        assert!(failure.message.as_str().contains("check the project id"), "{failure:?}");
    }
}
