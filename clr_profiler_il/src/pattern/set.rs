use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::assemblies::Assemblies;
use super::evaluate::Subject;
use super::index::{Index, assembly_key};
use super::{MethodFacts, MethodPattern, PatternError, parse};

/// A list of patterns, compiled for many methods.
///
/// A method matches if one of the patterns matches that are not exclusions, and no exclusion does. The order does not
/// matter. Each pattern counts the methods that it has matched; exclusions count only methods that
/// another pattern has matched. The list can be shared by threads, and counting takes no lock. A clone shares the compiled
/// patterns, and counts on its own from there on.
///
/// ```
/// use clr_profiler_il::pattern::MethodPatterns;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let patterns = MethodPatterns::parse(
///     "# the shop, without its logging
///      Shop!Shop.**
///      -Shop!Shop.Log.*; -**.ToString()",
/// )?;
/// for pattern in patterns.unmatched() {
///     eprintln!("`{pattern}` has matched nothing");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MethodPatterns {
    compiled: Arc<Compiled>,
    counts: Vec<AtomicU64>,
}

/// Patterns, and tables of them that are built when they are first needed: many lists are only parts of another one.
#[derive(Debug, Default)]
struct Compiled {
    patterns: Vec<MethodPattern>,
    indexes: OnceLock<Indexes>,
    assemblies: OnceLock<Assemblies>,
}

#[derive(Debug)]
struct Indexes {
    included: Index,
    excluded: Index,
}

impl Compiled {
    fn indexes(&self) -> &Indexes {
        let of = |is_exclusion: bool| {
            let numbered = (0_u32..).zip(&self.patterns);
            Index::new(numbered.filter(move |(_, one)| one.is_exclusion == is_exclusion))
        };
        self.indexes.get_or_init(|| Indexes {
            included: of(false),
            excluded: of(true),
        })
    }

    fn assemblies(&self) -> &Assemblies {
        self.assemblies.get_or_init(|| {
            let included = self.patterns.iter().filter(|one| !one.is_exclusion);
            Assemblies::new(included)
        })
    }
}

/// The patterns that a method matches, from [`MethodPatterns::matched`].
#[derive(Clone, Debug, Default)]
pub struct Matched {
    indices: Vec<usize>,
    exclusions: Vec<usize>,
}

impl Matched {
    /// The indices of the patterns, in ascending order; none if an exclusion matches.
    #[must_use]
    pub fn indices(&self) -> &[usize] {
        match self.exclusions.is_empty() {
            true => &self.indices,
            false => &[],
        }
    }
}

impl MethodPatterns {
    /// Reads a list: patterns are separated by line ends or semicolons, an exclusion begins with `-`, and a
    /// comment with `#`.
    ///
    /// # Errors
    ///
    /// The first violation of the syntax, with its line and column.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parse::list(text).map(Self::from_iter)
    }

    /// The patterns, in the order of the list.
    #[must_use]
    pub fn patterns(&self) -> &[MethodPattern] {
        &self.compiled.patterns
    }

    /// Whether no method can match: there are only exclusions, or no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns().iter().all(MethodPattern::is_exclusion)
    }

    /// Whether methods of this assembly can match.
    #[must_use]
    pub fn matches_assembly(&self, name: &str) -> bool {
        let assemblies = self.compiled.assemblies();
        assemblies.has_unnamed() || assemblies.has(name)
    }

    /// Whether methods of this assembly can match a pattern that names an assembly.
    #[must_use]
    pub fn names_assembly(&self, name: &str) -> bool {
        self.compiled.assemblies().has(name)
    }

    /// Whether a method matches.
    ///
    /// # Errors
    ///
    /// Those of the facts.
    pub fn matches<F: MethodFacts + ?Sized>(&self, method: &F) -> Result<bool, F::Error> {
        let mut has_matched = false;
        let mut is_excluded = false;
        self.evaluate(method, |_| has_matched = true, |_| is_excluded = true)?;
        Ok(has_matched && !is_excluded)
    }

    /// The indices of all patterns that match, in ascending order; none if an exclusion does.
    ///
    /// # Errors
    ///
    /// Those of the facts.
    pub fn matching<F: MethodFacts + ?Sized>(&self, method: &F) -> Result<Vec<usize>, F::Error> {
        let matched = self.matched(method)?;
        Ok(match matched.exclusions.is_empty() {
            true => matched.indices,
            false => Vec::new(),
        })
    }

    /// Whether all methods of a type match the same patterns, those whose names the compiler has made, and all others: no pattern asks
    /// for the name, a parameter, an attribute or the access of a method.
    #[must_use]
    pub fn are_of_types(&self) -> bool {
        self.patterns().iter().all(MethodPattern::is_of_types)
    }

    /// As [`matching`](Self::matching), for other methods, too: [`count`](Self::count) counts those that match the same patterns.
    ///
    /// # Errors
    ///
    /// Those of the facts.
    pub fn matched<F: MethodFacts + ?Sized>(&self, method: &F) -> Result<Matched, F::Error> {
        let (mut indices, mut exclusions) = (Vec::new(), Vec::new());
        self.evaluate(
            method,
            |number| indices.push(number as usize),
            |number| exclusions.push(number as usize),
        )?;
        indices.sort_unstable();
        Ok(Matched {
            indices,
            exclusions,
        })
    }

    /// Counts another method that matches the same patterns.
    pub fn count(&self, matched: &Matched) {
        for number in matched.indices.iter().chain(&matched.exclusions) {
            if let Some(count) = self.counts.get(*number) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts a method that the pattern with this index matches, which was not asked about.
    pub fn count_one(&self, index: usize) {
        if let Some(count) = self.counts.get(index) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of methods that each pattern has matched so far.
    pub fn counts(&self) -> impl Iterator<Item = (&MethodPattern, u64)> {
        let counts = self.counts.iter();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        self.patterns().iter().zip(counts)
    }

    /// The patterns that have matched no method so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &MethodPattern> {
        let unmatched = self.counts().filter(|(_, count)| *count == 0);
        unmatched.map(|(pattern, _)| pattern)
    }

    /// Passes the patterns that match to `each`, and if there are some, the exclusions that do to `exclude`.
    fn evaluate<F: MethodFacts + ?Sized>(
        &self,
        method: &F,
        mut each: impl FnMut(u32),
        exclude: impl FnMut(u32),
    ) -> Result<(), F::Error> {
        let Indexes { included, excluded } = self.compiled.indexes();
        if included.is_empty() {
            return Ok(());
        }
        let class = method.type_path()?;
        let name = method.method_name()?;
        let subject = Subject::new(method, &class, &name);
        let mut has_matched = false;
        self.evaluate_index(included, &subject, |number| {
            has_matched = true;
            each(number);
        })?;
        if has_matched && !excluded.is_empty() {
            self.evaluate_index(excluded, &subject, exclude)?;
        }
        Ok(())
    }

    fn evaluate_index<F: MethodFacts + ?Sized>(
        &self,
        index: &Index,
        subject: &Subject<'_, F>,
        mut each: impl FnMut(u32),
    ) -> Result<(), F::Error> {
        index.find(
            || subject.parts(),
            subject.name(),
            || subject.assembly().map(assembly_key),
            |number| {
                let at = number as usize;
                if let (Some(pattern), Some(count)) = (self.patterns().get(at), self.counts.get(at))
                    && pattern.is_met(subject)?
                {
                    count.fetch_add(1, Ordering::Relaxed);
                    each(number);
                }
                Ok(())
            },
        )
    }
}

impl FromIterator<MethodPattern> for MethodPatterns {
    fn from_iter<I: IntoIterator<Item = MethodPattern>>(patterns: I) -> Self {
        let patterns: Vec<MethodPattern> = patterns.into_iter().collect();
        Self {
            counts: patterns.iter().map(|_| AtomicU64::new(0)).collect(),
            compiled: Arc::new(Compiled {
                patterns,
                ..Compiled::default()
            }),
        }
    }
}

impl Clone for MethodPatterns {
    fn clone(&self) -> Self {
        let counts = self.counts.iter();
        let counts = counts.map(|count| AtomicU64::new(count.load(Ordering::Relaxed)));
        Self {
            compiled: Arc::clone(&self.compiled),
            counts: counts.collect(),
        }
    }
}

impl std::str::FromStr for MethodPatterns {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

/// Joins lists, such as those of several files.
impl Extend<MethodPattern> for MethodPatterns {
    fn extend<I: IntoIterator<Item = MethodPattern>>(&mut self, patterns: I) {
        let all = self.patterns().iter().cloned().chain(patterns);
        *self = all.collect();
    }
}
