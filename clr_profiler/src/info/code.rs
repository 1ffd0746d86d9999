//! The ranges of native code, and its mapping to IL.

use std::ops::Range;

use crate::native::{List, arguments, results};
use clr_profiler_sys as sys;

/// A contiguous range of a function's native code; a function can have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CodeRange {
    /// The address of the first byte.
    pub start: usize,
    /// The length in bytes.
    pub size: usize,
}

impl CodeRange {
    /// Whether an instruction pointer is in this range.
    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        address >= self.start && address - self.start < self.size
    }
}

/// A range of native code and the IL that it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct IlToNative {
    /// The IL.
    pub il: IlOrigin,
    /// The range of offsets from the start of the native code, in bytes.
    pub native: Range<u32>,
}

/// The IL that native code was compiled from.
#[doc(alias = "CorDebugIlToNativeMappingTypes")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IlOrigin {
    /// The instruction at this offset.
    Offset(u32),
    /// No particular instruction.
    NoMapping,
    /// The code before the first instruction.
    Prolog,
    /// The code after the last instruction.
    Epilog,
}

/// An offset in a replaced method body, and the corresponding offset in the original.
#[doc(alias = "COR_IL_MAP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IlMapEntry {
    /// The offset in the original.
    pub old_offset: u32,
    /// The offset in the new body.
    pub new_offset: u32,
    /// Whether the two correspond exactly.
    pub is_accurate: bool,
}

arguments! {
    &[IlMapEntry] => List<sys::COR_IL_MAP> = |entries, context| {
        let entries = entries.iter().map(|entry| Ok(sys::COR_IL_MAP {
            oldOffset: entry.old_offset,
            newOffset: entry.new_offset,
            fAccurate: entry.is_accurate.into(),
        }));
        List::of(context, entries)
    };
}

results! {
    sys::COR_PRF_CODE_INFO => CodeRange = |raw, _| {
        Ok(Self { start: raw.startAddress, size: raw.size })
    };
    sys::COR_DEBUG_IL_TO_NATIVE_MAP => IlToNative = |raw, _| Ok(Self {
        il: match raw.ilOffset as i32 {
            sys::NO_MAPPING => IlOrigin::NoMapping,
            sys::PROLOG => IlOrigin::Prolog,
            sys::EPILOG => IlOrigin::Epilog,
            _ => IlOrigin::Offset(raw.ilOffset),
        },
        native: raw.nativeStartOffset..raw.nativeEndOffset,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{CallContext, FromNative};

    #[test]
    fn special_offsets_have_names() {
        let entry = |il: i32| sys::COR_DEBUG_IL_TO_NATIVE_MAP {
            ilOffset: il as u32,
            nativeStartOffset: 4,
            nativeEndOffset: 9,
        };
        let origins: Vec<_> = [-2, 0, 7, -1, -3]
            .map(|il| {
                IlToNative::from_native(entry(il), &CallContext::of("X::Y"))
                    .unwrap()
                    .il
            })
            .into();
        use IlOrigin::*;
        assert_eq!(origins, [Prolog, Offset(0), Offset(7), NoMapping, Epilog]);
    }

    #[test]
    fn a_range_ends_before_its_end() {
        let range = CodeRange { start: 16, size: 4 };
        assert!(range.contains(16) && range.contains(19));
        assert!(!range.contains(15) && !range.contains(20));
    }
}
