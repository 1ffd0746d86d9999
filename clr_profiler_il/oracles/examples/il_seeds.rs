//! Writes seeds for the fuzzers: `il_seeds FOLDER` puts those of each into `FOLDER/NAME`.
//!
//! In addition to the hand-written seeds, these are bodies and signatures of .NET 8, one of each
//! kind: a kind is a sequence of opcodes.

use std::collections::HashSet;
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use assembly_reader::Assembly;
use clr_profiler_il::body::MethodBody;
use examples_support::{Pinned, runtime};
use il_oracles::{ORACLES, seeds};

/// The maximum number of seeds for each assembly, and their maximum length.
const MOST: usize = 40;
const LONGEST: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: il_seeds FOLDER")?;
    let folder = PathBuf::from(folder);
    for (name, _) in ORACLES {
        for seed in seeds::of(name) {
            write(&folder.join(name), &seed)?;
        }
    }
    let executable = runtime::fetch(&Pinned::NET_8)?;
    let shared = executable
        .with_file_name("shared")
        .join("Microsoft.NETCore.App")
        .join(Pinned::NET_8.version);
    let mut kinds = HashSet::new();
    for entry in std::fs::read_dir(shared)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "dll") {
            collect(&folder, &std::fs::read(&path)?, &mut kinds)?;
        }
    }
    Ok(())
}

fn collect(folder: &Path, file: &[u8], kinds: &mut HashSet<u64>) -> Result<(), Box<dyn Error>> {
    let assembly = Assembly::open(file)?;
    let mut count = 0;
    for method in assembly.all_methods() {
        let Some(bytes) = method?.body.filter(|body| body.len() <= LONGEST) else {
            continue;
        };
        let body = MethodBody::decode(bytes)?;
        let mut hasher = DefaultHasher::new();
        body.clauses().count().hash(&mut hasher);
        for one in body.instructions() {
            one.opcode().code().hash(&mut hasher);
        }
        if count == MOST || !kinds.insert(hasher.finish()) {
            continue;
        }
        count += 1;
        write(&folder.join("decode"), bytes)?;
        write(&folder.join("round_trip"), bytes)?;
        write(&folder.join("text"), body.to_string().as_bytes())?;
        if bytes.len() < 256 {
            let script: Vec<u8> = (0..200_u32).map(|at| ((at * 167) >> 3) as u8).collect();
            let input = [&[0xff, bytes.len() as u8][..], bytes, &script].concat();
            write(&folder.join("edit"), &input)?;
        }
    }
    for signature in assembly.all_signatures().take(MOST * 8) {
        write(&folder.join("signature"), signature?.blob)?;
    }
    Ok(())
}

/// Writes one file, named by its content, so that equal seeds are written once.
fn write(folder: &Path, seed: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{:016x}", hasher.finish())), seed)?;
    Ok(())
}
