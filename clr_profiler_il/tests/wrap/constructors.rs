//! Constructors: new code sees only a constructed object.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::{EditError, NotInstrumentable};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::Token;
use clr_profiler_il::wrap::{Caught, Constructors, MethodShape, Wrap};

use crate::machine::{Outcome, run};
use crate::parts::{FUEL, Parts, assert_mapped, assert_valid, note, trace};
use crate::shapes::built;
use crate::tokens::Tokens;

/// The number of the object.
const THIS: i64 = 9;

fn signature() -> MethodSig {
    MethodSig::instance(TypeSig::Void, vec![TypeSig::I4])
}

fn base(code: &mut Fragment) {
    code.call(MethodSymbol::new("Base", ".ctor", "instance void ()"));
}

/// Wraps a constructor and runs it: 1000 is the base constructor.
#[track_caller]
fn ran(tokens: &mut Tokens, body: &MethodBody, argument: i64) -> (Vec<i64>, Outcome) {
    let signature = signature();
    let mut wrapped = body.clone();
    {
        let shape = MethodShape::new(&signature).constructor(tokens);
        wrapped.wrap(&Parts::ALL.wrap(), &shape).unwrap();
    }
    assert_valid(&wrapped, tokens);
    assert_mapped(body, &wrapped, tokens);
    let ran = run(&wrapped, tokens, &[THIS, argument], false, FUEL);
    (ran.trace, ran.outcome)
}

#[test]
fn new_code_stands_behind_the_base_constructor() {
    let mut tokens = Tokens::default();
    let plain = built(&mut tokens, |f| {
        trace(f, 1);
        f.ldarg(0);
        base(f);
        trace(f, 2);
        f.ret();
    });
    let done = Outcome::Returned(None);
    assert_eq!(
        ran(&mut tokens, &plain, 0),
        (vec![1, 1000, 100, 2, 101, 103, 104], done)
    );
    // No code after it, and `this` copied before.
    let short = built(&mut tokens, |f| {
        f.ldarg(0).dup().pop();
        base(f);
        f.ret();
    });
    assert_eq!(
        ran(&mut tokens, &short, 0),
        (vec![1000, 100, 101, 103, 104], done)
    );
    // A choice between its arguments, a loop and a try region before, a loop to the instruction
    // after it.
    let busy = built(&mut tokens, |f| {
        let (again, other, join, back) = (f.label(), f.label(), f.label(), f.label());
        f.mark(again);
        f.try_block(|t| trace(t, 1)).finally(|h| trace(h, 2)).end();
        f.ldc_i4(0).brtrue(again);
        f.ldarg(0).ldarg(1).brtrue(other);
        f.nop().br(join);
        f.mark(other).nop().mark(join);
        base(f);
        f.mark(back);
        trace(f, 3);
        f.ldarg(1)
            .ldc_i4(-1)
            .add()
            .dup()
            .starg(1)
            .brtrue(back)
            .ret();
    });
    assert_eq!(
        ran(&mut tokens, &busy, 2),
        (vec![1, 2, 1000, 100, 3, 3, 101, 103, 104], done)
    );
    // An exception before it is not seen, one after it is.
    let throws = built(&mut tokens, |f| {
        let fine = f.label();
        f.ldarg(1).brtrue(fine).ldc_i4(5).throw().mark(fine);
        f.ldarg(0);
        base(f);
        f.ldc_i4(6).throw();
    });
    assert_eq!(ran(&mut tokens, &throws, 0), (vec![], Outcome::Threw(5)));
    assert_eq!(
        ran(&mut tokens, &throws, 1),
        (vec![1000, 100, 105, 6, 102, 6, 103], Outcome::Threw(6))
    );
    // The constructor of a structure in a local, called while `this` is on the stack, is not the
    // base constructor.
    let structure = built(&mut tokens, |f| {
        f.ldarg(0).ldloca(0);
        f.call(MethodSymbol::new("S", ".ctor", "instance void ()"));
        base(f);
        f.ret();
    });
    let calls: Vec<_> = structure.instructions().map(|one| one.id()).collect();
    let signature = signature();
    let mut wrapped = structure.clone();
    let shape = MethodShape::new(&signature).constructor(&tokens);
    wrapped.wrap(&Parts::ALL.wrap(), &shape).unwrap();
    let order: Vec<_> = wrapped.instructions().map(|one| one.id()).collect();
    // No new code before the second call, and some after it.
    assert_eq!(order[..4], calls[..4]);
    assert_ne!(order[4], calls[4]);
}

#[test]
fn constructors_that_cannot_be_wrapped() {
    use NotInstrumentable as Reason;
    let mut tokens = Tokens::default();
    let signature = signature();
    let wrap = Parts::ALL.wrap();
    type Case = (&'static str, fn(&mut Fragment), fn(&MethodBody) -> Reason);
    fn conditional(body: &MethodBody, index: usize) -> Reason {
        Reason::ConditionalConstructorCall(body.instructions().nth(index).unwrap().id())
    }
    let cases: [Case; 11] = [
        (
            "no call",
            |f| {
                f.ret();
            },
            |_| Reason::NoConstructorCall,
        ),
        (
            "on something else",
            |f| {
                f.ldarg(1);
                base(f);
                f.ret();
            },
            |_| Reason::NoConstructorCall,
        ),
        (
            "perhaps on something else",
            |f| {
                let (other, join) = (f.label(), f.label());
                f.ldarg(1).brtrue(other).ldarg(0).br(join);
                f.mark(other).ldarg(1).mark(join);
                base(f);
                f.ret();
            },
            |_| Reason::NoConstructorCall,
        ),
        (
            "with `this` replaced",
            |f| {
                f.ldarg(1).starg(0).ldarg(0);
                base(f);
                f.ret();
            },
            |_| Reason::NoConstructorCall,
        ),
        (
            "with values left on the stack",
            |f| {
                f.ldc_i4(1).ldarg(0);
                base(f);
                f.pop().ret();
            },
            |_| Reason::NoConstructorCall,
        ),
        (
            "in two branches",
            |f| {
                let other = f.label();
                f.ldarg(1).brtrue(other).ldarg(0);
                base(f);
                f.ret();
                f.mark(other).ldarg(0);
                base(f);
                f.ret();
            },
            |body| conditional(body, 3),
        ),
        (
            "in one branch",
            |f| {
                let other = f.label();
                f.ldarg(1).brtrue(other).ldarg(0);
                base(f);
                f.mark(other).ret();
            },
            |body| conditional(body, 3),
        ),
        (
            "after a return",
            |f| {
                let other = f.label();
                f.ldarg(1).brtrue(other).ret().mark(other).ldarg(0);
                base(f);
                f.ret();
            },
            |body| conditional(body, 4),
        ),
        (
            "in a loop",
            |f| {
                let again = f.label();
                f.mark(again).ldarg(0);
                base(f);
                f.ldarg(1).brtrue(again).ret();
            },
            |body| conditional(body, 1),
        ),
        (
            "in a try region",
            |f| {
                f.try_block(|t| {
                    t.ldarg(0);
                    base(t);
                })
                .finally(|_| {})
                .end()
                .ret();
            },
            |body| conditional(body, 1),
        ),
        (
            "in a handler",
            |f| {
                f.try_block(|t| {
                    t.nop();
                })
                .finally(|h| {
                    h.ldarg(0);
                    base(h);
                })
                .end()
                .ret();
            },
            |body| conditional(body, 3),
        ),
    ];
    for (name, build, reason) in cases {
        let body = built(&mut tokens, build);
        let shape = MethodShape::new(&signature).constructor(&tokens);
        let mut edited = body.clone();
        let error = edited.wrap(&wrap, &shape).expect_err(name);
        assert_eq!(error, EditError::from(reason(&body)), "{name}");
        assert_eq!(format!("{edited:?}"), format!("{body:?}"));
    }
    let body = {
        let mut code = Fragment::new();
        code.call(Token::new(0x0a00_0fff)).ldarg(0);
        base(&mut code);
        code.ret();
        let mut body = MethodBody::new();
        body.append(&code).unwrap();
        body
    };
    let shape = MethodShape::new(&signature).constructor(&tokens);
    let error = body.clone().wrap(&wrap, &shape).unwrap_err();
    let reason = Reason::UnknownCall(body.first().unwrap());
    assert_eq!(error, reason.into());
}

#[test]
fn whole_constructors() {
    let mut tokens = Tokens::default();
    let signature = signature();
    let body = built(&mut tokens, |f| {
        f.ldarg(0);
        base(f);
        f.ldarg(1).throw();
    });
    let whole = |wrap: Wrap| wrap.constructors(Constructors::Whole);
    let mut wrapped = body.clone();
    {
        let shape = MethodShape::new(&signature).constructor(&tokens);
        wrapped.wrap(&whole(Parts::ALL.wrap()), &shape).unwrap();
    }
    assert_valid(&wrapped, &mut tokens);
    let ran = run(&wrapped, &tokens, &[THIS, 4], false, FUEL);
    assert_eq!(ran.trace, [100, 1000, 105, 4, 102, 4, 103]);

    let shape = MethodShape::new(&signature).constructor(&tokens);
    let this = |code: &mut Fragment| {
        code.ldarg(0);
        note(code);
    };
    for (wrap, refused) in [
        (Wrap::new().before(move |code, _| this(code)), true),
        (Wrap::new().finally(move |code, _| this(code)), true),
        (
            Wrap::new().on_exception("E", Caught::Rethrow, move |code, _, _| this(code)),
            true,
        ),
        (
            Wrap::new().on_exception("E", Caught::Swallow, |_, _, _| {}),
            true,
        ),
        (
            Wrap::new().skip_if(|code, _| {
                code.ldc_i4(0);
            }),
            true,
        ),
        (
            Wrap::new().replace_argument(0, |code, _| {
                code.ldarg(1);
            }),
            true,
        ),
        (Wrap::new().on_return(move |code, _| this(code)), false),
        (Wrap::new().after(move |code, _| this(code)), false),
        (
            Wrap::new().replace_argument(1, |code, _| {
                code.ldarg(1);
            }),
            false,
        ),
    ] {
        let mut edited = body.clone();
        let error = edited.wrap(&whole(wrap.clone()), &shape).err();
        let reason = NotInstrumentable::UninitializedThis;
        assert_eq!(error, refused.then(|| reason.into()), "{wrap:?}");
        // After the base constructor it is allowed.
        body.clone().wrap(&wrap, &shape).unwrap();
    }
}
