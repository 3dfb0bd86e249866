//! `docdeck completions`: prints a script with which a shell asks docdeck for completions, and answers the shell. The
//! values come from [`super::completion_candidates`].

use super::arguments::Arguments;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

/// The program's name in PATH.
const NAME: &str = "docdeck";
/// The variable that the script sets when it asks.
const VARIABLE: &str = "DOCDECK_COMPLETE";

/// How to load the script.
pub(super) const USE: &str = "\
bash, in ~/.bashrc:                      source <(docdeck completions bash)
zsh, in ~/.zshrc, after compinit:        source <(docdeck completions zsh)
fish, in ~/.config/fish/config.fish:     docdeck completions fish | source
PowerShell, in its profile:              docdeck completions powershell | Out-String | Invoke-Expression";

/// For a script in a folder of `$fpath`: zsh runs it at the first Tab, as the body of `_docdeck`, and expects
/// completions.
const AS_A_FILE: &str = "
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
    let written = completer.write_registration(VARIABLE, NAME, NAME, NAME, &mut script);
    let script = written.ok().and_then(|()| String::from_utf8(script).ok());
    let script = script.ok_or_else(|| CliError::unusable("Can't generate the completion script."))?;
    out.write(script.trim_start_matches('\n'));
    if matches!(options.shell, Shell::Zsh) {
        out.write(AS_A_FILE);
    }
    Ok(Code::Done)
}

/// Answers a shell that asks for completions. Returns whether one did.
pub(super) fn answer_shell() -> bool {
    let asked = CompleteEnv::with_factory(Arguments::command).var(VARIABLE).bin(NAME).completer(NAME);
    // After an error the shell gets no answer, because it would not show a message. Typed paths are relative to this
    // folder.
    let folder = std::env::current_dir().ok();
    asked.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}
