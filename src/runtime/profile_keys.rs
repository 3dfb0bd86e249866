//! Reads API keys for the dashboard, and switches to another profile. A program that prints the key gets the terminal,
//! because it may ask for a password.

use super::event_loop::Dashboard;
use super::foreground_child::ForegroundChild;
use crate::config::key::KeySource;
use crate::model::endpoint::ApiKey;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::setup::KeySourceInput;
use crate::model::text::CleanText;
use crate::tui::{Effect, Msg, ProfilesEffect, ProfilesMsg};
use std::io::Write as _;

impl Dashboard {
    /// Starts to read the API key of a new profile; a message with the key arrives later. If the key comes from a
    /// program, and that program can't get the terminal, returns the message with this failure at once.
    pub(super) fn read_key(&mut self, attempt: u64, key: KeySourceInput) -> Option<Msg> {
        let profile_effects = self.effects.profile_effects().clone();
        let Some(KeySource::Command(words)) = profile_effects.key_source(&key) else {
            self.effects.run(Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt, key }));
            return None;
        };
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let read = async move {
            Msg::Profiles(ProfilesMsg::NewProfileKeyRead { attempt, result: profile_effects.read_key(&key).await })
        };
        let failure = self.run_key_program(&program, read).err()?;
        Some(Msg::Profiles(ProfilesMsg::NewProfileKeyRead { attempt, result: Err(failure) }))
    }

    /// Starts to read the API key of a profile; a message with the key arrives later. If the key comes from a program,
    /// and that program can't get the terminal, returns the message with this failure at once.
    pub(super) fn read_profile_key(&mut self, profile_index: usize) -> Option<Msg> {
        let read = self.profiles.read_key(profile_index);
        let Some(program) = self.profiles.key_program(profile_index) else {
            self.effects.spawn(read);
            return None;
        };
        let failure = self.run_key_program(&program, read).err()?;
        Some(Msg::Profiles(ProfilesMsg::ProfileKeyRead(profile_index, Err(failure))))
    }

    /// Gives the terminal to `program`, while `read` reads the key that `program` prints.
    ///
    /// # Errors
    /// Fails if the terminal is not available.
    fn run_key_program(
        &mut self,
        program: &CleanText,
        read: impl Future<Output = Msg> + Send + 'static,
    ) -> Result<(), Failure> {
        if self.session.is_released() {
            return Err(Failure::local("Another program is using the terminal; the key was not read."));
        }
        self.session.release();
        let mut out = std::io::stdout().lock();
        // An error is ignored here: if the terminal is gone, docdeck can't take it back after the program either, and
        // that second error ends the dashboard.
        let _ = writeln!(out, "Running {program} for the key (timeout 10 s).").and_then(|()| out.flush());
        self.foreground = Some(ForegroundChild::from_task(read));
        Ok(())
    }

    /// Switches to this profile: later effects use its project and its key. Returns a message only if that fails.
    pub(super) fn switch_profile(&mut self, profile_index: usize, key: ApiKey) -> Option<Msg> {
        match self.profiles.engine_config(profile_index, key) {
            Ok(connection) => {
                self.effects.switch_project(connection, &mut self.engine_events);
                None
            }
            // The key was just tested with this profile, so the only possible cause is an unreadable certificate file.
            Err(failure) => Some(Msg::Engine(EngineEvent::InternalFailure(failure))),
        }
    }
}
