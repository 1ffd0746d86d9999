//! The known facts about the program: recorded by callbacks, compared by the threads.
//!
//! A thread reads with a lock held, and while a module is about to be unloaded its callback waits
//! for that lock: ids are valid until it returns. All other callbacks only leave a note, because the
//! runtime may hold locks around them that the calls of the threads need.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use clr_profiler::info::RuntimeInformation;
use clr_profiler::prelude::*;

use super::functions::has_all_functions;

/// The known facts, and new notes.
#[derive(Default)]
pub(super) struct World {
    state: RwLock<State>,
    notes: Mutex<State>,
    has_notes: AtomicBool,
    over: AtomicBool,
}

/// The known facts.
#[derive(Default)]
pub(super) struct State {
    pub(super) functions: Vec<Function>,
    pub(super) classes: Vec<Class>,
    pub(super) modules: Vec<Module>,
    pub(super) runtime: Option<Runtime>,
}

/// A compiled function of a method.
pub(super) struct Function {
    pub(super) id: FunctionId,
    pub(super) module: ModuleId,
    pub(super) class: Option<ClassId>,
    pub(super) token: MethodDef,
    pub(super) name: String,
    pub(super) full_name: String,
    pub(super) body: Vec<u8>,
    pub(super) is_generic: bool,
}

/// A class without an element type.
pub(super) struct Class {
    pub(super) id: ClassId,
    pub(super) module: ModuleId,
    pub(super) token: TypeDef,
    pub(super) is_generic: bool,
}

/// A module with a file.
pub(super) struct Module {
    pub(super) id: ModuleId,
    pub(super) assembly: AssemblyId,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) mvid: Uuid,
    pub(super) assembly_name: String,
    pub(super) type_count: usize,
    pub(super) type_ref_count: usize,
    pub(super) user_strings: usize,
    pub(super) assembly_refs: usize,
    pub(super) types: Vec<Type>,
}

/// A type of a module.
pub(super) struct Type {
    pub(super) token: TypeDef,
    pub(super) name: String,
    pub(super) outer: Option<TypeDef>,
    pub(super) methods: Vec<(MethodDef, String)>,
    pub(super) fields: usize,
    pub(super) attributes: usize,
    pub(super) generic_params: usize,
}

/// The runtime itself.
pub(super) struct Runtime {
    pub(super) information: RuntimeInformation,
    pub(super) events: EventMask,
    pub(super) string_layout: clr_profiler::info::StringLayout,
    pub(super) app_domain: AppDomainId,
    pub(super) app_domain_name: String,
    pub(super) large: u32,
    /// The modules that were loaded before anything was unloaded.
    pub(super) modules: Vec<ModuleId>,
}

/// How many functions and classes are kept: the first ones.
const ENOUGH: usize = 2000;

impl World {
    pub(super) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, write: impl FnOnce(&mut State)) {
        let mut notes = self.notes();
        write(&mut notes);
        self.has_notes.store(true, Ordering::Release);
    }

    fn notes(&self) -> MutexGuard<'_, State> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns notes into known facts. No lock may be held.
    pub(super) fn take_in(&self) {
        if self.has_notes.swap(false, Ordering::AcqRel) {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            let mut notes = self.notes();
            state.modules.append(&mut notes.modules);
            state.functions.append(&mut notes.functions);
            state.classes.append(&mut notes.classes);
            // For a program that never ends, the first and the latest.
            if state.functions.len() > ENOUGH {
                state.functions.drain(ENOUGH / 2..ENOUGH);
            }
            if state.classes.len() > ENOUGH {
                state.classes.drain(ENOUGH / 2..ENOUGH);
            }
        }
    }

    /// Queries the runtime itself, before the threads begin.
    pub(super) fn settle(&self, info: &ProfilerInfo) -> Result<()> {
        self.take_in();
        let app_domain = info.thread_app_domain(info.current_thread_id()?)?;
        let runtime = Runtime {
            information: info.runtime_information()?,
            events: info.event_mask2()?,
            string_layout: info.string_layout2()?,
            app_domain,
            app_domain_name: info.app_domain_info(app_domain)?.name,
            large: info.loh_object_size_threshold()?,
            modules: self.lasting(),
        };
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.runtime = Some(runtime);
        // Only now: while methods are freed, the runtimes crash when they are enumerated.
        if has_all_functions(info, &state)? {
            Ok(())
        } else {
            Err(Error::other("a compiled function is not enumerated"))
        }
    }

    /// The modules that are loaded before anything is unloaded.
    pub(super) fn lasting(&self) -> Vec<ModuleId> {
        self.state()
            .modules
            .iter()
            .map(|module| module.id)
            .collect()
    }

    pub(super) fn stop(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(super) fn function_compiled(&self, info: &ProfilerInfo, id: FunctionId) -> Result<()> {
        let facts = info.function_info(id)?;
        let method = info.method(id)?;
        let body = match method.il_body() {
            // The runtime compiles methods that it generates, too.
            Err(error) if error.is(Hresult::CORPROF_E_FUNCTION_NOT_IL) => return Ok(()),
            body => body?,
        };
        let function = Function {
            id,
            module: facts.module,
            class: facts.class,
            token: facts.token,
            name: method.name()?,
            full_name: method.full_name()?,
            body,
            is_generic: is_generic(info, &facts)?,
        };
        self.note(|notes| notes.functions.push(function));
        Ok(())
    }

    pub(super) fn class_loaded(&self, info: &ProfilerInfo, id: ClassId) {
        // Arrays have no module; and some classes are not completely loaded yet.
        if let Ok(facts) = info.class_id_info2(id)
            && let Some(module) = facts.module
        {
            let class = Class {
                id,
                module,
                token: facts.token,
                is_generic: !facts.type_arguments.is_empty(),
            };
            self.note(|notes| notes.classes.push(class));
        }
    }

    pub(super) fn module_loaded(
        &self,
        info: &ProfilerInfo,
        id: ModuleId,
        assembly: AssemblyId,
    ) -> Result<()> {
        let facts = info.module_info(id)?;
        // Modules that are built at run time change.
        if facts.base_address.is_some() {
            let module = Module::look_at(info, id, assembly, facts.name)?;
            self.note(|notes| notes.modules.push(module));
        }
        Ok(())
    }

    /// Waits until no thread uses a module any longer, and removes it.
    pub(super) fn module_unloads(&self, module: ModuleId) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut notes = self.notes();
        for known in [&mut *state, &mut *notes] {
            known.modules.retain(|known| known.id != module);
            known.functions.retain(|known| known.module != module);
            known.classes.retain(|known| known.module != module);
        }
    }
}

fn is_generic(info: &ProfilerInfo, facts: &clr_profiler::info::FunctionInfo) -> Result<bool> {
    let metadata = info.module_metadata(facts.module)?;
    let class = metadata.method_props(facts.token)?.class;
    Ok(metadata.generic_params(facts.token).next().is_some()
        || metadata.generic_params(class).next().is_some())
}

impl Module {
    fn look_at(
        info: &ProfilerInfo,
        id: ModuleId,
        assembly: AssemblyId,
        path: String,
    ) -> Result<Self> {
        let metadata = info.module_metadata(id)?;
        let scope = metadata.scope_props()?;
        let types = metadata.type_defs().collect::<Result<Vec<_>>>()?;
        // A sample: the core library has thousands.
        let sample = types.iter().step_by(1 + types.len() / 40);
        Ok(Self {
            id,
            assembly,
            path,
            name: scope.name,
            mvid: scope.mvid,
            assembly_name: info.assembly_info(assembly)?.name,
            type_count: types.len(),
            type_ref_count: metadata.type_refs().count(),
            user_strings: metadata.user_strings().count(),
            assembly_refs: metadata.assembly_refs()?.count(),
            types: sample
                .map(|token| Type::look_at(&metadata, *token))
                .collect::<Result<_>>()?,
        })
    }
}

impl Type {
    fn look_at(metadata: &Metadata<'_>, token: TypeDef) -> Result<Self> {
        let methods = metadata
            .methods(token)
            .map(|method| {
                let method = method?;
                Ok((method, metadata.method_props(method)?.name))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            token,
            name: metadata.type_def_props(token)?.name,
            outer: metadata.nested_class_props(token)?,
            methods,
            fields: metadata.fields(token).count(),
            attributes: metadata.custom_attributes(Some(token.into()), None).count(),
            generic_params: metadata.generic_params(token).count(),
        })
    }
}
