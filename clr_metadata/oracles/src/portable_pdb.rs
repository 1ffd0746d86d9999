//! The oracles for portable PDBs.

use clr_metadata::pdb::{CustomValue, Pdb};
use clr_metadata::token::{ImportScope, LocalScope, MethodDef, Token};
use clr_metadata::{DebugContents, Error, Image};

/// Any bytes as a portable PDB.
pub fn pdb(bytes: &[u8]) {
    let _ = read_pdb(bytes);
}

/// Any bytes as an assembly that embeds a PDB.
pub fn embedded_pdb(bytes: &[u8]) {
    let _ = read_embedded_pdb(bytes);
}

/// Longer sources are not decompressed.
const MOST: usize = 1 << 20;

/// Reads everything in any bytes as a PDB: each value is one, or an error with an offset in the bytes.
///
/// Returns the number of values without an error.
///
/// # Panics
///
/// If a promise is broken.
#[must_use]
pub fn read_pdb(bytes: &[u8]) -> usize {
    let mut reading = Reading {
        length: bytes.len(),
        values: 0,
    };
    if let Some(pdb) = reading.check(Pdb::parse(bytes)) {
        reading.documents(&pdb);
        reading.methods(&pdb);
        reading.scopes(&pdb);
        reading.custom(&pdb);
    }
    reading.values
}

/// Reads the debug directory of any bytes as an assembly, and the PDB that it embeds.
///
/// Returns the number of values without an error.
///
/// # Panics
///
/// If a promise is broken.
#[must_use]
pub fn read_embedded_pdb(bytes: &[u8]) -> usize {
    let mut reading = Reading {
        length: bytes.len(),
        values: 0,
    };
    let Some(image) = reading.check(Image::parse(bytes)) else {
        return 0;
    };
    for entry in reading.check(image.debug_entries()).into_iter().flatten() {
        let contents = entry.and_then(|entry| entry.contents());
        if let Some(DebugContents::EmbeddedPdb(embedded)) = reading.check(contents)
            && embedded.size as usize <= MOST
            && let Ok(pdb) = embedded.decompress()
        {
            assert_eq!(pdb.len(), embedded.size as usize);
            reading.values += read_pdb(&pdb);
        }
    }
    reading.values
}

struct Reading {
    length: usize,
    values: usize,
}

impl Reading {
    fn check<T>(&mut self, value: Result<T, Error>) -> Option<T> {
        match value {
            Ok(value) => {
                self.values += 1;
                Some(value)
            }
            Err(error) => {
                assert!(
                    error.offset() <= self.length,
                    "{error} of {} bytes",
                    self.length
                );
                None
            }
        }
    }

    fn documents(&mut self, pdb: &Pdb<'_>) {
        for document in pdb.documents() {
            let Some(document) = self.check(document) else {
                continue;
            };
            if let Some(name) = self.check(document.name()) {
                assert!(name.len() <= 2 * self.length + 0x1_0000);
            }
            self.check(document.hash());
            self.check(document.hash_algorithm());
            self.check(document.language());
            let source = self.check(pdb.embedded_source(document.token())).flatten();
            if let Some(source) = source.filter(|source| source.len() <= MOST)
                && let Ok(content) = source.bytes()
            {
                assert_eq!(content.len(), source.len());
            }
        }
        self.check(pdb.source_link());
    }

    fn methods(&mut self, pdb: &Pdb<'_>) {
        // More rows than a PDB of a test has would be a table that does not fit.
        for method in pdb.methods() {
            let Some(points) = self.check(pdb.sequence_points(method)) else {
                assert!(pdb.source_location(method, 0).is_err());
                continue;
            };
            let mut last = None;
            let mut is_intact = true;
            for point in points {
                assert!(is_intact, "an error is the last item");
                let Some(point) = self.check(point) else {
                    is_intact = false;
                    continue;
                };
                assert!(last < Some(point.il_offset), "{point:?} after {last:?}");
                last = Some(point.il_offset);
                if let Some(span) = point.span {
                    assert!(span.start_line <= span.end_line, "{span:?}");
                }
            }
            if let (Some(last), true) = (last, is_intact) {
                let location = pdb.source_location(method, last);
                assert!(location.is_ok(), "{method}: {location:?}");
            }
            if let Some(kickoff) = self.check(pdb.kickoff_method(method)).flatten() {
                assert!(
                    pdb.move_next_method(kickoff)
                        .is_ok_and(|found| found.is_some())
                );
            }
            self.check(pdb.async_steps(method));
        }
    }

    fn scopes(&mut self, pdb: &Pdb<'_>) {
        // A malformed table can have lists of all rows in each scope.
        let mut most = 20 * self.length;
        for token in pdb.metadata().tokens::<LocalScope>() {
            let Some(scope) = self.check(pdb.local_scope(token)) else {
                continue;
            };
            assert!(scope.start <= scope.end, "{scope:?}");
            for variable in pdb.local_variables(&scope) {
                self.check(variable);
                most = most.saturating_sub(1);
            }
            for constant in pdb.local_constants(&scope) {
                if let Some(constant) = self.check(constant) {
                    self.check(constant.value());
                }
                most = most.saturating_sub(1);
            }
            if most == 0 {
                break;
            }
        }
        for scope in pdb.metadata().tokens::<ImportScope>() {
            let Some(scope) = self.check(pdb.import_scope(scope)) else {
                continue;
            };
            for import in scope.imports() {
                self.check(import);
            }
        }
        self.check(pdb.local_name(MethodDef::from_row(1).unwrap_or(MethodDef::NIL), 0, 0));
    }

    fn custom(&mut self, pdb: &Pdb<'_>) {
        for info in pdb.all_custom_debug_info() {
            let Some(info) = self.check(info) else {
                continue;
            };
            let parent: Token = info.parent.into();
            assert_eq!(parent.table(), info.parent.token().table());
            match self.check(info.value()) {
                Some(CustomValue::AsyncSteps(steps)) => steps.awaits.for_each(|step| {
                    self.check(step);
                }),
                Some(CustomValue::HoistedScopes(scopes)) => scopes.for_each(|scope| {
                    self.check(scope);
                }),
                Some(CustomValue::TupleNames(names)) => names.for_each(|name| {
                    self.check(name);
                }),
                Some(CustomValue::References(references)) => references.for_each(|reference| {
                    self.check(reference);
                }),
                Some(CustomValue::Options(options)) => options.for_each(|option| {
                    self.check(option);
                }),
                Some(CustomValue::TypeDocuments(documents)) => documents.for_each(|document| {
                    self.check(document);
                }),
                _ => {}
            }
        }
    }
}
