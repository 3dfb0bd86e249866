//! The profiles, and turning to another one.

use crate::screen_fixture::ScreenFixture;
use crate::snapshots;
use docdeck::app::profiles::ProfileEntry;
use docdeck::app::{AllProfilesJobs, Msg};
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::text::CleanText;

fn listed(world: &mut ScreenFixture) {
    world.jobs();
    let profile = |name: &str, base_url: &str, project: &str, lacks: Option<&str>| ProfileEntry {
        name: CleanText::line(name),
        scope: (!project.is_empty()).then(|| Scope {
            base_url: base_url.to_owned(),
            project: project.to_owned(),
            organization: None,
        }),
        lacks: lacks.map(CleanText::line),
    };
    let hosted = "https://api.example.com";
    world.app.config.profiles = vec![
        profile("acme-docs", hosted, "acme", None),
        profile("beta", hosted, "66f1c0ffee99aa00bb11cc22", None),
        profile(
            "handbook of the company",
            "https://docs.corp.example:8443",
            "handbook",
            Some("It has no key of its own: api_key_command, api_key_file or api_key in config.toml."),
        ),
        profile("new", hosted, "", Some("It has no project_id.")),
    ];
    world.keys("P");
}

#[test]
fn the_profiles_with_the_present_one_and_those_that_lack_something() {
    snapshots("profiles", listed);
}

#[test]
fn a_profile_that_lacks_something_says_what() {
    snapshots("profiles_lack", |world| {
        listed(world);
        world.keys("j j Enter");
    });
}

#[test]
fn a_key_that_is_being_tried() {
    snapshots("profiles_asking", |world| {
        listed(world);
        world.keys("j Enter");
        world.tell(Msg::ProfileKey(1, Ok(ApiKey::new("mint_x").expect("a key"))));
    });
}

#[test]
fn a_key_that_is_refused() {
    snapshots("profiles_refused", |world| {
        listed(world);
        world.keys("j Enter");
        let sentence = "The service does not accept the key (401: “Invalid API key”); it is wrong, expired or revoked: make a new one on the dashboard's API keys page.";
        world.tell(Msg::ProfileKey(1, Err(Failure::new(FailureKind::KeyRefused, sentence))));
    });
}

#[test]
fn the_jobs_of_all_profiles() {
    snapshots("all_jobs", |world| {
        listed(world);
        world.keys("Esc A");
        let rows: Vec<_> = world.app.jobs.shown_rows().cloned().collect();
        let jobs = rows.into_iter().enumerate().map(|(n, row)| (n % 3, row)).collect();
        world.tell(Msg::AllJobs(Ok(AllProfilesJobs { jobs, left_out: 3 })));
        world.keys("j j");
    });
}

#[test]
fn the_jobs_of_all_profiles_before_they_are_read() {
    snapshots("all_jobs_reading", |world| {
        listed(world);
        world.keys("Esc A");
    });
}

#[test]
fn the_other_profile_before_its_record_is_read() {
    snapshots("profiles_turned", |world| {
        listed(world);
        world.keys("j Enter");
        let key = || ApiKey::new("mint_x").expect("a key");
        world.tell(Msg::ProfileKey(1, Ok(key())));
        world.tell(Msg::KeyTried(1, Ok((key(), None))));
    });
}
