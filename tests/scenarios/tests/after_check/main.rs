//! Faults in rewritten methods that the check of the library has not seen: the reaction of runtimes to them.
//!
//! The program `AfterCheck` runs other programs of the tests, each in a module of its own. In one method of
//! each, a wrap is inserted, as tools do it; then a fault is put into the resulting bytes. The library gets to
//! check them, and the runtime gets them whatever the result is.

mod il;
mod kinds;
#[cfg(test)]
mod tests;
mod tokens;
mod trials;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clr_profiler::Method;
use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol, TokenSource, TypeSymbol};
use clr_profiler::il::token::Token;
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteContext};
use scenario_support::{clsid, log};

use il::{Il, Op};
use kinds::{At, How, KINDS, Kind};
use tokens::{Random, Tokens};
use trials::{Offer, is_trying};

/// A line of the list that the program reads: a fault, or an order to list the methods.
#[derive(Clone, Debug)]
enum Task {
    /// Wraps all methods, and logs the kinds of faults that can be put into each.
    Census,
    /// Puts this kind of fault into this method, at a position that the seed chooses.
    Fault { kind: usize, method: u32, seed: u64 },
    /// Leaves the program as it is.
    Nothing,
}

impl Task {
    fn parse(line: &str) -> Self {
        let mut columns = line.split('\t').skip(1);
        let kind = columns.next().unwrap_or_default();
        let method = columns.next().and_then(|token| token.parse().ok());
        let seed = columns.next().and_then(|seed| seed.parse().ok());
        let place = KINDS.iter().position(|known| known.name == kind);
        match (kind, place, method, seed) {
            ("census", ..) => Self::Census,
            (_, Some(kind), Some(method), Some(seed)) => Self::Fault { kind, method, seed },
            _ => Self::Nothing,
        }
    }
}

/// The tasks of the list `AFTER_CHECK`, in the order in which the modules are loaded.
struct Plan {
    lines: Vec<String>,
    loaded: AtomicUsize,
    modules: Mutex<HashMap<ModuleId, (usize, Task)>>,
    /// The original bodies of the methods into which faults are put.
    original: Mutex<HashMap<(ModuleId, MethodDef), Vec<u8>>>,
}

impl Plan {
    fn attached(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let path = info.module_info(module)?.name;
        let next = self.loaded.load(Ordering::Relaxed);
        let Some(line) = self.lines.get(next) else {
            return Ok(());
        };
        // Other modules are of the framework, or those that the program refers to.
        if line.split('\t').next() == Some(path.as_str()) {
            self.loaded.store(next + 1, Ordering::Relaxed);
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.insert(module, (next, Task::parse(line)));
        }
        Ok(())
    }

    fn keep(&self, method: &Method<'_>, original: &[u8]) {
        let key = (method.module(), method.token());
        let mut all = self.original.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(key, original.to_vec());
    }

    /// Compiles a method with a fault on trial, and gives it its original body if that fails.
    fn try_out(&self, method: &Method<'_>, number: usize) -> Result<()> {
        let Some(outcome) = trials::outcome(method.function()) else {
            return Ok(());
        };
        log::line(format_args!("tried\t{number}\t{outcome:?}"));
        let key = (method.module(), method.token());
        let all = self.original.lock().unwrap_or_else(PoisonError::into_inner);
        match (outcome, all.get(&key)) {
            (trials::Outcome::Failed, Some(original)) => {
                log::line(format_args!("healed\t{number}"));
                method.set_il_body(original)
            }
            _ => Ok(()),
        }
    }

    /// The task for a method that is compiled.
    fn task<'a>(
        &self,
        info: &'a ProfilerInfo,
        function: FunctionId,
    ) -> Option<(Method<'a>, usize, Task)> {
        // It is the same method again.
        if is_trying() {
            return None;
        }
        let method = info.method(function).ok()?;
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, task) = modules.get(&method.module()).cloned()?;
        match task {
            Task::Fault { method: wanted, .. } if wanted != Token::from(method.token()).raw() => {
                None
            }
            Task::Nothing => None,
            task => Some((method, number, task)),
        }
    }
}

/// The number of the last program whose method was entered.
static LAST: AtomicI32 = AtomicI32::new(-1);

/// Wraps the methods into which a fault is put. A component, because each edits a method once.
struct Wraps {
    plan: Arc<Plan>,
    enter: NativeCall,
    leave: NativeCall,
}

impl Wraps {
    fn new(plan: Arc<Plan>) -> Self {
        let enter = NativeCall::new(|number: i32| {
            if LAST.swap(number, Ordering::Relaxed) != number {
                log::line(format_args!("entered\t{number}"));
            }
        });
        let leave = NativeCall::new(|_number: i32| {});
        Self { plan, enter, leave }
    }
}

#[component]
impl Component for Wraps {
    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let Some((method, number, task)) = self.plan.task(info, function) else {
            return Ok(());
        };
        let number = match task {
            Task::Census => -1,
            _ => number as i32,
        };
        let wrapped = method.rewrite(|body, cx| {
            let [enter, failed, leave] = [
                cx.call_native(&self.enter)?,
                cx.call_native(&self.leave)?,
                cx.call_native(&self.leave)?,
            ];
            let wrap = Wrap::new()
                .local(TypeSig::I4)
                .before(move |code, wrapped| {
                    code.ldc_i4(number).stloc(wrapped.local(0));
                    code.ldloc(wrapped.local(0)).append(&enter);
                })
                .on_exception(
                    "[corelib]System.Exception",
                    Caught::Rethrow,
                    move |code, wrapped, _| {
                        code.ldloc(wrapped.local(0)).append(&failed);
                    },
                )
                .finally(move |code, wrapped| {
                    code.ldloc(wrapped.local(0)).append(&leave);
                });
            body.wrap(&wrap, &cx.shape()?)?;
            Ok(())
        });
        match wrapped {
            Ok(wrapped) => self.plan.keep(&method, wrapped.before_bytes()),
            Err(error) => log::line(format_args!(
                "unwrapped\t{}",
                error.to_string().replace('\n', " ")
            )),
        }
        Ok(())
    }
}

/// Puts faults into programs, or lists where it could.
pub(crate) struct AfterCheck {
    plan: Arc<Plan>,
}

#[profiler(clsid = clsid("AfterCheck"))]
impl Profiler for AfterCheck {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let list = std::env::var("AFTER_CHECK").map_err(Error::other)?;
        let list = std::fs::read_to_string(list).map_err(Error::other)?;
        let plan = Arc::new(Plan {
            lines: list.lines().map(str::to_owned).collect(),
            loaded: AtomicUsize::new(0),
            modules: Mutex::default(),
            original: Mutex::default(),
        });
        setup.attach(Offer::new())?;
        setup.attach(Wraps::new(Arc::clone(&plan)))?;
        Ok(Self { plan })
    }

    fn module_attached_to_assembly(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _assembly: AssemblyId,
    ) -> Result<()> {
        self.plan.attached(info, module)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match self.plan.task(info, function) {
            Some((method, number, Task::Fault { kind, seed, .. })) => {
                put(info, &method, &KINDS[kind], number, seed)?;
                self.plan.try_out(&method, number)
            }
            Some((method, number, _)) => census(&method, number),
            None => Ok(()),
        }
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if let Some((_, number, Task::Fault { .. })) = self.plan.task(info, function) {
            log::line(format_args!("finished\t{number}\t{status}"));
        }
        Ok(())
    }
}

/// Logs the kinds of faults that can be put into a method.
fn census(method: &Method<'_>, number: usize) -> Result<()> {
    let token = Token::from(method.token()).raw();
    let il = Il::read(&method.il_body()?);
    let il = il.ok_or_else(|| Error::other(format!("{token:#x} cannot be read")))?;
    for kind in KINDS {
        let has_place = match kind.how {
            How::Bytes { at, .. } => il.ops.iter().any(|op| at(&il, op)),
            How::Code { .. } => true,
        };
        if has_place {
            log::line(format_args!("site\t{number}\t{token}\t{}", kind.name));
        }
    }
    Ok(())
}

/// Puts a fault into a wrapped method: the check sees it, and the runtime gets it in any case.
fn put(
    info: &ProfilerInfo,
    method: &Method<'_>,
    kind: &Kind,
    number: usize,
    seed: u64,
) -> Result<()> {
    let wrapped = method.il_body()?;
    let mut bytes = None;
    let checked = method.rewrite(|body, cx| {
        let mut tokens = Tokens {
            metadata: info.module_metadata(cx.module())?,
            writer: info.module_metadata_for_writing(cx.module())?,
            random: Random::new(seed),
        };
        match kind.how {
            How::Bytes { at, change } => {
                bytes = changed(&wrapped, &mut tokens, at, change)?;
                if let Some(bytes) = &bytes {
                    body.decode_into(bytes).map_err(Error::other)?;
                }
            }
            How::Code { at, code } => {
                let mut fragment = Fragment::new();
                code(&mut fragment);
                let mut raw = MethodBody::decode(&wrapped).map_err(Error::other)?;
                insert(&mut raw, at, &fragment)?;
                let mut source = Source {
                    cx,
                    tokens: &tokens,
                };
                let mut out = Vec::new();
                raw.encode(&mut source, &mut out)
                    .map_err(|error| Error::other(format!("{error:?}")))?;
                bytes = Some(out);
                insert(body, at, &fragment)?;
            }
        }
        Ok(())
    });
    let Some(bytes) = bytes else {
        let reason = checked
            .err()
            .map(|error| error.to_string().replace('\n', " "));
        log::line(format_args!(
            "unplanted\t{number}\t{}",
            reason.unwrap_or_default()
        ));
        return Ok(());
    };
    match checked {
        Ok(_) => log::line(format_args!("accepted\t{number}")),
        Err(error) => {
            let error = error.to_string().replace(['\n', '\t'], " ");
            log::line(format_args!("refused\t{number}\t{error}"));
        }
    }
    info.apply_metadata(method.module())?;
    match method.set_il_body(&bytes) {
        Ok(()) => log::line(format_args!("planted\t{number}")),
        Err(error) => log::line(format_args!("unset\t{number}\t{error}")),
    }
    Ok(())
}

/// The bytes with a fault at one of the instructions, the first of which the seed chooses.
fn changed(
    wrapped: &[u8],
    tokens: &mut Tokens<'_>,
    at: fn(&Il, &Op) -> bool,
    change: kinds::Change,
) -> Result<Option<Vec<u8>>> {
    let Some(il) = Il::read(wrapped) else {
        return Ok(None);
    };
    let ops: Vec<Op> = il.ops.iter().filter(|op| at(&il, op)).copied().collect();
    let first = tokens.random.below(ops.len());
    for number in 0..ops.len() {
        let mut il = il.clone();
        if change(&mut il, &ops[(first + number) % ops.len()], tokens)? {
            return Ok(Some(il.bytes));
        }
    }
    Ok(None)
}

fn insert(body: &mut MethodBody, at: At, code: &Fragment) -> Result<()> {
    match at {
        At::Start => body.prologue(code)?,
        At::Return => body.before_ret(code)?,
    }
    Ok(())
}

/// The tokens of inserted code, without the check of the library.
struct Source<'a, 'b, 'c> {
    cx: &'a mut RewriteContext<'b>,
    tokens: &'a Tokens<'c>,
}

impl TokenSource for Source<'_, '_, '_> {
    type Error = Error;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token> {
        self.cx.import_method(method)
    }

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token> {
        Ok(self.cx.import_type(&name.name)?.into())
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token> {
        let owner = Token::from(self.cx.import_type(&field.owner.name)?);
        // FIELD I4: the one field of the faults is an integer (ECMA-335 II.23.2.4).
        let member = self
            .tokens
            .writer
            .define_member_ref(owner, &field.name, &[0x06, 0x08][..])?;
        Ok(member.into())
    }

    fn user_string(&mut self, text: &str) -> Result<Token> {
        Ok(self.tokens.writer.define_user_string(text)?.into())
    }

    fn signature(&mut self, _: &MethodSig) -> Result<Token> {
        Err(Error::other("no fault has a signature"))
    }

    fn locals(&mut self, _: &LocalsSig) -> Result<Token> {
        Err(Error::other("no fault has locals"))
    }
}
