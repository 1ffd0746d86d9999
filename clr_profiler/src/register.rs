//! [`register!`](crate::register).

/// Makes the library one that the runtime can load, with these profilers.
///
/// Exports `DllGetClassObject` and `DllCanUnloadNow`, through which the runtime finds a profiler by the class
/// id of its `#[profiler]`. Write it once in a library, at its top level or in any module; one library can
/// have several profilers. It is compatible with `#![forbid(unsafe_code)]`.
///
/// ```
/// # use clr_profiler::prelude::*;
/// struct Quiet;
///
/// #[profiler(clsid = "B0B1B2B3-0000-4000-8000-000000000002")]
/// impl Profiler for Quiet {
///     fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
///         Ok(Quiet)
///     }
/// }
///
/// register!(Quiet);
/// ```
#[macro_export]
macro_rules! register {
    () => {
        ::core::compile_error!(
            "name the profilers of this library: `register!(MyProfiler);`"
        );
    };
    ($($profiler:ty),+ $(,)?) => {
        // All exported macros are in one namespace, whatever their modules: a second `register!` is an error
        // that shows this name.
        #[doc(hidden)]
        #[allow(non_local_definitions)]
        #[macro_export]
        macro_rules! register_once_with_all_profilers_of_the_library {
            () => {};
        }

        const _: () = {
            #[cfg(panic = "abort")]
            ::core::compile_error!(
                "a profiler must be built with `panic = \"unwind\"`: with `panic = \"abort\"` a \
                 panic in a callback would end the program that is being profiled; remove \
                 `panic = \"abort\"` from the Cargo profile"
            );

            const CLASSES: &[$crate::__private::Class] =
                &[$($crate::__private::Class::of::<$profiler>()),+];

            const _: () = ::core::assert!(
                !$crate::__private::Class::any_clsid_twice(CLASSES),
                "two of the registered profilers have the same class id: the runtime could never reach one of them"
            );

            #[unsafe(no_mangle)]
            unsafe extern "system" fn DllGetClassObject(
                class: *const ::core::ffi::c_void,
                interface: *const ::core::ffi::c_void,
                object: *mut *mut ::core::ffi::c_void,
            ) -> ::core::primitive::i32 {
                // SAFETY: the runtime passes pointers by the rules of COM.
                unsafe {
                    $crate::__private::get_class_object(CLASSES, class, interface, object)
                }
            }

            #[unsafe(no_mangle)]
            extern "system" fn DllCanUnloadNow() -> ::core::primitive::i32 {
                $crate::__private::can_unload_now()
            }
        };
    };
}
