//! The options of a tool.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clr_profiler::{Error, Result};

/// The options of a tool: environment variables if the program was started with it, and the client data of the
/// attach if it was attached, because the environment is then that of a program that knows nothing of the tool.
///
/// ```
/// use clr_profiler_tools::report::Settings;
///
/// let settings = Settings::from_client_data(b"CPU_SAMPLER_INTERVAL=500\0CPU_SAMPLER_WALL=1")?;
/// assert_eq!(settings.text("CPU_SAMPLER_INTERVAL")?.as_deref(), Some("500"));
/// assert!(settings.is_set("CPU_SAMPLER_WALL") && !settings.is_set("CPU_SAMPLER_LINES"));
/// # Ok::<(), clr_profiler::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// `None` for the environment.
    attached: Option<HashMap<String, String>>,
}

impl Settings {
    /// The settings of a tool that starts with the program.
    #[must_use]
    pub fn from_environment() -> Self {
        Self { attached: None }
    }

    /// The settings of a tool that is attached: `NAME=VALUE`, with a zero byte between two of them, in UTF-8.
    ///
    /// # Errors
    ///
    /// The client data have another form.
    pub fn from_client_data(data: &[u8]) -> Result<Self> {
        let text = str::from_utf8(data).map_err(Error::other)?;
        let pairs = text.split('\0').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| match pair.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(Error::other(format!(
                "the client data are not settings: `{pair}` is not `NAME=VALUE`"
            ))),
        });
        Ok(Self {
            attached: Some(pairs.collect::<Result<_>>()?),
        })
    }

    /// Whether the tool is attached to a running program.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    /// The value of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OsString> {
        match &self.attached {
            Some(attached) => attached.get(name).map(OsString::from),
            None => env::var_os(name),
        }
    }

    /// Whether a setting has any value.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of a setting as text.
    ///
    /// # Errors
    ///
    /// It is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let text = self.get(name).map(OsString::into_string).transpose();
        text.map_err(|_| Error::other(format!("{name} is not UTF-8")))
    }

    /// The path in a setting, or this one in the current folder.
    #[must_use]
    pub fn path(&self, name: &str, otherwise: &str) -> PathBuf {
        self.get(name)
            .map_or_else(|| otherwise.into(), PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_data_take_the_place_of_the_environment() {
        let settings = Settings::from_client_data(b"A=1\0B=x=y\0").unwrap();
        assert_eq!(settings.text("A").unwrap().as_deref(), Some("1"));
        assert_eq!(settings.path("B", "z"), PathBuf::from("x=y"));
        assert_eq!(settings.get("PATH"), None);
        assert!(settings.is_attached() && !Settings::from_environment().is_attached());
        assert_eq!(
            Settings::from_environment().get("PATH"),
            env::var_os("PATH")
        );
        let error = Settings::from_client_data(b"A").unwrap_err().to_string();
        assert!(error.contains("`A`"), "{error}");
        assert!(Settings::from_client_data(b"\xff").is_err());
    }
}
