//! Shows what the methods of a .NET program return.

mod native;
mod options;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use report::{is_framework, lock};

use options::Options;

/// The profiler.
struct ReturnInspector {
    options: Options,
    /// Without it, methods call this library directly.
    helper: Option<HelperAssembly>,
    /// Keeps the inspector from inspecting itself.
    guard: ReentrancyGuard,
    /// The modules whose methods are rewritten.
    modules: Mutex<HashSet<ModuleId>>,
}

#[profiler(clsid = "A8656E35-9A04-449E-B8EA-C9B8FBA40D52")]
impl Profiler for ReturnInspector {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        let options = Options::from_environment()?;
        if options.framework {
            // Most of the framework is precompiled: otherwise its methods would never be compiled
            // here, and never be rewritten.
            setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
        }
        let helper = match options.native {
            true => {
                native::start(info, &options)?;
                None
            }
            false => Some(HelperAssembly::open(&options.helper)?),
        };
        Ok(Self {
            options,
            helper,
            guard: ReentrancyGuard::new()?,
            modules: Mutex::default(),
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let Some(assembly) = info.module_info(module)?.assembly else {
            return Ok(());
        };
        let name = info.assembly_info(assembly)?.name;
        if is_framework(&name) && !self.options.framework {
            return Ok(());
        }
        if let Some(helper) = &self.helper {
            if name == helper.props().name {
                return Ok(());
            }
            helper.load_into(info, module)?;
        }
        self.modules().insert(module);
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.modules().remove(&module);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if !self.modules().contains(&method.module()) {
            return Ok(());
        }
        let name = method.full_name()?;
        let filter = self.options.filter.as_ref();
        if filter.is_some_and(|part| !name.contains(part)) {
            return Ok(());
        }
        method.rewrite(|body, cx| match &self.helper {
            Some(helper) => self.inspect(body, cx, helper),
            None => native::inspect(body, cx),
        })?;
        Ok(())
    }
}

impl ReturnInspector {
    fn modules(&self) -> MutexGuard<'_, HashSet<ModuleId>> {
        lock(&self.modules)
    }

    /// Gives the result to the helper as an object, whatever its type is.
    fn inspect(
        &self,
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
        helper: &HelperAssembly,
    ) -> Result<()> {
        let returned = cx.return_type()?;
        if returned == TypeSig::Void {
            return Ok(());
        }
        cx.refer_to(helper)?;
        let inspect = MethodSymbol::new("[Inspector]Inspector", "Inspect", "void (string, object)");
        let name = cx.full_name().to_owned();
        let boxed = cx.box_value(&returned)?;
        // The result is on the stack, which has to be empty where the guard is.
        let kept = body.add_local(returned)?;
        let guarded = cx.guarded(body, &self.guard, |code| {
            code.ldstr(&name)
                .ldloc(kept)
                .append(&boxed.code)
                .call(&inspect);
        })?;
        let wrap = Wrap::new().replace_result(move |code, _, result| {
            code.ldloc(result)
                .stloc(kept)
                .append(&guarded)
                .ldloc(result);
        });
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    }
}

register!(ReturnInspector);
