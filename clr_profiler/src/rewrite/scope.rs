//! [`Scope`]: the metadata of one module as rewriting reads and extends it.

use std::cell::{Cell, OnceCell};
use std::fmt::Display;

use crate::error::Result;
use crate::ids::ModuleId;
use crate::metadata::{
    Encoded, Metadata, MetadataAssemblyEmit, MetadataAssemblyImport, MetadataEmit2,
    MetadataEmitReferences, MetadataImport2, MetadataImportMembers, MetadataImportSignatures,
    MetadataImportTypes, MetadataWriter, NewAssemblyRef,
};
use crate::native;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::{
    MemberRef, MethodSpec, StandAloneSig, Token, TokenTable, TypeDef, TypeRef, TypeSpec, UserString,
};

/// Where the runtime's own types are.
pub(super) const CORE_LIBRARY: &str = "System.Private.CoreLib";

/// Metadata of a module; opened for writing only when something is added to it, since the runtime
/// is slower with a module from then on.
pub(super) struct Scope<'info> {
    info: &'info ProfilerInfo,
    module: ModuleId,
    read: Metadata<'info>,
    write: OnceCell<MetadataWriter<'info>>,
    changed: Cell<bool>,
    is_core_library: OnceCell<bool>,
}

/// A method or field, defined or referenced.
pub(super) struct Member {
    pub(super) parent: Token,
    pub(super) name: String,
    pub(super) signature: Vec<u8>,
}

impl<'info> Scope<'info> {
    pub(super) fn open(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        Ok(Self {
            info,
            module,
            read: Metadata::of_module(info, module)?,
            write: OnceCell::new(),
            changed: Cell::new(false),
            is_core_library: OnceCell::new(),
        })
    }

    pub(super) fn info(&self) -> &'info ProfilerInfo {
        self.info
    }

    pub(super) fn module(&self) -> ModuleId {
        self.module
    }

    /// Whether anything was added by this handle since it was asked the last time.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.take()
    }

    /// The metadata, with what was added.
    fn metadata(&self) -> &Metadata<'info> {
        self.write.get().map_or(&self.read, |writer| writer)
    }

    fn writer(&self) -> Result<&MetadataWriter<'info>> {
        self.changed.set(true);
        if let Some(writer) = self.write.get() {
            return Ok(writer);
        }
        let writer = MetadataWriter::of_module(self.info, self.module)?;
        Ok(self.write.get_or_init(|| writer))
    }
}

/// What was looked for, where there is such a thing.
fn found<T: Into<Token> + Copy>(answer: Result<T>) -> Result<Option<T>> {
    Ok(native::found(answer)?.filter(|token| !(*token).into().is_nil()))
}

/// The token as one of the kind that a call takes.
fn as_kind<T: TryFrom<Token, Error: Display>>(token: Token) -> Result<T> {
    native::typed("the token", token.raw())
}

/// Reading.
impl Scope<'_> {
    /// The method or field behind a `MethodDef`, `FieldDef` or `MemberRef`.
    pub(super) fn member(&self, token: Token) -> Result<Member> {
        let metadata = self.metadata();
        let (parent, name, signature) = match token.table() {
            TokenTable::METHOD_DEF => {
                let (class, name, signature) = metadata.method_parts(as_kind(token)?)?;
                (class.into(), name, signature)
            }
            TokenTable::FIELD_DEF => {
                let (class, name, signature) = metadata.field_parts(as_kind(token)?)?;
                (class.into(), name, signature)
            }
            _ => {
                let member = metadata.member_ref_props(as_kind(token)?)?;
                (member.parent, member.name, member.signature_blob)
            }
        };
        Ok(Member {
            parent,
            name,
            signature,
        })
    }

    /// The generic method of a `MethodSpec` and the blob of its arguments.
    pub(super) fn method_spec(&self, token: Token) -> Result<(Token, Vec<u8>)> {
        let method = self.metadata().method_spec_props(as_kind(token)?)?;
        Ok((method.parent, method.signature_blob))
    }

    /// The blob of a `StandAloneSig`.
    pub(super) fn stand_alone_sig(&self, token: Token) -> Result<Vec<u8>> {
        self.metadata().sig_from_token(as_kind(token)?)
    }

    /// The blob of a `TypeSpec`.
    pub(super) fn type_spec(&self, token: Token) -> Result<Vec<u8>> {
        self.metadata().type_spec_from_token(as_kind(token)?)
    }

    /// The name of a `TypeDef` or `TypeRef`, and what a `TypeDef` derives from or where a `TypeRef`
    /// is looked for.
    pub(super) fn type_name(&self, token: Token) -> Result<(String, Token)> {
        Ok(if token.table() == TokenTable::TYPE_DEF {
            let class = self.metadata().type_def_props(as_kind(token)?)?;
            (class.name, class.extends)
        } else {
            let class = self.metadata().type_ref_props(as_kind(token)?)?;
            (class.name, class.resolution_scope)
        })
    }
}

/// Looking for what is there.
impl Scope<'_> {
    /// The simple name of the assembly, if the module has its manifest.
    pub(super) fn own_assembly(&self) -> Result<Option<String>> {
        let metadata = self.metadata();
        let assembly = metadata.assembly_from_scope()?;
        let Some(assembly) = assembly.filter(|assembly| !assembly.is_nil()) else {
            return Ok(None);
        };
        Ok(Some(metadata.assembly_name(assembly)?))
    }

    /// Whether the module defines the primitives.
    pub(super) fn is_core_library(&self) -> bool {
        *self.is_core_library.get_or_init(|| {
            let own = self.own_assembly().ok().flatten();
            own.is_some_and(|own| own == CORE_LIBRARY)
        })
    }

    /// The assemblies that the module refers to.
    pub(super) fn assembly_refs(&self) -> Result<Vec<(String, Token)>> {
        let metadata = self.metadata();
        let references: Vec<_> = metadata.assembly_refs()?.collect::<Result<_>>()?;
        let named = references.into_iter();
        named
            .map(|token| Ok((metadata.assembly_ref_name(token)?, token.into())))
            .collect()
    }

    pub(super) fn find_type_def(
        &self,
        name: &str,
        enclosing: Option<TypeDef>,
    ) -> Result<Option<TypeDef>> {
        found(self.metadata().find_type_def_by_name(name, enclosing))
    }

    pub(super) fn find_type_ref(&self, scope: Token, name: &str) -> Result<Option<TypeRef>> {
        found(self.metadata().find_type_ref(scope, name))
    }

    /// A method or field that a type of this module has itself.
    pub(super) fn find_member(
        &self,
        class: TypeDef,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>> {
        let metadata = self.metadata();
        found(metadata.find_member(Some(class), name, Encoded(signature)))
    }

    pub(super) fn find_member_ref(
        &self,
        parent: Token,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>> {
        let metadata = self.metadata();
        let member = found(metadata.find_member_ref(parent, name, Encoded(signature)))?;
        Ok(member.map(Token::from))
    }
}

/// Adding. The caller holds the lock of the module.
impl Scope<'_> {
    /// A reference to an assembly by its name alone, which any version of it satisfies.
    pub(super) fn define_assembly_ref(&self, name: &str) -> Result<Token> {
        let reference = NewAssemblyRef {
            name,
            ..NewAssemblyRef::default()
        };
        let token = self.writer()?.define_assembly_ref(&reference)?;
        Ok(token.into())
    }

    pub(super) fn define_type_ref(&self, scope: Token, name: &str) -> Result<TypeRef> {
        self.writer()?.define_type_ref_by_name(scope, name)
    }

    pub(super) fn define_member_ref(
        &self,
        parent: Token,
        name: &str,
        signature: &[u8],
    ) -> Result<MemberRef> {
        let writer = self.writer()?;
        writer.define_member_ref(parent, name, Encoded(signature))
    }

    pub(super) fn define_method_spec(&self, method: Token, arguments: &[u8]) -> Result<MethodSpec> {
        let writer = self.writer()?;
        writer.define_method_spec(method, Encoded(arguments))
    }

    pub(super) fn define_type_spec(&self, signature: &[u8]) -> Result<TypeSpec> {
        self.writer()?.token_from_type_spec(Encoded(signature))
    }

    pub(super) fn define_stand_alone_sig(&self, signature: &[u8]) -> Result<StandAloneSig> {
        self.writer()?.token_from_sig(Encoded(signature))
    }

    pub(super) fn define_user_string(&self, text: &str) -> Result<UserString> {
        self.writer()?.define_user_string(text)
    }
}
