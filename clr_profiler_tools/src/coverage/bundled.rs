//! Assemblies and PDBs in single-file applications.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clr_metadata::pdb::{FindError, PdbFile, WantedPdb};
use clr_metadata::{Bundle, BundledFile, ImageLayout};

use super::module::ModuleFiles;

/// Reads assemblies from their files and from single-file applications, of which it keeps the bytes.
#[derive(Debug, Default)]
pub struct AssemblyReader {
    applications: HashMap<PathBuf, Vec<u8>>,
}

impl AssemblyReader {
    /// Reads an assembly, and the PDB that is embedded in it or next to it. The path may be one below that of a single-file
    /// application: `shop/Shop.dll` of `shop`. The PDB can be in there, too, or next to the application.
    ///
    /// # Errors
    ///
    /// If the assembly cannot be read, in words. Without a PDB there is none.
    pub fn read(&mut self, path: &Path) -> Result<ModuleFiles, String> {
        let found = ModuleFiles::read_if(path, false);
        let found = found.or_else(|error| self.read_bundled(path).unwrap_or(Err(error)))?;
        found.ok_or_else(|| format!("{}: it has no PDB", path.display()))
    }

    fn read_bundled(&mut self, path: &Path) -> Option<Result<Option<ModuleFiles>, String>> {
        let application = path.ancestors().skip(1).find(|path| path.is_file())?;
        let names = path.strip_prefix(application).ok()?.iter();
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        if !self.applications.contains_key(application) {
            let bytes = fs::read(application).ok()?;
            self.applications.insert(application.to_owned(), bytes);
        }
        let bundle = Bundle::find(self.applications.get(application)?).ok()?;
        read_in(application, &bundle, &names.join("/"), false)
    }
}

/// An assembly in a single-file application, by the path that it has in there. `None` if there is none of this path.
///
/// # Errors
///
/// As of [`ModuleFiles::read_if`].
pub(crate) fn read_in(
    application: &Path,
    bundle: &Bundle<'_>,
    assembly: &str,
    needs_pdb: bool,
) -> Option<Result<Option<ModuleFiles>, String>> {
    let mut files = bundle.files().flatten();
    let file = files.find(|file| file.path == assembly)?;
    let found = read_file(application, bundle, &file, needs_pdb);
    Some(found.map_err(|error| {
        let path = application.join(assembly);
        format!("{}: {error}", path.display())
    }))
}

/// The path in a single-file application of an assembly that has this file name.
#[cfg(feature = "profilers")]
pub(crate) fn path_in<'a>(bundle: &Bundle<'a>, name: &str) -> Option<&'a str> {
    let mut paths = bundle.files().flatten().map(|file| file.path);
    paths.find(|path| is_named(path, name))
}

fn read_file(
    application: &Path,
    bundle: &Bundle<'_>,
    file: &BundledFile<'_>,
    needs_pdb: bool,
) -> clr_metadata::Result<Option<ModuleFiles>> {
    // Of a compressed file the headers cannot be read alone.
    let bytes = file.contents()?;
    let wanted = WantedPdb::read(&*bytes, ImageLayout::File)?;
    let name = wanted.file_name().unwrap_or_default();
    let in_bundle = || {
        let mut files = bundle.files().flatten();
        let file = files.find(|file| is_named(file.path, name))?;
        let contents = file.contents().ok()?.into_owned();
        Some(wanted.accept(contents, application.join(file.path)))
    };
    // In the assembly, next to the application, or in it.
    let found = wanted
        .clone()
        .find_at(application.with_file_name(file.path));
    let pdb: Result<PdbFile, FindError> = match found {
        Err(error @ FindError::NotFound { .. }) => in_bundle().unwrap_or(Err(error)),
        found => found,
    };
    let is_wanted = !needs_pdb || pdb.is_ok();
    Ok(is_wanted.then(|| ModuleFiles::of(bytes.into_owned(), pdb)))
}

/// Whether a path in a bundle has this file name.
fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}
