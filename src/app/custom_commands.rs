//! Commands of the user's own: where each holds, what fills its placeholders, and what is said when something is missing.

use super::keymap::{Chord, Context};
use super::{App, CustomCommand, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::command::{self, Placeholder, Unfilled};

impl CustomCommand {
    /// Whether it is about the page selected on the views screen; else it holds on the jobs screen.
    pub fn is_about_a_page(&self) -> bool {
        self.args.iter().any(|word| command::placeholders(word).is_ok_and(|used| used.contains(&Placeholder::Path)))
    }

    /// The contexts whose keys hold where it does.
    pub fn contexts(&self) -> &'static [Context] {
        if self.is_about_a_page() {
            &[Context::Views, Context::Lists, Context::Everywhere]
        } else {
            &[Context::Jobs, Context::Detail, Context::Lists, Context::Everywhere]
        }
    }
}

impl App {
    /// The commands that hold where these contexts do.
    pub fn own_commands(&self, contexts: &[Context]) -> impl Iterator<Item = &CustomCommand> {
        let on_jobs = contexts.iter().any(|context| matches!(context, Context::Jobs | Context::Detail));
        let on_views = contexts.contains(&Context::Views);
        self.config.commands.iter().filter(move |own| if own.is_about_a_page() { on_views } else { on_jobs })
    }

    /// The commands of this moment for which nothing is missing.
    pub fn own_hints(&self) -> impl Iterator<Item = &CustomCommand> {
        self.own_commands(self.contexts()).filter(|own| self.fill(own).is_ok())
    }

    /// Runs the command of this key, if there is one.
    pub(super) fn run_own(&mut self, chord: Chord, now: Time, effects: &mut Vec<Effect>) {
        let Some(own) = self.own_commands(self.contexts()).find(|own| own.key == chord) else { return };
        let name = own.name.clone();
        match self.fill(own) {
            Ok(args) => effects.push(Effect::RunCommand(args)),
            Err(unfilled) => {
                let why = self.why_not(unfilled);
                self.notify(Severity::Problem, &format!("{name} was not run: {why}"), now);
            }
        }
    }

    fn fill(&self, own: &CustomCommand) -> Result<Vec<String>, Unfilled> {
        command::fill(&own.args, |placeholder| self.value_of(placeholder))
    }

    fn value_of(&self, placeholder: Placeholder) -> Option<String> {
        let row = self.jobs.selected();
        match placeholder {
            Placeholder::Pr => row?.pr_address().map(|link| link.to_string()),
            Placeholder::Id => row?.id.as_ref().map(|id| id.as_str().to_owned()),
            Placeholder::Repository => row?.repository.as_ref().map(ToString::to_string),
            Placeholder::Ref => row?.git_ref.as_ref().map(ToString::to_string),
            Placeholder::Path => self.views.selected_row().map(|row| row.path.to_string()),
        }
    }

    fn why_not(&self, unfilled: Unfilled) -> String {
        let whose = if self.screen == Screen::Views { "the selected page" } else { "the selected job" };
        match unfilled {
            Unfilled::Missing(Placeholder::Path) => "no page is selected, so {path} is empty.".to_owned(),
            Unfilled::Missing(_) if self.jobs.selected().is_none() => "no job is selected.".to_owned(),
            Unfilled::Missing(placeholder) => {
                format!("{whose} has no {}, so {placeholder} is empty.", placeholder.meaning())
            }
            Unfilled::LikeAnOption(placeholder) => {
                format!("{placeholder} begins with \"-\", and a program could read it as an option.")
            }
            Unfilled::Unprintable(placeholder) => format!("{placeholder} holds a control character."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::finish_alerts::tests::{app, press};
    use crate::app::help::{Help, HelpLine};
    use crate::app::jobs::tests::{at, row};
    use crate::model::job::Status;
    use crate::model::text::CleanText;

    fn own(key: &str, args: &[&str]) -> CustomCommand {
        CustomCommand {
            key: Chord::parse(key).expect("a key"),
            name: CleanText::line("diff"),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn with(commands: Vec<CustomCommand>) -> App {
        let mut app = app(vec![row(1, Status::Completed)]);
        app.config.commands = commands;
        app
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_key_runs_its_command_with_each_value_as_one_argument() {
        let mut app = with(vec![own("C", &["gh", "pr", "diff", "{pr}", "--id={id}"])]);
        let mut job = row(1, Status::Completed);
        job.pr_link = Some(CleanText::line("https://x/pull/1 $(y)"));
        job.revision += 1;
        app.put(job);
        let args = ["gh", "pr", "diff", "https://x/pull/1%20$(y)", "--id=job-1"].map(str::to_owned).to_vec();
        assert!(press(&mut app, 'C').contains(&Effect::RunCommand(args.clone())));
        app.pane = crate::app::Pane::Detail;
        assert!(press(&mut app, 'C').contains(&Effect::RunCommand(args)), "in the detail too");
    }

    #[test]
    fn a_missing_value_is_named_and_nothing_is_run() {
        let mut app = with(vec![own("C", &["gh", "{pr}"])]);
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        assert_eq!(notice(&app), "diff was not run: the selected job has no pull request, so {pr} is empty.");
        assert_eq!(app.own_hints().count(), 0, "no hint for what would do nothing");
    }

    #[test]
    fn a_value_that_looks_like_an_option_is_refused() {
        let mut app = with(vec![own("C", &["git", "checkout", "{ref}"])]);
        let mut job = row(1, Status::Completed);
        job.git_ref = Some(CleanText::line("--force"));
        job.revision += 1;
        app.put(job);
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        assert_eq!(
            notice(&app),
            "diff was not run: {ref} begins with \"-\", and a program could read it as an option."
        );
    }

    #[test]
    fn a_command_about_a_page_holds_on_the_views_screen_alone() {
        let mut app = with(vec![own("X", &["echo", "{path}"]), own("W", &["date"])]);
        press(&mut app, 'X');
        assert_eq!(notice(&app), "");
        press(&mut app, '2');
        assert!(!press(&mut app, 'W').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
        press(&mut app, 'X');
        assert_eq!(notice(&app), "diff was not run: no page is selected, so {path} is empty.");
    }

    #[test]
    fn a_command_is_typed_text_where_text_is_typed() {
        let mut app = with(vec![own("C", &["date"])]);
        app.update(super::super::Msg::Loaded(Ok(Box::default())), at(0));
        app.put(row(1, Status::Completed));
        press(&mut app, 'n');
        assert!(!press(&mut app, 'C').iter().any(|effect| matches!(effect, Effect::RunCommand(_))));
    }

    #[test]
    fn footer_help_and_presses_follow_keys_of_ones_own() {
        use crate::app::keymap::Context;
        let mut app = app(vec![row(1, Status::Completed)]);
        let chord = |key| Chord::parse(key).expect("a key");
        assert!(app.config.keymap.change(Context::Jobs, "filter", vec![chord("F")]));
        assert!(app.hints().any(|(key, row)| key == chord("F") && row.hint == "filter"));
        let help = app.help_lines(&Help::new(vec![Context::Jobs]), 80);
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
