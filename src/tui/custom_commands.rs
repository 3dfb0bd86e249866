//! Custom commands from the configuration: on which screens each command applies, and the values of its placeholders.

use super::keymap::{Chord, Context};
use super::{App, CustomCommand, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::command::{self, FillError, Placeholder};

impl CustomCommand {
    /// Whether the command contains the placeholder `{path}`. Such a command applies to the page views, the first
    /// tab of the analytics screen. Any other command applies on the jobs screen.
    pub fn is_about_a_page(&self) -> bool {
        self.args.iter().any(|word| command::placeholders(word).is_ok_and(|used| used.contains(&Placeholder::Path)))
    }

    /// Returns the contexts that are active when the command applies. The key of the command must not be bound in any
    /// of these contexts.
    pub fn contexts(&self) -> &'static [Context] {
        if self.is_about_a_page() {
            &[Context::Views, Context::Lists, Context::Everywhere]
        } else {
            &[Context::Jobs, Context::Detail, Context::Lists, Context::Everywhere]
        }
    }
}

impl App {
    /// Returns the custom commands that apply in these contexts.
    pub fn commands_in(&self, contexts: &[Context]) -> impl Iterator<Item = &CustomCommand> {
        let on_jobs = contexts.iter().any(|context| matches!(context, Context::Jobs | Context::Detail));
        let on_views = contexts.contains(&Context::Views);
        self.config.commands.iter().filter(move |custom| if custom.is_about_a_page() { on_views } else { on_jobs })
    }

    /// Returns the custom commands that apply now and whose placeholders all have a value.
    pub fn runnable_commands(&self) -> impl Iterator<Item = &CustomCommand> {
        self.commands_in(self.contexts()).filter(|custom| self.fill_placeholders(custom).is_ok())
    }

    /// Runs the custom command with this keyboard key, if there is one.
    pub(super) fn run_custom_command(&mut self, chord: Chord, now: Time, effects: &mut Vec<Effect>) {
        let Some(custom) = self.commands_in(self.contexts()).find(|custom| custom.key == chord) else { return };
        let name = custom.name.clone();
        match self.fill_placeholders(custom) {
            Ok(args) => effects.push(Effect::RunCommand(args)),
            Err(unfilled) => {
                let why = self.fill_error_text(unfilled);
                self.notify(Severity::Info, &format!("{name} was not run: {why}"), now);
            }
        }
    }

    fn fill_placeholders(&self, custom: &CustomCommand) -> Result<Vec<String>, FillError> {
        command::fill_arguments(&custom.args, |placeholder| self.placeholder_value(placeholder))
    }

    fn placeholder_value(&self, placeholder: Placeholder) -> Option<String> {
        let row = self.jobs.selected();
        match placeholder {
            Placeholder::Pr => row?.pr_url().map(|link| link.to_string()),
            Placeholder::Id => row?.id.as_ref().map(|id| id.as_str().to_owned()),
            Placeholder::Repository => row?.remote.source.repository.as_ref().map(ToString::to_string),
            Placeholder::Ref => row?.remote.source.git_ref.as_ref().map(ToString::to_string),
            Placeholder::Path => self.views.selected_row().map(|row| row.path.to_string()),
        }
    }

    fn fill_error_text(&self, unfilled: FillError) -> String {
        let subject = if self.screen == Screen::Analytics { "the selected page" } else { "the selected job" };
        match unfilled {
            FillError::Missing(Placeholder::Path) => "no page is selected, so {path} is empty.".to_owned(),
            FillError::Missing(_) if self.jobs.selected().is_none() => "no job is selected.".to_owned(),
            FillError::Missing(placeholder) => {
                format!("{subject} has no {}, so {placeholder} is empty.", placeholder.meaning())
            }
            FillError::LooksLikeOption(placeholder) => {
                format!("{placeholder} starts with \"-\", so a program could read it as an option.")
            }
            FillError::Unprintable(placeholder) => format!("{placeholder} contains a control character."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::JobsMsg;
    use crate::tui::finish_alerts::tests::{app, press};
    use crate::tui::help::{Help, HelpLine};
    use crate::tui::jobs::tests::{at, row};

    fn command(key: &str, args: &[&str]) -> CustomCommand {
        CustomCommand {
            key: Chord::parse(key).expect("a key"),
            name: CleanText::line("diff"),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn app_with_commands(commands: Vec<CustomCommand>) -> App {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.config.commands = commands;
        app
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_key_runs_its_command_with_each_value_as_one_argument() {
        let mut app = app_with_commands(vec![command("C", &["gh", "pr", "diff", "{pr}", "--id={id}"])]);
        let mut job = row(1, Status::Completed);
        job.remote.pr_link = Some(CleanText::line("https://x/pull/1 $(y)"));
        job.revision += 1;
        app.put_job(job);
        let args = ["gh", "pr", "diff", "https://x/pull/1%20$(y)", "--id=job-1"].map(str::to_owned).to_vec();
        assert!(press(&mut app, 'C').contains(&Effect::RunCommand(args.clone())));
        app.pane = crate::tui::Pane::Detail;
        assert!(press(&mut app, 'C').contains(&Effect::RunCommand(args)), "in the details too");
    }

    #[test]
    fn a_command_with_a_missing_value_is_not_run_and_a_notice_names_the_value() {
        let mut app = app_with_commands(vec![command("C", &["gh", "{pr}"])]);
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        assert_eq!(notice(&app), "diff was not run: the selected job has no pull request, so {pr} is empty.");
        assert_eq!(app.runnable_commands().count(), 0, "no hint for a command that can't run");
    }

    #[test]
    fn a_value_that_looks_like_an_option_is_refused() {
        let mut app = app_with_commands(vec![command("C", &["git", "checkout", "{ref}"])]);
        let mut job = row(1, Status::Completed);
        job.remote.source.git_ref = Some(CleanText::line("--force"));
        job.revision += 1;
        app.put_job(job);
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        assert_eq!(notice(&app), "diff was not run: {ref} starts with \"-\", so a program could read it as an option.");
    }

    #[test]
    fn a_command_with_a_page_applies_only_to_the_page_views() {
        let mut app = app_with_commands(vec![command("X", &["echo", "{path}"]), command("W", &["date"])]);
        press(&mut app, 'X');
        assert_eq!(notice(&app), "");
        press(&mut app, '2');
        assert!(!press(&mut app, 'W').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        press(&mut app, 'X');
        assert_eq!(notice(&app), "diff was not run: no page is selected, so {path} is empty.");
    }

    #[test]
    fn in_a_text_input_the_key_of_a_command_types_text() {
        let mut app = app_with_commands(vec![command("C", &["date"])]);
        app.update(super::super::Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::default()))), at(0));
        app.put_job(row(1, Status::Completed));
        press(&mut app, 'n');
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
    }

    #[test]
    fn configured_keys_are_used_in_the_footer_in_the_help_and_for_key_presses() {
        use crate::tui::keymap::Context;
        let mut app = app(vec![row(1, Status::Completed)]);
        let chord = |key| Chord::parse(key).expect("a key");
        assert!(app.config.keymap.set_keys(Context::Jobs, "filter", vec![chord("F")]));
        assert!(app.hints().any(|(key, row, _)| key == chord("F") && row.hint == "filter"));
        let help = Help::new(&app).lines(&app, 80);
        assert!(
            help.iter()
                .any(|line| matches!(line, HelpLine::Key(keys, what) if keys == "F" && what.starts_with("filter")))
        );
        press(&mut app, '/');
        assert!(app.dialogs.is_empty());
        press(&mut app, 'F');
        assert_eq!(app.dialogs.len(), 1);
    }
}
