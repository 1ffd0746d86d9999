//! The verifier neither panics nor takes long on any bytes.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// A body of this code, with clauses given by kind, try region, handler and value.
fn body(code: &[u8], clauses: &[[u32; 6]]) -> Vec<u8> {
    let flags: u16 = if clauses.is_empty() { 0x3013 } else { 0x301b };
    let mut bytes = flags.to_le_bytes().to_vec();
    bytes.extend(u16::MAX.to_le_bytes());
    bytes.extend(u32::try_from(code.len()).unwrap().to_le_bytes());
    bytes.extend(0x1100_0001_u32.to_le_bytes());
    bytes.extend(code);
    if !clauses.is_empty() {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let size = u32::try_from(clauses.len() * 24 + 4).unwrap();
        bytes.extend((size << 8 | 0x41).to_le_bytes());
    }
    for clause in clauses {
        bytes.extend(clause.iter().flat_map(|field| field.to_le_bytes()));
    }
    bytes
}

/// Bytes that are often an instruction on small numbers.
fn code() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => 0_u8..0x70, 1 => any::<u8>(), 2 => 0_u8..8];
    prop::collection::vec(byte, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_code_has_a_verdict(
        code in code(),
        clauses in prop::collection::vec((0_u32..5, 0_u32..20, 0_u32..20, 0_u32..40, 0_u32..20), 0..3),
    ) {
        let clauses: Vec<_> = clauses
            .into_iter()
            .map(|(kind, start, length, handler, size)| [kind, start, length, handler, size, 5])
            .collect();
        let signature = MethodSig::new(TypeSig::I4, variables());
        for clauses in [&clauses[..], &[]] {
            let Ok(decoded) = MethodBody::decode(&body(&code, clauses)) else { continue };
            for violation in decoded.verify(&MethodContext::new(&signature), &Tokens) {
                let shown = violation.display(&decoded).to_string();
                prop_assert!(shown.contains(&violation.rule.to_string()));
            }
        }
    }
}

#[test]
fn deep_stacks_that_meet_often() {
    // 60,000 values, followed by as many branches, each to the next instruction.
    let count = 60_000;
    let mut code = vec![0x16; count];
    for _ in 0..count {
        code.extend([0x02, 0x2d, 0x00]);
    }
    // Pops all of them.
    code.extend(vec![0x26; count]);
    code.push(0x2a);
    let decoded = MethodBody::decode(&body(&code, &[])).unwrap();
    let signature = MethodSig::new(TypeSig::Void, variables());
    let started = Instant::now();
    let violations = decoded.verify(&MethodContext::new(&signature), &Tokens);
    assert_eq!(violations, []);
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn many_mistakes() {
    let mut code = Vec::new();
    for _ in 0..100_000 {
        // `ldarg.0; brtrue.s` over `ldarg.0; throw`.
        code.extend([0x02, 0x2d, 0x02, 0x02, 0x7a]);
    }
    code.push(0x2a);
    let decoded = MethodBody::decode(&body(&code, &[])).unwrap();
    let signature = MethodSig::new(TypeSig::Void, variables());
    let started = Instant::now();
    let violations = decoded.verify(&MethodContext::new(&signature), &Tokens);
    assert_eq!(violations.len(), 100_000);
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
}
