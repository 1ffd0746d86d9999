//! The kinds of faults.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::opcode::{Opcode, OperandKind};
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};

use super::il::{Il, Op};
use super::tokens::Tokens;

/// A kind of fault.
pub(super) struct Kind {
    /// Its name, also in the table of the documentation.
    pub(super) name: &'static str,
    pub(super) how: How,
}

/// How it is put into a body.
pub(super) enum How {
    /// Bytes change at one of the instructions of which `at` is true.
    Bytes {
        at: fn(&Il, &Op) -> bool,
        change: Change,
    },
    /// Code is inserted: at the start, or before a return.
    Code { at: At, code: fn(&mut Fragment) },
}

/// Changes the bytes; false if that is not possible here.
pub(super) type Change = fn(&mut Il, &Op, &mut Tokens<'_>) -> clr_profiler::Result<bool>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Start,
    Return,
}

const fn bytes(name: &'static str, at: fn(&Il, &Op) -> bool, change: Change) -> Kind {
    let how = How::Bytes { at, change };
    Kind { name, how }
}

const fn code(name: &'static str, code: fn(&mut Fragment)) -> Kind {
    let at = At::Start;
    let how = How::Code { at, code };
    Kind { name, how }
}

/// All kinds, in the order of the table.
pub(super) const KINDS: &[Kind] = &[
    // Tokens.
    bytes("token of no row", has_token, |il, op, _| {
        operand(il, op, il.operand(op) | 0x00FF_FFF0)
    }),
    bytes("nil token", has_token, |il, op, _| {
        operand(il, op, il.operand(op) & 0xFF00_0000)
    }),
    bytes("token of another table", has_token, |il, op, _| {
        let table = match op.kind() {
            OperandKind::Type => 0x06,
            OperandKind::Method => 0x04,
            _ => 0x02,
        };
        operand(il, op, table << 24 | 2)
    }),
    bytes("string of no offset", is_string, |il, op, _| {
        operand(il, op, 0x70FF_FFF0)
    }),
    // Members.
    bytes("missing method", is_call, |il, op, tokens| {
        let token = tokens.renamed(il.operand(op))?;
        replaced(il, op, token)
    }),
    bytes("missing field", is_field, |il, op, tokens| {
        let token = tokens.renamed(il.operand(op))?;
        replaced(il, op, token)
    }),
    bytes("missing type", is_type, |il, op, tokens| {
        let token = tokens.missing_type()?;
        operand(il, op, token)
    }),
    bytes("type of a missing assembly", is_type, |il, op, tokens| {
        let token = tokens.type_of_missing_assembly()?;
        operand(il, op, token)
    }),
    bytes("method of a missing assembly", is_call, |il, op, tokens| {
        let token = tokens.in_missing_assembly(il.operand(op))?;
        replaced(il, op, token)
    }),
    // Calls.
    bytes(
        "one parameter more in the signature",
        is_call,
        |il, op, tokens| {
            let token = tokens.with_parameter(il.operand(op))?;
            replaced(il, op, token)
        },
    ),
    bytes(
        "another return type in the signature",
        is_call,
        |il, op, tokens| {
            let token = tokens.with_return_type(il.operand(op))?;
            replaced(il, op, token)
        },
    ),
    bytes("another method of the module", is_call, |il, op, tokens| {
        let token = tokens.other_method(il.operand(op));
        replaced(il, op, token)
    }),
    bytes(
        "call as newobj",
        |_, op| op.opcode == Opcode::Call,
        opcode::<0x73>,
    ),
    bytes(
        "call as callvirt",
        |_, op| op.opcode == Opcode::Call,
        opcode::<0x6F>,
    ),
    bytes(
        "callvirt as call",
        |_, op| op.opcode == Opcode::Callvirt,
        opcode::<0x28>,
    ),
    bytes(
        "newobj as call",
        |_, op| op.opcode == Opcode::Newobj,
        opcode::<0x28>,
    ),
    bytes(
        "calli with one parameter more",
        |_, op| op.opcode == Opcode::Calli,
        |il, op, tokens| {
            let token = tokens.calli_with_parameter(il.operand(op))?;
            replaced(il, op, token)
        },
    ),
    code("call without its argument", |code| {
        code.call(MethodSymbol::new(
            "[corelib]System.GC",
            "KeepAlive",
            "void (object)",
        ));
    }),
    code("method of another class on an object", |code| {
        code.ldstr("text").callvirt(MethodSymbol::new(
            "[corelib]System.Exception",
            "get_Message",
            "instance string ()",
        ));
        code.pop();
    }),
    // Fields.
    bytes(
        "ldfld as ldsfld",
        |_, op| op.opcode == Opcode::Ldfld,
        opcode::<0x7E>,
    ),
    bytes(
        "ldsfld as ldfld",
        |_, op| op.opcode == Opcode::Ldsfld,
        opcode::<0x7B>,
    ),
    bytes("another field of the module", is_field, |il, op, tokens| {
        let token = tokens.other_field(il.operand(op));
        replaced(il, op, token)
    }),
    // Members that may not be used.
    code("private field", |code| {
        code.ldstr("text");
        code.ldfld(FieldSymbol::new(
            "[corelib]System.String",
            "_stringLength",
            "int32",
        ));
        code.pop();
    }),
    code("protected method", |code| {
        code.ldstr("text").call(MethodSymbol::new(
            "[corelib]System.Object",
            "MemberwiseClone",
            "instance object ()",
        ));
        code.pop();
    }),
    code("internal type", |code| {
        code.ldnull();
        code.isinst("[System.Private.CoreLib]System.ThrowHelper")
            .pop();
    }),
    // Generic code.
    code("two type arguments instead of one", |code| {
        let name = "System.Array";
        code.call(MethodSymbol::new(
            &format!("[corelib]{name}"),
            "Empty<int32,int32>",
            "!!0[] ()",
        ));
        code.pop();
    }),
    code("type argument against a constraint", |code| {
        code.sizeof("valuetype [corelib]System.Nullable`1<string>")
            .pop();
    }),
    code("type argument missing", |code| {
        code.ldnull();
        code.isinst("class [corelib]System.Func`2<int32>").pop();
    }),
    code("type parameter of no number", |code| {
        code.sizeof("!!9").pop();
    }),
    code("by-ref-like type argument", |code| {
        code.ldnull();
        code.isinst("class [corelib]System.Func`1<valuetype [corelib]System.Span`1<int32>>");
        code.pop();
    }),
    // Locals and arguments.
    code("local of no number", |code| {
        code.ldloc(200).pop();
    }),
    code("argument of no number", |code| {
        code.ldarg(200).pop();
    }),
    bytes("no signature of locals", has_locals, |il, _, _| {
        il.write(8, &[0; 4]);
        Ok(true)
    }),
    bytes("signature of locals of no row", has_locals, |il, _, _| {
        il.write(8, &0x11FF_FFF0_u32.to_le_bytes());
        Ok(true)
    }),
    bytes("locals of other types", has_locals, |il, _, tokens| {
        let Some(token) = tokens.other_locals(il.locals())? else {
            return Ok(false);
        };
        il.write(8, &token.to_le_bytes());
        Ok(true)
    }),
    // The stack.
    bytes(
        "maximum stack of zero",
        |il, op| il.is_fat() && op.at == 12,
        |il, _, _| {
            il.write(2, &[0; 2]);
            Ok(true)
        },
    ),
    code("value taken from an empty stack", |code| {
        code.pop();
    }),
    Kind {
        name: "value left on the stack",
        how: How::Code {
            at: At::Return,
            code: |code| {
                code.ldc_i4(1);
            },
        },
    },
    bytes("integer as an object", is_string, opcode::<0x20>),
    code("object in arithmetic", |code| {
        code.ldnull().ldc_i4(1).mul().pop();
    }),
    // Flow.
    bytes("branch past the end", is_branch, |il, op, _| {
        match op.kind() {
            OperandKind::ShortTarget => il.write(op.operand, &[0x7F]),
            _ => il.write(op.operand, &0x00FF_FFFF_u32.to_le_bytes()),
        }
        Ok(true)
    }),
    bytes("branch into an instruction", is_branch, into_instruction),
    bytes(
        "undefined opcode",
        |_, op| op.operand == op.end,
        opcode::<0xF0>,
    ),
    bytes("end without a return", is_last, opcode::<0x00>),
    bytes(
        "leave as br",
        |_, op| op.opcode == Opcode::LeaveS,
        opcode::<0x2B>,
    ),
    bytes(
        "leave as ret",
        |_, op| op.opcode == Opcode::LeaveS,
        |il, op, _| {
            il.write(op.at, &[0x2A, 0x00]);
            Ok(true)
        },
    ),
    bytes(
        "endfinally as nop",
        |_, op| op.opcode == Opcode::Endfinally,
        opcode::<0x00>,
    ),
    code("rethrow outside of a handler", |code| {
        code.rethrow();
    }),
    bytes("clause of no type", has_clause, |il, _, _| {
        clause(il, 8, 20, 0x01FF_FFF0)
    }),
    bytes("clause beyond the code", has_clause, |il, _, _| {
        clause(il, 5, 12, 0x00FF_FFFF)
    }),
];

fn has_token(_: &Il, op: &Op) -> bool {
    matches!(
        op.kind(),
        OperandKind::Type | OperandKind::Method | OperandKind::Field
    )
}

fn is_string(_: &Il, op: &Op) -> bool {
    op.kind() == OperandKind::String
}

fn is_call(_: &Il, op: &Op) -> bool {
    matches!(op.opcode, Opcode::Call | Opcode::Callvirt | Opcode::Newobj)
}

fn is_field(_: &Il, op: &Op) -> bool {
    op.kind() == OperandKind::Field
}

fn is_type(_: &Il, op: &Op) -> bool {
    op.kind() == OperandKind::Type
}

fn is_branch(_: &Il, op: &Op) -> bool {
    matches!(op.kind(), OperandKind::Target | OperandKind::ShortTarget)
}

fn is_last(il: &Il, op: &Op) -> bool {
    op.end == il.code.end && op.operand == op.end
}

fn has_locals(il: &Il, op: &Op) -> bool {
    op.at == il.code.start && il.locals().is_some()
}

fn has_clause(il: &Il, op: &Op) -> bool {
    op.at == il.code.start && il.clause().is_some()
}

fn operand(il: &mut Il, op: &Op, token: u32) -> clr_profiler::Result<bool> {
    replaced(il, op, Some(token))
}

/// Writes the operand, if there is one that differs.
fn replaced(il: &mut Il, op: &Op, token: Option<u32>) -> clr_profiler::Result<bool> {
    let token = token.filter(|token| *token != il.operand(op));
    if let Some(token) = token {
        il.write(op.operand, &token.to_le_bytes());
    }
    Ok(token.is_some())
}

/// Replaces the opcode, which has one byte, by another of one byte.
fn opcode<const CODE: u8>(il: &mut Il, op: &Op, _: &mut Tokens<'_>) -> clr_profiler::Result<bool> {
    il.write(op.at, &[CODE]);
    Ok(op.opcode.code_length() == 1)
}

/// Moves the target of a branch into an instruction with an operand.
fn into_instruction(il: &mut Il, op: &Op, _: &mut Tokens<'_>) -> clr_profiler::Result<bool> {
    let short = op.kind() == OperandKind::ShortTarget;
    let reach = if short { 120 } else { 1 << 20 };
    let Some(target) = il
        .ops
        .iter()
        .find(|other| other.at > op.at && other.operand + 2 < other.end)
    else {
        return Ok(false);
    };
    let distance = target.operand + 1 - op.end;
    if distance > reach {
        return Ok(false);
    }
    match short {
        true => il.write(op.operand, &[distance as u8]),
        false => il.write(op.operand, &(distance as u32).to_le_bytes()),
    }
    Ok(true)
}

/// Writes into the first exception clause, whose form decides on the position.
fn clause(il: &mut Il, short: usize, long: usize, value: u32) -> clr_profiler::Result<bool> {
    let Some((at, is_long)) = il.clause() else {
        return Ok(false);
    };
    let value = value.to_le_bytes();
    match (is_long, short) {
        (true, _) => il.write(at + long, &value),
        (false, 8) => il.write(at + short, &value),
        // One byte: the length of the handler.
        (false, _) => il.write(at + short + 2, &value[..1]),
    }
    Ok(true)
}
