//! The values of a method that a patch passes, and the types of the locals for them.

use super::fields::{self, Field, FieldPlace};
use super::slot::{Home, Kind, SLOT_LIMIT, Slot, words};
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::{Metadata, MetadataImport};
use crate::rewrite::RewriteContext;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::{MethodDef, TypeToken};

/// The number of words of the tuples in a frame.
const LONGS: usize = 7;

/// The parts of a slot's code that depend on the module.
#[derive(Clone)]
pub(super) struct Operands {
    pub(super) value: Option<TypeToken>,
    pub(super) field: Option<FieldPlace>,
    /// Which of the locals that pin strings and objects it has.
    pub(super) pinned: Option<u16>,
}

/// A value of the method, before it has a position in the frame.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) slot: Slot,
    pub(super) operands: Operands,
}

/// The type of a local that has so many words: a tuple of numbers, which the core library has.
pub(super) fn longs(count: usize) -> String {
    let here = vec!["long"; count.clamp(1, LONGS)].join(",");
    match count.saturating_sub(LONGS) {
        0 => format!(
            "valuetype [corelib]System.ValueTuple`{}<{here}>",
            count.max(1)
        ),
        more => format!(
            "valuetype [corelib]System.ValueTuple`8<{here},{}>",
            longs(more)
        ),
    }
}

/// The values of a method.
pub(super) fn of_method(
    cx: &mut RewriteContext<'_>,
    has_exception: bool,
    fields: &[Box<str>],
) -> Result<Vec<Planned>> {
    let mut planned = Vec::new();
    let signature = cx.signature().clone();
    // More specific names first: `this.total` is not a field of the struct `this`.
    if !fields.is_empty() {
        let all = fields::of_type(cx.info(), cx.module(), cx.props().class)?.all;
        for field in fields {
            planned.push(of_field(cx, field, &all)?);
        }
    }
    let metadata = cx.info().module_metadata(cx.module())?;
    let names = parameter_names(&metadata, cx.token(), signature.params.len())?;
    let mut number = 0;
    if signature.has_this {
        let this = cx.this_type()?;
        let home = Home::Argument {
            number,
            is_by_ref: is_value_type(&this),
        };
        planned.push(value(cx, "this".into(), None, home, &this)?);
        number += 1;
    }
    for ((index, param), name) in (0..).zip(&signature.params).zip(names) {
        let name = name.unwrap_or_else(|| format!("argument {index}"));
        planned.push(argument(cx, name, index, number, param.unmodified())?);
        number += 1;
    }
    let result = cx.return_type()?;
    if !result.is_void() {
        let result = result.unmodified();
        planned.push(value(cx, "result".into(), None, Home::Result, result)?);
    }
    if has_exception {
        for name in ["exception type", "exception message"] {
            let home = Home::Exception;
            planned.push(value(cx, name.into(), None, home, &TypeSig::String)?);
        }
    }
    Ok(planned)
}

/// The names of the parameters of a method, as far as its metadata has them.
pub(super) fn parameter_names(
    metadata: &Metadata<'_>,
    method: MethodDef,
    count: usize,
) -> Result<Vec<Option<String>>> {
    let mut names = vec![None; count];
    for param in metadata.params(method) {
        let param = metadata.param_props(param?)?;
        let index = (param.sequence as usize).checked_sub(1);
        if let Some(name) = index.and_then(|index| names.get_mut(index)) {
            *name = Some(param.name);
        }
    }
    Ok(names)
}

/// A parameter; its number is without `this`, that of the argument with it.
pub(super) fn argument(
    cx: &mut RewriteContext<'_>,
    name: String,
    parameter: u16,
    number: u16,
    type_sig: &TypeSig,
) -> Result<Planned> {
    let (type_sig, is_by_ref) = match type_sig {
        TypeSig::ByRef(inner) => (inner.unmodified(), true),
        other => (other, false),
    };
    let home = Home::Argument { number, is_by_ref };
    value(cx, name, Some(parameter), home, type_sig)
}

/// Gives the values that are passed their words.
pub(super) fn place(planned: &mut [Planned], names: Option<&[Box<str>]>) -> Result<()> {
    if let Some(names) = names {
        leave_out_unnamed(planned, names)?;
    }
    let mut word = words::SLOTS;
    for (index, one) in planned.iter_mut().enumerate() {
        let next = u32::from(word) + one.slot.kind.words();
        // The offset of a word fits into 16 bits, too.
        if index >= SLOT_LIMIT || next > 0x1000 {
            one.slot.kind = Kind::Opaque;
        }
        one.slot.word = word;
        word += one.slot.kind.words() as u16;
    }
    Ok(())
}

fn leave_out_unnamed(planned: &mut [Planned], names: &[Box<str>]) -> Result<()> {
    for name in names {
        if !planned.iter().any(|one| one.slot.name == *name) {
            let known: Vec<&str> = planned.iter().map(|one| &*one.slot.name).collect();
            let known = known.join("`, `");
            return Err(Error::other(format!(
                "it has no value `{name}`; it has `{known}`"
            )));
        }
    }
    for one in planned {
        let is_always =
            one.slot.home == Home::Exception || matches!(one.slot.home, Home::Field { .. });
        if !is_always && !names.contains(&one.slot.name) {
            one.slot.kind = Kind::Unnamed;
        }
    }
    Ok(())
}

/// The type that an argument has in its method: of `this`, whether it is by reference.
pub(super) fn is_value_type(this: &TypeSig) -> bool {
    matches!(
        this,
        TypeSig::ValueType(_)
            | TypeSig::GenericInstance {
                is_value_type: true,
                ..
            }
    ) || crate::rewrite::Primitive::of(this).is_some()
}

fn of_field(cx: &mut RewriteContext<'_>, name: &str, all: &[Field]) -> Result<Planned> {
    let found = all.iter().find(|field| field.name == name);
    let field = found.ok_or_else(|| {
        Error::other(format!(
            "its type has no field `{name}`, and neither have its base types"
        ))
    })?;
    if let Some(problem) = field.hidden_static() {
        return Err(Error::other(problem));
    }
    let is_static = field.is_static;
    if !is_static && !cx.signature().has_this {
        let text = format!("the field `{name}` needs `this`, and the method is static");
        return Err(Error::other(text));
    }
    let field_type = field.type_in(cx)?;
    let place = FieldPlace::of(field, all.iter(), cx)?;
    let home = Home::Field { is_static };
    let name = format!("this.{name}");
    let mut planned = value(cx, name, None, home, &field_type)?;
    planned.operands.field = Some(place);
    Ok(planned)
}

/// A value of a type; its word is not known yet.
pub(super) fn value(
    cx: &mut RewriteContext<'_>,
    name: String,
    number: Option<u16>,
    home: Home,
    type_sig: &TypeSig,
) -> Result<Planned> {
    let kind = match type_sig {
        TypeSig::String => Kind::Text,
        TypeSig::Object
        | TypeSig::Class(_)
        | TypeSig::SzArray(_)
        | TypeSig::Array { .. }
        | TypeSig::GenericInstance {
            is_value_type: false,
            ..
        } => Kind::Reference,
        _ => match cx.value_layout(type_sig) {
            Some(layout) if layout.leaves.len() == 1 => Kind::Value(layout),
            Some(layout) => Kind::Struct(layout),
            None => Kind::Opaque,
        },
    };
    let value = match kind {
        Kind::Value(_) | Kind::Struct(_) => Some(cx.type_operand(type_sig)?),
        _ => None,
    };
    let type_name = cx.type_name(type_sig);
    Ok(Planned {
        slot: Slot {
            name: name.into(),
            number,
            type_name: type_name.into(),
            home,
            kind,
            word: 0,
        },
        operands: Operands {
            value,
            field: None,
            pinned: None,
        },
    })
}
