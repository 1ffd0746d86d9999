//! [`Slots`]: function pointers to methods of a helper, for code that cannot refer to it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::HelperAssembly;
use crate::error::Result;
use crate::rewrite::address;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::MethodDef;

/// The slots of the methods, in the order of their tokens. They live as long as the process, because code has their addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    methods: Arc<[(MethodDef, &'static AtomicUsize)]>,
}

/// Code that uses a slot.
pub(crate) struct Slot {
    /// Pushes the function pointer.
    pub(crate) function: Fragment,
    /// Pushes 1 once all slots of the helper have their function pointers, and 0 before.
    pub(crate) is_ready: Fragment,
}

impl HelperAssembly {
    /// Has the code that loads the helper store the function pointers of these static methods.
    pub(crate) fn with_slots(mut self, methods: impl IntoIterator<Item = MethodDef>) -> Self {
        let mut methods: Vec<MethodDef> = methods.into_iter().collect();
        methods.sort_unstable();
        methods.dedup();
        let slots = methods.into_iter();
        let slots = slots.map(|method| (method, &*Box::leak(Box::<AtomicUsize>::default())));
        self.slots.methods = slots.collect();
        self
    }

    /// Whether code calls its methods through slots.
    pub(crate) fn has_slots(&self) -> bool {
        !self.slots.methods.is_empty()
    }

    /// The slot of a method, if it has one.
    pub(crate) fn slot(&self, method: MethodDef) -> Option<Slot> {
        let methods = &self.slots.methods;
        let found = methods.binary_search_by_key(&method, |(method, _)| *method);
        let (_, slot) = methods.get(found.ok()?)?;
        let mut function = address(slot.as_ptr().addr());
        function.ldind_i();
        let mut is_ready = address(self.progress.done_address());
        is_ready.volatile().ldind_i4();
        Some(Slot { function, is_ready })
    }
}

impl Slots {
    /// Code that stores the function pointers, given the local with the helper's module.
    pub(super) fn fill(
        &self,
        module: u16,
        handle: TypeSig,
        body: &mut MethodBody,
    ) -> Result<Fragment> {
        const METHOD: &str = "[corelib]System.Reflection.MethodBase";
        const MODULE: &str = "[corelib]System.Reflection.Module";
        const HANDLE: &str = "[corelib]System.RuntimeMethodHandle";
        let mut code = Fragment::new();
        if self.methods.is_empty() {
            return Ok(code);
        }
        let resolve = format!("instance class {METHOD} (int32)");
        let resolve = MethodSymbol::new(MODULE, "ResolveMethod", &resolve);
        let get_handle = format!("instance valuetype {HANDLE} ()");
        let get_handle = MethodSymbol::new(METHOD, "get_MethodHandle", &get_handle);
        let pointer = MethodSymbol::new(HANDLE, "GetFunctionPointer", "instance native int ()");
        let handle = body.add_local(handle)?;
        for (method, slot) in self.methods.iter() {
            let token = method.raw().cast_signed();
            code.append(&address(slot.as_ptr().addr()));
            code.ldloc(module).ldc_i4(token).callvirt(&resolve);
            code.callvirt(&get_handle).stloc(handle);
            code.ldloca(handle).call(&pointer).stind_i();
        }
        Ok(code)
    }
}
