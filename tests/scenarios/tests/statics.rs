//! Static fields, threads and types have the addresses and contents that the program gave them.
//!
//! The profiler finds static fields of all kinds, and enumerates threads, modules, assemblies and
//! domains.

use std::sync::{Mutex, PoisonError};

use clr_profiler::info::ModuleFlags;
use clr_profiler::prelude::*;
use scenario_support::threads::os_thread;
use scenario_support::{clsid, log};

/// Makes the calls when the threads of `Statics` get their names.
#[derive(Default)]
pub(crate) struct Statics {
    main: Mutex<Option<ThreadId>>,
}

#[profiler(clsid = clsid("Statics"))]
impl Profiler for Statics {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, thread: ThreadId, name: &str) -> Result<()> {
        let mut main = self.main.lock().unwrap_or_else(PoisonError::into_inner);
        match (name, *main) {
            ("main", _) => {
                log::line(format_args!("main {}", is_this(info, thread)?));
                *main = Some(thread);
            }
            ("other", Some(main)) => ask(info, main, thread)?,
            _ => {}
        }
        Ok(())
    }

    fn class_load_started(&self, info: &ProfilerInfo, class: ClassId) -> Result<()> {
        // Names are not always known yet.
        if let Some(name) = name(info, class) {
            log::line(format_args!("started {name}"));
        }
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        if let Some(name) = name(info, class) {
            log::line(format_args!("finished {name} {status}"));
        }
        Ok(())
    }
}

/// Whether the runtime knows the calling thread by its id in the system.
fn is_this(info: &ProfilerInfo, thread: ThreadId) -> Result<bool> {
    Ok(os_thread() == Some(info.thread_info(thread)?))
}

/// The name of a type of the program, with the number of its generic arguments.
fn name(info: &ProfilerInfo, class: ClassId) -> Option<String> {
    let facts = info.class_id_info2(class).ok()?;
    let metadata = info.module_metadata(facts.module?).ok()?;
    let name = metadata.type_def_props(facts.token).ok()?.name;
    let arguments = facts.type_arguments.len();
    name.starts_with("Statics.")
        .then(|| format!("{name} {arguments}"))
}

fn number(address: usize) -> i32 {
    let field: *const i32 = std::ptr::with_exposed_provenance(address);
    // SAFETY: the runtime says that the field is there, and it is a number of 32 bits.
    unsafe { field.read_unaligned() }
}

/// The error's first words: the failed call, and the code.
fn outcome<T: std::fmt::Debug>(asked: Result<T>) -> String {
    match asked {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

fn ask(info: &ProfilerInfo, main: ThreadId, other: ThreadId) -> Result<()> {
    let mut program = None;
    let (mut modules, mut has_core) = (0, false);
    for module in info.modules()? {
        let module = module?;
        modules += 1;
        let facts = info.module_info(module)?;
        has_core |= facts.name.contains("System.Private.CoreLib");
        if facts.name.ends_with("Statics.dll") {
            program = Some(module);
        }
    }
    log::line(format_args!("modules {}, core {has_core}", modules > 2));
    let Some(module) = program else {
        return Err(Error::other("the program has no module"));
    };
    fields(info, module, main, other)?;
    threads(info, module, main, other)
}

fn fields(info: &ProfilerInfo, module: ModuleId, main: ThreadId, other: ThreadId) -> Result<()> {
    let metadata = info.module_metadata(module)?;
    let token = metadata.find_type_def_by_name("Statics.Program", None)?;
    let class = info.class_from_token(module, token)?;
    let domain = info.thread_app_domain(main)?;
    for field in metadata.fields(token) {
        let field = field?;
        let name = metadata.field_props(field)?.name;
        log::line(format_args!(
            "{name} {}",
            outcome(info.static_field_info(class, field))
        ));
        match name.as_str() {
            "count" => {
                let address = info.app_domain_static_address(class, field, domain)?;
                log::line(format_args!("count is {}", number(address)));
                log::line(outcome(info.thread_static_address(class, field, None)));
                log::line(outcome(info.rva_static_address(class, field)));
                let context = info.thread_context(main)?;
                log::line(outcome(info.context_static_address(class, field, context)));
            }
            "perThread" => {
                let mine = info.thread_static_address(class, field, None)?;
                let named = info.thread_static_address(class, field, Some(other))?;
                let again = info.thread_static_address2(class, field, domain, other)?;
                let theirs = info.thread_static_address2(class, field, domain, main)?;
                log::line(format_args!(
                    "perThread is {} {} {} and {}",
                    number(mine),
                    mine == named,
                    mine == again,
                    number(theirs)
                ));
            }
            _ => {}
        }
    }
    for holder in metadata.type_defs() {
        let holder = holder?;
        if !metadata
            .type_def_props(holder)?
            .name
            .starts_with("<Private")
        {
            continue;
        }
        let class = info.class_from_token(module, holder)?;
        for field in metadata.fields(holder) {
            let field = field?;
            let kind = info.static_field_info(class, field)?;
            let address = info.rva_static_address(class, field)?;
            let numbers: Vec<i32> = (0..7).map(|index| number(address + 4 * index)).collect();
            log::line(format_args!("image {kind:?} {numbers:?}"));
        }
    }
    Ok(())
}

fn threads(info: &ProfilerInfo, module: ModuleId, main: ThreadId, other: ThreadId) -> Result<()> {
    let threads: Vec<ThreadId> = info.threads()?.collect::<Result<_>>()?;
    let domain = info.thread_app_domain(main)?;
    log::line(format_args!(
        "threads {} {} {}",
        threads.contains(&main),
        threads.contains(&other),
        info.current_thread_id()? == other
    ));
    log::line(format_args!(
        "other {}, apart {}",
        is_this(info, other)?,
        info.thread_info(other)? != info.thread_info(main)?
    ));
    log::line(format_args!(
        "one domain {}, one context {}",
        info.thread_app_domain(other)? == domain,
        info.thread_context(main)? == info.thread_context(other)?
    ));
    let (facts, flags) = info.module_info2(module)?;
    let assembly = facts.assembly.ok_or_else(|| Error::other("no assembly"))?;
    let assembly = info.assembly_info(assembly)?;
    log::line(format_args!(
        "assembly {} {} {}",
        assembly.name,
        assembly.app_domain == Some(domain),
        assembly.module == Some(module)
    ));
    log::line(format_args!(
        "module of a file {}, built {}",
        flags.contains(ModuleFlags::DISK),
        flags.contains(ModuleFlags::DYNAMIC)
    ));
    let domains = info.app_domains_containing_module(module)?;
    let app_domain = info.app_domain_info(domain)?;
    log::line(format_args!(
        "domains {} {}",
        domains == [domain],
        app_domain.process_id == std::process::id() as usize
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Statics;

    /// The results of calls for a field of another kind.
    const OTHER_KIND: &str = "failed with E_INVALIDARG (0x80070057): an id or a token that this runtime \
     does not know, or flags that do not go together";

    #[test]
    fn statics_of_all_kinds_are_found() {
        let scenario = Scenario::new("Statics").profiled_by::<Statics>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            assert_eq!(plain.output(), (Some(3), "3 66\n17 True 7 kept\n", ""));
            let log = &profiled.log;
            let (loads, facts): (Vec<&str>, Vec<&str>) = log
                .lines()
                .partition(|line| line.starts_with("started ") || line.starts_with("finished "));
            assert_eq!(
                facts,
                [
                    "main true",
                    "modules true, core true",
                    "count StaticKind(APP_DOMAIN)",
                    "count is 17",
                    &format!("ICorProfilerInfo2::GetThreadStaticAddress {OTHER_KIND}"),
                    &format!("ICorProfilerInfo2::GetRVAStaticAddress {OTHER_KIND}"),
                    "ICorProfilerInfo2::GetContextStaticAddress failed with E_NOTIMPL (0x80004001)",
                    "ratio StaticKind(APP_DOMAIN)",
                    // Each thread has its own.
                    "perThread StaticKind(THREAD)",
                    "perThread is 8 true true and 7",
                    // A constant is not a field in memory.
                    &format!("Literal ICorProfilerInfo2::GetStaticFieldInfo {OTHER_KIND}"),
                    "kept StaticKind(APP_DOMAIN)",
                    "image StaticKind(RVA) [11, 22, 33, 44, 55, 66, 77]",
                    "threads true true true",
                    "other true, apart true",
                    "one domain true, one context true",
                    "assembly Statics true true",
                    "module of a file true, built false",
                    "domains true true",
                ]
            );
            // Every load that began has ended well, and right after it began.
            for pair in loads.chunks(2) {
                let begun = pair[0].strip_prefix("started ").expect(log);
                assert_eq!(
                    pair[1],
                    format!("finished {begun} S_OK (0x00000000)"),
                    "{log}"
                );
            }
            // A type is loaded once, however often it is used.
            let count = |line: &str| loads.iter().filter(|loaded| **loaded == line).count();
            assert_eq!(count("started Statics.Known 0"), 1, "{log}");
            assert_eq!(count("started Statics.Program 0"), 1, "{log}");
            // Boxes of numbers have code of their own; references share it, with a type for the sharing.
            assert!(count("started Statics.Box`1 1") >= 3, "{log}");
        });
    }
}
