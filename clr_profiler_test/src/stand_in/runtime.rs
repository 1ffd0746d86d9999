//! [`StandIn`]: a runtime without a program.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clr_profiler::__private::{Class, ProfilerClass, get_class_object};
use clr_profiler::Hresult;
use clr_profiler_sys as sys;
use sys::facts::ALIASES;
use sys::{GUID, ICorProfilerCallback11, Interface as _};

use super::buffers::BUFFERS;
use super::face::{Call, forward};
use super::methods::{NativeMethod, interface, methods};
use super::object::{Object, Offers};

/// A stand-in for a runtime, without a program: a profiler is started in the process of the test, the test makes the
/// callbacks, and calls of the profiler fail as the test says.
///
/// All other calls succeed, and their outputs are zero: numbers, counts, ids, and null for interfaces. So it shows that a
/// profiler survives errors, not that it does its work.
///
/// ```no_run
/// # mod my_profiler {
/// #     use clr_profiler::prelude::*;
/// #     pub struct MyProfiler;
/// #     #[profiler(clsid = "7E3D2B60-52C1-4B0E-9C64-0B3A5D1F8E21")]
/// #     impl Profiler for MyProfiler {
/// #         fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> { Ok(MyProfiler) }
/// #     }
/// # }
/// use clr_profiler::Hresult;
/// use clr_profiler_test::stand_in::StandIn;
///
/// let runtime = StandIn::new().fault("ICorProfilerInfo2::GetFunctionInfo2", Hresult::E_FAIL, 1);
/// let profiler = runtime.start::<my_profiler::MyProfiler>().unwrap();
/// assert_eq!(profiler.callback("JITCompilationStarted", &[0x51, 1]), Hresult::S_OK);
/// assert_eq!(profiler.calls("ICorProfilerInfo2::GetFunctionInfo2"), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct StandIn {
    faults: Vec<Fault>,
    all: Option<Hresult>,
}

#[derive(Debug, Clone)]
struct Fault {
    method: &'static NativeMethod,
    hresult: Hresult,
    period: u64,
}

/// A profiler on a [`StandIn`]. It is shut down when it is dropped.
pub struct StandInProfiler {
    object: ICorProfilerCallback11,
    state: Arc<State>,
    /// The library has one record of ids for each process: two such runtimes would invalidate the ids of each other.
    _alone: MutexGuard<'static, ()>,
}

/// The state that all objects of one runtime share.
struct State {
    plan: StandIn,
    is_started: AtomicBool,
    calls: Mutex<HashMap<usize, u64>>,
}

impl StandIn {
    /// A runtime whose calls succeed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has every `period`th call of this method return a failure. `method` is `Interface::Method`, with the interface that
    /// declares the method.
    ///
    /// # Panics
    ///
    /// If there is no such method, or `period` is 0.
    #[must_use]
    pub fn fault(mut self, method: &str, hresult: Hresult, period: u64) -> Self {
        assert!(period > 0, "every 0th call of {method}");
        self.faults.push(Fault {
            method: known(method),
            hresult,
            period,
        });
        self
    }

    /// Has every call return this failure, from the end of `initialize` on.
    #[must_use]
    pub fn all_fail(mut self, hresult: Hresult) -> Self {
        self.all = Some(hresult);
        self
    }

    /// Starts a profiler, as a runtime with `ICorProfilerInfo15` does.
    ///
    /// One profiler is started at a time in a process: this waits until the one before was dropped.
    ///
    /// # Errors
    ///
    /// The result of `ICorProfilerCallback::Initialize`: the runtime would continue without the profiler.
    pub fn start<P: ProfilerClass>(self) -> Result<StandInProfiler, Hresult> {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let state = Arc::new(State {
            plan: self,
            is_started: AtomicBool::new(false),
            calls: Mutex::default(),
        });
        let answers = Arc::clone(&state);
        let offers = Offers::new(["ICorProfilerInfo15"]);
        // Never freed: the profiler may keep handles for as long as the process lives.
        let runtime = Box::leak(Box::new(Object::new(offers, move |call| {
            answers.answer(call)
        })));
        let object = callback_object::<P>();
        // SAFETY: the stand-in is an object with all interfaces that a runtime has, and lives forever.
        let started = unsafe { object.Initialize(runtime.as_raw()) };
        if started.0 < 0 {
            return Err(Hresult(started.0));
        }
        state.is_started.store(true, Ordering::Relaxed);
        Ok(StandInProfiler {
            object,
            state,
            _alone: alone,
        })
    }
}

/// The method with this name.
fn known(name: &str) -> &'static NativeMethod {
    let method = methods().iter().find(|method| method.name() == name);
    method.unwrap_or_else(|| {
        panic!("there is no native method {name}, such as ICorProfilerInfo::GetFunctionInfo")
    })
}

/// An object of the profiler's class, from its class factory.
#[must_use]
pub fn callback_object<P: ProfilerClass>() -> ICorProfilerCallback11 {
    let classes: &'static [Class] = Box::leak(Box::new([Class::of::<P>()]));
    let clsid = GUID::from_u128(P::CLSID.as_u128());
    let mut factory: *mut c_void = ptr::null_mut();
    let mut object: *mut c_void = ptr::null_mut();
    // SAFETY: GUIDs and addresses of pointers, as COM requires; each success gives a reference.
    unsafe {
        let answer = get_class_object(
            classes,
            ptr::from_ref(&clsid).cast(),
            ptr::from_ref(&sys::IClassFactory::IID).cast(),
            &mut factory,
        );
        assert_eq!(answer, 0, "the library has a class factory");
        let factory = sys::IClassFactory::from_raw(factory);
        let answer =
            factory.CreateInstance(ptr::null_mut(), &ICorProfilerCallback11::IID, &mut object);
        assert_eq!(answer, sys::S_OK, "the class factory makes an object");
        ICorProfilerCallback11::from_raw(object)
    }
}

impl StandInProfiler {
    /// Makes a callback: its native name, such as `JITCompilationStarted`, and its arguments.
    ///
    /// Ids may be any numbers. Callbacks that pass pointers or objects cannot be made.
    ///
    /// # Panics
    ///
    /// If there is no such callback, if it has another number of arguments, or if it cannot be made.
    pub fn callback(&self, name: &str, arguments: &[usize]) -> Hresult {
        const NOT_HERE: [&str; 5] = [
            "QueryInterface",
            "AddRef",
            "Release",
            "Shutdown",
            "ProfilerDetachSucceeded",
        ];
        let all = interface("ICorProfilerCallback11").map_or(&[][..], |known| &known.slots);
        let method = all
            .iter()
            .find(|method| method.facts.name == name && !NOT_HERE.contains(&name));
        let method = method.unwrap_or_else(|| panic!("there is no callback {name} to make"));
        let parameters = method.facts.parameters;
        assert_eq!(arguments.len(), parameters.len(), "the arguments of {name}");
        for parameter in parameters {
            let is_number = parameter.size <= 8
                && !is_pointer(parameter.type_name)
                && !["ObjectID", "GCHandleID"].contains(&parameter.type_name);
            assert!(
                is_number,
                "{name} passes a {}, which is no number",
                parameter.type_name
            );
        }
        let count = (0..arguments.len())
            .map(|index| method.position(index) + 1)
            .max();
        let mut words = vec![0; count.unwrap_or(0)];
        for (index, argument) in arguments.iter().enumerate() {
            words[method.position(index)] = *argument;
        }
        // SAFETY: the object is that of the profiler, which is alive and initialised; the callback takes numbers alone, which
        // may have any value.
        Hresult(unsafe { forward(self.object.as_raw(), method, &words) } as i32)
    }

    /// How often the profiler has called this method, in `initialize`, too; `Interface::Method`.
    ///
    /// # Panics
    ///
    /// If there is no such method.
    #[must_use]
    pub fn calls(&self, method: &str) -> u64 {
        let calls = self
            .state
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        calls.get(&known(method).index).copied().unwrap_or(0)
    }
}

impl Drop for StandInProfiler {
    fn drop(&mut self) {
        // SAFETY: the profiler was initialised, and the call takes nothing.
        let _ = unsafe { self.object.Shutdown() };
    }
}

impl fmt::Debug for StandInProfiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandInProfiler")
            .field("plan", &self.state.plan)
            .finish_non_exhaustive()
    }
}

/// Whether a type is a pointer, whatever its name.
fn is_pointer(type_name: &str) -> bool {
    let is_alias = |name: &str| {
        let mut aliases = ALIASES.iter().copied().flatten();
        aliases.any(|alias| alias.name == name && is_pointer(alias.type_name))
    };
    type_name.starts_with('*') || is_alias(type_name)
}

impl State {
    fn answer(&self, call: &Call<'_>) -> usize {
        let number = self.count(call.method);
        if !call.method.returns_hresult() {
            // Null, or nothing.
            return 0;
        }
        let is_hit = |fault: &&Fault| {
            fault.method.index == call.method.index && number.is_multiple_of(fault.period)
        };
        if let Some(fault) = self.plan.faults.iter().find(is_hit) {
            return fault.hresult.0 as u32 as usize;
        }
        if let Some(hresult) = self
            .plan
            .all
            .filter(|_| self.is_started.load(Ordering::Relaxed))
        {
            return hresult.0 as u32 as usize;
        }
        zero_outputs(call);
        if call.method.name() == "ICorProfilerInfo3::GetRuntimeInformation" {
            self_description(call);
        }
        0
    }

    /// Counts a call; returns its number, those of `initialize` included.
    fn count(&self, method: &NativeMethod) -> u64 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(method.index).or_default();
        *count += 1;
        *count
    }
}

/// Sets all outputs to zero, except buffers, which then have no elements.
fn zero_outputs(call: &Call<'_>) {
    let name = call.method.name();
    for (index, parameter) in call.method.facts.parameters.iter().enumerate() {
        let Some(pointee) = parameter.type_name.strip_prefix("*mut ") else {
            continue;
        };
        let is_buffer = BUFFERS
            .iter()
            .any(|row| row.method == name && row.buffer == index);
        // A handle of an enumeration is the caller's; the other one describes buffers of its own.
        let is_kept = is_buffer || ["c_void", "HCORENUM", "ASSEMBLYMETADATA"].contains(&pointee);
        let output: *mut u8 = call.pointer(index);
        if is_kept || parameter.pointee == 0 || output.is_null() {
            continue;
        }
        // SAFETY: an output has room for its type, as the caller promises; zero is a value of each type of an output.
        unsafe { output.write_bytes(0, parameter.pointee) };
    }
}

/// Says that this is .NET 8.
fn self_description(call: &Call<'_>) {
    let (kind, major): (*mut u32, *mut u16) = (call.pointer(1), call.pointer(2));
    // SAFETY: the caller passes the addresses of such numbers, or null.
    unsafe {
        if let Some(kind) = kind.as_mut() {
            *kind = sys::COR_PRF_CORE_CLR;
        }
        if let Some(major) = major.as_mut() {
            *major = 8;
        }
    }
}
