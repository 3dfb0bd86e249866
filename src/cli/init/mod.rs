//! `docdeck init`: asks in plain lines what a profile needs, checks each answer as it is given, asks the service once whether
//! all of it works, and writes `config.toml`. The key comes from a program, a file, the environment or a line that is not echoed, never from an argument.

mod lines;

use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use crate::api::{Client, ClientOptions, ExtraRoots};
use crate::config::environment::Environment;
use crate::config::key::{KeySource, beside};
use crate::config::write::{needed, save};
use crate::config::{self, ConfigError, Flags, check};
use crate::engine::check::check as asked;
use crate::model::command::words;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{DEFAULT_BASE_URL, DEFAULT_PROFILE, KeySourceInput, NewProfile, WritePermission, typed};
use crate::model::text::CleanText;
use clap::Args;
use lines::AnswerReader;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// What is given beside the options of every command.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Program that prints the API key, with its arguments in one text: "pass show docdeck"; run without a shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "api_key_file")]
    api_key_command: Option<String>,
    /// File that holds nothing but the API key, readable by you alone
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// Organization that the project belongs to, where several share the limit of page views
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// File of certificates (PEM) that are trusted beside those of the system
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Ask nothing: take the options and the environment
    #[arg(long)]
    yes: bool,
    /// With --yes: change the profile where the file has it already
    #[arg(long, requires = "yes")]
    overwrite: bool,
    /// Write without asking the service first
    #[arg(long)]
    no_check: bool,
}

/// Where to write, and what is given already.
struct Given<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    options: &'a Options,
    path: PathBuf,
}

/// Asks, checks, writes.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let path = config::path(flags, environment)?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let given = Given { flags, environment, options, path };
    if options.yes {
        let profile = given.profile()?;
        let needs = needed(&given.path, &profile.name)?;
        if needs == WritePermission::Change && !options.overwrite {
            return Err(CliError::unusable(format!(
                "{} has the profile {} already, and it was left as it is. --overwrite changes it, --profile names another.",
                given.path.display(),
                CleanText::line(&profile.name)
            )));
        }
        if !options.no_check {
            let said = given.check(&profile).await?;
            out.note(said.as_str());
        }
        return given.write(&profile, needs, out);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CliError::unusable(
            "docdeck init asks questions, and there is no terminal to ask them in. Without one: docdeck init --yes \
             --project ID, with the key from DOCDECK_API_KEY, --api-key-command or --api-key-file.",
        ));
    }
    given.ask(out).await
}

impl Given<'_> {
    /// The profile from options and environment alone.
    fn profile(&self) -> Result<NewProfile, CliError> {
        let missing = |what: &str| CliError::unusable(format!("{what} Nothing was written."));
        let project = self.project();
        let project =
            project.ok_or_else(|| missing("There is no project id: give --project or DOCDECK_PROJECT_ID."))?;
        let key = match self.key_option()? {
            Some(key) => key,
            None if matches!(self.environment.api_key, Some(Some(_))) => KeySourceInput::Elsewhere,
            None => {
                let what =
                    "There is no source of the API key: give --api-key-command, --api-key-file or DOCDECK_API_KEY.";
                return Err(missing(what));
            }
        };
        let name = self.flags.profile.clone().or_else(|| self.environment.profile.clone());
        for (what, text) in [("profile name", &name), ("organization", &self.options.organization)] {
            check::no_key(text.as_deref().unwrap_or_default())
                .map_err(|why| missing(&format!("{why} Change the {what}.")))?;
        }
        Ok(NewProfile {
            name: name.unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            base_url: self.base_url().filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: self.options.organization.as_deref().and_then(typed),
            ca_file: self.ca_file(),
            key,
        })
    }

    fn project(&self) -> Option<String> {
        [&self.flags.project, &self.environment.project].into_iter().flatten().find_map(|text| typed(text))
    }

    fn base_url(&self) -> Option<String> {
        [&self.flags.base_url, &self.environment.base_url].into_iter().flatten().find_map(|text| typed(text))
    }

    fn ca_file(&self) -> Option<PathBuf> {
        self.options.ca_file.as_deref().map(absolute)
    }

    /// The source of the key that an option names.
    fn key_option(&self) -> Result<Option<KeySourceInput>, CliError> {
        if let Some(command) = &self.options.api_key_command {
            let words = words(command);
            if words.first().is_none_or(String::is_empty) {
                return Err(CliError::unusable("--api-key-command names no program. Nothing was written."));
            }
            return Ok(Some(KeySourceInput::Command(words)));
        }
        Ok(self.options.api_key_file.as_ref().map(|path| KeySourceInput::File(absolute(path))))
    }

    /// Asks for what is not given, each answer until docdeck accepts it, and goes on with them.
    async fn ask(&self, out: &mut Out) -> Result<Code, CliError> {
        // A file that can't be changed is no surprise after all the answers.
        needed(&self.path, DEFAULT_PROFILE)?;
        let mut lines = AnswerReader::default();
        out.note(&format!("docdeck keeps its settings in {}. Ctrl-C writes nothing.", self.path.display()));
        out.note("You find the key and the project id on the API keys page of the service's dashboard.");
        let mut before = None;
        loop {
            let (profile, key) = self.answers(&mut lines, out, before.as_ref()).await?;
            match self.finish(&mut lines, &profile, key, out).await? {
                Some(code) => return Ok(code),
                None => before = Some(profile),
            }
        }
    }

    /// The answers, with the key if it was read. Options count as answers; the second time all is asked, and what was
    /// answered `before` is the usual answer.
    async fn answers(
        &self,
        lines: &mut AnswerReader,
        out: &mut Out,
        before: Option<&NewProfile>,
    ) -> Result<(NewProfile, Option<ApiKey>), CliError> {
        let given = |option: Option<&String>| option.filter(|_| before.is_none()).cloned();
        let known =
            |answered: Option<&String>, variable: Option<&String>| answered.or(variable).cloned().unwrap_or_default();
        let usual = known(before.map(|profile| &profile.project), self.environment.project.as_ref());
        let project = given(self.flags.project.as_ref());
        let project = ask_until(lines, out, project, ("Project id", &usual), check::project).await?;
        let (key, read) = self.ask_key(lines, out, before.is_none()).await?;
        let usual = before.and_then(|profile| profile.base_url.as_ref()).or(self.environment.base_url.as_ref());
        let usual = usual.map_or(DEFAULT_BASE_URL, String::as_str);
        let base_url = given(self.flags.base_url.as_ref());
        let base_url = ask_until(lines, out, base_url, ("Base URL of the service", usual), check::base_url).await?;
        let question = "Organization, if several of its projects share limits (Enter for none)";
        let usual = known(before.and_then(|profile| profile.organization.as_ref()), None);
        let organization = given(self.options.organization.as_ref());
        let organization = ask_until(lines, out, organization, (question, &usual), check::no_key).await?;
        let name = given(self.flags.profile.as_ref().or(self.environment.profile.as_ref()));
        let usual = before.map_or(DEFAULT_PROFILE, |profile| profile.name.as_str());
        let name = ask_until(lines, out, name, ("Name of this profile", usual), profile_name).await?;
        let mut ca_file = self.ca_file();
        if let Some(file) = &ca_file {
            let question = ("File of certificates (Enter for none)", "");
            let check = |text: &str| match typed(text) {
                Some(text) => check::certificates(&self.path, &absolute(Path::new(&text))),
                None => Ok(()),
            };
            let file = ask_until(lines, out, Some(file.display().to_string()), question, check).await?;
            ca_file = typed(&file).map(|file| absolute(Path::new(&file)));
        }
        let profile = NewProfile {
            name,
            base_url: typed(&base_url).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: typed(&organization),
            ca_file,
            key,
        };
        Ok((profile, read))
    }

    /// Asks where the key comes from until docdeck can read it there; gives it as well, unless it is not set or the user
    /// wants the source although it fails now.
    async fn ask_key(
        &self,
        lines: &mut AnswerReader,
        out: &mut Out,
        with_option: bool,
    ) -> Result<(KeySourceInput, Option<ApiKey>), CliError> {
        let mut given = if with_option { self.key_option()? } else { None };
        loop {
            let source = match given.take() {
                Some(source) => source,
                None => self.ask_source(lines, out).await?,
            };
            let checked = match &source {
                KeySourceInput::Command(words) => check::command(words),
                KeySourceInput::File(file) => check::key_file(&self.path, file),
                KeySourceInput::Elsewhere | KeySourceInput::Typed(_) => Ok(()),
            };
            if let Err(why) = checked {
                out.note(&why);
                continue;
            }
            if self.options.no_check {
                return Ok((source, None));
            }
            match (KeySource::of_new(&source, &self.path), &self.environment.api_key) {
                (Some(place), _) => match place.read().await {
                    Ok(key) => return Ok((source, Some(key))),
                    Err(error) => {
                        out.note(&error.to_string());
                        if lines.is_yes("Use it anyway?").await? {
                            return Ok((source, None));
                        }
                    }
                },
                (None, Some(Some(key))) => return Ok((source, Some(key.clone()))),
                (None, Some(None)) => out.note("DOCDECK_API_KEY is set here, but what it contains can't be a key."),
                (None, None) => return Ok((source, None)),
            }
        }
    }

    async fn ask_source(&self, lines: &mut AnswerReader, out: &mut Out) -> Result<KeySourceInput, CliError> {
        let is_set = matches!(self.environment.api_key, Some(Some(_)));
        let variable = if is_set { "set here" } else { "not set here" };
        for line in [
            "Where does the API key come from?",
            "  1  a command that prints it, like: pass show docdeck",
            "  2  a file that contains only the key",
            "  3  typed now, and stored in the settings, which only you can read",
            &format!("  4  DOCDECK_API_KEY in the environment ({variable})"),
        ] {
            out.note(line);
        }
        loop {
            match lines.ask("1 to 4", if is_set { "4" } else { "3" }).await?.as_str() {
                "1" => {
                    let command = lines.ask("Command and arguments (no shell)", "").await?;
                    return Ok(KeySourceInput::Command(words(&command)));
                }
                "2" => match typed(&lines.ask("File", "").await?) {
                    Some(file) => return Ok(KeySourceInput::File(absolute(Path::new(&file)))),
                    None => out.note("Name the file that contains the key."),
                },
                "3" => match ApiKey::new(&lines.secret("API key (not shown)").await?) {
                    Some(key) => return Ok(KeySourceInput::Typed(key)),
                    None => out.note("This can't be a key: a key is printable ASCII without spaces."),
                },
                "4" => return Ok(KeySourceInput::Elsewhere),
                _ => out.note("Type a number from 1 to 4."),
            }
        }
    }

    /// Tries the profile and writes it, asking where something is in the way; none if the user wants to correct answers.
    async fn finish(
        &self,
        lines: &mut AnswerReader,
        profile: &NewProfile,
        key: Option<ApiKey>,
        out: &mut Out,
    ) -> Result<Option<Code>, CliError> {
        match key {
            _ if self.options.no_check => {}
            None => out.note("There is no key to try, so the service was not asked."),
            Some(key) => {
                out.note("Asking the service once…");
                match self.try_out(profile, key).await {
                    Ok(said) => out.note(said.as_str()),
                    Err(refusal) => {
                        out.note(&refusal.sentence);
                        match lines
                            .ask("Write it anyway? [y = yes, c = correct the answers, N = no]", "")
                            .await?
                            .as_str()
                        {
                            "y" | "Y" | "yes" => {}
                            "c" | "C" => return Ok(None),
                            _ => return Err(CliError::new(refusal.code, "Nothing was written.")),
                        }
                    }
                }
            }
        }
        let needs = needed(&self.path, &profile.name)?;
        let (path, name) = (self.path.display(), CleanText::line(&profile.name));
        let question = match needs {
            WritePermission::Nothing => None,
            WritePermission::Add => {
                Some(format!("{path} already exists. Add the profile {name} to it? The rest stays."))
            }
            WritePermission::Change => Some(format!("{path} already has a profile {name}. Change it? The rest stays.")),
        };
        if let Some(question) = question
            && !lines.is_yes(&question).await?
        {
            return Err(CliError::unusable("Nothing was written."));
        }
        self.write(profile, needs, out).map(Some)
    }

    /// Reads the key and tries the profile.
    async fn check(&self, profile: &NewProfile) -> Result<CleanText, CliError> {
        let key = match (KeySource::of_new(&profile.key, &self.path), &self.environment.api_key) {
            (Some(source), _) => source.read().await?,
            (None, Some(Some(key))) => key.clone(),
            (None, _) => return Err(ConfigError::NoKey { source_name: "DOCDECK_API_KEY".into() }.into()),
        };
        self.try_out(profile, key).await
    }

    /// One GET; what it shows.
    async fn try_out(&self, profile: &NewProfile, key: ApiKey) -> Result<CleanText, CliError> {
        let roots = profile.ca_file.as_deref().map(|file| ExtraRoots::read(&beside(&self.path, file))).transpose();
        let roots = roots.map_err(ConfigError::from)?;
        let client = Client::new(profile.scope(), key, ClientOptions { roots, ..ClientOptions::default() })?;
        Ok(asked(&client).await?)
    }

    fn write(&self, profile: &NewProfile, allowed: WritePermission, out: &mut Out) -> Result<Code, CliError> {
        save(&self.path, profile, allowed).map_err(CliError::unusable)?;
        self.written(profile).lines().for_each(|line| out.line(line));
        Ok(Code::Done)
    }

    /// What was written where, and what to do next.
    fn written(&self, profile: &NewProfile) -> String {
        let key = match &profile.key {
            KeySourceInput::Elsewhere => "the key comes from DOCDECK_API_KEY".to_owned(),
            KeySourceInput::Command(words) => {
                format!("the key comes from the program {}", CleanText::line(words.first().map_or("", String::as_str)))
            }
            KeySourceInput::File(path) => format!("the key comes from {}", path.display()),
            KeySourceInput::Typed(_) => "the key stands in it".to_owned(),
        };
        let (path, name) = (self.path.display(), CleanText::line(&profile.name));
        let mut text = format!("Wrote {path}, which only you can read: profile {name}; {key}.\n");
        if profile.key == KeySourceInput::Elsewhere && self.environment.api_key.is_none() {
            text.push_str("Set the key in your shell first: export DOCDECK_API_KEY=…\n");
        }
        let mut command = "docdeck".to_owned();
        if let Some(config) = &self.flags.config {
            command.push_str(&format!(" --config {}", config.display()));
        }
        let usual = Flags { profile: None, ..self.flags.clone() };
        if !config::profile_of(&usual, self.environment).is_ok_and(|usual| usual == profile.name) {
            command.push_str(&format!(" --profile {name}"));
        }
        text.push_str(&format!(
            "Next: `{command}` opens the dashboard. The file shows all other settings as examples."
        ));
        text
    }
}

/// As given where it begins at the home folder, else from the root: the settings lie in another folder.
fn absolute(path: &Path) -> PathBuf {
    if path.starts_with("~") { path.to_path_buf() } else { std::path::absolute(path).unwrap_or_else(|_| path.into()) }
}

/// The first answer that is accepted: what is given, or else what is typed. Why another one was not is said.
async fn ask_until(
    lines: &mut AnswerReader,
    out: &mut Out,
    mut given: Option<String>,
    (question, usual): (&str, &str),
    accepts: impl Fn(&str) -> Result<(), String>,
) -> Result<String, CliError> {
    loop {
        let answer = match given.take() {
            Some(answer) => answer.trim().to_owned(),
            None => lines.ask(question, usual).await?,
        };
        match accepts(&answer) {
            Ok(()) => return Ok(answer),
            Err(why) => out.note(&why),
        }
    }
}

fn profile_name(answer: &str) -> Result<(), String> {
    if answer.is_empty() { Err("Give the profile a name.".to_owned()) } else { check::no_key(answer) }
}
