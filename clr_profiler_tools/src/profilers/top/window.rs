//! What happened since the last message.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::profilers::cpu::functions::{Functions, NATIVE, STUB, thread_name};
use crate::stacks::Stacks;
use clr_profiler::prelude::*;
use clr_profiler::sampling::{CpuCode, CpuSample, Sample};

/// The limit for different stacks in a period.
const STACKS: usize = 100_000;
/// The limit for names of types.
const TYPES: usize = 20_000;
/// The name of all types beyond it.
const OTHERS: &str = "[other types]";

/// A period, and the names that outlive it.
pub(crate) struct Window {
    functions: Functions,
    stacks: Stacks,
    /// Processor time by the operating system's id.
    threads: HashMap<u32, Duration>,
    thread_names: HashMap<u32, String>,
    samples: u64,
    /// `None` where the runtime has no samples of allocations.
    allocations: Option<HashMap<String, u64>>,
    classes: HashMap<ClassId, String>,
    exceptions: HashMap<String, u64>,
}

/// The totals of a period.
pub(crate) struct Totals {
    pub(crate) stacks: Stacks,
    /// The time of each method alone, and with its callees.
    pub(crate) methods: HashMap<u64, (u64, u64)>,
    pub(crate) names: HashMap<u64, Arc<str>>,
    pub(crate) threads: Vec<(u32, String, Duration)>,
    pub(crate) samples: u64,
    pub(crate) allocations: Option<HashMap<String, u64>>,
    pub(crate) exceptions: HashMap<String, u64>,
}

impl Window {
    pub(crate) fn new(has_allocations: bool) -> Self {
        Self {
            functions: Functions::new(false),
            stacks: Stacks::with_limit(STACKS),
            threads: HashMap::new(),
            thread_names: HashMap::new(),
            samples: 0,
            allocations: has_allocations.then(HashMap::new),
            classes: HashMap::new(),
            exceptions: HashMap::new(),
        }
    }

    pub(crate) fn add_cpu(&mut self, info: &ProfilerInfo, sample: &CpuSample<'_>) {
        let mut frames: Vec<u64> = Vec::with_capacity(sample.frames.len());
        for frame in sample.frames.iter().rev() {
            let number = match &frame.code {
                CpuCode::Managed(function) => self.functions.number(info, *function, frame.ip),
                CpuCode::Native(library) => self.functions.of_library(library),
                _ => STUB,
            };
            // Frames of one library in a row are one frame.
            if frame.function().is_some() || frames.last() != Some(&number) {
                frames.push(number);
            }
        }
        self.add_stack(frames, sample.os_thread, sample.cpu);
    }

    pub(crate) fn add(&mut self, info: &ProfilerInfo, sample: &Sample<'_>) {
        let functions = &mut self.functions;
        let frames = sample
            .frames
            .iter()
            .rev()
            .map(|frame| match frame.function {
                Some(function) => functions.number(info, function, frame.ip),
                None => NATIVE,
            });
        let mut frames: Vec<u64> = frames.collect();
        if frames.is_empty() {
            frames.push(NATIVE);
        }
        let time = sample.cpu.unwrap_or(sample.elapsed);
        self.add_stack(frames, sample.os_thread, time);
    }

    fn add_stack(&mut self, frames: Vec<u64>, os_thread: u32, time: Duration) {
        self.stacks.add(frames, time.as_nanos() as u64);
        *self.threads.entry(os_thread).or_default() += time;
        self.samples += 1;
    }

    /// `false` if the type is new: then nothing is added.
    pub(crate) fn allocated(&mut self, class: ClassId, bytes: u64) -> bool {
        let Self {
            allocations,
            classes,
            ..
        } = self;
        let (Some(allocations), Some(name)) = (allocations, classes.get(&class)) else {
            return false;
        };
        match allocations.get_mut(name) {
            Some(sum) => *sum += bytes,
            None => drop(allocations.insert(name.clone(), bytes)),
        }
        true
    }

    pub(crate) fn allocated_first(&mut self, class: ClassId, name: &str, bytes: u64) {
        let name = if self.classes.len() < TYPES {
            name
        } else {
            OTHERS
        };
        if name != OTHERS {
            self.classes.insert(class, name.to_owned());
        }
        if let Some(allocations) = &mut self.allocations {
            *allocations.entry(name.to_owned()).or_default() += bytes;
        }
    }

    pub(crate) fn thrown(&mut self, name: &str) {
        let is_full = self.exceptions.len() >= TYPES && !self.exceptions.contains_key(name);
        let name = if is_full { OTHERS } else { name };
        *self.exceptions.entry(name.to_owned()).or_default() += 1;
    }

    /// Functions and types of the module are gone; their ids can be reused.
    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.functions.forget(module);
        self.classes.clear();
    }

    /// Begins a new period.
    pub(crate) fn take(&mut self) -> Totals {
        let threads = std::mem::take(&mut self.threads);
        // Those that did not run may have ended.
        self.thread_names
            .retain(|thread, _| threads.contains_key(thread));
        let names = &mut self.thread_names;
        let threads = threads.into_iter().map(|(thread, time)| {
            let name = names.entry(thread);
            let name = name.or_insert_with(|| thread_name(thread).unwrap_or_default());
            (thread, name.clone(), time)
        });
        let threads = threads.collect();
        let stacks = std::mem::replace(&mut self.stacks, Stacks::with_limit(STACKS));
        let methods = stacks.by_frame();
        let functions = &self.functions;
        let names = methods
            .keys()
            .map(|frame| (*frame, functions.frame(*frame).name));
        Totals {
            threads,
            names: names.collect(),
            methods,
            stacks,
            samples: std::mem::take(&mut self.samples),
            allocations: self.allocations.as_mut().map(std::mem::take),
            exceptions: std::mem::take(&mut self.exceptions),
        }
    }
}
