//! `docdeck init`: asks for the settings of a profile, checks each answer, checks the whole profile with one request,
//! and writes `config.toml`. The API key comes from a command, a file, the environment or hidden input, never from an
//! argument.

mod lines;

use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use crate::api::{Client, ClientOptions, ExtraRoots};
use crate::config::environment::Environment;
use crate::config::key::{KeySource, resolve_path};
use crate::config::write::{required_permission, write_profile};
use crate::config::{self, ConfigError, Flags, check};
use crate::engine::check::probe_key as check_connection;
use crate::model::command::split_command_line;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{DEFAULT_BASE_URL, DEFAULT_PROFILE, KeySourceInput, NewProfile, WritePermission, non_blank};
use crate::model::text::CleanText;
use clap::Args;
use lines::AnswerReader;
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

/// The configuration file to write, and the answers that the options and the environment give.
struct InitInput<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    options: &'a Options,
    path: PathBuf,
}

/// Runs `docdeck init`.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let path = config::path(flags, environment)?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let given = InitInput { flags, environment, options, path };
    if options.yes {
        let profile = given.profile()?;
        let needs = required_permission(&given.path, &profile.name)?;
        if needs == WritePermission::Change && !options.overwrite {
            return Err(CliError::unusable(format!(
                "{} already has a profile {}, so nothing was written. Change it with --overwrite, or choose another \
                 name with --profile.",
                given.path.display(),
                CleanText::line(&profile.name)
            )));
        }
        if !options.no_check {
            let message = given.check(&profile).await?;
            out.note(message.as_str());
        }
        return given.write(&profile, needs, out);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CliError::unusable(
            "docdeck init needs a terminal to ask questions. Without one, run docdeck init --yes --project ID, with \
             the key from DOCDECK_API_KEY, --api-key-command or --api-key-file.",
        ));
    }
    given.ask(out).await
}

impl InitInput<'_> {
    /// Returns the profile that the options and the environment describe, without asking anything.
    fn profile(&self) -> Result<NewProfile, CliError> {
        let missing = |what: &str| CliError::unusable(format!("{what} Nothing was written."));
        let project = self.project();
        let project =
            project.ok_or_else(|| missing("The project id is missing: set --project or DOCDECK_PROJECT_ID."))?;
        let key = match self.key_option()? {
            Some(key) => key,
            None if matches!(self.environment.api_key, Some(Some(_))) => KeySourceInput::SetElsewhere,
            None => {
                let what = "The API key is missing: set --api-key-command, --api-key-file or DOCDECK_API_KEY.";
                return Err(missing(what));
            }
        };
        let name = self.flags.profile.clone().or_else(|| self.environment.profile.clone());
        for (what, text) in [("profile name", &name), ("organization", &self.options.organization)] {
            check::check_is_not_key(text.as_deref().unwrap_or_default())
                .map_err(|why| missing(&format!("{why} Change the {what}.")))?;
        }
        Ok(NewProfile {
            name: name.unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            base_url: self.base_url().filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: self.options.organization.as_deref().and_then(non_blank),
            ca_file: self.ca_file(),
            key,
        })
    }

    fn project(&self) -> Option<String> {
        [&self.flags.project, &self.environment.project].into_iter().flatten().find_map(|text| non_blank(text))
    }

    fn base_url(&self) -> Option<String> {
        [&self.flags.base_url, &self.environment.base_url].into_iter().flatten().find_map(|text| non_blank(text))
    }

    fn ca_file(&self) -> Option<PathBuf> {
        self.options.ca_file.as_deref().map(absolute)
    }

    /// Returns the source of the API key that the options select, or `None` if they select none.
    fn key_option(&self) -> Result<Option<KeySourceInput>, CliError> {
        if let Some(command) = &self.options.api_key_command {
            let words = split_command_line(command);
            if words.first().is_none_or(String::is_empty) {
                return Err(CliError::unusable("--api-key-command is empty. Nothing was written."));
            }
            return Ok(Some(KeySourceInput::Command(words)));
        }
        Ok(self.options.api_key_file.as_ref().map(|path| KeySourceInput::File(absolute(path))))
    }

    /// Asks for all settings that no option sets, then checks and writes the profile. Repeats each question until the
    /// answer is valid.
    async fn ask(&self, out: &mut Out) -> Result<Code, CliError> {
        // Fail before the first question if the file exists but is unreadable or invalid.
        required_permission(&self.path, DEFAULT_PROFILE)?;
        let mut lines = AnswerReader::default();
        out.note(&format!("The settings will be written to {}. Press Ctrl-C to cancel.", self.path.display()));
        out.note("The key and the project id are on the API keys page of the service's dashboard.");
        let mut before = None;
        loop {
            let (profile, key) = self.ask_questions(&mut lines, out, before.as_ref()).await?;
            match self.check_and_write(&mut lines, &profile, key, out).await? {
                Some(code) => return Ok(code),
                None => before = Some(profile),
            }
        }
    }

    /// Asks the questions. Returns the profile, and the API key if it was read. The first time, `before` is `None` and
    /// options replace questions. Later, every question is asked, and the answers in `before` are the defaults.
    async fn ask_questions(
        &self,
        lines: &mut AnswerReader,
        out: &mut Out,
        before: Option<&NewProfile>,
    ) -> Result<(NewProfile, Option<ApiKey>), CliError> {
        let given = |option: Option<&String>| option.filter(|_| before.is_none()).cloned();
        let known =
            |answered: Option<&String>, variable: Option<&String>| answered.or(variable).cloned().unwrap_or_default();
        let default = known(before.map(|profile| &profile.project), self.environment.project.as_ref());
        let project = given(self.flags.project.as_ref());
        let project = ask_until_valid(lines, out, project, ("Project id", &default), check::check_project).await?;
        let (key, read) = self.ask_key(lines, out, before.is_none()).await?;
        let default = before.and_then(|profile| profile.base_url.as_ref()).or(self.environment.base_url.as_ref());
        let default = default.map_or(DEFAULT_BASE_URL, String::as_str);
        let base_url = given(self.flags.base_url.as_ref());
        let base_url =
            ask_until_valid(lines, out, base_url, ("Base URL of the service", default), check::check_base_url).await?;
        let question = "Organization, if several of its projects share limits (Enter for none)";
        let default = known(before.and_then(|profile| profile.organization.as_ref()), None);
        let organization = given(self.options.organization.as_ref());
        let organization =
            ask_until_valid(lines, out, organization, (question, &default), check::check_is_not_key).await?;
        let name = given(self.flags.profile.as_ref().or(self.environment.profile.as_ref()));
        let default = before.map_or(DEFAULT_PROFILE, |profile| profile.name.as_str());
        let name = ask_until_valid(lines, out, name, ("Name of this profile", default), check_profile_name).await?;
        let mut ca_file = self.ca_file();
        if let Some(file) = &ca_file {
            let question = ("File of certificates (Enter for none)", "");
            let check = |text: &str| match non_blank(text) {
                Some(text) => check::check_certificates(&self.path, &absolute(Path::new(&text))),
                None => Ok(()),
            };
            let file = ask_until_valid(lines, out, Some(file.display().to_string()), question, check).await?;
            ca_file = non_blank(&file).map(|file| absolute(Path::new(&file)));
        }
        let profile = NewProfile {
            name,
            base_url: non_blank(&base_url).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: non_blank(&organization),
            ca_file,
            key,
        };
        Ok((profile, read))
    }

    /// Asks for the source of the API key until the key can be read. Returns the source and the key. The key is `None`
    /// in three cases: `--no-check` is used, the user chose DOCDECK_API_KEY but it is not set, or the user keeps a
    /// source that fails.
    async fn ask_key(
        &self,
        lines: &mut AnswerReader,
        out: &mut Out,
        uses_option: bool,
    ) -> Result<(KeySourceInput, Option<ApiKey>), CliError> {
        let mut given = if uses_option { self.key_option()? } else { None };
        loop {
            let source = match given.take() {
                Some(source) => source,
                None => self.ask_source(lines, out).await?,
            };
            let checked = match &source {
                KeySourceInput::Command(words) => check::check_key_command(words),
                KeySourceInput::File(file) => check::check_key_file(&self.path, file),
                KeySourceInput::SetElsewhere | KeySourceInput::Typed(_) => Ok(()),
            };
            if let Err(why) = checked {
                out.note(&why);
                continue;
            }
            if self.options.no_check {
                return Ok((source, None));
            }
            match (KeySource::from_input(&source, &self.path), &self.environment.api_key) {
                (Some(place), _) => match place.read().await {
                    Ok(key) => return Ok((source, Some(key))),
                    Err(error) => {
                        out.note(&error.to_string());
                        if lines.confirm("Use it anyway?").await? {
                            return Ok((source, None));
                        }
                    }
                },
                (None, Some(Some(key))) => return Ok((source, Some(key.clone()))),
                (None, Some(None)) => out.note("DOCDECK_API_KEY is set, but its value can't be a key."),
                (None, None) => return Ok((source, None)),
            }
        }
    }

    async fn ask_source(&self, lines: &mut AnswerReader, out: &mut Out) -> Result<KeySourceInput, CliError> {
        let is_set = matches!(self.environment.api_key, Some(Some(_)));
        let variable = if is_set { "set" } else { "not set" };
        for line in [
            "Where does the API key come from?",
            "  1  a command that prints it, like: pass show docdeck",
            "  2  a file that contains only the key",
            "  3  type it now; it is saved in the settings, which only you can read",
            &format!("  4  DOCDECK_API_KEY in the environment ({variable})"),
        ] {
            out.note(line);
        }
        loop {
            match lines.ask("1 to 4", if is_set { "4" } else { "3" }).await?.as_str() {
                "1" => {
                    let command = lines.ask("Command and arguments (no shell)", "").await?;
                    return Ok(KeySourceInput::Command(split_command_line(&command)));
                }
                "2" => match non_blank(&lines.ask("File", "").await?) {
                    Some(file) => return Ok(KeySourceInput::File(absolute(Path::new(&file)))),
                    None => out.note("Enter the file that contains the key."),
                },
                "3" => match ApiKey::new(&lines.ask_secret("API key (not shown)").await?) {
                    Some(key) => return Ok(KeySourceInput::Typed(key)),
                    None => out.note("Invalid key: a key is printable ASCII without spaces."),
                },
                "4" => return Ok(KeySourceInput::SetElsewhere),
                _ => out.note("Type a number from 1 to 4."),
            }
        }
    }

    /// Checks the profile with one request and writes it. Asks for confirmation if the check failed or the file exists.
    /// Returns `None` if the user wants to correct the answers.
    async fn check_and_write(
        &self,
        lines: &mut AnswerReader,
        profile: &NewProfile,
        key: Option<ApiKey>,
        out: &mut Out,
    ) -> Result<Option<Code>, CliError> {
        match key {
            _ if self.options.no_check => {}
            None => out.note("No key yet, so the settings were not checked."),
            Some(key) => {
                out.note("Checking the settings with one request…");
                match self.check_with_request(profile, key).await {
                    Ok(message) => out.note(message.as_str()),
                    Err(error) => {
                        out.note(&error.sentence);
                        match lines
                            .ask("Write the file anyway? [y = yes, c = correct the answers, N = no]", "")
                            .await?
                            .as_str()
                        {
                            "y" | "Y" | "yes" => {}
                            "c" | "C" => return Ok(None),
                            _ => return Err(CliError::new(error.code, "Nothing was written.")),
                        }
                    }
                }
            }
        }
        let needs = required_permission(&self.path, &profile.name)?;
        let path = CleanText::line(&self.path.display().to_string());
        if let Some(question) = needs.question(&path, &CleanText::line(&profile.name))
            && !lines.confirm(&question).await?
        {
            return Err(CliError::unusable("Nothing was written."));
        }
        self.write(profile, needs, out).map(Some)
    }

    /// Reads the API key and checks the profile with one GET request.
    async fn check(&self, profile: &NewProfile) -> Result<CleanText, CliError> {
        let key = match (KeySource::from_input(&profile.key, &self.path), &self.environment.api_key) {
            (Some(source), _) => source.read().await?,
            (None, Some(Some(key))) => key.clone(),
            (None, _) => return Err(ConfigError::NoKey { source_name: "DOCDECK_API_KEY".into() }.into()),
        };
        self.check_with_request(profile, key).await
    }

    /// Checks the profile with one GET request and returns the result as a message.
    async fn check_with_request(&self, profile: &NewProfile, key: ApiKey) -> Result<CleanText, CliError> {
        let roots =
            profile.ca_file.as_deref().map(|file| ExtraRoots::read(&resolve_path(&self.path, file))).transpose();
        let roots = roots.map_err(ConfigError::from)?;
        let client = Client::new(profile.scope(), key, ClientOptions { roots, ..ClientOptions::default() })?;
        Ok(check_connection(&client).await?)
    }

    fn write(&self, profile: &NewProfile, allowed: WritePermission, out: &mut Out) -> Result<Code, CliError> {
        write_profile(&self.path, profile, allowed).map_err(CliError::unusable)?;
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
        let (path, name) = (self.path.display(), CleanText::line(&profile.name));
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

/// Makes a path absolute, because docdeck reads relative paths in the settings from the folder of the configuration
/// file. A path that starts with `~` is not changed.
fn absolute(path: &Path) -> PathBuf {
    if path.starts_with("~") { path.to_path_buf() } else { std::path::absolute(path).unwrap_or_else(|_| path.into()) }
}

/// Returns the first valid answer: `given` if it is valid, otherwise what the user types. Prints why an answer is
/// invalid.
async fn ask_until_valid(
    lines: &mut AnswerReader,
    out: &mut Out,
    mut given: Option<String>,
    (question, default): (&str, &str),
    accepts: impl Fn(&str) -> Result<(), String>,
) -> Result<String, CliError> {
    loop {
        let answer = match given.take() {
            Some(answer) => answer.trim().to_owned(),
            None => lines.ask(question, default).await?,
        };
        match accepts(&answer) {
            Ok(()) => return Ok(answer),
            Err(why) => out.note(&why),
        }
    }
}

fn check_profile_name(answer: &str) -> Result<(), String> {
    if answer.is_empty() { Err("Enter a name for the profile.".to_owned()) } else { check::check_is_not_key(answer) }
}
