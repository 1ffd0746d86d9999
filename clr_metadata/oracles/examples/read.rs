//! Reads everything in assemblies and single-file applications: `read FILE...` prints the contents of each in numbers, and all errors.

use std::borrow::Cow;
use std::error::Error;

use clr_metadata::{Assembly, Bundle, BundledFileKind};

fn main() -> Result<(), Box<dyn Error>> {
    let mut failures = 0;
    for path in std::env::args_os().skip(1) {
        let file = std::fs::read(&path)?;
        let mut read = |name: &str, file: &[u8]| match Assembly::parse(file) {
            Ok(assembly) => {
                let mut of_this = 0;
                let counts = metadata_oracles::visit(
                    &assembly.metadata,
                    Some(&assembly),
                    &mut |token, error| {
                        println!("{name} {token}: {error}");
                        of_this += 1;
                    },
                );
                println!("{name}: {counts:?}");
                failures += of_this;
            }
            Err(error) => println!("{name}: {error}"),
        };
        match Bundle::find(&file) {
            Ok(bundle) => {
                for file in bundle.files() {
                    let file = file?;
                    if file.kind == BundledFileKind::ASSEMBLY {
                        let contents: Cow<'_, [u8]> = file.contents()?;
                        read(file.path, &contents);
                    }
                }
            }
            Err(_) => read(&path.to_string_lossy(), &file),
        }
    }
    match failures {
        0 => Ok(()),
        _ => Err(format!("{failures} errors").into()),
    }
}
