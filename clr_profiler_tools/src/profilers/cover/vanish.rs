//! Probes that were hit vanish from the code of the next tier.
//!
//! Not by ReJIT: a method with code of ReJIT is never inlined again, which costs more than its probes.

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::edit::EditError;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::instruction::InstructionId;
use clr_profiler::il::opcode::Opcode;

/// The instructions of a probe.
const PROBE: [Opcode; 4] = [
    Opcode::LdcI4,
    Opcode::ConvU,
    Opcode::LdcI41,
    Opcode::StindI1,
];

/// The bytes of each of them.
const SIZES: [usize; 4] = [5, 1, 1, 1];

/// The way in which a probe vanishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vanishing {
    /// It is replaced by as many bytes: the code of a loop that runs continues at the same offset, and the counts of earlier tiers
    /// belong to it.
    Nops,
    /// It is removed.
    Removed,
}

/// Takes the probes with these addresses out of a body that has its probes, as far as they have the short form.
pub(super) fn take_out(
    body: &mut MethodBody,
    how: Vanishing,
    is_hit: impl Fn(usize) -> bool,
) -> Result<(), EditError> {
    let mut found: Vec<[InstructionId; 4]> = Vec::new();
    let mut last: Vec<(InstructionId, Opcode, Option<i32>)> = Vec::with_capacity(PROBE.len());
    for one in body.instructions() {
        if last.len() == PROBE.len() {
            last.remove(0);
        }
        last.push((one.id(), one.opcode(), one.int32()));
        let opcodes = last.iter().map(|(_, opcode, _)| *opcode);
        if opcodes.eq(PROBE)
            && let [
                (load, _, Some(address)),
                (convert, ..),
                (value, ..),
                (store, ..),
            ] = *last
            && usize::try_from(address).is_ok_and(&is_hit)
        {
            found.push([load, convert, value, store]);
        }
    }
    for probe in found {
        for (id, size) in probe.into_iter().zip(SIZES) {
            match how {
                Vanishing::Removed => body.remove(id)?,
                Vanishing::Nops => {
                    let mut nops = Fragment::new();
                    for _ in 0..size {
                        nops.nop();
                    }
                    body.replace(id, &nops)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler::il::symbol::NoTokens;

    use super::*;

    /// `ldc.i4 0x10000; conv.u; ldc.i4.1; stind.i1`, the same with the address 0x10001, and `ret`.
    const BODY: [u8; 18] = [
        0x46, 0x20, 0, 0, 1, 0, 0xe0, 0x17, 0x52, 0x20, 1, 0, 1, 0, 0xe0, 0x17, 0x52, 0x2a,
    ];

    fn without(how: Vanishing, hit: usize) -> Vec<u8> {
        let mut body = MethodBody::decode(&BODY).unwrap();
        take_out(&mut body, how, |address| address == hit).unwrap();
        let mut bytes = Vec::new();
        body.encode(&mut NoTokens, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn only_probes_that_were_hit_vanish() {
        let mut nops = BODY;
        nops[9..17].fill(0);
        assert_eq!(without(Vanishing::Nops, 0x1_0001), nops);
        let mut removed = BODY[..9].to_vec();
        removed.push(0x2a);
        removed[0] = 0x26;
        assert_eq!(without(Vanishing::Removed, 0x1_0001), removed);
        assert_eq!(without(Vanishing::Removed, 7), BODY);
    }
}
