//! Editing: the position of inserted code, its effect on branches and regions, and the depth of the
//! stack.

mod foreign;
mod handlers;

use clr_profiler_il::body::{HandlerKind, MethodBody};
use clr_profiler_il::edit::{
    EditError, InsertionPoint, Labels, NotInstrumentable, OffsetPair, Side,
};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::{InstructionId, Operand, Position};
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::stack::StackErrorKind;
use clr_profiler_il::symbol::{
    FieldSymbol, MethodSymbol, NoTokens, Reference, Resolver, TokenSource, TypeSymbol,
};
use clr_profiler_il::token::{MethodDef, Token};
use clr_profiler_il::verify::MethodContext;

fn tiny(code: &[u8]) -> MethodBody {
    let mut bytes = vec![0b10 | u8::try_from(code.len()).unwrap() << 2];
    bytes.extend(code);
    MethodBody::decode(&bytes).unwrap()
}

fn ids(body: &MethodBody) -> Vec<InstructionId> {
    body.instructions().map(|one| one.id()).collect()
}

/// The text without the line of the maximum stack depth.
fn code(body: &MethodBody) -> Vec<String> {
    let text = body.to_string();
    let lines = text.lines().filter(|line| !line.starts_with(".maxstack"));
    lines
        .map(|line| {
            line.replace(":  ", " ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn one(build: impl FnOnce(&mut Fragment)) -> Fragment {
    let mut fragment = Fragment::new();
    build(&mut fragment);
    fragment
}

/// `nop; br.s ->0`, a try region `nop; leave` with a `finally` of `endfinally`, `ret`.
fn with_finally() -> MethodBody {
    let mut fragment = Fragment::new();
    fragment
        .nop()
        .try_block(|body| {
            body.dup();
        })
        .finally(|_| {})
        .end()
        .ret();
    let mut body = MethodBody::new();
    body.append(&fragment).unwrap();
    body
}

#[test]
fn labels_move_or_stay() {
    // nop; br.s 0
    for (labels, target) in [(Labels::Move, "IL_0000"), (Labels::Stay, "IL_0001")] {
        let mut body = tiny(&[0x00, 0x2b, 0xfd]);
        let first = ids(&body)[0];
        body.insert_before(
            first,
            labels,
            &one(|f| {
                f.pop();
            }),
        )
        .unwrap();
        let expected = [
            "IL_0000 pop",
            "IL_0001 nop",
            &format!("IL_0002 br.s {target}"),
        ];
        assert_eq!(code(&body), expected);
    }
    for (labels, target) in [(Labels::Move, "IL_0003"), (Labels::Stay, "IL_0004")] {
        // br.s 3; nop; ret
        let mut body = tiny(&[0x2b, 0x01, 0x00, 0x2a]);
        let nop = ids(&body)[1];
        body.insert_after(
            nop,
            labels,
            &one(|f| {
                f.pop();
            }),
        )
        .unwrap();
        let expected = [
            &format!("IL_0000 br.s {target}"),
            "IL_0002 nop",
            "IL_0003 pop",
            "IL_0004 ret",
        ];
        assert_eq!(code(&body), expected);
    }
}

#[test]
fn bounds_have_sides() {
    let clause = |body: &MethodBody| code(body).pop().unwrap();
    let plain = with_finally();
    assert_eq!(
        clause(&plain),
        ".try IL_0001 to IL_0004 finally handler IL_0004 to IL_0005"
    );
    let all = ids(&plain);
    // At the start of the region, at its end, and at the end of the handler.
    for (at, side, expected) in [
        (
            1,
            Side::WithNext,
            ".try IL_0001 to IL_0005 finally handler IL_0005 to IL_0006",
        ),
        (
            1,
            Side::WithPrevious,
            ".try IL_0002 to IL_0005 finally handler IL_0005 to IL_0006",
        ),
        (
            1,
            Side::Outside,
            ".try IL_0002 to IL_0005 finally handler IL_0005 to IL_0006",
        ),
        (
            3,
            Side::WithNext,
            ".try IL_0001 to IL_0004 finally handler IL_0004 to IL_0006",
        ),
        (
            3,
            Side::WithPrevious,
            ".try IL_0001 to IL_0005 finally handler IL_0005 to IL_0006",
        ),
        (
            3,
            Side::Outside,
            ".try IL_0001 to IL_0004 finally handler IL_0005 to IL_0006",
        ),
        (
            4,
            Side::WithNext,
            ".try IL_0001 to IL_0004 finally handler IL_0004 to IL_0005",
        ),
        (
            4,
            Side::WithPrevious,
            ".try IL_0001 to IL_0004 finally handler IL_0004 to IL_0006",
        ),
    ] {
        let mut body = plain.clone();
        let point = InsertionPoint {
            position: Position::Before(all[at]),
            labels: Labels::Stay,
            side,
        };
        body.insert(
            point,
            &one(|f| {
                f.nop();
            }),
            &[],
        )
        .unwrap();
        assert_eq!(clause(&body), expected, "{at} {side:?}");
    }
}

#[test]
fn replace_and_remove() {
    // nop; br.s 0; ret
    let mut body = tiny(&[0x00, 0x2b, 0xfd, 0x2a]);
    let all = ids(&body);
    body.replace(
        all[0],
        &one(|f| {
            f.ldc_i4(1).pop();
        }),
    )
    .unwrap();
    assert_eq!(
        code(&body),
        [
            "IL_0000 ldc.i4.1",
            "IL_0001 pop",
            "IL_0002 br.s IL_0000",
            "IL_0004 ret"
        ]
    );
    let pair = |old, new| OffsetPair {
        old,
        new,
        is_exact: true,
    };
    assert_eq!(body.offset_map(), [pair(0, 0), pair(1, 2), pair(3, 4)]);
    assert_eq!(
        body.remove(all[0]),
        Err(EditError::UnknownInstruction(all[0]))
    );
    assert!(body.instruction(all[0]).is_none());
    body.remove(all[1]).unwrap();
    assert_eq!(
        code(&body),
        ["IL_0000 ldc.i4.1", "IL_0001 pop", "IL_0002 ret"]
    );
    // A branch to a removed instruction targets the next one.
    let mut body = tiny(&[0x2b, 0x00, 0x00, 0x2a]);
    let nop = ids(&body)[1];
    body.remove(nop).unwrap();
    assert_eq!(code(&body), ["IL_0000 br.s IL_0002", "IL_0002 ret"]);
}

#[test]
fn inserted_code_has_the_line_of_what_it_leads_to() {
    // nop, nop, ret
    let mut body = tiny(&[0x00, 0x00, 0x2a]);
    let all = ids(&body);
    let nops = one(|f| {
        f.nop().nop();
    });
    body.prologue(&nops).unwrap();
    body.insert_before(all[2], Labels::Stay, &nops).unwrap();
    // An instruction that branches away does not lead to the next one.
    let mut away = Fragment::new();
    let start = away.label();
    away.mark(start).nop().br(start);
    body.insert_after(all[0], Labels::Stay, &away).unwrap();
    let map = body.instrumented_code_map();
    let map: Vec<_> = map
        .iter()
        .map(|pair| (pair.new, pair.old, pair.is_exact))
        .collect();
    assert_eq!(
        map,
        [
            (0, 0, false),
            (2, 0, true),
            (6, 1, true),
            (7, 2, false),
            (9, 2, true)
        ],
        "{body}"
    );
    let exact: Vec<_> = body.offset_map().iter().map(|pair| pair.new).collect();
    assert_eq!(exact, [2, 6, 9]);
}

#[test]
fn a_body_that_is_read_again_has_no_instructions_of_the_one_before() {
    let mut body = tiny(&[0x00, 0x00, 0x00, 0x2a]);
    let last = ids(&body)[3];
    body.decode_into(&[0x06, 0x2a]).unwrap();
    assert!(body.instruction(last).is_none());
    let unknown = EditError::UnknownInstruction(last);
    assert_eq!(body.remove(last), Err(unknown));
    assert_eq!(
        body.label(Position::Before(last)),
        Err(EditError::UnknownInstruction(last))
    );
    assert_eq!(code(&body), ["IL_0000 ret"]);
}

#[test]
fn targets_and_labels() {
    // br.s 2; nop; ret
    let mut body = tiny(&[0x2b, 0x00, 0x00, 0x2a]);
    let all = ids(&body);
    let ret = body.label(Position::Before(all[2])).unwrap();
    body.set_target(all[0], 0, ret).unwrap();
    assert_eq!(code(&body)[0], "IL_0000 br.s IL_0003");
    body.move_label(ret, Position::Before(all[1])).unwrap();
    assert_eq!(code(&body)[0], "IL_0000 br.s IL_0002");
    assert_eq!(body.position(ret), Some(Position::Before(all[1])));
    assert_eq!(
        body.set_target(all[1], 0, ret),
        Err(EditError::NoTarget(all[1]))
    );
    // A branch to the end has no target instruction.
    body.move_label(ret, Position::End).unwrap();
    assert!(body.encode(&mut NoTokens, &mut Vec::new()).is_err());
}

#[test]
fn labels_of_fragments_need_places() {
    let mut open = Fragment::new();
    let label = open.label();
    open.br(label);
    let mut body = tiny(&[0x2a]);
    assert_eq!(body.prologue(&open), Err(EditError::UnboundLabel(label)));
    assert_eq!(
        body.prologue(&one(|f| {
            f.volatile();
        })),
        Err(EditError::DanglingPrefix)
    );
    assert_eq!(code(&body), ["IL_0000 ret"]);
}

#[test]
fn epilogues() {
    // ldarg.0; brtrue.s 4; ret; ret
    let mut body = tiny(&[0x02, 0x2d, 0x01, 0x2a, 0x2a]);
    body.before_ret(&one(|f| {
        f.ldc_i4(100).pop();
    }))
    .unwrap();
    assert_eq!(
        code(&body),
        [
            "IL_0000 ldarg.0",
            "IL_0001 brtrue.s IL_0007",
            "IL_0003 ldc.i4.s 100",
            "IL_0005 pop",
            "IL_0006 ret",
            "IL_0007 ldc.i4.s 100",
            "IL_0009 pop",
            "IL_000a ret",
        ]
    );
    assert_eq!(body.max_stack(), 9);
    let nop = one(|f| {
        f.nop();
    });
    let mut jmp = tiny(&[0x27, 1, 0, 0, 6]);
    let reason = NotInstrumentable::Jmp(ids(&jmp)[0]);
    assert_eq!(
        jmp.before_ret(&nop),
        Err(EditError::NotInstrumentable(reason))
    );
    let mut tail = tiny(&[0xfe, 0x14, 0xfe, 0x16, 1, 0, 0, 2, 0x6f, 1, 0, 0, 6, 0x2a]);
    let reason = NotInstrumentable::TailCall(ids(&tail)[0]);
    assert_eq!(
        tail.before_ret(&nop),
        Err(EditError::NotInstrumentable(reason))
    );
    tail.strip_tail_calls();
    tail.before_ret(&nop).unwrap();
    assert_eq!(
        code(&tail),
        [
            "IL_0000 constrained. 0x02000001 callvirt 0x06000001",
            "IL_000b nop",
            "IL_000c ret"
        ]
    );
}

#[test]
fn prologues_do_not_run_again() {
    let mut body = tiny(&[0x00, 0x2b, 0xfd]);
    body.prologue(&one(|f| {
        f.ldnull().ldnull().pop().pop();
    }))
    .unwrap();
    assert_eq!(code(&body)[5], "IL_0005 br.s IL_0004");
    // It is inserted where the stack is empty.
    assert_eq!(body.max_stack(), 8);
    body.prologue(&one(|f| {
        f.nop();
    }))
    .unwrap();
    assert_eq!(code(&body)[..2], ["IL_0000 nop", "IL_0001 ldnull"]);
    // Before a region that starts with the body.
    let mut body = with_finally();
    let nop = ids(&body)[0];
    body.remove(nop).unwrap();
    body.prologue(&one(|f| {
        f.pop();
    }))
    .unwrap();
    assert!(code(&body).pop().unwrap().starts_with(".try IL_0001 to"));
}
/// Returns a token for every kind of symbol.
struct Table;

impl TokenSource for Table {
    type Error = std::convert::Infallible;

    fn method(&mut self, _: &MethodSymbol) -> Result<Token, Self::Error> {
        Ok(Token::new(0x0a00_0001))
    }

    fn type_token(&mut self, _: &TypeSymbol) -> Result<Token, Self::Error> {
        Ok(Token::new(0x0100_0002))
    }

    fn field(&mut self, _: &FieldSymbol) -> Result<Token, Self::Error> {
        Ok(Token::new(0x0a00_0003))
    }

    fn user_string(&mut self, text: &str) -> Result<Token, Self::Error> {
        Ok(Token::new(0x7000_0000 + u32::try_from(text.len()).unwrap()))
    }

    fn signature(&mut self, _: &MethodSig) -> Result<Token, Self::Error> {
        Ok(Token::new(0x1100_0005))
    }

    fn locals(&mut self, locals: &LocalsSig) -> Result<Token, Self::Error> {
        Ok(Token::new(
            0x1100_0000 + u32::try_from(locals.locals.len()).unwrap(),
        ))
    }
}

#[test]
fn symbols_become_tokens() {
    let method = MethodSymbol::new("A", "M", "instance void (int)");
    let field = FieldSymbol::new("A", "F", "int");
    let fragment = one(|f| {
        f.ldstr("abc")
            .constrained("T")
            .callvirt(&method)
            .ldsfld(&field)
            .ldtoken(&field);
        f.castclass(TypeSymbol::new("T"))
            .calli(MethodSig::new(TypeSig::Void, vec![]))
            .ret();
    });
    let mut body = tiny(&[0x2a]);
    body.prologue(&fragment).unwrap();
    assert!(body.encode(&mut NoTokens, &mut Vec::new()).is_err());
    assert_eq!(body.add_local(TypeSig::I4), Ok(0));
    let mut out = Vec::new();
    body.encode(&mut Table, &mut out).unwrap();
    assert_eq!(out[8..12], 0x1100_0001_u32.to_le_bytes());
    let tokens: Vec<_> = MethodBody::decode(&out)
        .unwrap()
        .instructions()
        .filter_map(|one| match one.operand() {
            Operand::Reference(Reference::Token(token)) => Some(token.raw()),
            _ => None,
        })
        .collect();
    let expected = [
        0x7000_0003,
        0x0a00_0001,
        0x0a00_0003,
        0x0a00_0003,
        0x0100_0002,
        0x1100_0005,
    ];
    assert_eq!(tokens, expected);
}

#[test]
fn locals_are_appended() {
    let bytes = [0x13, 0x30, 1, 0, 1, 0, 0, 0, 9, 0, 0, 0x11, 0x2a];
    let mut body = MethodBody::decode(&bytes).unwrap();
    assert_eq!(body.add_local(TypeSig::I4), Err(EditError::UnknownLocals));
    body.set_locals(LocalsSig {
        locals: vec![TypeSig::String; 127],
    });
    let mut out = Vec::new();
    body.encode(&mut NoTokens, &mut out).unwrap();
    assert_eq!(out, bytes);
    assert_eq!(body.add_local(TypeSig::I4), Ok(127));
    out.clear();
    body.encode(&mut Table, &mut out).unwrap();
    assert_eq!(out[8..12], 0x1100_0080_u32.to_le_bytes());
}

#[test]
fn fragments_know_their_need() {
    let method = MethodSymbol::new("A", "M", "void (int, int)");
    let fragment = one(|f| {
        f.ldc_i4(1).ldc_i4(2).call(&method);
    });
    assert_eq!((fragment.stack_need(), fragment.stack_change()), (2, 0));
    // A token alone does not tell the shape of a call; with its signature it does.
    let signature = MethodSig::new(TypeSig::Void, vec![TypeSig::I4]);
    let token = MethodDef::from_row(1).unwrap();
    let unknown = one(|f| {
        f.ldc_i4(1).call(token);
    });
    assert_eq!((unknown.stack_need(), unknown.stack_change()), (2, 2));
    let known = one(|f| {
        f.ldc_i4(1).call((token, &signature));
    });
    assert_eq!((known.stack_need(), known.stack_change()), (1, 0));
    // Many insertions do not add up, unless each leaves a value.
    let mut body = tiny(&[0x00, 0x00, 0x00, 0x2a]);
    for id in ids(&body) {
        body.insert_before(id, Labels::Move, &fragment).unwrap();
    }
    assert_eq!(body.max_stack(), 10);
}

struct Calls;

impl Resolver for Calls {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        let Reference::Token(token) = method else {
            return None;
        };
        match token.row() {
            1 => Some(MethodSig::instance(TypeSig::I4, vec![TypeSig::I4])),
            2 => Some(MethodSig::new(TypeSig::Void, vec![])),
            _ => None,
        }
    }

    fn signature(&self, _: Reference<'_>) -> Option<MethodSig> {
        None
    }
}

#[test]
fn depths() {
    let max = |code: &[u8]| {
        tiny(code)
            .compute_max_stack(&Calls)
            .map_err(|error| error.kind)
    };
    assert_eq!(max(&[0x2a]), Ok(0));
    assert_eq!(max(&[0x02, 0x03, 0x28, 1, 0, 0, 6, 0x26, 0x2a]), Ok(2));
    assert_eq!(max(&[0x02, 0x73, 1, 0, 0, 6, 0x2a]), Ok(1));
    assert_eq!(
        max(&[0x28, 3, 0, 0, 6, 0x2a]),
        Err(StackErrorKind::UnknownCall)
    );
    assert_eq!(
        max(&[0x26, 0x2a]),
        Err(StackErrorKind::Underflow { depth: 0, pops: 1 })
    );
    // A loop with its condition at the end: br.s 4; ldnull; pop; ldarg.0; brtrue.s 2; ret
    assert_eq!(
        max(&[0x2b, 0x02, 0x14, 0x26, 0x02, 0x2d, 0xfb, 0x2a]),
        Ok(1)
    );
    // Two paths of different depth: ldarg.0; brtrue.s 4; ldnull; ret
    assert_eq!(
        max(&[0x02, 0x2d, 0x01, 0x14, 0x2a]),
        Err(StackErrorKind::Mismatch { depth: 0, other: 1 })
    );
    // Dead code takes missing values.
    assert_eq!(max(&[0x2a, 0x26, 0x2a]), Ok(0));
    // A value over a forward branch: ldnull; br.s 4; ret(dead); pop; ret
    assert_eq!(max(&[0x14, 0x2b, 0x01, 0x2a, 0x26, 0x2a]), Ok(1));
    let mut body = with_finally();
    assert!(body.compute_max_stack(&Calls).is_err());
    let mut body = MethodBody::new();
    let caught = one(|f| {
        f.try_block(|t| {
            t.nop();
        })
        .filter(
            |f| {
                f.pop().ldc_i4(1);
            },
            |h| {
                h.dup().pop().pop();
            },
        )
        .end()
        .ret();
    });
    body.append(&caught).unwrap();
    assert_eq!(body.compute_max_stack(&Calls).unwrap(), 2);
    assert_eq!(body.max_stack(), 2);
}
