//! Decoding and encoding bodies at all limits of the format.

use clr_profiler_il::body::{BodyErrorKind, EncodeError, HandlerKind, MethodBody, encoded_length};
use clr_profiler_il::instruction::Position;
use clr_profiler_il::opcode::{Opcode, OperandKind};
use clr_profiler_il::symbol::NoTokens;

fn tiny(code: &[u8]) -> Vec<u8> {
    assert!(code.len() < 64);
    let mut body = vec![0b10 | u8::try_from(code.len()).unwrap() << 2];
    body.extend(code);
    body
}

struct Clause {
    flags: u32,
    of: [u32; 4],
    value: u32,
}

fn clause(flags: u32, of: [u32; 4], value: u32) -> Clause {
    Clause { flags, of, value }
}

fn fat(
    max_stack: u16,
    init: bool,
    locals: u32,
    code: &[u8],
    sections: &[(bool, &[Clause])],
) -> Vec<u8> {
    let mut flags = 0x03;
    if init {
        flags |= 0x10;
    }
    if !sections.is_empty() {
        flags |= 0x08;
    }
    let mut body = vec![flags, 0x30];
    body.extend(max_stack.to_le_bytes());
    body.extend(u32::try_from(code.len()).unwrap().to_le_bytes());
    body.extend(locals.to_le_bytes());
    body.extend(code);
    for (index, (fat, clauses)) in sections.iter().enumerate() {
        body.resize(body.len().next_multiple_of(4), 0);
        let more = if index + 1 < sections.len() { 0x80 } else { 0 };
        let size = 4 + clauses.len() * if *fat { 24 } else { 12 };
        let size = u32::try_from(size).unwrap().to_le_bytes();
        if *fat {
            body.extend([0x41 | more, size[0], size[1], size[2]]);
        } else {
            body.extend([0x01 | more, size[0], 0, 0]);
        }
        for Clause { flags, of, value } in *clauses {
            if *fat {
                body.extend(flags.to_le_bytes());
                body.extend(of.iter().flat_map(|number| number.to_le_bytes()));
            } else {
                body.extend(u16::try_from(*flags).unwrap().to_le_bytes());
                body.extend(u16::try_from(of[0]).unwrap().to_le_bytes());
                body.push(u8::try_from(of[1]).unwrap());
                body.extend(u16::try_from(of[2]).unwrap().to_le_bytes());
                body.push(u8::try_from(of[3]).unwrap());
            }
            body.extend(value.to_le_bytes());
        }
    }
    body
}

fn encode(body: &MethodBody) -> Vec<u8> {
    // After other bytes, and in reused memory: neither must matter.
    let mut out = vec![0xcc; 3];
    body.encode(&mut NoTokens, &mut out).unwrap();
    out.split_off(3)
}

#[track_caller]
fn same(bytes: &[u8]) {
    let body = MethodBody::decode(bytes).unwrap();
    assert_eq!(encode(&body), bytes);
    assert_eq!(encoded_length(bytes), Ok(bytes.len()));
}

#[track_caller]
fn error(bytes: &[u8]) -> (usize, BodyErrorKind) {
    let error = MethodBody::decode(bytes).unwrap_err();
    (error.offset, error.kind)
}

#[test]
fn every_opcode_keeps_its_bytes() {
    for &opcode in Opcode::ALL {
        let kind = opcode.operand_kind();
        let mut code = Vec::new();
        if opcode.code() > 0xff {
            code.push(0xfe);
        }
        code.push(opcode.code() as u8);
        match kind {
            OperandKind::Switch => {
                // Two targets: the instruction itself and the next one.
                code.extend([2, 0, 0, 0, 0xf3, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
            }
            OperandKind::ShortTarget => code.push(0xfe),
            // A target out of reach of a short branch.
            OperandKind::Target => code.extend(200_i32.to_le_bytes()),
            OperandKind::Variable => code.extend([0x34, 0x12]),
            OperandKind::ShortVariable => code.push(0x9a),
            other => code.extend((0..other.size().unwrap()).map(|byte| byte | 0xf0)),
        }
        code.push(0x2a);
        if kind == OperandKind::Target {
            code.resize(code.len() + 199, 0);
            code.push(0x2a);
        }
        same(&fat(3, true, 0x1100_0002, &code, &[]));
    }
}

#[test]
fn forms_become_shortest() {
    // ldarg 3 in four bytes, br in five.
    let body = fat(
        9,
        false,
        0,
        &[0xfe, 0x09, 3, 0, 0x38, 0, 0, 0, 0, 0x2a],
        &[],
    );
    let body = MethodBody::decode(&body).unwrap();
    let short = fat(9, false, 0, &[0x05, 0x2b, 0x00, 0x2a], &[]);
    assert_eq!(encode(&body), short);
}

#[test]
fn tiny_or_fat() {
    let code = [&[0; 62][..], &[0x2a]].concat();
    same(&tiny(&code));
    let longer = [&[0; 63][..], &[0x2a]].concat();
    same(&fat(8, false, 0, &longer, &[]));
    same(&fat(9, false, 0, &code, &[]));
    same(&fat(8, true, 0, &code, &[]));
    same(&fat(8, false, 0x1100_0001, &code, &[]));
    same(&tiny(&[]));
    // An unnecessarily fat body becomes tiny.
    let body = MethodBody::decode(&fat(2, false, 0, &code, &[])).unwrap();
    assert_eq!(body.max_stack(), 2);
    assert_eq!(encode(&body), tiny(&code));
}

#[test]
fn distances_of_branches() {
    for (distance, short) in [
        (-129, false),
        (-128, true),
        (126, true),
        (127, true),
        (128, false),
    ] {
        // A branch of either form, with this many bytes between it and its target.
        let length: i32 = if short { 2 } else { 5 };
        let mut code = vec![0x2d, distance as u8];
        if !short {
            // Backwards, the distance includes the long form itself.
            let distance = if distance < 0 { distance - 3 } else { distance };
            code = [&[0x3a][..], &i32::to_le_bytes(distance)].concat();
        }
        if distance < 0 {
            let distance = if short { -distance } else { -distance + 3 };
            let mut before = vec![0; usize::try_from(distance - length).unwrap()];
            before.extend(code);
            code = before;
        } else {
            code.resize(code.len() + usize::try_from(distance).unwrap(), 0);
        }
        code.push(0x2a);
        same(&fat(8, false, 0, &code, &[]));
    }
}

/// Units of a branch and 61 `nop`s, in which each branch targets the second `nop` of the unit after
/// next, 127 bytes away while all are short. The last branch targets `further` bytes more.
fn chain(long: bool, further: i32) -> Vec<u8> {
    const COUNT: i32 = 1000;
    let size = if long { 5 } else { 2 };
    let mut code = Vec::new();
    for index in 0..COUNT {
        let further = if index == COUNT - 1 { further } else { 0 };
        // Over the `nop`s of two units, and their branches except after the last ones.
        let branches = (COUNT - 1 - index).min(2);
        let others = (2 - branches) * 2;
        let distance = 61 * 2 + 1 + branches * size + others + further;
        if long {
            code.push(0x3a);
            code.extend(distance.to_le_bytes());
        } else {
            code.extend([0x2d, u8::try_from(distance).unwrap()]);
        }
        code.extend([0; 61]);
    }
    // Two units without a branch.
    code.extend([0; 126]);
    code.push(0x2a);
    fat(8, false, 0, &code, &[])
}

#[test]
fn growth_of_branches_spreads() {
    same(&chain(false, 0));
    let body = MethodBody::decode(&chain(true, 0)).unwrap();
    assert_eq!(encode(&body), chain(false, 0));
    // One more byte for the last branch lengthens all of them.
    same(&chain(true, 1));
}

#[test]
fn sections() {
    let code = vec![0; 300];
    let one = || clause(0, [0, 10, 10, 5], 0x0100_0001);
    same(&fat(8, false, 0, &code, &[(false, &[one()])]));
    let all = [
        clause(1, [0, 10, 12, 8], 10),
        clause(2, [0, 20, 20, 10], 0),
        clause(4, [0, 30, 30, 10], 0),
        clause(2, [0, 40, 40, 10], 0x1234),
    ];
    same(&fat(8, false, 0, &code, &[(false, &all)]));
    for count in [1, 20, 21, 100] {
        let clauses: Vec<_> = (0..count).map(|_| one()).collect();
        same(&fat(8, false, 0, &code, &[(count > 20, &clauses)]));
    }
    // One byte more than a small section can describe.
    same(&fat(
        8,
        false,
        0,
        &code,
        &[(false, &[clause(2, [0, 255, 255, 45], 0)])],
    ));
    same(&fat(
        8,
        false,
        0,
        &code,
        &[(true, &[clause(2, [0, 256, 256, 44], 0)])],
    ));
    same(&fat(
        8,
        false,
        0,
        &code,
        &[(true, &[clause(2, [0, 10, 10, 256], 0)])],
    ));
    let long = vec![0; 0x1_0010];
    same(&fat(
        8,
        false,
        0,
        &long,
        &[(false, &[clause(2, [0xfff0, 8, 0xffff, 17], 0)])],
    ));
    same(&fat(
        8,
        false,
        0,
        &long,
        &[(true, &[clause(2, [0xfff0, 16, 0x1_0000, 16], 0)])],
    ));
    // Chained and unnecessarily fat sections become one small section.
    let body = fat(8, false, 0, &code, &[(true, &[one()]), (false, &[one()])]);
    let body = MethodBody::decode(&body).unwrap();
    assert_eq!(
        encode(&body),
        fat(8, false, 0, &code, &[(false, &[one(), one()])])
    );
    // The section is aligned, whatever the size of the code.
    for length in 20..25 {
        same(&fat(8, false, 0, &vec![0; length], &[(false, &[one()])]));
    }
}

#[test]
fn a_section_size_without_its_header() {
    let mut body = fat(
        8,
        false,
        0,
        &[0; 20],
        &[(false, &[clause(2, [0, 5, 5, 5], 0)])],
    );
    let regular = body.clone();
    body[33] -= 4;
    assert_eq!(encode(&MethodBody::decode(&body).unwrap()), regular);
    assert_eq!(encoded_length(&body), Ok(body.len()));
}

#[test]
fn clauses_are_places() {
    let code = [0x00, 0xde, 0x02, 0x26, 0x00, 0x2a];
    // An invalid but decodable body: the handler ends at the end of the code.
    let body = fat(
        8,
        false,
        0,
        &code,
        &[(false, &[clause(0, [0, 3, 3, 3], 0x0100_0007)])],
    );
    let body = MethodBody::decode(&body).unwrap();
    let ids: Vec<_> = body.instructions().map(|one| one.id()).collect();
    let clauses: Vec<_> = body.clauses().collect();
    assert_eq!(clauses.len(), 1);
    assert_eq!(clauses[0].try_region.start, Position::Before(ids[0]));
    assert_eq!(clauses[0].try_region.end, Position::Before(ids[2]));
    assert_eq!(clauses[0].handler.start, Position::Before(ids[2]));
    assert_eq!(clauses[0].handler.end, Position::End);
    assert!(matches!(clauses[0].kind, HandlerKind::Catch(_)));
}

#[test]
fn prefixes_belong_to_their_instruction() {
    let code = [
        0x02, 0xfe, 0x13, 0xfe, 0x12, 0x01, 0x4a, 0xfe, 0x16, 1, 0, 0, 2, 0x6f, 5, 0, 0, 6, 0x2a,
    ];
    let bytes = tiny(&code);
    same(&bytes);
    let body = MethodBody::decode(&bytes).unwrap();
    let found: Vec<_> = body
        .instructions()
        .map(|one| (one.opcode(), one.prefixes().count(), one.original_offset()))
        .collect();
    assert_eq!(
        found,
        [
            (Opcode::Ldarg0, 0, Some(0)),
            (Opcode::LdindI4, 2, Some(1)),
            (Opcode::Callvirt, 1, Some(7)),
            (Opcode::Ret, 0, Some(18)),
        ]
    );
}

#[test]
fn what_is_refused() {
    use BodyErrorKind as Kind;
    assert_eq!(error(&[]), (0, Kind::Truncated));
    assert_eq!(error(&tiny(&[0x24])), (1, Kind::UnknownOpcode(0x24)));
    assert_eq!(
        error(&tiny(&[0, 0xfe, 0x22])),
        (2, Kind::UnknownOpcode(0xfe22))
    );
    assert_eq!(error(&tiny(&[0xfe])), (2, Kind::TruncatedInstruction));
    assert_eq!(
        error(&tiny(&[0x20, 1, 2, 3])),
        (5, Kind::TruncatedInstruction)
    );
    assert_eq!(
        error(&tiny(&[0x45, 0xff, 0xff, 0xff, 0xff])),
        (1, Kind::SwitchCount(u32::MAX))
    );
    assert_eq!(
        error(&tiny(&[0x2b, 0x00])),
        (1, Kind::TargetOutside { target: 2 })
    );
    assert_eq!(
        error(&tiny(&[0x2b, 0xfd])),
        (1, Kind::TargetOutside { target: -1 })
    );
    assert_eq!(
        error(&tiny(&[0x00, 0x2b, 0xff, 0x2a])),
        (2, Kind::TargetInside { target: 2 })
    );
    // Between a prefix and its instruction.
    assert_eq!(
        error(&tiny(&[0x2b, 0x02, 0xfe, 0x13, 0x4a, 0x2a])),
        (1, Kind::TargetInside { target: 4 })
    );
    assert_eq!(
        error(&tiny(&[0xfe, 0x13])),
        (1, Kind::DanglingPrefix(Opcode::Volatile))
    );
    assert_eq!(
        error(&tiny(&[0xfe, 0x13, 0xfe, 0x13, 0x4a])),
        (3, Kind::RepeatedPrefix(Opcode::Volatile))
    );
    let tail = Kind::UndecodableTail { byte: 0x24 };
    assert_eq!(error(&tiny(&[0x2a, 0x24])), (2, tail));
    assert_eq!(error(&tiny(&[0x2b, 0x00, 0x2a, 0x24])), (4, tail));
    assert_eq!(
        error(&tiny(&[0x2a, 0x20])),
        (2, Kind::UndecodableTail { byte: 0x20 })
    );
    assert_eq!(
        error(&tiny(&[0x2b, 0x01, 0x2a, 0x24])),
        (4, Kind::UnknownOpcode(0x24))
    );
    let with = |clause: Clause| {
        fat(
            8,
            false,
            0,
            &[0x20, 0, 0, 0, 0, 0x2a],
            &[(false, &[clause])],
        )
    };
    assert_eq!(
        error(&with(clause(3, [0, 5, 5, 1], 0))),
        (24, Kind::UnknownClause(3))
    );
    assert_eq!(
        error(&with(clause(2, [0, 7, 5, 1], 0))),
        (24, Kind::ClauseOutside { end: 7 })
    );
    assert_eq!(
        error(&with(clause(2, [0, 5, 5, 2], 0))),
        (24, Kind::ClauseOutside { end: 7 })
    );
    assert_eq!(
        error(&with(clause(2, [0, 3, 5, 1], 0))),
        (24, Kind::ClauseInside { bound: 3 })
    );
    assert_eq!(
        error(&with(clause(1, [0, 5, 5, 1], 9))),
        (24, Kind::ClauseOutside { end: 9 })
    );
    let mut other = with(clause(2, [0, 5, 5, 1], 0));
    other[20] = 0x02;
    assert_eq!(error(&other), (20, Kind::UnknownSection(2)));
    other[20] = 0x01;
    other[21] = 15;
    assert_eq!(error(&other), (21, Kind::SectionSize(15)));
}

#[test]
fn the_depth_has_sixteen_bits() {
    let mut body = MethodBody::decode(&tiny(&[0x2a])).unwrap();
    body.set_max_stack(u16::MAX);
    assert_eq!(encode(&body), fat(u16::MAX, false, 0, &[0x2a], &[]));
    let _: EncodeError<()> = EncodeError::MaxStack(65_536);
}
