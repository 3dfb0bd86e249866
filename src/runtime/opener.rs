//! Opening a link in a browser: which program, or none where nobody would see its window (over SSH, without a display).
//! Only http and https, the real address, never through a shell.

use crate::config::environment::Environment;
use crate::model::endpoint::KEY_VARIABLE;
use crate::model::failure::{Failure, FailureKind};
use crate::model::link::WebLink;
use std::process::Stdio;
use std::time::Duration;

/// How long a failing opener is waited for; a browser that stays in the foreground runs on.
const PATIENCE: Duration = Duration::from_secs(3);

/// What to do with a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenMethod {
    /// Run this program with these arguments.
    Run(Vec<String>),
    /// No browser can be opened here: copy the link and show it.
    CopyInstead,
}

/// Decides how to open `url`.
///
/// # Errors
/// It is no http or https link.
pub fn opening(url: &str, environment: &Environment) -> Result<OpenMethod, Failure> {
    let Some(link) = WebLink::parse(url) else {
        let sentence = format!("Only http and https links without a user name are opened, and this is none: {url}");
        return Err(Failure::new(FailureKind::Local, &sentence));
    };
    let url = link.as_str();
    let headless = environment.ssh || cfg!(all(unix, not(target_os = "macos"))) && !environment.display;
    if headless {
        let browser = environment.browser.as_deref().and_then(|browser| words_of_browser(browser, url));
        return Ok(browser.map_or(OpenMethod::CopyInstead, OpenMethod::Run));
    }
    let program: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        // `cmd /c start` would read an & in the link as a second command.
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    Ok(OpenMethod::Run(program.iter().copied().chain([url]).map(str::to_owned).collect()))
}

/// The first browser that `$BROWSER` names; `%s` stands for the link.
fn words_of_browser(browser: &str, url: &str) -> Option<Vec<String>> {
    let first = browser.split(':').find(|part| !part.trim().is_empty())?;
    let mut words: Vec<String> = first.split_whitespace().map(|word| word.replace("%s", url)).collect();
    if !first.contains("%s") {
        words.push(url.to_owned());
    }
    Some(words)
}

/// Starts the program, detached from the terminal. A program that fails within 3 s is reported; one that runs on is left to itself.
///
/// # Errors
/// It can't be started, or fails.
pub async fn run(words: &[String], url: &str) -> Result<(), Failure> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| {
        Failure::new(FailureKind::Local, &format!("{program} could not open the link ({why}). Here it is: {url}"))
    };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).env_remove(KEY_VARIABLE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => failed("it is not installed"),
        _ => failed("it could not be started"),
    })?;
    match tokio::time::timeout(PATIENCE, child.wait()).await {
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
    fn over_ssh_the_link_is_copied_unless_a_browser_is_named() {
        let ssh = [("SSH_TTY", "/dev/pts/1"), ("DISPLAY", ":0")];
        assert_eq!(opening(LINK, &environment(&ssh)), Ok(OpenMethod::CopyInstead));
        let named = [("SSH_TTY", "/dev/pts/1"), ("BROWSER", "helper --open:other")];
        let words = ["helper", "--open", LINK].map(str::to_owned).to_vec();
        assert_eq!(opening(LINK, &environment(&named)), Ok(OpenMethod::Run(words)));
    }

    #[test]
    fn a_browser_can_say_where_the_link_goes() {
        let named = [("SSH_TTY", "x"), ("BROWSER", "b --url=%s --new")];
        let words = ["b".to_owned(), format!("--url={LINK}"), "--new".to_owned()].to_vec();
        assert_eq!(opening(LINK, &environment(&named)), Ok(OpenMethod::Run(words)));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn with_a_display_the_systems_opener_gets_the_link_as_one_argument() {
        let words = ["xdg-open", LINK].map(str::to_owned).to_vec();
        assert_eq!(opening(LINK, &environment(&[("DISPLAY", ":0")])), Ok(OpenMethod::Run(words)));
        assert_eq!(opening(LINK, &environment(&[])), Ok(OpenMethod::CopyInstead));
    }

    #[test]
    fn anything_but_a_web_link_is_refused() {
        for bad in ["file:///etc/passwd", "--help", "javascript:alert(1)", "https://", "https://a b", "httpsx://a", ""]
        {
            assert!(opening(bad, &environment(&[("DISPLAY", ":0")])).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn an_opener_that_is_not_there_or_fails_gives_the_link_back() {
        let missing = run(&["docdeck-no-such-program".to_owned()], LINK).await.expect_err("not there");
        assert!(missing.sentence.as_str().contains(LINK), "{missing:?}");
        let fails = run(&["false".to_owned()], LINK).await.expect_err("it failed");
        assert!(fails.sentence.as_str().contains(LINK), "{fails:?}");
    }
}
