//! Contexts: the hits of each call of a method, such as a test, are told apart.
//!
//! When a context begins or ends, the hits since then are written to a file, and their probes are cleared. That is right as long as
//! one context alone is active.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::edit::Labels;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::token::{MethodDef, Token};
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteContext};

use crate::coverage::{AsyncMachine, Contexts, ContextsState, ModuleFiles, machine_ends};
use crate::report::{failures, lock, masks};

use super::modules::Modules;

/// The recorder that the code of the program calls.
static RECORDER: OnceLock<Arc<Recorder>> = OnceLock::new();

/// Writes the file of contexts.
pub(super) struct Recorder {
    modules: Arc<Modules>,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// The names of contexts by their numbers.
    names: Vec<String>,
    active: Option<Active>,
    is_stopped: bool,
}

struct Active {
    number: usize,
    thread: ThreadId,
    /// Whether it may continue on another thread.
    is_asynchronous: bool,
}

/// How a method is a context.
#[derive(Clone, Copy)]
enum Role {
    /// While it is called.
    Called(usize),
    /// From its first to its last step.
    Stepped { number: usize, state: Token },
}

impl Recorder {
    /// Creates the file.
    pub(super) fn start(modules: &Arc<Modules>) -> io::Result<Arc<Self>> {
        let (_, mut file) = modules.create_file("contexts", |path| {
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path)
        })?;
        masks::without_sigxfsz(|| file.write_all(&Contexts::header()))?;
        let state = State {
            file,
            names: Vec::new(),
            active: None,
            is_stopped: false,
        };
        let recorder = Arc::new(Self {
            modules: Arc::clone(modules),
            state: Mutex::new(state),
        });
        match RECORDER.set(Arc::clone(&recorder)) {
            Ok(()) => Ok(recorder),
            Err(_) => Err(io::Error::other("contexts are recorded already")),
        }
    }

    /// Ends the recording.
    pub(super) fn stop(&self) {
        lock(&self.state).is_stopped = true;
    }

    fn number(&self, name: String) -> usize {
        let names = &mut lock(&self.state).names;
        names.push(name);
        names.len() - 1
    }

    /// A method is called. Returns whether it is a context of its own.
    fn begin(&self, number: usize, is_asynchronous: bool) -> bool {
        let mut state = lock(&self.state);
        if state.is_stopped {
            return false;
        }
        let thread = thread::current().id();
        match &state.active {
            // A part of that one.
            Some(active) if !active.is_asynchronous && active.thread == thread => return false,
            Some(_) => {
                state.fail(ContextsState::Parallel);
                return false;
            }
            None => {}
        }
        let name = state.names.get(number).cloned().unwrap_or_default();
        state.active = Some(Active {
            number,
            thread,
            is_asynchronous,
        });
        self.change(&mut state, &name);
        true
    }

    /// The context ends; with a number if it is that one.
    fn end(&self, number: Option<usize>) {
        let mut state = lock(&self.state);
        let ends = state.active.as_ref().is_some_and(|active| {
            number.is_none_or(|number| active.is_asynchronous && active.number == number)
        });
        if ends && !state.is_stopped {
            state.active = None;
            self.change(&mut state, "");
        }
    }

    fn change(&self, state: &mut State, begins: &str) {
        let hits = self.modules.hits();
        let record = Contexts::record(begins, &hits);
        match masks::without_sigxfsz(|| state.file.write_all(&record)) {
            // After the write: the program may be killed in between.
            Ok(()) => self.modules.clear(&hits),
            Err(error) => {
                failures::add("failed", format_args!("the hits of a context: {error}"));
                state.fail(ContextsState::Incomplete);
            }
        }
    }
}

impl State {
    /// Says in the file why the contexts cannot be told apart, in bytes that exist.
    fn fail(&mut self, why: ContextsState) {
        self.is_stopped = true;
        let written = self.file.seek(SeekFrom::Start(Contexts::STATE));
        if let Err(error) = written.and_then(|_| self.file.write_all(&why.to_bytes())) {
            failures::add("failed", format_args!("the state of contexts: {error}"));
        }
    }
}

/// Makes these methods contexts.
pub(super) fn instrumentation(
    patterns: Arc<MethodPatterns>,
    generated: MethodPatterns,
    recorder: Arc<Recorder>,
) -> Instrumentation {
    let roles: Arc<Mutex<HashMap<(ModuleId, MethodDef), Role>>> = Arc::default();
    let edit = {
        let roles = Arc::clone(&roles);
        move |body: &mut MethodBody, cx: &mut RewriteContext<'_>| {
            let role = lock(&roles).get(&(cx.module(), cx.token())).copied();
            // Two patterns may have selected it.
            let is_done = body.inserted().next().is_some();
            match role.filter(|_| !is_done) {
                Some(Role::Called(number)) => called(body, cx, number),
                Some(Role::Stepped { number, state }) => stepped(body, cx, number, state),
                None => Ok(()),
            }
        }
    };
    Instrumentation::new()
        .choose(move |info, module, selected| {
            let found = self::roles(info, module, selected, &recorder)?;
            let chosen = found.iter().map(|(method, _)| *method).collect();
            let found = found.into_iter();
            lock(&roles).extend(found.map(|(method, role)| ((module, method), role)));
            Ok(chosen)
        })
        .edit_where_present(patterns, edit.clone())
        .edit_where_present(generated, edit)
}

/// The methods of a module that are contexts, among those that the patterns select and those of the compiler.
fn roles(
    info: &ProfilerInfo,
    module: ModuleId,
    selected: &[MethodDef],
    recorder: &Recorder,
) -> Result<Vec<(MethodDef, Role)>> {
    let path = PathBuf::from(info.module_info(module)?.name);
    // An assembly from memory has none.
    let Ok(files) = ModuleFiles::read(&path) else {
        return Ok(Vec::new());
    };
    let read = files.module().map_err(Error::other)?;
    let mut roles = Vec::new();
    let mut asynchronous = HashMap::new();
    for &method in selected {
        if read.is_generated(method).map_err(Error::other)? {
            continue;
        }
        let name = read.method_name(method).map_err(Error::other)?;
        let parameters = match &*name.parameters {
            "()" => "",
            parameters => parameters,
        };
        let number = recorder.number(format!("{}.{}{parameters}", name.class, name.name));
        if read.is_asynchronous(method) {
            asynchronous.insert(method, number);
        } else {
            roles.push((method, Role::Called(number)));
        }
    }
    if asynchronous.is_empty() {
        return Ok(roles);
    }
    for &method in selected {
        if let Some(AsyncMachine { kickoff, state }) = read.async_machine(method)
            && let Some(&number) = asynchronous.get(&kickoff)
        {
            roles.push((method, Role::Stepped { number, state }));
        }
    }
    Ok(roles)
}

/// A method that is a context while it is called.
fn called(body: &mut MethodBody, cx: &mut RewriteContext<'_>, number: usize) -> Result<()> {
    let is_asynchronous = cx.shape()?.is_runtime_async();
    let begin = cx.call_native(&NativeCall::new(begins))?;
    let end = cx.call_native(&NativeCall::new(ends))?;
    let opened = body.add_local(TypeSig::I4)?;
    let wrap = Wrap::new()
        .before(move |code, _| {
            code.ldc_i4(number as i32)
                .ldc_i4(i32::from(is_asynchronous))
                .append(&begin)
                .stloc(opened);
        })
        .finally(move |code, _| {
            code.ldloc(opened).append(&end);
        });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

/// The state machine of an asynchronous method. It ends before its task completes, because that may run the next test.
fn stepped(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    number: usize,
    state: Token,
) -> Result<()> {
    let begin = cx.call_native(&NativeCall::new(begins))?;
    let end = cx.call_native(&NativeCall::new(|number: i32| {
        if let Some(recorder) = RECORDER.get() {
            recorder.end(usize::try_from(number).ok());
        }
    }))?;
    let mut code = Fragment::new();
    code.ldc_i4(number as i32).append(&end);
    for (id, _) in machine_ends(body, |token| token == state) {
        body.insert_after(id, Labels::Stay, &code)?;
    }
    let mut code = Fragment::new();
    let resumed = code.label();
    code.ldarg(0)
        .ldfld(state)
        .ldc_i4(-1)
        .bne_un(resumed)
        .ldc_i4(number as i32)
        .ldc_i4(1)
        .append(&begin)
        .pop()
        .mark(resumed);
    body.prologue(&code)?;
    Ok(())
}

fn begins(number: i32, is_asynchronous: i32) -> i32 {
    let (Some(recorder), Ok(number)) = (RECORDER.get(), usize::try_from(number)) else {
        return 0;
    };
    i32::from(recorder.begin(number, is_asynchronous != 0))
}

fn ends(opened: i32) {
    if let Some(recorder) = RECORDER.get().filter(|_| opened != 0) {
        recorder.end(None);
    }
}
