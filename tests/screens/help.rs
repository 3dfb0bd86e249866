//! Help, the command palette, and texts that name keys.

use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, SIZES, SMALL, WIDE, render, render_with_theme, snapshots, snapshots_of, text};
use crossterm::event::Event;
use docdeck::model::guide::TOPICS;
use docdeck::tui::Msg;
use docdeck::tui::draw::{ColorDepth, Theme};
use docdeck::tui::keymap::{Chord, Context};

#[test]
fn the_keys_of_the_jobs_list() {
    // Doesn't use `snapshots`, whose search for default keys would find the symbol `?`.
    let texts = ["open the job", "Help: jobs"];
    snapshots_of(ScreenFixture::new, "help_jobs", &[SMALL, WIDE, LARGE], &texts, |fixture| {
        fixture.load_jobs();
        fixture.press_keys("?");
    });
}

#[test]
fn the_keys_that_match_typed_words() {
    snapshots("help_found", &[], &["mark as done, or move back to"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("? / M a r k");
    });
}

#[test]
fn help_when_no_line_matches() {
    snapshots("help_nothing", &[], &["No matches.", "Esc show all", "Help: jobs"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("? / x y z z y Enter");
    });
}

#[test]
fn the_symbols_of_the_jobs_list() {
    // Doesn't use `snapshots`, whose search for default keys would find the symbol `?`.
    let texts = ["Symbols", "failed, or checks are failing", "archived"];
    snapshots_of(ScreenFixture::new, "help_symbols", &[], &texts, |fixture| {
        fixture.load_jobs();
        fixture.press_keys("? / s y m b o l Enter");
    });
}

#[test]
fn the_help_names_the_topics_of_the_guide() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.load_jobs();
        fixture.press_keys("? / g u i d e Enter");
        let shown = text(&render(&fixture.app, ColorDepth::None));
        assert!(shown.contains("Guide: docdeck help TOPIC"), "{shown}");
        for topic in TOPICS.iter().take(6) {
            assert!(shown.contains(topic.name), "{}: {shown}", topic.name);
        }
    }
}

#[test]
fn in_ascii_mode_the_help_explains_the_ascii_symbols_of_the_list() {
    let mut fixture = ScreenFixture::new((80, 40));
    fixture.load_jobs();
    fixture.press_keys("? / s y m b o l Enter");
    let shown = text(&render_with_theme(
        &fixture.app,
        &Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::None) },
    ));
    for line in ["  o           working", "  x           failed"] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn a_filter_with_an_unknown_status() {
    snapshots(
        "jobs_unknown_status",
        &[],
        &["! No job status starts with “fial”. Valid: completed, failed, archived, gone,"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("/ s : f i a l");
        },
    );
}

#[test]
fn a_filter_with_an_unknown_state_of_pull_requests() {
    snapshots(
        "jobs_unknown_pr_state",
        &[],
        &["! No pull request state starts with “redy”. Valid: open, ready, failing,"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("/ p r : r e d y");
        },
    );
}

#[test]
fn the_palette_on_the_views_screen() {
    snapshots("palette_views", &[SMALL, LARGE], &["Compare with…"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys(":");
    });
}

#[test]
fn texts_name_custom_keys() {
    let mut fixture = ScreenFixture::new((120, 40));
    let custom_keys = [
        (Context::Jobs, "undo", "F9"),
        (Context::Jobs, "fold-dismissed", "Z"),
        (Context::Jobs, "new-job", "F7"),
        (Context::Jobs, "resolve", "F8"),
    ];
    for (context, action, key) in custom_keys {
        assert!(
            fixture.app.config.keymap.set_keys(context, action, vec![Chord::parse(key).expect("a key")]),
            "{action}"
        );
    }
    fixture.load_jobs();
    let shown = |fixture: &ScreenFixture| text(&render(&fixture.app, ColorDepth::None));
    assert!(shown(&fixture).contains("Z to show"));
    fixture.handle(Msg::Input(Event::Paste("x".to_owned())));
    assert!(shown(&fixture).contains("F7 opens the editor for a new job"));
    fixture.press_keys("d");
    assert!(shown(&fixture).contains("Dismissed. Press F9 to undo."));
    fixture.select_unconfirmed_job();
    let shown = shown(&fixture);
    assert!(shown.contains("A prompt may have reached the") && shown.contains("Press F8"), "{shown}");
}

#[test]
fn texts_name_the_custom_key_that_resolves_a_prompt() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.load_jobs();
    let f8 = Chord::parse("F8").expect("a key");
    assert!(fixture.app.config.keymap.set_keys(Context::Jobs, "resolve", vec![f8]));
    fixture.select_unconfirmed_job();
    let shown = text(&render(&fixture.app, ColorDepth::None));
    for text in ["│ ! Unconfirmed", "A prompt may have reached the", "Press F8"] {
        assert!(shown.contains(text), "{shown}");
    }
}
