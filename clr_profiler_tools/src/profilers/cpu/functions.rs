//! Functions as numbers that outlive them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::stacks::Frame;
use clr_metadata::token::HashTokens;
use clr_profiler::prelude::*;

/// The number for frames without managed code: the runtime itself, or a library that it calls.
pub(crate) const NATIVE: u64 = 0;

/// The limit for names: a program can create methods without limit.
const LIMIT: usize = 200_000;
/// The number for functions beyond the limit.
const OTHERS: u64 = 1;
/// The number for code that the runtime generates.
pub(crate) const STUB: u64 = 2;
/// The number for the frames that a broken stack has not.
pub(crate) const UNKNOWN: u64 = 3;
/// The names of these, in order.
const NAMES: [&str; 4] = ["[native]", "[other methods]", "[stub]", "[stack unknown]"];

/// The names of libraries whose addresses are known: one has another address whenever the mapped files are read.
const LIBRARIES: usize = 10_000;

/// Gives each function a number, and queries its name once.
#[derive(Clone)]
pub(crate) struct Functions {
    /// By function, and with lines by instruction pointer, too.
    known: HashMap<(FunctionId, usize), Known, HashTokens>,
    lines: bool,
    numbers: HashMap<Frame, u64>,
    frames: Vec<Frame>,
    /// By the addresses of their names, which are kept for that.
    libraries: HashMap<usize, (Arc<str>, u64), HashTokens>,
}

#[derive(Clone, Copy)]
struct Known {
    number: u64,
    /// `None` for dynamic methods, whose ids are reused without notice; dynamic methods of the same name
    /// are not distinguished either.
    module: Option<ModuleId>,
}

impl Functions {
    pub(crate) fn new(lines: bool) -> Self {
        let frames = NAMES.map(named);
        Self {
            known: HashMap::default(),
            lines,
            numbers: HashMap::new(),
            frames: frames.into(),
            libraries: HashMap::default(),
        }
    }

    /// The number of a frame of a loaded function.
    pub(crate) fn number(&mut self, info: &ProfilerInfo, function: FunctionId, ip: usize) -> u64 {
        let key = (function, if self.lines { ip } else { 0 });
        if let Some(known) = self.known.get(&key) {
            return known.number;
        }
        let method = info.method(function);
        let module = method.as_ref().ok().map(|method| method.module());
        let frame = match self.lines {
            true => method.and_then(|method| with_line(info, &method, ip)),
            false => method.and_then(|method| Ok(named(&method.full_name()?))),
        };
        let number = self.of_frame(frame.unwrap_or_else(|_| named("[dynamic]")));
        // A program can compile methods again and again, at other addresses.
        if self.known.len() >= LIMIT {
            self.known.clear();
        }
        self.known.insert(key, Known { number, module });
        number
    }

    /// The number of the frame of a thread, which is below all of its functions.
    pub(crate) fn of_thread(&mut self, os_thread: u32) -> u64 {
        let name = thread_name(os_thread).map(|name| format!(" ({name})"));
        let name = format!("[thread {os_thread}{}]", name.unwrap_or_default());
        self.of_frame(named(&name))
    }

    /// The number of a library.
    pub(crate) fn of_library(&mut self, name: &Arc<str>) -> u64 {
        let address = name.as_ptr().addr();
        if let Some((_, number)) = self.libraries.get(&address) {
            return *number;
        }
        let number = self.of_frame(named(&format!("[{name}]")));
        if self.libraries.len() >= LIBRARIES {
            self.libraries.clear();
        }
        self.libraries.insert(address, (Arc::clone(name), number));
        number
    }

    fn of_frame(&mut self, frame: Frame) -> u64 {
        match self.numbers.get(&frame) {
            Some(number) => *number,
            None if self.frames.len() >= LIMIT => OTHERS,
            None => {
                let number = self.frames.len() as u64;
                self.frames.push(frame.clone());
                self.numbers.insert(frame, number);
                number
            }
        }
    }

    /// The functions of this module are gone; their ids can be reused.
    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.known.retain(|_, known| known.module != Some(module));
    }

    pub(crate) fn frame(&self, number: u64) -> Frame {
        let frame = self.frames.get(number as usize);
        frame.map_or_else(|| named("?"), Frame::clone)
    }
}

fn named(name: &str) -> Frame {
    Frame::from(Arc::from(name))
}

/// The name in the source, and the line.
fn with_line(info: &ProfilerInfo, method: &Method<'_>, ip: usize) -> Result<Frame> {
    let mut frame = named(&method.source_name()?);
    // A PDB that cannot be read is no reason to lose the frame.
    if let Ok(Some(location)) = info.source_location_from_ip(ip) {
        frame.source = Some((location.file, location.start_line));
    }
    Ok(frame)
}

/// The name of a running thread, as the operating system knows it.
pub(crate) fn thread_name(os_thread: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/self/task/{os_thread}/comm")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
