//! Profilers that others make, by their class ids.

/// The class ids are those that the makers document.
const AGENTS: &[(&str, &str)] = &[
    ("846F5F1C-F9AE-4B07-969E-05C26BC060D8", "Datadog"),
    ("36032161-FFC0-4B61-B559-F6C5D41BAE5A", "New Relic"),
    ("918728DD-259F-4A6A-AC2B-B85E1B658318", "OpenTelemetry"),
    ("FA65FE15-F085-4681-9B20-95E04F6C03CC", "Elastic APM"),
    (
        "324F817A-7420-4E6D-B3C1-143FBED6D855",
        "Application Insights",
    ),
    ("57E1AA68-2229-41AA-9931-A6E93BBC64D8", "AppDynamics"),
    ("B4C89B0F-9908-4F73-9F59-0D77C5A06874", "SignalFx"),
    (
        "CF0D821E-299B-5307-A3D8-B283C03916DD",
        "Instana, or a sample of the profiling interface",
    ),
    ("B7038F67-52FC-4DA2-AB02-969B3C1EDA03", "Dynatrace"),
];

/// The maker of the profiler with this class id, in any form.
pub(super) fn agent(clsid: &str) -> Option<&'static str> {
    let digits = |text: &str| -> String {
        let digits = text.chars().filter(char::is_ascii_hexdigit);
        digits.map(|digit| digit.to_ascii_uppercase()).collect()
    };
    let wanted = digits(clsid);
    let known = AGENTS.iter().find(|(clsid, _)| digits(clsid) == wanted);
    known.map(|(_, maker)| *maker)
}
