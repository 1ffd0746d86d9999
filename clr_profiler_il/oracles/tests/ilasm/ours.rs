//! Decoded bodies in the common form of listings.

use std::collections::HashMap;

use clr_profiler_il::body::{HandlerKind, MethodBody};
use clr_profiler_il::instruction::{Operand, Position, Prefix};
use clr_profiler_il::opcode::OperandKind;
use clr_profiler_il::symbol::Reference;

use super::common::{Clause, Line, Method};

/// The size of the code, from the header.
fn code_size(bytes: &[u8]) -> u32 {
    match bytes[0] & 3 {
        2 => u32::from(bytes[0] >> 2),
        _ => u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes")),
    }
}

fn name(reference: Reference<'_>) -> String {
    match reference {
        Reference::Token(token) => format!("{:08x}", token.raw()),
        Reference::Symbol(symbol) => panic!("{symbol} in decoded code"),
    }
}

/// A decoded method.
pub(crate) fn method(bytes: &[u8]) -> Method {
    let body = MethodBody::decode(bytes).expect("a body of ilasm");
    let size = code_size(bytes);
    let offsets: HashMap<_, _> = body
        .instructions()
        .map(|one| (one.id(), one.original_offset().expect("decoded")))
        .collect();
    let offset = |position| match position {
        Position::Before(id) => offsets[&id],
        Position::End => size,
    };
    let label = |label| {
        let position = body.position(label).expect("a position");
        format!("IL_{:04x}", offset(position))
    };
    let mut method = Method {
        max_stack: u16::try_from(body.max_stack()).expect("16 bits"),
        size,
        ..Method::default()
    };
    for one in body.instructions() {
        let mut offset = offsets[&one.id()];
        let mut line = |length, mnemonic: &str, operand| {
            method.lines.push(Line {
                offset,
                mnemonic: mnemonic.to_owned(),
                operand,
            });
            offset += length;
        };
        for prefix in one.prefixes() {
            match prefix {
                Prefix::Constrained(of) => line(6, "constrained.", name(of)),
                Prefix::Readonly => line(2, "readonly.", String::new()),
                Prefix::Tail => line(2, "tail.", String::new()),
                Prefix::Volatile => line(2, "volatile.", String::new()),
                Prefix::Unaligned(alignment) => line(3, "unaligned.", alignment.to_string()),
                other => panic!("{other}"),
            }
        }
        let operand = match one.operand() {
            Operand::None => String::new(),
            Operand::Int32(value) => value.to_string(),
            Operand::Int64(value) => value.to_string(),
            Operand::Float32(value) => format!("{:08x}", value.to_bits()),
            Operand::Float64(value) => format!("{:016x}", value.to_bits()),
            Operand::Variable(number) => number.to_string(),
            Operand::Target(to) => label(to),
            Operand::Switch(table) => {
                let labels: Vec<_> = table.iter().map(|&to| label(to)).collect();
                labels.join(" ")
            }
            Operand::Reference(reference) => name(reference),
            other => panic!("{other:?}"),
        };
        line(0, one.opcode().mnemonic(), operand);
    }
    method.clauses = body
        .clauses()
        .map(|clause| Clause {
            kind: match clause.kind {
                HandlerKind::Catch(of) => format!("catch {}", name(of)),
                HandlerKind::Filter { .. } => "filter".to_owned(),
                HandlerKind::Finally => "finally".to_owned(),
                HandlerKind::Fault => "fault".to_owned(),
            },
            try_region: (
                offset(clause.try_region.start),
                offset(clause.try_region.end),
            ),
            handler: (offset(clause.handler.start), offset(clause.handler.end)),
            filter: match clause.kind {
                HandlerKind::Filter { start } => Some(offset(start)),
                _ => None,
            },
        })
        .enumerate()
        .collect();
    method
}

/// Converts an instruction to the form of a decoded body: branches are long, instructions on
/// variables short.
pub(crate) fn as_decoded(line: &mut Line) {
    use clr_profiler_il::opcode::Opcode;
    let opcode = Opcode::ALL
        .iter()
        .find(|opcode| opcode.mnemonic() == line.mnemonic);
    let opcode = *opcode.unwrap_or_else(|| panic!("{line:?}"));
    match opcode.operand_kind() {
        OperandKind::ShortTarget => line.mnemonic = opcode.long_form().mnemonic().to_owned(),
        OperandKind::ShortVariable | OperandKind::Variable => {
            let family = line.mnemonic.trim_end_matches(".s").to_owned();
            let number: u16 = line.operand.parse().expect("a number");
            let has_own = matches!(&*family, "ldarg" | "ldloc" | "stloc");
            if has_own && number < 4 {
                line.mnemonic = format!("{family}.{number}");
                line.operand.clear();
            } else if number < 256 {
                line.mnemonic = format!("{family}.s");
            } else {
                line.mnemonic = family;
            }
        }
        _ => {}
    }
}
