use super::{ResolutionCache, Tables};
use crate::signature::{FieldSig, LocalsSig, MethodSig, MethodSpecSig, TypeSig, TypeSpecSig};
use crate::symbol::{Reference, Resolver, Symbol, TypeKind};
use crate::token::{Token, TokenTable, TypeDef, TypeToken};

/// Resolves the tokens of one module; resolves symbols only as far as their text tells.
#[derive(Debug)]
pub struct MetadataResolver<'a, T> {
    tables: &'a T,
    cache: &'a ResolutionCache,
}

impl<'a, T: Tables> MetadataResolver<'a, T> {
    /// A resolver for a module with these cached results.
    #[must_use]
    pub fn new(tables: &'a T, cache: &'a ResolutionCache) -> Self {
        Self { tables, cache }
    }

    fn type_spec(&self, token: Token) -> Option<TypeSig> {
        let blob = self.tables.type_spec(token)?;
        Some(TypeSpecSig::parse(&blob).ok()?.type_sig)
    }

    /// The generic arguments of the type that declares a member.
    fn type_arguments(&self, parent: Token) -> Vec<TypeSig> {
        if parent.table() != TokenTable::TYPE_SPEC {
            return Vec::new();
        }
        match self.type_spec(parent) {
            Some(TypeSig::GenericInstance { arguments, .. }) => arguments,
            _ => Vec::new(),
        }
    }

    fn find_method(&self, token: Token) -> Option<MethodSig> {
        let (token, method_arguments) = if token.table() == TokenTable::METHOD_SPEC {
            let (generic, blob) = self.tables.method_spec(token)?;
            (generic, MethodSpecSig::parse(&blob).ok()?.arguments)
        } else {
            (token, Vec::new())
        };
        let is_method = [TokenTable::METHOD_DEF, TokenTable::MEMBER_REF].contains(&token.table());
        if !is_method {
            return None;
        }
        let member = self.tables.member(token)?;
        let method = MethodSig::parse(&member.signature).ok()?;
        let type_arguments = self.type_arguments(member.parent);
        // Substitutes both at once: the arguments are in terms of the caller's own parameters.
        Some(method.substitute(&type_arguments, &method_arguments))
    }

    /// Whether a type that the module defines is a value type.
    fn is_value_type(&self, class: Token) -> Option<bool> {
        let values = &self.cache.values;
        values.get(class, || self.find_whether_value_type(class))
    }

    fn find_whether_value_type(&self, class: Token) -> Option<bool> {
        let (name, base) = self.tables.type_name(class)?;
        if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
            return Some(false);
        }
        let (base, _) = self.tables.type_name(base)?;
        // `System.Enum` derives from `System.ValueType`, but is a class.
        Some(match base.as_str() {
            "System.Enum" => true,
            "System.ValueType" => name != "System.Enum",
            _ => false,
        })
    }

    /// The type of a `TypeDef`, `TypeRef` or `TypeSpec`, as far as this module knows it.
    fn type_of(&self, token: Token) -> Option<TypeSig> {
        let types = &self.cache.types;
        types.get(token, || self.find_type(token))
    }

    fn find_type(&self, token: Token) -> Option<TypeSig> {
        if token.table() == TokenTable::TYPE_SPEC {
            return self.type_spec(token);
        }
        let class = TypeToken::try_from(token).ok()?;
        if let TypeToken::Def(_) = class {
            let primitive = TypeSig::from_primitive_class(&self.tables.type_name(token)?.0);
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
        TypeSig::from_primitive_class(&self.tables.type_name(token)?.0)
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
            Reference::Token(token) => {
                let methods = &self.cache.methods;
                methods.get(token, || self.find_method(token))
            }
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        match signature {
            Reference::Token(token) => MethodSig::parse(&self.tables.stand_alone_sig(token)?).ok(),
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = field else {
            return None;
        };
        self.cache.fields.get(token, || {
            let member = self.tables.member(token)?;
            let field = FieldSig::parse(&member.signature).ok()?;
            let arguments = self.type_arguments(member.parent);
            Some(field.substitute(&arguments).field_type)
        })
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
            let (_, base) = self.tables.type_name(class.into())?;
            if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
                return Some(TypeKind::Class);
            }
            let (base, _) = self.tables.type_name(base)?;
            match base.as_str() {
                // The underlying type is not resolved.
                "System.Enum" => None,
                _ if self.is_value_type(class.into())? => Some(TypeKind::ValueType),
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
                TokenTable::METHOD_SPEC => self.tables.method_spec(token)?.0,
                _ => token,
            };
            self.type_of(self.tables.member(generic)?.parent)
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
                        let member = self.tables.member(token);
                        member.is_some_and(|member| member.name == ".ctor")
                    })
            }
            Reference::Symbol(Symbol::Method(method)) => &*method.name == ".ctor",
            Reference::Symbol(_) => false,
        }
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        LocalsSig::parse(&self.tables.stand_alone_sig(token)?).ok()
    }
}
