//! Prints where the methods of an assembly are in its source: `where_is ASSEMBLY [NAME]`.
//!
//! ```text
//! $ cargo run -p clr_metadata --example where_is tests/profilees/pdb/SourcesDebug.dll Later
//! Sources.Program.Later: /_/tests/profilees/pdb/Sources.cs:180
//! ```
//!
//! The `MoveNext` method of an async method or an iterator has the lines, and is printed under the name of that method.

use std::error::Error;
use std::io::{Write, stdout};
use std::path::PathBuf;

use clr_metadata::Image;
use clr_metadata::pdb::PdbFile;
use clr_metadata::token::MethodDef;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let assembly = PathBuf::from(arguments.next().ok_or("usage: where_is ASSEMBLY [NAME]")?);
    let wanted = arguments
        .next()
        .map(|name| name.to_string_lossy().into_owned());

    let file = std::fs::read(&assembly)?;
    let image = Image::parse(&file)?;
    let metadata = image.metadata()?;
    let symbols = PdbFile::find_for(&image, &assembly)?;
    let pdb = symbols.pdb()?;
    for method in metadata.tokens::<MethodDef>() {
        // The first line of the source; methods of the compiler have none.
        let points = pdb.sequence_points(method)?;
        let Some(point) = points.flatten().find(|point| point.span.is_some()) else {
            continue;
        };
        let source = pdb.kickoff_method(method)?.unwrap_or(method);
        let name = metadata.string(metadata.row(source)?.name)?;
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let owner = metadata.full_name(metadata.method_owner(source)?.into())?;
        let path = pdb.document(point.document)?.name()?;
        let line = point.span.map_or(0, |span| span.start_line);
        writeln!(stdout(), "{owner}.{name}: {path}:{line}")?;
    }
    Ok(())
}
