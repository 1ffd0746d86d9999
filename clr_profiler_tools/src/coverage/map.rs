//! The probes of a method, and their meaning.

use std::collections::BTreeMap;

use clr_metadata::pdb::{SequencePoint, SourceSpan};
use clr_metadata::token::{Document, Token};
use clr_profiler::il::body::MethodBody;

use super::code::{Code, Step};
use super::generated;

/// Where a probe is, in the offsets of the compiled body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Before an instruction, whichever way control takes to it.
    Before(u32),
    /// After the branch with this offset, if it is not taken.
    After(u32),
    /// Between the branch with this offset and a target of it.
    Between(u32, u32),
}

/// A piece of source that runs as a whole: a sequence point of the PDB; without a PDB a basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The index of its probe.
    pub probe: u32,
    /// The offset of its first instruction.
    pub offset: u32,
    /// File and lines; `None` without a PDB.
    pub source: Option<(Document, SourceSpan)>,
}

/// A conditional branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The offset of its instruction.
    pub offset: u32,
    /// The index of the point that it is in.
    pub point: u32,
    /// The probes of its outcomes: first the one of its targets in their order, last the next instruction.
    pub outcomes: Vec<u32>,
}

/// The probes of a method.
///
/// It depends on the method and its PDB alone: the profiler that inserts the probes and the report that reads them make the same
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodMap {
    /// The probes. A probe may serve a point and an outcome.
    pub probes: Vec<Probe>,
    /// The pieces of source, in the order of offsets.
    pub points: Vec<Point>,
    /// The branches, in the order of offsets.
    pub branches: Vec<Branch>,
    /// Whether an instruction can run twice in a call.
    pub has_loops: bool,
}

/// Numbers probes in the order in which they are first needed.
#[derive(Default)]
struct Probes {
    numbers: BTreeMap<Probe, u32>,
    probes: Vec<Probe>,
}

impl Probes {
    fn number(&mut self, probe: Probe) -> u32 {
        *self.numbers.entry(probe).or_insert_with(|| {
            self.probes.push(probe);
            self.probes.len() as u32 - 1
        })
    }
}

impl MethodMap {
    /// The probes of a body: one for each sequence point with a line, and one for each outcome of branches in
    /// them. Without sequence points (`None`) one for each basic block.
    ///
    /// `name` is the name of the member or type that a token refers to, by which branches of the compiler are recognised.
    /// `is_variable` says whether a local is a variable of the source at an offset.
    #[must_use]
    pub fn of(
        body: &MethodBody,
        points: Option<&[SequencePoint]>,
        name: impl Fn(Token) -> Option<String>,
        is_variable: impl Fn(u16, u32) -> bool,
    ) -> Self {
        let code = Code::of(body);
        let mut probes = Probes::default();
        let found: Vec<Point> = match points {
            Some(points) => {
                let in_code = points.iter().filter(|point| {
                    let index = code.find(point.il_offset);
                    index.is_some_and(|index| !code.is_dead(index))
                });
                let visible = in_code.filter_map(|point| {
                    // Hidden points have no probe.
                    let span = point.span?;
                    Some(Point {
                        probe: probes.number(Probe::Before(point.il_offset)),
                        offset: point.il_offset,
                        source: Some((point.document, span)),
                    })
                });
                visible.collect()
            }
            None => {
                let blocks = code.leaders().map(|step| Point {
                    probe: probes.number(Probe::Before(step.offset)),
                    offset: step.offset,
                    source: None,
                });
                blocks.collect()
            }
        };
        // The offset of the hidden point that an instruction is in.
        let hidden = |offset| {
            let mut points = points?.iter().rev();
            let point = points.find(|point| point.il_offset <= offset)?;
            point.span.is_none().then_some(point.il_offset)
        };
        let mut branches = Vec::new();
        for (index, step) in code.steps.iter().enumerate() {
            if !step.is_conditional()
                || generated::is_of_compiler(&code, index, hidden(step.offset), &name)
            {
                continue;
            }
            let point = found.partition_point(|point| point.offset <= step.offset);
            let Some(point) = point.checked_sub(1) else {
                continue;
            };
            let line = found.get(point).map_or(0, |point| point.offset);
            let hidden = hidden(step.offset);
            if hidden.is_some_and(|hidden| !code.continues(line, hidden, &is_variable)) {
                continue;
            }
            let outcomes = outcomes(&code, index, step);
            if outcomes.len() < 2 {
                continue;
            }
            branches.push(Branch {
                offset: step.offset,
                point: point as u32,
                outcomes: outcomes
                    .into_iter()
                    .map(|probe| probes.number(probe))
                    .collect(),
            });
        }
        Self {
            probes: probes.probes,
            points: found,
            branches,
            has_loops: code.has_loops(),
        }
    }
}

/// The probes of the different outcomes of a branch.
fn outcomes(code: &Code, index: usize, step: &Step) -> Vec<Probe> {
    let next = code.steps.get(index + 1).map(|step| step.offset);
    let mut targets: Vec<u32> = Vec::new();
    for target in step.targets.iter().copied().chain(next) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let probe = |target: u32| match code.find(target) {
        Some(at) if code.has_one_way(at) => Probe::Before(target),
        _ if Some(target) == next => Probe::After(step.offset),
        _ => Probe::Between(step.offset, target),
    };
    targets.into_iter().map(probe).collect()
}
