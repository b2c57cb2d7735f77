//! A link's task: it dials until there is a carrier, and again when that is suspected or ends.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ropewalk_striping::CarrierConfig;
use ropewalk_wire::gateway::JoinAnswer;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{debug, info, warn};

use super::dial::{Dialled, PATIENCE, dial};
use super::{GONE, Near, Session, link_number};
use crate::association::CarrierTask;
use crate::handshake::HandshakeError;
use crate::links::Link;

/// A link that is down or suspected is dialled this often: each dial is a SYN of its own, since the
/// kernel sends a lost one again only after a second.
const AGAIN: Duration = Duration::from_millis(125);

/// In a second one dial is patient, for a link of long round trips. The others are given up before
/// the kernel sends their SYN again: Linux would begin such a connection with a window of one segment
/// (`tcp_init_transfer`).
const PATIENT: u32 = 8;
const IMPATIENCE: Duration = Duration::from_millis(990);

/// After so many in vain, only the patient ones.
const SOON: u32 = 80;

/// A carrier that was suspected for so long has timed out: TCP begins it with slow start, and with
/// all that it sent before. A new connection is used instead.
const TIMED_OUT: Duration = Duration::from_millis(500);

/// Dials under way at a time.
const MOST: usize = 16;

/// How long carriers may take to say that the association has ended.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

/// Runs until it is aborted, or the uplink is closed or dropped.
pub(super) async fn run(near: Weak<Near>, link: Arc<Link>) {
    while let Some(near) = near.upgrade() {
        let session = near.session();
        keep_carrier(&near, &session, &link).await;
        if near.is_closing() {
            return;
        }
        if session.association.is_closed() {
            near.renew(&session);
        }
    }
}

/// Keeps a carrier of that association until either ends.
async fn keep_carrier(near: &Arc<Near>, session: &Arc<Session>, link: &Arc<Link>) {
    let Some(mut carrier) = bring_up(near, session, link).await else {
        return;
    };
    info!("link {}: up", link.name);
    let mut replacing = None;
    loop {
        let mut suspicion = carrier.suspicion();
        let is_suspected = *suspicion.borrow_and_update();
        match &replacing {
            None if is_suspected => {
                replacing = Some((Instant::now(), Box::pin(bring_up(near, session, link))));
            }
            Some((since, _)) if !is_suspected && since.elapsed() < TIMED_OUT => replacing = None,
            _ => {}
        }
        tokio::select! {
            end = carrier.ended() => {
                if !session.association.is_closed() {
                    warn!("link {}: down: {end}", link.name);
                }
                return;
            }
            _ = session.association.closed() => {
                // The carrier says so, and ends.
                let _ = timeout(FAREWELL, carrier.ended()).await;
                return;
            }
            _ = suspicion.changed() => match is_suspected {
                true => info!("link {}: heard again", link.name),
                false => info!("link {}: nothing heard, probing", link.name),
            },
            replacement = either(&mut replacing), if replacing.is_some() => {
                replacing = None;
                if let Some(replacement) = replacement {
                    carrier = replacement;
                    info!("link {}: connected anew", link.name);
                }
            }
        }
    }
}

/// What is under way, if anything is.
async fn either<T>(
    under_way: &mut Option<(Instant, Pin<Box<impl Future<Output = Option<T>>>>)>,
) -> Option<T> {
    match under_way {
        Some((_, future)) => future.await,
        None => None,
    }
}

/// `None` if the association ends before.
async fn bring_up(
    near: &Arc<Near>,
    session: &Arc<Session>,
    link: &Arc<Link>,
) -> Option<CarrierTask> {
    let dialled = tokio::select! {
        dialled = dial_until_up(near, session, link) => dialled,
        _ = session.association.closed() => return None,
    };
    // The other dials have been given up.
    drop(dialled.turn);
    session.set_joined();
    let config = CarrierConfig {
        link: link_number(&link.name),
        cost: link.cost,
        quota: link.quota,
        priority: link.priority,
        rtt: None,
    };
    let association = &session.association;
    Some(association.carry(dialled.socket, dialled.begun, config))
}

/// Several dials at a time; the first that comes through.
async fn dial_until_up(near: &Arc<Near>, session: &Arc<Session>, link: &Arc<Link>) -> Dialled {
    let mut dials = JoinSet::new();
    let joining = Arc::new(Mutex::new(()));
    let mut ticks = interval(AGAIN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0;
    let mut said = String::new();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                let is_patient = count % PATIENT == 0;
                if dials.len() < MOST && (count < SOON || is_patient) {
                    let (near, session, link) = (near.clone(), session.clone(), link.clone());
                    let joining = Arc::clone(&joining);
                    let patience = if is_patient { PATIENCE } else { IMPATIENCE };
                    dials.spawn(async move {
                        dial(&near.config, &link, &session, &joining, patience).await
                    });
                }
                count += 1;
            }
            Some(Ok(dialled)) = dials.join_next() => match dialled {
                Ok(dialled) => return dialled,
                Err(HandshakeError::Refused(JoinAnswer::Gone)) => {
                    info!("link {}: the relay does not know the association any more", link.name);
                    session.association.close(GONE);
                    std::future::pending::<()>().await;
                }
                Err(error) => {
                    // The same for hours is said once.
                    let text = error.to_string();
                    match text == said {
                        true => debug!("link {} ({}): {text}", link.name, link.place),
                        false => warn!("link {} ({}): {text}", link.name, link.place),
                    }
                    said = text;
                }
            }
        }
    }
}
