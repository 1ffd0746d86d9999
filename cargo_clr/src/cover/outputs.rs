//! The reports, and the thresholds.

use std::fs;
use std::path::{Path, PathBuf};

use clr_profiler_tools::coverage::report;
use clr_profiler_tools::coverage::{Coverage, Share, Shares};
use serde_json::json;

use super::Reports;
use crate::cli::Subject;
use crate::outcome::{self, Failure, Result};
use crate::tool::{result_file, size as size_in_words};

/// The format of a file, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Lcov,
    Cobertura,
    Json,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("lcov" | "info") => Ok(Self::Lcov),
            Some("xml") => Ok(Self::Cobertura),
            Some("json") => Ok(Self::Json),
            _ => Err(Failure::usage(format!(
                "The ending of `{}` is no format: .lcov and .info are lcov, .xml is Cobertura, .json is JSON. `--html FOLDER` is for \
                 browsers.",
                path.display()
            ))),
        }
    }

    /// How it is read.
    fn readers(self) -> &'static str {
        match self {
            Self::Lcov => "`genhtml FILE -o FOLDER` makes pages of it, and most services read it",
            Self::Cobertura => "services that read Cobertura show it",
            Self::Json => "`cargo clr cover-merge` adds it to other runs",
        }
    }
}

/// The lowest share that is accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Threshold {
    kind: Kind,
    percent: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lines,
    Branches,
    Methods,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Branches => "branches",
            Self::Methods => "methods",
        }
    }

    fn of(self, shares: Shares) -> Share {
        match self {
            Self::Lines => shares.lines,
            Self::Branches => shares.branches,
            Self::Methods => shares.methods,
        }
    }
}

/// Reads `80` or `branches=70`.
pub(super) fn threshold(text: &str) -> Result<Threshold, String> {
    let (kind, number) = text.split_once('=').unwrap_or(("lines", text));
    let kinds = [Kind::Lines, Kind::Branches, Kind::Methods];
    let kind = kinds.into_iter().find(|known| known.name() == kind);
    let percent = number.trim_end_matches('%').parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    match (kind, percent) {
        (Some(kind), Some(percent)) => Ok(Threshold { kind, percent }),
        _ => Err(
            "write a percentage from 0 to 100, such as 80, branches=70 or methods=90".to_owned(),
        ),
    }
}

/// The files to write.
pub(super) struct Outputs {
    files: Vec<(PathBuf, Format)>,
    html: Option<PathBuf>,
    thresholds: Vec<Threshold>,
}

impl Outputs {
    /// Checks that the files can be written, before a program is started.
    pub(super) fn new(first: &Path, options: &Reports, subject: Option<&Subject>) -> Result<Self> {
        let mut files = Vec::new();
        for path in std::iter::once(first).chain(options.also.iter().map(PathBuf::as_path)) {
            let format = Format::of(path)?;
            let path = match subject {
                Some(subject) => result_file(path, subject)?,
                None => std::path::absolute(path).map_err(outcome::io("find", path))?,
            };
            files.push((path, format));
        }
        if let Some(folder) = &options.html {
            fs::create_dir_all(folder).map_err(outcome::io("make the folder", folder))?;
        }
        Ok(Self {
            files,
            html: options.html.clone(),
            thresholds: options.threshold.clone(),
        })
    }

    pub(super) fn first(&self) -> &Path {
        self.files.first().map_or(Path::new("."), |(path, _)| path)
    }

    pub(super) fn write(&self, coverage: &Coverage) -> Result<()> {
        for (path, format) in &self.files {
            let text = match format {
                Format::Lcov => report::lcov(coverage),
                Format::Cobertura => report::cobertura(coverage),
                Format::Json => report::to_json(coverage),
            };
            fs::write(path, text).map_err(outcome::io("write", path))?;
        }
        if let Some(folder) = &self.html {
            report::html(coverage, folder).map_err(outcome::io("write to", folder))?;
        }
        Ok(())
    }

    /// The thresholds that are missed, in words.
    pub(super) fn misses(&self, coverage: &Coverage) -> Vec<String> {
        let shares = coverage.shares();
        // A share of nothing is none that anybody wanted.
        if shares.lines.all == 0 {
            let missed = self.thresholds.iter().map(|threshold| {
                let (percent, kind) = (threshold.percent, threshold.kind.name());
                format!(
                    "no line was measured, so that the threshold of {percent} % of {kind} is missed"
                )
            });
            return missed.collect();
        }
        let missed = self.thresholds.iter().filter_map(|threshold| {
            let share = threshold.kind.of(shares);
            (share.rate() * 100.0 < threshold.percent).then(|| {
                format!(
                    "{} % of {} are covered, which is less than {} %",
                    share.percent(),
                    threshold.kind.name(),
                    threshold.percent
                )
            })
        });
        missed.collect()
    }

    /// The summary for a terminal, and where the reports are.
    pub(super) fn table(&self, coverage: &Coverage) -> String {
        let mut text = report::summary(coverage);
        let has_lines = coverage.shares().lines.all > 0;
        for (path, format) in &self.files {
            let size = fs::metadata(path).map_or(0, |about| about.len());
            let how = match has_lines || *format == Format::Json {
                true => format.readers(),
                false => "it has no lines",
            };
            let (path, size) = (path.display(), size_in_words(size));
            text += &format!("cover: wrote `{path}` ({size}); {how}\n");
        }
        if let Some(folder) = &self.html {
            let index = folder.join("index.html");
            text += &format!("cover: wrote `{}`; open it in a browser\n", index.display());
        }
        text
    }

    /// The outcome for machines.
    pub(super) fn json(&self, coverage: &Coverage, said: &[String], code: i32) -> String {
        let shares = coverage.shares();
        let share = |share: Share| json!({ "covered": share.covered, "all": share.all });
        let files = self.files.iter().map(|(path, _)| path.to_string_lossy());
        let outcome = json!({
            "verb": "cover",
            "outputs": files.collect::<Vec<_>>(),
            "lines": share(shares.lines),
            "branches": share(shares.branches),
            "methods": share(shares.methods),
            "said": said,
            "exit_code": code,
        });
        format!("{outcome}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_percentages_of_something() {
        let of = |text| threshold(text).map(|of| (of.kind, of.percent));
        assert_eq!(of("80"), Ok((Kind::Lines, 80.0)));
        assert_eq!(of("branches=70.5"), Ok((Kind::Branches, 70.5)));
        assert_eq!(of("methods=90%"), Ok((Kind::Methods, 90.0)));
        for text in ["", "101", "-1", "classes=1", "lines="] {
            assert!(threshold(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_ending_is_the_format() {
        let of = |path: &str| Format::of(Path::new(path)).ok();
        assert_eq!(of("a/cover.lcov"), Some(Format::Lcov));
        assert_eq!(of("cover.INFO"), Some(Format::Lcov));
        assert_eq!(of("cover.xml"), Some(Format::Cobertura));
        assert_eq!(of("cover.json"), Some(Format::Json));
        assert_eq!(of("cover.html"), None);
        assert_eq!(of("cover"), None);
    }
}
