//! The expansion of `#[profiler]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, ImplItem, Item, ItemImpl, Path, Result};

use crate::arguments::{Arguments, ClassId};
use crate::callbacks::{self, CALLBACKS};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = Arguments::parse(arguments);
    let implementation = match syn::parse2::<Item>(item) {
        Ok(Item::Impl(implementation)) if is_of(&implementation, "Profiler") => implementation,
        // The item is kept, so that one mistake is one error.
        Ok(other) => {
            let mut problem = Error::new(
                place_of(&other),
                "`#[profiler]` belongs on an `impl Profiler for ...`",
            );
            problem.extend(arguments.err());
            let problem = problem.into_compile_error();
            return quote!(#problem #other);
        }
        Err(mut problem) => {
            problem.extend(arguments.err());
            return problem.into_compile_error();
        }
    };
    let arguments_problem = arguments.as_ref().err().map(Error::to_compile_error);
    let arguments = arguments.unwrap_or_else(|_| Arguments {
        clsid: ClassId::Number(1),
        clr_profiler: syn::parse_quote!(::clr_profiler),
    });
    // The valid part is kept, so that one mistake is one error.
    let (implementation, problems) = checked(implementation, &arguments.clr_profiler);
    let problems = problems.map(Error::into_compile_error);
    let class = class_of(&implementation, &arguments);
    quote!(#arguments_problem #problems #implementation #class)
}

/// The implementation without its mistakes, and their errors.
fn checked(mut implementation: ItemImpl, clr_profiler: &Path) -> (ItemImpl, Option<Error>) {
    let mut problems = Vec::new();
    if let Err(problem) = check_generics(&implementation) {
        problems.push(problem);
    }
    implementation.items.retain(|item| match item {
        ImplItem::Fn(function) => {
            let problem = check_name(&function.sig.ident, CALLBACKS, "Profiler");
            let is_right = problem.is_none();
            problems.extend(problem);
            is_right
        }
        _ => true,
    });
    // One that a macro writes is the compiler's to find.
    let has_initialize = names(&implementation).any(|(name, _)| name == "initialize")
        || implementation
            .items
            .iter()
            .any(|item| matches!(item, ImplItem::Macro(_)));
    if !has_initialize && problems.is_empty() {
        problems.push(Error::new_spanned(
            &implementation.self_ty,
            "the profiler has no `initialize`: add `fn initialize(info: &ProfilerInfo, setup: &mut \
             Setup) -> Result<Self>`, which makes it when the runtime starts",
        ));
        implementation.items.clear();
    }
    if !has_initialize {
        implementation.items.push(syn::parse_quote! {
            fn initialize(_: &#clr_profiler::ProfilerInfo, _: &mut #clr_profiler::Setup)
                -> #clr_profiler::Result<Self>
            {
                ::core::unimplemented!()
            }
        });
    }
    let problems = problems.into_iter().reduce(|mut all, next| {
        all.combine(next);
        all
    });
    (implementation, problems)
}

/// Whether it implements the trait of this name.
pub(crate) fn is_of(implementation: &ItemImpl, name: &str) -> bool {
    implementation
        .trait_
        .as_ref()
        .and_then(|(_, path, _)| path.segments.last())
        .is_some_and(|segment| segment.ident == name)
}

/// The span for errors about an item that is not an implementation of the trait.
pub(crate) fn place_of(item: &Item) -> Span {
    match item {
        Item::Impl(implementation) => match &implementation.trait_ {
            Some((_, path, _)) => path.span(),
            None => implementation.self_ty.span(),
        },
        other => other.span(),
    }
}

fn check_generics(implementation: &ItemImpl) -> Result<()> {
    if !implementation.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &implementation.generics,
            "a profiler cannot be generic: the runtime creates it by its class id alone",
        ));
    }
    Ok(())
}

/// The error for a name that is not among these names, which are the methods of a trait.
pub(crate) fn check_name(name: &Ident, names: &[&str], of: &str) -> Option<Error> {
    let text = name.to_string();
    if names.contains(&text.as_str()) {
        return None;
    }
    let hint = match callbacks::nearest(&text, names) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the methods of the trait `{of}` are listed in its documentation"),
    };
    Some(Error::new(
        name.span(),
        format!("`{text}` is not a callback of the runtime: {hint}"),
    ))
}

/// The methods of the implementation, each with its `cfg` attributes.
pub(crate) fn names(implementation: &ItemImpl) -> impl Iterator<Item = (String, Vec<&Attribute>)> {
    implementation.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => {
            let conditions = function
                .attrs
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"));
            Some((function.sig.ident.to_string(), conditions.collect()))
        }
        _ => None,
    })
}

/// The set of the callbacks in the implementation, without these methods.
pub(crate) fn overridden(
    implementation: &ItemImpl,
    private: &TokenStream,
    without: &[&str],
) -> TokenStream {
    // A name that no user's item has: it would be resolved to their constant.
    let set = format_ident!("__callbacks_that_are_written");
    let written = names(implementation).filter(|(name, _)| !without.contains(&name.as_str()));
    let written =
        written.map(|(name, conditions)| quote!(#(#conditions)* let #set = #set.with(#name);));
    quote!({
        let #set = #private::CallbackSet::EMPTY;
        #(#written)*
        #set
    })
}

/// The implementation of the hidden trait that `register!` reads.
fn class_of(implementation: &ItemImpl, arguments: &Arguments) -> TokenStream {
    let private = {
        let clr_profiler = &arguments.clr_profiler;
        quote!(#clr_profiler::__private)
    };
    let profiler = &implementation.self_ty;
    let clsid = arguments.clsid.uuid(&private);
    let overridden = overridden(implementation, &private, &[]);
    let span = profiler.span();
    quote_spanned! {span=>
        impl #private::ProfilerClass for #profiler {
            const CLSID: #private::Uuid = #clsid;
            const OVERRIDDEN: #private::CallbackSet = #overridden;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: TokenStream) -> String {
        expand(quote!(clsid = "DF63A541-5A33-4611-8829-F4E495985EE3"), item).to_string()
    }

    #[test]
    fn a_mistyped_callback_gets_the_nearest_name() {
        let text = expanded(quote! {
            impl Profiler for P {
                fn initialize() {}
                fn jit_compilation_startd(&self) {}
            }
        });
        assert!(
            text.contains("did you mean `jit_compilation_started`?"),
            "{text}"
        );
    }

    #[test]
    fn conditions_go_with_their_callback() {
        let text = expanded(quote! {
            impl Profiler for P {
                fn initialize() {}
                #[cfg(never)]
                #[inline]
                fn module_load_finished(&self) {}
            }
        });
        assert!(
            text.contains(
                "# [cfg (never)] let __callbacks_that_are_written = __callbacks_that_are_written \
                 . with (\"module_load_finished\")"
            ),
            "{text}"
        );
    }

    #[test]
    fn every_mistake_is_reported() {
        let text = expanded(quote! {
            impl<T> Profiler for P<T> {
                fn foo(&self) {}
                fn thread_cretaed(&self) {}
            }
        });
        assert!(text.contains("cannot be generic"), "{text}");
        assert!(text.contains("`foo` is not a callback"), "{text}");
        assert!(text.contains("did you mean `thread_created`?"), "{text}");
    }

    #[test]
    fn what_is_not_a_profiler_is_refused() {
        assert!(
            expanded(quote!(
                struct P;
            ))
            .contains("belongs on an `impl Profiler")
        );
        assert!(expanded(quote!(impl Clone for P {})).contains("belongs on an `impl Profiler"));
        assert!(expanded(quote!(impl Profiler for P {})).contains("has no `initialize`"));
    }
}
