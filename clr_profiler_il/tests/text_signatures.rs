//! Signatures as text: printed text is read back, malformed text is refused at its position.

mod generate;

use std::fmt;

use clr_profiler_il::signature::{
    ArrayShape, CallingConvention, FieldSig, LocalsSig, MAX_DEPTH, MemberRefSig, MethodSig,
    MethodSpecSig, PropertySig, StandAloneSig, TokenNames, TypeKeyword, TypeNames, TypeSig,
    TypeSpecSig,
};
use clr_profiler_il::text::{TextError, TextErrorKind};
use clr_profiler_il::token::{TypeRef, TypeToken};
use generate::{methods, types};
use proptest::collection::vec;
use proptest::prelude::*;

/// A type by its index in a list of names, and the list by names.
#[derive(Default)]
struct Table(Vec<(String, TypeKeyword)>);

impl Table {
    fn tokens(&mut self) -> impl FnMut(&str, TypeKeyword) -> Option<TypeToken> {
        |name: &str, kind| {
            let known = self.0.iter().position(|(known, _)| known == name);
            let index = known.unwrap_or_else(|| {
                self.0.push((name.to_owned(), kind));
                self.0.len() - 1
            });
            TypeRef::from_row(u32::try_from(index).unwrap() + 1).map(Into::into)
        }
    }
}

impl TypeNames for Table {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&self.0[token.row() as usize - 1].0)
    }
}

fn row(row: u32) -> TypeToken {
    TypeRef::from_row(row).unwrap().into()
}

fn parse_type(text: &str) -> Result<TypeSig, TextError> {
    TypeSig::parse_text(text, &mut Table::default().tokens())
}

#[test]
fn what_is_printed_is_read_back() {
    for text in [
        "void ()",
        "instance void (string, class [System.Runtime]System.Exception&)",
        "!!0 <[1]>(class [X]System.Collections.Generic.List`1<!0>, int[,], nint, valuetype [X]Y*, int[])",
        "instance explicit class A (class A, valuetype A)",
        "vararg void (string, ..., int)",
        "vararg void (..., int, int)",
        "unmanaged[Cdecl] void (void*)",
        "unmanaged[Stdcall] void ()",
        "unmanaged[Thiscall] void ()",
        "unmanaged[Fastcall] void ()",
        "unmanaged void ()",
        "unmanaged vararg void (..., int)",
        "int& modreq(System.Runtime.InteropServices.InAttribute) (int modopt(A)*)",
        "delegate*<void> (delegate* unmanaged[Cdecl]<int, void>, delegate* instance<[2]><!!1, int>[])",
        "int[4] (int[1...4], int[1...], int[*], int[-2...-1,0...5,3], int[,], int[0...-1], int[0...4 rank 33], int[rank 40])",
        "class [My-Lib+2]A.B`2/C`1/'<>c'<int, class D<string>, !0> ()",
        "class ['1']A (class ['a b']A, class 'class', class 'a b'.'\\'', class A/''/B, class ''[], class [A.B]'[', class .cctor)",
        "typedref (bool, char, sbyte, byte, short, ushort, uint, long, ulong, float, double, object, nuint)",
        "void (string pinned, int& pinned)",
    ] {
        let mut table = Table::default();
        let signature = MethodSig::parse_text(text, &mut table.tokens());
        let signature = signature.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(signature.text(&table).to_string(), text);
        let blob = signature.to_bytes().unwrap();
        assert_eq!(MethodSig::parse(&blob), Ok(signature));
    }
}

#[test]
fn names_and_kinds_are_those_of_the_text() {
    let mut table = Table::default();
    let text = "class [A]N.L`1/'<x>'<valuetype Y modopt(class Z)> modreq(W)";
    let parsed = TypeSpecSig::parse_text(text, &mut table.tokens()).unwrap();
    let expected = [
        ("[A]N.L`1/<x>", TypeKeyword::Class),
        ("Y", TypeKeyword::ValueType),
        ("Z", TypeKeyword::Modifier),
        ("W", TypeKeyword::Modifier),
    ];
    assert_eq!(
        table.0,
        expected.map(|(name, kind)| (name.to_owned(), kind))
    );
    let inner = TypeSig::GenericInstance {
        is_value_type: false,
        definition: row(1),
        arguments: vec![TypeSig::Modified {
            required: false,
            modifier: row(3),
            inner: Box::new(TypeSig::ValueType(row(2))),
        }],
    };
    let modified = TypeSig::Modified {
        required: true,
        modifier: row(4),
        inner: Box::new(inner),
    };
    assert_eq!(parsed.type_sig, modified);
}

#[test]
fn the_assembler_has_names_of_its_own() {
    for (text, same) in [
        ("int8", "sbyte"),
        ("uint8", "byte"),
        ("unsigned int8", "byte"),
        ("int16", "short"),
        ("unsigned int16", "ushort"),
        ("int32", "int"),
        ("unsigned int32", "uint"),
        ("int64", "long"),
        ("unsigned int64", "ulong"),
        ("float32", "float"),
        ("float64", "double"),
        ("native int", "nint"),
        ("native uint", "nuint"),
        ("native unsigned int", "nuint"),
        ("int32[ , ] // a comment", "int[,]"),
        ("int32[...,...]", "int[,]"),
        ("method void *(int32)", "delegate*<int, void>"),
        ("method void** (int32)", "delegate*<int, void*>"),
        (
            "method unmanaged cdecl !!0 <[1]>*(method int32 *())&",
            "delegate* unmanaged[Cdecl]<[1]><delegate*<int>, !!0>&",
        ),
        (
            "method default vararg void*(int32, ..., int32)",
            "delegate* vararg<int, ..., int, void>",
        ),
    ] {
        let parsed = parse_type(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.text(&TokenNames).to_string(), same, "{text}");
    }
}

#[test]
fn bounds_are_kept_exactly() {
    let shapes: &[(&str, u32, &[u32], &[i32])] = &[
        ("int[*]", 1, &[], &[]),
        ("int[5]", 1, &[5], &[]),
        ("int[0...4]", 1, &[5], &[0]),
        ("int[0...]", 1, &[], &[0]),
        ("int[0...,0...]", 2, &[], &[0, 0]),
        ("int[3,-1...]", 2, &[], &[]),
        ("int[0...5,]", 2, &[6], &[0]),
        ("int[2...3,7,]", 3, &[2, 7], &[2]),
    ];
    for &(text, rank, sizes, lower_bounds) in shapes {
        let expected = TypeSig::Array {
            element: Box::new(TypeSig::I4),
            shape: Box::new(ArrayShape {
                rank,
                sizes: sizes.to_vec(),
                lower_bounds: lower_bounds.to_vec(),
            }),
        };
        if text == "int[3,-1...]" {
            // The first dimension has no lower bound, so the second cannot have one.
            assert_eq!(parse_type(text).unwrap_err().offset(), 6);
            continue;
        }
        assert_eq!(parse_type(text).as_ref(), Ok(&expected), "{text}");
        assert_eq!(expected.text(&TokenNames).to_string(), text);
    }
}

#[test]
fn fields_properties_locals_and_specifications() {
    let mut table = Table::default();
    let field = FieldSig::parse_text("class A", &mut table.tokens()).unwrap();
    assert_eq!(field.field_type, TypeSig::Class(row(1)));
    for text in [
        "int",
        "instance int",
        "instance string [class A, int]",
        "int[] [int[]]",
    ] {
        let property = PropertySig::parse_text(text, &mut table.tokens()).unwrap();
        assert_eq!(property.text(&table).to_string(), text);
    }
    let called = PropertySig::parse_text("int (int)", &mut table.tokens()).unwrap();
    assert_eq!(called.params, [TypeSig::I4]);
    for text in ["()", "([0] int, [1] class A&, [2] valuetype B pinned)"] {
        let locals = LocalsSig::parse_text(text, &mut table.tokens()).unwrap();
        assert_eq!(locals.text(&table).to_string(), text);
    }
    let bare = LocalsSig::parse_text("(int, string)", &mut table.tokens()).unwrap();
    assert_eq!(bare.locals, [TypeSig::I4, TypeSig::String]);
    let spec = MethodSpecSig::parse_text("<int, !0>", &mut table.tokens()).unwrap();
    assert_eq!(spec.text(&table).to_string(), "<int, !0>");
}

#[test]
fn errors_say_where_and_what() {
    const TYPE: &str = "expected a type: a primitive, or `class` or `valuetype` and a name, found";
    let table: &[(&str, usize, &str)] = &[
        ("", 0, TYPE),
        ("void", 4, "expected a list of parameters, found the end"),
        ("void (", 6, TYPE),
        (
            "void (int",
            9,
            "expected `,` or the end of the list, found the end",
        ),
        ("void (int,)", 10, TYPE),
        ("void () x", 8, "expected the end, found `x`"),
        ("void (Foo)", 6, TYPE),
        (
            "void (class )",
            12,
            "expected the name of a type, found `)`",
        ),
        ("void (class 'A)", 12, "expected a name that ends in `'`"),
        (
            "void (class [A)",
            15,
            "expected `]` after the name of an assembly",
        ),
        ("void (..., int)", 6, TYPE),
        (
            "vararg void (int, ...)",
            21,
            "expected `,` and a further argument",
        ),
        ("vararg void (..., ..., int)", 18, TYPE),
        (
            "void <[0]>()",
            7,
            "expected the number of generic parameters, at least 1",
        ),
        ("void (!)", 7, "expected the number of a generic parameter"),
        (
            "void (!536870912)",
            7,
            "expected the number of a generic parameter",
        ),
        ("void (class A<>)", 14, TYPE),
        ("unmanaged[X] void ()", 10, "expected `Cdecl`"),
        (
            "void (int[5 rank 0])",
            17,
            "expected as many dimensions as have bounds",
        ),
        ("void (int[1...0,2...0])", 16, "expected a bound"),
        ("void (int[536870912])", 10, "expected a bound"),
        ("void (int modreq)", 16, "expected `(` and a modifier"),
        (
            "void (native float)",
            6,
            "expected `native int` or `native uint`",
        ),
        ("void (delegate*<..., int>)", 16, TYPE),
        (
            "void (delegate* vararg<int, ..., void>)",
            38,
            "expected parameters and a return type",
        ),
    ];
    for &(text, offset, message) in table {
        let error = MethodSig::parse_text(text, &mut Table::default().tokens()).unwrap_err();
        assert_eq!(error.offset(), offset, "{text}: {error}");
        assert_eq!(error.column(), offset + 1, "{text}");
        assert!(
            error.kind().to_string().starts_with(message),
            "{text}: {error}"
        );
    }
    let error = MethodSig::parse_text("void (\n  class Foo)", &mut TokenNames).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 9: there is no token for the type `Foo`"
    );
}

#[test]
fn the_deepest_types_that_a_blob_can_hold_are_read_and_none_deeper() {
    type Nest = (&'static str, &'static str, &'static str);
    let shapes: &[Nest] = &[
        ("", "int", "[]"),
        ("", "int", "*"),
        ("", "int", "[,]"),
        ("", "int", " modreq(A)"),
        ("class A<", "int", ">"),
        ("delegate*<", "int", ">"),
        ("method ", "int", " *()"),
        ("method void *(", "int", ")"),
    ];
    let nested = |(before, inner, after): Nest, times: usize| {
        format!("{}{inner}{}", before.repeat(times), after.repeat(times))
    };
    for &shape in shapes {
        let deepest = parse_type(&nested(shape, MAX_DEPTH - 1)).unwrap();
        let blob = TypeSpecSig { type_sig: deepest }.to_bytes().unwrap();
        assert!(TypeSpecSig::parse(&blob).is_ok());
        for times in [MAX_DEPTH, 10_000, 100_000] {
            let error = parse_type(&nested(shape, times)).unwrap_err();
            assert_eq!(
                *error.kind(),
                TextErrorKind::TooDeep(MAX_DEPTH),
                "{shape:?} {times}"
            );
        }
        // Only the start of a type.
        assert!(parse_type(&shape.0.repeat(100_000)).is_err());
    }
    let both = format!("{}int{}", "class A<".repeat(64), ">[]".repeat(64));
    assert_eq!(
        *parse_type(&both).unwrap_err().kind(),
        TextErrorKind::TooDeep(MAX_DEPTH)
    );
}

#[test]
fn the_fastest_way_to_say_much_takes_no_stack() {
    let list = format!("void ({}int)", "int, ".repeat(100_000));
    let method = MethodSig::parse_text(&list, &mut TokenNames).unwrap();
    assert_eq!(method.params.len(), 100_001);
    let quotes = format!("class {}", "'a'".repeat(100_000));
    assert!(parse_type(&quotes).is_ok());
    let comments = format!("{}int", "//\n".repeat(100_000));
    assert_eq!(parse_type(&comments), Ok(TypeSig::I4));
}

/// Any signature with a blob has a text.
macro_rules! round_trip {
    ($value:expr, $kind:ty) => {{
        let value: $kind = $value;
        if value.to_bytes().is_ok() {
            let text = value.text(&TokenNames).to_string();
            let parsed = <$kind>::parse_text(&text, &mut TokenNames);
            prop_assert_eq!(parsed.as_ref(), Ok(&value), "{}", text);
        }
    }};
}

/// Text composed of parts of signatures.
fn likely_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "int",
        "void",
        " ",
        "class ",
        "valuetype ",
        "A",
        "[A]",
        "/",
        "'",
        "''",
        "`1",
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        ",",
        "...",
        "*",
        "&",
        "!",
        "!!",
        "0",
        "1",
        "-",
        "pinned",
        " modreq(",
        " modopt(",
        "method ",
        "delegate*",
        "instance ",
        "explicit ",
        "vararg ",
        "unmanaged",
        "[Cdecl]",
        "<[1]>",
        "native ",
        "unsigned ",
        "rank",
        "::",
        "//",
        "\n",
        "é",
        "\\",
    ]);
    vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

fn read_as_everything(text: &str) {
    macro_rules! check {
        ($($kind:ident)*) => {$(
            let mut table = Table::default();
            let parsed = $kind::parse_text(text, &mut table.tokens());
            match parsed {
                Ok(value) => {
                    let printed = value.text(&table).to_string();
                    let again = $kind::parse_text(&printed, &mut table.tokens());
                    assert_eq!(again.as_ref(), Ok(&value), "{text:?} {printed:?}");
                    assert!(value.to_bytes().is_ok(), "{text:?}");
                }
                Err(error) => assert!(error.offset() <= text.len()),
            }
        )*};
    }
    check! {
        MethodSig FieldSig PropertySig LocalsSig TypeSpecSig MethodSpecSig MemberRefSig StandAloneSig
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn generated_signatures_round_trip(method in methods(), list in vec(types(), 1..5), has_this in any::<bool>()) {
        let type_sig = method.return_type.clone();
        round_trip!(method.clone(), MethodSig);
        round_trip!(MemberRefSig::Method(method.clone()), MemberRefSig);
        round_trip!(StandAloneSig::Method(method), StandAloneSig);
        round_trip!(StandAloneSig::Locals(LocalsSig { locals: list.clone() }), StandAloneSig);
        round_trip!(FieldSig { field_type: type_sig.clone() }, FieldSig);
        round_trip!(MemberRefSig::Field(FieldSig { field_type: type_sig.clone() }), MemberRefSig);
        round_trip!(TypeSpecSig { type_sig: type_sig.clone() }, TypeSpecSig);
        round_trip!(LocalsSig { locals: list.clone() }, LocalsSig);
        round_trip!(MethodSpecSig { arguments: list.clone() }, MethodSpecSig);
        round_trip!(PropertySig { has_this, property_type: type_sig, params: list }, PropertySig);
    }

    #[test]
    fn any_name_round_trips(name in any::<String>(), plain in "[]\\[./'<>a`1 -]{0,8}") {
        for name in [name, plain] {
            let table = Table(vec![(name.clone(), TypeKeyword::Class)]);
            let text = TypeSig::Class(row(1)).text(&table).to_string();
            let mut found = Table::default();
            prop_assert_eq!(TypeSig::parse_text(&text, &mut found.tokens()), Ok(TypeSig::Class(row(1))), "{}", text);
            prop_assert_eq!(&found.0[0].0, &name, "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_as_everything(&text);
    }

    #[test]
    fn likely_text_is_read_or_refused(text in likely_text()) {
        read_as_everything(&text);
    }

    #[test]
    fn damaged_text_is_read_or_refused(method in methods(), at in any::<prop::sample::Index>(), piece in likely_text()) {
        let text = method.text(&TokenNames).to_string();
        let at = at.index(text.len());
        read_as_everything(&text[..at]);
        read_as_everything(&text[at..]);
        read_as_everything(&format!("{}{piece}{}", &text[..at], &text[at..]));
    }
}

#[test]
fn conventions_without_a_word_of_their_own_stay() {
    let mut method = MethodSig::new(TypeSig::Void, Vec::new());
    method.convention = CallingConvention::Unmanaged;
    let text = method.text(&TokenNames).to_string();
    assert_eq!(MethodSig::parse_text(&text, &mut TokenNames), Ok(method));
}
