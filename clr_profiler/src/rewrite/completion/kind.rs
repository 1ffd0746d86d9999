//! What a method returns, and what made it.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::instruction::Operand;
use clr_profiler_il::metadata::Tables;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::Reference;
use clr_profiler_il::token::{AssemblyRef, MethodDef, TypeToken};

use super::{Completion, Followed, Unfollowed};
use crate::error::Result;
use crate::metadata::{Metadata, MetadataAssemblyImport, MetadataImport};
use crate::rewrite::RewriteContext;
use crate::rewrite::lookup::{Lookup, Place};

/// The implementation flag of methods whose task the runtime makes.
const RUNTIME_ASYNC: u32 = 0x2000;

/// The assemblies by which programs name the types of the core library.
const CORE: [&str; 6] = [
    "System.Runtime",
    "System.Private.CoreLib",
    "mscorlib",
    "netstandard",
    "System.Threading.Tasks",
    "System.Threading.Tasks.Extensions",
];

const FOLLOWED: [&str; 4] = [
    "System.Threading.Tasks.Task",
    "System.Threading.Tasks.Task`1",
    "System.Threading.Tasks.ValueTask",
    "System.Threading.Tasks.ValueTask`1",
];

const ENUMERATED: [&str; 4] = [
    "System.Collections.IEnumerable",
    "System.Collections.IEnumerator",
    "System.Collections.Generic.IEnumerable`1",
    "System.Collections.Generic.IEnumerator`1",
];

const ENUMERATED_LATER: [&str; 2] = [
    "System.Collections.Generic.IAsyncEnumerable`1",
    "System.Collections.Generic.IAsyncEnumerator`1",
];

pub(super) fn completion(cx: &RewriteContext<'_>, body: &MethodBody) -> Result<Completion> {
    if cx.props().implementation & RUNTIME_ASYNC != 0 {
        return Ok(Completion::Return);
    }
    let metadata = &cx.subject.metadata;
    let returned = cx.signature().return_type.unmodified().clone();
    let class = match returned {
        TypeSig::Class(class)
        | TypeSig::ValueType(class)
        | TypeSig::GenericInstance {
            definition: class, ..
        } => Some(class),
        _ => None,
    };
    let of_core = match class {
        Some(class) => core_name(cx, metadata, class)?,
        None => None,
    };
    let is = |names: &[&str]| of_core.as_deref().is_some_and(|name| names.contains(&name));
    if is(&FOLLOWED) {
        return Ok(Completion::Followed(Followed { returned }));
    }
    let has = |attribute: &str| has_attribute(metadata, cx.token(), attribute);
    if has("AsyncIteratorStateMachineAttribute")?
        || (is(&ENUMERATED_LATER) && makes_own(cx, metadata, body)?)
    {
        return Ok(Completion::Unfollowed(Unfollowed::AsyncIterator));
    }
    if has("IteratorStateMachineAttribute")? || (is(&ENUMERATED) && makes_own(cx, metadata, body)?)
    {
        return Ok(Completion::Unfollowed(Unfollowed::Iterator));
    }
    if has("AsyncStateMachineAttribute")? {
        return Ok(Completion::Unfollowed(match returned {
            TypeSig::Void => Unfollowed::AsyncVoid,
            _ => Unfollowed::CustomAwaitable,
        }));
    }
    let is_awaitable = class
        .and_then(|class| Lookup::of(cx.info()).in_type(cx.module(), class, has_awaiter))
        .unwrap_or(false);
    Ok(if is_awaitable {
        Completion::Unfollowed(Unfollowed::CustomAwaitable)
    } else {
        Completion::Return
    })
}

/// The name of a type, if it is one of the core library.
fn core_name(
    cx: &RewriteContext<'_>,
    metadata: &Metadata<'_>,
    class: TypeToken,
) -> Result<Option<String>> {
    match class {
        TypeToken::Def(class) if cx.scope.is_core_library() => {
            Ok(Some(metadata.type_def_props(class)?.name))
        }
        TypeToken::Ref(class) => {
            let props = metadata.type_ref_props(class)?;
            let Ok(assembly) = AssemblyRef::try_from(props.resolution_scope) else {
                return Ok(None);
            };
            let assembly = metadata.assembly_ref_props(assembly)?.name;
            Ok(CORE.contains(&assembly.as_str()).then_some(props.name))
        }
        TypeToken::Def(_) | TypeToken::Spec(_) => Ok(None),
    }
}

fn has_attribute(metadata: &Metadata<'_>, method: MethodDef, name: &str) -> Result<bool> {
    let name = format!("System.Runtime.CompilerServices.{name}");
    Ok(metadata.custom_attribute_by_name(method, &name)?.is_some())
}

/// Whether a method makes an object of a type that a compiler has made for it: `<M>d__0`. Not every
/// compiler marks iterators by an attribute.
fn makes_own(cx: &RewriteContext<'_>, metadata: &Metadata<'_>, body: &MethodBody) -> Result<bool> {
    let start = format!("<{}>", cx.props().name);
    for instruction in body.instructions() {
        if instruction.opcode() != Opcode::Newobj {
            continue;
        }
        let Operand::Reference(reference @ Reference::Token(_)) = instruction.operand() else {
            continue;
        };
        let made = cx.resolver().declaring_type(reference);
        let made = match made {
            Some(
                TypeSig::Class(class)
                | TypeSig::GenericInstance {
                    definition: class, ..
                },
            ) => class,
            _ => continue,
        };
        if let TypeToken::Def(class) = made
            && metadata.type_def_props(class)?.name.starts_with(&start)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a type itself says how it is awaited.
fn has_awaiter(place: &Place<'_>) -> Option<bool> {
    let methods = place.metadata.methods_with_name(place.class, "GetAwaiter");
    let mut methods = methods.ok()?;
    Some(methods.next().is_some())
}
