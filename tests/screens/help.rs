//! Help, the command palette, and texts that name keys.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, drawn, render, snapshots, text};
use crossterm::event::Event;
use docdeck::app::Msg;
use docdeck::app::keymap::{Chord, Context};
use docdeck::model::guide::TOPICS;
use docdeck::ui::{Depth, Theme};

#[test]
fn the_keys_of_the_jobs_list() {
    snapshots("help_jobs", |fixture| {
        fixture.jobs();
        fixture.keys("?");
    });
}

#[test]
fn the_keys_that_match_typed_words() {
    snapshots("help_found", |fixture| {
        fixture.jobs();
        fixture.keys("? / M a r k");
    });
}

#[test]
fn help_when_no_line_matches() {
    snapshots("help_nothing", |fixture| {
        fixture.jobs();
        fixture.keys("? / x y z z y Enter");
    });
}

#[test]
fn the_symbols_of_the_jobs_list() {
    // One of the symbols is `?`, which other lines may show only as a key.
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.jobs();
        fixture.keys("? / s y m b o l Enter");
        insta::assert_snapshot!(
            format!("help_symbols_{}x{}", size.0, size.1),
            text(&render(&fixture.app, Depth::None))
        );
    }
}

#[test]
fn the_help_names_the_topics_of_the_guide() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.jobs();
        fixture.keys("? / g u i d e Enter");
        let shown = text(&render(&fixture.app, Depth::None));
        assert!(shown.contains("GUIDE: docdeck help TOPIC"), "{shown}");
        for topic in TOPICS.iter().take(6) {
            assert!(shown.contains(topic.name), "{}: {shown}", topic.name);
        }
    }
}

#[test]
fn in_ascii_the_help_explains_the_ascii_symbols_of_the_list() {
    let mut fixture = ScreenFixture::new((80, 40));
    fixture.jobs();
    fixture.keys("? / s y m b o l Enter");
    let shown = text(&drawn(&fixture.app, &Theme { ascii: true, ..Theme::new(Depth::None) }));
    for line in ["  o              active: the agent is working", "  x              failed: ended with an error"] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn a_filter_with_an_unknown_status() {
    snapshots("jobs_unknown_status", |fixture| {
        fixture.jobs();
        fixture.keys("/ s : f i a l");
    });
}

#[test]
fn the_palette_on_the_views_screen() {
    snapshots("palette_views", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys(":");
    });
}

#[test]
fn texts_name_custom_keys() {
    let mut fixture = ScreenFixture::new((120, 40));
    let own = [
        (Context::Jobs, "undo", "F9"),
        (Context::Jobs, "fold-dismissed", "Z"),
        (Context::Jobs, "new-job", "F7"),
        (Context::Detail, "resolve", "F8"),
    ];
    for (context, action, key) in own {
        assert!(
            fixture.app.config.keymap.set_keys(context, action, vec![Chord::parse(key).expect("a key")]),
            "{action}"
        );
    }
    fixture.jobs();
    let shown = |fixture: &ScreenFixture| text(&render(&fixture.app, Depth::None));
    assert!(shown(&fixture).contains("Z shows them"));
    fixture.handle(Msg::Input(Event::Paste("x".to_owned())));
    assert!(shown(&fixture).contains("F7 opens the editor for a new job"));
    fixture.keys("d");
    assert!(shown(&fixture).contains("Dismissed. F9 undoes this."));
    fixture.unconfirmed_selected();
    assert!(shown(&fixture).contains("press F8"), "{}", shown(&fixture));
}

#[test]
fn texts_name_the_keys_of_custom_commands() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.jobs();
    let f8 = Chord::parse("F8").expect("a key");
    assert!(fixture.app.config.keymap.set_keys(Context::Detail, "resolve", vec![f8]));
    fixture.unconfirmed_selected();
    let shown = text(&render(&fixture.app, Depth::None));
    assert!(shown.contains("prompt unconfirmed for 8m: press F8"), "{shown}");
}
