//! The coverage of source files, from the hits of any number of processes and runs.

use std::collections::{BTreeMap, BTreeSet};

use clr_metadata::pdb::SourceSpan;
use clr_metadata::token::MethodDef;

use super::hits::{Hits, MethodHits};
use super::map::MethodMap;
use super::module::{CoveredModule, MethodName};

/// The lines that a span may have: more are a mistake of a compiler.
const LINES: u32 = 10_000;

/// The coverage of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The source files by their paths.
    pub files: BTreeMap<String, FileCoverage>,
    /// The methods of assemblies without a PDB.
    pub blocks: BTreeMap<MethodKey, Vec<u64>>,
}

/// A method of an assembly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodKey {
    /// The simple name of its assembly.
    pub assembly: String,
    /// The name.
    pub name: MethodName,
}

/// The coverage of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// The hits of each line with code.
    pub lines: BTreeMap<u32, u64>,
    /// The hits of the outcomes of each branch.
    pub branches: BTreeMap<BranchKey, Vec<u64>>,
    /// The methods.
    pub methods: BTreeMap<MethodKey, MethodCoverage>,
}

/// A branch of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchKey {
    /// The line.
    pub line: u32,
    /// The method with its instruction: the name of a lambda or state machine is that of the compiler.
    pub method: String,
    /// The offset of its instruction.
    pub offset: u32,
}

/// The coverage of a method, with that of its lambdas, local functions and state machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCoverage {
    /// The hits of its first line; 1 for any number unless counts were asked for.
    pub calls: u64,
    /// The line at which it begins.
    pub line: u32,
    /// The lines with its code.
    pub lines: BTreeSet<u32>,
}

/// Things of which some are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many are covered.
    pub covered: usize,
    /// How many there are.
    pub all: usize,
}

impl Share {
    /// The share of these hits that are not 0.
    pub fn of(hits: impl IntoIterator<Item = u64>) -> Self {
        let mut share = Self::default();
        for hits in hits {
            share.all += 1;
            share.covered += usize::from(hits > 0);
        }
        share
    }

    /// The share as a number from 0 to 1; 1 of nothing.
    #[must_use]
    pub fn rate(self) -> f64 {
        match self.all {
            0 => 1.0,
            all => self.covered as f64 / all as f64,
        }
    }

    /// Per cent, rounded down to tenths: 100.0 is all of them.
    #[must_use]
    pub fn percent(self) -> String {
        let thousandths = match self.all {
            0 => 1000,
            all => self.covered * 1000 / all,
        };
        format!("{}.{}", thousandths / 10, thousandths % 10)
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            covered: self.covered + other.covered,
            all: self.all + other.all,
        }
    }
}

/// The shares of a file, an assembly or a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Of the lines with code.
    pub lines: Share,
    /// Of the outcomes of branches.
    pub branches: Share,
    /// Of the methods.
    pub methods: Share,
}

impl Shares {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            lines: self.lines.and(other.lines),
            branches: self.branches.and(other.branches),
            methods: self.methods.and(other.methods),
        }
    }
}

impl FileCoverage {
    /// The shares of the file.
    #[must_use]
    pub fn shares(&self) -> Shares {
        Shares {
            lines: Share::of(self.lines.values().copied()),
            branches: Share::of(self.branches.values().flatten().copied()),
            methods: Share::of(self.methods.values().map(|method| method.calls)),
        }
    }

    /// The shares of methods, such as those of a class; of their lines and branches.
    #[must_use]
    pub fn shares_of<'a>(&self, methods: impl IntoIterator<Item = &'a MethodCoverage>) -> Shares {
        let mut lines = BTreeSet::new();
        let mut all = Vec::new();
        for method in methods {
            lines.extend(method.lines.iter().copied());
            all.push(method.calls);
        }
        let hits = lines.iter().filter_map(|line| self.lines.get(line));
        let branches = lines.iter().flat_map(|line| self.branches_at(*line));
        Shares {
            lines: Share::of(hits.copied()),
            branches: Share::of(branches.flatten().copied()),
            methods: Share::of(all),
        }
    }

    /// The outcomes of the branches of a line.
    pub fn branches_at(&self, line: u32) -> impl Iterator<Item = &Vec<u64>> {
        let first = BranchKey {
            line,
            method: String::new(),
            offset: 0,
        };
        let from = self.branches.range(first..);
        from.take_while(move |(key, _)| key.line == line)
            .map(|(_, outcomes)| outcomes)
    }

    fn merge(&mut self, other: Self) {
        for (line, hits) in other.lines {
            *self.lines.entry(line).or_default() += hits;
        }
        for (key, outcomes) in other.branches {
            add(self.branches.entry(key).or_default(), &outcomes);
        }
        for (key, method) in other.methods {
            let own = self.methods.entry(key).or_default();
            own.calls += method.calls;
            own.line = match own.line {
                0 => method.line,
                line => line.min(method.line),
            };
            own.lines.extend(method.lines);
        }
    }
}

fn add(own: &mut Vec<u64>, other: &[u64]) {
    own.resize(own.len().max(other.len()), 0);
    for (own, other) in own.iter_mut().zip(other) {
        *own += other;
    }
}

impl Coverage {
    /// The shares of all files.
    #[must_use]
    pub fn shares(&self) -> Shares {
        let files = self.files.values().map(FileCoverage::shares);
        files.fold(Shares::default(), Shares::and)
    }

    /// The shares of each assembly.
    #[must_use]
    pub fn assemblies(&self) -> BTreeMap<&str, Shares> {
        let mut assemblies: BTreeMap<&str, Shares> = BTreeMap::new();
        for file in self.files.values() {
            let mut methods: BTreeMap<&str, Vec<&MethodCoverage>> = BTreeMap::new();
            for (key, method) in &file.methods {
                methods.entry(&key.assembly).or_default().push(method);
            }
            for (assembly, methods) in methods {
                let shares = file.shares_of(methods);
                let sum = assemblies.entry(assembly).or_default();
                *sum = sum.and(shares);
            }
        }
        assemblies
    }

    /// The basic blocks of methods without a PDB.
    #[must_use]
    pub fn block_shares(&self) -> Share {
        Share::of(self.blocks.values().flatten().copied())
    }

    /// Adds the coverage of another run: hits are added.
    pub fn merge(&mut self, other: Self) {
        for (path, file) in other.files {
            self.files.entry(path).or_default().merge(file);
        }
        for (method, blocks) in other.blocks {
            add(self.blocks.entry(method).or_default(), &blocks);
        }
    }

    /// Adds the hits of a module in a process. Returns the number of methods that could not be given probes.
    ///
    /// # Errors
    ///
    /// If the metadata of the module are malformed.
    pub fn add(&mut self, module: &CoveredModule<'_>, hits: &Hits) -> clr_metadata::Result<usize> {
        let assembly = module.name()?.to_owned();
        let documents = module.documents();
        let mut added = Self::default();
        let mut lines: BTreeMap<&str, Vec<(SourceSpan, u64)>> = BTreeMap::new();
        let mut refused = 0;
        for of in &hits.methods {
            if of.is_refused {
                refused += 1;
                continue;
            }
            let map = module.map(of.method)?;
            // The lists differ if the PDB was there in one case alone.
            let Some(map) = map.filter(|map| map.probes.len() == of.hits.len()) else {
                refused += 1;
                continue;
            };
            let source = module.source_method(of.method);
            let key = MethodKey {
                assembly: assembly.clone(),
                name: module.method_name(source)?,
            };
            if map.points.iter().all(|point| point.source.is_none()) {
                let key = MethodKey {
                    name: module.method_name(of.method)?,
                    ..key
                };
                let blocks = map.points.iter().map(|point| of.of(point.probe)).collect();
                added.blocks.insert(key, blocks);
                continue;
            }
            let is_lambda = module.is_inner(of.method);
            added.add_branches(module, of, &map, &documents)?;
            for (index, point) in map.points.iter().enumerate() {
                let Some((document, span)) = point.source else {
                    continue;
                };
                let Some(path) = documents.get(&document) else {
                    continue;
                };
                let hits = of.of(point.probe);
                lines.entry(path).or_default().push((span, hits));
                let file = added.files.entry(path.clone()).or_default();
                let method = file.methods.entry(key.clone()).or_default();
                if method.line == 0 || method.line > span.start_line {
                    method.line = span.start_line;
                }
                if index == 0 && !is_lambda {
                    method.calls = method.calls.max(hits);
                }
                method.lines.extend(span.start_line..=last_line(span));
            }
        }
        for (path, points) in lines {
            if let Some(file) = added.files.get_mut(path) {
                file.lines = hits_of_lines(points);
            }
        }
        self.merge(added);
        Ok(refused)
    }

    fn add_branches(
        &mut self,
        module: &CoveredModule<'_>,
        of: &MethodHits,
        map: &MethodMap,
        documents: &std::collections::HashMap<clr_metadata::token::Document, String>,
    ) -> clr_metadata::Result<()> {
        if map.branches.is_empty() {
            return Ok(());
        }
        let method = module.method_name(of.method)?.to_string();
        for branch in &map.branches {
            let point = map.points.get(branch.point as usize);
            let source = point.and_then(|point| point.source);
            let Some((document, span)) = source else {
                continue;
            };
            let Some(path) = documents.get(&document) else {
                continue;
            };
            let key = BranchKey {
                line: span.start_line,
                method: method.clone(),
                offset: branch.offset,
            };
            let outcomes = branch.outcomes.iter().map(|probe| of.of(*probe));
            let file = self.files.entry(path.clone()).or_default();
            file.branches.insert(key, outcomes.collect());
        }
        Ok(())
    }
}

impl MethodHits {
    fn of(&self, probe: u32) -> u64 {
        let hits = self.hits.get(probe as usize);
        hits.copied().map_or(0, u64::from)
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

    #[test]
    fn shares_are_rounded_down() {
        let share = Share::of([1, 0, 5]);
        assert_eq!((share.covered, share.all), (2, 3));
        assert_eq!(share.percent(), "66.6");
        assert_eq!(Share::default().percent(), "100.0");
        let nearly = Share {
            covered: 9_999,
            all: 10_000,
        };
        assert_eq!(nearly.percent(), "99.9");
    }

    #[test]
    fn hits_of_runs_are_added() {
        let run = |hits: u64, outcomes: &[u64]| {
            let key = BranchKey {
                line: 3,
                method: "A.B()".to_owned(),
                offset: 7,
            };
            let file = FileCoverage {
                lines: BTreeMap::from([(3, hits)]),
                branches: BTreeMap::from([(key, outcomes.to_vec())]),
                ..FileCoverage::default()
            };
            Coverage {
                files: BTreeMap::from([("a.cs".to_owned(), file)]),
                ..Coverage::default()
            }
        };
        let mut coverage = run(0, &[0, 1]);
        coverage.merge(run(2, &[1, 0]));
        let file = &coverage.files["a.cs"];
        assert_eq!(file.lines[&3], 2);
        assert_eq!(file.branches_at(3).collect::<Vec<_>>(), [&vec![1, 1]]);
        assert_eq!(file.branches_at(4).count(), 0);
        assert_eq!(coverage.shares().branches.percent(), "100.0");
    }
}
