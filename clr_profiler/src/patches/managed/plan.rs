//! The patches of one method or call in their order, with the locals and tokens of their code.

use super::bind::{
    Form, Kind, METHOD_INFO, Parameter, PatchMethod, Target, TargetParameter, Value, state_problem,
};
use super::slots::{self, Gate, GateLocals, Indirect, OfClass};
use super::target;
use crate::error::{Error, Result};
use crate::patches::fields::FieldPlace;
use crate::rewrite::RewriteContext;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::boxing::Boxing;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::{Token, TypeToken};

/// The position of a value.
pub(super) enum Place {
    /// `this` included.
    Argument {
        number: u16,
        is_by_ref: bool,
    },
    Field {
        place: FieldPlace,
        is_static: bool,
    },
    Result,
    State(u16),
    Exception,
    RunOriginal,
    /// By code that pushes it.
    Original(Box<Fragment>),
    Arguments(Vec<Passed>),
}

/// A value as it is passed.
pub(super) struct Passed {
    pub(super) place: Place,
    pub(super) form: Form,
    /// The type of the value.
    pub(super) operand: Option<TypeToken>,
    /// Code that makes it an object, and the reverse.
    pub(super) boxed: Fragment,
    pub(super) unboxed: Fragment,
    /// The local whose address is passed, or that has the array.
    pub(super) temp: u16,
}

/// The use of a patch's result.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Returns {
    Nothing,
    /// Whether the method runs.
    Run,
    Result,
    Exception,
}

/// How a patch is called.
pub(super) enum Callee {
    Method(MethodSymbol),
    /// By the function pointer in its slot.
    Slot(Box<Indirect>),
}

/// A call of a patch.
pub(super) struct Call {
    pub(super) callee: Callee,
    pub(super) arguments: Vec<Passed>,
    pub(super) returns: Returns,
    /// Whether it runs only if no patch before has skipped the method.
    pub(super) is_guarded: bool,
}

pub(super) struct Plan {
    pub(super) prefixes: Vec<Call>,
    pub(super) postfixes: Vec<Call>,
    pub(super) finalizers: Vec<Call>,
    /// The local that says whether the method runs.
    pub(super) run: u16,
    /// The local for a result of methods that have none otherwise.
    pub(super) result: Option<u16>,
    pub(super) exception: u16,
    /// The locals of states, with their types.
    pub(super) states: Vec<(u16, TypeToken)>,
    /// Code before all else, of methods of .NET.
    pub(super) entry: Fragment,
    pub(super) gate: Option<Gate>,
}

/// The tokens of the method and its type.
pub(super) struct Original {
    pub(super) method: Token,
    pub(super) class: TypeToken,
}

struct Planner<'a, 'b, 'c> {
    body: &'a mut MethodBody,
    cx: &'a mut RewriteContext<'c>,
    target: &'b Target,
    original: &'b Original,
}

impl Plan {
    pub(super) fn new(
        classes: &[OfClass<'_>],
        target: &Target,
        original: &Original,
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
    ) -> Result<Self> {
        let mut planner = Planner {
            body,
            cx,
            target,
            original,
        };
        let mut plan = Self {
            prefixes: Vec::new(),
            postfixes: Vec::new(),
            finalizers: Vec::new(),
            run: planner.local(TypeSig::I4)?,
            result: None,
            exception: u16::MAX,
            states: Vec::new(),
            entry: Fragment::new(),
            gate: None,
        };
        let gates = GateLocals::new(classes, planner.body, planner.cx)?;
        if let Some(result) = &target.result {
            plan.result = Some(planner.local(result.sig.clone())?);
        }
        let mut ordered: Vec<(&PatchMethod, &OfClass<'_>, Option<u16>)> = Vec::new();
        for class in classes {
            let state = planner.state(class)?;
            plan.states.extend(state);
            let state = state.map(|state| state.0);
            ordered.extend(class.methods.iter().map(|patch| (patch, class, state)));
        }
        ordered.sort_by_key(|(patch, ..)| (patch.passes_through(), -i64::from(patch.priority)));
        for (patch, class, state) in ordered {
            let callee = match (class.slots, &gates) {
                (Some(helper), Some(gates)) => {
                    Callee::Slot(Box::new(gates.call(patch, helper, planner.cx)?))
                }
                _ => Callee::Method(patch.symbol.clone()),
            };
            let call = planner.call(patch, callee, state)?;
            match patch.kind {
                Kind::Prefix => plan.prefixes.push(call),
                Kind::Postfix => plan.postfixes.push(call),
                Kind::Finalizer => plan.finalizers.push(call),
            }
        }
        if !plan.finalizers.is_empty() {
            let exception = planner.cx.type_sig("class [corelib]System.Exception")?;
            plan.exception = planner.local(exception)?;
        }
        // Patches read states and results before they are written.
        planner.body.set_init_locals(true);
        if let Some(gates) = gates {
            (plan.entry, plan.gate) = (gates.entry, Some(gates.gate));
        }
        Ok(plan)
    }

    /// A part of the code that calls patches.
    pub(super) fn stage(&self, code: &mut Fragment, calls: impl FnOnce(&mut Fragment)) {
        match &self.gate {
            Some(gate) => gate.stage(code, calls),
            None => calls(code),
        }
    }

    /// Whether a prefix may skip the method.
    pub(super) fn skips(&self) -> bool {
        self.prefixes
            .iter()
            .any(|call| call.returns == Returns::Run)
    }
}

impl Planner<'_, '_, '_> {
    fn local(&mut self, sig: TypeSig) -> Result<u16> {
        self.body.add_local(sig).map_err(Error::from)
    }

    /// The local for the state of a class, and its type.
    fn state(&mut self, of: &OfClass<'_>) -> Result<Option<(u16, TypeToken)>> {
        if let Some(problem) = state_problem(of.methods) {
            return Err(Error::other(problem));
        }
        let mut parameters = of.methods.iter().flat_map(|patch| &patch.parameters);
        let Some(Parameter { class, .. }) = parameters.find(|one| &*one.name == "__state") else {
            return Ok(None);
        };
        let sig = match of.slots {
            Some(_) => slots::type_in_core(class, self.cx)?,
            None => self.cx.type_sig(&class.symbol)?,
        };
        let operand = self.cx.type_operand(&sig)?;
        Ok(Some((self.local(sig)?, operand)))
    }

    fn call(&mut self, patch: &PatchMethod, callee: Callee, state: Option<u16>) -> Result<Call> {
        let (info, module) = (self.cx.info(), self.cx.module());
        target::check_unique(info, &patch.assemblies)?;
        let is_base =
            |sig: &TypeSig, base: &str| target::derives(info, module, sig, base).unwrap_or(false);
        let bound = patch.bind(self.target, &is_base);
        let bound = bound.map_err(|problems| Error::other(problems.join("; ")))?;
        let mut arguments = Vec::new();
        for ((value, form), parameter) in bound.into_iter().zip(&patch.parameters) {
            let passed = self.passed(value, form, &parameter.class.text, state);
            arguments.push(passed.map_err(|problem| {
                Error::other(format!(
                    "the parameter `{}` of the patch {} does not bind to {}: {problem}",
                    parameter.own, patch.name, self.target.name
                ))
            })?);
        }
        Ok(Call {
            callee,
            arguments,
            returns: match (patch.kind, patch.result.is_some()) {
                (_, false) => Returns::Nothing,
                (Kind::Prefix, true) => Returns::Run,
                (Kind::Postfix, true) => Returns::Result,
                (Kind::Finalizer, true) => Returns::Exception,
            },
            is_guarded: patch.kind == Kind::Prefix && patch.has_effects(),
        })
    }

    fn passed(
        &mut self,
        value: Value,
        form: Form,
        wanted: &str,
        state: Option<u16>,
    ) -> Result<Passed> {
        let offset = u16::from(self.target.this.is_some());
        let place;
        let sig = match value {
            Value::This | Value::Argument(_) => {
                let (number, of) = match value {
                    Value::Argument(index) => {
                        (index as u16 + offset, self.target.parameters.get(index))
                    }
                    _ => (0, self.target.this.as_ref()),
                };
                let of = of.ok_or_else(|| Error::other("the method has no such argument"))?;
                return self.argument(number, of, form);
            }
            Value::Field(index) => {
                let field = self.target.fields.get(index);
                let field = field.ok_or_else(|| Error::other("the type has no such field"))?;
                let sig = field.field.type_in(self.cx)?;
                let all = self.target.fields.iter().map(|of| &of.field);
                place = Place::Field {
                    place: FieldPlace::of(&field.field, all, self.cx)?,
                    is_static: field.field.is_static,
                };
                return self.typed(place, form, Some(&sig));
            }
            Value::Result => {
                place = Place::Result;
                self.target.result.as_ref().map(|class| &class.sig)
            }
            Value::State => {
                place = Place::State(state.unwrap_or(u16::MAX));
                None
            }
            Value::Exception => {
                place = Place::Exception;
                None
            }
            Value::RunOriginal => {
                place = Place::RunOriginal;
                None
            }
            Value::Original => {
                place = Place::Original(Box::new(self.original(wanted == METHOD_INFO)?));
                None
            }
            Value::Arguments => {
                let mut all = Vec::new();
                for (index, of) in self.target.parameters.iter().enumerate() {
                    all.push(self.argument(index as u16 + offset, of, Form::BoxedAddress)?);
                }
                let temp = self.local(TypeSig::SzArray(Box::new(TypeSig::Object)))?;
                return Ok(Passed {
                    place: Place::Arguments(all),
                    form: Form::Value,
                    operand: None,
                    boxed: Fragment::new(),
                    unboxed: Fragment::new(),
                    temp,
                });
            }
        };
        let sig = sig.cloned();
        self.typed(place, form, sig.as_ref())
    }

    fn argument(&mut self, number: u16, of: &TargetParameter, form: Form) -> Result<Passed> {
        let place = Place::Argument {
            number,
            is_by_ref: of.is_by_ref,
        };
        self.typed(place, form, Some(&of.class.sig))
    }

    fn typed(&mut self, place: Place, form: Form, sig: Option<&TypeSig>) -> Result<Passed> {
        let mut passed = Passed {
            place,
            form,
            operand: None,
            boxed: Fragment::new(),
            unboxed: Fragment::new(),
            temp: u16::MAX,
        };
        let Some(sig) = sig else {
            return Ok(passed);
        };
        if !matches!(sig, TypeSig::ByRef(_) | TypeSig::Pointer(_)) {
            passed.operand = Some(self.cx.type_operand(sig)?);
        }
        if matches!(form, Form::Boxed | Form::BoxedAddress) {
            let boxed = self.cx.box_value(sig)?;
            if let Boxing::Skipped(why) = boxed.boxing {
                return Err(Error::other(format!("no object can have the value: {why}")));
            }
            passed.boxed = boxed.code;
        }
        if form == Form::BoxedAddress {
            passed.unboxed = self.cx.unbox_value(sig)?;
            passed.temp = self.local(TypeSig::Object)?;
        }
        Ok(passed)
    }

    /// Code that pushes the method as reflection has it.
    fn original(&mut self, as_info: bool) -> Result<Fragment> {
        let from_handle = MethodSymbol::new(
            "[corelib]System.Reflection.MethodBase",
            "GetMethodFromHandle",
            "class [corelib]System.Reflection.MethodBase (valuetype [corelib]System.RuntimeMethodHandle, \
             valuetype [corelib]System.RuntimeTypeHandle)",
        );
        let mut code = Fragment::new();
        code.ldtoken(self.original.method);
        code.ldtoken(self.original.class);
        code.call(&from_handle);
        if as_info {
            // A constructor is none.
            code.isinst("[corelib]System.Reflection.MethodInfo");
        }
        Ok(code)
    }
}
