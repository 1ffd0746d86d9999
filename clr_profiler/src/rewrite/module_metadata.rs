//! [`ModuleMetadata`]: the metadata of one module, as rewriting reads and extends it.

use std::cell::{Cell, OnceCell};

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::metadata::own;
use crate::metadata::{
    Metadata, MetadataAssemblyImport, MetadataImport, MetadataImport2, MetadataWriter,
};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::metadata::{Member, MemberView, Tables, TypeNameView};
use clr_profiler_il::token::{
    FieldDef, MemberRef, MethodDef, MethodSpec, StandAloneSig, Token, TokenTable, TypeSpec,
    TypeToken,
};

/// The metadata of a module. It is opened for writing only when something is added, because the runtime is
/// slower with a module from then on.
pub(super) struct ModuleMetadata<'info> {
    info: &'info ProfilerInfo,
    module: ModuleId,
    read: Metadata<'info>,
    write: OnceCell<MetadataWriter<'info>>,
    changed: Cell<bool>,
    /// Whether nothing may be added.
    is_closed: Cell<bool>,
    is_core_library: OnceCell<bool>,
}

impl<'info> ModuleMetadata<'info> {
    pub(super) fn open(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        Ok(Self::reading(
            info,
            module,
            Metadata::of_module(info, module)?,
        ))
    }

    /// As [`open`](Self::open), with a handle to the metadata of the module that exists already.
    pub(super) fn like(
        info: &'info ProfilerInfo,
        module: ModuleId,
        metadata: &Metadata<'info>,
    ) -> Result<Self> {
        match metadata.of_same_image() {
            Some(read) => Ok(Self::reading(info, module, read)),
            None => Self::open(info, module),
        }
    }

    fn reading(info: &'info ProfilerInfo, module: ModuleId, read: Metadata<'info>) -> Self {
        Self {
            info,
            module,
            read,
            write: OnceCell::new(),
            changed: Cell::new(false),
            is_closed: Cell::new(false),
            is_core_library: OnceCell::new(),
        }
    }

    pub(super) fn info(&self) -> &'info ProfilerInfo {
        self.info
    }

    pub(super) fn module(&self) -> ModuleId {
        self.module
    }

    /// Whether anything was added by this handle since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.take()
    }

    /// The metadata, including the additions.
    pub(super) fn metadata(&self) -> &Metadata<'info> {
        self.write.get().map_or(&self.read, |writer| writer)
    }

    /// Refuses additions from now on.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
    }

    /// Whether additions are not refused.
    pub(super) fn check_open(&self) -> Result<()> {
        match self.is_closed.get() {
            true => Err(Error::other(
                "it needs a new token, and Instrumentation::without_new_tokens has promised that there are none",
            )),
            false => Ok(()),
        }
    }

    /// The writer for additions. The caller holds the lock of the module.
    pub(super) fn writer(&self) -> Result<&MetadataWriter<'info>> {
        self.check_open()?;
        self.changed.set(true);
        if let Some(writer) = self.write.get() {
            return Ok(writer);
        }
        let writer = self.info.module_metadata_for_writing(self.module)?;
        Ok(self.write.get_or_init(|| writer))
    }

    /// Reads the module's own metadata, or if it has no such row the runtime's. The first function gets
    /// `read` once it has found the row.
    fn own_or<F, R>(
        &self,
        read: F,
        from_own: impl FnOnce(&clr_metadata::Metadata<'_>, &mut dyn FnMut() -> Option<F>) -> Option<R>,
        from_runtime: impl FnOnce(F) -> Option<R>,
    ) -> Option<R> {
        let mut read = Some(read);
        let own = self
            .metadata()
            .own(|own| from_own(own, &mut || read.take()));
        match own {
            Some(own) => Some(own),
            None => from_runtime(read?),
        }
    }

    /// The simple name of the assembly, if the module has its manifest.
    pub(super) fn own_assembly(&self) -> Result<Option<String>> {
        let metadata = self.metadata();
        if let Some(own) = metadata.own(own::assembly_name) {
            return Ok(own);
        }
        let assembly = metadata.assembly_from_scope()?;
        let Some(assembly) = assembly.filter(|assembly| !assembly.is_nil()) else {
            return Ok(None);
        };
        Ok(Some(metadata.assembly_name(assembly)?))
    }

    /// The assemblies that the module refers to.
    pub(super) fn assembly_refs(&self) -> Result<Vec<(String, Token)>> {
        let metadata = self.metadata();
        if let Some(own) = metadata.own(own::assembly_refs) {
            return Ok(own);
        }
        let references: Vec<_> = metadata.assembly_refs()?.collect::<Result<_>>()?;
        let named = references.into_iter();
        named
            .map(|token| Ok((metadata.assembly_ref_name(token)?, token.into())))
            .collect()
    }
}

/// The resolver caches the results, but not `None`.
impl Tables for ModuleMetadata<'_> {
    fn member(&self, token: Token) -> Option<Member> {
        let metadata = self.metadata();
        let (parent, name, signature) = match token.table() {
            TokenTable::METHOD_DEF => {
                let method = MethodDef::try_from(token).ok()?;
                let (class, name, signature) = metadata.method_parts(method).ok()?;
                (class.into(), name, signature)
            }
            TokenTable::FIELD_DEF => {
                let field = FieldDef::try_from(token).ok()?;
                let (class, name, signature) = metadata.field_parts(field).ok()?;
                (class.into(), name, signature)
            }
            _ => {
                let member = MemberRef::try_from(token).ok()?;
                let member = metadata.member_ref_props(member).ok()?;
                (member.parent, member.name, member.signature_blob)
            }
        };
        Some(Member {
            parent,
            name,
            signature,
        })
    }

    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)> {
        let method = MethodSpec::try_from(token).ok()?;
        let method = self.metadata().method_spec_props(method).ok()?;
        Some((method.parent, method.signature_blob))
    }

    fn stand_alone_sig(&self, token: Token) -> Option<Vec<u8>> {
        let token = StandAloneSig::try_from(token).ok()?;
        self.metadata().sig_from_token(token).ok()
    }

    fn type_spec(&self, token: Token) -> Option<Vec<u8>> {
        let token = TypeSpec::try_from(token).ok()?;
        self.metadata().type_spec_from_token(token).ok()
    }

    fn type_name(&self, token: Token) -> Option<(String, Token)> {
        match TypeToken::try_from(token).ok()? {
            TypeToken::Def(class) => {
                let class = self.metadata().type_def_props(class).ok()?;
                Some((class.name, class.extends))
            }
            TypeToken::Ref(class) => {
                let class = self.metadata().type_ref_props(class).ok()?;
                Some((class.name, class.resolution_scope))
            }
            TypeToken::Spec(_) => None,
        }
    }

    fn is_core_library(&self) -> bool {
        *self.is_core_library.get_or_init(|| {
            let own = self.own_assembly().ok().flatten();
            own.is_some_and(|own| own == self.info.core_library())
        })
    }

    fn with_member<R>(&self, token: Token, read: impl FnOnce(MemberView<'_>) -> R) -> Option<R> {
        self.own_or(
            read,
            |own, read| Some(read()?(own::member(own, token)?)),
            |read| {
                let member = self.member(token)?;
                Some(read(MemberView {
                    parent: member.parent,
                    name: &member.name,
                    signature: &member.signature,
                }))
            },
        )
    }

    fn with_method_spec<R>(&self, token: Token, read: impl FnOnce(Token, &[u8]) -> R) -> Option<R> {
        let method = MethodSpec::try_from(token).ok()?;
        self.own_or(
            read,
            |own, read| {
                let (generic, arguments) = own::method_spec(own, method)?;
                Some(read()?(generic, arguments))
            },
            |read| {
                let (generic, arguments) = self.method_spec(token)?;
                Some(read(generic, &arguments))
            },
        )
    }

    fn with_stand_alone_sig<R>(&self, token: Token, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let signature = StandAloneSig::try_from(token).ok()?;
        self.own_or(
            read,
            |own, read| {
                let blob = own::stand_alone_blob(own, signature)?;
                Some(read()?(blob))
            },
            |read| Some(read(&self.stand_alone_sig(token)?)),
        )
    }

    fn with_type_spec<R>(&self, token: Token, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let type_spec = TypeSpec::try_from(token).ok()?;
        self.own_or(
            read,
            |own, read| {
                let blob = own::type_spec_blob(own, type_spec)?;
                Some(read()?(blob))
            },
            |read| Some(read(&self.type_spec(token)?)),
        )
    }

    fn with_type_name<R>(
        &self,
        token: Token,
        read: impl FnOnce(TypeNameView<'_>, Token) -> R,
    ) -> Option<R> {
        let class = TypeToken::try_from(token).ok()?;
        self.own_or(
            read,
            |own, read| {
                let (name, other) = own::type_name_view(own, class)?;
                Some(read()?(name, other))
            },
            |read| {
                let (name, other) = self.type_name(token)?;
                let (namespace, name) = ("", name.as_str());
                Some(read(TypeNameView { namespace, name }, other))
            },
        )
    }
}
