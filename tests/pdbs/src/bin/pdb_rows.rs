//! Prints the rows of PDBs to the standard output: `rows FILE...`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut out = format!("file {path}\n");
        pdb_rows::write_file(&std::fs::read(&path)?, &mut out)?;
        print!("{out}");
    }
    Ok(())
}
