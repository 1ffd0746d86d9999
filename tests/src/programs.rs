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

/// Validates logs of static analysers: a single-file application on .NET 8, with PDBs next to it.
pub const VALIDATOR: Pinned = Pinned {
    name: "the validator Sarif.Multitool",
    version: "8.0.30",
    index: Index::Npm,
    package: "@microsoft/sarif-multitool-linux",
    package_version: "5.7.0",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::LinuxX64,
        tag: "linux-x64",
        file: "microsoft-sarif-multitool-linux-5.7.0.tgz",
        sha256: "27d8e3e96dde578a23b7c45035b8d741fece5731e2700aa068015b8c44d1514e",
        size: 43_615_539,
        executable: "package/Sarif.Multitool",
    }],
};

/// Writes the input of the [validator](VALIDATOR): a log with so many results.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn write_log(folder: &Folder, results: usize) -> PathBuf {
    let results = (1..=results).map(|line| {
        let place = format!(
            r#"{{"physicalLocation":{{"artifactLocation":{{"uri":"Shop.cs"}},"region":{{"startLine":{line}}}}}}}"#
        );
        format!(
            r#"{{"ruleId":"R{}","message":{{"text":"Result number {line}."}},"locations":[{place}]}}"#,
            line % 20,
        )
    });
    let results: Vec<String> = results.collect();
    let log = format!(
        r#"{{"version":"2.1.0","runs":[{{"tool":{{"driver":{{"name":"Tool"}}}},"results":[{}]}}]}}"#,
        results.join(",")
    );
    let path = folder.path("log.sarif");
    fs::write(&path, log).expect("the folder can be written");
    path
}

/// Writes made-up proteins, for the program in which .NET 10 comes.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn write_proteins(folder: &Folder, count: usize) -> PathBuf {
    let acids = b"ACDEFGHIKLMNPQRSTVWY";
    // Numbers that look random and are the same in each run.
    let mut random: u64 = 7;
    let mut acid = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005);
        random = random.wrapping_add(1);
        char::from(acids[(random >> 33) as usize % acids.len()])
    };
    let mut text = String::new();
    for number in 0..count {
        text +=
            &format!(">sp|P{number:05}|P{number}_HUMAN Protein {number} OS=Homo sapiens OX=9606\n");
        text.extend((0..300).map(|_| acid()));
        text += "\n";
    }
    let path = folder.path("proteins.fasta");
    fs::write(&path, text).expect("the folder can be written");
    path
}

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
