//! Every method body of every assembly of the runtimes is wrapped with all features of a wrap.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

use assembly_reader::{Assembly, Method};
use clr_metadata::TypeKind;
use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::edit::{EditError, NotInstrumentable};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Position;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler_il::symbol::{
    CallShape, FieldSymbol, MethodSymbol, Reference, Resolver, TokenSource, TypeSymbol,
};
use clr_profiler_il::token::Token;
use clr_profiler_il::wrap::{Caught, MethodShape, Wrap};
use clr_profiler_tests::Sample;
use examples_support::Pinned;

use crate::corpus;

/// The counts for the methods of a runtime.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    bodies: usize,
    wrapped: usize,
    /// Of these: constructors of classes.
    constructors: usize,
    /// Of these: bodies that never return.
    endless: usize,
    /// By the reason.
    refused: BTreeMap<String, usize>,
    /// Methods without a body, by the reason.
    without_il: BTreeMap<String, usize>,
}

/// The resolver for one assembly.
struct Tokens<'a> {
    assembly: &'a Assembly<'a>,
    shapes: RefCell<HashMap<Token, Option<CallShape>>>,
}

impl Resolver for Tokens<'_> {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        match method {
            Reference::Token(token) => self.assembly.method_signature(token).ok(),
            Reference::Symbol(_) => None,
        }
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        self.method(signature)
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        match method {
            Reference::Token(token) => self
                .assembly
                .member_name(token)
                .is_ok_and(|name| name == ".ctor"),
            Reference::Symbol(_) => false,
        }
    }

    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        let Reference::Token(token) = method else {
            return None;
        };
        *self
            .shapes
            .borrow_mut()
            .entry(token)
            .or_insert_with(|| self.method(method).as_ref().map(CallShape::from))
    }
}

/// Any tokens will do, if the shapes of the callees are known.
struct Emitted;

const TRACE: Token = Token::new(0x0aff_ffff);

impl TokenSource for Emitted {
    type Error = Infallible;

    fn method(&mut self, _: &MethodSymbol) -> Result<Token, Infallible> {
        Ok(TRACE)
    }

    fn type_token(&mut self, _: &TypeSymbol) -> Result<Token, Infallible> {
        Ok(Token::new(0x0100_0001))
    }

    fn field(&mut self, _: &FieldSymbol) -> Result<Token, Infallible> {
        Ok(Token::new(0x0a00_0001))
    }

    fn user_string(&mut self, _: &str) -> Result<Token, Infallible> {
        Ok(Token::new(0x7000_0001))
    }

    fn signature(&mut self, _: &MethodSig) -> Result<Token, Infallible> {
        Ok(Token::new(0x1100_0001))
    }

    fn locals(&mut self, _: &LocalsSig) -> Result<Token, Infallible> {
        Ok(Token::new(0x1100_0001))
    }
}

/// All parts, each calling something; a method's own locals, result and exception are used.
fn wrap() -> Wrap {
    let trace = MethodSymbol::new("[Tracer]Trace", "Note", "void (object)");
    let note = move |code: &mut Fragment, local: Option<u16>| {
        match local {
            Some(local) => code.ldloc(local),
            None => code.ldnull(),
        };
        code.call(&trace);
    };
    let notes = || note.clone();
    let (before, returned, seen) = (notes(), notes(), notes());
    let (caught, last) = (notes(), notes());
    Wrap::new()
        .local(TypeSig::Object)
        .before(move |code, method| {
            code.ldstr("here").stloc(method.local(0));
            before(code, Some(method.local(0)));
        })
        .on_return(move |code, method| {
            if let Some(result) = method.result {
                code.ldloca(result).pop();
            }
            returned(code, None);
        })
        .observe_exception(move |code, _, exception| seen(code, Some(exception)))
        .on_exception(
            "[System.Runtime]System.Exception",
            Caught::Rethrow,
            move |code, _, exception| {
                code.try_block(|t| caught(t, Some(exception)))
                    .catch("[System.Runtime]System.Exception", |h| {
                        h.pop();
                    })
                    .end();
            },
        )
        .finally(move |code, method| last(code, method.exception))
        .after(move |code, method| note(code, Some(method.local(0))))
}

struct Check<'a> {
    tokens: &'a Tokens<'a>,
    wrap: &'a Wrap,
    figures: &'a mut Figures,
}

impl Check<'_> {
    /// Whether a method is a constructor of a class.
    fn is_constructor(&self, method: &Method<'_>) -> bool {
        let assembly = self.tokens.assembly;
        let owner = assembly.method_owner(method.token).expect("a type");
        let kind = assembly.type_kind(owner).expect("a kind");
        method.name == ".ctor" && kind == TypeKind::Class
    }

    fn method(&mut self, method: &Method<'_>) -> Result<(), String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let assembly = self.tokens.assembly;
        let flags = assembly.row(method.token).map_err(|e| text(&e))?;
        let without =
            NotInstrumentable::without_il(flags.attributes, flags.implementation, flags.rva);
        let Some(bytes) = method.body else {
            let reason = without.ok_or("no reason for having no body")?;
            *self.figures.without_il.entry(name(&reason)).or_default() += 1;
            return Ok(());
        };
        self.figures.bodies += 1;
        if let Some(reason) = without {
            return Err(format!("has a body: {reason}"));
        }
        let signature = MethodSig::parse(method.signature).map_err(|e| text(&e))?;
        let mut shape = match MethodShape::new(&signature).implementation(flags.implementation) {
            Ok(shape) => shape,
            Err(reason) => {
                *self.figures.refused.entry(name(&reason)).or_default() += 1;
                return Ok(());
            }
        };
        let constructor = self.is_constructor(method);
        if constructor {
            shape = shape.constructor(self.tokens);
        }
        let original = MethodBody::decode(bytes).map_err(|e| text(&e))?;
        let mut body = original.clone();
        if let Some(token) = body.locals_token() {
            body.set_locals(assembly.locals(token).map_err(|e| text(&e))?);
        }
        let before = body.to_string();
        let wrapped = match body.wrap(self.wrap, &shape) {
            Ok(wrapped) => wrapped,
            Err(EditError::NotInstrumentable(reason)) => {
                *self.figures.refused.entry(name(&reason)).or_default() += 1;
                return if body.to_string() == before {
                    Ok(())
                } else {
                    Err("a refused body was changed".to_owned())
                };
            }
            Err(error) => return Err(error.to_string()),
        };
        let returns = original
            .instructions()
            .any(|one| one.opcode() == Opcode::Ret);
        if wrapped.result.is_some() != (returns && !signature.return_type.is_void()) {
            return Err(format!("{wrapped:?}"));
        }
        self.valid(&original, &body)?;
        self.figures.wrapped += 1;
        self.figures.constructors += usize::from(constructor);
        self.figures.endless += usize::from(!returns);
        Ok(())
    }

    /// Structure, stack, clauses and offsets of a wrapped body.
    fn valid(&self, original: &MethodBody, body: &MethodBody) -> Result<(), String> {
        if let Some(violation) = body.verify_structure().first() {
            return Err(violation.to_string());
        }
        let depths = body.stack_depths(self.tokens).map_err(|e| e.to_string())?;
        if depths.max() > body.max_stack() {
            return Err(format!("{} > {}", depths.max(), body.max_stack()));
        }
        // The stack is empty where the regions of the wrap begin.
        let start = body.clauses().last().map(|clause| clause.try_region.start);
        let empty = start.is_some_and(|start| match start {
            Position::Before(id) => depths.before(id) == Some(0),
            Position::End => false,
        });
        if !empty {
            return Err("values on the stack at the beginning of a region".to_owned());
        }
        if body.clauses().count() != original.clauses().count() + 4 {
            return Err("clauses".to_owned());
        }
        let mut bytes = Vec::new();
        body.encode_with(&mut EncodeBuffers::new(), &mut Emitted, &mut bytes)
            .map_err(|e| e.to_string())?;
        let again = MethodBody::decode(&bytes).map_err(|e| e.to_string())?;
        if let Some(violation) = again.verify_structure().first() {
            return Err(format!("when read again: {violation}"));
        }
        let there: HashMap<_, _> = again
            .instructions()
            .map(|one| (one.original_offset(), one.opcode()))
            .collect();
        let map = body.offset_map();
        if map.len() != original.len() {
            return Err("offsets are missing".to_owned());
        }
        for (old, pair) in original.instructions().zip(map) {
            let new = there.get(&Some(pair.new)).copied();
            let kept = new == Some(old.opcode()) || (new.is_some() && old.opcode() == Opcode::Ret);
            if !kept || old.original_offset() != Some(pair.old) {
                return Err(format!("{old:?} became {new:?}"));
            }
        }
        Ok(())
    }
}

fn name(reason: &NotInstrumentable) -> String {
    let text = format!("{reason:?}");
    text.split('(').next().unwrap_or_default().to_owned()
}

fn check(pinned: &Pinned, expected: Figures) {
    let mut figures = Figures::default();
    let mut failures = Vec::new();
    let wrap = wrap();
    let sample = Sample::one_of(16);
    let visited = corpus::each_assembly(pinned, |file, assembly| {
        let tokens = Tokens {
            assembly,
            shapes: RefCell::default(),
        };
        let mut check = Check {
            tokens: &tokens,
            wrap: &wrap,
            figures: &mut figures,
        };
        for (number, method) in assembly.all_methods().enumerate() {
            if !sample.has(number) {
                continue;
            }
            let method = method.unwrap_or_else(|error| panic!("{file}: {error}"));
            if let Err(problem) = check.method(&method) {
                failures.push(format!(
                    "{file} {} {}: {problem}",
                    method.token, method.name
                ));
            }
        }
    });
    println!("{}: {figures:?}", pinned.name);
    assert!(
        failures.is_empty(),
        "{} failures, the first: {:#?}",
        failures.len(),
        &failures[..failures.len().min(10)]
    );
    match visited {
        Some(_) if sample.is_whole() => assert_eq!(figures, expected),
        Some(_) => assert!(figures.wrapped > expected.wrapped / 24),
        None => {}
    }
}

fn by_reason(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    let counts = counts.iter();
    counts
        .map(|&(name, count)| (name.to_owned(), count))
        .collect()
}

// The one constructor without a call of another one is that of `System.Object`.

#[test]
fn net_core_3_1() {
    check(
        &Pinned::NET_CORE_3_1,
        Figures {
            bodies: 96_589,
            wrapped: 96_588,
            constructors: 8_716,
            endless: 3_573,
            refused: by_reason(&[("NoConstructorCall", 1)]),
            without_il: by_reason(&[
                ("Abstract", 2_776),
                ("InternalCall", 454),
                ("PInvoke", 997),
                ("Runtime", 1_096),
            ]),
        },
    );
}

#[test]
fn net_8() {
    check(
        &Pinned::NET_8,
        Figures {
            bodies: 115_802,
            wrapped: 115_801,
            constructors: 9_293,
            endless: 6_645,
            refused: by_reason(&[("NoConstructorCall", 1)]),
            without_il: by_reason(&[
                ("Abstract", 3_353),
                ("Extern", 1),
                ("InternalCall", 372),
                ("PInvoke", 957),
                ("Runtime", 838),
            ]),
        },
    );
}

// The runtime's own methods for awaiting are runtime-async and return no tasks.
#[test]
fn net_10() {
    check(
        &Pinned::NET_10,
        Figures {
            bodies: 223_861,
            wrapped: 223_850,
            constructors: 21_191,
            endless: 10_707,
            refused: by_reason(&[("NoConstructorCall", 1), ("RuntimeAsync", 10)]),
            without_il: by_reason(&[
                ("Abstract", 6_379),
                ("Extern", 50),
                ("InternalCall", 204),
                ("PInvoke", 3_547),
                ("Runtime", 1_882),
            ]),
        },
    );
}
