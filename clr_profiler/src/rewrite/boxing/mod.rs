//! Arguments and results as objects, and back: the parts of [`RewriteContext`] about boxing.

mod by_ref_like;
mod plan;
mod typed;

use super::RewriteContext;
use crate::error::{Error, Result};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;

use plan::Plan;

pub use typed::TypedArguments;

/// Addresses below are nobody's. The framework has managed pointers there, such as 1 to the contents
/// of an empty span.
const NOWHERE: i32 = 0x1_0000;

/// What has become of a value that was to be an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boxing {
    /// It is one: a reference, which may be null.
    Reference,
    /// A copy of the value. A nullable without a value gives null, and a type parameter gives
    /// whatever its argument does.
    Value,
    /// What the managed pointer points to: a copy of the value, or the reference. Null if the pointer
    /// is null, or points to no memory as the one to the contents of an empty span does.
    ///
    /// Unsafe code has managed pointers that must not be read in other ways, say one past the end of
    /// an array.
    Target,
    /// The address, as a `System.IntPtr`: it was an unmanaged pointer or one to a function.
    Address,
    /// Null, for there can be no object.
    Skipped(Unboxable),
}

/// Why a value cannot be an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unboxable {
    /// There is no value.
    Void,
    /// Its type lives on the stack alone, as `Span<T>` does.
    ByRefLike,
    /// Its type is a parameter that allows types of the stack (`allows ref struct`).
    AllowsByRefLike,
    /// The module that defines its type was not found among those that are loaded, so that it may
    /// be one that lives on the stack alone.
    UnknownType,
}

/// Code that leaves an object, and what that object is.
///
/// The code holds tokens of the method's module: it serves there alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Boxed {
    /// The code.
    pub code: Fragment,
    /// What the object is.
    pub boxing: Boxing,
}

/// Code that leaves an `object[]` of all arguments, and what its elements are.
///
/// The code holds tokens of the method's module: it serves there alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoxedArguments {
    /// The code.
    pub code: Fragment,
    /// What the elements are, `this` not among them.
    pub boxing: Vec<Boxing>,
}

impl Boxed {
    fn skipped(mut code: Fragment, reason: Unboxable) -> Self {
        code.ldnull();
        Self {
            code,
            boxing: Boxing::Skipped(reason),
        }
    }
}

/// Values as objects.
impl RewriteContext<'_> {
    /// Code that loads an argument as an object. `this` is argument 0 of an instance method.
    ///
    /// Of an argument by reference, the object is what it points to. Where there can be no object,
    /// the code loads null, and [`Boxed::boxing`] says why.
    ///
    /// # Errors
    ///
    /// That there is no such argument; what the metadata answer.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (object)");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let first = cx.box_argument(0)?;
    ///     body.prologue(Fragment::new().append(&first.code).call(&write))?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn box_argument(&mut self, number: u16) -> Result<Boxed> {
        let mut code = Fragment::new();
        code.ldarg(number);
        match self.argument(number)? {
            Argument::This => self.box_loaded_this(code),
            Argument::Param(param) => self.box_loaded(code, &param),
        }
    }

    /// Code that loads `this` as an object: a copy where it is a value type, and in a constructor of
    /// one, of what is there by then. `None` for a static method.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn box_this(&mut self) -> Result<Option<Boxed>> {
        if !self.signature().has_this {
            return Ok(None);
        }
        self.box_argument(0).map(Some)
    }

    /// Code that makes an object of the value on the top of the stack, in the place of it.
    ///
    /// `value` is a type in terms of the method's module: of a parameter or the
    /// [result](Self::return_type) of the method, or from [`type_sig`](Self::type_sig). Where there
    /// can be no object, the value is dropped for null. Of `void` there is no value to drop.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn box_value(&mut self, value: &TypeSig) -> Result<Boxed> {
        self.box_loaded(Fragment::new(), value)
    }

    /// Code that loads an `object[]` of all arguments, without `this`.
    ///
    /// Storing into the array is code of the core library on newer runtimes. In that library's own
    /// methods it may never come back: there, use [`box_argument`](Self::box_argument), and leave out
    /// `System.Runtime.*`, by which newer runtimes box.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn arguments_array(&mut self) -> Result<BoxedArguments> {
        let params = self.signature().params.len();
        let first = usize::from(self.has_implicit_this());
        let length = i32::try_from(params).map_err(Error::other)?;
        let mut code = Fragment::new();
        code.ldc_i4(length).newarr("object");
        let mut boxing = Vec::with_capacity(params);
        for (index, number) in (0..length).zip(first..) {
            let number = u16::try_from(number).map_err(Error::other)?;
            let boxed = self.box_argument(number)?;
            boxing.push(boxed.boxing);
            // New elements are null.
            if !matches!(boxed.boxing, Boxing::Skipped(_)) {
                code.dup().ldc_i4(index).append(&boxed.code).stelem_ref();
            }
        }
        Ok(BoxedArguments { code, boxing })
    }

    /// Code that takes an object from the stack and leaves a value of a type in its place: the way
    /// back of [`box_value`](Self::box_value).
    ///
    /// In the program, an object of another type throws `InvalidCastException`, and null for a value
    /// type `NullReferenceException`.
    ///
    /// # Errors
    ///
    /// That an object cannot become such a value: by-reference, `void`, a type that lives on the stack
    /// alone or may do so. What the metadata answer.
    pub fn unbox_value(&mut self, value: &TypeSig) -> Result<Fragment> {
        let mut code = Fragment::new();
        let value = value.unmodified();
        if matches!(value, TypeSig::ByRef(_)) {
            return Err(Error::other("an object cannot become a managed pointer"));
        }
        match self.plan(value)? {
            Plan::Reference if *value == TypeSig::Object => {}
            Plan::Reference => {
                code.castclass(self.type_operand(value)?);
            }
            Plan::Value(class) => {
                code.unbox_any(class);
            }
            Plan::Address => {
                code.unbox_any(self.type_operand(&TypeSig::NativeInt)?);
            }
            Plan::Skip(reason) => {
                return Err(Error::other(format!(
                    "an object cannot become such a value: {reason}"
                )));
            }
        }
        Ok(code)
    }

    /// Code that stores an object in an argument: `object` loads it. Of an argument by reference,
    /// what it points to is replaced.
    ///
    /// As for [`unbox_value`](Self::unbox_value), the object must be of the right type.
    ///
    /// # Errors
    ///
    /// That there is no such argument, or that it is `this`; else as of
    /// [`unbox_value`](Self::unbox_value).
    pub fn store_argument(&mut self, number: u16, object: &Fragment) -> Result<Fragment> {
        let Argument::Param(param) = self.argument(number)? else {
            return Err(Error::other("`this` is not to be replaced"));
        };
        let mut code = Fragment::new();
        if let TypeSig::ByRef(target) = param.unmodified() {
            let unbox = self.unbox_value(target)?;
            code.ldarg(number).append(object).append(&unbox);
            match self.plan(target)? {
                Plan::Reference => code.stind_ref(),
                Plan::Value(class) => code.stobj(class),
                Plan::Address | Plan::Skip(_) => code.stind_i(),
            };
        } else {
            let unbox = self.unbox_value(&param)?;
            code.append(object).append(&unbox).starg(number);
        }
        Ok(code)
    }

    fn has_implicit_this(&self) -> bool {
        self.signature().has_this && !self.signature().explicit_this
    }

    fn argument(&self, number: u16) -> Result<Argument> {
        let has_this = self.has_implicit_this();
        let param = usize::from(number).checked_sub(usize::from(has_this));
        let Some(param) = param else {
            return Ok(Argument::This);
        };
        let param = self.signature().params.get(param);
        let missing = || Error::other(format!("the method has no argument {number}"));
        param.cloned().map(Argument::Param).ok_or_else(missing)
    }

    fn box_loaded_this(&mut self, mut code: Fragment) -> Result<Boxed> {
        let this = self.this_type()?;
        match self.plan(&this)? {
            Plan::Reference => Ok(Boxed {
                code,
                boxing: Boxing::Reference,
            }),
            Plan::Skip(reason) => {
                code.pop();
                Ok(Boxed::skipped(code, reason))
            }
            Plan::Value(class) => {
                code.ldobj(class).box_(class);
                Ok(Boxed {
                    code,
                    boxing: Boxing::Target,
                })
            }
            Plan::Address => Err(Error::other("`this` has no such type")),
        }
    }

    /// Makes an object of what `code` has loaded.
    fn box_loaded(&mut self, mut code: Fragment, value: &TypeSig) -> Result<Boxed> {
        if let TypeSig::ByRef(target) = value.unmodified() {
            return self.box_target(code, target);
        }
        let boxing = match self.plan(value)? {
            Plan::Reference => Boxing::Reference,
            Plan::Value(class) => {
                code.box_(class);
                Boxing::Value
            }
            Plan::Address => {
                // The stack does not tell a pointer from a number of its size.
                code.box_(self.type_operand(&TypeSig::NativeInt)?);
                Boxing::Address
            }
            Plan::Skip(reason) => {
                if reason != Unboxable::Void {
                    code.pop();
                }
                return Ok(Boxed::skipped(code, reason));
            }
        };
        Ok(Boxed { code, boxing })
    }

    /// Makes an object of what the managed pointer points to that `code` has loaded.
    fn box_target(&mut self, mut code: Fragment, target: &TypeSig) -> Result<Boxed> {
        let plan = self.plan(target)?;
        if let Plan::Skip(reason) = plan {
            code.pop();
            return Ok(Boxed::skipped(code, reason));
        }
        let (present, done) = (code.label(), code.label());
        code.dup().conv_u().ldc_i4(NOWHERE).conv_u().bge_un(present);
        code.pop().ldnull().br(done).mark(present);
        match plan {
            Plan::Value(class) => code.ldobj(class).box_(class),
            Plan::Address => code.ldind_i().box_(self.type_operand(&TypeSig::NativeInt)?),
            Plan::Reference | Plan::Skip(_) => code.ldind_ref(),
        };
        code.mark(done);
        Ok(Boxed {
            code,
            boxing: Boxing::Target,
        })
    }
}

enum Argument {
    /// `this`, which the signature does not list.
    This,
    Param(TypeSig),
}
