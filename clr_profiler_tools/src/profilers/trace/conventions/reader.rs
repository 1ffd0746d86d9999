//! Methods that read values when a task has completed, which are added to the module of the method that returns it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::{TokenNames, TypeSig};
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::token::MethodDef;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NewType, RewriteContext, TaskResult};

use super::code::{Id, append, argument, read};
use crate::conventions::{Path, Root, Rule};
use crate::report::lock;

/// A method that reads, and the objects that it gets.
pub(crate) struct Reader {
    /// Leaves an `object[]` with the objects at which paths begin.
    pub(crate) roots: Fragment,
    pub(crate) method: MethodSymbol,
}

/// The methods that were added, by the methods whose tasks they follow. A method is rewritten more than once.
static ADDED: LazyLock<Mutex<HashMap<(ModuleId, MethodDef), MethodSymbol>>> =
    LazyLock::new(Mutex::default);

/// Another run of the tool begins, in which rules have other numbers.
pub(super) fn forget() {
    lock(&ADDED).clear();
}

/// Whether a type has parameters of the method or its type, which another method does not have.
fn is_open(of: &TypeSig) -> bool {
    match of.unmodified() {
        TypeSig::Var(_) | TypeSig::MVar(_) => true,
        TypeSig::GenericInstance { arguments, .. } => arguments.iter().any(is_open),
        TypeSig::SzArray(element) | TypeSig::ByRef(element) | TypeSig::Pointer(element) => {
            is_open(element)
        }
        _ => false,
    }
}

/// Adds the reader for late paths of a method.
pub(super) fn of(
    cx: &mut RewriteContext<'_>,
    rule: &Rule,
    late: &[(u32, &Path)],
    followed: &TaskResult,
) -> Result<Reader> {
    let result = followed.value().cloned();
    if result.as_ref().is_some_and(is_open) {
        return Err(Error::other(
            "the result of the task is of a generic type whose arguments are those of the method",
        ));
    }
    // The roots, without the result, each once: with the argument that has it.
    let mut roots: Vec<(&Root, u16, TypeSig)> = Vec::new();
    for (_, path) in late {
        let root = &path.root;
        if *root == Root::Return || roots.iter().any(|(known, ..)| *known == root) {
            continue;
        }
        let has_this = cx.signature().has_this;
        let (number, of) = match root {
            Root::This if has_this => (0, cx.this_type()?),
            Root::This => return Err(Error::other("the method is static: there is no `this`")),
            other => {
                let number = argument(cx, other)?;
                let of = cx.signature().params.get(usize::from(number)).cloned();
                let of = of.ok_or_else(|| Error::other("no argument"))?;
                (number + u16::from(has_this), of)
            }
        };
        let of = match of.unmodified() {
            TypeSig::ByRef(inner) => (**inner).clone(),
            other => other.clone(),
        };
        if is_open(&of) {
            return Err(Error::other(
                "a path begins at an object of a generic type whose arguments are those of the method",
            ));
        }
        roots.push((root, number, of));
    }
    let mut array = Fragment::new();
    array
        .ldc_i4(roots.len() as i32)
        .newarr("[corelib]System.Object");
    for (index, (_, number, _)) in (0..).zip(&roots) {
        let boxed = cx.box_argument(*number)?;
        array.dup().ldc_i4(index).append(&boxed.code).stelem_ref();
    }
    let key = (cx.module(), cx.token());
    let known = lock(&ADDED).get(&key).cloned();
    let method = match known {
        Some(known) => known,
        None => {
            let added = define(cx, rule, late, (&roots, result.as_ref()))?;
            lock(&ADDED).insert(key, added.clone());
            added
        }
    };
    Ok(Reader {
        roots: array,
        method,
    })
}

fn define(
    cx: &mut RewriteContext<'_>,
    rule: &Rule,
    late: &[(u32, &Path)],
    (roots, result): (&[(&Root, u16, TypeSig)], Option<&TypeSig>),
) -> Result<MethodSymbol> {
    let signature = match result {
        Some(result) => format!("void (int64, object[], {})", result.text(&TokenNames)),
        None => "void (int64, object[])".to_owned(),
    };
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // The types of an earlier run of the tool are there, too.
    let name = format!(
        "<MethodTracer>Reads{}",
        NUMBER.fetch_add(1, Ordering::Relaxed)
    );
    cx.info()
        .define_type(cx.module(), &name, NewType::Static, |class| {
            class.method("Read", &signature, |body, cx| {
                let mut code = Fragment::new();
                for (number, path) in late {
                    let root = match &path.root {
                        Root::Return => match result {
                            Some(result) => {
                                let mut code = Fragment::new();
                                code.ldarg(2);
                                Ok((code, result.clone()))
                            }
                            None => Err(Error::other("the task has no result")),
                        },
                        root => {
                            let index = roots.iter().position(|(known, ..)| *known == root);
                            let of = index.and_then(|index| roots.get(index));
                            match (index, of) {
                                (Some(index), Some((.., of))) => {
                                    let mut code = Fragment::new();
                                    code.ldarg(1).ldc_i4(index as i32).ldelem_ref();
                                    cx.type_operand(of).map(|operand| {
                                        code.unbox_any(operand);
                                        (code, of.clone())
                                    })
                                }
                                _ => Err(Error::other("no root")),
                            }
                        }
                    };
                    let of = root
                        .and_then(|root| read(body, cx, path, &root, (Id::Argument(0), *number)));
                    append(&mut code, of, rule, path);
                }
                code.ret();
                body.append(&code)?;
                Ok(())
            })
        })
}
