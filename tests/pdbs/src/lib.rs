//! Prints each row of portable PDBs in the lines of `tests/profilees/PdbRows.cs`, which prints them as
//! System.Reflection.Metadata reads them.

#![forbid(unsafe_code)]

use std::fmt::Write;

use clr_metadata::pdb::{Constant, CustomKind, Guid, Import, Pdb, PdbId};
use clr_metadata::token::{LocalScope, MethodDebugInformation, MethodDef, Token};
use clr_metadata::{DebugContents, Image, Result};

/// Writes the rows of a PDB, or the debug directory of an assembly with the PDB that it embeds.
///
/// # Errors
///
/// If the file is malformed.
pub fn write_file(file: &[u8], out: &mut String) -> Result<()> {
    if file.starts_with(b"B") {
        return write_pdb(&Pdb::parse(file)?, out);
    }
    for entry in Image::parse(file)?.debug_entries()? {
        let entry = entry?;
        line(
            out,
            format_args!(
                "debug {} {} {} {} {}",
                entry.kind,
                entry.major_version,
                entry.minor_version,
                entry.stamp,
                entry.bytes().len(),
            ),
        );
        match entry.contents()? {
            DebugContents::CodeView(view) => line(
                out,
                format_args!(
                    "codeview {} {} {}",
                    Guid(view.guid),
                    view.age,
                    quoted(view.path)
                ),
            ),
            DebugContents::PdbChecksum(sum) => line(
                out,
                format_args!("checksum {} {}", sum.algorithm, hexadecimal(sum.hash)),
            ),
            DebugContents::EmbeddedPdb(embedded) => {
                write_pdb(&Pdb::parse(&embedded.decompress()?)?, out)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes the rows of a PDB.
///
/// # Errors
///
/// If a row is malformed.
pub fn write_pdb(pdb: &Pdb<'_>, out: &mut String) -> Result<()> {
    let PdbId(id) = pdb.id();
    let entry = token(pdb.entry_point().map(Into::into));
    line(out, format_args!("pdb {} {entry}", hexadecimal(&id)));
    for document in pdb.documents() {
        let document = document?;
        let algorithm = guid(document.hash_algorithm()?.map(|algorithm| algorithm.0));
        let language = guid(document.language()?.map(|language| language.0));
        line(
            out,
            format_args!(
                "document {:08x} {algorithm} {} {language} {}",
                document.token().raw(),
                hexadecimal(document.hash()?),
                quoted(&document.name()?),
            ),
        );
    }
    for method in pdb.methods() {
        write_method(pdb, method, out)?;
    }
    write_scopes(pdb, out)?;
    write_imports(pdb, out)?;
    for custom in pdb.all_custom_debug_info() {
        let custom = custom?;
        // The kind has a name or not: it is decoded either way.
        custom.value()?;
        let CustomKind(kind) = custom.kind;
        let parent = token(Some(custom.parent.into()));
        line(
            out,
            format_args!(
                "custom {:08x} {parent} {kind} {} {:016x}",
                custom.token.raw(),
                custom.bytes().len(),
                hash(custom.bytes()),
            ),
        );
    }
    Ok(())
}

fn write_method(pdb: &Pdb<'_>, method: MethodDef, out: &mut String) -> Result<()> {
    let points = pdb.sequence_points(method)?;
    let row = MethodDebugInformation::from_row(method.row()).unwrap_or(MethodDebugInformation::NIL);
    let document = pdb.metadata().row(row)?.document;
    let signature = points.local_signature().map(Into::into);
    line(
        out,
        format_args!(
            "method {:08x} {} {} {}",
            method.raw(),
            token(Some(document.into())),
            token(signature),
            token(pdb.kickoff_method(method)?.map(Into::into)),
        ),
    );
    for point in points {
        let point = point?;
        let (offset, document) = (point.il_offset, point.document.raw());
        match point.span {
            None => line(out, format_args!(" hidden {offset} {document:08x}")),
            Some(span) => line(
                out,
                format_args!(
                    " point {offset} {document:08x} {} {} {} {}",
                    span.start_line, span.start_column, span.end_line, span.end_column
                ),
            ),
        }
    }
    for scope in pdb.local_scopes(method) {
        line(out, format_args!(" scope {:08x}", scope?.token.raw()));
    }
    Ok(())
}

fn write_scopes(pdb: &Pdb<'_>, out: &mut String) -> Result<()> {
    for token_of_scope in pdb.metadata().tokens::<LocalScope>() {
        let scope = pdb.local_scope(token_of_scope)?;
        line(
            out,
            format_args!(
                "scope {:08x} {} {} {} {}",
                scope.token.raw(),
                token(Some(scope.method.into())),
                token(Some(scope.import_scope.into())),
                scope.start,
                scope.end - scope.start,
            ),
        );
        for variable in pdb.local_variables(&scope) {
            let variable = variable?;
            line(
                out,
                format_args!(
                    " variable {:08x} {} {} {}",
                    variable.token.raw(),
                    u8::from(variable.is_hidden),
                    variable.index,
                    quoted(variable.name),
                ),
            );
        }
        for constant in pdb.local_constants(&scope) {
            let constant = constant?;
            let value = constant.value()?;
            let mut text = String::new();
            for (modifier, is_required) in &value.modifiers {
                let kind = if *is_required { "modreq" } else { "modopt" };
                text += &format!("{kind} {} ", token(Some((*modifier).into())));
            }
            text += &value_text(value.value);
            if let Some(of) = value.enumeration {
                text += &format!(" of {}", token(Some(of.into())));
            }
            line(
                out,
                format_args!(
                    " constant {:08x} {} {} {text}",
                    constant.token.raw(),
                    quoted(constant.name),
                    hexadecimal(constant.signature()),
                ),
            );
        }
    }
    Ok(())
}

fn value_text(value: Constant<'_>) -> String {
    let of_type =
        |of: Token, value: &[u8]| format!("type {} {}", token(Some(of)), hexadecimal(value));
    match value {
        Constant::Bool(value) => format!("bool {value}"),
        Constant::Char(value) => format!("char {value}"),
        Constant::I1(value) => format!("sbyte {value}"),
        Constant::U1(value) => format!("byte {value}"),
        Constant::I2(value) => format!("short {value}"),
        Constant::U2(value) => format!("ushort {value}"),
        Constant::I4(value) => format!("int {value}"),
        Constant::U4(value) => format!("uint {value}"),
        Constant::I8(value) => format!("long {value}"),
        Constant::U8(value) => format!("ulong {value}"),
        Constant::R4(value) => format!("float 0x{:08x}", value.to_bits()),
        Constant::R8(value) => format!("double 0x{:016x}", value.to_bits()),
        Constant::String(None) => "string null".to_owned(),
        Constant::String(Some(text)) => format!("string {}", quoted_units(text.units())),
        Constant::Object => "object".to_owned(),
        Constant::Class { class, value } => of_type(class.into(), value),
        Constant::ValueType { value_type, value } => of_type(value_type.into(), value),
        other => format!("{other:?}"),
    }
}

fn write_imports(pdb: &Pdb<'_>, out: &mut String) -> Result<()> {
    for scope in pdb.import_scopes() {
        let scope = scope?;
        let parent = token(Some(scope.parent.into()));
        line(
            out,
            format_args!("imports {:08x} {parent}", scope.token.raw()),
        );
        for import in scope.imports() {
            let (kind, alias, assembly, target) = match import? {
                Import::Namespace { namespace } => (1, None, None, quoted(namespace)),
                Import::AssemblyNamespace {
                    assembly,
                    namespace,
                } => (2, None, Some(assembly), quoted(namespace)),
                Import::Type { imported } => (3, None, None, token(Some(imported.into()))),
                Import::XmlNamespace { prefix, namespace } => {
                    (4, Some(prefix), None, quoted(namespace))
                }
                Import::AliasReference { alias } => (5, Some(alias), None, "nil".to_owned()),
                Import::AssemblyAlias { alias, assembly } => {
                    (6, Some(alias), Some(assembly), "nil".to_owned())
                }
                Import::NamespaceAlias { alias, namespace } => {
                    (7, Some(alias), None, quoted(namespace))
                }
                Import::AssemblyNamespaceAlias {
                    alias,
                    assembly,
                    namespace,
                } => (8, Some(alias), Some(assembly), quoted(namespace)),
                Import::TypeAlias { alias, aliased } => {
                    (9, Some(alias), None, token(Some(aliased.into())))
                }
                other => (0, None, None, format!("{other:?}")),
            };
            let alias = alias.map_or_else(|| "nil".to_owned(), quoted);
            let assembly = token(assembly.map(Into::into));
            line(
                out,
                format_args!(" import {kind} {alias} {assembly} {target}"),
            );
        }
    }
    Ok(())
}

fn line(out: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{words}");
}

fn token(token: Option<Token>) -> String {
    match token {
        Some(token) if !token.is_nil() => format!("{:08x}", token.raw()),
        _ => "nil".to_owned(),
    }
}

fn guid(guid: Option<Guid>) -> String {
    guid.map_or_else(|| "nil".to_owned(), |guid| guid.to_string())
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("x{}", digits.collect::<String>())
}

/// A text in quotes, each character that is not printable ASCII as its number.
#[must_use]
pub fn quoted(text: &str) -> String {
    quoted_units(text.encode_utf16())
}

fn quoted_units(units: impl Iterator<Item = u16>) -> String {
    let mut quoted = "\"".to_owned();
    for unit in units {
        match u8::try_from(unit) {
            Ok(byte @ b'!'..=b'~') if byte != b'\\' && byte != b'"' => {
                quoted.push(char::from(byte));
            }
            _ => quoted += &format!("\\u{unit:04x}"),
        }
    }
    quoted + "\""
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
