//! Every method body of every assembly of the runtimes is decoded and encoded, unchanged and with
//! code before and after it; lazily decoded, it is edited to the same bytes.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_tests::Sample;
use examples_support::Pinned;
use il_oracles::Lazily;

use crate::corpus;

/// The counts for the bodies of a runtime.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    bodies: usize,
    /// Bodies that are encoded to the same bytes.
    identical: usize,
    /// Bodies that are encoded smaller, and to the same bytes from then on: they were not minimal.
    smaller: usize,
    /// Bodies that accepted a prologue and an epilogue.
    edited: usize,
}

/// Encodes a body without symbols.
fn encoded(body: &MethodBody) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    body.encode(&mut NoTokens, &mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn well_formed(body: &MethodBody) -> Result<(), String> {
    match body.verify_structure().first() {
        Some(violation) => Err(violation.to_string()),
        None => Ok(()),
    }
}

fn round_trip(bytes: &[u8], figures: &mut Figures) -> Result<(), String> {
    let body = MethodBody::decode(bytes).map_err(|error| error.to_string())?;
    well_formed(&body)?;
    let again = encoded(&body)?;
    if again == bytes {
        figures.identical += 1;
    } else {
        let decoded = MethodBody::decode(&again).map_err(|error| error.to_string())?;
        let same = decoded.to_string() == body.to_string();
        if again.len() >= bytes.len() || encoded(&decoded)? != again || !same {
            return Err(format!(
                "{} bytes became {} others",
                bytes.len(),
                again.len()
            ));
        }
        figures.smaller += 1;
    }
    Ok(())
}

/// Adds a prologue and an epilogue without effect; refusals are fine, wrong bytes are not.
fn edit(bytes: &[u8], figures: &mut Figures) -> Result<(), String> {
    let mut body = MethodBody::decode(bytes).map_err(|error| error.to_string())?;
    let instructions = body.instructions().count();
    let mut nothing = Fragment::new();
    nothing.ldc_i4(7).pop();
    if body.prologue(&nothing).is_err() || body.before_ret(&nothing).is_err() {
        return Ok(());
    }
    let edited = MethodBody::decode(&encoded(&body)?).map_err(|error| error.to_string())?;
    well_formed(&edited)?;
    if edited.instructions().count() < instructions + 2 {
        return Err("code was lost".to_owned());
    }
    figures.edited += 1;
    Ok(())
}

fn check(pinned: &Pinned, identical: usize, smaller: usize) {
    let mut figures = Figures::default();
    let (mut lazily, edits) = (Lazily::new(), Sample::one_of(Lazily::EDITS));
    let mut failures = Vec::new();
    let sample = Sample::one_of(4);
    let visited = corpus::each_assembly(pinned, |name, assembly| {
        for (number, method) in assembly.all_methods().enumerate() {
            if !sample.has(number) {
                continue;
            }
            let method = method.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(bytes) = method.body {
                // Each body with one of the edits, or with all.
                for edit in 0..Lazily::EDITS {
                    if edits.has(figures.bodies + edit) {
                        assert!(lazily.check(bytes, edit), "{name} {}", method.token);
                    }
                }
                figures.bodies += 1;
                let outcome = round_trip(bytes, &mut figures);
                if let Err(problem) = outcome.and_then(|()| edit(bytes, &mut figures)) {
                    failures.push(format!("{name} {}: {problem}", method.token));
                }
            }
        }
    });
    println!("{}: {figures:?}", pinned.name);
    assert!(
        failures.is_empty(),
        "{} failures, the first: {}",
        failures.len(),
        failures[0]
    );
    if visited.is_some() {
        let bodies = identical + smaller;
        if sample.is_whole() {
            // None of them has a tail call or a `jmp`, for which an edit would be refused.
            let expected = Figures {
                bodies,
                identical,
                smaller,
                edited: bodies,
            };
            assert_eq!(figures, expected);
        } else {
            assert_eq!(figures.edited, figures.bodies);
            assert_eq!(figures.identical + figures.smaller, figures.bodies);
            assert!(figures.bodies > bodies / 6 && figures.smaller <= smaller);
        }
    }
}

#[test]
fn net_core_3_1() {
    check(&Pinned::NET_CORE_3_1, 96_586, 3);
}

#[test]
fn net_8() {
    check(&Pinned::NET_8, 115_783, 19);
}

#[test]
fn net_10() {
    check(&Pinned::NET_10, 223_780, 81);
}
