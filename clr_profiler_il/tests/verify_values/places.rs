//! The context of the method and the position in the code; the display of violations.

use super::*;

#[test]
fn regions() {
    check(
        "1 values are left on the stack, which must be empty",
        |f| {
            f.try_block(|_| {}).finally(|_| {}).end().ret();
        },
        |f| {
            f.ldnull();
            f.try_block(|_| {}).finally(|_| {}).end().ret();
        },
    );
    // A handler gets an object.
    check(
        "operand 1 is object, not int32",
        |f| {
            f.try_block(|_| {})
                .catch(class(), |handler| {
                    handler.stloc(OBJECT);
                })
                .end()
                .ret();
        },
        |f| {
            f.try_block(|_| {})
                .catch(class(), |handler| {
                    handler.stloc(INT);
                })
                .end()
                .ret();
        },
    );
    check(
        "operand 1 is object, not int32",
        |f| {
            f.try_block(|_| {})
                .filter(
                    |filter| {
                        filter.pop().ldc_i4(1);
                    },
                    |handler| {
                        handler.pop();
                    },
                )
                .end()
                .ret();
        },
        |f| {
            f.try_block(|_| {})
                .filter(
                    |_| {},
                    |handler| {
                        handler.pop();
                    },
                )
                .end()
                .ret();
        },
    );
    check(
        "1 values are left on the stack, which must be empty",
        |f| {
            f.ldc_i4(8).localloc().pop().ret();
        },
        |f| {
            f.ldnull().ldc_i4(8).localloc().pop().pop().ret();
        },
    );
}

#[test]
fn the_declared_depth() {
    let mut fragment = Fragment::new();
    fragment.ldnull().dup().pop().pop().ret();
    let mut body = MethodBody::new();
    body.append(&fragment).unwrap();
    let signature = MethodSig::new(TypeSig::Void, vec![]);
    let context = MethodContext::new(&signature);
    body.set_max_stack(2);
    assert_eq!(body.verify(&context, &()), []);
    body.set_max_stack(1);
    let violations = body.verify(&context, &());
    let (declared, depth) = (1, 2);
    assert_eq!(violations[0].rule, Rule::MaxStack { declared, depth });
    assert_eq!(violations.len(), 1);
    // The depth is reached after the second instruction.
    let second = body.instructions().nth(1).unwrap();
    assert_eq!(violations[0].instruction, Some(second.id()));
}

#[test]
fn this_and_generic_parameters() {
    let body = |bytes: &[u8]| MethodBody::decode(bytes).unwrap();
    // `ldarg.0; ldind.i4; pop; ret`
    let reads = body(&[0x12, 0x02, 0x4a, 0x26, 0x2a]);
    // `ldarg.0; throw`
    let throws = body(&[0x0a, 0x02, 0x7a]);
    let count = |body: &MethodBody, context: MethodContext<'_>| body.verify(&context, &()).len();
    let instance = MethodSig::instance(TypeSig::Void, vec![]);
    assert_eq!(count(&reads, MethodContext::new(&instance)), 1);
    assert_eq!(count(&throws, MethodContext::new(&instance)), 0);
    assert_eq!(count(&reads, MethodContext::of_value_type(&instance)), 0);
    assert_eq!(count(&throws, MethodContext::of_value_type(&instance)), 1);
    // With an explicit `this`, its kind is that of the first parameter.
    let mut explicit = MethodSig::instance(TypeSig::Void, vec![TypeSig::NativeInt]);
    explicit.explicit_this = true;
    assert_eq!(count(&reads, MethodContext::new(&explicit)), 0);
    assert_eq!(count(&throws, MethodContext::new(&explicit)), 1);
    // `T` is an object only if it is constrained to be one.
    let generic = MethodSig {
        generic_parameter_count: 1,
        ..MethodSig::new(TypeSig::Void, vec![TypeSig::MVar(0)])
    };
    let context = MethodContext::new(&generic);
    assert_eq!(count(&throws, context), 1);
    let references = [TypeSig::MVar(0)];
    let constrained = MethodContext {
        references: &references,
        ..context
    };
    assert_eq!(count(&throws, constrained), 0);
}

#[test]
fn what_nobody_knows_is_not_blamed() {
    let (_, violations) = verify(&TypeSig::I4, |f| {
        // It may be an enumeration.
        f.ldarg(UNKNOWN).ldc_i4(1).add().stloc(UNKNOWN);
        f.ldarg(UNKNOWN).ret();
    });
    assert_eq!(violations, []);
    // A symbol tells the number of values that it takes, not their kinds.
    check(
        "1 values are left on the stack, which must be empty",
        |f| {
            f.ldarg(INT).ldarg(FLOAT);
            f.call(MethodSymbol::new("A", "B", "int (string, int)"));
            f.ldnull()
                .call(MethodSymbol::new("A", "C", "void (X, Y)"))
                .ret();
        },
        |f| {
            f.ldarg(INT).ldarg(FLOAT);
            f.call(MethodSymbol::new("A", "B", "int (string)"));
            f.pop().ret();
        },
    );
    // Unreachable code.
    check(
        "operand 1 is int32, not object",
        |f| {
            f.ret().ldc_i4(1).throw();
        },
        |f| {
            let end = f.label();
            f.ldarg(INT).brtrue(end).ret().mark(end).ldc_i4(1).throw();
        },
    );
}

#[test]
fn mistakes_are_in_the_order_of_the_code() {
    let (body, violations) = verify(&TypeSig::Void, |f| {
        let (one, other) = (f.label(), f.label());
        f.ldarg(INT).switch(&[one, other]).ldarg(FLOAT).throw();
        f.mark(one).ldarg(INT).throw();
        f.mark(other).ldarg(LONG).throw();
    });
    let rank = |violation: &Violation| {
        let mut ids = body.instructions().map(|one| Some(one.id()));
        ids.position(|id| id == violation.instruction)
    };
    let ranks: Vec<_> = violations.iter().map(rank).collect();
    assert_eq!(ranks, [Some(3), Some(5), Some(7)]);
}

#[test]
fn a_mistake_is_shown_in_its_code() {
    // `ldarg.0; pop; ldarg.0; ldc.r8 1; add; pop; ret`
    let mut bytes = vec![0x02, 0x26, 0x02, 0x23];
    bytes.extend(1.0_f64.to_le_bytes());
    bytes.extend([0x58, 0x26, 0x2a]);
    bytes.insert(0, u8::try_from(bytes.len() << 2 | 2).unwrap());
    let mut body = MethodBody::decode(&bytes).unwrap();
    let signature = MethodSig::new(TypeSig::Void, vec![TypeSig::I4]);
    let context = MethodContext::new(&signature);
    let violations = body.verify(&context, &());
    assert_eq!(
        violations[0].display(&body).to_string(),
        "\
IL_000c: int32 and float cannot be combined
    IL_0000:  ldarg.0
    IL_0001:  pop
    IL_0002:  ldarg.0
    IL_0003:  ldc.r8     1.0
>>> IL_000c:  add
    IL_000d:  pop
    IL_000e:  ret
"
    );
    body.prologue(Fragment::new().ldc_i4(1).throw()).unwrap();
    body.prologue(Fragment::new().ldarg(1).pop()).unwrap();
    let violations = body.verify(&context, &());
    let shown = |at: usize| violations[at].display(&body).to_string();
    assert_eq!(
        shown(0),
        "\
IL_0000 (inserted): there is no argument 1
>>> IL_0000:  ldarg.1
    IL_0001:  pop
    IL_0002:  ldc.i4.1
    IL_0003:  throw
    IL_0004:  ldarg.0
"
    );
    assert!(shown(1).starts_with("IL_0003 (inserted): operand 1 is int32, not object\n"));
    assert_eq!(violations.len(), 2);
    // A violation of the structure is displayed in the same way, with its offset in the original.
    let last = body.instructions().last().unwrap().id();
    body.remove(last).unwrap();
    let violations = body.verify_structure();
    assert_eq!(
        violations[0].display(&body).to_string(),
        "\
IL_0011 (IL_000d in the original): control falls off the end of the code
    IL_0005:  pop
    IL_0006:  ldarg.0
    IL_0007:  ldc.r8     1.0
    IL_0010:  add
>>> IL_0011:  pop
"
    );
}
