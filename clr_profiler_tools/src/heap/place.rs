//! The names of the locations of references.

use std::fmt;

use clr_profiler::heap::{HeapClass, ReferencePlace};

/// The name of the location of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceName<'a> {
    /// A field; the number is the offset of the reference in it, if its type is a structure.
    Field(&'a str, u32),
    /// An element of an array, of several dimensions in their order in memory, and
    /// the offset in it.
    Element(u64, u32),
    /// The value that a conditional weak table attaches.
    WeakTable,
    /// The location has no name.
    Unknown,
}

impl fmt::Display for PlaceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = match self {
            PlaceName::Field(name, within) => {
                f.write_str(name)?;
                *within
            }
            PlaceName::Element(index, within) => {
                write!(f, "[{index}]")?;
                *within
            }
            PlaceName::WeakTable => return f.write_str("(weak table)"),
            PlaceName::Unknown => return f.write_str("(runtime)"),
        };
        match within {
            0 => Ok(()),
            within => write!(f, "+{within}"),
        }
    }
}

impl<'a> PlaceName<'a> {
    /// The field or element at a location in an object of this type.
    #[must_use]
    pub fn of(class: &'a HeapClass, place: ReferencePlace) -> Self {
        match (place, class.elements) {
            (ReferencePlace::Offset(offset), Some(elements)) => {
                Self::element(elements.offset, elements.size, offset)
            }
            (ReferencePlace::Offset(offset), None) => Self::field(&class.fields, offset),
            (ReferencePlace::WeakTable, _) => Self::WeakTable,
            _ => Self::Unknown,
        }
    }

    /// The element at an offset in an array whose first element is at another one.
    pub(super) fn element(first: u32, size: u32, offset: u64) -> Self {
        let size = u64::from(size.max(1));
        match offset.checked_sub(u64::from(first)) {
            Some(offset) => Self::Element(offset / size, (offset % size) as u32),
            None => Self::Unknown,
        }
    }

    /// The field at an offset; fields are sorted by offset.
    pub(super) fn field(fields: &'a [(u32, String)], offset: u64) -> Self {
        let after = fields.partition_point(|(start, _)| u64::from(*start) <= offset);
        match fields[..after].last() {
            Some((start, name)) => Self::Field(name, (offset - u64::from(*start)) as u32),
            None => Self::Unknown,
        }
    }
}
