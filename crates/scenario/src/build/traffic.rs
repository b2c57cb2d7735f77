//! `[traffic]`.

use ropewalk_quantities::Rate;

use crate::error::Problem;
use crate::keys::TRAFFIC;
use crate::model::{Spacing, Traffic};
use crate::report::Report;
use crate::section::Section;

const MESSAGES: Problem = Problem::OnlyWith(r#"kind = "cbr" or kind = "poisson""#);

/// What the application sends.
pub(super) fn traffic(section: Option<&Section>, report: &mut Report) -> Traffic {
    let absent = Section::absent("traffic", &TRAFFIC);
    let section = section.unwrap_or(&absent);
    if section.has("kind") && section.get::<String>("kind").is_none() {
        // The kind is wrong and reported; which keys go with it is unknown.
        return Traffic::Bulk { size: None };
    }
    let kind: String = section.value("kind");
    let Some(spacing) = Spacing::of_kind(&kind) else {
        for key in ["rate", "message"] {
            if section.has(key) {
                section.complain(key, MESSAGES, report);
            }
        }
        return Traffic::Bulk {
            size: section.get("size"),
        };
    };
    if section.has("size") {
        section.complain("size", Problem::OnlyWith(r#"kind = "bulk""#), report);
    }
    if !section.has("rate") {
        section.complain("rate", Problem::Missing, report).allowed = Some(Rate::ALLOWED.to_owned());
    }
    let rate = section.get("rate").unwrap_or(Rate::from_bps(1));
    let message = section.value("message");
    Traffic::Messages {
        spacing,
        rate,
        message,
    }
}
