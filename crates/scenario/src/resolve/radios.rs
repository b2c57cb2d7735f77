//! Settings of a radio: its entry over `[wifi]` over the profile.

use ropewalk_network::radio::{
    DataRate, Preamble, PreambleDetection, QueueOrder, RadioConfig, RateControl, Standard,
};
use ropewalk_quantities::{Bytes, Rate, Time};

use crate::error::Problem;
use crate::keys::{NEVER, WIFI};
use crate::model::WifiProfile;
use crate::parsed::{Items, Packets, ParsedType};
use crate::report::Report;
use crate::section::{Section, name_list};

#[derive(Clone, Copy)]
pub(super) struct Wifi<'a> {
    section: Option<&'a Section>,
    pub profile: WifiProfile,
}

struct Settings<'a> {
    own: &'a Section,
    wifi: Option<&'a Section>,
}

impl Settings<'_> {
    fn get<T: ParsedType>(&self, key: &str) -> Option<T> {
        let shared = || self.wifi.and_then(|wifi| wifi.get(key));
        self.own.get(key).or_else(shared)
    }

    fn add_error<'r>(
        &self,
        key: &str,
        problem: Problem,
        report: &'r mut Report,
    ) -> &'r mut crate::ScenarioError {
        match self.wifi {
            Some(wifi) if !self.own.has(key) && wifi.has(key) => {
                wifi.add_error(key, problem, report)
            }
            _ => self.own.add_error(key, problem, report),
        }
    }

    fn rate(&self, key: &str, rate: Rate, standard: Standard, report: &mut Report) -> DataRate {
        let rates = standard.rates();
        let found = rates.iter().copied().find(|known| known.rate() == rate);
        found.unwrap_or_else(|| {
            let problem = Problem::RateOfOtherStandard {
                rate: rate.to_string(),
                standard: standard.name(),
            };
            let names: Vec<String> = rates.iter().map(ToString::to_string).collect();
            let names = name_list(names.iter().map(String::as_str));
            self.add_error(key, problem, report).allowed = Some(names);
            rates[0]
        })
    }
}

impl<'a> Wifi<'a> {
    pub fn read(root: &'a Section) -> Wifi<'a> {
        let section = root.table("wifi");
        let absent = Section::absent("wifi", &WIFI);
        Wifi {
            section,
            profile: section.unwrap_or(&absent).value("profile"),
        }
    }

    /// A radio of a node.
    pub fn radio(
        &self,
        own: &Section,
        node: &str,
        at: [f64; 3],
        report: &mut Report,
    ) -> RadioConfig {
        let settings = Settings {
            own,
            wifi: self.section,
        };
        let profile = self.profile;
        let name: Option<String> = settings.get("standard");
        let standard = name
            .and_then(|name| name.parse().ok())
            .unwrap_or(Standard::B);
        let fastest = *standard.rates().last().expect("a standard has rates");
        let rate = match settings.get::<String>("rate").as_deref() {
            Some("arf") => RateControl::Arf,
            Some("aarf") => RateControl::Aarf,
            Some("ideal") => RateControl::Ideal,
            _ => RateControl::Fixed(match settings.get::<Rate>("rate") {
                Some(rate) => settings.rate("rate", rate, standard, report),
                None => fastest,
            }),
        };
        let basic_rates = match settings.get::<Items<Rate>>("basic_rates") {
            Some(Items(rates)) => rates
                .into_iter()
                .map(|rate| settings.rate("basic_rates", rate, standard, report))
                .collect(),
            None => default_basic_rates(profile, standard),
        };
        let preamble = match settings.get::<String>("preamble").as_deref() {
            Some("short") => Preamble::Short,
            _ => Preamble::Long,
        };
        if preamble == Preamble::Short && rate == RateControl::Fixed(DataRate::Dsss1) {
            let problem =
                Problem::Incompatible("at 1 Mbit/s the preamble is always long".to_owned());
            settings.add_error("preamble", problem, report).allowed = Some("\"long\"".to_owned());
        }
        let tries: Option<u32> = settings.get("tries");
        let usual_long = match profile {
            WifiProfile::Standard => 4,
            WifiProfile::Ns3 | WifiProfile::Ns313 => 7,
        };
        let long_tries = settings.get("long_tries").or(tries).unwrap_or(usual_long);
        let [sensitivity_dbm, sense_dbm] = self.thresholds(&settings, report);
        let rts = match settings.get::<String>("rts").as_deref() {
            Some(NEVER) => None,
            _ => settings
                .get::<Bytes>("rts")
                .map(|size| size.as_u64() as u32),
        };
        RadioConfig {
            node: node.to_owned(),
            at,
            standard,
            rate,
            basic_rates,
            tries: tries.unwrap_or(7) as u8,
            long_tries: long_tries as u8,
            rts,
            preamble,
            slot: settings.get("slot").unwrap_or(standard.slot()),
            queue_packets: self.queue(&settings, report),
            queue_order: match settings.get::<String>("queue_order").as_deref() {
                Some("round-robin") => QueueOrder::RoundRobin,
                _ => QueueOrder::Fifo,
            },
            lifetime: match settings.get::<String>("lifetime") {
                Some(_) => None,
                None => settings.get("lifetime").or(match profile {
                    WifiProfile::Standard => None,
                    WifiProfile::Ns3 => Some(Time::from_millis(500)),
                    // WifiMacQueue of ns-3.13 has both limits (MaxDelay, MaxPacketNumber):
                    // src/wifi/model/wifi-mac-queue.cc until after ns-3.18.
                    WifiProfile::Ns313 => Some(Time::from_secs(10)),
                }),
            },
            power_dbm: settings.get("power").unwrap_or(16.0206),
            antenna_gain_db: settings.get("antenna_gain").unwrap_or(match profile {
                WifiProfile::Standard | WifiProfile::Ns3 => 0.0,
                WifiProfile::Ns313 => 1.0,
            }),
            noise_figure_db: settings.get("noise_figure").unwrap_or(7.0),
            sensitivity_dbm,
            sense_dbm,
            preamble_detection: match settings.get::<String>("preamble_detection") {
                Some(_) => None,
                None => settings
                    .get("preamble_detection")
                    .or((profile == WifiProfile::Ns3).then_some(4.0))
                    .map(|sinr_db| PreambleDetection { sinr_db }),
            },
            eifs_rate: match settings.get::<Rate>("eifs_rate") {
                Some(rate) => settings.rate("eifs_rate", rate, standard, report),
                None => default_eifs_rate(profile, standard),
            },
        }
    }

    fn thresholds(&self, settings: &Settings, report: &mut Report) -> [f64; 2] {
        let usual = match self.profile {
            WifiProfile::Standard | WifiProfile::Ns3 => [-82.0, -82.0],
            WifiProfile::Ns313 => [-96.0, -99.0],
        };
        let sensitivity: f64 = settings.get("sensitivity").unwrap_or(usual[0]);
        let sense = settings.get("sense");
        let sense = sense.unwrap_or_else(|| usual[1].min(sensitivity));
        if sense > sensitivity {
            let limit = format!("the sensitivity ({sensitivity} dBm)");
            settings.add_error("sense", Problem::AboveMost(limit), report);
        }
        [sensitivity, sense]
    }

    fn queue(&self, settings: &Settings, report: &mut Report) -> u32 {
        if settings.get::<Bytes>("queue").is_some() {
            let problem = Problem::Incompatible("a radio's queue is counted in packets".to_owned());
            settings.add_error("queue", problem, report).allowed =
                Some("packets such as \"500 packets\"".to_owned());
        }
        match settings.get::<Packets>("queue") {
            Some(Packets(count)) => count as u32,
            None if self.profile == WifiProfile::Ns313 => 400,
            None => 500,
        }
    }
}

fn default_eifs_rate(profile: WifiProfile, standard: Standard) -> DataRate {
    match standard {
        Standard::B => DataRate::Dsss1,
        Standard::G if profile == WifiProfile::Ns313 => DataRate::Dsss1,
        Standard::A | Standard::G => DataRate::Ofdm6,
    }
}

fn default_basic_rates(profile: WifiProfile, standard: Standard) -> Vec<DataRate> {
    let ofdm = [DataRate::Ofdm6, DataRate::Ofdm12, DataRate::Ofdm24];
    match (standard, profile) {
        (Standard::B, WifiProfile::Standard) => vec![DataRate::Dsss1, DataRate::Dsss2],
        (Standard::B, WifiProfile::Ns3) => standard.rates().to_vec(),
        (Standard::B, WifiProfile::Ns313) => vec![DataRate::Dsss1],
        (Standard::A | Standard::G, WifiProfile::Ns313) => vec![DataRate::Ofdm6],
        (Standard::A | Standard::G, _) => ofdm.to_vec(),
    }
}
