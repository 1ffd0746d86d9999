//! Compares decoding and assembling with mono's `monodis` and `ilasm`.
//!
//! Skipped without the two tools; with `CI` set, they are required.

mod common;
mod monodis;
mod ours;
mod source;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use assembly_reader::{Assembly, SignatureKind};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{MethodSig, TypeSpecSig};
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_il::token::{Token, TokenTable, TypeRef, TypeToken};

use source::{NAMES, Source, UNKNOWN_TO_ILASM};

/// Runs a tool; `None` if it is missing.
fn run(tool: &str, folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(tool)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{tool}: {error}");
            eprintln!("NOT TESTED: {tool}: {error}");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{tool}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

/// An assembly of `ilasm` and its listing by `monodis`; `None` if a tool is missing.
fn assemble(name: &str, text: &str) -> Option<(Vec<u8>, String)> {
    let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("Ops.il"), text).unwrap();
    let shown = run("ilasm", &folder, &["/dll", "/output:Ops.dll", "Ops.il"])
        .and_then(|_| run("monodis", &folder, &["Ops.dll"]));
    let file = std::fs::read(folder.join("Ops.dll"));
    std::fs::remove_dir_all(&folder).unwrap();
    Some((file.ok()?, shown?))
}

/// The tokens of [`NAMES`], found by name or signature and not by use.
fn tokens(assembly: &Assembly<'_>) -> Vec<Token> {
    let row = |table, row| Token::from_row(table, row).unwrap();
    let method = |name: &str| {
        let mut methods = assembly.all_methods().map(Result::unwrap);
        methods
            .find(|method| method.name == name)
            .unwrap()
            .token
            .token()
    };
    let blob = |kind, wanted: &[u8]| {
        let mut all = assembly.all_signatures().map(Result::unwrap);
        let found = all.find(|one| one.kind == kind && one.blob == wanted);
        found
            .unwrap_or_else(|| panic!("{kind:?} {wanted:x?}"))
            .token
    };
    let type_ref = |name: &str| {
        let mut types = assembly.tokens::<TypeRef>().map(TypeToken::from);
        let found = types.find(|token| assembly.type_name(*token).unwrap().name == name);
        found.unwrap().token()
    };
    let [exception, list] = ["Exception", "List`1"].map(type_ref);
    let list = TypeSpecSig::parse_text(
        &format!("class 0x{:08x}<int>", list.raw()),
        &mut clr_profiler_il::signature::TokenNames,
    )
    .unwrap();
    let mut takes_int = Vec::new();
    let calli = MethodSig::parse(&[0, 1, 1, 8]).unwrap();
    calli.write(&mut takes_int).unwrap();
    let callee = method("Callee");
    let field = row(TokenTable::FIELD_DEF, 1);
    vec![
        callee,
        blob(SignatureKind::MemberRef, &[0x20, 0x00, 0x0e]),
        blob(SignatureKind::MethodSpec, &[0x0a, 0x01, 0x08]),
        method(".ctor"),
        blob(SignatureKind::MemberRef, &[0x20, 0x00, 0x01]),
        field,
        row(TokenTable::FIELD_DEF, 2),
        row(TokenTable::TYPE_DEF, 2),
        exception,
        blob(SignatureKind::TypeSpec, &list.to_bytes().unwrap()),
        blob(SignatureKind::StandAlone, &takes_int),
        // The only string.
        Token::new(0x7000_0001),
        callee,
        field,
        method("Virtual"),
    ]
}

/// Replaces each token in a body by the first equal one: `ilasm` adds a row for every use of a
/// name.
fn with_first_tokens(assembly: &Assembly<'_>, body: &[u8]) -> Vec<u8> {
    let signatures: Vec<_> = assembly.all_signatures().map(Result::unwrap).collect();
    let mut body = body.to_vec();
    for at in 0..body.len().saturating_sub(3) {
        let word = u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
        let Some(found) = signatures.iter().find(|one| one.token.raw() == word) else {
            continue;
        };
        let tables = [
            TokenTable::MEMBER_REF,
            TokenTable::METHOD_SPEC,
            TokenTable::TYPE_SPEC,
        ];
        if tables.contains(&found.token.table()) {
            let same = |one: &&assembly_reader::Signature<'_>| {
                one.kind == found.kind && one.blob == found.blob
            };
            let first = signatures.iter().find(same).unwrap().token;
            body[at..at + 4].copy_from_slice(&first.raw().to_le_bytes());
        }
    }
    body
}

/// The text for our assembler, with tokens instead of names.
fn our_text(source: &Source, tokens: &[Token]) -> String {
    let text = source::substitute(&source.text, |number| {
        format!("0x{:08x}", tokens[number].raw())
    });
    let mut out = String::from(".maxstack 8\n");
    for line in text.lines() {
        match line.split_once(" (") {
            // The bits of a number.
            Some((start, hex)) if start.starts_with("ldc.r") => {
                let mut bytes: Vec<_> = hex.trim_end_matches(')').split(' ').collect();
                bytes.reverse();
                let bits = u64::from_str_radix(&bytes.concat(), 16).unwrap();
                let value = if start == "ldc.r4" {
                    special(f64::from(f32::from_bits(bits as u32)), bits)
                } else {
                    special(f64::from_bits(bits), bits)
                };
                writeln!(out, "{start} {value}").unwrap();
            }
            _ => writeln!(out, "{line}").unwrap(),
        }
    }
    out
}

fn special(value: f64, bits: u64) -> String {
    if value.is_nan() {
        format!("NaN(0x{bits:x})")
    } else {
        format!("{value:e}")
    }
}

/// The offset and the first word of each printed line; prefixes are lines of their own.
fn printed(bytes: &[u8]) -> Vec<(u32, String)> {
    let text = MethodBody::decode(bytes).unwrap().to_string();
    let mut words = Vec::new();
    for line in text.lines() {
        let Some((offset, rest)) = line
            .strip_prefix("IL_")
            .and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let offset = u32::from_str_radix(offset, 16).unwrap();
        // A line without a word is a label at the end.
        let word = rest.split_whitespace().next();
        words.extend(word.map(|word| (offset, word.to_owned())));
    }
    words
}

/// The same of the lines of `monodis`, without the instruction on the line of a prefix.
fn shown_words(lines: &[common::Line]) -> Vec<(u32, String)> {
    let mut words = Vec::new();
    let mut after_prefix = false;
    for line in lines {
        if !after_prefix {
            words.push((line.offset, line.mnemonic.clone()));
        }
        after_prefix = line.mnemonic.ends_with('.');
    }
    words
}

#[test]
fn ilasm_and_monodis_agree_with_us() {
    let sources = source::sources();
    let Some((file, shown)) = assemble("il_oracles_ilasm", &source::assembly(&sources)) else {
        return;
    };
    let assembly = Assembly::open(&file).unwrap();
    let tokens = tokens(&assembly);
    let by_name: HashMap<_, _> = NAMES
        .iter()
        .zip(&tokens)
        .map(|((_, shown), token)| ((*shown).to_owned(), token.raw()))
        .collect();
    let mut shown = monodis::methods(&shown, &by_name);
    let mut seen = BTreeSet::new();
    let (mut lines, mut clauses, mut same, mut all) = (0, 0, 0, 0);
    let mut other = Vec::new();
    let mut bodies: HashMap<_, _> = assembly
        .all_methods()
        .map(Result::unwrap)
        .filter_map(|method| Some((method.name.to_owned(), method.body?)))
        .collect();
    for source in &sources {
        let name = &source.name;
        let bytes = bodies
            .remove(&**name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        let bytes = &*with_first_tokens(&assembly, bytes);
        let mut theirs = shown
            .remove(name)
            .unwrap_or_else(|| panic!("{name} is not shown"));
        seen.extend(theirs.lines.iter().map(|line| line.mnemonic.clone()));
        if source.is_shortest {
            assert_eq!(printed(bytes), shown_words(&theirs.lines), "{name}");
        }
        // Instruction by instruction and clause by clause.
        let decoded = ours::method(bytes);
        theirs.lines.iter_mut().for_each(ours::as_decoded);
        theirs.last_try = decoded.last_try;
        assert_eq!(decoded, theirs, "{name}\n{}", source.text);
        lines += decoded.lines.len();
        clauses += decoded.clauses.len();
        // The same text gives the same bytes if all forms are the shortest.
        let text = our_text(source, &tokens);
        let encode = |body: &MethodBody| {
            let mut out = Vec::new();
            body.encode(&mut NoTokens, &mut out).unwrap();
            out
        };
        let ours: MethodBody = text
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let decoded = MethodBody::decode(bytes).unwrap();
        assert_eq!(encode(&ours), encode(&decoded), "{name}\n{text}\n{decoded}");
        all += 1;
        if source.is_shortest {
            if encode(&ours) == bytes {
                same += 1;
            } else {
                other.push(name.clone());
            }
        }
    }
    println!("{all} methods, {lines} lines, {clauses} clauses, {same} same bytes");
    assert_eq!(other, [""; 0], "other bytes where all is the shortest");
    for opcode in Opcode::ALL {
        let is_covered = seen.contains(opcode.mnemonic());
        assert_eq!(is_covered, !UNKNOWN_TO_ILASM.contains(opcode), "{opcode:?}");
    }
}
