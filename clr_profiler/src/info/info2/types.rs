//! Types that the calls of `ICorProfilerInfo2` return.

use crate::ids::{ClassId, ModuleId};
use crate::native::{FromNative, native_enums, results};
use clr_profiler_il::token::{FieldDef, MethodDef, TypeDef};
use clr_profiler_sys as sys;

/// The method that a function is an instance of, and its generic arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo2 {
    /// The declaring type; `None` if several instantiations share the code.
    pub class: Option<ClassId>,
    /// The module that defines the method.
    pub module: ModuleId,
    /// The method in the metadata of that module.
    pub token: MethodDef,
    /// The method's own generic arguments, as far as they are known.
    pub type_arguments: Vec<ClassId>,
}

/// The definition, base type and generic arguments of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassIdInfo2 {
    /// The module that defines it.
    pub module: Option<ModuleId>,
    /// The type in the metadata of that module.
    pub token: TypeDef,
    /// The base type; `None` for `object` and interfaces.
    pub parent: Option<ClassId>,
    /// The generic arguments.
    pub type_arguments: Vec<ClassId>,
}

/// The size and fields of a type other than an array or a string.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassLayout {
    /// The size in bytes: for a class that of its objects, header included, for a value type that of its
    /// values.
    pub size: u32,
    /// The fields that the type itself declares, without inherited ones, with their offsets in bytes: for a
    /// class from the object's address, for a value type from the value's address.
    pub fields: Vec<(FieldDef, u32)>,
}

/// The offsets of length and characters in a string object, in bytes from the object's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringLayout {
    /// The length of the buffer; since .NET Framework 4 the same as `length_offset`.
    pub buffer_length_offset: u32,
    /// The length of the string in UTF-16 code units, 32 bits.
    pub length_offset: u32,
    /// The UTF-16 code units, followed by a zero.
    pub buffer_offset: u32,
}

/// The dimensions and elements of an array object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayObjectInfo {
    /// The dimensions, outermost first.
    pub dimensions: Vec<ArrayDimension>,
    /// The address of the first element.
    pub data: usize,
}

/// A dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayDimension {
    /// The number of elements.
    pub size: u32,
    /// The index of the first element.
    pub lower_bound: i32,
}

native_enums! {
    /// A generation of the managed heap, or another part that is collected in its own way.
    #[derive(PartialOrd, Ord)]
    Generation = COR_PRF_GC_GENERATION {
        /// The youngest objects.
        Gen0 = COR_PRF_GC_GEN_0,
        /// Objects that have survived a collection.
        Gen1 = COR_PRF_GC_GEN_1,
        /// The oldest objects.
        Gen2 = COR_PRF_GC_GEN_2,
        /// Large objects.
        LargeObjectHeap = COR_PRF_GC_LARGE_OBJECT_HEAP,
        /// Pinned objects.
        PinnedObjectHeap = COR_PRF_GC_PINNED_OBJECT_HEAP,
    }
    /// The kind of an exception clause.
    ClauseKind = COR_PRF_CLAUSE_TYPE {
        /// A filter decides whether there is a handler.
        Filter = COR_PRF_CLAUSE_FILTER,
        /// A catch block.
        Catch = COR_PRF_CLAUSE_CATCH,
        /// A finally or fault block.
        Finally = COR_PRF_CLAUSE_FINALLY,
    }
}

/// An address range of a generation.
#[doc(alias = "COR_PRF_GC_GENERATION_RANGE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerationRange {
    /// The generation.
    pub generation: Generation,
    /// The start address.
    pub start: usize,
    /// The number of bytes in use.
    pub size: usize,
    /// The size of the range in bytes, including those in use.
    pub reserved: usize,
}

impl GenerationRange {
    /// Whether this address is in the range.
    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        address >= self.start && address - self.start < self.reserved
    }
}

/// The exception clause that is about to run.
#[doc(alias = "COR_PRF_EX_CLAUSE_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExceptionClauseInfo {
    /// The kind of clause.
    pub kind: ClauseKind,
    /// The address of its native code.
    pub program_counter: usize,
    /// The frame pointer of its method.
    pub frame_pointer: usize,
    /// The shadow stack pointer; Itanium only.
    pub shadow_stack_pointer: usize,
}

results! {
    /// A field and its offset.
    sys::COR_FIELD_OFFSET => (FieldDef, u32) = |raw, context| {
        Ok((FromNative::from_native(raw.ridOfField, context)?, raw.ulOffset))
    };
    sys::COR_PRF_GC_GENERATION_RANGE => GenerationRange = |raw, _| Ok(Self {
        generation: Generation::from_native(raw.generation),
        start: raw.rangeStart,
        size: raw.rangeLength,
        reserved: raw.rangeLengthReserved,
    });
    sys::COR_PRF_EX_CLAUSE_INFO => ExceptionClauseInfo = |raw, _| Ok(Self {
        kind: ClauseKind::from_native(raw.clauseType),
        program_counter: raw.programCounter,
        frame_pointer: raw.framePointer,
        shadow_stack_pointer: raw.shadowStackPointer,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::CallContext;

    #[test]
    fn values_of_newer_runtimes_survive() {
        assert_eq!(Generation::from_native(3), Generation::LargeObjectHeap);
        assert_eq!(Generation::from_native(9), Generation::Unknown(9));
        let clause = sys::COR_PRF_EX_CLAUSE_INFO {
            clauseType: 7,
            ..Default::default()
        };
        let clause = ExceptionClauseInfo::from_native(clause, &CallContext::of("X::Y")).unwrap();
        assert_eq!(clause.kind, ClauseKind::Unknown(7));
    }

    #[test]
    fn a_range_holds_what_is_reserved_too() {
        let range = GenerationRange {
            generation: Generation::Gen2,
            start: 0x100,
            size: 0x10,
            reserved: 0x20,
        };
        assert!(range.contains(0x100) && range.contains(0x11f));
        assert!(!range.contains(0xff) && !range.contains(0x120));
    }
}
