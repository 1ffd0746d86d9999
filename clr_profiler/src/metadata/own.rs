//! The answers of a module's own metadata to calls of the metadata interfaces: equal to those of the runtime.
//!
//! `None` means that the runtime is called: the row was added later, or is malformed.

use super::import::{MemberRefProps, MethodProps, ScopeProps, TypeDefProps, TypeRefProps};
use super::import2::{GenericParamProps, MethodSpecProps};
#[cfg(feature = "rewrite")]
use clr_metadata::Implementation;
use clr_metadata::rows::{GenericParamRow, ModuleRow, RowToken};
use clr_metadata::{BlobIndex, MemberRefParent, Metadata, StringIndex};
#[cfg(feature = "rewrite")]
use clr_profiler_il::attributes::MemberAttributes;
#[cfg(feature = "rewrite")]
use clr_profiler_il::metadata::{MemberView, TypeNameView};
#[cfg(feature = "rewrite")]
use clr_profiler_il::token::{Assembly, AssemblyRef, ExportedType, TokenTable, TypeToken};
use clr_profiler_il::token::{
    FieldDef, GenericParam, MemberRef, MethodDef, MethodSpec, StandAloneSig, Token, TypeDef,
    TypeRef, TypeSpec,
};
use uuid::Uuid;

fn row<T: RowToken>(own: &Metadata<'_>, token: T) -> Option<T::Row> {
    own.row(token).ok()
}

fn text(own: &Metadata<'_>, index: StringIndex) -> Option<String> {
    own.string(index).ok().map(str::to_owned)
}

fn blob(own: &Metadata<'_>, index: BlobIndex) -> Option<Vec<u8>> {
    own.blob(index).ok().map(<[u8]>::to_vec)
}

/// The name of a type with its namespace.
fn type_name(own: &Metadata<'_>, namespace: StringIndex, name: StringIndex) -> Option<String> {
    let (namespace, name) = (own.string(namespace).ok()?, own.string(name).ok()?);
    Some(match namespace {
        "" => name.to_owned(),
        _ => [namespace, ".", name].concat(),
    })
}

/// The first type, `<Module>`, has the global members; the runtime returns nil for it.
fn unless_global(class: TypeDef) -> TypeDef {
    if class.row() == 1 {
        TypeDef::NIL
    } else {
        class
    }
}

pub(crate) fn scope_props(own: &Metadata<'_>) -> Option<ScopeProps> {
    let row = own.rows::<ModuleRow>().next()?.ok()?;
    Some(ScopeProps {
        name: text(own, row.name)?,
        mvid: Uuid::from_bytes_le(own.guid(row.mvid).ok()??),
    })
}

pub(crate) fn type_def_props(own: &Metadata<'_>, class: TypeDef) -> Option<TypeDefProps> {
    let row = row(own, class)?;
    Some(TypeDefProps {
        name: type_name(own, row.namespace, row.name)?,
        attributes: row.attributes,
        // For no base type, the runtime names a reference without a row.
        extends: match row.extends.is_nil() {
            true => TypeRef::NIL.into(),
            false => row.extends.token(),
        },
    })
}

pub(crate) fn nested_class_props(own: &Metadata<'_>, class: TypeDef) -> Option<Option<TypeDef>> {
    // Of a type that was added later, nothing is known here.
    row(own, class)?;
    Some(own.enclosing_type(class))
}

pub(crate) fn type_ref_props(own: &Metadata<'_>, class: TypeRef) -> Option<TypeRefProps> {
    let row = row(own, class)?;
    Some(TypeRefProps {
        resolution_scope: row.scope.into(),
        name: type_name(own, row.namespace, row.name)?,
    })
}

pub(crate) fn type_spec_from_token(own: &Metadata<'_>, type_spec: TypeSpec) -> Option<Vec<u8>> {
    blob(own, row(own, type_spec)?.signature)
}

pub(crate) fn sig_from_token(own: &Metadata<'_>, token: StandAloneSig) -> Option<Vec<u8>> {
    blob(own, row(own, token)?.signature)
}

pub(crate) fn method_props(own: &Metadata<'_>, method: MethodDef) -> Option<MethodProps> {
    let row = row(own, method)?;
    Some(MethodProps {
        class: unless_global(own.method_owner(method).ok()?),
        name: text(own, row.name)?,
        attributes: row.attributes,
        signature_blob: blob(own, row.signature)?,
        rva: row.rva,
        implementation: row.implementation,
    })
}

pub(crate) fn method_parts(
    own: &Metadata<'_>,
    method: MethodDef,
) -> Option<(TypeDef, String, Vec<u8>)> {
    let row = row(own, method)?;
    let class = unless_global(own.method_owner(method).ok()?);
    Some((class, text(own, row.name)?, blob(own, row.signature)?))
}

pub(crate) fn field_parts(
    own: &Metadata<'_>,
    field: FieldDef,
) -> Option<(TypeDef, String, Vec<u8>)> {
    let row = row(own, field)?;
    let class = unless_global(own.field_owner(field).ok()?);
    Some((class, text(own, row.name)?, blob(own, row.signature)?))
}

pub(crate) fn member_ref_props(own: &Metadata<'_>, member: MemberRef) -> Option<MemberRefProps> {
    let row = row(own, member)?;
    Some(MemberRefProps {
        parent: match row.parent {
            MemberRefParent::TypeDef(class) => unless_global(class).into(),
            parent => parent.into(),
        },
        name: text(own, row.name)?,
        signature_blob: blob(own, row.signature)?,
    })
}

/// The types, without that of global methods.
pub(crate) fn type_defs(own: &Metadata<'_>) -> impl Iterator<Item = TypeDef> {
    own.tokens::<TypeDef>().skip(1)
}

/// The name of the assembly, if the module has its manifest.
#[cfg(feature = "rewrite")]
pub(crate) fn assembly_name(own: &Metadata<'_>) -> Option<Option<String>> {
    match own.tokens::<Assembly>().next() {
        Some(assembly) => Some(Some(text(own, row(own, assembly)?.name)?)),
        None => Some(None),
    }
}

/// The assemblies that the module refers to.
#[cfg(feature = "rewrite")]
pub(crate) fn assembly_refs(own: &Metadata<'_>) -> Option<Vec<(String, Token)>> {
    let references = own.tokens::<AssemblyRef>();
    references
        .map(|reference| Some((text(own, row(own, reference)?.name)?, reference.into())))
        .collect()
}

/// The type with this name, or nested type with this name of its own; nil if there is none.
pub(crate) fn type_def(own: &Metadata<'_>, name: &str, outer: Option<TypeDef>) -> Option<TypeDef> {
    for class in type_defs(own) {
        let row = row(own, class)?;
        // Cheaper than all other comparisons.
        if name.as_bytes().ends_with(own.string_bytes(row.name).ok()?)
            && type_name(own, row.namespace, row.name)? == name
            && own.enclosing_type(class) == outer
        {
            return Some(class);
        }
    }
    Some(TypeDef::NIL)
}

/// The method or field of a type with this name and signature; nil if there is none.
#[cfg(feature = "rewrite")]
pub(crate) fn member_def(
    own: &Metadata<'_>,
    class: TypeDef,
    name: &str,
    signature: &[u8],
) -> Option<Token> {
    row(own, class)?;
    let methods = own.methods(class).map(Token::from);
    for token in methods.chain(own.fields(class).map(Token::from)) {
        let member = member(own, token)?;
        if member.name == name && member.signature == signature {
            return Some(token);
        }
    }
    Some(MethodDef::NIL.into())
}

/// The methods and fields of a type with this name: their attributes and signatures.
#[cfg(feature = "rewrite")]
pub(crate) fn members_with_name(
    own: &Metadata<'_>,
    class: TypeDef,
    name: &str,
) -> Option<Vec<(MemberAttributes, Vec<u8>)>> {
    row(own, class)?;
    let mut found = Vec::new();
    for method in own.methods(class) {
        let row = row(own, method)?;
        if own.string(row.name).ok()? == name {
            let attributes = MemberAttributes::from_bits_retain(row.attributes.bits());
            found.push((attributes, blob(own, row.signature)?));
        }
    }
    for field in own.fields(class) {
        let row = row(own, field)?;
        if own.string(row.name).ok()? == name {
            let attributes = MemberAttributes::from_bits_retain(row.attributes.bits());
            found.push((attributes, blob(own, row.signature)?));
        }
    }
    Some(found)
}

/// The assembly to which a module forwards a type that is not nested. The runtime is asked about others.
#[cfg(feature = "rewrite")]
pub(crate) fn forwarded(own: &Metadata<'_>, name: &str) -> Option<Option<String>> {
    for exported in own.tokens::<ExportedType>() {
        let row = row(own, exported)?;
        // Cheaper than all other comparisons.
        if name.as_bytes().ends_with(own.string_bytes(row.name).ok()?)
            && type_name(own, row.namespace, row.name)? == name
            && let Implementation::AssemblyRef(assembly) = row.implementation
        {
            let assembly = self::row(own, assembly)?;
            return Some(Some(text(own, assembly.name)?));
        }
    }
    match own.row_count(TokenTable::EXPORTED_TYPE) {
        0 => Some(None),
        _ => None,
    }
}

/// The method or field of a token, without copies.
#[cfg(feature = "rewrite")]
pub(crate) fn member<'a>(own: &Metadata<'a>, token: Token) -> Option<MemberView<'a>> {
    let (parent, name, signature) = match token.table() {
        TokenTable::METHOD_DEF => {
            let method = MethodDef::try_from(token).ok()?;
            let row = row(own, method)?;
            let class = unless_global(own.method_owner(method).ok()?);
            (class.into(), row.name, row.signature)
        }
        TokenTable::FIELD_DEF => {
            let field = FieldDef::try_from(token).ok()?;
            let row = row(own, field)?;
            let class = unless_global(own.field_owner(field).ok()?);
            (class.into(), row.name, row.signature)
        }
        _ => {
            let row = row(own, MemberRef::try_from(token).ok()?)?;
            let parent = match row.parent {
                MemberRefParent::TypeDef(class) => unless_global(class).into(),
                parent => parent.into(),
            };
            (parent, row.name, row.signature)
        }
    };
    Some(MemberView {
        parent,
        name: own.string(name).ok()?,
        signature: own.blob(signature).ok()?,
    })
}

/// The name of a type without copies, and its base type or resolution scope.
#[cfg(feature = "rewrite")]
pub(crate) fn type_name_view<'a>(
    own: &Metadata<'a>,
    class: TypeToken,
) -> Option<(TypeNameView<'a>, Token)> {
    let (namespace, name, other) = match class {
        TypeToken::Def(class) => {
            let row = row(own, class)?;
            let base = match row.extends.is_nil() {
                true => TypeRef::NIL.into(),
                false => row.extends.token(),
            };
            (row.namespace, row.name, base)
        }
        TypeToken::Ref(class) => {
            let row = row(own, class)?;
            (row.namespace, row.name, row.scope.into())
        }
        TypeToken::Spec(_) => return None,
    };
    let (namespace, name) = (own.string(namespace).ok()?, own.string(name).ok()?);
    Some((TypeNameView { namespace, name }, other))
}

/// The blob of a `TypeSpec`.
#[cfg(feature = "rewrite")]
pub(crate) fn type_spec_blob<'a>(own: &Metadata<'a>, token: TypeSpec) -> Option<&'a [u8]> {
    own.blob(row(own, token)?.signature).ok()
}

/// The blob of a `StandAloneSig`.
#[cfg(feature = "rewrite")]
pub(crate) fn stand_alone_blob<'a>(own: &Metadata<'a>, token: StandAloneSig) -> Option<&'a [u8]> {
    own.blob(row(own, token)?.signature).ok()
}

/// The generic method of a `MethodSpec`, and the blob of its arguments.
#[cfg(feature = "rewrite")]
pub(crate) fn method_spec<'a>(own: &Metadata<'a>, token: MethodSpec) -> Option<(Token, &'a [u8])> {
    let row = row(own, token)?;
    Some((row.method.into(), own.blob(row.instantiation).ok()?))
}

pub(crate) fn method_spec_props(own: &Metadata<'_>, method: MethodSpec) -> Option<MethodSpecProps> {
    let row = row(own, method)?;
    Some(MethodSpecProps {
        parent: row.method.into(),
        signature_blob: blob(own, row.instantiation)?,
    })
}

pub(crate) fn generic_param_props(
    own: &Metadata<'_>,
    parameter: GenericParam,
) -> Option<GenericParamProps> {
    props_of(own, &row(own, parameter)?)
}

fn props_of(own: &Metadata<'_>, row: &GenericParamRow) -> Option<GenericParamProps> {
    Some(GenericParamProps {
        number: row.number.into(),
        attributes: row.attributes,
        owner: row.owner.into(),
        name: text(own, row.name)?,
    })
}

/// The generic parameters of a type or method.
pub(crate) fn generic_params(own: &Metadata<'_>, owner: Token) -> Option<Vec<GenericParamProps>> {
    let owner = match (TypeDef::try_from(owner), MethodDef::try_from(owner)) {
        (Ok(class), _) => {
            row(own, class)?;
            clr_metadata::TypeOrMethodDef::TypeDef(class)
        }
        (_, Ok(method)) => {
            row(own, method)?;
            clr_metadata::TypeOrMethodDef::MethodDef(method)
        }
        _ => return None,
    };
    let rows = own.rows_of::<GenericParamRow>(owner);
    rows.map(|row| props_of(own, &row.ok()?)).collect()
}
