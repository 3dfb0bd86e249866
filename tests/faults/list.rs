//! The list of faults, each with the expected outcome of every operation.

use crate::support::server::{ConnectionEnd, ServerBehavior, TlsFailure};
use std::fmt;
use std::io::Write as _;
use std::time::{Duration, SystemTime};

/// The API key of the cases, which must not appear in any message, screen or file.
pub(crate) const API_KEY: &str = "mint_5ecretM4rked";
/// The id of the job that the cases operate on.
pub(crate) const JOB_ID: &str = "job_1";
/// The status of the job in the store.
pub(crate) const STORED_STATUS: &str = "completed";
/// The seconds from the creation of the fault list to the date in the `Retry-After` header of a 429.
const DATE_SECONDS: u64 = 600;
const DAY_SECONDS: i64 = 86_400;
const GIB: u64 = 1 << 30;

/// The expected result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExpectedOutcome {
    /// The prompt certainly did not reach the service, and doesn't count against the hourly limit.
    NotSent,
    /// The service rejected the prompt.
    Rejected,
    /// It is unknown whether the service has received the prompt.
    Unconfirmed,
    /// The prompt was accepted as the job with this id and status.
    Accepted(String, String),
    /// The limit is reached, and the engine waits for this many seconds. A prompt stays queued.
    Limited(i64),
    /// The job was loaded and has this status.
    JobStatus(String),
    /// The service no longer has the job, which stays in the list.
    Gone,
    /// The page views were loaded. Contains the total of human views in the `Debug` format of `Count`.
    Loaded(String),
    /// A read failed because the service is offline. In this and the following cases, the stored data is kept.
    Offline,
    KeyRefused,
    NotFound,
    Service,
}

impl fmt::Display for ExpectedOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent => f.write_str("not sent"),
            Self::Rejected => f.write_str("rejected"),
            Self::Unconfirmed => f.write_str("unconfirmed"),
            Self::Accepted(id, status) => write!(f, "accepted as {id}, {status}"),
            Self::Limited(seconds) => write!(f, "waits {seconds} s"),
            Self::JobStatus(status) => write!(f, "job is {status}"),
            Self::Gone => f.write_str("job is marked as gone"),
            Self::Loaded(human) => write!(f, "views, {human}"),
            Self::Offline => f.write_str("offline, the record stays"),
            Self::KeyRefused => f.write_str("key refused, the record stays"),
            Self::NotFound => f.write_str("not found, the record stays"),
            Self::Service => f.write_str("unusable answer, the record stays"),
        }
    }
}

/// A fault of the server, with the expected outcome of each operation.
pub(crate) struct Fault {
    pub(crate) name: String,
    /// The server's behaviour for the operations create, message and get.
    pub(crate) job: ServerBehavior,
    /// The server's behaviour for the operation views.
    pub(crate) views: ServerBehavior,
    /// The expected outcomes of create, message, get and views, in this order.
    pub(crate) expected: [ExpectedOutcome; 4],
    /// Whether the client has a short timeout. Otherwise, its timeout is longer than any test.
    pub(crate) short_timeout: bool,
}

impl Fault {
    fn new(name: &str, wire: ServerBehavior, expected: [ExpectedOutcome; 4]) -> Self {
        Self { name: name.to_owned(), job: wire.clone(), views: wire, expected, short_timeout: false }
    }

    fn short_timeout(self) -> Self {
        Self { short_timeout: true, ..self }
    }
}

/// Returns a fault by which the request doesn't reach the service.
fn not_reached(name: &str, wire: ServerBehavior) -> Fault {
    Fault::new(
        name,
        wire,
        [ExpectedOutcome::NotSent, ExpectedOutcome::NotSent, ExpectedOutcome::Offline, ExpectedOutcome::Offline],
    )
}

/// Returns a fault after which the service may have carried out the request, but the client gets no response.
fn response_lost(name: &str, wire: ServerBehavior) -> Fault {
    Fault::new(
        name,
        wire,
        [
            ExpectedOutcome::Unconfirmed,
            ExpectedOutcome::Unconfirmed,
            ExpectedOutcome::Offline,
            ExpectedOutcome::Offline,
        ],
    )
}

/// Returns a fault by which the server sends these bytes, ends, and thereby loses the response.
fn truncated(name: &str, bytes: impl Into<Vec<u8>>, end: ConnectionEnd) -> Fault {
    response_lost(name, ServerBehavior::response(bytes, end))
}

/// Returns a fault with a success status and an unusable response.
fn unusable(name: &str, wire: ServerBehavior) -> Fault {
    Fault::new(
        name,
        wire,
        [
            ExpectedOutcome::Unconfirmed,
            ExpectedOutcome::Unconfirmed,
            ExpectedOutcome::Service,
            ExpectedOutcome::Service,
        ],
    )
}

fn refused(name: &str, wire: ServerBehavior, get: ExpectedOutcome, views: ExpectedOutcome) -> Fault {
    Fault::new(name, wire, [ExpectedOutcome::Rejected, ExpectedOutcome::Rejected, get, views])
}

fn limited(name: &str, header: &str, seconds: i64) -> Fault {
    let wire = ServerBehavior::http(429, header, br#"{"error":"Rate limit exceeded"}"#);
    Fault::new(name, wire, [(); 4].map(|()| ExpectedOutcome::Limited(seconds)))
}

/// Returns a fault with a usable response that may have odd fields. `status` and `human` are what docdeck reads from
/// `job` and `views`.
fn usable(name: &str, job: &[u8], status: &str, views: &[u8], human: &str) -> Fault {
    let accepted = || ExpectedOutcome::Accepted(JOB_ID.to_owned(), status.to_owned());
    Fault {
        name: name.to_owned(),
        job: ServerBehavior::http(200, "", job),
        views: ServerBehavior::http(200, "", views),
        expected: [
            accepted(),
            accepted(),
            ExpectedOutcome::JobStatus(status.to_owned()),
            ExpectedOutcome::Loaded(human.to_owned()),
        ],
        short_timeout: false,
    }
}

/// Like [`usable`], with a job that has no status, so that docdeck keeps the stored status.
fn job_without_status(name: &str, job: &[u8], views: &[u8], human: &str) -> Fault {
    let fault = usable(name, job, STORED_STATUS, views, human);
    let [_, message, get, views] = fault.expected;
    let new = ExpectedOutcome::Accepted(JOB_ID.to_owned(), "no status".to_owned());
    Fault { expected: [new, message, get, views], ..fault }
}

/// Returns a fault by which the job in the response has another id or none. The page views are correct.
fn odd_job(name: &str, body: &[u8], create: ExpectedOutcome) -> Fault {
    Fault {
        name: name.to_owned(),
        job: ServerBehavior::http(200, "", body),
        views: ServerBehavior::http(200, "", VIEWS),
        expected: [
            create,
            ExpectedOutcome::Unconfirmed,
            ExpectedOutcome::Service,
            ExpectedOutcome::Loaded("Known(3)".to_owned()),
        ],
        short_timeout: false,
    }
}

const VIEWS: &[u8] =
    br#"{"totals":{"human":3,"ai":1,"total":4},"views":[{"path":"/a","human":3,"ai":1,"total":4}],"hasMore":false}"#;
const JOB: &[u8] = br#"{"id":"job_1","status":"active"}"#;

fn gzip_bomb(bytes: usize) -> ServerBehavior {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let part = vec![b' '; 1 << 20];
    for _ in 0..bytes / part.len() {
        gzip.write_all(&part).expect("written");
    }
    ServerBehavior::http(200, "content-encoding: gzip\r\n", &gzip.finish().expect("finished"))
}

/// Returns all faults. Redirects lead to `other_port` of 127.0.0.1, where another server listens.
pub(crate) fn faults(other_port: u16) -> Vec<Fault> {
    let mut faults = connections();
    faults.extend(broken_responses());
    faults.extend(redirects(other_port));
    faults.extend(unusable_responses());
    faults.extend(refusals());
    faults.extend(limits());
    faults.extend(odd_fields());
    faults
}

fn connections() -> Vec<Fault> {
    vec![
        not_reached("connection refused", ServerBehavior::NotListening),
        not_reached("name not found", ServerBehavior::UnresolvableHost),
        not_reached("TLS: the server speaks none", ServerBehavior::Tls(TlsFailure::NoTls)),
        not_reached("TLS: certificate of a stranger", ServerBehavior::Tls(TlsFailure::Untrusted)),
        not_reached("TLS: timeout before the request", ServerBehavior::Tls(TlsFailure::Silent)).short_timeout(),
        not_reached("TLS: reset before the request", ServerBehavior::Tls(TlsFailure::Reset)),
        not_reached("TLS: closed before the request", ServerBehavior::Tls(TlsFailure::Closed)),
        response_lost("accepted, nothing read, timeout", ServerBehavior::ReadNothing(ConnectionEnd::Stall))
            .short_timeout(),
        response_lost("accepted, then reset", ServerBehavior::ReadNothing(ConnectionEnd::Reset)),
        response_lost("accepted, then closed", ServerBehavior::ReadNothing(ConnectionEnd::Close)),
        truncated("timeout after the request", "", ConnectionEnd::Stall).short_timeout(),
        truncated("reset after the request", "", ConnectionEnd::Reset),
        truncated("closed without an answer", "", ConnectionEnd::Close),
        truncated("timeout in the headers", "HTTP/1.1 201 Created\r\nconte", ConnectionEnd::Stall).short_timeout(),
        truncated("closed in the headers", "HTTP/1.1 201 Created\r\nconte", ConnectionEnd::Close),
        truncated("reset in the body", "HTTP/1.1 201 C\r\ncontent-length: 30\r\n\r\n{\"id\"", ConnectionEnd::Reset),
        truncated("timeout in the body", "HTTP/1.1 201 C\r\ncontent-length: 30\r\n\r\n{\"id\"", ConnectionEnd::Stall)
            .short_timeout(),
    ]
}

fn broken_responses() -> Vec<Fault> {
    let headed = |headers: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        [head.as_bytes(), JOB].concat()
    };
    vec![
        truncated("truncated body", headed("content-length: 99\r\n"), ConnectionEnd::Close),
        truncated(
            "truncated chunks",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n",
            ConnectionEnd::Close,
        ),
        truncated(
            "chunk length is nonsense",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
            ConnectionEnd::Close,
        ),
        unusable(
            "content-length too short",
            ServerBehavior::response(headed("content-length: 9\r\n"), ConnectionEnd::Close),
        ),
        truncated("content-length is nonsense", headed("content-length: many\r\n"), ConnectionEnd::Close),
        truncated("content-length negative", headed("content-length: -1\r\n"), ConnectionEnd::Close),
        truncated(
            "content-length twice, differing",
            headed("content-length: 5\r\ncontent-length: 32\r\n"),
            ConnectionEnd::Close,
        ),
        truncated(
            "content-length of 2^63, cut",
            headed("content-length: 9223372036854775807\r\n"),
            ConnectionEnd::Close,
        ),
        truncated(
            "slow trickle of the body",
            "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
            ConnectionEnd::Trickle,
        )
        .short_timeout(),
        truncated("slow trickle of a header", "HTTP/1.1 200 OK\r\nx:", ConnectionEnd::Trickle).short_timeout(),
        truncated("speaks no HTTP", "SSH-2.0-OpenSSH_9.9\r\n", ConnectionEnd::Close),
        response_lost(
            "200 headers of 100 bytes",
            ServerBehavior::response(
                format!("HTTP/1.1 200 OK\r\n{}\r\n", format!("x: {}\r\n", "y".repeat(96)).repeat(200)),
                ConnectionEnd::Close,
            ),
        ),
        response_lost("gzip that is none", ServerBehavior::http(200, "content-encoding: gzip\r\n", JOB)),
        unusable("gzip bomb, 64 MiB", gzip_bomb(64 << 20)),
        unusable(
            "body of 1 GiB, announced",
            ServerBehavior::response(
                format!("HTTP/1.1 200 OK\r\ncontent-length: {GIB}\r\n\r\n"),
                ConnectionEnd::Flood(GIB),
            ),
        ),
        unusable(
            "body of 1 GiB, unannounced",
            ServerBehavior::response("HTTP/1.1 200 OK\r\n\r\n{\"id\":\"job_1\"", ConnectionEnd::Flood(GIB)),
        ),
        truncated(
            "error 500 with a body of 1 GiB",
            format!("HTTP/1.1 500 E\r\ncontent-length: {GIB}\r\n\r\n"),
            ConnectionEnd::Flood(GIB),
        ),
        truncated(
            "error 503, its body never ends",
            "HTTP/1.1 503 E\r\ncontent-length: 90\r\n\r\nbusy",
            ConnectionEnd::Stall,
        )
        .short_timeout(),
        refused(
            "error 400, its body cut",
            ServerBehavior::response("HTTP/1.1 400 E\r\ncontent-length: 90\r\n\r\ntoo long", ConnectionEnd::Close),
            ExpectedOutcome::Service,
            ExpectedOutcome::Service,
        ),
    ]
}

fn redirects(other_port: u16) -> Vec<Fault> {
    let to = format!("location: http://127.0.0.1:{other_port}/v2/agent\r\n");
    let mut all: Vec<Fault> = [301, 302, 307, 308]
        .into_iter()
        .map(|status| {
            refused(
                &format!("{status} to another host"),
                ServerBehavior::http(status, &to, b""),
                ExpectedOutcome::Service,
                ExpectedOutcome::Service,
            )
        })
        .collect();
    all.push(unusable("303 to another host", ServerBehavior::http(303, &to, b"")));
    all.push(refused(
        "302 without an address",
        ServerBehavior::http(302, "", b""),
        ExpectedOutcome::Service,
        ExpectedOutcome::Service,
    ));
    all.push(refused(
        "304",
        ServerBehavior::response("HTTP/1.1 304 S\r\n\r\n", ConnectionEnd::Keep),
        ExpectedOutcome::Service,
        ExpectedOutcome::Service,
    ));
    all
}

fn unusable_responses() -> Vec<Fault> {
    let html = b"<!doctype html><html><title>Sign in</title><body>Welcome</body></html>";
    let nested = [vec![b'['; 200_000], vec![b']'; 200_000]].concat();
    let opened = vec![b'['; 200_000];
    let objects = [br#"{"a":"#.repeat(200_000), b"1".to_vec(), vec![b'}'; 200_000]].concat();
    let bodies: [(&str, &[u8]); 16] = [
        ("200, empty", b""),
        ("200, blank", b" \r\n "),
        ("200 with HTML", html),
        ("bad UTF-8 alone", b"\xff\xfe\xfd\x80"),
        ("UTF-16", b"\xff\xfe{\0}\0"),
        ("bad JSON, cut", br#"{"id":"job_1","sta"#),
        ("bad JSON, single quotes", b"{'id':'job_1'}"),
        ("bad JSON, more behind it", br#"{"id":"job_1","views":[]}]"#),
        ("JSON null", b"null"),
        ("JSON true", b"true"),
        ("a JSON string", br#""job_1""#),
        ("a JSON list", br#"[{"id":"job_1","views":[]}]"#),
        ("an object with nothing in it", b"{}"),
        ("200,000 nested lists", &nested),
        ("200,000 lists, never closed", &opened),
        ("200,000 nested objects", &objects),
    ];
    let mut all: Vec<Fault> =
        bodies.into_iter().map(|(name, body)| unusable(name, ServerBehavior::http(200, "", body))).collect();
    all.push(unusable("204", ServerBehavior::response("HTTP/1.1 204 No Content\r\n\r\n", ConnectionEnd::Keep)));
    all.push(unusable("205", ServerBehavior::http(205, "", b"")));
    all.push(unusable("202 with words", ServerBehavior::http(202, "", b"queued")));
    all
}

fn refusals() -> Vec<Fault> {
    use ExpectedOutcome::{Gone, KeyRefused, NotFound, Service};
    let error = br#"{"error":"Not like this","details":[{"message":"nor that"}]}"#;
    let mut all = vec![
        refused("400", ServerBehavior::http(400, "", error), Service, Service),
        refused("401", ServerBehavior::http(401, "", error), KeyRefused, KeyRefused),
        refused("403", ServerBehavior::http(403, "", error), KeyRefused, KeyRefused),
        refused("404", ServerBehavior::http(404, "", error), Gone, NotFound),
        refused("404, empty", ServerBehavior::http(404, "", b""), Gone, NotFound),
        refused(
            "404 with a web page",
            ServerBehavior::http(404, "", b"<!doctype html><title>Lost</title>"),
            Service,
            Service,
        ),
        refused(
            "400 that repeats the key",
            ServerBehavior::http(400, "", format!("{{\"error\":\"bad {API_KEY}\"}}").as_bytes()),
            Service,
            Service,
        ),
        refused(
            "401 that repeats the key",
            ServerBehavior::http(401, "", format!("no: Bearer {API_KEY}").as_bytes()),
            KeyRefused,
            KeyRefused,
        ),
        refused(
            "400 with 200,000 nested lists",
            ServerBehavior::http(400, "", &b"[".repeat(200_000)),
            Service,
            Service,
        ),
        refused("400 with bad UTF-8", ServerBehavior::http(400, "", b"\xff\xfe"), Service, Service),
        refused(
            "400 with control sequences",
            ServerBehavior::http(400, "", b"{\"error\":\"\\u001b]52;c;eA==\\u0007\\u001b[2J\\u202e\"}"),
            Service,
            Service,
        ),
        response_lost(
            "502 with a proxy's page",
            ServerBehavior::http(502, "content-type: text/html\r\n", b"<html><title>502 Bad Gateway</title></html>"),
        ),
    ];
    for status in [402, 405, 406, 409, 410, 411, 412, 413, 414, 415, 418, 421, 422, 423, 424, 425, 426, 428, 431, 451] {
        all.push(refused(&status.to_string(), ServerBehavior::http(status, "", error), Service, Service));
    }
    for status in [408, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 529, 599] {
        all.push(response_lost(&status.to_string(), ServerBehavior::http(status, "", error)));
    }
    all
}

fn limits() -> Vec<Fault> {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(DATE_SECONDS));
    let seconds_to_date = i64::try_from(DATE_SECONDS).expect("small");
    vec![
        limited("429", "", 60),
        limited("429, 90 seconds", "retry-after: 90\r\n", 90),
        limited("429, a date", &format!("retry-after: {date}\r\n"), seconds_to_date),
        limited("429, a date in 2099", "retry-after: Fri, 20 Nov 2099 12:00:00 GMT\r\n", DAY_SECONDS),
        limited("429, nonsense", "retry-after: soon\r\n", 60),
        limited("429, empty", "retry-after: \r\n", 60),
        limited("429, not ASCII", "retry-after: \u{661}\u{662}\r\n", 60),
        limited("429, negative", "retry-after: -30\r\n", 60),
        limited("429, a fraction", "retry-after: 1.5\r\n", 60),
        limited("429, 10^30 seconds", "retry-after: 1000000000000000000000000000000\r\n", DAY_SECONDS),
        limited("429, twice", "retry-after: 90\r\nretry-after: 200\r\n", 90),
    ]
}

fn odd_fields() -> Vec<Fault> {
    use ExpectedOutcome::{Accepted, Unconfirmed};
    let named = |id: &str, status: &str| Accepted(id.to_owned(), status.to_owned());
    let totals = |human: &str| format!(r#"{{"totals":{{"human":{human},"ai":1,"total":2}},"views":[]}}"#).into_bytes();
    let odd = |text: &str| format!("Other({text:?})");
    let nested = |head: &str| format!("{head}{}{}}}", "[".repeat(200_000), "]".repeat(200_000)).into_bytes();
    let null =
        br#"{"id":"job_1","status":null,"source":null,"model":null,"prLink":null,"createdAt":null,"archivedAt":null}"#;
    let wrong = br#"{"id":"job_1","status":["active"],"source":7,"model":{},"prLink":false,"createdAt":12,"archivedAt":"soon"}"#;
    let active = |more: &str| format!(r#"{{"id":"job_1","status":"active",{more}}}"#).into_bytes();
    vec![
        job_without_status("fields missing", br#"{"id":"job_1"}"#, br#"{"totals":{}}"#, "Missing"),
        job_without_status("fields null", null, &totals("null"), "Missing"),
        job_without_status("fields of a wrong type", wrong, &totals(r#""many""#), &odd("many")),
        usable("numbers as floats", &active(r#""createdAt":1.5"#), "active", &totals("12.0"), "Known(12)"),
        usable("numbers with an exponent", &active(r#""createdAt":1e9"#), "active", &totals("1.2e1"), "Known(12)"),
        usable(
            "numbers that are fractions",
            &active(r#""model":0.5"#),
            "active",
            &totals("12.5"),
            "NonInteger(NonInteger(12.5))",
        ),
        usable("numbers negative", &active(r#""createdAt":-1"#), "active", &totals("-3"), "Known(-3)"),
        usable(
            "numbers beyond 64 bits",
            &active(r#""createdAt":99999999999999999999"#),
            "active",
            &totals("99999999999999999999"),
            &odd("99999999999999999999"),
        ),
        usable("numbers beyond a double", &active(r#""createdAt":1e999"#), "active", &totals("1e999"), &odd("1e999")),
        usable(
            "years beyond the calendar",
            &active(r#""createdAt":"+999999-01-01T00:00:00Z","archivedAt":"0000-00-00""#),
            "active",
            VIEWS,
            "Known(3)",
        ),
        usable("unknown status", br#"{"id":"job_1","status":"reviewing"}"#, "reviewing", VIEWS, "Known(3)"),
        usable(
            "bad UTF-8 in a field",
            b"{\"id\":\"job_1\",\"status\":\"active\",\"model\":\"\xff\"}",
            "active",
            b"{\"totals\":{\"human\":3},\"views\":[{\"path\":\"/\xff\"}]}",
            "Known(3)",
        ),
        usable(
            "a byte order mark",
            &[b"\xef\xbb\xbf", JOB].concat(),
            "active",
            &[b"\xef\xbb\xbf", VIEWS].concat(),
            "Known(3)",
        ),
        usable(
            "half a surrogate pair",
            br#"{"id":"job_1","status":"active","model":"\ud800"}"#,
            "active",
            br#"{"totals":{"human":3},"views":[{"path":"\udfff"}]}"#,
            "Known(3)",
        ),
        usable(
            "the same field twice",
            br#"{"id":"job_0","id":"job_1","status":"failed","status":"active"}"#,
            "active",
            br#"{"totals":{"human":1},"totals":{"human":3}}"#,
            "Known(3)",
        ),
        usable(
            "200,000 nested lists in a field",
            &nested(r#"{"id":"job_1","status":"active","source":"#),
            "active",
            &nested(r#"{"totals":{"human":3},"views":"#),
            "Known(3)",
        ),
        usable(
            "a field of 1 MiB",
            &active(&format!(r#""model":"{}""#, "m".repeat(1 << 20))),
            "active",
            format!(r#"{{"totals":{{"human":3}},"views":[{{"path":"{}"}}]}}"#, "p".repeat(1 << 20)).as_bytes(),
            "Known(3)",
        ),
        odd_job("another job's id", br#"{"id":"job_2","status":"failed"}"#, named("job_2", "failed")),
        odd_job("the id in capitals", br#"{"id":"JOB_1","status":"active"}"#, named("JOB_1", "active")),
        odd_job(
            "an id beyond 64 bits",
            br#"{"id":99999999999999999999,"status":"active"}"#,
            named("99999999999999999999", "active"),
        ),
        odd_job(
            "an id with dots and slashes",
            br#"{"id":"../../x?y#z","status":"active"}"#,
            named("../../x?y#z", "active"),
        ),
        odd_job("no id", br#"{"status":"active"}"#, Unconfirmed),
        odd_job("id null", br#"{"id":null,"status":"active"}"#, Unconfirmed),
        odd_job("id blank", br#"{"id":"  ","status":"active"}"#, Unconfirmed),
        odd_job("id a list", br#"{"id":["job_1"],"status":"active"}"#, Unconfirmed),
        odd_job("half a surrogate pair in the id", br#"{"id":"job_\ud800","status":"active"}"#, Unconfirmed),
        odd_job("id true", br#"{"id":true,"status":"active"}"#, Unconfirmed),
        odd_job("bad UTF-8 in the id", b"{\"id\":\"job_\xff\",\"status\":\"active\"}", Unconfirmed),
        odd_job("page views in place of a job", VIEWS, Unconfirmed),
        Fault {
            name: "a job in place of page views".to_owned(),
            job: ServerBehavior::http(200, "", JOB),
            views: ServerBehavior::http(200, "", JOB),
            expected: [
                named(JOB_ID, "active"),
                named(JOB_ID, "active"),
                ExpectedOutcome::JobStatus("active".to_owned()),
                ExpectedOutcome::Service,
            ],
            short_timeout: false,
        },
        Fault {
            name: "views that are no list".to_owned(),
            job: ServerBehavior::http(200, "", JOB),
            views: ServerBehavior::http(200, "", br#"{"totals":{"human":3},"views":{"path":"/a"}}"#),
            expected: [
                named(JOB_ID, "active"),
                named(JOB_ID, "active"),
                ExpectedOutcome::JobStatus("active".to_owned()),
                ExpectedOutcome::Service,
            ],
            short_timeout: false,
        },
    ]
}
