#![doc = include_str!("../README.md")]
#![no_std]
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are those of corprof.idl, cor.h and corhdr.h"
)]
#![allow(clippy::too_many_arguments, reason = "the arity is the definition's")]

mod callback;
mod class_factory;
mod constants;
mod control;
mod enumerators;
mod enums;
pub mod facts;
mod functions;
mod guids;
mod hresult;
mod info;
mod interface;
#[cfg(target_pointer_width = "32")]
mod layout32;
mod metadata;
mod structs;
mod tables;
mod types;

pub use windows_core::{BOOL, GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

pub use callback::*;
pub use class_factory::*;
pub use constants::*;
pub use control::*;
pub use enumerators::*;
pub use enums::*;
pub use facts::{InterfaceFacts, Method, Parameter};
pub use functions::*;
pub use guids::*;
pub use hresult::*;
pub use info::*;
pub use metadata::*;
pub use structs::*;
pub use types::*;
