//! Checks the configuration by the rules of [`crate::config`] and reports where each value comes from.

use super::facts::DoctorFacts;
use super::permissions::{chmod_command, mode_text};
use super::report::{CheckResult, error, mask_id, ok, problem, warning};
use crate::cli::customization;
use crate::config::key::KeySource;
use crate::config::sourced::SettingSource;
use crate::config::{ConfigError, themes};
use crate::model::endpoint::API_KEY_VARIABLE;
use crate::tui::format::plural;

const INIT_HINT: &str = "run `docdeck init`";

/// Checks that the configuration file is valid, and whether other users can read or change it.
pub(super) fn file(facts: &DoctorFacts<'_>) -> CheckResult {
    let (path, from) = (facts.config_file_path(), facts.config_path.as_ref().map(|path| path.from));
    let (shown, from) = match (&facts.is_config_readable_by_others, from) {
        (Err(mistake), None) => return error(mistake),
        (Err(mistake), Some(_)) => {
            return problem(mistake, "correct the file; the other checks were made without it");
        }
        (Ok(None), None | Some(SettingSource::Default)) => return ok(format!("none at {}", path.display())),
        (Ok(None), Some(_)) => return error(ConfigError::NotFound { path: path.to_path_buf() }),
        (Ok(Some(_)), from) => (path.display(), from.unwrap_or(SettingSource::Default)),
    };
    let shown = format!("{shown} ({from}){}", mode_text(path));
    if facts.is_config_readable_by_others == Ok(Some(false)) {
        return ok(shown);
    }
    let with_key = facts.config.profiles.iter().filter(|(_, profile)| profile.api_key.is_some());
    let with_key: Vec<&str> = with_key.map(|(name, _)| name.as_str()).collect();
    let remedy = chmod_command("600", path);
    if with_key.is_empty() {
        let message = format!("{shown}: other users can read or change it, and it names programs to run");
        return warning(message, remedy);
    }
    let names = with_key.join(", ");
    let message = format!("{shown}: other users can access the key in it, so the key is not used (profile {names})");
    problem(message, remedy)
}

pub(super) fn profile(facts: &DoctorFacts<'_>) -> CheckResult {
    let name = match &facts.profile_name {
        Ok(name) => name,
        Err(mistake) => return error(mistake),
    };
    let from = match (name.from, facts.config.profiles.contains_key(&name.value)) {
        (SettingSource::Default, false) => "no profile in the file".to_owned(),
        (from, _) => from.to_string(),
    };
    let more = match facts.config.profiles.keys().filter(|other| **other != name.value).count() {
        0 => String::new(),
        n => format!(", {}", plural(n, "other")),
    };
    ok(format!("{} ({from}){more}", name.value))
}

/// Reports the base URL only if it is a valid address, because the user may have pasted a key into its field.
pub(super) fn base_url(facts: &DoctorFacts<'_>) -> CheckResult {
    let from = facts.base_url.from;
    match (&facts.base_url_mistake, &facts.route) {
        (Some(mistake), _) => error(mistake),
        (None, Ok(_)) => ok(format!("{} ({from})", facts.base_url.value)),
        (None, Err(sentence)) => error(format!("{sentence} Source: {from}.")),
    }
}

pub(super) fn project(facts: &DoctorFacts<'_>) -> CheckResult {
    // If the base URL is valid, only the project id can be the reason why no client can be created.
    if let (Some(Err(failure)), Ok(_)) = (&facts.client, &facts.route) {
        return error(&failure.message);
    }
    match (&facts.project_mistake, &facts.project) {
        (Some(mistake), _) => error(mistake),
        (None, Some(project)) => ok(format!("{} ({})", mask_id(&project.value), project.from)),
        (None, None) => problem("no project id is set", format!("export DOCDECK_PROJECT_ID=..., or {INIT_HINT}")),
    }
}

pub(super) fn key(facts: &DoctorFacts<'_>) -> CheckResult {
    let source = match (&facts.key, &facts.key_source) {
        (Err(mistake), _) => return error(mistake),
        (Ok(Some(_)), Some(source)) => source,
        _ => return problem("no API key is set", format!("export {API_KEY_VARIABLE}=mint_..., or {INIT_HINT}")),
    };
    let from = match source {
        KeySource::Literal(_) if facts.environment.api_key.is_some() => {
            format!("{API_KEY_VARIABLE} in the environment")
        }
        KeySource::Literal(_) => "api_key in the file".to_owned(),
        KeySource::File(path) => format!("api_key_file {}", path.display()),
        // The arguments of the command are left out, because they may be private.
        KeySource::Command(words) => format!("api_key_command ({})", words.first().map_or("", String::as_str)),
    };
    ok(format!("from {from}"))
}

pub(super) fn ca_file(facts: &DoctorFacts<'_>) -> CheckResult {
    match facts.ca_file.as_ref()? {
        (path, Ok(roots)) => ok(format!("{}, certificates: {}", path.display(), roots.count())),
        (_, Err(mistake)) => error(mistake),
    }
}

pub(super) fn theme(facts: &DoctorFacts<'_>) -> CheckResult {
    match (&facts.theme_error, &facts.config.ui.theme) {
        (Some(mistake), _) => error(mistake),
        (None, Some(theme)) => ok(format!("{theme} ({})", SettingSource::File)),
        (None, None) => ok(format!("{} ({})", themes::AUTO_THEME, SettingSource::Default)),
    }
}

pub(super) fn customization(facts: &DoctorFacts<'_>) -> CheckResult {
    let (custom, path) = (facts.config.customization(), facts.config_file_path());
    let commands =
        customization::keymap(&custom, path).and_then(|keymap| customization::parse_commands(&custom, &keymap, path));
    let commands = match commands {
        Ok(commands) => commands.len(),
        Err(mistake) => return error(mistake),
    };
    let (keys, filters) = (plural(custom.keys.len(), "key"), plural(custom.filters.len(), "filter"));
    let hook = if custom.on_change.is_empty() { "" } else { ", on_change" };
    ok(format!("{keys}, {}, {filters}{hook}", plural(commands, "command")))
}
