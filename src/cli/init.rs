//! `docdeck init`: opens the setup form with the values of the options or, with `--yes`, checks them without questions.
//! Writes `config.toml`. The API key comes from a command, a file, the environment or the form, never from an argument.

use super::dashboard::detect_terminal;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::welcome::SetupPage;
use crate::config::check::{KEY_ENTERED_AS_SOURCE_MESSAGE, check_field};
use crate::config::environment::Environment;
use crate::config::file::read_config_file;
use crate::config::key::KeySource;
use crate::config::write::{required_permission, write_profile};
use crate::config::{self, ConfigError, GlobalOptions, display_settings};
use crate::model::endpoint::API_KEY_VARIABLE;
use crate::model::setup::{
    ConfigWritePermission, DEFAULT_PROFILE, ExistingSettings, KeyPresence, KeySourceChoice, KeySourceInput, NewProfile,
    SetupField, SetupForm, SetupProblem, SetupPurpose, non_blank,
};
use crate::model::text::CleanText;
use crate::runtime::profile_effects::ProfileEffectRunner;
use crate::tui::welcome::Welcome;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// get the API key from this command, like "pass show docdeck"; it is run without a shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "api_key_file")]
    api_key_command: Option<String>,
    /// get the API key from this file, which contains only the key and which only you can read
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// set the organization that your projects belong to on the service; needed only if you use several projects,
    /// since they share its analytics limit
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// trust the certificates in this PEM file as well as the system's
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// show no form; use the options and the environment
    #[arg(long)]
    yes: bool,
    /// with --yes, change the profile if it exists
    #[arg(long, requires = "yes")]
    overwrite: bool,
    /// with --yes, skip the request that checks key and project
    #[arg(long, requires = "yes")]
    no_check: bool,
}

struct InitCommand<'a> {
    global_options: &'a GlobalOptions,
    environment: &'a Environment,
    options: &'a Options,
    /// Runs the effects of the setup form: checks the fields, tests the profile with a request, and writes the profile.
    /// Contains the path of the configuration file, and the key from the environment.
    profile_effects: ProfileEffectRunner,
}

/// Runs `docdeck init`.
pub(super) async fn run(
    global_options: &GlobalOptions,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let path = config::path(global_options, environment)?;
    let config_path = std::path::absolute(&path).unwrap_or(path);
    let configured_key_source = environment.api_key.clone().flatten().map(KeySource::Literal);
    let profile_effects = ProfileEffectRunner { config_path, configured_key_source };
    let init = InitCommand { global_options, environment, options, profile_effects };
    let form = init.filled_form();
    if options.yes { init.run_without_questions(&form, out).await } else { init.show_form(form, out).await }
}

impl InitCommand<'_> {
    fn config_path(&self) -> &Path {
        &self.profile_effects.config_path
    }

    /// Returns the form with the values from the options and the environment.
    fn filled_form(&self) -> SetupForm {
        let (global_options, options, environment) = (self.global_options, self.options, self.environment);
        let has_variable = self.profile_effects.configured_key_source.is_some();
        let existing = ExistingSettings {
            profile: DEFAULT_PROFILE.to_owned(),
            base_url: environment.base_url.clone(),
            project: environment.project.clone(),
            key: if has_variable { KeyPresence::Environment } else { KeyPresence::NotSet },
            ..ExistingSettings::default()
        };
        let mut form = SetupForm::new(SetupPurpose::FirstProfile, &existing);
        // Paths on the command line are relative to the current folder, but docdeck reads relative paths in the
        // configuration file from the folder of that file. So the form gets absolute paths.
        let absolute = |path: &PathBuf| match path.starts_with("~") {
            true => path.display().to_string(),
            false => std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        };
        let values = [
            (SetupField::Command, options.api_key_command.clone()),
            (SetupField::File, options.api_key_file.as_ref().map(absolute)),
            (SetupField::Project, global_options.project.clone()),
            (SetupField::BaseUrl, global_options.base_url.clone()),
            (SetupField::Organization, options.organization.clone()),
            (SetupField::CaFile, options.ca_file.as_ref().map(absolute)),
            (SetupField::Name, global_options.profile.clone().or_else(|| environment.profile.clone())),
        ];
        for (field, text) in values.into_iter().filter_map(|(field, text)| Some((field, non_blank(&text?)?))) {
            let sources = [KeySourceChoice::Command, KeySourceChoice::File];
            form.source = sources.into_iter().find(|source| source.field() == field).unwrap_or(form.source);
            form.set_text(field, text);
        }
        form
    }

    /// Shows the setup form, which tests and saves the profile.
    async fn show_form(&self, form: SetupForm, out: &mut Out) -> Result<Code, CliError> {
        let (environment, path) = (self.environment, self.config_path());
        detect_terminal(environment).map_err(|_| {
            CliError::local_error(
                "docdeck init shows a form, which needs an interactive terminal. Without one, run docdeck init --yes \
                 --project ID, with the key from DOCDECK_API_KEY, --api-key-command or --api-key-file.",
            )
        })?;
        let file = read_config_file(path)?.map(|found| found.file).unwrap_or_default();
        let page = SetupPage {
            display: display_settings(self.global_options, environment, &file.ui, path),
            customization: file.customization(),
            profile_effects: self.profile_effects.clone(),
        };
        let form = Welcome::from_form(form, CleanText::line(&path.display().to_string()), 0);
        let (_, form) = page.show(self.global_options, Box::new(form), environment).await?;
        match form.as_ref().and_then(|form| form.saved_profile()) {
            Some(profile) => self.print_success(profile, out),
            None => Err(CliError::new(Code::Interrupted, "Nothing was written.")),
        }
    }

    /// Checks and writes the profile that the options and the environment describe.
    async fn run_without_questions(&self, form: &SetupForm, out: &mut Out) -> Result<Code, CliError> {
        // The reason may end with a command to copy, so it comes last.
        let unwritten = |why: &str| CliError::local_error(format!("Nothing was written. {why}"));
        let profile = form.profile().map_err(|problem| match problem.field {
            Some(SetupField::Project) => unwritten("The project id is missing: set --project or DOCDECK_PROJECT_ID."),
            Some(SetupField::Key) => {
                unwritten("The API key is missing: set --api-key-command, --api-key-file or DOCDECK_API_KEY.")
            }
            _ => unwritten(problem.sentence.as_str()),
        })?;
        // With `--no-check`, the files of the key and of the certificates don't have to exist yet.
        let is_file = |field: &SetupField| matches!(field, SetupField::File | SetupField::CaFile);
        let fields = form.main_fields().into_iter().chain(form.optional_fields());
        for field in fields.filter(|field| !self.options.no_check || !is_file(field)) {
            check_field(self.config_path(), &profile, field)
                .map_err(|problem| unwritten(&field_problem(field, &profile, &problem)))?;
        }
        let needs = required_permission(self.config_path(), &profile.name)?;
        if needs == ConfigWritePermission::Change && !self.options.overwrite {
            return Err(CliError::local_error(format!(
                "{} already has a profile {}, so nothing was written. Change it with --overwrite, or choose another \
                 name with --profile.",
                self.config_path().display(),
                CleanText::line(&profile.name)
            )));
        }
        self.check_with_request(&profile, out).await?;
        write_profile(self.config_path(), &profile, needs).map_err(CliError::local_error)?;
        self.print_success(&profile, out)
    }

    /// Reads the API key and checks the profile with one GET request, unless `--no-check` is used.
    async fn check_with_request(&self, profile: &NewProfile, out: &mut Out) -> Result<(), CliError> {
        if self.options.no_check {
            return Ok(());
        }
        if profile.key == KeySourceInput::SetElsewhere && self.profile_effects.configured_key_source.is_none() {
            return Err(ConfigError::NoKey { source_name: API_KEY_VARIABLE.into() }.into());
        }
        let key = self.profile_effects.read_key(&profile.key).await?;
        out.note("Checking the settings with one request…");
        out.note(self.profile_effects.test_profile(profile, key).await?.as_str());
        Ok(())
    }

    fn print_success(&self, profile: &NewProfile, out: &mut Out) -> Result<Code, CliError> {
        self.success_message(profile).lines().for_each(|line| out.print_line(line));
        Ok(Code::Done)
    }

    /// Returns the message about a saved profile: what was written, and what to do next.
    fn success_message(&self, profile: &NewProfile) -> String {
        let key = match &profile.key {
            KeySourceInput::SetElsewhere => "the key comes from DOCDECK_API_KEY".to_owned(),
            KeySourceInput::Command(words) => {
                format!("the key comes from the command {}", CleanText::line(words.first().map_or("", String::as_str)))
            }
            KeySourceInput::File(path) => format!("the key comes from {}", path.display()),
            KeySourceInput::Typed(_) => "it contains the key".to_owned(),
        };
        let (path, name) = (self.config_path().display(), CleanText::line(&profile.name));
        let mut text = format!("Wrote {path}, which only you can read: profile {name}; {key}.\n");
        if profile.key == KeySourceInput::SetElsewhere && self.environment.api_key.is_none() {
            text.push_str("Set the key in your shell first: export DOCDECK_API_KEY=…\n");
        }
        let mut command = "docdeck".to_owned();
        if let Some(config) = &self.global_options.config {
            command.push_str(&format!(" --config {}", config.display()));
        }
        let default_flags = GlobalOptions { profile: None, ..self.global_options.clone() };
        if !config::current_profile_name(&default_flags, self.environment).is_ok_and(|name| name == profile.name) {
            command.push_str(&format!(" --profile {name}"));
        }
        text.push_str(&format!(
            "Next: run `{command}` to open the dashboard. The file has examples of all other settings."
        ));
        text
    }
}

/// Returns the sentence about an invalid field. If a command or a file is expected, but the text is the key itself, the
/// sentence names the option, because the form's advice to choose another source doesn't help without the form.
fn field_problem(field: SetupField, profile: &NewProfile, problem: &SetupProblem) -> String {
    if problem.sentence.as_str() != KEY_ENTERED_AS_SOURCE_MESSAGE {
        return format!("{}: {}", field.label(), problem.sentence);
    }
    let option = if matches!(profile.key, KeySourceInput::File(_)) { "--api-key-file" } else { "--api-key-command" };
    format!(
        "{option}: this looks like the key itself. Set DOCDECK_API_KEY to the key instead, or run `docdeck init` \
         without --yes and type the key there."
    )
}
