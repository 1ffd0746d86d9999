//! The IL that calls a patch.

use super::bind::Form;
use super::plan::{Call, Callee, Passed, Place, Returns};
use crate::patches::fields::FieldPlace;
use clr_profiler_il::fragment::Fragment;

/// The locals of the code.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// At a call in another method: the first of those that hold arguments.
    pub(super) arguments: Option<u16>,
    pub(super) run: u16,
    pub(super) result: u16,
    pub(super) exception: u16,
}

impl At {
    fn load_argument(&self, code: &mut Fragment, number: u16) {
        match self.arguments {
            Some(first) => code.ldloc(first + number),
            None => code.ldarg(number),
        };
    }

    fn load_argument_address(&self, code: &mut Fragment, number: u16) {
        match self.arguments {
            Some(first) => code.ldloca(first + number),
            None => code.ldarga(number),
        };
    }

    fn store_argument(&self, code: &mut Fragment, number: u16) {
        match self.arguments {
            Some(first) => code.stloc(first + number),
            None => code.starg(number),
        };
    }
}

impl Call {
    /// Calls the patch, follows its result, and stores the values that it has changed as objects.
    pub(super) fn emit(&self, code: &mut Fragment, at: &At) {
        let end = code.label();
        if let Callee::Slot(slot) = &self.callee {
            code.ldloc(slot.is_ready).brfalse(end);
        }
        for argument in &self.arguments {
            argument.push(code, at);
        }
        match &self.callee {
            Callee::Method(symbol) => code.call(symbol),
            Callee::Slot(slot) => code.append(&slot.function).calli(&slot.signature),
        };
        let local = match self.returns {
            Returns::Nothing => None,
            Returns::Run => Some(at.run),
            Returns::Result => Some(at.result),
            Returns::Exception => Some(at.exception),
        };
        if let Some(local) = local {
            code.stloc(local);
        }
        for argument in &self.arguments {
            argument.store(code, at);
        }
        code.mark(end).nop();
    }
}

impl Passed {
    fn push(&self, code: &mut Fragment, at: &At) {
        match (&self.place, self.form) {
            (Place::Arguments(all), _) => self.push_all(all, code, at),
            (_, Form::Value) => self.load(code, at),
            (_, Form::Address) => self.load_address(code, at),
            (_, Form::Boxed) => {
                self.load(code, at);
                code.append(&self.boxed);
            }
            (_, Form::BoxedAddress) => {
                self.load(code, at);
                code.append(&self.boxed).stloc(self.temp);
                code.ldloca(self.temp);
            }
        }
    }

    fn push_all(&self, all: &[Self], code: &mut Fragment, at: &At) {
        code.ldc_i4(all.len() as i32)
            .newarr("[corelib]System.Object");
        for (index, one) in (0..).zip(all) {
            code.dup().ldc_i4(index);
            one.load(code, at);
            code.append(&one.boxed).stelem_ref();
        }
        code.stloc(self.temp).ldloc(self.temp);
    }

    fn load(&self, code: &mut Fragment, at: &At) {
        match &self.place {
            Place::Argument { number, is_by_ref } => {
                at.load_argument(code, *number);
                if let (true, Some(operand)) = (is_by_ref, self.operand) {
                    code.ldobj(operand);
                }
            }
            Place::Field {
                place: FieldPlace::Named(symbol),
                is_static,
            } => {
                match is_static {
                    true => code.ldsfld(symbol),
                    false => code.ldarg(0).ldfld(symbol),
                };
            }
            Place::Field { .. } => {
                self.load_address(code, at);
                if let Some(operand) = self.operand {
                    code.ldobj(operand);
                }
            }
            Place::Result => {
                code.ldloc(at.result);
            }
            Place::State(local) => {
                code.ldloc(*local);
            }
            Place::Exception => {
                code.ldloc(at.exception);
            }
            Place::RunOriginal => {
                code.ldloc(at.run);
            }
            Place::Original(original) => {
                code.append(original);
            }
            Place::Arguments(_) => {
                code.ldloc(self.temp);
            }
        }
    }

    fn load_address(&self, code: &mut Fragment, at: &At) {
        match &self.place {
            Place::Argument {
                number,
                is_by_ref: true,
            } => at.load_argument(code, *number),
            Place::Argument { number, .. } => at.load_argument_address(code, *number),
            Place::Field { place, is_static } => match place {
                FieldPlace::Named(symbol) if *is_static => {
                    code.ldsflda(symbol);
                }
                FieldPlace::Named(symbol) => {
                    code.ldarg(0).ldflda(symbol);
                }
                FieldPlace::Hidden { anchor, distance } => {
                    FieldPlace::hidden_address(code, anchor, distance);
                }
            },
            Place::Result => {
                code.ldloca(at.result);
            }
            Place::State(local) => {
                code.ldloca(*local);
            }
            // Binding passes the others by value.
            _ => self.load(code, at),
        }
    }

    /// Stores the object that the patch has left.
    fn store(&self, code: &mut Fragment, at: &At) {
        match &self.place {
            Place::Arguments(all) => {
                for (index, one) in (0..).zip(all) {
                    one.store_from(code, at, |code| {
                        code.ldloc(self.temp).ldc_i4(index).ldelem_ref();
                    });
                }
            }
            _ if self.form == Form::BoxedAddress => {
                self.store_from(code, at, |code| {
                    code.ldloc(self.temp);
                });
            }
            _ => {}
        }
    }

    fn store_from(&self, code: &mut Fragment, at: &At, object: impl FnOnce(&mut Fragment)) {
        match &self.place {
            Place::Argument {
                number,
                is_by_ref: true,
            } => at.load_argument(code, *number),
            Place::Field {
                place: FieldPlace::Hidden { .. },
                ..
            } => self.load_address(code, at),
            Place::Field {
                is_static: false, ..
            } => {
                code.ldarg(0);
            }
            _ => {}
        }
        object(code);
        code.append(&self.unboxed);
        match &self.place {
            Place::Field {
                place: FieldPlace::Hidden { .. },
                ..
            }
            | Place::Argument {
                is_by_ref: true, ..
            } => {
                if let Some(operand) = self.operand {
                    code.stobj(operand);
                }
            }
            Place::Argument { number, .. } => at.store_argument(code, *number),
            Place::Field {
                place: FieldPlace::Named(symbol),
                is_static,
            } => {
                match is_static {
                    true => code.stsfld(symbol),
                    false => code.stfld(symbol),
                };
            }
            _ => {
                code.stloc(at.result);
            }
        }
    }
}
