//! The matrix itself: all cells at the same time, and the table of what came of them.

use crate::cell;
use crate::list::faults;
use crate::server::{End, Server, Wire};
use docdeck::model::log::Operation;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Cells under way at the same time.
const AT_ONCE: usize = 40;
/// The order of what is expected.
const OPERATIONS: [Operation; 4] = [Operation::Create, Operation::FollowUp, Operation::Get, Operation::Views];

#[tokio::test]
async fn every_fault_of_every_operation_ends_as_it_must_with_one_request_at_most() {
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
                let found = cell::run(&fault, operation).await;
                let expected = &fault.expected[column];
                let is_right = found.as_ref() == Ok(expected);
                let text = match found {
                    Ok(found) if is_right => found.to_string(),
                    Ok(found) => format!("WRONG: {found}; expected: {expected}"),
                    Err(wrong) => format!("WRONG: {wrong}"),
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
    println!("{count} faults, {} cells, {} wrong", table.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), table.len(), wrong.join("\n"));
    assert_eq!(elsewhere.connections(), 0, "the key follows no redirect");
}
