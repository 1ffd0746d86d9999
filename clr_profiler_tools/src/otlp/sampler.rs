//! Head sampling: whether the spans of a trace are sent, decided when it begins.

/// The decision about a trace, by the samplers of OpenTelemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sampler {
    /// Whether the decision of a caller counts, if there is one.
    by_parent: bool,
    /// The traces that begin here: those whose id is below this number of 64 bits; all without one.
    below: Option<u64>,
}

impl Default for Sampler {
    /// `parentbased_always_on`.
    fn default() -> Self {
        Self {
            by_parent: true,
            below: None,
        }
    }
}

impl Sampler {
    /// The sampler of these values of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
    pub(super) fn parse(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let (by_parent, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let below = match root {
            "always_on" => None,
            "always_off" => Some(0),
            "traceidratio" => match argument.unwrap_or("1").parse::<f64>() {
                Ok(1.0) => None,
                // The conversion rounds towards zero, and the product is at most 2^64.
                Ok(ratio @ 0.0..1.0) => Some((ratio * 2_f64.powi(64)) as u64),
                _ => {
                    let argument = argument.unwrap_or_default();
                    return Err(format!(
                        "OTEL_TRACES_SAMPLER_ARG is `{argument}`, not a number from 0 to 1"
                    ));
                }
            },
            _ => {
                return Err(format!(
                    "OTEL_TRACES_SAMPLER is `{name}`, which is no sampler"
                ));
            }
        };
        Ok(Self { by_parent, below })
    }

    /// Whether a trace with this lower half of its id is sent; `parent` is the decision of the caller, if there is one.
    pub(super) fn samples(self, lower: u64, parent: Option<bool>) -> bool {
        match (parent, self.below) {
            (Some(parent), _) if self.by_parent => parent,
            (_, None) => true,
            // The lower half is random in each trace, whoever has begun it.
            (_, Some(below)) => lower < below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sampler_decides_by_its_rule() {
        let sampler = |name, argument| Sampler::parse(name, argument).unwrap();
        let quarter = u64::MAX / 4;
        for (name, argument, alone, sampled, unsampled) in [
            ("always_on", None, [true, true], true, true),
            ("always_off", None, [false, false], false, false),
            ("traceidratio", Some("0.25"), [true, false], false, false),
            ("traceidratio", None, [true, true], true, true),
            ("parentbased_always_on", None, [true, true], true, false),
            ("parentbased_always_off", None, [false, false], true, false),
            (
                "parentbased_traceidratio",
                Some("0.25"),
                [true, false],
                true,
                false,
            ),
            (
                "parentbased_traceidratio",
                Some("0"),
                [false, false],
                true,
                false,
            ),
        ] {
            let sampler = sampler(name, argument);
            assert_eq!(
                [quarter - 9_999, quarter + 9_999].map(|lower| sampler.samples(lower, None)),
                alone,
                "{name}"
            );
            let beyond = u64::MAX;
            assert_eq!(sampler.samples(beyond, Some(true)), sampled, "{name}");
            assert_eq!(sampler.samples(beyond, Some(false)), unsampled, "{name}");
        }
        assert_eq!(sampler("parentbased_always_on", None), Sampler::default());
    }

    #[test]
    fn what_is_no_sampler_is_said() {
        for (name, argument, part) in [
            ("sometimes", None, "`sometimes`"),
            ("traceidratio", Some("2"), "`2`"),
            ("traceidratio", Some("-0.1"), "`-0.1`"),
            ("traceidratio", Some("NaN"), "`NaN`"),
            ("parentbased_traceidratio", Some("x"), "`x`"),
        ] {
            let error = Sampler::parse(name, argument).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
