//! `docdeck init`: asks in plain lines what a profile needs, asks the service once whether it works, and writes
//! `config.toml`. The key comes from a program, a file, the environment or a line that is not echoed, never from an argument.

mod lines;

use super::code::Code;
use super::out::Out;
use super::refusal::Refusal;
use crate::api::{Client, ClientOptions, ExtraRoots};
use crate::config::environment::Environment;
use crate::config::key::{KeySource, beside};
use crate::config::write::{needed, save};
use crate::config::{self, ConfigError, Flags};
use crate::engine::check::check;
use crate::model::command::words;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{Allowed, DEFAULT_BASE_URL, DEFAULT_PROFILE, KeyFrom, NewProfile, typed};
use crate::model::text::CleanText;
use clap::Args;
use lines::Lines;
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
) -> Result<Code, Refusal> {
    let path = config::path(flags, environment)?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let given = Given { flags, environment, options, path };
    if options.yes {
        let profile = given.profile()?;
        let needs = needed(&given.path, &profile.name)?;
        if needs == Allowed::Change && !options.overwrite {
            return Err(Refusal::unusable(format!(
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
        return Err(Refusal::unusable(
            "docdeck init asks questions, and there is no terminal to ask them in. Without one: docdeck init --yes \
             --project ID, with the key from DOCDECK_API_KEY, --api-key-command or --api-key-file.",
        ));
    }
    given.ask(out).await
}

impl Given<'_> {
    /// The profile from options and environment alone.
    fn profile(&self) -> Result<NewProfile, Refusal> {
        let missing = |what: &str| Refusal::unusable(format!("{what} Nothing was written."));
        let project = self.project();
        let project =
            project.ok_or_else(|| missing("There is no project id: give --project or DOCDECK_PROJECT_ID."))?;
        let key = match self.key_option()? {
            Some(key) => key,
            None if matches!(self.environment.api_key, Some(Some(_))) => KeyFrom::Elsewhere,
            None => {
                let what =
                    "There is no source of the API key: give --api-key-command, --api-key-file or DOCDECK_API_KEY.";
                return Err(missing(what));
            }
        };
        let name = self.flags.profile.clone().or_else(|| self.environment.profile.clone());
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
    fn key_option(&self) -> Result<Option<KeyFrom>, Refusal> {
        if let Some(command) = &self.options.api_key_command {
            let words = words(command);
            if words.first().is_none_or(String::is_empty) {
                return Err(Refusal::unusable("--api-key-command names no program. Nothing was written."));
            }
            return Ok(Some(KeyFrom::Command(words)));
        }
        Ok(self.options.api_key_file.as_ref().map(|path| KeyFrom::File(absolute(path))))
    }

    /// Asks for what is not given, and goes on with it.
    async fn ask(&self, out: &mut Out) -> Result<Code, Refusal> {
        let mut lines = Lines::default();
        out.note(&format!("docdeck keeps its settings in {}. Ctrl-C writes nothing.", self.path.display()));
        out.note("Key and project id stand on the API keys page of the service's dashboard.");
        let project = match &self.flags.project {
            Some(project) => project.trim().to_owned(),
            None => {
                ask_until(&mut lines, "Project id", self.environment.project.as_deref().unwrap_or_default()).await?
            }
        };
        let key = match self.key_option()? {
            Some(key) => key,
            None => self.ask_key(&mut lines, out).await?,
        };
        let base_url = match &self.flags.base_url {
            Some(url) => url.clone(),
            None => {
                let usual = self.environment.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
                lines.ask("Base URL of the service", usual).await?
            }
        };
        let organization = match &self.options.organization {
            Some(organization) => organization.clone(),
            None => lines.ask("Organization, if several projects share its limits (else just Enter)", "").await?,
        };
        let name = match self.flags.profile.as_ref().or(self.environment.profile.as_ref()) {
            Some(name) => name.clone(),
            None => lines.ask("Name of this profile", DEFAULT_PROFILE).await?,
        };
        let profile = NewProfile {
            name,
            base_url: typed(&base_url).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: typed(&organization),
            ca_file: self.ca_file(),
            key,
        };
        self.finish(&mut lines, &profile, out).await
    }

    async fn ask_key(&self, lines: &mut Lines, out: &mut Out) -> Result<KeyFrom, Refusal> {
        let is_set = matches!(self.environment.api_key, Some(Some(_)));
        let variable = if is_set { "set here" } else { "not set here" };
        for line in [
            "Where does the API key come from?",
            "  1  a program that prints it, like: pass show docdeck",
            "  2  a file that holds nothing else",
            "  3  typed now, and kept in the settings, which only you can read",
            &format!("  4  DOCDECK_API_KEY in the environment ({variable})"),
        ] {
            out.note(line);
        }
        loop {
            match lines.ask("1 to 4", if is_set { "4" } else { "3" }).await?.as_str() {
                "1" => {
                    let words = words(&ask_until(lines, "Program and arguments (no shell)", "").await?);
                    if words.first().is_some_and(|program| !program.is_empty()) {
                        return Ok(KeyFrom::Command(words));
                    }
                }
                "2" => {
                    let path = PathBuf::from(ask_until(lines, "File", "").await?);
                    return Ok(KeyFrom::File(absolute(&path)));
                }
                "3" => match ApiKey::new(&lines.secret("API key (not shown)").await?) {
                    Some(key) => return Ok(KeyFrom::Typed(key)),
                    None => out.note("That can't be a key: nothing was typed, or a character that a key can't have."),
                },
                "4" => return Ok(KeyFrom::Elsewhere),
                _ => out.note("A number from 1 to 4."),
            }
        }
    }

    /// Checks and writes, asking where something is in the way.
    async fn finish(&self, lines: &mut Lines, profile: &NewProfile, out: &mut Out) -> Result<Code, Refusal> {
        let unset = profile.key == KeyFrom::Elsewhere && !matches!(self.environment.api_key, Some(Some(_)));
        if unset {
            out.note("DOCDECK_API_KEY is not set here, so the service was not asked.");
        } else if !self.options.no_check {
            out.note("Asking the service once…");
            match self.check(profile).await {
                Ok(said) => out.note(said.as_str()),
                Err(refusal) => {
                    out.note(&refusal.sentence);
                    if !lines.is_yes("Write it all the same?").await? {
                        return Err(Refusal::new(refusal.code, "Nothing was written."));
                    }
                }
            }
        }
        let needs = needed(&self.path, &profile.name)?;
        let (path, name) = (self.path.display(), CleanText::line(&profile.name));
        let question = match needs {
            Allowed::Nothing => None,
            Allowed::Add => Some(format!("{path} is there already. Add the profile {name}? All else in it stays.")),
            Allowed::Change => Some(format!("{path} has a profile {name}. Change it? All else in the file stays.")),
        };
        if let Some(question) = question
            && !lines.is_yes(&question).await?
        {
            return Err(Refusal::unusable("Nothing was written."));
        }
        self.write(profile, needs, out)
    }

    /// One GET; what it shows.
    async fn check(&self, profile: &NewProfile) -> Result<CleanText, Refusal> {
        let key = match (KeySource::of_new(&profile.key, &self.path), &self.environment.api_key) {
            (Some(source), _) => source.read().await?,
            (None, Some(Some(key))) => key.clone(),
            (None, _) => return Err(ConfigError::NoKey { source_name: "DOCDECK_API_KEY".into() }.into()),
        };
        let roots = profile.ca_file.as_deref().map(|file| ExtraRoots::read(&beside(&self.path, file))).transpose();
        let roots = roots.map_err(ConfigError::from)?;
        let client = Client::new(profile.scope(), key, ClientOptions { roots, ..ClientOptions::default() })?;
        Ok(check(&client).await?)
    }

    fn write(&self, profile: &NewProfile, allowed: Allowed, out: &mut Out) -> Result<Code, Refusal> {
        save(&self.path, profile, allowed).map_err(Refusal::unusable)?;
        self.written(profile).lines().for_each(|line| out.line(line));
        Ok(Code::Done)
    }

    /// What was written where, and what to do next.
    fn written(&self, profile: &NewProfile) -> String {
        let key = match &profile.key {
            KeyFrom::Elsewhere => "the key comes from DOCDECK_API_KEY".to_owned(),
            KeyFrom::Command(words) => {
                format!("the key comes from the program {}", CleanText::line(words.first().map_or("", String::as_str)))
            }
            KeyFrom::File(path) => format!("the key comes from {}", path.display()),
            KeyFrom::Typed(_) => "the key stands in it".to_owned(),
        };
        let (path, name) = (self.path.display(), CleanText::line(&profile.name));
        let mut text = format!("Wrote {path}, which only you can read: profile {name}; {key}.\n");
        if profile.key == KeyFrom::Elsewhere && self.environment.api_key.is_none() {
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

async fn ask_until(lines: &mut Lines, question: &str, usual: &str) -> Result<String, Refusal> {
    loop {
        let answer = lines.ask(question, usual).await?;
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
}
