//! `docdeck init`: asks for the settings of a profile, checks each answer, checks the whole profile with one request,
//! and writes `config.toml`. The API key comes from a command, a file, the environment or hidden input, never from an
//! argument.

mod lines;

use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use crate::config::check::check_field;
use crate::config::environment::Environment;
use crate::config::key::KeySource;
use crate::config::write::{required_permission, write_profile};
use crate::config::{self, ConfigError, Flags};
use crate::model::endpoint::API_KEY_VARIABLE;
use crate::model::setup::{
    DEFAULT_PROFILE, ExistingSettings, KeyPresence, KeySourceChoice, KeySourceInput, NewProfile, SetupField, SetupForm,
    SetupPurpose, WritePermission, non_blank,
};
use crate::model::text::CleanText;
use crate::runtime::first_run::FirstRun;
use clap::Args;
use lines::{ask_line, ask_secret};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// get the API key from this command, like "pass show docdeck"; it is run without a shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "api_key_file")]
    api_key_command: Option<String>,
    /// get the API key from this file, which contains only the key and which only you can read
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// set the organization if several of its projects share the limit for page views
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// trust the certificates in this PEM file as well as the system's
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// ask nothing; use the options and the environment
    #[arg(long)]
    yes: bool,
    /// with --yes, change the profile if it exists
    #[arg(long, requires = "yes")]
    overwrite: bool,
    /// skip the request that checks key and project
    #[arg(long)]
    no_check: bool,
}

struct Init<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    options: &'a Options,
    /// The configuration file to write, and the key from the environment.
    first_run: FirstRun,
}

/// Runs `docdeck init`.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let path = config::path(flags, environment)?;
    let config = std::path::absolute(&path).unwrap_or(path);
    let source = environment.api_key.clone().flatten().map(KeySource::Literal);
    let init = Init { flags, environment, options, first_run: FirstRun { config, source } };
    let (form, given) = init.filled_form();
    if options.yes {
        return init.run_without_questions(&form, out).await;
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CliError::unusable(
            "docdeck init needs a terminal to ask questions. Without one, run docdeck init --yes --project ID, with \
             the key from DOCDECK_API_KEY, --api-key-command or --api-key-file.",
        ));
    }
    init.ask(form, given, out).await
}

impl Init<'_> {
    fn config(&self) -> &Path {
        &self.first_run.config
    }

    /// Returns the form with the values from the options and the environment, and the fields that options set.
    fn filled_form(&self) -> (SetupForm, Vec<SetupField>) {
        let (flags, options, environment) = (self.flags, self.options, self.environment);
        let has_variable = self.first_run.source.is_some();
        let existing = ExistingSettings {
            profile: DEFAULT_PROFILE.to_owned(),
            base_url: environment.base_url.clone(),
            project: environment.project.clone(),
            key: if has_variable { KeyPresence::Environment } else { KeyPresence::No },
            ..ExistingSettings::default()
        };
        let mut form = SetupForm::new(SetupPurpose::FirstProfile, &existing);
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let values = [
            (SetupField::Command, options.api_key_command.clone()),
            (SetupField::File, path(&options.api_key_file)),
            (SetupField::Project, flags.project.clone()),
            (SetupField::BaseUrl, flags.base_url.clone()),
            (SetupField::Organization, options.organization.clone()),
            (SetupField::CaFile, path(&options.ca_file)),
            (SetupField::Name, flags.profile.clone().or_else(|| environment.profile.clone())),
        ];
        let mut given = Vec::new();
        for (field, text) in values.into_iter().filter_map(|(field, text)| Some((field, text?))) {
            let source = [KeySourceChoice::Command, KeySourceChoice::File].into_iter().find(|of| of.field() == field);
            if let Some(source) = source {
                form.source = source;
                given.push(SetupField::Source);
            }
            answer(&mut form, field, &text);
            given.push(field);
        }
        (form, given)
    }

    /// Checks and writes the profile that the options and the environment describe.
    async fn run_without_questions(&self, form: &SetupForm, out: &mut Out) -> Result<Code, CliError> {
        let unwritten = |why: &str| CliError::unusable(format!("{why} Nothing was written."));
        let profile = form.profile().map_err(|problem| match problem.field {
            Some(SetupField::Project) => unwritten("The project id is missing: set --project or DOCDECK_PROJECT_ID."),
            Some(SetupField::Key) => {
                unwritten("The API key is missing: set --api-key-command, --api-key-file or DOCDECK_API_KEY.")
            }
            _ => unwritten(problem.sentence.as_str()),
        })?;
        // Without the check, files can be missing: they may not exist yet.
        let is_file = |field: &SetupField| matches!(field, SetupField::File | SetupField::CaFile);
        for field in questions(form).into_iter().filter(|field| !self.options.no_check || !is_file(field)) {
            check_field(self.config(), &profile, field)
                .map_err(|problem| unwritten(&format!("{}: {}", field.label(), problem.sentence)))?;
        }
        let needs = required_permission(self.config(), &profile.name)?;
        if needs == WritePermission::Change && !self.options.overwrite {
            return Err(CliError::unusable(format!(
                "{} already has a profile {}, so nothing was written. Change it with --overwrite, or choose another \
                 name with --profile.",
                self.config().display(),
                CleanText::line(&profile.name)
            )));
        }
        self.check(&profile, out).await?;
        self.write(&profile, needs, out)
    }

    /// Asks for all fields that no option sets, then checks and writes the profile.
    async fn ask(&self, mut form: SetupForm, mut given: Vec<SetupField>, out: &mut Out) -> Result<Code, CliError> {
        // Fail before the first question if the file exists but is unreadable or invalid.
        required_permission(self.config(), DEFAULT_PROFILE)?;
        out.note(&format!("The settings will be written to {}. Press Ctrl-C to cancel.", self.config().display()));
        let profile = loop {
            self.ask_questions(&mut form, std::mem::take(&mut given), out).await?;
            let profile = form.profile().map_err(|problem| CliError::unusable(problem.sentence))?;
            if self.is_accepted(&profile, out).await? {
                break profile;
            }
        };
        let needs = required_permission(self.config(), &profile.name)?;
        let path = CleanText::line(&self.config().display().to_string());
        if let Some(question) = needs.question(&path, &CleanText::line(&profile.name))
            && !matches!(ask_line(&format!("{question} [y/N] ")).await?.to_ascii_lowercase().as_str(), "y" | "yes")
        {
            return Err(CliError::unusable("Nothing was written."));
        }
        self.write(&profile, needs, out)
    }

    /// Asks for each field that is not in `given` until its value is valid.
    async fn ask_questions(
        &self,
        form: &mut SetupForm,
        mut given: Vec<SetupField>,
        out: &mut Out,
    ) -> Result<(), CliError> {
        let mut at = 0;
        // The answer about the source of the key decides what the next question is.
        while let Some(field) = questions(form).get(at).copied() {
            let is_given = given.contains(&field);
            if !is_given {
                ask_field(form, field, out).await?;
            }
            let checked = form.check(field).and_then(|()| check_field(self.config(), &form.unchecked_profile(), field));
            let Err(problem) = checked else {
                at += 1;
                continue;
            };
            out.note(problem.sentence.as_str());
            if is_given {
                form.set_text(field, String::new());
                given.retain(|other| *other != field);
            }
            if field == form.source.field() {
                given.retain(|other| *other != SetupField::Source);
                at = 0;
            }
        }
        Ok(())
    }

    /// Checks the profile. If that fails, asks what to do. Returns false if the user wants to correct the answers.
    async fn is_accepted(&self, profile: &NewProfile, out: &mut Out) -> Result<bool, CliError> {
        if profile.key == KeySourceInput::SetElsewhere && self.environment.api_key.is_none() {
            out.note("No key yet, so the settings were not checked.");
            return Ok(true);
        }
        let Err(error) = self.check(profile, out).await else { return Ok(true) };
        out.note(&error.sentence);
        let question = "Write the file anyway? [y = yes, c = correct the answers, N = no]: ";
        match ask_line(question).await?.to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(true),
            "c" => Ok(false),
            _ => Err(CliError::new(error.code, "Nothing was written.")),
        }
    }

    /// Reads the API key and checks the profile with one GET request, unless `--no-check` is used.
    async fn check(&self, profile: &NewProfile, out: &mut Out) -> Result<(), CliError> {
        if self.options.no_check {
            return Ok(());
        }
        if profile.key == KeySourceInput::SetElsewhere && self.first_run.source.is_none() {
            return Err(ConfigError::NoKey { source_name: API_KEY_VARIABLE.into() }.into());
        }
        let key = self.first_run.read_key(&profile.key).await?;
        out.note("Checking the settings with one request…");
        out.note(self.first_run.test(profile, key).await?.as_str());
        Ok(())
    }

    fn write(&self, profile: &NewProfile, allowed: WritePermission, out: &mut Out) -> Result<Code, CliError> {
        write_profile(self.config(), profile, allowed).map_err(CliError::unusable)?;
        self.success_message(profile).lines().for_each(|line| out.line(line));
        Ok(Code::Done)
    }

    /// Returns the message after writing: what was written, and what to do next.
    fn success_message(&self, profile: &NewProfile) -> String {
        let key = match &profile.key {
            KeySourceInput::SetElsewhere => "the key comes from DOCDECK_API_KEY".to_owned(),
            KeySourceInput::Command(words) => {
                format!("the key comes from the command {}", CleanText::line(words.first().map_or("", String::as_str)))
            }
            KeySourceInput::File(path) => format!("the key comes from {}", path.display()),
            KeySourceInput::Typed(_) => "it contains the key".to_owned(),
        };
        let (path, name) = (self.config().display(), CleanText::line(&profile.name));
        let mut text = format!("Wrote {path}, which only you can read: profile {name}; {key}.\n");
        if profile.key == KeySourceInput::SetElsewhere && self.environment.api_key.is_none() {
            text.push_str("Set the key in your shell first: export DOCDECK_API_KEY=…\n");
        }
        let mut command = "docdeck".to_owned();
        if let Some(config) = &self.flags.config {
            command.push_str(&format!(" --config {}", config.display()));
        }
        let default_flags = Flags { profile: None, ..self.flags.clone() };
        if !config::current_profile_name(&default_flags, self.environment).is_ok_and(|name| name == profile.name) {
            command.push_str(&format!(" --profile {name}"));
        }
        text.push_str(&format!(
            "Next: run `{command}` to open the dashboard. The file has examples of all other settings."
        ));
        text
    }
}

/// Returns the fields to ask for, in order.
fn questions(form: &SetupForm) -> Vec<SetupField> {
    let needs_answer = |field: &SetupField| *field != SetupField::Key || form.source == KeySourceChoice::Typed;
    let main = form.main_fields().into_iter().filter(needs_answer);
    let more = form.more_fields().into_iter().filter(|field| *field != SetupField::Source);
    [SetupField::Source].into_iter().chain(main).chain(more).collect()
}

/// Asks for a field once. An empty answer keeps its value.
async fn ask_field(form: &mut SetupForm, field: SetupField, out: &mut Out) -> Result<(), CliError> {
    match field {
        SetupField::Source => ask_source(form, out).await?,
        SetupField::Key => {
            let secret = ask_secret("API key (not shown): ").await?;
            form.secret.clear();
            form.secret.push(secret.trim());
        }
        field => {
            if field != form.source.field() {
                out.note(&form.explanation(field));
            }
            let default = match (form.text(field), form.placeholder(field)) {
                ("", "needed") => String::new(),
                ("", default) | (default, _) => format!(" [{default}]"),
            };
            let text = ask_line(&format!("{}{default}: ", field.label())).await?;
            answer(form, field, &text);
        }
    }
    Ok(())
}

/// Asks where the key comes from, and explains the chosen source.
async fn ask_source(form: &mut SetupForm, out: &mut Out) -> Result<(), CliError> {
    let sources = form.sources();
    out.note("Where does the API key come from?");
    for (n, source) in (1..).zip(&sources) {
        out.note(&format!("  {n}  {}", source.name()));
    }
    let chosen = sources.iter().position(|source| *source == form.source).map_or(1, |at| at + 1);
    loop {
        let text = ask_line(&format!("1 to {} [{chosen}]: ", sources.len())).await?;
        let n = if text.is_empty() { Some(chosen) } else { text.parse().ok() };
        if let Some(source) = n.and_then(|n| sources.get(n.checked_sub(1)?)) {
            form.source = *source;
            out.note(&form.explanation(SetupField::Source));
            return Ok(());
        }
        out.note(&format!("Type a number from 1 to {}.", sources.len()));
    }
}

/// Sets a field, unless the answer is blank. Makes paths absolute, because docdeck reads relative paths in the settings
/// from the folder of the configuration file. A path that starts with `~` is not changed.
fn answer(form: &mut SetupForm, field: SetupField, text: &str) {
    let Some(text) = non_blank(text) else { return };
    let is_path = matches!(field, SetupField::File | SetupField::CaFile) && !text.starts_with('~');
    let path = is_path.then(|| std::path::absolute(&text).ok()).flatten();
    form.set_text(field, path.map_or(text, |path| path.display().to_string()));
}
