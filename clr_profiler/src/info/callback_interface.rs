//! The interfaces that the runtime passes to a callback, valid during that callback.

/// Declares such an interface, with the callback that receives it.
///
/// ```text
/// /// Takes the new IL of a method.
/// FunctionControl = ICorProfilerFunctionControl of "ICorProfilerCallback4::GetReJITParameters";
/// ```
macro_rules! callback_interface {
    ($(#[$doc:meta])* $name:ident = $native:ident of $callback:literal;) => {
        $(#[$doc])*
        ///
        #[doc = concat!("Wraps `", stringify!($native), "`.")]
        #[clr_profiler_macros::native($native)]
        pub struct $name<'callback> {
            native: clr_profiler_sys::$native,
            callback: std::marker::PhantomData<&'callback ()>,
        }

        impl $name<'_> {
            /// # Safety
            ///
            /// `native` is null or points to such an interface, which lives during the callback.
            pub(crate) unsafe fn from_callback(
                native: *mut std::ffi::c_void,
            ) -> $crate::Result<Self> {
                use clr_profiler_sys::Interface;

                // SAFETY: guaranteed by the caller.
                match unsafe { clr_profiler_sys::$native::from_raw_borrowed(&native) } {
                    Some(native) => Ok(Self {
                        native: native.clone(),
                        callback: std::marker::PhantomData,
                    }),
                    None => Err($crate::Error::invalid(
                        $callback,
                        concat!("the runtime passed no ", stringify!($native)),
                    )),
                }
            }
        }

        opaque! { $name<'_> }
    };
}
pub(super) use callback_interface;
