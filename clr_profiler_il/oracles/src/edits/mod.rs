//! Scripts of edits, applied to a body and to a list of lines.

mod code;
mod model;
mod script;

use std::collections::HashSet;

use arbitrary::Unstructured;
use clr_profiler_il::body::{EncodeBuffers, EncodeError, HandlerKind, MethodBody};
use clr_profiler_il::instruction::Position;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::text::diff;
use clr_profiler_il::verify::MethodContext;

use crate::bodies::{analyse, encoded};
use crate::listing::Listing;
use crate::seeds;
use crate::tokens::{Meanings, Module, some_method};
use model::Model;
use script::Script;

/// The maximum number of edits in a script, and of instructions in a body for further edits.
const MOST_EDITS: usize = 32;
const MOST_INSTRUCTIONS: usize = 500;

/// Checks that a script of edits has the same effect on a body as on a list of lines: branches,
/// regions and all other instructions have their expected positions, also after encoding.
///
/// # Panics
///
/// If a check fails.
pub fn edit(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Some(original) = body(&mut input) else {
        return;
    };
    // Most bodies are meaningful in a method with numeric parameters.
    let signature = match input.arbitrary::<u16>().unwrap_or_default() {
        number if number % 4 == 0 => some_method(u32::from(number)),
        number if number % 4 == 1 => MethodSig::new(TypeSig::I4, vec![TypeSig::I4; 4]),
        _ => MethodSig::new(TypeSig::Void, vec![TypeSig::I4; 4]),
    };
    let context = MethodContext::new(&signature);
    let mut body = original.clone();
    let mut model = Model::of(&body);
    let was_fine = body.verify_structure().is_empty();
    let depths = body.stack_depths(&Meanings);
    // If the declared depth was too small, a larger one may be too small as well.
    let is_known = is_reached(&body) && depths.is_ok_and(|depths| depths.max() <= body.max_stack());
    let mut script = Script::new(&signature, is_known);
    for _ in 0..MOST_EDITS {
        if input.is_empty() || body.len() > MOST_INSTRUCTIONS {
            break;
        }
        script.step(&mut input, &mut body, &mut model);
        model.compare(&body);
    }
    analyse(&body);
    if was_fine && script.keeps_structure() {
        let found = body.verify_structure();
        assert!(found.is_empty(), "{}\n{body}", found[0].display(&body));
    }
    let _ = body.verify(&context, &Meanings);
    let changed = diff(&original, &body);
    let _ = changed.context(2).to_string();
    if Listing::of(&original) != Listing::of(&body) {
        assert!(!changed.is_empty(), "{original}\n{body}");
    }
    finish(&body);
}

/// Whether every instruction is reached from an earlier one. Unreachable code is not checked for
/// the depth of its stack, except in a handler.
fn is_reached(body: &MethodBody) -> bool {
    let mut known: HashSet<_> = body
        .clauses()
        .flat_map(|clause| {
            let filter = match clause.kind {
                HandlerKind::Filter { start } => Some(start),
                _ => None,
            };
            [Some(clause.handler.start), filter].into_iter().flatten()
        })
        .collect();
    let mut arriving = true;
    body.instructions().all(|one| {
        let is_reached = arriving || known.contains(&Position::Before(one.id()));
        arriving = !one.opcode().ends_block();
        known.extend(one.targets().filter_map(|label| body.position(label)));
        is_reached
    })
}

/// A seed, or a body decoded from the input.
fn body(input: &mut Unstructured<'_>) -> Option<MethodBody> {
    let choice = usize::from(input.arbitrary::<u8>().unwrap_or_default());
    let bodies = seeds::bodies();
    if let Some(bytes) = bodies.get(choice) {
        return MethodBody::decode(bytes).ok();
    }
    let length = usize::from(input.arbitrary::<u8>().unwrap_or_default()).min(input.len());
    MethodBody::decode(input.bytes(length).ok()?).ok()
}

/// Encodes, decodes, prints and parses the edited body.
fn finish(body: &MethodBody) {
    let mut module = Module::default();
    let mut out = Vec::new();
    let listing = Listing::of(body);
    let to_the_end = |(_, targets): &(_, Vec<usize>)| {
        targets.iter().any(|&target| target >= listing.lines.len())
    };
    let ordered = listing
        .clauses
        .iter()
        .all(|clause| clause.bounds[0] <= clause.bounds[1] && clause.bounds[2] <= clause.bounds[3]);
    let mut buffers = EncodeBuffers::new();
    match body.encode_with(&mut buffers, &mut module, &mut out) {
        Ok(()) => assert!(ordered && !listing.lines.iter().any(to_the_end), "{body}"),
        Err(EncodeError::UnplacedLabel { .. }) => {
            assert!(listing.lines.iter().any(to_the_end), "{body}");
            return;
        }
        Err(EncodeError::ClauseOrder(_)) => return assert!(!ordered, "{body}"),
        Err(EncodeError::MaxStack(depth)) => return assert!(depth > 65535, "{body}"),
        Err(error) => panic!("{error:?}\n{body}"),
    }
    let again = MethodBody::decode(&out).unwrap_or_else(|error| panic!("{error}\n{body}"));
    let read = Listing::of(&again);
    assert_eq!(read.lines.len(), listing.lines.len());
    for ((one, targets), (other, other_targets)) in read.lines.iter().zip(&listing.lines) {
        assert_eq!(one.opcode, other.opcode);
        assert_eq!(targets, other_targets, "{body}");
    }
    let bounds = |listing: &Listing| -> Vec<_> {
        let clauses = listing.clauses.iter();
        clauses.map(|one| (one.bounds, one.filter)).collect()
    };
    assert_eq!(bounds(&read), bounds(&listing), "{body}");
    assert_eq!(encoded(&again), out);
    let text = body.to_string();
    let parsed: MethodBody = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut same = Vec::new();
    let done = parsed.encode(&mut Module::default(), &mut same);
    done.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    assert_eq!(same, out, "{text}");
    let _ = diff(body, &parsed).to_string();
    assert_eq!(
        body.encoded_code_map(&buffers),
        body.instrumented_code_map(),
        "{body}"
    );
    // The offset map tells the new offsets of the old instructions.
    for pair in body.offset_map() {
        let found = again
            .instructions()
            .any(|one| one.original_offset() == Some(pair.new));
        assert!(found, "{pair:?}\n{body}");
    }
}
