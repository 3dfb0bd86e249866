//! Build script. Adds the commit to the version that `docdeck --version` prints in an optimised build, as in
//! `0.1.0 (2e5f39d4b1 2026-11-21)`.
//!
//! The date is SOURCE_DATE_EPOCH if that variable is set, otherwise the date of the commit, so that builds are
//! reproducible. Without git, or outside a checkout of docdeck, the commit is left out. A debug build is marked as a
//! debug build instead, so that it needn't be rebuilt for every commit. An optimised build is also linked without
//! tables for unwinding, with identical functions merged and with a packed relocation table, as far as the linker and
//! the loader support that.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The linker arguments that store most relocations as one bit instead of 24 bytes, which saves 0.2 MB, and that keep
/// one copy of identical functions, which saves 0.4 MB.
const LINK_ARGS: [&str; 2] = ["-Wl,-z,pack-relative-relocs", "-Wl,--icf=all"];

/// A linker script that leaves out the tables for unwinding, which saves 1.9 MB. An optimised build aborts instead of
/// unwinding, but rustc has no stable option that leaves them out: `force-unwind-tables=no` would also apply to build
/// scripts, which do unwind.
const DISCARD_UNWIND_TABLES: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;\n";

/// The paths whose uncommitted changes mark the build as modified.
const SOURCE_PATHS: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let about = if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        Some("debug build".to_owned())
    } else {
        for link_arg in LINK_ARGS.map(str::to_owned).into_iter().chain(write_linker_script()) {
            if supports_link_arg(&link_arg) {
                println!("cargo::rustc-link-arg-bins={link_arg}");
            }
        }
        commit_and_date()
    };
    let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
    println!("cargo::rustc-env=DOCDECK_VERSION={version}{about}");
}

/// Writes the file with [`DISCARD_UNWIND_TABLES`], and returns the argument that makes the linker read it.
fn write_linker_script() -> Option<String> {
    let path = PathBuf::from(env::var_os("OUT_DIR")?).join("discard_unwind_tables.ld");
    std::fs::write(&path, DISCARD_UNWIND_TABLES).ok()?;
    Some(format!("-T{}", path.display()))
}

/// Whether a program that is linked with `link_arg` runs on this computer. Links and runs a small program to find out,
/// because neither the linker nor the loader reports what it supports. Always false for a cross build, and for a target
/// other than Linux with glibc. Uses the linker and the flags of the user's Cargo configuration, like the build itself.
fn supports_link_arg(link_arg: &str) -> bool {
    let try_link = || {
        let (rustc, folder) = (env::var_os("RUSTC")?, PathBuf::from(env::var_os("OUT_DIR")?));
        let (source, program) = (folder.join("link_probe.rs"), folder.join("link_probe"));
        if env::var_os("TARGET")? != env::var_os("HOST")? || env::var("CARGO_CFG_TARGET_ENV").ok()? != "gnu" {
            return None;
        }
        std::fs::write(&source, "fn main() {}").ok()?;
        let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
        let mut link = Command::new(rustc);
        link.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
        link.args(env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
        let linked = link.arg(format!("-Clink-arg={link_arg}")).arg("-o").arg(&program).arg(&source).output().ok()?;
        (linked.status.success() && Command::new(program).status().ok()?.success()).then_some(())
    };
    env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") && try_link().is_some()
}

/// Returns the commit and the date, or only one of them if the other is unknown. Returns `None` if both are unknown.
fn commit_and_date() -> Option<String> {
    let source_date = env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.trim().parse().ok());
    let commit_name_and_time = commit_name_and_time();
    let seconds: Option<i64> = source_date.or_else(|| commit_name_and_time.as_ref()?.1.parse().ok());
    let parts: Vec<String> =
        commit_name_and_time.map(|(name, _)| name).into_iter().chain(seconds.and_then(format_date)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns the commit's short name, with `-modified` if the source has uncommitted changes, and the commit's time in
/// seconds.
fn commit_name_and_time() -> Option<(String, String)> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    // If the source was copied into another repository, returns `None`, because the commits there are not docdeck's.
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    declare_rerun_paths(&root);
    let name = git(&root, &["rev-parse", "--short=10", "HEAD"])?;
    let seconds = git(&root, &["show", "-s", "--format=%ct", "HEAD"])?;
    let changes = git(&root, &[&["status", "--porcelain", "--"], &SOURCE_PATHS[..]].concat())?;
    Some((if changes.is_empty() { name } else { format!("{name}-modified") }, seconds))
}

/// Makes Cargo rerun this script when another commit is checked out or the source changes. Leaves out missing paths,
/// because Cargo would rerun the script at every build for them.
fn declare_rerun_paths(root: &Path) {
    let branch = git(root, &["symbolic-ref", "-q", "HEAD"]);
    let names = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    let paths = names.filter_map(|name| git(root, &["rev-parse", "--git-path", name])).map(|path| root.join(path));
    for path in paths.chain(SOURCE_PATHS.iter().map(|name| root.join(name))).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}

/// Formats a Unix time in seconds as a date like `2026-11-21` in UTC. Returns `None` for times before 1970.
fn format_date(seconds: i64) -> Option<String> {
    let days = u64::try_from(seconds).ok()? / 86_400;
    // Counts in eras of 400 years, and in years that begin on 1 March, so that a leap day is the last day of its year.
    let (era, day_of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}
