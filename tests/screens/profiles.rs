//! The profiles dialog, and switching to another profile.

use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, SMALL, WIDE, snapshots};
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::text::CleanText;
use docdeck::tui::ProfileEntry;
use docdeck::tui::{AllProfilesJobs, JobsMsg, Msg, ProfilesMsg};

fn open_profiles(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    let profile = |name: &str, base_url: &str, project: &str, problem: Option<&str>| ProfileEntry {
        name: CleanText::line(name),
        scope: (!project.is_empty()).then(|| Scope {
            base_url: base_url.to_owned(),
            project: project.to_owned(),
            organization: None,
        }),
        problem: problem.map(CleanText::line),
    };
    let hosted = "https://api.example.com";
    fixture.app.config.profiles = vec![
        profile("acme-docs", hosted, "acme", None),
        profile("beta", hosted, "66f1c0ffee99aa00bb11cc22", None),
        profile(
            "handbook of the company",
            "https://docs.corp.example:8443",
            "handbook",
            Some("No API key: set api_key_command, api_key_file or api_key in config.toml."),
        ),
        profile("new", hosted, "", Some("No project_id is set.")),
    ];
    fixture.press_keys("P");
}

#[test]
fn the_profiles_with_the_current_one_and_incomplete_ones() {
    snapshots(
        "profiles",
        &[SMALL, LARGE],
        &["Enter checks the key and switches. Drafts and prompts stay in their profile."],
        open_profiles,
    );
}

#[test]
fn an_incomplete_profile_shows_what_is_missing() {
    snapshots(
        "profiles_incomplete",
        &[],
        &["Can't switch to handbook of the company. No API key: set api_key_command,"],
        |fixture| {
            open_profiles(fixture);
            fixture.press_keys("j j Enter");
        },
    );
}

#[test]
fn a_key_that_is_being_checked() {
    snapshots("profiles_checking_key", &[], &["Enter switch", "Profiles: 4", "● acme-docs"], |fixture| {
        open_profiles(fixture);
        fixture.press_keys("j Enter");
        fixture.handle(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(ApiKey::new("mint_x").expect("a key")))));
    });
}

#[test]
fn a_rejected_key() {
    snapshots(
        "profiles_refused",
        &[],
        &["“Invalid API key”); it is wrong, expired or revoked: create a new one on the"],
        |fixture| {
            open_profiles(fixture);
            fixture.press_keys("j Enter");
            let sentence = "The service refused the key (401: “Invalid API key”); it is wrong, expired or revoked: create a new one on the API keys page of your Mintlify dashboard.";
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileKeyRead(
                1,
                Err(Failure::new(FailureKind::KeyRefused, sentence)),
            )));
        },
    );
}

#[test]
fn the_jobs_of_all_profiles() {
    snapshots("all_jobs", &[SMALL, WIDE], &["profiles", "updated just now"], |fixture| {
        open_profiles(fixture);
        fixture.press_keys("Esc");
        list_all_jobs(fixture);
    });
}

#[test]
fn the_jobs_of_all_profiles_have_their_author() {
    snapshots("all_jobs_of_a_team", &[], &["profiles", "updated just now"], |fixture| {
        open_profiles(fixture);
        fixture.press_keys("Esc");
        fixture.share_jobs();
        list_all_jobs(fixture);
    });
}

/// Lists the jobs of the current profile as those of three profiles.
fn list_all_jobs(fixture: &mut ScreenFixture) {
    fixture.press_keys("A");
    let rows: Vec<_> = fixture.app.jobs.shown_rows().cloned().collect();
    let jobs = rows.into_iter().enumerate().map(|(n, row)| (n % 3, row)).collect();
    fixture.handle(Msg::Jobs(JobsMsg::AllJobsListed(Ok(AllProfilesJobs { jobs, jobs_without_profile_count: 3 }))));
    fixture.press_keys("j j");
}

#[test]
fn the_jobs_of_all_profiles_before_they_are_read() {
    snapshots("all_jobs_loading", &[], &["profiles"], |fixture| {
        open_profiles(fixture);
        fixture.press_keys("Esc A");
    });
}

#[test]
fn the_other_profile_before_its_store_is_read() {
    snapshots(
        "profiles_switched",
        &[],
        &["Switched to beta: project 66f1c0ffee99aa00bb11cc22 at api.example.com."],
        |fixture| {
            open_profiles(fixture);
            fixture.press_keys("j Enter");
            let key = || ApiKey::new("mint_x").expect("a key");
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(key()))));
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Ok((key(), None)))));
        },
    );
}
