//! `docdeck completions`: prints a shell script that calls docdeck for completions. This file also answers these calls,
//! with candidates from [`super::completion_candidates`].

use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use clap::{Args, Command, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

/// The program's name in PATH.
const PROGRAM_NAME: &str = "docdeck";
/// The environment variable that the script sets when it calls docdeck for completions.
const COMPLETION_VARIABLE: &str = "DOCDECK_COMPLETE";

/// Help text about loading the script.
pub(super) const SETUP_HELP: &str = "\
bash, in ~/.bashrc:                      source <(docdeck completions bash)
zsh, in ~/.zshrc, after compinit:        source <(docdeck completions zsh)
fish, in ~/.config/fish/config.fish:     docdeck completions fish | source
PowerShell, in its profile:
  docdeck completions powershell | Out-String | Invoke-Expression";

/// The end of the zsh script. It lets the script also work as a file in a folder of `$fpath`. At the first Tab, zsh
/// runs such a file as the body of the function `_docdeck` and expects completions from it.
const ZSH_FPATH_ADDITION: &str = "
if [[ \"${funcstack[1]}\" == _docdeck ]]; then
    _clap_dynamic_completer_docdeck \"$@\"
fi
";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// print the script for this shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

/// Runs `docdeck completions`.
pub(super) fn run(options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let completer: &dyn EnvCompleter = match options.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    let written =
        completer.write_registration(COMPLETION_VARIABLE, PROGRAM_NAME, PROGRAM_NAME, PROGRAM_NAME, &mut script);
    let script = written.ok().and_then(|()| String::from_utf8(script).ok());
    let script = script.ok_or_else(|| CliError::local_error("Can't generate the completion script."))?;
    out.write(script.trim_start_matches('\n'));
    if matches!(options.shell, Shell::Zsh) {
        out.write(ZSH_FPATH_ADDITION);
    }
    Ok(Code::Done)
}

/// Answers a shell that called docdeck for completions of `program`. Returns false if docdeck was called for anything
/// else.
pub(super) fn answer_completion_request(program: fn() -> Command) -> bool {
    // clap_complete checks this too, but only after some preparation.
    if std::env::var_os(COMPLETION_VARIABLE).is_none() {
        return false;
    }
    let asked = CompleteEnv::with_factory(program).var(COMPLETION_VARIABLE).bin(PROGRAM_NAME).completer(PROGRAM_NAME);
    // The paths that the user types are relative to the current folder. After an error, docdeck prints no candidates,
    // and no message, because the shell wouldn't show the message.
    let folder = std::env::current_dir().ok();
    asked.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}
