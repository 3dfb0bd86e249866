//! `docdeck completions`: the script that has a shell ask docdeck itself what can stand next, ids of jobs included. What it
//! then answers is `live`'s.

use super::arguments::Arguments;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

/// The program's name, as shells find it.
const NAME: &str = "docdeck";
/// Set by the script when it asks.
const VARIABLE: &str = "DOCDECK_COMPLETE";

/// How to take it in.
pub(super) const USE: &str = "\
bash, in ~/.bashrc:                      source <(docdeck completions bash)
zsh, in ~/.zshrc, after compinit:        source <(docdeck completions zsh)
fish, in ~/.config/fish/config.fish:     docdeck completions fish | source
PowerShell, in its profile:              docdeck completions powershell | Out-String | Invoke-Expression";

/// In a folder of $fpath zsh reads the script at the first Tab, as the body of `_docdeck`, and waits for an answer.
const AS_A_FILE: &str = "
if [[ \"${funcstack[1]}\" == _docdeck ]]; then
    _clap_dynamic_completer_docdeck \"$@\"
fi
";

/// For which shell.
#[derive(Debug, Args)]
pub(super) struct Options {
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

/// Prints the script.
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
    let script = script.ok_or_else(|| CliError::unusable("The script could not be made."))?;
    out.write(script.trim_start_matches('\n'));
    if matches!(options.shell, Shell::Zsh) {
        out.write(AS_A_FILE);
    }
    Ok(Code::Done)
}

/// Answers a shell that asks what can stand next. Whether one did.
pub(super) fn answer() -> bool {
    let asked = CompleteEnv::with_factory(Arguments::command).var(VARIABLE).bin(NAME).completer(NAME);
    // What goes wrong leaves the shell without an answer: nobody would see a sentence.
    // Paths that are typed begin here.
    let folder = std::env::current_dir().ok();
    asked.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}
