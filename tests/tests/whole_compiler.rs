//! Roslyn with every method of its own assemblies wrapped produces the same bytes.

#![cfg(all(target_os = "linux", target_arch = "x86_64", not(target_env = "musl")))]

use std::collections::BTreeMap;
use std::path::Path;

use clr_profiler_tests::{Scenario, fetched, matrix, profilee};
use examples_support::Pinned;

/// Why methods of the compiler keep their IL, and how many may.
const REFUSALS: &[(&str, usize)] = &[];

/// Programs of the tests; without `WHOLE_COMPILER` only the first.
const SOURCES: [&str; 20] = [
    "Small",
    "Attributes",
    "Basics",
    "Behaviours",
    "Boxes",
    "Calls",
    "Checksums",
    "Dynamic",
    "Events",
    "Exits",
    "Graph",
    "Handles",
    "Helped",
    "Hooked",
    "Hot",
    "Inlines",
    "Members",
    "Metadata",
    "Objects",
    "Rewrites",
];

#[test]
fn a_compiler_that_is_wrapped_makes_the_same_bytes() {
    let Some(runtime) = matrix().iter().find(|runtime| runtime.major == 8) else {
        return;
    };
    let Some(compiler) = fetched(&Pinned::ROSLYN) else {
        return;
    };
    let count = match std::env::var_os("WHOLE_COMPILER") {
        Some(_) => SOURCES.len(),
        None => 1,
    };
    let mut scenario = Scenario::at(profilee("Compiler"))
        .arg(&compiler.with_file_name("").display().to_string())
        .env(
            "SHAPES_ASSEMBLIES",
            "Microsoft.CodeAnalysis Microsoft.CodeAnalysis.CSharp",
        )
        .profiler("WrapsShapes");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("profilees");
    for name in &SOURCES[..count] {
        let source = sources.join(name).with_extension("cs");
        scenario = scenario.arg(&source.display().to_string());
    }
    let plain = scenario.run_plain(runtime);
    assert_eq!(plain.status.code(), Some(8), "{plain:?}");
    assert_eq!(plain.stdout.matches(" bytes ").count(), count);

    let wrapped = scenario.run_on(runtime);
    assert_eq!(wrapped.output(), plain.output());
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for line in wrapped.log.lines() {
        assert!(!line.starts_with("unbalanced "), "{line}");
        if let Some((reason, _)) = line
            .strip_prefix("refused ")
            .and_then(|rest| rest.split_once(' '))
        {
            *refused.entry(reason).or_default() += 1;
        }
    }
    let rewritten = wrapped
        .log
        .lines()
        .find_map(|line| line.strip_prefix("rewritten ")?.parse::<usize>().ok());
    println!("{rewritten:?} methods, refused: {refused:?}");
    assert!(rewritten > Some(4000), "{rewritten:?}");
    for (reason, number) in &refused {
        let listed = REFUSALS.iter().find(|(listed, _)| listed == reason);
        let most = listed.map_or(0, |(_, most)| *most);
        assert!(
            *number <= most,
            "{number} are refused for {reason}: {refused:?}"
        );
    }
}
