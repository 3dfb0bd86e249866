//! Help, the palette, and sentences that name keys.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, drawn, render, snapshots, text};
use crossterm::event::Event;
use docdeck::app::Msg;
use docdeck::app::keymap::{Chord, Context};
use docdeck::ui::{Depth, Theme};

#[test]
fn the_keys_of_the_jobs_list() {
    snapshots("help_jobs", |world| {
        world.jobs();
        world.keys("?");
    });
}

#[test]
fn the_keys_that_hold_typed_words() {
    snapshots("help_found", |world| {
        world.jobs();
        world.keys("? / M a r k");
    });
}

#[test]
fn the_help_without_a_line_that_holds_the_words() {
    snapshots("help_nothing", |world| {
        world.jobs();
        world.keys("? / x y z z y Enter");
    });
}

#[test]
fn the_symbols_of_the_jobs_list() {
    // One of the symbols is `?`, which other lines may name only as a key.
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        world.jobs();
        world.keys("? / s y m b o l Enter");
        insta::assert_snapshot!(format!("help_symbols_{}x{}", size.0, size.1), text(&render(&world.app, Depth::None)));
    }
}

#[test]
fn in_ascii_the_help_explains_the_symbols_that_the_list_then_has() {
    let mut world = ScreenFixture::new((80, 40));
    world.jobs();
    world.keys("? / s y m b o l Enter");
    let shown = text(&drawn(&world.app, &Theme { ascii: true, ..Theme::new(Depth::None) }));
    for line in ["  o              active: the agent is working", "  x              failed: ended with an error"] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn a_filter_for_a_status_that_there_is_not() {
    snapshots("jobs_unknown_status", |world| {
        world.jobs();
        world.keys("/ s : f i a l");
    });
}

#[test]
fn the_palette_on_the_views() {
    snapshots("palette_views", |world| {
        world.jobs();
        world.views(50, true);
        world.keys(":");
    });
}

#[test]
fn sentences_name_the_users_own_keys() {
    let mut world = ScreenFixture::new((120, 40));
    let own = [
        (Context::Jobs, "undo", "F9"),
        (Context::Jobs, "fold-dismissed", "Z"),
        (Context::Jobs, "new-job", "F7"),
        (Context::Detail, "resolve", "F8"),
    ];
    for (context, action, key) in own {
        assert!(world.app.config.keymap.change(context, action, vec![Chord::parse(key).expect("a key")]), "{action}");
    }
    world.jobs();
    let shown = |world: &ScreenFixture| text(&render(&world.app, Depth::None));
    assert!(shown(&world).contains("Z shows them"));
    world.tell(Msg::Input(Event::Paste("x".to_owned())));
    assert!(shown(&world).contains("F7 opens the editor for a new job"));
    world.keys("d");
    assert!(shown(&world).contains("Dismissed; F9 takes it back."));
    world.unconfirmed_selected();
    assert!(shown(&world).contains("F8 decides"), "{}", shown(&world));
}

#[test]
fn sentences_name_the_keys_of_ones_own() {
    let mut world = ScreenFixture::new((120, 40));
    world.jobs();
    let f8 = Chord::parse("F8").expect("a key");
    assert!(world.app.config.keymap.change(Context::Detail, "resolve", vec![f8]));
    world.unconfirmed_selected();
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("prompt unconfirmed for 8m: F8 decides"), "{shown}");
}
