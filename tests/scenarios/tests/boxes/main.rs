//! Arguments and results as objects: the objects that the program receives, for every kind of value.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::{MethodSig, TypeSig};
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{Boxing, RewriteContext};
use scenario_support::{clsid, log};

/// Passes the arguments and results of the program's methods to the program as objects; with
/// `BOX=everything`, boxes those of the framework, too, and drops the objects.
pub(crate) struct Boxes {
    everything: bool,
}

#[profiler(clsid = clsid("Boxes"))]
impl Profiler for Boxes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let what = std::env::var_os("BOX");
        Ok(Self {
            everything: what.is_some_and(|what| what == "everything"),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let name = method.full_name()?;
        if self.everything {
            // The code that casts and stores objects must not need boxing itself.
            if name.starts_with("System.Runtime.") {
                return Ok(());
            }
            let is_core = method.assembly_name()? == "System.Private.CoreLib";
            method.rewrite(|body, cx| {
                drop_all(body, cx, is_core)?;
                log::line("boxed");
                Ok(())
            })?;
            return Ok(());
        }
        let of_kinds = [
            "Boxes.Kinds.",
            "Boxes.Pair<",
            "Boxes.Holder<",
            "Boxes.Small.",
        ];
        let is_kind = of_kinds.iter().any(|kind| name.starts_with(kind));
        if !is_kind || name.contains("ToString") {
            return Ok(());
        }
        method.rewrite(|body, cx| {
            if cx.props().name == "Replaced" {
                return replace(body, cx);
            }
            show(body, cx)
        })?;
        Ok(())
    }
}

fn boxings(boxing: &[Boxing]) -> String {
    let boxing: Vec<_> = boxing.iter().map(|boxing| format!("{boxing:?}")).collect();
    boxing.join(" ")
}

/// Calls the program with all arguments, and with the result.
fn show(body: &mut clr_profiler::il::body::MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let program = "Boxes.Program";
    let show = MethodSymbol::new(program, "Show", "void (string, object, object[])");
    let gave = MethodSymbol::new(program, "Gave", "void (string, object)");
    let name = cx.props().name.clone();
    let arguments = cx.arguments_array()?;
    let this = cx.box_this()?;
    let result = cx.return_type()?;
    let boxed = cx.box_value(&result)?;
    log::line(format_args!(
        "{name}: {}; this {:?}; result {:?}",
        boxings(&arguments.boxing),
        this.as_ref().map(|this| this.boxing),
        boxed.boxing,
    ));
    let mut before = Fragment::new();
    before.ldstr(&name);
    match &this {
        Some(this) => before.append(&this.code),
        None => before.ldnull(),
    };
    before.append(&arguments.code).call(&show);
    let local = body.add_local(TypeSig::Object)?;
    let mut after = Fragment::new();
    if !result.is_void() {
        after.dup();
    }
    after.append(&boxed.code).stloc(local);
    after.ldstr(&name).ldloc(local).call(&gave);
    body.before_ret(&after)?;
    body.prologue(&before)?;
    Ok(())
}

/// Lets the program return another object for each argument.
fn replace(
    body: &mut clr_profiler::il::body::MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<()> {
    let replace = MethodSymbol::new("Boxes.Program", "Replace", "object (int, object)");
    let mut before = Fragment::new();
    for number in 0..10 {
        let argument = cx.box_argument(number)?;
        let mut object = Fragment::new();
        object
            .ldc_i4(number.into())
            .append(&argument.code)
            .call(&replace);
        before.append(&cx.store_argument(number, &object)?);
    }
    body.prologue(&before)?;
    let refused = [
        cx.box_argument(10).map(|_| ()),
        cx.store_argument(10, &Fragment::new()).map(|_| ()),
        cx.unbox_value(&TypeSig::Void).map(|_| ()),
        cx.unbox_value(&TypeSig::TypedReference).map(|_| ()),
        cx.unbox_value(&TypeSig::ByRef(Box::new(TypeSig::I4)))
            .map(|_| ()),
    ];
    for refused in refused {
        log::line(format_args!(
            "refused {}",
            refused
                .err()
                .map_or_else(String::new, |error| error.to_string())
        ));
    }
    Ok(())
}

/// Boxes and unboxes everything, without using the objects.
fn drop_all(
    body: &mut clr_profiler::il::body::MethodBody,
    cx: &mut RewriteContext<'_>,
    is_core: bool,
) -> Result<()> {
    let MethodSig {
        has_this, params, ..
    } = cx.signature().clone();
    let mut before = Fragment::new();
    if !is_core {
        // Storing into arrays is itself code of the core library.
        let arguments = cx.arguments_array()?;
        before.append(&arguments.code).pop();
    }
    if let Some(this) = cx.box_this()? {
        before.append(&this.code).pop();
    }
    for (number, param) in (u16::from(has_this)..).zip(&params) {
        let object = cx.box_argument(number)?;
        before.append(&object.code);
        if matches!(
            object.boxing,
            Boxing::Value | Boxing::Reference | Boxing::Address
        ) {
            before.append(&cx.unbox_value(param)?);
        }
        before.pop();
    }
    let result = cx.return_type()?;
    let boxed = cx.box_value(&result)?;
    let mut after = Fragment::new();
    if !result.is_void() {
        after.dup();
    }
    after.append(&boxed.code).pop();
    body.before_ret(&after)?;
    body.prologue(&before)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Boxes;

    #[test]
    fn arguments_and_results_of_every_kind_are_objects() {
        let scenario = Scenario::new("Boxes").profiled_by::<Boxes>();
        scenario.compare(|plain, profiled| {
        // By itself, the program prints only the results of its last methods.
        assert!(
            plain
                .stdout
                .starts_with("twice 42\nreplaced 0 1 Red 3 small 42 by reference 6 7 <")
        );
        assert_eq!(
            profiled.stdout,
            include_str!("expected.txt"),
            "{}",
            profiled.log
        );
        assert_eq!(profiled.status.code(), Some(5));
        for line in [
            "Nothing: ; this None; result Skipped(Void)",
            "References: Target Target Target Target Target Target; this None; result Target",
            "Pointers: Address Address Address Target; this None; result Address",
            "OnStack: Skipped(ByRefLike) Skipped(ByRefLike) Value Skipped(ByRefLike); this None; \
             result Skipped(ByRefLike)",
            "Typed: Skipped(ByRefLike) Value; this None; result Value",
            "Held: ; this Some(Reference); result Value",
            "Third: Value Reference Target; this Some(Target); result Value",
            "refused the method has no argument 10",
            "refused an object cannot become such a value: `void` has no value",
            "refused an object cannot become such a value: the type is restricted to the stack",
            "refused an object cannot become a managed pointer",
        ] {
            assert!(profiled.logged(line), "{line}\n{}", profiled.log);
        }
    });
    }

    #[test]
    fn a_framework_whose_values_are_all_boxed_does_what_it_did() {
        let scenario = Scenario::new("Boxes")
            .env("BOX", "everything")
            // No precompiled code is used.
            .env("COMPlus_ReadyToRun", "0")
            .env("DOTNET_ReadyToRun", "0")
            .profiled_by::<Boxes>();
        scenario.compare(|plain, profiled| {
            let lines = profiled.log.lines();
            let failed: Vec<_> = lines.filter(|line| *line != "boxed").collect();
            assert_eq!(profiled.output(), plain.output(), "{failed:#?}");
            let boxed = profiled.log.lines().filter(|line| *line == "boxed").count();
            assert!(boxed > 400, "{boxed}");
            assert!(failed.is_empty(), "{failed:#?}");
        });
    }
}
