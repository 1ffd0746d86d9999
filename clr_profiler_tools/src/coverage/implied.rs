//! The points and outcomes whose hits follow from those of others, and which need no probe of their own.
//!
//! Code that cannot throw reaches its end whenever it has begun. So a point is hit as often as the places together to which such code
//! leads from it, if nothing else leads to them; and a place is hit as often as the points together from which such code leads to
//! it, if nothing else does. An instruction that may throw ends both: the point before it is hit, and none after it.

use std::collections::BTreeMap;

use clr_profiler::il::opcode::Opcode;

use super::code::{Code, Step};
use super::map::Probe;

/// The number of probes whose hits are added up at most.
const MOST: usize = 8;

/// The number of instructions that are followed from a point.
const FAR: usize = 64;

/// The numbers of a few places, without memory of their own: each method has many.
#[derive(Clone, Copy, Default)]
struct Few {
    numbers: [u32; MOST],
    /// More than there is room for if there were too many.
    count: usize,
}

impl Few {
    fn one(number: u32) -> Self {
        let mut few = Self::default();
        few.push(number);
        few
    }

    fn push(&mut self, number: u32) {
        if let Some(slot) = self.numbers.get_mut(self.count) {
            *slot = number;
        }
        self.count = (self.count + 1).min(MOST + 1);
    }

    /// `None` if there were too many.
    fn all(&self) -> Option<&[u32]> {
        self.numbers.get(..self.count)
    }
}

/// The state of a place in the search.
#[derive(Clone, Default)]
enum Known {
    /// It has a probe, unless others tell.
    #[default]
    Open,
    /// It has a probe, because others need it.
    Probe,
    /// The sum of these, which have probes.
    Sum(Few),
}

/// Which of these places need a probe, and for each place the indexes in this list of those whose hits add up to its.
pub(super) fn reduce(code: &Code, places: Vec<Probe>) -> (Vec<Probe>, Vec<Vec<u32>>) {
    let sums = Places::new(code, &places).sums();
    let mut probes = Vec::with_capacity(places.len());
    let mut numbers = vec![0; places.len()];
    for ((place, known), number) in places.into_iter().zip(&sums).zip(&mut numbers) {
        if !matches!(known, Known::Sum(_)) {
            *number = probes.len() as u32;
            probes.push(place);
        }
    }
    let number = |place: u32| numbers.get(place as usize).copied().unwrap_or_default();
    let sums = (0..).zip(sums).map(|(place, known)| match known {
        Known::Sum(of) => of
            .all()
            .into_iter()
            .flatten()
            .copied()
            .map(number)
            .collect(),
        _ => vec![number(place)],
    });
    (probes, sums.collect())
}

/// Those of these places that need a probe, as [`reduce`] finds them.
#[cfg(feature = "profilers")]
pub(super) fn needed(code: &Code, mut places: Vec<Probe>) -> Vec<Probe> {
    let sums = Places::new(code, &places).sums();
    let mut sums = sums.iter();
    places.retain(|_| !matches!(sums.next(), Some(Known::Sum(_))));
    places
}

struct Places<'a> {
    code: &'a Code,
    places: &'a [Probe],
    /// For each instruction the number of the place before it.
    before: Vec<Option<u32>>,
    /// Those on the ways from branches.
    on_way: BTreeMap<Probe, u32>,
    /// The offsets of all targets with the indexes of their branches, in order, each once.
    sources: Vec<(u32, usize)>,
}

impl<'a> Places<'a> {
    fn new(code: &'a Code, places: &'a [Probe]) -> Self {
        let mut before = vec![None; code.steps.len()];
        let mut on_way = BTreeMap::new();
        for (number, place) in (0..).zip(places) {
            match place {
                Probe::Before(offset) => {
                    if let Some(at) = code.find(*offset).and_then(|at| before.get_mut(at)) {
                        *at = Some(number);
                    }
                }
                place => {
                    on_way.insert(*place, number);
                }
            }
        }
        let steps = code.steps.iter().enumerate();
        let sources = steps.flat_map(|(index, step)| {
            let targets = step.targets.iter();
            targets.map(move |target| (*target, index))
        });
        let mut sources: Vec<(u32, usize)> = sources.collect();
        sources.sort_unstable();
        // A `switch` may name a target several times.
        sources.dedup();
        Self {
            code,
            places,
            before,
            on_way,
            sources,
        }
    }

    /// The state of each place. From the last on, so that those to which a point leads are known before it.
    fn sums(&self) -> Vec<Known> {
        let mut known = vec![Known::Open; self.places.len()];
        for (index, number) in self.before.iter().enumerate().rev() {
            let Some(number) = *number else { continue };
            if !matches!(known.get(number as usize), Some(Known::Open)) {
                continue;
            }
            let found = self.reached(index).or_else(|| self.origins(index));
            let Some(found) = found else { continue };
            let Some(found) = found.all() else { continue };
            let mut sum = Few::default();
            for &of in found {
                match known.get(of as usize) {
                    Some(Known::Sum(others)) => {
                        for &other in others.all().unwrap_or_default() {
                            sum.push(other);
                        }
                    }
                    _ => sum.push(of),
                }
            }
            let Some(all) = sum.all().filter(|all| !all.contains(&number)) else {
                continue;
            };
            for of in all {
                if let Some(of) = known.get_mut(*of as usize) {
                    *of = Known::Probe;
                }
            }
            if let Some(of) = known.get_mut(number as usize) {
                *of = Known::Sum(sum);
            }
        }
        known
    }

    fn step(&self, index: usize) -> Option<&'a Step> {
        self.code.steps.get(index)
    }

    fn before(&self, index: usize) -> Option<u32> {
        self.before.get(index).copied().flatten()
    }

    /// The places that are reached whenever the instruction is, and in no other way.
    fn reached(&self, from: usize) -> Option<Few> {
        let mut at = from;
        for _ in 0..FAR {
            if at != from {
                if !self.code.has_one_way(at) {
                    return None;
                }
                if let Some(number) = self.before(at) {
                    return Some(Few::one(number));
                }
            }
            let step = self.step(at).filter(|step| is_harmless(step))?;
            if step.is_conditional() {
                return self.outcomes(at, step);
            }
            at = match step.targets.first() {
                Some(target) => self.code.find(*target)?,
                None => at + 1,
            };
        }
        None
    }

    /// The places of all outcomes of a branch.
    fn outcomes(&self, index: usize, step: &Step) -> Option<Few> {
        let next = self.step(index + 1)?.offset;
        let mut found = Few::default();
        for (nth, &target) in step.targets.iter().enumerate() {
            let is_named_before = step.targets.iter().take(nth).any(|other| *other == target);
            if !is_named_before {
                found.push(self.outcome(step, target, target == next)?);
            }
        }
        if !step.targets.contains(&next) {
            found.push(self.outcome(step, next, true)?);
        }
        Some(found)
    }

    /// The place of an outcome: on the way to the target, or at it, if there is no other way.
    fn outcome(&self, step: &Step, target: u32, is_next: bool) -> Option<u32> {
        let on_way = match is_next {
            true => Probe::After(step.offset),
            false => Probe::Between(step.offset, target),
        };
        let at = || {
            let at = self.code.find(target)?;
            self.before(at).filter(|_| self.code.has_one_way(at))
        };
        self.on_way.get(&on_way).copied().or_else(at)
    }

    /// The places that were reached whenever the instruction is, each of which leads there alone.
    fn origins(&self, to: usize) -> Option<Few> {
        let step = self.step(to)?;
        // The runtime leads there, too.
        if to == 0 || self.code.entries.contains(&step.offset) {
            return None;
        }
        let mut found = Few::default();
        let first = self.sources.partition_point(|(to, _)| *to < step.offset);
        let sources = self.sources.get(first..).unwrap_or_default().iter();
        for &(_, from) in sources.take_while(|(to, _)| *to == step.offset) {
            found.push(self.origin(from, step.offset, false)?);
        }
        let before = self.step(to - 1)?;
        if !before.opcode.ends_block() {
            // One that jumps to the next instruction is not told apart.
            if before.targets.contains(&step.offset) {
                return None;
            }
            found.push(self.origin(to - 1, step.offset, true)?);
        }
        Some(found)
    }

    /// The place that is reached whenever control continues from an instruction to another.
    fn origin(&self, from: usize, to: u32, is_next: bool) -> Option<u32> {
        let step = self.step(from)?;
        if step.is_conditional() {
            let on_way = match is_next {
                true => Probe::After(step.offset),
                false => Probe::Between(step.offset, to),
            };
            return self.on_way.get(&on_way).copied();
        }
        let mut at = from;
        for _ in 0..FAR {
            let step = self.step(at)?;
            if !is_harmless(step) || at != from && !step.targets.is_empty() {
                return None;
            }
            if let Some(number) = self.before(at) {
                return Some(number);
            }
            if at == 0 || self.code.is_target(at) || self.step(at - 1)?.opcode.ends_block() {
                return None;
            }
            at -= 1;
        }
        None
    }
}

/// Whether an instruction always continues, at the next one or at a target: it neither throws nor waits. Those that read fields or
/// elements, divide, check for overflow, create or call may throw.
fn is_harmless(step: &Step) -> bool {
    if step.constant.is_some() || step.loads.is_some() || step.stores.is_some() {
        return true;
    }
    match step.opcode {
        Opcode::Nop | Opcode::Dup | Opcode::Pop | Opcode::Ldnull => true,
        Opcode::LdcI8 | Opcode::LdcR4 | Opcode::LdcR8 => true,
        Opcode::Ldarg0 | Opcode::Ldarg1 | Opcode::Ldarg2 | Opcode::Ldarg3 => true,
        Opcode::LdargS | Opcode::Ldarg | Opcode::StargS | Opcode::Starg => true,
        Opcode::LdargaS | Opcode::Ldarga | Opcode::LdlocaS | Opcode::Ldloca => true,
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Not => true,
        Opcode::And | Opcode::Or | Opcode::Xor => true,
        Opcode::Shl | Opcode::Shr | Opcode::ShrUn => true,
        Opcode::Ceq | Opcode::Cgt | Opcode::CgtUn | Opcode::Clt | Opcode::CltUn => true,
        Opcode::ConvI | Opcode::ConvI1 | Opcode::ConvI2 | Opcode::ConvI4 | Opcode::ConvI8 => true,
        Opcode::ConvU | Opcode::ConvU1 | Opcode::ConvU2 | Opcode::ConvU4 | Opcode::ConvU8 => true,
        Opcode::ConvR4 | Opcode::ConvR8 | Opcode::ConvRUn => true,
        Opcode::Br | Opcode::BrS => true,
        _ => step.is_conditional(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use clr_profiler::il::body::MethodBody;

    use super::*;
    use crate::coverage::ModuleFiles;
    use crate::coverage::map::{MethodMap, source_points};

    /// Numbers that look random, the same in each run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) as usize % end
        }
    }

    /// Runs code in one of the ways that it may take, with an exception at some instruction that may throw, and counts how often each
    /// place is reached.
    fn run(code: &Code, dice: &mut Dice, counts: &mut BTreeMap<Probe, u64>) {
        let mut at = 0;
        for number in 0..100_000 {
            let Some(step) = code.steps.get(at) else {
                return;
            };
            *counts.entry(Probe::Before(step.offset)).or_default() += 1;
            if !is_harmless(step) && (number > 300 || dice.below(6) == 0) {
                match code.entries.len() {
                    _ if number > 300 => return,
                    0 => return,
                    handlers => at = code.find(code.entries[dice.below(handlers)]).unwrap(),
                }
                continue;
            }
            let next = code.steps.get(at + 1).map(|next| next.offset);
            if step.is_conditional() {
                let targets = step.targets.iter().copied().chain(next);
                let targets: Vec<u32> = targets.collect();
                let target = targets[dice.below(targets.len())];
                let place = match Some(target) == next {
                    true => Probe::After(step.offset),
                    false => Probe::Between(step.offset, target),
                };
                *counts.entry(place).or_default() += 1;
                at = code.find(target).unwrap();
            } else if let Some(target) = step.targets.first() {
                at = code.find(*target).unwrap();
            } else if step.opcode.ends_block() {
                return;
            } else {
                at += 1;
            }
        }
    }

    /// All places that a body may have: before some instructions, and on the ways from some branches.
    fn places(code: &Code, dice: &mut Dice) -> Vec<Probe> {
        let mut places: Vec<Probe> = code
            .leaders()
            .map(|step| Probe::Before(step.offset))
            .collect();
        for (index, step) in code.steps.iter().enumerate() {
            let before = Probe::Before(step.offset);
            if dice.below(4) == 0 && !places.contains(&before) {
                places.push(before);
            }
            let next = code.steps.get(index + 1).map(|next| next.offset);
            if !step.is_conditional() || dice.below(2) == 0 || step.targets.first() == next.as_ref()
            {
                continue;
            }
            places.extend(next.map(|_| Probe::After(step.offset)));
            let targets: std::collections::BTreeSet<u32> = step.targets.iter().copied().collect();
            let ways = targets.into_iter().filter(|target| Some(*target) != next);
            places.extend(ways.map(|target| Probe::Between(step.offset, target)));
        }
        places
    }

    /// Whichever way control takes, and wherever an exception ends it: each place has the hits of its probes.
    #[test]
    fn places_are_reached_as_often_as_their_probes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/profilees/language");
        let mut dice = Dice(1);
        let (mut all, mut left) = (0, 0);
        for name in ["NetRelease.dll", "NetDebug.dll"] {
            let files = ModuleFiles::read(&folder.join(name)).unwrap();
            let module = files.module().unwrap();
            for method in module.methods() {
                let bytes = module.body(method).unwrap();
                let Ok(body) = MethodBody::decode(bytes) else {
                    continue;
                };
                let code = Code::of(&body);
                for _ in 0..3 {
                    let places = places(&code, &mut dice);
                    let mut counts = BTreeMap::new();
                    for _ in 0..20 {
                        run(&code, &mut dice, &mut counts);
                    }
                    let count = |place: &Probe| counts.get(place).copied().unwrap_or_default();
                    let (probes, sums) = reduce(&code, places.clone());
                    all += places.len();
                    left += probes.len();
                    for (place, sum) in places.iter().zip(sums) {
                        let sum: u64 = sum
                            .iter()
                            .map(|probe| count(&probes[*probe as usize]))
                            .sum();
                        assert_eq!(sum, count(place), "{place:?} of {method} of {name}\n{body}");
                    }
                }
            }
        }
        assert!(all > 3_000 && left * 10 < all * 9, "{left} of {all}");
    }

    /// The places before which a body has probes, with the points of a PDB at these offsets or without one.
    fn probes(code: &[u8], points: Option<&[u32]>) -> (Vec<Probe>, Vec<Vec<u32>>) {
        let mut bytes = vec![(code.len() as u8) << 2 | 2];
        bytes.extend(code);
        let body = MethodBody::decode(&bytes).unwrap();
        let points = points.map(source_points);
        let map = MethodMap::of(&body, points.as_deref(), |_| None, |_, _| false);
        assert!(
            map.points
                .iter()
                .all(|point| point.source.is_some() == points.is_some())
        );
        (
            map.probes,
            map.points.into_iter().map(|point| point.probes).collect(),
        )
    }

    #[test]
    fn a_condition_has_the_hits_of_its_outcomes() {
        // ldarg.0; brtrue 5; ldc.i4.1; ret; (5) ldc.i4.2; ret
        let code = [0x02, 0x2d, 0x02, 0x17, 0x2a, 0x18, 0x2a];
        let both = vec![Probe::Before(3), Probe::Before(5)];
        assert_eq!(
            probes(&code, None),
            (both, vec![vec![1, 0], vec![0], vec![1]])
        );
    }

    #[test]
    fn an_instruction_that_may_throw_has_a_probe_before_it() {
        // ldarg.0; ldlen; brtrue 6; ldc.i4.1; ret; (6) ldc.i4.2; ret
        let code = [0x02, 0x8e, 0x2d, 0x02, 0x17, 0x2a, 0x18, 0x2a];
        let three = vec![Probe::Before(0), Probe::Before(4), Probe::Before(6)];
        assert_eq!(
            probes(&code, None),
            (three, vec![vec![0], vec![1], vec![2]])
        );
    }

    #[test]
    fn a_join_has_the_hits_of_all_that_leads_to_it() {
        // ldarg.0; ldlen; brtrue 7; ldc.i4.1; br 8; (7) ldc.i4.2; (8) ret
        let code = [0x02, 0x8e, 0x2d, 0x03, 0x17, 0x2b, 0x01, 0x18, 0x2a];
        let three = vec![Probe::Before(0), Probe::Before(4), Probe::Before(7)];
        let sums = vec![vec![0], vec![1], vec![2], vec![1, 2]];
        assert_eq!(probes(&code, None), (three, sums));
    }

    #[test]
    fn statements_without_a_call_between_them_share_a_probe() {
        // nop; ldc.i4.1; stloc.0; ldarg.0; ldlen; pop; ret
        let code = [0x00, 0x17, 0x0a, 0x02, 0x8e, 0x26, 0x2a];
        let two = vec![Probe::Before(1), Probe::Before(6)];
        let sums = vec![vec![0], vec![0], vec![0], vec![1]];
        assert_eq!(probes(&code, Some(&[0, 1, 3, 6])), (two, sums));
    }
}
