//! Parses the faults of the option `--fault OP=KIND[:PROBABILITY]`, and determines which faults apply to a request.
//! `bad_bodies` builds the responses.

use super::code_host::{HostFault, HostOperation};
use super::rng::SeededRng;
use crate::model::log::Operation;
use std::str::FromStr;
use std::time::Duration;

/// The random stream that determines when faults apply; see [`SeededRng::new`].
const FAULT_RNG_STREAM: u64 = 5 << 32;

/// One fault: `OP=KIND[:PROBABILITY]`, for example `views=503:0.3` or `create=lost`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub target: FaultTarget,
    /// The probability that the fault applies to a request, from 0 to 1.
    pub probability: f64,
}

/// What goes wrong with which requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTarget {
    /// Requests to the service for this operation; `None` for every operation (`all`).
    Service(Option<Operation>, FaultKind),
    /// Requests to the code hosts for this operation; `None` for every operation (`host-all`).
    Host(Option<HostOperation>, HostFault),
}

/// What goes wrong with a request. Each description begins with the name of the fault in `--fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `latency-MS`: the request waits MS milliseconds and is then handled normally.
    Latency(Duration),
    /// `lost`: the request is carried out, then the connection is closed without a response.
    Lost,
    /// `refuse`: the request is not carried out, and the connection is closed without a response.
    Refuse,
    /// `400`, `401`, `403`, `404`, `500`, `503`: the request is not carried out; the response has this status and an
    /// error body.
    Status(u16),
    /// `429`, `429-SECONDS`, `429-date`, `429-bare`: the request is not carried out; the response has status 429. The
    /// `Retry-After` header is, in this order: 60 seconds, SECONDS, a date, or absent.
    TooManyRequests(SimRetryAfter),
    /// `500-done`: the request is carried out, but the response has status 500.
    FailsAfterwards,
    /// `502-html`: the request is not carried out; the response has status 502 and a proxy's HTML page.
    GatewayPage,
    /// `302`: the request is not carried out; the response redirects to a sign-in page.
    Redirect,
    /// `html`: the request is not carried out; the response has status 200 and the HTML of a sign-in page.
    SignInPage,
    /// `malformed`: the request is carried out; the response has only the first half of the JSON.
    Malformed,
    /// `empty`: the request is carried out; the response has no body.
    Empty,
    /// `huge`: the request is carried out; the response is valid JSON of 32 MiB.
    Huge,
    /// `slow`: the request is carried out; the response arrives at eight bytes a second.
    Slow,
    /// `odd`: the request is carried out. In page views and other reports, four of five rows have an invalid number: a
    /// fraction (so the counts don't add up to the total), a missing number, a number beyond 64 bits, or a negative
    /// number.
    MalformedNumbers,
    /// `tenths`: the request is carried out. Every count in a report is divided by ten, so most counts have a fraction.
    CountsDividedByTen,
    /// `stuck`: the request is carried out. Every report starts at the first row, and claims that there are more rows
    /// after the same cursor.
    StuckCursor,
    /// `endless`: the request is carried out. Every report claims that there are more rows.
    EndlessRows,
}

/// The kind of `Retry-After` header of a 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimRetryAfter {
    Seconds(u32),
    /// An HTTP date one minute from now.
    Date,
    Absent,
}

const FAULT_KINDS_BY_NAME: [(&str, FaultKind); 23] = [
    ("lost", FaultKind::Lost),
    ("refuse", FaultKind::Refuse),
    ("400", FaultKind::Status(400)),
    ("401", FaultKind::Status(401)),
    ("403", FaultKind::Status(403)),
    ("404", FaultKind::Status(404)),
    ("500", FaultKind::Status(500)),
    ("503", FaultKind::Status(503)),
    ("429", FaultKind::TooManyRequests(SimRetryAfter::Seconds(60))),
    ("429-date", FaultKind::TooManyRequests(SimRetryAfter::Date)),
    ("429-bare", FaultKind::TooManyRequests(SimRetryAfter::Absent)),
    ("500-done", FaultKind::FailsAfterwards),
    ("502-html", FaultKind::GatewayPage),
    ("302", FaultKind::Redirect),
    ("html", FaultKind::SignInPage),
    ("malformed", FaultKind::Malformed),
    ("empty", FaultKind::Empty),
    ("huge", FaultKind::Huge),
    ("slow", FaultKind::Slow),
    ("odd", FaultKind::MalformedNumbers),
    ("tenths", FaultKind::CountsDividedByTen),
    ("stuck", FaultKind::StuckCursor),
    ("endless", FaultKind::EndlessRows),
];

impl Fault {
    /// Returns a fault that applies to every request of this operation.
    pub fn always(operation: Operation, kind: FaultKind) -> Self {
        Self { target: FaultTarget::Service(Some(operation), kind), probability: 1.0 }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (operation, rest) = written.split_once('=').ok_or_else(|| {
            format!("`{written}` is not a fault: write OP=KIND[:PROBABILITY], for example views=503:0.3")
        })?;
        let (kind, probability) = match rest.split_once(':') {
            Some((kind, probability)) => (kind, parse_probability(probability)?),
            None => (rest, 1.0),
        };
        Ok(Self { target: parse_target(operation, kind)?, probability })
    }
}

fn parse_target(operation: &str, kind: &str) -> Result<FaultTarget, String> {
    match operation {
        "all" => return Ok(FaultTarget::Service(None, parse_kind(kind)?)),
        "host-all" => return Ok(FaultTarget::Host(None, parse_host_fault(kind)?)),
        _ => {}
    }
    if let Some(known) = Operation::ALL.into_iter().find(|known| known.name() == operation) {
        return Ok(FaultTarget::Service(Some(known), parse_kind(kind)?));
    }
    if let Some(known) = HostOperation::ALL.into_iter().find(|known| known.name() == operation) {
        return Ok(FaultTarget::Host(Some(known), parse_host_fault(kind)?));
    }
    let names = Operation::ALL.map(Operation::name).join(", ");
    let host_names = HostOperation::ALL.map(HostOperation::name).join(", ");
    Err(format!("unknown operation `{operation}`: use one of {names}, all, {host_names}, host-all"))
}

fn parse_host_fault(name: &str) -> Result<HostFault, String> {
    let known = HostFault::NAMED.into_iter().find(|(known, _)| *known == name);
    known.map(|(_, fault)| fault).ok_or_else(|| {
        let names = HostFault::NAMED.map(|(known, _)| known).join(", ");
        format!("unknown fault `{name}` of a code host: use one of {names}")
    })
}

fn parse_kind(name: &str) -> Result<FaultKind, String> {
    if let Some((_, kind)) = FAULT_KINDS_BY_NAME.iter().find(|(fixed, _)| *fixed == name) {
        return Ok(*kind);
    }
    if let Some(millis) = name.strip_prefix("latency-").and_then(|millis| millis.parse::<u32>().ok()) {
        return Ok(FaultKind::Latency(Duration::from_millis(u64::from(millis))));
    }
    if let Some(seconds) = name.strip_prefix("429-").and_then(|seconds| seconds.parse().ok()) {
        return Ok(FaultKind::TooManyRequests(SimRetryAfter::Seconds(seconds)));
    }
    let names = FAULT_KINDS_BY_NAME.map(|(fixed, _)| fixed).join(", ");
    Err(format!("unknown fault `{name}`: use one of {names}, latency-MS, 429-SECONDS"))
}

fn parse_probability(written: &str) -> Result<f64, String> {
    let read = written.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    read.ok_or_else(|| format!("`{written}` is not a probability: write a number from 0 to 1"))
}

/// The active faults, and the random numbers that determine when they apply.
#[derive(Debug)]
pub(super) struct Faults {
    list: Vec<Fault>,
    rng: SeededRng,
}

/// The faults that apply to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InjectedFaults {
    /// The sum of all latencies that apply.
    pub(super) wait: Duration,
    /// The first fault that applies and is not a latency.
    pub(super) kind: Option<FaultKind>,
}

impl Faults {
    pub(super) fn new(seed: u64, list: Vec<Fault>) -> Self {
        Self { list, rng: SeededRng::new(seed, FAULT_RNG_STREAM) }
    }

    /// Replaces the active faults.
    pub(super) fn replace(&mut self, list: Vec<Fault>) {
        self.list = list;
    }

    /// Determines which faults apply to the next request of an operation.
    pub(super) fn pick_faults(&mut self, operation: Operation) -> InjectedFaults {
        let mut injected = InjectedFaults { wait: Duration::ZERO, kind: None };
        for fault in &self.list {
            let FaultTarget::Service(of, kind) = fault.target else { continue };
            if of.is_some_and(|of| of != operation) || self.rng.random_fraction() >= fault.probability {
                continue;
            }
            match kind {
                FaultKind::Latency(wait) => injected.wait += wait,
                kind if injected.kind.is_none() => injected.kind = Some(kind),
                _ => {}
            }
        }
        injected
    }

    /// Returns the first fault that applies to the next request of an operation of a code host.
    pub(super) fn pick_host_fault(&mut self, operation: HostOperation) -> Option<HostFault> {
        let Self { list, rng } = self;
        list.iter().find_map(|fault| match fault.target {
            FaultTarget::Host(of, kind) if of.is_none_or(|of| of == operation) => {
                (rng.random_fraction() < fault.probability).then_some(kind)
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed() {
        let fault = |text: &str| text.parse::<Fault>().expect(text);
        assert_eq!(fault("create=lost"), Fault::always(Operation::Create, FaultKind::Lost));
        let often = fault("all=503:0.25");
        let target = FaultTarget::Service(None, FaultKind::Status(503));
        assert_eq!(often, Fault { target, probability: 0.25 });
        let latency = FaultKind::Latency(Duration::from_millis(1500));
        assert_eq!(fault("views=latency-1500"), Fault::always(Operation::Views, latency));
        let limited = FaultKind::TooManyRequests(SimRetryAfter::Seconds(5));
        assert_eq!(fault("message=429-5"), Fault::always(Operation::FollowUp, limited));
        assert_eq!(fault("get=slow:1"), Fault::always(Operation::GetJob, FaultKind::Slow));
    }

    #[test]
    fn faults_of_code_hosts_are_parsed() {
        let fault = |text: &str| text.parse::<Fault>().expect(text);
        let target = FaultTarget::Host(Some(HostOperation::Merge), HostFault::MovedBeforeMerge);
        assert_eq!(fault("host-merge=moved:0.5"), Fault { target, probability: 0.5 });
        let target = FaultTarget::Host(None, HostFault::ExpiredToken);
        assert_eq!(fault("host-all=401"), Fault { target, probability: 1.0 });
        for (operation, kind) in
            HostOperation::ALL.into_iter().flat_map(|operation| HostFault::NAMED.map(|kind| (operation, kind)))
        {
            let target = FaultTarget::Host(Some(operation), kind.1);
            assert_eq!(fault(&format!("{}={}", operation.name(), kind.0)), Fault { target, probability: 1.0 });
        }
    }

    #[test]
    fn a_fault_of_a_code_host_applies_to_its_operation_only() {
        let list = ["host-state=502", "all=503", "host-all=401"].map(|text| text.parse().expect(text));
        let mut faults = Faults::new(1, list.to_vec());
        assert_eq!(faults.pick_host_fault(HostOperation::State), Some(HostFault::BadGateway));
        assert_eq!(faults.pick_host_fault(HostOperation::Diff), Some(HostFault::ExpiredToken));
        assert_eq!(faults.pick_faults(Operation::GetJob).kind, Some(FaultKind::Status(503)));
        faults.replace(vec!["all=503".parse().expect("a fault")]);
        assert_eq!(faults.pick_host_fault(HostOperation::State), None);
    }

    #[test]
    fn parse_errors_list_the_valid_values() {
        let error = |text: &str| text.parse::<Fault>().expect_err(text);
        assert!(error("lost").contains("OP=KIND[:PROBABILITY]"));
        assert!(error("list=lost").contains("create, get, message, views, preview, build, visitors"));
        let hosts = "host-state, host-checks, host-details, host-diff, host-review, host-merge, host-edit, host-all";
        assert!(error("host-list=401").contains(hosts));
        assert!(
            error("host-state=weird").contains("401, 502, limit") && error("host-all=slow").contains("hostile-text")
        );
        assert!(error("get=weird").contains("502-html") && error("get=latency-x").contains("latency-MS"));
        assert!(error("get=lost:2").contains("from 0 to 1") && error("get=lost:NaN").contains("from 0 to 1"));
    }

    #[test]
    fn latencies_add_up_and_only_the_first_fault_of_another_kind_applies() {
        let list = ["get=latency-10", "all=latency-5", "all=500", "get=lost"].map(|text| text.parse().expect(text));
        let mut faults = Faults::new(1, list.to_vec());
        let injected = faults.pick_faults(Operation::GetJob);
        assert_eq!(injected, InjectedFaults { wait: Duration::from_millis(15), kind: Some(FaultKind::Status(500)) });
    }

    #[test]
    fn a_fault_applies_with_its_probability() {
        let mut faults = Faults::new(1, vec!["get=500:0.3".parse().expect("a fault")]);
        let injected = (0..1000).filter(|_| faults.pick_faults(Operation::GetJob).kind.is_some()).count();
        assert!((250..350).contains(&injected), "{injected}");
        faults.replace(vec!["get=500:0".parse().expect("a fault")]);
        assert!((0..1000).all(|_| faults.pick_faults(Operation::GetJob).kind.is_none()));
    }
}
