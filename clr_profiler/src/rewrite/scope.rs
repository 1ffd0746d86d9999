//! [`Scope`]: the metadata of one module, as rewriting reads and extends it.

use std::cell::{Cell, OnceCell};

use crate::error::Result;
use crate::ids::ModuleId;
use crate::metadata::{
    Metadata, MetadataAssemblyImport, MetadataImport, MetadataImport2, MetadataWriter,
};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::metadata::{Member, Tables};
use clr_profiler_il::token::{
    FieldDef, MemberRef, MethodDef, MethodSpec, StandAloneSig, Token, TokenTable, TypeSpec,
    TypeToken,
};

/// The assembly that defines the core types of the runtime.
pub(super) const CORE_LIBRARY: &str = "System.Private.CoreLib";

/// The metadata of a module. It is opened for writing only when something is added, because the runtime is
/// slower with a module from then on.
pub(super) struct Scope<'info> {
    info: &'info ProfilerInfo,
    module: ModuleId,
    read: Metadata<'info>,
    write: OnceCell<MetadataWriter<'info>>,
    changed: Cell<bool>,
    is_core_library: OnceCell<bool>,
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

    /// Whether anything was added by this handle since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.take()
    }

    /// The metadata, including the additions.
    pub(super) fn metadata(&self) -> &Metadata<'info> {
        self.write.get().map_or(&self.read, |writer| writer)
    }

    /// The writer for additions. The caller holds the lock of the module.
    pub(super) fn writer(&self) -> Result<&MetadataWriter<'info>> {
        self.changed.set(true);
        if let Some(writer) = self.write.get() {
            return Ok(writer);
        }
        let writer = MetadataWriter::of_module(self.info, self.module)?;
        Ok(self.write.get_or_init(|| writer))
    }

    /// The simple name of the assembly, if the module has its manifest.
    pub(super) fn own_assembly(&self) -> Result<Option<String>> {
        let metadata = self.metadata();
        let assembly = metadata.assembly_from_scope()?;
        let Some(assembly) = assembly.filter(|assembly| !assembly.is_nil()) else {
            return Ok(None);
        };
        Ok(Some(metadata.assembly_name(assembly)?))
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
}

/// The resolver caches the results, but not `None`.
impl Tables for Scope<'_> {
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
            own.is_some_and(|own| own == CORE_LIBRARY)
        })
    }
}
