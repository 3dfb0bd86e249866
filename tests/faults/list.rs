//! The table from which the matrix is built: each fault with its expected outcome for every operation.

use crate::server::{End, Greeting, Wire};
use std::fmt;
use std::io::Write as _;
use std::time::{Duration, SystemTime};

/// The key that must not appear anywhere.
pub(crate) const KEY: &str = "mint_5ecretM4rked";
/// The job that the cases operate on.
pub(crate) const ID: &str = "job_1";
/// The status of the job in the store.
pub(crate) const STORED_STATUS: &str = "completed";
/// Seconds until the date in the `Retry-After` header of a 429.
const DATED: u64 = 600;
const DAY: i64 = 86_400;
const GIB: u64 = 1 << 30;

/// The result of a request, in the store and for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A prompt: certainly not delivered; its slot in the ledger is free again.
    NotSent,
    /// A prompt: rejected by the service.
    Rejected,
    /// A prompt: it is unknown whether the service has it.
    Unconfirmed,
    /// A prompt: accepted as the job with this id and status.
    Accepted(String, String),
    /// The limit is used up for this many seconds; a prompt waits on disk.
    Limited(i64),
    /// A GET of a job: its status.
    Row(String),
    /// A GET of a job: the service no longer has it; the job stays in the list.
    Gone,
    /// Page views, with the totals of human views as the model has them.
    Loaded(String),
    /// Failures of reads, by kind. Stored data stays.
    Offline,
    KeyRefused,
    NotFound,
    Service,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent => f.write_str("not sent"),
            Self::Rejected => f.write_str("rejected"),
            Self::Unconfirmed => f.write_str("unconfirmed"),
            Self::Accepted(id, status) => write!(f, "accepted as {id}, {status}"),
            Self::Limited(seconds) => write!(f, "waits {seconds} s"),
            Self::Row(status) => write!(f, "job is {status}"),
            Self::Gone => f.write_str("job is marked as gone"),
            Self::Loaded(human) => write!(f, "views, {human}"),
            Self::Offline => f.write_str("offline, the record stays"),
            Self::KeyRefused => f.write_str("key refused, the record stays"),
            Self::NotFound => f.write_str("not found, the record stays"),
            Self::Service => f.write_str("unusable answer, the record stays"),
        }
    }
}

/// One fault.
pub(crate) struct Fault {
    pub(crate) name: String,
    /// The server's behaviour for create, get and message.
    pub(crate) job: Wire,
    pub(crate) views: Wire,
    /// For create, message, get and views.
    pub(crate) expected: [Outcome; 4],
    /// Whether the client has a short timeout; otherwise it never times out within a test.
    pub(crate) short_timeout: bool,
}

impl Fault {
    fn new(name: &str, wire: Wire, expected: [Outcome; 4]) -> Self {
        Self { name: name.to_owned(), job: wire.clone(), views: wire, expected, short_timeout: false }
    }

    fn short_timeout(self) -> Self {
        Self { short_timeout: true, ..self }
    }
}

fn answer(bytes: impl Into<Vec<u8>>, end: End) -> Wire {
    Wire::Answer(bytes.into().into(), end)
}

/// A complete answer.
fn http(status: u16, headers: &str, body: &[u8]) -> Wire {
    let mut bytes = format!("HTTP/1.1 {status} S\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    answer(bytes, End::Keep)
}

/// The request has not reached the service.
fn not_reached(name: &str, wire: Wire) -> Fault {
    Fault::new(name, wire, [Outcome::NotSent, Outcome::NotSent, Outcome::Offline, Outcome::Offline])
}

/// The service may have carried out the request, but there is no answer.
fn answer_lost(name: &str, wire: Wire) -> Fault {
    Fault::new(name, wire, [Outcome::Unconfirmed, Outcome::Unconfirmed, Outcome::Offline, Outcome::Offline])
}

/// A success status with an unusable answer.
fn unusable(name: &str, wire: Wire) -> Fault {
    Fault::new(name, wire, [Outcome::Unconfirmed, Outcome::Unconfirmed, Outcome::Service, Outcome::Service])
}

fn refused(name: &str, wire: Wire, get: Outcome, views: Outcome) -> Fault {
    Fault::new(name, wire, [Outcome::Rejected, Outcome::Rejected, get, views])
}

fn limited(name: &str, header: &str, seconds: i64) -> Fault {
    let wire = http(429, header, br#"{"error":"Rate limit exceeded"}"#);
    Fault::new(name, wire, [(); 4].map(|()| Outcome::Limited(seconds)))
}

/// A usable answer, possibly with oddities: the job `ID`, and views.
fn read(name: &str, job: &[u8], status: &str, views: &[u8], human: &str) -> Fault {
    let accepted = || Outcome::Accepted(ID.to_owned(), status.to_owned());
    Fault {
        name: name.to_owned(),
        job: http(200, "", job),
        views: http(200, "", views),
        expected: [accepted(), accepted(), Outcome::Row(status.to_owned()), Outcome::Loaded(human.to_owned())],
        short_timeout: false,
    }
}

/// As [`read`], with a job that has no status: the stored status stays.
fn job_without_status(name: &str, job: &[u8], views: &[u8], human: &str) -> Fault {
    let fault = read(name, job, STORED_STATUS, views, human);
    let [_, message, get, views] = fault.expected;
    let new = Outcome::Accepted(ID.to_owned(), "no status".to_owned());
    Fault { expected: [new, message, get, views], ..fault }
}

/// A job answer with another id or none; the views are correct.
fn odd_job(name: &str, body: &[u8], create: Outcome) -> Fault {
    Fault {
        name: name.to_owned(),
        job: http(200, "", body),
        views: http(200, "", VIEWS),
        expected: [create, Outcome::Unconfirmed, Outcome::Service, Outcome::Loaded("Known(3)".to_owned())],
        short_timeout: false,
    }
}

const VIEWS: &[u8] =
    br#"{"totals":{"human":3,"ai":1,"total":4},"views":[{"path":"/a","human":3,"ai":1,"total":4}],"hasMore":false}"#;
const JOB: &[u8] = br#"{"id":"job_1","status":"active"}"#;

fn zipped(bytes: usize) -> Wire {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let part = vec![b' '; 1 << 20];
    for _ in 0..bytes / part.len() {
        gzip.write_all(&part).expect("written");
    }
    http(200, "content-encoding: gzip\r\n", &gzip.finish().expect("finished"))
}

/// All faults. Redirects lead to this port of another host.
pub(crate) fn faults(other_port: u16) -> Vec<Fault> {
    let mut faults = connections();
    faults.extend(broken_answers());
    faults.extend(redirects(other_port));
    faults.extend(unusable_answers());
    faults.extend(refusals());
    faults.extend(limits());
    faults.extend(odd_fields());
    faults
}

fn connections() -> Vec<Fault> {
    vec![
        not_reached("connection refused", Wire::Refused),
        not_reached("name not found", Wire::NoName),
        not_reached("TLS: the server speaks none", Wire::Tls(Greeting::Plain)),
        not_reached("TLS: certificate of a stranger", Wire::Tls(Greeting::Untrusted)),
        not_reached("TLS: timeout before the request", Wire::Tls(Greeting::Silent)).short_timeout(),
        not_reached("TLS: reset before the request", Wire::Tls(Greeting::Reset)),
        not_reached("TLS: closed before the request", Wire::Tls(Greeting::Closed)),
        answer_lost("accepted, nothing read, timeout", Wire::Early(End::Stall)).short_timeout(),
        answer_lost("accepted, then reset", Wire::Early(End::Reset)),
        answer_lost("accepted, then closed", Wire::Early(End::Close)),
        answer_lost("timeout after the request", answer("", End::Stall)).short_timeout(),
        answer_lost("reset after the request", answer("", End::Reset)),
        answer_lost("closed without an answer", answer("", End::Close)),
        answer_lost("timeout in the headers", answer("HTTP/1.1 201 Created\r\nconte", End::Stall)).short_timeout(),
        answer_lost("closed in the headers", answer("HTTP/1.1 201 Created\r\nconte", End::Close)),
        answer_lost("reset in the body", answer("HTTP/1.1 201 C\r\ncontent-length: 30\r\n\r\n{\"id\"", End::Reset)),
        answer_lost("timeout in the body", answer("HTTP/1.1 201 C\r\ncontent-length: 30\r\n\r\n{\"id\"", End::Stall))
            .short_timeout(),
    ]
}

fn broken_answers() -> Vec<Fault> {
    let headed = |headers: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        [head.as_bytes(), JOB].concat()
    };
    vec![
        answer_lost("truncated body", answer(headed("content-length: 99\r\n"), End::Close)),
        answer_lost(
            "truncated chunks",
            answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n", End::Close),
        ),
        answer_lost(
            "chunk length is nonsense",
            answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n", End::Close),
        ),
        unusable("content-length too short", answer(headed("content-length: 9\r\n"), End::Close)),
        answer_lost("content-length is nonsense", answer(headed("content-length: many\r\n"), End::Close)),
        answer_lost("content-length negative", answer(headed("content-length: -1\r\n"), End::Close)),
        answer_lost(
            "content-length twice, differing",
            answer(headed("content-length: 5\r\ncontent-length: 32\r\n"), End::Close),
        ),
        answer_lost(
            "content-length of 2^63, cut",
            answer(headed("content-length: 9223372036854775807\r\n"), End::Close),
        ),
        answer_lost(
            "slow trickle of the body",
            answer("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", End::Trickle),
        )
        .short_timeout(),
        answer_lost("slow trickle of a header", answer("HTTP/1.1 200 OK\r\nx:", End::Trickle)).short_timeout(),
        answer_lost("speaks no HTTP", answer("SSH-2.0-OpenSSH_9.9\r\n", End::Close)),
        answer_lost(
            "200 headers of 100 bytes",
            answer(format!("HTTP/1.1 200 OK\r\n{}\r\n", format!("x: {}\r\n", "y".repeat(96)).repeat(200)), End::Close),
        ),
        answer_lost("gzip that is none", http(200, "content-encoding: gzip\r\n", JOB)),
        unusable("gzip bomb, 64 MiB", zipped(64 << 20)),
        unusable(
            "body of 1 GiB, announced",
            answer(format!("HTTP/1.1 200 OK\r\ncontent-length: {GIB}\r\n\r\n"), End::Flood(GIB)),
        ),
        unusable("body of 1 GiB, unannounced", answer("HTTP/1.1 200 OK\r\n\r\n{\"id\":\"job_1\"", End::Flood(GIB))),
        answer_lost(
            "error 500 with a body of 1 GiB",
            answer(format!("HTTP/1.1 500 E\r\ncontent-length: {GIB}\r\n\r\n"), End::Flood(GIB)),
        ),
        answer_lost(
            "error 503, its body never ends",
            answer("HTTP/1.1 503 E\r\ncontent-length: 90\r\n\r\nbusy", End::Stall),
        )
        .short_timeout(),
        refused(
            "error 400, its body cut",
            answer("HTTP/1.1 400 E\r\ncontent-length: 90\r\n\r\ntoo long", End::Close),
            Outcome::Service,
            Outcome::Service,
        ),
    ]
}

fn redirects(other_port: u16) -> Vec<Fault> {
    let to = format!("location: http://127.0.0.1:{other_port}/v2/agent\r\n");
    let mut all: Vec<Fault> = [301, 302, 307, 308]
        .into_iter()
        .map(|status| {
            refused(&format!("{status} to another host"), http(status, &to, b""), Outcome::Service, Outcome::Service)
        })
        .collect();
    all.push(unusable("303 to another host", http(303, &to, b"")));
    all.push(refused("302 without an address", http(302, "", b""), Outcome::Service, Outcome::Service));
    all.push(refused("304", answer("HTTP/1.1 304 S\r\n\r\n", End::Keep), Outcome::Service, Outcome::Service));
    all
}

fn unusable_answers() -> Vec<Fault> {
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
    let mut all: Vec<Fault> = bodies.into_iter().map(|(name, body)| unusable(name, http(200, "", body))).collect();
    all.push(unusable("204", answer("HTTP/1.1 204 No Content\r\n\r\n", End::Keep)));
    all.push(unusable("205", http(205, "", b"")));
    all.push(unusable("202 with words", http(202, "", b"queued")));
    all
}

fn refusals() -> Vec<Fault> {
    use Outcome::{Gone, KeyRefused, NotFound, Service};
    let error = br#"{"error":"Not like this","details":[{"message":"nor that"}]}"#;
    let mut all = vec![
        refused("400", http(400, "", error), Service, Service),
        refused("401", http(401, "", error), KeyRefused, KeyRefused),
        refused("403", http(403, "", error), KeyRefused, KeyRefused),
        refused("404", http(404, "", error), Gone, NotFound),
        refused("404, empty", http(404, "", b""), Gone, NotFound),
        refused("404 with a web page", http(404, "", b"<!doctype html><title>Lost</title>"), Service, Service),
        refused(
            "400 that repeats the key",
            http(400, "", format!("{{\"error\":\"bad {KEY}\"}}").as_bytes()),
            Service,
            Service,
        ),
        refused(
            "401 that repeats the key",
            http(401, "", format!("no: Bearer {KEY}").as_bytes()),
            KeyRefused,
            KeyRefused,
        ),
        refused("400 with 200,000 nested lists", http(400, "", &b"[".repeat(200_000)), Service, Service),
        refused("400 with bad UTF-8", http(400, "", b"\xff\xfe"), Service, Service),
        refused(
            "400 with control sequences",
            http(400, "", b"{\"error\":\"\\u001b]52;c;eA==\\u0007\\u001b[2J\\u202e\"}"),
            Service,
            Service,
        ),
        answer_lost(
            "502 with a proxy's page",
            http(502, "content-type: text/html\r\n", b"<html><title>502 Bad Gateway</title></html>"),
        ),
    ];
    for status in [402, 405, 406, 409, 410, 411, 412, 413, 414, 415, 418, 421, 422, 423, 424, 425, 426, 428, 431, 451] {
        all.push(refused(&status.to_string(), http(status, "", error), Service, Service));
    }
    for status in [408, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 529, 599] {
        all.push(answer_lost(&status.to_string(), http(status, "", error)));
    }
    all
}

fn limits() -> Vec<Fault> {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(DATED));
    let dated = i64::try_from(DATED).expect("small");
    vec![
        limited("429", "", 60),
        limited("429, 90 seconds", "retry-after: 90\r\n", 90),
        limited("429, a date", &format!("retry-after: {date}\r\n"), dated),
        limited("429, a date in 2099", "retry-after: Fri, 20 Nov 2099 12:00:00 GMT\r\n", DAY),
        limited("429, nonsense", "retry-after: soon\r\n", 60),
        limited("429, empty", "retry-after: \r\n", 60),
        limited("429, not ASCII", "retry-after: \u{661}\u{662}\r\n", 60),
        limited("429, negative", "retry-after: -30\r\n", 60),
        limited("429, a fraction", "retry-after: 1.5\r\n", 60),
        limited("429, 10^30 seconds", "retry-after: 1000000000000000000000000000000\r\n", DAY),
        limited("429, twice", "retry-after: 90\r\nretry-after: 200\r\n", 90),
    ]
}

fn odd_fields() -> Vec<Fault> {
    use Outcome::{Accepted, Unconfirmed};
    let named = |id: &str, status: &str| Accepted(id.to_owned(), status.to_owned());
    let totals = |human: &str| format!(r#"{{"totals":{{"human":{human},"ai":1,"total":2}},"views":[]}}"#).into_bytes();
    let odd = |text: &str| format!("Odd({text:?})");
    let nested = |head: &str| format!("{head}{}{}}}", "[".repeat(200_000), "]".repeat(200_000)).into_bytes();
    let null =
        br#"{"id":"job_1","status":null,"source":null,"model":null,"prLink":null,"createdAt":null,"archivedAt":null}"#;
    let wrong = br#"{"id":"job_1","status":["active"],"source":7,"model":{},"prLink":false,"createdAt":12,"archivedAt":"soon"}"#;
    let active = |more: &str| format!(r#"{{"id":"job_1","status":"active",{more}}}"#).into_bytes();
    vec![
        job_without_status("fields missing", br#"{"id":"job_1"}"#, br#"{"totals":{}}"#, "Missing"),
        job_without_status("fields null", null, &totals("null"), "Missing"),
        job_without_status("fields of a wrong type", wrong, &totals(r#""many""#), &odd("many")),
        read("numbers as floats", &active(r#""createdAt":1.5"#), "active", &totals("12.0"), "Known(12)"),
        read("numbers with an exponent", &active(r#""createdAt":1e9"#), "active", &totals("1.2e1"), "Known(12)"),
        read(
            "numbers that are fractions",
            &active(r#""model":0.5"#),
            "active",
            &totals("12.5"),
            "Fraction(Fraction(12.5))",
        ),
        read("numbers negative", &active(r#""createdAt":-1"#), "active", &totals("-3"), "Known(-3)"),
        read(
            "numbers beyond 64 bits",
            &active(r#""createdAt":99999999999999999999"#),
            "active",
            &totals("99999999999999999999"),
            &odd("99999999999999999999"),
        ),
        read("numbers beyond a double", &active(r#""createdAt":1e999"#), "active", &totals("1e999"), &odd("1e999")),
        read(
            "years beyond the calendar",
            &active(r#""createdAt":"+999999-01-01T00:00:00Z","archivedAt":"0000-00-00""#),
            "active",
            VIEWS,
            "Known(3)",
        ),
        read("unknown status", br#"{"id":"job_1","status":"reviewing"}"#, "reviewing", VIEWS, "Known(3)"),
        read(
            "bad UTF-8 in a field",
            b"{\"id\":\"job_1\",\"status\":\"active\",\"model\":\"\xff\"}",
            "active",
            b"{\"totals\":{\"human\":3},\"views\":[{\"path\":\"/\xff\"}]}",
            "Known(3)",
        ),
        read(
            "a byte order mark",
            &[b"\xef\xbb\xbf", JOB].concat(),
            "active",
            &[b"\xef\xbb\xbf", VIEWS].concat(),
            "Known(3)",
        ),
        read(
            "half a surrogate pair",
            br#"{"id":"job_1","status":"active","model":"\ud800"}"#,
            "active",
            br#"{"totals":{"human":3},"views":[{"path":"\udfff"}]}"#,
            "Known(3)",
        ),
        read(
            "the same field twice",
            br#"{"id":"job_0","id":"job_1","status":"failed","status":"active"}"#,
            "active",
            br#"{"totals":{"human":1},"totals":{"human":3}}"#,
            "Known(3)",
        ),
        read(
            "200,000 nested lists in a field",
            &nested(r#"{"id":"job_1","status":"active","source":"#),
            "active",
            &nested(r#"{"totals":{"human":3},"views":"#),
            "Known(3)",
        ),
        read(
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
            job: http(200, "", JOB),
            views: http(200, "", JOB),
            expected: [named(ID, "active"), named(ID, "active"), Outcome::Row("active".to_owned()), Outcome::Service],
            short_timeout: false,
        },
        Fault {
            name: "views that are no list".to_owned(),
            job: http(200, "", JOB),
            views: http(200, "", br#"{"totals":{"human":3},"views":{"path":"/a"}}"#),
            expected: [named(ID, "active"), named(ID, "active"), Outcome::Row("active".to_owned()), Outcome::Service],
            short_timeout: false,
        },
    ]
}
