//! [`Object`], which reads objects.

mod fields;
mod region;
#[cfg(feature = "hooks")]
mod shape;
mod value;

use std::fmt;
use std::iter::successors;

use super::handle::OBJECTS_MOVE;
use super::{
    ArrayDimension, CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo3, CorProfilerInfo4,
    CorProfilerInfoStatics, ProfilerInfo, StaticKind,
};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ObjectId};
use crate::runtime::is_cooperative;
use fields::{instance_fields, static_field};
use region::Region;
use value::Kind;

#[cfg(feature = "hooks")]
pub(crate) use shape::Shape;
pub use value::{ObjectValue, StructValue};

/// The fields of a type that hold references or structures, including inherited ones, with their offsets in
/// bytes from the start of the object.
pub(crate) fn reference_fields(info: &ProfilerInfo, class: ClassId) -> Result<Vec<(u32, String)>> {
    let boxed = info.box_class_layout(class).unwrap_or(0);
    let mut fields = Vec::new();
    for declaring in bases(info, class) {
        for field in instance_fields(info, declaring?)? {
            if matches!(field.kind, Kind::Reference | Kind::Struct(_)) {
                // Objects are smaller than 4 GB.
                let offset = u32::try_from(field.offset).unwrap_or(u32::MAX);
                fields.push((offset.saturating_add(boxed), field.name));
            }
        }
        if boxed != 0 {
            // The base types of value types have no fields.
            break;
        }
    }
    Ok(fields)
}

/// A type and its base types, at most 100.
fn bases(info: &ProfilerInfo, class: ClassId) -> impl Iterator<Item = Result<ClassId>> + '_ {
    let parent = |class: &Result<ClassId>| {
        let facts = info.class_id_info2(*class.as_ref().ok()?);
        facts.map(|facts| facts.parent).transpose()
    };
    successors(Some(Ok(class)), parent).take(100)
}

/// A reader of an object.
///
/// From [`ProfilerInfo::object`] and [`GcScope::object`](crate::info::GcScope::object). All reads are
/// checked against the object's size. After a call that may trigger a GC, reads are refused.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    info: &'a ProfilerInfo,
    id: ObjectId<'a>,
    class: ClassId,
    region: Region<'a>,
}

impl<'a> Object<'a> {
    /// The object's id.
    #[must_use]
    pub fn id(&self) -> ObjectId<'a> {
        self.id
    }

    /// Its type.
    #[must_use]
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// The text of a string. Lone surrogates become U+FFFD.
    ///
    /// The caller must know that the object is a string: for another object, the text is meaningless.
    ///
    /// # Errors
    ///
    /// The length does not fit the size: the object is not a string.
    pub fn string(&self) -> Result<String> {
        self.string_start(usize::MAX).map(|(text, _)| text)
    }

    /// The first UTF-16 units of a string as [`string`](Self::string), and whether there are more.
    pub(crate) fn string_start(&self, most: usize) -> Result<(String, bool)> {
        let layout = self.info.string_layout2()?;
        let length = self.region.part(layout.length_offset as usize, None)?;
        let length = u32::from_ne_bytes(length.read()?) as usize;
        let buffer = layout.buffer_offset as usize;
        // The length is checked as a whole.
        let text = self.region.part(buffer, length.checked_mul(2))?;
        let read = length.min(most);
        let bytes = text.part(0, Some(read * 2))?.bytes()?;
        let units = bytes.chunks_exact(2).map(|unit| match unit {
            [first, second] => u16::from_ne_bytes([*first, *second]),
            _ => 0,
        });
        let mut units: Vec<u16> = units.collect();
        let is_truncated = read < length;
        // Half of a pair is no character.
        if is_truncated && units.last().is_some_and(|last| last & 0xfc00 == 0xd800) {
            units.pop();
        }
        Ok((String::from_utf16_lossy(&units), is_truncated))
    }

    /// The object as an array; `None` if it is not one.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn array(&self) -> Result<Option<ArrayObject<'a>>> {
        let Some(class) = self.info.array_class_info(self.class)? else {
            return Ok(None);
        };
        let facts = self.info.array_object_info(self.id)?;
        let kind = Kind::of_element_type(class.element_type, class.element_class);
        let element_size = match kind {
            Some(Kind::Struct(Some(class))) => self.info.class_layout(class)?.size as usize,
            Some(kind) => kind.size().unwrap_or(0),
            None => 0,
        };
        let mut count = facts.dimensions.iter();
        let count = count.try_fold(1usize, |count, d| count.checked_mul(d.size as usize));
        let size = count.and_then(|count| count.checked_mul(element_size));
        let offset = facts.data.wrapping_sub(self.id.address());
        let (Some(count), Some(size), Some(kind)) = (count, size, kind) else {
            return Err(Error::invalid(
                "reading an array",
                "values of its element type cannot be read",
            ));
        };
        Ok(Some(ArrayObject {
            info: self.info,
            dimensions: facts.dimensions,
            count,
            kind,
            element_size,
            region: self.region.part(offset, Some(size))?,
        }))
    }

    /// The value of a boxed value type; `None` for other objects.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn unboxed(&self) -> Result<Option<StructValue<'a>>> {
        let Ok(offset) = self.info.box_class_layout(self.class) else {
            return Ok(None);
        };
        let size = self.info.class_layout(self.class)?.size as usize;
        Ok(Some(StructValue {
            info: self.info,
            class: Some(self.class),
            region: self.region.part(offset as usize, Some(size))?,
        }))
    }

    /// A field by name, of the object's type or a base type; `None` if there is none. Of several fields of
    /// that name, the most derived one.
    ///
    /// Not available during a collection, because names are in metadata.
    ///
    /// # Errors
    ///
    /// The errors of the native calls.
    pub fn field(&self, name: &str) -> Result<Option<ObjectValue<'a>>> {
        for declaring in bases(self.info, self.class) {
            let declared = instance_fields(self.info, declaring?)?;
            if let Some(field) = declared.into_iter().find(|field| field.name == name) {
                return field.read(self.info, self.region).map(Some);
            }
        }
        Ok(None)
    }

    /// All fields with their names, those of the object's own type first.
    ///
    /// Not available during a collection, because names are in metadata.
    ///
    /// # Errors
    ///
    /// The errors of the native calls.
    pub fn fields(&self) -> Result<Vec<(String, ObjectValue<'a>)>> {
        let mut fields = Vec::new();
        for declaring in bases(self.info, self.class) {
            for field in instance_fields(self.info, declaring?)? {
                let value = field.read(self.info, self.region)?;
                fields.push((field.name, value));
            }
        }
        Ok(fields)
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({:?}, {:?})", self.id, self.class)
    }
}

/// A reader of an array object.
#[derive(Clone)]
pub struct ArrayObject<'a> {
    info: &'a ProfilerInfo,
    dimensions: Vec<ArrayDimension>,
    count: usize,
    kind: Kind,
    element_size: usize,
    region: Region<'a>,
}

impl<'a> ArrayObject<'a> {
    /// The dimensions, outermost first.
    #[must_use]
    pub fn dimensions(&self) -> &[ArrayDimension] {
        &self.dimensions
    }

    /// The number of elements in all dimensions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// An element by its index from 0 through all dimensions, in which the last dimension varies fastest.
    ///
    /// # Errors
    ///
    /// The index is out of range.
    pub fn get(&self, index: usize) -> Result<ObjectValue<'a>> {
        let offset = index.saturating_mul(self.element_size);
        let element = self.region.part(offset, Some(self.element_size))?;
        self.kind.read(self.info, element)
    }

    /// The elements in order; the last dimension varies fastest.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<ObjectValue<'a>>> + '_ {
        (0..self.count).map(|index| self.get(index))
    }

    /// The bytes of all elements.
    ///
    /// # Errors
    ///
    /// The object may have moved.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.region.bytes()
    }
}

impl fmt::Debug for ArrayObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayObject({:?})", self.dimensions)
    }
}

impl ProfilerInfo {
    /// A reader of an object's characters, elements and fields.
    ///
    /// **Context**: a callback that delivers objects, on its thread.
    ///
    /// # Errors
    ///
    /// Objects cannot be read here, or this one may have moved since it was delivered.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # use clr_profiler::info::ObjectValue;
    /// # fn exception_thrown(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
    /// if let Some(ObjectValue::Reference(Some(message))) = info.object(thrown)?.field("_message")? {
    ///     eprintln!("{}", info.object(message)?.string()?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn object<'a>(&'a self, object: ObjectId<'a>) -> Result<Object<'a>> {
        let class = self.class_from_object(object)?;
        // The size includes the header, which precedes the address.
        let size = self
            .object_size2(object)?
            .saturating_sub(size_of::<usize>());
        Ok(Object {
            info: self,
            id: object,
            class,
            // SAFETY: an object of that size is at its address, as the runtime has just reported. This
            // thread may read it, and nothing moves it before a call that may trigger a GC.
            region: unsafe { Region::new(object.address(), size) },
        })
    }

    /// Calls `read` with the value of a static field that a type declares; returns `None` if there is no
    /// field of that name.
    ///
    /// For thread-static fields, it is the value of this thread.
    ///
    /// **Context**: a callback on a managed thread, not during a collection. Fields of reference types and
    /// structures, and thread-static fields, can be read only where objects do not move: in
    /// `exception_thrown`, `exception_catcher_enter` and `object_allocated`.
    ///
    /// # Errors
    ///
    /// That objects can move in this callback; `CORPROF_E_DATAINCOMPLETE` before the type is initialised; an
    /// error of the native calls.
    pub fn with_static_field<R>(
        &self,
        class: ClassId,
        name: &str,
        read: impl FnOnce(ObjectValue<'_>) -> R,
    ) -> Result<Option<R>> {
        let Some((field, kind)) = static_field(self, class, name)? else {
            return Ok(None);
        };
        let statics = self.static_field_info(class, field)?;
        // Numbers are outside the managed heap, unless they are thread-static.
        let is_in_heap = match kind {
            Kind::Reference | Kind::Struct(_) => true,
            _ => statics.contains(StaticKind::THREAD),
        };
        if is_in_heap && !is_cooperative() {
            return Err(Error::rule("reading a static field", OBJECTS_MOVE));
        }
        let address = if statics.contains(StaticKind::THREAD) {
            self.thread_static_address(class, field, None)?
        } else if statics.contains(StaticKind::RVA) {
            self.rva_static_address(class, field)?
        } else {
            let domain = self.thread_app_domain(self.current_thread_id()?)?;
            self.app_domain_static_address(class, field, domain)?
        };
        let size = match kind {
            Kind::Struct(Some(class)) => self.class_layout(class)?.size as usize,
            kind => kind.size().unwrap_or(0),
        };
        // SAFETY: the runtime has just reported that the field, which has that size, is at this address.
        // The type is alive during calls about it, and values that can be in the managed heap do not move,
        // as was checked above.
        let region = unsafe { Region::new(address, size) };
        kind.read(self, region).map(|value| Some(read(value)))
    }
}
