//! The cost of a method with 5,000 patterns: all methods of .NET 8's framework against compiled lists of
//! several kinds.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench patterns            # 11 rounds
//! cargo bench -p clr_profiler_tests --bench patterns -- 31
//! ```
//!
//! The facts are values in memory, so that only the matcher is measured; in a program, the native calls for the names
//! of a method are to be added. The figures are the median of the rounds, and how many patterns matched. The last
//! column is a comparison one after the other, on every hundredth method.

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{AttributeOwner, GenericOwner, MethodFacts, MethodPatterns};
use clr_profiler_il::token::TypeDef;
use examples_support::Pinned;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of patterns in a list.
const PATTERNS: usize = 5000;
/// Every so many methods are compared with one pattern after the other.
const SAMPLE: usize = 100;

/// A method's names. It has no parameters, and nothing else.
struct Row {
    assembly: String,
    /// A nested type has its own name alone.
    class: String,
    name: String,
}

impl MethodFacts for Row {
    type Error = std::convert::Infallible;

    fn assembly(&self) -> std::result::Result<Cow<'_, str>, Self::Error> {
        Ok((&self.assembly).into())
    }

    fn type_path(&self) -> std::result::Result<Cow<'_, str>, Self::Error> {
        Ok((&self.class).into())
    }

    fn method_name(&self) -> std::result::Result<Cow<'_, str>, Self::Error> {
        Ok((&self.name).into())
    }

    fn access(&self) -> std::result::Result<MemberAccess, Self::Error> {
        Ok(MemberAccess::Public)
    }

    fn parameters(&self) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }

    fn generic_parameters(&self, _: GenericOwner) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }

    fn generic_arguments(&self, _: GenericOwner) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }

    fn attributes(&self, _: AttributeOwner) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }

    fn base_types(&self) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }

    fn interfaces(&self) -> std::result::Result<Vec<String>, Self::Error> {
        Ok(Vec::new())
    }
}

/// A list of a kind: a pattern for a method.
type Kind = (&'static str, fn(&Row, usize) -> String);

/// In quotes, because odd names are among them.
const KINDS: [Kind; 8] = [
    ("methods: Asm!Ns.Type.Method", |row, _| {
        format!("'{}'!'{}'.'{}'", row.assembly, plain(row), row.name)
    }),
    ("overloads: Ns.Type.Method(int, *)", |row, _| {
        format!("'{}'.'{}'(int, *)", plain(row), row.name)
    }),
    ("types: Ns.Type.*", |row, _| format!("'{}'.*", plain(row))),
    ("names: **.Method", |row, _| format!("**.'{}'", row.name)),
    ("starts: **.Meth*", |row, number| {
        let length = 4 + number % 12;
        let start: String = row.name.chars().take(length).collect();
        format!("**.'{start}'*")
    }),
    ("ends: Ns.**.*thod", |row, number| {
        let skip = row.name.chars().count().saturating_sub(4 + number % 12);
        let end: String = row.name.chars().skip(skip).collect();
        format!(
            "'{}'.**.*'{end}'",
            plain(row).split('.').next().unwrap_or_default()
        )
    }),
    ("attributes: [A.B] Ns.Type.** : I", |row, _| {
        format!("[A.B] '{}'.** : I", plain(row))
    }),
    ("nothing there: No.Type5.Method", |_, number| {
        format!("No.Type{number}.Method{number}")
    }),
];

/// The type without the number of its generic parameters.
fn plain(row: &Row) -> &str {
    row.class.split('`').next().unwrap_or_default()
}

fn main() -> ExitCode {
    let rounds = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match run(rounds.unwrap_or(11)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("patterns: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rounds: usize) -> Result<()> {
    let rows = rows()?;
    println!(
        "{} methods, {PATTERNS} patterns, medians of {rounds} rounds",
        rows.len()
    );
    println!(
        "{:36}{:>12}{:>14}{:>12}{:>14}",
        "", "compile, ms", "ns a method", "matches", "one by one, ns"
    );
    let step = rows.len() / PATTERNS;
    let mut mixed = Vec::new();
    for (name, pattern) in KINDS {
        let chosen = rows.iter().step_by(step).enumerate();
        // Without repetitions, each of which would match as well.
        let texts: BTreeSet<String> = chosen.map(|(number, row)| pattern(row, number)).collect();
        let texts: Vec<String> = texts.into_iter().take(PATTERNS).collect();
        mixed.extend(texts.iter().step_by(KINDS.len()).cloned());
        measure(name, &texts, &rows, rounds)?;
    }
    mixed.truncate(PATTERNS);
    measure("all of these mixed", &mixed, &rows, rounds)
}

fn measure(name: &str, texts: &[String], rows: &[Row], rounds: usize) -> Result<()> {
    let began = Instant::now();
    let list = MethodPatterns::parse(&texts.join("\n"))?;
    let compiled = began.elapsed();
    let mut matches = 0;
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            matches = rows
                .iter()
                .filter(|row| black_box(list.matches(*row)) == Ok(true))
                .count();
            began.elapsed().as_secs_f64() * 1e9 / rows.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let sample = || rows.iter().step_by(SAMPLE);
    let began = Instant::now();
    let mut alike = 0;
    for row in sample() {
        let mut patterns = list.patterns().iter();
        let is_matched = patterns.any(|pattern| pattern.matches(row) == Ok(true));
        alike += usize::from(Ok(is_matched) == list.matches(row));
    }
    let slow = began.elapsed().as_secs_f64() * 1e9 / sample().count() as f64;
    println!(
        "{name:36}{:>12.1}{:>14.0}{matches:>12}{slow:>14.0}",
        compiled.as_secs_f64() * 1e3,
        times.get(times.len() / 2).copied().unwrap_or_default(),
    );
    match alike == sample().count() {
        true => Ok(()),
        false => Err("the list and its patterns do not match the same methods".into()),
    }
}

/// All methods of the framework.
fn rows() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let loaded = corpus::each_assembly(&Pinned::NET_8, |file, assembly| {
        for class in assembly.tokens::<TypeDef>() {
            let Ok(name) = assembly.type_name(class.into()) else {
                continue;
            };
            let class_name = match name.namespace {
                "" => name.name.to_owned(),
                namespace => format!("{namespace}.{}", name.name),
            };
            for method in assembly.methods(class) {
                let Ok(name) = assembly.member_name(method) else {
                    continue;
                };
                rows.push(Row {
                    assembly: file.trim_end_matches(".dll").to_owned(),
                    class: class_name.clone(),
                    name: name.to_owned(),
                });
            }
        }
    });
    loaded.ok_or("the runtime is missing")?;
    Ok(rows)
}
