//! Listings, diffs and violations name the members that tokens refer to.

#![cfg(feature = "bodies")]

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{MethodSymbol, Names};
use clr_profiler_il::text::diff;
use clr_profiler_il::token::{Token, TypeDef};
use clr_profiler_il::verify::MethodContext;

struct Shop;

impl Names for Shop {
    fn name(&self, token: Token) -> Option<String> {
        let name = match token.raw() {
            0x0100_0001 => "Shop.Sale",
            0x0200_0002 => "Shop.Cart",
            0x0400_0003 => "Shop.Cart.count",
            0x0a00_0004 => "Shop.Cart.Add(string)",
            0x7000_0005 => "\"five\"",
            _ => return None,
        };
        Some(name.to_owned())
    }

    fn source(&self, il_offset: u32) -> Option<String> {
        let line = match il_offset {
            0 => 41,
            6 => 42,
            _ => return None,
        };
        Some(format!("Cart.cs:{line}"))
    }
}

fn body() -> MethodBody {
    let text = "
        .maxstack 2
        .locals (int)
        first:  nop
                ldsfld   0x04000003
        second: ldstr    0x70000005
                call     0x0a000004
                call     0x0a000099
                leave    out
        caught: pop
                leave    out
        out:    ret
        .try first to caught catch 0x01000001 handler caught to out
    ";
    let mut body: MethodBody = text.parse().unwrap();
    body.set_locals(LocalsSig {
        locals: vec![
            TypeSig::I4,
            TypeSig::Class(TypeDef::from_row(2).unwrap().into()),
        ],
    });
    body
}

fn decoded(body: &MethodBody) -> MethodBody {
    let mut bytes = Vec::new();
    body.encode(&mut clr_profiler_il::symbol::NoTokens, &mut bytes)
        .unwrap();
    MethodBody::decode(&bytes).unwrap()
}

#[test]
fn a_listing_names_members_and_lines() {
    let body = body();
    let listing = body.named(&Shop).to_string();
    for line in [
        ".local [1] Shop.Cart",
        "ldsfld     Shop.Cart.count",
        "ldstr      \"five\"",
        "call       Shop.Cart.Add(string)",
        // Without a name: the token.
        "call       0x0a000099",
        "catch Shop.Sale handler",
    ] {
        assert!(listing.contains(line), "{line}: {listing}");
    }
    // It is not decoded: its offsets are none of the source.
    assert!(!listing.contains("Cart.cs"), "{listing}");
    // Without names the text can be parsed again.
    assert!(!body.to_string().contains("Shop"), "{body}");
}

/// `nop; ldsfld 0x04000003; ldstr 0x0a000004; pop; pop; ret`: the operand of the third is no string.
fn broken() -> MethodBody {
    decoded(
        &"
        .maxstack 2
        nop
        ldsfld 0x04000003
        ldstr  0x0a000004
        pop
        pop
        ret"
        .parse()
        .unwrap(),
    )
}

#[test]
fn a_violation_names_the_member_and_the_line() {
    let body = broken();
    let signature = MethodSig::new(TypeSig::Void, vec![]);
    let violations = body.verify(&MethodContext::new(&signature), &());
    let violation = violations.first().unwrap();
    assert_eq!(
        violation.named(&body, &Shop).to_string(),
        "IL_0006: the operand is not a string, in ldstr Shop.Cart.Add(string), Cart.cs:42"
    );
    assert_eq!(
        violation.display(&body).named(&Shop).to_string(),
        "\
IL_0006: the operand is not a string
    IL_0000:  nop
    IL_0001:  ldsfld     Shop.Cart.count
>>> IL_0006:  ldstr      Shop.Cart.Add(string)
    IL_000b:  pop
    IL_000c:  pop
    IL_000d:  ret
"
    );
    // The line of an instruction is that of the last one before it that has one.
    let mut changed = body.clone();
    changed.prologue(Fragment::new().ldc_i4(1)).unwrap();
    let depth = changed.verify(&MethodContext::new(&signature), &());
    let depth = depth.last().unwrap().named(&changed, &Shop).to_string();
    assert!(depth.ends_with(", Cart.cs:42"), "{depth}");
}

#[test]
fn a_diff_names_members() {
    let before = broken();
    let mut after = before.clone();
    let add = MethodSymbol::new("[Hooks]Hooks", "Enter", "void ()");
    after.prologue(Fragment::new().call(&add)).unwrap();
    assert_eq!(
        diff(&before, &after).named(&Shop).context(2).to_string(),
        "  .maxstack 8
+           call       void [Hooks]Hooks::Enter()
  IL_0000:  nop
  IL_0001:  ldsfld     Shop.Cart.count
  ...
"
    );
    let listing = before.named(&Shop).to_string();
    assert_eq!(
        listing,
        "\
.maxstack 8
// Cart.cs:41
IL_0000:  nop
IL_0001:  ldsfld     Shop.Cart.count
// Cart.cs:42
IL_0006:  ldstr      Shop.Cart.Add(string)
IL_000b:  pop
IL_000c:  pop
IL_000d:  ret
"
    );
}
