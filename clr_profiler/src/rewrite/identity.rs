//! The identity by which a new reference names an assembly.
//!
//! .NET takes any version of an assembly for a reference by the name alone. .NET Framework finds such an assembly only in the folder
//! of the program: those of the global assembly cache, which are all of its own, are found by their version and key.

use super::lookup::assembly_name;
use crate::error::{Error, Result};
use crate::info::{CorProfilerInfo, CorProfilerInfo3, is_framework};
use crate::metadata::{AssemblyProps, AssemblyRefProps, AssemblyVersion, MetadataAssemblyImport};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::attributes::AssemblyFlags;
use clr_profiler_il::core_library::MSCORLIB;

/// The token of the key of `mscorlib`, which is the same since .NET Framework 1.
const KEY_OF_MSCORLIB: [u8; 8] = [0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89];

/// The version of `mscorlib` in each .NET Framework 4.x.
const VERSION_OF_MSCORLIB: AssemblyVersion = AssemblyVersion {
    major: 4,
    minor: 0,
    build: 0,
    revision: 0,
    culture: String::new(),
};

/// The reference for an assembly whose simple name a symbol has.
pub(super) fn reference_to(info: &ProfilerInfo, assembly: &str) -> Result<AssemblyRefProps> {
    let by_name = AssemblyRefProps {
        name: assembly.to_owned(),
        ..AssemblyRefProps::default()
    };
    if !info.is_net_framework()? {
        return Ok(by_name);
    }
    if assembly.eq_ignore_ascii_case(MSCORLIB) {
        return Ok(AssemblyRefProps {
            name: MSCORLIB.to_owned(),
            version: VERSION_OF_MSCORLIB,
            public_key_or_token: KEY_OF_MSCORLIB.to_vec(),
            ..AssemblyRefProps::default()
        });
    }
    match loaded(info, assembly)? {
        Some(found) => Ok(of(&found)),
        None if is_framework(assembly) => Err(Error::other(format!(
            "the assembly {assembly} is not loaded, and .NET Framework finds those of the global assembly cache only by their \
             full name: pass it to RewriteContext::assume_loadable, such as `System.Core, Version=4.0.0.0, Culture=neutral, \
             PublicKeyToken=b77a5c561934e089`"
        ))),
        None => Ok(by_name),
    }
}

/// The reference that an assembly with this manifest satisfies.
pub(super) fn of(assembly: &AssemblyProps) -> AssemblyRefProps {
    AssemblyRefProps {
        name: assembly.name.clone(),
        version: assembly.version.clone(),
        public_key_or_token: assembly.public_key.clone(),
        // The flag for a full public key if there is one, and no others.
        flags: match assembly.public_key.is_empty() {
            true => AssemblyFlags::empty(),
            false => AssemblyFlags::PUBLIC_KEY,
        },
        ..AssemblyRefProps::default()
    }
}

/// The manifest of a loaded assembly. Each application domain may have loaded it, but all of them the same one.
fn loaded(info: &ProfilerInfo, assembly: &str) -> Result<Option<AssemblyProps>> {
    let mut found: Option<AssemblyProps> = None;
    for module in info.modules()? {
        let module = module?;
        // One that is being loaded, or unloaded, has no name.
        let Ok(name) = assembly_name(info, module) else {
            continue;
        };
        if !name.eq_ignore_ascii_case(assembly) {
            continue;
        }
        let metadata = info.module_metadata(module)?;
        // A further module of the assembly has no manifest.
        let manifest = metadata.assembly_from_scope()?;
        let Some(manifest) = manifest.filter(|manifest| !manifest.is_nil()) else {
            continue;
        };
        let props = metadata.assembly_props(manifest)?;
        match &found {
            Some(other)
                if other.version != props.version || other.public_key != props.public_key =>
            {
                return Err(Error::other(format!(
                    "several assemblies {assembly} are loaded, with other versions or keys: pass the full name of one to \
                     RewriteContext::assume_loadable"
                )));
            }
            _ => found = Some(props),
        }
    }
    Ok(found)
}

/// The reference that a full name describes: `Name, Version=1.2.3.4, Culture=neutral, PublicKeyToken=0123456789abcdef`; `None` for
/// a simple name.
pub(super) fn parsed(name: &str) -> Result<Option<AssemblyRefProps>> {
    let mut parts = name.split(',').map(str::trim);
    let mut props = AssemblyRefProps {
        name: parts.next().unwrap_or_default().to_owned(),
        ..AssemblyRefProps::default()
    };
    let mut has_more = false;
    for part in parts {
        has_more = true;
        let known = part.split_once('=').and_then(|(key, value)| {
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match &key[..] {
                "version" => {
                    let culture = std::mem::take(&mut props.version.culture);
                    props.version = AssemblyVersion {
                        culture,
                        ..version(value)?
                    };
                }
                "culture" if value.eq_ignore_ascii_case("neutral") => {}
                "culture" => value.clone_into(&mut props.version.culture),
                "publickeytoken" if value.eq_ignore_ascii_case("null") => {}
                "publickeytoken" => props.public_key_or_token = token(value)?,
                _ => return None,
            }
            Some(())
        });
        known.ok_or_else(|| {
            Error::other(format!(
                "`{name}` is no full name of an assembly, because of `{part}`: such a name is `System.Core, Version=4.0.0.0, \
                 Culture=neutral, PublicKeyToken=b77a5c561934e089`"
            ))
        })?;
    }
    Ok(has_more.then_some(props))
}

/// A version of four numbers.
fn version(text: &str) -> Option<AssemblyVersion> {
    let mut numbers = text.split('.').map(|number| number.parse::<u16>().ok());
    let mut next = || numbers.next().flatten();
    let (major, minor, build, revision) = (next()?, next()?, next()?, next()?);
    numbers.next().is_none().then_some(AssemblyVersion {
        major,
        minor,
        build,
        revision,
        culture: String::new(),
    })
}

/// The eight bytes of a key's token.
fn token(text: &str) -> Option<Vec<u8>> {
    const DIGITS: usize = 16;
    if text.len() != DIGITS || !text.is_ascii() {
        return None;
    }
    let bytes = (0..DIGITS).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_name_has_version_and_key() {
        let name = "System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        let props = parsed(name).unwrap().unwrap();
        assert_eq!(props.name, "System.Core");
        assert_eq!(props.version, VERSION_OF_MSCORLIB);
        assert_eq!(props.public_key_or_token, KEY_OF_MSCORLIB);
        let props = parsed("A,PublicKeyToken=null,Culture=de,version=1.2.3.4").unwrap();
        let props = props.unwrap();
        assert_eq!((props.version.major, props.version.revision), (1, 4));
        assert_eq!(props.version.culture, "de");
        assert!(props.public_key_or_token.is_empty());
        assert!(parsed("System.Core").unwrap().is_none());
    }

    #[test]
    fn mistakes_in_full_names_are_named() {
        for wrong in [
            "A, Version=4",
            "A, Version=1.2.3.4.5",
            "A, Version=1.2.3.70000",
            "A, PublicKeyToken=b77a",
            "A, PublicKeyToken=b77a5c561934e08\u{e9}",
            "A, PublicKeyToken=b77a5c561934e0zz",
            "A, Kind=none",
            "A,",
        ] {
            let error = parsed(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{wrong}` is no full name")),
                "{error}"
            );
        }
    }
}
