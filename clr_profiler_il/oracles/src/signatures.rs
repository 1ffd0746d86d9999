use std::fmt::Debug;

use clr_profiler_il::attributes::MethodImplAttributes;
use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, NameStyle, PropertySig,
    SignatureError, StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};

/// Checks that signatures of every kind survive a round trip through bytes and through text.
///
/// # Panics
///
/// If a check fails.
pub fn signature(bytes: &[u8]) {
    macro_rules! all {
        ($($kind:ident)*) => {$(
            if let Some(read) = checked(bytes, $kind::parse, |it, out| it.write(out)) {
                let text = read.text(&TokenNames).to_string();
                let parsed = $kind::parse_text(&text, &mut TokenNames)
                    .unwrap_or_else(|error| panic!("{error}\n{text}\n{read:?}"));
                assert_eq!(parsed, read, "{text}");
                assert_eq!(parsed.text(&TokenNames).to_string(), text);
                let display = read.display(&TokenNames);
                let _ = display.to_string();
                let _ = display.style(NameStyle::Exact).to_string();
            }
        )*};
    }
    all!(FieldSig LocalsSig MemberRefSig MethodSig MethodSpecSig PropertySig StandAloneSig TypeSpecSig);
    if let Ok(method) = MethodSig::parse(bytes) {
        let _ = (
            method.argument_count(),
            method.effective_return_type(MethodImplAttributes::ASYNC),
        );
        let put_in = method.substitute(&[TypeSig::I4], &[TypeSig::Object, TypeSig::I4]);
        // An unwritable value is an error; a written one is read back.
        if let Ok(written) = put_in.to_bytes() {
            assert_eq!(MethodSig::parse(&written), Ok(put_in));
        }
    }
}

/// Reads a signature, and compares it with the result of writing and reading it.
fn checked<T: PartialEq + Debug>(
    bytes: &[u8],
    parse: fn(&[u8]) -> Result<T, SignatureError>,
    write: fn(&T, &mut Vec<u8>) -> Result<(), SignatureError>,
) -> Option<T> {
    let read = match parse(bytes) {
        Ok(read) => read,
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            return None;
        }
    };
    let mut out = Vec::new();
    write(&read, &mut out).unwrap_or_else(|error| panic!("{error}: {read:?}"));
    assert!(out.len() <= bytes.len(), "{out:x?}");
    assert_eq!(parse(&out).as_ref(), Ok(&read), "{out:x?}");
    let mut same = Vec::new();
    write(&read, &mut same).expect("a written signature");
    assert_eq!(same, out);
    Some(read)
}
