//! Bodies and fragments as text: printed text is parsed to the same, and so is hand-written text.

mod handlers;

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::Labels;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::{Operand, Position};
use clr_profiler_il::opcode::{Opcode, OperandKind};
use clr_profiler_il::signature::{CallingConvention, LocalsSig, MethodSig, TokenNames, TypeSig};
use clr_profiler_il::symbol::{FieldSymbol, MethodSymbol, NoTokens, TypeSymbol};
use clr_profiler_il::text::{TextError, TextErrorKind};
use clr_profiler_il::token::{MethodDef, Token};
use handlers::handlers;

fn encoded(body: &MethodBody) -> Vec<u8> {
    let mut out = Vec::new();
    body.encode(&mut NoTokens, &mut out).unwrap();
    out
}

fn parse(text: &str) -> MethodBody {
    text.parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn code(text: &str) -> Vec<u8> {
    encoded(&parse(text))[1..].to_vec()
}

fn fat(code: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x13, 0x30, 3, 0];
    bytes.extend(u32::try_from(code.len()).unwrap().to_le_bytes());
    bytes.extend(0x1100_0005_u32.to_le_bytes());
    bytes.extend(code);
    bytes
}

/// Every opcode with operands of all ones, all zeros and a value in between; branches to
/// themselves, forward and backward. Variables have numbers for which their form is the shortest.
fn every_instruction() -> Vec<u8> {
    let mut out = Vec::new();
    for &opcode in Opcode::ALL.iter().filter(|opcode| !opcode.is_prefix()) {
        let kind = opcode.operand_kind();
        for fill in [
            [0xff; 8],
            [0; 8],
            [0x01, 0x02, 0x7f, 0x80, 0xc0, 0x7f, 0xf8, 0x7f],
        ] {
            let operand: Vec<u8> = match kind {
                OperandKind::Switch => [vec![2, 0, 0, 0], fill[..8].to_vec()].concat(),
                _ => fill[..usize::from(kind.size().unwrap())].to_vec(),
            };
            let operand = match kind {
                OperandKind::ShortVariable => vec![fill[0] | 4],
                OperandKind::Variable => vec![fill[0], fill[1] | 1],
                OperandKind::ShortTarget => vec![0],
                // Out of reach of the short form: back to the start.
                OperandKind::Target => {
                    let start = out.len() as i32 + 5;
                    (-start).to_le_bytes().to_vec()
                }
                OperandKind::Switch => {
                    let start = out.len() as i32 + 13;
                    [
                        2_i32.to_le_bytes(),
                        (-start).to_le_bytes(),
                        0_i32.to_le_bytes(),
                    ]
                    .concat()
                }
                _ => operand,
            };
            if opcode.code() > 0xff {
                out.push(0xfe);
            }
            out.push(opcode.code() as u8);
            out.extend(operand);
            if kind == OperandKind::None {
                break;
            }
        }
    }
    // Prefixes, alone and combined.
    for prefix in [
        &[0xfe, 0x12, 1][..],
        &[0xfe, 0x13],
        &[0xfe, 0x14],
        &[0xfe, 0x16, 9, 0, 0, 0x1b],
        &[0xfe, 0x19, 0xff],
        &[0xfe, 0x1e],
        &[
            0xfe, 0x19, 7, 0xfe, 0x14, 0xfe, 0x13, 0xfe, 0x12, 0xff, 0xfe, 0x1e, 0xfe, 0x16, 0, 0,
            0, 2,
        ],
    ] {
        out.extend(prefix);
        out.extend([0x6f, 1, 0, 0, 0x0a]);
    }
    out
}

#[test]
fn every_opcode_keeps_its_bytes() {
    let bytes = fat(&every_instruction());
    let body = MethodBody::decode(&bytes).unwrap();
    assert_eq!(encoded(&body), bytes, "the bytes are minimal");
    let opcodes: std::collections::HashSet<_> =
        body.instructions().map(|one| one.opcode()).collect();
    // Short branches become long ones in a decoded body.
    let shortened = Opcode::ALL
        .iter()
        .filter(|one| one.long_form() != **one)
        .count();
    let prefixes = Opcode::ALL.iter().filter(|one| one.is_prefix()).count();
    assert_eq!(opcodes.len() + shortened + prefixes, Opcode::ALL.len());
    let text = body.to_string();
    let parsed = parse(&text);
    assert_eq!(encoded(&parsed), bytes);
    assert_eq!(parsed.to_string(), text);
    // The same without an unnecessary label, with other white space.
    let bare = text.replace(":  ", ":\r\n\t").replace("  ", " ");
    assert_eq!(encoded(&parse(&bare)), bytes);
}

#[test]
fn floats_keep_their_bits() {
    for bits in [
        0_u32,
        0x8000_0000,
        1,
        0x3f80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_0001,
        0x7f80_0001,
        0x3dcc_cccd,
        0x0000_0100,
    ] {
        let bytes = fat(&[&[0x22][..], &bits.to_le_bytes()].concat());
        let text = MethodBody::decode(&bytes).unwrap().to_string();
        assert_eq!(encoded(&parse(&text)), bytes, "{text}");
    }
    for bits in [
        0_u64,
        1,
        1 << 63,
        0x7ff0_0000_0000_0001,
        0xfff8_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
    ] {
        let bytes = fat(&[&[0x23][..], &bits.to_le_bytes()].concat());
        let text = MethodBody::decode(&bytes).unwrap().to_string();
        assert_eq!(encoded(&parse(&text)), bytes, "{text}");
    }
    let value = |text: &str| match parse(text).instructions().next().unwrap().operand() {
        Operand::Float64(value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(value("ldc.r8 1"), 1.0);
    assert_eq!(value("ldc.r8 -2.5e-3 // small"), -0.0025);
    assert_eq!(value("ldc.r8 1E+2"), 100.0);
    assert_eq!(value("ldc.r8 -inf"), f64::NEG_INFINITY);
    assert!(value("ldc.r8 NaN").is_nan());
}

#[test]
fn every_handler_there_and_back() {
    let fragment = handlers();
    let text = fragment.to_string();
    assert_eq!(text.matches(".try ").count(), 5, "{text}");
    assert!(text.contains("\nIL_0018:\n.try"), "{text}");
    assert_eq!(text.parse().as_ref(), Ok(&fragment), "{text}");
    // As bytes, with tokens instead of symbols.
    let text = text
        .replace("[A]First", "0x01000001")
        .replace("class [A]Second`1<int>", "0x1b000002")
        .replace(" finally ", " finally 0x00000007 ")
        .replace("IL_0018:", "IL_0018:  ret");
    let body = parse(&text);
    let bytes = encoded(&body);
    let decoded = MethodBody::decode(&bytes).unwrap();
    assert_eq!(decoded.clauses().count(), 5);
    assert_eq!(decoded.to_string(), body.to_string());
    assert_eq!(decoded.to_string(), format!(".maxstack 8\n{text}"));
    assert_eq!(encoded(&parse(&decoded.to_string())), bytes);
    // A handler at the end of the code.
    let text = "\
.maxstack 0
IL_0000:  br.s       IL_0000
IL_0002:  endfinally
IL_0003:
.try IL_0000 to IL_0002 fault handler IL_0002 to IL_0003
";
    let bytes = encoded(&parse(text));
    assert_eq!(MethodBody::decode(&bytes).unwrap().to_string(), text);
}

#[test]
fn everything_symbolic_there_and_back() {
    let method =
        MethodSymbol::parse("instance !!0 class [A]B`1<int>::'<C>'<string>(!0, !!0[])").unwrap();
    let field = FieldSymbol::new("[A]B/<>c", "<>9", "class [A]B/'<>c'");
    let mut native = MethodSig::new(TypeSig::Void, vec![TypeSig::ByRef(Box::new(TypeSig::I4))]);
    native.convention = CallingConvention::C;
    let token = Token::new(0x2b00_0001);
    let mut fragment = Fragment::new();
    let (start, outside, end) = (fragment.label(), fragment.label(), fragment.label());
    fragment
        .mark(start)
        .ldarg(2)
        .stloc(1)
        .ldstr("\"two\"\nlines\t\\ 'é' \u{7f}\u{0}")
        .call(&method)
        .callvirt(MethodDef::from_row(3).unwrap())
        .newobj(MethodSymbol::new("A", ".ctor", "instance void ()"))
        .ldftn(&method)
        .calli(native)
        .ldfld(&field)
        .stsfld(&field)
        .ldtoken(&field)
        .ldtoken(&method)
        .ldtoken(TypeSymbol::new("[A]B"))
        .ldtoken(TypeSymbol::new("class [A]B`1<!0>[,]&"))
        .ldtoken(token)
        .box_("!!0")
        .newarr("int")
        .constrained("[A]B")
        .callvirt(&method)
        .constrained("native int[]")
        .tail()
        .callvirt(&method)
        .initobj("0x01000002")
        .sizeof("class")
        .brtrue(start)
        .br(outside)
        .switch(&[start, end, outside])
        .switch(&[])
        .br(end)
        .mark(end)
        .volatile();
    let text = fragment.to_string();
    let parsed: Fragment = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parsed, fragment, "{text}");
    assert_eq!(parsed.to_string(), text);
    assert_eq!(parsed.stack_need(), fragment.stack_need());
    assert_eq!(parsed.stack_change(), fragment.stack_change());
    // The comparison detects a difference.
    let other: Fragment = text
        .replace("[A]B/'<>c'::'<>9'", "[A]B/'<>c'::'<>8'")
        .parse()
        .unwrap();
    assert_ne!(other, fragment);
}

#[test]
fn headers_there_and_back() {
    let header = |text: &str| parse(&format!("{text}\nret")).to_string();
    assert_eq!(header(""), ".maxstack 8\nIL_0000:  ret\n");
    for text in [
        ".maxstack 0\n",
        ".maxstack 65535\n.locals init\n",
        ".maxstack 1\n.locals init\n.locals 0x11000001\n",
        ".maxstack 1\n.locals 0x11000001\n.local [0] int\n.local [1] class 0x01000002& pinned\n",
        ".maxstack 1\n.local [0] valuetype 0x1b000002\n",
    ] {
        assert_eq!(header(text), format!("{text}IL_0000:  ret\n"));
    }
    assert_eq!(
        header(".locals init (\n  [0] int32 count, // of all\n  [1] string 'the name'\n)"),
        ".maxstack 8\n.locals init\n.local [0] int\n.local [1] string\nIL_0000:  ret\n"
    );
    // The token is kept as long as the locals are unchanged.
    let mut body = parse(".locals 0x11000001 (int)\nret");
    assert_eq!(&encoded(&body)[8..12], [1, 0, 0, 0x11]);
    assert_eq!(body.locals().unwrap().locals, [TypeSig::I4]);
    assert_eq!(body.add_local(TypeSig::String), Ok(1));
    assert_eq!(parse(&body.to_string()).locals_token(), None);
    assert_eq!(parse("ret").locals(), Some(&LocalsSig::default()));
    assert_eq!(parse(".locals 0x11000001\nret").locals(), None);
}

#[test]
fn people_write_it_their_way() {
    let text = "
        // Sums up the numbers below n.
        .maxstack 2
        again: brzero.s done   // `brfalse`
               ldarg 0
               ldarg.s 0
               ldarg 4
               ldarg 256
        back:  forth:
               volatile.
               ldind.u8
               bne.un again
               ldc.i4 0xffffffff
               ldc.i4.s -0x80
               ldc.i8 0xffffffffffffffff
               brnull forth
        done:  ret";
    assert_eq!(
        code(text),
        [
            0x2c, 31, 0x02, 0x02, 0x0e, 4, 0xfe, 0x09, 0, 1, 0xfe, 0x13, 0x4c, 0x33, 0xf1, 0x20,
            0xff, 0xff, 0xff, 0xff, 0x1f, 0x80, 0x21, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0x2c, 0xe9, 0x2a
        ]
    );
    assert_eq!(code("here: br here"), [0x2b, 0xfe]);
    assert_eq!(
        code("switch (\n  a, // first\n  a)\na: ret"),
        [0x45, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2a]
    );
}

#[test]
fn labels_go_with_code_that_is_inserted() {
    for text in ["here: br here", "here: there: nop\nbr here\nbr there"] {
        let mut body = parse(text);
        let first = body.first().unwrap();
        let mut nothing = Fragment::new();
        nothing.ldnull().pop();
        body.insert_before(first, Labels::Move, &nothing).unwrap();
        let targets = body.instructions().flat_map(|one| one.targets());
        let first = body.first().map(Position::Before);
        assert!(
            targets
                .map(|label| body.position(label))
                .all(|at| at == first),
            "{body}"
        );
    }
}

#[test]
fn exits_are_given_by_name() {
    let text = "ldarg.0\nbrtrue out\nbr other\nbr out";
    let (fragment, [other, out]) =
        Fragment::parse_with_exits(text, &mut TokenNames, ["other", "out"]).unwrap();
    let targets: Vec<_> = fragment
        .instructions()
        .flat_map(|one| one.targets())
        .collect();
    assert_eq!(targets, [out, other, out]);
    let numbered: Fragment = fragment.to_string().parse().unwrap();
    assert_eq!(numbered, fragment);
    let defined = Fragment::parse_with_exits("out: ret", &mut TokenNames, ["out"]).unwrap_err();
    assert_eq!(*defined.kind(), TextErrorKind::RepeatedLabel("out".into()));
    let bound = Fragment::parse_with_exits(
        "a: ret\n.try a to out finally handler a to a",
        &mut TokenNames,
        ["out"],
    );
    assert_eq!(bound.unwrap_err().offset(), 17);
}

#[test]
fn errors_say_where_and_what() {
    for (text, line, column, message) in [
        ("nop\n  nip", 2, 3, "no instruction is named `nip`"),
        ("nop ret", 1, 5, "expected the end of the line, found `ret`"),
        ("br\nIL_0000: ret", 1, 3, "expected a label, found the end"),
        (
            "ret\nbr nowhere\nbr there",
            2,
            4,
            "the label `nowhere` is not defined",
        ),
        ("a: ret\na: ret", 2, 1, "the label `a` is defined twice"),
        (
            "ldc.i4.s 128",
            1,
            10,
            "expected a number of 8 bits, found `128`",
        ),
        ("ldc.i4 4294967296", 1, 8, "expected a number of 32 bits"),
        (
            "ldc.i8 18446744073709551616",
            1,
            8,
            "expected a number of 64 bits",
        ),
        (
            "ldc.r8 one",
            1,
            8,
            "expected a floating-point number, found `one`",
        ),
        ("ldarg 65536", 1, 7, "expected the number of a variable"),
        ("switch (a", 1, 10, "expected `,` or `)` after a label"),
        (
            "volatile. volatile. ldind.i",
            1,
            11,
            "the prefix `volatile.` is repeated",
        ),
        (
            "ret\nvolatile.",
            2,
            10,
            "expected an instruction after a prefix",
        ),
        ("call 0x123456789", 1, 6, "expected a token"),
        ("call Console.WriteLine", 1, 6, "expected a type"),
        (
            "call void Console.WriteLine()",
            1,
            28,
            "expected `::` between a type and its member",
        ),
        (
            "ldtoken A::B",
            1,
            10,
            "expected a type, method or field, found `::B`",
        ),
        ("ldtoken void A::B(", 1, 19, "expected a type: a primitive"),
        ("ldtoken int A::", 1, 16, "expected the name of a"),
        (
            "ldstr hello",
            1,
            7,
            "expected a string in quotes, found `hello`",
        ),
        ("ldstr \"a\n", 1, 8, "expected a string that ends in `\"`"),
        ("ldstr \"a\\q\"", 1, 9, "expected an escape as in Rust"),
        ("ldstr \"\\u{d800}\"", 1, 8, "expected an escape as in Rust"),
        (
            ".maxstack 65536",
            1,
            11,
            "expected a depth of at most 65535",
        ),
        (
            ".locals",
            1,
            8,
            "expected `init`, a token or the types of locals",
        ),
        (
            ".local [1] int",
            1,
            8,
            "expected the number of the local, counted from 0",
        ),
        (
            ".local [0] class Foo",
            1,
            18,
            "there is no token for the type `Foo`",
        ),
        (
            ".try a to b",
            1,
            12,
            "expected `catch`, `filter`, `finally` or `fault`",
        ),
        (".try a b", 1, 8, "expected `to` between two labels"),
        (
            "a: ret\n.try a to b finally handler a to a",
            2,
            11,
            "the label `b` is not defined",
        ),
        ("br label 0", 1, 10, "expected the end of the line"),
        (": ret", 1, 1, "expected an instruction, found `: ret`"),
        (
            "\u{e9}\u{e9}: \u{e9} nop",
            1,
            5,
            "no instruction is named `é`",
        ),
    ] {
        let error: TextError = text.parse::<MethodBody>().unwrap_err();
        assert_eq!(
            (error.line(), error.column()),
            (line, column),
            "{text:?}: {error}"
        );
        assert!(
            error.kind().to_string().starts_with(message),
            "{text:?}: {error}"
        );
    }
    assert!("ret\n.maxstack 8".parse::<Fragment>().is_err());
}
