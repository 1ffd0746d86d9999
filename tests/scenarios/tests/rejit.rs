//! Methods that run get new IL and back their original IL, and their inliners follow.
//!
//! The profiler changes constants of methods that run, and of their inliners, and inspects the code.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::info::{CodeRange, IlMapEntry, IlOrigin, RejitFlags};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Works step by step, each when a thread of `Rejit` gets the name of the step.
#[derive(Default)]
pub(crate) struct RejitSteps {
    methods: Mutex<BTreeMap<String, Known>>,
}

/// A method that was compiled.
#[derive(Clone, Copy)]
struct Known {
    function: FunctionId,
    module: ModuleId,
    token: MethodDef,
}

type Methods = BTreeMap<String, Known>;

impl RejitSteps {
    fn methods(&self) -> MutexGuard<'_, Methods> {
        self.methods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = clsid("RejitSteps"))]
impl Profiler for RejitSteps {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Rejit.Program.Say()" {
            // It keeps its IL, and says so.
            let map: Vec<IlMapEntry> = (0..2).map(same_offset).collect();
            let said = info.set_il_instrumented_code_map(function, true, &map);
            log::line(format_args!("map of Say {said:?}"));
        }
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? == "Rejit" {
            let (module, token) = (method.module(), method.token());
            let known = Known {
                function,
                module,
                token,
            };
            self.methods().insert(method.name()?, known);
        }
        Ok(())
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        let (into, method) = (info.method(caller)?, info.method(callee)?);
        if into.name()? == "CallsSmall" {
            // A method that is inlined at once is never compiled.
            let (module, token) = (method.module(), method.token());
            let known = Known {
                function: callee,
                module,
                token,
            };
            self.methods().insert(method.name()?, known);
            log::line(format_args!("inlining {}", method.full_name()?));
        }
        Ok(true)
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let (info, name, methods) = (info.clone(), name.to_owned(), self.methods().clone());
        // Requests are not for callbacks: the runtime holds locks there.
        let worker = thread::spawn(move || {
            if matches!(name.as_str(), "change" | "revert" | "change again" | "ask") {
                let outcome = info
                    .initialize_current_thread()
                    .and_then(|()| step(&info, &name, &methods));
                log::line(format_args!("{name} {outcome:?}"));
            }
        });
        worker
            .join()
            .map_err(|_| Error::other("the worker panicked"))
    }

    fn get_rejit_parameters(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        let name = info.module_metadata(module)?.method_props(method)?.name;
        let mut body = info.il_function_body(module, method)?;
        // A small body: its header, `ldc.i4.s`, the constant.
        if let ([_, 0x1f, constant, ..], true) = (&mut body[..], name != "CallsSmall") {
            *constant += 1;
        }
        control.set_il_function_body(&body)?;
        control.set_il_instrumented_code_map(&[same_offset(0)])?;
        log::line(format_args!("parameters of {name}"));
        Ok(())
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!("error {method} {status}"));
        Ok(())
    }
}

fn same_offset(offset: u32) -> IlMapEntry {
    IlMapEntry {
        old_offset: offset,
        new_offset: offset,
        is_accurate: true,
    }
}

fn known(methods: &Methods, name: &str) -> Result<Known> {
    methods
        .get(name)
        .copied()
        .ok_or_else(|| Error::other(format!("{name} was not compiled")))
}

fn step(info: &ProfilerInfo, name: &str, methods: &Methods) -> Result<()> {
    let (constant, small) = (known(methods, "Constant")?, known(methods, "Small")?);
    let both = [
        (constant.module, constant.token),
        (small.module, small.token),
    ];
    match name {
        "change" => {
            info.request_rejit(&both[..1])?;
            info.request_rejit_with_inliners(RejitFlags::BLOCK_INLINING, &both[1..])
        }
        "revert" => {
            log::line(format_args!("reverted {:?}", info.request_revert(&both)?));
            Ok(())
        }
        "change again" => info.request_rejit(&both[..1]),
        _ => {
            let mut rejits = info.rejit_ids(constant.function)?;
            rejits.sort();
            log::line(format_args!("ids {}", rejits.len()));
            for rejit in rejits {
                code(info, constant.function, rejit)?;
            }
            Ok(())
        }
    }
}

/// All ways to query the code of one IL of a function have to agree.
fn code(info: &ProfilerInfo, function: FunctionId, rejit: RejitId) -> Result<()> {
    let starts = info.native_code_start_addresses(function, rejit)?;
    let [start] = starts[..] else {
        log::line(format_args!("{} codes", starts.len()));
        return Ok(());
    };
    let ranges = info.code_info4(start)?;
    let mapping = info.il_to_native_mapping3(start)?;
    let mut same = vec![
        ranges.first().is_some_and(|range| range.start == start),
        info.code_info3(function, rejit)? == ranges,
        info.il_to_native_mapping2(function, rejit)? == mapping,
        info.function_from_ip2(start)? == (function, rejit),
        info.function_from_ip3(start)? == (function, rejit),
        info.function_from_ip(start)? == function,
        mapping.iter().any(|entry| entry.il == IlOrigin::Offset(0)),
    ];
    if rejit == RejitId::ORIGINAL {
        same.push(info.code_info2(function)? == ranges);
        same.push(ranges.contains(&info.code_info(function)?));
        same.push(info.il_to_native_mapping(function)? == mapping);
    }
    let constants: Vec<i32> = (41..44)
        .filter(|constant| ranges.iter().any(|range| loads(range, *constant)))
        .collect();
    log::line(format_args!("code of {constants:?}, the same {same:?}"));
    Ok(())
}

/// Whether code loads this constant into the register of results: `eax` of x64, `w0` of ARM64.
fn loads(range: &CodeRange, constant: i32) -> bool {
    let start = std::ptr::with_exposed_provenance(range.start);
    // SAFETY: the runtime says that its code is there, and the function lives as long as its module.
    let code: &[u8] = unsafe { std::slice::from_raw_parts(start, range.size) };
    let [a, b, c, d] = constant.to_le_bytes();
    match cfg!(target_arch = "aarch64") {
        true => {
            let instruction = 0x5280_0000 | (constant as u32) << 5;
            code.chunks_exact(4)
                .any(|bytes| bytes == instruction.to_le_bytes())
        }
        false => code.windows(5).any(|bytes| bytes == [0xb8, a, b, c, d]),
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::RejitSteps;

    #[test]
    fn methods_and_their_inliners_change_and_change_back() {
        let scenario = Scenario::new("Rejit")
            .profiled_by::<RejitSteps>()
            // Only optimised code is inlined.
            .env("COMPlus_TieredCompilation", "0");
        scenario.on_each_runtime(|_, profiled| {
            assert_eq!(
                profiled.output(),
                (Some(6), "41 151\n42 152\n41 151\n42 151\n", ""),
                "{}",
                profiled.log
            );
            let same = |count| vec!["true"; count].join(", ");
            // Steps and compilations are on several threads: only lines of one thread have an order.
            let lines = profiled.log.lines();
            let (code, mut others): (Vec<_>, Vec<_>) =
                lines.partition(|line| line.starts_with("code"));
            assert_eq!(
                code,
                [
                    format!("code of [41], the same [{}]", same(10)),
                    format!("code of [42], the same [{}]", same(7)),
                    format!("code of [42], the same [{}]", same(7)),
                ]
            );
            others.sort_unstable();
            assert_eq!(
                others,
                [
                    "ask Ok(())",
                    "change Ok(())",
                    "change again Ok(())",
                    "ids 3",
                    "inlining Rejit.Program.Small()",
                    "map of Say Ok(())",
                    // Not for inliners of a changed method: they keep their IL.
                    "parameters of Constant",
                    "parameters of Constant",
                    "parameters of Small",
                    "revert Ok(())",
                    "reverted [S_OK (0x00000000), S_OK (0x00000000)]",
                ]
            );
        });
    }
}
