//! Results passed to this library, without managed code in between.

use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteContext};

use crate::report::{Output, lock};

static OUTPUT: OnceLock<Arc<Output>> = OnceLock::new();

/// The offsets of length and text in a string object.
static STRINGS: OnceLock<(usize, usize)> = OnceLock::new();

/// The names of the methods by number: a call passes the number of its method.
static METHODS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An edit for [`Instrumentation::edit`](clr_profiler::instrumentation::Instrumentation::edit): each method passes its result, if it
/// is a primitive or a string, to this library, which appends `Method(parameters) = result` to the output of the first call
/// of this function. There is no managed code in between, so it works in every module, the core library included.
///
/// **Context**: `initialize`.
///
/// # Errors
///
/// The runtime does not tell the layout of strings.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use clr_profiler::instrumentation::Instrumentation;
/// use clr_profiler::prelude::*;
/// use clr_profiler_tools::report::Output;
/// use clr_profiler_tools::report::rewriting::native_results;
///
/// fn attach(info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
///     let output = Arc::new(Output::lines("results.txt".into())?);
///     let show = native_results(info, &output)?;
///     setup.attach(Instrumentation::new().edit("Shop.**", show))?;
///     Ok(())
/// }
/// ```
pub fn native_results(
    info: &ProfilerInfo,
    output: &Arc<Output>,
) -> Result<fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>> {
    let layout = info.string_layout2()?;
    let place = (layout.length_offset as usize, layout.buffer_offset as usize);
    // Set already if another runtime of this process has started the profiler, too.
    let _ = STRINGS.set(place);
    let _ = OUTPUT.set(Arc::clone(output));
    Ok(show)
}

fn show(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let returned = cx.return_type()?;
    let mut converted = Fragment::new();
    let call = match returned {
        TypeSig::Bool => NativeCall::new(|method, value: u8| saw(method, value != 0)),
        TypeSig::Char => NativeCall::new(saw_char),
        TypeSig::I1 | TypeSig::I2 | TypeSig::I4 | TypeSig::I8 => {
            converted.conv_i8();
            NativeCall::new(saw::<i64>)
        }
        TypeSig::U1 | TypeSig::U2 | TypeSig::U4 | TypeSig::U8 => {
            converted.conv_u8();
            NativeCall::new(saw::<u64>)
        }
        TypeSig::R4 | TypeSig::R8 => {
            converted.conv_r8();
            NativeCall::new(saw::<f64>)
        }
        TypeSig::String => NativeCall::new(saw_string),
        _ => return Ok(()),
    };
    let number = {
        let mut methods = lock(&METHODS);
        methods.push(cx.full_name().to_owned());
        methods.len() as i32 - 1
    };
    let call = cx.call_native(&call)?;
    // While a local pins a string, it is not moved.
    let pinned = match returned {
        TypeSig::String => Some(body.add_local(TypeSig::Pinned(Box::new(returned)))?),
        _ => None,
    };
    let wrap = Wrap::new().replace_result(move |code, _, result| {
        code.ldc_i4(number).ldloc(result);
        match pinned {
            Some(pinned) => code.stloc(pinned).ldloc(pinned).conv_i(),
            None => code.append(&converted),
        };
        code.append(&call);
        if let Some(pinned) = pinned {
            code.ldnull().stloc(pinned);
        }
        code.ldloc(result);
    });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

fn saw_char(method: i32, value: u16) {
    let value = char::from_u32(u32::from(value)).unwrap_or('\u{fffd}');
    saw(method, value.escape_default());
}

fn saw_string(method: i32, string: *const u8) {
    let Some((length, text)) = STRINGS.get().filter(|_| !string.is_null()) else {
        return saw(method, "null");
    };
    // SAFETY: the calling code passes a string object, which it has pinned: its length and so
    // many characters are at the offsets that the runtime returned, and strings are immutable.
    let text = unsafe {
        let length = string.add(*length).cast::<u32>().read();
        std::slice::from_raw_parts(string.add(*text).cast::<u16>(), length as usize)
    };
    saw(method, format_args!("{:?}", String::from_utf16_lossy(text)));
}

fn saw<T: Display>(method: i32, value: T) {
    let name = lock(&METHODS).get(method as usize).cloned();
    if let (Some(output), Some(name)) = (OUTPUT.get(), name) {
        output.append(&format!("{name} = {value}\n"));
    }
}
