//! Results passed to this library, without managed code in between.

use std::fmt::Display;
use std::sync::{Mutex, OnceLock, PoisonError};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteContext};
use report::Output;
use report::helper::{self, NativeMethods};

use crate::options::Options;

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// The offsets of length and text in a string object.
static STRINGS: OnceLock<(usize, usize)> = OnceLock::new();

/// The names of the methods by number: a call passes the number of its method.
static METHODS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Opens the output, and returns the writer for the inspector.
pub(crate) fn start(info: &ProfilerInfo, options: &Options) -> Result<NativeMethods> {
    let output = Output::lines(options.output.clone())?;
    let layout = info.string_layout2()?;
    let place = (layout.length_offset as usize, layout.buffer_offset as usize);
    // Set already if another runtime of this process has started the profiler, too.
    let _ = STRINGS.set(place);
    let _ = OUTPUT.set(output);
    Ok(NativeMethods::new(|name| {
        (name == "WriteLine").then(|| NativeCall::new(write_line))
    }))
}

/// Writes the line after the results.
pub(crate) fn end(overhead: &impl Display) {
    if let Some(output) = OUTPUT.get() {
        output.end(&format!("overhead: {overhead}\n"));
    }
}

fn write_line(text: *const u16, length: i32) {
    // SAFETY: the inspector pins a string, and passes its address and length.
    let mut line = unsafe { helper::text(text, length) };
    line.push('\n');
    if let Some(output) = OUTPUT.get() {
        output.append(&line);
    }
}

/// Passes the result to a function of this library, if it is a primitive or a string.
pub(crate) fn inspect(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let returned = cx.return_type()?;
    let mut converted = Fragment::new();
    let call = match returned {
        TypeSig::Bool => NativeCall::new(saw_bool),
        TypeSig::Char => NativeCall::new(saw_char),
        TypeSig::I1 | TypeSig::I2 | TypeSig::I4 | TypeSig::I8 => {
            converted.conv_i8();
            NativeCall::new(saw_i8)
        }
        TypeSig::U1 | TypeSig::U2 | TypeSig::U4 | TypeSig::U8 => {
            converted.conv_u8();
            NativeCall::new(saw_u8)
        }
        TypeSig::R4 | TypeSig::R8 => {
            converted.conv_r8();
            NativeCall::new(saw_r8)
        }
        TypeSig::String => NativeCall::new(saw_string),
        _ => return Ok(()),
    };
    let number = {
        let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        methods.push(cx.full_name().to_owned());
        methods.len() as i32 - 1
    };
    let call = cx.call_native(&call)?;
    let is_string = returned == TypeSig::String;
    // While a local pins the string, it is not moved.
    let pinned = match is_string {
        true => Some(body.add_local(TypeSig::Pinned(Box::new(returned)))?),
        false => None,
    };
    let wrap = Wrap::new().replace_result(move |code, _, result| {
        match pinned {
            Some(pinned) => {
                code.ldloc(result).stloc(pinned).ldc_i4(number);
                code.ldloc(pinned)
                    .conv_i()
                    .append(&call)
                    .ldnull()
                    .stloc(pinned);
            }
            None => {
                code.ldc_i4(number)
                    .ldloc(result)
                    .append(&converted)
                    .append(&call);
            }
        }
        code.ldloc(result);
    });
    body.wrap(&wrap, &cx.shape()?)?;
    Ok(())
}

fn saw_bool(method: i32, value: u8) {
    saw(method, value != 0);
}

fn saw_char(method: i32, value: u16) {
    saw(
        method,
        char::from_u32(u32::from(value))
            .unwrap_or('\u{fffd}')
            .escape_default(),
    );
}

fn saw_i8(method: i32, value: i64) {
    saw(method, value);
}

fn saw_u8(method: i32, value: u64) {
    saw(method, value);
}

fn saw_r8(method: i32, value: f64) {
    saw(method, value);
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

fn saw(method: i32, value: impl Display) {
    let name = {
        let methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        methods.get(method as usize).cloned()
    };
    if let (Some(output), Some(name)) = (OUTPUT.get(), name) {
        output.append(&format!("{name} = {value}\n"));
    }
}
