//! [`NativeCall`]: functions of the profiler that rewritten code calls.

mod function;
mod value;

use std::fmt;

use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{CallingConvention, MethodSig, TypeSig};

use super::{RewriteContext, address};
use crate::error::{Error, Result};
use crate::info::{CorProfilerInfo3, RuntimeKind};

use function::Types;
pub use function::{NativeFunction, NativeFunctionPointer};
pub use value::{NativeReturn, NativeValue};

/// A function of the profiler that rewritten code calls directly, by `calli`.
///
/// The IL uses the signature of the Rust function: the code of [`RewriteContext::call_native`] takes the
/// arguments from the stack, in their order, and pushes the result. Integers, floats and pointers can be
/// passed; `isize`, `usize` and pointers are native integers in IL.
///
/// The function runs on the thread of the program in preemptive mode, as a P/Invoke does. It does not delay a
/// GC, so it may block and allocate. Several threads may call it at the same time. Outside of callbacks most
/// calls of [`ProfilerInfo`](crate::ProfilerInfo) are refused: look up the data while the method is rewritten,
/// and pass an index or an id. The library stays loaded until the process ends, so the compiled code remains
/// valid, also after a detach.
///
/// ```
/// # use clr_profiler::prelude::*;
/// # use clr_profiler::rewrite::NativeCall;
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use clr_profiler::il::fragment::Fragment;
///
/// static SUM: AtomicI64 = AtomicI64::new(0);
///
/// fn add(value: i32, factor: i64) {
///     SUM.fetch_add(i64::from(value) * factor, Ordering::Relaxed);
/// }
///
/// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
/// info.method(function)?.rewrite(|body, cx| {
///     let mut code = Fragment::new();
///     code.ldarg(0).ldc_i8(10).append(&cx.call_native(&NativeCall::new(add))?);
///     body.prologue(&code)?;
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NativeCall {
    address: usize,
    params: Vec<TypeSig>,
    return_type: TypeSig,
    is_in_transition: bool,
}

impl NativeCall {
    /// A function, or a closure that captures nothing.
    ///
    /// A panic in it ends there: the caller continues with a result of zero, and the hook of
    /// [`Setup::on_failure`](crate::Setup::on_failure) is called.
    ///
    /// The target can hold no state: a closure that captures variables or a function pointer does not
    /// compile.
    ///
    /// ```compile_fail
    /// let factor = std::hint::black_box(2);
    /// clr_profiler::rewrite::NativeCall::new(move |value: i32| value * factor);
    /// ```
    #[must_use]
    pub fn new<Signature, F: NativeFunction<Signature>>(function: F) -> Self {
        const {
            assert!(
                size_of::<F>() == 0,
                "rewritten code calls functions and closures that capture nothing: pass their data \
                 as an argument or keep it in a static"
            );
        }
        Self::of(function.trampoline(), F::types())
    }

    /// A function of the C ABI, without a wrapper: a panic in it aborts the process, as Rust does with panics
    /// that would leave such a function.
    ///
    /// ```
    /// use clr_profiler::rewrite::NativeCall;
    ///
    /// extern "C" fn double(value: i32) -> i32 {
    ///     value.wrapping_mul(2)
    /// }
    ///
    /// NativeCall::raw(double as extern "C" fn(i32) -> i32);
    /// ```
    #[must_use]
    pub fn raw<P: NativeFunctionPointer>(function: P) -> Self {
        Self::of(function.address(), P::types())
    }

    fn of(address: usize, (params, return_type): Types) -> Self {
        Self {
            address,
            params,
            return_type,
            is_in_transition: true,
        }
    }

    /// The same function, called without a GC transition (`SuppressGCTransition`): for functions that take a
    /// microsecond at most, such as counting.
    ///
    /// For .NET 5 and newer; [`RewriteContext::call_native`] refuses it elsewhere.
    ///
    /// # Safety
    ///
    /// The thread stays in cooperative mode while it is in the function, and no GC can begin before it has
    /// returned. So the function must
    ///
    /// - return soon (in less than about a microsecond) whatever its arguments are,
    /// - not wait: not for locks that a thread in managed code may hold, not for files and pipes,
    /// - not call the runtime: neither managed code nor [`ProfilerInfo`](crate::ProfilerInfo),
    /// - not panic regularly: the panic is caught, but the hook that is called must keep to these rules, too.
    #[must_use]
    #[allow(unsafe_code, reason = "the promise of the caller")]
    pub unsafe fn without_transition(mut self) -> Self {
        self.is_in_transition = false;
        self
    }

    /// Whether the call makes a GC transition.
    #[must_use]
    pub fn is_in_transition(&self) -> bool {
        self.is_in_transition
    }

    /// The types of the arguments.
    #[must_use]
    pub fn params(&self) -> &[TypeSig] {
        &self.params
    }

    /// The type of the result.
    #[must_use]
    pub fn return_type(&self) -> &TypeSig {
        &self.return_type
    }
}

impl fmt::Debug for NativeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeCall")
            .field("address", &format_args!("{:#x}", self.address))
            .field("params", &self.params)
            .field("return_type", &self.return_type)
            .field("is_in_transition", &self.is_in_transition)
            .finish()
    }
}

/// The modifiers that encode in the signature how a native function is called.
const MODIFIERS: [&str; 2] = [
    "[corelib]System.Runtime.CompilerServices.CallConvCdecl",
    "[corelib]System.Runtime.CompilerServices.CallConvSuppressGCTransition",
];

impl RewriteContext<'_> {
    /// Code that calls a function of the profiler: it takes the arguments from the stack and pushes the
    /// result.
    ///
    /// The code is for methods of this module.
    ///
    /// # Errors
    ///
    /// That the runtime is older than .NET 5 and the call is one [without
    /// transition](NativeCall::without_transition); an error of the metadata.
    #[doc(alias = "calli")]
    pub fn call_native(&mut self, call: &NativeCall) -> Result<Fragment> {
        let mut signature = MethodSig::new(call.return_type.clone(), call.params.clone());
        signature.convention = CallingConvention::C;
        if !call.is_in_transition {
            if !self.can_suppress_transitions()? {
                return Err(Error::other(
                    "a native call without transition needs .NET 5 or newer: call it with one",
                ));
            }
            signature.convention = CallingConvention::Unmanaged;
            for modifier in MODIFIERS {
                signature.return_type = TypeSig::Modified {
                    required: false,
                    modifier: self.import_type(modifier)?,
                    inner: Box::new(signature.return_type),
                };
            }
        }
        let mut code = address(call.address);
        code.calli(&signature);
        Ok(code)
    }

    /// Whether the runtime supports [calls without transition](NativeCall::without_transition): .NET 5 and
    /// newer.
    ///
    /// # Errors
    ///
    /// The error of the native call that returns the version of the runtime.
    #[doc(alias = "SuppressGCTransition")]
    pub fn can_suppress_transitions(&self) -> Result<bool> {
        let runtime = self.info().runtime_information()?;
        // .NET Core 3.1 reports version 4.
        Ok(runtime.kind == RuntimeKind::Core && runtime.major >= 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_function() {
        fn all(_: i8, _: u16, _: i32, _: u64, _: f32, _: f64, _: usize) -> *mut u8 {
            std::ptr::null_mut()
        }
        let call = NativeCall::new(all);
        let expected = [
            TypeSig::I1,
            TypeSig::U2,
            TypeSig::I4,
            TypeSig::U8,
            TypeSig::R4,
            TypeSig::R8,
            TypeSig::NativeUint,
        ];
        assert_eq!(call.params(), expected);
        assert_eq!(*call.return_type(), TypeSig::NativeInt);
        assert_eq!(*NativeCall::new(|_: i32| ()).return_type(), TypeSig::Void);
        // Two functions of one type have different addresses.
        let [one, other] = [NativeCall::new(|| 1_i32), NativeCall::new(|| 2_i32)];
        assert_ne!(one.address, other.address);
    }
}
