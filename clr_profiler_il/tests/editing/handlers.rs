//! Handlers added to a body.

use super::*;

#[test]
fn handlers_are_put_in_order() {
    // nop; nop; ret
    let mut body = tiny(&[0x00, 0x00, 0x2a]);
    let all = ids(&body);
    let pop = one(|f| {
        f.pop();
    });
    body.add_catch(all[1], all[1], "A", &pop).unwrap();
    assert_eq!(
        code(&body),
        [
            "IL_0000 nop",
            "IL_0001 nop",
            "IL_0002 leave.s IL_0007",
            "IL_0004 pop",
            "IL_0005 leave.s IL_0007",
            "IL_0007 ret",
            ".try IL_0001 to IL_0004 catch A handler IL_0004 to IL_0007",
        ]
    );
    let last = ids(&body)[4];
    // A second handler of the same region, and one around both.
    let leave = ids(&body)[2];
    body.add_catch(all[1], leave, "B", &pop).unwrap();
    body.add_finally(all[0], last, &Fragment::new()).unwrap();
    let text = code(&body);
    assert_eq!(
        text[text.len() - 3..],
        [
            ".try IL_0001 to IL_0004 catch A handler IL_0007 to IL_000a",
            ".try IL_0001 to IL_0004 catch B handler IL_0004 to IL_0007",
            ".try IL_0000 to IL_000a finally handler IL_000a to IL_000b",
        ]
    );
    // A fragment with a clause of its own, inside.
    let inner = one(|f| {
        f.try_block(|t| {
            t.nop();
        })
        .fault(|_| {})
        .end();
    });
    body.insert_before(all[0], Labels::Stay, &inner).unwrap();
    let kinds: Vec<_> = body.clauses().map(|clause| clause.kind).collect();
    assert!(matches!(
        kinds[..],
        [
            HandlerKind::Fault,
            HandlerKind::Catch(_),
            HandlerKind::Catch(_),
            HandlerKind::Finally
        ]
    ));
    assert_eq!(
        body.add_fault(all[1], all[0], &pop),
        Err(EditError::EmptyRegion)
    );
    let mut out = Vec::new();
    body.encode(&mut Table, &mut out).unwrap();
    assert_eq!(MethodBody::decode(&out).unwrap().clauses().count(), 4);
}

#[test]
fn filters_come_to_stand_between_what_they_protect_and_their_handlers() {
    let mut body = MethodBody::decode(&[0x0e, 0x00, 0x00, 0x2a]).unwrap();
    let all = ids(&body);
    let filter = one(|f| {
        f.pop().ldc_i4(1);
    });
    let handler = one(|f| {
        f.ldc_i4(2).pop().pop();
    });
    body.add_filter(all[0], all[1], &filter, &handler).unwrap();
    assert_eq!(
        code(&body),
        [
            "IL_0000 nop",
            "IL_0001 nop",
            "IL_0002 leave.s IL_000d",
            "IL_0004 pop",
            "IL_0005 ldc.i4.1",
            "IL_0006 endfilter",
            "IL_0008 ldc.i4.2",
            "IL_0009 pop",
            "IL_000a pop",
            "IL_000b leave.s IL_000d",
            "IL_000d ret",
            ".try IL_0000 to IL_0004 filter IL_0004 handler IL_0008 to IL_000d",
        ]
    );
    // The exception and the handler's own values, in addition to the declared depth.
    assert_eq!(body.max_stack(), 10);
    let signature = MethodSig::new(TypeSig::Void, vec![]);
    assert_eq!(body.verify(&MethodContext::new(&signature), &()), []);
    let never_answers = one(|f| {
        f.throw();
    });
    assert_eq!(
        body.add_filter(all[0], all[1], &never_answers, &handler),
        Err(EditError::EmptyRegion)
    );
}
