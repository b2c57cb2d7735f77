//! Resolution of `[[link]]`.

use std::collections::HashSet;

use std::sync::Arc;

use ropewalk_network::{Capacity, DirectionConfig, Jitter, LinkConfig, Loss, Slot};
use ropewalk_quantities::Time;

use super::{Traces, warnings, wireless_links};
use crate::error::Problem;
use crate::keys::LINK;
use crate::limits::{MAX_LINKS, MAX_NAME_CHARS};
use crate::model::Quota;
use crate::numbered::{STAR, fill, numbered};
use crate::report::Report;
use crate::section::Section;

const TRACE_FORMAT: &str = "mahimahi's format: a line for each 1500 bytes that may be sent, with its time in \
                            whole milliseconds";
const DELAY_FORMAT: &str =
    "a line for each delay, with its time and the delay in milliseconds: \"1000 62.5\"";
/// Price of a link without one, if another link has one.
const COST: f64 = 1.0;

/// Links of the file in order, each with its quota and section.
pub(super) fn links<'a>(
    sections: &'a [Section],
    duration: Time,
    traces: &mut Traces,
    report: &mut Report,
) -> (Vec<LinkConfig>, Vec<Option<Quota>>, Vec<&'a Section>) {
    let mut links: Vec<LinkConfig> = Vec::new();
    let mut quotas = Vec::new();
    let mut from = Vec::new();
    let mut names = HashSet::new();
    for section in sections {
        let described = link(section, traces, report);
        warnings::of_dead_links(&described, duration, report);
        let count = count(section, links.len(), MAX_LINKS, report);
        let numbered_copies = numbered_copies(described, count, section, report);
        let twice = numbered_copies
            .iter()
            .any(|link| !link.name.is_empty() && !names.insert(link.name.clone()));
        if twice {
            section.add_error("name", Problem::Duplicate("link"), report);
        }
        let quota = quota(section, report);
        quotas.extend(numbered_copies.iter().map(|_| quota));
        from.extend(numbered_copies.iter().map(|_| section));
        links.extend(numbered_copies);
    }
    if links.iter().any(|link| link.cost.is_some()) {
        for link in &mut links {
            link.cost.get_or_insert(COST);
        }
    }
    (links, quotas, from)
}

fn quota(section: &Section, report: &mut Report) -> Option<Quota> {
    for (key, needs) in [("period", "quota"), ("pace", "period")] {
        if section.has(key) && !section.has(needs) {
            section.add_error(key, Problem::OnlyWith(needs), report);
        }
    }
    Some(Quota {
        size: section.get("quota")?,
        period: section.get("period"),
        pace: section.value::<String>("pace").parse().unwrap_or_default(),
    })
}

/// The `count` of a section, within the total limit; one if it is invalid.
pub(super) fn count(section: &Section, so_far: usize, most: usize, report: &mut Report) -> u64 {
    let count: u64 = section.get("count").unwrap_or(1);
    if so_far as u64 + count > most as u64 {
        if section.has("count") {
            let limit = format!("{most} with all others");
            section.add_error("count", Problem::AboveMost(limit), report);
        }
        return 1;
    }
    let digits = count.to_string().len() + 1;
    let name: String = section.get("name").unwrap_or_default();
    if count > 1 && name.chars().count() + digits > MAX_NAME_CHARS {
        let limit = format!(
            "{} characters with a number behind",
            MAX_NAME_CHARS - digits
        );
        section.add_error("name", Problem::AboveMost(limit), report);
    }
    count
}

fn numbered_copies(
    link: LinkConfig,
    count: u64,
    section: &Section,
    report: &mut Report,
) -> Vec<LinkConfig> {
    if count == 1 {
        for (key, end) in ["from", "to"].into_iter().zip(link.ends.iter().flatten()) {
            if end.contains(STAR) {
                section.add_error(key, Problem::OnlyWith("count"), report);
            }
        }
        return vec![link];
    }
    let one = |number| LinkConfig {
        name: match link.name.as_str() {
            "" => String::new(),
            name => numbered(name, number),
        },
        ends: link
            .ends
            .clone()
            .map(|ends| ends.map(|end| fill(&end, number))),
        ..link.clone()
    };
    (1..=count).map(one).collect()
}

fn link(section: &Section, traces: &mut Traces, report: &mut Report) -> LinkConfig {
    if section.has("channel") {
        return link_on_channel(section, report);
    }
    let delay_wrong = section.is_wrong("delay");
    let forward = direction(
        section,
        &default_direction(report),
        delay_wrong,
        traces,
        report,
    );
    let reverse = match section.table("reverse") {
        Some(section) => {
            let wrong = section.is_wrong("delay") || (delay_wrong && !section.has("delay"));
            direction(section, &forward, wrong, traces, report)
        }
        None => forward.clone(),
    };
    let link = LinkConfig {
        name: section.get("name").unwrap_or_default(),
        ends: ends(section, report),
        forward,
        reverse,
        cost: section.get("cost"),
        down: section.value("down"),
    };
    warnings::of_short_queues(&link, report);
    link
}

/// A link on a channel, with a loss for each direction.
fn link_on_channel(section: &Section, report: &mut Report) -> LinkConfig {
    wireless_links::check_keys(section, report);
    let forward = section
        .table("loss")
        .map_or(Loss::None, |given| loss(given, report));
    let reverse = section.table("reverse").and_then(|of| of.table("loss"));
    let reverse = reverse.map_or(forward, |given| loss(given, report));
    LinkConfig {
        name: section.get("name").unwrap_or_default(),
        ends: ends(section, report),
        forward: wireless_links::direction(forward),
        reverse: wireless_links::direction(reverse),
        cost: section.get("cost"),
        down: Vec::new(),
    }
}

fn ends(section: &Section, report: &mut Report) -> Option<[String; 2]> {
    for [given, other] in [["from", "to"], ["to", "from"]] {
        if section.has(given) && !section.has(other) {
            section.add_error(other, Problem::Missing, report).allowed =
                Some("the name of the node at the other end".to_owned());
        }
    }
    let ends = [section.get::<String>("from")?, section.get("to")?];
    if ends[0] == ends[1] {
        section.add_error("to", Problem::SameNode, report);
    }
    Some(ends)
}

fn default_direction(report: &mut Report) -> DirectionConfig {
    let default_direction = Section::absent("link", &LINK);
    DirectionConfig {
        // Either `rate` or `trace` is given, or its absence has been reported.
        capacity: Capacity::Unlimited,
        delay: default_direction.value("delay"),
        jitter: None,
        slot: slot(&default_direction.default_table("slot"), report),
        loss: loss(&default_direction.default_table("loss"), report),
        queue: default_direction.value("queue"),
    }
}

/// A direction: keys of the table over `base`. With `delay_wrong`, its delay is a default.
fn direction(
    section: &Section,
    base: &DirectionConfig,
    delay_wrong: bool,
    traces: &mut Traces,
    report: &mut Report,
) -> DirectionConfig {
    let mut direction = base.clone();
    if let Some(capacity) = section.get("rate") {
        direction.capacity = capacity;
    } else if let Some(name) = section.get::<String>("trace") {
        match traces.get(&name) {
            Ok(trace) => direction.capacity = Capacity::Trace(trace),
            Err(problem) => {
                let is_other_format = matches!(problem, Problem::Trace(_));
                let error = section.add_error("trace", problem, report);
                if is_other_format {
                    error.allowed = Some(TRACE_FORMAT.to_owned());
                }
            }
        }
    }
    if let Some(delay) = section.get("delay") {
        direction.delay = delay;
    }
    if let Some(jitter) = section.table("jitter") {
        direction.jitter = self::jitter(jitter, traces, report);
    }
    if let Some(slot) = section.table("slot") {
        direction.slot = self::slot(slot, report);
    }
    if let Some(loss) = section.table("loss") {
        direction.loss = self::loss(loss, report);
    }
    if let Some(queue) = section.get("queue") {
        direction.queue = queue;
    }
    if let Some(jitter) = &direction.jitter
        && jitter.below() > direction.delay
        && !delay_wrong
        && (section.has("jitter") || section.has("delay"))
    {
        let limit = format!("the delay ({})", direction.delay);
        match section.table("jitter") {
            Some(given) => given.add_error("amount", Problem::AboveMost(limit), report),
            None => {
                let limit = format!("the jitter ({})", jitter.below());
                section.add_error("delay", Problem::BelowLeast(limit), report)
            }
        };
    }
    direction
}

fn jitter(section: &Section, traces: &mut Traces, report: &mut Report) -> Option<Jitter> {
    if let Some(name) = section.get::<String>("trace") {
        return match traces.delays(&name) {
            Ok(trace) => Some(Jitter::Recorded(Arc::new(trace))),
            Err(problem) => {
                let is_other_format = matches!(problem, Problem::Trace(_));
                let error = section.add_error("trace", problem, report);
                if is_other_format {
                    error.allowed = Some(DELAY_FORMAT.to_owned());
                }
                None
            }
        };
    }
    let amount = section.get("amount").unwrap_or(Time::ZERO);
    let reorder = section.value("reorder");
    (amount > Time::ZERO).then_some(Jitter::Uniform { amount, reorder })
}

fn slot(section: &Section, report: &mut Report) -> Option<Slot> {
    let most = section.get("most").unwrap_or(Time::ZERO);
    let least = section.get("least").unwrap_or(most);
    if least > most && section.has("most") && !section.is_wrong("most") {
        let limit = format!("most ({most})");
        section.add_error("least", Problem::AboveMost(limit), report);
    }
    (most > Time::ZERO).then_some(Slot { least, most })
}

fn loss(section: &Section, report: &mut Report) -> Loss {
    let p = section.get("p").unwrap_or(0.0);
    if section.get::<String>("model").as_deref() == Some("gilbert-elliott") {
        // netem's defaults, which amount to independent losses.
        return Loss::GilbertElliott {
            p,
            r: section.get("r").unwrap_or(1.0 - p),
            h: section.value("h"),
            k: section.value("k"),
        };
    }
    // An invalid model has its own error, and its keys are unknown.
    if !section.has("model") || section.get::<String>("model").is_some() {
        for key in ["r", "h", "k"] {
            if section.has(key) {
                let problem = Problem::OnlyWith(r#"model = "gilbert-elliott""#);
                section.add_error(key, problem, report);
            }
        }
    }
    if p > 0.0 {
        Loss::Bernoulli(p)
    } else {
        Loss::None
    }
}
