//! The fast hooks: they count, and overwrite all registers that they may.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clr_profiler::hooks::{CallHooks, HookFailure, HookedFunction, HookedFunctions};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

use super::make_tail_calls;

/// How often a function was entered and left.
#[derive(Default)]
pub(crate) struct Calls {
    name: String,
    entered: AtomicU64,
    left: AtomicU64,
    jumped: AtomicU64,
}

impl Calls {
    /// For the counted methods of `Hooked`.
    fn of(info: &ProfilerInfo, function: FunctionId) -> Result<Option<Self>> {
        // Methods that are created while the program runs have no names.
        let Ok(name) = info.method(function).and_then(|method| method.full_name()) else {
            return Ok(None);
        };
        let is_counted = [
            "Hooked.Shapes.S",
            "Hooked.Program.Count",
            "Hooked.Program.Tail",
        ]
        .iter()
        .any(|start| name.starts_with(start))
            || name.contains(".Area(");
        let is_main = name.starts_with("Hooked.Program.Counts(");
        Ok((is_counted && !is_main).then(|| Self {
            name,
            ..Self::default()
        }))
    }
}

fn write_down(functions: &HookedFunctions<Calls>) {
    let mut lines: Vec<String> = functions
        .iter()
        .map(|calls| {
            let [entered, left, jumped] =
                [&calls.entered, &calls.left, &calls.jumped].map(|n| n.load(Ordering::Relaxed));
            format!("{} {entered} {left} {jumped}", calls.name)
        })
        .collect();
    lines.sort();
    lines.iter().for_each(log::line);
}

/// Overwrites every register that a C function may change, and those that only the functions of Unix may: the stub has to preserve
/// the others.
#[inline(always)]
fn spoil_registers() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing but registers is changed, and all of them are declared.
    unsafe {
        std::arch::asm!(
            "mov eax, 0x5a5a5a5a",
            "mov ecx, eax",
            "mov edx, eax",
            "mov esi, eax",
            "mov edi, eax",
            "mov r8d, eax",
            "mov r9d, eax",
            "mov r10d, eax",
            "mov r11d, eax",
            "pcmpeqd xmm0, xmm0",
            "pcmpeqd xmm1, xmm1",
            "pcmpeqd xmm2, xmm2",
            "pcmpeqd xmm3, xmm3",
            "pcmpeqd xmm4, xmm4",
            "pcmpeqd xmm5, xmm5",
            "pcmpeqd xmm6, xmm6",
            "pcmpeqd xmm7, xmm7",
            "pcmpeqd xmm8, xmm8",
            "pcmpeqd xmm9, xmm9",
            "pcmpeqd xmm10, xmm10",
            "pcmpeqd xmm11, xmm11",
            "pcmpeqd xmm12, xmm12",
            "pcmpeqd xmm13, xmm13",
            "pcmpeqd xmm14, xmm14",
            "pcmpeqd xmm15, xmm15",
            // On Windows a function preserves `rsi`, `rdi` and `xmm6` to `xmm15`.
            clobber_abi("sysv64"),
            options(nostack, nomem),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: nothing but registers is changed, and all of them are declared.
    unsafe {
        std::arch::asm!(
            "mov x0, #0x5a5a",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17",
            "mov x\\n, x0",
            ".endr",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "movi v\\n\\().16b, #255",
            ".endr",
            clobber_abi("C"),
            options(nostack, nomem),
        );
    }
}

/// Whether the stack was ever misaligned.
static IS_CROOKED: AtomicBool = AtomicBool::new(false);

#[inline(always)]
fn look_at_the_stack() {
    #[repr(align(16))]
    struct Aligned(u8);
    let local = Aligned(0);
    // The compiler must not derive the result from its knowledge about the address.
    let address = std::hint::black_box((&raw const local.0).expose_provenance());
    if !address.is_multiple_of(16) {
        IS_CROOKED.store(true, Ordering::Relaxed);
    }
}

/// Counts calls, and overwrites registers meanwhile.
struct Counts;

// SAFETY: the hooks touch atomics and registers only.
unsafe impl CallHooks for Counts {
    type Function = Calls;

    fn enter(&self, calls: &'static HookedFunction<Calls>) {
        look_at_the_stack();
        calls.entered.fetch_add(1, Ordering::Relaxed);
        spoil_registers();
    }

    fn leave(&self, calls: &'static HookedFunction<Calls>) {
        look_at_the_stack();
        calls.left.fetch_add(1, Ordering::Relaxed);
        spoil_registers();
    }

    fn tailcall(&self, calls: &'static HookedFunction<Calls>) {
        look_at_the_stack();
        calls.jumped.fetch_add(1, Ordering::Relaxed);
        spoil_registers();
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(failure);
    }
}

/// Counts the calls in `Hooked`.
pub(crate) struct CountsCalls(HookedFunctions<Calls>);

#[profiler(clsid = clsid("CountsCalls"))]
impl Profiler for CountsCalls {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self(setup.hooks(Counts, Calls::of)?))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        make_tail_calls(info, function, "Hooked.Program.Tail")
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        write_down(&self.0);
        if IS_CROOKED.load(Ordering::Relaxed) {
            log::line("the stack was not aligned");
        }
        Ok(())
    }
}

/// Panics in its filter for one function and in its hook at the tenth call.
struct Panics(AtomicU64);

// SAFETY: the hook touches an atomic and panics.
unsafe impl CallHooks for Panics {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {
        if self.0.fetch_add(1, Ordering::Relaxed) == 9 {
            panic!("the tenth call");
        }
    }

    fn on_failure(&self, failure: &HookFailure) {
        // Ids are different in every run.
        let text = failure.to_string();
        let text = text.split(" (at ").next().unwrap_or_default();
        match failure {
            HookFailure::Filter(..) => log::line("the filter failed"),
            HookFailure::FilterPanicked(_, message) => {
                log::line(message.split(" (at ").next().unwrap_or_default());
            }
            _ => log::line(text),
        }
        log::line(self.0.load(Ordering::Relaxed));
        panic!("again");
    }
}

/// A profiler whose hooks and filter panic.
pub(crate) struct HooksPanic;

#[profiler(clsid = clsid("HooksPanic"))]
impl Profiler for HooksPanic {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.hooks(Panics(AtomicU64::new(0)), |info, function| {
            let Ok(method) = info.method(function) else {
                return Ok(None);
            };
            let name = method.full_name()?;
            assert!(
                !name.starts_with("Hooked.Program.Panics("),
                "not this function"
            );
            if name.starts_with("Hooked.Program.Main(") {
                return Err(Error::other("nor that one"));
            }
            Ok(name
                .starts_with("Hooked.Program.CountThreads(")
                .then_some(()))
        })?;
        Ok(Self)
    }
}

/// Makes impossible requests, and logs the results.
pub(crate) struct WrongHooks;

#[profiler(clsid = clsid("WrongHooks"))]
impl Profiler for WrongHooks {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.hooks(Counts, |_, _| Ok(None))?;
        if let Err(error) = setup.hooks(Counts, |_, _| Ok(None)) {
            log::line(error);
        }
        setup.add_events(EventMask::ENABLE_FRAME_INFO);
        Ok(Self)
    }
}
