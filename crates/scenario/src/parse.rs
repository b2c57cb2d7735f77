//! Parsing of a scenario from a file's text and overrides.

use toml_edit::Document;

use crate::document::{Node, Origin};
use crate::error::{Errors, Problem};
use crate::keys::TOP;
use crate::limits::{MAX_SCENARIO_BYTES, MAX_SCENARIO_WORDS};
use crate::model::Scenario;
use crate::other_tables::list_of_tables;
use crate::overrides;
use crate::report::Report;
use crate::resolve::{self, Traces};
use crate::section::Section;

impl Scenario {
    /// Parses a scenario file.
    ///
    /// `name` is the file's name in errors; its stem is the default title. `overrides` are pairs of
    /// key, such as `link.wifi.delay`, and value (TOML, or otherwise a text), with the same checks
    /// as the file. `read` returns a trace file's text, given its name relative to the scenario
    /// file, or an error message.
    ///
    /// # Errors
    /// If the file or an override is invalid: all errors.
    ///
    /// ```
    /// use ropewalk_scenario::Scenario;
    ///
    /// let text = r#"
    ///     [[link]]
    ///     name = "wifi"
    ///     rate = "20 Mbit/s"
    ///     delay = "-5 ms"
    /// "#;
    /// let mut no_traces = |_: &str| Err("no such file".to_owned());
    /// let errors = Scenario::parse(text, "wifi.toml", &[], &mut no_traces).unwrap_err();
    /// assert_eq!(
    ///     errors.to_string(),
    ///     r#"wifi.toml:5:13: link.wifi.delay = "-5 ms": must not be negative; allowed: a time such as "10 ms" (units: ns us ms s min h d)"#
    /// );
    /// ```
    pub fn parse(
        text: &str,
        name: &str,
        overrides: &[(String, String)],
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Scenario, Errors> {
        let mut report = Report::new(name, text);
        let Some(document) = document(text, &mut report) else {
            return Err(report
                .finish()
                .expect_err("a text that is no document is an error"));
        };
        let mut root = Node::from_document(&document);
        overrides::apply(&mut root, overrides, &mut report);
        let section = Section::read(&root, &TOP, String::new(), &mut report);
        let mut scenario = resolve::scenario(&section, &mut Traces::new(read), &mut report);
        if !section.has("title") {
            scenario.title = stem(name);
        }
        scenario.warnings = report.finish()?;
        Ok(scenario)
    }
}

/// Decodes a scenario file. Callers need not read more than one byte beyond [`MAX_SCENARIO_BYTES`].
///
/// # Errors
/// If it is too large or not UTF-8.
pub fn decode<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Errors> {
    let problem = if bytes.len() > MAX_SCENARIO_BYTES {
        Problem::FileTooLarge {
            most: MAX_SCENARIO_WORDS,
        }
    } else {
        match std::str::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(_) => Problem::NotText,
        }
    };
    let mut report = Report::new(name, "");
    report.whole_file("", problem);
    Err(report
        .finish()
        .expect_err("an error has just been reported"))
}

/// Returns the file's text with overrides applied, comments and order kept, for storage with
/// results. Values are not checked.
///
/// # Errors
/// If the text is not TOML, or an override names no key.
pub fn effective(text: &str, name: &str, overrides: &[(String, String)]) -> Result<String, Errors> {
    let mut report = Report::new(name, text);
    let Some(document) = document(text, &mut report) else {
        return Err(report
            .finish()
            .expect_err("a text that is no document is an error"));
    };
    let mut root = Node::from_document(&document);
    let edits = overrides::apply(&mut root, overrides, &mut report);
    report.finish()?;
    let mut document = document.into_mut();
    for edit in edits {
        edit.apply_to_text(&mut document);
    }
    Ok(document.to_string())
}

fn document<'a>(text: &'a str, report: &mut Report) -> Option<Document<&'a str>> {
    if text.len() > MAX_SCENARIO_BYTES {
        report.whole_file(
            "",
            Problem::FileTooLarge {
                most: MAX_SCENARIO_WORDS,
            },
        );
        return None;
    }
    if text.contains('\0') {
        report.whole_file("", Problem::NotText);
        return None;
    }
    match Document::parse(text) {
        Ok(document) => Some(document),
        Err(error) => {
            let message = error.message().replace('\n', " ");
            let list = error
                .span()
                .and_then(|span| list_of_tables(line_at(text, span.start)));
            let problem = Problem::Syntax(message);
            let reported = match error.span() {
                Some(span) => report.error(Origin::File(span.start), "", problem),
                None => report.whole_file("", problem),
            };
            reported.allowed = list.map(|list| format!("tables, each under [[{list}]]"));
            None
        }
    }
}

fn line_at(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |end| at + end);
    &text[start..end]
}

/// File stem: `wifi` of `scenarios/wifi.toml`.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let stem = if stem.is_empty() { "scenario" } else { stem };
    stem.to_owned()
}
