//! The addresses of static fields, in types that are loaded and unloaded while a thread of the profiler makes
//! the runtime collect.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use clr_profiler::il::attributes::FieldAttributes;
use clr_profiler::info::{ModuleFlags, StaticKind};
use clr_profiler::prelude::*;

use crate::common::{Count, check, clsid, locked, log, report_failures};

/// A loaded type.
struct Known {
    modules: Vec<ModuleId>,
    is_collectible: bool,
    domain: AppDomainId,
    fields: Vec<FieldDef>,
}

/// Asks for the address of each static field at each collection.
pub(crate) struct StaticAddresses {
    classes: Mutex<BTreeMap<ClassId, Known>>,
    collect: Mutex<Option<Sender<()>>>,
    addresses: Count,
    collectible: Count,
    not_collectible: Count,
    refused: Count,
}

impl StaticAddresses {
    fn collect(&self) {
        if let Some(collect) = locked(&self.collect).as_ref() {
            // Without a receiver, the thread has ended.
            let _ = collect.send(());
        }
    }

    /// The modules of a type and of its type arguments.
    fn modules(info: &ProfilerInfo, class: ClassId, into: &mut Vec<ModuleId>) -> Result<()> {
        let facts = info.class_id_info2(class)?;
        into.extend(facts.module);
        for argument in facts.type_arguments {
            if info.array_class_info(argument)?.is_none() {
                Self::modules(info, argument, into)?;
            }
        }
        Ok(())
    }

    fn known(info: &ProfilerInfo, class: ClassId) -> Result<Option<Known>> {
        if info.array_class_info(class)?.is_some() {
            return Ok(None);
        }
        let domain = info.thread_app_domain(info.current_thread_id()?)?;
        let facts = info.class_id_info2(class)?;
        let Some(module) = facts.module else {
            return Ok(None);
        };
        let mut modules = Vec::new();
        Self::modules(info, class, &mut modules)?;
        let metadata = info.module_metadata(module)?;
        let mut fields = Vec::new();
        for field in metadata.fields(facts.token) {
            let field = field?;
            let attributes = metadata.field_props(field)?.attributes;
            if attributes.contains(FieldAttributes::STATIC)
                && !attributes.contains(FieldAttributes::LITERAL)
            {
                fields.push(field);
            }
        }
        let (_, flags) = info.module_info2(module)?;
        Ok(Some(Known {
            modules,
            is_collectible: flags.contains(ModuleFlags::COLLECTIBLE),
            domain,
            fields,
        }))
    }

    fn ask(&self, gc: &GcScope, class: ClassId, known: &Known) -> Result<()> {
        for field in &known.fields {
            let kind = gc.static_field_info(class, *field)?;
            if !kind.contains(StaticKind::APP_DOMAIN) {
                continue;
            }
            match gc.app_domain_static_address(class, *field, known.domain) {
                Ok(address) => {
                    check(address != 0, "a static field at null");
                    self.addresses.one();
                    if known.is_collectible {
                        self.collectible.one();
                    } else {
                        self.not_collectible.one();
                    }
                }
                Err(error) => {
                    let is_early = error.is(Hresult::CORPROF_E_DATAINCOMPLETE);
                    check(is_early || known.is_collectible, &error);
                    if !is_early && self.refused.one() == 1 {
                        log::line(format_args!("refused: {error}"));
                    }
                }
            }
        }
        Ok(())
    }
}

#[profiler(clsid = clsid("StaticAddresses"))]
impl Profiler for StaticAddresses {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(
            EventMask::MONITOR_GC
                | EventMask::MONITOR_JIT_COMPILATION
                | EventMask::DISABLE_ALL_NGEN_IMAGES,
        );
        let (collect, asked) = channel();
        let info = info.clone();
        thread::spawn(move || {
            let mut is_ready = false;
            for () in asked {
                if !is_ready {
                    is_ready = info.initialize_current_thread().is_ok();
                }
                // Refused while the runtime starts and after it has shut down.
                let _ = info.force_gc();
            }
        });
        Ok(Self {
            classes: Mutex::default(),
            collect: Mutex::new(Some(collect)),
            addresses: Count::new(),
            collectible: Count::new(),
            not_collectible: Count::new(),
            refused: Count::new(),
        })
    }

    fn module_load_finished(&self, _: &ProfilerInfo, _: ModuleId, _: Hresult) -> Result<()> {
        self.collect();
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        if status.is_ok()
            && let Some(known) = Self::known(info, class)?
        {
            locked(&self.classes).insert(class, known);
        }
        Ok(())
    }

    fn module_unload_started(&self, _: &ProfilerInfo, module: ModuleId) -> Result<()> {
        locked(&self.classes).retain(|_, known| !known.modules.contains(&module));
        self.collect();
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        for (class, known) in locked(&self.classes).iter() {
            self.ask(gc, *class, known)?;
        }
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        locked(&self.collect).take();
        log::line(format_args!(
            "addresses {}, collectible {}, not collectible {}",
            self.addresses.get() > 0,
            self.collectible.get() > 0,
            self.not_collectible.get() > 0
        ));
        Ok(())
    }
}
