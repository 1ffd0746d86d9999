use std::sync::Arc;

use super::{MemberView, ResolutionCache, Tables, TypeNameView};
use crate::signature::{FieldSig, LocalsSig, MethodSig, MethodSpecSig, TypeSig, TypeSpecSig};
use crate::symbol::{Reference, ResolvedField, ResolvedMethod, Resolver, Symbol, TypeKind};
use crate::token::{Token, TokenTable, TypeDef, TypeToken};

/// Resolves the tokens of one module; resolves symbols only as far as their text tells.
#[derive(Debug)]
pub struct MetadataResolver<'a, T> {
    tables: &'a T,
    cache: &'a ResolutionCache,
}

/// The base type of a type, as far as it decides on the kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Enum,
    ValueType,
    Other,
}

fn is_enum(name: TypeNameView<'_>, _base: Token) -> bool {
    name.in_system() == Some("Enum")
}

/// The generic arguments of the type that declares a member.
fn type_arguments(declaring_type: Option<&TypeSig>) -> &[TypeSig] {
    match declaring_type {
        Some(TypeSig::GenericInstance { arguments, .. }) => arguments,
        _ => &[],
    }
}

impl<'a, T: Tables> MetadataResolver<'a, T> {
    /// A resolver for a module with these cached results.
    #[must_use]
    pub fn new(tables: &'a T, cache: &'a ResolutionCache) -> Self {
        Self { tables, cache }
    }

    fn find_method(&self, token: Token) -> Option<ResolvedMethod> {
        let (token, method_arguments) = if token.table() == TokenTable::METHOD_SPEC {
            let read = |generic, blob: &[u8]| Some((generic, MethodSpecSig::parse(blob).ok()?));
            let (generic, spec) = self.tables.with_method_spec(token, read)??;
            (generic, spec.arguments)
        } else {
            (token, Vec::new())
        };
        let is_method = [TokenTable::METHOD_DEF, TokenTable::MEMBER_REF].contains(&token.table());
        if !is_method {
            return None;
        }
        let (parent, signature) = self.tables.with_member(token, |member| {
            Some((member.parent, MethodSig::parse(member.signature).ok()?))
        })??;
        let declaring_type = self.type_of(parent);
        let type_arguments = type_arguments(declaring_type.as_ref());
        let is_open = type_arguments.is_empty() && method_arguments.is_empty();
        let signature = match is_open {
            true => signature,
            // Substitutes both at once: the arguments are in terms of the caller's own parameters.
            false => signature.substitute(type_arguments, &method_arguments),
        };
        Some(ResolvedMethod::new(signature, declaring_type))
    }

    fn find_field(&self, token: Token) -> Option<ResolvedField> {
        let (parent, field) = self.tables.with_member(token, |member| {
            Some((member.parent, FieldSig::parse(member.signature).ok()?))
        })??;
        let declaring_type = self.type_of(parent);
        let field_type = match type_arguments(declaring_type.as_ref()) {
            [] => field.field_type,
            arguments => field.substitute(arguments).field_type,
        };
        Some(ResolvedField::new(field_type, declaring_type))
    }

    fn known_method(&self, token: Token) -> Option<Arc<ResolvedMethod>> {
        let find = || self.find_method(token).map(Arc::new);
        self.cache.methods.get(token, find)
    }

    fn known_field(&self, token: Token) -> Option<Arc<ResolvedField>> {
        let find = || self.find_field(token).map(Arc::new);
        self.cache.fields.get(token, find)
    }

    /// Whether a type that the module defines is a value type.
    fn is_value_type(&self, class: Token) -> Option<bool> {
        let values = &self.cache.values;
        values.get(class, || self.find_whether_value_type(class))
    }

    fn find_whether_value_type(&self, class: Token) -> Option<bool> {
        Some(match self.base_of(class)? {
            // `System.Enum` derives from `System.ValueType`, but is a class.
            Base::Enum => true,
            Base::ValueType => !self.tables.with_type_name(class, is_enum)?,
            Base::Other => false,
        })
    }

    /// The base type of a type that the module defines.
    fn base_of(&self, class: Token) -> Option<Base> {
        let base = self.tables.with_type_name(class, |_, base| base)?;
        if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
            return Some(Base::Other);
        }
        self.tables
            .with_type_name(base, |name, _| match name.in_system() {
                Some("Enum") => Base::Enum,
                Some("ValueType") => Base::ValueType,
                _ => Base::Other,
            })
    }

    /// The type of a `TypeDef`, `TypeRef` or `TypeSpec`, as far as this module knows it.
    fn type_of(&self, token: Token) -> Option<TypeSig> {
        let types = &self.cache.types;
        types.get(token, || self.find_type(token))
    }

    fn find_type(&self, token: Token) -> Option<TypeSig> {
        if token.table() == TokenTable::TYPE_SPEC {
            let read = |blob: &[u8]| Some(TypeSpecSig::parse(blob).ok()?.type_sig);
            return self.tables.with_type_spec(token, read)?;
        }
        let class = TypeToken::try_from(token).ok()?;
        let primitive = self.tables.with_type_name(token, |name, _| {
            TypeSig::from_system_class(name.in_system()?)
        })?;
        if let TypeToken::Def(_) = class {
            if primitive.is_some() && self.tables.is_core_library() {
                return primitive;
            }
            return Some(if self.is_value_type(token)? {
                TypeSig::ValueType(class)
            } else {
                TypeSig::Class(class)
            });
        }
        // Whether a type of another module is a value type is not known here.
        primitive
    }

    /// A type of the module as its own code sees it: for a generic type, the instance over its own
    /// parameters, of which `parameters` is the number.
    #[must_use]
    pub fn own_instance(&self, class: TypeDef, parameters: u32) -> TypeSig {
        let is_value_type = self.is_in_value_type(class.into());
        let definition = class.into();
        match (parameters, is_value_type) {
            (0, true) => TypeSig::ValueType(definition),
            (0, false) => TypeSig::Class(definition),
            (count, is_value_type) => TypeSig::GenericInstance {
                is_value_type,
                definition,
                arguments: (0..count).map(TypeSig::Var).collect(),
            },
        }
    }

    /// Whether a type of the module is known to be a value type; its constructors then call none.
    #[must_use]
    pub fn is_in_value_type(&self, class: Token) -> bool {
        self.is_value_type(class).unwrap_or(false)
    }
}

impl<T: Tables> Resolver for MetadataResolver<'_, T> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        match method {
            Reference::Token(token) => Some(self.known_method(token)?.signature.clone()),
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        match signature {
            Reference::Token(token) => {
                let read = |blob: &[u8]| MethodSig::parse(blob).ok();
                self.tables.with_stand_alone_sig(token, read)?
            }
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = field else {
            return None;
        };
        Some(self.known_field(token)?.field_type.clone())
    }

    fn type_sig(&self, name: Reference<'_>) -> Option<TypeSig> {
        match name {
            Reference::Token(token) => self.type_of(token),
            Reference::Symbol(_) => None,
        }
    }

    fn type_kind(&self, name: TypeToken) -> Option<TypeKind> {
        let TypeToken::Def(class) = name else {
            // A type of another module.
            return None;
        };
        self.cache.kinds.get(name, || {
            let class = Token::from(class);
            match self.base_of(class)? {
                // The underlying type is not resolved.
                Base::Enum => None,
                _ if self.is_value_type(class)? => Some(TypeKind::ValueType),
                _ => Some(TypeKind::Class),
            }
        })
    }

    fn declaring_type(&self, method: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = method else {
            return None;
        };
        self.cache.owners.get(token, || {
            let generic = match token.table() {
                TokenTable::METHOD_SPEC => {
                    self.tables.with_method_spec(token, |generic, _| generic)?
                }
                _ => token,
            };
            let parent = self.tables.with_member(generic, |member| member.parent)?;
            self.type_of(parent)
        })
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        match method {
            Reference::Token(token) => {
                let table = token.table();
                let is_method = table == TokenTable::METHOD_DEF || table == TokenTable::MEMBER_REF;
                let constructors = &self.cache.constructors;
                is_method
                    && constructors.get(token, || {
                        let is_constructor = |member: MemberView<'_>| member.name == ".ctor";
                        self.tables.with_member(token, is_constructor) == Some(true)
                    })
            }
            Reference::Symbol(Symbol::Method(method)) => &*method.name == ".ctor",
            Reference::Symbol(_) => false,
        }
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        let read = |blob: &[u8]| LocalsSig::parse(blob).ok();
        self.tables.with_stand_alone_sig(token, read)?
    }

    fn resolved_method(&self, method: Reference<'_>) -> Option<Arc<ResolvedMethod>> {
        match method {
            Reference::Token(token) => self.known_method(token),
            Reference::Symbol(_) => {
                let signature = self.method(method)?;
                Some(Arc::new(ResolvedMethod::new(signature, None)))
            }
        }
    }

    fn resolved_field(&self, field: Reference<'_>) -> Option<Arc<ResolvedField>> {
        match field {
            Reference::Token(token) => self.known_field(token),
            Reference::Symbol(_) => None,
        }
    }
}
