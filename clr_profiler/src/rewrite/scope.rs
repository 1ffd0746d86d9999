//! [`Scope`]: the metadata of one module as rewriting reads and extends it.

use std::cell::{Cell, OnceCell};
use std::ffi::c_void;
use std::ptr::null_mut;

use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::info::ProfilerInfo;
use crate::native::{read_text, typed, utf16};
use clr_profiler_il::token::{
    MemberRef, MethodSpec, StandAloneSig, Token, TokenTable, TypeDef, TypeRef, TypeSpec, UserString,
};
use clr_profiler_sys as sys;
use sys::Interface;

/// Where the runtime's own types are.
pub(super) const CORE_LIBRARY: &str = "System.Private.CoreLib";

/// Metadata of a module; opened for writing only when something is added to it, since the runtime
/// is slower with a module from then on.
pub(super) struct Scope<'info> {
    info: &'info ProfilerInfo,
    module: ModuleId,
    read: sys::IMetaDataImport2,
    write: OnceCell<Writable>,
    changed: Cell<bool>,
    is_core_library: OnceCell<bool>,
}

struct Writable {
    emit: sys::IMetaDataEmit2,
    /// The same metadata for reading, with what was added.
    import: sys::IMetaDataImport2,
}

/// A method or field, defined or referenced.
pub(super) struct Member {
    pub(super) parent: Token,
    pub(super) name: String,
    pub(super) signature: Vec<u8>,
}

impl<'info> Scope<'info> {
    pub(super) fn open(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        let read = open(info, module, sys::ofRead, &sys::IMetaDataImport2::IID)?;
        Ok(Self {
            info,
            module,
            // SAFETY: the runtime gave a reference to the interface that was asked for.
            read: unsafe { sys::IMetaDataImport2::from_raw(read) },
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

    fn import(&self) -> &sys::IMetaDataImport2 {
        self.write
            .get()
            .map_or(&self.read, |writable| &writable.import)
    }

    fn emit(&self) -> Result<&sys::IMetaDataEmit2> {
        self.changed.set(true);
        if let Some(writable) = self.write.get() {
            return Ok(&writable.emit);
        }
        let write = sys::ofRead | sys::ofWrite;
        let emit = open(self.info, self.module, write, &sys::IMetaDataEmit2::IID)?;
        // SAFETY: the runtime gave a reference to the interface that was asked for.
        let emit = unsafe { sys::IMetaDataEmit2::from_raw(emit) };
        let import = cast(&emit, "IMetaDataEmit2::QueryInterface")?;
        Ok(&self.write.get_or_init(|| Writable { emit, import }).emit)
    }
}

fn open(info: &ProfilerInfo, module: ModuleId, flags: u32, iid: &sys::GUID) -> Result<*mut c_void> {
    let mut opened: *mut c_void = null_mut();
    let answer = ask!(
        info,
        ICorProfilerInfo::GetModuleMetaData(module.raw(), flags, iid, &mut opened)
    )?;
    if opened.is_null() {
        return Err(Error::invalid(
            "ICorProfilerInfo::GetModuleMetaData",
            if answer == Hresult::S_FALSE {
                "the module has no metadata: it is a resource"
            } else {
                "the runtime gave no metadata"
            },
        ));
    }
    Ok(opened)
}

fn cast<I: Interface, J: Interface>(from: &I, call: &'static str) -> Result<J> {
    from.cast::<J>()
        .map_err(|error| Error::call(call, Hresult(error.code().0)))
}

/// What was looked for, where there is such a thing.
fn found(answer: Result<Hresult>, token: &u32) -> Result<Option<Token>> {
    match answer {
        Ok(_) if *token & 0x00ff_ffff != 0 => Ok(Some(Token::new(*token))),
        Ok(_) => Ok(None),
        Err(error) if error.hresult().0 == sys::CLDB_E_RECORD_NOTFOUND.0 => Ok(None),
        Err(error) => Err(error),
    }
}

/// A blob that a call gave.
struct Blob {
    start: *const u8,
    length: u32,
}

impl Blob {
    const NONE: Self = Self {
        start: std::ptr::null(),
        length: 0,
    };

    /// # Safety
    ///
    /// The metadata have written both fields, and have not been changed since.
    unsafe fn copy(&self) -> Vec<u8> {
        if self.start.is_null() {
            return Vec::new();
        }
        // SAFETY: the metadata say that a blob of that length stands there.
        unsafe { std::slice::from_raw_parts(self.start, self.length as usize) }.to_vec()
    }
}

/// Reading.
impl Scope<'_> {
    /// The method or field behind a `MethodDef`, `FieldDef` or `MemberRef`.
    pub(super) fn member(&self, token: Token) -> Result<Member> {
        let (mut parent, mut blob) = (0, Blob::NONE);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| match token.table() {
            TokenTable::METHOD_DEF => native_call!(
                import,
                IMetaDataImport::GetMethodProps(
                    token.raw(),
                    &mut parent,
                    buffer,
                    capacity,
                    length,
                    null_mut(),
                    &mut blob.start,
                    &mut blob.length,
                    null_mut(),
                    null_mut(),
                )
            ),
            TokenTable::FIELD_DEF => native_call!(
                import,
                IMetaDataImport::GetFieldProps(
                    token.raw(),
                    &mut parent,
                    buffer,
                    capacity,
                    length,
                    null_mut(),
                    &mut blob.start,
                    &mut blob.length,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                )
            ),
            _ => native_call!(
                import,
                IMetaDataImport::GetMemberRefProps(
                    token.raw(),
                    &mut parent,
                    buffer,
                    capacity,
                    length,
                    &mut blob.start,
                    &mut blob.length,
                )
            ),
        })?;
        Ok(Member {
            parent: Token::new(parent),
            name,
            // SAFETY: the call above has written it.
            signature: unsafe { blob.copy() },
        })
    }

    /// The generic method of a `MethodSpec` and the blob of its arguments.
    pub(super) fn method_spec(&self, token: Token) -> Result<(Token, Vec<u8>)> {
        let (mut parent, mut blob) = (0, Blob::NONE);
        native_call!(
            self.import(),
            IMetaDataImport2::GetMethodSpecProps(
                token.raw(),
                &mut parent,
                &mut blob.start,
                &mut blob.length,
            )
        )?;
        // SAFETY: the call above has written it.
        Ok((Token::new(parent), unsafe { blob.copy() }))
    }

    /// The blob of a `StandAloneSig`.
    pub(super) fn stand_alone_sig(&self, token: Token) -> Result<Vec<u8>> {
        let mut blob = Blob::NONE;
        native_call!(
            self.import(),
            IMetaDataImport::GetSigFromToken(token.raw(), &mut blob.start, &mut blob.length)
        )?;
        // SAFETY: the call above has written it.
        Ok(unsafe { blob.copy() })
    }

    /// The blob of a `TypeSpec`.
    pub(super) fn type_spec(&self, token: Token) -> Result<Vec<u8>> {
        let mut blob = Blob::NONE;
        native_call!(
            self.import(),
            IMetaDataImport::GetTypeSpecFromToken(token.raw(), &mut blob.start, &mut blob.length)
        )?;
        // SAFETY: the call above has written it.
        Ok(unsafe { blob.copy() })
    }

    /// The name of a `TypeDef` or `TypeRef`, and what a `TypeDef` derives from or where a `TypeRef`
    /// is looked for.
    pub(super) fn type_name(&self, token: Token) -> Result<(String, Token)> {
        let (import, mut other) = (self.import(), 0);
        let name = read_text(|capacity, length, buffer| match token.table() {
            TokenTable::TYPE_DEF => native_call!(
                import,
                IMetaDataImport::GetTypeDefProps(
                    token.raw(),
                    buffer,
                    capacity,
                    length,
                    null_mut(),
                    &mut other,
                )
            ),
            _ => native_call!(
                import,
                IMetaDataImport::GetTypeRefProps(token.raw(), &mut other, buffer, capacity, length,)
            ),
        })?;
        Ok((name, Token::new(other)))
    }
}

/// Looking for what is there.
impl Scope<'_> {
    fn assembly_import(&self) -> Result<sys::IMetaDataAssemblyImport> {
        cast(self.import(), "IMetaDataImport2::QueryInterface")
    }

    /// The simple name of the assembly, if the module has its manifest.
    pub(super) fn own_assembly(&self) -> Result<Option<String>> {
        let import = self.assembly_import()?;
        let mut assembly = 0;
        let answer = native_call!(
            &import,
            IMetaDataAssemblyImport::GetAssemblyFromScope(&mut assembly)
        );
        if found(answer, &assembly)?.is_none() {
            return Ok(None);
        }
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                &import,
                IMetaDataAssemblyImport::GetAssemblyProps(
                    assembly,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    buffer,
                    capacity,
                    length,
                    null_mut(),
                    null_mut(),
                )
            )
        })?;
        Ok(Some(name))
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
        let import = self.assembly_import()?;
        let mut references = Vec::new();
        let mut enumeration: *mut c_void = null_mut();
        let complete = loop {
            let (mut token, mut count) = (0, 0);
            let answer = native_call!(
                &import,
                IMetaDataAssemblyImport::EnumAssemblyRefs(
                    &mut enumeration,
                    &mut token,
                    1,
                    &mut count,
                )
            );
            match answer {
                Ok(_) if count == 0 => break Ok(()),
                Ok(_) => references.push(token),
                Err(error) => break Err(error),
            }
        };
        if !enumeration.is_null() {
            // SAFETY: this interface has opened the enumeration, and it is closed once.
            unsafe { import.CloseEnum(enumeration) };
        }
        complete?;
        let named = references.into_iter().map(|token| {
            let name = read_text(|capacity, length, buffer| {
                native_call!(
                    &import,
                    IMetaDataAssemblyImport::GetAssemblyRefProps(
                        token,
                        null_mut(),
                        null_mut(),
                        buffer,
                        capacity,
                        length,
                        null_mut(),
                        null_mut(),
                        null_mut(),
                        null_mut(),
                    )
                )
            })?;
            Ok((name, Token::new(token)))
        });
        named.collect()
    }

    pub(super) fn find_type_def(
        &self,
        name: &str,
        enclosing: Option<TypeDef>,
    ) -> Result<Option<TypeDef>> {
        const CALL: &str = "IMetaDataImport::FindTypeDefByName";
        let (name, mut class) = (utf16(name), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::FindTypeDefByName(
                name.as_ptr(),
                enclosing.map_or(0, TypeDef::raw),
                &mut class,
            )
        );
        let class = found(answer, &class)?;
        class.map(|class| typed(CALL, class.raw())).transpose()
    }

    pub(super) fn find_type_ref(&self, scope: Token, name: &str) -> Result<Option<TypeRef>> {
        const CALL: &str = "IMetaDataImport::FindTypeRef";
        let (name, mut class) = (utf16(name), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::FindTypeRef(scope.raw(), name.as_ptr(), &mut class)
        );
        let class = found(answer, &class)?;
        class.map(|class| typed(CALL, class.raw())).transpose()
    }

    /// A method or field that a type of this module has itself.
    pub(super) fn find_member(
        &self,
        class: TypeDef,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>> {
        let (name, mut member) = (utf16(name), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::FindMember(
                class.raw(),
                name.as_ptr(),
                signature.as_ptr(),
                signature.len() as u32,
                &mut member,
            )
        );
        found(answer, &member)
    }

    pub(super) fn find_member_ref(
        &self,
        parent: Token,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>> {
        let (name, mut member) = (utf16(name), 0);
        let answer = native_call!(
            self.import(),
            IMetaDataImport::FindMemberRef(
                parent.raw(),
                name.as_ptr(),
                signature.as_ptr(),
                signature.len() as u32,
                &mut member,
            )
        );
        found(answer, &member)
    }
}

/// Adding. The caller holds the lock of the module.
impl Scope<'_> {
    /// A reference to an assembly by its name alone, which any version of it satisfies.
    pub(super) fn define_assembly_ref(&self, name: &str) -> Result<Token> {
        let emit: sys::IMetaDataAssemblyEmit =
            cast(self.emit()?, "IMetaDataEmit2::QueryInterface")?;
        // SAFETY: a structure of numbers and null pointers: no locales, version 0.0.0.0.
        let version: sys::ASSEMBLYMETADATA = unsafe { std::mem::zeroed() };
        let (name, mut token) = (utf16(name), 0);
        native_call!(
            &emit,
            IMetaDataAssemblyEmit::DefineAssemblyRef(
                std::ptr::null(),
                0,
                name.as_ptr(),
                &version,
                std::ptr::null(),
                0,
                0,
                &mut token,
            )
        )?;
        Ok(Token::new(token))
    }

    pub(super) fn define_type_ref(&self, scope: Token, name: &str) -> Result<TypeRef> {
        let (emit, name, mut token) = (self.emit()?, utf16(name), 0);
        native_call!(
            emit,
            IMetaDataEmit::DefineTypeRefByName(scope.raw(), name.as_ptr(), &mut token)
        )?;
        typed("IMetaDataEmit::DefineTypeRefByName", token)
    }

    pub(super) fn define_member_ref(
        &self,
        parent: Token,
        name: &str,
        signature: &[u8],
    ) -> Result<MemberRef> {
        let (emit, name, mut token) = (self.emit()?, utf16(name), 0);
        native_call!(
            emit,
            IMetaDataEmit::DefineMemberRef(
                parent.raw(),
                name.as_ptr(),
                signature.as_ptr(),
                signature.len() as u32,
                &mut token,
            )
        )?;
        typed("IMetaDataEmit::DefineMemberRef", token)
    }

    pub(super) fn define_method_spec(&self, method: Token, arguments: &[u8]) -> Result<MethodSpec> {
        let (emit, mut token) = (self.emit()?, 0);
        native_call!(
            emit,
            IMetaDataEmit2::DefineMethodSpec(
                method.raw(),
                arguments.as_ptr(),
                arguments.len() as u32,
                &mut token,
            )
        )?;
        typed("IMetaDataEmit2::DefineMethodSpec", token)
    }

    pub(super) fn define_type_spec(&self, signature: &[u8]) -> Result<TypeSpec> {
        let (emit, mut token) = (self.emit()?, 0);
        native_call!(
            emit,
            IMetaDataEmit::GetTokenFromTypeSpec(
                signature.as_ptr(),
                signature.len() as u32,
                &mut token,
            )
        )?;
        typed("IMetaDataEmit::GetTokenFromTypeSpec", token)
    }

    pub(super) fn define_stand_alone_sig(&self, signature: &[u8]) -> Result<StandAloneSig> {
        let (emit, mut token) = (self.emit()?, 0);
        native_call!(
            emit,
            IMetaDataEmit::GetTokenFromSig(signature.as_ptr(), signature.len() as u32, &mut token)
        )?;
        typed("IMetaDataEmit::GetTokenFromSig", token)
    }

    pub(super) fn define_user_string(&self, text: &str) -> Result<UserString> {
        let (emit, text, mut token) = (self.emit()?, utf16(text), 0);
        native_call!(
            emit,
            IMetaDataEmit::DefineUserString(
                text.as_ptr(),
                // Without the terminating zero.
                text.len().saturating_sub(1) as u32,
                &mut token,
            )
        )?;
        typed("IMetaDataEmit::DefineUserString", token)
    }
}
