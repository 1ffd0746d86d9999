//! Enter, leave and tailcall hooks that inspect frames, arguments and returned values.

use std::cell::RefCell;
use std::sync::{Mutex, OnceLock, PoisonError};

use clr_profiler::hooks::{ArgumentBuffer, EltInfo, FunctionIDOrClientID, Hooked, MemoryRange};
use clr_profiler::info::FrameInfo;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Sets hooks for the methods of `Calls`, and logs their records at the end.
pub(crate) struct SeesCalls;

/// The state of the hooks, since they receive only numbers.
static INFO: OnceLock<ProfilerInfo> = OnceLock::new();
/// The functions with hooks; the number that a hook gets is an index in it, from 1.
static HOOKED: Mutex<Vec<(FunctionId, String)>> = Mutex::new(Vec::new());
/// The records of the hooks, in order.
static TRACE: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// How often `Add` was entered and left, and the sums of its first argument and of its result.
static ADD: Mutex<(u32, i64, u32, i64)> = Mutex::new((0, 0, 0, 0));

thread_local! {
    static BUFFER: RefCell<ArgumentBuffer> = RefCell::new(ArgumentBuffer::new());
}

#[profiler(clsid = clsid("SeesCalls"))]
impl Profiler for SeesCalls {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(
            EventMask::MONITOR_ENTERLEAVE
                | EventMask::ENABLE_FUNCTION_ARGS
                | EventMask::ENABLE_FUNCTION_RETVAL
                | EventMask::ENABLE_FRAME_INFO,
        );
        INFO.get_or_init(|| info.clone());
        // Those hooks are refused before the runtime knows that they get more than an id.
        info.set_event_mask2(setup.events())?;
        // SAFETY: the hooks do not unwind: nothing in them panics on arguments of a runtime. They
        // inspect only their own call, and are sound in any function on any thread.
        unsafe {
            info.set_enter_leave_function_hooks3_with_info(
                Some(enter),
                Some(leave),
                Some(tailcall),
            )?;
        }
        let asked = info.clone();
        info.set_function_id_mapper2(move |function| {
            let Ok(name) = asked.method(function).and_then(|method| method.full_name()) else {
                return Hooked::No;
            };
            if !name.starts_with("Calls.") {
                return Hooked::No;
            }
            let mut hooked = locked(&HOOKED);
            hooked.push((function, name));
            Hooked::ByClientId(hooked.len())
        })?;
        Ok(Self)
    }

    /// Makes the call at the end of `Last` a tail call, which C# compilers do not.
    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        super::make_tail_calls(info, function, "Calls.Program.Last(int)")
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let (entered, argument, left, value) = *locked(&ADD);
        log::line(format_args!(
            "Add entered {entered} {argument}, left {left} {value}"
        ));
        for line in locked(&TRACE).iter() {
            log::line(line);
        }
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The function of a hook's call, with its name without namespace and parameters.
fn function_of(id: FunctionIDOrClientID) -> Option<(FunctionId, String)> {
    // SAFETY: both halves of the union are the same plain number.
    let client = unsafe { id.clientID };
    let hooked = locked(&HOOKED);
    let (function, name) = hooked.get(client.checked_sub(1)?)?;
    let name = name.split('(').next().unwrap_or_default();
    let name = name.trim_start_matches("Calls.").replace("Program.", "");
    Some((*function, name))
}

/// The bytes of a value, the first ones last.
fn number(range: &MemoryRange<'_>) -> i64 {
    let bytes = bytes(range);
    match *bytes {
        [a] => i64::from(a),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => bytes
            .first_chunk::<8>()
            .map_or(i64::MIN, |word| i64::from_le_bytes(*word)),
    }
}

fn bytes<'hook>(range: &MemoryRange<'hook>) -> &'hook [u8] {
    // SAFETY: the runtime says that an argument or a returned value is there while the hook runs.
    unsafe {
        std::slice::from_raw_parts(
            std::ptr::with_exposed_provenance(range.start()),
            range.size(),
        )
    }
}

/// A value as text: for references only their presence.
fn show(name: &str, index: usize, range: &MemoryRange<'_>) -> String {
    match (name, index) {
        ("Mixed", 3)
        | ("Counter.From", 0)
        | ("Show<System.__Canon>" | "Show<int>", usize::MAX)
        | ("Show<System.__Canon>", 0)
            if range.size() == 8 =>
        {
            format!("reference {}", number(range) != 0)
        }
        ("Half", _) => format!("{}", f64::from_bits(number(range).cast_unsigned())),
        _ if range.size() > 8 => {
            let parts: Vec<String> = bytes(range)
                .chunks(8)
                .map(|chunk| match *chunk {
                    // A structure of 32 and 64 bits has a gap in between.
                    [a, b, c, d, ..] => i32::from_le_bytes([a, b, c, d]).to_string(),
                    _ => "truncated".to_owned(),
                })
                .collect();
            format!("({})", parts.join(", "))
        }
        _ => format!("{}:{}", range.size(), number(range)),
    }
}

/// The generic arguments that the frame reveals.
fn frame(info: &ProfilerInfo, function: FunctionId, frame: Option<FrameInfo<'_>>) -> String {
    let Some(frame) = frame else {
        return " without a frame".to_owned();
    };
    let mut names = String::new();
    match info.function_info2_in_frame(function, frame) {
        Ok(facts) => {
            for argument in facts.type_arguments {
                names += &match class_name(info, argument) {
                    Ok(name) => format!(" of {name}"),
                    Err(error) => format!(" of {error}"),
                };
            }
        }
        Err(error) => names = format!(" {error}"),
    }
    names
}

fn class_name(info: &ProfilerInfo, class: ClassId) -> Result<String> {
    let facts = info.class_id_info2(class)?;
    let module = facts.module.ok_or_else(|| Error::other("no module"))?;
    Ok(info
        .module_metadata(module)?
        .type_def_props(facts.token)?
        .name)
}

unsafe extern "system" fn enter(id: FunctionIDOrClientID, elt: usize) {
    let (Some(info), Some((function, name))) = (INFO.get(), function_of(id)) else {
        return;
    };
    BUFFER.with_borrow_mut(|buffer| {
        // SAFETY: this is the enter hook, with its own function and its argument.
        let asked = unsafe { info.function_enter3_info(function, EltInfo::from_raw(elt), buffer) };
        match asked {
            Ok(call) if name == "Add" => {
                let mut add = locked(&ADD);
                add.0 += 1;
                add.1 += call.arguments.first().map_or(i64::MIN, number);
            }
            Ok(call) => {
                let arguments: Vec<String> = call
                    .arguments
                    .iter()
                    .enumerate()
                    .map(|(index, range)| show(&name, index, range))
                    .collect();
                let frame = frame(info, function, call.frame);
                locked(&TRACE).push(format!("enter {name}{frame} [{}]", arguments.join(", ")));
            }
            Err(error) => locked(&TRACE).push(format!("enter {name} {error}")),
        }
    });
}

unsafe extern "system" fn leave(id: FunctionIDOrClientID, elt: usize) {
    let (Some(info), Some((function, name))) = (INFO.get(), function_of(id)) else {
        return;
    };
    // SAFETY: this is the leave hook, with its own function and its argument.
    let asked = unsafe { info.function_leave3_info(function, EltInfo::from_raw(elt)) };
    match asked {
        Ok(call) if name == "Add" => {
            let mut add = locked(&ADD);
            add.2 += 1;
            add.3 += call.value.as_ref().map_or(i64::MIN, number);
        }
        Ok(call) => {
            let value = call.value.map_or("nothing".to_owned(), |value| {
                show(&name, usize::MAX, &value)
            });
            let frame = frame(info, function, call.frame);
            locked(&TRACE).push(format!("leave {name}{frame} {value}"));
        }
        Err(error) => locked(&TRACE).push(format!("leave {name} {error}")),
    }
}

unsafe extern "system" fn tailcall(id: FunctionIDOrClientID, elt: usize) {
    let (Some(info), Some((function, name))) = (INFO.get(), function_of(id)) else {
        return;
    };
    // SAFETY: this is the tailcall hook, with its own function and its argument.
    let asked = unsafe { info.function_tailcall3_info(function, EltInfo::from_raw(elt)) };
    match asked {
        Ok(asked) => {
            let frame = frame(info, function, asked);
            locked(&TRACE).push(format!("tailcall {name}{frame}"));
        }
        Err(error) => locked(&TRACE).push(format!("tailcall {name} {error}")),
    }
}
