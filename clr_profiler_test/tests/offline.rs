//! Edits of the methods of assembly files.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::wrap::{Caught, Wrap};
use clr_profiler_test::{AssemblyFile, Outcome, snapshot};

/// A program of many features of the language.
const SAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/support/samples/Sample.dll"
);

fn sample() -> AssemblyFile {
    AssemblyFile::open(SAMPLE).unwrap()
}

#[test]
fn an_edit_that_does_nothing_changes_nothing() {
    let edited = sample().edit(|_, _| Ok(()));
    assert!(edited.methods().len() > 30, "{}", edited.methods().len());
    for method in edited.methods() {
        assert!(matches!(method.outcome, Outcome::Unchanged), "{method:?}");
    }
    assert_eq!(edited.listing(), "");
    let main = edited.method("Shop.Program.Main(string[])");
    assert_eq!(main.token.token().table().name(), Some("MethodDef"));
}

/// Each method with its name before it, and wrapped in handlers.
#[test]
fn all_methods_are_wrapped() {
    let log = MethodSymbol::new(
        "[System.Console]System.Console",
        "WriteLine",
        "void (string)",
    );
    let edited = sample().edit(|body, cx| {
        let (name, log) = (cx.full_name().to_owned(), log.clone());
        let wrap = Wrap::new()
            .local(TypeSig::Object)
            .before(move |code, _| {
                code.ldstr(&name).call(&log);
            })
            .on_exception(
                "[corelib]System.Exception",
                Caught::Rethrow,
                |code, method, caught| {
                    code.ldloc(caught).stloc(method.local(0));
                },
            );
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    });
    edited.assert_valid();
    assert_eq!(edited.refused().count(), 0);
    assert_eq!(edited.changed().count(), edited.methods().len());
    for method in edited.changed() {
        let Outcome::Changed { diff, bytes } = &method.outcome else {
            unreachable!()
        };
        MethodBody::decode(bytes).unwrap();
        assert!(
            diff.contains(&format!("ldstr      {:?}", method.name)),
            "{diff}"
        );
    }
}

#[test]
fn a_listing_is_compared_with_a_file() {
    let log = MethodSymbol::new(
        "[System.Console]System.Console",
        "WriteLine",
        "void (string)",
    );
    let edited = sample().edit(|body, cx| {
        if cx.full_name().starts_with("Shop.Store.") {
            body.prologue(Fragment::new().ldstr(cx.full_name()).call(&log))?;
        }
        Ok(())
    });
    edited.assert_valid();
    snapshot(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/store.txt"),
        &edited.listing(),
    );
}

#[test]
fn a_body_that_breaks_a_rule_is_found() {
    let edited = sample().edit(|body, cx| {
        if cx.full_name() == "Shop.Program.Main(string[])" {
            // The value stays on the stack.
            body.prologue(Fragment::new().ldc_i4(7))?;
        }
        Ok(())
    });
    let main = edited.method("Shop.Program.Main(string[])");
    let Outcome::Invalid {
        violations,
        listing,
    } = &main.outcome
    else {
        panic!("{main:?}")
    };
    assert!(
        violations.contains(">>> ") && listing.contains("ldc.i4.7"),
        "{violations}"
    );
    let message = std::panic::catch_unwind(|| edited.assert_valid()).unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(
        message.contains("Shop.Program.Main(string[])") && message.contains(violations),
        "{message}"
    );
    assert_eq!(
        edited.listing(),
        format!("== {}\ninvalid:\n{violations}\n", main.name)
    );
}

#[test]
fn a_refusal_is_told_apart_from_a_violation() {
    let missing = MethodSymbol::new("[No.Such]No.Such", "Method", "void ()");
    let edited = sample().edit(|body, cx| match cx.props().name.as_str() {
        "Main" => Err(clr_profiler::Error::other("not this one")),
        ".ctor" => Ok(body.prologue(Fragment::new().call(&missing))?),
        _ => Ok(()),
    });
    edited.assert_valid();
    let refused: Vec<&str> = edited.refused().map(|(_, reason)| reason).collect();
    assert!(refused.contains(&"not this one"), "{refused:?}");
    let unknown: Vec<_> = refused
        .iter()
        .filter(|reason| reason.contains("No.Such"))
        .collect();
    assert!(
        !unknown.is_empty() && unknown[0].contains("assume_loadable"),
        "{refused:?}"
    );

    let allowed = sample().edit(|body, cx| {
        cx.assume_loadable("No.Such")?;
        body.prologue(Fragment::new().call(&missing))?;
        Ok(())
    });
    allowed.assert_valid();
    assert_eq!(allowed.changed().count(), allowed.methods().len());
}

#[test]
fn generic_code_refers_to_itself() {
    let edited = sample().edit(|body, cx| {
        let own = cx.own_token()?;
        let this = cx.this_type()?;
        let this = cx.type_operand(&this)?;
        body.prologue(
            Fragment::new()
                .ldtoken(own)
                .pop()
                .ldtoken(this.token())
                .pop(),
        )?;
        Ok(())
    });
    edited.assert_valid();
    assert_eq!(edited.refused().count(), 0, "{}", edited.listing());
}

#[test]
fn a_file_that_is_no_assembly() {
    let error = AssemblyFile::open(file!().replace("clr_profiler_test/", ""))
        .unwrap_err()
        .to_string();
    assert!(error.contains("is no .NET assembly"), "{error}");
    let error = AssemblyFile::open("no-such-file.dll")
        .unwrap_err()
        .to_string();
    assert!(error.contains("Cannot read"), "{error}");
}

#[test]
fn a_file_for_net_framework_has_mscorlib_as_core_library() {
    for (facade, is_same) in [("mscorlib", true), ("netstandard", false)] {
        let file = format!(
            "{}/../tests/profilees/{facade}/Helped.dll",
            env!("CARGO_MANIFEST_DIR")
        );
        let edited = AssemblyFile::open(file).unwrap().edit(|_, cx| {
            let own = cx.import_type(&format!("[{facade}]System.GC"))?;
            let of_core = cx.import_type("[System.Private.CoreLib]System.GC")?;
            assert_eq!(own == of_core, is_same, "{facade}");
            Ok(())
        });
        assert_eq!(edited.refused().count(), 0);
        assert!(edited.methods().len() > 5);
    }
}
