//! What a function takes and returns, so that its arguments can be read while it is called.

use super::fields::kind_of_class;
use super::region::Region;
use super::value::{Kind, ObjectValue};
use crate::error::{Error, Result};
use crate::ids::{ClassId, FunctionId};
use crate::info::hooks::MemoryRange;
use crate::info::{CorProfilerInfo2, CorProfilerInfo3};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::TypeSig;

/// The first version whose runtime tells where returned structures are.
const TELLS_STRUCTURES: u16 = 5;

/// How the arguments and the returned value of a function are in memory.
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
    /// It must not be asked for: why.
    Untold(&'static str),
}

impl Shape {
    /// By the function's signature. Comes when the function is compiled.
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
            // Of code that several types share it is not known whether one of them is a structure:
            // an address is never wrong.
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
            Returned::Untold(
                "the method is asynchronous by itself: what it returns is not its value",
            )
        } else if signature.return_type.unmodified().is_void() {
            Returned::Nothing
        } else {
            match kind(&signature.return_type)? {
                Kind::Struct(_) if info.runtime_information()?.major < TELLS_STRUCTURES => {
                    Returned::Untold(
                        "runtimes before .NET 5 show other bytes than those of a returned structure: \
                         look at functions that return none, or use .NET 5 or newer",
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

    /// Whether the runtime may be asked for the returned value.
    pub(crate) fn may_ask_for_returned(&self) -> Result<()> {
        match self.returned {
            Returned::Untold(why) => {
                Err(Error::rule("ICorProfilerInfo3::GetFunctionLeave3Info", why))
            }
            Returned::Nothing | Returned::Value(_) => Ok(()),
        }
    }

    /// How many arguments there are.
    pub(crate) fn argument_count(&self) -> usize {
        self.arguments.len()
    }

    /// Reads an argument.
    ///
    /// # Safety
    ///
    /// The runtime gave the ranges for a call of this function, whose enter hook is running: `'a`
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
    /// The runtime gave the range for a call of this function, whose leave hook is running: `'a`
    /// ends before the hook returns.
    pub(crate) unsafe fn returned<'a>(
        &self,
        info: &'a ProfilerInfo,
        range: Option<MemoryRange<'_>>,
    ) -> Result<Option<ObjectValue<'a>>> {
        const CALL: &str = "reading a returned value";
        match self.returned {
            Returned::Nothing => Ok(None),
            Returned::Untold(why) => Err(Error::rule(CALL, why)),
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
    // SAFETY: the runtime says that the value is there while the hook runs, guaranteed by the caller.
    let region = unsafe { Region::new(range.start(), range.size()) };
    kind.read(info, region)
}

/// How values of a type are in memory; bytes where that is not known.
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
