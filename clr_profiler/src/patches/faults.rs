//! [`Faults`]: errors, delays and results that methods have in some of their calls.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::call::Call;
use super::patch::Patch;
use super::value::Literal;
use crate::error::{Error, Result};
use crate::instrumentation::Instrumentation;
use clr_profiler_il::pattern::MethodPatterns;

/// Faults of methods: exceptions, delays and results in a share of their calls, to try how a program deals with them.
///
/// A fault is a line of text; `#` begins a comment:
///
/// ```text
/// seed 42
/// throw System.TimeoutException "no answer" in 5 % of Shop.Gateway.Pay
/// delay 200 ms in 1 % of Shop.Db.*
/// return 0 in 10 % of Shop.Stock.Count
/// return "none" in 2.5 % of Shop.Stock.Place(int)
/// ```
///
/// The end of a line is a [list of patterns](crate::il::pattern). `throw` names a type as
/// [`Call::throw`] does; `delay` waits before the method's code; `return` skips it and takes a number, `true`, `false`, `null`, or a
/// text in quotation marks, for results of the type of the method.
///
/// Whether a call has the fault depends on the seed, the line, and the number of calls that the line has seen before, so a program with
/// one thread has the same faults in each run. Without a line `seed`, the seed is 0. [`counts`](Self::counts) tells how many calls
/// had faults.
///
/// ```
/// use clr_profiler::instrumentation::Instrumentation;
/// use clr_profiler::patches::Faults;
/// use clr_profiler::prelude::*;
///
/// fn attach(setup: &mut Setup) -> Result<()> {
///     let faults = Faults::parse("throw System.IO.IOException \"disk\" in 5 % of Shop.Files.*")?;
///     setup.attach(Instrumentation::new().faults(&faults))?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    seed: u64,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    fault: Fault,
    /// Of 2^32 calls.
    share: u64,
    patterns: String,
    line: String,
    counts: Arc<Counts>,
}

/// Two lines are equal if they say the same, whatever has happened since.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        (&self.fault, self.share, &self.patterns) == (&other.fault, other.share, &other.patterns)
    }
}

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    faults: AtomicU64,
    /// Whether no further call has the fault.
    has_ended: AtomicBool,
}

/// The calls that a line of [`Faults`] has seen so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultCount {
    /// The line.
    pub line: String,
    /// The number of calls of its methods.
    pub calls: u64,
    /// The number of those that had the fault.
    pub faults: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Fault {
    Throw { exception: String, message: String },
    Delay(Duration),
    Return(Literal),
}

/// The first word of a text, or the text in quotation marks with which it begins, and the rest.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (word, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    };
    (!text.is_empty()).then_some((word, rest.trim_start()))
}

fn after<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let (first, rest) = word(text)?;
    (first == keyword).then_some(rest)
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let (kind, rest) = word(line)?;
        let (fault, rest) = match kind {
            "throw" => {
                let (exception, rest) = word(rest)?;
                let (message, rest) = match rest.starts_with('"') {
                    true => word(rest)?,
                    false => ("", rest),
                };
                let (exception, message) = (exception.to_owned(), message.to_owned());
                (Fault::Throw { exception, message }, rest)
            }
            "delay" => {
                let (number, rest) = word(rest)?;
                let rest = after(rest, "ms")?;
                (
                    Fault::Delay(Duration::from_millis(number.parse().ok()?)),
                    rest,
                )
            }
            "return" => {
                let is_text = rest.starts_with('"');
                let (value, rest) = word(rest)?;
                let value = match value {
                    text if is_text => Literal::Text(text.to_owned()),
                    "null" => Literal::Null,
                    number => Literal::Number(number.to_owned()),
                };
                (Fault::Return(value), rest)
            }
            _ => return None,
        };
        let rest = after(rest, "in")?;
        let (percent, rest) = word(rest)?;
        let patterns = after(after(rest, "%")?, "of")?;
        let percent: f64 = percent.parse().ok()?;
        let is_share = (0.0..=100.0).contains(&percent) && !patterns.is_empty();
        is_share.then(|| Self {
            fault,
            share: (percent / 100.0 * 4_294_967_296.0) as u64,
            patterns: patterns.to_owned(),
            line: line.to_owned(),
            counts: Arc::default(),
        })
    }
}

impl Faults {
    /// Reads faults from a text.
    ///
    /// # Errors
    ///
    /// The first line that is no fault, or has a mistake in its patterns.
    pub fn parse(text: &str) -> Result<Self> {
        let mut faults = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(seed) = after(line, "seed").and_then(|seed| seed.parse().ok()) {
                faults.seed = seed;
                continue;
            }
            let row = Row::parse(line).ok_or_else(|| {
                Error::other(format!(
                    "line {number} is no fault: `{line}`; one is `throw System.TimeoutException \"no answer\" in 5 % of \
                     Shop.Gateway.*`"
                ))
            })?;
            if let Err(error) = MethodPatterns::parse(&row.patterns) {
                let patterns = &row.patterns;
                return Err(Error::other(format!(
                    "line {number}: the patterns `{patterns}`: {error}"
                )));
            }
            faults.rows.push(row);
        }
        Ok(faults)
    }

    /// Reads faults from a file.
    ///
    /// # Errors
    ///
    /// That the file cannot be read; otherwise as of [`parse`](Self::parse).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
    }

    /// The calls that each line has seen, in their order; also those of its clones.
    ///
    /// **Context**: any.
    #[must_use]
    pub fn counts(&self) -> Vec<FaultCount> {
        let rows = self.rows.iter();
        rows.map(|row| FaultCount {
            line: row.line.clone(),
            calls: row.counts.calls.load(Ordering::Relaxed),
            faults: row.counts.faults.load(Ordering::Relaxed),
        })
        .collect()
    }

    /// No call has a fault from now on, nor is it counted, also with clones: at once, while
    /// [`Instrumentation::remove`] leaves methods that may be running in a loop as they are.
    ///
    /// **Context**: any.
    pub fn end(&self) {
        for row in &self.rows {
            row.counts.has_ended.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether the call with this number has the fault of a line: SplitMix64, whose results are distributed evenly.
fn is_hit(seed: u64, row: u64, call: u64, share: u64) -> bool {
    let step = call.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = seed.wrapping_add(row << 48).wrapping_add(step);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    bits >> 32 < share
}

impl Fault {
    fn happen(&self, call: &mut Call<'_>) -> Result<()> {
        match self {
            Self::Throw { exception, message } => call.throw(exception, message),
            Self::Delay(time) => std::thread::sleep(*time),
            Self::Return(value) => {
                call.set_result_to(value)?;
                call.skip();
            }
        }
        Ok(())
    }
}

impl Instrumentation {
    /// Adds a rule for each line of [`Faults`]: a patch that is around all others without a priority.
    pub fn faults(mut self, faults: &Faults) -> Self {
        for (index, row) in (0..).zip(&faults.rows) {
            let (seed, row) = (faults.seed, row.clone());
            let patch = Patch::method(row.patterns.as_str()).priority(i32::MAX);
            self = self.patch(patch.before(move |call| {
                if row.counts.has_ended.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let number = row.counts.calls.fetch_add(1, Ordering::Relaxed);
                if is_hit(seed, index, number, row.share) {
                    row.fault.happen(call)?;
                    row.counts.faults.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "# all\nseed 7\n\nthrow A.B, C \"x y\" in 5 % of Shop.*\n";
        assert!(Faults::parse(text).is_err());
        let text = "seed 7\nthrow \"A.B, C\" \"x y\" in 50 % of Shop.*; -Shop.Free\n delay 20 ms in 0 % of **\n\
                    return \"a b\" in 100 % of A.B\nreturn null in 1 % of A.B\nreturn -1.5 in 2.5 % of A.B";
        let faults = Faults::parse(text).unwrap();
        assert_eq!(faults.seed, 7);
        let kinds: Vec<&Fault> = faults.rows.iter().map(|row| &row.fault).collect();
        let exception = "A.B, C".to_owned();
        let message = "x y".to_owned();
        assert_eq!(
            kinds,
            [
                &Fault::Throw { exception, message },
                &Fault::Delay(Duration::from_millis(20)),
                &Fault::Return(Literal::Text("a b".to_owned())),
                &Fault::Return(Literal::Null),
                &Fault::Return(Literal::Number("-1.5".to_owned())),
            ]
        );
        let shares: Vec<u64> = faults.rows.iter().map(|row| row.share).collect();
        assert_eq!(shares, [1 << 31, 0, 1 << 32, 42_949_672, 107_374_182]);
        assert_eq!(faults.rows[0].patterns, "Shop.*; -Shop.Free");
    }

    #[test]
    fn mistakes_name_their_lines() {
        for (text, expected) in [
            ("\nthrow", "line 2 is no fault"),
            ("throw A in 101 % of B", "line 1 is no fault"),
            ("delay 5 s in 1 % of B", "line 1 is no fault"),
            ("return 1 in 1 % of", "line 1 is no fault"),
            ("return 1 in 1 % of (", "line 1: the patterns `(`"),
            ("return \"1 in 1 % of A", "line 1 is no fault"),
        ] {
            let error = Faults::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn shares_are_kept_and_depend_on_the_seed() {
        let hits = |seed, row, share| {
            let calls = 0..100_000_u64;
            calls.filter(|call| is_hit(seed, row, *call, share)).count()
        };
        let five = (1_u64 << 32) / 20;
        for seed in 0..4 {
            for row in 0..3 {
                let hits = hits(seed, row, five);
                assert!((4700..5300).contains(&hits), "{seed} {row} {hits}");
            }
        }
        assert_eq!((hits(1, 1, 0), hits(1, 1, 1 << 32)), (0, 100_000));
        let first = |seed, row| (0..64).map(move |call| is_hit(seed, row, call, 1 << 31));
        assert!(first(1, 0).eq(first(1, 0)));
        assert!(!first(1, 0).eq(first(2, 0)) && !first(1, 0).eq(first(1, 1)));
    }
}
