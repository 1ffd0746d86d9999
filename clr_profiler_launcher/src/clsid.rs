//! The class id of a profiler.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The id of a profiler's class, a GUID.
///
/// It is parsed from text with or without braces, in either case, and written in the form that the
/// runtime expects: `{DF63A541-5A33-4611-8829-F4E495985EE3}`.
///
/// ```
/// use clr_profiler_launcher::Clsid;
///
/// let clsid: Clsid = "df63a541-5a33-4611-8829-f4e495985ee3".parse()?;
/// assert_eq!(clsid.to_string(), "{DF63A541-5A33-4611-8829-F4E495985EE3}");
/// # Ok::<(), clr_profiler_launcher::Error>(())
/// ```
// The layout is that of GUID in C: the loader passes a pointer to it to DllGetClassObject.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clsid {
    data1: u32,
    data2: u16,
    data3: u16,
    data4: [u8; 8],
}

impl Clsid {
    /// `IID_IClassFactory`: the interface that the runtime requests from a profiler's library.
    pub(crate) const CLASS_FACTORY: Self = Self::from_u128(0x00000001_0000_0000_c000_000000000046);

    /// A CLSID from its digits as one number, as `Uuid::as_u128` of the `uuid` crate returns it.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self {
            data1: (value >> 96) as u32,
            data2: (value >> 80) as u16,
            data3: (value >> 64) as u16,
            data4: (value as u64).to_be_bytes(),
        }
    }

    /// The digits as one number, the inverse of [`from_u128`](Self::from_u128).
    #[must_use]
    pub const fn as_u128(&self) -> u128 {
        ((self.data1 as u128) << 96)
            | ((self.data2 as u128) << 80)
            | ((self.data3 as u128) << 64)
            | u64::from_be_bytes(self.data4) as u128
    }
}

impl Clsid {
    /// The bytes that a GUID has in memory on a little-endian machine.
    pub(crate) fn to_bytes_le(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let fields = (self.data1.to_le_bytes().into_iter())
            .chain(self.data2.to_le_bytes())
            .chain(self.data3.to_le_bytes())
            .chain(self.data4);
        for (to, from) in bytes.iter_mut().zip(fields) {
            *to = from;
        }
        bytes
    }
}

/// Reads `DF63A541-5A33-4611-8829-F4E495985EE3`, with or without braces around it.
fn parse(text: &str) -> Option<u128> {
    let text = text.trim();
    let digits = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut value = 0_u128;
    let mut groups = digits.split('-');
    for length in [8, 4, 4, 4, 12] {
        let group = groups.next().filter(|group| group.len() == length)?;
        for digit in group.chars() {
            value = (value << 4) | u128::from(digit.to_digit(16)?);
        }
    }
    groups.next().is_none().then_some(value)
}

impl FromStr for Clsid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match parse(text) {
            Some(value) => Ok(Self::from_u128(value)),
            None => Err(Error::BadClsid {
                text: text.to_owned(),
            }),
        }
    }
}

impl TryFrom<&str> for Clsid {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<String> for Clsid {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<u128> for Clsid {
    fn from(value: u128) -> Self {
        Self::from_u128(value)
    }
}

impl fmt::Display for Clsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.as_u128();
        write!(
            f,
            "{{{:08X}-{:04X}-{:04X}-{:04X}-{:012X}}}",
            self.data1,
            self.data2,
            self.data3,
            (value >> 48) as u16,
            value & 0xffff_ffff_ffff,
        )
    }
}

impl fmt::Debug for Clsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
