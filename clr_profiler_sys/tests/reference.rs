//! Every declaration of the crate against the reference facts, in both directions: the crate has
//! everything that the facts list, and nothing else.
#![cfg(target_pointer_width = "64")]

use std::collections::BTreeMap;
use std::fmt::Write;

use clr_profiler_sys::facts::{self, Parameter, Value};
use clr_profiler_sys::{HRESULTS, IClassFactory, IUnknown, Interface, InterfaceFacts};

const SLOT: usize = size_of::<usize>();

/// The lines of each entry by its name. `name` is the position of the name in the first line.
fn blocks(text: &str, name: usize) -> BTreeMap<String, Vec<String>> {
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if !line.starts_with(' ') {
            current = line.split(' ').nth(name).expect("a name").to_owned();
            let twice = blocks.insert(current.clone(), Vec::new());
            assert!(twice.is_none(), "{current} is listed twice");
        }
        blocks
            .get_mut(&current)
            .expect("an entry")
            .push(line.to_owned());
    }
    blocks
}

/// Compares the crate's own listing, in the format of the facts, with the facts.
fn compare(listed: &str, expected: &str, name: usize) {
    let listed = blocks(listed, name);
    let expected = blocks(expected, name);
    assert!(!expected.is_empty());
    for (name, lines) in &expected {
        let found = listed
            .get(name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(found.get(index), Some(line), "{name}, line {index}");
        }
        assert_eq!(found.len(), lines.len(), "{name}");
    }
    for name in listed.keys() {
        assert!(expected.contains_key(name), "{name} is in no reference");
    }
}

fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// A type of this crate as C writes it, without `const`.
fn c_type(rust: &str) -> String {
    let mut base = rust;
    let mut stars = 0;
    let mut suffix = String::new();
    if let Some((element, length)) = base
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']')?.split_once("; "))
    {
        base = element;
        suffix = format!("[{length}]");
    }
    while let Some(pointee) = base
        .strip_prefix("*mut ")
        .or_else(|| base.strip_prefix("*const "))
    {
        base = pointee;
        stars += 1;
    }
    // Nullable types: a pointer to an interface or to a function.
    if let Some(inner) = base
        .strip_prefix("Option<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        base = inner;
        stars += 1;
    }
    let base = match base {
        "c_char" => "char",
        "c_int" => "int",
        "c_void" => "void",
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i32" => "int32_t",
        "usize" => "uintptr_t",
        "()" => "void",
        other => other,
    };
    format!("{base}{}{suffix}", "*".repeat(stars))
}

fn parameters(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for Parameter {
        name,
        type_name,
        size,
        pointee,
    } in parameters
    {
        let (name, type_name) = (plain(name), c_type(type_name));
        match pointee {
            0 => write!(text, " {name}:{type_name}:{size}:-"),
            _ => write!(text, " {name}:{type_name}:{size}:{pointee}"),
        }
        .expect("written");
    }
    text
}

#[test]
fn interfaces() {
    let mut listed = String::new();
    for interface in facts::INTERFACES.iter().copied().flatten() {
        let facts::InterfaceRow {
            name,
            parent,
            iid,
            vtable_size,
            methods,
        } = interface;
        assert_eq!(vtable_size % SLOT, 0);
        writeln!(listed, "{name} {parent} {iid:?} {}", vtable_size / SLOT).expect("written");
        for method in *methods {
            let facts::Method {
                name,
                slot,
                return_type,
                returns,
                parameters: list,
            } = method;
            let (return_type, list) = (c_type(return_type), parameters(list));
            writeln!(listed, "  {slot} {name} {return_type}:{returns}{list}").expect("written");
        }
    }
    compare(&listed, include_str!("facts/interfaces.txt"), 0);
}

#[test]
fn every_slot_of_a_vtable_has_one_method() {
    let interfaces: BTreeMap<_, _> = facts::INTERFACES
        .iter()
        .copied()
        .flatten()
        .map(|row| (row.name, row))
        .collect();
    for row in interfaces.values() {
        let first = interfaces
            .get(row.parent)
            .map_or(3, |parent| parent.vtable_size / SLOT);
        let slots: Vec<_> = row.methods.iter().map(|method| method.slot).collect();
        assert_eq!(
            slots,
            (first..row.vtable_size / SLOT).collect::<Vec<_>>(),
            "{}",
            row.name
        );
    }
}

#[test]
fn functions() {
    let mut listed = String::new();
    for facts::FunctionRow {
        name,
        return_type,
        returns,
        parameters: list,
    } in facts::FUNCTIONS
    {
        let (return_type, list) = (c_type(return_type), parameters(list));
        writeln!(listed, "{name} {return_type}:{returns}{list}").expect("written");
    }
    compare(&listed, include_str!("facts/functions.txt"), 0);
}

#[test]
fn structures() {
    let mut listed = String::new();
    for structure in facts::STRUCTURES.iter().copied().flatten() {
        let facts::StructureRow {
            name,
            size,
            align,
            fields,
        } = structure;
        // Only a union has two fields at one offset; each union of the definitions has two or more.
        let union = fields.len() > 1 && fields.iter().all(|field| field.offset == 0);
        let kind = if union { "union" } else { "struct" };
        writeln!(listed, "{kind} {name} {size} {align}").expect("written");
        for facts::Field {
            name,
            type_name,
            offset,
            size,
        } in *fields
        {
            let type_name = c_type(type_name);
            writeln!(listed, "  {offset} {size} {type_name} {}", plain(name)).expect("written");
        }
    }
    compare(&listed, include_str!("facts/structures.txt"), 1);
}

#[test]
fn enumerations() {
    let mut listed = String::new();
    for facts::EnumerationRow {
        name,
        type_name,
        members,
    } in facts::ENUMERATIONS.iter().copied().flatten()
    {
        writeln!(listed, "{name} {}", c_type(type_name)).expect("written");
        for (member, value) in *members {
            writeln!(listed, "  {value} {member}").expect("written");
        }
    }
    let expected = concat!(
        include_str!("facts/enumerations.txt"),
        include_str!("facts/metadata_enumerations.txt")
    );
    compare(&listed, expected, 0);
}

#[test]
fn aliases() {
    let mut listed = String::new();
    for facts::AliasRow {
        name,
        type_name,
        size,
    } in facts::ALIASES.iter().copied().flatten()
    {
        writeln!(listed, "{name} {size} {}", c_type(type_name)).expect("written");
    }
    compare(&listed, include_str!("facts/aliases.txt"), 0);
}

#[test]
fn constants() {
    let mut listed = String::new();
    for (name, guid) in facts::GUIDS {
        writeln!(listed, "guid {name} {guid:?}").expect("written");
    }
    for (name, value) in facts::CONSTANTS.iter().copied().flatten() {
        match value {
            Value::Number(number) => writeln!(listed, "number {name} {number}"),
            Value::Text(text) => writeln!(listed, "text {name} {text}"),
            Value::Bytes(bytes) => {
                let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(listed, "bytes {name} {bytes}")
            }
        }
        .expect("written");
    }
    compare(&listed, include_str!("facts/constants.txt"), 1);
}

#[test]
fn hresults() {
    let mut listed = String::new();
    for (value, name) in HRESULTS {
        writeln!(listed, "0x{:08X} {name}", value.0).expect("written");
    }
    let expected = include_str!("facts/hresults.txt");
    compare(&listed, expected, 1);
    // The first name of a value is the one to show: the order counts too.
    assert!(
        listed
            .lines()
            .eq(expected.lines().filter(|line| !line.starts_with('#')))
    );
}

#[test]
fn interface_identifiers_agree_with_their_constants() {
    let interfaces = || facts::INTERFACES.iter().copied().flatten();
    for (name, guid) in facts::GUIDS {
        if let Some(interface) = name.strip_prefix("IID_") {
            let row = interfaces()
                .find(|row| row.name == interface)
                .expect(interface);
            assert_eq!(row.iid, *guid, "{name}");
        }
    }
    let mut identifiers: Vec<_> = interfaces().map(|row| row.iid.to_u128()).collect();
    identifiers.sort_unstable();
    identifiers.dedup();
    assert_eq!(
        identifiers.len(),
        interfaces().count(),
        "two interfaces share an IID"
    );
}

#[test]
fn facts_are_at_hand_by_type() {
    assert_eq!(IClassFactory::NAME, "IClassFactory");
    assert_eq!(IClassFactory::PARENT, "IUnknown");
    assert_eq!(IClassFactory::METHODS[1].name, "LockServer");
    assert_eq!(IClassFactory::IID.data1, IUnknown::IID.data1 + 1);
}
