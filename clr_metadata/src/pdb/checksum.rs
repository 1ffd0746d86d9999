//! The hash of a PDB in the debug directory of its assembly.

#[cfg(feature = "checksum")]
pub(super) use known::Checksum;
#[cfg(not(feature = "checksum"))]
pub(super) use unknown::Checksum;

#[cfg(feature = "checksum")]
mod known {
    use sha2::{Digest, Sha256, Sha384, Sha512};

    use crate::image::PdbChecksum;

    /// The size of an id.
    const ID: usize = 20;

    /// A hash, and the algorithm that made it.
    #[derive(Clone, Debug)]
    pub(in crate::pdb) struct Checksum {
        algorithm: Algorithm,
        hash: Vec<u8>,
    }

    #[derive(Clone, Copy, Debug)]
    enum Algorithm {
        Sha256,
        Sha384,
        Sha512,
    }

    impl Checksum {
        /// `None` for an algorithm that is unknown here.
        pub(in crate::pdb) fn of(sum: &PdbChecksum<'_>) -> Option<Self> {
            let algorithm = match sum.algorithm {
                "SHA256" => Algorithm::Sha256,
                "SHA384" => Algorithm::Sha384,
                "SHA512" => Algorithm::Sha512,
                _ => return None,
            };
            let hash = sum.hash.to_vec();
            Some(Self { algorithm, hash })
        }

        pub(in crate::pdb) const fn name(&self) -> &'static str {
            match self.algorithm {
                Algorithm::Sha256 => "SHA256",
                Algorithm::Sha384 => "SHA384",
                Algorithm::Sha512 => "SHA512",
            }
        }

        /// Whether a PDB has the hash. It is that of the PDB with an id of zeros, because compilers write the id last.
        pub(in crate::pdb) fn is_of(&self, pdb: &[u8], id_offset: usize) -> bool {
            let before = pdb.get(..id_offset).unwrap_or(pdb);
            let after = pdb.get(id_offset.saturating_add(ID)..).unwrap_or_default();
            let parts = [before, &[0; ID], after];
            match self.algorithm {
                Algorithm::Sha256 => hash::<Sha256>(parts) == self.hash,
                Algorithm::Sha384 => hash::<Sha384>(parts) == self.hash,
                Algorithm::Sha512 => hash::<Sha512>(parts) == self.hash,
            }
        }
    }

    fn hash<D: Digest>(parts: [&[u8]; 3]) -> Vec<u8> {
        let hash = parts.iter().fold(D::new(), D::chain_update);
        hash.finalize().to_vec()
    }
}

#[cfg(not(feature = "checksum"))]
mod unknown {
    use crate::image::PdbChecksum;

    /// No hash is compared without the feature `checksum`.
    #[derive(Clone, Debug)]
    pub(in crate::pdb) enum Checksum {}

    impl Checksum {
        pub(in crate::pdb) const fn of(_: &PdbChecksum<'_>) -> Option<Self> {
            None
        }

        pub(in crate::pdb) const fn name(&self) -> &'static str {
            match *self {}
        }

        pub(in crate::pdb) const fn is_of(&self, _: &[u8], _: usize) -> bool {
            match *self {}
        }
    }
}
