//! Outcomes of sent prompts that can't be written to the store. They are shown to the user, so that no prompt is sent
//! twice and no job id is lost.

use super::engine_event::EngineEvent;
use super::prompt::{Delivery, PromptId, PromptKind};
use super::remote_job::JobId;
use super::text::{CleanText, sentence_case};

/// The outcome of sending a prompt, if it could not be written to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedOutcome {
    pub prompt: PromptId,
    pub kind: PromptKind,
    /// The job's id, if the service has returned one.
    pub id: Option<JobId>,
    pub outcome: Delivery,
    pub problem: StoreWriteProblem,
    /// Whether docdeck still tries to write the outcome to the store.
    pub is_retried: bool,
}

/// Why the store can't be written, and what the user can do about it, as parts of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreWriteProblem {
    /// The reason, for example “the disk is full”.
    pub reason: CleanText,
    /// What the user can do, for example “free some space”.
    pub remedy: CleanText,
}

impl UnrecordedOutcome {
    /// Whether the service has carried out or may have carried out the prompt.
    pub fn may_have_taken_effect(&self) -> bool {
        matches!(self.outcome, Delivery::Accepted | Delivery::Unconfirmed(_))
    }

    /// Returns sentences for the user: what happened, and what to do. A warning not to send the prompt again comes
    /// last, because the dashboard shortens the other sentences first.
    pub fn sentence(&self) -> CleanText {
        let id = self.id.as_ref().map(|id| id.to_clean_text().to_string()).unwrap_or_default();
        let what = match (&self.outcome, self.kind) {
            (Delivery::Accepted, PromptKind::Create) => format!("Job {id} was created."),
            (Delivery::Accepted, PromptKind::FollowUp) => format!("The follow-up to {id} was accepted."),
            (Delivery::Unconfirmed(_), PromptKind::Create) => {
                "The answer was lost, so the job may have been created.".to_owned()
            }
            (Delivery::Unconfirmed(_), PromptKind::FollowUp) => {
                format!("The answer was lost, so the follow-up to {id} may have arrived.")
            }
            (Delivery::Rejected(reason), _) => format!("The service rejected the prompt. {reason}"),
            (Delivery::Queued { .. }, _) => "The prompt was not sent, because the hourly limit is reached.".to_owned(),
            (Delivery::NotSent(reason), _) => format!("The prompt did not reach the service. {reason}"),
            _ => "The prompt did not reach the service.".to_owned(),
        };
        let StoreWriteProblem { reason: problem, remedy } = &self.problem;
        let remedy = sentence_case(remedy.as_str());
        let warning = if self.may_have_taken_effect() { " Don't send the prompt again." } else { "" };
        CleanText::line(&format!("{what} The outcome can't be recorded: {problem}. {remedy}.{warning}"))
    }
}

/// All unrecorded outcomes, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnrecordedOutcomes {
    all: Vec<UnrecordedOutcome>,
    /// The last prompt whose outcome was written only after an earlier attempt had failed. Removed by
    /// `take_if_recorded_late`.
    prompt_recorded_late: Option<PromptId>,
}

impl UnrecordedOutcomes {
    /// Whether every outcome is on disk.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, prompt: PromptId) -> Option<&UnrecordedOutcome> {
        self.all.iter().find(|unrecorded| unrecorded.prompt == prompt)
    }

    pub fn iter(&self) -> impl Iterator<Item = &UnrecordedOutcome> {
        self.all.iter()
    }

    /// Returns true if writing the outcome of `prompt` to disk failed at first and succeeded later. The user then
    /// already knows the outcome from the message about the failure. Only the last such prompt is remembered. A call
    /// that returns true forgets the prompt, so the next call returns false.
    pub fn take_if_recorded_late(&mut self, prompt: PromptId) -> bool {
        self.prompt_recorded_late.take_if(|recorded| *recorded == prompt).is_some()
    }

    /// Updates the outcomes from an event. Returns the text to show, or `None` if the event doesn't concern an
    /// unrecorded outcome.
    pub fn apply(&mut self, event: &EngineEvent) -> Option<CleanText> {
        match event {
            EngineEvent::Unrecorded(unrecorded) => {
                self.all.retain(|known| known.prompt != unrecorded.prompt);
                self.all.push((**unrecorded).clone());
                Some(unrecorded.sentence())
            }
            EngineEvent::Recorded(prompt) => {
                let at = self.all.iter().position(|known| known.prompt == *prompt)?;
                self.prompt_recorded_late = Some(*prompt);
                let id = self.all.remove(at).id.map(|id| id.to_clean_text().to_string());
                let what = id.unwrap_or_else(|| "the prompt".to_owned());
                Some(CleanText::line(&format!("Recorded now: {what}.")))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unrecorded(kind: PromptKind, outcome: Delivery) -> String {
        let problem = StoreWriteProblem {
            reason: CleanText::line("the disk is full"),
            remedy: CleanText::line("free some space"),
        };
        let id = JobId::new("job_0042");
        UnrecordedOutcome { prompt: PromptId(1), kind, id, outcome, problem, is_retried: true }.sentence().to_string()
    }

    #[test]
    fn only_a_prompt_that_may_have_arrived_must_not_be_sent_again() {
        use PromptKind::{Create, FollowUp};
        let full = "The outcome can't be recorded: the disk is full. Free some space.";
        assert_eq!(
            unrecorded(Create, Delivery::Accepted),
            format!("Job job_0042 was created. {full} Don't send the prompt again.")
        );
        assert_eq!(
            unrecorded(FollowUp, Delivery::Accepted),
            format!("The follow-up to job_0042 was accepted. {full} Don't send the prompt again.")
        );
        let reason = || CleanText::line("The service says no (400).");
        assert_eq!(
            unrecorded(Create, Delivery::Rejected(reason())),
            format!("The service rejected the prompt. The service says no (400). {full}")
        );
        assert_eq!(
            unrecorded(Create, Delivery::NotSent(reason())),
            format!("The prompt did not reach the service. The service says no (400). {full}")
        );
        assert!(unrecorded(FollowUp, Delivery::Unconfirmed(reason())).ends_with("Don't send the prompt again."));
        assert_eq!(
            unrecorded(Create, Delivery::Queued { until: None }),
            format!("The prompt was not sent, because the hourly limit is reached. {full}")
        );
    }
}
