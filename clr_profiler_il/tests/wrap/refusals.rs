//! Refusals leave the body unchanged.

use clr_profiler_il::attributes::{MethodAttributes, MethodImplAttributes};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::{EditError, NotInstrumentable};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::InstructionId;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{CallingConvention, LocalsSig, MAX_LOCALS, MethodSig, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::TypeRef;
use clr_profiler_il::wrap::{Caught, MethodShape, TailCalls, Wrap};

use crate::parts::{Parts, assert_valid, signature};
use crate::shapes::built;
use crate::tokens::Tokens;

/// The error, after checking that nothing has changed.
#[track_caller]
fn refused(body: &MethodBody, wrap: &Wrap, shape: &MethodShape<'_>) -> EditError {
    let mut edited = body.clone();
    let error = edited.wrap(wrap, shape).expect_err("a refusal");
    assert_eq!(format!("{edited:?}"), format!("{body:?}"));
    error
}

fn nth(body: &MethodBody, index: usize) -> InstructionId {
    body.instructions().nth(index).unwrap().id()
}

#[test]
fn bodies_that_cannot_be_wrapped() {
    let mut tokens = Tokens::default();
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    let wrap = Parts::ALL.wrap();
    let callee = MethodSymbol::new("H", "M", "int ()");

    let body = built(&mut tokens, |f| {
        f.nop().tail().call(&callee).ret();
    });
    let reason = NotInstrumentable::TailCall(nth(&body, 1));
    assert_eq!(refused(&body, &wrap, &shape), reason.into());
    let strip = Parts::ALL.wrap().tail_calls(TailCalls::StripPrefix);
    let mut stripped = body.clone();
    stripped.wrap(&strip, &shape).unwrap();
    assert_valid(&stripped, &mut tokens);
    assert!(!stripped.to_string().contains("tail."));

    let body = built(&mut tokens, |f| {
        f.nop().jmp(&callee);
    });
    let reason = NotInstrumentable::Jmp(nth(&body, 1));
    assert_eq!(refused(&body, &wrap, &shape), reason.into());

    let body = built(&mut tokens, |f| {
        f.try_block(|_| {})
            .finally(|h| {
                h.ldc_i4(1).ret();
            })
            .end()
            .ldc_i4(2)
            .ret();
    });
    let reason = NotInstrumentable::RetInHandler(nth(&body, 2));
    assert_eq!(refused(&body, &wrap, &shape), reason.into());
    let body = built(&mut tokens, |f| {
        f.try_block(|_| {})
            .filter(
                |x| {
                    x.ret();
                },
                |h| {
                    h.pop();
                },
            )
            .end()
            .ldc_i4(2)
            .ret();
    });
    let reason = NotInstrumentable::RetInHandler(nth(&body, 1));
    assert_eq!(refused(&body, &wrap, &shape), reason.into());

    let body = built(&mut tokens, |f| {
        f.ldc_i4(1).ret().nop();
    });
    let reason = NotInstrumentable::FallsOffTheEnd(nth(&body, 2));
    assert_eq!(refused(&body, &wrap, &shape), reason.into());
    assert_eq!(
        refused(&MethodBody::new(), &wrap, &shape),
        EditError::EmptyRegion
    );

    let fine = built(&mut tokens, |f| {
        f.ldc_i4(1).ret();
    });
    let mut vararg = signature.clone();
    vararg.convention = CallingConvention::VarArg;
    let error = refused(&fine, &wrap, &MethodShape::new(&vararg));
    assert_eq!(error, NotInstrumentable::VarArg.into());
    assert_eq!(
        error.to_string(),
        "not instrumentable: the method takes a variable number of arguments"
    );
}

#[test]
fn locals_must_be_known_and_fit() {
    let mut tokens = Tokens::default();
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    let body = built(&mut tokens, |f| {
        f.ldc_i4(1).ret();
    });
    let mut unknown = tokens.encoded(&body);
    assert_eq!(
        refused(&unknown, &Parts::ALL.wrap(), &shape),
        EditError::UnknownLocals
    );
    // None are needed if nothing is returned and nothing is caught.
    let void = MethodSig::new(TypeSig::Void, vec![]);
    let wrap = Wrap::new().after(|code, _| {
        code.nop();
    });
    unknown.wrap(&wrap, &MethodShape::new(&void)).unwrap();
    let mut full = body.clone();
    // A result and an exception: two are one too many.
    for (count, fits) in [(MAX_LOCALS - 2, true), (MAX_LOCALS - 1, false)] {
        full.set_locals(LocalsSig {
            locals: vec![TypeSig::I4; count],
        });
        if fits {
            let wrapped = full.clone().wrap(&Parts::ALL.wrap(), &shape).unwrap();
            assert_eq!(wrapped.exception, Some(0xfffd));
        } else {
            let error = refused(&full, &Parts::ALL.wrap(), &shape);
            assert!(matches!(error, EditError::Locals(_)), "{error}");
        }
    }
}

#[test]
fn code_that_cannot_stand_there() {
    let mut tokens = Tokens::default();
    let int = signature(true);
    let shape = MethodShape::new(&int);
    let body = built(&mut tokens, |f| {
        f.ldc_i4(1).ret();
    });
    let misplaced = |opcode| EditError::Misplaced(opcode);
    let method = MethodSymbol::new("H", "M", "void ()");
    let loose = {
        let mut code = Fragment::new();
        code.label()
    };
    let cases: [(Wrap, EditError); 11] = [
        (
            Wrap::new().before(|code, _| {
                code.ldc_i4(1).ret();
            }),
            misplaced(Opcode::Ret),
        ),
        (
            Wrap::new().on_return({
                let method = method.clone();
                move |code, _| {
                    code.jmp(&method);
                }
            }),
            misplaced(Opcode::Jmp),
        ),
        (
            Wrap::new().after(move |code, _| {
                code.tail().call(&method);
            }),
            misplaced(Opcode::Tail),
        ),
        (
            Wrap::new().finally(|code, _| {
                code.ldc_i4(8).conv_u().localloc().pop();
            }),
            misplaced(Opcode::Localloc),
        ),
        (
            Wrap::new().on_exception("E", Caught::Rethrow, |code, _, _| {
                code.ldc_i4(8).conv_u().localloc().pop();
            }),
            misplaced(Opcode::Localloc),
        ),
        (
            Wrap::new().before(|code, _| {
                code.volatile();
            }),
            EditError::DanglingPrefix,
        ),
        (
            Wrap::new().before(|code, _| {
                let label = code.label();
                code.br(label);
            }),
            EditError::UnboundLabel(loose),
        ),
        (
            Wrap::new().finally(|code, _| {
                code.ldarg(1).pop();
            }),
            EditError::NoArgument(1),
        ),
        (
            Wrap::new().replace_argument(1, |code, _| {
                code.ldc_i4(0);
            }),
            EditError::NoArgument(1),
        ),
        (
            Wrap::new().after(|code, method| {
                code.ldloc(method.local(0)).pop();
            }),
            EditError::NoLocal(u16::MAX),
        ),
        (
            // One existing local, and one for the result.
            Wrap::new().after(|code, _| {
                code.ldloca(2).pop();
            }),
            EditError::NoLocal(2),
        ),
    ];
    for (wrap, expected) in cases {
        // Labels are comparable only within one fragment.
        let refused = refused(&body, &wrap, &shape);
        assert_eq!(refused.to_string(), expected.to_string(), "{wrap:?}");
    }
    let body = built(&mut tokens, |f| {
        f.ret();
    });
    let void = signature(false);
    let wrap = Wrap::new().replace_result(|code, _, _| {
        code.ldc_i4(0);
    });
    assert_eq!(
        refused(&body, &wrap, &MethodShape::new(&void)),
        EditError::NoResult
    );
    // `localloc` is allowed in code outside of handlers.
    let wrap = Wrap::new().before(|code, _| {
        code.ldc_i4(8).conv_u().localloc().pop();
    });
    body.clone().wrap(&wrap, &MethodShape::new(&void)).unwrap();
}

#[test]
fn results_of_any_type() {
    let mut tokens = Tokens::default();
    let name = TypeRef::from_row(1).unwrap();
    let by_ref = TypeSig::ByRef(Box::new(TypeSig::I4));
    let read_only = TypeSig::Modified {
        required: true,
        modifier: name.into(),
        inner: Box::new(by_ref.clone()),
    };
    let task = TypeSig::Class(name.into());
    let promise = TypeSig::GenericInstance {
        is_value_type: true,
        definition: name.into(),
        arguments: vec![TypeSig::MVar(0)],
    };
    let pointer = TypeSig::Pointer(Box::new(TypeSig::Void));
    let (none, runtime_async) = (MethodImplAttributes::empty(), MethodImplAttributes::ASYNC);
    for (declared, implementation, local) in [
        (TypeSig::I4, none, Some(TypeSig::I4)),
        (by_ref.clone(), none, Some(by_ref.clone())),
        (read_only, none, Some(by_ref)),
        (pointer.clone(), none, Some(pointer)),
        (
            TypeSig::ValueType(name.into()),
            none,
            Some(TypeSig::ValueType(name.into())),
        ),
        (TypeSig::MVar(0), none, Some(TypeSig::MVar(0))),
        (TypeSig::TypedReference, none, Some(TypeSig::TypedReference)),
        (task.clone(), none, Some(task.clone())),
        (promise.clone(), none, Some(promise.clone())),
        // Runtime-async.
        (task, runtime_async, None),
        (TypeSig::ValueType(name.into()), runtime_async, None),
        (promise, runtime_async, Some(TypeSig::MVar(0))),
    ] {
        let returns = local.is_some();
        let mut body = built(&mut tokens, |f| {
            if returns {
                f.ldarg(0);
            }
            f.ret();
        });
        let method = MethodSig::new(declared, vec![TypeSig::I4]);
        let shape = MethodShape::new(&method)
            .implementation(implementation)
            .unwrap();
        let wrapped = body.wrap(&Parts::ALL.wrap(), &shape).unwrap();
        assert_valid(&body, &mut tokens);
        let locals = &body.locals().unwrap().locals;
        let of = wrapped
            .result
            .map(|number| locals[usize::from(number)].clone());
        assert_eq!(of, local);
        let exception = usize::from(wrapped.exception.unwrap());
        assert_eq!(locals[exception], TypeSig::Object);
    }
    for declared in [
        TypeSig::Void,
        TypeSig::I4,
        TypeSig::SzArray(Box::new(TypeSig::I4)),
    ] {
        let method = MethodSig::new(declared, vec![]);
        let refusal = MethodShape::new(&method)
            .implementation(runtime_async)
            .unwrap_err();
        assert_eq!(refusal, NotInstrumentable::RuntimeAsync);
    }
}

#[test]
fn locals_are_zero_only_where_that_matters() {
    let mut tokens = Tokens::default();
    let int = signature(true);
    let shape = MethodShape::new(&int).exception_type(TypeSig::String);
    let body = built(&mut tokens, |f| {
        f.ldc_i4(1).ret();
    });
    let none = Parts::default();
    let rethrow = Some(Caught::Rethrow);
    for (parts, init) in [
        (
            Parts {
                on_return: true,
                after: true,
                ..none
            },
            false,
        ),
        (
            Parts {
                caught: rethrow,
                on_return: true,
                ..none
            },
            false,
        ),
        (
            Parts {
                finally: true,
                ..none
            },
            true,
        ),
        (
            Parts {
                fault: true,
                ..none
            },
            true,
        ),
        (
            Parts {
                caught: rethrow,
                after: true,
                ..none
            },
            true,
        ),
        (
            Parts {
                caught: Some(Caught::Swallow),
                ..none
            },
            true,
        ),
        (
            Parts {
                skip: Some(false),
                ..none
            },
            true,
        ),
        (
            Parts {
                before: true,
                ..none
            },
            false,
        ),
    ] {
        let mut wrapped = body.clone();
        wrapped.wrap(&parts.wrap(), &shape).unwrap();
        assert_eq!(wrapped.init_locals(), init, "{parts:?}");
        if parts.caught.is_some() {
            let locals = &wrapped.locals().unwrap().locals;
            assert_eq!(locals.last(), Some(&TypeSig::String));
        }
    }
}

#[test]
fn methods_without_il() {
    use NotInstrumentable as Reason;
    // Attributes, implementation flags, RVA.
    for (attributes, flags, rva, reason) in [
        (0x0086, 0x0000, 0x2050, None),
        // synchronized, aggressive inlining
        (0x0096, 0x0120, 0x2050, None),
        (0x05c6, 0x0000, 0, Some(Reason::Abstract)),
        (0x2096, 0x0080, 0, Some(Reason::PInvoke)),
        (0x0096, 0x1000, 0, Some(Reason::InternalCall)),
        // `Invoke` of a delegate
        (0x01c6, 0x0003, 0, Some(Reason::Runtime)),
        (0x0096, 0x0001, 0x3000, Some(Reason::Native)),
        (0x0096, 0x0004, 0x3000, Some(Reason::Native)),
        (0x0016, 0x0000, 0, Some(Reason::Extern)),
    ] {
        let attributes = MethodAttributes::from_bits_retain(attributes);
        let implementation = MethodImplAttributes::from_bits_retain(flags);
        assert_eq!(Reason::without_il(attributes, implementation, rva), reason);
    }
}
