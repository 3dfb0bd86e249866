//! Checks the key and the project of a new profile with one GET for a probe job, which does not exist. This
//! request doesn't count toward the hourly limits. The message states exactly what the response proves.

use crate::api::{ApiError, Client};
use crate::model::failure::{Failure, FailureKind};
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use chrono::Utc;

/// An id that no service assigns.
const PROBE_JOB_ID: &str = "docdeck-asks-whether-the-key-works";

/// Makes the GET for the probe job. Returns a sentence that states what the response proves.
///
/// # Errors
/// The key is refused, the project is unknown, the limit is reached, the service can't be reached,
/// or it responded unexpectedly.
pub async fn probe_key(client: &Client) -> Result<CleanText, Failure> {
    let Some(id) = JobId::new(PROBE_JOB_ID) else {
        return Err(Failure::local("The probe job has no valid id."));
    };
    let response = client.get_job(&id).await;
    match response.result {
        Ok(_) => Ok(CleanText::line("The key works, and the project exists.")),
        Err(ApiError::NotFound { service_text, is_html_page: false, .. }) => interpret_not_found(&service_text),
        // A response with a job proves that the key works, even if that job has another id than requested.
        Err(ApiError::OtherJob { .. }) => Ok(CleanText::line("The key works (the service answered with a job).")),
        Err(error) => Err(error.failure(response.date.unwrap_or_else(Utc::now))),
    }
}

/// Returns a failure if a 404 means that the project is missing, and not the job. Returns `None` if `service_text`,
/// the text of the 404, does not mention a project.
pub fn missing_project_failure(service_text: &CleanText) -> Option<Failure> {
    if !service_text.as_str().to_ascii_lowercase().contains("project") {
        return None;
    }
    let sentence = format!(
        "The key works, but the project was not found (404: “{service_text}”): check the project id and the base URL."
    );
    Some(Failure::new(FailureKind::NotFound, &sentence))
}

/// Returns what a 404 with this text proves. The service responds to a refused key with 401 or 403, so a
/// 404 proves that the key works. Only its text shows whether the project or the job is missing.
fn interpret_not_found(service_text: &CleanText) -> Result<CleanText, Failure> {
    if let Some(failure) = missing_project_failure(service_text) {
        return Err(failure);
    }
    let quoted = if service_text.is_empty() { String::new() } else { format!(" (“{service_text}”)") };
    Ok(CleanText::line(&format!(
        "The key works: the test asked for a job that doesn't exist, and the service answered that there is none{quoted}. Your first job will show whether the key may \
         start jobs in this project."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_404_proves_only_that_the_key_works() {
        let quoted = interpret_not_found(&CleanText::line("Job not found")).expect("a good answer");
        for part in ["The key works", "“Job not found”", "Your first job"] {
            assert!(quoted.as_str().contains(part), "{quoted}");
        }
        assert!(interpret_not_found(&CleanText::default()).is_ok(), "no text is documented");
    }

    #[test]
    fn a_404_about_the_project_is_an_error() {
        let failure = interpret_not_found(&CleanText::line("Project not found")).expect_err("no project");
        assert_eq!(failure.kind, FailureKind::NotFound);
        assert!(failure.message.as_str().contains("check the project id"), "{failure:?}");
    }
}
