//! Checks the configuration by the rules of [`crate::config`] and reports where each value comes from. After a mistake,
//! continues with the other settings.

use super::super::data_folder::shell_quoted;
use super::modes::permissions;
use super::report::{DoctorReport, mask_id};
use crate::api::{Client, ClientOptions, ExtraRoots};
use crate::cli::customization;
use crate::config::environment::Environment;
use crate::config::file::{ConfigFile, LoadedFile, ProfileConfig};
use crate::config::key::{self, KeySource};
use crate::config::sources::{self, SettingSource, Sourced};
use crate::config::{ChosenTheme, ConfigError, DisplaySettings, Flags, file, themes};
use crate::model::endpoint::{API_KEY_VARIABLE, ApiKey, Scope};
use crate::model::setup::DEFAULT_BASE_URL;
use crate::tui::format::plural;
use std::path::{Path, PathBuf};

/// The settings that could be resolved; the others are `None` or have their defaults.
#[derive(Debug)]
pub(super) struct ResolvedSettings {
    pub(super) scope: Option<Scope>,
    /// The base URL, which is known even if no project is set.
    pub(super) base_url: String,
    pub(super) client: Option<Client>,
    pub(super) data_folder: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    pub(super) display: DisplaySettings,
    /// The certificates in the profile's `ca_file`.
    pub(super) roots: Option<ExtraRoots>,
    /// The program that receives copied text.
    pub(super) clipboard: Vec<String>,
}

const INIT_HINT: &str = "run `docdeck init`, which writes the file";

/// Checks the configuration. Reads the API key, so a configured key command is run.
pub(super) async fn check_settings(
    report: &mut DoctorReport,
    flags: &Flags,
    environment: &Environment,
) -> ResolvedSettings {
    report.begin_section("Configuration");
    let path = sources::config_path(flags, environment);
    let found = match &path {
        Ok(path) => check_config_file(report, path),
        Err(error) => {
            report.problem_with_remedy("file", error.to_string());
            LoadedFile { file: ConfigFile::default(), readable_by_others: false }
        }
    };
    let path = path.ok().map(|path| path.value);
    let at = path.clone().unwrap_or_default();
    let nothing = ProfileConfig::default();
    let (name, profile) = match sources::resolve_profile(flags, environment, &at, &found.file) {
        Ok((name, profile)) => {
            report_profile(report, &name, &found.file);
            (name.value, profile.unwrap_or(&nothing))
        }
        Err(error) => {
            report.problem_with_remedy("profile", error.to_string());
            (String::new(), &nothing)
        }
    };
    let scope = report_scope(report, flags, environment, profile, &at);
    let source = key::resolve_key_source(environment, &name, profile, &at, found.readable_by_others);
    let key = check_key_source(report, environment, scope.as_ref(), source).await;
    let roots = check_ca_file(report, profile, &at);
    let client = create_client(report, scope.as_ref(), key, roots.clone());
    let look = check_display(report, flags, environment, &found.file, &at);
    report_customization(report, &found.file, &at);
    let data_folder = sources::resolve_data_folder(flags, environment);
    if let Err(error) = &data_folder {
        report.problem_with_remedy("data folder", error.to_string());
    }
    ResolvedSettings {
        scope,
        base_url: sources::resolve_base_url(flags, environment, profile).value,
        client,
        data_folder: data_folder.ok().map(|folder| folder.value),
        config: path,
        display: look,
        roots,
        clipboard: found.file.customization().clipboard,
    }
}

fn check_config_file(report: &mut DoctorReport, path: &Sourced<PathBuf>) -> LoadedFile {
    let nothing = LoadedFile { file: ConfigFile::default(), readable_by_others: false };
    let shown = path.value.display();
    match (file::read_config_file(&path.value), path.from) {
        (Ok(Some(found)), from) => {
            report_file(report, &path.value, from, &found);
            found
        }
        (Ok(None), SettingSource::Default) => {
            report.ok("file", format!("none at {shown}"));
            nothing
        }
        (Ok(None), _) => {
            report.problem_with_remedy("file", ConfigError::NotFound { path: path.value.clone() }.to_string());
            nothing
        }
        (Err(error), _) => {
            report.problem("file", error.to_string(), "until then the file is ignored; the other checks ignore it too");
            nothing
        }
    }
}

/// Reports where the configuration file is, and whether other users can read or change it.
fn report_file(report: &mut DoctorReport, path: &Path, from: SettingSource, found: &LoadedFile) {
    let shown = path.display();
    let mode = permissions(path).map_or_else(String::new, |mode| format!(", mode {mode:o}"));
    if !found.readable_by_others {
        return report.ok("file", format!("{shown} ({from}){mode}"));
    }
    let remedy = format!("chmod 600 {}", shell_quoted(path));
    let keys: Vec<&str> =
        found.file.profiles.iter().filter(|(_, of)| of.api_key.is_some()).map(|(name, _)| name.as_str()).collect();
    if keys.is_empty() {
        let message =
            format!("{shown} ({from}){mode}: other users can read or change it, and it names programs to run");
        report.warning("file", message, remedy);
    } else {
        let message = format!(
            "{shown} ({from}){mode}: other users can access the key in it, so the key is not used (profile {})",
            keys.join(", ")
        );
        report.problem("file", message, remedy);
    }
}

fn report_profile(report: &mut DoctorReport, name: &Sourced<String>, file: &ConfigFile) {
    let from = match (name.from, file.profiles.contains_key(&name.value)) {
        (SettingSource::Default, false) => "no profile in the file".to_owned(),
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

fn report_scope(
    report: &mut DoctorReport,
    flags: &Flags,
    environment: &Environment,
    profile: &ProfileConfig,
    path: &Path,
) -> Option<Scope> {
    let base_url = sources::resolve_base_url(flags, environment, profile);
    let project = sources::resolve_project(flags, environment, profile);
    let project_mistake = project.as_ref().and_then(sources::project_mistake);
    let organization = sources::resolve_organization(profile);
    // The base URL is printed only if it is a valid address, because a key may have been pasted into the wrong field.
    let probe = Scope { base_url: base_url.value.clone(), project: "x".to_owned(), organization: None };
    match (crate::api::Route::for_scope(&probe), sources::base_url_mistake(&base_url, profile, path)) {
        (_, Some(mistake)) => report.problem_with_remedy("base URL", mistake.to_string()),
        (Ok(_), _) => report.ok("base URL", format!("{} ({})", base_url.value, base_url.from)),
        (Err(sentence), _) => report.problem_with_remedy("base URL", format!("{sentence} Source: {}.", base_url.from)),
    }
    match (&project, project_mistake) {
        (_, Some(mistake)) => {
            report.problem_with_remedy("project", mistake.to_string());
            return None;
        }
        (Some(project), None) => {
            report.private.ids.push(project.value.clone());
            report.ok("project", format!("{} ({})", mask_id(&project.value), project.from));
        }
        (None, None) => {
            report.problem("project", "no project id is set", format!("export DOCDECK_PROJECT_ID=..., or {INIT_HINT}"))
        }
    }
    if let Some(organization) = &organization {
        report.private.ids.push(organization.clone());
        report.ok("organization", format!("{} (file)", mask_id(organization)));
    }
    Some(Scope { base_url: base_url.value, project: project?.value, organization })
}

async fn check_key_source(
    report: &mut DoctorReport,
    environment: &Environment,
    scope: Option<&Scope>,
    source: Result<Option<KeySource>, ConfigError>,
) -> Option<ApiKey> {
    let source = match source {
        Ok(Some(source)) => source,
        Ok(None) => {
            report.problem("key", "no API key is set", format!("export {API_KEY_VARIABLE}=mint_..., or {INIT_HINT}"));
            return None;
        }
        Err(error) => {
            report.problem_with_remedy("key", error.to_string());
            return None;
        }
    };
    let from = match &source {
        KeySource::Literal(_) if environment.api_key.is_some() => format!("{API_KEY_VARIABLE} in the environment"),
        KeySource::Literal(_) => "api_key in the file".to_owned(),
        KeySource::File(path) => format!("api_key_file {}", path.display()),
        // The arguments of the command are left out, because they may be private.
        KeySource::Command(words) => format!("api_key_command ({})", words.first().map_or("", String::as_str)),
    };
    let key = match source.read().await {
        Ok(key) => key,
        Err(error) => {
            report.problem_with_remedy("key", error.to_string());
            return None;
        }
    };
    report.private.key = Some(key.clone());
    if scope.is_some_and(|scope| scope.base_url == DEFAULT_BASE_URL) && !key.expose().starts_with("mint_") {
        let message = format!("from {from}; it doesn't begin with mint_ like the keys of this service");
        report.warning("key", message, "copy it again from the API keys page of the service's dashboard");
    } else {
        report.ok("key", format!("from {from}"));
    }
    Some(key)
}

fn check_ca_file(report: &mut DoctorReport, profile: &ProfileConfig, config: &Path) -> Option<ExtraRoots> {
    let path = key::resolve_path(config, profile.ca_file.as_deref()?);
    match ExtraRoots::read(&path) {
        Ok(roots) => {
            report.ok("ca_file", format!("{}, certificates: {}", path.display(), roots.count()));
            Some(roots)
        }
        Err(error) => {
            report.problem_with_remedy("ca_file", error.to_string());
            None
        }
    }
}

fn create_client(
    report: &mut DoctorReport,
    scope: Option<&Scope>,
    key: Option<ApiKey>,
    roots: Option<ExtraRoots>,
) -> Option<Client> {
    let options = ClientOptions {
        roots,
        connect_timeout: super::service::CONNECT_TIMEOUT,
        total_timeout: super::service::TOTAL_TIMEOUT,
    };
    match Client::new(scope?.clone(), key?, options) {
        Ok(client) => Some(client),
        Err(failure) => {
            // A wrong base URL has already been reported. If the base URL is valid, the project id is wrong.
            if crate::api::Route::for_scope(&Scope { project: "x".to_owned(), ..scope?.clone() }).is_ok() {
                report.problem_with_remedy("project", failure.message.to_string());
            }
            None
        }
    }
}

fn check_display(
    report: &mut DoctorReport,
    flags: &Flags,
    environment: &Environment,
    file: &ConfigFile,
    path: &Path,
) -> DisplaySettings {
    let look = crate::config::display_settings(flags, environment, &file.ui, path);
    match look.theme.read() {
        Ok(_) => {
            let theme = file.ui.theme.as_deref().unwrap_or(themes::AUTO_THEME);
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
            report.problem_with_remedy("theme", error.to_string());
            DisplaySettings { theme: ChosenTheme::default(), ..look }
        }
    }
}

fn report_customization(report: &mut DoctorReport, file: &ConfigFile, path: &Path) {
    let customization = file.customization();
    let read = customization::keymap(&customization, path)
        .and_then(|keymap| customization::parse_commands(&customization, &keymap, path));
    match read {
        Ok(commands) => {
            let counts = [
                (customization.keys.len(), "key"),
                (commands.len(), "command"),
                (customization.filters.len(), "filter"),
            ];
            let counts: Vec<String> = counts.iter().map(|(n, what)| plural(*n, what)).collect();
            let hook = if customization.on_change.is_empty() { "" } else { ", on_change" };
            report.ok("customization", format!("{}{hook}", counts.join(", ")));
        }
        Err(error) => report.problem_with_remedy("customization", error.to_string()),
    }
}
