//! Tests of API key sources in a terminal: a key command can ask for a password, and the API key never leaks.

use crate::support::pty::{Pty, Setup};
use std::path::Path;

/// Settings of a service that can't be reached: nothing listens on the port.
const UNREACHABLE_SERVICE: &str = "base_url = \"http://127.0.0.1:9\"\nproject_id = \"p\"\n";

#[test]
fn a_key_command_can_ask_for_a_password_in_the_terminal() {
    let ask = "printf 'PIN: ' >/dev/tty; read pin </dev/tty; echo mint_$pin";
    let config = format!("[profiles.a]\n{UNREACHABLE_SERVICE}api_key_command = [\"sh\", \"-c\", \"{ask}\"]\n");
    let mut pty = Pty::spawn(Setup::dashboard_with(&config));
    pty.wait_for_text("PIN:");
    assert!(!pty.screen().alternate_screen());
    pty.send("m4rked\r");
    pty.wait_for_text("No jobs yet.");
    pty.quit();
    let sent = pty.sent();
    assert!(!sent.contains("mint_m4rked"), "{sent}");
    assert!(files_with("m4rked", pty.home()).is_empty());
}

#[test]
fn ctrl_c_while_a_key_command_asks_ends_the_command_and_the_start() {
    // `stty` runs only after docdeck has given the terminal to the command. So Ctrl-C reaches the command when it asks.
    let ask = "stty -echo </dev/tty; printf 'PIN: ' >/dev/tty; read pin </dev/tty; echo mint_$pin";
    let config = format!("[profiles.a]\n{UNREACHABLE_SERVICE}api_key_command = [\"sh\", \"-c\", \"{ask}\"]\n");
    let mut pty = Pty::spawn(Setup::dashboard_with(&config));
    pty.wait_for_text("PIN:");
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 2);
    assert!(pty.sent().contains("The API key command sh failed with a signal"), "{}", pty.sent());
}

#[test]
fn a_key_in_the_configuration_file_appears_nowhere_else() {
    let config = format!("[profiles.a]\n{UNREACHABLE_SERVICE}api_key = \"mint_m4rked\"\n");
    let mut pty = Pty::spawn(Setup::dashboard_with(&config));
    pty.wait_for_text("No jobs yet.");
    pty.send("nA first job\x13");
    pty.wait_for_text("Not sent: “A first job”");
    pty.press_until("3", " create ");
    pty.wait_for_text("connection refused");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(!pty.sent().contains("m4rked"));
    assert_eq!(files_with("m4rked", pty.home()), ["config.toml"]);
}

/// Returns the names of the files below `folder` that contain `text`.
fn files_with(text: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(text, &path));
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        }
    }
    found
}

/// Runs a shell script that prints a line, kills its process with a signal, and returns whether that left a core dump.
/// Core dumps of any size are allowed.
#[cfg(target_os = "linux")]
fn leaves_core_dump(script: &str) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = std::process::Command::new("sh");
    shell
        .env_clear()
        .envs(crate::support::pty::environment(folder.path()))
        .env("DOCDECK", crate::support::pty::program())
        .current_dir(folder.path());
    let script = format!("ulimit -c unlimited || exit 1; {script}");
    let mut child = shell.args(["-c", &script]).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("stdout"));
    std::io::BufRead::read_line(&mut stdout, &mut String::new()).expect("a line");
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::SYS).expect("it runs");
    child.wait().expect("a status").core_dumped()
}

#[test]
#[cfg(target_os = "linux")]
fn a_crash_leaves_no_core_dump_with_the_key() {
    if !leaves_core_dump("echo ready; exec sleep 600") {
        println!("skipped: core dumps are switched off here");
        return;
    }
    assert!(!leaves_core_dump("exec \"$DOCDECK\" sim --pages 1 --jobs 0"));
}
