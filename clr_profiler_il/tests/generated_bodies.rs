//! Generated bodies: decoding and encoding preserves them, branches are the shortest, and the
//! decoder reports any malformed bytes by an error.

use std::collections::BTreeMap;

use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::edit::{AtOffset, Labels};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::{Opcode, OperandKind};
use clr_profiler_il::symbol::NoTokens;
use proptest::prelude::*;

/// A future instruction: its opcode and operand, and for a branch or switch the indexes of its
/// targets.
#[derive(Clone, Debug)]
enum Item {
    Plain(Vec<u8>),
    Branch(u8, usize),
    Switch(Vec<usize>),
}

fn item() -> impl Strategy<Value = Item> {
    let plain = (0..Opcode::ALL.len(), any::<[u8; 8]>()).prop_map(|(index, operand)| {
        let opcode = Opcode::ALL[index];
        let kind = opcode.operand_kind();
        let is_target = matches!(
            kind,
            OperandKind::ShortTarget | OperandKind::Target | OperandKind::Switch
        );
        // Forms that are not the shortest would not keep their bytes.
        let is_variable = matches!(kind, OperandKind::Variable | OperandKind::ShortVariable);
        if is_target || is_variable || opcode.is_prefix() {
            return Item::Plain(vec![0]);
        }
        let mut bytes = Vec::new();
        if opcode.code() > 0xff {
            bytes.push(0xfe);
        }
        bytes.push(opcode.code() as u8);
        bytes.extend(&operand[..usize::from(kind.size().unwrap())]);
        Item::Plain(bytes)
    });
    prop_oneof![
        8 => plain,
        3 => (0x38_u8..=0x44, any::<usize>()).prop_map(|(code, to)| Item::Branch(code, to)),
        1 => prop::collection::vec(any::<usize>(), 0..6).prop_map(Item::Switch),
    ]
}

/// The offsets of all items and of the end, with the given sizes of branches.
fn offsets(items: &[Item], long: &[bool]) -> Vec<i64> {
    let mut at = 0;
    let mut offsets = vec![0];
    for (item, &long) in items.iter().zip(long) {
        at += match item {
            Item::Plain(bytes) => bytes.len() as i64,
            Item::Branch(..) => {
                if long {
                    5
                } else {
                    2
                }
            }
            Item::Switch(targets) => 5 + 4 * targets.len() as i64,
        };
        offsets.push(at);
    }
    offsets
}

/// The code with the shortest branches, found by repeated attempts, or with only long ones.
fn assemble(items: &[Item], all_long: bool) -> Vec<u8> {
    let mut long = vec![all_long; items.len()];
    let mut at = offsets(items, &long);
    loop {
        let mut changed = false;
        for (index, item) in items.iter().enumerate() {
            if let Item::Branch(_, to) = item
                && !long[index]
                && i8::try_from(at[to % items.len()] - at[index + 1]).is_err()
            {
                long[index] = true;
                changed = true;
            }
        }
        at = offsets(items, &long);
        if !changed {
            break;
        }
    }
    let mut code = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let distance = |to: &usize| i32::try_from(at[to % items.len()] - at[index + 1]).unwrap();
        match item {
            Item::Plain(bytes) => code.extend(bytes),
            Item::Branch(opcode, to) if long[index] => {
                code.push(*opcode);
                code.extend(distance(to).to_le_bytes());
            }
            Item::Branch(opcode, to) => code.extend([opcode - 13, distance(to) as u8]),
            Item::Switch(targets) => {
                code.push(0x45);
                code.extend(u32::try_from(targets.len()).unwrap().to_le_bytes());
                code.extend(targets.iter().flat_map(|to| distance(to).to_le_bytes()));
            }
        }
    }
    code
}

/// A fat body; the bounds of clauses are offsets.
fn body(code: &[u8], clauses: &[[u32; 4]]) -> Vec<u8> {
    let mut bytes = vec![if clauses.is_empty() { 0x13 } else { 0x1b }, 0x30, 9, 0];
    bytes.extend(u32::try_from(code.len()).unwrap().to_le_bytes());
    bytes.extend(0x1100_0001_u32.to_le_bytes());
    bytes.extend(code);
    if clauses.is_empty() {
        return bytes;
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let small = clauses.len() <= 20
        && clauses
            .iter()
            .all(|[a, b, c, d]| *a < 65536 && *b < 256 && *c < 65536 && *d < 256);
    let size = 4 + clauses.len() * if small { 12 } else { 24 };
    let size = u32::try_from(size).unwrap().to_le_bytes();
    if small {
        bytes.extend([1, size[0], 0, 0]);
    } else {
        bytes.extend([0x41, size[0], size[1], size[2]]);
    }
    for [a, b, c, d] in clauses {
        if small {
            bytes.extend([2, 0]);
            bytes.extend((*a as u16).to_le_bytes());
            bytes.push(*b as u8);
            bytes.extend((*c as u16).to_le_bytes());
            bytes.push(*d as u8);
        } else {
            bytes.extend([2, 0, 0, 0]);
            bytes.extend([*a, *b, *c, *d].iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend([0; 4]);
    }
    bytes
}

/// Encodes the body after printing and parsing.
fn through_text(body: &MethodBody) -> Vec<u8> {
    let text = body.to_string();
    let parsed: MethodBody = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut out = Vec::new();
    parsed.encode(&mut NoTokens, &mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shortest_bodies_keep_their_bytes(
        items in prop::collection::vec(item(), 1..200),
        regions in prop::collection::vec(any::<[usize; 4]>(), 0..25),
    ) {
        let code = assemble(&items, false);
        let long = assemble(&items, true);
        // The offsets of items in either code.
        let clauses = |code: &[u8]| {
            let decoded = MethodBody::decode(&body(code, &[])).unwrap();
            let mut at: Vec<_> = decoded
                .instructions()
                .map(|one| one.original_offset().unwrap())
                .collect();
            at.push(u32::try_from(code.len()).unwrap());
            let region = |a: usize, b: usize| {
                let (a, b) = (at[a % at.len()], at[b % at.len()]);
                (a.min(b), a.abs_diff(b))
            };
            let clauses = regions.iter().map(|&[a, b, c, d]| {
                let ((a, b), (c, d)) = (region(a, b), region(c, d));
                [a, b, c, d]
            });
            clauses.collect::<Vec<_>>()
        };
        let short = body(&code, &clauses(&code));
        let mut buffers = EncodeBuffers::new();
        let mut out = Vec::new();
        let mut decoded = MethodBody::decode(&short).unwrap();
        decoded.encode_with(&mut buffers, &mut NoTokens, &mut out).unwrap();
        prop_assert_eq!(&out, &short);
        prop_assert_eq!(&through_text(&decoded), &short);
        // The same from long branches, in the same memory.
        decoded.decode_into(&body(&long, &clauses(&long))).unwrap();
        out.clear();
        decoded.encode_with(&mut buffers, &mut NoTokens, &mut out).unwrap();
        prop_assert_eq!(&out, &short);
    }

    #[test]
    fn insertions_keep_targets(
        items in prop::collection::vec(item(), 1..100),
        places in prop::collection::vec((any::<usize>(), any::<bool>()), 1..20),
    ) {
        let mut edited = MethodBody::decode(&body(&assemble(&items, false), &[])).unwrap();
        let ids: Vec<_> = edited.instructions().map(|one| one.id()).collect();
        let mut fragment = Fragment::new();
        fragment.ldc_i8(1).pop().nop();
        for (place, moving) in places {
            let labels = if moving { Labels::Move } else { Labels::Stay };
            edited.insert_before(ids[place % ids.len()], labels, &fragment).unwrap();
        }
        let mut out = Vec::new();
        edited.encode(&mut NoTokens, &mut out).unwrap();
        let again = MethodBody::decode(&out).unwrap();
        let targets = |body: &MethodBody| {
            let order: std::collections::HashMap<_, _> = body
                .instructions()
                .enumerate()
                .map(|(index, one)| (one.id(), index))
                .collect();
            body.instructions()
                .map(|one| {
                    let targets = one.targets().map(|label| match body.position(label) {
                        Some(clr_profiler_il::instruction::Position::Before(id)) => order[&id],
                        other => panic!("{other:?}"),
                    });
                    (one.opcode(), targets.collect::<Vec<_>>())
                })
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(targets(&again), targets(&edited));
        prop_assert_eq!(through_text(&edited), out);
        prop_assert_eq!(again.to_string(), edited.to_string());
        // The old instructions are at the offsets of the map.
        let at: std::collections::HashMap<_, _> = again
            .instructions()
            .map(|one| (one.original_offset().unwrap(), one.opcode()))
            .collect();
        let old: std::collections::HashMap<_, _> = edited
            .instructions()
            .filter_map(|one| Some((one.original_offset()?, one.opcode())))
            .collect();
        for pair in edited.offset_map() {
            prop_assert_eq!(at[&pair.new], old[&pair.old]);
        }
    }

    #[test]
    fn insertions_at_once_are_those_one_after_the_other(
        items in prop::collection::vec(item(), 1..200),
        places in prop::collection::btree_map(any::<usize>(), any::<bool>(), 1..60),
        size in 0_usize..8,
    ) {
        let bytes = body(&assemble(&items, false), &[]);
        let mut eager = MethodBody::decode(&bytes).unwrap();
        let all: Vec<_> = eager.instructions().map(|one| (one.id(), one.original_offset().unwrap())).collect();
        let places = places.into_iter().map(|(at, is_after)| (at % all.len(), is_after));
        let places: BTreeMap<usize, bool> = places.collect();
        let write = |number: usize, code: &mut Fragment| {
            code.ldc_i4(number as i32).pop();
            for _ in 0..size {
                code.nop();
            }
        };
        let chosen: Vec<_> = places.iter().map(|(at, is_after)| (all[*at], *is_after)).collect();
        let at_offsets: Vec<AtOffset> = chosen
            .iter()
            .map(|((_, offset), is_after)| match is_after {
                true => AtOffset::After(*offset),
                false => AtOffset::Before(*offset),
            })
            .collect();
        let mut lazy = MethodBody::new();
        lazy.decode_lazily_into(&bytes).unwrap();
        lazy.insert_at(&at_offsets, write).unwrap();
        for (number, ((id, _), is_after)) in chosen.into_iter().enumerate() {
            let mut code = Fragment::new();
            write(number, &mut code);
            match is_after {
                true => eager.insert_after(id, Labels::Stay, &code).unwrap(),
                false => eager.insert_before(id, Labels::Move, &code).unwrap(),
            };
        }
        let [lazy, eager] = [lazy, eager].map(|body| {
            let mut out = Vec::new();
            body.encode(&mut NoTokens, &mut out).unwrap();
            (out, body.instrumented_code_map())
        });
        prop_assert_eq!(lazy, eager);
    }

    #[test]
    fn any_bytes_give_a_body_or_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        fat in any::<bool>(),
        size in 0_u32..300,
    ) {
        if fat && bytes.len() >= 12 {
            bytes[..4].copy_from_slice(&[0x1b, 0x30, 8, 0]);
            bytes[4..8].copy_from_slice(&size.to_le_bytes());
        }
        if let Ok(mut decoded) = MethodBody::decode(&bytes) {
            let mut out = Vec::new();
            decoded.encode(&mut NoTokens, &mut out).unwrap();
            let again = MethodBody::decode(&out).unwrap();
            prop_assert_eq!(again.to_string(), decoded.to_string());
            prop_assert_eq!(through_text(&decoded), out);
            let _ = decoded.compute_max_stack(&());
        }
    }
}

#[test]
fn hostile_sizes() {
    // A switch with a 32-bit count of targets, sections and code of 2^32-1 bytes: immediate errors.
    let switch = [&[0x45][..], &[0xff; 4], &[0; 16]].concat();
    assert!(MethodBody::decode(&body(&switch, &[])).is_err());
    let mut huge = body(&[0x2a], &[]);
    huge[4..8].copy_from_slice(&[0xff; 4]);
    assert!(MethodBody::decode(&huge).is_err());
    // A large body of branches, each over the next 59. The last ones are long in any case, which
    // lengthens all others, one by one.
    let items: Vec<_> = (0..200_000)
        .map(|index| Item::Branch(0x38, index + 60))
        .collect();
    let mut code = Vec::new();
    for item in &items {
        let Item::Branch(opcode, _) = item else {
            unreachable!()
        };
        code.push(*opcode);
        code.extend((59_i32 * 5).to_le_bytes());
    }
    code.extend([0; 60 * 5]);
    let decoded = MethodBody::decode(&body(&code, &[])).unwrap();
    let mut out = Vec::new();
    decoded.encode(&mut NoTokens, &mut out).unwrap();
    assert_eq!(out, body(&code, &[]));
}
