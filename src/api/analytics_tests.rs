use super::*;

const KEY: &str = "mint_secret_key_1234";

fn decode_body<R: DecodableRow>(body: &str) -> Result<DecodedRows<R>, Unreadable> {
    decode_rows(body.as_bytes(), &ApiKey::new(KEY).expect("a key"))
}

fn response<R: DecodableRow>(body: &str) -> RowsResponse<R> {
    decode_body(body).unwrap_or_else(|why| panic!("{why:?}: {body}")).into_response(None)
}

fn rows<R: DecodableRow>(body: &str) -> Vec<R> {
    response(body).rows
}

fn single_row<R: DecodableRow>(body: &str) -> R {
    let mut rows = rows(body);
    assert_eq!(rows.len(), 1, "{body}");
    rows.remove(0)
}

fn text(text: &str) -> Option<CleanText> {
    Some(CleanText::line(text))
}

fn fraction(number: f64) -> Count {
    Count::from_f64(number).expect("a number")
}

#[test]
fn documented_rows_are_read_completely() {
    let visitors: RowsResponse<PageRow> = response(
        r#"{"totals":{"human":5,"ai":1,"total":6},"visitors":[{"path":"/a","human":4,"ai":1,"total":5}],"hasMore":false}"#,
    );
    assert_eq!(visitors.totals.total, Count::Known(6));
    assert_eq!((visitors.rows[0].path.as_str(), &visitors.rows[0].counts.human), ("/a", &Count::Known(4)));
    let searches: RowsResponse<Search> = response(
        r#"{"searches":[{"searchQuery":"sso","hits":12,"ctr":0.25,"topClickedPage":"/sso",
            "lastSearchedAt":"2026-11-20T10:00:00Z"}],"totalSearches":40,"nextCursor":"c2"}"#,
    );
    assert_eq!((&searches.totals.total, searches.next), (&Count::Known(40), Cursor::new("c2")));
    let expected = Search {
        query: CleanText::line("sso"),
        hits: Count::Known(12),
        click_rate: fraction(0.25),
        top_page: text("/sso"),
        last_searched_at: "2026-11-20T10:00:00Z".parse().ok(),
    };
    assert_eq!(searches.rows, [expected]);
    let votes: PageFeedback =
        single_row(r#"{"feedback":[{"path":"/a","thumbsUp":3,"thumbsDown":4,"code":1,"total":8}],"hasMore":false}"#);
    assert_eq!((votes.thumbs_up, votes.thumbs_down, votes.code), (Count::Known(3), Count::Known(4), Count::Known(1)));
    let feedback: Feedback = single_row(
        r#"{"feedback":[{"id":"f1","path":"/a","comment":"One\nTwo","createdAt":"2026-11-20T10:00:00Z","source":
            "contextual","status":"in_progress","helpful":false,"contact":null}],"nextCursor":null,"hasMore":false}"#,
    );
    assert_eq!(feedback.comment.as_ref().map(CleanText::as_str), Some("One\nTwo"));
    assert_eq!(
        (feedback.status, feedback.helpful, feedback.source),
        (FeedbackStatus::InProgress, Some(false), text("contextual"))
    );
    let snippet: Feedback =
        single_row(r#"{"feedback":[{"id":"f2","path":"/a","code":"  a();\n","filename":"a.ts","lang":"ts"}]}"#);
    assert_eq!(snippet.code.as_ref().map(CleanText::as_str), Some("  a();"));
    assert_eq!((snippet.filename, snippet.lang, snippet.helpful), (text("a.ts"), text("ts"), None));
    let question: Question = single_row(
        r#"{"conversations":[{"id":"01J","timestamp":"2026-11-20T10:00:00Z","query":"How?","response":"So.",
            "responseType":"clarifying_question","sources":[{"title":"A","url":"/a"},"/b",{"title":"no address"},7],
            "resolutionStatus":"unanswered","queryCategory":"how-to","pageUrl":"https://x.dev/a"}]}"#,
    );
    assert!(question.is_clarifying && question.is_answered == Some(false));
    let urls: Vec<_> = question.sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!((urls, question.category), (vec!["/a", "/b", "7"], text("how-to")));
}

#[test]
fn a_missing_null_or_odd_field_never_loses_the_row() {
    for value in ["null", "7", "true", "{}", "[]", "\"\"", "\"\\ud800\""] {
        let feedback = |name: &str| format!(r#"{{"feedback":[{{"id":"a","path":"/a","{name}":{value}}},{value}]}}"#);
        for name in ["id", "path", "comment", "createdAt", "source", "status", "helpful", "code", "filename", "lang"] {
            assert_eq!(rows::<Feedback>(&feedback(name)).len(), 2, "{name} {value}");
        }
        for name in ["path", "thumbsUp", "thumbsDown", "code", "total"] {
            assert_eq!(rows::<PageFeedback>(&feedback(name)).len(), 2, "{name} {value}");
        }
        for name in ["searchQuery", "hits", "ctr", "topClickedPage", "lastSearchedAt"] {
            let body =
                format!(r#"{{"searches":[{{"searchQuery":"a","{name}":{value}}},{value}],"totalSearches":{value}}}"#);
            assert_eq!(rows::<Search>(&body).len(), 2, "{name} {value}");
        }
        for name in ["id", "query", "response", "responseType", "sources", "resolutionStatus", "pageUrl"] {
            let body = format!(r#"{{"conversations":[{{"id":"a","{name}":{value}}},{value}],"hasMore":{value}}}"#);
            assert_eq!(rows::<Question>(&body).len(), 2, "{name} {value}");
        }
        let body = format!(r#"{{"visitors":[{{"path":{value}}},{value}],"totals":{value},"hasMore":{value}}}"#);
        assert_eq!(rows::<PageRow>(&body).len(), 2, "{value}");
    }
}

#[test]
fn a_row_without_an_id_gets_a_generated_id() {
    let feedback = rows::<Feedback>(r#"{"feedback":[{"comment":"a"},{"comment":"b"},{"comment":"a","id":null}]}"#);
    assert_ne!(feedback[0].id, feedback[1].id, "two rows stay two rows");
    assert_eq!(feedback[0].id, feedback[2].id, "the same row has the same id in every answer");
    assert_eq!(feedback[0].path.as_str(), NO_PATH);
    assert_eq!(single_row::<Search>(r#"{"searches":[{"hits":3}]}"#).query.as_str(), NO_QUERY);
    assert!(!single_row::<Question>(r#"{"conversations":[{"query":"How?"}]}"#).id.is_empty());
    assert_eq!(single_row::<Question>(r#"{"conversations":[{"id":17}]}"#).id.as_str(), "17");
}

#[test]
fn a_response_without_a_list_is_rejected() {
    for (body, why) in [
        ("", Unreadable::Empty),
        ("[]", Unreadable::NotJson),
        (r#"{"feedback":[{"id":"#, Unreadable::NotJson),
        ("{}", Unreadable::NoRows),
        (r#"{"hasMore":false,"totals":{"total":3}}"#, Unreadable::NoRows),
        (r#"{"feedback":null}"#, Unreadable::NoRows),
        (r#"{"feedback":{"id":"a"}}"#, Unreadable::NoRows),
    ] {
        assert_eq!(decode_body::<Feedback>(body).err(), Some(why), "{body}");
    }
    assert_eq!(decode_body::<Search>(r#"{"feedback":[]}"#).err(), Some(Unreadable::NoRows));
}

#[test]
fn the_next_cursor_comes_from_the_response_or_the_report_is_marked_as_cut() {
    let after = |fields: &str| {
        let response = response::<Question>(&format!(r#"{{"conversations":[]{fields}}}"#));
        (response.next.map(|cursor| cursor.as_str().to_owned()), response.has_unavailable_rows)
    };
    let next = |text: &str| (Some(text.to_owned()), false);
    assert_eq!(after(""), (None, false));
    assert_eq!(after(r#","nextCursor":"01J\u0000é""#), next("01J\0é"), "opaque");
    assert_eq!(after(r#","nextCursor":"01J","hasMore":true"#), next("01J"));
    assert_eq!(after(r#","nextCursor":42"#), next("42"));
    assert_eq!(after(r#","nextCursor":"01J","hasMore":false"#), (None, false));
    for none in ["null", "\"\"", "false"] {
        assert_eq!(after(&format!(r#","nextCursor":{none}"#)), (None, false), "{none}");
        assert_eq!(after(&format!(r#","nextCursor":{none},"hasMore":true"#)), (None, true), "{none}");
    }
    for unusable in
        [r#"{"a":1}"#.to_owned(), "true".to_owned(), format!("\"{}\"", "x".repeat(3_000)), format!("\"{KEY}\"")]
    {
        assert_eq!(after(&format!(r#","nextCursor":{unusable}"#)), (None, true), "{unusable}");
    }
}

#[test]
fn a_cursor_that_repeats_is_returned_for_the_engine_to_notice() {
    let cursor = Cursor::new("same");
    let response = decode_body::<Search>(r#"{"searches":[],"nextCursor":"same"}"#)
        .expect("an answer")
        .into_response(cursor.as_ref());
    assert_eq!(response.next, cursor);
}

#[test]
fn visitors_are_requested_by_offset_and_feedback_by_page_has_no_next_cursor() {
    let visitors = |fields: &str, count: usize, before: Option<&str>| {
        let body = format!(r#"{{"visitors":[{}]{fields}}}"#, vec![r#"{"path":"/a"}"#; count].join(","));
        let response =
            decode_body::<PageRow>(&body).expect("an answer").into_response(before.and_then(Cursor::new).as_ref());
        assert!(!response.has_unavailable_rows);
        response.next.map(|cursor| cursor.as_str().to_owned())
    };
    assert_eq!(visitors(r#","hasMore":true"#, 3, None).as_deref(), Some("250"));
    assert_eq!(visitors(r#","hasMore":true,"nextCursor":"x""#, 0, Some("250")).as_deref(), Some("500"));
    assert_eq!(visitors(r#","hasMore":false"#, 250, None), None);
    assert_eq!(visitors("", 250, Some("500")).as_deref(), Some("750"), "a full answer is not assumed to be the last");
    assert_eq!(visitors("", 249, None), None);
    for (fields, has_unavailable_rows) in [(r#","hasMore":true"#, true), (r#","hasMore":false"#, false), ("", false)] {
        let response = response::<PageFeedback>(&format!(r#"{{"feedback":[{{"path":"/a"}}]{fields}}}"#));
        assert_eq!((response.next, response.has_unavailable_rows), (None, has_unavailable_rows), "{fields}");
    }
}

#[test]
fn click_rates_are_fractions_whatever_the_service_sends() {
    let rates = |list: &[&str]| -> Vec<Count> {
        let each: Vec<String> = list.iter().map(|rate| format!(r#"{{"searchQuery":"a","ctr":{rate}}}"#)).collect();
        let rows = rows::<Search>(&format!(r#"{{"searches":[{}]}}"#, each.join(",")));
        rows.into_iter().map(|row| row.click_rate).collect()
    };
    assert_eq!(rates(&["0.5", "0", "1"]), [fraction(0.5), Count::Known(0), Count::Known(1)]);
    assert_eq!(rates(&["50", "0.5", "0", "100"]), [fraction(0.5), fraction(0.005), Count::Known(0), Count::Known(1)]);
    assert_eq!(rates(&["50", "null", "-3"]), [fraction(0.5), Count::Missing, Count::Known(-3)]);
}

#[test]
fn the_query_of_a_page_address_is_never_read() {
    let question = single_row::<Question>(
        r#"{"conversations":[{"id":"a","pageUrl":"https://docs.acme.dev/sso?email=a@b.example#x"}]}"#,
    );
    assert_eq!(question.page, text("https://docs.acme.dev/sso"));
}

#[test]
fn contact_addresses_are_never_read() {
    let body = r#"{"feedback":[{"id":"f1","path":"/a","comment":"Write to ann@example.com","contact":"joe@example.org",
        "contactEmail":"joe@example.org","helpful":true,"user":{"contact":"joe@example.org"}}],"nextCursor":"c"}"#;
    let response = response::<Feedback>(body);
    let shown = format!("{response:?} {response:#?} {}", serde_json::to_string(&response.rows).expect("JSON"));
    assert!(!shown.contains("joe") && !shown.contains("example.org"), "{shown}");
    assert!(shown.contains("ann@example.com"), "what readers write stays as it is");
}

#[test]
fn hostile_text_is_cleaned_and_the_key_is_removed() {
    let hostile = format!("a\\u001b]0;x\\u0007\\u001b[2J\\u202eb {KEY} mint_\\u200bsecret_key_1234 c\\nd");
    let fields = ["id", "path", "comment", "source", "status", "code", "filename", "lang"];
    let row = |names: &[&str]| {
        let each: Vec<String> = names.iter().map(|name| format!(r#""{name}":"{hostile}""#)).collect();
        format!("[{{{}}}]", each.join(","))
    };
    let check = |shown: String| {
        let has_control = shown.chars().any(|c| c.is_control() && c != '\n' || crate::model::text::is_hidden(c));
        assert!(!has_control && !shown.contains("secret") && !shown.contains("u001b"), "{shown}");
        assert!(shown.contains("*** ***"), "{shown}");
    };
    let feedback = single_row::<Feedback>(&format!(r#"{{"feedback":{}}}"#, row(&fields)));
    assert_eq!(feedback.comment.as_ref().map(CleanText::as_str), Some("ab *** *** c\nd"), "lines are kept");
    check(format!("{feedback:?}"));
    let names = ["searchQuery", "topClickedPage", "hits"];
    check(format!("{:?}", single_row::<Search>(&format!(r#"{{"searches":{}}}"#, row(&names[..2])))));
    check(format!("{:?}", single_row::<PageRow>(&format!(r#"{{"visitors":{}}}"#, row(&["path"])))));
    check(format!("{:?}", single_row::<PageFeedback>(&format!(r#"{{"feedback":{}}}"#, row(&["path"])))));
    let names = ["id", "query", "response", "queryCategory", "pageUrl"];
    check(format!("{:?}", single_row::<Question>(&format!(r#"{{"conversations":{}}}"#, row(&names)))));
    let sources = row(&["url", "title"]);
    check(format!("{:?}", single_row::<Question>(&format!(r#"{{"conversations":[{{"sources":{sources}}}]}}"#))));
    let thread = format!(r#"{{"messages":{}}}"#, row(&["id", "role", "content"]));
    check(format!("{:?}", decode_thread(thread.as_bytes(), &ApiKey::new(KEY).expect("a key")).expect("a thread")));
    let odd_number = single_row::<Search>(&format!(r#"{{"searches":[{{"searchQuery":"a","hits":"{KEY}"}}]}}"#));
    assert!(!format!("{odd_number:?}").contains("secret"));
}

#[test]
fn long_texts_are_cut_without_leaving_a_part_of_the_key() {
    let long = format!("{}{KEY}{}", "é".repeat(MAX_MULTILINE_TEXT_CHARS - 6), "x\\n".repeat(50_000));
    let feedback = single_row::<Feedback>(&format!(r#"{{"feedback":[{{"id":"a","comment":"{long}"}}]}}"#));
    let comment = feedback.comment.expect("a comment");
    assert_eq!(comment.as_str().chars().count(), MAX_MULTILINE_TEXT_CHARS + 1);
    assert!(comment.as_str().ends_with("***x\nx…") && !comment.as_str().contains("mint"), "{comment:.40}");
    let line = format!("{}{KEY} {}", "é".repeat(8_192 - 6), "x".repeat(50_000));
    let query = single_row::<Search>(&format!(r#"{{"searches":[{{"searchQuery":"{line}"}}]}}"#)).query;
    assert_eq!(query.as_str().chars().count(), 8_192);
    assert!(query.as_str().ends_with("*** xx") && !query.as_str().contains("mint"), "{query:.40}");
    let sources = vec![r#"{"url":"/a"}"#; 1_000].join(",");
    let question = single_row::<Question>(&format!(r#"{{"conversations":[{{"id":"a","sources":[{sources}]}}]}}"#));
    assert_eq!(question.sources.len(), MAX_ANSWER_SOURCES);
    assert_eq!(single_row::<Feedback>(r#"{"feedback":[{"id":"a","comment":" \n\t\u200b "}]}"#).comment, None);
}

#[test]
fn decoded_rows_survive_storing() {
    let feedback = single_row::<Feedback>(
        r#"{"feedback":[{"id":"f","path":"/a","comment":"\n  One\r\n\tTwo \n","status":"new one","code":"\ta()","lang":7}]}"#,
    );
    let json = serde_json::to_string(&feedback).expect("JSON");
    assert_eq!(serde_json::from_str::<Feedback>(&json).expect("read"), feedback);
}

#[test]
fn a_conversation_is_read_with_missing_and_odd_fields() {
    let thread = |body: &str| decode_thread(body.as_bytes(), &ApiKey::new(KEY).expect("a key"));
    let messages = thread(
        r#"{"threadId":"t","createdAt":"2026-11-20T10:00:00Z","messages":[{"id":"m1","role":"user","content":"How?",
            "createdAt":"2026-11-20T10:00:01Z"},{"role":"assistant","content":"So:\n- a"},{"content":null},"text",3]}"#,
    )
    .expect("messages");
    let shown: Vec<_> = messages.iter().map(|message| (message.is_by_reader(), message.content.as_str())).collect();
    assert_eq!(shown, [(true, "How?"), (false, "So:\n- a"), (false, ""), (false, "text"), (false, "3")]);
    assert_eq!(messages[0].created_at, "2026-11-20T10:00:01Z".parse().ok());
    assert_eq!(thread("{}"), Err(Unreadable::NoMessages));
    assert_eq!(thread(r#"{"messages":{}}"#), Err(Unreadable::NoMessages));
}
