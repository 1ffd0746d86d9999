//! The layout of values without references, from metadata: [`RewriteContext::value_layout`].

use super::RewriteContext;
use super::lookup::{Lookup, Names};
use crate::ids::ModuleId;
use crate::metadata::MetadataImport;
use clr_profiler_il::attributes::TypeLayout;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::TypeToken;

/// A value that is one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    Bool,
    Char,
    I1,
    U1,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    R4,
    R8,
    NativeInt,
    NativeUint,
}

impl Primitive {
    pub(crate) fn of(type_sig: &TypeSig) -> Option<Self> {
        Some(match type_sig {
            TypeSig::Bool => Self::Bool,
            TypeSig::Char => Self::Char,
            TypeSig::I1 => Self::I1,
            TypeSig::U1 => Self::U1,
            TypeSig::I2 => Self::I2,
            TypeSig::U2 => Self::U2,
            TypeSig::I4 => Self::I4,
            TypeSig::U4 => Self::U4,
            TypeSig::I8 => Self::I8,
            TypeSig::U8 => Self::U8,
            TypeSig::R4 => Self::R4,
            TypeSig::R8 => Self::R8,
            TypeSig::NativeInt => Self::NativeInt,
            TypeSig::NativeUint => Self::NativeUint,
            _ => return None,
        })
    }

    /// Its size in bytes, which is also its alignment.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::Bool | Self::I1 | Self::U1 => 1,
            Self::Char | Self::I2 | Self::U2 => 2,
            Self::I4 | Self::U4 | Self::R4 => 4,
            Self::I8 | Self::U8 | Self::R8 => 8,
            Self::NativeInt | Self::NativeUint => size_of::<usize>() as u32,
        }
    }
}

/// A primitive within a value: the value itself, or a field of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// The names of the fields, `point.x`; empty if the value is a primitive.
    pub(crate) path: String,
    /// In bytes.
    pub(crate) offset: u32,
    pub(crate) primitive: Primitive,
}

/// The layout of a value type that has no references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueLayout {
    /// In bytes.
    pub(crate) size: u32,
    align: u32,
    pub(crate) leaves: Vec<Leaf>,
}

/// The maximum nesting of value types.
const DEPTH_LIMIT: u32 = 8;
/// The maximum size of a value that is passed to a patch.
const SIZE_LIMIT: u32 = 256;

/// An instance field: its name and type, in terms of the module that defines it.
type Field = (String, TypeSig);

impl RewriteContext<'_> {
    /// The layout of a value in terms of the method's module: a primitive, an enumeration, or a struct that
    /// consists of them and whose layout metadata determines. `None` for all others, and for types that are not
    /// loaded yet.
    ///
    /// Of a struct with several fields, it is the one that the runtimes use today: code that relies on it compares the
    /// size with that of `sizeof`.
    pub(crate) fn value_layout(&self, type_sig: &TypeSig) -> Option<ValueLayout> {
        let layout = self.layout(self.module(), type_sig, 0)?;
        (layout.size <= SIZE_LIMIT).then_some(layout)
    }

    /// The name of a type, without assemblies.
    pub(crate) fn type_name(&self, type_sig: &TypeSig) -> String {
        type_sig.display(&Names(&self.subject.metadata)).to_string()
    }

    fn layout(&self, module: ModuleId, type_sig: &TypeSig, depth: u32) -> Option<ValueLayout> {
        if let Some(primitive) = Primitive::of(type_sig) {
            let leaf = Leaf {
                path: String::new(),
                offset: 0,
                primitive,
            };
            return Some(ValueLayout {
                size: primitive.size(),
                align: primitive.size(),
                leaves: vec![leaf],
            });
        }
        let TypeSig::ValueType(class) = *type_sig else {
            return None;
        };
        if depth >= DEPTH_LIMIT {
            return None;
        }
        let (module, fields) = self.value_fields(module, class)?;
        let mut all = ValueLayout {
            size: 0,
            align: 1,
            leaves: Vec::new(),
        };
        // The field of an enumeration, and of a struct that wraps one value, may be left out.
        let is_single = fields.len() == 1;
        for (name, field) in fields {
            let field = self.layout(module, field.unmodified(), depth + 1)?;
            let start = all.size.next_multiple_of(field.align);
            all.align = all.align.max(field.align);
            all.size = start.checked_add(field.size)?;
            for leaf in field.leaves {
                let path = match leaf.path.as_str() {
                    _ if is_single && leaf.path.is_empty() => String::new(),
                    "" => name.clone(),
                    inner => format!("{name}.{inner}"),
                };
                all.leaves.push(Leaf {
                    path,
                    offset: start + leaf.offset,
                    primitive: leaf.primitive,
                });
            }
            if all.size > SIZE_LIMIT {
                return None;
            }
        }
        all.size = all.size.next_multiple_of(all.align);
        (all.size > 0).then_some(all)
    }

    /// The instance fields of a value type, with the module that defines it, if it has no layout of its own.
    fn value_fields(&self, module: ModuleId, class: TypeToken) -> Option<(ModuleId, Vec<Field>)> {
        const INLINE_ARRAY: &str = "System.Runtime.CompilerServices.InlineArrayAttribute";
        if let TypeToken::Spec(_) = class {
            return None;
        }
        Lookup::of(self.info()).in_type(module, class, |definition| {
            let (metadata, class) = (&definition.metadata, definition.class);
            let declared = metadata.class_layout(class).ok()?;
            if declared.is_some_and(|layout| layout.class_size != 0 || layout.pack_size != 0) {
                return None;
            }
            let attribute = metadata.custom_attribute_by_name(class, INLINE_ARRAY);
            if attribute.ok()?.is_some() {
                return None;
            }
            let mut fields = Vec::new();
            for field in metadata.fields(class) {
                let field = metadata.field_props(field.ok()?).ok()?;
                if !field.attributes.is_static() {
                    let type_sig = field.signature().ok()?.field_type;
                    fields.push((field.name, type_sig));
                }
            }
            let attributes = metadata.type_def_props(class).ok()?.attributes;
            let is_known = match attributes.layout() {
                TypeLayout::Sequential => true,
                // The runtime orders the fields.
                TypeLayout::Auto => fields.len() == 1,
                _ => false,
            };
            is_known.then_some((definition.module, fields))
        })
    }
}
