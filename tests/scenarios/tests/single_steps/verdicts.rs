//! The stacks of the runtime, and those of the sampler.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Write;
use std::io::{Read, Seek, SeekFrom};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use clr_profiler::prelude::*;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use clr_profiler::info::SnapshotOptions;
use clr_profiler::sampling::{CpuCode, CpuFrame, CpuSample};
use scenario_support::log;

use super::lock;

/// The differences that are logged.
const LOGGED: u64 = 40;

pub(super) struct Verdicts {
    info: ProfilerInfo,
    /// The runtime's stacks of steps whose samples were not delivered yet.
    expected: Mutex<HashMap<u32, Vec<(FunctionId, usize)>>>,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    names: HashMap<FunctionId, Option<Arc<str>>>,
    /// The methods with compared instructions.
    methods: HashSet<Arc<str>>,
    refusals: HashMap<String, u64>,
    compared: u64,
    wrong: u64,
    /// The stacks of handlers, which differ in the way that is expected.
    handlers: u64,
    broken: u64,
}

impl Found {
    /// The name of a method; dynamic methods have none, and the runtime leaves them out.
    fn name(&mut self, info: &ProfilerInfo, function: FunctionId) -> Option<Arc<str>> {
        let name = self.names.entry(function).or_insert_with(|| {
            let name = info.method(function).and_then(|method| method.full_name());
            name.ok().map(Arc::from)
        });
        name.clone()
    }
}

/// Bytes of this process, as far as they are mapped.
fn memory(at: usize, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let file = std::fs::File::open("/proc/self/mem");
    let read = file.and_then(|mut file| {
        file.seek(SeekFrom::Start(at as u64))?;
        file.read(&mut bytes)
    });
    bytes.truncate(read.unwrap_or(0));
    bytes
}

/// Whether a method is not one by which .NET 9 and 10 find handlers: their stacks do not have them.
fn is_of_program(name: &Arc<str>) -> bool {
    let dispatch = ["System.Runtime.EH.", "System.Runtime.StackFrameIterator", "System.Runtime.InternalCalls."];
    !dispatch.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether the methods of the first stack are in the second one, in this order: while an exception is dispatched, the runtime
/// leaves out those that it has left.
fn is_part(by_runtime: &[Arc<str>], by_sampler: &[Arc<str>]) -> bool {
    let mut all = by_sampler.iter();
    by_runtime.iter().all(|name| all.any(|other| other == name))
}

/// Whether the sampler has left out the frames from a handler to its method, which called those that have thrown: while filters run, and at
/// the first and last instructions of handlers, the runtime's stack has them.
fn is_without_thrower(by_runtime: &[Arc<str>], by_sampler: &[Arc<str>], same: usize) -> bool {
    let rest = by_sampler.get(same..).unwrap_or_default();
    let handler = same.checked_sub(1).and_then(|last| by_sampler.get(last));
    let Some(from) = by_runtime.len().checked_sub(rest.len()) else {
        return false;
    };
    from > same && by_runtime.ends_with(rest) && by_runtime.get(from - 1) == handler
}

/// Whether the runtime's library has called the innermost method, as it calls handlers: at their first and last instructions the sampler has
/// the frames of methods that an exception has left, which are still on the stack, and the runtime has not.
fn is_called_natively(frames: &[CpuFrame]) -> bool {
    let [handler, caller, ..] = frames else {
        return false;
    };
    // The runtime of a single-file application is in its executable.
    let is_runtime = |library: &str| {
        let program = env::current_exe().unwrap_or_default();
        library == "libcoreclr.so" || program.ends_with(library)
    };
    handler.function().is_some() && matches!(&caller.code, CpuCode::Native(library) if is_runtime(library))
}

/// The frames near the first difference.
fn around(same: usize, frames: Vec<(usize, Option<Arc<str>>)>) -> String {
    let mut text = String::new();
    let (mut managed, mut left) = (0, 8);
    for (ip, name) in frames {
        let is_managed = name.as_ref().is_some_and(|name| !name.starts_with('['));
        if managed + 3 > same && left > 0 {
            let _ = write!(text, "\n    {ip:x} {}", name.as_deref().unwrap_or("[dynamic]"));
            left -= 1;
        }
        managed += usize::from(is_managed);
    }
    text
}

impl Found {
    /// Whether a method in a stack has handlers of exceptions.
    fn has_handlers(&mut self, info: &ProfilerInfo, stack: &[(FunctionId, usize)], name: &Arc<str>) -> bool {
        let function = stack.iter().find(|(function, _)| self.name(info, *function).as_ref() == Some(name));
        let body = function.and_then(|(function, _)| info.method(*function).ok()?.il_body().ok());
        // A large header, with a section after the code.
        body.is_some_and(|body| body.first().is_some_and(|flags| flags & 0xB == 0xB))
    }
}

impl Verdicts {
    pub(super) fn new(info: ProfilerInfo) -> Self {
        Self {
            info,
            expected: Mutex::default(),
            found: Mutex::default(),
        }
    }

    /// Has the runtime walk this thread from the registers of a step; whether it is in managed code.
    ///
    /// # Safety
    ///
    /// The seed has the registers of this thread, which a signal has interrupted there.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) unsafe fn walk(&self, step: u32, seed: &[u8]) -> bool {
        let mut frames = Vec::new();
        let options = SnapshotOptions::default();
        let push = |frame: &clr_profiler::info::StackFrame<'_>| {
            frames.extend(frame.function.map(|function| (function, frame.ip)));
            ControlFlow::Continue(())
        };
        // SAFETY: guaranteed by the caller; the thread is in this call meanwhile.
        let walked = unsafe { self.info.do_stack_snapshot_with_seed(None, options, seed, push) };
        match walked {
            Ok(()) => {
                lock(&self.expected).insert(step, frames);
                true
            }
            Err(error) => {
                *lock(&self.found).refusals.entry(error.to_string()).or_default() += 1;
                false
            }
        }
    }

    /// Compares the sample of a step with the runtime's stack.
    pub(super) fn sampled(&self, step: u32, sample: &CpuSample<'_>) {
        let Some(expected) = lock(&self.expected).remove(&step) else {
            return;
        };
        let mut found = lock(&self.found);
        let mut name = |function| found.name(&self.info, function);
        let by_runtime: Vec<_> = expected.iter().filter_map(|(function, _)| name(*function)).filter(is_of_program).collect();
        let managed = sample.frames.iter().filter_map(|frame| frame.function());
        let by_sampler: Vec<_> = managed.filter_map(name).filter(is_of_program).collect();
        found.compared += 1;
        found.methods.extend(by_runtime.first().cloned());
        found.broken += u64::from(sample.is_broken);
        let same = by_runtime.iter().zip(&by_sampler).take_while(|(left, right)| left == right).count();
        let is_whole = same == by_runtime.len() && same == by_sampler.len();
        if is_whole || (sample.is_truncated && same == by_sampler.len()) {
            return;
        }
        let mut all = sample.frames.iter().filter_map(|frame| found.name(&self.info, frame.function()?));
        let is_dispatched = all.any(|name| !is_of_program(&name));
        if is_dispatched && is_part(&by_runtime, &by_sampler) {
            found.handlers += 1;
            return;
        }
        if let Some(handler) = same.checked_sub(1).and_then(|last| by_sampler.get(last))
            && found.has_handlers(&self.info, &expected, handler)
            && (is_without_thrower(&by_runtime, &by_sampler, same)
                || (is_called_natively(sample.frames) && is_part(&by_runtime, &by_sampler)))
        {
            found.handlers += 1;
            return;
        }
        found.wrong += 1;
        if found.wrong > LOGGED {
            return;
        }
        let ip = sample.frames.first().map_or(0, |frame| frame.ip);
        let broken = if sample.is_broken { "broken, " } else { "" };
        let mut text = format!("wrong: {broken}the first {same} are equal, at {}", self.place(ip));
        let runtime = expected.iter().map(|(function, ip)| (*ip, found.name(&self.info, *function)));
        let _ = write!(text, "\n  by the runtime: {}", around(same, runtime.collect()));
        let sampler = sample.frames.iter().map(|frame| {
            let name = match &frame.code {
                CpuCode::Managed(function) => found.name(&self.info, *function),
                other => Some(format!("[{other:?}]").into()),
            };
            (frame.ip, name)
        });
        let _ = write!(text, "\n  by the sampler: {}", around(same, sampler.collect()));
        log::line(text);
    }

    /// The offset of an instruction in its method, and the bytes around it.
    fn place(&self, ip: usize) -> String {
        let Ok((function, rejit)) = self.info.function_from_ip3(ip) else {
            return "nowhere".to_owned();
        };
        let mut text = String::new();
        let starts = self.info.native_code_start_addresses(function, rejit).unwrap_or_default();
        for range in starts.into_iter().flat_map(|start| self.info.code_info4(start).unwrap_or_default()) {
            if (range.start..range.start + range.size).contains(&ip) {
                let at = ip - range.start;
                let _ = write!(text, "+{at:x} of {:x} begins {:02x?}", range.size, memory(range.start, 48));
                let _ = write!(text, " before {:02x?}", memory(ip - at.min(16), at.min(16)));
                let _ = write!(text, " here {:02x?}", memory(ip, 32));
                return text;
            }
        }
        let _ = write!(text, "no code: here {:02x?}", memory(ip, 32));
        text
    }

    pub(super) fn tell(&self) {
        let found = lock(&self.found);
        let lost = lock(&self.expected).len();
        log::line(format_args!("compared {}", found.compared));
        for method in &found.methods {
            log::line(format_args!("method {method}"));
        }
        log::line(format_args!("lost {lost}"));
        log::line(format_args!("different {}", found.wrong));
        log::line(format_args!("handlers {}", found.handlers));
        log::line(format_args!("broken {}", found.broken));
        for (refusal, count) in &found.refusals {
            log::line(format_args!("refused {count}: {refusal}"));
        }
    }
}
