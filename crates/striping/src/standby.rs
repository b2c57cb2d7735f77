//! Choice of the links on standby: held in reserve until others fail.

use ropewalk_quantities::Time;

/// How long a link that was just taken into use may be silent before further links are taken.
const START: Time = Time::from_secs(1);
/// Time from suspicion until a link counts as dead: after a short disturbance it is trusted again before.
const DEAD: Time = Time::from_millis(100);
/// A link that has been trusted again for this long is relied on.
const PROVEN: Time = Time::from_secs(1);

/// Role of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Always in use.
    Primary,
    /// In use while no primary link is alive.
    Backup,
    /// In use while no other link is alive: its quota is used up, or ahead of its pace.
    LastResort,
}

impl Tier {
    const ALL: [Tier; 3] = [Tier::Primary, Tier::Backup, Tier::LastResort];
}

/// State of a link.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its role; `None` if it must not be used.
    pub tier: Option<Tier>,
    /// Whether its network interface exists.
    pub exists: bool,
    /// Whether it is in use and the peer was heard on it.
    pub is_alive: bool,
}

/// The tier up to which links are in use.
#[derive(Clone, Debug)]
pub struct Standby {
    level: Tier,
    /// For each tier, since when a link of it or of an earlier one has been alive.
    alive_since: [Option<Time>; 3],
    /// Since when no link in use has been alive while others could be.
    dead_since: Option<Time>,
    /// Whether a link has been alive since the level changed.
    was_alive: bool,
}

impl Default for Standby {
    fn default() -> Standby {
        Standby {
            level: Tier::Primary,
            alive_since: [None; 3],
            dead_since: None,
            was_alive: false,
        }
    }
}

impl Standby {
    /// Whether a link of a tier is on standby.
    #[must_use]
    pub fn includes(&self, tier: Option<Tier>) -> bool {
        tier.is_none_or(|tier| tier > self.level)
    }

    /// Follows the state of the links. Call it at the time of [`due`](Standby::due), and when that state has
    /// changed.
    pub fn follow(&mut self, now: Time, links: impl Iterator<Item = Candidate> + Clone) {
        let of = |tier| move |link: &Candidate| link.tier.is_some_and(|own| own <= tier);
        for (tier, since) in Tier::ALL.into_iter().zip(&mut self.alive_since) {
            let is_alive = links.clone().filter(of(tier)).any(|link| link.is_alive);
            *since = is_alive.then(|| since.unwrap_or(now));
        }
        let proven = |since: &Option<Time>| since.is_some_and(|since| now >= since + PROVEN);
        let earlier = Tier::ALL.into_iter().zip(&self.alive_since);
        if let Some((tier, _)) = earlier
            .take_while(|(tier, _)| *tier < self.level)
            .find(|(_, since)| proven(since))
        {
            (self.level, self.was_alive) = (tier, true);
        }
        loop {
            let there = links.clone().filter(|link| link.exists);
            let tiers = there.filter_map(|link| link.tier);
            let next = tiers.clone().filter(|tier| *tier > self.level).min();
            let exists = tiers.clone().any(|tier| tier <= self.level);
            let is_alive = self.alive_since[self.level as usize].is_some();
            self.was_alive |= is_alive;
            let Some(next) = next.filter(|_| !is_alive) else {
                self.dead_since = None;
                return;
            };
            let since = *self.dead_since.get_or_insert(now);
            if exists && now < since + self.timeout() {
                return;
            }
            (self.level, self.was_alive, self.dead_since) = (next, false, None);
        }
    }

    /// Returns when time alone changes the result.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let dead = self.dead_since.map(|since| since + self.timeout());
        let earlier = self.alive_since.iter().take(self.level as usize);
        let proven = earlier.flatten().map(|since| *since + PROVEN);
        proven.chain(dead).min()
    }

    fn timeout(&self) -> Time {
        match self.was_alive {
            true => DEAD,
            false => START,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn link(tier: Tier, is_alive: bool) -> Candidate {
        Candidate {
            tier: Some(tier),
            exists: true,
            is_alive,
        }
    }

    /// The tiers in use at these times, of one link each; `alive` lists those that answer.
    fn in_use(at: &[(u64, [bool; 3])]) -> Vec<usize> {
        let mut standby = Standby::default();
        let mut levels = Vec::new();
        for &(ms, alive) in at {
            let links = Tier::ALL.into_iter().zip(alive);
            let links = links.map(|(tier, alive)| {
                let is_alive = alive && !standby.includes(Some(tier));
                link(tier, is_alive)
            });
            let links: Vec<Candidate> = links.collect();
            standby.follow(MS(ms), links.iter().copied());
            levels.push(standby.level as usize);
        }
        levels
    }

    #[test]
    fn start_waits_one_second_for_primary() {
        let none = [false; 3];
        let at = [
            (0, none),
            (999, none),
            (1000, none),
            (1999, none),
            (2000, none),
        ];
        assert_eq!(in_use(&at), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn backup_follows_death_and_return_but_not_short_disturbances() {
        let (up, dead) = ([true; 3], [false, true, true]);
        let at = [
            (0, up),
            (50, dead),
            (149, dead),
            (150, dead),
            (160, dead),
            (300, up),
            (900, dead),
            (1000, up),
            (1999, up),
            (2000, up),
        ];
        assert_eq!(in_use(&at), [0, 0, 0, 1, 1, 1, 1, 1, 1, 0]);
        let stumble = [
            (0, up),
            (50, dead),
            (140, up),
            (200, dead),
            (299, dead),
            (300, dead),
        ];
        assert_eq!(in_use(&stumble), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn empty_and_missing_tiers_are_skipped() {
        let mut standby = Standby::default();
        let mut gone = link(Tier::Primary, true);
        let last = link(Tier::LastResort, false);
        standby.follow(MS(0), [gone, last].into_iter());
        assert!(standby.includes(Some(Tier::LastResort)));
        gone.is_alive = false;
        gone.exists = false;
        standby.follow(MS(10), [gone, last].into_iter());
        assert!(!standby.includes(Some(Tier::LastResort)));
        assert!(standby.includes(None));
        let mut standby = Standby::default();
        standby.follow(MS(0), [link(Tier::LastResort, true)].into_iter());
        assert!(!standby.includes(Some(Tier::LastResort)));
    }

    #[test]
    fn due_is_the_time_of_the_next_change() {
        let mut standby = Standby::default();
        let links = |alive| [link(Tier::Primary, alive), link(Tier::Backup, false)].into_iter();
        standby.follow(MS(5), links(false));
        assert_eq!(standby.due(), Some(MS(1005)));
        standby.follow(MS(1005), links(false));
        assert_eq!(standby.due(), None);
        standby.follow(MS(1100), links(true));
        assert_eq!(standby.due(), Some(MS(2100)));
        standby.follow(MS(2100), links(true));
        assert_eq!(standby.due(), None);
        assert!(standby.includes(Some(Tier::Backup)));
    }
}
