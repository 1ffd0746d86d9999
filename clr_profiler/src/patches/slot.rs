//! The values of a patched method, and their positions in the frame by which IL passes them.

use super::patch::Hooks;
use crate::error::{Error, Result};
use crate::info::StringLayout;
use crate::rewrite::{Leaf, ValueLayout};
use std::sync::Arc;

/// The words at the start of each frame; each is 64 bits wide.
pub(super) mod words {
    /// The state that a patch keeps from `before` on: a pointer, or 0.
    pub(in super::super) const STATE: u16 = 0;
    /// The name of the exception's type to throw: its address and length.
    pub(in super::super) const THROWN_TYPE: u16 = 1;
    /// The message of the exception to throw: its address and length.
    pub(in super::super) const THROWN_MESSAGE: u16 = 3;
    /// The first word of the first slot.
    pub(in super::super) const SLOTS: u16 = 5;
}

/// The bits of the number that a hook returns to IL.
pub(super) mod bits {
    /// The method's code does not run.
    pub(in super::super) const SKIP: u64 = 1;
    /// An exception is thrown.
    pub(in super::super) const THROW: u64 = 2;
    /// The exception ends here.
    pub(in super::super) const SWALLOW: u64 = 4;
    /// The slot with this number has a new value.
    pub(in super::super) fn slot(index: usize) -> Option<u64> {
        1u64.checked_shl(u32::try_from(index).ok()?.checked_add(3)?)
    }
}

/// The number of slots of a frame, each of which has a bit.
pub(super) const SLOT_LIMIT: usize = 61;

/// The position of a slot's value in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// An argument, `this` included, which may be by reference.
    Argument {
        number: u16,
        is_by_ref: bool,
    },
    /// A field of the type that declares the method.
    Field {
        is_static: bool,
    },
    Result,
    /// The type and the message of the exception.
    Exception,
}

/// The form of a slot's value in the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its bytes.
    Value(ValueLayout),
    /// Its size as the runtime knows it, then its bytes.
    Struct(ValueLayout),
    /// The address of a pinned string, or 0; once it was set, the address and the length of the characters.
    Text,
    /// 0 for null, otherwise 1.
    Reference,
    /// Nothing.
    Opaque,
}

impl Kind {
    pub(super) fn words(&self) -> u32 {
        match self {
            Self::Value(layout) => layout.size.div_ceil(8),
            Self::Struct(layout) => 1 + layout.size.div_ceil(8),
            Self::Text => 2,
            Self::Reference => 1,
            Self::Opaque => 0,
        }
    }
}

/// A value of a patched method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: Box<str>,
    /// The number of the parameter, without `this`.
    pub(super) number: Option<u16>,
    /// Its type in text.
    pub(super) type_name: Box<str>,
    pub(super) home: Home,
    pub(super) kind: Kind,
    /// Its first word in the frame.
    pub(super) word: u16,
}

/// A patched method, for the functions that its IL calls. It lives as long as the library.
pub(super) struct Site {
    pub(super) method: Box<str>,
    pub(super) slots: Vec<Slot>,
    /// The number of words in the frame.
    pub(super) words: u16,
    pub(super) strings: StringLayout,
    pub(super) hooks: Arc<Hooks>,
}

/// A primitive in a slot, or the slot itself.
pub(super) struct Found<'a> {
    pub(super) index: usize,
    pub(super) slot: &'a Slot,
    pub(super) leaf: Option<&'a Leaf>,
}

impl Site {
    /// The slot that a name means; of a field of a struct, also its primitive.
    pub(super) fn find(&self, name: &str) -> Result<Found<'_>> {
        for (index, slot) in self.slots.iter().enumerate() {
            let Some(rest) = name.strip_prefix(&*slot.name) else {
                continue;
            };
            let path = match rest.strip_prefix('.') {
                Some(path) => path,
                None if rest.is_empty() => "",
                None => continue,
            };
            let leaf = match &slot.kind {
                Kind::Value(layout) | Kind::Struct(layout) => {
                    layout.leaves.iter().find(|leaf| leaf.path == path)
                }
                _ => None,
            };
            if path.is_empty() || leaf.is_some() {
                return Ok(Found { index, slot, leaf });
            }
        }
        let names: Vec<&str> = self.slots.iter().map(|slot| &*slot.name).collect();
        Err(Error::other(format!(
            "{} has no value `{name}`; it has `{}`",
            self.method,
            names.join("`, `")
        )))
    }

    /// The slot of a parameter by its number, without `this`.
    pub(super) fn parameter(&self, number: usize) -> Result<Found<'_>> {
        let slots = self.slots.iter().enumerate();
        let found = slots
            .into_iter()
            .find(|(_, slot)| slot.number.map(usize::from) == Some(number));
        let (index, slot) = found.ok_or_else(|| {
            Error::other(format!(
                "{} has no parameter with the number {number}",
                self.method
            ))
        })?;
        let leaf = match &slot.kind {
            Kind::Value(layout) | Kind::Struct(layout) => {
                layout.leaves.iter().find(|leaf| leaf.path.is_empty())
            }
            _ => None,
        };
        Ok(Found { index, slot, leaf })
    }
}
