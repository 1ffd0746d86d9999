//! [`Shape`], the representation of a function's arguments and returned value, for reading them in hooks.

use super::fields::kind_of_class;
use super::region::Region;
use super::value::{Kind, ObjectValue};
use crate::error::{Error, Result};
use crate::ids::{ClassId, FunctionId};
use crate::info::hooks::MemoryRange;
use crate::info::{CorProfilerInfo2, CorProfilerInfo3};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::TypeSig;

/// Whether the runtime reports the address of each returned structure: from .NET 5 on. Older ones do so where a structure
/// is returned in one register, or in memory whose address is: in the calling convention of Windows on x64.
fn reports_struct_returns(major: u16) -> bool {
    major >= 5 || cfg!(all(windows, target_arch = "x86_64"))
}

/// The representation of the arguments and the returned value of a function.
#[derive(Debug)]
pub(crate) struct Shape {
    /// `this` first.
    arguments: Box<[Kind]>,
    returned: Returned,
}

#[derive(Clone, Copy, Debug)]
enum Returned {
    Nothing,
    Value(Kind),
    /// The value must not be queried, for this reason.
    Unreadable(&'static str),
}

impl Shape {
    /// Derived from the function's signature, when the function is compiled.
    pub(crate) fn of(info: &ProfilerInfo, function: FunctionId) -> Result<Self> {
        let method = info.method(function)?;
        let props = method.props()?;
        let signature = props.signature()?;
        let facts = info.function_info2(function)?;
        let of_type = match facts.class {
            Some(class) => info.class_id_info2(class)?.type_arguments,
            None => Vec::new(),
        };
        let kind = |signature: &TypeSig| kind_of(info, signature, &of_type, &facts.type_arguments);
        let mut arguments = Vec::with_capacity(signature.argument_count());
        if signature.argument_count() > signature.params.len() {
            // For code that several types share, it is unknown whether one of them is a structure; an
            // address is always correct.
            let is_object = facts
                .class
                .is_some_and(|class| info.box_class_layout(class).is_err());
            arguments.push(if is_object {
                Kind::Reference
            } else {
                Kind::Pointer
            });
        }
        for parameter in &signature.params {
            arguments.push(kind(parameter)?);
        }
        let returned = if signature.effective_return_type(props.implementation)
            != Some(&signature.return_type)
        {
            Returned::Unreadable(
                "the runtime implements the method's asynchrony: it does not return its value",
            )
        } else if signature.return_type.unmodified().is_void() {
            Returned::Nothing
        } else {
            match kind(&signature.return_type)? {
                Kind::Struct(_) if !reports_struct_returns(info.runtime_information()?.major) => {
                    Returned::Unreadable(
                        "runtimes before .NET 5 report other bytes than those of a returned structure: \
                         hook functions that return none, or use .NET 5 or newer",
                    )
                }
                kind => Returned::Value(kind),
            }
        };
        Ok(Self {
            arguments: arguments.into(),
            returned,
        })
    }

    /// Refuses queries of a returned value that must not be queried.
    pub(crate) fn may_ask_for_returned(&self) -> Result<()> {
        match self.returned {
            Returned::Unreadable(why) => {
                Err(Error::rule("ICorProfilerInfo3::GetFunctionLeave3Info", why))
            }
            Returned::Nothing | Returned::Value(_) => Ok(()),
        }
    }

    /// The number of arguments.
    pub(crate) fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// Reads an argument.
    ///
    /// # Safety
    ///
    /// The runtime returned the ranges for a call of this function whose enter hook is running, and `'a`
    /// ends before the hook returns.
    pub(crate) unsafe fn argument<'a>(
        &self,
        info: &'a ProfilerInfo,
        ranges: &[MemoryRange<'_>],
        index: usize,
    ) -> Result<ObjectValue<'a>> {
        const CALL: &str = "reading an argument";
        if ranges.len() != self.arguments.len() {
            return Err(Error::invalid(
                CALL,
                format_args!(
                    "the runtime shows {} arguments, the signature has {}",
                    ranges.len(),
                    self.arguments.len()
                ),
            ));
        }
        let (Some(range), Some(kind)) = (ranges.get(index), self.arguments.get(index)) else {
            return Err(Error::invalid(
                CALL,
                format_args!("there is no argument {index}, there are {}", ranges.len()),
            ));
        };
        // SAFETY: guaranteed by the caller.
        unsafe { read(info, CALL, *kind, range) }
    }

    /// Reads the returned value.
    ///
    /// # Safety
    ///
    /// The runtime returned the range for a call of this function whose leave hook is running, and `'a`
    /// ends before the hook returns.
    pub(crate) unsafe fn returned<'a>(
        &self,
        info: &'a ProfilerInfo,
        range: Option<MemoryRange<'_>>,
    ) -> Result<Option<ObjectValue<'a>>> {
        const CALL: &str = "reading a returned value";
        match self.returned {
            Returned::Nothing => Ok(None),
            Returned::Unreadable(why) => Err(Error::rule(CALL, why)),
            Returned::Value(kind) => match range {
                // SAFETY: guaranteed by the caller.
                Some(range) => unsafe { read(info, CALL, kind, &range) }.map(Some),
                None => Err(Error::invalid(CALL, "the runtime does not show it")),
            },
        }
    }
}

/// # Safety
///
/// As for [`Shape::argument`].
unsafe fn read<'a>(
    info: &'a ProfilerInfo,
    call: &'static str,
    kind: Kind,
    range: &MemoryRange<'_>,
) -> Result<ObjectValue<'a>> {
    if range.start() == 0 {
        return Err(Error::invalid(call, "the runtime does not show it"));
    }
    // SAFETY: the runtime reports that the value is there while the hook runs, and the caller guarantees
    // that it runs.
    let region = unsafe { Region::new(range.start(), range.size()) };
    kind.read(info, region)
}

/// The representation of values of a type; bytes if that is unknown.
fn kind_of(
    info: &ProfilerInfo,
    signature: &TypeSig,
    of_type: &[ClassId],
    of_method: &[ClassId],
) -> Result<Kind> {
    let argument = match signature.unmodified() {
        TypeSig::Var(index) => of_type.get(*index as usize),
        TypeSig::MVar(index) => of_method.get(*index as usize),
        TypeSig::ByRef(_) => return Ok(Kind::Pointer),
        signature => return Ok(Kind::of_signature(signature).unwrap_or(Kind::Struct(None))),
    };
    argument.map_or(Ok(Kind::Struct(None)), |class| kind_of_class(info, *class))
}
