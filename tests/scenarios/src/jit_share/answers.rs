//! Recorded results of a resolver, replayed without resolving.

use std::cell::RefCell;
use std::sync::Arc;

use clr_profiler::il::signature::{LocalsSig, MethodSig, TypeSig};
use clr_profiler::il::symbol::{Reference, ResolvedField, ResolvedMethod, Resolver, TypeKind};
use clr_profiler::il::token::{Token, TypeToken};

enum Answer {
    Method(Option<MethodSig>),
    Type(Option<TypeSig>),
    Kind(Option<TypeKind>),
    Locals(Option<LocalsSig>),
    Constructor(bool),
    ResolvedMethod(Option<Arc<ResolvedMethod>>),
    ResolvedField(Option<Arc<ResolvedField>>),
}

/// Resolves, and records the results in their order.
pub(super) struct Recorder<'a> {
    resolver: &'a (dyn Resolver + 'a),
    answers: RefCell<Vec<Answer>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(resolver: &'a (dyn Resolver + 'a)) -> Self {
        Self {
            resolver,
            answers: RefCell::default(),
        }
    }

    fn note<T: Clone>(&self, answer: T, kind: fn(T) -> Answer) -> T {
        self.answers.borrow_mut().push(kind(answer.clone()));
        answer
    }
}

/// Replays the recorded results for the same calls in the same order.
pub(super) struct Replay(RefCell<std::vec::IntoIter<Answer>>);

impl Replay {
    pub(super) fn new(recorder: Recorder<'_>) -> Self {
        Self(RefCell::new(recorder.answers.into_inner().into_iter()))
    }
}

macro_rules! answers {
    ($($name:ident($argument:ident: $of:ty) -> $type:ty, $kind:ident or $other:expr;)*) => {
        impl Resolver for Recorder<'_> {
            $(fn $name(&self, $argument: $of) -> $type {
                self.note(self.resolver.$name($argument), Answer::$kind)
            })*
        }

        impl Resolver for Replay {
            $(fn $name(&self, _: $of) -> $type {
                match self.0.borrow_mut().next() {
                    Some(Answer::$kind(answer)) => answer,
                    _ => $other,
                }
            })*
        }
    };
}

answers! {
    method(method: Reference<'_>) -> Option<MethodSig>, Method or None;
    signature(signature: Reference<'_>) -> Option<MethodSig>, Method or None;
    field(field: Reference<'_>) -> Option<TypeSig>, Type or None;
    type_sig(name: Reference<'_>) -> Option<TypeSig>, Type or None;
    type_kind(name: TypeToken) -> Option<TypeKind>, Kind or None;
    declaring_type(member: Reference<'_>) -> Option<TypeSig>, Type or None;
    is_constructor(method: Reference<'_>) -> bool, Constructor or false;
    locals(token: Token) -> Option<LocalsSig>, Locals or None;
    resolved_method(method: Reference<'_>) -> Option<Arc<ResolvedMethod>>, ResolvedMethod or None;
    resolved_field(field: Reference<'_>) -> Option<Arc<ResolvedField>>, ResolvedField or None;
}
