//! Says which commit an optimised build was made of, for `docdeck --version`: `0.1.0 (2e5f39d4b1 2026-11-21)`.
//!
//! The date is the commit's, or that of SOURCE_DATE_EPOCH, so that the same source gives the same program. Without git, or
//! outside a checkout of docdeck itself, the plain version stands alone. Debug builds say that they are such, and are not
//! built anew for every commit. An optimised build also takes the smaller of two forms of one and the same table.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The places at which a loader fills in addresses, as one bit each instead of 24 bytes (0.2 MB of the whole program).
const PACKED: &str = "-Wl,-z,pack-relative-relocs";

/// What decides whether the source is that of the commit.
const SOURCE: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let about = if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        Some("debug build".to_owned())
    } else {
        if takes(PACKED) {
            println!("cargo::rustc-link-arg-bins={PACKED}");
        }
        built_of()
    };
    let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
    println!("cargo::rustc-env=DOCDECK_VERSION={version}{about}");
}

/// Whether a program that is linked with this runs here: tried out, since neither linker nor loader says so. What is built
/// for another kind of computer is linked as usual.
fn takes(link_arg: &str) -> bool {
    let tried = || {
        let (rustc, folder) = (env::var_os("RUSTC")?, PathBuf::from(env::var_os("OUT_DIR")?));
        let (source, program) = (folder.join("tried.rs"), folder.join("tried"));
        if env::var_os("TARGET")? != env::var_os("HOST")? || env::var("CARGO_CFG_TARGET_ENV").ok()? != "gnu" {
            return None;
        }
        std::fs::write(&source, "fn main() {}").ok()?;
        let link_arg = format!("link-arg={link_arg}");
        let linked = Command::new(rustc).arg("-C").arg(link_arg).arg("-o").arg(&program).arg(&source).output().ok()?;
        (linked.status.success() && Command::new(program).status().ok()?.success()).then_some(())
    };
    env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") && tried().is_some()
}

/// The commit and the date, as far as they are known.
fn built_of() -> Option<String> {
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.trim().parse().ok());
    let commit = commit();
    let seconds: Option<i64> = given.or_else(|| commit.as_ref()?.1.parse().ok());
    let parts: Vec<String> = commit.map(|(name, _)| name).into_iter().chain(seconds.and_then(date)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The commit's short name, marked where the source was changed since, and its time in seconds.
fn commit() -> Option<(String, String)> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    // A copy of the source that lies in somebody else's repository is not of its commits.
    let top = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != here.canonicalize().ok()? {
        return None;
    }
    watch(&here);
    let name = git(&here, &["rev-parse", "--short=10", "HEAD"])?;
    let seconds = git(&here, &["show", "-s", "--format=%ct", "HEAD"])?;
    let changes = git(&here, &[&["status", "--porcelain", "--"], &SOURCE[..]].concat())?;
    Some((if changes.is_empty() { name } else { format!("{name}-modified") }, seconds))
}

/// Looked at again when another commit is checked out or the source changes; a path that is not there would be looked at
/// every time.
fn watch(here: &Path) {
    let branch = git(here, &["symbolic-ref", "-q", "HEAD"]);
    let names = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    let paths = names.filter_map(|name| git(here, &["rev-parse", "--git-path", name])).map(|path| here.join(path));
    for path in paths.chain(SOURCE.iter().map(|name| here.join(name))).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(here: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(here).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}

/// `2026-11-21` in UTC; none for what lies before 1970.
fn date(seconds: i64) -> Option<String> {
    let days = u64::try_from(seconds).ok()? / 86_400;
    // The calendar in eras of 400 years that begin on the first of March.
    let (era, day_of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}
