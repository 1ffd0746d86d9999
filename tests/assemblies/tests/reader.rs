//! The reader on a committed assembly, intact and broken.

use assembly_reader::{Assembly, Bundle, ErrorKind, Framework, TypeKind};
use clr_profiler_il::body::{MethodBody, encoded_length};
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::{self, Reference, Resolver};
use clr_profiler_il::token::{Token, TokenTable, TypeToken};
use clr_profiler_il::verify::MethodContext;

const BEHAVIOURS: &[u8] = include_bytes!("../../profilees/Behaviours.dll");
const BASICS: &[u8] = include_bytes!("../../profilees/Basics.dll");
/// A small assembly, to be broken in many ways.
const HOOK: &[u8] = include_bytes!("../../profilees/StartupHook.dll");

#[test]
fn methods_have_names_bodies_and_signatures() {
    let assembly = Assembly::open(BASICS).unwrap();
    let methods: Vec<_> = assembly.methods().map(Result::unwrap).collect();
    assert_eq!(
        methods.len(),
        assembly.rows(TokenTable::METHOD_DEF) as usize
    );
    let main = methods.iter().find(|method| method.name == "Main").unwrap();
    let signature = assembly.method_signature(main.token).unwrap();
    assert_eq!(signature.to_bytes().unwrap(), main.signature);
    assert_eq!(signature.return_type, TypeSig::I4);
    assert_eq!(
        signature.params,
        [TypeSig::SzArray(Box::new(TypeSig::String))]
    );
    let body = main.body.unwrap();
    assert_eq!(encoded_length(body), Ok(body.len()));
    assert_eq!(body.last(), Some(&0x2a), "Main ends with ret");
}

#[test]
fn types_have_names_and_kinds() {
    let assembly = Assembly::open(BASICS).unwrap();
    let mut types = (1..=assembly.rows(TokenTable::TYPE_DEF))
        .map(|row| Token::from_row(TokenTable::TYPE_DEF, row).unwrap());
    let program = types
        .find(|token| assembly.type_name(*token) == Ok(("Basics".into(), "Program".into())))
        .unwrap();
    assert_eq!(assembly.type_kind(program), Ok(TypeKind::Class));
    let reference = Token::new(0x0100_0001);
    assert_eq!(assembly.type_kind(reference), Ok(TypeKind::Elsewhere));
}

#[test]
fn methods_have_flags_and_belong_to_types() {
    let assembly = Assembly::open(BASICS).unwrap();
    let methods: Vec<_> = assembly.methods().map(Result::unwrap).collect();
    for method in &methods {
        assert_eq!(assembly.member_name(method.token), Ok(method.name.clone()));
        let flags = assembly.method_flags(method.token).unwrap();
        assert_eq!(flags.rva, method.rva);
        // Instance methods are those without `static`.
        let signature = assembly.method_signature(method.token).unwrap();
        assert_eq!(signature.has_this, !flags.attributes.is_static());
    }
    let main = methods.iter().find(|method| method.name == "Main").unwrap();
    let owners: Vec<_> = assembly.first_methods().map(Result::unwrap).collect();
    let next = owners.partition_point(|&(_, first)| first <= main.token.row());
    let name = assembly.type_name(owners[next - 1].0).unwrap();
    assert_eq!(name, ("Basics".into(), "Program".into()));
    let references: Vec<_> = (1..=assembly.rows(TokenTable::MEMBER_REF))
        .map(|row| Token::from_row(TokenTable::MEMBER_REF, row).unwrap())
        .map(|token| assembly.member_name(token).unwrap())
        .collect();
    assert!(references.iter().any(|name| name == "WriteLine"));
    let wrong = Token::new(0x0200_0001);
    let kind = ErrorKind::WrongToken(wrong);
    assert_eq!(assembly.member_name(wrong).unwrap_err().kind, kind);
    assert_eq!(assembly.method_flags(wrong).unwrap_err().kind, kind);
}

#[test]
fn members_belong_to_types() {
    let files = [BASICS, BEHAVIOURS].map(|bytes| Assembly::open(bytes).unwrap());
    let framework = Framework::new(files.into());
    assert_eq!(framework.len(), 2);
    let tokens = framework.tokens(1).unwrap();
    let assembly = framework.get(1).unwrap();
    let (mut structures, mut classes) = (0, 0);
    for row in 1..=assembly.rows(TokenTable::TYPE_DEF) {
        let token = Token::from_row(TokenTable::TYPE_DEF, row).unwrap();
        let sig = tokens.type_sig(Reference::Token(token)).unwrap();
        let kind = tokens.type_kind(TypeToken::try_from(token).unwrap());
        match sig {
            TypeSig::ValueType(_) => {
                structures += 1;
                assert_eq!(kind, Some(symbol::TypeKind::ValueType));
            }
            sig => {
                classes += 1;
                assert_eq!(sig, TypeSig::Class(TypeToken::try_from(token).unwrap()));
                assert_eq!(kind, Some(symbol::TypeKind::Class));
            }
        }
    }
    assert!(structures >= 10 && classes >= 2, "{structures} {classes}");
    for method in assembly.methods().map(Result::unwrap) {
        let owner = tokens.owner(method.token).unwrap();
        let name = match owner {
            TypeSig::Class(token) | TypeSig::ValueType(token) => assembly.type_name(token.token()),
            other => panic!("{other:?}"),
        };
        if method.name == "Main" {
            assert_eq!(name, Ok(("Behaviours".into(), "Program".into())));
        }
    }
    // The core library is not loaded.
    let object = TypeToken::try_from(Token::new(0x0100_0001)).unwrap();
    assert_eq!(tokens.type_kind(object), None);
    assert_eq!(tokens.owner(Token::new(0x06ff_ffff)), None);
}

#[test]
fn without_other_assemblies_less_is_checked() {
    for bytes in [BASICS, BEHAVIOURS] {
        let framework = Framework::new(vec![Assembly::open(bytes).unwrap()]);
        let tokens = framework.tokens(0).unwrap();
        for method in framework.get(0).unwrap().methods().map(Result::unwrap) {
            let Some(bytes) = method.body else { continue };
            let signature = MethodSig::parse(method.signature).unwrap();
            let owner = tokens.owner(method.token);
            let context = MethodContext {
                this_is_pointer: matches!(owner, Some(TypeSig::ValueType(_))),
                ..MethodContext::new(&signature)
            };
            let body = MethodBody::decode(bytes).unwrap();
            assert_eq!(body.verify(&context, &tokens), [], "{}", method.name);
        }
    }
}

#[test]
fn tokens_that_are_not_meant_are_errors() {
    let assembly = Assembly::open(BASICS).unwrap();
    let kind = |raw| assembly.method_signature(Token::new(raw)).unwrap_err().kind;
    for raw in [0, 0x0200_0001, 0x0400_0001, 0x7000_0001, 0xff00_0001] {
        assert_eq!(kind(raw), ErrorKind::WrongToken(Token::new(raw)));
    }
    for raw in [0x0600_0000, 0x06ff_ffff, 0x2b00_0000] {
        assert_eq!(kind(raw), ErrorKind::NoRow(Token::new(raw)));
    }
}

/// Reads everything, whatever the result.
fn exhaust(bytes: &[u8]) {
    let Ok(assembly) = Assembly::open(bytes) else {
        return;
    };
    for method in assembly.methods() {
        drop(method.and_then(|method| assembly.method_signature(method.token)));
    }
    for signature in assembly.signatures().flatten() {
        drop(assembly.method_signature(signature.token));
        drop(assembly.field_signature(signature.token));
        drop(assembly.method_arguments(signature.token));
        drop(assembly.locals(signature.token));
        drop(assembly.type_spec(signature.token));
    }
    for table in [TokenTable::TYPE_DEF, TokenTable::TYPE_REF] {
        for row in 1..=assembly.rows(table) {
            let token = Token::from_row(table, row).unwrap();
            drop(assembly.type_name(token));
            drop(assembly.type_kind(token));
        }
    }
    let framework = Framework::new(vec![assembly]);
    let tokens = framework.tokens(0).unwrap();
    for table in [0x01, 0x02, 0x04, 0x06, 0x0a, 0x1b, 0x2b].map(TokenTable) {
        for row in 0..=framework.get(0).unwrap().rows(table) + 1 {
            let token = Token::from_row(table, row).unwrap();
            let name = Reference::Token(token);
            drop((tokens.method(name), tokens.field(name), tokens.owner(token)));
            drop((tokens.type_sig(name), tokens.references(token)));
            drop(TypeToken::try_from(token).map(|token| tokens.type_kind(token)));
        }
    }
}

#[test]
fn every_prefix_is_read_without_a_panic() {
    for length in 0..HOOK.len() {
        exhaust(&HOOK[..length]);
    }
}

#[test]
fn every_broken_byte_is_read_without_a_panic() {
    let mut bytes = HOOK.to_vec();
    for place in 0..bytes.len() {
        for change in [0xff, 0x01, 0x80] {
            bytes[place] ^= change;
            exhaust(&bytes);
            bytes[place] ^= change;
        }
    }
}

#[test]
fn an_assembly_is_no_bundle() {
    assert_eq!(
        Bundle::open(BASICS).unwrap_err().kind,
        ErrorKind::NotABundle
    );
}
