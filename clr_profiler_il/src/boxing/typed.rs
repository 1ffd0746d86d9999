//! [`TypedArguments`]: unboxed arguments for generic methods of a helper.

use super::{Argument, Boxer, Boxing, BoxingError, MethodTypes, Plan};
use crate::fragment::Fragment;
use crate::signature::{TokenNames, TypeSig};
use crate::symbol::{MethodSymbol, TypeSymbol};

/// Code that loads all arguments unboxed, and their types: the type arguments for a generic method
/// of a helper.
///
/// The code and the types are in terms of the method's module and valid only there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TypedArguments {
    /// The code: one value for each parameter, without `this`.
    pub code: Fragment,
    /// The type of each value, in text.
    pub types: Vec<Box<str>>,
    /// The kinds of the values. Here [`Boxing::Value`] is the value itself, [`Boxing::Target`] is
    /// an object, and a skipped argument is a null object.
    pub boxing: Vec<Boxing>,
}

impl TypedArguments {
    /// The generic method of a helper that takes the values, with a type parameter for each:
    /// `returns name<T0, T1>(first, T0, T1)`.
    ///
    /// A helper has an overload for each number of values; a method with more arguments than there
    /// are overloads needs another way.
    #[must_use]
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

impl<T: MethodTypes> Boxer<'_, T> {
    /// Code that loads all arguments unboxed, without `this`: numbers and structs are copied. An
    /// argument that no generic method can take is loaded as by [`argument`](Self::argument).
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    pub fn typed(&mut self) -> Result<TypedArguments, T::Error> {
        let params = self.0.signature().params.len();
        let first = usize::from(self.has_implicit_this());
        let mut typed = TypedArguments {
            code: Fragment::new(),
            types: Vec::with_capacity(params),
            boxing: Vec::with_capacity(params),
        };
        for number in first..first + params {
            let number = u16::try_from(number).map_err(|_| BoxingError::TooMany)?;
            let Argument::Param(param) = self.parameter(number)? else {
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
    ) -> Result<(TypeSig, Boxing), T::Error> {
        if let TypeSig::ByRef(_) = param {
            let boxed = self.argument(number)?;
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
