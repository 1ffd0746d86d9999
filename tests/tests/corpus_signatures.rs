//! Every signature of every assembly of the runtimes is read and written back to the same bytes, and
//! every method body is as long as its headers say.

use std::collections::BTreeMap;

use assembly_reader::{Assembly, Signature, SignatureKind};
use clr_metadata::TypeKind;
use clr_profiler_il::body::encoded_length;
use clr_profiler_il::signature::{
    FieldSig, MemberRefSig, MethodSig, MethodSpecSig, PropertySig, SignatureError, StandAloneSig,
    TypeSpecSig,
};
use clr_profiler_il::token::{MethodSpec, Token, TokenTable, TypeDef, TypeSpec};
use clr_profiler_tests::Sample;
use examples_support::Pinned;

use crate::corpus;

/// The counts, to notice if the reader skips something.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    assemblies: usize,
    /// By kind, in the order of [`SignatureKind::ALL`].
    signatures: [usize; 7],
    bodies: usize,
    /// The sum of the lengths of the bodies.
    body_bytes: usize,
    /// Interfaces, classes, structures and enumerations.
    types: [usize; 4],
}

/// The signature written after reading it.
fn round_trip(signature: &Signature<'_>) -> Result<Vec<u8>, SignatureError> {
    let blob = signature.blob;
    match signature.kind {
        SignatureKind::Field => FieldSig::parse(blob)?.to_bytes(),
        SignatureKind::Method => MethodSig::parse(blob)?.to_bytes(),
        SignatureKind::MemberRef => MemberRefSig::parse(blob)?.to_bytes(),
        SignatureKind::StandAlone => StandAloneSig::parse(blob)?.to_bytes(),
        SignatureKind::Property => PropertySig::parse(blob)?.to_bytes(),
        SignatureKind::TypeSpec => TypeSpecSig::parse(blob)?.to_bytes(),
        SignatureKind::MethodSpec => MethodSpecSig::parse(blob)?.to_bytes(),
    }
}

fn read(assembly: &Assembly<'_>, figures: &mut Figures, failures: &mut Vec<String>) {
    for signature in assembly.all_signatures() {
        let signature = match signature {
            Ok(signature) => signature,
            Err(error) => {
                failures.push(error.to_string());
                continue;
            }
        };
        figures.signatures[signature.kind as usize] += 1;
        match round_trip(&signature) {
            Ok(bytes) if bytes == signature.blob => {}
            result => failures.push(format!("{signature:02x?}: {result:02x?}")),
        }
        resolve(assembly, signature.token).unwrap_or_else(|error| {
            failures.push(format!("{}: {error}", signature.token));
        });
    }
    for method in assembly.all_methods() {
        match method {
            Ok(method) => {
                let Some(body) = method.body else { continue };
                figures.bodies += 1;
                figures.body_bytes += body.len();
                let length = encoded_length(body);
                if length != Ok(body.len()) {
                    failures.push(format!("{method:02x?}: {length:?}"));
                }
            }
            Err(error) => failures.push(error.to_string()),
        }
    }
    for token in assembly.tokens::<TypeDef>() {
        match assembly.type_kind(token) {
            Ok(TypeKind::Interface) => figures.types[0] += 1,
            Ok(TypeKind::Class) => figures.types[1] += 1,
            Ok(TypeKind::ValueType) => figures.types[2] += 1,
            Ok(TypeKind::Enum(_)) => figures.types[3] += 1,
            Err(error) => failures.push(format!("{token}: {error}")),
        }
    }
}

/// Resolves a token in IL, by the kind of member that it is.
fn resolve(assembly: &Assembly<'_>, token: Token) -> clr_metadata::Result<()> {
    match token.table() {
        TokenTable::METHOD_DEF => assembly.method_signature(token).map(drop),
        TokenTable::FIELD_DEF => assembly.field_signature(token).map(drop),
        TokenTable::MEMBER_REF => {
            let method = assembly.method_signature(token);
            method
                .map(drop)
                .or_else(|_| assembly.field_signature(token).map(drop))
        }
        TokenTable::METHOD_SPEC => {
            let generic = assembly.method_signature(token)?.generic_parameter_count;
            let spec = MethodSpec::try_from(token).expect("the table");
            let arguments = assembly.method_arguments(spec)?.arguments.len();
            assert_eq!(generic as usize, arguments, "{token}");
            Ok(())
        }
        TokenTable::TYPE_SPEC => {
            let spec = TypeSpec::try_from(token).expect("the table");
            assembly.type_spec(spec).map(drop)
        }
        _ => Ok(()),
    }
}

fn check(pinned: &Pinned, expected: &Figures) {
    let mut figures = Figures::default();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let sample = Sample::one_of(4);
    let mut number = 0..;
    let visited = corpus::each_assembly(pinned, |name, assembly| {
        if !number.next().is_some_and(|number| sample.has(number)) {
            return;
        }
        let mut of_this = Vec::new();
        read(assembly, &mut figures, &mut of_this);
        if !of_this.is_empty() {
            failures.insert(name.to_owned(), of_this);
        }
    });
    let Some(assemblies) = visited else { return };
    figures.assemblies = assemblies;
    let all: usize = figures.signatures.iter().sum();
    println!("{}: {all} signatures, {figures:?}", pinned.name);
    for (name, failures) in &failures {
        println!("{name} has {}, the first: {}", failures.len(), failures[0]);
    }
    assert!(failures.is_empty(), "in {} assemblies", failures.len());
    if sample.is_whole() {
        assert_eq!(figures, *expected);
    } else {
        assert_eq!(figures.assemblies, expected.assemblies);
        assert!(figures.bodies > 0 && figures.bodies < expected.bodies);
    }
}

// 235,838 signatures.
#[test]
fn net_core_3_1() {
    check(
        &Pinned::NET_CORE_3_1,
        &Figures {
            assemblies: 165,
            signatures: [46_109, 101_912, 38_075, 15_663, 22_402, 7_024, 4_653],
            bodies: 96_589,
            body_bytes: 6_271_016,
            types: [351, 7_713, 1_854, 1_136],
        },
    );
}

// 284,741 signatures.
#[test]
fn net_8() {
    check(
        &Pinned::NET_8,
        &Figures {
            assemblies: 168,
            signatures: [51_048, 121_323, 50_295, 18_533, 25_088, 9_657, 8_797],
            bodies: 115_802,
            body_bytes: 7_164_768,
            types: [429, 8_312, 2_412, 1_240],
        },
    );
}

// 589,277 signatures, those of the application's other assemblies included.
#[test]
fn net_10() {
    check(
        &Pinned::NET_10,
        &Figures {
            assemblies: 233,
            signatures: [109_389, 235_923, 114_591, 33_531, 45_906, 27_071, 22_866],
            bodies: 223_861,
            body_bytes: 14_613_936,
            types: [920, 19_831, 4_134, 1_997],
        },
    );
}
