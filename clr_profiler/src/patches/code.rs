//! The IL of a patched method.

use std::sync::{Arc, Mutex};

use super::fields::FieldPlace;
use super::objects;
use super::plan::{self, Operands, Planned};
use super::site::{Hooks, Site, site};
use super::slot::{Home, Kind, Slot, Stage, bits, words};
use crate::error::Result;
use crate::rewrite::RewriteContext;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::wrap::WrappedMethod;

/// The locals of the wrap.
const FRAME: u16 = 0;
pub(super) const MASK: u16 = 1;
/// The first of those that pin strings and objects.
pub(super) const PINNED: u16 = 2;

/// Generates the code of one method.
pub(super) struct Generator {
    pub(super) site: &'static Site,
    operands: Vec<Operands>,
    has_objects: bool,
    /// For each stage the first argument of its function, and the call of the function.
    calls: Vec<(Stage, i64, Fragment)>,
}

/// The locals of the code.
#[derive(Clone, Copy)]
pub(super) struct Locals {
    pub(super) frame: u16,
    pub(super) mask: u16,
    /// The first of those that pin strings and objects.
    pub(super) pinned: u16,
    /// At a call in another method: the first of those that hold arguments.
    pub(super) arguments: Option<u16>,
    pub(super) result: Option<u16>,
}

impl Locals {
    pub(super) fn of(method: &WrappedMethod<'_>) -> Self {
        Self {
            frame: method.local(FRAME),
            mask: method.local(MASK),
            pinned: method.local(MASK) + 1,
            arguments: None,
            result: method.result,
        }
    }

    /// Those of a method whose wrap has no closures.
    pub(super) fn without_frame(method: &WrappedMethod<'_>) -> Self {
        Self {
            frame: 0,
            mask: 0,
            pinned: 0,
            arguments: None,
            result: method.result,
        }
    }

    fn pinned(&self, index: u16) -> u16 {
        self.pinned + index
    }

    fn load_argument(&self, code: &mut Fragment, number: u16) {
        match self.arguments {
            Some(first) => code.ldloc(first + number),
            None => code.ldarg(number),
        };
    }

    fn store_argument(&self, code: &mut Fragment, number: u16) {
        match self.arguments {
            Some(first) => code.stloc(first + number),
            None => code.starg(number),
        };
    }
}

/// Pushes the address of a word of the frame.
pub(super) fn address(code: &mut Fragment, at: &Locals, word: u16) {
    code.ldloca(at.frame).conv_u();
    if word > 0 {
        code.ldc_i4(i32::from(word) * 8).add();
    }
}

/// Pushes a new string of the characters whose address and length are in two words.
fn new_text(code: &mut Fragment, at: &Locals, word: u16) {
    let constructor = MethodSymbol::new(
        "[corelib]System.String",
        ".ctor",
        "instance void (char*, int, int)",
    );
    address(code, at, word);
    code.ldind_i8().conv_u().ldc_i4(0);
    address(code, at, word + 1);
    code.ldind_i8().conv_i4().newobj(&constructor);
}

impl Generator {
    pub(super) fn new(
        cx: &mut RewriteContext<'_>,
        method: &str,
        hooks: &Arc<Hooks>,
        planned: Vec<Planned>,
        sites: &Mutex<Vec<&'static Site>>,
    ) -> Result<Self> {
        let (slots, mut operands): (Vec<Slot>, Vec<Operands>) = planned
            .into_iter()
            .map(|one| (one.slot, one.operands))
            .unzip();
        let all = slots.iter().zip(&mut operands);
        for (index, (_, operands)) in (0..).zip(all.filter(|(slot, _)| hooks.pins(&slot.kind))) {
            operands.pinned = Some(index);
        }
        let has_objects = hooks.has_objects && slots.iter().any(|one| one.kind == Kind::Reference);
        if has_objects {
            objects::prepare(cx)?;
        }
        let site = site(cx, method, hooks, slots, sites)?;
        let calls = site.entries.iter();
        let calls = calls.map(|one| Ok((one.stage, one.bound, cx.call_native(&one.function)?)));
        Ok(Self {
            site,
            operands,
            has_objects,
            calls: calls.collect::<Result<_>>()?,
        })
    }

    /// The types of the frame and the mask.
    pub(super) fn locals(&self, cx: &mut RewriteContext<'_>) -> Result<[TypeSig; 2]> {
        let frame = plan::longs(usize::from(self.site.layout.words));
        Ok([cx.type_sig(&frame)?, TypeSig::I8])
    }

    /// The types of the locals that pin strings and objects.
    pub(super) fn pinned(&self) -> impl Iterator<Item = TypeSig> {
        let pinned = self.slots().filter(|(_, _, one)| one.pinned.is_some());
        pinned.map(|(_, slot, _)| {
            TypeSig::Pinned(Box::new(match slot.kind {
                Kind::Text => TypeSig::String,
                _ => TypeSig::Object,
            }))
        })
    }

    fn slots(&self) -> impl Iterator<Item = (usize, &Slot, &Operands)> {
        let slots = self.site.layout.slots.iter().enumerate();
        slots
            .zip(&self.operands)
            .map(|((index, slot), operands)| (index, slot, operands))
    }

    /// Calls the function of a stage, whose result is pushed.
    pub(super) fn call(&self, code: &mut Fragment, at: &Locals, stage: Stage) {
        let call = self.calls.iter().find(|(of, ..)| *of == stage);
        if let Some((_, bound, call)) = call {
            code.ldc_i8(*bound);
            address(code, at, 0);
            code.append(call);
        }
    }

    /// Whether IL has the value at a stage.
    fn is_loaded(slot: &Slot, at: &Locals, stage: Stage) -> bool {
        match slot.home {
            Home::Result => stage == Stage::After && at.result.is_some(),
            // By code of its own.
            Home::Exception => false,
            _ => true,
        }
    }

    /// A hook: passes the values, calls the function, and follows its decisions.
    pub(super) fn stage(&self, code: &mut Fragment, at: &Locals, stage: Stage) {
        if self.has_objects {
            objects::code_before(code);
        }
        for (_, slot, operands) in self.slots() {
            if Self::is_loaded(slot, at, stage) {
                Self::load(code, at, slot, operands);
            } else if let (Kind::Struct(_), Some(operand)) = (&slot.kind, operands.value) {
                // So that it can be set.
                address(code, at, slot.word);
                code.sizeof(operand).conv_u8().stind_i8();
            }
        }
        let mask = at.mask;
        self.call(code, at, stage);
        code.stloc(mask);
        for (_, slot, operands) in self.slots() {
            if let Some(pinned) = operands.pinned
                && (Self::is_loaded(slot, at, stage) || slot.home == Home::Exception)
            {
                code.ldnull().stloc(at.pinned(pinned));
            }
        }
        let end = code.label();
        code.ldloc(mask).brfalse(end);
        let kept = code.label();
        code.ldloc(mask).ldc_i8(bits::THROW.cast_signed()).and();
        code.brfalse(kept);
        throw(code, at);
        code.mark(kept);
        for (index, slot, operands) in self.slots() {
            let is_set = slot.home != Home::Result || at.result.is_some();
            if let Some(bit) = bits::slot(index).filter(|_| is_set && slot.kind.is_passed())
                && slot.home != Home::Exception
            {
                let next = code.label();
                code.ldloc(mask).ldc_i8(bit.cast_signed()).and();
                code.brfalse(next);
                Self::store(code, at, slot, operands);
                code.mark(next);
            }
        }
        code.mark(end).nop();
    }

    /// Copies a value into the frame.
    fn load(code: &mut Fragment, at: &Locals, slot: &Slot, operands: &Operands) {
        let null = zero_if_null(code, at, slot);
        let push = |code: &mut Fragment| push(code, at, slot, operands);
        match (&slot.kind, operands.value) {
            (Kind::Value(_), Some(operand)) => {
                address(code, at, slot.word);
                push(code);
                code.stobj(operand);
            }
            (Kind::Struct(layout), Some(operand)) => {
                let next = code.label();
                address(code, at, slot.word);
                code.sizeof(operand).conv_u8().stind_i8();
                code.sizeof(operand).ldc_i4(layout.size.cast_signed());
                code.bne_un(next);
                address(code, at, slot.word + 1);
                push(code);
                code.stobj(operand).mark(next);
            }
            (Kind::Text | Kind::Reference, _) if operands.pinned.is_some() => {
                let pinned = at.pinned(operands.pinned.unwrap_or_default());
                push(code);
                code.stloc(pinned);
                pass_pinned(code, at, slot.word, pinned);
            }
            (Kind::Reference, _) => {
                address(code, at, slot.word);
                push(code);
                code.ldnull().cgt_un().conv_u8().stind_i8();
            }
            _ => {}
        }
        if let Some(null) = null {
            code.mark(null).nop();
        }
    }

    /// Copies a value from the frame.
    fn store(code: &mut Fragment, at: &Locals, slot: &Slot, operands: &Operands) {
        // The address of the target, where its instruction needs one.
        match slot.home {
            Home::Argument {
                number,
                is_by_ref: true,
            } => {
                at.load_argument(code, number);
            }
            Home::Field { is_static: false } => match &operands.field {
                Some(FieldPlace::Hidden { anchor, distance }) => {
                    FieldPlace::hidden_address(code, anchor, distance);
                }
                _ => {
                    code.ldarg(0);
                }
            },
            _ => {}
        }
        match (&slot.kind, operands.value) {
            (Kind::Value(_), Some(operand)) => {
                address(code, at, slot.word);
                code.ldobj(operand);
            }
            (Kind::Struct(_), Some(operand)) => {
                // The hook sets only structs of the expected size.
                address(code, at, slot.word + 1);
                code.ldobj(operand);
            }
            (Kind::Text, _) => {
                let (null, end) = (code.label(), code.label());
                address(code, at, slot.word);
                code.ldind_i8().brfalse(null);
                new_text(code, at, slot.word);
                code.br(end).mark(null).ldnull().mark(end);
            }
            _ => {
                code.ldnull();
            }
        }
        match (&slot.home, &operands.field) {
            (
                Home::Argument {
                    is_by_ref: true, ..
                },
                _,
            )
            | (_, Some(FieldPlace::Hidden { .. })) => match operands.value {
                Some(operand) => code.stobj(operand),
                None => code.stind_ref(),
            },
            (Home::Argument { number, .. }, _) => {
                at.store_argument(code, *number);
                code
            }
            (Home::Field { is_static: true }, Some(FieldPlace::Named(field))) => code.stsfld(field),
            (Home::Field { is_static: false }, Some(FieldPlace::Named(field))) => code.stfld(field),
            _ => code.stloc(at.result.unwrap_or_default()),
        };
    }

    /// Passes the type and the message of an exception.
    pub(super) fn exception(&self, code: &mut Fragment, at: &Locals, exception: u16) {
        let get_type = MethodSymbol::new(
            "[corelib]System.Object",
            "GetType",
            "instance class [corelib]System.Type ()",
        );
        let name = MethodSymbol::new("[corelib]System.Type", "get_FullName", "instance string ()");
        let message = MethodSymbol::new(
            "[corelib]System.Exception",
            "get_Message",
            "instance string ()",
        );
        let mut pinned = self
            .slots()
            .filter(|(_, slot, _)| slot.home == Home::Exception)
            .filter_map(|(_, slot, operands)| Some((slot.word, operands.pinned?)))
            .map(|(word, pinned)| (word, at.pinned(pinned)));
        let (Some(of_type), Some(of_message)) = (pinned.next(), pinned.next()) else {
            return;
        };
        // Messages are code of the program, which may throw.
        code.try_block(|code| {
            code.ldloc(exception).callvirt(&get_type).callvirt(&name);
            code.stloc(of_type.1);
            let end = code.label();
            code.ldloc(exception).isinst("[corelib]System.Exception");
            code.brfalse(end);
            code.ldloc(exception).castclass("[corelib]System.Exception");
            code.callvirt(&message).stloc(of_message.1);
            code.mark(end).nop();
        })
        .catch("[corelib]System.Object", |code| {
            code.pop();
        })
        .end();
        for (word, pinned) in [of_type, of_message] {
            pass_pinned(code, at, word, pinned);
        }
    }
}

/// Pushes a value of the method; the pushed argument by reference must refer to something.
pub(super) fn push(code: &mut Fragment, at: &Locals, slot: &Slot, operands: &Operands) {
    match (&slot.home, &operands.field) {
        (Home::Argument { number, is_by_ref }, _) => {
            at.load_argument(code, *number);
            match (is_by_ref, operands.value) {
                (true, Some(operand)) => code.ldobj(operand),
                (true, None) => code.ldind_ref(),
                (false, _) => code,
            };
        }
        (Home::Field { is_static: true }, Some(FieldPlace::Named(field))) => {
            code.ldsfld(field);
        }
        (Home::Field { is_static: false }, Some(FieldPlace::Named(field))) => {
            code.ldarg(0).ldfld(field);
        }
        (Home::Field { .. }, Some(FieldPlace::Hidden { anchor, distance })) => {
            FieldPlace::hidden_address(code, anchor, distance);
            match operands.value {
                Some(operand) => code.ldobj(operand),
                None => code.ldind_ref(),
            };
        }
        _ => {
            code.ldloc(at.result.unwrap_or_default());
        }
    }
}

/// Branches if an argument by reference refers to nothing.
pub(super) fn null_check(code: &mut Fragment, at: &Locals, number: u16, null: Label) {
    at.load_argument(code, number);
    code.conv_u().brfalse(null);
}

/// Skips the code for an argument by reference that refers to nothing, which is read as zero or null.
fn zero_if_null(code: &mut Fragment, at: &Locals, slot: &Slot) -> Option<Label> {
    let Home::Argument {
        number,
        is_by_ref: true,
    } = slot.home
    else {
        return None;
    };
    if !slot.kind.is_passed() {
        return None;
    }
    for word in 0..slot.kind.words() as u16 {
        address(code, at, slot.word + word);
        code.ldc_i8(0).stind_i8();
    }
    let null = code.label();
    null_check(code, at, number, null);
    Some(null)
}

/// Passes the address of a string or an object that a local pins.
fn pass_pinned(code: &mut Fragment, at: &Locals, word: u16, pinned: u16) {
    address(code, at, word);
    code.ldloc(pinned).conv_u().conv_u8().stind_i8();
}

/// Throws the exception that a hook has named.
fn throw(code: &mut Fragment, at: &Locals) {
    let get_type = MethodSymbol::new(
        "[corelib]System.Type",
        "GetType",
        "class [corelib]System.Type (string, bool)",
    );
    let create = MethodSymbol::new(
        "[corelib]System.Activator",
        "CreateInstance",
        "object (class [corelib]System.Type, object[])",
    );
    new_text(code, at, words::THROWN_TYPE);
    code.ldc_i4(1).call(&get_type);
    code.ldc_i4(1).newarr("[corelib]System.Object");
    code.dup().ldc_i4(0);
    new_text(code, at, words::THROWN_MESSAGE);
    code.stelem_ref().call(&create);
    code.castclass("[corelib]System.Exception").throw();
}
