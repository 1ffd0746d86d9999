//! Writes seeds for the fuzzers: `metadata_seeds FOLDER` puts those of each into `FOLDER/NAME`.

use std::error::Error;
use std::path::PathBuf;

use clr_metadata::Image;

const ASSEMBLIES: [&[u8]; 3] = [
    include_bytes!("../../../clr_profiler_test/hook/StartupHook.dll"),
    include_bytes!("../../../tests/profilees/Basics.dll"),
    include_bytes!("../../../tests/profilees/Behaviours.dll"),
];

const PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesDebug.pdb");
const WITH_PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesRelease.dll");

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(
        std::env::args_os()
            .nth(1)
            .ok_or("usage: metadata_seeds FOLDER")?,
    );
    let write = |name: &str, number: usize, seed: &[u8]| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("seed-{number}")), seed)
    };
    for (number, file) in ASSEMBLIES.into_iter().enumerate() {
        let metadata = Image::parse(file)?.metadata()?;
        let bytes = metadata.bytes();
        write("image", number, file)?;
        write("root", number, bytes)?;
        write(
            "tables",
            number,
            metadata_oracles::seeds::tables(bytes).ok_or("no tables")?,
        )?;
        write("bundle", number, &metadata_oracles::seeds::bundle(file))?;
    }
    write("pdb", 0, PDB)?;
    write("embedded_pdb", 0, WITH_PDB)?;
    Ok(())
}
