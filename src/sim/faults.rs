//! What can go wrong on purpose, per operation and by chance: the `--fault OP=KIND[:PROBABILITY]` of the command line.
//!
//! Which fault strikes is decided here; how it looks on the wire is `broken`'s.

use super::rng::SeededRng;
use crate::model::log::Operation;
use std::str::FromStr;
use std::time::Duration;

const FAULTS: u64 = 5 << 32;

/// One fault: `OP=KIND[:PROBABILITY]`, for example `views=503:0.3` or `create=lost`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What it strikes; `None` for every operation (`all`).
    pub operation: Option<Operation>,
    pub kind: FaultKind,
    /// How often, from 0 to 1; 1 unless said.
    pub probability: f64,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `latency-MS`: everything waits that long first, then goes its way.
    Latency(Duration),
    /// `lost`: carried out, then the connection is closed without an answer.
    Lost,
    /// `refuse`: not carried out, the connection is closed without an answer.
    Refuse,
    /// `400`, `401`, `403`, `404`, `500`, `503`: not carried out, answered with that status and an error body.
    Status(u16),
    /// `429` (Retry-After: 60), `429-S` (Retry-After: S), `429-date`, `429-bare` (without): not carried out.
    TooMany(SimRetryAfter),
    /// `500-done`: carried out, then answered with 500.
    FailsAfterwards,
    /// `502-html`: not carried out, a proxy's page instead.
    GatewayPage,
    /// `302`: not carried out, sent elsewhere.
    Redirect,
    /// `html`: not carried out, 200 with a page that wants a sign-in.
    Html,
    /// `malformed`: carried out, 200 with half of the JSON.
    Malformed,
    /// `empty`: carried out, 200 without a body.
    Empty,
    /// `huge`: carried out, answered with valid JSON of 32 MiB.
    Huge,
    /// `slow`: carried out, the answer trickles, eight bytes a second.
    Slow,
    /// `odd`: carried out, and in an answer of page views four rows of five have a number that can't be right (a
    /// fraction that isn't in the total, one that is missing, one beyond 64 bits, a negative one).
    Odd,
    /// `tenths`: carried out, and every number of an answer of page views is a tenth of what it would be, so that most of
    /// them have a fraction.
    Tenths,
    /// `stuck`: carried out, but page views begin at the first row whatever the offset, and there is always more.
    Stuck,
    /// `endless`: carried out, but page views always say that there is more.
    Endless,
}

/// How a 429 says when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimRetryAfter {
    Seconds(u32),
    /// The HTTP date of one minute later.
    Date,
    Absent,
}

const PLAIN: [(&str, FaultKind); 23] = [
    ("lost", FaultKind::Lost),
    ("refuse", FaultKind::Refuse),
    ("400", FaultKind::Status(400)),
    ("401", FaultKind::Status(401)),
    ("403", FaultKind::Status(403)),
    ("404", FaultKind::Status(404)),
    ("500", FaultKind::Status(500)),
    ("503", FaultKind::Status(503)),
    ("429", FaultKind::TooMany(SimRetryAfter::Seconds(60))),
    ("429-date", FaultKind::TooMany(SimRetryAfter::Date)),
    ("429-bare", FaultKind::TooMany(SimRetryAfter::Absent)),
    ("500-done", FaultKind::FailsAfterwards),
    ("502-html", FaultKind::GatewayPage),
    ("302", FaultKind::Redirect),
    ("html", FaultKind::Html),
    ("malformed", FaultKind::Malformed),
    ("empty", FaultKind::Empty),
    ("huge", FaultKind::Huge),
    ("slow", FaultKind::Slow),
    ("odd", FaultKind::Odd),
    ("tenths", FaultKind::Tenths),
    ("stuck", FaultKind::Stuck),
    ("endless", FaultKind::Endless),
];

impl Fault {
    /// A fault that always strikes.
    pub fn always(operation: Operation, kind: FaultKind) -> Self {
        Self { operation: Some(operation), kind, probability: 1.0 }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (operation, rest) = written.split_once('=').ok_or_else(|| {
            format!("`{written}` is no fault: write OP=KIND[:PROBABILITY], for example views=503:0.3")
        })?;
        let (kind, probability) = match rest.split_once(':') {
            Some((kind, probability)) => (kind, parse_probability(probability)?),
            None => (rest, 1.0),
        };
        Ok(Self { operation: parse_operation(operation)?, kind: parse_kind(kind)?, probability })
    }
}

fn parse_operation(name: &str) -> Result<Option<Operation>, String> {
    if name == "all" {
        return Ok(None);
    }
    let known = Operation::ALL.into_iter().find(|operation| operation.name() == name);
    known.map(Some).ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name).join(", ");
        format!("no operation `{name}`: choose one of {names}, all")
    })
}

fn parse_kind(name: &str) -> Result<FaultKind, String> {
    if let Some((_, kind)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return Ok(*kind);
    }
    if let Some(millis) = name.strip_prefix("latency-").and_then(|millis| millis.parse::<u32>().ok()) {
        return Ok(FaultKind::Latency(Duration::from_millis(u64::from(millis))));
    }
    if let Some(seconds) = name.strip_prefix("429-").and_then(|seconds| seconds.parse().ok()) {
        return Ok(FaultKind::TooMany(SimRetryAfter::Seconds(seconds)));
    }
    let names = PLAIN.map(|(plain, _)| plain).join(", ");
    Err(format!("no kind of fault `{name}`: choose one of {names}, latency-MS, 429-SECONDS"))
}

fn parse_probability(written: &str) -> Result<f64, String> {
    let read = written.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    read.ok_or_else(|| format!("`{written}` is no probability: write a number from 0 to 1"))
}

/// The faults in force, and the luck that decides when they strike.
#[derive(Debug)]
pub(super) struct Faults {
    list: Vec<Fault>,
    draw: SeededRng,
}

/// What strikes one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Struck {
    /// Latencies add up.
    pub(super) wait: Duration,
    /// The first of the others that strikes.
    pub(super) kind: Option<FaultKind>,
}

impl Faults {
    pub(super) fn new(seed: u64, list: Vec<Fault>) -> Self {
        Self { list, draw: SeededRng::new(seed, FAULTS) }
    }

    /// Other faults from now on.
    pub(super) fn replace(&mut self, list: Vec<Fault>) {
        self.list = list;
    }

    /// Decides what strikes the next request of an operation.
    pub(super) fn strike(&mut self, operation: Operation) -> Struck {
        let mut struck = Struck { wait: Duration::ZERO, kind: None };
        for fault in &self.list {
            let concerned = fault.operation.is_none_or(|of| of == operation);
            if !concerned || self.draw.unit() >= fault.probability {
                continue;
            }
            match fault.kind {
                FaultKind::Latency(wait) => struck.wait += wait,
                kind if struck.kind.is_none() => struck.kind = Some(kind),
                _ => {}
            }
        }
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        let fault = |text: &str| text.parse::<Fault>().expect(text);
        let lost = fault("create=lost");
        assert_eq!(lost, Fault { operation: Some(Operation::Create), kind: FaultKind::Lost, probability: 1.0 });
        let often = fault("all=503:0.25");
        assert_eq!(often, Fault { operation: None, kind: FaultKind::Status(503), probability: 0.25 });
        assert_eq!(fault("views=latency-1500").kind, FaultKind::Latency(Duration::from_millis(1500)));
        assert_eq!(fault("message=429-5").kind, FaultKind::TooMany(SimRetryAfter::Seconds(5)));
        assert_eq!(fault("get=slow:1").kind, FaultKind::Slow);
    }

    #[test]
    fn a_fault_that_cannot_be_read_says_what_can_be_written() {
        let error = |text: &str| text.parse::<Fault>().expect_err(text);
        assert!(error("lost").contains("OP=KIND[:PROBABILITY]"));
        assert!(error("list=lost").contains("create, get, message, views, all"));
        assert!(error("get=weird").contains("502-html") && error("get=latency-x").contains("latency-MS"));
        assert!(error("get=lost:2").contains("from 0 to 1") && error("get=lost:NaN").contains("from 0 to 1"));
    }

    #[test]
    fn latencies_add_up_and_the_first_other_fault_strikes() {
        let list = ["get=latency-10", "all=latency-5", "all=500", "get=lost"].map(|text| text.parse().expect(text));
        let mut faults = Faults::new(1, list.to_vec());
        let struck = faults.strike(Operation::Get);
        assert_eq!(struck, Struck { wait: Duration::from_millis(15), kind: Some(FaultKind::Status(500)) });
    }

    #[test]
    fn a_probability_is_how_often_it_strikes() {
        let mut faults = Faults::new(1, vec!["get=500:0.3".parse().expect("a fault")]);
        let struck = (0..1000).filter(|_| faults.strike(Operation::Get).kind.is_some()).count();
        assert!((250..350).contains(&struck), "{struck}");
        faults.replace(vec!["get=500:0".parse().expect("a fault")]);
        assert!((0..1000).all(|_| faults.strike(Operation::Get).kind.is_none()));
    }
}
