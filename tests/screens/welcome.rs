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
        let mut fixture = ScreenFixture::unconfigured(size);
        build(&mut fixture);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), text(&render(&fixture.app, Depth::None)));
    }
}

/// Types key and project and starts a connection attempt; returns its number.
fn attempt(fixture: &mut ScreenFixture) -> u64 {
    fixture.paste("mint_secret_key");
    fixture.keys("Enter");
    fixture.paste("acme-docs");
    fixture.keys("Ctrl-s");
    let checks = fixture.effects.iter().rev().find_map(|effect| match effect {
        Effect::CheckProfile { attempt, .. } => Some(*attempt),
        _ => None,
    });
    fixture.handle(Msg::ProfileChecked { attempt: checks.expect("an attempt"), result: Ok(()) });
    let mut reads = fixture.effects.iter().rev().filter_map(|effect| match effect {
        Effect::ReadKey { attempt, .. } => Some(*attempt),
        _ => None,
    });
    reads.next().expect("an attempt")
}

fn read(fixture: &mut ScreenFixture) -> u64 {
    let attempt = attempt(fixture);
    fixture.handle(Msg::KeyRead { attempt, result: Ok(ApiKey::new("mint_secret_key").expect("a key")) });
    attempt
}

#[test]
fn the_welcome_page() {
    snapshots("welcome", |_| {});
}

#[test]
fn every_key_source() {
    for (name, keys) in [("program", "Up Left Left"), ("file", "Up Left"), ("variable", "Up Right")] {
        snapshots(&format!("welcome_{name}"), |fixture| fixture.keys(keys));
    }
}

#[test]
fn a_typed_key_is_shown_as_dots() {
    snapshots("welcome_key", |fixture| {
        fixture.paste("mint_secret_key");
        assert!(!text(&render(&fixture.app, Depth::None)).contains("secret"));
    });
}

#[test]
fn a_line_that_is_typed() {
    snapshots("welcome_project", |fixture| {
        fixture.keys("Tab");
        fixture.paste("acme-docs");
    });
}

#[test]
fn missing_values() {
    snapshots("welcome_missing", |fixture| fixture.keys("Ctrl-s"));
}

#[test]
fn the_page_while_the_service_is_checked() {
    snapshots("welcome_trying", |fixture| {
        read(fixture);
    });
}

#[test]
fn a_successful_test() {
    snapshots("welcome_good", |fixture| {
        read(fixture);
        fixture.keys("Esc Ctrl-t");
        let Some(Effect::CheckProfile { attempt, .. }) = fixture.effects.last() else { panic!("no attempt") };
        let attempt = *attempt;
        fixture.handle(Msg::ProfileChecked { attempt, result: Ok(()) });
        fixture.handle(Msg::KeyRead { attempt, result: Ok(ApiKey::new("mint_secret_key").expect("a key")) });
        let message = "The key works: a probe job was not found, as expected (“Job not found”). Whether it may start jobs in \
                    this project will show with the first job.";
        fixture.handle(Msg::ProfileTested { attempt, result: Ok(CleanText::line(message)) });
    });
}

#[test]
fn the_question_about_a_rejected_key() {
    snapshots("welcome_refused", |fixture| {
        let attempt = read(fixture);
        let message = "The service does not accept the key (401: “Invalid or expired API key”); it is wrong, expired or \
                    revoked: create a new one on the API keys page of the service's dashboard.";
        fixture.handle(Msg::ProfileTested { attempt, result: Err(Failure::new(FailureKind::KeyRefused, message)) });
    });
}

#[test]
fn typed_values_stay_after_a_rejection() {
    snapshots("welcome_refused_kept", |fixture| {
        let attempt = read(fixture);
        let message = "Could not reach docs.example.com (connection refused), so nothing was sent: check the base URL.";
        fixture.handle(Msg::ProfileTested { attempt, result: Err(Failure::new(FailureKind::Offline, message)) });
        fixture.keys("n");
    });
}

#[test]
fn the_help_of_the_welcome_page() {
    snapshots("welcome_help", |fixture| fixture.keys("F1"));
}

#[test]
fn the_fields_below_more() {
    snapshots("welcome_more", |fixture| {
        fixture.keys("Tab Tab Enter");
        fixture.paste("https://docs.example.com");
        fixture.keys("Enter Enter");
    });
    snapshots("welcome_folded", |fixture| {
        fixture.keys("Tab Tab Enter");
        fixture.paste("https://docs.example.com");
        fixture.keys("Up Left Up");
    });
}

#[test]
fn a_value_that_docdeck_rejects_is_reported_at_its_field() {
    snapshots("welcome_invalid", |fixture| {
        fixture.paste("mint_secret_key");
        fixture.keys("Tab");
        fixture.paste("acme-docs");
        fixture.keys("Ctrl-s");
        let Some(Effect::CheckProfile { attempt, .. }) = fixture.effects.last() else { panic!("no attempt") };
        let attempt = *attempt;
        let sentence = "Use https://; http:// would send the key unencrypted to docs.example.com (allowed only \
                        for this computer).";
        let problem = SetupProblem::new(Some(SetupField::BaseUrl), sentence);
        fixture.handle(Msg::ProfileChecked { attempt, result: Err(problem) });
    });
}

#[test]
fn the_form_for_another_profile() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.jobs();
        fixture.app.config.config = Some(CleanText::line("/home/me/.config/docdeck/config.toml"));
        fixture.app.config.profiles = vec![ProfileEntry {
            name: CleanText::line("acme"),
            scope: Some(fixture.app.config.scope.clone()),
            problem: None,
        }];
        fixture.keys("P n");
        insta::assert_snapshot!(format!("new_profile_{}x{}", size.0, size.1), text(&render(&fixture.app, Depth::None)));
    }
}
