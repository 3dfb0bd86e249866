use super::*;

const DIFF: &str = "\
diff --git a/guides/sso.mdx b/guides/sso.mdx
index 83db48f..bf2a1c9 100644
--- a/guides/sso.mdx
+++ b/guides/sso.mdx
@@ -1,5 +1,5 @@
 ---
-title: Single sign on
+title: Single sign-on
 ---
 
 # Single sign-on
@@ -41,4 +41,5 @@ ## Set it up
 Before
-Open the setting page and follow the steps.
-Done.
+Open the settings page and follow the three steps below.
+Done!
+<Card title=\"Next\"
 After
\\ No newline at end of file
diff --git a/old name.mdx b/new.mdx
similarity index 100%
rename from old name.mdx
rename to new.mdx
diff --git \"a/caf\\303\\251.mdx\" \"b/caf\\303\\251.mdx\"
new file mode 100644
index 0000000..5b1b1b1
--- /dev/null
+++ \"b/caf\\303\\251.mdx\"
@@ -0,0 +1,2 @@
+--- a
+diff --git a/x b/x
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/huge.json b/huge.json
index 1..2 100644
diff --git a/empty.md b/empty.md
deleted file mode 100644
index e69de29..0000000
";

fn diff() -> Diff {
    Diff::parse(DIFF.to_owned())
}

#[test]
fn files_of_every_kind_are_recognized() {
    let diff = diff();
    let files: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.change, file.content, file.additions, file.deletions))
        .collect();
    use FileChange::{Added, Deleted, Modified, Renamed};
    use FileContent::{Binary, Complete, Missing};
    assert_eq!(
        files,
        [
            ("guides/sso.mdx", Modified, Complete, 4, 3),
            ("new.mdx", Renamed, Complete, 0, 0),
            ("café.mdx", Added, Complete, 2, 0),
            ("logo.png", Modified, Binary, 0, 0),
            ("huge.json", Modified, Missing, 0, 0),
            ("empty.md", Deleted, Complete, 0, 0),
        ]
    );
    assert_eq!(diff.files[1].old_path, Some(CleanText::line("old name.mdx")));
    assert_eq!(diff.added_and_removed_lines(), (6, 3));
}

#[test]
fn lines_have_their_numbers_and_those_that_look_like_headers_stay_lines() {
    let diff = diff();
    let hunk = &diff.files[0].hunks[1];
    assert_eq!((hunk.old_start, hunk.new_start, diff.heading(hunk)), (41, 41, "## Set it up"));
    let line = |n: usize| {
        let line = &diff.lines()[hunk.lines.start + n];
        (line.kind, line.number(), diff.line_text(line))
    };
    assert_eq!(line(1), (LineKind::Removed, 42, "Open the setting page and follow the steps."));
    assert_eq!(line(3), (LineKind::Added, 42, "Open the settings page and follow the three steps below."));
    assert_eq!(line(6), (LineKind::Context, 45, "After"));
    assert!(diff.lines()[hunk.lines.end - 1].is_unterminated);
    let added = &diff.files[2].hunks[0];
    let texts: Vec<_> = diff.lines()[added.lines.clone()].iter().map(|line| diff.line_text(line)).collect();
    assert_eq!(texts, ["--- a", "diff --git a/x b/x"]);
}

#[test]
fn front_matter_components_and_headings_are_recognized() {
    let diff = diff();
    let markup: Vec<Markup> = diff.lines().iter().take(13).map(|line| line.markup).collect();
    let mut expected = [Markup::Text; 13];
    expected[..4].fill(Markup::FrontMatter);
    (expected[5], expected[11], expected[12]) = (Markup::Heading, Markup::Jsx, Markup::Jsx);
    assert_eq!(markup, expected, "an open tag continues on the next line");
    let code = "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -0,0 +1,4 @@\n+```\n+# no heading\n+```\n+text\n";
    let kinds: Vec<_> = Diff::parse(code.to_owned()).lines().iter().map(|line| line.markup).collect();
    assert_eq!(kinds, [Markup::Code, Markup::Code, Markup::Code, Markup::Text]);
}

#[test]
fn a_changed_line_finds_the_line_that_replaces_it() {
    let diff = diff();
    assert_eq!((diff.counterpart(1), diff.counterpart(2)), (Some(2), Some(1)));
    assert_eq!(diff.counterpart(0), None);
    assert_eq!([7, 8, 11].map(|n| diff.counterpart(n)), [Some(9), Some(10), None], "two removed and three added lines");
    let start = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n";
    let two = Diff::parse(format!("{start}-a 1\n-b 1\n+a 2\n+b 2\n"));
    assert_eq!([0, 1, 2, 3].map(|n| two.counterpart(n)), [Some(2), Some(3), Some(0), Some(1)]);
}

#[test]
fn changed_words_are_found_unless_the_lines_have_little_in_common() {
    let (old, new) = ("Open the setting page.", "Open the settings page now.");
    let (removed, added) = changed_words(old, new);
    assert_eq!(removed.into_iter().map(|range| old.get(range).expect("a range")).collect::<Vec<_>>(), ["setting"]);
    assert_eq!(
        added.into_iter().map(|range| new.get(range).expect("a range")).collect::<Vec<_>>(),
        ["settings", " now"]
    );
    assert_eq!(changed_words("Completely different", "Nothing in common here"), (vec![], vec![]));
    assert_eq!(changed_words("same", "same"), (vec![], vec![]));
}

#[test]
fn damaged_and_hostile_text_is_parsed_without_loss_of_what_is_sound() {
    let diff = Diff::parse("@@ -1 +1 @@\n+lost\ndiff --git\ndiff --git a/x b/x\n@@ -1,9 +1,9 @@\n+short\n".to_owned());
    assert_eq!(diff.files.len(), 1);
    assert_eq!((diff.files[0].additions, diff.files[0].content), (1, FileContent::Complete));
    let huge = format!("diff --git a/x b/x\n@@ -{0},{0} +4294967295,4294967295 @@\n+a\n+b\n", u64::MAX);
    assert_eq!(Diff::parse(huge).lines().len(), 0, "numbers out of range");
    let edge = "diff --git a/x b/x\n@@ -4294967295,3 +4294967295,3 @@\n a\n b\n+c\n".to_owned();
    assert_eq!(Diff::parse(edge).lines().len(), 3);
    assert_eq!(Diff::parse("diff --git \"a/\\3 b/é".to_owned()).files.len(), 1);
}
