use super::*;
use crate::token::TypeDef;
use AttributeErrorKind as Kind;

fn colour() -> TypeToken {
    TypeToken::Def(TypeDef::from_row(3).unwrap())
}

/// `Colour` and token 3 have an underlying type of `byte`, `Wide` of `long`, `Odd` of `string`;
/// others are unknown.
fn underlying(of: &EnumType) -> Option<TypeSig> {
    match of {
        EnumType::Token(token) => (*token == colour()).then_some(TypeSig::U1),
        EnumType::Name(name) => match &**name {
            "Colour" => Some(TypeSig::U1),
            "Wide" => Some(TypeSig::I8),
            "Odd" => Some(TypeSig::String),
            _ => None,
        },
    }
}

fn decode(blob: &[u8], parameters: &[TypeSig]) -> Result<AttributeValue, AttributeError> {
    AttributeValue::decode(blob, parameters, underlying)
}

/// A blob with these fixed arguments and no named ones.
fn fixed(arguments: &[u8]) -> Vec<u8> {
    [&[1, 0], arguments, &[0, 0]].concat()
}

fn one(parameter: TypeSig, argument: &[u8]) -> Result<ArgumentValue, AttributeError> {
    let value = decode(&fixed(argument), &[parameter])?;
    assert!(value.named.is_empty());
    let [value] = <[ArgumentValue; 1]>::try_from(value.fixed).unwrap();
    Ok(value)
}

fn array(element: TypeSig) -> TypeSig {
    TypeSig::SzArray(Box::new(element))
}

fn text(text: &str) -> ArgumentValue {
    ArgumentValue::String(Some(text.to_owned()))
}

#[test]
fn each_type_of_a_parameter_has_its_value() {
    let coloured = ArgumentValue::Enum {
        enum_type: EnumType::Token(colour()),
        value: Box::new(ArgumentValue::U1(200)),
    };
    let class = TypeSig::Class(colour());
    for (parameter, argument, value) in [
        (TypeSig::Bool, &b"\x01"[..], ArgumentValue::Bool(true)),
        (TypeSig::Char, b"x\x01", ArgumentValue::Char(0x178)),
        (TypeSig::I1, b"\xfe", ArgumentValue::I1(-2)),
        (TypeSig::U1, b"\xfe", ArgumentValue::U1(254)),
        (TypeSig::I2, b"\xfe\xff", ArgumentValue::I2(-2)),
        (TypeSig::U2, b"\xfe\xff", ArgumentValue::U2(65534)),
        (TypeSig::I4, b"\xfe\xff\xff\xff", ArgumentValue::I4(-2)),
        (
            TypeSig::U4,
            b"\x01\x02\x03\x04",
            ArgumentValue::U4(0x0403_0201),
        ),
        (TypeSig::I8, &[0xff; 8], ArgumentValue::I8(-1)),
        (TypeSig::U8, &[0xff; 8], ArgumentValue::U8(u64::MAX)),
        (TypeSig::R4, &0.5f32.to_le_bytes(), ArgumentValue::R4(0.5)),
        (
            TypeSig::R8,
            &(-0.25f64).to_le_bytes(),
            ArgumentValue::R8(-0.25),
        ),
        (TypeSig::String, b"\x05f\xc3\xbcnf", text("fünf")),
        (TypeSig::String, b"\x00", text("")),
        (TypeSig::String, b"\xff", ArgumentValue::String(None)),
        (
            class.clone(),
            b"\x03A.B",
            ArgumentValue::Type(Some("A.B".to_owned())),
        ),
        (class, b"\xff", ArgumentValue::Type(None)),
        (TypeSig::ValueType(colour()), b"\xc8", coloured),
        (
            array(TypeSig::I2),
            b"\x02\0\0\0\x01\0\x02\0",
            ArgumentValue::Array(Some(vec![ArgumentValue::I2(1), ArgumentValue::I2(2)])),
        ),
        (
            array(TypeSig::String),
            &[0xff; 4],
            ArgumentValue::Array(None),
        ),
        (
            array(TypeSig::Bool),
            &[0; 4],
            ArgumentValue::Array(Some(vec![])),
        ),
    ] {
        assert_eq!(one(parameter, argument), Ok(value));
    }
}

#[test]
fn an_object_says_what_it_holds() {
    let boxed = |value| ArgumentValue::Boxed(Box::new(value));
    let wide = ArgumentValue::Enum {
        enum_type: EnumType::Name("Wide".into()),
        value: Box::new(ArgumentValue::I8(5)),
    };
    for (argument, value) in [
        (&b"\x08\x07\0\0\0"[..], ArgumentValue::I4(7)),
        (b"\x0e\x02ab", text("ab")),
        (b"\x50\x01T", ArgumentValue::Type(Some("T".to_owned()))),
        (b"\x55\x04Wide\x05\0\0\0\0\0\0\0", wide),
        (
            b"\x1d\x51\x02\0\0\0\x02\x01\x0e\xff",
            ArgumentValue::Array(Some(vec![
                boxed(ArgumentValue::Bool(true)),
                boxed(ArgumentValue::String(None)),
            ])),
        ),
    ] {
        assert_eq!(one(TypeSig::Object, argument), Ok(boxed(value)));
    }
}

#[test]
fn fields_and_properties_are_told_apart() {
    let blob = b"\x01\0\x02\0\x53\x08\x01N\x09\0\0\0\x54\x1d\x55\x06Colour\x02Cs\x01\0\0\0\x07";
    let value = decode(blob, &[]).unwrap();
    let coloured = ArgumentValue::Enum {
        enum_type: EnumType::Name("Colour".into()),
        value: Box::new(ArgumentValue::U1(7)),
    };
    let members: Vec<_> = value.named.iter().map(|named| named.member).collect();
    assert_eq!(
        members,
        [NamedArgumentKind::Field, NamedArgumentKind::Property]
    );
    assert_eq!(value.get("N"), Some(&ArgumentValue::I4(9)));
    assert_eq!(
        value.get("Cs"),
        Some(&ArgumentValue::Array(Some(vec![coloured])))
    );
    assert_eq!(value.get("Other"), None);
}

#[test]
fn an_empty_blob_has_no_arguments() {
    assert_eq!(decode(&[], &[]), Ok(AttributeValue::default()));
    let error = decode(&[], &[TypeSig::Bool]).unwrap_err();
    assert_eq!(error.kind(), &Kind::UnexpectedEnd);
}

#[test]
fn what_breaks_a_rule_is_named_with_its_offset() {
    let unknown = |name: &str| Kind::UnknownEnum(EnumType::Name(name.into()));
    let object = [TypeSig::Object];
    let pointer = TypeSig::Pointer(Box::new(TypeSig::I4));
    let too_many = Kind::CountExceedsBlob {
        count: 9,
        remaining: 3,
    };
    for (blob, parameters, kind, offset) in [
        (&b"\x02\0\0\0"[..], &[][..], Kind::WrongProlog(2), 0),
        (b"\x01", &[], Kind::UnexpectedEnd, 1),
        (b"\x01\0\0\0\x05", &[], Kind::TrailingBytes(1), 4),
        (b"\x01\0\x05ab", &[TypeSig::String], Kind::UnexpectedEnd, 5),
        (
            b"\x01\0\x02a\xfe\0\0",
            &[TypeSig::String],
            Kind::InvalidText,
            4,
        ),
        (b"\x01\0\x01\0\x55\x02", &[], Kind::UnknownMember(0x55), 4),
        (b"\x01\0\x01\0\x53\x02\xff\0", &[], Kind::NullName, 6),
        (b"\x01\0\x11\0\0", &object, Kind::UnknownType(0x11), 2),
        (b"\x01\0\x1d\x1d\x08\0\0", &object, Kind::NestedArray, 2),
        (b"\x01\0\x55\x03Who\0\0\0", &object, unknown("Who"), 2),
        (
            b"\x01\0\x09\0\0\0\x01\0\0",
            &[array(TypeSig::I1)],
            too_many,
            2,
        ),
        (
            b"\x01\0\0\0\0\0",
            std::slice::from_ref(&pointer),
            Kind::ParameterType(Box::new(pointer.clone())),
            2,
        ),
        (
            b"\x01\0\x55\x03Odd\0\0\0",
            &object,
            Kind::NoEnum {
                enum_type: EnumType::Name("Odd".into()),
                underlying: Box::new(TypeSig::String),
            },
            2,
        ),
    ] {
        let error = decode(blob, parameters).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (&kind, offset), "{error}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = b"\x1d\x51\x01\0\0\0".repeat(10_000);
    let error = one(TypeSig::Object, &nested).unwrap_err();
    assert_eq!(error.kind(), &Kind::TooDeep);
    let direct = [0x51].repeat(10_000);
    let error = one(TypeSig::Object, &direct).unwrap_err();
    assert_eq!(error.kind(), &Kind::TooDeep);
}

#[test]
fn every_cut_is_an_error() {
    let blob = b"\x01\0\x04cart\x07\0\0\0\x01\0\x54\x02\x04Loud\x01";
    let parameters = [TypeSig::String, TypeSig::I4];
    assert!(decode(blob, &parameters).is_ok());
    for end in 0..blob.len() {
        let error = decode(&blob[..end], &parameters).unwrap_err();
        assert!(error.offset() <= end, "{end}: {error}");
    }
}
