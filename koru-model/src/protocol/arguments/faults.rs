//! The faults of one call, and how they are worded.

use std::fmt;

use serde_json::{Map, Value};

use crate::limits;
use crate::protocol::error::Problem;

/// The longest name of a field that a reason or a path repeats, in characters.
const NAME_CHARS: usize = 60;
/// How alike two names must be for one to be offered in place of the other, from 0 to 1.
const ALIKE: f64 = 0.6;

/// A place in the arguments; it is written as `operations[3].at_utf8`.
pub(super) enum Path<'a> {
    /// The arguments themselves.
    Root,
    /// A field of the object at a path.
    Field(&'a Path<'a>, &'a str),
    /// An item of the array at a path.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Path::Root, name) => f.write_str(&shortened(name)),
            Self::Field(parent, name) => write!(f, "{parent}.{}", shortened(name)),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// The faults found so far.
#[derive(Default)]
pub(super) struct Faults(Vec<Problem>);

impl Faults {
    /// Notes a fault, unless there are more than can be listed already.
    pub(super) fn add(&mut self, path: &Path<'_>, reason: impl Into<String>) {
        if self.0.len() <= limits::PROBLEMS {
            self.0.push(Problem::new(path.to_string(), reason));
        }
    }

    /// Whether no further fault would be listed, so that its wording can be saved.
    pub(super) fn are_enough(&self) -> bool {
        self.0.len() >= limits::PROBLEMS
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The value, where nothing was wrong with it.
    pub(super) fn none_or(self, value: Value) -> Result<Value, Vec<Problem>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}

/// Why a field that nothing has is refused.
pub(super) fn unknown_field(name: &str, known: &Map<String, Value>) -> String {
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    let near = match nearest(name, &known) {
        Some(near) => format!("; did you mean {near}?"),
        None if known.is_empty() => String::new(),
        None => ";".to_owned(),
    };
    if known.is_empty() {
        return "unknown field; this takes no fields".to_owned();
    }
    format!("unknown field{near} Known: {}", known.join(", "))
}

/// Why a field that is required and absent is missed, with what it is for.
pub(super) fn missing(property: Option<&Value>) -> String {
    let description = property.and_then(|property| property["description"].as_str());
    match description.and_then(|text| text.split(". ").next()) {
        Some(first) => format!("required field is missing: {}", first.trim_end_matches('.')),
        None => "required field is missing".to_owned(),
    }
}

/// The known name that a wrong one most likely stands for.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| -> String {
        let letters = name.chars().take(NAME_CHARS).filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let wrong = plain(name);
    let likeness = |known: &str| {
        let known = plain(known);
        let holds = known.len() > 3
            && wrong.len() > 3
            && (wrong.contains(&known) || known.contains(&wrong));
        strsim::normalized_damerau_levenshtein(&wrong, &known).max(if holds { 0.7 } else { 0.0 })
    };
    known
        .iter()
        .map(|known| (likeness(known), *known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

/// A name or a value as a reason may repeat it.
pub(super) fn shortened(name: &str) -> String {
    let mut short: String = name.chars().take(NAME_CHARS).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}
