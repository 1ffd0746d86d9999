//! The paths of types: namespace, type, nested types.

use super::glob::{Glob, list_matches};
use super::types::ListItem;

/// A part of the name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    /// Whether it follows a `+`.
    pub(super) is_nested: bool,
    /// Without the number of generic parameters.
    pub(super) name: &'t str,
    pub(super) arity: usize,
}

impl Part<'_> {
    /// Whether the compiler has made the name.
    pub(super) fn is_generated(&self) -> bool {
        self.name.starts_with('<')
    }
}

/// The parts of a type's name in the form of the metadata. A dot between angle brackets at the start of a
/// part is a part of the name.
pub(super) fn parts(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(6);
    let (mut start, mut depth, mut is_nested) = (0_usize, 0_usize, false);
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' if depth > 0 || at == start => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b'.' | b'+' if depth == 0 => {
                parts.push(part(name, start, at, is_nested));
                start = at + 1;
                is_nested = byte == b'+';
            }
            _ => {}
        }
    }
    parts.push(part(name, start, name.len(), is_nested));
    parts
}

fn part(text: &str, start: usize, end: usize, is_nested: bool) -> Part<'_> {
    let whole = text.get(start..end).unwrap_or("");
    let (name, arity) = match whole.rsplit_once('`') {
        Some((name, digits)) => match digits.parse::<u16>() {
            Ok(arity) => (name, usize::from(arity)),
            Err(_) => (whole, 0),
        },
        None => (whole, 0),
    };
    Part {
        is_nested,
        name,
        arity,
    }
}

/// An item of a path.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `**`
    Any,
    Segment {
        is_nested: bool,
        name: Glob,
    },
}

/// The path of a type.
#[derive(Clone, Debug, Default)]
pub(super) struct TypePath {
    pub(super) steps: Vec<Step>,
    /// The generic arguments of all segments.
    pub(super) arguments: Option<Vec<ListItem>>,
}

impl TypePath {
    /// The name of the last segment, if it has no wildcard.
    pub(super) fn last_name(&self) -> Option<&str> {
        match self.steps.last()? {
            Step::Segment { name, .. } => name.literal(),
            Step::Any => None,
        }
    }

    /// Whether it is `**` alone.
    pub(super) fn is_any(&self) -> bool {
        matches!(*self.steps, [Step::Any])
    }

    /// Whether the names of a type match. `all` is for wildcards that match names of the compiler, too.
    pub(super) fn names(&self, parts: &[Part<'_>], all: bool) -> bool {
        let names = list_matches::<_, _, std::convert::Infallible>(
            &self.steps,
            parts,
            |step| matches!(step, Step::Any),
            |part| all || !part.is_generated(),
            |step, index| {
                let (Step::Segment { is_nested, name }, Some(part)) = (step, parts.get(index))
                else {
                    return Ok(false);
                };
                let may = all || !part.is_generated() || name.prefix().starts_with('<');
                Ok(may && *is_nested == part.is_nested && name.matches(part.name))
            },
        );
        names == Ok(true)
    }
}
