//! The properties of every wrapper.

use std::collections::HashSet;

use clr_profiler::ErrorKind;
use clr_profiler_sys as sys;
use stand_in::{BUFFERS, Buffer, NativeMethod, methods};

use crate::answers::{Answer, FIRST, Outputs, gives_in_parts, shows};
use crate::callbacks::OPTION;
use crate::rows::{Row, all_rows};
use crate::stage::{Played, play};
use crate::values::{attributes_of, is_token, numbers_in};

fn native(row: &Row) -> &'static NativeMethod {
    methods()
        .iter()
        .find(|method| method.name() == row.native)
        .unwrap_or_else(|| panic!("there is no {}", row.native))
}

/// The buffers of a row's call, with the types of their elements.
fn buffers(row: &Row) -> impl Iterator<Item = (&'static Buffer, &'static sys::Parameter)> {
    let (name, facts) = (row.native, native(row).facts);
    BUFFERS
        .iter()
        .filter(move |buffer| buffer.method == name)
        .map(|buffer| (buffer, &facts.parameters[buffer.buffer]))
}

/// Plays a row whose call succeeds; returns the result of the wrapper.
fn play_well(row: &Row, answer: Answer) -> String {
    let played = play(row, answer.clone());
    assert_whole(row, &played);
    let given = played.outcome;
    given.unwrap_or_else(|error| panic!("{}: {error} after {answer:?}", row.native))
}

/// Holds for every answer: the call was made, and enumerations were closed once.
fn assert_whole(row: &Row, played: &Played) {
    played.answers.seen(|seen| {
        assert!(seen.calls > 0, "{}: was not called", row.native);
        for (handle, (_, closed)) in &seen.enumerations {
            assert_eq!(*closed, 1, "{}: enumeration {handle:#x}", row.native);
        }
    });
}

/// Holds for every answer: the wrapper does not panic, and an error names the call.
fn assert_named(row: &Row, played: &Played) {
    assert_whole(row, played);
    if let Err(error) = &played.outcome {
        let text = error.to_string();
        assert!(text.starts_with(row.native), "{}: {text}", row.native);
    }
}

/// Failures that only say that there are no more items.
const ENDS: &[(&str, sys::HRESULT)] =
    &[("IMetaDataTables2::GetMetaDataStreamInfo", sys::E_INVALIDARG)];

#[test]
fn what_the_runtime_gives_arrives() {
    let mut wrong = Vec::new();
    for row in all_rows() {
        let given = play_well(row, Answer::default());
        let numbers = numbers_in(&given);
        let method = native(row);
        for (index, parameter) in method.facts.parameters.iter().enumerate() {
            if let Some(value) = shows(method, index) {
                let hidden = row.hides.contains(&parameter.name);
                let texts = attributes_of(value);
                let arrives =
                    numbers.contains(&value) || texts.iter().any(|text| given.contains(text));
                if arrives == hidden {
                    wrong.push(format!(
                        "{}: {} = {value:#x}, hidden: {hidden}, in {given:.300}",
                        row.native, parameter.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let option = "IMetaDataDispenserEx::GetOption";
    let row = all_rows().find(|row| row.native == option).unwrap();
    assert_eq!(play_well(row, Answer::default()), OPTION.to_string());
}

/// Its buffer contains objects, of which only the presence is visible.
const ASSEMBLIES: &str = "IMetaDataAssemblyImport::FindAssembliesByName";

/// The text of a blob with that many elements.
fn bytes(elements: usize) -> String {
    let bytes: Vec<u8> = (0..elements as u32).map(|n| (FIRST + n) as u8).collect();
    format!("{bytes:?}")
}

/// Checks the elements of a row's buffers in the wrapper's result.
fn assert_elements(row: &Row, given: &str, elements: usize) {
    let numbers = numbers_in(given);
    for (buffer, parameter) in buffers(row) {
        if parameter.pointee == 2 {
            let text = given.split('"').filter(|part| part.starts_with('x'));
            let longest = text.map(str::len).max().unwrap_or(0);
            assert_eq!(
                longest,
                elements.saturating_sub(1),
                "{}: {given}",
                row.native
            );
        } else if row.native == ASSEMBLIES {
            assert_eq!(given.matches("Metadata").count(), elements, "{given}");
        } else if parameter.type_name == "PCOR_SIGNATURE" {
            assert_eq!(given, bytes(elements), "{}", row.native);
        } else if parameter.pointee >= 4 && buffer.given.is_some() {
            let type_name = parameter.type_name.trim_start_matches("*mut ");
            let numbers: HashSet<u64> = numbers
                .iter()
                .map(|number| {
                    let is_whole = is_token(type_name) || parameter.pointee == 8;
                    number & if is_whole { 0xFF_FFFF } else { u64::MAX }
                })
                .collect();
            let has = |index: usize| numbers.contains(&(u64::from(FIRST) + index as u64));
            for index in 0..elements {
                assert!(
                    has(index),
                    "{}: {index} of {elements} in {given}",
                    row.native
                );
            }
            assert!(!has(elements), "{}: one too many in {given}", row.native);
        }
    }
}

#[test]
fn buffers_are_long_enough() {
    let insufficient = sys::HRESULT_FROM_WIN32_ERROR_INSUFFICIENT_BUFFER;
    for row in all_rows().filter(|row| buffers(row).next().is_some()) {
        for elements in [0, 1, 7, 8, 9, 16, 17, 33, 256, 257, 600] {
            for too_small in [sys::S_OK, sys::CLDB_S_TRUNCATION, insufficient] {
                let answer = Answer {
                    elements,
                    too_small,
                    ..Answer::default()
                };
                assert_elements(row, &play_well(row, answer), elements);
            }
        }
    }
}

#[test]
fn buffers_grow_with_what_they_are_for() {
    for row in all_rows().filter(|row| buffers(row).next().is_some()) {
        // Two buffers are filled by calls of their own, between which the other one grows.
        if gives_in_parts(row.native) || buffers(row).count() > 1 {
            continue;
        }
        for first in [5, 300] {
            let answer = Answer {
                elements: first,
                growth: 10,
                ..Answer::default()
            };
            let played = play(row, answer);
            let calls = played.answers.seen(|seen| seen.calls);
            let given = played.outcome.unwrap();
            assert_elements(row, &given, first + 10 * (calls - 1).min(2));
        }
    }
}

#[test]
fn an_enumeration_may_give_fewer_than_were_asked_for() {
    for row in all_rows().filter(|row| row.native.contains("Enum")) {
        if buffers(row).next().is_none() {
            continue;
        }
        for batch in [1, 3, 15] {
            let answer = Answer {
                elements: 50,
                batch,
                ..Answer::default()
            };
            assert_elements(row, &play_well(row, answer), 50);
        }
    }
}

#[test]
fn a_text_may_be_broken() {
    for row in all_rows() {
        if !buffers(row).any(|(_, parameter)| parameter.pointee == 2) {
            continue;
        }
        for unit in [0xD800, 0xDFFF] {
            let answer = Answer {
                unit,
                elements: 3,
                ..Answer::default()
            };
            let given = play_well(row, answer);
            assert!(
                given.contains("\u{FFFD}\u{FFFD}"),
                "{}: {given}",
                row.native
            );
        }
    }
}

#[test]
fn a_failure_names_the_call_and_the_code() {
    let codes = [
        sys::E_FAIL,
        sys::E_INVALIDARG,
        sys::E_OUTOFMEMORY,
        sys::CORPROF_E_DATAINCOMPLETE,
        sys::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE,
        sys::CORPROF_E_NOT_MANAGED_THREAD,
        // An unknown code.
        sys::HRESULT(0x8BAD_F00D_u32 as i32),
    ];
    for row in all_rows().filter(|row| native(row).returns_hresult()) {
        for hresult in codes {
            for outputs in [Outputs::Untouched, Outputs::Zero] {
                let answer = Answer {
                    hresult,
                    outputs,
                    ..Answer::default()
                };
                let played = play(row, answer);
                assert_whole(row, &played);
                let Err(error) = played.outcome else {
                    let end = ENDS.contains(&(row.native, hresult));
                    assert!(end, "{}: {hresult:?} is no error", row.native);
                    continue;
                };
                match error.kind() {
                    ErrorKind::Call {
                        call,
                        hresult: code,
                    } => {
                        assert_eq!((*call, code.0), (row.native, hresult.0));
                    }
                    other => panic!("{}: {other:?}", row.native),
                }
            }
        }
    }
}

#[test]
fn outputs_may_be_zero_or_left_alone() {
    for row in all_rows() {
        for hresult in [sys::S_OK, sys::S_FALSE, sys::HRESULT(0x0013_1234)] {
            for outputs in [Outputs::Filled, Outputs::Zero, Outputs::Untouched] {
                let answer = Answer {
                    hresult,
                    outputs,
                    ..Answer::default()
                };
                assert_named(row, &play(row, answer));
            }
        }
    }
}

#[test]
fn a_walk_brings_everything() {
    let walks = [
        "ICorProfilerInfo2::DoStackSnapshot",
        "ICorProfilerInfo10::EnumerateObjectReferences",
        "ICorProfilerInfo15::EnumerateGCHeapObjects",
    ];
    for row in all_rows().filter(|row| walks.contains(&row.native)) {
        for elements in [0, 1, 50] {
            let answer = Answer {
                elements,
                ..Answer::default()
            };
            let numbers = numbers_in(&play_well(row, answer));
            let expected: Vec<u64> = (0..elements as u64).map(|n| u64::from(FIRST) + n).collect();
            assert_eq!(numbers, expected, "{}", row.native);
        }
    }
}

#[test]
fn a_stream_takes_everything() {
    for row in all_rows().filter(|row| row.native.ends_with("ToStream")) {
        for (elements, batch) in [(0, 1), (1, 1), (50, 1), (50, 7), (5_000, usize::MAX)] {
            let answer = Answer {
                elements,
                batch,
                ..Answer::default()
            };
            assert_eq!(play_well(row, answer), bytes(elements), "{}", row.native);
        }
    }
}
