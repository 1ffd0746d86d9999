//! The declarations against a C compiler: it gets the definitions of the facts as C, and reports
//! their sizes and the offsets of their fields. Without a compiler, a message on stderr says so.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clr_profiler_sys::facts;

/// A structure's name, size, alignment, and each field with its offset.
type Layout = (&'static str, usize, usize, &'static [(&'static str, usize)]);

/// The macro of `layout32`: here its tables become data, in the crate they are assertions.
mod tables {
    macro_rules! layouts {
        (
            $table:ident: u64 aligned to $($bytes:literal)or+;
            $($name:ident: $size:literal, $align:literal { $($field:ident: $offset:literal,)* })*
        ) => {
            pub(crate) const $table: &[crate::Layout] = &[
                $((stringify!($name), $size, $align, &[$((stringify!($field), $offset)),*])),*
            ];
        };
    }
    pub(crate) use layouts;
}

#[path = "../src/layout32.rs"]
mod layout32;

/// The types that the facts use without a definition.
const PRELUDE: &str = "\
#include <stddef.h>
#include <stdint.h>
typedef int32_t BOOL;
typedef int32_t HRESULT;
typedef struct { uint32_t a; uint16_t b, c; uint8_t d[8]; } GUID;
";

/// Structures without padding.
const PACKED: &[&str] = &["COR_NATIVE_LINK"];

fn entries(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
}

/// The facts as declarations of C.
fn declarations() -> String {
    let mut c = String::from(PRELUDE);
    let enumerations = concat!(
        include_str!("facts/enumerations.txt"),
        include_str!("facts/metadata_enumerations.txt")
    );
    let mut open = None;
    for entry in entries(enumerations) {
        match entry[..] {
            // C makes the type of an enumeration from its members.
            [name, "int32_t" | "uint32_t"] => {
                close(&mut c, open.replace(name));
                c += "typedef enum {";
            }
            [value, member] => write!(c, " {member} = {value},").expect("written"),
            _ => panic!("{entry:?}"),
        }
    }
    close(&mut c, open.take());
    for entry in entries(include_str!("facts/aliases.txt")) {
        let [name, _, definition] = entry[..] else {
            panic!("{entry:?}")
        };
        writeln!(c, "typedef {definition} {name};").expect("written");
    }
    for entry in entries(include_str!("facts/structures.txt")) {
        match entry[..] {
            [kind @ ("struct" | "union"), name, _, _] => {
                close(&mut c, open.replace(name));
                let packing = if PACKED.contains(&name) { "1" } else { "" };
                write!(c, "#pragma pack({packing})\ntypedef {kind} {{").expect("written");
            }
            [_, _, definition, name] => match definition.split_once('[') {
                Some((element, length)) => write!(c, " {element} {name}[{length};"),
                None => write!(c, " {definition} {name};"),
            }
            .expect("written"),
            _ => panic!("{entry:?}"),
        }
    }
    close(&mut c, open);
    c
}

/// Ends the declaration of the type with that name.
fn close(c: &mut String, name: Option<&str>) {
    if let Some(name) = name {
        writeln!(c, " }} {name};").expect("written");
    }
}

/// A name without the prefix that Rust needs for reserved words.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Reports a skipped test past the test runner, which captures the output of passing tests.
fn skipped(reason: &str) {
    writeln!(
        std::io::stderr(),
        "NOT COMPARED with a C compiler: {reason}"
    )
    .expect("written");
}

/// Writes a source file into a folder for this file's tests.
fn source(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_compiler");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn layouts_are_those_of_c() {
    if compiler().arg("--version").output().is_err() {
        return skipped("there is none");
    }
    let mut expected = String::new();
    let mut print = String::new();
    let mut question = |c_value: &str, name: &str, value: i64| {
        writeln!(expected, "{name} {value}").expect("written");
        writeln!(print, "printf(\"{name} %lld\\n\", (long long)({c_value}));").expect("written");
    };
    for alias in facts::ALIASES.iter().copied().flatten() {
        question(
            &format!("sizeof({})", alias.name),
            alias.name,
            alias.size as i64,
        );
    }
    for enumeration in facts::ENUMERATIONS.iter().copied().flatten() {
        let facts::EnumerationRow {
            name,
            type_name,
            members,
        } = enumeration;
        let signed = i64::from(type_name.starts_with('i'));
        question(&format!("sizeof({name})"), name, 4);
        question(&format!("({name})-1 < 0"), "signed", signed);
        for (member, value) in *members {
            question(member, member, *value);
        }
    }
    for structure in facts::STRUCTURES.iter().copied().flatten() {
        let facts::StructureRow {
            name,
            size,
            align,
            fields,
        } = structure;
        question(&format!("sizeof({name})"), name, *size as i64);
        question(&format!("_Alignof({name})"), "alignment", *align as i64);
        for field in *fields {
            let field_name = plain(field.name);
            question(
                &format!("offsetof({name}, {field_name})"),
                field_name,
                field.offset as i64,
            );
            question(
                &format!("sizeof((({name} *)0)->{field_name})"),
                "width",
                field.size as i64,
            );
        }
    }

    let text = format!(
        "#include <stdio.h>\n{}int main(void) {{\n{print}return 0;\n}}\n",
        declarations()
    );
    let path = source("layouts.c", &text);
    let program = path.with_extension(std::env::consts::EXE_EXTENSION);
    let status = compiler()
        .args(["-std=c11", "-w", "-o"])
        .args([&program, &path])
        .status()
        .expect("a compiler");
    assert!(status.success(), "{} does not compile", path.display());
    let output = Command::new(&program).output().expect("a program");
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).expect("text");
    let mut count = 0;
    for (answer, expected) in answers.lines().zip(expected.lines()) {
        assert_eq!(answer, expected, "C's answer {count}, and Rust's");
        count += 1;
    }
    assert_eq!(count, expected.lines().count());
    assert_eq!(count, answers.lines().count());
}

#[test]
fn layouts_of_32_bits_are_those_of_c() {
    // Linux on x86, and with the second option the layouts of Windows.
    for (table, options) in [
        (layout32::NARROW, &["-m32", "-mno-align-double"][..]),
        (layout32::WIDE, &["-m32", "-malign-double"]),
    ] {
        // Without headers of the operating system, which may exist for 64 bits only.
        let check = |path: &Path| {
            compiler()
                .args(["-std=c11", "-w", "-ffreestanding", "-fsyntax-only"])
                .args(options)
                .arg(path)
                .output()
        };
        if !check(&source("headers32.c", PRELUDE)).is_ok_and(|output| output.status.success()) {
            skipped("it does not know 32-bit x86");
            continue;
        }
        let mut text = declarations();
        for (name, size, align, fields) in layout32::COMMON.iter().chain(table) {
            let mut claim = |claim: String| {
                writeln!(text, "_Static_assert({claim}, \"{claim}\");").expect("written");
            };
            claim(format!("sizeof({name}) == {size}"));
            claim(format!("_Alignof({name}) == {align}"));
            for (field, offset) in *fields {
                claim(format!("offsetof({name}, {}) == {offset}", plain(field)));
            }
        }
        let output = check(&source("layouts32.c", &text)).expect("a compiler");
        assert!(
            output.status.success(),
            "{options:?}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn every_structure_has_a_32_bit_layout() {
    let mut expected: Vec<(&str, Vec<&str>)> = facts::STRUCTURES
        .iter()
        .copied()
        .flatten()
        .map(|row| {
            let fields = row.fields.iter().map(|field| field.name);
            (row.name, fields.collect())
        })
        .collect();
    expected.sort_unstable();
    for table in [layout32::NARROW, layout32::WIDE] {
        let mut listed: Vec<(&str, Vec<&str>)> = layout32::COMMON
            .iter()
            .chain(table)
            .map(|(name, _, _, fields)| (*name, fields.iter().map(|(field, _)| *field).collect()))
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, expected);
    }
}
