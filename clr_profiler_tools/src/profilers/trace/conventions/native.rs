//! The functions of this library that the helper calls with the values of paths.

use clr_profiler::rewrite::NativeCall;

use crate::conventions::Value;
use crate::profilers::trace::SPANS;
use crate::report::helper;

/// The methods of `MethodTracer.Attributes` whose bodies are replaced here.
pub(crate) fn of(method: &str) -> Option<NativeCall> {
    match method {
        "FrameIsKept" => Some(NativeCall::new(|frame: isize| {
            SPANS.keep_frame(frame).cast_signed()
        })),
        "RuleAdds" => Some(NativeCall::new(|span: i64, rule: i32| {
            let added = SPANS.add_rule(span.cast_unsigned(), rule.cast_unsigned());
            added.cast_signed()
        })),
        "TextIsRead" => Some(NativeCall::new(text_is_read)),
        "NamedIsRead" => Some(NativeCall::new(named_is_read)),
        "NumberIsRead" => Some(NativeCall::new(|span: i64, path: i32, number: i64| {
            is_read(span, path, Value::Int(number));
        })),
        "DoubleIsRead" => Some(NativeCall::new(|span: i64, path: i32, bits: i64| {
            is_read(
                span,
                path,
                Value::Float(f64::from_bits(bits.cast_unsigned())),
            );
        })),
        "TruthIsRead" => Some(NativeCall::new(|span: i64, path: i32, value: i32| {
            is_read(span, path, Value::Bool(value != 0));
        })),
        _ => None,
    }
}

fn is_read(span: i64, path: i32, value: Value) {
    SPANS.read(span.cast_unsigned(), path.cast_unsigned(), value);
}

fn text_is_read(span: i64, path: i32, text: *const u16, length: i32) {
    is_read(span, path, Value::Text(read(text, length)));
}

fn named_is_read(span: i64, path: i32, number: i64, text: *const u16, length: i32) {
    is_read(span, path, Value::Named(number, read(text, length)));
}

fn read(text: *const u16, length: i32) -> String {
    // SAFETY: the helper pins a string, and passes its address and the length to read.
    unsafe { helper::text(text, length) }
}
