//! The welcome page in each of its states.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, text};
use docdeck::app::profiles::ProfileEntry;
use docdeck::app::{Effect, Msg};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::setup::{SetupField, SetupProblem};
use docdeck::model::text::CleanText;
use docdeck::ui::Depth;

fn snapshots(name: &str, build: impl Fn(&mut ScreenFixture)) {
    for size in SIZES {
        let mut world = ScreenFixture::unconfigured(size);
        build(&mut world);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), text(&render(&world.app, Depth::None)));
    }
}

/// Key and project are typed, and an attempt is begun; gives its number.
fn attempt(world: &mut ScreenFixture) -> u64 {
    world.paste("mint_secret_key");
    world.keys("Enter");
    world.paste("acme-docs");
    world.keys("Ctrl-s");
    let checks = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::CheckProfile { attempt, .. } => Some(*attempt),
        _ => None,
    });
    world.tell(Msg::ProfileChecked { attempt: checks.expect("an attempt"), result: Ok(()) });
    let mut reads = world.effects.iter().rev().filter_map(|effect| match effect {
        Effect::ReadKey { attempt, .. } => Some(*attempt),
        _ => None,
    });
    reads.next().expect("an attempt")
}

fn read(world: &mut ScreenFixture) -> u64 {
    let attempt = attempt(world);
    world.tell(Msg::KeyRead { attempt, result: Ok(ApiKey::new("mint_secret_key").expect("a key")) });
    attempt
}

#[test]
fn the_welcome_page() {
    snapshots("welcome", |_| {});
}

#[test]
fn every_source_of_the_key() {
    for (name, keys) in [("program", "Up Left Left"), ("file", "Up Left"), ("variable", "Up Right")] {
        snapshots(&format!("welcome_{name}"), |world| world.keys(keys));
    }
}

#[test]
fn a_typed_key_is_dots() {
    snapshots("welcome_key", |world| {
        world.paste("mint_secret_key");
        assert!(!text(&render(&world.app, Depth::None)).contains("secret"));
    });
}

#[test]
fn a_line_that_is_typed() {
    snapshots("welcome_project", |world| {
        world.keys("Tab");
        world.paste("acme-docs");
    });
}

#[test]
fn what_is_missing() {
    snapshots("welcome_missing", |world| world.keys("Ctrl-s"));
}

#[test]
fn while_the_service_is_asked() {
    snapshots("welcome_trying", |world| {
        read(world);
    });
}

#[test]
fn a_test_that_went_well() {
    snapshots("welcome_good", |world| {
        read(world);
        world.keys("Esc Ctrl-t");
        let Some(Effect::CheckProfile { attempt, .. }) = world.effects.last() else { panic!("no attempt") };
        let attempt = *attempt;
        world.tell(Msg::ProfileChecked { attempt, result: Ok(()) });
        world.tell(Msg::KeyRead { attempt, result: Ok(ApiKey::new("mint_secret_key").expect("a key")) });
        let said = "The service did not refuse the key: a made-up job got its 404 (“Job not found”). The project id, and \
                    the right to start jobs, show at first use.";
        world.tell(Msg::ProfileTried { attempt, result: Ok(CleanText::line(said)) });
    });
}

#[test]
fn a_key_that_is_refused_is_asked_about() {
    snapshots("welcome_refused", |world| {
        let attempt = read(world);
        let said = "The service does not accept the key (401: “Invalid or expired API key”); it is wrong, expired or \
                    revoked: make a new one on the dashboard's API keys page.";
        world.tell(Msg::ProfileTried { attempt, result: Err(Failure::new(FailureKind::KeyRefused, said)) });
    });
}

#[test]
fn what_was_typed_stays_where_it_was_refused() {
    snapshots("welcome_refused_kept", |world| {
        let attempt = read(world);
        let said = "Nobody answers at docs.example.com (connection refused), so nothing was sent: check the base URL.";
        world.tell(Msg::ProfileTried { attempt, result: Err(Failure::new(FailureKind::Offline, said)) });
        world.keys("n");
    });
}

#[test]
fn the_help_of_the_welcome_page() {
    snapshots("welcome_help", |world| world.keys("F1"));
}

#[test]
fn the_fields_below_more() {
    snapshots("welcome_more", |world| {
        world.keys("Tab Tab Enter");
        world.paste("https://docs.example.com");
        world.keys("Enter Enter");
    });
    snapshots("welcome_folded", |world| {
        world.keys("Tab Tab Enter");
        world.paste("https://docs.example.com");
        world.keys("Up Left Up");
    });
}

#[test]
fn what_docdeck_would_refuse_is_said_at_its_field() {
    snapshots("welcome_invalid", |world| {
        world.paste("mint_secret_key");
        world.keys("Tab");
        world.paste("acme-docs");
        world.keys("Ctrl-s");
        let Some(Effect::CheckProfile { attempt, .. }) = world.effects.last() else { panic!("no attempt") };
        let attempt = *attempt;
        let sentence = "The base URL would send the key unencrypted to docs.example.com, so nothing was sent: http:// is \
                        accepted for this computer only, write https://.";
        let problem = SetupProblem::new(Some(SetupField::BaseUrl), sentence);
        world.tell(Msg::ProfileChecked { attempt, result: Err(problem) });
    });
}

#[test]
fn the_form_for_one_more_profile() {
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        world.jobs();
        world.app.config.config = Some(CleanText::line("/home/me/.config/docdeck/config.toml"));
        world.app.config.profiles = vec![ProfileEntry {
            name: CleanText::line("acme"),
            scope: Some(world.app.config.scope.clone()),
            lacks: None,
        }];
        world.keys("P n");
        insta::assert_snapshot!(format!("new_profile_{}x{}", size.0, size.1), text(&render(&world.app, Depth::None)));
    }
}
