//! Functions as numbers that outlive them.

use std::collections::HashMap;
use std::sync::Arc;

use clr_profiler::prelude::*;

/// The number for frames without managed code: the runtime itself, or a library that it calls.
pub(crate) const NATIVE: u64 = 0;

/// The limit for names: a program can create methods without limit.
const LIMIT: usize = 200_000;
/// The number for functions beyond the limit.
const OTHERS: u64 = 1;

/// Gives each function a number, and queries its name once.
#[derive(Clone)]
pub(crate) struct Functions {
    /// By function, and with lines by instruction pointer, too.
    known: HashMap<(FunctionId, usize), Known>,
    lines: bool,
    numbers: HashMap<Arc<str>, u64>,
    names: Vec<Arc<str>>,
    libraries: HashMap<Arc<str>, u64>,
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
        let names = vec!["[native]".into(), "[other methods]".into()];
        Self {
            known: HashMap::new(),
            lines,
            numbers: HashMap::new(),
            names,
            libraries: HashMap::new(),
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
        let name = match self.lines {
            true => method.and_then(|method| with_line(info, &method, ip)),
            false => method.and_then(|method| method.full_name()),
        };
        let name: Arc<str> = match name {
            Ok(name) => name.into(),
            Err(_) => "[dynamic]".into(),
        };
        let number = self.of_name(name);
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
        self.of_name(name.into())
    }

    /// The number of a library, or of other code that is no method.
    pub(crate) fn of_library(&mut self, name: &str) -> u64 {
        if let Some(number) = self.libraries.get(name) {
            return *number;
        }
        let number = self.of_name(format!("[{name}]").into());
        self.libraries.insert(name.into(), number);
        number
    }

    fn of_name(&mut self, name: Arc<str>) -> u64 {
        match self.numbers.get(&name) {
            Some(number) => *number,
            None if self.names.len() >= LIMIT => OTHERS,
            None => {
                let number = self.names.len() as u64;
                self.names.push(Arc::clone(&name));
                self.numbers.insert(name, number);
                number
            }
        }
    }

    /// The functions of this module are gone; their ids can be reused.
    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.known.retain(|_, known| known.module != Some(module));
    }

    pub(crate) fn name(&self, number: u64) -> Arc<str> {
        let name = self.names.get(number as usize);
        name.map_or_else(|| "?".into(), Arc::clone)
    }
}

/// The name in the source, and the line: `Shop.Cart.Add(string) Cart.cs:41`.
fn with_line(info: &ProfilerInfo, method: &Method<'_>, ip: usize) -> Result<String> {
    let name = method.source_name()?;
    // A PDB that cannot be read is no reason to lose the frame.
    Ok(match info.source_location_from_ip(ip) {
        Ok(Some(location)) => {
            let file = location.file.rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{name} {file}:{}", location.start_line)
        }
        _ => name,
    })
}

/// The name of a running thread, as the operating system knows it.
fn thread_name(os_thread: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/self/task/{os_thread}/comm")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
