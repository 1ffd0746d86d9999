//! Rust functions that IL can call.

use std::ptr::NonNull;

use super::value::{NativeReturn, NativeValue};
use crate::profiler::native_call_panicked;
use crate::runtime::catch;
use clr_profiler_il::signature::TypeSig;

/// The types of the parameters and of the result.
pub(super) type Types = (Vec<TypeSig>, TypeSig);

/// Seals the trait.
pub trait Sealed<Signature> {
    #[doc(hidden)]
    fn trampoline(self) -> usize;

    #[doc(hidden)]
    fn types() -> Types;
}

/// Seals the trait.
pub trait SealedPointer: Copy {
    #[doc(hidden)]
    fn address(self) -> usize;

    #[doc(hidden)]
    fn types() -> Types;
}

/// A function, or a closure that captures nothing, of up to eight [`NativeValue`]s that returns one or
/// nothing.
///
/// Implemented for all such functions; `Signature` distinguishes the numbers of parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called from IL",
    note = "a function of at most eight integers, floats and pointers can, which returns one or \
            nothing"
)]
pub trait NativeFunction<Signature>: Sealed<Signature> + Copy + Send + Sync + 'static {}

/// A pointer to a function of the C ABI with up to eight [`NativeValue`]s that returns one or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer to a function that IL can call",
    note = "name the type: `function as extern \"C\" fn(i32) -> i32`"
)]
pub trait NativeFunctionPointer: SealedPointer {}

/// The only value of a function's type.
///
/// Only for trampolines: they exist only if `NativeCall::new` was given such a value.
#[allow(unsafe_code, reason = "a value without bytes is read from nowhere")]
fn the_one<F: Copy + Send + Sync + 'static>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: a value of size zero can be read from any aligned address. One exists, because
    // `NativeCall::new` got it before the trampoline's address was known to anyone. `F`'s bounds say that it
    // can be copied any number of times, on each thread, and lives forever.
    unsafe { NonNull::<F>::dangling().read() }
}

/// Runs a function; a panic becomes zero.
#[inline]
fn guarded<R: NativeReturn>(function: impl FnOnce() -> R) -> R {
    match catch(function) {
        Ok(result) => result,
        Err(message) => {
            native_call_panicked(message);
            R::ZERO
        }
    }
}

/// Each row is a number of parameters and defines a trampoline of the C ABI, and the traits for functions and
/// for pointers to functions.
macro_rules! functions {
    ($($trampoline:ident($($argument:ident: $type:ident),*);)*) => {$(
        extern "C" fn $trampoline<F, R, $($type),*>($($argument: $type),*) -> R
        where
            F: Fn($($type),*) -> R + Copy + Send + Sync + 'static,
            R: NativeReturn,
        {
            guarded(|| the_one::<F>()($($argument),*))
        }

        impl<F, R, $($type),*> Sealed<fn($($type),*) -> R> for F
        where
            F: Fn($($type),*) -> R + Copy + Send + Sync + 'static,
            R: NativeReturn,
            $($type: NativeValue,)*
        {
            fn trampoline(self) -> usize {
                $trampoline::<F, R, $($type),*> as extern "C" fn($($type),*) -> R as usize
            }

            fn types() -> Types {
                (vec![$($type::type_sig()),*], R::type_sig())
            }
        }

        impl<F, R, $($type),*> NativeFunction<fn($($type),*) -> R> for F
        where
            F: Fn($($type),*) -> R + Copy + Send + Sync + 'static,
            R: NativeReturn,
            $($type: NativeValue,)*
        {
        }

        impl<R, $($type),*> SealedPointer for extern "C" fn($($type),*) -> R
        where
            R: NativeReturn,
            $($type: NativeValue,)*
        {
            fn address(self) -> usize {
                self as usize
            }

            fn types() -> Types {
                (vec![$($type::type_sig()),*], R::type_sig())
            }
        }

        impl<R, $($type),*> NativeFunctionPointer for extern "C" fn($($type),*) -> R
        where
            R: NativeReturn,
            $($type: NativeValue,)*
        {
        }
    )*};
}

functions! {
    call_0();
    call_1(a: A);
    call_2(a: A, b: B);
    call_3(a: A, b: B, c: C);
    call_4(a: A, b: B, c: C, d: D);
    call_5(a: A, b: B, c: C, d: D, e: E);
    call_6(a: A, b: B, c: C, d: D, e: E, f: G);
    call_7(a: A, b: B, c: C, d: D, e: E, f: G, g: H);
    call_8(a: A, b: B, c: C, d: D, e: E, f: G, g: H, h: I);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a trampoline as IL would.
    #[allow(unsafe_code, reason = "an address becomes a function again")]
    fn called<F: NativeFunction<fn(i32, f64) -> i64>>(function: F, a: i32, b: f64) -> i64 {
        let address = function.trampoline() as *const ();
        // SAFETY: the trampoline of this trait has this type.
        let function: extern "C" fn(i32, f64) -> i64 = unsafe { std::mem::transmute(address) };
        function(a, b)
    }

    #[test]
    fn arguments_and_results_pass() {
        assert_eq!(
            called(|a: i32, b: f64| i64::from(a) + b as i64, 40, 2.9),
            42
        );
        fn negate(a: i32, b: f64) -> i64 {
            -i64::from(a) * b as i64
        }
        assert_eq!(called(negate, 5, 3.0), -15);
    }

    #[test]
    fn a_panic_gives_zero_and_is_told() {
        use std::sync::{Arc, Mutex};

        use crate::profiler::with_hook;

        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let hook = {
            let told = Arc::clone(&told);
            move |failure: &crate::Failure| told.lock().unwrap().push(failure.to_string())
        };
        with_hook(hook, || {
            let result = called(
                |a: i32, _: f64| if a == 7 { panic!("no seven") } else { 1 },
                7,
                0.0,
            );
            assert_eq!(result, 0);
        });
        // Neither can a panic of the hook escape.
        with_hook(
            |_| panic!("in the hook"),
            || assert_eq!(called(|_: i32, _: f64| panic!("again"), 7, 0.0), 0),
        );
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1);
        let start = "a native call panicked: no seven";
        assert!(told[0].starts_with(start), "{told:?}");
    }
}
