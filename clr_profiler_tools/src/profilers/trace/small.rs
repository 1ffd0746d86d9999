//! Methods that are too small for a span, which would cost many times as much as they do.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::opcode::FlowControl;
use clr_profiler::instrumentation::SelectedMethod;

use super::notes;

/// The largest size of their code in bytes.
const SIZE: usize = 32;
/// The two lowest bits of the header of a body without locals and clauses; the others are the size of its code.
const TINY: u8 = 2;

/// Whether a method is small, which is noted.
pub(super) fn is_small(method: &SelectedMethod<'_>) -> bool {
    let is_small = method.il_body().is_ok_and(|body| is_small_body(&body));
    if is_small {
        notes::add_small(|| method.full_name());
    }
    is_small
}

/// Whether a body is short, and neither calls, nor throws, nor branches.
fn is_small_body(bytes: &[u8]) -> bool {
    let is_short = bytes
        .first()
        .is_some_and(|header| header & 3 == TINY && usize::from(header >> 2) <= SIZE);
    is_short
        && MethodBody::decode(bytes).is_ok_and(|body| {
            body.instructions().all(|instruction| {
                matches!(
                    instruction.opcode().flow_control(),
                    FlowControl::Next
                        | FlowControl::Break
                        | FlowControl::Return
                        | FlowControl::Prefix
                )
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_only_move_values_are_small() {
        let tiny = |code: &[u8]| [&[(code.len() as u8) << 2 | TINY], code].concat();
        // ldarg.0, ldfld, ret
        let getter = tiny(&[0x02, 0x7b, 1, 0, 0, 4, 0x2a]);
        // ldarg.0, call, ret
        let calls = tiny(&[0x02, 0x28, 1, 0, 0, 10, 0x2a]);
        // ldnull, throw
        let throws = tiny(&[0x14, 0x7a]);
        // br.s -2
        let loops = tiny(&[0x2b, 0xfe]);
        let long = tiny(&[[0x00; SIZE].as_slice(), &[0x2a]].concat());
        assert!(is_small_body(&getter) && is_small_body(&tiny(&[0x2a])));
        for body in [calls, throws, loops, long, Vec::new()] {
            assert!(!is_small_body(&body), "{body:?}");
        }
    }
}
