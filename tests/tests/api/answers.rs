//! The fake runtime's answers to calls: by the types of the parameters, and as configured.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use clr_profiler_sys as sys;
use stand_in::{BUFFERS, Buffer, Call, NativeMethod, Object, Offers};
use sys::HRESULT;

use crate::allocations::uncounted;
use crate::callbacks::call_back;
use crate::values::{bytes_of, is_pointer};

/// The configured answer to one call.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) hresult: HRESULT,
    pub(crate) outputs: Outputs,
    /// The number of elements of buffers and enumerations; one of them terminates a text.
    pub(crate) elements: usize,
    /// How many more there are at the second call, and at the third.
    pub(crate) growth: usize,
    /// The HRESULT if a buffer is too small.
    pub(crate) too_small: HRESULT,
    /// The character of texts.
    pub(crate) unit: u16,
    /// How many elements an enumeration returns at a time, at most.
    pub(crate) batch: usize,
}

/// The contents of the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    Filled,
    Zero,
    Untouched,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            hresult: sys::S_OK,
            outputs: Outputs::Filled,
            elements: 3,
            growth: 0,
            too_small: sys::S_OK,
            unit: u16::from(b'x'),
            batch: usize::MAX,
        }
    }
}

/// The record of the calls.
#[derive(Default)]
pub(crate) struct Seen {
    /// Whether the profiler has started: until then all calls succeed.
    pub(crate) started: bool,
    /// How often the tested method was called since.
    pub(crate) calls: usize,
    /// The metadata enumerations by handle: the number of returned items, and how often it was closed.
    pub(crate) enumerations: HashMap<usize, (usize, usize)>,
    /// Objects that were returned.
    pub(crate) given: Vec<Arc<Object>>,
    /// How many items the tested enumerator has returned.
    position: usize,
}

/// Answers every call; the tested method as configured, and all others with success.
#[derive(Clone)]
pub(crate) struct Answers {
    pub(crate) method: &'static str,
    pub(crate) answer: Answer,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

/// The first element of every buffer.
pub(crate) const FIRST: u32 = 0x1000;

/// The value of the parameter with this index, if it is not a buffer.
pub(crate) const fn seed(parameter: usize) -> u32 {
    0x101 * (parameter as u32 + 1)
}

impl Answers {
    pub(crate) fn new(method: &'static str, answer: Answer) -> Self {
        Self {
            method,
            answer,
            seen: Arc::default(),
        }
    }

    pub(crate) fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An object whose calls are answered in the same way.
    pub(crate) fn object(&self, offers: Offers) -> Arc<Object> {
        let answers = self.clone();
        let object = Arc::new(Object::new(offers, move |call| {
            uncounted(|| answers.call(call))
        }));
        self.seen(|seen| seen.given.push(Arc::clone(&object)));
        object
    }

    pub(crate) fn call(&self, call: &Call<'_>) -> usize {
        let name = call.method.name();
        let in_question = name == self.method && self.seen(|seen| seen.started);
        let mut answer = if in_question {
            self.answer.clone()
        } else {
            Answer::default()
        };
        if in_question {
            let before = self.seen(|seen| {
                seen.calls += 1;
                seen.calls - 1
            });
            answer.elements += answer.growth * before.min(2);
        }
        match &*name {
            "IMetaDataImport::CloseEnum" | "IMetaDataAssemblyImport::CloseEnum" => {
                let handle = call.argument(0);
                self.seen(|seen| {
                    seen.enumerations
                        .entry(handle)
                        .and_modify(|(_, closed)| *closed += 1)
                        .or_insert((0, 9));
                });
                return 0;
            }
            "IMethodMalloc::Alloc" => {
                return match answer.outputs {
                    Outputs::Filled => room(call.argument(0)),
                    _ => 0,
                };
            }
            _ => {}
        }
        if answer.outputs == Outputs::Untouched {
            return Call::hresult(answer.hresult);
        }
        if answer.outputs == Outputs::Filled && answer.hresult.is_ok() {
            call_back(call, &name, &answer);
        }
        let fits = self.fill(call, &name, &answer);
        let next = gives_in_parts(&name);
        let hresult = match (fits, next) {
            _ if answer.hresult != sys::S_OK => answer.hresult,
            (true, _) => sys::S_OK,
            (false, true) => sys::S_FALSE,
            (false, false) => answer.too_small,
        };
        Call::hresult(hresult)
    }

    /// Fills all outputs; returns whether everything found room.
    fn fill(&self, call: &Call<'_>, name: &str, answer: &Answer) -> bool {
        let buffers: Vec<&Buffer> = BUFFERS.iter().filter(|row| row.method == name).collect();
        let zero = answer.outputs == Outputs::Zero;
        let mut fits = true;
        let parameters = call.method.facts.parameters;
        let handle = parameters
            .first()
            .is_some_and(|first| first.type_name == "*mut HCORENUM");
        for (index, parameter) in parameters.iter().enumerate() {
            let out: *mut c_void = call.pointer(index);
            let Some(pointee) = pointee_of(call.method, index) else {
                continue;
            };
            let is_buffer = |row: &&Buffer| row.buffer == index || row.given == Some(index);
            if out.is_null() || (handle && index == 0) || buffers.iter().any(is_buffer) {
                continue;
            }
            let bytes = if let Some(interface) = interface_name(pointee) {
                let given = if zero {
                    ptr::null_mut()
                } else {
                    self.give(interface)
                };
                given.expose_provenance().to_ne_bytes().to_vec()
            } else if index > 0 && parameters[index - 1].type_name == "REFIID" {
                // SAFETY: the caller passes a GUID there.
                let iid = unsafe { *call.pointer::<sys::GUID>(index - 1) };
                let interface = stand_in::interface_of(&iid).map(|interface| interface.name);
                let given = match interface {
                    Some(interface) if !zero => self.give(interface),
                    _ => ptr::null_mut(),
                };
                given.expose_provenance().to_ne_bytes().to_vec()
            } else if let Some(interface) = untyped(name) {
                let given = if zero {
                    ptr::null_mut()
                } else {
                    self.give(interface)
                };
                given.expose_provenance().to_ne_bytes().to_vec()
            } else if let Some(length) = written_to(name, index)
                && !zero
            {
                room(call.argument(length)).to_ne_bytes().to_vec()
            } else if pointee == "COR_PRF_RUNTIME_TYPE" && name != self.method {
                // .NET Framework, which implements all of it.
                sys::COR_PRF_DESKTOP_CLR.to_ne_bytes().to_vec()
            } else if matches!(pointee, "ASSEMBLYMETADATA") {
                // It describes its buffers itself.
                continue;
            } else if zero {
                vec![0; parameter.pointee]
            } else {
                bytes_of(pointee, parameter.pointee, seed(index))
            };
            // SAFETY: an output has room for its type, as the caller promises.
            unsafe {
                out.cast::<u8>()
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
            };
        }
        let from = if handle {
            self.enumerate(call, answer)
        } else if gives_in_parts(name) {
            self.seen(|seen| seen.position)
        } else {
            0
        };
        // Of several buffers the runtime reports only the truncation of a text.
        let text = buffers
            .iter()
            .find(|row| parameters[row.buffer].pointee == 2);
        for row in &buffers {
            let fit = self.fill_buffer(call, row, answer, from, handle);
            fits &= fit || text.is_some_and(|text| text.buffer != row.buffer);
        }
        fits
    }

    /// Fills one buffer with the elements from this one on.
    fn fill_buffer(
        &self,
        call: &Call<'_>,
        row: &Buffer,
        answer: &Answer,
        from: usize,
        handle: bool,
    ) -> bool {
        let parameter = &call.method.facts.parameters[row.buffer];
        let next = gives_in_parts(row.method);
        let capacity = call.argument(row.capacity);
        let elements = match answer.outputs {
            Outputs::Zero => 0,
            // The caller knows the number of elements.
            _ if row.given.is_none() => capacity,
            _ => answer.elements,
        };
        let room = if next {
            capacity.min(answer.batch)
        } else {
            capacity
        };
        let given = room.min(elements.saturating_sub(from));
        let out: *mut u8 = call.pointer(row.buffer);
        if !out.is_null() {
            let type_name = pointee_of(call.method, row.buffer).unwrap_or_default();
            for index in 0..given {
                let bytes = if untyped(row.method).is_some() {
                    let object = self.give("IMetaDataImport2");
                    object.expose_provenance().to_ne_bytes().to_vec()
                } else if parameter.pointee == 2 {
                    let end = from + index + 1 == elements;
                    (if end { 0 } else { answer.unit }).to_ne_bytes().to_vec()
                } else {
                    bytes_of(type_name, parameter.pointee, FIRST + (from + index) as u32)
                };
                // SAFETY: the buffer has room for as many elements as its capacity says.
                unsafe {
                    out.add(index * parameter.pointee)
                        .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                }
            }
        }
        let told = if next { given } else { elements };
        if let Some(place) = row.given {
            let place: *mut u32 = call.pointer(place);
            if !place.is_null() {
                // SAFETY: the caller passes the address of the number.
                unsafe { place.write(told as u32) };
            }
        }
        if next {
            self.seen(|seen| {
                seen.position += given;
                if handle {
                    // SAFETY: the first argument is the address of the handle, as the caller's types
                    // say.
                    let handle = unsafe { *call.pointer::<usize>(0) };
                    if let Some((position, _)) = seen.enumerations.get_mut(&handle) {
                        *position = from + given;
                    }
                }
            });
            given == capacity
        } else {
            // Nothing was requested.
            elements <= capacity || (out.is_null() && capacity == 0)
        }
    }

    /// Opens the enumeration of the handle, if it is not open; returns the number of returned items.
    fn enumerate(&self, call: &Call<'_>, answer: &Answer) -> usize {
        let place: *mut usize = call.pointer(0);
        // SAFETY: the caller passes the address of a handle.
        let handle = unsafe { &mut *place };
        self.seen(|seen| {
            if *handle == 0 && answer.outputs != Outputs::Zero {
                *handle = 0xE000 + seen.enumerations.len();
                seen.enumerations.insert(*handle, (0, 0));
            }
            seen.enumerations.get(handle).map_or(0, |(given, _)| *given)
        })
    }

    /// A reference to a new object with this interface, and all that it extends.
    pub(crate) fn give(&self, interface: &'static str) -> *mut c_void {
        let offers = if interface.starts_with("IMetaData") && !interface.contains("Dispenser") {
            Offers::new([
                "IMetaDataImport2",
                "IMetaDataEmit2",
                "IMetaDataAssemblyImport",
                "IMetaDataAssemblyEmit",
                "IMetaDataTables2",
                "IMetaDataInfo",
                "IMetaDataFilter",
                "IMetaDataValidate",
                "IMetaDataWinMDImport",
                "ICeeGen",
            ])
        } else {
            Offers::new([interface])
        };
        let known = stand_in::interface(interface).map(|known| known.iid);
        let object = self.object(offers);
        known.map_or(ptr::null_mut(), |iid| object.give(&iid))
    }
}

/// Whether a call returns as many as there is room for, and the remaining ones next time.
pub(crate) fn gives_in_parts(name: &str) -> bool {
    name.ends_with("Enum::Next") || name.contains("::Enum") || name.ends_with("ReadInMemorySymbols")
}

/// The interface of an output that is declared as a `void`.
fn untyped(name: &str) -> Option<&'static str> {
    Some(match name {
        "ICorProfilerInfo::GetInprocInspectionInterface"
        | "ICorProfilerInfo::GetInprocInspectionIThisThread" => "IUnknown",
        "ICeeGen::GetIMapTokenIface" => "IMapToken",
        "IMetaDataAssemblyImport::FindAssembliesByName" => "IMetaDataImport2",
        _ => return None,
    })
}

/// The parameter with the capacity of the caller's memory, if an output is such memory.
fn written_to(name: &str, parameter: usize) -> Option<usize> {
    match (name, parameter) {
        ("ICeeGen::AllocateMethodBuffer", 1) => Some(0),
        ("ICeeGen::GetSectionBlock", 3) => Some(1),
        _ => None,
    }
}

/// Memory of exactly this length, not shared.
fn room(bytes: usize) -> usize {
    vec![0_u8; bytes].leak().as_mut_ptr().expose_provenance()
}

/// The pointee of an output; `None` for other parameters.
pub(crate) fn pointee_of(method: &NativeMethod, parameter: usize) -> Option<&'static str> {
    let facts = &method.facts.parameters[parameter];
    if method.interface == "ICeeGen" && facts.type_name == "LPWSTR" {
        // Declared as an output, but it is an input.
        return None;
    }
    match facts.type_name {
        "LPWSTR" | "LPCWSTR" => Some("WCHAR"),
        type_name => {
            let pointee = type_name.strip_prefix("*mut ")?;
            (pointee != "c_void" && facts.pointee > 0).then_some(pointee)
        }
    }
    .filter(|_| facts.type_name != "LPCWSTR" || is_written(method, parameter))
}

/// Whether a parameter that is declared as an input is a buffer.
fn is_written(method: &NativeMethod, parameter: usize) -> bool {
    let name = method.name();
    BUFFERS
        .iter()
        .any(|row| row.method == name && row.buffer == parameter)
}

/// The interface in `Option<Interface>`.
fn interface_name(type_name: &'static str) -> Option<&'static str> {
    let name = type_name.strip_prefix("Option<")?.strip_suffix('>')?;
    stand_in::interface(name).map(|interface| interface.name)
}

/// Whether an output's value is visible in the result of a wrapper: numbers and tokens are.
pub(crate) fn shows(method: &NativeMethod, parameter: usize) -> Option<u64> {
    let pointee = pointee_of(method, parameter)?;
    let facts = &method.facts.parameters[parameter];
    let name = method.name();
    let is_buffer = BUFFERS
        .iter()
        .any(|row| row.method == name && (row.buffer == parameter || row.given == Some(parameter)));
    let length = facts.name.starts_with("pcb") || facts.name.starts_with("pbSig");
    let other = is_pointer(pointee)
        || pointee.starts_with("Option<")
        || pointee == "BOOL"
        || facts.pointee > 8
        || facts.pointee < 2;
    if is_buffer || length || other || pointee == "HCORENUM" {
        return None;
    }
    let mut value = [0; 8];
    let bytes = bytes_of(pointee, facts.pointee, seed(parameter));
    value[..bytes.len()].copy_from_slice(&bytes);
    Some(u64::from_ne_bytes(value))
}
