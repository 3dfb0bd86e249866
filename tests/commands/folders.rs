//! Data folders that can't be used: each command reports the reason and does nothing.

use crate::doctor::HomeFolder;
use std::path::Path;

/// Data folders that can't be used, and the expected error for each.
const UNUSABLE_FOLDERS: [(&str, &str); 4] = [
    ("file", "can't be used (not a directory): choose another one with --data-dir."),
    ("file/below", "can't be used (not a directory): choose another one with --data-dir."),
    ("newer", "was written by a newer docdeck (schema 99999, this one supports "),
    ("foreign", "is the database of another program and was not changed: choose another folder with --data-dir."),
];

#[test]
fn every_command_reports_why_the_data_folder_can_not_be_used() {
    let home = HomeFolder::new();
    home.write_private_file("file", "");
    home.write_private_file(
        "backup.jsonl",
        "{\"kind\":\"docdeck\",\"version\":1}\n{\"kind\":\"end\",\"jobs\":0,\"drafts\":0}\n",
    );
    for (name, sql) in [("newer", "PRAGMA user_version = 99999"), ("foreign", "CREATE TABLE other (a)")] {
        let folder = home.path().join(name);
        if name == "newer" {
            let import = home.docdeck_command(&["import", "backup.jsonl"]).arg("--data-dir").arg(&folder).output();
            assert!(import.expect("it runs").status.success());
        } else {
            std::fs::create_dir(&folder).expect("made");
        }
        let file = rusqlite::Connection::open(folder.join("docdeck.db")).expect("a file");
        file.execute_batch(sql).expect("changed");
    }
    let commands: [&[&str]; 13] = [
        &["export"],
        &["import", "backup.jsonl"],
        &["import", "backup.jsonl", "--dry-run"],
        &["prune"],
        &["prune", "--dry-run", "--json"],
        &["prune", "--jobs", "--older-than", "3"],
        &["jobs", "--json"],
        &["show", "j"],
        &["status"],
        &["views"],
        &["new", "x"],
        &["watch"],
        &["track", "j"],
    ];
    for (folder, expected) in UNUSABLE_FOLDERS {
        for words in commands {
            let mut command = home.docdeck_command(words);
            command
                .args(["--project", "p", "--base-url", "http://127.0.0.1:1", "--data-dir"])
                .arg(home.path().join(folder));
            let output = command.env("DOCDECK_API_KEY", "mint_a").output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{folder} {words:?}: {stderr}");
            assert!(stderr.contains(expected) && stderr.trim_end().ends_with('.'), "{folder} {words:?}: {stderr}");
        }
    }
}

/// Folders in which not even root can create a store, and the expected error for each.
#[cfg(target_os = "linux")]
const UNWRITABLE_FOLDERS: [(&str, &str); 3] = [
    ("/proc/docdeck", "doesn't exist and can't be created in /proc"),
    ("/sys/docdeck/below", "doesn't exist and can't be created in /sys"),
    ("/proc", "can't be written"),
];

#[test]
#[cfg(target_os = "linux")]
fn a_folder_in_which_no_store_can_be_created_is_not_reported_as_empty() {
    let home = HomeFolder::new();
    let commands: [&[&str]; 9] = [
        &["jobs"],
        &["jobs", "--json"],
        &["status"],
        &["show", "j"],
        &["views"],
        &["watch"],
        &["wait", "j"],
        &["new", "x"],
        &["prune"],
    ];
    for (folder, expected) in UNWRITABLE_FOLDERS {
        for words in commands {
            let mut command = home.docdeck_command(words);
            command.args(["--project", "p", "--base-url", "http://127.0.0.1:1", "--data-dir", folder]);
            let output = command.env("DOCDECK_API_KEY", "mint_a").output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{folder} {words:?}: {stderr}");
            assert!(
                stderr.starts_with(&format!("docdeck: The data folder {folder} {expected} (")),
                "{words:?}: {stderr}"
            );
            assert!(stderr.contains("nothing can be loaded or saved"), "{words:?}: {stderr}");
            assert!(stderr.trim_end().ends_with("choose another one with --data-dir."), "{words:?}: {stderr}");
            assert!(!stderr.contains("sent"), "{words:?}: {stderr}");
        }
        let doctor = home.docdeck_command(&["doctor", "--offline", "--data-dir", folder]).output().expect("it runs");
        let stdout = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let line = stdout.lines().find(|line| line.contains("data folder")).expect("a line");
        assert!(line.trim_start().starts_with("problem") && line.contains(&format!("{folder} ")), "{stdout}");
        assert!(!stdout.contains("none yet"), "{stdout}");
    }
}

#[test]
fn a_missing_data_folder_is_no_error() {
    let home = HomeFolder::new();
    for folder in [home.path().join("a/b/c").display().to_string(), "relative/folder".to_owned()] {
        for (words, expected) in [(&["jobs"][..], ""), (&["status"], "no jobs\n")] {
            let mut command = home.docdeck_command(words);
            let output = command.args(["--project", "p", "--data-dir", &folder]).output().expect("it runs");
            let all = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), all.as_str()), (Some(0), expected), "{folder} {words:?}");
        }
        let doctor = home.docdeck_command(&["doctor", "--offline", "--data-dir", &folder]).output().expect("it runs");
        let stdout = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(stdout.contains("doesn't exist yet; the first start creates it"), "{stdout}");
    }
    assert!(!home.path().join("a").exists() && !home.path().join("relative").exists());
}

#[test]
fn a_damaged_store_is_moved_aside_and_not_exported_or_pruned() {
    let home = HomeFolder::new();
    let backup = home.write_private_file("backup.jsonl", "the good one");
    let commands: [&[&str]; 3] = [&["export", "backup.jsonl", "--force"], &["export"], &["prune", "--json"]];
    for (number, words) in commands.into_iter().enumerate() {
        let folder = home.path().join(number.to_string());
        std::fs::create_dir(&folder).expect("made");
        std::fs::write(folder.join("docdeck.db"), [7_u8; 20_000]).expect("written");
        let output = home.docdeck_command(words).arg("--data-dir").arg(&folder).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(
            stderr.contains("The database was damaged. No job, prompt or draft could be recovered from it.")
                && stderr.contains("docdeck-corrupt-")
                && stderr.contains("Nothing was done"),
            "{stderr}"
        );
    }
    assert_eq!(std::fs::read_to_string(backup).expect("there"), "the good one");
}

#[cfg(unix)]
#[test]
fn a_symlinked_data_folder_is_made_private_unless_it_contains_other_files() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = HomeFolder::new();
    for (name, other) in [("alone", None), ("shared", Some("photo.png"))] {
        let (target, link) = (home.path().join(name), home.path().join(format!("{name}-link")));
        std::fs::create_dir(&target).expect("made");
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)).expect("opened");
        if let Some(other) = other {
            std::fs::write(target.join(other), "x").expect("written");
        }
        symlink(&target, &link).expect("a link");
        let file = home.write_private_file("one.jsonl", "{\"kind\":\"docdeck\",\"version\":1}\n");
        let output =
            home.docdeck_command(&["import"]).arg(&file).arg("--data-dir").arg(&link).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let mode = std::fs::metadata(&target).expect("there").permissions().mode() & 0o777;
        assert_eq!((output.status.code(), mode), (Some(0), if other.is_some() { 0o755 } else { 0o700 }), "{stderr}");
        assert_eq!(stderr.contains("Other users can read the data folder"), other.is_some(), "{stderr}");
    }
}

/// Creates a store with schema 5, which the program has to update, and a job in it.
fn create_older_store(folder: &Path) {
    std::fs::create_dir(folder).expect("made");
    let file = rusqlite::Connection::open(folder.join("docdeck.db")).expect("a file");
    let schemas = [
        include_str!("../../assets/schema/0001_begin.sql"),
        include_str!("../../assets/schema/0002_own_words.sql"),
        include_str!("../../assets/schema/0003_batch_draft.sql"),
        include_str!("../../assets/schema/0004_reports.sql"),
        include_str!("../../assets/schema/0005_first_rows.sql"),
        "PRAGMA user_version = 5;
         INSERT INTO scope (id, base_url, project) VALUES (1, 'http://127.0.0.1:1', 'p');
         INSERT INTO job (scope, id, title, status, created_at, started_at, changed_at, revision)
         VALUES (1, 'j', 'a job', 'failed', 1, 1, 1, 1);",
    ];
    file.execute_batch(&schemas.concat()).expect("as it was");
}

#[test]
fn status_reads_an_older_store_without_changing_it() {
    let home = HomeFolder::new();
    let folder = home.path().join("older");
    create_older_store(&folder);
    let before = std::fs::read(folder.join("docdeck.db")).expect("bytes");
    let status = || {
        let mut command = home.docdeck_command(&["status", "--project", "p", "--base-url", "http://127.0.0.1:1"]);
        command.arg("--data-dir").arg(&folder).assert().success().stderr("").stdout("1 needs you · 0 working\n");
    };
    status();
    assert_eq!(std::fs::read(folder.join("docdeck.db")).expect("bytes"), before);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    let mut jobs = home.docdeck_command(&["jobs", "--project", "p", "--base-url", "http://127.0.0.1:1"]);
    jobs.arg("--data-dir").arg(&folder).assert().success();
    assert_ne!(std::fs::read(folder.join("docdeck.db")).expect("bytes"), before, "up to date");
    status();
}

#[test]
fn an_older_store_that_can_not_be_updated_is_an_error() {
    let home = HomeFolder::new();
    let folder = home.path().join("older");
    create_older_store(&folder);
    let before = std::fs::read(folder.join("docdeck.db")).expect("bytes");
    // SQLite can't create its journal through this dangling link. Unlike a read-only folder, the link also stops root.
    std::os::unix::fs::symlink("/nonexistent/journal", folder.join("docdeck.db-journal")).expect("a link");
    let commands: [&[&str]; 8] = [
        &["jobs"],
        &["show", "j"],
        &["views"],
        &["watch"],
        &["new", "x"],
        &["export"],
        &["prune"],
        &["prune", "--jobs", "--older-than", "3"],
    ];
    for words in commands {
        let mut command = home.docdeck_command(words);
        command.args(["--project", "p", "--base-url", "http://127.0.0.1:1", "--data-dir"]).arg(&folder);
        let output = command.env("DOCDECK_API_KEY", "mint_a").output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        for expected in [
            "docdeck: The database ",
            " was written by an older docdeck (schema 5, this one needs ",
            " can't be updated, since its folder can't be written",
            "copy the file to a writable folder and choose that one with --data-dir.",
        ] {
            assert!(stderr.contains(expected), "{words:?}: {stderr}");
        }
        assert!(!stderr.contains("sent") && !stderr.contains("saved"), "{words:?}: {stderr}");
    }
    let mut status = home.docdeck_command(&["status", "--project", "p", "--base-url", "http://127.0.0.1:1"]);
    status.arg("--data-dir").arg(&folder).assert().success().stdout("1 needs you · 0 working\n");
    assert_eq!(std::fs::read(folder.join("docdeck.db")).expect("bytes"), before);
}
