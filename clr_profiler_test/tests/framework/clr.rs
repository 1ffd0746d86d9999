//! [`Clr`]: a runtime like that of .NET Framework 4.8, with real files as its modules, and no program.

use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clr_profiler::__private::ProfilerClass;
use clr_profiler::Hresult;
use clr_profiler::il::token::MethodDef;
use clr_profiler_sys as sys;
use clr_profiler_test::stand_in::{Call, Object, Offers, callback_object};
use sys::{GUID, HRESULT, ICorProfilerCallback11, Interface as _};

use crate::metadata;
use crate::module::Module;
use crate::outputs::{enumerate_ids, set_all, set_text};

/// The domain whose assemblies belong to all domains.
pub(crate) const SHARED: usize = 0xD000;
/// The first domain of the program.
pub(crate) const FIRST: usize = 0xD001;
/// A second one.
pub(crate) const SECOND: usize = 0xD002;

/// The modules, and the calls of a profiler that changed the runtime.
pub(crate) struct Clr {
    modules: Vec<Module>,
    /// Each mask that was set.
    masks: Mutex<Vec<(u32, u32)>>,
    kind: u32,
    newest: &'static str,
    metadata: Mutex<Vec<(usize, &'static Object)>>,
}

/// A runtime before a profiler is started. The library has one record of ids for each process, and the tests one setup for each
/// profiler: only one such runtime exists at a time.
pub(crate) struct Stopped {
    clr: Clr,
    alone: MutexGuard<'static, ()>,
}

/// A profiler that was started. It is shut down when it is dropped.
pub(crate) struct Started {
    object: ICorProfilerCallback11,
    pub(crate) clr: Arc<Clr>,
    _alone: MutexGuard<'static, ()>,
}

/// The id of the core library's module.
pub(crate) const CORE_LIBRARY: usize = 0x1000;

/// An assembly of Mono, which has the name, version and key of that of .NET Framework; `None` without Debian's packages, which
/// `.ci/run` installs.
pub(crate) fn mono(assembly: &str) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/usr/lib/mono/4.5/{assembly}.dll"));
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is missing: `mono-devel` has it",
        path.display()
    );
    eprintln!("NOT TESTED: there is no {}", path.display());
    None
}

/// A program of this workspace, built with references to `mscorlib` or `netstandard`.
pub(crate) fn program(facade: &str) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/profilees");
    programs.join(facade).join("Helped.dll")
}

impl Stopped {
    /// With the core library alone.
    pub(crate) fn new(mscorlib: &Path) -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let clr = Clr {
            modules: Vec::new(),
            masks: Mutex::default(),
            kind: sys::COR_PRF_DESKTOP_CLR,
            newest: "ICorProfilerInfo8",
            metadata: Mutex::default(),
        };
        let mut new = Self { clr, alone };
        let core = new.load(mscorlib, SHARED);
        assert_eq!(core, CORE_LIBRARY);
        new
    }

    /// Loads a file into a domain; returns the id of the module.
    pub(crate) fn load(&mut self, path: &Path, domain: usize) -> usize {
        let id = CORE_LIBRARY * (self.clr.modules.len() + 1);
        let module = Module::load(path, id, domain, None);
        self.clr.modules.push(module);
        id
    }

    /// As [`load`](Self::load), as if its manifest had another version.
    pub(crate) fn load_as(&mut self, path: &Path, domain: usize, version: [u16; 4]) {
        let id = CORE_LIBRARY * (self.clr.modules.len() + 1);
        let module = Module::load(path, id, domain, Some(version));
        self.clr.modules.push(module);
    }

    /// Precompiled code for the module that was loaded last.
    pub(crate) fn precompiled(mut self) -> Self {
        if let Some(last) = self.clr.modules.last_mut() {
            last.is_precompiled = true;
        }
        self
    }

    /// As if it were .NET (Core), with the same files.
    pub(crate) fn core(mut self) -> Self {
        self.clr.kind = sys::COR_PRF_CORE_CLR;
        self
    }

    /// With this version of the interface as the newest.
    pub(crate) fn offering(mut self, newest: &'static str) -> Self {
        self.clr.newest = newest;
        self
    }

    /// Starts a profiler, and loads the modules; `attached` if the program runs already.
    pub(crate) fn start<P: ProfilerClass>(self, attached: bool) -> Result<Started, Hresult> {
        let Self { clr, alone } = self;
        let clr = Arc::new(clr);
        let answers = Arc::clone(&clr);
        let runtime = Box::leak(Box::new(Object::new(Offers::new([clr.newest]), {
            move |call: &Call<'_>| Call::hresult(answers.answer(call))
        })));
        let object = callback_object::<P>();
        let raw = runtime.as_raw();
        // SAFETY: the object has the interfaces of a runtime, and lives forever; there is no data for the attach.
        let started = unsafe {
            match attached {
                false => object.Initialize(raw),
                true => object.InitializeForAttach(raw, ptr::null_mut(), 0),
            }
        };
        if started.0 < 0 {
            return Err(Hresult(started.0));
        }
        let started = Started {
            object,
            clr,
            _alone: alone,
        };
        if attached {
            // SAFETY: it takes nothing.
            let _ = unsafe { started.object.ProfilerAttachComplete() };
        } else {
            for module in &started.clr.modules {
                // SAFETY: they take numbers, and the modules exist.
                unsafe {
                    let _ = started.object.ModuleLoadStarted(module.id);
                    let _ = started.object.ModuleLoadFinished(module.id, sys::S_OK);
                    let _ = started
                        .object
                        .ModuleAttachedToAssembly(module.id, module.id + 1);
                }
            }
        }
        Ok(started)
    }
}

impl Clr {
    pub(crate) fn module(&self, id: usize) -> &Module {
        let found = self.modules.iter().find(|module| module.id == id);
        found.unwrap_or_else(|| panic!("there is no module {id:#x}"))
    }

    pub(crate) fn masks(&self) -> Vec<(u32, u32)> {
        self.masks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn answer(&self, call: &Call<'_>) -> HRESULT {
        let module = || self.module(call.argument(0));
        match call.method.facts.name {
            "GetRuntimeInformation" => {
                call.set(0, 1_u16);
                call.set(1, self.kind);
                for (parameter, part) in [4_u16, 8, 9037, 0].into_iter().enumerate() {
                    call.set(parameter + 2, part);
                }
                set_text(call, [6, 7, 8], "v4.0.30319");
            }
            "SetEventMask" => self.set_mask(call.argument(0), 0),
            "SetEventMask2" => self.set_mask(call.argument(0), call.argument(1)),
            "GetEventMask" => call.set(0, self.mask().0),
            "GetEventMask2" => {
                call.set(0, self.mask().0);
                call.set(1, self.mask().1);
            }
            "EnumModules" => {
                let ids = self.modules.iter().map(|module| module.id).collect();
                call.set(0, enumerate_ids(ids));
            }
            name @ ("GetModuleInfo" | "GetModuleInfo2") => {
                let module = module();
                call.set(1, module.image.as_ptr());
                set_text(call, [2, 3, 4], module.path.to_str().unwrap());
                call.set(5, module.id + 1);
                if name == "GetModuleInfo2" {
                    let kind = match module.is_precompiled {
                        true => sys::COR_PRF_MODULE_NGEN,
                        false => 0,
                    };
                    let flat = sys::COR_PRF_MODULE_DISK | sys::COR_PRF_MODULE_FLAT_LAYOUT;
                    call.set(6, flat | kind);
                }
            }
            "GetAssemblyInfo" => {
                let module = self.module(call.argument(0) - 1);
                set_text(call, [1, 2, 3], &module.assembly);
                call.set(4, module.domain);
                call.set(5, module.id);
            }
            "GetAppDomainInfo" => {
                let name = match call.argument(0) {
                    SHARED => "EE Shared Assembly Repository",
                    FIRST => "Helped.exe",
                    _ => "Plug-in",
                };
                set_text(call, [1, 2, 3], name);
                call.set(4, 77_usize);
            }
            "GetAppDomainsContainingModule" => {
                let all = match module().domain {
                    SHARED => vec![FIRST, SECOND],
                    one => vec![one],
                };
                set_all(call, [1, 2, 3], &all);
            }
            "GetModuleMetaData" => {
                let metadata = self.metadata(call.argument(0));
                // SAFETY: the caller passes the address of a GUID.
                let iid = unsafe { &*call.pointer::<GUID>(2) };
                let given = metadata.give(iid);
                assert!(!given.is_null(), "another interface for metadata");
                call.set(3, given);
            }
            "GetFunctionInfo2" => {
                call.set(2, 0_usize);
                call.set(3, call.argument(0) >> 32);
                call.set(4, call.argument(0) as u32);
                call.set(6, 0_u32);
            }
            "GetFunctionInfo" => {
                call.set(1, 0_usize);
                call.set(2, call.argument(0) >> 32);
                call.set(3, call.argument(0) as u32);
            }
            "GetILFunctionBody" => match module().body(call.argument(1) as u32) {
                Some(body) => {
                    call.set(2, body.as_ptr());
                    call.set(3, body.len() as u32);
                }
                None => return sys::CORPROF_E_FUNCTION_NOT_IL,
            },
            "GetILFunctionBodyAllocator" => {
                let allocator = Object::new(Offers::new(["IMethodMalloc"]), |call| {
                    let memory = vec![0_u8; call.argument(0)].leak();
                    memory.as_mut_ptr().expose_provenance()
                });
                let allocator = Box::leak(Box::new(allocator));
                call.set(1, allocator.give(&sys::IMethodMalloc::IID));
            }
            "SetILFunctionBody" => {
                let start = call.pointer::<u8>(2);
                // SAFETY: the caller passes a whole body, whose header says how long it is.
                let body = unsafe { body_at(start) };
                let token = call.argument(1) as u32;
                module().added().bodies.insert(token, body);
            }
            "ApplyMetaData" | "SetILInstrumentedCodeMap" => {}
            // No method was inlined into precompiled code.
            "EnumNgenModuleMethodsInliningThisMethod" => return sys::E_NOTIMPL,
            name => {
                eprintln!("the stand-in has no {name}");
                return sys::E_NOTIMPL;
            }
        }
        sys::S_OK
    }

    fn set_mask(&self, low: usize, high: usize) {
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        masks.push((low as u32, high as u32));
    }

    fn mask(&self) -> (u32, u32) {
        self.masks().last().copied().unwrap_or_default()
    }

    fn metadata(&self, id: usize) -> &'static Object {
        let mut known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, object)) = known.iter().find(|(module, _)| *module == id) {
            return object;
        }
        let offers = Offers::new([
            "IMetaDataImport2",
            "IMetaDataAssemblyImport",
            "IMetaDataEmit2",
            "IMetaDataAssemblyEmit",
        ]);
        let module: *const Module = self.module(id);
        let module = module.expose_provenance();
        let answer = move |call: &Call<'_>| {
            // SAFETY: the modules live as long as the runtime, which is never freed because an object refers to it.
            let module = unsafe { &*ptr::with_exposed_provenance::<Module>(module) };
            let answer = metadata::answer(module, call);
            Call::hresult(answer.unwrap_or_else(|| {
                eprintln!("the stand-in has no {}", call.method.name());
                sys::E_NOTIMPL
            }))
        };
        let object: &'static Object = Box::leak(Box::new(Object::new(offers, answer)));
        known.push((id, object));
        object
    }
}

/// The body that starts here.
///
/// # Safety
///
/// There is a whole body, with its sections.
unsafe fn body_at(start: *const u8) -> &'static [u8] {
    // SAFETY: as the caller promises; no body of a test is that long, and the decoder reads only the body.
    unsafe {
        let flags = start.read();
        let length = match flags & 3 {
            2 => 1 + usize::from(flags >> 2),
            _ => {
                let code = start.add(4).cast::<u32>().read_unaligned() as usize;
                let mut end = 12 + code;
                if flags & 8 != 0 {
                    end = end.next_multiple_of(4);
                    // One section, small or fat.
                    end += match start.add(end).read() & 0x40 {
                        0 => usize::from(start.add(end + 1).read()),
                        _ => start.add(end).cast::<u32>().read_unaligned() as usize >> 8,
                    };
                }
                end
            }
        };
        std::slice::from_raw_parts(start, length).to_vec().leak()
    }
}

impl Started {
    /// Has the runtime compile a method.
    pub(crate) fn compile(&self, module: usize, method: MethodDef) {
        let function = (module << 32) | method.token().raw() as usize;
        // SAFETY: numbers, and the function exists.
        let answer = unsafe { self.object.JITCompilationStarted(function, sys::BOOL(1)) };
        assert_eq!(answer, sys::S_OK);
    }

    /// Whether the profiler lets the runtime use the precompiled code of a method.
    pub(crate) fn uses_precompiled(&self, module: usize, method: MethodDef) -> bool {
        let function = (module << 32) | method.token().raw() as usize;
        let mut is_used = sys::BOOL(1);
        // SAFETY: a number and the address of a flag.
        let answer = unsafe {
            self.object
                .JITCachedFunctionSearchStarted(function, &mut is_used)
        };
        assert_eq!(answer, sys::S_OK);
        is_used.0 != 0
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // SAFETY: the profiler was initialised, and the call takes nothing.
        let _ = unsafe { self.object.Shutdown() };
    }
}
