//! The diff of a rewrite shows inserted and changed lines, and no line that only moved.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::Labels;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::{MethodSymbol, NoTokens};
use clr_profiler_il::text::diff;

/// A body as decoded from an assembly.
fn decoded(text: &str) -> MethodBody {
    let body: MethodBody = text.parse().unwrap();
    let mut bytes = Vec::new();
    body.encode(&mut NoTokens, &mut bytes).unwrap();
    MethodBody::decode(&bytes).unwrap()
}

const LOOP: &str = "
    .maxstack 2
    .locals init 0x11000001
            ldc.i4.0
            stloc.0
    again:  ldloc.0
            ldarg.0
            bge     done
    try:    ldloc.0
            call    0x0a000001
            leave   next
    catch:  pop
            leave   next
    next:   ldloc.0
            ldc.i4.1
            add
            stloc.0
            br      again
    done:   ret
    .try try to catch catch 0x01000002 handler catch to next";

#[test]
fn a_prologue_and_an_epilogue() {
    let before = decoded(LOOP);
    let mut after = before.clone();
    let hook = |name| MethodSymbol::new("[H]Hooks", name, "void (int)");
    after
        .prologue(Fragment::new().ldc_i4(7).call(hook("Enter")))
        .unwrap();
    after
        .before_ret(Fragment::new().ldc_i4(7).call(hook("Leave")))
        .unwrap();
    let difference = diff(&before, &after);
    assert_eq!(
        difference.to_string(),
        "\
- .maxstack 2
+ .maxstack 3
  .locals init
  .locals 0x11000001
+           ldc.i4.7
+           call       void [H]Hooks::Enter(int)
  IL_0000:  ldc.i4.0
  IL_0001:  stloc.0
  IL_0002:  ldloc.0
  IL_0003:  ldarg.0
- IL_0004:  bge        IL_0017
+ IL_0004:  bge        NEW_1
  IL_0006:  ldloc.0
  IL_0007:  call       0x0a000001
  IL_000c:  leave      IL_0011
  IL_000e:  pop
  IL_000f:  leave      IL_0011
  IL_0011:  ldloc.0
  IL_0012:  ldc.i4.1
  IL_0013:  add
  IL_0014:  stloc.0
  IL_0015:  br         IL_0002
+ NEW_1:    ldc.i4.7
+           call       void [H]Hooks::Leave(int)
  IL_0017:  ret
  .try IL_0006 to IL_000e catch 0x01000002 handler IL_000e to IL_0011
"
    );
    assert!(!difference.is_empty());
    assert_eq!(
        difference.context(1).to_string(),
        "\
- .maxstack 2
+ .maxstack 3
  .locals init
  .locals 0x11000001
+           ldc.i4.7
+           call       void [H]Hooks::Enter(int)
  IL_0000:  ldc.i4.0
  ...
  IL_0003:  ldarg.0
- IL_0004:  bge        IL_0017
+ IL_0004:  bge        NEW_1
  IL_0006:  ldloc.0
  ...
  IL_0015:  br         IL_0002
+ NEW_1:    ldc.i4.7
+           call       void [H]Hooks::Leave(int)
  IL_0017:  ret
  ...
"
    );
}

#[test]
fn what_only_moved_is_not_shown() {
    let before = decoded(LOOP);
    assert!(diff(&before, &before.clone()).is_empty());
    assert_eq!(diff(&before, &before).context(3).to_string(), "  ...\n");
    let mut after = before.clone();
    let first = after.first().unwrap();
    let mut much = Fragment::new();
    for _ in 0..200 {
        much.nop();
    }
    // All branches over it become long, and all offsets change.
    let call = after.instructions().nth(6).unwrap().id();
    after.insert_before(call, Labels::Stay, &much).unwrap();
    after
        .insert_before(first, Labels::Stay, Fragment::new().nop())
        .unwrap();
    assert!(after.to_string().contains("bge  "), "the branch is long");
    let shown = diff(&before, &after).to_string();
    let changed: Vec<_> = shown
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert_eq!(changed, ["+           nop"; 201]);
}

#[test]
fn replaced_and_removed_instructions_and_locals() {
    let before = decoded("ldc.i4.1\nldc.i4.2\nadd\nnop\npop\nret");
    let mut after = before.clone();
    let ids: Vec<_> = after.instructions().map(|one| one.id()).collect();
    after.replace(ids[2], Fragment::new().mul().neg()).unwrap();
    after.remove(ids[3]).unwrap();
    after.add_local(TypeSig::I4).unwrap();
    assert_eq!(
        diff(&before, &after).to_string(),
        "  .maxstack 8
+ .local [0] int
  IL_0000:  ldc.i4.1
  IL_0001:  ldc.i4.2
- IL_0002:  add
+ IL_0002:  mul
- IL_0003:  nop
+           neg
  IL_0004:  pop
  IL_0005:  ret
"
    );
    // In the other direction, added lines are removed ones.
    let back = diff(&after, &before).to_string();
    assert!(back.contains("- .local [0] int\n"), "{back}");
    assert!(
        back.contains("-           neg\n") || back.contains(":  neg\n"),
        "{back}"
    );
}

#[test]
fn a_body_that_was_never_bytes_is_compared_by_its_instructions() {
    let before: MethodBody = "a: nop\nbr a\nret".parse().unwrap();
    let mut after = before.clone();
    let last = after.instructions().last().unwrap().id();
    let mut guarded = Fragment::new();
    guarded.try_block(|_| {}).finally(|_| {}).end();
    after.insert_before(last, Labels::Stay, &guarded).unwrap();
    assert_eq!(
        diff(&before, &after).to_string(),
        "  .maxstack 8
  IL_0000:  nop
  IL_0001:  br         IL_0000
+ NEW_1:    leave      IL_0003
+ NEW_2:    endfinally
  IL_0003:  ret
+ .try NEW_1 to NEW_2 finally handler NEW_2 to IL_0003
"
    );
}

#[test]
fn bodies_that_have_nothing_in_common() {
    let nothing = MethodBody::new();
    let loops = decoded(LOOP);
    for (before, after, mark) in [(&nothing, &loops, '+'), (&loops, &nothing, '-')] {
        let shown = diff(before, after).to_string();
        let instructions = shown.lines().filter(|line| line.starts_with(mark)).count();
        assert!(instructions >= 17, "{shown}");
    }
    assert!(diff(&nothing, &nothing).is_empty());
}
