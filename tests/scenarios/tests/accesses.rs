//! Inserted code uses accessible members; inaccessible ones are refused before the JIT throws.
//!
//! The profiler inserts uses of public members, and of others, into methods.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol, TypeSymbol};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{RewriteContext, RewriteError};
use scenario_support::{clsid, log};

/// Inserts a use of a member into each method of `Accesses`, and logs the result.
pub(crate) struct Accesses;

fn call(class: &str, name: &str) -> Fragment {
    let mut code = Fragment::new();
    code.call(MethodSymbol::new(class, name, "void ()"));
    code
}

fn new(class: &str, name: &str) -> Fragment {
    let mut code = Fragment::new();
    code.newobj(MethodSymbol::new(class, name, "instance void ()"))
        .pop();
    code
}

/// The code for a method to use.
fn uses(method: &str, cx: &RewriteContext<'_>) -> Result<Option<Fragment>> {
    const SHAPE: &str = "Accesses.Shape";
    const FRIEND: &str = "[Friend]Friend.Open";
    const STRANGER: &str = "[Stranger]Stranger.Open";
    let mut code = Fragment::new();
    Ok(Some(match method {
        "UsesInternal" => call(SHAPE, "Internal"),
        "UsesProtected" | "InDerived" => call(SHAPE, "Protected"),
        "UsesBoth" => call(SHAPE, "Both"),
        "UsesHidden" | "InDerivedHidden" | "InNested" => call(SHAPE, "Hidden"),
        "UsesField" => {
            code.ldsfld(FieldSymbol::new(SHAPE, "secret", "int")).pop();
            code
        }
        "UsesInner" | "InOwn" => call("Accesses.Shape/Inner", "Public"),
        "UsesInnerType" => {
            code.ldtoken(TypeSymbol::new("Accesses.Shape/Inner")).pop();
            code
        }
        "UsesInitializer" => call(SHAPE, ".cctor"),
        "MakesCircle" => new("Accesses.Circle", ".ctor"),
        "MakesShape" => new(SHAPE, ".ctor"),
        "MakesByMethod" => new("Accesses.Shape", "Grow"),
        "UsesFriend" => call(FRIEND, "Internal"),
        "UsesFriendClosed" => call("[Friend]Friend.Closed", "Public"),
        "UsesFriendPrivate" => call(FRIEND, "Private"),
        "UsesStranger" => call(STRANGER, "Internal"),
        "UsesStrangerClosed" => call("[Stranger]Stranger.Closed", "Public"),
        "UsesStrangerArray" => {
            code.ldc_i4(1).newarr("[Stranger]Stranger.Closed").pop();
            code
        }
        "InGuest" => {
            code.append(&call(STRANGER, "Protected"));
            code.append(&call(STRANGER, "ProtectedInternal"));
            code
        }
        "UsesCore" => {
            let slot = FieldSymbol::new("[corelib]System.Version", "_Major", "int");
            code.ldnull().ldfld(&slot).pop();
            code
        }
        "InGeneric" => {
            code.ldsfld(&cx.own_field("kept", "!0")?);
            code.call(&cx.own_method("Keep", "void (!0)", &[])?);
            code
        }
        _ => return Ok(None),
    }))
}

#[profiler(clsid = clsid("Accesses"))]
impl Profiler for Accesses {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Accesses" {
            return Ok(());
        }
        let name = method.name()?;
        let mut is_asked = false;
        let rewritten = method.rewrite(|body, cx| {
            if let Some(code) = uses(&name, cx)? {
                is_asked = true;
                body.prologue(&code)?;
            }
            Ok(())
        });
        match rewritten {
            Ok(done) if is_asked && done.is_first() => log::line(format_args!("{name}: used")),
            Err(error) if is_asked => {
                let error = RewriteError::of(&error).map(ToString::to_string);
                let error = error.unwrap_or_default();
                let reason = error.split_once(" was not rewritten: ");
                log::line(format_args!("{name}: {}", reason.unwrap_or_default().1));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Accesses;

    /// The uses of the methods, and their results.
    macro_rules! internal {
        ($said:literal) => {
            concat!(
                $said,
                ": make it public, or name the assembly of this method in an `InternalsVisibleTo` of its own"
            )
        };
    }

    const USES: [(&str, &str); 24] = [
        ("UsesInternal", "used"),
        ("UsesProtected", "Accesses.Shape::Protected is protected"),
        ("UsesBoth", "used"),
        ("UsesHidden", "Accesses.Shape::Hidden is private"),
        ("UsesField", "Accesses.Shape::secret is private"),
        ("UsesInner", "Accesses.Shape+Inner is private"),
        // By `ldtoken`, for which the JIT checks no access.
        ("UsesInnerType", "used"),
        (
            "UsesInitializer",
            "Accesses.Shape::.cctor is a type initialiser, which only the runtime calls",
        ),
        ("MakesCircle", "used"),
        (
            "MakesShape",
            "Accesses.Shape is abstract: newobj makes no objects of it",
        ),
        (
            "MakesByMethod",
            "newobj calls Grow, which is no constructor",
        ),
        ("UsesFriend", "used"),
        ("UsesFriendClosed", "used"),
        ("UsesFriendPrivate", "Friend.Open::Private is private"),
        ("UsesStranger", internal!("Stranger.Open::Internal is internal")),
        ("UsesStrangerClosed", internal!("Stranger.Closed is internal")),
        ("UsesStrangerArray", internal!("Stranger.Closed is internal")),
        ("UsesCore", "System.Version::_Major is private"),
        ("InOwn", "used"),
        ("InNested", "used"),
        ("InDerived", "used"),
        ("InDerivedHidden", "Accesses.Shape::Hidden is private"),
        ("InGeneric", "used"),
        ("InGuest", "used"),
    ];

    #[test]
    fn what_code_may_not_use_is_refused() {
        let scenario = Scenario::new("Accesses").profiled_by::<Accesses>();
        scenario.compare(|plain, profiled| {
            assert_eq!(plain.output(), (Some(4), "0\n", ""));
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let expected = USES.map(|(method, said)| format!("{method}: {said}"));
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(lines, expected);
        });
    }
}
