//! The values on the stack: for each rule, a body that breaks it and a similar one that does not.

mod calls;
mod hostile;
mod memory;
mod operators;
mod places;

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{CallingConvention, LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{MethodSymbol, Reference, Resolver, TypeKind};
use clr_profiler_il::token::{
    FieldDef, MemberRef, MethodDef, StandAloneSig, Token, TypeDef, TypeToken,
};
use clr_profiler_il::verify::{MethodContext, Rule, Violation};

/// The arguments and locals of every method here: one of each kind.
const INT: u16 = 0;
const LONG: u16 = 1;
const NATIVE: u16 = 2;
const FLOAT: u16 = 3;
const OBJECT: u16 = 4;
const BY_REF: u16 = 5;
const STRUCT: u16 = 6;
const OTHER: u16 = 7;
const ENUM: u16 = 8;
const GENERIC: u16 = 9;
const UNKNOWN: u16 = 10;

fn type_def(row: u32) -> TypeDef {
    TypeDef::from_row(row).unwrap()
}

fn method(row: u32) -> Token {
    MethodDef::from_row(row).unwrap().token()
}

fn field(row: u32) -> FieldDef {
    FieldDef::from_row(row).unwrap()
}

/// A class, two structures, enumerations of `int` and `long`, and an unknown type.
fn class() -> TypeDef {
    type_def(1)
}

fn structure() -> TypeDef {
    type_def(2)
}

fn other_structure() -> TypeDef {
    type_def(3)
}

fn value(of: TypeDef) -> TypeSig {
    TypeSig::ValueType(of.into())
}

fn variables() -> Vec<TypeSig> {
    vec![
        TypeSig::I4,
        TypeSig::I8,
        TypeSig::Pointer(Box::new(TypeSig::I4)),
        TypeSig::R8,
        TypeSig::Object,
        TypeSig::ByRef(Box::new(TypeSig::I4)),
        value(structure()),
        value(other_structure()),
        value(type_def(4)),
        TypeSig::MVar(0),
        value(type_def(6)),
    ]
}

struct Tokens;

impl Resolver for Tokens {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        let Reference::Token(token) = method else {
            return None;
        };
        use TypeSig::{I4, I8, Object, R8, Void};
        Some(match token.raw() {
            0x0600_0001 => MethodSig::new(Void, vec![Object]),
            0x0600_0002 => MethodSig::new(I4, vec![I4, I8]),
            0x0600_0003 => MethodSig::instance(Void, vec![I4]),
            0x0600_0004 => MethodSig::instance(Void, vec![]),
            0x0600_0005 => MethodSig::instance(Void, vec![I4]),
            0x0600_0006 => MethodSig::instance(Void, vec![]),
            0x0600_0007 => MethodSig::new(value(structure()), vec![]),
            0x0a00_0001 => MethodSig {
                convention: CallingConvention::VarArg,
                sentinel: Some(1),
                ..MethodSig::new(Void, vec![I4, R8])
            },
            _ => return None,
        })
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        let mut instance = MethodSig::instance(TypeSig::Void, vec![TypeSig::Object, TypeSig::I4]);
        instance.explicit_this = true;
        Some(match signature {
            Reference::Token(token) if token.row() == 1 => {
                MethodSig::new(TypeSig::I4, vec![TypeSig::I4])
            }
            _ => instance,
        })
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        Some(match field {
            Reference::Token(token) if token.row() == 1 => TypeSig::I4,
            Reference::Token(token) if token.row() == 2 => TypeSig::Object,
            _ => TypeSig::I8,
        })
    }

    fn type_sig(&self, name: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = name else {
            return None;
        };
        Some(match token.row() {
            1 => TypeSig::Class(class().into()),
            7 => TypeSig::MVar(0),
            8 => TypeSig::I4,
            row => value(type_def(row)),
        })
    }

    fn type_kind(&self, name: TypeToken) -> Option<TypeKind> {
        Some(match name.row() {
            1 => TypeKind::Class,
            2 | 3 => TypeKind::ValueType,
            4 => TypeKind::Enum(TypeSig::I4),
            5 => TypeKind::Enum(TypeSig::I8),
            _ => return None,
        })
    }

    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = member else {
            return None;
        };
        Some(match token.raw() {
            0x0600_0003 | 0x0600_0006 | 0x0400_0001 => TypeSig::Class(class().into()),
            0x0600_0004 | 0x0600_0005 | 0x0400_0002 => value(structure()),
            _ => return None,
        })
    }
}

type Build = fn(&mut Fragment);

/// Verifies a body of this code in a method with this return type.
fn verify(returns: &TypeSig, build: Build) -> (MethodBody, Vec<Violation>) {
    let mut fragment = Fragment::new();
    build(&mut fragment);
    let mut body = MethodBody::new();
    body.append(&fragment).unwrap();
    body.set_max_stack(8);
    body.set_locals(LocalsSig {
        locals: variables(),
    });
    let signature = MethodSig {
        generic_parameter_count: 1,
        ..MethodSig::new(returns.clone(), variables())
    };
    let violations = body.verify(&MethodContext::new(&signature), &Tokens);
    (body, violations)
}

/// One body is valid; the other one breaks one rule.
#[track_caller]
fn pair(message: &str, returns: TypeSig, fine: Build, wrong: Build) {
    let (body, violations) = verify(&returns, fine);
    let shown: Vec<_> = violations
        .iter()
        .map(|one| one.display(&body).to_string())
        .collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let (body, violations) = verify(&returns, wrong);
    let rules: Vec<_> = violations.iter().map(|one| one.rule.to_string()).collect();
    assert_eq!(rules, [message], "{body}");
}

/// The same for methods without a result.
#[track_caller]
fn check(message: &str, fine: Build, wrong: Build) {
    pair(message, TypeSig::Void, fine, wrong);
}
