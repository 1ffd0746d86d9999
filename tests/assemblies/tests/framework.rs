//! Assemblies that refer to each other.

use assembly_reader::{Assembly, Framework};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::{self, Reference, Resolver};
use clr_profiler_il::token::{Token, TypeDef, TypeToken};
use clr_profiler_il::verify::MethodContext;

const BEHAVIOURS: &[u8] = include_bytes!("../../profilees/Behaviours.dll");
const BASICS: &[u8] = include_bytes!("../../profilees/Basics.dll");

#[test]
fn members_belong_to_types() {
    let files = [BASICS, BEHAVIOURS].map(|bytes| Assembly::open(bytes).unwrap());
    let framework = Framework::new(files.into());
    assert_eq!(framework.len(), 2);
    let tokens = framework.tokens(1).unwrap();
    let assembly = framework.get(1).unwrap();
    let (mut structures, mut classes) = (0, 0);
    for token in assembly.tokens::<TypeDef>() {
        let sig = tokens.type_sig(Reference::Token(token.token())).unwrap();
        let kind = tokens.type_kind(token.into());
        match sig {
            TypeSig::ValueType(_) => {
                structures += 1;
                assert_eq!(kind, Some(symbol::TypeKind::ValueType));
            }
            sig => {
                classes += 1;
                assert_eq!(sig, TypeSig::Class(token.into()));
                assert_eq!(kind, Some(symbol::TypeKind::Class));
            }
        }
    }
    assert!(structures >= 10 && classes >= 2, "{structures} {classes}");
    for method in assembly.all_methods().map(Result::unwrap) {
        let owner = tokens.owner(method.token).unwrap();
        let name = match owner {
            TypeSig::Class(token) | TypeSig::ValueType(token) => assembly.type_name(token),
            other => panic!("{other:?}"),
        };
        if method.name == "Main" {
            assert!(name.unwrap().is("Behaviours.Program"));
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
        for method in framework.get(0).unwrap().all_methods().map(Result::unwrap) {
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
