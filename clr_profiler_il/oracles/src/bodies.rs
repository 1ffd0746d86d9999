use clr_profiler_il::body::{EncodeBuffers, MethodBody, encoded_length};
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_il::text::diff;
use clr_profiler_il::verify::MethodContext;

use crate::lazily::lazily;
use crate::listing::Listing;
use crate::tokens::{Meanings, some_method};

/// Encodes a body in which all references are tokens.
pub(crate) fn encoded(body: &MethodBody) -> Vec<u8> {
    let mut out = Vec::new();
    body.encode(&mut NoTokens, &mut out)
        .unwrap_or_else(|error| panic!("{error}\n{body}"));
    out
}

/// Checks that any bytes decode to a body or an error, and that no inspection of the body panics.
///
/// # Panics
///
/// If a check fails.
pub fn decode(bytes: &[u8]) {
    lazily(bytes);
    let length = encoded_length(bytes);
    let body = match (MethodBody::decode(bytes), length) {
        (Ok(body), Ok(length)) => {
            // The bytes after the body have no influence.
            let alone = MethodBody::decode(&bytes[..length]).expect("the body alone");
            assert_eq!(Listing::of(&alone), Listing::of(&body));
            body
        }
        (Err(error), _) => {
            assert!(error.offset <= bytes.len(), "{error}");
            return;
        }
        (Ok(body), Err(error)) => panic!("a body without a length: {error}\n{body}"),
    };
    look(&body);
    let mut used =
        MethodBody::decode(&[0x1e, 0x17, 0x2c, 0xfd, 0x2b, 0x00, 0x16, 0x2a]).expect("a body");
    used.decode_into(bytes).expect("the same in used memory");
    assert_eq!(Listing::of(&used), Listing::of(&body));
    assert_eq!(used.max_stack(), body.max_stack());
}

/// Calls every accessor of a body.
pub(crate) fn look(body: &MethodBody) {
    let mut last = None;
    for one in body.instructions() {
        assert!(body.instruction(one.id()).is_some());
        let offset = one.original_offset();
        assert!(offset > last, "{body}");
        last = offset;
        let _ = (one.argument(), one.local(), one.int32());
    }
    analyse(body);
    let printed = body.to_string();
    let _ = format!("{body:?}");
    assert!(diff(body, body).is_empty(), "{printed}");
}

/// Runs the analyses, which only have to terminate.
pub(crate) fn analyse(body: &MethodBody) {
    for violation in body.verify_structure() {
        let _ = violation.display(body).to_string();
    }
    let signature = some_method(body.max_stack());
    let contexts = [
        MethodContext::new(&signature),
        MethodContext::of_value_type(&signature),
    ];
    for context in contexts {
        for violation in body.verify(&context, &Meanings) {
            let _ = violation.display(body).to_string();
        }
        let _ = body.verify(&context, &());
    }
    let _ = body.stack_depths(&());
    if let Ok(depths) = body.stack_depths(&Meanings) {
        for one in body.instructions() {
            assert!(depths.before(one.id()) <= Some(depths.max()));
        }
    }
    let _ = body.offset_map();
}

/// Checks that decoding, encoding and decoding again gives the same body, with every header.
///
/// The bytes are decoded as a body, and as the code of one under each kind of header.
///
/// # Panics
///
/// If a check fails.
pub fn round_trip(bytes: &[u8]) {
    if let Ok(body) = MethodBody::decode(bytes) {
        let length = encoded_length(bytes).expect("a length");
        there_and_back(&body, Some(length));
    }
    let tiny = bytes.get(..bytes.len().min(63)).unwrap_or(bytes);
    let tiny = [&[(tiny.len() as u8) << 2 | 2][..], tiny].concat();
    lazily(&tiny);
    let Ok(body) = MethodBody::decode(&tiny) else {
        return headers(bytes);
    };
    there_and_back(&body, Some(tiny.len()));
    headers(bytes);
}

/// A fat header followed by code.
fn fat(init_locals: bool, max_stack: u16, locals: u32, code: &[u8]) -> Vec<u8> {
    let mut bytes = vec![if init_locals { 0x13 } else { 0x03 }, 0x30];
    bytes.extend(max_stack.to_le_bytes());
    bytes.extend((code.len() as u32).to_le_bytes());
    bytes.extend(locals.to_le_bytes());
    bytes.extend(code);
    bytes
}

/// The same code with different headers: the same lines, and the smallest header.
fn headers(code: &[u8]) {
    let mut lines = None;
    for (init_locals, max_stack, locals) in [
        (false, 8, 0),
        (true, 8, 0),
        (false, 9, 0),
        (false, 8, 0x1100_0001),
        (true, u16::MAX, 0x1100_0001),
    ] {
        let Ok(body) = MethodBody::decode(&fat(init_locals, max_stack, locals, code)) else {
            assert!(lines.is_none(), "one header is refused");
            continue;
        };
        assert_eq!(body.init_locals(), init_locals);
        assert_eq!(body.max_stack(), u32::from(max_stack));
        let out = there_and_back(&body, Some(12 + code.len()));
        let tiny = out[0] & 3 == 2;
        let may_be_tiny = !init_locals && max_stack <= 8 && locals == 0;
        let size = out.len() - if tiny { 1 } else { 12 };
        assert_eq!(tiny, may_be_tiny && size < 64);
        let listing = Listing::of(&body);
        assert_eq!(listing.locals, locals);
        assert_eq!(
            *lines.get_or_insert_with(|| Listing::of(&body).lines),
            listing.lines
        );
    }
}

/// Encodes a body and compares the decoded result, also through text.
fn there_and_back(body: &MethodBody, length: Option<usize>) -> Vec<u8> {
    let out = encoded(body);
    if let Some(length) = length {
        assert!(
            out.len() <= length,
            "{} of {length} bytes\n{body}",
            out.len()
        );
    }
    assert_eq!(encoded_length(&out), Ok(out.len()));
    let again = MethodBody::decode(&out).unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert_eq!(Listing::of(&again), Listing::of(body));
    // A tiny header declares a depth of eight.
    let least = if out[0] & 3 == 2 { 8 } else { 0 };
    assert_eq!(again.max_stack(), body.max_stack().max(least));
    let mut same = vec![0xcc];
    let mut buffers = EncodeBuffers::new();
    again
        .encode_with(&mut buffers, &mut NoTokens, &mut same)
        .expect("an encoded body");
    assert_eq!(same[1..], out);
    let map: Vec<_> = body.offset_map().iter().map(|pair| pair.new).collect();
    let offsets: Vec<_> = again
        .instructions()
        .filter_map(|one| one.original_offset())
        .collect();
    assert_eq!(map, offsets);
    let text = body.to_string();
    let parsed: MethodBody = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(encoded(&parsed), out, "{text}");
    out
}
