use clr_profiler_il::attribute::{
    ArgumentValue, AttributeError, AttributeErrorKind, AttributeValue, EnumType, NamedArgumentKind,
};
use clr_profiler_il::signature::{SignatureErrorKind, TypeSig};
use clr_profiler_il::token::{TypeDef, TypeToken};

/// Checks blobs of custom attributes: decoding consumes exactly the blob's bytes and loses nothing.
///
/// The first byte is the number of the constructor's parameters, followed by a byte for the type of
/// each; the rest is the blob.
///
/// # Panics
///
/// If a check fails.
pub fn attribute(bytes: &[u8]) {
    let Some((&count, rest)) = bytes.split_first() else {
        return;
    };
    let count = usize::from(count % 8).min(rest.len());
    let (types, blob) = rest.split_at(count);
    let parameters: Vec<_> = types.iter().map(|&byte| parameter(byte, 0)).collect();
    let read = match decode(blob, &parameters) {
        Ok(read) => read,
        Err(error) => {
            assert!(error.offset() <= blob.len(), "{error}");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for named in &read.named {
        let first = read.named.iter().find(|other| other.name == named.name);
        let first = first.map(|first| print(&first.value));
        assert_eq!(read.get(&named.name).map(print), first);
    }
    if blob.is_empty() {
        assert_eq!(read, AttributeValue::default());
        return;
    }
    let written = write(&read, &parameters);
    assert!(written.len() <= blob.len(), "{written:x?}");
    let again = decode(&written, &parameters);
    let again = again.unwrap_or_else(|error| panic!("{error}: {written:x?}"));
    assert_eq!(print(&again), print(&read), "{written:x?}");
    // The value has exactly these bytes, so it must not decode from fewer or more.
    let longer = [&written[..], &[0]].concat();
    let error = decode(&longer, &parameters).expect_err("a byte too much");
    assert_eq!(error.kind(), &AttributeErrorKind::TrailingBytes(1));
    assert_eq!(error.offset(), written.len());
    let ends = (1..written.len()).rev().take(100);
    for end in ends.chain((!parameters.is_empty()).then_some(0)) {
        let error = decode(&written[..end], &parameters).expect_err("a byte too few");
        assert!(
            matches!(
                error.kind(),
                AttributeErrorKind::UnexpectedEnd
                    | AttributeErrorKind::CountExceedsBlob { .. }
                    | AttributeErrorKind::Length(SignatureErrorKind::UnexpectedEnd)
            ),
            "{error}"
        );
    }
}

fn decode(blob: &[u8], parameters: &[TypeSig]) -> Result<AttributeValue, AttributeError> {
    AttributeValue::decode(blob, parameters, underlying)
}

/// Formats a whole value. NaN is not equal to itself, but prints the same.
fn print(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

const NUMBERS: [TypeSig; 12] = [
    TypeSig::Bool,
    TypeSig::Char,
    TypeSig::I1,
    TypeSig::U1,
    TypeSig::I2,
    TypeSig::U2,
    TypeSig::I4,
    TypeSig::U4,
    TypeSig::I8,
    TypeSig::U8,
    TypeSig::R4,
    TypeSig::R8,
];

/// A parameter type, sometimes an invalid one.
fn parameter(byte: u8, depth: u8) -> TypeSig {
    let number = byte >> 4;
    let token = TypeDef::from_row(u32::from(number) + 1).map(TypeToken::Def);
    let token = token.expect("a row");
    match byte % 8 {
        0 => TypeSig::String,
        1 => TypeSig::Object,
        2 => TypeSig::Class(token),
        3 => TypeSig::ValueType(token),
        4 if depth < 2 => TypeSig::SzArray(Box::new(parameter(byte >> 3, depth + 1))),
        5 => TypeSig::GenericInstance {
            is_value_type: number < 12,
            definition: token,
            arguments: vec![TypeSig::I4],
        },
        6 => TypeSig::Void,
        _ => NUMBERS[usize::from(number) % NUMBERS.len()].clone(),
    }
}

/// The underlying type of an enumeration: integers of each width, sometimes unknown or invalid.
fn underlying(of: &EnumType) -> Option<TypeSig> {
    let number = match of {
        EnumType::Token(token) => token.token().row(),
        EnumType::Name(name) => name.bytes().map(u32::from).sum(),
    };
    match number % 16 {
        14 => None,
        15 => Some(TypeSig::String),
        number => Some(NUMBERS[number as usize % NUMBERS.len()].clone()),
    }
}

/// Writes a blob, each count of bytes in its shortest form.
fn write(value: &AttributeValue, parameters: &[TypeSig]) -> Vec<u8> {
    let mut out = vec![1, 0];
    assert_eq!(value.fixed.len(), parameters.len());
    for argument in &value.fixed {
        write_value(argument, &mut out);
    }
    out.extend((value.named.len() as u16).to_le_bytes());
    for named in &value.named {
        out.push(match named.member {
            NamedArgumentKind::Field => 0x53,
            NamedArgumentKind::Property => 0x54,
        });
        write_type(&named.value, &mut out);
        write_text(Some(&named.name), &mut out);
        write_value(&named.value, &mut out);
    }
    out
}

/// The type of a value, as written before it.
fn write_type(value: &ArgumentValue, out: &mut Vec<u8>) {
    let code = match value {
        ArgumentValue::Bool(_) => 0x02,
        ArgumentValue::Char(_) => 0x03,
        ArgumentValue::I1(_) => 0x04,
        ArgumentValue::U1(_) => 0x05,
        ArgumentValue::I2(_) => 0x06,
        ArgumentValue::U2(_) => 0x07,
        ArgumentValue::I4(_) => 0x08,
        ArgumentValue::U4(_) => 0x09,
        ArgumentValue::I8(_) => 0x0a,
        ArgumentValue::U8(_) => 0x0b,
        ArgumentValue::R4(_) => 0x0c,
        ArgumentValue::R8(_) => 0x0d,
        ArgumentValue::String(_) => 0x0e,
        ArgumentValue::Array(_) => 0x1d,
        ArgumentValue::Type(_) => 0x50,
        ArgumentValue::Boxed(_) => 0x51,
        ArgumentValue::Enum { .. } => 0x55,
    };
    out.push(code);
    match value {
        ArgumentValue::Enum { enum_type, .. } => write_text(Some(&enum_type.to_string()), out),
        ArgumentValue::Array(elements) => {
            let first = elements.as_ref().and_then(|elements| elements.first());
            // The value of an empty array does not tell the type of its elements.
            write_type(first.unwrap_or(&ArgumentValue::Bool(false)), out);
        }
        _ => {}
    }
}

fn write_value(value: &ArgumentValue, out: &mut Vec<u8>) {
    match value {
        ArgumentValue::Bool(value) => out.push(u8::from(*value)),
        ArgumentValue::Char(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::I1(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::U1(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::I2(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::U2(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::I4(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::U4(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::I8(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::U8(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::R4(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::R8(value) => out.extend(value.to_le_bytes()),
        ArgumentValue::String(text) | ArgumentValue::Type(text) => write_text(text.as_deref(), out),
        ArgumentValue::Enum { value, .. } => write_value(value, out),
        ArgumentValue::Array(None) => out.extend([0xff; 4]),
        ArgumentValue::Array(Some(elements)) => {
            out.extend((elements.len() as u32).to_le_bytes());
            for element in elements {
                write_value(element, out);
            }
        }
        ArgumentValue::Boxed(value) => {
            write_type(value, out);
            write_value(value, out);
        }
    }
}

fn write_text(text: Option<&str>, out: &mut Vec<u8>) {
    let Some(text) = text else {
        return out.push(0xff);
    };
    let length = text.len() as u32;
    match length {
        0..0x80 => out.push(length as u8),
        0x80..0x4000 => out.extend((0x8000 | length as u16).to_be_bytes()),
        _ => out.extend((0xc000_0000 | length).to_be_bytes()),
    }
    out.extend(text.as_bytes());
}
