//! Hooks count each call, inspect its values, and affect none.
//!
//! `fast` has the hooks that count, `info` and `values` those that inspect arguments and results, `native` those
//! of the native interface.

mod balance;
mod fast;
mod info;
mod native;
mod owner;
#[cfg(test)]
mod tests;
mod values;

use clr_profiler::prelude::*;

pub(crate) use balance::PairsCalls;
pub(crate) use fast::{CountsCalls, HooksPanic, WrongHooks};
pub(crate) use info::SeesValues;
pub(crate) use native::SeesCalls;
pub(crate) use owner::OwnsHooks;
pub(crate) use values::LooksAtValues;

/// Makes the call at the end of a method with this name prefix a tail call, which C# compilers do not.
fn make_tail_calls(info: &ProfilerInfo, function: FunctionId, name: &str) -> Result<()> {
    let method = info.method(function)?;
    if !method.full_name()?.starts_with(name) {
        return Ok(());
    }
    let mut body = method.il_body()?;
    let call = body.len().checked_sub(6);
    let call = call.filter(|at| body.get(*at) == Some(&0x28));
    let call = call.ok_or_else(|| Error::other("it does not end with a call"))?;
    body.splice(call..call, [0xfe, 0x14]);
    match body.first_mut() {
        // The header of a small body: its size in the upper six bits.
        Some(header) if *header & 3 == 2 => *header += 2 << 2,
        // The header of a large one, whose size is in its second word.
        _ => {
            if let Some(size) = body.get_mut(4) {
                *size += 2;
            }
        }
    }
    method.set_il_body(&body)
}
