use super::*;
use crate::fragment::Fragment;
use crate::signature::{LocalsSig, MethodSig};
use crate::symbol::{FieldSymbol, MethodSymbol, TypeSymbol};
use crate::token::{MemberRef, MethodDef, MethodSpec, TypeDef, TypeRef, TypeSpec};

fn def(row: u32) -> TypeToken {
    TypeDef::from_row(row).unwrap().into()
}

fn class_ref(row: u32) -> TypeToken {
    TypeRef::from_row(row).unwrap().into()
}

fn spec(row: u32) -> TypeToken {
    TypeSpec::from_row(row).unwrap().into()
}

/// One generic method of an instance, `G<C[]>::M<D&, int>`, and a `TypeSpec` that names itself twice.
struct Rows;

impl Tables for Rows {
    fn member(&self, token: Token) -> Option<Member> {
        let member = |parent: TypeToken| Member {
            parent: parent.token(),
            name: "M".to_owned(),
            signature: Vec::new(),
        };
        match token.table() {
            TokenTable::METHOD_DEF => Some(member(def(5))),
            TokenTable::MEMBER_REF if token.row() == 1 => Some(member(spec(1))),
            _ => None,
        }
    }

    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)> {
        let arguments = vec![
            TypeSig::ByRef(Box::new(TypeSig::ValueType(class_ref(4)))),
            TypeSig::I4,
        ];
        let arguments = MethodSpecSig { arguments }.to_bytes().unwrap();
        let generic = MemberRef::from_row(1).unwrap().into();
        (token.row() == 1).then_some((generic, arguments))
    }

    fn stand_alone_sig(&self, _token: Token) -> Option<Vec<u8>> {
        None
    }

    fn type_spec(&self, token: Token) -> Option<Vec<u8>> {
        let array = TypeSig::SzArray(Box::new(TypeSig::Class(def(3))));
        let (definition, arguments) = match token.row() {
            1 => (class_ref(2), vec![array]),
            2 => (class_ref(9), vec![TypeSig::Class(spec(2)); 2]),
            _ => return None,
        };
        let type_sig = TypeSig::GenericInstance {
            is_value_type: false,
            definition,
            arguments,
        };
        Some(TypeSpecSig { type_sig }.to_bytes().unwrap())
    }

    fn type_name(&self, _token: Token) -> Option<(String, Token)> {
        None
    }

    fn is_core_library(&self) -> bool {
        false
    }
}

/// The types among the targets, and the parents of members.
fn parts(name: impl Into<Token>) -> Vec<(bool, TypeToken)> {
    let parts = AccessTarget::of(&Rows, name.into()).into_iter();
    let classes = parts.map(|part| match part {
        AccessTarget::Class(class) => (false, class),
        AccessTarget::Member { class, member, .. } => {
            assert_eq!((member.parent, &*member.name), (class.token(), "M"));
            (true, class)
        }
    });
    classes.collect()
}

#[test]
fn a_name_has_the_parts_that_its_signatures_name() {
    assert_eq!(parts(def(1).token()), [(false, def(1))]);
    let of_instance = [(false, class_ref(2)), (false, def(3))];
    assert_eq!(parts(spec(1).token()), of_instance);
    let method = MethodDef::from_row(7).unwrap();
    assert_eq!(parts(method), [(false, def(5)), (true, def(5))]);
    let generic = MethodSpec::from_row(1).unwrap();
    let of_generic = [(true, spec(1)), (false, class_ref(4))];
    assert_eq!(parts(generic), [of_instance, of_generic].concat());
}

#[test]
fn what_is_not_there_has_no_parts() {
    assert_eq!(parts(spec(7).token()), []);
    assert_eq!(parts(MethodSpec::from_row(2).unwrap()), []);
    assert_eq!(parts(MemberRef::from_row(2).unwrap()), []);
    assert_eq!(parts(Token::new(0x7000_0001)), []);
}

#[test]
fn signatures_that_name_each_other_come_to_an_end() {
    let parts = parts(spec(2).token());
    assert_eq!(parts, vec![(false, class_ref(9)); SPEC_LIMIT]);
}

/// A token for each kind of symbol.
struct Source;

impl TokenSource for Source {
    type Error = &'static str;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token, Self::Error> {
        match &*method.name {
            "None" => Err("no such method"),
            _ => Ok(Token::new(0x0a00_0001)),
        }
    }

    fn type_token(&mut self, _name: &TypeSymbol) -> Result<Token, Self::Error> {
        Ok(Token::new(0x0100_0001))
    }

    fn field(&mut self, _field: &FieldSymbol) -> Result<Token, Self::Error> {
        Ok(Token::new(0x0400_0001))
    }

    fn user_string(&mut self, _text: &str) -> Result<Token, Self::Error> {
        Err("nothing asks for a string's token")
    }

    fn signature(&mut self, _signature: &MethodSig) -> Result<Token, Self::Error> {
        Err("nothing asks for a signature's token")
    }

    fn locals(&mut self, _locals: &LocalsSig) -> Result<Token, Self::Error> {
        Err("nothing asks for the token of locals")
    }
}

#[test]
fn what_was_inserted_is_used_and_what_was_there_is_not() {
    // `newobj 0x06000009; pop; ret`
    let mut body = MethodBody::decode(&[0x1e, 0x73, 9, 0, 0, 6, 0x26, 0x2a]).unwrap();
    assert_eq!(Usage::of(&body, &mut Source), Ok(Usage::default()));
    let field = FieldSymbol::new("A", "f", "int");
    let constructor = MethodSymbol::new("A", ".ctor", "instance void ()");
    let mut code = Fragment::new();
    code.ldstr("text").pop().ldsfld(&field).pop();
    code.newobj(&constructor).castclass("B").pop();
    code.newobj(MethodDef::from_row(2).unwrap().token()).pop();
    body.prologue(&code).unwrap();
    let used = Usage::of(&body, &mut Source).unwrap();
    let tokens = [0x0400_0001, 0x0a00_0001, 0x0100_0001, 0x0600_0002].map(Token::new);
    let mut names = used.names;
    names.sort_unstable();
    let mut expected = tokens;
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(used.constructors, [tokens[1], tokens[3]]);
    body.prologue(Fragment::new().call(MethodSymbol::new("A", "None", "void ()")))
        .unwrap();
    assert_eq!(Usage::of(&body, &mut Source), Err("no such method"));
}
