//! Trying out a new profile with one request that no limit counts: a look at a job that nobody made. What its answer
//! proves is said, and what it doesn't.

use crate::api::{ApiError, Client};
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobId;
use crate::model::text::CleanText;
use chrono::Utc;

/// An id that no service gives out.
const MADE_UP: &str = "docdeck-asks-whether-the-key-works";

/// One GET. Gives what the answer shows, as a sentence.
///
/// # Errors
/// The key is refused, the service knows no such project, the limit is used up, nothing answered, or something else did.
pub async fn check(client: &Client) -> Result<CleanText, Failure> {
    let Some(id) = JobId::new(MADE_UP) else {
        return Err(Failure::new(FailureKind::Local, "There is no id to ask for."));
    };
    let answer = client.get_job(&id).await;
    match answer.result {
        Ok(_) => Ok(CleanText::line("The service takes the key and knows the project.")),
        Err(ApiError::NotFound { words, is_page: false, .. }) => not_found(&words),
        // Some answer came that is a job of another id, whatever the service means by it.
        Err(ApiError::OtherJob { .. }) => Ok(CleanText::line("The service takes the key and answers with a job.")),
        Err(error) => Err(error.failure(answer.date.unwrap_or_else(Utc::now))),
    }
}

/// Why a 404 with these words is about the project and no job; none when nothing says so.
pub fn no_project(words: &CleanText) -> Option<Failure> {
    if !words.as_str().to_ascii_lowercase().contains("project") {
        return None;
    }
    let sentence = format!(
        "The service takes the key but does not seem to know the project (404: “{words}”): check the project id and the base URL."
    );
    Some(Failure::new(FailureKind::NotFound, &sentence))
}

/// A refused key is 401 or 403 (api.md), so this one was not refused; which of project and job is unknown, only the
/// service's words tell.
fn not_found(words: &CleanText) -> Result<CleanText, Failure> {
    if let Some(failure) = no_project(words) {
        return Err(failure);
    }
    let said = if words.is_empty() { String::new() } else { format!(" (“{words}”)") };
    Ok(CleanText::line(&format!(
        "The service did not refuse the key: a made-up job got its 404{said}. The project id, and the right to start \
         jobs, show at first use."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_404_says_that_the_key_was_not_refused_and_no_more() {
        let said = not_found(&CleanText::line("Job not found")).expect("a good answer");
        for part in ["did not refuse the key", "“Job not found”", "first use"] {
            assert!(said.as_str().contains(part), "{said}");
        }
        assert!(not_found(&CleanText::default()).is_ok(), "no words are documented");
    }

    #[test]
    fn a_404_about_the_project_is_no_good_answer() {
        let failure = not_found(&CleanText::line("Project not found")).expect_err("no project");
        assert_eq!(failure.kind, FailureKind::NotFound);
        assert!(failure.sentence.as_str().contains("check the project id"), "{failure:?}");
    }
}
