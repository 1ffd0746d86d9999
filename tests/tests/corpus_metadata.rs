//! Every row of every assembly of the runtimes is read without an error.

use clr_metadata::Assembly;
use clr_profiler_tests::Sample;
use examples_support::Pinned;
use metadata_oracles::Counts;

use crate::corpus::files;

fn check(pinned: &Pinned, expected: Counts) {
    let Some(files) = files::assemblies(pinned) else {
        return;
    };
    let mut sum = Counts::default();
    let mut failures = Vec::new();
    let sample = Sample::one_of(4);
    let mut visited = 0;
    for (number, (name, bytes)) in files.iter().enumerate() {
        if !sample.has(number) {
            continue;
        }
        visited += 1;
        let assembly = Assembly::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut fail = |token, error| failures.push(format!("{name} {token}: {error}"));
        let counts = metadata_oracles::visit(&assembly.metadata, Some(&assembly), &mut fail);
        sum += counts;
    }
    println!("{}: {sum:?}", pinned.name);
    assert!(
        failures.is_empty(),
        "{} failures, the first: {}",
        failures.len(),
        failures[0]
    );
    if sample.is_whole() {
        assert_eq!(sum, expected);
    } else {
        assert!(visited >= files.len() / 4);
        assert!(sum.rows > 0 && sum.rows < expected.rows, "{sum:?}");
    }
}

#[test]
fn net_core_3_1() {
    check(
        &Pinned::NET_CORE_3_1,
        Counts {
            rows: 480_718,
            heap_values: 680_017,
            members: 294_082,
            signatures: 235_838,
            constants: 15_588,
            attributes: 25_070,
            bodies: 96_589,
            resources: 121,
            debug_entries: 330,
        },
    );
}

#[test]
fn net_8() {
    check(
        &Pinned::NET_8,
        Counts {
            rows: 618_851,
            heap_values: 849_996,
            members: 352_789,
            signatures: 284_741,
            constants: 17_460,
            attributes: 63_992,
            bodies: 115_802,
            resources: 178,
            debug_entries: 593,
        },
    );
}

#[test]
fn net_10() {
    check(
        &Pinned::NET_10,
        Counts {
            rows: 1_281_966,
            heap_values: 1_737_365,
            members: 699_220,
            signatures: 589_277,
            constants: 36_595,
            attributes: 154_709,
            bodies: 223_861,
            resources: 337,
            debug_entries: 753,
        },
    );
}
