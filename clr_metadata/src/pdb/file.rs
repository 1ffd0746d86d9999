//! The PDB of an assembly: embedded, or in a file next to it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use super::checksum::Checksum;
use super::{Guid, Pdb, PdbId};
use crate::error::Error;
use crate::image::{DebugContents, DebugEntry, Headers, Image, ImageLayout, Source};

/// In the minor version of a CodeView entry: the PDB is a portable one.
const PORTABLE: u16 = 0x504d;

/// The bytes of a PDB, with a check that it is that of its assembly.
///
/// ```
/// use clr_metadata::pdb::PdbFile;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let assembly = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/profilees/language/NetRelease.dll");
/// let file = PdbFile::find(assembly)?;
/// println!("{} in {:?}", file.id(), file.path());
/// for document in file.pdb()?.documents() {
///     println!("{}", document?.name()?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PdbFile {
    bytes: Vec<u8>,
    id: PdbId,
    path: Option<PathBuf>,
}

impl PdbFile {
    /// Reads the PDB of the assembly in a file: the embedded one, or that in a file next to the assembly, which has the
    /// name in the debug directory, or the name of the assembly with the extension `pdb`.
    ///
    /// The path in the debug directory is that on the machine of the build: only its file name is used. Nothing is
    /// downloaded. With the feature `checksum`, the PDB must have the hash that the debug directory says, if it says one.
    ///
    /// # Errors
    ///
    /// If there is no portable PDB with the id that the debug directory says, or if the assembly or the PDB is
    /// malformed.
    pub fn find(assembly: impl AsRef<Path>) -> Result<Self, FindError> {
        let assembly = assembly.as_ref();
        let file = File::open(assembly).map_err(|error| FindError::io(assembly, error))?;
        Self::find_in(&file, ImageLayout::File, assembly)
    }

    /// As [`find`](Self::find), for an image that is in memory; `assembly` is the path that it was loaded from.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn find_for(image: &Image<'_>, assembly: impl AsRef<Path>) -> Result<Self, FindError> {
        let assembly = assembly.as_ref();
        let wanted = WantedPdb::of(image.headers(), image.all_bytes());
        wanted
            .map_err(|error| FindError::malformed(assembly, error))?
            .find_at(assembly)
    }

    /// As [`find`](Self::find), for an image that is read from a [`Source`], such as a loaded one.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn find_in(
        source: &(impl Source + ?Sized),
        layout: ImageLayout,
        assembly: impl AsRef<Path>,
    ) -> Result<Self, FindError> {
        let assembly = assembly.as_ref();
        WantedPdb::read(source, layout)
            .map_err(|error| FindError::malformed(assembly, error))?
            .find_at(assembly)
    }

    /// The PDB in these bytes.
    ///
    /// # Errors
    ///
    /// If it is malformed, or has not this id.
    pub fn from_bytes(bytes: Vec<u8>, id: Option<PdbId>) -> Result<Self, FindError> {
        let wanted = WantedPdb {
            id,
            ..WantedPdb::default()
        };
        wanted.check(bytes, None, Path::new(""))
    }

    /// The PDB.
    ///
    /// # Errors
    ///
    /// If the headers are malformed; they were read before, so they are not.
    pub fn pdb(&self) -> crate::Result<Pdb<'_>> {
        Pdb::parse(&self.bytes)
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> PdbId {
        self.id
    }

    /// The file that the PDB was read from; `None` if it was embedded in the assembly.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The bytes of the PDB, decompressed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for PdbFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PdbFile")
            .field("id", &self.id)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FindError> {
    fs::read(path).map_err(|error| FindError::io(path, error))
}

/// The PDB that an assembly names in its debug directory.
///
/// [`PdbFile::find`] reads it and searches the PDB. A program that has the PDB elsewhere, such as in a single-file
/// application, takes its name from here, and has it checked.
#[derive(Clone, Debug, Default)]
pub struct WantedPdb {
    id: Option<PdbId>,
    file_name: Option<String>,
    embedded: Option<Vec<u8>>,
    checksum: Option<Checksum>,
}

impl WantedPdb {
    /// Reads the debug directory of an image.
    ///
    /// # Errors
    ///
    /// If the headers of the image or its debug directory are malformed.
    pub fn read(source: &(impl Source + ?Sized), layout: ImageLayout) -> crate::Result<Self> {
        Self::of(&Headers::read(source, layout)?, source)
    }

    fn of(headers: &Headers, source: &(impl Source + ?Sized)) -> crate::Result<Self> {
        let mut wanted = Self::default();
        let wants = |kind, minor_version| match kind {
            // Native code of a precompiled assembly has another entry, for a Windows PDB.
            DebugEntry::CODE_VIEW => minor_version == PORTABLE,
            DebugEntry::EMBEDDED_PDB | DebugEntry::PDB_CHECKSUM => true,
            _ => false,
        };
        let read = |entry: &DebugEntry<'_>| {
            match entry.contents()? {
                DebugContents::CodeView(view) => {
                    wanted.id = Some(PdbId::new(Guid(view.guid), entry.stamp));
                    wanted.file_name = file_name(view.path).map(str::to_owned);
                }
                DebugContents::EmbeddedPdb(pdb) if wanted.embedded.is_none() => {
                    wanted.embedded = Some(pdb.decompress()?);
                }
                DebugContents::PdbChecksum(sum) if wanted.checksum.is_none() => {
                    wanted.checksum = Checksum::of(&sum);
                }
                _ => {}
            }
            Ok(())
        };
        headers.copy_debug_entries(source, read, wants)?;
        Ok(wanted)
    }

    /// The id; `None` if the assembly names no portable PDB.
    #[must_use]
    pub const fn id(&self) -> Option<PdbId> {
        self.id
    }

    /// The file name, without the folder that it had on the machine of the build.
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        self.file_name.as_deref()
    }

    /// Whether the assembly contains the PDB.
    #[must_use]
    pub const fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    /// The PDB of the assembly that has, or had, this path: the embedded one, or that in a file next to the assembly.
    ///
    /// # Errors
    ///
    /// As [`PdbFile::find`].
    pub fn find_at(mut self, assembly: impl AsRef<Path>) -> Result<PdbFile, FindError> {
        let assembly = assembly.as_ref();
        if let Some(bytes) = self.embedded.take() {
            return self.check(bytes, None, assembly);
        }
        let id = self.id.ok_or(FindError::NotNamed)?;
        let mut paths: Vec<PathBuf> = Vec::new();
        paths.extend(self.file_name().map(|name| assembly.with_file_name(name)));
        let alike = assembly.with_extension("pdb");
        if !paths.contains(&alike) {
            paths.push(alike);
        }
        let mut failure = None;
        for path in &paths {
            match read(path) {
                Ok(bytes) => match self.check(bytes, Some(path.clone()), path) {
                    Ok(file) => return Ok(file),
                    Err(error) => failure = failure.or(Some(error)),
                },
                Err(FindError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or(FindError::NotFound { id, paths }))
    }

    /// The PDB in bytes that were found elsewhere; `read_from` is named in errors.
    ///
    /// # Errors
    ///
    /// If it is not the PDB of the assembly, or is malformed.
    pub fn accept(
        &self,
        bytes: Vec<u8>,
        read_from: impl AsRef<Path>,
    ) -> Result<PdbFile, FindError> {
        self.check(bytes, None, read_from.as_ref())
    }

    fn check(
        &self,
        bytes: Vec<u8>,
        path: Option<PathBuf>,
        read_from: &Path,
    ) -> Result<PdbFile, FindError> {
        let (found, id_offset) = match Pdb::parse(&bytes) {
            Ok(pdb) => (pdb.id(), pdb.id_offset()),
            Err(error) => return Err(FindError::malformed(read_from, error)),
        };
        if let Some(expected) = self.id
            && expected != found
        {
            let path = read_from.to_owned();
            return Err(FindError::WrongId {
                path,
                expected,
                found,
            });
        }
        if let Some(checksum) = &self.checksum
            && !checksum.is_of(&bytes, id_offset)
        {
            return Err(FindError::WrongChecksum {
                path: read_from.to_owned(),
                algorithm: checksum.name(),
            });
        }
        Ok(PdbFile {
            bytes,
            id: found,
            path,
        })
    }
}

/// The part of a path after its last separator, on any system. `None` if that is no name of a file.
fn file_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    (!matches!(name, "" | "." | "..")).then_some(name)
}

/// Why an assembly has no PDB.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// The assembly names no portable PDB: it was compiled without, or with a Windows PDB.
    NotNamed,
    /// The PDB with the id is in none of these files.
    NotFound {
        /// The id in the debug directory of the assembly.
        id: PdbId,
        /// The files that were searched.
        paths: Vec<PathBuf>,
    },
    /// The PDB is that of another build.
    WrongId {
        /// The file.
        path: PathBuf,
        /// The id in the debug directory of the assembly.
        expected: PdbId,
        /// The id of the PDB.
        found: PdbId,
    },
    /// The PDB was changed after the build: it has the right id, but not the hash in the debug directory.
    WrongChecksum {
        /// The file.
        path: PathBuf,
        /// The hash algorithm.
        algorithm: &'static str,
    },
    /// A file cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The assembly or the PDB is malformed.
    Malformed {
        /// The file.
        path: PathBuf,
        /// The broken rule.
        error: Error,
    },
}

impl FindError {
    fn io(path: &Path, error: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            error,
        }
    }

    fn malformed(path: &Path, error: Error) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            error,
        }
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNamed => formatter.write_str(
                "the assembly names no portable PDB: compile it with DebugType set to portable or embedded",
            ),
            Self::NotFound { id, paths } => {
                write!(formatter, "the PDB {id} is not there: searched")?;
                for (index, path) in paths.iter().enumerate() {
                    let separator = if index == 0 { " " } else { ", " };
                    write!(formatter, "{separator}{}", path.display())?;
                }
                Ok(())
            }
            Self::WrongId { path, expected, found } => write!(
                formatter,
                "{} is the PDB of another build: its id is {found}, the assembly names {expected}",
                path.display()
            ),
            Self::WrongChecksum { path, algorithm } => write!(
                formatter,
                "{} was changed after the build: it has another {algorithm} hash than the assembly names",
                path.display()
            ),
            Self::Io { path, error } => write!(formatter, "{}: {error}", path.display()),
            Self::Malformed { path, error } => write!(formatter, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Malformed { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_name_of_a_path_is_used() {
        assert_eq!(file_name("/_/artifacts/obj/App.pdb"), Some("App.pdb"));
        assert_eq!(file_name(r"C:\build\App.pdb"), Some("App.pdb"));
        assert_eq!(file_name("App.pdb"), Some("App.pdb"));
        assert_eq!(file_name("C:App.pdb"), Some("App.pdb"));
        for path in ["", "/", "..", r"a\..", "/etc/."] {
            assert_eq!(file_name(path), None, "{path}");
        }
    }
}
