//! The programs that are covered: those that are compiled here, and a generator of C# code that others have written.

use std::fs;
use std::path::PathBuf;

use clr_profiler_test::{CSharp, Compiled, Fetcher, Index, Pinned};
use clr_profiler_tests::Folder;

/// Generates a client for a service. It is for .NET 9.
const GENERATOR: Pinned = Pinned {
    name: "the generator AutoRest.CSharp",
    version: "3.0.0-beta.20251203.1",
    index: Index::Npm,
    package: "@autorest/csharp",
    package_version: "3.0.0-beta.20251203.1",
    platform: "any",
    archive: "autorest-csharp-3.0.0-beta.20251203.1.tgz",
    sha256: "d080d8f02bde85d4fda72758dc8072b5187e246319ba65c5c6eea518ff4621fc",
    size: 9_367_680,
    licence: "MIT",
    executable: "package/AutoRest.CSharp.dll",
};

const CONFIGURATION: &str = r#"{
    "output-folder": ".", "namespace": "Shop", "library-name": "Shop", "shared-source-folders": [],
    "unreferenced-types-handling": "keepAll"
}"#;

/// A service with a type, whose only property is a number.
const MODEL: &str = r#"{
    "$id": "1", "name": "Shop", "apiVersions": ["1.0"], "enums": [], "constants": [], "literals": [], "clients": [],
    "models": [{
        "$id": "2", "kind": "model", "name": "Apple", "namespace": "Shop", "usage": "Input,Output,Json",
        "crossLanguageDefinitionId": "Shop.Apple", "doc": "An apple.", "decorators": [],
        "properties": [{
            "$id": "3", "kind": "property", "name": "price", "serializedName": "price", "doc": "Cents.",
            "optional": false, "readOnly": false, "discriminator": false, "flatten": false, "decorators": [],
            "crossLanguageDefinitionId": "Shop.Apple.price", "isHttpMetadata": false,
            "serializationOptions": {"json": {"name": "price"}},
            "type": {
                "$id": "4", "kind": "int32", "name": "int32", "crossLanguageDefinitionId": "TypeSpec.int32",
                "decorators": []
            }
        }]
    }]
}"#;

/// Compiles a program, or says why this machine cannot.
pub(super) fn compile(name: &str, source: &str, options: &[&str]) -> Option<Compiled> {
    let mut program = CSharp::program(name, source);
    for option in options {
        program = program.option(option);
    }
    match program.compile() {
        Ok(compiled) => Some(compiled),
        Err(error) => {
            println!("skipped: {error}");
            assert!(std::env::var_os("CI").is_none(), "{error}");
            None
        }
    }
}

/// Writes the input of the generator.
///
/// Returns where it is: two folders below that one, because the generator reads all C# files of the folder around its own, for
/// instance those of other tests.
pub(super) fn configure(folder: &Folder) -> PathBuf {
    let path = folder.path("client/src");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("Configuration.json"), CONFIGURATION).unwrap();
    fs::write(path.join("tspCodeModel.json"), MODEL).unwrap();
    path
}

/// The generator, if it can be fetched.
pub(super) fn generator() -> Option<PathBuf> {
    let fetched = Fetcher::from_env().and_then(|fetcher| fetcher.fetch(&GENERATOR));
    match fetched {
        Ok(program) => Some(program),
        Err(error) if std::env::var_os("CI").is_some() => panic!("{error}"),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}
