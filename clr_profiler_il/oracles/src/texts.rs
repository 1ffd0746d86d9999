use std::fmt::{Debug, Display};

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, StandAloneSig,
    TokenNames, TypeSig, TypeSpecSig,
};
use clr_profiler_il::symbol::{FieldSymbol, MethodSymbol, TypeSymbol};
use clr_profiler_il::text::{TextError, diff};

use crate::bodies::analyse;
use crate::listing::Listing;
use crate::tokens::Module;

/// Checks that a parsed text (body, fragment, symbol or signature), when printed, is parsed to the
/// same value again.
///
/// # Panics
///
/// If a check fails.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(body) = read(&text, text.parse::<MethodBody>()) {
        analyse(&body);
        let printed = body.to_string();
        let again: MethodBody = printed
            .parse()
            .unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(Listing::of(&again), Listing::of(&body), "{printed}");
        assert_eq!(again.to_string(), printed);
        let _ = diff(&body, &again).to_string();
        let encoded = |body: &MethodBody| {
            let mut out = Vec::new();
            let done = body.encode(&mut Module::default(), &mut out);
            done.map(|()| out).map_err(|error| error.to_string())
        };
        let out = encoded(&body);
        assert_eq!(encoded(&again), out, "{printed}");
        if let Ok(out) = out {
            let decoded =
                MethodBody::decode(&out).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert_eq!(decoded.len(), body.len(), "{printed}");
        }
    }
    if let Some(fragment) = read(&text, text.parse::<Fragment>()) {
        same(&fragment, &fragment.to_string(), |text| text.parse());
    }
    symbols(&text);
    signatures(&text);
}

/// The parsed value; the position of an error must be inside of the text.
fn read<T>(text: &str, read: Result<T, TextError>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert!(error.line() > 0 && error.column() > 0, "{error}");
            None
        }
    }
}

/// The value parsed from the printed text is equal, and prints the same.
fn same<T: PartialEq + Debug + Display>(
    printed: &T,
    text: &str,
    parse: impl Fn(&str) -> Result<T, TextError>,
) {
    let again = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}\n{printed:?}"));
    assert_eq!(again, *printed, "{text}");
    assert_eq!(again.to_string(), text);
}

fn symbols(text: &str) {
    if let Some(name) = read(text, TypeSymbol::parse(text)) {
        same(&name, &name.to_string(), TypeSymbol::parse);
        if let Ok(specification) = name.specification(&mut TokenNames) {
            let text = specification.text(&TokenNames).to_string();
            assert_eq!(
                TypeSpecSig::parse_text(&text, &mut TokenNames),
                Ok(specification)
            );
        }
    }
    if let Some(field) = read(text, FieldSymbol::parse(text)) {
        same(&field, &field.to_string(), FieldSymbol::parse);
        let _ = field.sig(&mut TokenNames);
    }
    if let Some(method) = read(text, MethodSymbol::parse(text)) {
        same(&method, &method.to_string(), MethodSymbol::parse);
        assert_eq!(method.check(), Ok(()), "{method}");
        let shape = method.shape();
        if let Ok(signature) = method.sig(&mut TokenNames) {
            assert_eq!(shape, (&signature).into(), "{method}");
        }
        let _ = method.argument_sigs(&mut TokenNames);
    }
}

fn signatures(text: &str) {
    macro_rules! all {
        ($($kind:ident)*) => {$(
            if let Some(parsed) = read(text, $kind::parse_text(text, &mut TokenNames)) {
                let printed = parsed.text(&TokenNames).to_string();
                let again = $kind::parse_text(&printed, &mut TokenNames)
                    .unwrap_or_else(|error| panic!("{error}\n{printed}\n{parsed:?}"));
                assert_eq!(again, parsed, "{printed}");
                assert_eq!(again.text(&TokenNames).to_string(), printed);
                all!(@bytes $kind parsed);
            }
        )*};
        // A type alone is not a blob.
        (@bytes TypeSig $parsed:ident) => {};
        (@bytes $kind:ident $parsed:ident) => {
            if let Ok(bytes) = $parsed.to_bytes() {
                assert_eq!($kind::parse(&bytes).as_ref(), Ok(&$parsed), "{bytes:x?}");
            }
        };
    }
    all!(TypeSig FieldSig LocalsSig MemberRefSig MethodSig MethodSpecSig PropertySig StandAloneSig TypeSpecSig);
}
