//! Parses the listing of `monodis` into lines and clauses.

use std::collections::HashMap;

use super::common::{Clause, Line, Method};

/// The methods by name.
pub(crate) fn methods(text: &str, tokens: &HashMap<String, u32>) -> HashMap<String, Method> {
    let mut methods = HashMap::new();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut method = Method::default();
    let mut open = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("} // end of method Ops::") {
            assert!(open.is_empty(), "{name}");
            methods.insert(name.to_owned(), finish(std::mem::take(&mut method)));
        } else if let Some((offset, rest)) = instruction(line) {
            let mut rest = rest.to_owned();
            while rest.starts_with("switch") && !rest.ends_with(')') {
                rest.push_str(lines.next().expect("the end of a switch"));
            }
            method.lines.push(parse(offset, &rest, tokens));
        } else {
            brace(line, &mut method, &mut open, tokens);
        }
    }
    methods
}

fn instruction(line: &str) -> Option<(u32, &str)> {
    let (offset, rest) = line.strip_prefix("IL_")?.split_once(':')?;
    Some((u32::from_str_radix(offset, 16).ok()?, rest.trim()))
}

/// A region that is being read.
enum Open {
    Try(usize),
    Filter(u32),
    Handler(usize),
}

/// The start or end of a region. Bounds are the index of the next instruction.
fn brace(line: &str, method: &mut Method, open: &mut Vec<Open>, tokens: &HashMap<String, u32>) {
    // The offset of the next instruction is not known yet; its index is used until then.
    let here = u32::try_from(method.lines.len()).expect("few lines");
    let number = |line: &str| -> usize {
        let digits = line.rsplit(' ').next().expect("a word");
        digits.parse().unwrap_or_else(|_| panic!("{line}"))
    };
    if line.starts_with(".try {") {
        let number = number(line);
        clause(method, number).try_region.0 = here;
        open.push(Open::Try(number));
    } else if line.starts_with("} // end .try") {
        let Some(Open::Try(number)) = open.pop() else {
            panic!("{line}");
        };
        clause(method, number).try_region.1 = here;
        // Clauses with the same try region follow it; the next index is one of them.
        method.last_try = method.clauses[&number].try_region;
    } else if line.starts_with("filter {") {
        open.push(Open::Filter(here));
    } else if line.starts_with("} {") {
        let Some(Open::Filter(start)) = open.pop() else {
            panic!("{line}");
        };
        begin(method, number(line), "filter".to_owned(), here, open).filter = Some(start);
    } else if let Some(rest) = line.strip_prefix("catch ") {
        let (name, _) = rest.rsplit_once(" {").expect("a brace");
        let name = tokens
            .get(name)
            .or_else(|| tokens.get(name.trim_start_matches("class ")));
        let kind = format!("catch {:08x}", name.unwrap_or_else(|| panic!("{line}")));
        begin(method, number(line), kind, here, open);
    } else if line.starts_with("finally") || line.starts_with("fault") {
        let kind = line.split(' ').next().expect("a word").to_owned();
        begin(method, number(line), kind, here, open);
    } else if line.starts_with("} // end handler") {
        let Some(Open::Handler(number)) = open.pop() else {
            panic!("{line}");
        };
        clause(method, number).handler.1 = here;
    } else if let Some(depth) = line.strip_prefix(".maxstack ") {
        method.max_stack = depth.parse().expect("a number");
    } else if let Some(size) = line.strip_prefix("// Code size ") {
        // The first instruction of a method.
        let size = size.split(' ').next().expect("a word");
        *method = Method {
            size: size.parse().expect("a number"),
            ..Method::default()
        };
    }
}

fn clause(method: &mut Method, number: usize) -> &mut Clause {
    method.clauses.entry(number).or_default()
}

fn begin<'a>(
    method: &'a mut Method,
    number: usize,
    kind: String,
    here: u32,
    open: &mut Vec<Open>,
) -> &'a mut Clause {
    open.push(Open::Handler(number));
    let shared = method.last_try;
    let clause = clause(method, number);
    if clause.try_region == (0, 0) {
        clause.try_region = shared;
    }
    clause.kind = kind;
    clause.handler.0 = here;
    clause
}

/// Replaces the indexes of instructions by offsets.
fn finish(mut method: Method) -> Method {
    let offsets: Vec<_> = method.lines.iter().map(|line| line.offset).collect();
    let size = method.size;
    let offset = |number: &mut u32| {
        *number = offsets.get(*number as usize).copied().unwrap_or(size);
    };
    for clause in method.clauses.values_mut() {
        for (start, end) in [&mut clause.try_region, &mut clause.handler] {
            offset(start);
            offset(end);
        }
        clause.filter.iter_mut().for_each(offset);
    }
    method
}

fn parse(offset: u32, text: &str, tokens: &HashMap<String, u32>) -> Line {
    let (mnemonic, operand) = text.split_once(' ').unwrap_or((text, ""));
    let mnemonic = match mnemonic {
        // `monodis` derives the name from the clause; the opcode is the same.
        "endfault" => "endfinally",
        other => other,
    };
    let operand = operand.trim();
    let value = if let Some(&token) = tokens.get(operand) {
        format!("{token:08x}")
    } else if let Some(table) = operand.strip_prefix('(').filter(|_| mnemonic == "switch") {
        let targets = table.trim_end_matches(')').split(',').map(str::trim);
        targets.collect::<Vec<_>>().join(" ").trim().to_owned()
    } else if let Some(hex) = operand.strip_prefix('(') {
        // A number by its bytes, lowest first.
        let mut bytes: Vec<_> = hex.trim_end_matches(')').split(' ').collect();
        bytes.reverse();
        bytes.concat()
    } else if mnemonic.starts_with("ldc.r") {
        let value: f64 = operand.parse().unwrap_or_else(|_| panic!("{text}"));
        match mnemonic {
            "ldc.r4" => format!("{:08x}", (value as f32).to_bits()),
            _ => format!("{:016x}", value.to_bits()),
        }
    } else if let Some(hex) = operand.strip_prefix("0x") {
        let value = u64::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("{text}"));
        match mnemonic {
            "ldc.i8" => (value as i64).to_string(),
            _ => (value as u32 as i32).to_string(),
        }
    } else {
        operand.to_owned()
    };
    Line {
        offset,
        mnemonic: mnemonic.to_owned(),
        operand: value,
    }
}
