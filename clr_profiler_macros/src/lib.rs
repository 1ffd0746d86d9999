//! The attribute macros of `clr_profiler`. Use them through that crate, which documents them.

#![forbid(unsafe_code)]

mod arguments;
mod callbacks;
mod component;
mod profiler;
mod wraps;

use proc_macro::TokenStream;

/// Prepares an `impl Profiler` for `register!`.
///
/// ```text
/// #[profiler(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3")]
/// impl Profiler for MyProfiler { ... }
/// ```
///
/// - `clsid` is the class id under which the runtime requests the profiler: any GUID that no other
///   profiler has, as a string or as a constant of type `Uuid`. The environment variable
///   `CORECLR_PROFILER` names it.
/// - The requested events follow from the callbacks in the implementation.
/// - `crate = path` is the path of `clr_profiler`, if it is not `::clr_profiler`.
///
/// A callback that does not exist, a missing `initialize` and a malformed class id are compile
/// errors that say what to do.
#[proc_macro_attribute]
pub fn profiler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    profiler::expand(arguments.into(), item.into()).into()
}

/// Makes a function searchable by the name of the native method that it wraps.
///
/// A `#[doc(alias)]` whose name is an identifier, as rows of tables have it: only for `clr_profiler`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn native(method: TokenStream, item: TokenStream) -> TokenStream {
    let method = method.to_string();
    let mut alias: TokenStream = quote::quote!(#[doc(alias = #method)]).into();
    alias.extend(item);
    alias
}

/// Completes the documentation of a function that wraps a native method: only for
/// `clr_profiler`, whose macro `wrapped!` defines the grammar.
///
/// ```text
/// #[wraps(ICorProfilerInfo::GetEventMask [notrigger] fails "...")]
/// ```
#[doc(hidden)]
#[proc_macro_attribute]
pub fn wraps(native: TokenStream, item: TokenStream) -> TokenStream {
    wraps::expand(native.into(), item.into()).into()
}

/// Makes an `impl Component` receive the callbacks that it contains.
///
/// ```text
/// #[component]
/// impl Component for Compiled { ... }
/// ```
///
/// - It adds the method `callbacks`, unless that is in the implementation.
/// - `crate = path` is the path of `clr_profiler`, if it is not `::clr_profiler`.
///
/// A callback that does not exist is a compile error that names the nearest one.
#[proc_macro_attribute]
pub fn component(arguments: TokenStream, item: TokenStream) -> TokenStream {
    component::expand(arguments.into(), item.into()).into()
}
