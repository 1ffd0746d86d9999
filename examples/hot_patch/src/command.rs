//! The commands of the control file.

use clr_profiler::il::pattern::MethodPattern;
use clr_profiler::rejit::Rejit;
use clr_profiler::{Error, Result};

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    On(MethodPattern),
    Off(MethodPattern),
    AllOff,
}

impl Command {
    /// `None` for an empty line or a comment.
    pub(crate) fn parse(line: &str) -> Result<Option<Self>> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.trim();
        let pattern = || {
            let pattern = MethodPattern::parse(name);
            pattern.map_err(|error| Error::other(format!("the pattern `{name}`: {error}")))
        };
        match (word, name) {
            ("off", "") => Ok(Some(Self::AllOff)),
            ("on", _) => Ok(Some(Self::On(pattern()?))),
            ("off", _) => Ok(Some(Self::Off(pattern()?))),
            _ => Err(Error::other(format!(
                "`{line}` is no command: `on PATTERN`, `off PATTERN`, or `off` for all"
            ))),
        }
    }

    pub(crate) fn obey(self, rejit: &Rejit) {
        match self {
            Self::On(name) => rejit.request_pattern(&name),
            Self::Off(name) => rejit.revert_pattern(&name),
            Self::AllOff => rejit.revert_all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let name = "A.B.C";
        for (line, expected) in [
            ("", None),
            ("  # on A.B.C", None),
            ("on A.B.C", Some(Command::On(name.parse().unwrap()))),
            (" off   A.B.C ", Some(Command::Off(name.parse().unwrap()))),
            ("off", Some(Command::AllOff)),
        ] {
            assert_eq!(Command::parse(line).unwrap(), expected, "{line}");
        }
        for line in ["on", "on C", "onn A.B.C", "A.B.C"] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }
}
