//! Tests of the simulated service over real TCP: the documented behaviour, and every fault as it appears on the wire.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use chrono::{DateTime, TimeDelta, Utc};
use docdeck::model::log::Operation;
use docdeck::model::pull_request::HostKind;
use docdeck::sim::{Sim, SimOptions};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response of the service, with the chunks of its body joined.
struct Response {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Response {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Sends a request on a new connection. Returns `None` if the connection was closed without a response.
async fn exchange(sim: &Sim, method: &str, path: &str, key: &str, body: &str) -> Option<Response> {
    let mut stream = TcpStream::connect(sim.address()).await.expect("a connection");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: sim\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("written");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.expect("read to the end");
    (!bytes.is_empty()).then(|| parse(&bytes))
}

fn parse(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let rest = &bytes[end + 4..];
    Response { status, head, body: if is_chunked { join_chunks(rest) } else { rest.to_vec() } }
}

fn join_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").expect("a chunk's length");
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).expect("text"), 16).expect("a number");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[line + 2..][..length]);
        rest = &rest[line + 2 + length + 2..];
    }
}

async fn start_sim(faults: &[&str]) -> Sim {
    let faults = faults.iter().map(|text| text.parse().expect("a fault")).collect();
    Sim::start(SimOptions { pages: 300, faults, ..SimOptions::default() }).await.expect("a simulator")
}

async fn get(sim: &Sim, path: &str) -> Response {
    exchange(sim, "GET", path, sim.api_key(), "").await.expect("an answer")
}

async fn post(sim: &Sim, path: &str, prompt: &str) -> Option<Response> {
    exchange(sim, "POST", path, sim.api_key(), &json!({ "prompt": prompt }).to_string()).await
}

async fn create(sim: &Sim, prompt: &str) -> Response {
    post(sim, "/v2/agent/acme-docs/job", prompt).await.expect("an answer")
}

fn views_path(query: &str) -> String {
    format!("/v1/analytics/acme-docs/views?{query}")
}

fn last_week_path() -> String {
    let today = Utc::now().date_naive();
    views_path(&format!("dateFrom={}&dateTo={}", today - TimeDelta::days(6), today + TimeDelta::days(1)))
}

fn set_fault(sim: &Sim, fault: &str) {
    sim.set_faults(vec![fault.parse().expect("a fault")]);
}

#[tokio::test]
async fn a_job_is_created_fetched_followed_up_and_finished() {
    let sim = start_sim(&[]).await;
    let before = Utc::now();
    let made = create(&sim, "Fix links [sim:seconds=60]").await;
    assert_eq!((made.status, made.header("content-type")), (201, Some("application/json")));
    let job = made.json();
    let created: DateTime<Utc> = job["createdAt"].as_str().expect("text").parse().expect("a time");
    assert!((created - before).abs() < TimeDelta::seconds(30), "the real time");
    assert!(made.header("date").is_some_and(|date| date.ends_with("GMT")));
    assert_eq!(job["status"], "active");
    assert_eq!((&job["prLink"], &job["archivedAt"]), (&Value::Null, &Value::Null));
    assert_eq!(job["source"], json!({"repository": "https://github.com/acme/docs", "ref": "agent/fix-links"}));

    let path = format!("/v2/agent/acme-docs/job/{}", job["id"].as_str().expect("text"));
    sim.advance(TimeDelta::seconds(61));
    let finished = get(&sim, &path).await.json();
    assert_eq!(finished["status"], "completed");
    assert!(finished["prLink"].as_str().is_some_and(|link| link.starts_with("https://github.com/acme/docs/pull/14")));
    let reactivated = post(&sim, &format!("{path}/message"), "More").await.expect("an answer");
    assert_eq!((reactivated.status, &reactivated.json()["status"]), (200, &json!("active")));

    let prompts: Vec<String> = sim.received_prompts().into_iter().map(|(_, prompt)| prompt).collect();
    assert_eq!(prompts, ["Fix links [sim:seconds=60]", "More"]);
    assert_eq!(Operation::ALL.map(|operation| sim.requests(operation))[..6], [1, 1, 1, 0, 0, 0]);
    assert_eq!(Operation::ALL.map(|operation| sim.carried_out_count(operation))[..6], [1, 1, 1, 0, 0, 0]);
}

#[tokio::test]
async fn an_id_can_be_percent_encoded_and_an_unknown_id_is_not_found() {
    let sim = start_sim(&[]).await;
    let seeded = sim.initial_jobs().first().expect("a job").id.clone();
    let encoded: String = seeded.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(get(&sim, &format!("/v2/agent/acme%2Ddocs/job/{encoded}")).await.json()["id"], json!(seeded));
    for unknown in ["nobody", "a%2Fb", "%3F"] {
        let response = get(&sim, &format!("/v2/agent/acme-docs/job/{unknown}")).await;
        assert_eq!((response.status, response.json()), (404, json!({"error": "Job not found"})), "{unknown}");
    }
    assert_eq!(get(&sim, "/v2/agent/acme-docs/job/%ff").await.status, 400);
    let message = post(&sim, "/v2/agent/acme-docs/job/nobody/message", "x").await.expect("an answer");
    assert_eq!(message.status, 404);
    assert!(sim.received_prompts().is_empty());
}

#[tokio::test]
async fn a_prompt_must_be_a_nonempty_string() {
    let sim = start_sim(&[]).await;
    let path = "/v2/agent/acme-docs/job";
    for body in ["", "{", "[\"x\"]", "\"x\"", "{}", r#"{"prompt": 5}"#, r#"{"prompt": null}"#, r#"{"prompt": ""}"#] {
        let response = exchange(&sim, "POST", path, sim.api_key(), body).await.expect("an answer");
        assert_eq!(response.status, 400, "{body}");
        assert!(response.json()["error"].is_string());
    }
    assert_eq!(sim.carried_out_count(Operation::Create), 0);
    assert_eq!(create(&sim, &"ä\u{1}".repeat(512 * 1024)).await.status, 201, "1 MiB and more");
    assert_eq!(sim.received_prompts()[0].1.chars().count(), 1024 * 1024);
}

#[tokio::test]
async fn api_keys_have_scopes_and_an_unknown_key_is_rejected() {
    let sim = start_sim(&[]).await;
    let make = "/v2/agent/acme-docs/job";
    let body = r#"{"prompt": "x"}"#;
    for key in ["", "mint_sim_guess", "mint_sim_read_guess"] {
        let response = exchange(&sim, "POST", make, key, body).await.expect("an answer");
        assert_eq!(response.status, 401, "{key}");
        assert_eq!(exchange(&sim, "GET", &last_week_path(), key, "").await.expect("an answer").status, 401);
    }
    let read_only = sim.read_only_key();
    assert!(read_only.starts_with("mint_sim_read"));
    assert_eq!(exchange(&sim, "POST", make, read_only, body).await.expect("an answer").status, 403);
    assert_eq!(exchange(&sim, "GET", &last_week_path(), read_only, "").await.expect("an answer").status, 200);
    assert!(sim.received_prompts().is_empty());
    let again = start_sim(&[]).await;
    assert_eq!(again.api_key(), sim.api_key(), "the same for the same seed");
    assert!(!format!("{sim:?}").contains(sim.api_key()));
}

#[tokio::test]
async fn unknown_projects_routes_and_methods_are_rejected_in_json() {
    let sim = start_sim(&[]).await;
    assert_eq!(get(&sim, "/v2/agent/other/job/x").await.json(), json!({"error": "Project not found"}));
    let routes =
        [("GET", "/", 404), ("GET", "/v2/agent/acme-docs/job/x/y/z", 404), ("GET", "/v1/agent/acme-docs/job", 404)];
    let methods = [
        ("GET", "/v2/agent/acme-docs/job", 405),
        ("DELETE", "/v2/agent/acme-docs/job/x", 405),
        ("POST", "/v1/analytics/acme-docs/views", 405),
    ];
    for (method, path, status) in routes.into_iter().chain(methods) {
        let response = exchange(&sim, method, path, sim.api_key(), "").await.expect("an answer");
        assert_eq!(response.status, status, "{method} {path}");
        assert!(response.json()["error"].is_string());
    }
}

#[tokio::test]
async fn views_have_pages_and_the_error_names_an_invalid_parameter() {
    let sim = start_sim(&[]).await;
    let first = get(&sim, &format!("{}&limit=1", last_week_path())).await.json();
    assert_eq!(first["views"].as_array().map(Vec::len), Some(1));
    assert_eq!(first["hasMore"], json!(true));
    assert!(first["views"][0]["path"].as_str().is_some_and(|path| path.starts_with('/')));
    assert!(first["totals"]["total"].as_u64() > first["views"][0]["total"].as_u64());
    let default = get(&sim, &last_week_path()).await.json();
    assert_eq!(default["views"].as_array().map(Vec::len), Some(50));
    let end = get(&sim, &format!("{}&limit=250&offset=250", last_week_path())).await.json();
    assert_eq!(end["hasMore"], json!(false));

    for query in ["", "dateFrom=2026-11-01", "dateFrom=2026-11-02&dateTo=2026-11-01", "dateFrom=x&dateTo=2026-11-01"] {
        let response = get(&sim, &views_path(query)).await;
        assert_eq!(response.status, 400, "{query}");
        assert!(response.json()["details"][0]["message"].is_string(), "{query}");
    }
    for extra in ["limit=0", "limit=251", "offset=-1", "limit=1&limit=2"] {
        assert_eq!(get(&sim, &format!("{}&{extra}", last_week_path())).await.status, 400, "{extra}");
    }
}

#[tokio::test]
async fn the_hundred_and_first_request_in_an_hour_is_rejected_until_an_hour_later() {
    let sim = start_sim(&[]).await;
    for _ in 0..100 {
        assert_eq!(create(&sim, "x").await.status, 201);
    }
    let refused = create(&sim, "x").await;
    assert_eq!(refused.status, 429);
    let wait: i64 = refused.header("retry-after").and_then(|value| value.parse().ok()).expect("seconds");
    assert!((3500..=3600).contains(&wait), "{wait}");
    create(&sim, "x").await;
    let dated = create(&sim, "x").await;
    let date = httpdate::parse_http_date(dated.header("retry-after").expect("a header")).expect("a date");
    assert!(DateTime::<Utc>::from(date) > sim.now() + TimeDelta::seconds(3500));
    assert_eq!(get(&sim, &last_week_path()).await.status, 200, "another limit");
    assert_eq!(sim.received_prompts().len(), 100);
    sim.advance(TimeDelta::seconds(wait));
    let later = create(&sim, "x").await;
    assert_eq!(later.status, 201);
    let told = httpdate::parse_http_date(later.header("date").expect("a header")).expect("a date");
    assert!(DateTime::<Utc>::from(told) > Utc::now() + TimeDelta::seconds(3400), "the Date header follows");
}

#[tokio::test]
async fn a_request_whose_response_is_lost_is_carried_out_and_one_on_a_refused_connection_is_not() {
    let sim = start_sim(&["create=lost"]).await;
    assert!(post(&sim, "/v2/agent/acme-docs/job", "lost").await.is_none(), "not a byte");
    assert_eq!(sim.received_prompts().len(), 1);
    set_fault(&sim, "create=refuse");
    assert!(post(&sim, "/v2/agent/acme-docs/job", "refused").await.is_none());
    assert_eq!((sim.received_prompts().len(), sim.requests(Operation::Create)), (1, 2));
    sim.set_faults(Vec::new());
    assert_eq!(create(&sim, "fine again").await.status, 201);
}

#[tokio::test]
async fn a_lost_response_closes_a_reused_connection() {
    let sim = start_sim(&["views=lost"]).await;
    let mut stream = TcpStream::connect(sim.address()).await.expect("a connection");
    let ask =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer {}\r\n\r\n", sim.api_key());
    stream.write_all(ask("/v2/agent/acme-docs/job/nobody").as_bytes()).await.expect("written");
    let mut first = [0; 1024];
    let read = stream.read(&mut first).await.expect("an answer");
    assert_eq!(parse(&first[..read]).status, 404);
    stream.write_all(ask(&last_week_path()).as_bytes()).await.expect("written");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.expect("closed");
    assert!(rest.is_empty());
}

#[tokio::test]
async fn with_a_fault_that_replaces_the_response_the_request_is_not_carried_out() {
    let sim = start_sim(&[]).await;
    let expected = [
        ("400", 400),
        ("401", 401),
        ("403", 403),
        ("404", 404),
        ("500", 500),
        ("503", 503),
        ("502-html", 502),
        ("302", 302),
        ("html", 200),
        ("429", 429),
        ("429-5", 429),
        ("429-date", 429),
        ("429-bare", 429),
    ];
    for (kind, status) in expected {
        set_fault(&sim, &format!("all={kind}"));
        let response = create(&sim, "x").await;
        assert_eq!(response.status, status, "{kind}");
        let retry_after = response.header("retry-after");
        match kind {
            "429" => assert_eq!(retry_after, Some("60")),
            "429-5" => assert_eq!(retry_after, Some("5")),
            "429-date" => assert!(retry_after.is_some_and(|value| httpdate::parse_http_date(value).is_ok())),
            _ => assert_eq!(retry_after, None),
        }
        if kind.contains("html") {
            assert!(String::from_utf8_lossy(&response.body).contains("<h1>"));
            assert_eq!(response.header("content-type"), Some("text/html"));
        }
    }
    assert_eq!((sim.requests(Operation::Create), sim.carried_out_count(Operation::Create)), (13, 0));
}

#[tokio::test]
async fn with_a_fault_that_damages_the_response_the_request_is_carried_out() {
    let sim = start_sim(&["create=malformed"]).await;
    let half = create(&sim, "x").await;
    assert_eq!(half.status, 201);
    assert!(!half.body.is_empty() && serde_json::from_slice::<Value>(&half.body).is_err());
    set_fault(&sim, "create=empty");
    assert!(create(&sim, "x").await.body.is_empty());
    set_fault(&sim, "create=500-done");
    assert_eq!(create(&sim, "x").await.status, 500);
    set_fault(&sim, "create=huge");
    let huge = create(&sim, "x").await;
    assert!(huge.body.len() > 32 * 1024 * 1024);
    assert_eq!(huge.json()["status"], "active", "all there, only too much");
    assert_eq!(sim.received_prompts().len(), 4);
    set_fault(&sim, "get=malformed");
    assert_eq!(get(&sim, "/v2/agent/acme-docs/job/nobody").await.json(), json!({"error": "Job not found"}));
}

#[tokio::test]
async fn views_can_be_malformed_stuck_or_endless() {
    let sim = start_sim(&[]).await;
    let from = async |offset: u32| get(&sim, &format!("{}&limit=100&offset={offset}", last_week_path())).await.json();
    let (first, second, behind) = (from(0).await, from(100).await, from(1000).await);
    assert_eq!((&first["hasMore"], &behind["hasMore"]), (&json!(true), &json!(false)));
    set_fault(&sim, "views=stuck");
    let circle = from(100).await;
    assert_eq!(circle["views"][0]["path"], first["views"][0]["path"]);
    assert_ne!(circle["views"][0]["path"], second["views"][0]["path"]);
    set_fault(&sim, "views=endless");
    let endless = from(1000).await;
    assert_eq!((&endless["views"], &endless["hasMore"]), (&json!([]), &json!(true)));
    set_fault(&sim, "views=odd");
    let odd = from(0).await;
    assert_eq!((&odd["views"][1]["human"], &odd["views"][2]["ai"]), (&json!(12.5), &Value::Null));
    assert_eq!((&odd["views"][3]["total"], &odd["views"][4]["human"]), (&json!(1e30), &json!(-3)));
    assert!(odd["views"][0]["human"].is_u64() && odd["totals"]["total"].is_u64());
}

#[tokio::test(start_paused = true)]
async fn latency_comes_before_the_response_and_a_slow_response_trickles() {
    let sim = start_sim(&["create=latency-90000"]).await;
    let began = tokio::time::Instant::now();
    assert_eq!(create(&sim, "x").await.status, 201);
    assert!(began.elapsed() >= Duration::from_secs(90));
    set_fault(&sim, "create=slow");
    let began = tokio::time::Instant::now();
    let slow = create(&sim, "x").await;
    assert_eq!(slow.json()["status"], "active");
    assert!(began.elapsed() >= Duration::from_secs(slow.body.len() as u64 / 8));
}

#[tokio::test]
async fn a_stopped_simulator_closes_its_connections_and_frees_its_port() {
    let sim = start_sim(&[]).await;
    let address = sim.address();
    let mut idle = TcpStream::connect(address).await.expect("a connection");
    idle.write_all(b"GET /v2/agent/").await.expect("written");
    sim.stop().await;
    let mut rest = Vec::new();
    let closed = idle.read_to_end(&mut rest).await;
    assert!(closed.is_err() || rest.is_empty());
    assert!(TcpStream::connect(address).await.is_err());
    let options = SimOptions { port: address.port(), ..SimOptions::default() };
    assert_eq!(Sim::start(options).await.expect("the same port").address(), address);
}

#[tokio::test]
async fn dropping_a_simulator_stops_it() {
    let sim = start_sim(&[]).await;
    let mut idle = TcpStream::connect(sim.address()).await.expect("a connection");
    drop(sim);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), idle.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection was closed");
}

#[tokio::test]
async fn an_invalid_speed_and_a_taken_port_are_rejected() {
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Sim::start(SimOptions { speed, ..SimOptions::default() }).await.is_err());
    }
    let sim = start_sim(&[]).await;
    let taken = SimOptions { port: sim.address().port(), ..SimOptions::default() };
    assert!(Sim::start(taken).await.is_err());
}

#[tokio::test]
async fn the_shell_lines_contain_base_url_key_and_project_and_name_the_code_hosts() {
    let sim = start_sim(&[]).await;
    let lines: Vec<String> = sim.shell_lines().lines().map(str::to_owned).collect();
    assert_eq!(
        lines[..3],
        [
            format!("export DOCDECK_BASE_URL=http://{}", sim.address()),
            format!("export DOCDECK_API_KEY={}", sim.api_key()),
            "export DOCDECK_PROJECT_ID=acme-docs".to_owned(),
        ]
    );
    // Every other line is a variable or a comment, so that a shell can evaluate all of them.
    assert!(lines.iter().all(|line| line.starts_with("export ") || line.starts_with("# ")), "{lines:?}");
    let hosts: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("# hosts.")).collect();
    assert!(hosts[0].contains(&sim.host_address(HostKind::GitHub).graphql_url), "{hosts:?}");
    assert!(hosts[1].contains(&sim.host_address(HostKind::GitLab).rest_url), "{hosts:?}");
}
