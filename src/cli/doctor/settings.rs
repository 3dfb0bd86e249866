//! The configuration: what it is and where each value comes from, by the rules of [`crate::config`], but going on after a
//! mistake.

use super::super::data_folder::quoted;
use super::modes::permissions;
use super::report::{DoctorReport, masked};
use crate::api::{Client, ClientOptions, ExtraRoots};
use crate::app::format::plural;
use crate::cli::customization;
use crate::config::environment::Environment;
use crate::config::file::{ConfigFile, LoadedFile, ProfileConfig};
use crate::config::key::{self, KeySource};
use crate::config::sources::{self, SettingSource, Sourced};
use crate::config::{ChosenTheme, ConfigError, DisplaySettings, Flags, file, themes};
use crate::model::endpoint::{ApiKey, KEY_VARIABLE, Scope};
use crate::model::setup::DEFAULT_BASE_URL;
use std::path::{Path, PathBuf};

/// What was made out of the configuration, as far as it goes.
#[derive(Debug)]
pub(super) struct ResolvedSettings {
    pub(super) scope: Option<Scope>,
    /// Known also where no project is.
    pub(super) base_url: String,
    pub(super) client: Option<Client>,
    pub(super) data_folder: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    pub(super) look: DisplaySettings,
    /// Of `ca_file`.
    pub(super) roots: Option<ExtraRoots>,
    /// The program that gets copies.
    pub(super) clipboard: Vec<String>,
}

const SET_UP: &str = "`docdeck init` asks for what is needed and writes the file";

/// Looks at it all. Reads the key, so a key command is run.
pub(super) async fn check(report: &mut DoctorReport, flags: &Flags, environment: &Environment) -> ResolvedSettings {
    report.begin("Configuration");
    let path = sources::config_path(flags, environment);
    let found = match &path {
        Ok(path) => config_file(report, path),
        Err(error) => {
            report.problem_said("file", error.to_string());
            LoadedFile { file: ConfigFile::default(), readable_by_others: false }
        }
    };
    let path = path.ok().map(|path| path.value);
    let at = path.clone().unwrap_or_default();
    let nothing = ProfileConfig::default();
    let (name, profile) = match sources::profile(flags, environment, &at, &found.file) {
        Ok((name, profile)) => {
            profile_line(report, &name, &found.file);
            (name.value, profile.unwrap_or(&nothing))
        }
        Err(error) => {
            report.problem_said("profile", error.to_string());
            (String::new(), &nothing)
        }
    };
    let scope = scope(report, flags, environment, profile, &at);
    let source = key::source(environment, &name, profile, &at, found.readable_by_others);
    let key = key_line(report, environment, scope.as_ref(), source).await;
    let roots = ca_file(report, profile, &at);
    let client = client(report, scope.as_ref(), key, roots.clone());
    let look = look(report, flags, environment, &found.file, &at);
    own_lines(report, &found.file, &at);
    let data_folder = sources::data_folder(flags, environment);
    if let Err(error) = &data_folder {
        report.problem_said("data folder", error.to_string());
    }
    ResolvedSettings {
        scope,
        base_url: sources::base_url(flags, environment, profile).value,
        client,
        data_folder: data_folder.ok().map(|folder| folder.value),
        config: path,
        look,
        roots,
        clipboard: found.file.own().clipboard,
    }
}

fn config_file(report: &mut DoctorReport, path: &Sourced<PathBuf>) -> LoadedFile {
    let nothing = LoadedFile { file: ConfigFile::default(), readable_by_others: false };
    let shown = path.value.display();
    match (file::read(&path.value), path.from) {
        (Ok(Some(found)), from) => {
            file_line(report, &path.value, from, &found);
            found
        }
        (Ok(None), SettingSource::Default) => {
            report.ok("file", format!("none; it would be {shown}"));
            nothing
        }
        (Ok(None), _) => {
            report.problem_said("file", ConfigError::NotThere { path: path.value.clone() }.to_string());
            nothing
        }
        (Err(error), _) => {
            report.problem(
                "file",
                error.to_string(),
                "until then nothing of the file holds; what follows is without it",
            );
            nothing
        }
    }
}

/// Where the file lies, and who else may read or change it.
fn file_line(report: &mut DoctorReport, path: &Path, from: SettingSource, found: &LoadedFile) {
    let shown = path.display();
    let mode = permissions(path).map_or_else(String::new, |mode| format!(", mode {mode:o}"));
    if !found.readable_by_others {
        return report.ok("file", format!("{shown} ({from}){mode}"));
    }
    let remedy = format!("chmod 600 {}", quoted(path));
    let keys: Vec<&str> =
        found.file.profiles.iter().filter(|(_, of)| of.api_key.is_some()).map(|(name, _)| name.as_str()).collect();
    if keys.is_empty() {
        let says = format!("{shown} ({from}){mode}: others can read or change it, and it names programs that are run");
        report.warning("file", says, remedy);
    } else {
        let says = format!(
            "{shown} ({from}){mode}: others can get at the key in it, so it is not used (profile {})",
            keys.join(", ")
        );
        report.problem("file", says, remedy);
    }
}

fn profile_line(report: &mut DoctorReport, name: &Sourced<String>, file: &ConfigFile) {
    let from = match (name.from, file.profiles.contains_key(&name.value)) {
        (SettingSource::Default, false) => "no profile is named".to_owned(),
        (from, _) => from.to_string(),
    };
    let others = file.profiles.keys().filter(|other| **other != name.value).count();
    let more = match others {
        0 => String::new(),
        1 => ", 1 other".to_owned(),
        n => format!(", {n} others"),
    };
    report.ok("profile", format!("{} ({from}){more}", name.value));
}

fn scope(
    report: &mut DoctorReport,
    flags: &Flags,
    environment: &Environment,
    profile: &ProfileConfig,
    path: &Path,
) -> Option<Scope> {
    let base_url = sources::base_url(flags, environment, profile);
    let project = sources::project(flags, environment, profile);
    let project_mistake = project.as_ref().and_then(sources::project_mistake);
    let organization = sources::organization(profile);
    // Shown once it is known to be an address: a key pasted into the wrong field is not to be read here.
    let probe = Scope { base_url: base_url.value.clone(), project: "x".to_owned(), organization: None };
    match (crate::api::Route::to(&probe), sources::base_url_mistake(&base_url, profile, path)) {
        (_, Some(mistake)) => report.problem_said("base URL", mistake.to_string()),
        (Ok(_), _) => report.ok("base URL", format!("{} ({})", base_url.value, base_url.from)),
        (Err(sentence), _) => report.problem_said("base URL", format!("{sentence} It comes from: {}.", base_url.from)),
    }
    match (&project, project_mistake) {
        (_, Some(mistake)) => {
            report.problem_said("project", mistake.to_string());
            return None;
        }
        (Some(project), None) => {
            report.private.ids.push(project.value.clone());
            report.ok("project", format!("{} ({})", masked(&project.value), project.from));
        }
        (None, None) => {
            report.problem("project", "no project id is set", format!("export DOCDECK_PROJECT_ID=..., or {SET_UP}"))
        }
    }
    if let Some(organization) = &organization {
        report.private.ids.push(organization.clone());
        report.ok("organization", format!("{} (file)", masked(organization)));
    }
    Some(Scope { base_url: base_url.value, project: project?.value, organization })
}

async fn key_line(
    report: &mut DoctorReport,
    environment: &Environment,
    scope: Option<&Scope>,
    source: Result<Option<KeySource>, ConfigError>,
) -> Option<ApiKey> {
    let source = match source {
        Ok(Some(source)) => source,
        Ok(None) => {
            report.problem("key", "no API key is set", format!("export {KEY_VARIABLE}=mint_..., or {SET_UP}"));
            return None;
        }
        Err(error) => {
            report.problem_said("key", error.to_string());
            return None;
        }
    };
    let from = match &source {
        KeySource::Given(_) if environment.api_key.is_some() => format!("{KEY_VARIABLE} in the environment"),
        KeySource::Given(_) => "api_key in the file".to_owned(),
        KeySource::File(path) => format!("api_key_file {}", path.display()),
        // Its arguments may say too much.
        KeySource::Command(words) => format!("api_key_command ({})", words.first().map_or("", String::as_str)),
    };
    let key = match source.read().await {
        Ok(key) => key,
        Err(error) => {
            report.problem_said("key", error.to_string());
            return None;
        }
    };
    report.private.key = Some(key.clone());
    if scope.is_some_and(|scope| scope.base_url == DEFAULT_BASE_URL) && !key.expose().starts_with("mint_") {
        let says = format!("from {from}; it does not begin with mint_, as keys of this service do");
        report.warning("key", says, "copy it again from the API keys page of the service's dashboard");
    } else {
        report.ok("key", format!("from {from}"));
    }
    Some(key)
}

fn ca_file(report: &mut DoctorReport, profile: &ProfileConfig, config: &Path) -> Option<ExtraRoots> {
    let path = key::beside(config, profile.ca_file.as_deref()?);
    match ExtraRoots::read(&path) {
        Ok(roots) => {
            report.ok("ca_file", format!("{}, certificates: {}", path.display(), roots.count()));
            Some(roots)
        }
        Err(error) => {
            report.problem_said("ca_file", error.to_string());
            None
        }
    }
}

fn client(
    report: &mut DoctorReport,
    scope: Option<&Scope>,
    key: Option<ApiKey>,
    roots: Option<ExtraRoots>,
) -> Option<Client> {
    let options =
        ClientOptions { roots, connect_timeout: super::service::CONNECT, total_timeout: super::service::ANSWER };
    match Client::new(scope?.clone(), key?, options) {
        Ok(client) => Some(client),
        Err(failure) => {
            // The base URL has its own line; what is left is the project.
            if crate::api::Route::to(&Scope { project: "x".to_owned(), ..scope?.clone() }).is_ok() {
                report.problem_said("project", failure.sentence.to_string());
            }
            None
        }
    }
}

fn look(
    report: &mut DoctorReport,
    flags: &Flags,
    environment: &Environment,
    file: &ConfigFile,
    path: &Path,
) -> DisplaySettings {
    let look = crate::config::look(flags, environment, &file.ui, path);
    match look.theme.read() {
        Ok(_) => {
            let theme = file.ui.theme.as_deref().unwrap_or(themes::AUTO);
            report.ok(
                "theme",
                format!(
                    "{theme} ({})",
                    if file.ui.theme.is_some() { SettingSource::File } else { SettingSource::Default }
                ),
            );
            look
        }
        Err(error) => {
            report.problem_said("theme", error.to_string());
            DisplaySettings { theme: ChosenTheme::default(), ..look }
        }
    }
}

fn own_lines(report: &mut DoctorReport, file: &ConfigFile, path: &Path) {
    let customization = file.own();
    let read = customization::keymap(&customization, path)
        .and_then(|keymap| customization::commands(&customization, &keymap, path));
    match read {
        Ok(commands) => {
            let counts = [
                (customization.keys.len(), "key"),
                (commands.len(), "command"),
                (customization.filters.len(), "filter"),
            ];
            let counts: Vec<String> = counts.iter().map(|(n, what)| plural(*n, what)).collect();
            let hook = if customization.on_change.is_empty() { "" } else { ", on_change" };
            report.ok("your own", format!("{}{hook}", counts.join(", ")));
        }
        Err(error) => report.problem_said("your own", error.to_string()),
    }
}
