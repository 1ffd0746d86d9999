//! How values of a type become objects.

use std::fmt;

use super::Unboxable;
use super::by_ref_like;
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::MetadataImport2;
use crate::rewrite::{RewriteContext, store};
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::{Token, TypeToken};

/// How a value that is no managed pointer becomes an object.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    /// It is one.
    Reference,
    /// By `box` of this type.
    Value(TypeToken),
    /// By `box` of `System.IntPtr`.
    Address,
    Skip(Unboxable),
}

impl RewriteContext<'_> {
    pub(super) fn plan(&mut self, value: &TypeSig) -> Result<Plan> {
        let value = value.unmodified();
        let class = match value {
            TypeSig::Void => return Ok(Plan::Skip(Unboxable::Void)),
            TypeSig::TypedReference => return Ok(Plan::Skip(Unboxable::ByRefLike)),
            TypeSig::String
            | TypeSig::Object
            | TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. }
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            } => return Ok(Plan::Reference),
            TypeSig::Pointer(_) | TypeSig::FunctionPointer(_) => return Ok(Plan::Address),
            TypeSig::ByRef(_) => {
                return Err(Error::other("a managed pointer to a managed pointer"));
            }
            TypeSig::ValueType(class)
            | TypeSig::GenericInstance {
                definition: class, ..
            } => *class,
            TypeSig::Var(number) => {
                return self.plan_of_parameter(self.props().class.into(), *number, value);
            }
            TypeSig::MVar(number) => {
                return self.plan_of_parameter(self.token().into(), *number, value);
            }
            _ => return self.type_operand(value).map(Plan::Value),
        };
        Ok(match self.is_by_ref_like(class) {
            Some(false) => Plan::Value(self.type_operand(value)?),
            Some(true) => Plan::Skip(Unboxable::ByRefLike),
            None => Plan::Skip(Unboxable::UnknownType),
        })
    }

    /// A type parameter is boxed as what it stands for, unless that may live on the stack alone.
    fn plan_of_parameter(&mut self, owner: Token, number: u32, value: &TypeSig) -> Result<Plan> {
        /// `gpAllowByRefLike`.
        const ALLOWS_BY_REF_LIKE: u32 = 0x0020;
        let metadata = self.info().module_metadata(self.module())?;
        for parameter in metadata.generic_params(owner) {
            let parameter = metadata.generic_param_props(parameter?)?;
            if parameter.number == number {
                return if parameter.attributes & ALLOWS_BY_REF_LIKE != 0 {
                    Ok(Plan::Skip(Unboxable::AllowsByRefLike))
                } else {
                    self.type_operand(value).map(Plan::Value)
                };
            }
        }
        Err(Error::other(format!(
            "there is no type parameter {number} of {owner}"
        )))
    }

    /// Whether values of a type live on the stack alone; `None` if that cannot be told.
    fn is_by_ref_like(&self, class: TypeToken) -> Option<bool> {
        if let Some(known) = store::lock(&self.module.by_ref_like).get(&class) {
            return Some(*known);
        }
        // What cannot be told now may be known when another module has been loaded.
        let found = by_ref_like::is_by_ref_like(self.info(), self.module(), class)?;
        store::lock(&self.module.by_ref_like).insert(class, found);
        Some(found)
    }
}

impl fmt::Display for Unboxable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Void => "there is none of `void`",
            Self::ByRefLike => "the type lives on the stack alone",
            Self::AllowsByRefLike => "the type parameter allows types that live on the stack alone",
            Self::UnknownType => {
                "the type is in no module that is loaded, and may live on the stack alone"
            }
        })
    }
}
