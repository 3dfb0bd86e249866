//! Runs every operation with every fault, concurrently, and prints the table of outcomes and messages.

use crate::case;
use crate::list::faults;
use crate::screen;
use crate::support::server::{ConnectionEnd, Server, ServerBehavior};
use crate::support::slow::sample;
use docdeck::model::log::Operation;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The number of cases that run at the same time.
const CONCURRENT_CASES: usize = 40;
/// The operations, in the order of the expected outcomes of a fault.
const OPERATIONS: [Operation; 4] = [Operation::Create, Operation::FollowUp, Operation::GetJob, Operation::Views];

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn every_operation_has_the_expected_outcome_with_every_fault_and_sends_at_most_one_request() {
    let redirect_target = Server::start(ServerBehavior::Response(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(),
        ConnectionEnd::Keep,
    ))
    .await;
    let faults = sample(faults(redirect_target.port()), 12);
    let (count, permits) = (faults.len(), Arc::new(Semaphore::new(CONCURRENT_CASES)));
    let mut cells = JoinSet::new();
    for (line, fault) in faults.into_iter().enumerate() {
        let fault = Arc::new(fault);
        for (column, operation) in OPERATIONS.into_iter().enumerate() {
            let (fault, permits) = (Arc::clone(&fault), Arc::clone(&permits));
            cells.spawn(async move {
                let _permit = permits.acquire().await.expect("never closed");
                let expected = &fault.expected[column];
                let found = case::run(&fault, operation).await;
                let shown = screen::run(&fault, operation, expected).await;
                let is_right = found.as_ref() == Ok(expected) && shown.is_ok();
                let text = match (found, shown) {
                    (Ok(found), Ok(message)) if is_right => format!("{found}  {message}"),
                    (Ok(found), Ok(_)) => format!("WRONG: {found}; expected: {expected}"),
                    (Err(wrong), _) | (_, Err(wrong)) => format!("WRONG: {wrong}"),
                };
                ((line, column), is_right, format!("{:8} {:34} {text}", operation.name(), fault.name))
            });
        }
    }
    let mut table = cells.join_all().await;
    table.sort_by_key(|(position, ..)| *position);
    let wrong: Vec<&str> = table.iter().filter(|(_, right, _)| !right).map(|(_, _, text)| text.as_str()).collect();
    // A long table would hide the wrong cells in the output of a failed run.
    if wrong.is_empty() {
        table.iter().for_each(|(_, _, text)| println!("{text}"));
    }
    let screens = screen::SIZES.len();
    println!("{count} faults, {} cells, each drawn at {screens} sizes, {} wrong", table.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), table.len(), wrong.join("\n"));
    assert_eq!(redirect_target.connection_count(), 0, "no redirect is followed, so the API key stays with its service");
}
