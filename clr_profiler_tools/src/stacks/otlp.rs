//! Files with a request of OpenTelemetry's profiles, for the path `/v1development/profiles` of a collector.

use std::collections::HashMap;
use std::io::{self, Write};

use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::profiles::v1development as model;
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;

use super::export::{Export, Frame, Frames};
use super::pprof::Strings;
use super::{Label, Labels};

pub(super) fn write(
    export: &Export<'_>,
    labels: Option<&Labels>,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&request(export, labels, frame).encode_to_vec())
}

fn service_name() -> String {
    let name = std::env::var("OTEL_SERVICE_NAME").ok();
    let program = || std::env::args().next();
    name.or_else(program).unwrap_or_default()
}

/// The tables of a request. Each begins with an empty row, whose index means that there is none.
struct Tables<'a, 'b> {
    frame: &'a mut Frames<'b>,
    strings: Strings,
    functions: HashMap<(i32, i32), i32>,
    locations: HashMap<u64, i32>,
    links: HashMap<Label, i32>,
    dictionary: model::ProfilesDictionary,
}

fn request(
    export: &Export<'_>,
    labels: Option<&Labels>,
    frame: &mut Frames<'_>,
) -> ExportProfilesServiceRequest {
    let mut tables = Tables {
        frame,
        strings: Strings::new(),
        functions: HashMap::new(),
        locations: HashMap::new(),
        links: HashMap::new(),
        dictionary: model::ProfilesDictionary {
            mapping_table: vec![model::Mapping::default()],
            location_table: vec![model::Location::default()],
            function_table: vec![model::Function::default()],
            link_table: vec![model::Link::default()],
            string_table: Vec::new(),
            attribute_table: vec![model::KeyValueAndUnit::default()],
            stack_table: vec![model::Stack::default()],
        },
    };
    // A profile has one value for each sample.
    let types = export.types().into_iter();
    let mut profiles: Vec<model::Profile> = types
        .map(|(kind, unit)| model::Profile {
            sample_type: Some(model::ValueType {
                type_strindex: tables.string(kind),
                unit_strindex: tables.string(unit),
            }),
            time_unix_nano: export.unix_nanoseconds(),
            duration_nano: export.duration_nanoseconds(),
            ..model::Profile::default()
        })
        .collect();
    for (stack, parts) in export.parts(labels) {
        let stack_index = tables.stack(stack);
        for (label, weight, count) in parts {
            let link_index = label.map_or(0, |label| tables.link(label));
            for (profile, value) in profiles.iter_mut().zip(export.values_of(weight, count)) {
                profile.samples.push(model::Sample {
                    stack_index,
                    link_index,
                    values: vec![value],
                    ..model::Sample::default()
                });
            }
        }
    }
    tables.dictionary.string_table = tables.strings.all;
    ExportProfilesServiceRequest {
        resource_profiles: vec![model::ResourceProfiles {
            resource: Some(Resource {
                attributes: vec![KeyValue {
                    key: "service.name".to_owned(),
                    value: Some(AnyValue {
                        value: Some(Value::StringValue(service_name())),
                    }),
                    ..KeyValue::default()
                }],
                ..Resource::default()
            }),
            scope_profiles: vec![model::ScopeProfiles {
                scope: Some(InstrumentationScope {
                    name: "clr_profiler".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    ..InstrumentationScope::default()
                }),
                profiles,
                ..model::ScopeProfiles::default()
            }],
            ..model::ResourceProfiles::default()
        }],
        dictionary: Some(tables.dictionary),
    }
}

impl Tables<'_, '_> {
    fn string(&mut self, text: &str) -> i32 {
        index(self.strings.number(text))
    }

    /// The index of the link to a span.
    fn link(&mut self, label: Label) -> i32 {
        let table = &mut self.dictionary.link_table;
        *self.links.entry(label).or_insert_with(|| {
            table.push(model::Link {
                trace_id: label.trace.to_vec(),
                span_id: label.span.to_vec(),
            });
            index(table.len() - 1)
        })
    }

    /// The index of a stack, which has its outermost frame first here, and last in the file.
    fn stack(&mut self, frames: Vec<u64>) -> i32 {
        let locations = frames.into_iter().rev();
        let location_indices = locations.map(|key| self.location(key)).collect();
        self.dictionary
            .stack_table
            .push(model::Stack { location_indices });
        index(self.dictionary.stack_table.len() - 1)
    }

    fn location(&mut self, key: u64) -> i32 {
        if let Some(known) = self.locations.get(&key) {
            return *known;
        }
        let Frame { name, source } = (self.frame)(key);
        let name = self.string(&name);
        let (file, line) = match &source {
            Some((file, line)) => (self.string(file), i64::from(*line)),
            None => (0, 0),
        };
        let functions = &mut self.dictionary.function_table;
        let function_index = *self.functions.entry((name, file)).or_insert_with(|| {
            functions.push(model::Function {
                name_strindex: name,
                system_name_strindex: name,
                filename_strindex: file,
                start_line: 0,
            });
            index(functions.len() - 1)
        });
        let locations = &mut self.dictionary.location_table;
        locations.push(model::Location {
            lines: vec![model::Line {
                function_index,
                line,
                column: 0,
            }],
            ..model::Location::default()
        });
        let location = index(locations.len() - 1);
        self.locations.insert(key, location);
        location
    }
}

/// The tables are bounded by the limit of stacks.
fn index(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::export::tests::{labelled, written};
    use super::*;
    use crate::stacks::{Form, Unit};

    #[test]
    fn each_value_is_a_profile() {
        let bytes = written(Form::Otlp, Unit::Bytes, None);
        let request = ExportProfilesServiceRequest::decode(&*bytes).unwrap();
        let tables = request.dictionary.unwrap();
        let text = |number: i32| tables.string_table[number as usize].as_str();
        let profiles = &request.resource_profiles[0].scope_profiles[0].profiles;
        let read: Vec<_> = profiles
            .iter()
            .map(|profile| {
                let about = profile.sample_type.unwrap();
                let mut stacks: Vec<_> = profile
                    .samples
                    .iter()
                    .map(|sample| {
                        let stack = &tables.stack_table[sample.stack_index as usize];
                        let frames = stack.location_indices.iter().map(|location| {
                            let line = tables.location_table[*location as usize].lines[0];
                            let function = tables.function_table[line.function_index as usize];
                            format!(
                                "{} {}:{}",
                                text(function.name_strindex),
                                text(function.filename_strindex),
                                line.line
                            )
                        });
                        (frames.collect::<Vec<_>>().join(" < "), sample.values[0])
                    })
                    .collect();
                stacks.sort();
                (text(about.type_strindex), text(about.unit_strindex), stacks)
            })
            .collect();
        let stacks = |values: [i64; 3]| {
            let names = [
                "A;B :0 < Main(string[]) :0",
                "Main(string[]) :0",
                "Shop.Map<3>.Get(int) /src/shop/Map.cs:7 < Main(string[]) :0",
            ];
            names
                .map(str::to_owned)
                .into_iter()
                .zip(values)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            read,
            [
                ("samples", "count", stacks([1, 1, 2])),
                ("cpu", "bytes", stacks([30_000_000, 10_000_000, 60_000_000])),
            ]
        );
    }

    #[test]
    fn samples_of_a_span_have_a_link() {
        let bytes = labelled(Form::Otlp);
        let request = ExportProfilesServiceRequest::decode(&*bytes).unwrap();
        let links = request.dictionary.unwrap().link_table;
        assert_eq!((links.len(), &links[0]), (2, &model::Link::default()));
        assert_eq!(links[1].trace_id, [0xAB; 16]);
        assert_eq!(links[1].span_id, [0, 0, 0, 0, 0, 0, 1, 2]);
        let cpu = &request.resource_profiles[0].scope_profiles[0].profiles[1];
        let linked = |index| {
            let all = cpu
                .samples
                .iter()
                .filter(move |sample| sample.link_index == index);
            all.map(|sample| sample.values[0]).sum::<i64>()
        };
        assert_eq!((linked(0), linked(1)), (100_000_000, 30_000_000));
    }
}
