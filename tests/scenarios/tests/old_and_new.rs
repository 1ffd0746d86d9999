//! Calls agree with those that replaced them, and enumerators return the same items in
//! every way.

use clr_profiler::info::{FunctionEnum, IlOrigin, ModuleEnum, ThreadEnum};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Does this when a thread of `Statics` gets the name "other".
pub(crate) struct OldAndNew;

#[profiler(clsid = clsid("OldAndNew"))]
impl Profiler for OldAndNew {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::MONITOR_JIT_COMPILATION);
        info.set_event_mask(EventMask::MONITOR_THREADS)?;
        log::line(format_args!(
            "mask {:?} {:?}",
            info.event_mask()?,
            info.event_mask2()?
        ));
        Ok(Self)
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if name == "other" {
            code(info)?;
            layouts(info)?;
            enumerations(info)?;
            masks(info)?;
        }
        Ok(())
    }
}

fn masks(info: &ProfilerInfo) -> Result<()> {
    let before = info.event_mask()?;
    let more = before | EventMask::MONITOR_MODULE_LOADS;
    info.set_event_mask(more)?;
    let (old, new) = (info.event_mask()?, info.event_mask2()?);
    info.set_event_mask2(before)?;
    log::line(format_args!(
        "masks {} {} {}",
        old == more,
        new == more,
        info.event_mask()? == before
    ));
    Ok(())
}

fn code(info: &ProfilerInfo) -> Result<()> {
    let mut seen = Vec::new();
    for function in info.jitted_functions()? {
        let (function, rejit) = function?;
        // .NET 10 lists a method twice on Windows (seen under Wine).
        if cfg!(windows) && seen.contains(&(function, rejit)) {
            continue;
        }
        seen.push((function, rejit));
        if info.is_function_dynamic(function)? {
            continue;
        }
        let method = info.method(function)?;
        if method.full_name()? != "Statics.Program.Main()" {
            continue;
        }
        log::line(format_args!("rejit {}", rejit == RejitId::ORIGINAL));
        let start = info.native_code_start_addresses(function, rejit)?;
        let [start] = start[..] else {
            return Err(Error::other("Main has more codes than one"));
        };
        let first = info.code_info(function)?;
        let newer = [
            info.code_info2(function)?,
            info.code_info3(function, rejit)?,
            info.code_info4(start)?,
        ];
        log::line(format_args!(
            "code {} {}, new ones agree {}",
            first.start == start,
            newer[0].first() == Some(&first),
            newer.iter().all(|ranges| *ranges == newer[0])
        ));
        let inside = start + first.size / 2;
        let owner = (function, rejit);
        log::line(format_args!(
            "owner {} {} {}",
            info.function_from_ip(inside)? == function,
            info.function_from_ip2(inside)? == owner,
            info.function_from_ip3(inside)? == owner,
        ));
        let mappings = [
            info.il_to_native_mapping(function)?,
            info.il_to_native_mapping2(function, rejit)?,
            info.il_to_native_mapping3(start)?,
        ];
        let il = method.il_body()?.len() as u32;
        let native: usize = newer[0].iter().map(|range| range.size).sum();
        let is_within = mappings[0].iter().all(|entry| {
            let il_fits = !matches!(entry.il, IlOrigin::Offset(offset) if offset >= il);
            il_fits && entry.native.end as usize <= native
        });
        log::line(format_args!(
            "mapping {} entries, within {is_within}, all agree {}",
            if mappings[0].len() > 3 {
                "several"
            } else {
                "few"
            },
            mappings.iter().all(|mapping| *mapping == mappings[0])
        ));
        let (old, new) = (
            info.function_info(function)?,
            info.function_info2(function)?,
        );
        log::line(format_args!(
            "function {} {} {}",
            old.class == new.class,
            (old.module, old.token) == (new.module, new.token),
            (old.module, old.token) == (method.module(), method.token())
        ));
        let class = info.class_from_token(method.module(), method.props()?.class)?;
        let (old, new) = (info.class_id_info(class)?, info.class_id_info2(class)?);
        log::line(format_args!(
            "class {} {}",
            old.module == new.module && old.module == Some(method.module()),
            old.token == new.token && old.token == method.props()?.class
        ));
        // There is no code at the first address of the process.
        log::line(outcome(info.function_from_ip(1)));
        log::line(outcome(info.function_from_ip3(1)));
    }
    Ok(())
}

fn outcome<T: std::fmt::Debug>(asked: Result<T>) -> String {
    match asked {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

fn layouts(info: &ProfilerInfo) -> Result<()> {
    let (old, new) = (info.string_layout()?, info.string_layout2()?);
    log::line(format_args!(
        "strings {} {} {}",
        old == new,
        new.length_offset,
        new.buffer_offset
    ));
    let (mut modules, mut frozen) = (0, 0);
    for module in info.modules()? {
        let module = module?;
        modules += 1;
        let (facts, _) = info.module_info2(module)?;
        if info.module_info(module)? != facts {
            log::line(format_args!("module {} is told differently", facts.name));
        }
        frozen += info.module_frozen_objects(module)?.count();
    }
    log::line(format_args!("frozen {} {frozen}", modules > 2));
    let thread = info.current_thread_id()?;
    let domain = info.app_domain_info(info.thread_app_domain(thread)?)?;
    log::line(format_args!("domain {:?}", domain.name));
    log::line(format_args!(
        "native thread {:?}",
        info.handle_from_thread(thread)?.is_some()
    ));
    let runtime = info.runtime_information()?;
    log::line(format_args!("runtime {:?} {}", runtime.kind, runtime.major));
    Ok(())
}

/// The ways in which an enumerator returns the same items. A macro, because each kind has its own
/// type.
macro_rules! ways {
    ($info:expr, $name:literal, $enumerator:ty, $make:expr) => {{
        let make = $make;
        let whole: Vec<_> = make($info)?.collect::<Result<_>>()?;
        let mut other: $enumerator = make($info)?;
        let total = other.total()?;
        other.leave_out(1)?;
        let second = other.next().transpose()?;
        let cloned: Result<Vec<_>> = other.try_clone()?.collect();
        let rest: Vec<_> = other.by_ref().collect::<Result<_>>()?;
        other.reset()?;
        let again: Vec<_> = other.by_ref().collect::<Result<_>>()?;
        other.reset()?;
        other.leave_out(total + 5)?;
        log::line(format_args!(
            "{} {}, total {}, second {}, rest {}, cloned {}, again {}, after all {:?}",
            $name,
            whole.len() > 1,
            total == whole.len(),
            second.as_ref() == whole.get(1),
            Some(&rest[..]) == whole.get(2..),
            cloned.is_ok_and(|cloned| cloned == rest),
            again == whole,
            other.next().is_none()
        ));
    }};
}

fn enumerations(info: &ProfilerInfo) -> Result<()> {
    ways!(info, "modules", ModuleEnum, |info: &ProfilerInfo| info
        .modules());
    ways!(info, "threads", ThreadEnum, |info: &ProfilerInfo| info
        .threads());
    ways!(info, "functions", FunctionEnum, |info: &ProfilerInfo| info
        .jitted_functions());
    ways!(info, "functions2", FunctionEnum, |info: &ProfilerInfo| info
        .jitted_functions2());
    if info.version() >= 14 {
        // Objects are not compared across calls: these are never moved.
        let places = |objects: clr_profiler::info::ObjectEnum<'_>| -> Result<Vec<usize>> {
            objects.map(|object| Ok(object?.address())).collect()
        };
        let whole = places(info.non_gc_objects()?)?;
        let mut other = info.non_gc_objects()?;
        let total = other.total()?;
        other.leave_out(1)?;
        let cloned = places(other.try_clone()?)?;
        other.reset()?;
        let again = places(other)?;
        log::line(format_args!(
            "objects {}, total {}, cloned {}, again {}",
            whole.len() > 1,
            total == whole.len(),
            Some(&cloned[..]) == whole.get(1..),
            again == whole
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::OldAndNew;

    #[test]
    fn older_and_newer_calls_agree() {
        let scenario = Scenario::new("Statics")
            .profiled_by::<OldAndNew>()
            // One code for each function.
            .env("COMPlus_TieredCompilation", "0");
        scenario.on_each_runtime(|runtime, profiled| {
            assert_eq!(
                profiled.output(),
                (Some(3), "3 66\n17 True 7 kept\n", ""),
                "{}",
                profiled.log
            );
            let runtime_says = match runtime.major {
                // The version that .NET Core 3.1 reports.
                3 => "runtime Core 4".to_owned(),
                major => format!("runtime Core {major}"),
            };
            let ways =
                "true, total true, second true, rest true, cloned true, again true, after all true";
            let mut expected = vec![
                "mask EventMask(MONITOR_THREADS) EventMask(MONITOR_THREADS)".to_owned(),
                "rejit true".to_owned(),
                "code true true, new ones agree true".to_owned(),
                "owner true true true".to_owned(),
                "mapping several entries, within true, all agree true".to_owned(),
                "function true true true".to_owned(),
                "class true true".to_owned(),
                "ICorProfilerInfo::GetFunctionFromIP failed with E_FAIL (0x80004005)".to_owned(),
                "ICorProfilerInfo8::GetFunctionFromIP3 failed with E_FAIL (0x80004005)".to_owned(),
                // After the type: 32 bits of length, then the characters.
                "strings true 8 12".to_owned(),
                "frozen true 0".to_owned(),
                "domain \"clrhost\"".to_owned(),
                "native thread true".to_owned(),
                runtime_says,
                format!("modules {ways}"),
                format!("threads {ways}"),
                format!("functions {ways}"),
                format!("functions2 {ways}"),
            ];
            if runtime.major >= 8 {
                expected.push("objects true, total true, cloned true, again true".to_owned());
            }
            expected.push("masks true true true".to_owned());
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(lines, expected);
        });
    }
}
