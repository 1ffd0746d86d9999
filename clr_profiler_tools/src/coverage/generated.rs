//! Branches that the compiler has written, not the author.

use clr_metadata::token::Token;
use clr_profiler::il::opcode::Opcode;

use super::code::{Code, Step};

/// The field with the state of an asynchronous method or iterator.
pub(super) const STATE: &str = "<>1__state";

/// Whether a branch is one that no source has. `hidden` is the offset of the hidden sequence point that it is in: a compiler
/// hides its own code with it, but in debug builds also the tests of the source's conditions.
pub(super) fn is_of_compiler(
    code: &Code,
    index: usize,
    hidden: Option<u32>,
    name: &impl Fn(Token) -> Option<String>,
) -> bool {
    is_known(code, index, name)
        || is_of_state(code, index, name)
        || hidden.is_some_and(|hidden| is_in_hidden_code(code, index, hidden, name))
}

fn name_of(step: Option<&Step>, name: &impl Fn(Token) -> Option<String>) -> Option<String> {
    name(step?.token?)
}

/// Whether its condition is a constant, or it asks whether an awaited task is complete already, whether the delegate of a lambda is
/// cached, or whether an exception has the type of a filter.
fn is_known(code: &Code, index: usize, name: &impl Fn(Token) -> Option<String>) -> bool {
    let before = |steps: usize| index.checked_sub(steps).and_then(|at| code.steps.get(at));
    let opcode = |steps: usize| before(steps).map(|step| step.opcode);
    // Static fields of caches have names that no source can have.
    let is_cache = |steps| name_of(before(steps), name).is_some_and(|name| name.starts_with('<'));
    let is_constant = |steps| before(steps).is_some_and(|step| step.constant.is_some());
    // In a debug build by way of a local.
    let is_stored = before(1).is_some_and(|step| step.loads.is_some())
        && before(2).and_then(|step| step.stores) == before(1).and_then(|step| step.loads)
        && code.has_one_way(index - 1)
        // The values of `a && b` come from two places: the last of them is a constant.
        && code.has_one_way(index - 2);
    let is_constant_alone =
        is_constant(1) && !has_two_operands(code, index) && code.has_one_way(index);
    if is_constant_alone || is_stored && is_constant(3) {
        return true;
    }
    match opcode(1) {
        Some(Opcode::Call | Opcode::Callvirt) => {
            name_of(before(1), name).is_some_and(|name| name == "get_IsCompleted")
        }
        Some(Opcode::Dup) => match opcode(2) {
            Some(Opcode::Ldsfld) => is_cache(2),
            Some(Opcode::Isinst) => {
                before(2).is_some_and(|step| code.entries.contains(&step.offset))
            }
            _ => false,
        },
        Some(Opcode::Ldsfld) => is_cache(1),
        _ => false,
    }
}

/// Whether a branch compares two values.
fn has_two_operands(code: &Code, index: usize) -> bool {
    let step = code.steps.get(index);
    step.is_some_and(|step| step.opcode.pop_count() == Some(2))
}

/// Whether it asks for the state of a state machine, which such a method loads into its first local at its beginning.
fn is_of_state(code: &Code, index: usize, name: &impl Fn(Token) -> Option<String>) -> bool {
    let mut first = code.steps.iter().take(3);
    let is_machine = first.any(|step| name_of(Some(step), name).as_deref() == Some(STATE));
    let from = index.saturating_sub(3);
    let loads = code.steps.get(from..index).unwrap_or_default();
    // `ldloc.0; brfalse`, `ldloc.0; ldc.i4.1; beq`, `ldloc.0; ldc.i4.4; sub; switch`.
    let operands = loads
        .iter()
        .rev()
        .skip_while(|step| matches!(step.opcode, Opcode::Sub) || step.constant.is_some());
    is_machine && operands.take(1).any(|step| step.opcode == Opcode::Ldloc0)
}

/// Whether hidden code of the compiler contains it: at the end of a `using`, `lock` or `foreach`, or after an `await`.
fn is_in_hidden_code(
    code: &Code,
    index: usize,
    hidden: u32,
    name: &impl Fn(Token) -> Option<String>,
) -> bool {
    if code.entries.contains(&hidden) {
        return true;
    }
    let Some(first) = code.find(hidden) else {
        return false;
    };
    // An exception that is thrown again, and fields that carry values over an `await`.
    let after = code.steps.iter().take(index + 4).skip(first);
    after
        .filter_map(|step| Some((step.opcode, name(step.token?)?)))
        .any(|(opcode, name)| match opcode {
            Opcode::Isinst => name == "Exception",
            Opcode::Ldfld => name.starts_with("<>"),
            _ => false,
        })
}
