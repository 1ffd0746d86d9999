//! Every method body of every assembly of the runtimes is verified with the kinds of its values,
//! unchanged, with code before and after it, and wrapped; and the depth of its stack is computed and compared with
//! the declared one.

use assembly_reader::{Assembly, Framework, Method, Tokens};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::stack::{StackError, StackErrorKind};
use clr_profiler_il::symbol::{MethodSymbol, Reference, Resolver};
use clr_profiler_il::verify::MethodContext;
use clr_profiler_il::wrap::{Caught, MethodShape, Wrap};
use clr_profiler_tests::Sample;
use examples_support::Pinned;

use crate::corpus::files;

/// The counts for the bodies of a runtime.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    bodies: usize,
    /// Bodies with a fat header, which declares a depth.
    fat: usize,
    /// Of these, those that declare the computed depth.
    exact: usize,
    /// Bodies that declare more because the C# compiler took `void` with a modifier, the return type of
    /// `init` accessors, for a value.
    miscounted: usize,
    /// Bodies that declare more and have no such call.
    other: Vec<Inexact>,
    /// Bodies that were wrapped.
    wrapped: usize,
    /// Bodies that were given a wrong value before every `ret`.
    spoiled: usize,
    /// Of these, those in which the verifier notices it.
    noticed: usize,
}

/// A body that declares another depth than the computed one.
#[derive(Debug, PartialEq, Eq)]
struct Inexact {
    method: String,
    declared: u32,
    computed: u32,
}

/// Whether a type's methods take a pointer as `this`.
fn is_value_type(owner: &TypeSig) -> bool {
    !matches!(
        owner,
        TypeSig::Class(_)
            | TypeSig::Object
            | TypeSig::String
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            }
    )
}

/// Whether the header has a declared depth; the tiny one implies 8.
fn is_fat(method: &Method<'_>) -> bool {
    method.body.is_some_and(|body| body[0] & 3 == 3)
}

/// Takes a modified `void` for a return value.
struct Miscounting<'a>(&'a Tokens<'a, 'a>);

impl Resolver for Miscounting<'_> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        let mut signature = self.0.method(method)?;
        if signature.return_type != TypeSig::Void {
            signature.return_type = TypeSig::Object;
        }
        Some(signature)
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        self.0.signature(signature)
    }
}

/// Uses the arguments of every part.
fn wrap() -> Wrap {
    Wrap::new()
        .local(TypeSig::Object)
        .before(|code, method| {
            code.ldstr("here").stloc(method.local(0));
        })
        .on_return(|code, method| {
            if let Some(result) = method.result {
                code.ldloc(result).stloc(result);
            }
        })
        .on_exception(
            "System.Exception",
            Caught::Rethrow,
            |code, method, caught| {
                code.ldloc(caught).stloc(method.local(0));
            },
        )
        .finally(|code, method| {
            if let Some(exception) = method.exception {
                code.ldloc(exception).pop();
            }
        })
        .after(|code, method| {
            code.ldloc(method.local(0))
                .callvirt(MethodSymbol::new("X", "Y", "instance void ()"));
        })
}

struct Checked<'a> {
    name: &'a str,
    assembly: &'a Assembly<'a>,
    wrap: &'a Wrap,
    tokens: Tokens<'a, 'a>,
    figures: Figures,
    failures: Vec<String>,
}

impl Checked<'_> {
    fn method(&mut self, method: &Method<'_>) {
        let Some(bytes) = method.body else { return };
        self.figures.bodies += 1;
        let signature = MethodSig::parse(method.signature).expect("a signature");
        let owner = self.tokens.owner(method.token).expect("a type");
        let references = self.tokens.references(method.token);
        let context = MethodContext {
            signature: &signature,
            this_is_pointer: is_value_type(&owner),
            references: &references,
        };
        let original = MethodBody::decode(bytes).expect("a body");
        self.verify(&original, &context, method);
        self.depth(&original, method);

        let mut edited = original.clone();
        let mut nothing = Fragment::new();
        nothing.ldc_i4(7).pop();
        edited.prologue(&nothing).expect("a prologue");
        edited.before_ret(&nothing).expect("an epilogue");
        self.verify(&edited, &context, method);
        self.wrapped(&original, &context, method);
        self.spoil(original, &context);
    }

    fn verify(&mut self, body: &MethodBody, context: &MethodContext<'_>, method: &Method<'_>) {
        for violation in body.verify(context, &self.tokens) {
            self.failures.push(format!(
                "{} {} {}, {}",
                self.name,
                method.token,
                method.name,
                violation.display(body)
            ));
        }
    }

    /// The declared depth is the computed one, or there is a known reason.
    fn depth(&mut self, body: &MethodBody, method: &Method<'_>) {
        let computed = match body.stack_depths(&self.tokens) {
            Ok(depths) => depths.max(),
            Err(error) => {
                let failure = format!("{} {}: {error}", self.name, method.token);
                self.failures.push(failure);
                return;
            }
        };
        if !is_fat(method) {
            return;
        }
        self.figures.fat += 1;
        let declared = body.max_stack();
        if declared == computed {
            self.figures.exact += 1;
            return;
        }
        match body.stack_depths(&Miscounting(&self.tokens)) {
            Ok(depths) if depths.max() == declared => self.figures.miscounted += 1,
            // In a loop or after a branch, the mistake is one of the depth at a join.
            Err(StackError {
                kind: StackErrorKind::Mismatch { .. },
                ..
            }) if declared > computed => self.figures.miscounted += 1,
            _ => self.figures.other.push(Inexact {
                method: format!("{} {}", self.name, method.name),
                declared,
                computed,
            }),
        }
    }

    /// Code around all of it, with access to the result or the exception.
    fn wrapped(&mut self, body: &MethodBody, context: &MethodContext<'_>, method: &Method<'_>) {
        let assembly = self.assembly;
        let flags = assembly.row(method.token).expect("flags");
        let Ok(mut shape) =
            MethodShape::new(context.signature).implementation(flags.implementation)
        else {
            return;
        };
        if method.name == ".ctor" && !context.this_is_pointer {
            shape = shape.constructor(&self.tokens);
        }
        let mut body = body.clone();
        if let Some(token) = body.locals_token() {
            body.set_locals(assembly.locals(token).expect("locals"));
        }
        if body.wrap(self.wrap, &shape).is_ok() {
            self.figures.wrapped += 1;
            let signature = MethodSig {
                return_type: shape.return_type().clone(),
                ..context.signature.clone()
            };
            let context = MethodContext {
                signature: &signature,
                ..*context
            };
            self.verify(&body, &context, method);
        }
    }

    /// A value of a wrong kind before every `ret`.
    fn spoil(&mut self, mut body: MethodBody, context: &MethodContext<'_>) {
        let mut wrong = Fragment::new();
        match context.signature.return_type.unmodified() {
            TypeSig::Void => wrong.ldnull(),
            TypeSig::R4 | TypeSig::R8 => wrong.pop().ldnull(),
            _ => wrong.pop().ldc_r8(0.0),
        };
        let rets = body
            .instructions()
            .filter(|one| one.opcode() == Opcode::Ret);
        if rets.count() == 0 {
            return;
        }
        body.before_ret(&wrong).expect("an epilogue");
        self.figures.spoiled += 1;
        let violations = body.verify(context, &self.tokens);
        self.figures.noticed += usize::from(!violations.is_empty());
    }
}

fn check(pinned: &Pinned, expected: &Figures) {
    let Some(files) = files::assemblies(pinned) else {
        return;
    };
    let assemblies = files.iter().map(|(name, bytes)| {
        Assembly::open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let framework = Framework::new(assemblies.collect());
    let wrap = wrap();
    let sample = Sample::one_of(8);
    let mut figures = Figures::default();
    let mut failures = Vec::new();
    for (index, (name, _)) in files.iter().enumerate() {
        let mut checked = Checked {
            name,
            assembly: framework.get(index).expect("an assembly"),
            wrap: &wrap,
            tokens: framework.tokens(index).expect("an assembly"),
            figures,
            failures,
        };
        for (number, method) in checked.assembly.all_methods().enumerate() {
            if sample.has(number) {
                checked.method(&method.expect("a method"));
            }
        }
        Checked {
            figures,
            failures,
            ..
        } = checked;
    }
    println!("{}: {figures:?}", pinned.name);
    assert!(
        failures.is_empty(),
        "{} failures, the first:\n{}",
        failures.len(),
        failures[0]
    );
    if sample.is_whole() {
        assert_eq!(figures, *expected);
    } else {
        assert!(figures.noticed == figures.spoiled && figures.spoiled > expected.spoiled / 12);
    }
}

#[test]
fn net_core_3_1() {
    check(
        &Pinned::NET_CORE_3_1,
        &Figures {
            bodies: 96_589,
            fat: 31_198,
            exact: 31_198,
            miscounted: 0,
            other: Vec::new(),
            wrapped: 96_588,
            spoiled: 93_016,
            noticed: 93_016,
        },
    );
}

#[test]
fn net_8() {
    check(
        &Pinned::NET_8,
        &Figures {
            bodies: 115_802,
            fat: 36_643,
            exact: 36_636,
            miscounted: 7,
            other: Vec::new(),
            wrapped: 115_801,
            spoiled: 109_157,
            noticed: 109_157,
        },
    );
}

#[test]
fn net_10() {
    // `ldnull; ret`: the code for which it needed its depth was removed.
    let removed = Inexact {
        method: "UglyToad.PdfPig.Fonts.dll ReadFormat2Table".to_owned(),
        declared: 4,
        computed: 1,
    };
    check(
        &Pinned::NET_10,
        &Figures {
            bodies: 223_861,
            fat: 66_536,
            exact: 66_520,
            miscounted: 15,
            other: vec![removed],
            wrapped: 223_850,
            spoiled: 213_154,
            noticed: 213_154,
        },
    );
}
