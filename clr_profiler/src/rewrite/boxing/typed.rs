//! [`TypedArguments`]: arguments as they are, for generic methods of a helper.

use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{TokenNames, TypeSig};
use clr_profiler_il::symbol::{MethodSymbol, TypeSymbol};

use super::plan::Plan;
use super::{Argument, Boxing};
use crate::error::{Error, Result};
use crate::rewrite::RewriteContext;

/// Code that loads all arguments without making objects of them, and their types, which are what a
/// generic method of a helper is instantiated with.
///
/// The code and the types are in terms of the method's module: they serve there alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TypedArguments {
    /// The code: one value for each parameter, `this` not among them.
    pub code: Fragment,
    /// The type of each value, in text.
    pub types: Vec<Box<str>>,
    /// What the values are. [`Boxing::Value`] is the value itself here; [`Boxing::Target`] is an object,
    /// and so is null in the place of what was skipped.
    pub boxing: Vec<Boxing>,
}

impl TypedArguments {
    /// The generic method of a helper that takes the values: `returns name<T0, T1>(first, T0, T1)`,
    /// with a type parameter for each of them.
    ///
    /// A helper has an overload for each number of values, and so the method whose arguments are more
    /// than it has overloads for goes another way.
    /// [`arguments_array`](RewriteContext::arguments_array) is one.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// // In C#: `static void Enter<T0, T1>(string method, T0 first, T1 second)` and others.
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let arguments = cx.typed_arguments()?;
    ///     let enter = arguments.method("[Helper]Logger", "Enter", "void", &["string"]);
    ///     let mut code = Fragment::new();
    ///     code.ldstr(cx.full_name()).append(&arguments.code).call(&enter);
    ///     body.prologue(&code)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn method(&self, owner: &str, name: &str, returns: &str, first: &[&str]) -> MethodSymbol {
        let mut params: Vec<String> = first.iter().map(|&text| text.to_owned()).collect();
        params.extend((0..self.types.len()).map(|number| format!("!!{number}")));
        MethodSymbol {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            signature: format!("{returns} ({})", params.join(", ")).into(),
            type_arguments: self.types.clone(),
        }
    }
}

impl RewriteContext<'_> {
    /// Code that loads all arguments as they are, without `this`: numbers and structs are copied
    /// instead of boxed.
    ///
    /// Of an argument by reference, what it points to comes as an object, as of
    /// [`box_argument`](Self::box_argument); an unmanaged pointer comes as a native integer. In the place
    /// of what no generic method can take, null comes: [`TypedArguments::boxing`] says why.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn typed_arguments(&mut self) -> Result<TypedArguments> {
        let params = self.signature().params.len();
        let first = usize::from(self.has_implicit_this());
        let mut typed = TypedArguments {
            code: Fragment::new(),
            types: Vec::with_capacity(params),
            boxing: Vec::with_capacity(params),
        };
        for number in first..first + params {
            let number = u16::try_from(number).map_err(Error::other)?;
            let Argument::Param(param) = self.argument(number)? else {
                continue;
            };
            let (of, boxing) = self.load_typed(&mut typed.code, number, param.unmodified())?;
            typed.types.push(of.text(&TokenNames).to_string().into());
            typed.boxing.push(boxing);
        }
        Ok(typed)
    }

    fn load_typed(
        &mut self,
        code: &mut Fragment,
        number: u16,
        param: &TypeSig,
    ) -> Result<(TypeSig, Boxing)> {
        if let TypeSig::ByRef(_) = param {
            let boxed = self.box_argument(number)?;
            code.append(&boxed.code);
            return Ok((TypeSig::Object, boxed.boxing));
        }
        Ok(match self.plan(param)? {
            Plan::Skip(reason) => {
                code.ldnull();
                (TypeSig::Object, Boxing::Skipped(reason))
            }
            plan => {
                code.ldarg(number);
                match plan {
                    Plan::Address => (TypeSig::NativeInt, Boxing::Address),
                    Plan::Reference => (param.clone(), Boxing::Reference),
                    Plan::Value(_) | Plan::Skip(_) => (param.clone(), Boxing::Value),
                }
            }
        })
    }
}
