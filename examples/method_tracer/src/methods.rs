//! The selection of traced methods, and the code around them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{Boxing, Completion, HelperAssembly, NativeCall, RewriteContext};

use crate::calls;
use crate::config::Config;
use crate::notes::{self, About};
use crate::spans;
use report::{Selection, is_framework, lock};

const TRACER: &str = "[MethodTracer]MethodTracer.Tracer";
const SPAN: &str = "class [MethodTracer]MethodTracer.Span";
const CORE_LIBRARY: &str = "System.Private.CoreLib";
/// The largest number of arguments for which the helper has generic methods.
const TYPED: usize = 4;

/// The kind of a method.
#[derive(Clone)]
pub(crate) enum Place {
    /// One of the helper: it calls a function of this library.
    Native(NativeCall),
    Traced,
    Elsewhere,
}

/// The methods of the program.
pub(crate) struct Methods {
    config: Config,
    helper: HelperAssembly,
    arguments: bool,
    /// The modules that may have such methods, with the names of their assemblies.
    modules: Mutex<HashMap<ModuleId, String>>,
    /// The modules that may have been precompiled with copies of them.
    precompiled: Selection,
    places: Mutex<HashMap<(ModuleId, MethodDef), Place>>,
}

impl Methods {
    pub(crate) fn new(config: Config, helper: &Path, arguments: bool) -> Result<Self> {
        Ok(Self {
            config,
            helper: HelperAssembly::open(helper)?,
            arguments,
            modules: Mutex::default(),
            precompiled: Selection::default(),
            places: Mutex::default(),
        })
    }

    pub(crate) fn loaded(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let Some(assembly) = info.module_info(module)?.assembly else {
            return Ok(());
        };
        let name = info.assembly_info(assembly)?.name;
        // Assemblies that are compiled together may contain inlined copies: the program's assemblies, and
        // those of the framework, except the core library, which refers to none of them.
        if !is_framework(&name) || (self.config.names_framework() && name != CORE_LIBRARY) {
            self.precompiled.add(module);
        }
        let is_helper = name == self.helper.props().name;
        if !is_helper {
            if !self.config.names_assembly(&name) {
                return Ok(());
            }
            if let Err(error) = self.helper.load_into(info, module) {
                notes::add(About::Refused, &name, error);
                return Ok(());
            }
        }
        lock(&self.modules).insert(module, name);
        Ok(())
    }

    pub(crate) fn unloaded(&self, module: ModuleId) {
        lock(&self.modules).remove(&module);
        self.precompiled.remove(module);
        lock(&self.places).retain(|place, _| place.0 != module);
    }

    /// Whether precompiled code of a function may contain copies of such methods, or be one.
    pub(crate) fn may_be_copied_into(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        self.precompiled.may_be_copied_into(info, function)
    }

    pub(crate) fn place(&self, method: &Method<'_>) -> Result<Place> {
        let Some(assembly) = lock(&self.modules).get(&method.module()).cloned() else {
            return Ok(Place::Elsewhere);
        };
        let key = (method.module(), method.token());
        if let Some(place) = lock(&self.places).get(&key) {
            return Ok(place.clone());
        }
        let place = if assembly == self.helper.props().name {
            calls::of(&method.name()?).map_or(Place::Elsewhere, Place::Native)
        } else {
            let name = method.full_name()?;
            // The module's initialiser, which is in no type, loads the helper.
            match !name.starts_with("..") && self.config.wants(&assembly, &name) {
                true => Place::Traced,
                false => Place::Elsewhere,
            }
        };
        lock(&self.places).insert(key, place.clone());
        Ok(place)
    }

    /// Wraps a method.
    pub(crate) fn trace(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        cx.refer_to(&self.helper)?;
        let completion = cx.completion(body)?;
        let mut begin = self.begin(cx)?;
        if cx.shape()?.is_runtime_async() {
            begin.call(MethodSymbol::new(
                TRACER,
                "Suspends",
                &format!("{SPAN} ({SPAN})"),
            ));
        }
        let end = MethodSymbol::new(TRACER, "End", &format!("void ({SPAN}, object)"));
        let span = cx.type_sig(SPAN)?;
        let span = body.add_local(span)?;
        let mut wrap = Wrap::new()
            .before(move |code, _| {
                code.append(&begin).stloc(span);
            })
            // It is only kept for `finally`.
            .observe_exception(|_, _, _| {})
            .finally(move |code, method| {
                code.ldloc(span);
                match method.exception {
                    Some(exception) => code.ldloc(exception),
                    None => code.ldnull(),
                };
                code.call(&end);
            })
            // An exception that left the code and was replaced by another one, which the code catches.
            .on_return(|code, method| {
                if let Some(exception) = method.exception {
                    code.ldnull().stloc(exception);
                }
            });
        match completion {
            Completion::Task(followed) => {
                let completes = followed.method(TRACER, "Completes", SPAN);
                wrap = wrap.replace_result(move |code, _, result| {
                    code.ldloc(span).ldloc(result).call(&completes);
                });
            }
            Completion::Unobservable(reason) => {
                notes::add(About::UpToReturn, cx.full_name(), reason);
            }
            _ => {}
        }
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    }

    /// Code that begins a span and leaves it.
    fn begin(&self, cx: &mut RewriteContext<'_>) -> Result<Fragment> {
        let mut code = Fragment::new();
        code.ldc_i4(spans::number(cx.full_name())?.cast_signed());
        let begin = |name: &str, params: &str| {
            MethodSymbol::new(TRACER, name, &format!("{SPAN} ({params})"))
        };
        if !self.arguments {
            code.call(begin("Begin", "int32"));
            return Ok(code);
        }
        match cx.box_this()? {
            Some(this) => code.append(&this.code),
            None => code.ldnull(),
        };
        let (call, boxing) = match cx.signature().params.len() {
            0 => (begin("BeginWith", "int32, object"), Vec::new()),
            1..=TYPED => {
                let arguments = cx.typed_arguments()?;
                code.append(&arguments.code);
                let call = arguments.method(TRACER, "BeginWith", SPAN, &["int32", "object"]);
                (call, arguments.boxing)
            }
            _ => {
                let arguments = cx.arguments_array()?;
                code.append(&arguments.code);
                (
                    begin("BeginWithArray", "int32, object, object[]"),
                    arguments.boxing,
                )
            }
        };
        for (number, boxing) in boxing.iter().enumerate() {
            if let Boxing::Skipped(reason) = boxing {
                let name = format!("{}, argument {number}", cx.full_name());
                notes::add(About::Argument, &name, reason);
            }
        }
        code.call(&call);
        Ok(code)
    }
}
