//! The coverage of source files, from the hits of any number of processes and runs.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::module::MethodName;

/// The coverage of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The source files by their paths.
    pub files: BTreeMap<String, FileCoverage>,
    /// The methods of assemblies without a PDB.
    pub blocks: BTreeMap<MethodKey, Vec<u64>>,
    /// The hits of each context, such as a test, in the source files by their paths; empty unless contexts were told apart. The one
    /// with the empty name has the hits outside of all.
    pub contexts: BTreeMap<String, BTreeMap<String, FileHits>>,
}

/// The parts of a source file that a context has hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHits {
    /// The lines.
    pub lines: BTreeSet<u32>,
    /// The hits of the outcomes of branches of which one was hit.
    pub branches: BTreeMap<BranchKey, Vec<u64>>,
    /// The methods that were called.
    pub methods: BTreeSet<MethodKey>,
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

impl FileHits {
    /// The hits of a file; `None` if there are none.
    pub(super) fn of(file: &FileCoverage) -> Option<Self> {
        let lines = file.lines.iter().filter(|(_, hits)| **hits > 0);
        let branches = file.branches.iter();
        let branches = branches.filter(|(_, outcomes)| outcomes.iter().any(|hits| *hits > 0));
        let methods = file.methods.iter().filter(|(_, method)| method.calls > 0);
        let hits = Self {
            lines: lines.map(|(line, _)| *line).collect(),
            branches: branches
                .map(|(key, outcomes)| (key.clone(), outcomes.clone()))
                .collect(),
            methods: methods.map(|(key, _)| key.clone()).collect(),
        };
        (hits != Self::default()).then_some(hits)
    }

    /// A file whose lines, branches and methods are those of another one, with these hits.
    pub(super) fn project(&self, file: &FileCoverage) -> FileCoverage {
        let lines = file.lines.keys();
        let lines = lines.map(|line| (*line, u64::from(self.lines.contains(line))));
        let branches = file.branches.iter().map(|(key, outcomes)| {
            let own = self.branches.get(key);
            let own = own.cloned().unwrap_or_else(|| vec![0; outcomes.len()]);
            (key.clone(), own)
        });
        let methods = file.methods.iter().map(|(key, method)| {
            let calls = u64::from(self.methods.contains(key));
            let method = method.clone();
            (key.clone(), MethodCoverage { calls, ..method })
        });
        FileCoverage {
            lines: lines.collect(),
            branches: branches.collect(),
            methods: methods.collect(),
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.lines.extend(other.lines);
        for (key, outcomes) in other.branches {
            add(self.branches.entry(key).or_default(), &outcomes);
        }
        self.methods.extend(other.methods);
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

    /// Adds the coverage of another run: hits are added. If the contexts of one alone were told apart, the other's hits are outside of
    /// all.
    pub fn merge(&mut self, mut other: Self) {
        match (self.contexts.is_empty(), other.contexts.is_empty()) {
            (true, false) if !self.files.is_empty() => self.put_outside(),
            (false, true) if !other.files.is_empty() => other.put_outside(),
            _ => {}
        }
        self.merge_contexts(other.contexts);
        for (path, file) in other.files {
            self.files.entry(path).or_default().merge(file);
        }
        for (method, blocks) in other.blocks {
            add(self.blocks.entry(method).or_default(), &blocks);
        }
    }

    /// Gives files other paths; those with the same path become one.
    pub fn map_paths(&mut self, map: impl Fn(String) -> String) {
        for (path, file) in mem::take(&mut self.files) {
            self.files.entry(map(path)).or_default().merge(file);
        }
        for (name, files) in mem::take(&mut self.contexts) {
            let own = self.contexts.entry(name).or_default();
            for (path, hits) in files {
                own.entry(map(path)).or_default().merge(hits);
            }
        }
    }

    fn merge_contexts(&mut self, other: BTreeMap<String, BTreeMap<String, FileHits>>) {
        for (name, files) in other {
            let own = self.contexts.entry(name).or_default();
            for (path, hits) in files {
                own.entry(path).or_default().merge(hits);
            }
        }
    }

    fn put_outside(&mut self) {
        let files = self.files.iter();
        let hits = files.filter_map(|(path, file)| Some((path.clone(), FileHits::of(file)?)));
        let outside = hits.collect();
        self.contexts.insert(String::new(), outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
