//! The tables of native calls, and the macros that expand their rows.
//!
//! The rows of an interface are in a [`table!`] next to its trait; `__cor_profiler_info! { calls }` in the
//! trait generates their wrappers. [`for_each_native_call!`](crate::for_each_native_call) passes the rows
//! of all interfaces to another macro: tests and `docs/api-coverage.md` use it. For example:
//!
//! ```text
//! /// The purpose, and an example.
//! fn class_layout(class: ClassId) -> {ClassLayout} = [in gc] GetClassLayout(class, @size, @[fields])
//!     none on S_FALSE at LOADED with MONITOR_GC fails "`E_INVALIDARG` for arrays.";
//! ```
//!
//! - Each argument is converted by [`Argument`](super::Argument), or by the function of `convert` that is
//!   named after `as`; the parentheses have the native arguments as expressions.
//! - `@result` is an output, `@(blob)` an output of a pointer and a length, `~(blob)` of a length and a
//!   pointer; `@[list]` and `@{text}` are capacity, count and buffer, `~[list]` and `~{text}` are buffer,
//!   capacity and count; `@<constant>` is an output of type, value and length, for which the file imports
//!   `ConstantValue`; `@*place: Type` is an output that a method of that name prepares. Each is converted by
//!   [`FromNative`](super::FromNative).
//! - The outputs are returned: one, a tuple, or `{Record}` with fields of their names.
//! - `[in gc]`, `[notrigger]` and `[waiting]` are those of [`ask!`]. With `[own]`, the function of that name in
//!   `metadata::own` is asked first.
//! - `given x = function(arguments)`: a function of the file that makes another native argument or refuses
//!   the call. It takes the object of the method, the name of the call, and arguments.
//! - `by function`: a function of the file that makes the result from the outputs and the
//!   [`CallContext`](super::CallContext).
//! - `none on`: the result is an `Option`, which is `None` for this code.
//! - `at`: the callbacks and threads that may make the call, as a name of [`context!`] or a text, unless
//!   the mode implies them. `with`: the events that the call needs, as a name, a text, or names with texts
//!   after them. `fails`: the errors, as a name of [`errors!`] or a text, unless there is only the native
//!   one.
//!
//! The row provides "Wraps", "Context", "Events", "Errors" and the alias in the documentation. A wrapper
//! with its own body provides them in `#[wraps(..)]`.

/// Declares the rows of an interface as a macro that passes them to others.
macro_rules! table {
    (($d:tt) $table:ident: $($rows:tt)*) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $table {
            ($d with:path $d(, $d for:ident)?) => { $d with! { $d(@ $d for)? $($rows)* } };
        }
    };
}

/// Generates a wrapper for each row of an interface.
macro_rules! calls {
    ($owner:ident = $interface:ident from $source:ident; $(
        $(#[$doc:meta])*
        $visible:vis fn $name:ident($($argument:ident: $type:ty $(as $convert:ident)?),* $(,)?)
            -> $($result:ty)? $({$record:ident})?
            = $([$($mode:ident)+])? $method:ident($($native:tt)*) $(by $by:ident)?
            $(given $given:ident = $make:ident($($from:ident),*))?
            $(none on $none:ident)? $(at $place:tt)? $(with $events:tt)? $(fails $errors:tt)?;
    )*) => {$(
        $(#[$doc])*
        #[wraps(
            $interface::$method [$($($mode)+)?] from $source
            $(at $place)? $(with $events)? $(fails $errors)?
        )]
        $visible fn $name(&self $(, $argument: $type)*)
            -> $crate::Result<optional!([$($none)?] [$($by)?] $($result)? $($record)?)>
        {
            own_answer!(self [$($($mode)+)?] $name $($argument)*);
            call_body! {
                self $source [$($($mode)+)?] $interface::$method
                [$($argument $($convert)?;)*] [$($given = $make($($from),*))?] ($($native)*)
                [$($none)?] [$($by)?] ($($record)?)
            }
        }
    )*};
}

/// Returns the answer of the module's own metadata, if the row has the mode `own`.
macro_rules! own_answer {
    ($this:ident [own] $name:ident $($argument:ident)*) => {
        let own = $this.metadata().own(|metadata| own::$name(metadata $(, $argument)*));
        if let Some(answer) = own {
            return Ok(answer);
        }
    };
    ($this:ident $mode:tt $($rest:tt)*) => {};
}

/// The body of a wrapper.
macro_rules! call_body {
    (
        $this:ident $source:ident $mode:tt $interface:ident::$method:ident
        [] [] () [$($none:ident)?] [] ()
    ) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        let (native, _) = open!($source $mode $interface, $this, CALL);
        let result = native_call!(&native, $interface::$method());
        Ok(if_there!([$($none)?] result, {}))
    }};
    (
        $this:ident $source:ident $mode:tt $interface:ident::$method:ident
        [$($argument:ident $($convert:ident)?;)*] [$($given:ident = $make:ident($($from:ident),*))?]
        ($(
            $(@$place:ident)? $(@($blob:ident))? $(~($bytes:ident))? $(@<$constant:ident>)?
            $(@[$list:ident])? $(@{$text:ident})? $(~[$array:ident])? $(~{$name:ident})?
            $(@*$prepared:ident: $prepare:ident)? $($value:expr)?
        ),* $(,)?)
        [$($none:ident)?] [$($by:ident)?] $record:tt
    ) => {{
        const CALL: &str = concat!(stringify!($interface), "::", stringify!($method));
        $(
            // This holds until the call has returned: an unload waits for both.
            let _in_flight = $crate::lifetimes::InFlight::begin();
            let $given = $make($this, CALL $(, $from)*)?;
        )?
        let (native, context) = open!($source $mode $interface, $this, CALL);
        $(let $argument = to_native!(context, $argument $($convert)?);)*
        $(
            $(let mut $place = Default::default();)?
            $(let mut $blob = (std::ptr::null(), 0);)?
            $(let mut $bytes = (0, std::ptr::null());)?
            $(let mut $constant = (0, std::ptr::null(), 0);)?
            $(let mut $list = Vec::new();)?
            $(let mut $text = String::new();)?
            $(let mut $array = Vec::new();)?
            $(let mut $name = String::new();)?
            $(let mut $prepared = $prepare::default();)?
        )*
        let result = buffered!(
            [$($([$list])? $({$text})? $([$array])? $({$name})?)*]
            (capacity, count, buffer, room, length, name)
            native_call!(&native, $interface::$method($(
                $($value)?
                $(&mut $place)?
                $(&mut $blob.0, &mut $blob.1)?
                $(&mut $bytes.0, &mut $bytes.1)?
                $(&mut $constant.0, &mut $constant.1, &mut $constant.2)?
                $(capacity, count, second!($list, buffer))?
                $(room, length, second!($text, name))?
                $(second!($array, buffer), capacity, count)?
                $(second!($name, name), room, length)?
                $($prepared.place())?
            ),*))
        );
        let value = if_there!([$($none)?] result, {
            $(
                $(let $place = $crate::native::FromNative::from_native($place, &context)?;)?
                // SAFETY: the runtime returned the number of bytes there; they are copied at once.
                $(let $blob = unsafe { $crate::native::blob($blob.0.cast(), $blob.1) };)?
                // SAFETY: as above.
                $(let $bytes = unsafe { $crate::native::blob($bytes.1.cast(), $bytes.0) };)?
                // SAFETY: the metadata guarantees a constant of that type there.
                $(let $constant = unsafe {
                    ConstantValue::read($constant.0, $constant.1, $constant.2)
                };)?
                $(let $list = $crate::native::each_from_native($list, &context)?;)?
                $(let $array = $crate::native::each_from_native($array, &context)?;)?
                $(let $prepared = $crate::native::FromNative::from_native($prepared, &context)?;)?
            )*
            pack!($record $(
                $($place)? $($blob)? $($bytes)? $($constant)? $($list)? $($text)? $($array)? $($name)?
                $($prepared)?
            )*)
        });
        let _ = context;
        given_by!([$($by)?] value, context)
    }};
}

/// The native interface of a wrapper, and the `CallContext` of the call.
macro_rules! open {
    (info [] $($rest:tt)*) => { open!(@GcTriggers $($rest)*) };
    (info [notrigger] $($rest:tt)*) => { open!(@GcNoTrigger $($rest)*) };
    (info [in gc] $($rest:tt)*) => { open!(@LockFree $($rest)*) };
    (info [waiting] $($rest:tt)*) => { open!(@Waits $($rest)*) };
    (@$kind:ident $interface:ident, $this:ident, $call:ident) => {{
        let info = $this.handle();
        let kind = $crate::runtime::CallKind::$kind;
        let native = info.native::<clr_profiler_sys::$interface>($call, kind)?;
        (native, $crate::native::CallContext::of_info($call, info))
    }};
    // Unless the module's own metadata has answered the call.
    (import [own] $($rest:tt)*) => { open!(import [] $($rest)*) };
    (import [] $interface:ident, $this:ident, $call:ident) => {
        ($this.metadata().import()?.in_use($call)?, $crate::native::CallContext::of($call))
    };
    (emit [] $interface:ident, $this:ident, $call:ident) => {
        ($this.writer().emit.in_use($call)?, $crate::native::CallContext::of($call))
    };
    // Another interface of the same object.
    (query_import [] $interface:ident, $this:ident, $call:ident) => {(
        $this.metadata().import()?.query_interface::<clr_profiler_sys::$interface>($call)?,
        $crate::native::CallContext::of($call),
    )};
    (query_emit [] $interface:ident, $this:ident, $call:ident) => {(
        $this.writer().emit.query_interface::<clr_profiler_sys::$interface>($call)?,
        $crate::native::CallContext::of($call),
    )};
    // A handle of the interface itself.
    (native [] $interface:ident, $this:ident, $call:ident) => {{
        let native = $this.native();
        let on = clr_profiler_sys::Interface::as_raw(native).addr();
        (native, $crate::native::CallContext { on, ..$crate::native::CallContext::of($call) })
    }};
    // By a function of the file of this name.
    ($open:ident [] $interface:ident, $this:ident, $call:ident) => {
        ($open($this, $call)?, $crate::native::CallContext::of($call))
    };
}

macro_rules! to_native {
    ($context:ident, $argument:ident) => {
        $crate::native::Argument::to_native($argument, &$context)?
    };
    // Conversions that borrow from the argument during the call.
    ($context:ident, $argument:ident checked) => {
        checked(&$argument, &$context)?
    };
    ($context:ident, $argument:ident wanted) => {
        wanted(&$argument, &$context)?
    };
    ($context:ident, $argument:ident $convert:ident) => {
        $convert($argument, &$context)?
    };
}

/// A call with its buffer, if it takes one.
macro_rules! buffered {
    ([] $names:tt $call:expr) => {
        $call
    };
    ([[$list:ident]] ($capacity:ident, $count:ident, $buffer:ident, $($text:ident),*) $call:expr) => {
        $crate::native::read_array(|$capacity, $count, $buffer| $call).map(|items| {
            $list = items;
            $crate::Hresult::S_OK
        })
    };
    ([{$text:ident}] ($c:ident, $n:ident, $b:ident, $room:ident, $length:ident, $name:ident) $call:expr) => {
        $crate::native::read_text(|$room, $length, $name| $call).map(|text| {
            $text = text;
            $crate::Hresult::S_OK
        })
    };
    // The two are read by separate calls.
    ([{$text:ident} [$list:ident]] (
        $capacity:ident, $count:ident, $buffer:ident, $room:ident, $length:ident, $name:ident
    ) $call:expr) => {{
        let mut ask = |$capacity, $count: *mut u32, $buffer, $room, $length: *mut u32, $name| $call;
        let none = std::ptr::null_mut();
        let items = $crate::native::read_array(|capacity, count, buffer| {
            ask(capacity, count, buffer, 0, none, std::ptr::null_mut())
        });
        items.and_then(|items| {
            $list = items;
            $text = $crate::native::read_text(|room, length, name| {
                ask(0, none, std::ptr::null_mut(), room, length, name)
            })?;
            Ok($crate::Hresult::S_OK)
        })
    }};
}

macro_rules! second {
    ($first:ident, $second:expr) => {
        $second
    };
}

/// The result, as an option if the row has `none on`.
macro_rules! if_there {
    ([] $result:ident, $value:block) => {{
        $result?;
        $value
    }};
    ([$none:ident] $result:ident, $value:block) => {
        if is_there!($none $result) { Some($value) } else { None }
    };
}

/// Whether the code means that there is a result.
macro_rules! is_there {
    (S_FALSE $result:ident) => {
        $result? == $crate::Hresult::S_OK
    };
    (CLDB_E_RECORD_NOTFOUND $result:ident) => {
        $crate::OptionalExt::optional($result)?.is_some()
    };
    (S_FALSE_OR_RECORD_NOTFOUND $result:ident) => {
        $crate::OptionalExt::optional($result)? == Some($crate::Hresult::S_OK)
    };
    (S_FALSE_OR_INVALIDARG $result:ident) => {
        $crate::native::unless($result, $crate::Hresult::E_INVALIDARG)?
            == Some($crate::Hresult::S_OK)
    };
    (ENVVAR_NOT_FOUND $result:ident) => {
        $crate::native::unless(
            $result,
            $crate::Hresult::HRESULT_FROM_WIN32_ERROR_ENVVAR_NOT_FOUND,
        )?
        .is_some()
    };
    // Runtimes return a flag of modules, which is not a failure code, instead of the code for it.
    (COR_PRF_MODULE_DYNAMIC $result:ident) => {
        $result?.0 != clr_profiler_sys::COR_PRF_MODULE_DYNAMIC as i32
    };
}

macro_rules! optional {
    ([$none:ident] [] $result:ty) => { Option<$result> };
    ([$($none:ident)?] [$($by:ident)?] $result:ty) => { $result };
}

macro_rules! given_by {
    ([] $value:ident, $context:ident) => {
        Ok($value)
    };
    ([$by:ident] $value:ident, $context:ident) => {
        $by($value, &$context)
    };
}

/// Packs the outputs into the result.
macro_rules! pack {
    (() $($result:ident)*) => { ($($result),*) };
    (($record:ident) $($result:ident)*) => { $record { $($result),* } };
}

/// The documentation of a function that wraps a native method, for rows and for `#[wraps(..)]`, where a
/// text ("how") may follow the method.
macro_rules! wrapped {
    (
        $interface:ident::$method:ident $(, $how:literal)? $([$($mode:ident)*])? $(from $source:tt)?
        $(at $place:tt)? $(with $events:tt)? $(fails $errors:tt)?
    ) => {
        concat!(
            "Wraps `", stringify!($interface), "::", stringify!($method), "`", $(" ", $how,)?
            ". **Context**: ", context!([$($($mode)*)?] $($place)?), events!($($events)?),
            "\n\n# Errors\n\n", errors!($($source)? $($errors)?),
        )
    };
}

/// The callbacks and threads that may make a call, by the names that rows use.
macro_rules! context {
    ([in gc]) => { context!([] ANY) };
    ([waiting]) => {
        "not during a collection, not in hooks and not in callbacks for which threads may wait: those of \
         exceptions, of objects, `module_load_started`, `assembly_load_started`, \
         `assembly_load_finished`, `thread_assigned_to_os_thread`, `thread_destroyed` and \
         `event_pipe_event_delivered`."
    };
    ([$($mode:ident)?]) => { "not during a collection." };
    ($mode:tt ANY) => { "any, also during a collection." };
    ($mode:tt LOADED) => { "from `module_load_finished` on; not during a collection." };
    ($mode:tt ASSEMBLY_LOADED) => {
        "from `assembly_load_finished` on; not during a collection."
    };
    ($mode:tt COMPILING) => {
        "`jit_compilation_started` of the method, after its body was replaced; not during a \
         collection."
    };
    ($mode:tt REJIT_PARAMETERS) => { "`get_rejit_parameters`." };
    ($mode:tt NATIVE_THREAD) => {
        "a thread of the profiler's own, which never ran managed code; not a callback."
    };
    ($mode:tt OWN_THREAD) => { "a thread of the profiler's own." };
    ($mode:tt INITIALIZED_THREAD) => {
        "a thread of the profiler's own that called \
         [`initialize_current_thread`](crate::prelude::CorProfilerInfo4::initialize_current_thread)."
    };
    ($mode:tt INITIALIZE) => { "`initialize`, at start-up." };
    ($mode:tt MANAGED_THREAD) => { "a callback on a managed thread, not during a collection." };
    ($mode:tt $text:literal) => { $text };
}

/// The events that a call needs.
macro_rules! events {
    () => {
        ""
    };
    ($text:literal) => {
        concat!(" **Events**: ", $text)
    };
    ($event:ident) => {
        events!([$event "."])
    };
    // Several events, each with a text after it.
    ([$($event:ident $text:literal)+]) => {
        concat!(
            " **Events**: ",
            $("[`", stringify!($event), "`](crate::EventMask::", stringify!($event), ")", $text,)+
        )
    };
}

/// The section "Errors".
macro_rules! errors {
    ($errors:literal) => {
        $errors
    };
    ($source:tt $errors:literal) => {
        $errors
    };
    ($source:tt NAME) => {
        "The name has a zero in it; the error of the native call."
    };
    ($source:tt SIGNATURE) => {
        "The signature breaks a rule of ECMA-335 II.23.2, and is not passed on; the error of the \
         native call."
    };
    ($source:tt NOT_FOUND) => {
        "`CLDB_E_RECORD_NOTFOUND` if there is none."
    };
    ($source:tt OTHERS) => {
        "The error of the native call, except for `CLDB_E_RECORD_NOTFOUND`, which is `None`."
    };
    ($source:tt HEAP) => {
        "The error of the native call if the index is outside the heap."
    };
    ($source:tt NO_ITEM) => {
        "The error of the native call if the index is not that of an item."
    };
    () => {
        errors!(info)
    };
    (info) => {
        "The error of the native call."
    };
    (native) => {
        "The error of the native call."
    };
    ((items of import)) => {
        "The error of the native call, as an item."
    };
    ((items of named)) => {
        "The name has a zero in it; the error of the native call, as an item."
    };
    ((items of query_import)) => {
        "The metadata does not have the interface; the error of the native call, as an item."
    };
    (query_import) => {
        "The metadata does not have the interface; the error of the native call."
    };
    ($metadata:ident) => {
        "The error of the native call."
    };
}

/// Calls a macro for each row of all tables, with the trait, the name of the wrapper, the source of its
/// interface, its arguments, and the interface and method that it wraps.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_native_call {
    ($with:ident) => {
        $crate::for_each_native_call! { $with in
            __cee_gen __cor_profiler_info __cor_profiler_info10 __cor_profiler_info11
            __cor_profiler_info12 __cor_profiler_info14 __cor_profiler_info2 __cor_profiler_info3
            __cor_profiler_info4 __cor_profiler_info5 __cor_profiler_info6 __cor_profiler_info7
            __cor_profiler_info8 __cor_profiler_info9 __cor_profiler_info_legacy
            __cor_profiler_info_statics __cor_profiler_info_statics3 __function_control
            __metadata_assembly_emit __metadata_assembly_import
            __metadata_assembly_import_enumerations __metadata_dispenser_framework __metadata_emit
            __metadata_emit2 __metadata_filter __metadata_import __metadata_import2
            __metadata_import2_enumerations __metadata_import_enumerations
            __metadata_import_enumerations_by_name __metadata_info __metadata_tables
            __metadata_validate __metadata_win_md_import __token_map
        }
    };
    ($with:ident in $($table:ident)*) => {
        $($crate::$table! { $crate::for_each_native_call, $with })*
    };
    // A table.
    (@ $with:ident $owner:ident = $interface:ident from $source:ident; $(
        $(#[$doc:meta])*
        $visible:vis fn $name:ident($($argument:ident: $type:ty $(as $convert:ident)?),* $(,)?)
            -> $($result:ty)? $({$record:ident})?
            = $([$($mode:ident)+])? $method:ident($($native:tt)*) $(by $by:ident)?
            $(given $given:ident = $make:ident($($from:ident),*))?
            $(none on $none:ident)? $(at $place:tt)? $(with $events:tt)? $(fails $errors:tt)?;
    )*) => {$(
        $with! {
            $owner $name $source [$($argument: $type $(as $convert)?,)*] $interface $method
        }
    )*};
}
