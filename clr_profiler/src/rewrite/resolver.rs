//! [`MetadataResolver`]: what stands behind the tokens of a module.

use super::answers::Answers;
use super::primitives::primitive_of;
use super::scope::Scope;
use super::store::Module;
use crate::error::Result;
use crate::metadata::{Metadata, MetadataImport2};
use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MethodSig, MethodSpecSig, TypeSig, TypeSpecSig,
};
use clr_profiler_il::symbol::{Reference, Resolver, Symbol, TypeKind};
use clr_profiler_il::token::{Token, TokenTable, TypeDef, TypeToken};

/// Knows the tokens of one module; of symbols, no more than what their text says.
pub(super) struct MetadataResolver<'a, 'info> {
    scope: &'a Scope<'info>,
    answers: &'a Answers,
}

impl<'a, 'info> MetadataResolver<'a, 'info> {
    /// Of the module, of which something may be known.
    pub(super) fn new(scope: &'a Scope<'info>, module: &'a Module) -> Self {
        let answers = &module.answers;
        Self { scope, answers }
    }

    /// What is known of the module's tokens.
    pub(super) fn answers(&self) -> &'a Answers {
        self.answers
    }

    fn type_spec(&self, token: Token) -> Option<TypeSig> {
        let blob = self.scope.type_spec(token).ok()?;
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
            let (generic, blob) = self.scope.method_spec(token).ok()?;
            (generic, MethodSpecSig::parse(&blob).ok()?.arguments)
        } else {
            (token, Vec::new())
        };
        let is_method = [TokenTable::METHOD_DEF, TokenTable::MEMBER_REF].contains(&token.table());
        if !is_method {
            return None;
        }
        let member = self.scope.member(token).ok()?;
        let method = MethodSig::parse(&member.signature).ok()?;
        let type_arguments = self.type_arguments(member.parent);
        // Both at once: what is put in is in terms of the caller's own parameters.
        Some(method.substitute(&type_arguments, &method_arguments))
    }

    /// Whether a type that the module defines is a value type.
    fn is_value_type(&self, class: Token) -> Option<bool> {
        let values = &self.answers.values;
        values.get(class, || self.find_whether_value_type(class))
    }

    fn find_whether_value_type(&self, class: Token) -> Option<bool> {
        let (name, base) = self.scope.type_name(class).ok()?;
        if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
            return Some(false);
        }
        let (base, _) = self.scope.type_name(base).ok()?;
        // `System.Enum` derives from `System.ValueType` and is a class.
        Some(match base.as_str() {
            "System.Enum" => true,
            "System.ValueType" => name != "System.Enum",
            _ => false,
        })
    }

    /// The type behind a `TypeDef`, `TypeRef` or `TypeSpec`, where it can be told from this module.
    fn type_of(&self, token: Token) -> Option<TypeSig> {
        let types = &self.answers.types;
        types.get(token, || self.find_type(token))
    }

    fn find_type(&self, token: Token) -> Option<TypeSig> {
        if token.table() == TokenTable::TYPE_SPEC {
            return self.type_spec(token);
        }
        let class = TypeToken::try_from(token).ok()?;
        if let TypeToken::Def(_) = class {
            let primitive = primitive_of(&self.scope.type_name(token).ok()?.0);
            if primitive.is_some() && self.scope.is_core_library() {
                return primitive;
            }
            return Some(if self.is_value_type(token)? {
                TypeSig::ValueType(class)
            } else {
                TypeSig::Class(class)
            });
        }
        // Whether a type of another module is a value type is not known here.
        primitive_of(&self.scope.type_name(token).ok()?.0)
    }

    /// A type that the module defines, as its own code sees it: of a generic type, the instance of its
    /// own parameters.
    pub(super) fn own_instance(&self, metadata: &Metadata<'_>, class: TypeDef) -> Result<TypeSig> {
        let mut arguments = Vec::new();
        for (number, parameter) in (0..).zip(metadata.generic_params(class)) {
            parameter?;
            arguments.push(TypeSig::Var(number));
        }
        let is_value_type = self.is_in_value_type(class.into());
        let definition = class.into();
        Ok(match (arguments.is_empty(), is_value_type) {
            (false, is_value_type) => TypeSig::GenericInstance {
                is_value_type,
                definition,
                arguments,
            },
            (true, true) => TypeSig::ValueType(definition),
            (true, false) => TypeSig::Class(definition),
        })
    }

    /// Whether the type that declares a method is a value type: then its constructors call none.
    pub(super) fn is_in_value_type(&self, class: Token) -> bool {
        self.is_value_type(class).unwrap_or(false)
    }
}

impl Resolver for MetadataResolver<'_, '_> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        match method {
            Reference::Token(token) => {
                let methods = &self.answers.methods;
                methods.get(token, || self.find_method(token))
            }
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        match signature {
            Reference::Token(token) => {
                MethodSig::parse(&self.scope.stand_alone_sig(token).ok()?).ok()
            }
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            Reference::Symbol(_) => None,
        }
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = field else {
            return None;
        };
        self.answers.fields.get(token, || {
            let member = self.scope.member(token).ok()?;
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
            // Of another module.
            return None;
        };
        self.answers.kinds.get(name, || {
            let (_, base) = self.scope.type_name(class.into()).ok()?;
            if base.is_nil() || base.table() == TokenTable::TYPE_SPEC {
                return Some(TypeKind::Class);
            }
            let (base, _) = self.scope.type_name(base).ok()?;
            match base.as_str() {
                // The type of the values is not looked up.
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
        self.answers.owners.get(token, || {
            let generic = match token.table() {
                TokenTable::METHOD_SPEC => self.scope.method_spec(token).ok()?.0,
                _ => token,
            };
            self.type_of(self.scope.member(generic).ok()?.parent)
        })
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        match method {
            Reference::Token(token) => {
                let table = token.table();
                let is_method = table == TokenTable::METHOD_DEF || table == TokenTable::MEMBER_REF;
                let constructors = &self.answers.constructors;
                is_method
                    && constructors.get(token, || {
                        let member = self.scope.member(token);
                        member.is_ok_and(|member| member.name == ".ctor")
                    })
            }
            Reference::Symbol(Symbol::Method(method)) => &*method.name == ".ctor",
            Reference::Symbol(_) => false,
        }
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        LocalsSig::parse(&self.scope.stand_alone_sig(token).ok()?).ok()
    }
}
