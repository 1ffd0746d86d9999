//! The ids in portable PDBs.

use std::fmt;

/// A GUID, in the order of its bytes in files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The GUID with these parts: `Guid::new(0x3f5162f8, 0x07c6, 0x11d3, 0x9053_00c04fa302a1)` is
    /// `3f5162f8-07c6-11d3-9053-00c04fa302a1`.
    #[must_use]
    pub const fn new(first: u32, second: u16, third: u16, rest: u64) -> Self {
        let [a, b, c, d] = first.to_le_bytes();
        let [e, f] = second.to_le_bytes();
        let [g, h] = third.to_le_bytes();
        let [i, j, k, l, m, n, o, p] = rest.to_be_bytes();
        Self([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
    }
}

impl fmt::Display for Guid {
    /// In lower-case hexadecimal digits with hyphens.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f, g, h, i, j, rest @ ..] = self.0;
        let first = u32::from_le_bytes([a, b, c, d]);
        let second = u16::from_le_bytes([e, f]);
        let third = u16::from_le_bytes([g, h]);
        let fourth = u16::from_be_bytes([i, j]);
        write!(
            formatter,
            "{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-"
        )?;
        rest.iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// The id of a portable PDB, which its assembly has in its debug directory: a GUID and a time stamp. In
/// deterministic builds, both are a hash of the PDB.
///
/// ```
/// use clr_metadata::pdb::PdbId;
///
/// let id = PdbId([0x11; 20]);
/// assert_eq!(id.to_string(), "11111111-1111-1111-1111-111111111111-11111111");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PdbId(pub [u8; 20]);

impl PdbId {
    /// The id of these parts.
    #[must_use]
    pub fn new(guid: Guid, stamp: u32) -> Self {
        let mut id = [0; 20];
        let parts = guid.0.into_iter().chain(stamp.to_le_bytes());
        for (byte, part) in id.iter_mut().zip(parts) {
            *byte = part;
        }
        Self(id)
    }

    /// The first part, by which symbol servers find PDBs.
    #[must_use]
    pub fn guid(self) -> Guid {
        let [guid @ .., _, _, _, _] = self.0;
        Guid(guid)
    }

    /// The second part.
    #[must_use]
    pub fn stamp(self) -> u32 {
        let [.., a, b, c, d] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }
}

impl fmt::Display for PdbId {
    /// The GUID and the stamp, in lower-case hexadecimal digits.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{:08x}", self.guid(), self.stamp())
    }
}

impl fmt::Debug for PdbId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_as_everywhere() {
        let guid = Guid::new(0x3f51_62f8, 0x07c6, 0x11d3, 0x9053_00c0_4fa3_02a1);
        assert_eq!(guid.to_string(), "3f5162f8-07c6-11d3-9053-00c04fa302a1");
        assert_eq!(guid.0[..4], [0xf8, 0x62, 0x51, 0x3f]);
        let id = PdbId::new(guid, 0xf215_1880);
        assert_eq!(id.to_string(), format!("{guid}-f2151880"));
        assert_eq!((id.guid(), id.stamp()), (guid, 0xf215_1880));
    }
}
