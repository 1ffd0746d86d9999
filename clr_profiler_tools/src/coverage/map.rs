//! The probes of a method, and their meaning.

use std::collections::BTreeMap;

use clr_metadata::pdb::{SequencePoint, SourceSpan};
use clr_metadata::token::{Document, Token};
use clr_profiler::il::body::MethodBody;
#[cfg(feature = "profilers")]
use clr_profiler::il::edit::EditError;
#[cfg(feature = "profilers")]
use clr_profiler::il::fragment::Fragment;

use super::code::{Code, Step};
#[cfg(feature = "profilers")]
use super::edit;
use super::generated;
use super::implied;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The indexes of the probes whose hits add up to its hits.
    pub probes: Vec<u32>,
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
    /// Its outcomes: first those of its targets in their order, last the next instruction. Of each, the indexes of the probes whose
    /// hits add up to its hits.
    pub outcomes: Vec<Vec<u32>>,
}

/// The probes of a method.
///
/// It depends on the method and its PDB alone: the profiler that inserts the probes and the report that reads them make the same
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodMap {
    /// The probes. A probe may serve several points and outcomes: some follow from others.
    pub probes: Vec<Probe>,
    /// The pieces of source, in the order of offsets.
    pub points: Vec<Point>,
    /// The branches, in the order of offsets; without a PDB none.
    pub branches: Vec<Branch>,
    /// Whether an instruction can run twice in a call.
    pub has_loops: bool,
}

/// Numbers the places of points and outcomes, in the order in which they are first needed.
#[derive(Default)]
struct Places {
    numbers: BTreeMap<Probe, u32>,
    places: Vec<Probe>,
}

impl Places {
    fn number(&mut self, place: Probe) -> u32 {
        if let Some(number) = self.numbers.get(&place) {
            return *number;
        }
        let number = self.add(place);
        self.numbers.insert(place, number);
        number
    }

    /// Numbers a place that is asked for once.
    fn add(&mut self, place: Probe) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }
}

impl MethodMap {
    /// The probes of a body: one for each sequence point with a line, and one for each outcome of branches in
    /// them. Without sequence points (`None`) one for each basic block. Those whose hits follow from the hits of others are left out.
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
        Self::of_code(&Code::of(body), points, name, is_variable)
    }

    /// [`of`](Self::of), for a body whose instructions are known.
    pub(super) fn of_code(
        code: &Code,
        points: Option<&[SequencePoint]>,
        name: impl Fn(Token) -> Option<String>,
        is_variable: impl Fn(u16, u32) -> bool,
    ) -> Self {
        let (places, found, branches) = find(code, points, name, is_variable);
        let (probes, sums) = implied::reduce(code, places);
        let sum = |place: u32| sums.get(place as usize).cloned().unwrap_or_default();
        let found = found.into_iter().map(|(place, offset, source)| Point {
            probes: sum(place),
            offset,
            source,
        });
        let branches = branches.into_iter().map(|branch| Branch {
            offset: branch.offset,
            point: branch.point,
            outcomes: branch.outcomes.into_iter().map(sum).collect(),
        });
        Self {
            probes,
            points: found.collect(),
            branches: branches.collect(),
            has_loops: code.has_loops(),
        }
    }
}

/// The places of all points and outcomes, the points with their places, offsets and sources, and the branches.
fn find(
    code: &Code,
    points: Option<&[SequencePoint]>,
    name: impl Fn(Token) -> Option<String>,
    is_variable: impl Fn(u16, u32) -> bool,
) -> (Vec<Probe>, Vec<FoundPoint>, Vec<Found>) {
    let mut places = Places::default();
    let mut found = Vec::new();
    match points {
        Some(points) => {
            let in_code = points.iter().filter(|point| {
                let index = code.find(point.il_offset);
                index.is_some_and(|index| !code.is_dead(index))
            });
            found.extend(in_code.filter_map(|point| {
                // Hidden points have no probe.
                let span = point.span?;
                let place = places.number(Probe::Before(point.il_offset));
                Some((place, point.il_offset, Some((point.document, span))))
            }));
        }
        None => found.extend(code.leaders().map(|step| {
            let place = places.add(Probe::Before(step.offset));
            (place, step.offset, None)
        })),
    };
    let offsets: Vec<u32> = found.iter().map(|(_, offset, _)| *offset).collect();
    // Blocks tell nothing of the ways between them.
    let branches = match points {
        Some(points) => branches(code, (points, &offsets), &mut places, name, is_variable),
        None => Vec::new(),
    };
    (places.places, found, branches)
}

/// The place, offset and source of a point.
type FoundPoint = (u32, u32, Option<(Document, SourceSpan)>);

/// The probes of a method alone, of which a profiler needs no more.
#[cfg(feature = "profilers")]
#[derive(Debug)]
pub(crate) struct MethodProbes {
    pub(crate) probes: Vec<Probe>,
    /// As of [`MethodMap`].
    pub(crate) has_loops: bool,
}

#[cfg(feature = "profilers")]
impl MethodProbes {
    /// As [`MethodMap::of`].
    pub(super) fn of_code(
        code: &Code,
        points: Option<&[SequencePoint]>,
        name: impl Fn(Token) -> Option<String>,
        is_variable: impl Fn(u16, u32) -> bool,
    ) -> Self {
        let places = match points {
            Some(_) => find(code, points, name, is_variable).0,
            // As there, without the rest.
            None => code
                .leaders()
                .map(|step| Probe::Before(step.offset))
                .collect(),
        };
        Self {
            probes: implied::needed(code, places),
            has_loops: code.has_loops(),
        }
    }

    /// As [`MethodMap::insert`].
    pub(crate) fn insert(
        &self,
        body: &mut MethodBody,
        write: impl Fn(u32, &mut Fragment),
    ) -> Result<(), EditError> {
        edit::insert(&self.probes, body, write)
    }
}

/// A branch with the places of its outcomes.
struct Found {
    offset: u32,
    point: u32,
    outcomes: Vec<u32>,
}

/// The branches of the source, in the points at these offsets.
fn branches(
    code: &Code,
    (points, offsets): (&[SequencePoint], &[u32]),
    places: &mut Places,
    name: impl Fn(Token) -> Option<String>,
    is_variable: impl Fn(u16, u32) -> bool,
) -> Vec<Found> {
    // The offset of the hidden point that an instruction is in.
    let hidden = |offset| {
        let mut points = points.iter().rev();
        let point = points.find(|point| point.il_offset <= offset)?;
        point.span.is_none().then_some(point.il_offset)
    };
    let mut branches = Vec::new();
    for (index, step) in code.steps.iter().enumerate() {
        if !step.is_conditional()
            || generated::is_of_compiler(code, index, hidden(step.offset), &name)
        {
            continue;
        }
        let point = offsets.partition_point(|offset| *offset <= step.offset);
        let Some(point) = point.checked_sub(1) else {
            continue;
        };
        let line = offsets.get(point).copied().unwrap_or_default();
        let hidden = hidden(step.offset);
        if hidden.is_some_and(|hidden| !code.continues(line, hidden, &is_variable)) {
            continue;
        }
        let outcomes = outcomes(code, index, step);
        if outcomes.len() < 2 {
            continue;
        }
        branches.push(Found {
            offset: step.offset,
            point: point as u32,
            outcomes: outcomes
                .into_iter()
                .map(|place| places.number(place))
                .collect(),
        });
    }
    branches
}

/// The places of the different outcomes of a branch.
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

/// Sequence points at these offsets, each on a line of its own.
#[cfg(test)]
pub(super) fn source_points(offsets: &[u32]) -> Vec<SequencePoint> {
    let points = (1..).zip(offsets).map(|(line, offset)| SequencePoint {
        il_offset: *offset,
        document: Document::NIL,
        span: Some(SourceSpan {
            start_line: line,
            start_column: 1,
            end_line: line,
            end_column: 2,
        }),
    });
    points.collect()
}
