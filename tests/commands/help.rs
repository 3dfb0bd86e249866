//! Every help text, as it is printed.

use crate::world::World;

/// The long help of a command at the width of a page, whatever the terminal.
fn help(words: &[&str]) -> String {
    let world = World::new(&[]);
    let ran = world.run_with(&[words, &["--help"]].concat(), &[("COLUMNS", "100")], "").ends(0);
    assert_eq!(ran.err, "");
    ran.out
}

macro_rules! help_texts {
    ($($name:ident: $words:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(help(&$words));
        })*
    };
}

help_texts! {
    the_help_of_init: ["init"];
    the_help_of_docdeck: [];
    the_help_of_new: ["new"];
    the_help_of_follow: ["follow"];
    the_help_of_watch: ["watch"];
    the_help_of_status: ["status"];
    the_help_of_jobs: ["jobs"];
    the_help_of_show: ["show"];
    the_help_of_track: ["track"];
    the_help_of_wait: ["wait"];
    the_help_of_export: ["export"];
    the_help_of_import: ["import"];
    the_help_of_prune: ["prune"];
    the_help_of_views: ["views"];
    the_help_of_completions: ["completions"];
    the_help_of_man: ["man"];
    the_help_of_doctor: ["doctor"];
}
