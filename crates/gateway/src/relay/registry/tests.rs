use super::*;
use crate::keys::SecretKey;

fn relay_of(clients: Clients) -> Arc<Relay> {
    let config = RelayConfig {
        security: AcceptSecurity::Plain,
        clients,
        rules: Rules::default(),
        association: Config::default(),
        limits: DefaultLimits::default(),
        congestion: None,
    };
    Relay::new(config, Arc::new(Programs::new(false).unwrap()))
}

fn join(association: u8, resumes: bool) -> Join {
    Join {
        association: [association; 16],
        resumes,
        cost: 1000,
        quota: None,
        priority: 0,
        link: "wifi".to_owned(),
        scheduler: "earliest-arrival".to_owned(),
    }
}

/// A client that has heard another one's identifier gets an association of its own.
#[tokio::test]
async fn association_is_joined_by_its_own_client_alone() {
    let [van, bus] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]).public());
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("clients");
    let lines = van.to_line("van") + &bus.to_line("bus");
    std::fs::write(&list, lines).unwrap();
    let relay = relay_of(Clients::read(&list).unwrap());

    let first = relay.join(Some(van), &join(7, false)).unwrap();
    let again = relay.join(Some(van), &join(7, true)).unwrap();
    assert!(Arc::ptr_eq(&first.member, &again.member));

    let resumed = relay.join(Some(bus), &join(7, true));
    assert!(matches!(resumed.err(), Some(JoinAnswer::Gone)));
    let other = relay.join(Some(bus), &join(7, false)).unwrap();
    assert!(other.began.is_some() && !Arc::ptr_eq(&first.member, &other.member));
}
