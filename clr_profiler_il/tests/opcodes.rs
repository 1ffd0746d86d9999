//! Compares the table of opcodes with that of the runtime's headers.

use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::{FlowControl, Opcode, OperandKind, ValueKind};

const FACTS: &str = include_str!("facts/opcodes.txt");

fn operand(name: &str) -> OperandKind {
    match name {
        "InlineNone" => OperandKind::None,
        "ShortInlineI" => OperandKind::Int8,
        "InlineI" => OperandKind::Int32,
        "InlineI8" => OperandKind::Int64,
        "ShortInlineR" => OperandKind::Float32,
        "InlineR" => OperandKind::Float64,
        "ShortInlineVar" => OperandKind::ShortVariable,
        "InlineVar" => OperandKind::Variable,
        "ShortInlineBrTarget" => OperandKind::ShortTarget,
        "InlineBrTarget" => OperandKind::Target,
        "InlineSwitch" => OperandKind::Switch,
        "InlineMethod" => OperandKind::Method,
        "InlineField" => OperandKind::Field,
        "InlineType" => OperandKind::Type,
        "InlineTok" => OperandKind::AnyToken,
        "InlineString" => OperandKind::String,
        "InlineSig" => OperandKind::Signature,
        other => panic!("{other}"),
    }
}

fn kinds(text: &str) -> Option<Vec<ValueKind>> {
    if text.starts_with("Var") {
        return None;
    }
    let kinds = text.split('+').filter_map(|part| {
        Some(
            match part.trim_start_matches("Pop").trim_start_matches("Push") {
                "0" => return None,
                "1" => ValueKind::Any,
                "I" => ValueKind::Int,
                "I8" => ValueKind::Int64,
                "R4" => ValueKind::Float32,
                "R8" => ValueKind::Float64,
                "Ref" => ValueKind::Object,
                other => panic!("{other}"),
            },
        )
    });
    Some(kinds.collect())
}

fn flow(text: &str) -> FlowControl {
    match text {
        "NEXT" => FlowControl::Next,
        "BREAK" => FlowControl::Break,
        "CALL" => FlowControl::Call,
        "RETURN" => FlowControl::Return,
        "BRANCH" => FlowControl::Branch,
        "COND_BRANCH" => FlowControl::ConditionalBranch,
        "THROW" => FlowControl::Throw,
        "META" => FlowControl::Prefix,
        other => panic!("{other}"),
    }
}

#[test]
fn every_row_is_that_of_the_headers() {
    let mut seen = 0;
    for line in FACTS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [name, code, operand_kind, pops, pushes, flow_kind] = fields[..] else {
            panic!("{line}");
        };
        let code = u16::from_str_radix(code, 16).unwrap();
        let opcode = Opcode::from_code(code).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(opcode.code(), code, "{line}");
        assert_eq!(opcode.mnemonic(), name);
        assert_eq!(opcode.operand_kind(), operand(operand_kind), "{line}");
        assert_eq!(opcode.pops().map(<[_]>::to_vec), kinds(pops), "{line}");
        assert_eq!(opcode.pushes().map(<[_]>::to_vec), kinds(pushes), "{line}");
        assert_eq!(opcode.flow_control(), flow(flow_kind), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 218);
    // Only ECMA-335 III.2.2 has `no.`; the headers leave its code unused.
    let others: Vec<_> = Opcode::ALL
        .iter()
        .filter(|opcode| !FACTS.contains(&format!("\n{} ", opcode.mnemonic())))
        .collect();
    assert_eq!(others, [&Opcode::No]);
    let known = (0..=u16::MAX).filter(|&code| Opcode::from_code(code).is_some());
    assert_eq!(known.count(), Opcode::ALL.len());
}

#[test]
fn forms_of_branches() {
    for &opcode in Opcode::ALL {
        let (short, long) = (opcode.short_form(), opcode.long_form());
        match opcode.operand_kind() {
            OperandKind::ShortTarget => assert_eq!((short, long.short_form()), (opcode, opcode)),
            OperandKind::Target => assert_eq!((long, short.long_form()), (opcode, opcode)),
            _ => assert_eq!((short, long), (opcode, opcode)),
        }
        if short != long {
            assert_eq!(short.operand_kind(), OperandKind::ShortTarget);
            assert_eq!(long.operand_kind(), OperandKind::Target);
            assert_eq!(short.mnemonic(), format!("{}.s", long.mnemonic()));
            assert_eq!(
                (short.pops(), short.flow_control()),
                (long.pops(), long.flow_control())
            );
        }
    }
}

#[test]
fn forms_of_variables() {
    for (short, long) in [
        (Opcode::LdargS, Opcode::Ldarg),
        (Opcode::LdargaS, Opcode::Ldarga),
        (Opcode::StargS, Opcode::Starg),
        (Opcode::LdlocS, Opcode::Ldloc),
        (Opcode::LdlocaS, Opcode::Ldloca),
        (Opcode::StlocS, Opcode::Stloc),
    ] {
        for number in [0, 1, 3, 4, 127, 128, 255, 256, 65534] {
            let form = short.for_variable(number);
            assert_eq!(long.for_variable(number), form);
            match number {
                256.. => assert_eq!(form, long),
                _ if form == short => {}
                _ => assert_eq!(form.mnemonic(), format!("{}.{number}", long.mnemonic())),
            }
            assert_eq!(form.pops(), long.pops());
            assert_eq!(form.pushes(), long.pushes());
        }
    }
    assert_eq!(Opcode::Add.for_variable(3), Opcode::Add);
}

#[test]
fn forms_of_numbers() {
    for number in (-130..=130).chain([i32::MIN, i32::MAX]) {
        let mut fragment = Fragment::new();
        fragment.ldc_i4(number);
        let one = fragment.instructions().next().unwrap();
        assert_eq!(one.int32(), Some(number));
        let name = match number {
            -1 => "ldc.i4.m1".to_owned(),
            0..=8 => format!("ldc.i4.{number}"),
            -128..=127 => "ldc.i4.s".to_owned(),
            _ => "ldc.i4".to_owned(),
        };
        assert_eq!(one.opcode().mnemonic(), name);
    }
}
