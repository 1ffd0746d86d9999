//! Custom attributes with their values, by the name of their type.

use super::assembly::MetadataAssemblyImport;
use super::handle::Metadata;
use super::import::MetadataImport;
use super::names::{find_type_def, nested_names, token_name};
use crate::error::{Error, Result};
use clr_profiler_il::attribute::{ArgumentValue, AttributeErrorKind, AttributeValue, EnumType};
use clr_profiler_il::signature::{MemberRefSig, MethodSig, TypeSig};
use clr_profiler_il::token::{
    CustomAttribute, MemberRef, MethodDef, Token, TypeDef, TypeSpec, TypeToken,
};

impl Metadata<'_> {
    /// The arguments of an item's custom attribute, by the full name of its type; of the first one if there
    /// are several.
    ///
    /// Names of nested types contain a `+`, those of generic types their arity: `` Shop.Outer+Labels`1 ``.
    /// Values of enumerations that this module does not define cannot be read, because their size is not
    /// known: [`attribute_with`](Self::attribute_with) asks for it.
    /// [`custom_attribute_by_name`](crate::metadata::MetadataImport) returns the bytes. **Context**: not
    /// during a collection.
    ///
    /// # Errors
    ///
    /// A value is of an enumeration of another module; a value violates ECMA-335 II.23.3; the error of the
    /// native call.
    ///
    /// ```
    /// use clr_profiler::prelude::*;
    ///
    /// fn is_old(metadata: &Metadata<'_>, method: MethodDef) -> Result<bool> {
    ///     Ok(metadata.attribute(method, "System.ObsoleteAttribute")?.is_some())
    /// }
    /// ```
    pub fn attribute(
        &self,
        owner: impl Into<Token>,
        type_name: &str,
    ) -> Result<Option<AttributeValue>> {
        self.attribute_with(owner, type_name, |_| None)
    }

    /// Like [`attribute`](Self::attribute), with `elsewhere`, which returns the underlying type of an
    /// enumeration of another module. Its argument is the name of the enumeration in the form of the
    /// metadata: for a named or boxed argument it includes the assembly.
    ///
    /// # Errors
    ///
    /// Those of [`attribute`](Self::attribute), for enumerations that `elsewhere` does not know.
    pub fn attribute_with(
        &self,
        owner: impl Into<Token>,
        type_name: &str,
        mut elsewhere: impl FnMut(&str) -> Option<TypeSig>,
    ) -> Result<Option<AttributeValue>> {
        let Some(attribute) = self.attributes_of(owner.into(), type_name).next() else {
            return Ok(None);
        };
        let (value, parameters) = attribute?;
        let mut failed = None;
        let value = AttributeValue::decode(&value, &parameters, |of| {
            let found = self.underlying(of, &mut elsewhere);
            found.unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        });
        match (value, failed) {
            (_, Some(error)) => Err(error),
            (Ok(value), None) => Ok(Some(value)),
            (Err(error), None) => Err(self.explained(type_name, &error)),
        }
    }

    /// The first arguments of all attributes of a type, which are strings.
    pub(crate) fn attribute_texts(
        &self,
        owner: impl Into<Token>,
        type_name: &str,
    ) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for attribute in self.attributes_of(owner.into(), type_name) {
            let (value, parameters) = attribute?;
            let value = AttributeValue::decode(&value, &parameters, |_| None);
            let value = value.map_err(|error| self.explained(type_name, &error))?;
            if let Some(ArgumentValue::String(Some(text))) = value.fixed.into_iter().next() {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    /// The values of an item's attributes whose type has this name, with the types of their constructors'
    /// parameters.
    fn attributes_of(
        &self,
        owner: Token,
        type_name: &str,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Vec<TypeSig>)>> {
        let value = move |attribute: Result<CustomAttribute>| {
            let props = self.custom_attribute_props(attribute?)?;
            let (class, signature) = self.constructor(props.constructor)?;
            let (name, arguments) = self.attribute_type(class)?;
            if name != type_name {
                return Ok(None);
            }
            let mut parameters = signature.params;
            for parameter in &mut parameters {
                substitute(parameter, &arguments);
            }
            Ok(Some((props.value, parameters)))
        };
        let attributes = self.custom_attributes(Some(owner), None);
        attributes.filter_map(move |attribute| value(attribute).transpose())
    }

    /// The types of an item's attributes, in source form without generic arguments.
    pub(crate) fn attribute_types(&self, owner: Token) -> Result<Vec<String>> {
        let name = |attribute: Result<CustomAttribute>| {
            let props = self.custom_attribute_props(attribute?)?;
            let (class, _) = self.constructor(props.constructor)?;
            token_name(self, class, None)
        };
        let attributes = self.custom_attributes(Some(owner), None);
        attributes.map(name).collect()
    }

    fn explained(
        &self,
        type_name: &str,
        error: &clr_profiler_il::attribute::AttributeError,
    ) -> Error {
        const CALL: &str = "Metadata::attribute";
        match error.kind() {
            AttributeErrorKind::UnknownEnum(of) => {
                let name = match of {
                    EnumType::Token(token) => self.class_name(*token),
                    EnumType::Name(name) => Ok(name.to_string()),
                };
                Error::invalid(
                    CALL,
                    format_args!(
                        "{type_name} has a value of the enumeration {}, which is of another module: \
                         return its underlying type in `attribute_with`",
                        name.unwrap_or_else(|_| of.to_string())
                    ),
                )
            }
            _ => Error::invalid(CALL, format_args!("{type_name}: {error}")),
        }
    }

    /// The type and the signature of an attribute's constructor.
    fn constructor(&self, constructor: Token) -> Result<(TypeToken, MethodSig)> {
        if let Ok(method) = MethodDef::try_from(constructor) {
            let props = self.method_props(method)?;
            return Ok((props.class.into(), props.signature()?));
        }
        let props =
            self.member_ref_props(MemberRef::try_from(constructor).map_err(Error::other)?)?;
        let class = TypeToken::try_from(props.parent).map_err(Error::other)?;
        match props.signature()? {
            MemberRefSig::Method(signature) => Ok((class, signature)),
            MemberRefSig::Field(_) => Err(Error::invalid(
                "IMetaDataImport::GetCustomAttributeProps",
                format_args!("the constructor {constructor} is a field"),
            )),
        }
    }

    /// The name of an attribute's type, and the arguments of its generic parameters.
    fn attribute_type(&self, class: TypeToken) -> Result<(String, Vec<TypeSig>)> {
        if let TypeToken::Spec(specification) = class
            && let TypeSig::GenericInstance {
                definition,
                arguments,
                ..
            } = self.type_spec(specification)?.type_sig
        {
            return Ok((self.class_name(definition)?, arguments));
        }
        Ok((self.class_name(class)?, Vec::new()))
    }

    /// The generic type of an instance; `None` for arrays and other composed types.
    pub(crate) fn generic_definition(&self, class: TypeSpec) -> Result<Option<TypeToken>> {
        Ok(match self.type_spec(class)?.type_sig {
            TypeSig::GenericInstance { definition, .. } => Some(definition),
            _ => None,
        })
    }

    /// The full name of a type, as in reflection.
    fn class_name(&self, class: TypeToken) -> Result<String> {
        Ok(nested_names(self, class)?.join("+"))
    }

    /// The underlying type of an enumeration.
    fn underlying(
        &self,
        of: &EnumType,
        elsewhere: &mut impl FnMut(&str) -> Option<TypeSig>,
    ) -> Result<Option<TypeSig>> {
        match of {
            EnumType::Token(TypeToken::Def(class)) => self.values_of(*class),
            EnumType::Token(class) => Ok(elsewhere(&self.class_name(*class)?)),
            EnumType::Name(name) => match self.defined(name) {
                Some(class) => self.values_of(class),
                None => Ok(elsewhere(name)),
            },
        }
    }

    /// The type of this module with this name, which names this assembly or none.
    fn defined(&self, name: &str) -> Option<TypeDef> {
        let (name, assembly) = match name.split_once(',') {
            Some((name, assembly)) => (name, assembly.split(',').next()),
            None => (name, None),
        };
        if let Some(assembly) = assembly {
            let this = self.assembly_from_scope().ok()??;
            if self.assembly_props(this).ok()?.name != assembly.trim() {
                return None;
            }
        }
        find_type_def(self, name.split('+')).ok()?
    }

    /// The type of the only instance field of an enumeration.
    fn values_of(&self, class: TypeDef) -> Result<Option<TypeSig>> {
        for field in self.fields(class) {
            let props = self.field_props(field?)?;
            if !props.attributes.is_static() {
                return Ok(Some(props.signature()?.field_type));
            }
        }
        Ok(None)
    }
}

/// Replaces a generic parameter by its argument.
fn substitute(parameter: &mut TypeSig, arguments: &[TypeSig]) {
    match parameter {
        TypeSig::Var(number) => {
            if let Some(argument) = arguments.get(*number as usize) {
                *parameter = argument.clone();
            }
        }
        TypeSig::SzArray(element) => substitute(element, arguments),
        _ => {}
    }
}
