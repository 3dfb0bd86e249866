//! Tests that decoding loses no job and no row, even if a response is malformed.

use super::*;
use proptest::prelude::*;

fn job_of(body: &str) -> RemoteJob {
    decode_job(body.as_bytes()).expect("a job")
}

fn count_of(literal: &str) -> Count {
    let body = format!(r#"{{"totals":{{"human":{literal}}},"views":[]}}"#);
    decode_views(body.as_bytes()).expect("views").totals.human
}

fn clean(text: &str) -> Option<CleanText> {
    Some(CleanText::line(text))
}

#[test]
fn a_time_outside_the_years_of_rfc3339_is_ignored() {
    for time in ["+12345-01-01", "9999-12-31T23:59:59-14:00", "0000-01-01T00:00:00+14:00", "-0001-01-01 00:00:00"] {
        let body = serde_json::json!({ "id": "x", "createdAt": time }).to_string();
        assert_eq!(decode_job(body.as_bytes()).expect("a job").created_at, None, "{time}");
    }
}

#[test]
fn a_complete_job_is_read() {
    let job = job_of(
        r#"{"id":"job_1","status":"completed","source":{"repository":"https://github.com/acme/docs","ref":"agent/x"},
            "model":"m","prLink":"https://github.com/acme/docs/pull/7","createdAt":"2026-11-20T12:00:00+01:00",
            "archivedAt":null,"somethingNew":{"deep":[1,2]}}"#,
    );
    assert_eq!((job.id.as_str(), &job.state.status), ("job_1", &Some(Status::Completed)));
    assert_eq!(job.state.source.repository.as_deref(), clean("https://github.com/acme/docs").as_ref());
    assert_eq!((job.state.source.git_ref, job.state.model.as_deref()), (clean("agent/x"), clean("m").as_ref()));
    assert_eq!(job.state.pr_link, clean("https://github.com/acme/docs/pull/7"));
    assert_eq!(job.created_at, "2026-11-20T11:00:00Z".parse().ok());
    assert_eq!(job.state.archived_at, None);
}

#[test]
fn a_body_with_only_an_id_is_a_job() {
    for body in [
        r#"{"id":"j"}"#,
        r#"{"id":"j","status":null,"source":null,"model":null,"prLink":null,"createdAt":null,"archivedAt":null}"#,
        r#"{"id":"j","status":[1],"source":[2],"model":{},"prLink":[],"createdAt":"yesterday","archivedAt":{"a":1}}"#,
        r#"{"id":"j","prLink":false}"#,
        r#"{"id":"j","prLink":0}"#,
        "\u{feff}{\"id\":\"j\",\"prLink\":\"  \"}",
    ] {
        let job = job_of(body);
        assert_eq!(job, RemoteJob::new(JobId::new("j").expect("an id"), Status::parse("")), "{body}");
    }
}

#[test]
fn unusual_types_are_converted() {
    assert_eq!(job_of(r#"{"id":12345678901234567890123}"#).id.as_str(), "12345678901234567890123");
    assert_eq!(job_of(r#"{"id":"a","id":"b"}"#).id.as_str(), "b");
    assert_eq!(
        job_of(r#"{"id":"j","source":"acme/docs"}"#).state.source.repository.as_deref(),
        clean("acme/docs").as_ref()
    );
    assert_eq!(job_of(r#"{"id":"j","status":"paused"}"#).state.status, Some(Status::parse("paused")));
    assert_eq!(job_of(r#"{"id":"j","status":7}"#).state.status, Some(Status::parse("7")));
    assert_eq!(
        job_of(r#"{"id":"j","createdAt":"2026-11-20T12:00:00.5"}"#).created_at,
        "2026-11-20T12:00:00.5Z".parse().ok()
    );
    assert_eq!(job_of(r#"{"id":"j","createdAt":"2026-11-20"}"#).created_at, "2026-11-20T00:00:00Z".parse().ok());
    assert_eq!(job_of(r#"{"id":"j","model":"a\ud800b"}"#).state.model.as_deref(), clean(r"a\ud800b").as_ref());
    let damaged = decode_job(b"{\"id\":\"j\",\"model\":\"a\xffb\"}").expect("a job");
    assert_eq!(damaged.state.model.as_deref(), clean("a\u{fffd}b").as_ref());
}

#[test]
fn a_body_without_a_job_is_rejected_with_the_reason() {
    assert_eq!(decode_job(b""), Err(Unreadable::Empty));
    assert_eq!(decode_job(b" \n"), Err(Unreadable::Empty));
    assert_eq!(decode_job(b"[]"), Err(Unreadable::NotJson));
    assert_eq!(decode_job(b"{\"id\":\"j\""), Err(Unreadable::NotJson));
    assert_eq!(decode_job(b"{}"), Err(Unreadable::NoId));
    assert_eq!(decode_job(br#"{"id":null}"#), Err(Unreadable::NoId));
    assert_eq!(decode_job(br#"{"id":" "}"#), Err(Unreadable::NoId));
    assert_eq!(decode_job(br#"{"id":true}"#), Err(Unreadable::NoId));
    // A job with a damaged id could never be found again.
    assert_eq!(decode_job(b"{\"id\":\"job_\xff\"}"), Err(Unreadable::NoId));
    assert_eq!(decode_job(br#"{"id":"job_\ud800"}"#), Err(Unreadable::NoId));
}

#[test]
fn deep_nesting_neither_loses_the_job_nor_overflows_the_stack() {
    let deep = format!(r#"{{"id":"j","model":{}{}}}"#, "[".repeat(500_000), "]".repeat(500_000));
    assert_eq!(job_of(&deep).state.model, None);
    let unclosed = format!(r#"{{"id":"j","model":{}"#, r#"{"a":"#.repeat(500_000));
    assert_eq!(decode_job(unclosed.as_bytes()), Err(Unreadable::NotJson));
}

#[test]
fn whole_numbers_are_counts_however_they_are_written() {
    for (literal, number) in [
        ("12", 12),
        ("12.0", 12),
        ("12.000", 12),
        ("1.2e1", 12),
        ("12E0", 12),
        ("-3", -3),
        ("-0.0", 0),
        ("9223372036854775807", i64::MAX),
        ("9007199254740993.0", 9_007_199_254_740_993),
    ] {
        assert_eq!(count_of(literal), Count::Known(number), "{literal}");
    }
}

#[test]
fn numbers_with_a_fraction_are_counts() {
    for literal in ["12.5", "1.25e1", "125e-1"] {
        assert_eq!(count_of(literal).value().map(|count| count.to_string()).as_deref(), Some("12.5"), "{literal}");
    }
    assert_eq!(count_of("-1.5").value(), None, "a negative number is kept, but not counted");
    assert_eq!(count_of(r#""12.5""#), Count::Other(CleanText::line("12.5")), "a string is not a number");
}

#[test]
fn a_value_that_is_not_a_count_is_kept_as_received() {
    for literal in ["9223372036854775808", "123456789012345678901234567890", "1e400", "1e17", "true", "[1]"] {
        assert_eq!(count_of(literal), Count::Other(CleanText::line(literal)), "{literal}");
    }
    assert_eq!(count_of(r#""12""#), Count::Other(CleanText::line("12")));
    assert_eq!(count_of("null"), Count::Missing);
}

#[test]
fn rows_are_kept_whatever_they_lack() {
    let body = r#"{"totals":{"human":3,"ai":1,"total":4},"hasMore":true,"views":[
        {"path":"/a","human":1,"ai":2.0,"total":3,"new":{}},{"human":1},null,7,"/b",{"path":null,"total":"x"}]}"#;
    let page = decode_views(body.as_bytes()).expect("views");
    let paths: Vec<_> = page.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, ["/a", NO_PATH, NO_PATH, "7", "/b", NO_PATH]);
    assert_eq!(page.rows[0].counts.ai, Count::Known(2));
    assert_eq!(page.rows[1].counts.total, Count::Missing);
    assert_eq!((page.has_more, page.totals.total), (Some(true), Count::Known(4)));
}

#[test]
fn a_missing_or_malformed_has_more_field_is_not_false() {
    let more = |rest: &str| decode_views(format!(r#"{{"views":[]{rest}}}"#).as_bytes()).expect("views").has_more;
    assert_eq!(more(""), None);
    assert_eq!(more(r#","hasMore":null"#), None);
    assert_eq!(more(r#","hasMore":"perhaps""#), None);
    assert_eq!(more(r#","hasMore":"false""#), Some(false));
    assert_eq!(more(r#","hasMore":1"#), Some(true));
}

#[test]
fn a_response_without_views_is_rejected_and_not_read_as_an_empty_site() {
    assert_eq!(decode_views(b"{}"), Err(Unreadable::NoViews));
    assert_eq!(decode_views(br#"{"views":{"a":1}}"#), Err(Unreadable::NoViews));
    assert_eq!(decode_views(br#"{"ok":true}"#), Err(Unreadable::NoViews));
    assert!(decode_views(br#"{"totals":{},"views":null}"#).expect("views").rows.is_empty());
}

#[test]
fn a_response_with_many_rows_is_read_completely() {
    let rows: Vec<String> =
        (0..25_000).map(|n| format!(r#"{{"path":"/page/{n}","human":{n},"ai":1,"total":{}}}"#, n + 1)).collect();
    let body = format!(r#"{{"totals":{{}},"views":[{}],"hasMore":false}}"#, rows.join(","));
    let page = decode_views(body.as_bytes()).expect("views");
    assert_eq!(page.rows.len(), 25_000);
    assert!(page.rows.iter().all(|row| row.counts.adds_up()));
}

/// Formats the decoded body: the totals and `hasMore`, then `path human/ai/total` of each row; or the error.
fn summary(body: &str) -> String {
    let number = |count: &Count| match count {
        Count::Known(number) => number.to_string(),
        Count::NonInteger(number) => number.to_string(),
        Count::Other(text) => format!("“{text}”"),
        Count::Missing => "?".to_owned(),
    };
    let numbers = |counts: &Counts| [&counts.human, &counts.ai, &counts.total].map(number).join("/");
    match decode_views(body.as_bytes()) {
        Ok(page) => {
            let rows = page.rows.iter().map(|row| format!("; {} {}", row.path, numbers(&row.counts)));
            format!("{} {:?}{}", numbers(&page.totals), page.has_more, rows.collect::<String>())
        }
        Err(why) => format!("{why:?}"),
    }
}

#[test]
fn only_the_malformed_parts_of_a_response_are_lost() {
    for (body, expected) in [
        // Fields may be in any order, occur twice, have escaped names, or be next to unknown fields.
        (r#"{"hasMore":true,"views":[],"totals":{"ai":1}}"#, "?/1/? Some(true)"),
        (r#"{"views":[{"path":"/a"}],"views":[{"path":"/b"}]}"#, "?/?/? None; /b ?/?/?"),
        (r#"{"views":{"path":"/a"},"views":[{"path":"/b"}]}"#, "?/?/? None; /b ?/?/?"),
        (r#"{"views":[{"path":"/a"}],"views":null,"totals":[]}"#, "?/?/? None"),
        (r#"{"views":[{"path":"/a"}],"views":null,"totals":null}"#, "NoViews"),
        (r#"{"views":[{"path":"/a"}],"views":"none"}"#, "NoViews"),
        (r#"{"hasMore":false,"hasMore":null,"views":[]}"#, "?/?/? None"),
        (r#"{"totals":{"human":1,"human":null,"ai":2,"ai":3},"views":[]}"#, "?/3/? None"),
        (r#"{"vie\u0077s":[{"p\u0061th":"/\u0061","hum\u0061n":1}]}"#, "?/?/? None; /a 1/?/?"),
        (
            r#"{"views":[{"path":"/a","path":null,"human":1,"human":2,"new":[{"path":"/b"}]}]}"#,
            "?/?/? None; (no path) 2/?/?",
        ),
        // If a name is not valid text, the fields of its object are lost.
        (r#"{"views":[{"path":"/a","\ud800":1},{"path":"/b"}]}"#, "?/?/? None; (no path) ?/?/?; /b ?/?/?"),
        (r#"{"totals":{"human":1,"\ud800":1},"views":[]}"#, "?/?/? None"),
        (r#"{"\ud800":1,"views":[]}"#, "NotJson"),
        // Values may have other types than expected.
        (
            r#"{"totals":7,"views":[1e400,"/a",true,[{"path":"/b"}],null]}"#,
            "?/?/? None; 1e400 ?/?/?; /a ?/?/?; true ?/?/?; (no path) ?/?/?; (no path) ?/?/?",
        ),
        (
            r#"{"views":[{"path":7.10,"human":"12","ai":false,"total":12.50},{"path":["/a"],"human":{"a":1}}]}"#,
            "?/?/? None; 7.10 “12”/“false”/12.5; (no path) “{\"a\":1}”/?/?",
        ),
        (
            r#"{"views":[{"path":"\ud800\"x"},{"path":"a\\b\"c\u00e9"}]}"#,
            "?/?/? None; \\ud800\\\"x ?/?/?; a\\b\"cé ?/?/?",
        ),
        // A body that is not valid JSON to the end is rejected, however much of it could be read.
        (r#"{"views":[{"path":"/a"}],"totals":{}"#, "NotJson"),
        (r#"{"views":[{"path":"/a"}]} x"#, "NotJson"),
        (r#"{"views":[{"path":"/a"}]}{}"#, "NotJson"),
        (r#"{"views":[{"path":"/a"},]}"#, "NotJson"),
        (r#"{"views":[{"path":"/a","human":01}]}"#, "NotJson"),
        (r#"{"views":7,"other":nul}"#, "NotJson"),
        (r#"[{"path":"/a"}]"#, "NotJson"),
        ("\u{feff} \n", "Empty"),
    ] {
        assert_eq!(summary(body), expected, "{body}");
    }
}

#[test]
fn deep_nesting_in_views_never_overflows_the_stack() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let objects = r#"{"a":"#.repeat(200_000) + "1" + &"}".repeat(200_000);
    for nested in [deep, objects] {
        let summary = |body: &str| summary(&body.replace('#', &nested));
        assert_eq!(summary(r#"{"new":#,"views":[{"path":"/a"}]}"#), "?/?/? None; /a ?/?/?");
        assert_eq!(summary(r#"{"totals":#,"hasMore":#,"views":[{"path":"/a"}]}"#), "?/?/? None; /a ?/?/?");
        assert_eq!(summary(r#"{"views":[{"path":"/a","new":#},{"path":#}]}"#), "?/?/? None; /a ?/?/?; (no path) ?/?/?");
        assert_eq!(summary(r#"{"views":[#,{"path":"/a"}]}"#), "?/?/? None; (no path) ?/?/?; /a ?/?/?");
        assert_eq!(summary(r#"{"new":#"#), "NotJson");
    }
    let unclosed = r#"{"views":[{"a":"#.repeat(100_000);
    assert_eq!(summary(&unclosed), "NotJson");
}

#[test]
fn a_text_is_cut_after_8192_characters() {
    let path = |text: &str| {
        decode_views(format!(r#"{{"views":[{{"path":"{text}"}}]}}"#).as_bytes()).expect("views").rows[0].path.clone()
    };
    for letter in ["a", "é", r"\n\u00e9"] {
        let long = path(&letter.repeat(9_000));
        assert_eq!(
            long.as_str().chars().filter(|c| !c.is_whitespace()).count(),
            if letter.len() > 2 { 4_096 } else { 8_192 }
        );
    }
    assert_eq!(path(&"é".repeat(8_192)).as_str().chars().count(), 8_192);
}

fn any_json() -> impl Strategy<Value = String> {
    let string = any::<String>().prop_map(|text| serde_json::Value::from(text).to_string());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
        string,
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let name = prop_oneof![
            Just(r#""id""#.to_owned()),
            Just(r#""status""#.to_owned()),
            Just(r#""source""#.to_owned()),
            Just(r#""views""#.to_owned()),
            Just(r#""totals""#.to_owned()),
            Just(r#""path""#.to_owned()),
            Just(r#""human""#.to_owned()),
            Just(r#""details""#.to_owned()),
            Just(r#""error""#.to_owned()),
            Just(r#""createdAt""#.to_owned()),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((name, inner), 0..6).prop_map(|fields| {
                let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn an_id_is_enough_whatever_the_other_fields_are(value in any_json(), field in "[a-zA-Z]{1,12}") {
        prop_assume!(field != "id");
        let body = format!(r#"{{"id":"job 1","status":{value},"source":{value},"prLink":{value},"createdAt":{value},"{field}":{value}}}"#);
        prop_assert_eq!(decode_job(body.as_bytes()).map(|job| job.id), Ok(JobId::new("job 1").expect("an id")));
    }

    #[test]
    fn every_row_of_a_list_is_kept(rows in prop::collection::vec(any_json(), 0..6), more in any_json()) {
        let body = format!(r#"{{"totals":{more},"hasMore":{more},"views":[{}]}}"#, rows.join(","));
        prop_assert_eq!(decode_views(body.as_bytes()).expect("views").rows.len(), rows.len());
    }

    #[test]
    fn no_body_makes_the_decoder_panic(body in prop_oneof![any_json().prop_map(String::into_bytes), any::<Vec<u8>>()]) {
        let _ = decode_job(&body);
        let _ = decode_views(&body);
        let _ = error_message(&body);
    }
}
