//! The structure of bodies: each violation is reported, and nothing else.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::{Opcode, OperandKind};
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::verify::{MethodContext, Rule};

/// A fat body with small clauses: kind, try region, handler, filter.
fn body(code: &[u8], clauses: &[(u8, [u8; 4], u8)]) -> MethodBody {
    let flags = if clauses.is_empty() { 0x13 } else { 0x1b };
    let mut bytes = vec![
        flags,
        0x30,
        8,
        0,
        u8::try_from(code.len()).unwrap(),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    bytes.extend(code);
    if !clauses.is_empty() {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend([1, u8::try_from(clauses.len() * 12 + 4).unwrap(), 0, 0]);
    }
    for (kind, [a, b, c, d], value) in clauses {
        bytes.extend([*kind, 0, *a, 0, *b, *c, 0, *d, *value, 0, 0, 0]);
    }
    MethodBody::decode(&bytes).unwrap()
}

#[track_caller]
fn rules(code: &[u8], clauses: &[(u8, [u8; 4], u8)]) -> Vec<(Option<u32>, Rule)> {
    let found = body(code, clauses).verify_structure();
    found
        .into_iter()
        .map(|one| (one.offset, one.rule))
        .collect()
}

const NOP: u8 = 0x00;
const RET: u8 = 0x2a;
const BR: u8 = 0x2b;
const LEAVE: u8 = 0xde;
const POP: u8 = 0x26;
const ENDFINALLY: u8 = 0xdc;

#[test]
fn what_is_fine() {
    assert_eq!(rules(&[RET], &[]), []);
    // A branch to the first instruction of two nested try regions, from outside and from inside.
    let code = [BR, 0, NOP, BR, 0xfd, LEAVE, 3, ENDFINALLY, LEAVE, 0, RET];
    let code = {
        let mut code = code.to_vec();
        code[6] = 1;
        code
    };
    assert_eq!(rules(&code, &[(2, [2, 5, 7, 1], 0)]), []);
    // All constructs of the builder.
    let mut fragment = Fragment::new();
    fragment
        .try_block(|outer| {
            outer
                .try_block(|inner| {
                    inner.nop();
                })
                .catch("A", |handler| {
                    handler.pop().rethrow();
                })
                .filter(
                    |filter| {
                        filter.pop().ldc_i4(1);
                    },
                    |handler| {
                        handler.pop();
                        handler
                            .try_block(|again| {
                                again.rethrow();
                            })
                            .fault(|_| {})
                            .end();
                    },
                )
                .fault(|_| {})
                .finally(|handler| {
                    handler.try_block(|_| {}).finally(|_| {}).end();
                })
                .end();
        })
        .catch("B", |handler| {
            handler.pop();
        })
        .end()
        .ret();
    let mut built = MethodBody::new();
    built.append(&fragment).unwrap();
    assert_eq!(built.verify_structure(), []);
    assert_eq!(built.clauses().count(), 7);
}

#[test]
fn the_end_and_targets() {
    assert_eq!(rules(&[NOP], &[]), [(Some(0), Rule::FallsOffTheEnd)]);
    assert_eq!(rules(&[], &[]), [(None, Rule::FallsOffTheEnd)]);
    assert_eq!(
        rules(&[0x02, 0x2d, 0xfd], &[]),
        [(Some(1), Rule::FallsOffTheEnd)]
    );
    let mut open = body(&[BR, 0, RET], &[]);
    let ids: Vec<_> = open.instructions().map(|one| one.id()).collect();
    let end = open
        .label(clr_profiler_il::instruction::Position::End)
        .unwrap();
    open.set_target(ids[0], 0, end).unwrap();
    assert_eq!(open.verify_structure()[0].rule, Rule::NoTarget);
}

#[test]
fn entering_and_leaving() {
    // nop; nop; leave 6; pop; leave 6; ret, protected from 0 to 4, caught from 4 to 7.
    let code = [NOP, NOP, LEAVE, 3, POP, LEAVE, 0, RET];
    let clause = [(0, [0, 4, 4, 3], 1)];
    assert_eq!(rules(&code, &clause), []);
    let with = |at: usize, bytes: &[u8]| {
        let mut code = code.to_vec();
        code[at..at + bytes.len()].copy_from_slice(bytes);
        rules(&code, &clause)
    };
    // Out by a branch, and by falling through.
    assert_eq!(with(2, &[BR, 3]), [(Some(2), Rule::Leaves)]);
    assert_eq!(with(2, &[NOP, NOP]), [(Some(3), Rule::Enters)]);
    assert_eq!(with(5, &[NOP, NOP]), [(Some(6), Rule::Leaves)]);
    assert_eq!(with(2, &[RET, RET]).len(), 2);
    // From the catch back into the code that it protects.
    assert_eq!(with(5, &[LEAVE, 0xfa]), []);
    assert_eq!(with(5, &[BR, 0xfa]), [(Some(5), Rule::Enters)]);
    assert_eq!(
        with(0, &[ENDFINALLY]),
        [(Some(0), Rule::Misplaced(Opcode::Endfinally))]
    );
    assert_eq!(
        with(0, &[0xfe, 0x1a]),
        [(Some(0), Rule::Misplaced(Opcode::Rethrow))]
    );
    // `localloc` is not allowed in a handler.
    assert_eq!(with(0, &[0xfe, 0x0f]), []);
    let code = [NOP, NOP, LEAVE, 4, 0xfe, 0x0f, LEAVE, 0, RET];
    assert_eq!(
        rules(&code, &[(0, [0, 4, 4, 4], 1)]),
        [(Some(4), Rule::Misplaced(Opcode::Localloc))]
    );
    // Into the middle of a try region, and into a handler.
    let code = [BR, 1, NOP, NOP, LEAVE, 1, ENDFINALLY, RET];
    assert_eq!(
        rules(&code, &[(2, [2, 4, 6, 1], 0)]),
        [(Some(0), Rule::Enters)]
    );
    let code = [BR, 4, NOP, NOP, LEAVE, 1, ENDFINALLY, RET];
    assert_eq!(
        rules(&code, &[(2, [2, 4, 6, 1], 0)]),
        [(Some(0), Rule::Enters)]
    );
    // Out of a finally.
    let code = [LEAVE, 3, NOP, LEAVE, 0, RET];
    assert_eq!(
        rules(&code, &[(2, [0, 2, 2, 3], 0)]),
        [(Some(3), Rule::LeavesHandler)]
    );
}

#[test]
fn filters() {
    // leave 9; pop; ldc.i4.1; endfilter; pop; leave 9; ret
    let code = [LEAVE, 7, POP, 0x17, 0xfe, 0x11, POP, LEAVE, 0, RET];
    assert_eq!(rules(&code, &[(1, [0, 2, 6, 3], 2)]), []);
    assert_eq!(
        rules(&code, &[(1, [0, 2, 6, 3], 6)]),
        [(Some(6), Rule::Filter)]
    );
    let mut without = code;
    without[4..6].copy_from_slice(&[0x7a, 0x7a]);
    assert_eq!(
        rules(&without, &[(1, [0, 2, 6, 3], 2)]),
        [(Some(5), Rule::Filter)]
    );
    let mut early = code;
    early[2..4].copy_from_slice(&[0xfe, 0x11]);
    assert_eq!(
        rules(&early, &[(1, [0, 2, 6, 3], 2)]),
        [(Some(2), Rule::Misplaced(Opcode::Endfilter))]
    );
}

#[test]
fn clauses() {
    let code = [NOP, NOP, LEAVE, 1, ENDFINALLY, RET];
    let clause = (2, [0, 4, 4, 1], 0);
    assert_eq!(rules(&code, &[clause]), []);
    let only = |clauses: &[(u8, [u8; 4], u8)]| -> Vec<Rule> {
        rules(&code, clauses)
            .into_iter()
            .map(|(_, rule)| rule)
            .collect()
    };
    assert_eq!(only(&[(2, [0, 0, 4, 1], 0)]), [Rule::EmptyRegion]);
    assert_eq!(only(&[(2, [0, 4, 4, 0], 0)]), [Rule::EmptyRegion]);
    assert_eq!(only(&[clause, (2, [1, 4, 5, 1], 0)])[0], Rule::Overlap);
    // A handler inside of the code that it protects.
    assert_eq!(only(&[(2, [0, 6, 4, 1], 0)])[0], Rule::Overlap);
    // try { try { } finally { } } finally { }, in the wrong order.
    let nested = [LEAVE, 1, ENDFINALLY, LEAVE, 1, ENDFINALLY, RET];
    let (inner, outer) = ((2, [0, 2, 2, 1], 0), (2, [0, 5, 5, 1], 0));
    assert_eq!(rules(&nested, &[inner, outer]), []);
    assert_eq!(rules(&nested, &[outer, inner]), [(None, Rule::ClauseOrder)]);
}

#[test]
fn prefixes() {
    let rule = |bytes: &[u8]| -> Vec<Rule> {
        let code = [bytes, &[RET]].concat();
        rules(&code, &[])
            .into_iter()
            .map(|(_, rule)| rule)
            .collect()
    };
    assert_eq!(rule(&[0xfe, 0x13, 0x4a]), []);
    assert_eq!(rule(&[0xfe, 0x13, 0x58]), [Rule::Prefix(Opcode::Volatile)]);
    assert_eq!(rule(&[0xfe, 0x12, 2, 0x4a]), []);
    assert_eq!(
        rule(&[0xfe, 0x12, 3, 0x4a]),
        [Rule::Prefix(Opcode::Unaligned)]
    );
    assert_eq!(rule(&[0xfe, 0x14, 0x28, 1, 0, 0, 6]), []);
    assert_eq!(
        rule(&[0xfe, 0x14, 0x28, 1, 0, 0, 6, 0x00]),
        [Rule::TailWithoutRet]
    );
    assert_eq!(
        rule(&[0xfe, 0x16, 1, 0, 0, 2, 0x73, 1, 0, 0, 6]),
        [Rule::Prefix(Opcode::Constrained)]
    );
    assert_eq!(rule(&[0xfe, 0x1e, 0x00]), [Rule::Prefix(Opcode::Readonly)]);
}

#[test]
fn names_of_operands() {
    // Opcode, an allowed table, a wrong one.
    for (opcode, fine, wrong, kind) in [
        (
            &[0x28][..],
            &[0x06, 0x0a, 0x2b][..],
            0x04,
            OperandKind::Method,
        ),
        (&[0x7b], &[0x04, 0x0a], 0x06, OperandKind::Field),
        (&[0x8c], &[0x01, 0x02, 0x1b], 0x06, OperandKind::Type),
        (&[0x72], &[0x70], 0x06, OperandKind::String),
        (&[0x29], &[0x11], 0x06, OperandKind::Signature),
        (
            &[0xd0],
            &[0x01, 0x04, 0x06, 0x0a, 0x2b],
            0x70,
            OperandKind::AnyToken,
        ),
    ] {
        let code = |table: u8| [opcode, &[1, 0, 0, table, RET]].concat();
        for &table in fine {
            assert_eq!(rules(&code(table), &[]), [], "{kind:?} {table}");
        }
        assert_eq!(
            rules(&code(wrong), &[]),
            [(Some(0), Rule::OperandName(kind))]
        );
    }
    // All in the order of the code, whichever rule they violate.
    let code = [ENDFINALLY, 0xfe, 0x1e, NOP, 0x72, 1, 0, 0, 6, POP, RET];
    assert_eq!(
        rules(&code, &[]),
        [
            (Some(0), Rule::Misplaced(Opcode::Endfinally)),
            (Some(1), Rule::Prefix(Opcode::Readonly)),
            (Some(4), Rule::OperandName(OperandKind::String)),
        ]
    );
    let mut built = MethodBody::new();
    let mut fragment = Fragment::new();
    fragment.ldstr("text").newarr("A").pop().pop().ret();
    built.append(&fragment).unwrap();
    assert_eq!(built.verify_structure(), []);
}

#[test]
fn what_was_wrong_before_is_not_asked_of_the_new_body() {
    let changes = |code: &[u8], original: &[u8]| {
        let signature = MethodSig::new(TypeSig::Void, Vec::new());
        let context = MethodContext::new(&signature);
        let original = [&[(original.len() as u8) << 2 | 2], original].concat();
        body(code, &[])
            .verify_changes(&original, &context, &())
            .len()
    };
    // `pop; ret`, after `nop`.
    assert_eq!(changes(&[0x26, 0x2a], &[0x2a]), 1);
    assert_eq!(changes(&[0x00, 0x26, 0x2a], &[0x26, 0x2a]), 0);
    // Also with `ldloc.0` in a body without locals.
    let new = [0x06, 0x26, 0x26, 0x2a];
    let all = changes(&new, &[0x2a]);
    let left = changes(&new, &[0x26, 0x2a]);
    assert!(0 < left && left < all, "{left} of {all}");
    // A new method has no original.
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let context = MethodContext::new(&signature);
    assert_eq!(
        body(&new, &[]).verify_changes(&[], &context, &()).len(),
        all
    );
}
