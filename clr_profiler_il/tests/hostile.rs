//! Malformed signatures: the error of each rule, and attacks on depth, counts and stack.

use clr_profiler_il::signature::{
    ArrayShape, FieldSig, LocalsSig, MAX_DEPTH, MAX_LOCALS, MemberRefSig, MethodSig, MethodSpecSig,
    PropertySig, SignatureErrorKind as Kind, StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};
use clr_profiler_il::token::TypeDef;

#[test]
fn every_rule_has_its_error_and_offset() {
    let table: &[(&[u8], Kind, usize)] = &[
        (&[], Kind::UnexpectedEnd, 0),
        (&[0x1d], Kind::UnexpectedEnd, 1),
        (&[0x12], Kind::UnexpectedEnd, 1),
        (&[0x15, 0x12, 0x05], Kind::UnexpectedEnd, 3),
        (&[0x08, 0x00], Kind::TrailingBytes(1), 1),
        (&[0x13, 0xe0], Kind::InvalidCompressedInteger(0xe0), 1),
        (&[0x12, 0x07], Kind::InvalidTypeTokenTag(7), 1),
        (
            &[0x11, 0xdf, 0xff, 0xff, 0xfc],
            Kind::RowTooLarge(0x07ff_ffff),
            1,
        ),
        (&[0x1d, 0x21, 1, 2, 3, 4, 5, 6, 7, 8], Kind::InternalType, 1),
        (&[0x15, 0x21, 1, 2, 3, 4, 5, 6, 7, 8], Kind::InternalType, 1),
        (
            &[0x15, 0x0e, 0x01, 0x08],
            Kind::InvalidGenericInstance(0x0e),
            1,
        ),
        (&[0x15, 0x12, 0x05, 0x00], Kind::EmptyGenericList, 3),
        (&[0x1d, 0x41], Kind::UnexpectedSentinel, 1),
        (&[0x14, 0x08, 0x00, 0x00, 0x00], Kind::ZeroRank, 2),
        (
            &[0x14, 0x08, 1, 2, 1, 1, 0],
            Kind::TooManyBounds { rank: 1, bounds: 2 },
            3,
        ),
        (
            &[0x14, 0x08, 1, 0, 2, 1, 1],
            Kind::TooManyBounds { rank: 1, bounds: 2 },
            4,
        ),
        (
            &[0x14, 0x08, 0x1f, 0x1f, 0],
            Kind::CountExceedsBlob {
                count: 0x1f,
                remaining: 1,
            },
            3,
        ),
        (
            &[0x15, 0x12, 0x05, 0xdf, 0xff, 0xff, 0xff, 0x08],
            Kind::CountExceedsBlob {
                count: 0x1fff_ffff,
                remaining: 1,
            },
            3,
        ),
        (&[0x1b, 0x10, 0x00, 0x00, 0x01], Kind::EmptyGenericList, 2),
        (
            &[0x1b, 0x06, 0x00, 0x01],
            Kind::WrongSignatureKind {
                expected: "method",
                found: 0x06,
            },
            1,
        ),
    ];
    for &(bytes, kind, offset) in table {
        let error = TypeSpecSig::parse(bytes).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{bytes:x?}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("signature, offset {offset}: "))
        );
    }
}

#[test]
fn bytes_that_are_no_element_type() {
    let known = |byte| matches!(byte, 0x01..=0x16 | 0x18 | 0x19 | 0x1b..=0x21 | 0x41 | 0x45);
    for byte in (0..=0xff).filter(|&byte| !known(byte)) {
        let error = TypeSpecSig::parse(&[byte, 0x08, 0x08]).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (Kind::UnknownElementType(byte), 0)
        );
    }
}

#[test]
fn a_blob_of_another_kind_is_named() {
    let header = |expected, found| Kind::WrongSignatureKind { expected, found };
    let field = FieldSig::parse(&[0x07, 0x08]).unwrap_err();
    assert_eq!(field.kind(), header("field", 0x07));
    let property = PropertySig::parse(&[0x48, 0x00, 0x08]).unwrap_err();
    assert_eq!(property.kind(), header("property", 0x48));
    let locals = LocalsSig::parse(&[0x06, 0x00]).unwrap_err();
    assert_eq!(locals.kind(), header("locals", 0x06));
    let spec = MethodSpecSig::parse(&[0x00, 0x01, 0x08]).unwrap_err();
    assert_eq!(spec.kind(), header("method specification", 0x00));
    let member = MemberRefSig::parse(&[0x07, 0x00]).unwrap_err();
    assert_eq!(member.kind(), header("method or field", 0x07));
    let alone = StandAloneSig::parse(&[0x08, 0x00, 0x08]).unwrap_err();
    assert_eq!(alone.kind(), header("stand-alone", 0x08));
    assert_eq!(
        alone.to_string(),
        "signature, offset 0: 0x08 does not start a stand-alone signature"
    );
}

#[test]
fn sentinels_only_where_arguments_may_follow() {
    let unexpected: &[&[u8]] = &[
        // A method without variable arguments, a second sentinel, a sentinel instead of the return
        // type.
        &[0x00, 0x01, 0x01, 0x41, 0x08],
        &[0x05, 0x02, 0x01, 0x41, 0x08, 0x41, 0x08],
        &[0x05, 0x01, 0x41, 0x08],
    ];
    for bytes in unexpected {
        assert_eq!(
            MethodSig::parse(bytes).unwrap_err().kind(),
            Kind::UnexpectedSentinel
        );
    }
    let behind = MethodSig::parse(&[0x05, 0x01, 0x01, 0x08, 0x41]).unwrap_err();
    assert_eq!(
        (behind.kind(), behind.offset()),
        (Kind::TrailingBytes(1), 4)
    );
}

#[test]
fn counts_are_held_against_the_bytes_that_are_left() {
    let huge = [0xdf, 0xff, 0xff, 0xff, 0x08, 0x08];
    let exceeds = Kind::CountExceedsBlob {
        count: 0x1fff_ffff,
        remaining: 2,
    };
    for header in [&[0x00][..], &[0x10, 0x01]] {
        let blob = [header, &huge].concat();
        assert_eq!(MethodSig::parse(&blob).unwrap_err().kind(), exceeds);
    }
    let blob = |header: u8| [&[header][..], &huge].concat();
    assert_eq!(PropertySig::parse(&blob(0x08)).unwrap_err().kind(), exceeds);
    assert_eq!(LocalsSig::parse(&blob(0x07)).unwrap_err().kind(), exceeds);
    assert_eq!(
        MethodSpecSig::parse(&blob(0x0a)).unwrap_err().kind(),
        exceeds
    );
    // The return type takes one of the bytes.
    let error = MethodSig::parse(&[0x00, 0x02, 0x08, 0x08]).unwrap_err();
    assert_eq!(
        error.kind(),
        Kind::CountExceedsBlob {
            count: 2,
            remaining: 2
        }
    );
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let definition = TypeDef::NIL.into();
    let array = |rank, sizes: usize, lower_bounds: usize| TypeSig::Array {
        element: Box::new(TypeSig::I4),
        shape: Box::new(ArrayShape {
            rank,
            sizes: vec![0; sizes],
            lower_bounds: vec![0; lower_bounds],
        }),
    };
    let far = TypeSig::Array {
        element: Box::new(TypeSig::I4),
        shape: Box::new(ArrayShape {
            rank: 1,
            sizes: vec![],
            lower_bounds: vec![i32::MIN],
        }),
    };
    let table = [
        (TypeSig::Var(1 << 29), Kind::ValueTooLarge(1 << 29)),
        (TypeSig::MVar(u32::MAX), Kind::ValueTooLarge(0xffff_ffff)),
        (
            TypeSig::GenericInstance {
                is_value_type: false,
                definition,
                arguments: vec![],
            },
            Kind::EmptyGenericList,
        ),
        (array(0, 0, 0), Kind::ZeroRank),
        (array(1, 2, 0), Kind::TooManyBounds { rank: 1, bounds: 2 }),
        (array(2, 2, 3), Kind::TooManyBounds { rank: 2, bounds: 3 }),
        (far, Kind::ValueTooLarge(i64::from(i32::MIN))),
    ];
    for (type_sig, kind) in table {
        let mut out = vec![1, 2, 3];
        let method = MethodSig::new(TypeSig::I4, vec![type_sig]);
        let error = method.write(&mut out).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.offset() >= 3, "{error}");
        assert_eq!(out, [1, 2, 3]);
    }
    let empty = MethodSpecSig { arguments: vec![] };
    assert_eq!(empty.to_bytes().unwrap_err().kind(), Kind::EmptyGenericList);
}

#[test]
fn a_method_has_65_534_locals_at_most() {
    let mut locals = LocalsSig {
        locals: vec![TypeSig::I4; MAX_LOCALS - 1],
    };
    assert_eq!(locals.push(TypeSig::I4), Ok(65_533));
    assert_eq!(
        LocalsSig::parse(&locals.to_bytes().unwrap()),
        Ok(locals.clone())
    );
    let too_many = Kind::TooManyLocals(MAX_LOCALS + 1);
    assert_eq!(locals.push(TypeSig::I4).unwrap_err().kind(), too_many);
    assert_eq!(locals.locals.len(), MAX_LOCALS);
    locals.locals.push(TypeSig::I4);
    assert_eq!(locals.to_bytes().unwrap_err().kind(), too_many);

    let mut bytes = vec![0x07, 0xc0, 0x00, 0xff, 0xff];
    bytes.resize(bytes.len() + 0xffff, 0x08);
    let error = LocalsSig::parse(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (too_many, 1));
}

/// A type nested `depth` deep, in each possible way.
fn nested(depth: usize) -> Vec<Vec<u8>> {
    let wrappers: &[&[u8]] = &[
        &[0x1d],
        &[0x0f],
        &[0x10],
        &[0x45],
        &[0x1f, 0x05],
        &[0x15, 0x12, 0x05, 0x01],
        &[0x1b, 0x00, 0x00],
        &[0x1b, 0x00, 0x01, 0x01],
    ];
    let around = |wrapper: &&[u8]| [wrapper.repeat(depth - 1), vec![0x08]].concat();
    let mut blobs: Vec<Vec<u8>> = wrappers.iter().map(around).collect();
    // The shape of an array follows its element type.
    let shape = [0x02, 0x01, 0x03, 0x01, 0x7b];
    let array = [vec![0x14; depth - 1], vec![0x08], shape.repeat(depth - 1)].concat();
    blobs.push(array);
    blobs
}

#[test]
fn nesting_has_a_limit() {
    for blob in nested(MAX_DEPTH) {
        let spec = TypeSpecSig::parse(&blob).unwrap();
        assert_eq!(spec.to_bytes(), Ok(blob));
        let deeper = TypeSpecSig {
            type_sig: TypeSig::SzArray(Box::new(spec.type_sig)),
        };
        assert_eq!(deeper.to_bytes().unwrap_err().kind(), Kind::TooDeep);
    }
    for depth in [MAX_DEPTH + 1, 10_000, 1_000_000] {
        for blob in nested(depth) {
            let error = TypeSpecSig::parse(&blob).unwrap_err();
            assert_eq!(error.kind(), Kind::TooDeep);
            let method = [&[0x00, 0x00][..], &blob].concat();
            assert_eq!(MethodSig::parse(&method).unwrap_err().kind(), Kind::TooDeep);
        }
    }
}

#[test]
fn the_deepest_types_fit_a_small_stack() {
    let walk = || {
        for blob in nested(MAX_DEPTH) {
            let spec = TypeSpecSig::parse(&blob).unwrap();
            let same = spec.clone();
            assert_eq!(spec, same);
            assert_eq!(spec.to_bytes(), Ok(blob));
            assert!(!spec.display(&TokenNames).to_string().is_empty());
            assert_eq!(spec.type_sig.substitute(&[], &[]), same.type_sig);
            assert_eq!(std::collections::HashSet::from([spec, same]).len(), 1);
        }
    };
    // Without optimization, frames are several times as large.
    let size = if cfg!(debug_assertions) { 1024 } else { 128 } * 1024;
    std::thread::Builder::new()
        .stack_size(size)
        .spawn(walk)
        .unwrap()
        .join()
        .unwrap();
}
