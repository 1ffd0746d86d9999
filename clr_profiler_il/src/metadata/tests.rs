use super::*;
use crate::signature::{FieldSig, MethodSig, MethodSpecSig, TypeSig, TypeSpecSig};
use crate::symbol::{
    FieldSymbol, MethodSymbol, Reference, Resolver, TokenSource, TypeKind, TypeSymbol,
};
use crate::token::{
    AssemblyRef, FieldDef, MemberRef, MethodDef, MethodSpec, TokenTable, TypeRef, TypeSpec,
};

/// The rows of a module: each kind by row number, from 1 on.
#[derive(Default)]
struct Rows {
    /// Name and base type.
    type_defs: Vec<(&'static str, Token)>,
    type_refs: Vec<(Token, String)>,
    type_specs: Vec<Vec<u8>>,
    fields: Vec<Member>,
    methods: Vec<Member>,
    member_refs: Vec<Member>,
    method_specs: Vec<(Token, Vec<u8>)>,
    stand_alone: Vec<Vec<u8>>,
    strings: Vec<String>,
    /// The number of lookups.
    asked: u32,
}

const SCOPE: &str = "System.Runtime";

fn assembly() -> Token {
    AssemblyRef::from_row(1).unwrap().into()
}

/// The row of an existing or new entry.
fn row<T: PartialEq>(rows: &mut Vec<T>, asked: &mut u32, new: T) -> u32 {
    *asked += 1;
    let at = rows.iter().position(|row| *row == new);
    let at = at.unwrap_or_else(|| {
        rows.push(new);
        rows.len() - 1
    });
    at as u32 + 1
}

fn at<T>(rows: &[T], token: Token) -> Option<&T> {
    rows.get((token.row() as usize).checked_sub(1)?)
}

impl Tables for Rows {
    fn member(&self, token: Token) -> Option<Member> {
        let rows = match token.table() {
            MethodDef::TABLE => &self.methods,
            FieldDef::TABLE => &self.fields,
            _ => &self.member_refs,
        };
        at(rows, token).cloned()
    }

    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)> {
        at(&self.method_specs, token).cloned()
    }

    fn stand_alone_sig(&self, token: Token) -> Option<Vec<u8>> {
        at(&self.stand_alone, token).cloned()
    }

    fn type_spec(&self, token: Token) -> Option<Vec<u8>> {
        at(&self.type_specs, token).cloned()
    }

    fn type_name(&self, token: Token) -> Option<(String, Token)> {
        if token.table() == TypeDef::TABLE {
            return at(&self.type_defs, token).map(|(name, base)| ((*name).to_owned(), *base));
        }
        let (scope, name) = at(&self.type_refs, token)?;
        Some((name.clone(), *scope))
    }

    fn is_core_library(&self) -> bool {
        false
    }
}

impl Emitter for &mut Rows {
    type Error = ImportError;

    fn resolution_scope(
        &mut self,
        assembly_name: &str,
        path: &str,
    ) -> Result<ResolutionScope, ImportError> {
        match assembly_name {
            "Own" => Ok(ResolutionScope::Module),
            "corelib" | SCOPE => Ok(ResolutionScope::Assembly(assembly())),
            _ => Err(ImportError::NoName(path.to_owned())),
        }
    }

    fn type_def(&self, name: &str, _: Option<TypeDef>) -> Result<Option<TypeDef>, ImportError> {
        let row = self.type_defs.iter().position(|row| row.0 == name);
        Ok(row.and_then(|row| TypeDef::from_row(row as u32 + 1)))
    }

    fn type_ref(
        &mut self,
        scope: Token,
        name: &str,
        whole: (Token, &str),
    ) -> Result<TypeToken, ImportError> {
        assert_eq!(whole.0, assembly());
        assert!(whole.1.split('/').any(|part| part == name));
        let row = row(
            &mut self.type_refs,
            &mut self.asked,
            (scope, name.to_owned()),
        );
        Ok(TypeRef::from_row(row).unwrap().into())
    }

    fn member_def(
        &self,
        class: TypeDef,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>, ImportError> {
        let is_it = |row: &Member| {
            (row.parent, &*row.name, &*row.signature) == (class.into(), name, signature)
        };
        let row = self.methods.iter().position(is_it);
        Ok(row.map(|row| MethodDef::from_row(row as u32 + 1).unwrap().into()))
    }

    fn member_ref(
        &mut self,
        parent: TypeToken,
        name: &str,
        signature: &[u8],
    ) -> Result<Token, ImportError> {
        let member = Member {
            parent: parent.token(),
            name: name.to_owned(),
            signature: signature.to_vec(),
        };
        let row = row(&mut self.member_refs, &mut self.asked, member);
        Ok(MemberRef::from_row(row).unwrap().into())
    }

    fn type_spec(&mut self, signature: &[u8]) -> Result<TypeToken, ImportError> {
        let row = row(&mut self.type_specs, &mut self.asked, signature.to_vec());
        Ok(TypeSpec::from_row(row).unwrap().into())
    }

    fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Result<Token, ImportError> {
        let new = (method, arguments.to_vec());
        let row = row(&mut self.method_specs, &mut self.asked, new);
        Ok(MethodSpec::from_row(row).unwrap().into())
    }

    fn stand_alone_sig(&mut self, signature: &[u8]) -> Result<Token, ImportError> {
        let row = row(&mut self.stand_alone, &mut self.asked, signature.to_vec());
        Ok(Token::from_row(TokenTable::STAND_ALONE_SIG, row).unwrap())
    }

    fn user_string(&mut self, text: &str) -> Result<Token, ImportError> {
        let row = row(&mut self.strings, &mut self.asked, text.to_owned());
        Ok(Token::from_row(TokenTable::USER_STRING, row).unwrap())
    }
}

/// A module with the class `Shop.Cart`, which has `void Clear()` and the field `int count`.
fn shop() -> Rows {
    let class: TypeDef = TypeDef::from_row(1).unwrap();
    let object: TypeRef = TypeRef::from_row(1).unwrap();
    let clear = MethodSig::new(TypeSig::Void, Vec::new());
    let count = FieldSig {
        field_type: TypeSig::I4,
    };
    let member = |name: &str, signature| Member {
        parent: class.into(),
        name: name.to_owned(),
        signature,
    };
    Rows {
        type_defs: vec![("Shop.Cart", object.into())],
        type_refs: vec![(assembly(), "System.Object".to_owned())],
        methods: vec![member("Clear", clear.to_bytes().unwrap())],
        fields: vec![member("count", count.to_bytes().unwrap())],
        ..Rows::default()
    }
}

#[test]
fn what_a_symbol_becomes_means_what_the_symbol_says() {
    let (mut rows, mut tokens) = (shop(), TokenCache::default());
    let list = "class [corelib]System.List`1/Node<int>";
    let mut map = MethodSymbol::new(list, "Map", "instance !!0 (!0, string)");
    map.type_arguments = vec!["object".into()];
    let mut importer = Importer::new(&mut rows, &mut tokens);
    let method = importer.method(&map).unwrap();
    let head = importer.field(&FieldSymbol::new(list, "Head", "!0[]"));
    let head = head.unwrap();
    let int = importer.type_token(&TypeSymbol::new("int")).unwrap();
    // The outer type, the nested one, and that of the primitive; one instance of the nested type.
    assert_eq!((rows.type_refs.len(), rows.type_specs.len()), (4, 1));
    assert_eq!(rows.type_refs[2].0, TypeRef::from_row(2).unwrap().into());

    let cache = ResolutionCache::default();
    let resolver = MetadataResolver::new(&rows, &cache);
    let map = MethodSig {
        has_this: true,
        generic_parameter_count: 1,
        ..MethodSig::new(TypeSig::Object, vec![TypeSig::I4, TypeSig::String])
    };
    assert_eq!(resolver.method(Reference::Token(method)), Some(map));
    let ints = TypeSig::SzArray(Box::new(TypeSig::I4));
    assert_eq!(resolver.field(Reference::Token(head)), Some(ints));
    assert_eq!(resolver.type_sig(Reference::Token(int)), Some(TypeSig::I4));
    let node = TypeSpecSig::parse(&rows.type_specs[0]).unwrap().type_sig;
    assert_eq!(
        resolver.declaring_type(Reference::Token(method)),
        Some(node)
    );
    assert!(!resolver.is_constructor(Reference::Token(method)));
    for (index, member) in [method, head].into_iter().enumerate() {
        let member = Reference::Token(member);
        let whole = match index {
            0 => {
                let whole = resolver.resolved_method(member).unwrap();
                assert_eq!(resolver.method(member), Some(whole.signature.clone()));
                assert!(resolver.resolved_field(member).is_none());
                whole.declaring_type.clone()
            }
            _ => {
                let whole = resolver.resolved_field(member).unwrap();
                assert_eq!(resolver.field(member), Some(whole.field_type.clone()));
                assert!(resolver.resolved_method(member).is_none());
                whole.declaring_type.clone()
            }
        };
        assert_eq!(resolver.declaring_type(member), whole);
        assert!(whole.is_some());
    }
    let arguments = MethodSpecSig::parse(&rows.method_specs[0].1).unwrap();
    assert_eq!(arguments.arguments, [TypeSig::Object]);
}

#[test]
fn a_symbol_is_looked_for_once() {
    let (mut rows, mut tokens) = (shop(), TokenCache::default());
    let write = MethodSymbol::new("[System.Runtime]System.Log", "Write", "void (string)");
    let signature = MethodSig::new(TypeSig::Void, vec![TypeSig::I8]);
    let mut all = || {
        let mut importer = Importer::new(&mut rows, &mut tokens);
        let found = [
            importer.method(&write).unwrap(),
            importer.user_string("text").unwrap(),
            importer.signature(&signature).unwrap(),
        ];
        (found, rows.asked)
    };
    let first = all();
    assert_eq!(first.1, 4);
    assert_eq!(all(), first);
}

#[test]
fn what_the_module_defines_is_not_referred_to() {
    let (mut rows, mut tokens) = (shop(), TokenCache::default());
    let mut importer = Importer::new(&mut rows, &mut tokens);
    for owner in ["Shop.Cart", "[Own]Shop.Cart"] {
        let clear = MethodSymbol::new(owner, "Clear", "void ()");
        let token = importer.method(&clear).unwrap();
        assert_eq!(token, MethodDef::from_row(1).unwrap().into());
    }
    let method = |owner, name| MethodSymbol::new(owner, name, "void ()");
    for (symbol, problem) in [
        (
            method("Shop.Cart", "Fill"),
            "there is no token for void Shop.Cart::Fill(): the type is defined by the module and has no \
             Fill with this signature",
        ),
        (
            method("Shop.Basket", "Fill"),
            "there is no token for void Shop.Basket::Fill(): the module defines no type Shop.Basket \
             (of Shop.Basket); one of another assembly is named [Assembly]Namespace.Type",
        ),
    ] {
        let error = importer.method(&symbol).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
    assert_eq!(rows.asked, 0);
}

#[test]
fn a_type_is_what_it_derives_from() {
    let mut rows = shop();
    for base in ["System.ValueType", "System.Enum"] {
        rows.type_refs.push((assembly(), base.to_owned()));
        let base = TypeRef::from_row(rows.type_refs.len() as u32).unwrap();
        rows.type_defs.push(("Shop.It", base.into()));
    }
    let cache = ResolutionCache::default();
    let resolver = MetadataResolver::new(&rows, &cache);
    let class = |row| TypeToken::from(TypeDef::from_row(row).unwrap());
    let kinds = [1, 2, 3].map(|row| resolver.type_kind(class(row)));
    // The base type of an enumeration does not tell its underlying type.
    assert_eq!(
        kinds,
        [Some(TypeKind::Class), Some(TypeKind::ValueType), None]
    );
    let sigs = [1, 2, 3].map(|row| resolver.type_sig(Reference::Token(class(row).token())));
    let [cart, point, color] = [1, 2, 3].map(class);
    let expected = [
        TypeSig::Class(cart),
        TypeSig::ValueType(point),
        TypeSig::ValueType(color),
    ];
    assert_eq!(sigs, expected.map(Some));
    assert!(resolver.is_in_value_type(point.token()));
    let pair = TypeSig::GenericInstance {
        is_value_type: true,
        definition: point,
        arguments: vec![TypeSig::Var(0), TypeSig::Var(1)],
    };
    let own = TypeDef::from_row(2).unwrap();
    assert_eq!(resolver.own_instance(own, 2), pair);
    assert_eq!(resolver.own_instance(own, 0), TypeSig::ValueType(point));
    assert!(!resolver.is_in_value_type(class(9).token()));
}

#[test]
fn a_name_is_in_system_with_its_namespace_alone_or_as_a_whole() {
    let name = |namespace, name| TypeNameView { namespace, name }.in_system();
    assert_eq!(name("System", "Enum"), Some("Enum"));
    assert_eq!(name("", "System.Enum"), Some("Enum"));
    for (namespace, other) in [
        ("", "Enum"),
        ("", "SystemEnum"),
        ("System.IO", "Enum"),
        ("Systems", "Enum"),
    ] {
        assert_eq!(name(namespace, other), None);
    }
    for (class, primitive) in [("Int32", Some(TypeSig::I4)), ("Int", None), ("", None)] {
        assert_eq!(TypeSig::from_system_class(class), primitive);
        let whole = format!("System.{class}");
        assert_eq!(TypeSig::from_primitive_class(&whole), primitive);
    }
}
