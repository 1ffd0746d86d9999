//! The insertion of probes into a body.

use std::collections::{BTreeMap, BTreeSet};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::edit::{AtOffset, EditError, InsertionPoint, Labels, Side};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::instruction::{InstructionId, Label, Position};
use clr_profiler::il::opcode::Opcode;

use super::code::{Code, Step};
use super::map::{MethodMap, Probe};

/// Inserts probes: `write` appends the code of the probe with an index. Code without one of the places is another than that of which the
/// probes are: it is refused, because its other probes would have another meaning, too.
pub(super) fn insert(
    probes: &[Probe],
    body: &mut MethodBody,
    write: impl Fn(u32, &mut Fragment),
) -> Result<(), EditError> {
    let mut places = Vec::with_capacity(probes.len());
    for probe in probes {
        match *probe {
            Probe::Before(offset) => places.push(AtOffset::Before(offset)),
            Probe::After(offset) => places.push(AtOffset::After(offset)),
            Probe::Between(..) => return insert_between(probes, body, write),
        }
    }
    body.insert_at(&places, |probe, code| write(probe as u32, code))
}

impl MethodMap {
    /// Inserts the probes: `write` appends the code of the probe with an index.
    ///
    /// # Errors
    ///
    /// If the body is not the one of which this map was made.
    pub fn insert(
        &self,
        body: &mut MethodBody,
        write: impl Fn(u32, &mut Fragment),
    ) -> Result<(), EditError> {
        insert(&self.probes, body, write)
    }
}

/// [`insert`] with probes on the ways from branches to targets that others reach, too.
fn insert_between(
    probes: &[Probe],
    body: &mut MethodBody,
    write: impl Fn(u32, &mut Fragment),
) -> Result<(), EditError> {
    let code = Code::of(body);
    let step = |offset: u32| {
        let step = code.find(offset).and_then(|at| code.steps.get(at));
        step.ok_or(EditError::NoInstruction(offset))
    };
    let on_way = |probe| {
        let number = probes.iter().position(|one| *one == probe)?;
        let mut fragment = Fragment::new();
        write(number as u32, &mut fragment);
        Some(fragment)
    };
    let between = probes.iter().filter_map(|probe| match probe {
        Probe::Between(branch, _) => Some(*branch),
        _ => None,
    });
    let branches: BTreeSet<u32> = between.collect();
    // First of all: a branch that is a target is replaced, too, and its labels move to the new code. The probes of
    // targets come later, so that they follow those on the way.
    let mut labels = BTreeMap::new();
    for branch in &branches {
        for &target in step(*branch)?.targets.iter() {
            let at = instruction_at(body, target)?;
            labels.insert(target, body.label(Position::Before(at))?);
        }
    }
    let mut replaced: BTreeMap<u32, InstructionId> = BTreeMap::new();
    for branch in branches {
        let first = replace(body, step(branch)?, &labels, on_way)?;
        replaced.insert(branch, first);
    }
    for (number, probe) in (0..).zip(probes) {
        let mut fragment = Fragment::new();
        match *probe {
            Probe::Before(offset) => {
                let at = match replaced.get(&offset) {
                    Some(at) => *at,
                    None => instruction_at(body, offset)?,
                };
                write(number, &mut fragment);
                body.insert_before(at, Labels::Move, &fragment)?;
            }
            Probe::After(offset) if !replaced.contains_key(&offset) => {
                let at = instruction_at(body, offset)?;
                write(number, &mut fragment);
                body.insert_after(at, Labels::Stay, &fragment)?;
            }
            Probe::After(_) | Probe::Between(..) => {}
        }
    }
    Ok(())
}

fn instruction_at(body: &MethodBody, offset: u32) -> Result<InstructionId, EditError> {
    let id = body.instruction_at(offset);
    id.ok_or(EditError::NoInstruction(offset))
}

/// Replaces a branch by one that has probes on the ways to its targets:
///
/// ```text
///     brtrue WAY
///     (the probe of the other outcome)
///     br NEXT
/// WAY:
///     (the probe)
///     br TARGET
/// NEXT:
/// ```
fn replace(
    body: &mut MethodBody,
    step: &Step,
    targets: &BTreeMap<u32, Label>,
    on_way: impl Fn(Probe) -> Option<Fragment>,
) -> Result<InstructionId, EditError> {
    let mut fragment = Fragment::new();
    let mut exits: Vec<(Label, Label)> = Vec::new();
    let mut ways: BTreeMap<u32, (Label, Option<Fragment>)> = BTreeMap::new();
    let mut labels = Vec::with_capacity(step.targets.len());
    for &target in step.targets.iter() {
        let (label, _) = ways.entry(target).or_insert_with(|| {
            let label = fragment.label();
            let probe = on_way(Probe::Between(step.offset, target));
            if probe.is_none() {
                exits.extend(targets.get(&target).map(|target| (label, *target)));
            }
            (label, probe)
        });
        labels.push(*label);
    }
    branch(&mut fragment, step.opcode, &labels);
    if let Some(probe) = on_way(Probe::After(step.offset)) {
        fragment.append(&probe);
    }
    let next = fragment.label();
    fragment.br(next);
    for (target, (label, probe)) in &ways {
        let Some(probe) = probe else { continue };
        let out = fragment.label();
        fragment.mark(*label).append(probe).br(out);
        exits.extend(targets.get(target).map(|target| (out, *target)));
    }
    fragment.mark(next);
    let id = instruction_at(body, step.offset)?;
    let point = InsertionPoint {
        position: Position::Before(id),
        labels: Labels::Move,
        side: Side::WithNext,
    };
    let inserted = body.insert(point, &fragment, &exits)?;
    body.remove(id)?;
    Ok(inserted.map_or(id, |range| range.first))
}

/// Appends a branch of any kind.
fn branch(fragment: &mut Fragment, opcode: Opcode, labels: &[Label]) {
    if opcode == Opcode::Switch {
        fragment.switch(labels);
        return;
    }
    let &[label] = labels else { return };
    match opcode.long_form() {
        Opcode::Brfalse => fragment.brfalse(label),
        Opcode::Beq => fragment.beq(label),
        Opcode::Bge => fragment.bge(label),
        Opcode::Bgt => fragment.bgt(label),
        Opcode::Ble => fragment.ble(label),
        Opcode::Blt => fragment.blt(label),
        Opcode::BneUn => fragment.bne_un(label),
        Opcode::BgeUn => fragment.bge_un(label),
        Opcode::BgtUn => fragment.bgt_un(label),
        Opcode::BleUn => fragment.ble_un(label),
        Opcode::BltUn => fragment.blt_un(label),
        _ => fragment.brtrue(label),
    };
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clr_profiler::il::symbol::NoTokens;

    use super::*;
    use crate::coverage::ModuleFiles;
    use crate::coverage::map::source_points;
    use crate::coverage::module::most_probes;

    /// The numbers of the probes in a body.
    fn probes(body: &MethodBody) -> Vec<i32> {
        let numbers = body.instructions().filter_map(|one| one.int32());
        let mut numbers: Vec<i32> = numbers
            .filter(|number| (FIRST..FIRST + 0x1_0000).contains(number))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    const FIRST: i32 = 0x1234_0000;

    fn write(number: u32, code: &mut Fragment) {
        code.ldc_i4(FIRST + number as i32).pop();
    }

    fn encoded(body: &MethodBody) -> Vec<u8> {
        let mut bytes = Vec::new();
        body.encode(&mut NoTokens, &mut bytes).unwrap();
        bytes
    }

    /// The body with its probes, as the profiler makes it.
    #[cfg(feature = "profilers")]
    fn inserted_lazily(
        files: &ModuleFiles,
        method: clr_metadata::token::MethodDef,
        map: &MethodMap,
    ) -> Vec<u8> {
        let module = files.module().unwrap();
        let mut body = MethodBody::new();
        let original = module.body(method).unwrap();
        body.decode_lazily_into(original).unwrap();
        let of = module.probes_of_code(method, &Code::of(&body)).unwrap();
        assert_eq!(of.probes, map.probes, "{method}");
        assert_eq!(of.has_loops, map.has_loops, "{method}");
        of.insert(&mut body, write).unwrap();
        encoded(&body)
    }

    #[test]
    fn each_probe_is_inserted_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/profilees/language");
        let (mut methods, mut between) = (0, 0);
        for name in ["NetRelease.dll", "NetDebug.dll"] {
            let files = ModuleFiles::read(&folder.join(name)).unwrap();
            let module = files.module().unwrap();
            assert_eq!(files.without_pdb(), None);
            for method in module.methods() {
                let Some(map) = module.map(method).unwrap() else {
                    continue;
                };
                let original = module.body(method).unwrap();
                assert!(map.probes.len() <= most_probes(original.len()) as usize);
                let mut body = MethodBody::decode(original).unwrap();
                map.insert(&mut body, write).unwrap();
                let bytes = encoded(&body);
                let read = MethodBody::decode(&bytes).unwrap();
                let expected: Vec<i32> = (0..map.probes.len() as i32).map(|n| FIRST + n).collect();
                assert_eq!(probes(&read), expected, "{method} of {name}");
                #[cfg(feature = "profilers")]
                assert_eq!(
                    inserted_lazily(&files, method, &map),
                    bytes,
                    "{method} of {name}"
                );
                methods += 1;
                let is_between = |probe: &&Probe| matches!(probe, Probe::Between(..));
                between += map.probes.iter().filter(is_between).count();
            }
        }
        assert!(methods > 300 && between > 20, "{methods} {between}");
    }

    /// `ldarg.0; brtrue L; nop; L: ldc.i4.1; ret`, of which the branch skips an instruction. Its outcomes tell whether the statement
    /// before them was reached.
    #[test]
    fn a_probe_on_the_way_to_a_target_is_not_on_the_way_of_others() {
        let bytes = [0x1a, 0x02, 0x2d, 0x01, 0x00, 0x17, 0x2a];
        let mut body = MethodBody::decode(&bytes).unwrap();
        let points = source_points(&[0, 3, 4]);
        let map = MethodMap::of(&body, Some(&points), |_| None, |_, _| false);
        assert_eq!(map.probes, [Probe::Before(3), Probe::Between(1, 4)]);
        assert_eq!(map.branches[0].outcomes, [[1], [0]]);
        let points: Vec<_> = map.points.iter().map(|point| &point.probes[..]).collect();
        assert_eq!(points, [&[1, 0][..], &[0], &[1, 0]]);
        map.insert(&mut body, write).unwrap();
        let expected = "\
IL_0000:  ldarg.0
IL_0001:  brtrue.s   IL_0005
IL_0003:  br.s       IL_000d
IL_0005:  ldc.i4     305397761
IL_000a:  pop
IL_000b:  br.s       IL_0014
IL_000d:  ldc.i4     305397760
IL_0012:  pop
IL_0013:  nop
IL_0014:  ldc.i4.1
IL_0015:  ret
";
        assert!(body.to_string().contains(expected), "{body}");
    }

    /// `ldarg.0; brtrue L; nop; L: ldc.i4.1; ret`, decoded with and without nodes.
    #[test]
    fn code_without_a_place_is_refused() {
        let bytes = [0x1a, 0x02, 0x2d, 0x01, 0x00, 0x17, 0x2a];
        let on_way = Probe::Between(1, 4);
        for (probes, missing) in [
            (&[Probe::Before(2)][..], 2),
            (&[Probe::After(2)], 2),
            (&[on_way, Probe::Before(2)], 2),
            (&[on_way, Probe::After(9)], 9),
            (&[Probe::Between(2, 4)], 2),
        ] {
            let mut lazy = MethodBody::new();
            lazy.decode_lazily_into(&bytes).unwrap();
            for mut body in [MethodBody::decode(&bytes).unwrap(), lazy] {
                let refused = insert(probes, &mut body, write);
                assert_eq!(
                    refused,
                    Err(EditError::NoInstruction(missing)),
                    "{probes:?}"
                );
            }
        }
    }
}
