//! Assemblies that refer to each other, and the meaning of their tokens.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;

use clr_profiler_il::attribute::EnumType;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{self, CallShape, Reference, Resolver};
use clr_profiler_il::token::{Token, TokenTable, TypeToken};

use crate::assembly::{Assembly, TypeKind};

/// The columns that are read.
mod column {
    pub(super) const TYPE_REF_SCOPE: usize = 0;
    pub(super) const TYPE_DEF_FIELDS: usize = 4;
    pub(super) const TYPE_DEF_METHODS: usize = 5;
    pub(super) const MEMBER_REF_PARENT: usize = 0;
    pub(super) const METHOD_SPEC_METHOD: usize = 0;
    pub(super) const ASSEMBLY_NAME: usize = 7;
    pub(super) const ASSEMBLY_REF_NAME: usize = 6;
    pub(super) const EXPORTED_NAME: usize = 2;
    pub(super) const EXPORTED_NAMESPACE: usize = 3;
    pub(super) const EXPORTED_PLACE: usize = 4;
    pub(super) const PARAMETER_NUMBER: usize = 0;
    pub(super) const PARAMETER_FLAGS: usize = 1;
    pub(super) const PARAMETER_OWNER: usize = 2;
    pub(super) const NESTED: usize = 0;
    pub(super) const ENCLOSING: usize = 1;
}

/// A type by its full name: `System.Collections.Generic.List`1/Enumerator`.
type FullName = String;

/// In a generic parameter's flags: its arguments are reference types.
const REFERENCE_TYPE: u32 = 4;

/// The limits for assemblies that forward a type, and for the nesting of types.
const MOST_FORWARDS: usize = 8;
const DEEPEST: usize = 64;

/// Assemblies, and the types that they define and forward.
#[derive(Debug)]
pub struct Framework<'a> {
    members: Vec<Member<'a>>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug)]
struct Member<'a> {
    assembly: Assembly<'a>,
    types: HashMap<FullName, Token>,
    /// For types that are defined elsewhere, the name of that assembly.
    forwards: HashMap<FullName, String>,
    /// The first field and method of each type, in order.
    first_fields: Vec<u32>,
    first_methods: Vec<u32>,
    /// The generic parameters of a type or method that are constrained to reference types.
    references: HashMap<Token, Vec<u32>>,
    /// Whether it is the core library, which defines the primitive types.
    is_core: bool,
}

impl<'a> Framework<'a> {
    /// Reads the names of all types. Broken rows are left out.
    #[must_use]
    pub fn new(assemblies: Vec<Assembly<'a>>) -> Self {
        let members: Vec<_> = assemblies.into_iter().map(Member::new).collect();
        let names = members.iter().enumerate();
        let by_name = names
            .filter_map(|(index, member)| Some((member.name()?, index)))
            .collect();
        Self { members, by_name }
    }

    /// The number of assemblies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// One of the assemblies, in the given order.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Assembly<'a>> {
        self.members.get(index).map(|member| &member.assembly)
    }

    /// The meaning of the tokens in an assembly.
    #[must_use]
    pub fn tokens(&self, index: usize) -> Option<Tokens<'_, 'a>> {
        Some(Tokens {
            framework: self,
            member: self.members.get(index)?,
            methods: Cache::default(),
            fields: Cache::default(),
            types: Cache::default(),
            kinds: Cache::default(),
            owners: Cache::default(),
        })
    }

    /// The type with a full name, starting from the assembly that is said to define it.
    fn find(&self, assembly: &str, name: &str) -> Option<(&Member<'a>, Token)> {
        let mut assembly = assembly;
        for _ in 0..MOST_FORWARDS {
            let member = self.members.get(*self.by_name.get(assembly)?)?;
            if let Some(&token) = member.types.get(name) {
                return Some((member, token));
            }
            // Nested types are forwarded with the outermost one.
            let outermost = name.split('/').next().unwrap_or(name);
            assembly = member.forwards.get(outermost)?;
        }
        None
    }

    /// Where the type of a `TypeDef` or `TypeRef` of an assembly is defined.
    fn definition<'f>(
        &'f self,
        member: &'f Member<'a>,
        token: Token,
    ) -> Option<(&'f Member<'a>, Token)> {
        if token.table() == TokenTable::TYPE_DEF {
            return Some((member, token));
        }
        let tables = &member.assembly.metadata.tables;
        let mut name = member.full_name(token)?;
        let mut scope = tables.coded(token, column::TYPE_REF_SCOPE).ok()?;
        for _ in 0..DEEPEST {
            if scope.table() != TokenTable::TYPE_REF {
                break;
            }
            name = format!("{}/{name}", member.full_name(scope)?);
            scope = tables.coded(scope, column::TYPE_REF_SCOPE).ok()?;
        }
        if scope.table() == TokenTable::ASSEMBLY_REF {
            let assembly = member.text(scope, column::ASSEMBLY_REF_NAME)?;
            return self.find(&assembly, &name);
        }
        member.types.get(&name).map(|&token| (member, token))
    }
}

impl<'a> Member<'a> {
    fn new(assembly: Assembly<'a>) -> Self {
        let mut member = Self {
            assembly,
            types: HashMap::new(),
            forwards: HashMap::new(),
            first_fields: Vec::new(),
            first_methods: Vec::new(),
            references: HashMap::new(),
            is_core: false,
        };
        let tables = &member.assembly.metadata.tables;
        let rows = |table| tables.tokens(table);
        let enclosing: HashMap<u32, u32> = rows(TokenTable(0x29))
            .filter_map(|row| {
                let nested = tables.cell(row, column::NESTED).ok()?;
                Some((nested, tables.cell(row, column::ENCLOSING).ok()?))
            })
            .collect();
        let mut types = HashMap::new();
        for token in rows(TokenTable::TYPE_DEF) {
            let cell = |column| tables.cell(token, column).unwrap_or(u32::MAX);
            member.first_fields.push(cell(column::TYPE_DEF_FIELDS));
            member.first_methods.push(cell(column::TYPE_DEF_METHODS));
            let mut name = member.full_name(token).unwrap_or_default();
            let mut row = token.row();
            for _ in 0..DEEPEST {
                let Some(&outer) = enclosing.get(&row) else {
                    break;
                };
                let outer_name = Token::from_row(TokenTable::TYPE_DEF, outer)
                    .and_then(|token| member.full_name(token));
                name = format!("{}/{name}", outer_name.unwrap_or_default());
                row = outer;
            }
            types.insert(name, token);
        }
        let mut forwards = HashMap::new();
        for token in rows(TokenTable::EXPORTED_TYPE) {
            let forward = || {
                let place = tables.coded(token, column::EXPORTED_PLACE).ok()?;
                let assembly = (place.table() == TokenTable::ASSEMBLY_REF)
                    .then(|| member.text(place, column::ASSEMBLY_REF_NAME))??;
                let name = member.text(token, column::EXPORTED_NAME)?;
                let namespace = member.text(token, column::EXPORTED_NAMESPACE)?;
                Some((join(&namespace, &name), assembly))
            };
            forwards.extend(forward());
        }
        for token in rows(TokenTable::GENERIC_PARAM) {
            let cell = |column| tables.cell(token, column);
            let of_reference = cell(column::PARAMETER_FLAGS).unwrap_or(0) & REFERENCE_TYPE != 0;
            let owner = tables.coded(token, column::PARAMETER_OWNER);
            if let (true, Ok(number), Ok(owner)) =
                (of_reference, cell(column::PARAMETER_NUMBER), owner)
            {
                member.references.entry(owner).or_default().push(number);
            }
        }
        member.is_core = types.contains_key("System.Object");
        (member.types, member.forwards) = (types, forwards);
        member
    }

    fn name(&self) -> Option<String> {
        self.text(
            Token::from_row(TokenTable::ASSEMBLY, 1)?,
            column::ASSEMBLY_NAME,
        )
    }

    fn text(&self, token: Token, column: usize) -> Option<String> {
        let metadata = &self.assembly.metadata;
        let offset = metadata.tables.cell(token, column).ok()?;
        metadata.name(offset).ok().map(std::borrow::Cow::into_owned)
    }

    fn full_name(&self, token: Token) -> Option<FullName> {
        let (namespace, name) = self.assembly.type_name(token).ok()?;
        Some(join(&namespace, &name))
    }
}

fn join(namespace: &str, name: &str) -> FullName {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

/// The primitive type with this name, which signatures encode with a code of its own.
fn primitive(name: &str) -> Option<TypeSig> {
    TypeSig::from_primitive_class(name).filter(|primitive| !primitive.is_void())
}

/// The resolution cache.
#[derive(Debug)]
struct Cache<K, V>(RefCell<HashMap<K, Option<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Cache<K, V> {
    fn get(&self, key: K, find: impl FnOnce() -> Option<V>) -> Option<V> {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let found = find();
        self.0.borrow_mut().insert(key, found.clone());
        found
    }
}

/// The names of a type in the notation of reflection: of the type, with `/` between it and its enclosing
/// types, and of its assembly.
fn reflected(name: &str) -> (String, Option<&str>) {
    let (class, assembly) = match name.split_once(',') {
        Some((class, rest)) => (class, Some(rest.split(',').next().unwrap_or(rest).trim())),
        None => (name, None),
    };
    (class.trim().replace('+', "/"), assembly)
}

/// Resolves the tokens in the bodies of one assembly.
#[derive(Debug)]
pub struct Tokens<'f, 'a> {
    framework: &'f Framework<'a>,
    member: &'f Member<'a>,
    methods: Cache<Token, MethodSig>,
    fields: Cache<Token, TypeSig>,
    types: Cache<Token, TypeSig>,
    kinds: Cache<TypeToken, symbol::TypeKind>,
    owners: Cache<Token, TypeSig>,
}

impl Tokens<'_, '_> {
    /// The type of the values of an enumeration.
    #[must_use]
    pub fn underlying(&self, of: &EnumType) -> Option<TypeSig> {
        let (member, token) = match of {
            EnumType::Token(token) => self.framework.definition(self.member, token.token())?,
            EnumType::Name(name) => {
                let (class, assembly) = reflected(name);
                let here = self.member.name()?;
                // Without an assembly it is this one or the core library.
                match assembly {
                    Some(assembly) => self.framework.find(assembly, &class)?,
                    None => self
                        .framework
                        .find(&here, &class)
                        .or_else(|| self.framework.find("System.Private.CoreLib", &class))?,
                }
            }
        };
        match member.assembly.type_kind(token).ok()? {
            TypeKind::Enum(underlying) => Some(underlying),
            _ => None,
        }
    }

    /// The type that declares a `MethodDef`, a `FieldDef`, a `MemberRef` or a `MethodSpec`.
    #[must_use]
    pub fn owner(&self, member: Token) -> Option<TypeSig> {
        self.owners.get(member, || {
            let tables = &self.member.assembly.metadata.tables;
            if member.is_nil() || member.row() > tables.rows(member.table()) {
                return None;
            }
            let owner = match member.table() {
                TokenTable::METHOD_DEF => of_row(&self.member.first_methods, member.row())?,
                TokenTable::FIELD_DEF => of_row(&self.member.first_fields, member.row())?,
                TokenTable::MEMBER_REF => tables.coded(member, column::MEMBER_REF_PARENT).ok()?,
                TokenTable::METHOD_SPEC => {
                    return self.owner(tables.coded(member, column::METHOD_SPEC_METHOD).ok()?);
                }
                _ => return None,
            };
            match owner.table() {
                // A call with further arguments.
                TokenTable::METHOD_DEF => self.owner(owner),
                _ => self.type_of(owner),
            }
        })
    }

    /// The generic parameters in scope of a `MethodDef` that are constrained to reference types.
    #[must_use]
    pub fn references(&self, method: Token) -> Vec<TypeSig> {
        let numbers = |token: &Token| self.member.references.get(token).into_iter().flatten();
        let owner = of_row(&self.member.first_methods, method.row());
        let of_type = owner
            .iter()
            .flat_map(numbers)
            .map(|&number| TypeSig::Var(number));
        let of_method = numbers(&method).map(|&number| TypeSig::MVar(number));
        of_type.chain(of_method).collect()
    }

    /// The type of a type token.
    fn type_of(&self, token: Token) -> Option<TypeSig> {
        self.types.get(token, || {
            if token.table() == TokenTable::TYPE_SPEC {
                return Some(self.member.assembly.type_spec(token).ok()?.type_sig);
            }
            let name = TypeToken::try_from(token).ok()?;
            let (member, definition) = self.framework.definition(self.member, token)?;
            let primitive = member
                .full_name(definition)
                .and_then(|name| primitive(&name));
            if let Some(primitive) = primitive.filter(|_| member.is_core) {
                return Some(primitive);
            }
            Some(match member.assembly.type_kind(definition).ok()? {
                TypeKind::ValueType | TypeKind::Enum(_) => TypeSig::ValueType(name),
                TypeKind::Class | TypeKind::Interface => TypeSig::Class(name),
                TypeKind::Elsewhere => return None,
            })
        })
    }

    /// The arguments of the generic type that a member belongs to.
    fn type_arguments(&self, member: Token) -> Vec<TypeSig> {
        match self.owner(member) {
            Some(TypeSig::GenericInstance { arguments, .. }) => arguments,
            _ => Vec::new(),
        }
    }

    fn method_of(&self, token: Token) -> Option<MethodSig> {
        self.methods.get(token, || {
            let assembly = &self.member.assembly;
            let signature = assembly.method_signature(token).ok()?;
            Some(match token.table() {
                TokenTable::MEMBER_REF => signature.substitute(&self.type_arguments(token), &[]),
                TokenTable::METHOD_SPEC => {
                    let method = assembly.method_arguments(token).ok()?.arguments;
                    signature.substitute(&self.type_arguments(token), &method)
                }
                _ => signature,
            })
        })
    }
}

/// The type whose range contains a row.
fn of_row(first: &[u32], row: u32) -> Option<Token> {
    let types = first.partition_point(|&first| first <= row);
    Token::from_row(TokenTable::TYPE_DEF, u32::try_from(types).ok()?)
}

impl Resolver for Tokens<'_, '_> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        self.method_of(token(method)?)
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        self.method_of(token(signature)?)
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let field = token(field)?;
        self.fields.get(field, || {
            let signature = self.member.assembly.field_signature(field).ok()?;
            let signature = match field.table() {
                TokenTable::MEMBER_REF => signature.substitute(&self.type_arguments(field)),
                _ => signature,
            };
            Some(signature.field_type)
        })
    }

    fn type_sig(&self, name: Reference<'_>) -> Option<TypeSig> {
        self.type_of(token(name)?)
    }

    fn type_kind(&self, name: TypeToken) -> Option<symbol::TypeKind> {
        self.kinds.get(name, || {
            let (member, definition) = self.framework.definition(self.member, name.token())?;
            Some(match member.assembly.type_kind(definition).ok()? {
                TypeKind::Class | TypeKind::Interface => symbol::TypeKind::Class,
                TypeKind::ValueType => symbol::TypeKind::ValueType,
                TypeKind::Enum(values) => symbol::TypeKind::Enum(values),
                TypeKind::Elsewhere => return None,
            })
        })
    }

    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        self.owner(token(member)?)
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        let name = token(method).and_then(|token| self.member.assembly.member_name(token).ok());
        name.is_some_and(|name| name == ".ctor")
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        self.member.assembly.locals(token).ok()
    }

    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        let signature = self.member.assembly.method_signature(token(method)?);
        signature.as_ref().ok().map(CallShape::from)
    }
}

fn token(name: Reference<'_>) -> Option<Token> {
    match name {
        Reference::Token(token) => Some(token),
        Reference::Symbol(_) => None,
    }
}
