//! What the user changes about prompts that wait to be sent: hold them, move them in the line, take them out.

use super::keymap::{Action, Context};
use super::overlay::{Consequence, Overlay, Question};
use super::{App, Effect, Tone, format};
use crate::model::Time;
use crate::model::change::QueueChange;
use crate::model::prompt::DeliveryKind;
use crate::model::row::{JobKey, JobRow};

/// Whether a job's prompt waits, held or not.
pub(super) fn waits(row: &JobRow) -> bool {
    matches!(row.undelivered, Some(DeliveryKind::Queued | DeliveryKind::Paused))
}

impl App {
    /// The jobs that a change of the queue is for.
    fn queue_targets(&self) -> Vec<JobKey> {
        self.jobs.selected().filter(|row| waits(row)).map(|row| row.key).into_iter().collect()
    }

    pub(super) fn change_queue(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let jobs = self.queue_targets();
        if jobs.is_empty() {
            self.say(Tone::Info, "Nothing of this job waits to be sent.", now);
            return;
        }
        // Held ones are released only when all of them are held.
        let held = |key: &JobKey| self.jobs.get(*key).is_some_and(|row| row.undelivered == Some(DeliveryKind::Paused));
        let (change, said) = match action {
            Action::QueuePause if jobs.iter().all(held) => {
                (QueueChange::Release, "Released; it goes out when its turn comes.".to_owned())
            }
            Action::QueuePause => {
                let release = self.told(Context::Jobs, Action::QueuePause);
                (QueueChange::Pause, format!("Paused; {release} releases it."))
            }
            Action::QueueUp => (QueueChange::Up, "One place forward in the queue.".to_owned()),
            Action::QueueDown => (QueueChange::Down, "One place back in the queue.".to_owned()),
            Action::QueueRemove => {
                let what = format::plural(jobs.len(), "job");
                let text = format!("Take {what} out of the queue? The prompt stays in the record and is never sent.");
                let yes = Consequence::Queue(jobs, QueueChange::Remove);
                self.overlays.push(Overlay::Question(Question { text, yes }));
                return;
            }
            _ => return,
        };
        self.say(Tone::Info, &said, now);
        effects.push(Effect::ChangeQueue(jobs, change));
    }
}
