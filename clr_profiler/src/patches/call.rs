//! [`Call`]: a call of a patched method, for the closures of a patch.

use std::any::Any;
use std::fmt;

use super::frame::Frame;
use super::objects::{Access, Object};
use super::slot::{Found, Home, Kind, Layout, Name, Slot, Stage, bits, words};
use super::value::{
    CallValue, IntoCallValue, Literal, Number, Read, Written, parse_number, type_of,
};
use crate::error::{Error, Result};
use crate::rewrite::{Leaf, ValueLayout};
use crate::runtime::catch;

/// A call of a patched method: its arguments, its result, and the decisions about it.
///
/// The closures of a [`Patch`](super::Patch) get it. It lives as long as the closure runs. The thread of the program waits
/// meanwhile, in preemptive mode: the closure may block, and does not delay a GC. It is not in a callback, so most calls of
/// [`ProfilerInfo`](crate::ProfilerInfo) are refused.
///
/// # Names
///
/// | Name | Value |
/// |---|---|
/// | `"count"`, or the number of the parameter, from 0 | an argument; of a parameter by reference, the value that it refers to |
/// | `"this"` | the object; of a struct, its value |
/// | `"this.total"` | a field of a struct, or one that [`Patch::field`](super::Patch::field) names |
/// | `"point.x"` | a field of an argument that is a struct |
/// | `"result"` | the result; so a parameter of this name is read by its number |
///
/// Numbers, bools, chars, strings, enumerations and structs that consist of numbers can be read and written. Of objects, a closure
/// sees whether they are [null](Self::is_null), and can set them to null; those of a patch with
/// [`Patch::objects`](super::Patch::objects) are read and written [part by part](Self::object).
///
/// If a closure returns an error or panics, none of its changes happens, and the failure is reported to
/// [`Setup::on_failure`](crate::Setup::on_failure).
pub struct Call<'a> {
    values: &'a Layout,
    frame: Frame<'a>,
    stage: Stage,
    mask: u64,
    /// Whether one closure of a call can use the state of another.
    has_state: bool,
    /// Taken from the frame while the closure uses it.
    state: Option<Box<dyn Any>>,
}

mod sealed {
    pub trait Sealed {}
}

/// The name or the number of a parameter.
type NameText<'a> = std::result::Result<&'a str, usize>;

/// The name or the number of a parameter.
pub trait ValueName: sealed::Sealed {
    #[doc(hidden)]
    fn text(&self) -> std::result::Result<&str, usize>;
}

impl sealed::Sealed for &str {}
impl sealed::Sealed for usize {}

impl ValueName for &str {
    #[inline]
    fn text(&self) -> std::result::Result<&str, usize> {
        Ok(self)
    }
}

impl ValueName for usize {
    #[inline]
    fn text(&self) -> std::result::Result<&str, usize> {
        Err(*self)
    }
}

impl<'a> Call<'a> {
    /// A hook begins. The state of an earlier one is in the frame until it is [taken](Self::take_state).
    #[inline]
    pub(super) fn new(values: &'a Layout, frame: Frame<'a>, stage: Stage, has_state: bool) -> Self {
        Self {
            values,
            frame,
            stage,
            mask: 0,
            has_state,
            state: None,
        }
    }

    /// Takes the state of an earlier hook from the frame.
    pub(super) fn take_state(&mut self) {
        let state = self.frame.take_state();
        // Before the method's code, it was left by a call in the same frame that has ended by an exception.
        if self.stage != Stage::Before {
            self.state = state;
        }
    }

    /// Ends the hook, and returns the decisions for the IL.
    #[inline]
    pub(super) fn end(&mut self) -> u64 {
        if self.state.is_some() {
            self.end_with_state();
        }
        self.mask
    }

    #[inline(never)]
    fn end_with_state(&mut self) {
        let mask = self.mask;
        self.end_state(match self.stage {
            Stage::Before => mask & bits::THROW != 0,
            // An exception that ends here is followed by `after`.
            _ => mask & bits::SWALLOW == 0 || mask & bits::THROW != 0,
        });
    }

    /// Ends a hook that has failed: the method runs as without it.
    pub(super) fn fail(&mut self) {
        self.end_state(self.stage != Stage::Before);
    }

    /// Keeps the state for the next closure of the call, if there is one.
    fn end_state(&mut self, is_over: bool) {
        let can_keep = matches!(self.stage, Stage::Before | Stage::Exception);
        let state = self.state.take();
        if self.has_state && can_keep && !is_over {
            self.frame.put_state_back(state);
        }
    }

    /// Drops the state of a hook that has panicked, outside of which nothing would catch another panic.
    pub(super) fn drop_state(&mut self) {
        let state = self.state.take();
        let _ = catch(move || drop(state));
    }

    /// The full name of the method, with its parameter types.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.values.method
    }

    /// The names of the values, in the order of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.slots.iter().map(|slot| &*slot.name)
    }

    /// Reads a value.
    ///
    /// ```
    /// # use clr_profiler::patches::Call;
    /// # use clr_profiler::prelude::*;
    /// fn before(call: &mut Call<'_>) -> Result<()> {
    ///     let count: i32 = call.get("count")?;
    ///     let name = call.get::<Option<String>>(1)?;
    ///     # let _ = (count, name);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// That the method has no such value, that it has another type, or that it has none yet: the result before the method has
    /// returned.
    pub fn get<T: CallValue>(&self, name: impl ValueName) -> Result<T> {
        if let Some(known) = self.known(&name)
            && let Some(number) = &known.number
            && (number.is_argument || self.stage == Stage::After)
        {
            let size = number.primitive.size();
            let bits = self.frame.integer(number.word, 0, size);
            if let Some(value) = T::from_number(number.primitive, bits) {
                return Ok(value);
            }
        }
        self.get_any(name.text())
    }

    /// Any value, or why it cannot be read.
    #[inline(never)]
    fn get_any<T: CallValue>(&self, name: NameText<'_>) -> Result<T> {
        let found = self.find(name)?;
        let value = self.read(&found)?;
        T::from_call(value).map_err(|error| of_value(found.slot, &error))
    }

    /// Sets a value: of an argument, before the method's code runs or after it, which matters for arguments by reference; of a
    /// field, at once.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get).
    pub fn set(&mut self, name: impl ValueName, value: impl IntoCallValue) -> Result<()> {
        if let Some(known) = self.known(&name)
            && let Some(number) = &known.number
            && let Some(bits) = value.number(number.primitive)
        {
            let size = number.primitive.size();
            self.frame.set_integer(number.word, 0, size, bits);
            self.mask |= number.bit;
            return Ok(());
        }
        self.set_any(name.text(), value)
    }

    /// Sets any value.
    #[inline(never)]
    fn set_any(&mut self, name: NameText<'_>, value: impl IntoCallValue) -> Result<()> {
        let found = self.find(name)?;
        let (index, leaf) = (found.index, found.leaf);
        let Some(bit) = bits::slot(index).filter(|_| found.slot.home != Home::Exception) else {
            return Err(of_value(found.slot, &"it cannot be set"));
        };
        let wanted = leaf.map(|leaf| leaf.primitive);
        match (value.into_call(wanted), &found.slot.kind) {
            (Written::Number(primitive, value), kind @ (Kind::Value(_) | Kind::Struct(_)))
                if wanted == Some(primitive) =>
            {
                self.check_size(found.slot, kind)?;
                let leaf = leaf.map_or(0, |leaf| leaf.offset);
                let word = first_word(&found)?;
                self.frame.set_integer(word, leaf, primitive.size(), value);
            }
            (Written::Text(text), Kind::Text) => {
                self.frame.set_text(found.slot.word, text);
            }
            (Written::Text(None), Kind::Reference) => {
                self.frame.set_word(found.slot.word, 0);
            }
            (value, kind) => return Err(of_value(found.slot, &not_set(&value, kind, leaf))),
        }
        self.mask |= bit;
        Ok(())
    }

    /// Whether a string or an object is null.
    ///
    /// # Errors
    ///
    /// That the method has no such value, that it is neither a string nor an object, or that it has none yet.
    pub fn is_null(&self, name: impl ValueName) -> Result<bool> {
        let found = self.find(name.text())?;
        if !self.is_available(&found) {
            return Err(of_value(found.slot, &"it has no value yet"));
        }
        match found.slot.kind {
            Kind::Text | Kind::Reference => Ok(self.frame.word(found.slot.word) == 0),
            Kind::Unnamed => Err(of_value(found.slot, &NOT_NAMED)),
            _ => Err(of_value(found.slot, &"it is no object")),
        }
    }

    /// An object or an array, whose parts can be read and written; `None` if it is null. Only in a patch with
    /// [`Patch::objects`](super::Patch::objects).
    ///
    /// # Errors
    ///
    /// That the method has no such value, that it is no object, or that it has none yet; that the patch has no objects.
    pub fn object(&self, name: impl ValueName) -> Result<Option<Object<'_>>> {
        let found = self.find(name.text())?;
        if !self.is_available(&found) {
            return Err(of_value(found.slot, &"it has no value yet"));
        }
        match found.slot.kind {
            Kind::Reference if self.values.has_objects => {
                let (address, values) = (self.frame.word(found.slot.word), self.values);
                Ok(Access { address, values }.object())
            }
            Kind::Reference => Err(of_value(found.slot, &"the patch has no objects")),
            Kind::Unnamed => Err(of_value(found.slot, &NOT_NAMED)),
            _ => Err(of_value(found.slot, &"it is no object")),
        }
    }

    /// Reads the result.
    ///
    /// # Errors
    ///
    /// That there is none, or not yet; that it has another type.
    pub fn result<T: CallValue>(&self) -> Result<T> {
        self.get("result")
    }

    /// Sets the result. In `before`, it is that of a method that is [skipped](Self::skip).
    ///
    /// # Errors
    ///
    /// That the method returns nothing, or a value of another type.
    pub fn set_result(&mut self, value: impl IntoCallValue) -> Result<()> {
        self.set("result", value)
    }

    /// Sets the result to a value whose type is that of the result.
    pub(super) fn set_result_to(&mut self, value: &Literal) -> Result<()> {
        let text = match value {
            Literal::Null => return self.set_result(None::<&str>),
            Literal::Text(text) => return self.set_result(text.as_str()),
            Literal::Number(text) => text,
        };
        let found = self.values.find("result")?;
        let primitive = found.leaf.map(|leaf| leaf.primitive);
        let bits = primitive.and_then(|primitive| parse_number(primitive, text));
        match (primitive, bits) {
            (Some(primitive), Some(bits)) => self.set_result(Number(primitive, bits)),
            _ => Err(of_value(found.slot, &format!("it cannot be `{text}`"))),
        }
    }

    /// Skips the method's code: it returns the result that was set, otherwise zero or null. Only in `before`; elsewhere it
    /// is a no-op.
    pub fn skip(&mut self) {
        if self.stage == Stage::Before {
            self.mask |= bits::SKIP;
        }
    }

    /// Ends an exception: the method returns the result that was set, otherwise zero or null. Only in `on_exception`; elsewhere
    /// it is a no-op.
    pub fn swallow(&mut self) {
        if self.stage == Stage::Exception {
            self.mask |= bits::SWALLOW;
        }
    }

    /// Throws a new exception when the closure has returned, by the constructor that takes a message.
    ///
    /// The type is found by its name, as `Type.GetType` does: `System.TimeoutException`, `Shop.OutOfStock, Shop`. If there is none, the
    /// program gets the exception of that.
    pub fn throw(&mut self, exception: &str, message: &str) {
        let units = |text: &str| Some(text.encode_utf16().collect());
        self.frame.set_text(words::THROWN_TYPE, units(exception));
        self.frame.set_text(words::THROWN_MESSAGE, units(message));
        self.mask |= bits::THROW;
    }

    /// The type of the exception, in `on_exception`: `System.TimeoutException`.
    #[must_use]
    pub fn exception_type(&self) -> Option<String> {
        self.of_exception("exception type")
    }

    /// The message of the exception, in `on_exception`.
    #[must_use]
    pub fn exception_message(&self) -> Option<String> {
        self.of_exception("exception message")
    }

    fn of_exception(&self, name: &str) -> Option<String> {
        if self.stage != Stage::Exception {
            return None;
        }
        self.get::<Option<String>>(name).ok().flatten()
    }

    /// Keeps a state for `after` and `on_exception` of the same call, in place of an earlier one.
    ///
    /// It is dropped when the call ends, on the same thread. Each call has its own, also if the method calls itself.
    pub fn keep(&mut self, state: impl Any) {
        self.state = Some(Box::new(state));
    }

    /// The state that `before` has kept, if it has this type.
    #[must_use]
    pub fn kept<T: Any>(&mut self) -> Option<&mut T> {
        self.state.as_mut()?.downcast_mut()
    }

    #[inline]
    fn known(&self, name: &impl ValueName) -> Option<&'a Name> {
        match name.text() {
            Ok(name) => self.values.known(name),
            Err(number) => self.values.known_parameter(number),
        }
    }

    fn find(&self, name: NameText<'_>) -> Result<Found<'a>> {
        match name {
            Ok(name) => self.values.find(name),
            Err(number) => self.values.parameter(number),
        }
    }

    /// Whether the IL has stored the value, or this closure has set it.
    fn is_available(&self, found: &Found<'_>) -> bool {
        match found.slot.home {
            Home::Result => self.stage == Stage::After || bits::has_slot(self.mask, found.index),
            Home::Exception => self.stage == Stage::Exception,
            _ => true,
        }
    }

    /// Refuses a struct whose size is not the one that its layout has.
    fn check_size(&self, slot: &Slot, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Struct(layout) if self.frame.word(slot.word) != u64::from(layout.size) => {
                Err(of_value(slot, &"its layout is unknown"))
            }
            _ => Ok(()),
        }
    }

    fn read(&self, found: &Found<'_>) -> Result<Read> {
        let slot = found.slot;
        if !self.is_available(found) {
            return Err(of_value(slot, &"it has no value yet"));
        }
        match (&slot.kind, found.leaf) {
            (Kind::Value(_) | Kind::Struct(_), Some(leaf)) => {
                self.check_size(slot, &slot.kind)?;
                let (offset, size) = (leaf.offset, leaf.primitive.size());
                let value = self.frame.integer(first_word(found)?, offset, size);
                Ok(Read::Number(leaf.primitive, value))
            }
            (Kind::Text, _) => Ok(Read::Text(match bits::has_slot(self.mask, found.index) {
                true => self.frame.outgoing_text(slot.word),
                false => self.frame.pinned_text(slot.word, self.values),
            })),
            (Kind::Struct(layout) | Kind::Value(layout), None) => {
                Err(of_value(slot, &fields_of(layout)))
            }
            (Kind::Reference, _) => Err(of_value(slot, &"it is an object")),
            (Kind::Opaque, _) => Err(of_value(slot, &NOT_PASSED)),
            (Kind::Unnamed, _) => Err(of_value(slot, &NOT_NAMED)),
        }
    }
}

/// The word at which the bytes of a value begin.
fn first_word(found: &Found<'_>) -> Result<u16> {
    let word = found.slot.word;
    Ok(match found.slot.kind {
        Kind::Struct(_) => word + 1,
        _ => word,
    })
}

const NOT_PASSED: &str = "values of this type are not passed";
const NOT_NAMED: &str = "`Patch::values` does not name it";

fn fields_of(layout: &ValueLayout) -> String {
    let fields: Vec<&str> = layout.leaves.iter().map(|leaf| &*leaf.path).collect();
    format!("it has the fields `{}`", fields.join("`, `"))
}

/// Why a value cannot be stored in one of this kind.
#[cold]
fn not_set(value: &Written, kind: &Kind, leaf: Option<&Leaf>) -> String {
    let expected = match (kind, leaf) {
        (_, Some(leaf)) => type_of(leaf.primitive),
        (Kind::Text, _) => "`&str` (C# `string`)",
        (Kind::Reference, _) => "null",
        (Kind::Opaque, _) => return NOT_PASSED.to_owned(),
        (Kind::Unnamed, _) => return NOT_NAMED.to_owned(),
        (Kind::Value(layout) | Kind::Struct(layout), None) => return fields_of(layout),
    };
    format!("set it to {expected}, not to {}", value.shown())
}

fn of_value(slot: &Slot, problem: &dyn fmt::Display) -> Error {
    let (name, of_type) = (&slot.name, &slot.type_name);
    Error::other(format!("`{name}`, of the type {of_type}: {problem}"))
}

opaque! { Call<'_> { this => method: this.values.method, stage: this.stage } }
