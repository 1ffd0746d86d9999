//! [`Object`]: an object or an array of a call.

use std::fmt;
use std::marker::PhantomData;

use super::super::slot::Layout;
use super::super::value::{CallValue, IntoCallValue, Read, Written, type_of};
use super::request::{Request, kind, operation, word};
use crate::error::{Error, Result};
use crate::rewrite::Primitive;

/// An object or an array of the program, in a closure of a patch.
///
/// [`Call::object`](super::super::Call::object) returns those of a call. It is valid as long as the closure's [`Call`](super::super::Call): objects cannot be
/// kept, and a GC may move them meanwhile.
///
/// Its parts are read and written one by one, by reflection in the program, which takes some microseconds: the fields of an
/// object by name, private ones and those of its base classes, too, and the elements of an array of one dimension by index.
///
/// ```
/// use clr_profiler::patches::Patch;
///
/// let patch = Patch::method("Shop.Store.Order").objects().before(|call| {
///     let Some(order) = call.object("order")? else {
///         return Ok(());
///     };
///     let total: i32 = order.get("total")?;
///     if let Some(customer) = order.object("customer")? {
///         customer.set("name", "nobody")?;
///     }
///     if let Some(items) = order.object("items")? {
///         for index in 0..items.len()? {
///             items.set(index, total)?;
///         }
///     }
///     Ok(())
/// });
/// # drop(patch);
/// ```
///
/// It cannot be kept for another closure:
///
/// ```compile_fail
/// use clr_profiler::patches::Patch;
///
/// let patch = Patch::method("Shop.Store.Order").objects().before(|call| {
///     let order = call.object("order")?;
///     call.keep(order);
///     Ok(())
/// });
/// ```
///
/// A property without code of its own (`{ get; set; }`) is read by its name, as a field. Structs that are not one number
/// of their own type, such as `DateTime`, are objects: copies. Their fields are read and written by paths, `"point.X"`; a copy that was
/// changed is stored by [`set_object`](Self::set_object), as for the elements of an array:
///
/// ```
/// use clr_profiler::patches::Patch;
///
/// let patch = Patch::method("Shop.Store.Move").objects().before(|call| {
///     let (Some(order), Some(other)) = (call.object("order")?, call.object("other")?) else {
///         return Ok(());
///     };
///     order.set("place.x", 5)?;
///     if let Some(customer) = other.object("customer")? {
///         order.set_object("customer", &customer)?;
///     }
///     if let Some(points) = order.object("points")?
///         && let Some(first) = points.object(0)?
///     {
///         first.set("x", 6)?;
///         points.set_object(0, &first)?;
///     }
///     Ok(())
/// });
/// # drop(patch);
/// ```
pub struct Object<'c> {
    reference: Reference,
    /// Whether it is a copy of a struct.
    is_struct: bool,
    values: &'c Layout,
    /// Of the thread that runs the closure.
    not_send: PhantomData<*const ()>,
}

/// How managed code finds an object.
#[derive(Clone, Copy, Debug)]
enum Reference {
    /// The patched method pins it while the closure runs.
    Address(u64),
    /// Freed when the object is dropped.
    Handle(u64),
}

impl Reference {
    /// Whether it is a handle, and its bits.
    fn words(self) -> (u64, u64) {
        match self {
            Self::Address(address) => (0, address),
            Self::Handle(handle) => (1, handle),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// The name of a field or the index of an element.
pub trait ObjectPart: sealed::Sealed + Copy {
    #[doc(hidden)]
    fn part(&self) -> Part<'_>;
}

/// A part of an object.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    #[doc(hidden)]
    Field(&'a str),
    #[doc(hidden)]
    Element(usize),
}

impl sealed::Sealed for &str {}
impl sealed::Sealed for usize {}

impl ObjectPart for &str {
    fn part(&self) -> Part<'_> {
        Part::Field(self)
    }
}

impl ObjectPart for usize {
    fn part(&self) -> Part<'_> {
        Part::Element(*self)
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, "the field `{name}`"),
            Self::Element(index) => write!(f, "the element {index}"),
        }
    }
}

/// The kind of a number in a request: the `TypeCode` of .NET, from [`kind::NUMBER`] on.
const NUMBERS: [(Primitive, u64); 14] = [
    (Primitive::NativeInt, 1),
    (Primitive::NativeUint, 2),
    (Primitive::Bool, 3),
    (Primitive::Char, 4),
    (Primitive::I1, 5),
    (Primitive::U1, 6),
    (Primitive::I2, 7),
    (Primitive::U2, 8),
    (Primitive::I4, 9),
    (Primitive::U4, 10),
    (Primitive::I8, 11),
    (Primitive::U8, 12),
    (Primitive::R4, 13),
    (Primitive::R8, 14),
];

fn primitive_of(kind: u64) -> Option<Primitive> {
    let found = NUMBERS.iter().find(|(_, code)| kind::NUMBER + code == kind);
    found.map(|(primitive, _)| *primitive)
}

fn kind_of(primitive: Primitive) -> u64 {
    let found = NUMBERS.iter().find(|(one, _)| *one == primitive);
    found.map_or(0, |(_, code)| kind::NUMBER + code)
}

/// The object at an address that IL has pinned.
pub(in super::super) struct Access<'c> {
    pub(in super::super) address: u64,
    pub(in super::super) values: &'c Layout,
}

impl<'c> Access<'c> {
    pub(in super::super) fn object(self) -> Option<Object<'c>> {
        (self.address != 0).then(|| Object {
            reference: Reference::Address(self.address),
            is_struct: false,
            values: self.values,
            not_send: PhantomData,
        })
    }
}

impl<'c> Object<'c> {
    fn request(&self, operation: u64) -> Request {
        let mut request = Request::new(operation, &self.values.strings);
        let (is_handle, object) = self.reference.words();
        request.words[word::IS_HANDLE] = is_handle;
        request.words[word::OBJECT] = object;
        request
    }

    /// Serves a request about a part; of a field that is missing, about the one that holds the property of that name.
    fn serve(
        &self,
        part: Part<'_>,
        operations: (u64, u64),
        fill: impl Fn(&mut Request),
    ) -> Result<Request> {
        let (of_field, of_element) = operations;
        let mut served = match part {
            Part::Field(name) => self.serve_field(name, of_field, &fill)?,
            Part::Element(index) => {
                let mut request = self.request(of_element);
                request.words[word::INDEX] = u64::try_from(index)
                    .unwrap_or(u64::MAX)
                    .min(i32::MAX as u64);
                fill(&mut request);
                request.serve()?;
                request
            }
        };
        if let Part::Field(name) = part
            && served.words[word::KIND] == kind::MISSING
        {
            let backing = format!("<{name}>k__BackingField");
            served = self.serve_field(&backing, of_field, &fill)?;
        }
        let problem = match served.words[word::KIND] {
            kind::MISSING => "it has none of this name".to_owned(),
            kind::FAILED => {
                let exception = served.text.take().unwrap_or_default();
                String::from_utf16_lossy(&exception)
            }
            _ => return Ok(served),
        };
        Err(self.of_part(part, &problem))
    }

    fn serve_field(
        &self,
        name: &str,
        operation: u64,
        fill: impl Fn(&mut Request),
    ) -> Result<Request> {
        let name: Vec<u16> = name.encode_utf16().collect();
        let mut request = self.request(operation);
        request.words[word::NAME] = name.as_ptr().addr() as u64;
        request.words[word::NAME_LENGTH] = name.len() as u64;
        fill(&mut request);
        request.serve()?;
        Ok(request)
    }

    #[cold]
    fn of_part(&self, part: Part<'_>, problem: &str) -> Error {
        let of = self.type_name().unwrap_or_default();
        Error::other(format!("{part} of an object of the type {of}: {problem}"))
    }

    /// The object that a path leads to, and the last name of the path; `None` for a part of this object.
    fn owner<'p>(&self, part: Part<'p>) -> Result<Option<(Self, &'p str, &'p str)>> {
        // Names that compilers make may have dots in angle brackets.
        let path = match part {
            Part::Field(path) if !path.contains('<') => path.rsplit_once('.'),
            _ => None,
        };
        let Some((to, name)) = path else {
            return Ok(None);
        };
        let owner = self.object(to)?;
        let owner = owner.ok_or_else(|| self.of_part(Part::Field(to), "it is null"))?;
        Ok(Some((owner, to, name)))
    }

    fn read(&self, part: Part<'_>) -> Result<Served<'c>> {
        if let Some((owner, _, name)) = self.owner(part)? {
            return owner.read(Part::Field(name));
        }
        let operations = (operation::GET_FIELD, operation::GET_ELEMENT);
        let mut served = self.serve(part, operations, |_| {})?;
        let (kind, bits) = (served.words[word::KIND], served.words[word::BITS]);
        Ok(match kind {
            kind::NULL => Served::Value(Read::Text(None)),
            kind::TEXT => Served::Value(Read::Text(Some(served.text.take().unwrap_or_default()))),
            kind::OBJECT => Served::Object(Self {
                reference: Reference::Handle(bits),
                is_struct: served.words[word::SIZE] != 0,
                values: self.values,
                not_send: PhantomData,
            }),
            number => match primitive_of(number) {
                Some(primitive) => Served::Value(Read::Number(primitive, bits)),
                None => return Err(self.of_part(part, "it cannot be read")),
            },
        })
    }

    /// Reads a number or a string: a field by its name or its path, or an element of an array by its index.
    ///
    /// # Errors
    ///
    /// That it has no such field or element, or one of another type.
    pub fn get<T: CallValue>(&self, part: impl ObjectPart) -> Result<T> {
        let part = part.part();
        match self.read(part)? {
            Served::Value(value) => {
                T::from_call(value).map_err(|error| self.of_part(part, &error.to_string()))
            }
            Served::Object(_) => Err(self.of_part(part, "it is an object")),
        }
    }

    /// The object in a field or an element; `None` for null.
    ///
    /// # Errors
    ///
    /// That it has no such field or element, or that it is a number or a string.
    pub fn object(&self, part: impl ObjectPart) -> Result<Option<Self>> {
        let part = part.part();
        match self.read(part)? {
            Served::Object(object) => Ok(Some(object)),
            Served::Value(Read::Text(None)) => Ok(None),
            Served::Value(_) => Err(self.of_part(part, "it is no object")),
        }
    }

    /// Sets a number, a string, or null: a field by its name or its path, or an element of an array by its index.
    ///
    /// Of a path to a field of a struct, the whole struct is stored again.
    ///
    /// # Errors
    ///
    /// That it has no such field or element, or one of another type; that the field is static and `readonly`.
    pub fn set(&self, part: impl ObjectPart, value: impl IntoCallValue) -> Result<()> {
        self.write(part.part(), value.into_call(None))
    }

    /// Stores a reference to another object of the call, or a copy of a struct: in a field by its name or its path, or in an element of
    /// an array by its index.
    ///
    /// # Errors
    ///
    /// That it has no such field or element, or one of a type that the object does not have; that the field is static and
    /// `readonly`.
    pub fn set_object(&self, part: impl ObjectPart, value: &Object<'_>) -> Result<()> {
        self.write_object(part.part(), value)
    }

    fn write_object(&self, part: Part<'_>, value: &Object<'_>) -> Result<()> {
        if let Some((owner, to, name)) = self.owner(part)? {
            owner.write_object(Part::Field(name), value)?;
            return self.write_back(to, &owner);
        }
        let operations = (operation::SET_FIELD, operation::SET_ELEMENT);
        let (is_handle, object) = value.reference.words();
        let served = self.serve(part, operations, |request| {
            let words = &mut request.words;
            words[word::KIND] = kind::OBJECT;
            words[word::TEXT] = object;
            words[word::TEXT_LENGTH] = is_handle;
        })?;
        match served.words[word::KIND] {
            kind::DONE => Ok(()),
            _ => Err(self.of_part(part, "it cannot be set")),
        }
    }

    /// Stores a struct whose copy has changed.
    fn write_back(&self, path: &str, owner: &Self) -> Result<()> {
        match owner.is_struct {
            true => self.write_object(Part::Field(path), owner),
            false => Ok(()),
        }
    }

    fn write(&self, part: Part<'_>, value: Written) -> Result<()> {
        if let Some((owner, to, name)) = self.owner(part)? {
            owner.write(Part::Field(name), value)?;
            return self.write_back(to, &owner);
        }
        let operations = (operation::SET_FIELD, operation::SET_ELEMENT);
        let write = |value: &Written| {
            self.serve(part, operations, |request| {
                let words = &mut request.words;
                match value {
                    Written::Number(primitive, bits) => {
                        words[word::KIND] = kind_of(*primitive);
                        words[word::BITS] = *bits;
                        words[word::SIZE] = u64::from(primitive.size());
                    }
                    Written::Text(Some(text)) => {
                        words[word::KIND] = kind::TEXT;
                        words[word::TEXT] = text.as_ptr().addr() as u64;
                        words[word::TEXT_LENGTH] = text.len() as u64;
                    }
                    Written::Text(None) => words[word::KIND] = kind::NULL,
                }
            })
        };
        let mut served = write(&value)?;
        if served.words[word::KIND] == kind::MISMATCH
            && let Written::Number(Primitive::U2, bits) = value
            && primitive_of(served.words[word::BITS]) == Some(Primitive::Char)
        {
            served = write(&Written::Number(Primitive::Char, bits))?;
        }
        match served.words[word::KIND] {
            kind::DONE => Ok(()),
            _ => {
                let problem = match primitive_of(served.words[word::BITS]) {
                    Some(primitive) => {
                        format!("set it to {}, not to {}", type_of(primitive), value.shown())
                    }
                    None => "it is no number".to_owned(),
                };
                Err(self.of_part(part, &problem))
            }
        }
    }

    /// The number of elements of an array.
    ///
    /// # Errors
    ///
    /// That it is no array.
    pub fn len(&self) -> Result<usize> {
        let mut request = self.request(operation::LENGTH);
        request.serve()?;
        match primitive_of(request.words[word::KIND]) {
            Some(Primitive::I4) => Ok(request.words[word::BITS] as u32 as usize),
            _ => Err(Error::other("the object is no array")),
        }
    }

    /// Whether it is an array without elements.
    ///
    /// # Errors
    ///
    /// That it is no array.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The full name of its type: `Shop.Order`, `System.Int32[]`.
    ///
    /// # Errors
    ///
    /// That the runtime cannot give it.
    pub fn type_name(&self) -> Result<String> {
        let mut request = self.request(operation::TYPE_NAME);
        request.serve()?;
        let name = request.text.take();
        let name = name.filter(|_| request.words[word::KIND] == kind::TEXT);
        let name = name.ok_or_else(|| Error::other("the type of the object has no name"))?;
        Ok(String::from_utf16_lossy(&name))
    }
}

/// The value of a part.
enum Served<'c> {
    Value(Read),
    Object(Object<'c>),
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        if let Reference::Handle(_) = self.reference {
            // There was a server when the handle was made.
            let _ = self.request(operation::FREE).serve();
        }
    }
}

opaque! { Object<'_> { this => reference: this.reference } }
