//! The values of a patched method, and their positions in the frame by which IL passes them.

use crate::error::{Error, Result};
use crate::info::StringLayout;
use crate::rewrite::{Leaf, Primitive, ValueLayout};

/// The closure that is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Before,
    After,
    Exception,
    /// No closure: the method ends by an exception, and the state is freed.
    Abandoned,
}

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

    /// Whether a number has the bit of a slot.
    pub(in super::super) fn has_slot(mask: u64, index: usize) -> bool {
        slot(index).is_some_and(|bit| mask & bit != 0)
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
    /// 0 for null, otherwise 1, or the address of the pinned object.
    Reference,
    /// Nothing: values of its type are not passed.
    Opaque,
    /// Nothing: the patch does not name it.
    Unnamed,
}

impl Kind {
    pub(super) fn is_passed(&self) -> bool {
        !matches!(self, Self::Opaque | Self::Unnamed)
    }

    pub(super) fn words(&self) -> u32 {
        match self {
            Self::Value(layout) => layout.size.div_ceil(8),
            Self::Struct(layout) => 1 + layout.size.div_ceil(8),
            Self::Text => 2,
            Self::Reference => 1,
            Self::Opaque | Self::Unnamed => 0,
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

/// The values of a method, and how a frame is divided.
pub(super) struct Layout {
    /// The full name of the method.
    pub(super) method: Box<str>,
    pub(super) slots: Vec<Slot>,
    /// The number of words in the frame.
    pub(super) words: u16,
    pub(super) strings: StringLayout,
    /// Whether the words of references are the addresses of pinned objects.
    pub(super) has_objects: bool,
    /// Computed from the slots, so that a name is looked up without parsing it.
    names: Vec<Name>,
    /// The name of each parameter, by its number without `this`.
    parameters: Vec<usize>,
}

/// A name by which closures find a value.
pub(super) struct Name {
    text: Box<str>,
    slot: usize,
    leaf: Option<usize>,
    /// If it is a number that is found without looking at the slot.
    pub(super) number: Option<NumberAt>,
}

/// A number in a frame.
pub(super) struct NumberAt {
    pub(super) word: u16,
    pub(super) primitive: Primitive,
    /// The bit of its slot.
    pub(super) bit: u64,
    /// Whether it is an argument or a field, which all closures can read, instead of the result.
    pub(super) is_argument: bool,
}

/// A primitive in a slot, or the slot itself.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) index: usize,
    pub(super) slot: &'a Slot,
    pub(super) leaf: Option<&'a Leaf>,
}

impl Slot {
    fn leaves(&self) -> &[Leaf] {
        match &self.kind {
            Kind::Value(layout) | Kind::Struct(layout) => &layout.leaves,
            _ => &[],
        }
    }

    fn number_at(&self, index: usize) -> Option<NumberAt> {
        let Kind::Value(layout) = &self.kind else {
            return None;
        };
        let [leaf] = &layout.leaves[..] else {
            return None;
        };
        Some(NumberAt {
            word: self.word,
            primitive: leaf.primitive,
            bit: bits::slot(index)?,
            is_argument: self.home != Home::Result,
        })
        .filter(|_| leaf.offset == 0 && leaf.path.is_empty() && self.home != Home::Exception)
    }
}

impl Layout {
    pub(super) fn new(
        method: &str,
        slots: Vec<Slot>,
        strings: StringLayout,
        has_objects: bool,
    ) -> Self {
        let mut names: Vec<Name> = Vec::new();
        let mut parameters: Vec<(u16, usize)> = Vec::new();
        for (index, slot) in slots.iter().enumerate() {
            let whole = slot.leaves().iter().position(|leaf| leaf.path.is_empty());
            if let Some(number) = slot.number {
                parameters.push((number, names.len()));
            }
            names.push(Name {
                text: slot.name.clone(),
                slot: index,
                leaf: whole,
                number: slot.number_at(index),
            });
            let parts = slot.leaves().iter().enumerate();
            for (leaf, part) in parts.filter(|(_, part)| !part.path.is_empty()) {
                names.push(Name {
                    text: format!("{}.{}", slot.name, part.path).into(),
                    slot: index,
                    leaf: Some(leaf),
                    number: None,
                });
            }
        }
        parameters.sort_unstable();
        Self {
            method: method.into(),
            words: slots.last().map_or(words::SLOTS, |last| {
                last.word.saturating_add(last.kind.words() as u16)
            }),
            slots,
            strings,
            has_objects,
            names,
            parameters: parameters.into_iter().map(|(_, name)| name).collect(),
        }
    }

    fn found(&self, name: &Name) -> Option<Found<'_>> {
        let (index, slot) = (name.slot, self.slots.get(name.slot)?);
        let leaf = name.leaf.and_then(|leaf| slot.leaves().get(leaf));
        Some(Found { index, slot, leaf })
    }

    /// Of two values with the same name, the first.
    #[inline]
    pub(super) fn known(&self, name: &str) -> Option<&Name> {
        self.names.iter().find(|known| *known.text == *name)
    }

    #[inline]
    pub(super) fn known_parameter(&self, number: usize) -> Option<&Name> {
        self.names.get(*self.parameters.get(number)?)
    }

    /// The value with a name.
    pub(super) fn find(&self, name: &str) -> Result<Found<'_>> {
        let known = self.known(name).and_then(|known| self.found(known));
        known.ok_or_else(|| self.has_no(name))
    }

    #[cold]
    fn has_no(&self, name: &str) -> Error {
        let names: Vec<&str> = self.slots.iter().map(|slot| &*slot.name).collect();
        Error::other(format!(
            "{} has no value `{name}`; it has `{}`",
            self.method,
            names.join("`, `")
        ))
    }

    /// The value of a parameter by its number, without `this`.
    pub(super) fn parameter(&self, number: usize) -> Result<Found<'_>> {
        let known = self.known_parameter(number);
        known.and_then(|known| self.found(known)).ok_or_else(|| {
            Error::other(format!(
                "{} has no parameter with the number {number}",
                self.method
            ))
        })
    }
}
