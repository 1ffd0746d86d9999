//! The texts of strings, which are read while the heap is recorded.

use std::fmt;

use crate::error::Result;
use crate::ids::{ClassId, ModuleId, ObjectId};
use crate::il::token::TypeDef;
use crate::info::GcScope;

/// The limit for all texts together, in bytes: the program waits while they are copied.
const MOST: usize = 1 << 28;
/// The bit of an end that marks a truncated text.
const TRUNCATED: u32 = 1 << 31;

/// The text of a string in a [`HeapGraph`](super::HeapGraph).
///
/// Returned by [`HeapObject::text`](super::HeapObject::text). Displayed with `...` if it is truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HeapText<'a> {
    /// The text, or its beginning. Lone surrogates are U+FFFD.
    pub text: &'a str,
    /// Whether the string is longer.
    pub is_truncated: bool,
}

impl fmt::Display for HeapText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        match self.is_truncated {
            true => f.write_str("..."),
            false => Ok(()),
        }
    }
}

/// The texts that are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The number of UTF-16 units that are read of each.
    pub(super) length: usize,
    /// The definition of `System.String`.
    pub(super) definition: (ModuleId, TypeDef),
    /// The type of strings, once one was seen.
    string: Option<ClassId>,
    /// The last type that is another one.
    other: Option<ClassId>,
}

impl Wanted {
    pub(super) fn new(length: usize, definition: (ModuleId, TypeDef)) -> Self {
        Self {
            length,
            definition,
            string: None,
            other: None,
        }
    }

    /// Whether objects of this type are strings.
    pub(super) fn is_string(&mut self, gc: &GcScope, class: ClassId) -> bool {
        if self.string.is_some() || self.other == Some(class) {
            return self.string == Some(class);
        }
        let (module, token) = self.definition;
        let facts = gc.class_id_info(class);
        let is_string =
            facts.is_ok_and(|facts| facts.module == Some(module) && facts.token == token);
        match is_string {
            true => self.string = Some(class),
            false => self.other = Some(class),
        }
        is_string
    }
}

/// Texts of objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    all: String,
    /// The numbers of the objects, ascending, with the ends of their texts.
    ends: Vec<(u32, u32)>,
}

impl Texts {
    /// Adds the text of a string, unless it cannot be read, or there is no room for it.
    pub(super) fn add(&mut self, gc: &GcScope, object: ObjectId<'_>, number: u32, wanted: &Wanted) {
        if let Ok((text, is_truncated)) = read(gc, object, wanted.length) {
            self.push(number, &text, is_truncated);
        }
    }

    fn push(&mut self, number: u32, text: &str, is_truncated: bool) {
        if self.all.len() + text.len() <= MOST {
            self.all.push_str(text);
            let mark = if is_truncated { TRUNCATED } else { 0 };
            self.ends.push((number, self.all.len() as u32 | mark));
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<HeapText<'_>> {
        let index = self
            .ends
            .binary_search_by_key(&number, |(object, _)| *object);
        let index = index.ok()?;
        let end = |index: usize| self.ends.get(index).map(|(_, end)| *end);
        let before = index.checked_sub(1).and_then(end).unwrap_or(0);
        let [from, to] = [before, end(index)?].map(|end| (end & !TRUNCATED) as usize);
        Some(HeapText {
            text: self.all.get(from..to)?,
            is_truncated: end(index)? & TRUNCATED != 0,
        })
    }
}

fn read(gc: &GcScope, object: ObjectId<'_>, length: usize) -> Result<(String, bool)> {
    gc.object(object)?.string_start(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_their_objects() {
        let mut texts = Texts::default();
        for (number, text, is_truncated) in [(3, "three", false), (7, "", false), (8, "eig", true)]
        {
            texts.push(number, text, is_truncated);
        }
        let text = |number| texts.get(number).map(|text| text.to_string());
        assert_eq!(text(3).as_deref(), Some("three"));
        assert_eq!(text(7).as_deref(), Some(""));
        assert_eq!(text(8).as_deref(), Some("eig..."));
        assert_eq!([0, 4, 9].map(text), [None, None, None]);
    }
}
