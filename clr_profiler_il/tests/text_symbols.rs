//! Symbols as text: parsing and printing the form of `ildasm`.

use clr_profiler_il::signature::{TokenNames, TypeKeyword, TypeSig};
use clr_profiler_il::symbol::{CallShape, FieldSymbol, MethodSymbol, TypeSymbol};
use clr_profiler_il::token::{TypeRef, TypeToken};
use proptest::collection::vec;
use proptest::prelude::*;

fn any_type(_: &str, _: TypeKeyword) -> Option<TypeToken> {
    Some(TypeRef::NIL.into())
}

#[test]
fn methods_there_and_back() {
    for (text, owner, name, signature, arguments) in [
        (
            "void [System.Console]System.Console::WriteLine(string)",
            "[System.Console]System.Console",
            "WriteLine",
            "void (string)",
            &[][..],
        ),
        (
            "instance void class [X]L`1<int>::.ctor(class [Y]E`1<!0>)",
            "class [X]L`1<int>",
            ".ctor",
            "instance void (class [Y]E`1<!0>)",
            &[],
        ),
        (
            "!!0 [A]B::Get<string, int[]>(!!1)",
            "[A]B",
            "Get",
            "!!0 (!!1)",
            &["string", "int[]"],
        ),
        ("!!0 B::Get<[1]>()", "B", "Get", "!!0 <[1]>()", &[]),
        (
            "int32[0...,] '<M>$'/'<>c'::'<Main>$'(int32&)",
            "<M>$/<>c",
            "<Main>$",
            "int32[0...,] (int32&)",
            &[],
        ),
        (
            "vararg int A::B(..., int)",
            "A",
            "B",
            "vararg int (..., int)",
            &[],
        ),
        (
            "method void *(int) int[]::System.'I<T>'.Get()",
            "int[]",
            "System.I<T>.Get",
            "method void *(int) ()",
            &[],
        ),
        ("void !0::'a::b'()", "!0", "a::b", "void ()", &[]),
    ] {
        let parsed = MethodSymbol::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut expected = MethodSymbol::new(owner, name, signature);
        expected.type_arguments = arguments.iter().map(|&one| one.into()).collect();
        assert_eq!(parsed, expected, "{text}");
        assert_eq!(parsed.to_string(), text);
        assert_eq!(text.parse().as_ref(), Ok(&parsed));
        assert_eq!(parsed.check(), Ok(()));
    }
}

#[test]
fn a_text_is_tidied() {
    let text = "instance // how\n void\tclass A<int ,\r\n int>::B < class 'x  //y' > ( int )// end";
    let parsed = MethodSymbol::parse(text).unwrap();
    assert_eq!(&*parsed.signature, "instance void ( int )");
    assert_eq!(&*parsed.owner.name, "class A<int , int>");
    assert_eq!(parsed.type_arguments, ["class 'x  //y'".into()]);
    let printed = parsed.to_string();
    assert_eq!(printed.parse().as_ref(), Ok(&parsed), "{printed}");
}

#[test]
fn what_cannot_be_read_is_found() {
    for (signature, offset) in [
        ("void", 4),
        ("void (string", 12),
        ("void (Uri)", 6),
        ("", 0),
    ] {
        let error = MethodSymbol::new("A", "B", signature).check().unwrap_err();
        assert_eq!(error.offset(), offset, "{signature}: {error}");
    }
    let mut generic = MethodSymbol::new("A", "B", "void ()");
    generic.type_arguments = vec!["Uri".into()];
    assert!(generic.check().is_err());
    for (text, offset) in [
        ("void A.B()", 8),
        ("void A::()", 8),
        ("void A::B", 9),
        ("void A::B<int()", 13),
        ("void A::B() x", 12),
        ("void A::B<>()", 10),
        ("A::B()", 0),
        ("void ::B()", 5),
        ("void class A<::B()", 13),
    ] {
        let error = MethodSymbol::parse(text).unwrap_err();
        assert_eq!(error.offset(), offset, "{text}: {error}");
    }
    assert_eq!(FieldSymbol::parse("int A::b()").unwrap_err().offset(), 8);
    assert_eq!(TypeSymbol::parse("int[").unwrap_err().offset(), 3);
    assert_eq!(TypeSymbol::parse("A B").unwrap_err().offset(), 2);
}

#[test]
fn signatures_of_symbols() {
    let first = MethodSymbol::parse("!!0 [A]B::First<int>(class C&)").unwrap();
    let sig = first.sig(&mut any_type).unwrap();
    assert_eq!(sig.generic_parameter_count, 1);
    assert_eq!(sig.return_type, TypeSig::MVar(0));
    assert_eq!(first.argument_sigs(&mut any_type), Ok(vec![TypeSig::I4]));
    let open = MethodSymbol::parse("!!0 [A]B::First<[1]>()").unwrap();
    assert_eq!(open.sig(&mut any_type).unwrap().generic_parameter_count, 1);
    assert_eq!(
        MethodSymbol::new("A", "B", "vararg int (int, ..., int)").shape(),
        CallShape {
            has_this: false,
            params: 2,
            returns: true
        }
    );
    let field = FieldSymbol::new("A", "B", "class 0x01000002");
    let expected = TypeSig::Class(TypeRef::from_row(2).unwrap().into());
    assert_eq!(field.sig(&mut TokenNames).unwrap().field_type, expected);
    let list = TypeSymbol::new("int[]");
    assert!(list.is_specification());
    let expected = TypeSig::SzArray(Box::new(TypeSig::I4));
    assert_eq!(
        list.specification(&mut TokenNames).unwrap().type_sig,
        expected
    );
}

fn names() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "int",
        "class",
        "[A]",
        "A",
        "/",
        ".",
        "'",
        "<",
        ">",
        "`1",
        " ",
        "0x01000001",
        "::",
        "(",
        ")",
        "native",
        "native int",
        "//",
        "\\",
        "\n",
        "!0",
        "[",
        "]",
        "pinned",
        "é",
        "-",
        "&",
        "method",
    ]);
    let pieces = vec(pieces, 0..6).prop_map(|pieces| pieces.concat());
    prop_oneof![pieces, any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_names_there_and_back(owner in names(), name in names()) {
        let owner = TypeSymbol::new(&owner);
        let printed = owner.to_string();
        let parsed = TypeSymbol::parse(&printed);
        prop_assert!(parsed.is_ok(), "{:?} {:?}", owner, parsed);
        let owner = if owner.is_specification() { parsed.unwrap() } else { owner };
        prop_assert_eq!(TypeSymbol::parse(&printed), Ok(owner.clone()), "{}", printed);
        let method = MethodSymbol::new(&owner.name, &name, "void (int)");
        let printed = method.to_string();
        prop_assert_eq!(MethodSymbol::parse(&printed), Ok(method), "{}", printed);
        let field = FieldSymbol::new(&owner.name, &name, "int*");
        let printed = field.to_string();
        prop_assert_eq!(FieldSymbol::parse(&printed), Ok(field), "{}", printed);
    }

    #[test]
    fn any_text_is_read_or_refused(text in names(), other in names()) {
        for text in [text.clone(), format!("void {text}::{other}(int)"), format!("{text} A::B{other}")] {
            if let Ok(method) = MethodSymbol::parse(&text) {
                prop_assert_eq!(method.check(), Ok(()));
                prop_assert_eq!(MethodSymbol::parse(&method.to_string()), Ok(method));
            }
            if let Ok(field) = FieldSymbol::parse(&text) {
                prop_assert_eq!(FieldSymbol::parse(&field.to_string()), Ok(field));
            }
            let _ = MethodSymbol::new("A", "B", &text).to_string();
        }
    }
}
