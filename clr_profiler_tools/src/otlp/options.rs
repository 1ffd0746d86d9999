//! The options of an exporter, by the environment variables of OpenTelemetry.

use std::env;
use std::io;
use std::path::Path;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use ureq::http::{HeaderName, HeaderValue, Uri};

use super::sampler::Sampler;

/// The number of spans in a request.
const BATCH: usize = 512;
/// The limit for spans that wait.
const QUEUE: usize = 32_768;
/// The limits for these numbers.
const MOST: u64 = 1_000_000;
/// How long a span waits for others.
const DELAY: Duration = Duration::from_secs(1);
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The collector, and how spans are sent to it.
///
/// `OTEL_EXPORTER_OTLP_ENDPOINT`, `_HEADERS`, `_TIMEOUT` (milliseconds), `_COMPRESSION` (`gzip`, `none`) and `_PROTOCOL` are read, and
/// before them those with `OTLP_TRACES_` instead of `OTLP_`; `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`; and `OTEL_BSP_MAX_QUEUE_SIZE`, `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` and
/// `OTEL_BSP_SCHEDULE_DELAY`. Without an endpoint, with `OTEL_TRACES_EXPORTER=none` or `OTEL_SDK_DISABLED=true`, nothing is
/// sent.
#[derive(Debug, Clone)]
pub struct Options {
    pub(super) url: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) timeout: Duration,
    pub(super) is_compressed: bool,
    pub(super) resource: Vec<(String, String)>,
    pub(super) sampler: Sampler,
    pub(super) queue: usize,
    pub(super) batch: usize,
    pub(super) delay: Duration,
    pub(super) retry: Retry,
    problems: Vec<String>,
}

/// When a request is repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    /// The first pause; each one is twice as long as the one before.
    pub(super) first: Duration,
    /// The longest pause.
    pub(super) longest: Duration,
    /// When no request was answered for this long, the spans of each further one that is not are lost.
    pub(super) give_up: Duration,
}

impl Options {
    /// The options of the environment.
    ///
    /// `url` is the URL of the collector, such as `http://localhost:4318/v1/traces`, instead of that of the environment.
    /// Returns `None` if neither has one, or the environment turns the export off.
    ///
    /// # Errors
    ///
    /// The URL is not one of plain HTTP, or another protocol than `http/protobuf` was asked for.
    pub fn from_environment(url: Option<&str>) -> io::Result<Option<Self>> {
        let variable = |name: &str| env::var(name).ok();
        let read = Self::read(url, &variable);
        read.map_err(io::Error::other)
    }

    /// The variables whose values are of no use, each with the reason. They count as not set.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn read(
        url: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        // By the specification, an empty variable counts as not set.
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let of_traces = |rest: &str| {
            let own = get(&format!("OTEL_EXPORTER_OTLP_TRACES_{rest}"));
            own.or_else(|| get(&format!("OTEL_EXPORTER_OTLP_{rest}")))
        };
        let url = match url {
            Some(url) => url.to_owned(),
            None if is_off(&get) => return Ok(None),
            None => match endpoint(&get) {
                Some(url) => url,
                None => return Ok(None),
            },
        };
        check(&url)?;
        if let Some(protocol) = of_traces("PROTOCOL").filter(|protocol| protocol != "http/protobuf")
        {
            return Err(format!(
                "the protocol `{protocol}` of the environment is not supported: spans are sent as http/protobuf"
            ));
        }
        let mut problems = Problems(Vec::new());
        let sampler = get("OTEL_TRACES_SAMPLER").map(|name| {
            Sampler::parse(
                name.trim(),
                get("OTEL_TRACES_SAMPLER_ARG").as_deref().map(str::trim),
            )
        });
        let numbers = [
            "OTEL_BSP_MAX_QUEUE_SIZE",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            "OTEL_BSP_SCHEDULE_DELAY",
        ];
        let [queue, batch, delay] = numbers.map(|name| problems.number(name, get(name).as_deref()));
        let timeout = problems.number("the time limit", of_traces("TIMEOUT").as_deref());
        let is_compressed = match of_traces("COMPRESSION").as_deref().map(str::trim) {
            None | Some("none") => false,
            Some("gzip") => true,
            Some(other) => {
                problems.0.push(format!(
                    "the compression `{other}` is neither gzip nor none"
                ));
                false
            }
        };
        let queue = queue.map_or(QUEUE, |queue| queue as usize);
        Ok(Some(Self {
            url,
            headers: problems.headers(of_traces("HEADERS").as_deref().unwrap_or_default()),
            timeout: timeout.map_or(TIMEOUT, Duration::from_millis),
            is_compressed,
            resource: resource(&get, &mut problems),
            sampler: sampler
                .and_then(|parsed| parsed.map_err(|problem| problems.0.push(problem)).ok())
                .unwrap_or_default(),
            queue,
            batch: batch.map_or(BATCH, |batch| batch as usize).min(queue),
            delay: delay.map_or(DELAY, Duration::from_millis),
            retry: Retry {
                first: Duration::from_secs(1),
                longest: Duration::from_secs(30),
                give_up: Duration::from_secs(60),
            },
            problems: problems.0,
        }))
    }
}

/// Whether the environment turns the export off.
fn is_off(get: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_disabled =
        get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let exporters = get("OTEL_TRACES_EXPORTER");
    let exports = exporters.is_none_or(|names| names.split(',').any(|name| name.trim() == "otlp"));
    is_disabled || !exports
}

fn endpoint(get: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let own = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let own = own.map(|url| url.trim().to_owned());
    own.or_else(|| {
        let all = get("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/traces", all.trim().trim_end_matches('/')))
    })
}

/// Whether it is a URL of plain HTTP with a host.
fn check(url: &str) -> Result<(), String> {
    let is_good = url.parse::<Uri>().is_ok_and(|parsed| {
        let host = parsed.host().unwrap_or_default();
        // A port that is none is not an error of the parser.
        let authority = parsed
            .authority()
            .map_or("", |authority| authority.as_str());
        let has_port = parsed.port_u16().is_some() || authority.ends_with(host);
        parsed.scheme_str() == Some("http") && !host.is_empty() && has_port
    });
    match is_good {
        true => Ok(()),
        false => Err(format!(
            "`{url}` is not the URL of a collector by plain HTTP, such as http://localhost:4318/v1/traces"
        )),
    }
}

/// The attributes of the process; later ones with the same name count.
fn resource(
    get: &dyn Fn(&str) -> Option<String>,
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let sdk = [
        ("name", "clr_profiler"),
        ("language", "dotnet"),
        ("version", env!("CARGO_PKG_VERSION")),
    ];
    let mut all = vec![("service.name".to_owned(), program(env::args()))];
    all.extend(sdk.map(|(name, value)| (format!("telemetry.sdk.{name}"), value.to_owned())));
    let set = get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    all.extend(problems.pairs("OTEL_RESOURCE_ATTRIBUTES", &set));
    all.extend(get("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name)));
    let mut unique: Vec<(String, String)> = Vec::new();
    for (name, value) in all {
        match unique.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => unique.push((name, value)),
        }
    }
    unique
}

/// The name of the program: of the assembly that the host of .NET was given, or of the executable.
fn program(mut arguments: impl Iterator<Item = String>) -> String {
    let executable = arguments.next().unwrap_or_default();
    let is_host = Path::new(&executable)
        .file_stem()
        .is_some_and(|stem| stem == "dotnet" || stem == "corerun");
    let assembly = arguments.find(|argument| is_host && argument.ends_with(".dll"));
    let path = assembly.unwrap_or(executable);
    let name = Path::new(&path)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let name = [".dll", ".exe"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    match name {
        "" => "unknown_service:dotnet".to_owned(),
        name => name.to_owned(),
    }
}

struct Problems(Vec<String>);

impl Problems {
    /// A number from 1 to a million.
    fn number(&mut self, name: &str, text: Option<&str>) -> Option<u64> {
        let text = text?;
        match text.trim().parse() {
            Ok(number @ 1..=MOST) => Some(number),
            _ => {
                self.0
                    .push(format!("{name} is `{text}`, not a number from 1 to {MOST}"));
                None
            }
        }
    }

    /// The pairs of a list `name=value,name=value` whose values are percent-encoded.
    fn pairs(&mut self, name: &str, text: &str) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for pair in text
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty())
        {
            let parts = pair
                .split_once('=')
                .filter(|(key, _)| !key.trim().is_empty());
            let decoded = parts.and_then(|(key, value)| {
                let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
                Some((key.trim().to_owned(), value.into_owned()))
            });
            match decoded {
                Some(pair) => pairs.push(pair),
                // Without its value, which may be secret.
                None => self.0.push(format!("a part of {name} is not `name=value`")),
            }
        }
        pairs
    }

    fn headers(&mut self, text: &str) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::new();
        for (name, value) in self.pairs("the headers", text) {
            match (name.parse(), HeaderValue::from_str(&value)) {
                (Ok(name), Ok(value)) => headers.push((name, value)),
                _ => self.0.push(format!("the header `{name}` cannot be sent")),
            }
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Options>, String> {
        Options::read(url, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    fn url(variables: &[(&str, &str)]) -> Option<String> {
        read(None, variables).unwrap().map(|options| options.url)
    }

    #[test]
    fn a_collector_has_a_url_of_plain_http() {
        for good in [
            "http://localhost:4318/v1/traces",
            "http://[::1]:4318/",
            "http://a",
        ] {
            assert!(read(Some(good), &[]).is_ok(), "{good}");
        }
        for wrong in [
            "https://localhost/v1/traces",
            "localhost:4318",
            "http://",
            "http:///x",
            "http://:1",
            "http://a b",
            "http://a:99999/",
            "",
        ] {
            let error = read(Some(wrong), &[]).unwrap_err();
            assert!(error.contains("plain HTTP"), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_environment_has_the_endpoint() {
        const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        assert_eq!(url(&[]), None);
        assert_eq!(url(&[(ALL, " ")]), None);
        let expected = Some("http://c:4318/v1/traces".to_owned());
        assert_eq!(url(&[(ALL, "http://c:4318")]), expected);
        assert_eq!(url(&[(ALL, "http://c:4318/")]), expected);
        let both = [(ALL, "http://c:4318"), (OWN, "http://d:1/in")];
        assert_eq!(url(&both).as_deref(), Some("http://d:1/in"));
        let option = read(Some("http://e:2/"), &both).unwrap().unwrap();
        assert_eq!(option.url, "http://e:2/");
        for (name, value, is_on) in [
            ("OTEL_SDK_DISABLED", "true", false),
            ("OTEL_SDK_DISABLED", "false", true),
            ("OTEL_TRACES_EXPORTER", "none", false),
            ("OTEL_TRACES_EXPORTER", "console, otlp", true),
        ] {
            let url = url(&[(ALL, "http://c:4318"), (name, value)]);
            assert_eq!(url.is_some(), is_on, "{name} {value}");
        }
        assert!(read(None, &[(ALL, "https://c:4318")]).is_err());
        let protocol = "OTEL_EXPORTER_OTLP_PROTOCOL";
        let error = read(None, &[(ALL, "http://c:4317"), (protocol, "grpc")]).unwrap_err();
        assert!(error.contains("`grpc`"), "{error}");
        assert!(read(None, &[(ALL, "http://c:4318"), (protocol, "http/protobuf")]).is_ok());
    }

    #[test]
    fn variables_for_traces_count_before_those_for_all() {
        let options = read(
            Some("http://c:4318/"),
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "x=1"),
                (
                    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                    "api-key=a%20b,x-tenant = c ",
                ),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
                ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "none"),
                ("OTEL_SERVICE_NAME", "shop"),
                (
                    "OTEL_RESOURCE_ATTRIBUTES",
                    "service.name=other,deployment.environment=test%2C1,",
                ),
                ("OTEL_TRACES_SAMPLER", "traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", "0.5"),
                ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
                ("OTEL_BSP_SCHEDULE_DELAY", "20"),
            ],
        );
        let options = options.unwrap().unwrap();
        let headers: Vec<_> = options
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(headers, [("api-key", &b"a b"[..]), ("x-tenant", b"c")]);
        assert_eq!(options.timeout, Duration::from_millis(2500));
        assert!(!options.is_compressed);
        let attribute = |name: &str| {
            let found: Vec<_> = options
                .resource
                .iter()
                .filter(|(key, _)| key == name)
                .collect();
            assert_eq!(found.len(), 1, "{name}");
            found[0].1.as_str()
        };
        assert_eq!(attribute("service.name"), "shop");
        assert_eq!(attribute("deployment.environment"), "test,1");
        assert_eq!(attribute("telemetry.sdk.language"), "dotnet");
        assert_eq!(
            options.sampler,
            Sampler::parse("traceidratio", Some("0.5")).unwrap()
        );
        assert_eq!((options.queue, options.batch), (100, 100));
        assert_eq!(options.delay, Duration::from_millis(20));
        assert_eq!(options.problems(), [""; 0]);
    }

    #[test]
    fn values_of_no_use_are_said_and_secrets_are_not() {
        let options = read(
            Some("http://c:4318/"),
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "secret, a=b%0d%0ac, ok=1"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
                ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
                ("OTEL_TRACES_SAMPLER", "sometimes"),
                ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0"),
            ],
        );
        let options = options.unwrap().unwrap();
        assert_eq!(options.headers.len(), 1);
        assert_eq!(options.timeout, TIMEOUT);
        assert_eq!(options.sampler, Sampler::default());
        assert_eq!(options.batch, BATCH);
        let problems = options.problems().join("\n");
        assert_eq!(options.problems().len(), 6, "{problems}");
        for part in [
            "`soon`",
            "`zstd`",
            "`sometimes`",
            "`0`",
            "`a`",
            "name=value",
        ] {
            assert!(problems.contains(part), "{problems}");
        }
        assert!(!problems.contains("secret"), "{problems}");
    }

    #[test]
    fn a_service_has_the_name_of_its_assembly() {
        for (arguments, name) in [
            (
                &["/usr/bin/dotnet", "/app/Shop.Api.dll", "x.dll"][..],
                "Shop.Api",
            ),
            (&["dotnet", "exec", "Shop.dll"], "Shop"),
            (&["/app/Shop.Api", "other.dll"], "Shop.Api"),
            (&["shop.exe"], "shop"),
            (&["./shop"], "shop"),
            (&[], "unknown_service:dotnet"),
        ] {
            let arguments = arguments.iter().map(|argument| (*argument).to_owned());
            assert_eq!(program(arguments), name);
        }
    }
}
