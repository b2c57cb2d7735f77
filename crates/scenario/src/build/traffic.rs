//! `[traffic]`.

use ropewalk_quantities::{Bytes, Rate};

use crate::error::Problem;
use crate::model::Traffic;
use crate::report::Report;
use crate::section::Section;

/// What the application sends.
pub(super) fn traffic(section: Option<&Section>, report: &mut Report) -> Traffic {
    let Some(section) = section else {
        return Traffic::Bulk { size: None };
    };
    let kind: Option<String> = section.get("kind");
    if kind.is_none() && section.has("kind") {
        // The kind is wrong and reported; which keys go with it is unknown.
        return Traffic::Bulk { size: None };
    }
    let kind = kind.as_deref().unwrap_or("bulk");
    if kind == "bulk" {
        for key in ["rate", "message"] {
            if section.has(key) {
                let problem = Problem::OnlyWith(r#"kind = "cbr" or kind = "poisson""#);
                section.complain(key, problem, report);
            }
        }
        return Traffic::Bulk {
            size: section.get("size"),
        };
    }
    if section.has("size") {
        section.complain("size", Problem::OnlyWith(r#"kind = "bulk""#), report);
    }
    if !section.has("rate") {
        section.complain("rate", Problem::Missing, report).allowed = Some(Rate::ALLOWED.to_owned());
    }
    let rate = section.get("rate").unwrap_or(Rate::from_bps(1));
    let message = section.get("message").unwrap_or(Bytes::new(1000));
    match kind {
        "cbr" => Traffic::Cbr { rate, message },
        _ => Traffic::Poisson { rate, message },
    }
}
