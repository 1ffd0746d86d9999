//! Assemblies that refer to each other, and the meaning of their tokens.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;

use clr_metadata::rows::{ExportedTypeRow, GenericParamRow};
use clr_metadata::{Implementation, MemberRefParent, ResolutionScope, TypeKind};
use clr_profiler_il::attribute::EnumType;
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{self, CallShape, Reference, Resolver};
use clr_profiler_il::token::{self, FieldDef, MethodDef, Token, TokenTable, TypeDef, TypeToken};

use crate::Assembly;

/// A type by its full name: `System.Collections.Generic.List`1/Enumerator`.
type FullName = String;

/// The most assemblies that forward a type.
const MOST_FORWARDS: usize = 8;

/// Assemblies, and the types that they define and forward.
#[derive(Debug)]
pub struct Framework<'a> {
    members: Vec<Member<'a>>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug)]
struct Member<'a> {
    assembly: Assembly<'a>,
    types: HashMap<FullName, TypeDef>,
    /// For types that are defined elsewhere, the name of that assembly.
    forwards: HashMap<FullName, String>,
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
            .filter_map(|(index, member)| Some((member.name()?.to_owned(), index)))
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
    fn find(&self, assembly: &str, name: &str) -> Option<(&Member<'a>, TypeDef)> {
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

    /// The assembly that defines the type of a `TypeDef` or `TypeRef`, and its token there.
    fn definition<'f>(
        &'f self,
        member: &'f Member<'a>,
        token: TypeToken,
    ) -> Option<(&'f Member<'a>, TypeDef)> {
        let reference = match token {
            TypeToken::Def(token) => return Some((member, token)),
            TypeToken::Ref(token) => token,
            TypeToken::Spec(_) => return None,
        };
        let assembly = &member.assembly;
        let name = assembly.full_name(token).ok()?;
        match assembly.outermost_scope(reference).ok()? {
            ResolutionScope::AssemblyRef(scope) => {
                let scope = assembly.row(scope).ok()?.name;
                self.find(assembly.string(scope).ok()?, &name)
            }
            _ => member.types.get(&name).map(|&token| (member, token)),
        }
    }
}

impl<'a> Member<'a> {
    fn new(assembly: Assembly<'a>) -> Self {
        let types: HashMap<_, _> = assembly
            .tokens::<TypeDef>()
            .filter_map(|token| Some((assembly.full_name(token.into()).ok()?, token)))
            .collect();
        let forwards = assembly.rows::<ExportedTypeRow>().filter_map(|row| {
            let row = row.ok()?;
            let Implementation::AssemblyRef(place) = row.implementation else {
                return None;
            };
            let [namespace, name] = [row.namespace, row.name].map(|it| assembly.string(it));
            let place = assembly.string(assembly.row(place).ok()?.name).ok()?;
            Some((join(namespace.ok()?, name.ok()?), place.to_owned()))
        });
        let mut references: HashMap<Token, Vec<u32>> = HashMap::new();
        for row in assembly.rows::<GenericParamRow>().flatten() {
            if row
                .attributes
                .contains(GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT)
            {
                let numbers = references.entry(row.owner.token()).or_default();
                numbers.push(row.number.into());
            }
        }
        Self {
            forwards: forwards.collect(),
            references,
            is_core: types.contains_key("System.Object"),
            types,
            assembly,
        }
    }

    fn name(&self) -> Option<&'a str> {
        self.assembly.manifest().ok().map(|manifest| manifest.name)
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
            EnumType::Token(token) => self.framework.definition(self.member, *token)?,
            EnumType::Name(name) => {
                let (class, assembly) = reflected(name);
                let here = self.member.name()?;
                // Without an assembly it is this one or the core library.
                match assembly {
                    Some(assembly) => self.framework.find(assembly, &class)?,
                    None => self
                        .framework
                        .find(here, &class)
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
    pub fn owner(&self, member: impl Into<Token>) -> Option<TypeSig> {
        self.owner_of(member.into())
    }

    fn owner_of(&self, member: Token) -> Option<TypeSig> {
        self.owners.get(member, || {
            let assembly = &self.member.assembly;
            let owner = match member.table() {
                TokenTable::METHOD_DEF => {
                    let method = MethodDef::try_from(member).ok()?;
                    assembly.method_owner(method).ok()?.into()
                }
                TokenTable::FIELD_DEF => {
                    let field = FieldDef::try_from(member).ok()?;
                    assembly.field_owner(field).ok()?.into()
                }
                TokenTable::MEMBER_REF => {
                    let reference = token::MemberRef::try_from(member).ok()?;
                    match assembly.row(reference).ok()?.parent {
                        // A call with further arguments.
                        MemberRefParent::MethodDef(method) => return self.owner(method),
                        parent => TypeToken::try_from(parent.token()).ok()?,
                    }
                }
                TokenTable::METHOD_SPEC => {
                    let method = token::MethodSpec::try_from(member).ok()?;
                    return self.owner(assembly.row(method).ok()?.method);
                }
                _ => return None,
            };
            self.type_of(owner)
        })
    }

    /// The generic parameters in scope of a `MethodDef` that are constrained to reference types.
    #[must_use]
    pub fn references(&self, method: MethodDef) -> Vec<TypeSig> {
        let numbers = |token: Token| self.member.references.get(&token).into_iter().flatten();
        let owner = self.member.assembly.method_owner(method);
        let of_type = owner.into_iter().flat_map(|owner| numbers(owner.token()));
        let of_type = of_type.map(|&number| TypeSig::Var(number));
        let of_method = numbers(method.token()).map(|&number| TypeSig::MVar(number));
        of_type.chain(of_method).collect()
    }

    /// The type of a type token.
    fn type_of(&self, token: TypeToken) -> Option<TypeSig> {
        self.types.get(token.token(), || {
            if let TypeToken::Spec(token) = token {
                return Some(self.member.assembly.type_spec(token).ok()?.type_sig);
            }
            let (member, definition) = self.framework.definition(self.member, token)?;
            if member.is_core
                && let Ok(name) = member.assembly.full_name(definition.into())
                && let Some(primitive) = primitive(&name)
            {
                return Some(primitive);
            }
            Some(match member.assembly.type_kind(definition).ok()? {
                TypeKind::ValueType | TypeKind::Enum(_) => TypeSig::ValueType(token),
                TypeKind::Class | TypeKind::Interface => TypeSig::Class(token),
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
                    let spec = token::MethodSpec::try_from(token).ok()?;
                    let method = assembly.method_arguments(spec).ok()?.arguments;
                    signature.substitute(&self.type_arguments(token), &method)
                }
                _ => signature,
            })
        })
    }
}

impl Resolver for Tokens<'_, '_> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        self.method_of(token_of(method)?)
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        self.method_of(token_of(signature)?)
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let field = token_of(field)?;
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
        self.type_of(TypeToken::try_from(token_of(name)?).ok()?)
    }

    fn type_kind(&self, name: TypeToken) -> Option<symbol::TypeKind> {
        self.kinds.get(name, || {
            let (member, definition) = self.framework.definition(self.member, name)?;
            Some(match member.assembly.type_kind(definition).ok()? {
                TypeKind::Class | TypeKind::Interface => symbol::TypeKind::Class,
                TypeKind::ValueType => symbol::TypeKind::ValueType,
                TypeKind::Enum(values) => symbol::TypeKind::Enum(values),
            })
        })
    }

    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        self.owner(token_of(member)?)
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        let name = token_of(method).and_then(|token| self.member.assembly.member_name(token).ok());
        name.is_some_and(|name| name == ".ctor")
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        self.member.assembly.locals(token).ok()
    }

    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        let signature = self.member.assembly.method_signature(token_of(method)?);
        signature.as_ref().ok().map(CallShape::from)
    }
}

fn token_of(name: Reference<'_>) -> Option<Token> {
    match name {
        Reference::Token(token) => Some(token),
        Reference::Symbol(_) => None,
    }
}
