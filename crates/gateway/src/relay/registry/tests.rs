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
        tunnel: None,
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

/// A client with another one's identifier gets an association of its own.
#[tokio::test]
async fn association_is_joined_only_by_its_own_client() {
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

/// A restarted client gets its links again, although its old associations have not ended yet.
#[tokio::test]
async fn restarted_client_gets_its_links_again() {
    let van = SecretKey::from_bytes([1; 32]).public();
    let relay = relay_of(Clients::of_one("van", van, Vec::new()));
    let mut places = Vec::new();
    let mut names = (0..1000).map(|number| format!("l{number}"));
    let mut fill = |association: u8, places: &mut Vec<Joined>| {
        names.find(|name| {
            let link = name.clone();
            let joined = relay.join(
                Some(van),
                &Join {
                    link,
                    ..join(association, false)
                },
            );
            joined.map(|joined| places.push(joined)).is_err()
        })
    };
    for association in 0..8 {
        fill(association, &mut places);
    }
    let most = places.len();
    assert!(relay.join(Some(van), &join(9, false)).is_err());
    // The carriers have ended; the associations stay for a while.
    places.clear();
    for association in 10..18 {
        fill(association, &mut places);
    }
    assert_eq!(places.len(), most);
}
