//! Patches of methods of .NET: while one of them runs, these methods run their original code.
//!
//! The core library cannot refer to the assembly of patches: that is loaded by the program, which then stores the function pointers of
//! the patches in slots. The code of a method calls them by these, once they are there.

use std::sync::OnceLock;

use super::bind::{PatchMethod, PatchType};
use crate::error::{Error, Result};
use crate::rewrite::{HelperAssembly, ReentrancyGuard, RewriteContext};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::core_library;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};

/// The patches of one class.
#[derive(Clone, Copy)]
pub(super) struct OfClass<'a> {
    pub(super) methods: &'a [PatchMethod],
    /// In the core library: their assembly, which has slots.
    pub(super) slots: Option<&'a HelperAssembly>,
    /// Whether they do not run while a patch of another guarded method runs.
    pub(super) is_guarded: bool,
}

/// A call by a slot.
pub(super) struct Indirect {
    /// Pushes the function pointer.
    pub(super) function: Fragment,
    pub(super) signature: MethodSig,
    /// The local that says whether it can be called.
    pub(super) is_ready: u16,
}

/// Decides whether the patches run, in each call of a method of .NET.
pub(super) struct Gate {
    /// The local that says whether any patch runs.
    is_open: u16,
    /// The local with the address of the thread's guard.
    guard: u16,
}

/// The locals of a method of .NET for the calls of patches.
pub(super) struct GateLocals {
    /// The helpers with slots by their names, with the locals that say whether these are filled.
    helpers: Vec<(Box<str>, u16)>,
    /// Code that sets all of these locals.
    pub(super) entry: Fragment,
    pub(super) gate: Gate,
}

/// Patches may call the methods that they change, or methods that call these: then the original code runs. There is one guard for all, so
/// that patches of several methods do not call each other without end.
fn guard() -> Result<&'static ReentrancyGuard> {
    static GUARD: OnceLock<ReentrancyGuard> = OnceLock::new();
    match GUARD.get() {
        Some(guard) => Ok(guard),
        None => {
            let new = ReentrancyGuard::new()?;
            Ok(GUARD.get_or_init(|| new))
        }
    }
}

/// Why patches cannot be called by a method of the core library.
pub(super) fn check(
    core: &str,
    target: &str,
    methods: &[PatchMethod],
    has_slots: bool,
) -> Result<()> {
    // The address of a patch is that of one application domain.
    if core == core_library::MSCORLIB {
        return Err(Error::other(format!(
            "{target} is a method of mscorlib, whose code all application domains of .NET Framework share, while each of them \
             loads patches of its own: patch its calls in the program, by ManagedPatches::calls"
        )));
    }
    if !has_slots {
        return Err(Error::other(format!(
            "{target} is a method of the core library, which a pattern has to name: `{core}!` before the type"
        )));
    }
    let parameters = methods.iter().flat_map(|patch| {
        let parameters = patch.parameters.iter();
        parameters.map(move |parameter| (patch, parameter))
    });
    for (patch, parameter) in parameters {
        if !parameter.class.is_reference && names_assembly(&parameter.class.text) {
            return Err(Error::other(format!(
                "the parameter `{}` of the patch {} does not bind to {target}: {}",
                parameter.own,
                patch.name,
                unknown(&parameter.class)
            )));
        }
    }
    Ok(())
}

/// Whether the text of a type has one of another assembly than those of .NET: `[Shop]Money`, and not `int[]`.
fn names_assembly(text: &str) -> bool {
    let mut parts = text.split('[').skip(1);
    parts.any(|part| part.starts_with(|first: char| first.is_alphanumeric() || first == '_'))
}

fn unknown(class: &PatchType) -> String {
    format!(
        "the core library cannot name the struct {}: use a class, or a type of the core library",
        class.shown
    )
}

/// A type in terms of the core library: all references are objects to it.
pub(super) fn type_in_core(class: &PatchType, cx: &mut RewriteContext<'_>) -> Result<TypeSig> {
    if class.is_reference {
        return Ok(TypeSig::Object);
    }
    let sig = cx.type_sig(&class.text);
    sig.map_err(|error| Error::other(format!("{}: {error}", unknown(class))))
}

impl GateLocals {
    /// `None` if the patches of no class are guarded.
    pub(super) fn new(
        classes: &[OfClass<'_>],
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<Option<Self>> {
        if !classes.iter().any(|class| class.is_guarded) {
            return Ok(None);
        }
        let mut helpers: Vec<(Box<str>, u16)> = Vec::new();
        let mut entry = Fragment::new();
        for class in classes {
            let Some(helper) = class.slots else {
                continue;
            };
            let name = &helper.props().name;
            let mut methods = class.methods.iter();
            let slot = methods.find_map(|patch| helper.slot(patch.token));
            if let Some(slot) = slot.filter(|_| !helpers.iter().any(|(known, _)| **known == **name))
            {
                let local = body.add_local(TypeSig::I4)?;
                entry.append(&slot.is_ready).stloc(local);
                helpers.push((name.as_str().into(), local));
            }
        }
        let gate = Gate {
            is_open: body.add_local(TypeSig::I4)?,
            guard: body.add_local(TypeSig::NativeInt)?,
        };
        let closed = entry.label();
        if let Some((_, first)) = helpers.first() {
            entry.ldloc(*first);
            for (_, other) in helpers.iter().skip(1) {
                entry.ldloc(*other).or();
            }
            entry.brfalse(closed);
        }
        entry.append(&cx.guard_byte(guard()?)?).stloc(gate.guard);
        entry.ldloc(gate.guard).ldind_u1().brtrue(closed);
        entry.ldc_i4(1).stloc(gate.is_open);
        entry.mark(closed).nop();
        Ok(Some(Self {
            helpers,
            entry,
            gate,
        }))
    }

    /// The call of a patch.
    pub(super) fn call(
        &self,
        patch: &PatchMethod,
        helper: &HelperAssembly,
        cx: &mut RewriteContext<'_>,
    ) -> Result<Indirect> {
        let name = &helper.props().name;
        let is_ready = self.helpers.iter().find(|(known, _)| **known == **name);
        let slot = helper.slot(patch.token).zip(is_ready);
        let (slot, (_, is_ready)) =
            slot.ok_or_else(|| Error::other(format!("the patch {} has no slot", patch.name)))?;
        let mut parameters = Vec::new();
        for parameter in &patch.parameters {
            let sig = type_in_core(&parameter.class, cx)?;
            parameters.push(match parameter.is_by_ref {
                true => TypeSig::ByRef(Box::new(sig)),
                false => sig,
            });
        }
        let result = match &patch.result {
            Some(class) => type_in_core(class, cx)?,
            None => TypeSig::Void,
        };
        Ok(Indirect {
            function: slot.function,
            signature: MethodSig::new(result, parameters),
            is_ready: *is_ready,
        })
    }
}

impl Gate {
    /// Runs code that calls patches, if any of them runs.
    pub(super) fn stage(&self, code: &mut Fragment, calls: impl FnOnce(&mut Fragment)) {
        let closed = code.label();
        code.ldloc(self.is_open).brfalse(closed);
        code.ldloc(self.guard).ldc_i4(1).stind_i1();
        code.try_block(calls)
            .finally(|code| {
                code.ldloc(self.guard).ldc_i4(0).stind_i1();
            })
            .end()
            .mark(closed)
            .nop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemblies_in_types_are_told_from_arrays() {
        for (text, expected) in [
            ("int", false),
            ("valuetype System.DateTime", false),
            ("valuetype System.ValueTuple`2<int[],string[,]>", false),
            ("valuetype [Shop]Money", true),
            ("valuetype System.Nullable`1<valuetype [_Shop]Money>", true),
        ] {
            assert_eq!(names_assembly(text), expected, "{text}");
        }
    }
}
