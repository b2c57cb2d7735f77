//! Task of a link: dials until there is a carrier, and again when the carrier is suspected or ends.

use std::collections::HashSet;
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

use super::backup_policy::{Backup, Primary};
use super::dial::{Dialled, dial};
use super::metered::MeteredCarrier;
use super::{GONE, UplinkSession, UplinkState, link_number};
use crate::association::Congestion;
use crate::links::{Link, Rank};

/// The kernel's initial RTO, after which it retransmits a SYN (Linux: TCP_TIMEOUT_INIT).
const INITIAL_RTO: Time = Time::from_secs(1);

/// Time limit for carriers to send the close.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval of counting a metered link's bytes: its quota may be exceeded by the traffic of one interval.
const COUNTED_EVERY: Duration = Duration::from_millis(50);

const MAX_LOGGED_ERRORS: usize = 16;

/// Runs until it is aborted, or the uplink is closed or dropped.
pub(super) async fn run(weak: Weak<UplinkState>, link: Arc<Link>) {
    let primaries = weak.upgrade().map(|uplink| uplink.primaries.subscribe());
    let Some(primaries) = primaries.filter(|_| link.rank != Rank::Never) else {
        return;
    };
    let mut backup = (link.rank == Rank::Backup).then(|| Backup::new(primaries));
    loop {
        if let Some(backup) = &mut backup {
            backup.is_needed().await;
        }
        let Some(uplink) = weak.upgrade() else { return };
        if uplink.usage.is_stopped(&link) {
            drop(uplink);
            sleep(COUNTED_EVERY).await;
            continue;
        }
        let session = uplink.session();
        tokio::select! {
            () = keep_carrier(&uplink, &session, &link) => {}
            () = is_needless(&mut backup) => {
                info!("link {}: left, since a primary link is back", link.name);
            }
        }
        if uplink.is_closing() {
            return;
        }
        if session.association.is_closed() {
            uplink.renew(&session);
        }
    }
}

/// Waits until a backup link is on standby again; for ever with a primary link.
async fn is_needless(backup: &mut Option<Backup>) {
    match backup {
        Some(backup) => backup.is_needless().await,
        None => std::future::pending().await,
    }
}

/// Keeps up a carrier until the link has none and none is being dialled, or the association ends.
async fn keep_carrier(uplink: &Arc<UplinkState>, session: &Arc<UplinkSession>, link: &Arc<Link>) {
    let mut primary = (link.rank == Rank::Primary).then(|| Primary::new(uplink));
    let mut replacement = Some(Replacement::begin(uplink, session, link));
    while let Some(next) = replacement {
        let Some(carrier) = next.carrier.await else {
            return;
        };
        info!("link {}: up", link.name);
        replacement = use_carrier(uplink, session, link, carrier, &mut primary).await;
        if let Some(primary) = &mut primary {
            primary.set_trusted(false);
        }
    }
}

/// Uses a carrier and its replacements until one ends. Returns a replacement that is still being dialled: the
/// relay closes a carrier when a newer one of its link has joined, and the close may arrive before the answer
/// to the new one's JOIN.
async fn use_carrier<'a>(
    uplink: &'a Arc<UplinkState>,
    session: &'a Arc<UplinkSession>,
    link: &'a Arc<Link>,
    mut carrier: MeteredCarrier,
    primary: &mut Option<Primary>,
) -> Option<Replacement<'a>> {
    let mut replacement: Option<Replacement<'a>> = None;
    let mut was_suspected = false;
    loop {
        let mut suspicion = carrier.task.suspicion();
        let is_suspected = *suspicion.borrow_and_update();
        if let Some(primary) = primary {
            primary.set_trusted(!is_suspected);
        }
        match (was_suspected, is_suspected) {
            (false, true) => info!("link {}: nothing heard, probing", link.name),
            (true, false) => info!("link {}: heard again", link.name),
            _ => {}
        }
        was_suspected = is_suspected;
        match &replacement {
            None if is_suspected => replacement = Some(Replacement::begin(uplink, session, link)),
            Some(next) if !is_suspected && next.is_needless() => replacement = None,
            _ => {}
        }
        tokio::select! {
            end = carrier.task.ended() => {
                if session.association.is_closed() {
                    return None;
                }
                warn!("link {}: down: {end}", link.name);
                return replacement;
            }
            _ = session.association.closed() => {
                let _ = timeout(CLOSE_TIMEOUT, carrier.task.ended()).await;
                return None;
            }
            () = sleep(COUNTED_EVERY), if link.quota_policy.is_metered() => {
                carrier.update();
                if uplink.usage.is_stopped(link) {
                    info!("link {}: not used any more, until its quota is whole again", link.name);
                    return None;
                }
            }
            _ = suspicion.changed() => {}
            next = next_carrier(&mut replacement) => {
                replacement = None;
                if let Some(next) = next {
                    carrier = next;
                    was_suspected = false;
                    info!("link {}: connected again", link.name);
                }
            }
        }
    }
}

/// Replacement that is being dialled.
struct Replacement<'a> {
    /// `None` if the association ends first.
    carrier: Pin<Box<dyn Future<Output = Option<MeteredCarrier>> + Send + 'a>>,
    dials: DialSchedule,
}

impl<'a> Replacement<'a> {
    fn begin(
        uplink: &'a Arc<UplinkState>,
        session: &'a Arc<UplinkSession>,
        link: &'a Arc<Link>,
    ) -> Replacement<'a> {
        let dials = DialSchedule::begin();
        Replacement {
            carrier: Box::pin(bring_up(uplink, session, link, dials.clone())),
            dials,
        }
    }

    /// Whether it is unnecessary, since the old carrier has received data again.
    fn is_needless(&self) -> bool {
        self.dials.end_when_heard() && !self.dials.is_joining()
    }
}

/// Returns the carrier that is being dialled; waits for ever if there is none.
async fn next_carrier(replacement: &mut Option<Replacement<'_>>) -> Option<MeteredCarrier> {
    match replacement {
        Some(replacement) => replacement.carrier.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Starts a carrier on a dialled connection. `None` if the association ends first.
async fn bring_up(
    uplink: &Arc<UplinkState>,
    session: &Arc<UplinkSession>,
    link: &Arc<Link>,
    dials: DialSchedule,
) -> Option<MeteredCarrier> {
    let dialled = tokio::select! {
        dialled = dial_until_up(uplink, session, link, dials) => dialled,
        _ = session.association.closed() => return None,
    };
    // The other dials have been abandoned.
    drop(dialled.turn);
    session.set_joined();
    uplink.forget_reason(&link.name);
    let config = CarrierConfig {
        link: link_number(&link.name),
        terms: dialled.terms,
        priority: link.priority,
        metered: uplink.usage.left(link).is_some() || link.price() > 1.0,
        rtt: None,
    };
    let association = &session.association;
    let congestion = Congestion::of(uplink.config.congestion.as_deref());
    let carrier = association.carry(dialled.socket, dialled.established, config, congestion);
    let (link, usage) = (Arc::clone(link), uplink.usage.clone());
    Some(MeteredCarrier::new(carrier, link, usage, dialled.terms))
}

/// Schedule of a link's dials, and the right to join.
#[derive(Clone)]
struct DialSchedule {
    began: Instant,
    dialling: Dialling,
    /// Right to send a JOIN, for one dial at a time until its JOIN is answered: the relay uses the last
    /// carrier of a link that joined, which must be the one used here.
    joining: Arc<Mutex<()>>,
}

impl DialSchedule {
    fn begin() -> DialSchedule {
        DialSchedule {
            began: Instant::now(),
            dialling: Dialling::begin(Time::ZERO, INITIAL_RTO),
            joining: Arc::default(),
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

    /// Whether the relay may have closed the link's previous carrier in favour of one of these.
    fn is_joining(&self) -> bool {
        self.joining.try_lock().is_err()
    }
}

/// Dials several times in parallel; returns the first connection that is established.
async fn dial_until_up(
    uplink: &Arc<UplinkState>,
    session: &Arc<UplinkSession>,
    link: &Arc<Link>,
    mut dials: DialSchedule,
) -> Dialled {
    let mut under_way = JoinSet::new();
    let mut logged = HashSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            () = sleep_until(dials.due().into()) => {
                if let Some(begins) = dials.dialling.poll_dial(dials.now(), under_way.len()) {
                    let (uplink, session, link) = (uplink.clone(), session.clone(), link.clone());
                    let joining = Arc::clone(&dials.joining);
                    let dial_of_link = (number, begins);
                    number += 1;
                    under_way.spawn(async move {
                        dial(&uplink, &link, &session, &joining, dial_of_link).await
                    });
                }
            }
            Some(Ok(dialled)) = under_way.join_next() => match dialled {
                Ok(dialled) => return dialled,
                Err(error) if error.refusal() == Some(JoinAnswer::Gone) => {
                    info!("link {}: the relay does not know the association any more", link.name);
                    session.association.close(GONE);
                    std::future::pending::<()>().await;
                }
                Err(error) => {
                    // Each error is logged once, even if it persists for hours.
                    let text = error.to_string();
                    uplink.set_reason(&link.name, error.status(), &text);
                    match logged.len() < MAX_LOGGED_ERRORS && logged.insert(text.clone()) {
                        false => debug!("link {} ({}): {text}", link.name, link.egress),
                        true => warn!("link {} ({}): {text}", link.name, link.egress),
                    }
                }
            }
        }
    }
}
