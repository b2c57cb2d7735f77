//! A link's task: it dials until there is a carrier, and again when that is suspected or ends.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_striping::{CarrierConfig, Dialling};
use ropewalk_wire::gateway::JoinAnswer;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};
use tracing::{debug, info, warn};

use super::dial::{Dialled, dial};
use super::metered::Metered;
use super::primaries::{self, Primary};
use super::{GONE, Near, Session, link_number};
use crate::association::Congestion;
use crate::handshake::HandshakeError;
use crate::links::{Link, Rank};

/// The kernel sends a lost SYN again after so long (Linux: TCP_TIMEOUT_INIT).
const INITIAL_RTO: Time = Time::from_secs(1);

/// How long carriers may take to say that the association has ended.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

/// A metered link's bytes are counted so often: what it carries meanwhile may exceed its quota.
const COUNTED_EVERY: Duration = Duration::from_millis(50);

/// Runs until it is aborted, or the uplink is closed or dropped.
pub(super) async fn run(weak: Weak<Near>, link: Arc<Link>) {
    let primaries = weak.upgrade().map(|near| near.primaries.subscribe());
    let Some(mut primaries) = primaries.filter(|_| link.rank != Rank::Never) else {
        return;
    };
    let is_backup = link.rank == Rank::Backup;
    if is_backup {
        primaries::started(&mut primaries).await;
    }
    loop {
        if is_backup {
            primaries::are_dead(&mut primaries).await;
        }
        let Some(near) = weak.upgrade() else { return };
        if near.book.is_stopped(&link) {
            drop(near);
            sleep(COUNTED_EVERY).await;
            continue;
        }
        let session = near.session();
        tokio::select! {
            () = keep_carrier(&near, &session, &link) => {}
            () = primaries::are_back(&mut primaries), if is_backup => {
                info!("link {}: left, since a primary link is back", link.name);
            }
        }
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
    let Some(mut carrier) = bring_up(near, session, link, Dials::begin()).await else {
        return;
    };
    info!("link {}: up", link.name);
    let mut replacing = None;
    let mut primary = (link.rank == Rank::Primary).then(|| Primary::new(near));
    loop {
        let mut suspicion = carrier.task.suspicion();
        let is_suspected = *suspicion.borrow_and_update();
        if let Some(primary) = &mut primary {
            primary.set_trusted(!is_suspected);
        }
        match &replacing {
            None if is_suspected => {
                let dials = Dials::begin();
                let next = bring_up(near, session, link, dials.clone());
                replacing = Some((dials, Box::pin(next)));
            }
            Some((dials, _)) if !is_suspected && dials.end_when_heard() => replacing = None,
            _ => {}
        }
        tokio::select! {
            end = carrier.task.ended() => {
                if !session.association.is_closed() {
                    warn!("link {}: down: {end}", link.name);
                }
                return;
            }
            _ = session.association.closed() => {
                // The carrier says so, and ends.
                let _ = timeout(FAREWELL, carrier.task.ended()).await;
                return;
            }
            () = sleep(COUNTED_EVERY), if link.allowance.is_metered() => {
                if !carrier.look() {
                    continue;
                }
                if near.book.is_stopped(link) {
                    info!("link {}: not used any more, until its quota is whole again", link.name);
                    return;
                }
                // The relay learns what is left from a JOIN; the old carrier goes on until then.
                let next = bring_up(near, session, link, Dials::begin());
                tokio::select! {
                    next = next => match next {
                        Some(next) => carrier = next,
                        None => return,
                    },
                    end = carrier.task.ended() => {
                        warn!("link {}: down: {end}", link.name);
                        return;
                    }
                }
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
    under_way: &mut Option<(Dials, Pin<Box<impl Future<Output = Option<T>>>>)>,
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
    dials: Dials,
) -> Option<Metered> {
    let dialled = tokio::select! {
        dialled = dial_until_up(near, session, link, dials) => dialled,
        _ = session.association.closed() => return None,
    };
    // The other dials have been given up.
    drop(dialled.turn);
    session.set_joined();
    let config = CarrierConfig {
        link: link_number(&link.name),
        cost: link.price(),
        quota: dialled.granted,
        priority: link.priority,
        metered: near.book.left(link).is_some() || link.price() > 1.0,
        rtt: None,
    };
    let association = &session.association;
    let congestion = Congestion::of(near.config.congestion.as_deref());
    let carrier = association.carry(dialled.socket, dialled.begun, config, congestion);
    let (link, book) = (Arc::clone(link), near.book.clone());
    Some(Metered::new(carrier, link, book, dialled.granted))
}

/// When a link's dials are due, by this machine's clock.
#[derive(Clone)]
struct Dials {
    began: Instant,
    dialling: Dialling,
}

impl Dials {
    fn begin() -> Dials {
        Dials {
            began: Instant::now(),
            dialling: Dialling::begin(Time::ZERO, INITIAL_RTO),
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.began.elapsed().as_nanos() as u64)
    }

    fn due(&self) -> Instant {
        self.began + Duration::from_nanos(self.dialling.poll_timeout().as_nanos())
    }

    fn end_when_heard(&self) -> bool {
        self.dialling.ends_when_heard(self.now())
    }
}

/// Several dials at a time; the first that comes through.
async fn dial_until_up(
    near: &Arc<Near>,
    session: &Arc<Session>,
    link: &Arc<Link>,
    mut dials: Dials,
) -> Dialled {
    let mut under_way = JoinSet::new();
    let joining = Arc::new(Mutex::new(()));
    let mut said = String::new();
    let mut number = 0;
    loop {
        tokio::select! {
            () = sleep_until(dials.due().into()) => {
                if let Some(begins) = dials.dialling.poll_dial(dials.now(), under_way.len()) {
                    let (near, session, link) = (near.clone(), session.clone(), link.clone());
                    let joining = Arc::clone(&joining);
                    let dial_of_link = (number, begins);
                    number += 1;
                    under_way.spawn(async move {
                        dial(&near, &link, &session, &joining, dial_of_link).await
                    });
                }
            }
            Some(Ok(dialled)) = under_way.join_next() => match dialled {
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
