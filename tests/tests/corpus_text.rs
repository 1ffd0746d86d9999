//! Every method body and every signature of a runtime is printed as text, and parsing the
//! text gives the same bytes.

use std::fmt;

use assembly_reader::{Assembly, Signature, SignatureKind};
use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::signature::{
    FieldSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, StandAloneSig, TypeKeyword,
    TypeNames, TypeSpecSig,
};
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_il::token::{Token, TypeToken};
use clr_profiler_tests::Sample;
use examples_support::Pinned;

use crate::corpus;

/// The counts for a runtime.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    bodies: usize,
    instructions: usize,
    /// The lengths of the texts of the bodies.
    body_text: usize,
    signatures: usize,
    signature_text: usize,
}

/// Names types as their assembly does. The token is part of the name: names alone are not unique.
struct Names<'a>(&'a Assembly<'a>);

impl TypeNames for Names<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.0.type_name(token) {
            Ok(of) => write!(out, "[T{:08x}]{}.{}", token.raw(), of.namespace, of.name),
            Err(_) => write!(out, "[T{:08x}]Unnamed", token.raw()),
        }
    }
}

impl Names<'_> {
    fn token(&self, name: &str) -> Option<TypeToken> {
        let raw = u32::from_str_radix(name.get(2..10)?, 16).ok()?;
        let token = TypeToken::try_from(Token::new(raw)).ok()?;
        let mut again = String::new();
        self.type_name(token, &mut again).ok()?;
        (again == name).then_some(token)
    }
}

/// The bytes of a signature after a round trip through text, and the length of the text.
fn through_text(
    assembly: &Assembly<'_>,
    signature: &Signature<'_>,
) -> Result<(Vec<u8>, usize), Box<dyn std::error::Error>> {
    let names = Names(assembly);
    let mut tokens = |name: &str, _: TypeKeyword| names.token(name);
    macro_rules! through {
        ($kind:ident) => {{
            let text = $kind::parse(signature.blob)?.text(&names).to_string();
            (
                $kind::parse_text(&text, &mut tokens)?.to_bytes()?,
                text.len(),
            )
        }};
    }
    Ok(match signature.kind {
        SignatureKind::Field => through!(FieldSig),
        SignatureKind::Method => through!(MethodSig),
        SignatureKind::MemberRef => through!(MemberRefSig),
        SignatureKind::StandAlone => through!(StandAloneSig),
        SignatureKind::Property => through!(PropertySig),
        SignatureKind::TypeSpec => through!(TypeSpecSig),
        SignatureKind::MethodSpec => through!(MethodSpecSig),
    })
}

/// Prints, parses and encodes a body, and compares with the body that is only encoded.
fn body(
    bytes: &[u8],
    buffers: &mut EncodeBuffers,
    figures: &mut Figures,
) -> Result<(), Box<dyn std::error::Error>> {
    let body = MethodBody::decode(bytes)?;
    let mut expected = Vec::new();
    body.encode_with(buffers, &mut NoTokens, &mut expected)?;
    let text = body.to_string();
    let parsed: MethodBody = text.parse()?;
    let mut again = Vec::new();
    parsed.encode_with(buffers, &mut NoTokens, &mut again)?;
    if again != expected {
        return Err(format!("other bytes:\n{text}").into());
    }
    figures.bodies += 1;
    figures.instructions += parsed.len();
    figures.body_text += text.len();
    Ok(())
}

#[test]
fn net_8() {
    let mut figures = Figures::default();
    let mut buffers = EncodeBuffers::new();
    let mut failures = Vec::new();
    let sample = Sample::one_of(4);
    let visited = corpus::each_assembly(&Pinned::NET_8, |name, assembly| {
        for (number, method) in assembly.all_methods().enumerate() {
            if !sample.has(number) {
                continue;
            }
            let method = method.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(bytes) = method.body
                && let Err(error) = body(bytes, &mut buffers, &mut figures)
            {
                failures.push(format!("{name} {}: {error}", method.token));
            }
        }
        for (number, signature) in assembly.all_signatures().enumerate() {
            if !sample.has(number) {
                continue;
            }
            let signature = signature.unwrap_or_else(|error| panic!("{name}: {error}"));
            match through_text(assembly, &signature) {
                Ok((bytes, length)) if bytes == signature.blob => {
                    figures.signatures += 1;
                    figures.signature_text += length;
                }
                Ok(_) => failures.push(format!("{name} {}: other bytes", signature.token)),
                Err(error) => failures.push(format!("{name} {}: {error}", signature.token)),
            }
        }
    });
    println!("{figures:?}");
    assert!(
        failures.is_empty(),
        "{} failures, the first: {}",
        failures.len(),
        failures[0]
    );
    if visited.is_some() {
        let expected = Figures {
            bodies: 115_802,
            instructions: 2_548_910,
            body_text: 62_856_999,
            signatures: 284_741,
            signature_text: 17_060_240,
        };
        if sample.is_whole() {
            assert_eq!(figures, expected);
        } else {
            assert!(figures.bodies > expected.bodies / 6, "{figures:?}");
            assert!(figures.signatures > expected.signatures / 6, "{figures:?}");
        }
    }
}
