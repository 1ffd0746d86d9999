//! Methods to assemble: every opcode with every form of its operand, and every kind of exception
//! handling. Each line is written twice: for `ilasm` with names, for our assembler with tokens.

use std::fmt::Write as _;

use clr_profiler_il::opcode::{Opcode, OperandKind};

/// A method: its lines for `ilasm`, with `{0}` and so on as placeholders of names, and whether
/// every instruction has its shortest form.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) is_shortest: bool,
}

/// Opcodes that `ilasm` does not know.
pub(crate) const UNKNOWN_TO_ILASM: &[Opcode] = &[Opcode::No];

/// Items with tokens: as written for `ilasm`, and as printed by `monodis`.
pub(crate) const NAMES: &[(&str, &str)] = &[
    (
        "void Ops::Callee(int32, string)",
        "void class Ops::Callee(int32, string)",
    ),
    (
        "instance string [mscorlib]System.Object::ToString()",
        "instance string object::ToString()",
    ),
    (
        "void Ops::Generic<int32>()",
        "void class Ops::Generic<int32> ()",
    ),
    (
        "instance void Ops::.ctor()",
        "instance void class Ops::'.ctor'()",
    ),
    (
        "instance void [mscorlib]System.Object::.ctor()",
        "instance void object::'.ctor'()",
    ),
    ("int32 Ops::sf", "int32 Ops::sf"),
    ("string Ops::f", "string Ops::f"),
    ("Ops", "Ops"),
    ("[mscorlib]System.Exception", "[mscorlib]System.Exception"),
    (
        "class [mscorlib]System.Collections.Generic.List`1<int32>",
        "class [mscorlib]System.Collections.Generic.List`1<int32>",
    ),
    ("void(int32)", "signature-0x11000002"),
    ("\"a\\\"b\\n\"", "\"a\\\"b\\n\""),
    (
        "method void Ops::Callee(int32, string)",
        "method void class Ops::Callee(int32, string)",
    ),
    ("field int32 Ops::sf", "field int32 Ops::sf"),
    (
        "instance void Ops::Virtual()",
        "instance void class Ops::Virtual()",
    ),
];

/// The operands to try for an opcode; second, those that are not its shortest form.
fn operands(opcode: Opcode) -> (Vec<String>, Vec<String>) {
    let strings = |operands: &[&str]| operands.iter().map(|it| (*it).to_owned()).collect();
    let shortest = |operands: &[&str]| (strings(operands), Vec::new());
    match opcode.operand_kind() {
        OperandKind::None => shortest(&[""]),
        OperandKind::Int8 if opcode == Opcode::Unaligned => shortest(&["1", "2", "4"]),
        OperandKind::Int8 => (
            strings(&["9", "-2", "127", "-128"]),
            strings(&["5", "-1", "0"]),
        ),
        OperandKind::Int32 => (
            strings(&["128", "-129", "2147483647", "-2147483648", "0x12345678"]),
            strings(&["0", "-1", "127"]),
        ),
        OperandKind::Int64 => shortest(&["0", "-1", "9223372036854775807", "0x123456789abcdef0"]),
        OperandKind::Float32 => {
            shortest(&["1.5", "-0.25", "0.1", "0", "(00 00 80 7f)", "(00 00 c0 ff)"])
        }
        OperandKind::Float64 => shortest(&[
            "1.5",
            "-1e300",
            "0.1",
            "(00 00 00 00 00 00 f0 ff)",
            "(00 00 00 00 00 00 f8 ff)",
            "(01 00 00 00 00 00 00 00)",
        ]),
        OperandKind::ShortVariable => {
            let address = matches!(opcode, Opcode::LdargaS | Opcode::LdlocaS | Opcode::StargS);
            let small = strings(&["0", "3"]);
            let (mut short, long) = if address {
                (small, vec![])
            } else {
                (vec![], small)
            };
            short.extend(strings(&["4", "255"]));
            (short, long)
        }
        OperandKind::Variable => (strings(&["256", "65534"]), strings(&["0", "3", "4", "255"])),
        OperandKind::ShortTarget => shortest(&["S", "E"]),
        OperandKind::Target => (vec![], strings(&["S", "E"])),
        OperandKind::Switch => shortest(&["()", "(S)", "(E, S, E, S)"]),
        OperandKind::Method if opcode == Opcode::Newobj => shortest(&["{3}", "{4}"]),
        OperandKind::Method if matches!(opcode, Opcode::Callvirt | Opcode::Ldvirtftn) => {
            shortest(&["{1}", "{14}"])
        }
        OperandKind::Method => shortest(&["{0}", "{1}", "{2}"]),
        OperandKind::Field => shortest(&["{5}", "{6}"]),
        OperandKind::Type => shortest(&["{7}", "{8}", "{9}"]),
        OperandKind::AnyToken => shortest(&["{7}", "{8}", "{9}", "{12}", "{13}"]),
        OperandKind::Signature => shortest(&["{10}"]),
        OperandKind::String => shortest(&["{11}"]),
    }
}

/// The instruction after each prefix.
const PREFIXED: &[(Opcode, &str)] = &[
    (Opcode::Constrained, "callvirt {1}"),
    (Opcode::Readonly, "ldelema {8}"),
    (Opcode::Tail, "call {0}"),
    (Opcode::Unaligned, "ldind.i4"),
    (Opcode::Volatile, "stsfld {5}"),
];

/// The exception clauses of a method, by labels.
const CLAUSES: &[(&str, &str)] = &[
    (
        "catch",
        "S: nop\nleave.s E\nC: pop\nleave.s E\nE: ret\n.try S to C catch {8} handler C to E",
    ),
    (
        "finally",
        "S: nop\nleave.s E\nC: endfinally\nE: ret\n.try S to C finally handler C to E",
    ),
    (
        "fault",
        "S: nop\nleave.s E\nC: endfinally\nE: ret\n.try S to C fault handler C to E",
    ),
    (
        "filter",
        "S: nop\nleave.s E\nF: pop\nldc.i4.1\nendfilter\nC: pop\nleave.s E\nE: ret\n\
         .try S to F filter F handler C to E",
    ),
    (
        "several",
        "S: nop\nleave.s E\nC: pop\nleave.s E\nD: pop\nleave.s E\nE: ret\n\
         .try S to C catch {8} handler C to D\n.try S to C catch {9} handler D to E",
    ),
    (
        "nested",
        "nop\nO: nop\nS: nop\nleave.s I\nC: pop\nleave.s I\nF: pop\nldc.i4.0\nendfilter\nH: pop\n\
         leave.s I\nI: leave.s E\nG: nop\nT: leave.s N\nU: rethrow\nN: endfinally\nK: endfinally\n\
         E: ret\n\
         .try S to C catch {8} handler C to F\n.try S to C filter F handler H to I\n\
         .try T to U catch {9} handler U to N\n.try O to G finally handler G to K\n\
         .try O to K fault handler K to E",
    ),
    (
        "at_the_end",
        "br.s S\nR: ret\nS: newobj {4}\nthrow\nC: pop\nleave.s R\nE:\n\
         .try S to C catch {8} handler C to E",
    ),
];

/// All methods.
pub(crate) fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    let mut add = |name: String, text: String, is_shortest| {
        sources.push(Source {
            name,
            text,
            is_shortest,
        });
    };
    for &opcode in Opcode::ALL {
        if UNKNOWN_TO_ILASM.contains(&opcode) {
            continue;
        }
        let name = opcode.mnemonic().replace('.', "_");
        let instruction_after = PREFIXED.iter().find(|(prefix, _)| *prefix == opcode);
        let instruction_after = instruction_after.map_or("", |(_, instruction)| *instruction);
        assert_eq!(
            opcode.is_prefix(),
            !instruction_after.is_empty(),
            "{opcode:?}"
        );
        let (shortest, long) = operands(opcode);
        for (suffix, operands) in [("", &shortest), ("_long", &long)] {
            if operands.is_empty() {
                continue;
            }
            let mut text = String::from("S: nop\n");
            for operand in operands {
                writeln!(text, "{} {operand}\n{instruction_after}", opcode.mnemonic()).unwrap();
            }
            text.push_str("E: ret");
            add(format!("Op_{name}{suffix}"), text, suffix.is_empty());
        }
        // At the reach of a short branch, and one byte further.
        if opcode.operand_kind() == OperandKind::ShortTarget {
            let far = opcode.long_form();
            for (name, line, nops) in [("far_short", opcode, 127), ("far_long", far, 128)] {
                let text = format!("{line} E\n{}E: ret", "nop\n".repeat(nops));
                add(
                    format!("Op_{name}_{}", far.mnemonic().replace('.', "_")),
                    text,
                    true,
                );
            }
            for (name, line, nops) in [("back_short", opcode, 126), ("back_long", far, 124 + 3)] {
                let text = format!("S: {}{line} S\nret", "nop\n".repeat(nops));
                add(
                    format!("Op_{name}_{}", far.mnemonic().replace('.', "_")),
                    text,
                    true,
                );
            }
        }
    }
    for (name, text) in CLAUSES {
        add(format!("Eh_{name}"), (*text).to_owned(), true);
        // In a fat section: regions too far, clauses too many.
        let far = text.replacen("S: nop\n", &format!("S: {}", "nop\n".repeat(300)), 1);
        if far != *text {
            let far = far.replace("leave.s", "leave");
            add(format!("Eh_{name}_large"), far, false);
        }
    }
    let mut many = String::new();
    let mut clauses = String::new();
    for number in 0..21 {
        let next = number + 1;
        writeln!(
            many,
            "S{number}: leave.s S{next}\nC{number}: pop\nleave.s S{next}"
        )
        .unwrap();
        write!(
            clauses,
            "\n.try S{number} to C{number} catch {{8}} handler C{number} to S{next}"
        )
        .unwrap();
    }
    add(
        "Eh_many".to_owned(),
        format!("{many}S21: ret{clauses}"),
        true,
    );
    let shadow: Vec<_> = many.lines().take(60).collect();
    let clauses: Vec<_> = clauses.trim().lines().take(20).collect();
    let text = format!("{}\nS20: ret\n{}", shadow.join("\n"), clauses.join("\n"));
    add("Eh_twenty".to_owned(), text, true);
    sources
}

/// The file for `ilasm`.
pub(crate) fn assembly(sources: &[Source]) -> String {
    let mut text = String::from(
        ".assembly extern mscorlib {}\n.assembly Ops {}\n.module Ops.dll\n\
         .class public Ops extends [mscorlib]System.Object {\n\
         .field public static int32 sf\n.field public string f\n\
         .method public static void Callee(int32, string) cil managed { .maxstack 8\nret }\n\
         .method public static void Generic<T>() cil managed { .maxstack 8\nret }\n\
         .method public virtual instance void Virtual() cil managed { .maxstack 8\nret }\n\
         .method public specialname rtspecialname instance void .ctor() cil managed {\n\
         .maxstack 8\n.locals init (int32 a)\nret }\n",
    );
    for source in sources {
        let lines = substitute(&source.text, |number| NAMES[number].0.to_owned());
        let name = &source.name;
        writeln!(
            text,
            ".method public static void {name}() cil managed {{ .maxstack 8\n{lines}\n}}"
        )
        .unwrap();
    }
    text.push_str("}\n");
    text
}

/// Replaces each `{number}`.
pub(crate) fn substitute(text: &str, put: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut parts = text.split('{');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (number, rest) = part.split_once('}').expect("a closed brace");
        out.push_str(&put(number.parse().expect("a number")));
        out.push_str(rest);
    }
    out
}
