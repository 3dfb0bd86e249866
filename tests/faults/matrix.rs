//! The matrix: runs all cases concurrently and prints the table of outcomes and messages.

use crate::cell;
use crate::list::faults;
use crate::screen;
use crate::server::{End, Server, Wire};
use docdeck::model::log::Operation;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Number of cases that run at the same time.
const AT_ONCE: usize = 40;
/// The order of the expected outcomes of a fault.
const OPERATIONS: [Operation; 4] = [Operation::Create, Operation::FollowUp, Operation::Get, Operation::Views];

#[tokio::test]
async fn every_fault_of_every_operation_has_its_expected_outcome_with_at_most_one_request() {
    let elsewhere =
        Server::start(Wire::Answer(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(), End::Keep)).await;
    let faults = faults(elsewhere.port());
    let (count, places) = (faults.len(), Arc::new(Semaphore::new(AT_ONCE)));
    let mut cells = JoinSet::new();
    for (line, fault) in faults.into_iter().enumerate() {
        let fault = Arc::new(fault);
        for (column, operation) in OPERATIONS.into_iter().enumerate() {
            let (fault, places) = (Arc::clone(&fault), Arc::clone(&places));
            cells.spawn(async move {
                let _place = places.acquire().await.expect("never closed");
                let expected = &fault.expected[column];
                let found = cell::run(&fault, operation).await;
                let shown = screen::run(&fault, operation, expected).await;
                let is_right = found.as_ref() == Ok(expected) && shown.is_ok();
                let text = match (found, shown) {
                    (Ok(found), Ok(said)) if is_right => format!("{found}  {said}"),
                    (Ok(found), Ok(_)) => format!("WRONG: {found}; expected: {expected}"),
                    (Err(wrong), _) | (_, Err(wrong)) => format!("WRONG: {wrong}"),
                };
                ((line, column), is_right, format!("{:8} {:34} {text}", operation.name(), fault.name))
            });
        }
    }
    let mut table = cells.join_all().await;
    table.sort_by_key(|(place, ..)| *place);
    for (_, _, text) in &table {
        println!("{text}");
    }
    let wrong: Vec<&str> = table.iter().filter(|(_, right, _)| !right).map(|(_, _, text)| text.as_str()).collect();
    let screens = screen::SIZES.len();
    println!("{count} faults, {} cells, each drawn at {screens} sizes, {} wrong", table.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), table.len(), wrong.join("\n"));
    assert_eq!(elsewhere.connections(), 0, "the key follows no redirect");
}
