//! Opens a link in a browser. Over SSH or without a display, where a window would not be visible, runs only the browser
//! that `BROWSER` names; if it names none, the caller must copy the link instead. Only http and https links are opened,
//! and never through a shell.

use crate::config::environment::Environment;
use crate::model::endpoint::{API_KEY_VARIABLE, TEAM_URL_VARIABLE};
use crate::model::failure::Failure;
use crate::model::link::WebLink;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};

/// The time within which the program that opens the link can report a failure. A program that still runs after this
/// time counts as successful and is not ended: it may be the browser itself.
const FAILURE_REPORT_TIMEOUT: Duration = Duration::from_secs(3);

/// What to do with a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenMethod {
    /// Run this program with these arguments.
    Run(Vec<String>),
    /// No browser is available, so copy the link and show it.
    CopyInstead,
}

/// Decides how to open a link in this environment.
///
/// # Errors
/// Fails if `url` is not an http or https link.
pub fn open_method(url: &str, environment: &Environment) -> Result<OpenMethod, Failure> {
    let Some(link) = WebLink::parse(url) else {
        let sentence = format!("Only http and https links without a user name can be opened: {url}");
        return Err(Failure::local(&sentence));
    };
    let url = link.as_str();
    let headless = environment.is_ssh || cfg!(all(unix, not(target_os = "macos"))) && !environment.has_display;
    if headless {
        let browser = environment.browser.as_deref().and_then(|browser| browser_command(browser, url));
        return Ok(browser.map_or(OpenMethod::CopyInstead, OpenMethod::Run));
    }
    let program: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        // `cmd /c start` would treat an & in the link as the start of another command.
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    Ok(OpenMethod::Run(program.iter().copied().chain([url]).map(str::to_owned).collect()))
}

/// Returns the command line of the first browser in `$BROWSER`. The link replaces `%s`, or is the last argument if
/// there is no `%s`.
fn browser_command(browser: &str, url: &str) -> Option<Vec<String>> {
    let first = browser.split(':').find(|part| !part.trim().is_empty())?;
    let mut words: Vec<String> = first.split_whitespace().map(|word| word.replace("%s", url)).collect();
    if !first.contains("%s") {
        words.push(url.to_owned());
    }
    Some(words)
}

/// Starts a program, given as its name and arguments, detached from the terminal. Removes the API key and the URL of
/// the team's database from its environment.
///
/// # Errors
/// Returns why the program can't be started, as the end of a sentence.
pub(super) fn start_detached(words: &[String], stdin: Stdio) -> Result<Child, &'static str> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_remove(API_KEY_VARIABLE)
        .env_remove(TEAM_URL_VARIABLE)
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => "it is not installed",
        _ => "it could not be started",
    })
}

/// Starts the program, detached from the terminal. Reports a failure within 3 s; a program that runs longer keeps
/// running.
///
/// # Errors
/// Fails if the program can't be started, or fails within 3 s.
pub async fn run_opener(words: &[String], url: &str) -> Result<(), Failure> {
    let program = words.first().map_or("", String::as_str);
    let failed = |why: &str| Failure::local(&format!("{program} could not open the link ({why}): {url}"));
    let mut child = start_detached(words, Stdio::null()).map_err(failed)?;
    match tokio::time::timeout(FAILURE_REPORT_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if !status.success() => Err(failed("it failed")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_lookup(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
    }

    const LINK: &str = "https://github.com/acme/docs/pull/1?a=1&b=2";

    #[test]
    fn over_ssh_the_link_is_copied_unless_a_browser_is_set() {
        let ssh = [("SSH_TTY", "/dev/pts/1"), ("DISPLAY", ":0")];
        assert_eq!(open_method(LINK, &environment(&ssh)), Ok(OpenMethod::CopyInstead));
        let named = [("SSH_TTY", "/dev/pts/1"), ("BROWSER", "helper --open:other")];
        let words = ["helper", "--open", LINK].map(str::to_owned).to_vec();
        assert_eq!(open_method(LINK, &environment(&named)), Ok(OpenMethod::Run(words)));
    }

    #[test]
    fn a_browser_can_have_a_placeholder_for_the_link() {
        let named = [("SSH_TTY", "x"), ("BROWSER", "b --url=%s --new")];
        let words = ["b".to_owned(), format!("--url={LINK}"), "--new".to_owned()].to_vec();
        assert_eq!(open_method(LINK, &environment(&named)), Ok(OpenMethod::Run(words)));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn with_a_display_the_systems_opener_gets_the_link_as_one_argument() {
        let words = ["xdg-open", LINK].map(str::to_owned).to_vec();
        assert_eq!(open_method(LINK, &environment(&[("DISPLAY", ":0")])), Ok(OpenMethod::Run(words)));
        assert_eq!(open_method(LINK, &environment(&[])), Ok(OpenMethod::CopyInstead));
    }

    #[test]
    fn only_web_links_are_opened() {
        for bad in ["file:///etc/passwd", "--help", "javascript:alert(1)", "https://", "https://a b", "httpsx://a", ""]
        {
            assert!(open_method(bad, &environment(&[("DISPLAY", ":0")])).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn the_error_of_a_missing_or_failing_opener_contains_the_link() {
        let missing = run_opener(&["docdeck-no-such-program".to_owned()], LINK).await.expect_err("not there");
        assert!(missing.message.as_str().contains(LINK), "{missing:?}");
        let fails = run_opener(&["false".to_owned()], LINK).await.expect_err("it failed");
        assert!(fails.message.as_str().contains(LINK), "{fails:?}");
    }
}
