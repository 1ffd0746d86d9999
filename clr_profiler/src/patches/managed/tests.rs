//! The mistakes of patches, without a runtime.

use super::ManagedPatches;

fn path(file: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/profilees/ManagedPatched"
    );
    format!("{folder}/{file}.dll")
}

/// All mistakes of `Mistaken.cs`, in their order.
const MISTAKES: &[&str] = &[
    "Transpiles.Transpiler: transpilers are not supported: `Instrumentation::edit` changes IL",
    "Chooses.TargetMethod: it returns no method: it is read, not run, since patches are known before the program runs: it can only \
     look up types and methods by constants: name the method by an attribute, `HarmonyPatch(typeof(X), \"Method\")`, \
     or several by a pattern, `ManagedPatches::class`",
    "Searches.TargetMethod: it calls `System.Type.GetMethods`: it is read, not run, since patches are known before the program runs: it can only \
     look up types and methods by constants: name the method by an attribute, `HarmonyPatch(typeof(X), \"Method\")`, \
     or several by a pattern, `ManagedPatches::class`",
    "Prepares.Prepare: it calls `System.DateTime.get_Now`: it is read, not run, since patches are known before the program runs: it \
     can only return a constant",
    "OfInstance.Prefix: a patch is a static method",
    "GenericMethod.Prefix: it is generic, and no call could name its instance",
    "the class GenericClass`1: it is generic, and no call could name its instance",
    "the class Nothing: it has no patch: a method called Prefix, Postfix or Finalizer, or with the attribute of one",
    "Returns.Prefix: the patch Returns.Prefix returns int: a prefix returns void, or a bool: whether the method runs",
    "Returns.Postfix: the patch Returns.Postfix returns int: a postfix returns void, or a result of the type of its first \
     parameter, which is the result before",
    "Returns.Finalizer: the patch Returns.Finalizer returns object: a finalizer returns void, or the System.Exception to \
     throw, null for none",
    "UsesMore.Prefix: the code of `Deeper` uses HarmonyLib.Traverse: of Harmony, only the attributes are supported",
    "the class NoTarget: its attributes name no type: `HarmonyPatch(typeof(X), \"Method\")` does, or \
     `ManagedPatches::class` with a pattern",
    "the class NoMethod: its attributes name no method: `HarmonyPatch(typeof(X), \"Method\")` does",
    "the class Instance: System.Collections.Generic.List<System.Int32> is an instance of a generic type, or an array: all \
     instances share their code, so name the generic type, `typeof(X<>)`",
    "the class Own: NoTarget is a type of the patches' own assembly, which is not patched",
    "the class Iterator: the `MethodType` 5 is not supported: of an iterator or `async` method, name the method \
     `MoveNext` of the type that the compiler has made, by a pattern",
];

#[test]
fn all_mistakes_are_reported_at_once() {
    let error = ManagedPatches::open(path("Mistaken"))
        .unwrap_err()
        .to_string();
    let prefix = format!("the patches {}: ", path("Mistaken"));
    let found = error.strip_prefix(&prefix).unwrap_or(&error);
    let found: Vec<&str> = found.split("; ").collect();
    assert_eq!(found, MISTAKES);
}

#[test]
fn a_class_is_found_by_its_name() {
    let patches = ManagedPatches::open(path("Plain")).unwrap();
    let error = patches.class("Plain.Missing", "Shop.**").unwrap_err();
    let expected = "the assembly of the patches has no class Plain.Missing";
    assert_eq!(error.to_string(), expected);
    let patches = ManagedPatches::open(path("Plain")).unwrap();
    assert!(patches.class("Plain.Greeting", "Shop..(").is_err());
    let patches = ManagedPatches::open(path("Plain")).unwrap();
    let patches = patches.class("Plain.Greeting", "Shop.**").unwrap();
    assert!(format!("{patches:?}").contains("Plain.Greeting.Prefix"));
    let error = ManagedPatches::in_memory(b"MZ").unwrap_err().to_string();
    assert!(error.starts_with("the patches in memory: "), "{error}");
}
