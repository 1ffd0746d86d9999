//! Facts of types that each of their methods needs.

use std::sync::atomic::{AtomicU8, Ordering};

use clr_metadata::token::TypeDef;
use clr_metadata::{Error, Metadata};

use super::marks::Marks;
use super::module::DEPTH;

/// The types of an assembly, by their rows.
#[derive(Debug)]
pub(super) struct Classes(Vec<Class>);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Class {
    /// Whether it, or a type around it, is left out by an attribute.
    pub(super) is_excluded: bool,
    /// Whether the compiler has named it.
    pub(super) is_of_compiler: bool,
}

impl Class {
    pub(super) fn of(
        metadata: &Metadata<'_>,
        marks: &Marks,
        class: TypeDef,
    ) -> Result<Self, Error> {
        let mut around = Some(class);
        let mut is_excluded = false;
        for _ in 0..DEPTH {
            let Some(one) = around else { break };
            is_excluded |= marks.exclude(one);
            around = metadata.enclosing_type(one);
        }
        Ok(Self {
            is_excluded,
            is_of_compiler: is_of_compiler(metadata, class)?,
        })
    }
}

/// Whether the compiler has named a type.
pub(super) fn is_of_compiler(metadata: &Metadata<'_>, class: TypeDef) -> Result<bool, Error> {
    let name = metadata.string_bytes(metadata.row(class)?.name)?;
    Ok(name.first() == Some(&b'<'))
}

/// The types that were asked about, for those who ask about few.
#[derive(Debug)]
pub(super) struct KnownClasses(Box<[AtomicU8]>);

impl KnownClasses {
    const KNOWN: u8 = 1;
    const EXCLUDED: u8 = 2;
    const OF_COMPILER: u8 = 4;

    /// Those of an assembly, of which none is known.
    pub(super) fn of(metadata: &Metadata<'_>) -> Self {
        let classes = metadata.tokens::<TypeDef>();
        Self(classes.map(|_| AtomicU8::new(0)).collect())
    }

    /// The facts of a type, which are found once.
    pub(super) fn get(
        &self,
        class: TypeDef,
        find: impl FnOnce() -> Result<Class, Error>,
    ) -> Result<Class, Error> {
        let index = (class.row() as usize).checked_sub(1);
        let known = index.and_then(|index| self.0.get(index));
        let bits = known.map_or(0, |known| known.load(Ordering::Relaxed));
        if bits & Self::KNOWN != 0 {
            return Ok(Class {
                is_excluded: bits & Self::EXCLUDED != 0,
                is_of_compiler: bits & Self::OF_COMPILER != 0,
            });
        }
        let found = find()?;
        if let Some(known) = known {
            let is = |fact: bool, bit| if fact { bit } else { 0 };
            let bits = Self::KNOWN
                | is(found.is_excluded, Self::EXCLUDED)
                | is(found.is_of_compiler, Self::OF_COMPILER);
            known.store(bits, Ordering::Relaxed);
        }
        Ok(found)
    }
}

impl Classes {
    pub(super) fn of(metadata: &Metadata<'_>, marks: &Marks) -> Result<Self, Error> {
        let classes = metadata.tokens::<TypeDef>();
        let classes = classes.map(|class| Class::of(metadata, marks, class));
        classes.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn get(&self, class: TypeDef) -> Class {
        let index = (class.row() as usize).checked_sub(1);
        let class = index.and_then(|index| self.0.get(index));
        class.copied().unwrap_or_default()
    }
}
