//! The welcome page in each of its states.

use crate::screen_fixture::ScreenFixture;
use crate::{SMALL, Size, WIDE, render, snapshots_of, text};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::setup::{SetupField, SetupProblem};
use docdeck::model::text::CleanText;
use docdeck::tui::ProfileEntry;
use docdeck::tui::draw::ColorDepth;
use docdeck::tui::{Effect, Msg, ProfilesEffect, ProfilesMsg};

fn snapshots(name: &str, also: &[Size], texts: &[&str], build: impl Fn(&mut ScreenFixture)) {
    snapshots_of(ScreenFixture::unconfigured, name, also, texts, build);
}

/// Types an API key and a project id, and saves them up to the point where the key is read; returns the number of the
/// attempt.
fn start_attempt(fixture: &mut ScreenFixture) -> u64 {
    fixture.paste("mint_secret_key");
    fixture.press_keys("Enter");
    fixture.paste("acme-docs");
    fixture.press_keys("Ctrl-s");
    let checks = fixture.effects.iter().rev().find_map(|effect| match effect {
        Effect::Profiles(ProfilesEffect::CheckProfile { attempt, .. }) => Some(*attempt),
        _ => None,
    });
    fixture.handle(Msg::Profiles(ProfilesMsg::ProfileChecked { attempt: checks.expect("an attempt"), result: Ok(()) }));
    let mut reads = fixture.effects.iter().rev().filter_map(|effect| match effect {
        Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt, .. }) => Some(*attempt),
        _ => None,
    });
    reads.next().expect("an attempt")
}

/// Starts an attempt and delivers its API key; returns the number of the attempt.
fn start_attempt_with_key(fixture: &mut ScreenFixture) -> u64 {
    let attempt = start_attempt(fixture);
    fixture.handle(Msg::Profiles(ProfilesMsg::NewProfileKeyRead {
        attempt,
        result: Ok(ApiKey::new("mint_secret_key").expect("a key")),
    }));
    attempt
}

#[test]
fn the_welcome_page() {
    snapshots("welcome", &[SMALL, WIDE], &["never shows it"], |_| {});
}

#[test]
fn every_key_source() {
    for (name, keys, text) in [
        ("program", "Right", "A command that prints the key, like: pass show docdeck."),
        ("file", "Right Right", "A file that contains only the key; ~/ is your home folder."),
        ("variable", "Left", "DOCDECK_API_KEY is not set in this shell."),
    ] {
        snapshots(&format!("welcome_{name}"), &[], &[text], |fixture| {
            fixture.press_keys("Tab Tab Tab Enter");
            fixture.press_keys(keys);
        });
    }
}

#[test]
fn a_typed_key_is_shown_as_dots() {
    snapshots("welcome_key", &[], &["never shows it"], |fixture| {
        fixture.paste("mint_secret_key");
        assert!(!text(&render(&fixture.app, ColorDepth::None)).contains("secret"));
    });
}

#[test]
fn the_button() {
    snapshots("welcome_button", &[], &["not subject to any limit"], |fixture| fixture.press_keys("Tab Tab"));
}

#[test]
fn a_typed_project_id() {
    snapshots(
        "welcome_project",
        &[],
        &["The project id is on the API keys page of your Mintlify dashboard."],
        |fixture| {
            fixture.press_keys("Tab");
            fixture.paste("acme-docs");
        },
    );
}

#[test]
fn missing_values() {
    snapshots("welcome_missing", &[], &["! Type or paste the key."], |fixture| fixture.press_keys("Ctrl-s"));
}

#[test]
fn the_welcome_page_while_the_service_is_checked() {
    snapshots("welcome_testing", &[], &["Testing the key (one request)…"], |fixture| {
        start_attempt_with_key(fixture);
    });
}

#[test]
fn a_successful_test() {
    snapshots(
        "welcome_test_passed",
        &[],
        &[
            "✓ The key works: the test asked for a job that doesn't exist, and the service answered that there is none (“Job not found”).",
        ],
        |fixture| {
            start_attempt_with_key(fixture);
            fixture.press_keys("Esc Ctrl-t");
            let Some(Effect::Profiles(ProfilesEffect::CheckProfile { attempt, .. })) = fixture.effects.last() else {
                panic!("no attempt")
            };
            let attempt = *attempt;
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileChecked { attempt, result: Ok(()) }));
            fixture.handle(Msg::Profiles(ProfilesMsg::NewProfileKeyRead {
                attempt,
                result: Ok(ApiKey::new("mint_secret_key").expect("a key")),
            }));
            let message = "The key works: the test asked for a job that doesn't exist, and the service answered that there is none (“Job not found”). Your first job will \
                    show whether the key may start jobs in this project.";
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileTested { attempt, result: Ok(CleanText::line(message)) }));
        },
    );
}

#[test]
fn the_question_about_a_rejected_key() {
    snapshots(
        "welcome_refused",
        &[],
        &["The service refused the key (401: “Invalid or expired API key”); it is"],
        |fixture| {
            let attempt = start_attempt_with_key(fixture);
            let message = "The service refused the key (401: “Invalid or expired API key”); it is wrong, expired or \
                    revoked: create a new one on the API keys page of your Mintlify dashboard.";
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileTested {
                attempt,
                result: Err(Failure::new(FailureKind::KeyRefused, message)),
            }));
        },
    );
}

#[test]
fn typed_values_stay_after_a_failed_test() {
    snapshots(
        "welcome_after_refusal",
        &[],
        &["! Could not reach docs.example.com (connection refused), so nothing was"],
        |fixture| {
            let attempt = start_attempt_with_key(fixture);
            let message =
                "Could not reach docs.example.com (connection refused), so nothing was sent: check the base URL.";
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileTested {
                attempt,
                result: Err(Failure::new(FailureKind::Offline, message)),
            }));
            fixture.press_keys("n");
        },
    );
}

#[test]
fn the_help_of_the_welcome_page() {
    snapshots("welcome_help", &[], &["test with one request, save and start"], |fixture| fixture.press_keys("F1"));
}

#[test]
fn the_additional_fields_when_unfolded_and_when_folded() {
    snapshots("welcome_unfolded", &[], &["PEM file of extra CA certificates to trust."], |fixture| {
        fixture.press_keys("Tab Tab Tab Enter Tab");
        fixture.paste("https://docs.example.com");
        fixture.press_keys("Enter Enter");
    });
    snapshots(
        "welcome_folded",
        &[],
        &["The project id is on the API keys page of your Mintlify dashboard."],
        |fixture| {
            fixture.press_keys("Tab Tab Tab Enter Tab");
            fixture.paste("https://docs.example.com");
            fixture.press_keys("Up Up Left Up Up");
        },
    );
}

#[test]
fn a_value_that_docdeck_rejects_is_reported_at_its_field() {
    snapshots(
        "welcome_invalid",
        &[],
        &["! Use https: plain http would send the key unencrypted to docs.example.com"],
        |fixture| {
            fixture.paste("mint_secret_key");
            fixture.press_keys("Tab");
            fixture.paste("acme-docs");
            fixture.press_keys("Ctrl-s");
            let Some(Effect::Profiles(ProfilesEffect::CheckProfile { attempt, .. })) = fixture.effects.last() else {
                panic!("no attempt")
            };
            let attempt = *attempt;
            let sentence = "Use https: plain http would send the key unencrypted to docs.example.com; it is allowed \
                            for localhost only.";
            let problem = SetupProblem::new(Some(SetupField::BaseUrl), sentence);
            fixture.handle(Msg::Profiles(ProfilesMsg::ProfileChecked { attempt, result: Err(problem) }));
        },
    );
}

#[test]
fn the_form_for_another_profile() {
    crate::snapshots("new_profile", &[], &["New profile", "profile required"], |fixture| {
        fixture.load_jobs();
        fixture.app.config.config_path = Some(CleanText::line("/home/me/.config/docdeck/config.toml"));
        fixture.app.config.profiles = vec![ProfileEntry {
            name: CleanText::line("acme"),
            scope: Some(fixture.app.config.scope.clone()),
            problem: None,
        }];
        fixture.press_keys("P n");
    });
}
