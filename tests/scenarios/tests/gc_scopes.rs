//! Calls about threads, static fields and objects that are never collected are legal during a collection.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::ContextId;
use clr_profiler::info::{NonGcHeapRange, StaticKind};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Makes calls in the callbacks of the collections of `GcScopes`, once in each.
#[derive(Default)]
pub(crate) struct GcScopes {
    known: Mutex<Option<Known>>,
}

/// The ids for the calls, and the callbacks that have made them.
struct Known {
    class: ClassId,
    count: FieldDef,
    per_thread: FieldDef,
    holder: ClassId,
    image: FieldDef,
    thread: ThreadId,
    context: ContextId,
    asked: Vec<&'static str>,
}

impl GcScopes {
    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, callback: &'static str, scope: &GcScope) -> Result<()> {
        let mut known = self.known();
        let Some(known) = known.as_mut() else {
            return Ok(());
        };
        if known.asked.contains(&callback) {
            return Ok(());
        }
        known.asked.push(callback);
        let domain = scope.thread_app_domain(known.thread)?;
        let addresses = [
            scope.app_domain_static_address(known.class, known.count, domain)?,
            scope.thread_static_address2(known.class, known.per_thread, domain, known.thread)?,
            scope.rva_static_address(known.holder, known.image)? + 8,
        ];
        let kinds: Vec<StaticKind> = [
            (known.class, known.count),
            (known.class, known.per_thread),
            (known.holder, known.image),
        ]
        .into_iter()
        .map(|(class, field)| scope.static_field_info(class, field))
        .collect::<Result<_>>()?;
        let expected = [StaticKind::APP_DOMAIN, StaticKind::THREAD, StaticKind::RVA];
        log::line(format_args!(
            "{callback}: {:?}, kinds {}, context {}, {}",
            addresses.map(number),
            kinds
                .iter()
                .zip(expected)
                .all(|(kind, it)| kind.contains(it)),
            scope.thread_context(known.thread)? == known.context,
            never_collected(scope)
        ));
        Ok(())
    }
}

fn number(address: usize) -> i32 {
    let field: *const i32 = std::ptr::with_exposed_provenance(address);
    // SAFETY: the runtime says that the field is there, and it is a number of 32 bits.
    unsafe { field.read_unaligned() }
}

/// The result for objects that are never collected, or why there is none.
fn never_collected(scope: &GcScope) -> String {
    let look = || {
        let ranges = scope.non_gc_heap_bounds()?;
        let (mut objects, mut inside) = (0, 0);
        for object in scope.non_gc_objects()? {
            let object = object?;
            let end = object.address() + scope.object_size(object)?;
            scope.class_from_object(object)?;
            objects += 1;
            let is_in = |range: &NonGcHeapRange| {
                (range.start..range.start + range.size).contains(&object.address())
                    && end <= range.start + range.reserved
            };
            inside += usize::from(ranges.iter().any(is_in));
        }
        Ok(format!(
            "objects {}, all inside {}",
            objects > 0,
            objects == inside
        ))
    };
    look().unwrap_or_else(|error: Error| error.to_string())
}

#[profiler(clsid = clsid("GcScopes"))]
impl Profiler for GcScopes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, thread: ThreadId, name: &str) -> Result<()> {
        if name == "ready" {
            *self.known() = Some(Known::of(info, thread)?);
        }
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        scope: &GcScope,
        _: GenerationSet,
        _: GcReason,
    ) -> Result<()> {
        self.ask("started", scope)
    }

    fn garbage_collection_finished(&self, scope: &GcScope) -> Result<()> {
        self.ask("finished", scope)
    }

    fn root_references2(&self, scope: &GcScope, _: Roots<'_>) -> Result<()> {
        self.ask("roots", scope)
    }

    fn object_references(
        &self,
        scope: &GcScope,
        _: ObjectId<'_>,
        _: Option<ClassId>,
        _: ObjectIds<'_>,
    ) -> Result<()> {
        self.ask("references", scope)
    }
}

impl Known {
    fn of(info: &ProfilerInfo, thread: ThreadId) -> Result<Self> {
        let mut program = None;
        for module in info.modules()? {
            let module = module?;
            if info.module_info(module)?.name.ends_with("GcScopes.dll") {
                program = Some(module);
            }
        }
        let module = program.ok_or_else(|| Error::other("the program has no module"))?;
        let metadata = info.module_metadata(module)?;
        let program = metadata.find_type_def_by_name("GcScopes.Program", None)?;
        let holder = metadata.find_type_def_by_name("<PrivateImplementationDetails>", None)?;
        let image = metadata.fields(holder).next();
        let field = |wanted: &str| -> Result<FieldDef> {
            for field in metadata.fields(program) {
                let field = field?;
                if metadata.field_props(field)?.name == wanted {
                    return Ok(field);
                }
            }
            Err(Error::other(format!("there is no {wanted}")))
        };
        Ok(Self {
            class: info.class_from_token(module, program)?,
            count: field("count")?,
            per_thread: field("perThread")?,
            holder: info.class_from_token(module, holder)?,
            image: image.ok_or_else(|| Error::other("the array has no image"))??,
            thread,
            context: info.thread_context(thread)?,
            asked: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::GcScopes;

    #[test]
    fn collections_answer_what_they_may() {
        let scenario = Scenario::new("GcScopes").profiled_by::<GcScopes>();
        scenario.on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.output(), (Some(6), "57\n", ""));
            let log = &profiled.log;
            let never_collected = if runtime.major < 8 {
                "needs ICorProfilerInfo14"
            } else {
                "objects true, all inside true"
            };
            for callback in ["started", "finished", "roots", "references"] {
                let line = log.lines().find(|line| line.starts_with(callback));
                let line = line.unwrap_or_else(|| panic!("{callback} is missing in {log}"));
                let facts = ": [17, 7, 33], kinds true, context true, ";
                assert!(line.contains(facts), "{line}");
                assert!(line.contains(never_collected), "{line}");
            }
            assert_eq!(log.lines().count(), 4, "{log}");
        });
    }
}
