//! The sum of a file of hits: the lines and outcomes of the probes of a module.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clr_metadata::pdb::SourceSpan;
use clr_metadata::token::{Document, MethodDef};

use super::hits::{Hits, ProbeKind};
use super::map::MethodMap;
use super::module::CoveredModule;
use super::totals::{BranchKey, Coverage, FileHits, MethodKey};

/// The lines that a span may have: more are a mistake of a compiler.
const LINES: u32 = 10_000;

/// The first probe of a method that has got none, because none of its code has run: none is so high.
const NO_PROBE: u32 = 1 << 31;

/// A method whose hits are known.
struct Known {
    /// The method of the source that it is a part of.
    key: MethodKey,
    /// Whether it may run at another time than that.
    is_inner: bool,
    /// The number of its first probe.
    first: u32,
    points: Vec<KnownPoint>,
    branches: Vec<KnownBranch>,
    /// The probes of each of its IL blocks, if it has no lines.
    blocks: Option<Vec<Sum>>,
}

/// The numbers of the probes whose hits add up to those of a point or outcome.
type Sum = Vec<u32>;

/// A sequence point. Files have their numbers in the list of paths.
struct KnownPoint {
    file: usize,
    span: SourceSpan,
    probes: Sum,
    is_first: bool,
}

struct KnownBranch {
    file: usize,
    key: BranchKey,
    outcomes: Vec<Sum>,
}

/// The methods of a module whose hits are known, and the paths of its files.
struct KnownMethods {
    kind: ProbeKind,
    methods: Vec<Known>,
    paths: Vec<String>,
    /// The methods that could not be given probes.
    refused: usize,
}

impl Coverage {
    /// Adds the hits of a module in a process. Returns the number of methods that could not be given probes.
    ///
    /// # Errors
    ///
    /// If the metadata of the module are malformed.
    pub fn add(&mut self, module: &CoveredModule<'_>, hits: &Hits) -> clr_metadata::Result<usize> {
        let known = KnownMethods::of(module, hits)?;
        let all: Vec<u64> = hits.probes.iter().map(|hits| u64::from(*hits)).collect();
        let mut added = known.coverage(&all, |_| true);
        for (name, probes) in &hits.contexts {
            let files = added.contexts.entry(name.clone()).or_default();
            known.add_context(files, probes, all.len());
        }
        self.merge(added);
        Ok(known.refused)
    }
}

impl KnownMethods {
    fn of(module: &CoveredModule<'_>, hits: &Hits) -> clr_metadata::Result<Self> {
        let assembly = module.name()?.to_owned();
        let (mut paths, mut numbers) = (Vec::new(), HashMap::new());
        for (document, path) in module.documents() {
            numbers.insert(document, paths.len());
            paths.push(path);
        }
        let mut known = Self {
            kind: hits.kind,
            methods: Vec::new(),
            paths,
            refused: 0,
        };
        for of in &hits.methods {
            if of.is_refused {
                known.refused += 1;
                continue;
            }
            let Some(map) = module.map(of.method)?.filter(|map| !map.probes.is_empty()) else {
                continue;
            };
            let first = match of.count {
                0 => NO_PROBE,
                // The lists differ if the PDB was there in one case alone.
                count if count as usize != map.probes.len() => {
                    known.refused += 1;
                    continue;
                }
                _ => of.first,
            };
            let has_lines = map.points.iter().any(|point| point.source.is_some());
            let named = match has_lines {
                true => module.source_method(of.method),
                false => of.method,
            };
            let key = MethodKey {
                assembly: assembly.clone(),
                name: module.method_name(named)?,
            };
            let mut method = Known {
                key,
                is_inner: module.is_inner(of.method),
                first,
                points: Vec::new(),
                branches: Vec::new(),
                blocks: None,
            };
            match has_lines {
                true => method.add_lines(module, of.method, &map, &numbers)?,
                false => {
                    let blocks = map.points.iter().map(|point| method.sum(&point.probes));
                    method.blocks = Some(blocks.collect());
                }
            }
            known.methods.push(method);
        }
        Ok(known)
    }

    /// The coverage by the methods that `is_wanted` accepts, from the hits of all probes.
    fn coverage(&self, hits: &[u64], is_wanted: impl Fn(&Known) -> bool) -> Coverage {
        let of = |probes: &Sum| {
            let probes = probes.iter();
            let each = probes.map(|probe| hits.get(*probe as usize).copied().unwrap_or_default());
            match self.kind {
                // Covered, or not.
                ProbeKind::Hit => each.max().unwrap_or_default(),
                ProbeKind::Count => each.sum(),
            }
        };
        let mut added = Coverage::default();
        let mut lines: BTreeMap<usize, Vec<(SourceSpan, u64)>> = BTreeMap::new();
        for known in self.methods.iter().filter(|known| is_wanted(known)) {
            if let Some(blocks) = &known.blocks {
                let blocks = blocks.iter().map(of).collect();
                added.blocks.insert(known.key.clone(), blocks);
            }
            for branch in &known.branches {
                let Some(path) = self.paths.get(branch.file) else {
                    continue;
                };
                let outcomes = branch.outcomes.iter().map(of).collect();
                let file = added.files.entry(path.clone()).or_default();
                file.branches.insert(branch.key.clone(), outcomes);
            }
            for point in &known.points {
                let Some(path) = self.paths.get(point.file) else {
                    continue;
                };
                let (span, hits) = (point.span, of(&point.probes));
                lines.entry(point.file).or_default().push((span, hits));
                let file = added.files.entry(path.clone()).or_default();
                let method = file.methods.entry(known.key.clone()).or_default();
                if method.line == 0 || method.line > span.start_line {
                    method.line = span.start_line;
                }
                if point.is_first && !known.is_inner {
                    method.calls = method.calls.max(hits);
                }
                method.lines.extend(span.start_line..=last_line(span));
            }
        }
        for (file, points) in lines {
            let path = self.paths.get(file);
            if let Some(file) = path.and_then(|path| added.files.get_mut(path)) {
                file.lines = hits_of_lines(points);
            }
        }
        added
    }

    /// Adds the hits of a context to its files. The probes are `count`.
    fn add_context(&self, files: &mut BTreeMap<String, FileHits>, probes: &[u32], count: usize) {
        let mut hits = vec![0; count];
        for probe in probes {
            if let Some(hit) = hits.get_mut(*probe as usize) {
                *hit = 1;
            }
        }
        let is_hit = |probes: &Sum| {
            let mut probes = probes.iter();
            probes.any(|probe| hits.get(*probe as usize).is_some_and(|hits| *hits > 0))
        };
        // Lines have the hits of all methods on them, also of those that the context has not called.
        let mut hit_files = BTreeSet::new();
        for known in &self.methods {
            let points = known.points.iter().filter(|point| is_hit(&point.probes));
            hit_files.extend(points.map(|point| point.file));
            let branches = known.branches.iter();
            let branches = branches.filter(|branch| branch.outcomes.iter().any(is_hit));
            hit_files.extend(branches.map(|branch| branch.file));
        }
        let in_hit_file = |known: &Known| {
            let mut points = known.points.iter();
            points.any(|point| hit_files.contains(&point.file))
        };
        for (path, file) in self.coverage(&hits, in_hit_file).files {
            if let Some(of) = FileHits::of(&file) {
                files.entry(path).or_default().merge(of);
            }
        }
    }
}

impl Known {
    /// The numbers of probes with these indexes in the method.
    fn sum(&self, probes: &[u32]) -> Sum {
        probes.iter().map(|probe| self.first + probe).collect()
    }

    fn add_lines(
        &mut self,
        module: &CoveredModule<'_>,
        method: MethodDef,
        map: &MethodMap,
        numbers: &HashMap<Document, usize>,
    ) -> clr_metadata::Result<()> {
        for (index, point) in map.points.iter().enumerate() {
            if let Some((document, span)) = point.source
                && let Some(file) = numbers.get(&document)
            {
                self.points.push(KnownPoint {
                    file: *file,
                    span,
                    probes: self.sum(&point.probes),
                    is_first: index == 0,
                });
            }
        }
        if map.branches.is_empty() {
            return Ok(());
        }
        let name = module.method_name(method)?.to_string();
        for branch in &map.branches {
            let point = map.points.get(branch.point as usize);
            if let Some((document, span)) = point.and_then(|point| point.source)
                && let Some(file) = numbers.get(&document)
            {
                let key = BranchKey {
                    line: span.start_line,
                    method: name.clone(),
                    offset: branch.offset,
                };
                let outcomes = branch.outcomes.iter().map(|outcome| self.sum(outcome));
                self.branches.push(KnownBranch {
                    file: *file,
                    key,
                    outcomes: outcomes.collect(),
                });
            }
        }
        Ok(())
    }
}

impl CoveredModule<'_> {
    /// Whether a method is a part of another one that may run at another time than it: a lambda or a local function.
    fn is_inner(&self, method: MethodDef) -> bool {
        let source = self.source_method(method);
        let kickoff = self.pdb().and_then(|pdb| pdb.kickoff_method(method).ok()?);
        source != method && kickoff != Some(source)
    }
}

fn last_line(span: SourceSpan) -> u32 {
    span.end_line
        .clamp(span.start_line, span.start_line + LINES)
}

/// The hits of the lines of a file: of the points that begin on a line the one that was hit most; if none does, of the
/// innermost one that continues there.
fn hits_of_lines(mut points: Vec<(SourceSpan, u64)>) -> BTreeMap<u32, u64> {
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for (span, hits) in &points {
        let line = lines.entry(span.start_line).or_default();
        *line = (*line).max(*hits);
    }
    // The innermost one begins last.
    points.sort_by_key(|(span, _)| (span.start_line, span.start_column));
    let mut continued: BTreeMap<u32, ((u32, u16), u64)> = BTreeMap::new();
    for (span, hits) in points {
        let start = (span.start_line, span.start_column);
        for line in span.start_line + 1..=last_line(span) {
            let known = continued.get(&line).filter(|(of, _)| *of == start);
            let most = known.map_or(hits, |(_, known)| hits.max(*known));
            continued.insert(line, (start, most));
        }
    }
    for (line, (_, hits)) in continued {
        lines.entry(line).or_insert(hits);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start_line: u32, start_column: u16, end_line: u32) -> SourceSpan {
        SourceSpan {
            start_line,
            start_column,
            end_line,
            end_column: 1,
        }
    }

    #[test]
    fn a_line_has_the_hits_of_what_begins_on_it() {
        // `if (x)` and `return 1;` on line 1; a statement on lines 2 to 5, with a lambda on line 3.
        let points = vec![
            (span(1, 1, 1), 2),
            (span(1, 8, 1), 0),
            (span(2, 1, 5), 1),
            (span(3, 9, 4), 0),
            // The same statement in another piece of code.
            (span(2, 1, 5), 0),
        ];
        let lines: Vec<_> = hits_of_lines(points).into_iter().collect();
        assert_eq!(lines, [(1, 2), (2, 1), (3, 0), (4, 0), (5, 1)]);
    }
}
