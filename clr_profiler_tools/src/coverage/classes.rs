//! Facts of types that each of their methods needs.

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
    Ok(metadata.type_name(class.into())?.name.starts_with('<'))
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
