//! [`register!`](crate::register).

/// Makes the library one that the runtime can load, with these profilers.
///
/// Exports `DllGetClassObject` and `DllCanUnloadNow`, through which the runtime finds a profiler by the class
/// id of its `#[profiler]`. On Windows it also exports the functions for `regsvr32`, which
/// [register the library](#registration-on-windows) by its class ids. Write it once in a library, at its top level or in any module; one library can
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
///
/// # Several as one
///
/// A process has one main profiler. `compose(A, B)` is a profiler that consists of several:
///
/// ```
/// # use clr_profiler::prelude::*;
/// # macro_rules! quiet { ($name:ident, $clsid:literal) => {
/// # struct $name;
/// # #[profiler(clsid = $clsid)]
/// # impl Profiler for $name {
/// #     fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> { Ok($name) }
/// # }
/// # } }
/// # quiet!(Tracer, "B0B1B2B3-0000-4000-8000-000000000004");
/// # quiet!(Coverage, "B0B1B2B3-0000-4000-8000-000000000005");
/// register!(
///     Tracer,
///     Coverage,
///     compose(clsid = "B0B1B2B3-0000-4000-8000-000000000006", Tracer, Coverage),
/// );
/// ```
///
/// Without `clsid = ..`, its class id is that of the first. Each of them works as it does alone:
///
/// - The events are joined. Each profiler and its [components](crate::Component) get the callbacks whose events they
///   have requested: those of the first before those of the second, and callbacks that report an end in reverse
///   order. A change of the events while the program runs leaves those of the others in place.
/// - IL is edited in that order: the second profiler gets the result of the first. See
///   [`Method::rewrite`](crate::Method::rewrite).
/// - Each has its own [`Setup`](crate::Setup), with its own hook for failures and limit of panics. If one cannot start or
///   is disabled, the others run on; [`Failure::profiler`](crate::Failure::profiler) names it.
/// - It is loaded as a notification profiler if each of them declares to be one.
///
/// A runtime has only one set of hooks, one mapper of their ids and one owner of `get_rejit_parameters`. The profiler
/// that claims one as the second does not start, with an error that names both; the others run. A detach is refused,
/// because it would detach all of them. Flags that change how the program runs, such as
/// [`EventMask::DISABLE_INLINING`](crate::EventMask::DISABLE_INLINING), affect all.
///
/// # Next to another one
///
/// `notification(clsid = .., A)` offers `A` a second time, as a notification profiler whatever its
/// [`load_as_notification_only`](crate::Profiler::load_as_notification_only) returns: the class id that the runtime is
/// given chooses between the main profiler and one with fewer rights, which .NET 5 and newer load next to the main one.
///
/// ```
/// # use clr_profiler::prelude::*;
/// # struct ModuleLogger;
/// # #[profiler(clsid = "B0B1B2B3-0000-4000-8000-000000000007")]
/// # impl Profiler for ModuleLogger {
/// #     fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> { Ok(ModuleLogger) }
/// # }
/// register!(
///     ModuleLogger,
///     notification(clsid = "B0B1B2B3-0000-4000-8000-000000000008", ModuleLogger),
/// );
/// ```
///
/// # Registration on Windows
///
/// A runtime for Windows whose variables name no library looks for the class id in the registry. `regsvr32 my_profiler.dll`
/// registers all profilers of the library for the machine, which takes an administrator, and
/// `regsvr32 /n /i:user my_profiler.dll` for the user; with `/u` they are unregistered. The exports are
/// `DllRegisterServer`, `DllUnregisterServer` and `DllInstall`, which takes `user` or `machine`.
///
/// - If one profiler cannot be registered, none is, and the earlier state is restored. The HRESULT is that of the
///   registry, such as `E_ACCESSDENIED`, or `SELFREG_E_CLASS`.
/// - A class id that another library has registered is registered for this one. Unregistering removes only registrations
///   of this library, and succeeds if there is none.
/// - `CLR_PROFILER_DIAGNOSTICS` gets the class ids of failures, and of registrations of other libraries that stay.
#[macro_export]
macro_rules! register {
    () => {
        ::core::compile_error!(
            "name the profilers of this library: `register!(MyProfiler);`"
        );
    };
    ($($profilers:tt)+) => {
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
                $crate::__classes!([] $($profilers)+);

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

            #[cfg(windows)]
            #[unsafe(no_mangle)]
            extern "system" fn DllRegisterServer() -> ::core::primitive::i32 {
                $crate::__private::register(CLASSES)
            }

            #[cfg(windows)]
            #[unsafe(no_mangle)]
            extern "system" fn DllUnregisterServer() -> ::core::primitive::i32 {
                $crate::__private::unregister(CLASSES)
            }

            #[cfg(windows)]
            #[unsafe(no_mangle)]
            unsafe extern "system" fn DllInstall(
                is_install: ::core::primitive::i32,
                words: *const ::core::primitive::u16,
            ) -> ::core::primitive::i32 {
                // SAFETY: the caller passes null or a text by the rules of COM.
                unsafe { $crate::__private::install(CLASSES, is_install, words) }
            }
        };
    };
}

/// The classes of a list of profilers, one after the other: those that are done, and the rest of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __classes {
    (@members $($profiler:ty),+) => {{
        const MEMBERS: &[$crate::__private::Class] =
            &[$($crate::__private::Class::of::<$profiler>()),+];
        const _: () = ::core::assert!(
            !$crate::__private::Class::any_clsid_twice(MEMBERS),
            "two of the composed profilers have the same class id: a profiler can be composed with others only"
        );
        MEMBERS
    }};
    ([$($done:expr,)*]) => {
        &[$($done),*]
    };
    ([$($done:expr,)*] compose() $($rest:tt)*) => {
        $crate::__no_members!()
    };
    ([$($done:expr,)*] compose(clsid = $clsid:expr $(,)?) $($rest:tt)*) => {
        $crate::__no_members!()
    };
    ([$($done:expr,)*] compose(clsid = $clsid:literal, $($of:ty),+ $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::composed(
                $crate::__private::class_id($clsid),
                $crate::__classes!(@members $($of),+),
            ),
        ] $($($rest)*)?)
    };
    ([$($done:expr,)*] compose(clsid = $clsid:expr, $($of:ty),+ $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::composed($clsid, $crate::__classes!(@members $($of),+)),
        ] $($($rest)*)?)
    };
    ([$($done:expr,)*] compose($($of:ty),+ $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::composed_as_first($crate::__classes!(@members $($of),+)),
        ] $($($rest)*)?)
    };
    ([$($done:expr,)*] notification(clsid = $clsid:literal, $of:ty $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::notification::<$of>($crate::__private::class_id($clsid)),
        ] $($($rest)*)?)
    };
    ([$($done:expr,)*] notification(clsid = $clsid:expr, $of:ty $(,)?) $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::notification::<$of>($clsid),
        ] $($($rest)*)?)
    };
    ([$($done:expr,)*] notification($($other:tt)*) $($rest:tt)*) => {
        ::core::compile_error!(
            "name one profiler and a class id for it as a notification profiler: \
             `notification(clsid = \"..\", MyProfiler)`"
        )
    };
    ([$($done:expr,)*] $profiler:ty $(, $($rest:tt)*)?) => {
        $crate::__classes!([
            $($done,)*
            $crate::__private::Class::of::<$profiler>(),
        ] $($($rest)*)?)
    };
}

/// The error of a composed profiler of none.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_members {
    () => {
        ::core::compile_error!(
            "name the profilers that run as one: `compose(Tracer, Coverage)`, or with a class id of its own, \
             `compose(clsid = \"..\", Tracer, Coverage)`"
        )
    };
}
