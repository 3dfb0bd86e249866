//! Programs that lose the network while they book a request: at each message, with the connection closed or silent. The
//! request goes out once, and counts once when the network is back.

use crate::holding_proxy::{HoldingProxy, Then};
use crate::programs::Team;
use crate::proxy::Cut;
use crate::support::slow::sample;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;

/// More than the messages of booking a request.
const MESSAGES: usize = 10;

#[test]
fn without_a_network_at_any_message_of_a_booking_the_request_goes_out_and_counts_once() {
    let Some(team) = Team::new() else { return };
    let cases: Vec<(Cut, Then, usize)> = [Cut::Request, Cut::Answer]
        .into_iter()
        .flat_map(|cut| [Then::Silence, Then::Close].map(|then| (cut, then)))
        .flat_map(|(cut, then)| (0..MESSAGES).map(move |at| (cut, then, at)))
        .collect();
    // Each on its own computer, so that all can wait for an answer at the same time.
    let running: Vec<_> = sample(cases, 4)
        .into_iter()
        .map(|(cut, then, at)| {
            let computer = format!("{cut:?} {then:?} {at}");
            team.run_as(&computer, "ana", &["team", "join"]);
            let proxy = HoldingProxy::start(team.server.folder(), at, cut, then);
            let child = team.spawn(&computer, &proxy.url("ana"), &["new", &format!("{computer} [sim:seconds=6000]")]);
            (computer, proxy, child)
        })
        .collect();
    let count = running.len();
    let computers: Vec<String> = running
        .into_iter()
        .map(|(computer, proxy, mut child)| {
            assert!(child.wait().expect("a status").success(), "{computer}");
            assert!(proxy.is_reached(), "{computer}: fewer messages");
            computer
        })
        .collect();
    for computer in &computers {
        let prompts = team.stored_prompts(computer);
        assert_eq!(prompts.into_values().collect::<Vec<_>>(), [DeliveryKind::Accepted], "{computer}");
        team.run_as(computer, "ana", &["team", "sync"]);
    }
    assert_eq!(team.received_prompts().len(), count);
    assert_eq!(team.fixture.sim.requests(Operation::Create), u64::try_from(count).expect("small"));
    for counted in ["count(*)", "count(DISTINCT booking)"] {
        let used = team.server.sql(&format!("SELECT {counted} FROM docdeck.request_slot WHERE used_at > 0"));
        assert_eq!(used, count.to_string(), "{counted}");
    }
    team.run("bob", &["team", "sync"]);
    assert_eq!(team.stored_prompts("bob").len(), count);
}
