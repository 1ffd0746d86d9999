//! Programs of other people.

use std::env;
use std::fs;
use std::path::PathBuf;

use clr_profiler_test::{Archive, Fetcher, Index, Pinned, Platform};

use crate::Folder;

/// The executable of a package; `None`, with a line, if it cannot be fetched.
///
/// # Panics
///
/// If it cannot be fetched in CI.
pub fn fetched(pinned: &Pinned) -> Option<PathBuf> {
    match Fetcher::from_env().and_then(|fetcher| fetcher.fetch(pinned)) {
        Ok(executable) => Some(executable),
        Err(error) => {
            assert!(env::var_os("CI").is_none(), "{}: {error}", pinned.name);
            println!("skipped: {error}");
            None
        }
    }
}

/// Generates a client for a service. It is for .NET 9, and has a PDB.
pub const GENERATOR: Pinned = Pinned {
    name: "the generator AutoRest.CSharp",
    version: "3.0.0-beta.20251203.1",
    index: Index::Npm,
    package: "@autorest/csharp",
    package_version: "3.0.0-beta.20251203.1",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "autorest-csharp-3.0.0-beta.20251203.1.tgz",
        sha256: "d080d8f02bde85d4fda72758dc8072b5187e246319ba65c5c6eea518ff4621fc",
        size: 9_367_680,
        executable: "package/AutoRest.CSharp.dll",
    }],
};

const CONFIGURATION: &str = r#"{
    "output-folder": ".", "namespace": "Shop", "library-name": "Shop", "shared-source-folders": [],
    "unreferenced-types-handling": "keepAll"
}"#;

/// Writes the input of the [generator](GENERATOR): a service with types `Apple0`, `Apple1` and so on.
///
/// Returns where it is: two folders below that one, because the generator reads all C# files of the folder around its own, for
/// instance those of other tests.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn configure_generator(folder: &Folder, types: usize) -> PathBuf {
    let path = folder.path("client/src");
    fs::create_dir_all(&path).expect("the folder can be written");
    for (name, text) in [
        ("Configuration.json", CONFIGURATION),
        ("tspCodeModel.json", &model(types)),
    ] {
        fs::write(path.join(name), text).expect("the folder can be written");
    }
    path
}

/// A service with types that have a number each.
fn model(types: usize) -> String {
    let models = (0..types).map(|number| {
        let id = 10 + 3 * number;
        format!(
            r#"{{
            "$id": "{id}", "kind": "model", "name": "Apple{number}", "namespace": "Shop", "usage": "Input,Output,Json",
            "crossLanguageDefinitionId": "Shop.Apple{number}", "doc": "An apple.", "decorators": [],
            "properties": [{{
                "$id": "{}", "kind": "property", "name": "price", "serializedName": "price", "doc": "Cents.",
                "optional": false, "readOnly": false, "discriminator": false, "flatten": false, "decorators": [],
                "crossLanguageDefinitionId": "Shop.Apple{number}.price", "isHttpMetadata": false,
                "serializationOptions": {{"json": {{"name": "price"}}}},
                "type": {{
                    "$id": "{}", "kind": "int32", "name": "int32", "crossLanguageDefinitionId": "TypeSpec.int32",
                    "decorators": []
                }}
            }}]
        }}"#,
            id + 1,
            id + 2
        )
    });
    let models: Vec<String> = models.collect();
    format!(
        r#"{{"$id": "1", "name": "Shop", "apiVersions": ["1.0"], "enums": [], "constants": [], "literals": [], "clients": [],
        "models": [{}]}}"#,
        models.join(",")
    )
}
