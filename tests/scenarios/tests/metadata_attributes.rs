//! The values of custom attributes agree with the source.

use clr_profiler::il::signature::TypeSig;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Reads the attributes in the module `Attributes`.
pub(crate) struct ReadsAttributes;

#[profiler(clsid = clsid("ReadsAttributes"))]
impl Profiler for ReadsAttributes {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        const LABEL: &str = "Shop.LabelAttribute";
        if !info.module_info(module)?.name.ends_with("Attributes.dll") {
            return Ok(());
        }
        let metadata = info.module_metadata(module)?;
        for name in ["Full", "Listed", "Dated", "Bare", "Program"] {
            let class = metadata.find_type_def_by_name(&format!("Shop.{name}"), None)?;
            match metadata.attribute(class, LABEL) {
                Ok(None) => log::line(format_args!("{name}: none")),
                Ok(Some(label)) => {
                    for value in &label.fixed {
                        log::line(format_args!("{name}: {value:?}"));
                    }
                    for named in &label.named {
                        log::line(format_args!(
                            "{name} {:?} {}: {:?}",
                            named.member, named.name, named.value
                        ));
                    }
                    log::line(format_args!(
                        "{name} {} {}",
                        label.fixed.len(),
                        label.named.len()
                    ));
                }
                Err(error) => log::line(format_args!("{name}: {error}")),
            }
        }
        let dated = metadata.find_type_def_by_name("Shop.Dated", None)?;
        let mut asked = Vec::new();
        let label = metadata.attribute_with(dated, LABEL, |name| {
            asked.push(name.split(',').next().unwrap_or(name).to_owned());
            Some(TypeSig::I4)
        })?;
        log::line(format_args!("asked for {asked:?}"));
        let label = label.unwrap_or_default();
        log::line(format_args!("dated {:?}", label.get("Anything").is_some()));
        for value in &label.fixed {
            if let clr_profiler::il::attribute::ArgumentValue::Enum { value, .. } = value {
                log::line(format_args!("day {value:?}"));
            }
        }
        let program = metadata.find_type_def_by_name("Shop.Program", None)?;
        let obsolete = metadata.attribute(program, "System.ObsoleteAttribute")?;
        log::line(format_args!(
            "obsolete {:?}",
            obsolete.map(|it| it.fixed.len())
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ReadsAttributes;

    #[test]
    fn attributes_have_the_values_of_the_source() {
        let scenario = Scenario::new("Attributes").profiled_by::<ReadsAttributes>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            let logged: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(logged, FACTS);
        });
    }

    const FACTS: &[&str] = &[
        "Full: String(Some(\"schön\"))",
        "Full: I4(-7)",
        "Full: Enum { enum_type: Token(TypeDef(0x02000004)), value: U1(200) }",
        "Full Property Loud: Bool(true)",
        "Full Field Weight: R8(0.5)",
        "Full Property Colours: Array(Some([Enum { enum_type: Name(\"Shop.Colour\"), value: U1(1) }]))",
        "Full Property Anything: Boxed(Enum { enum_type: Name(\"Shop.Outer+Size\"), value: I8(1099511627776) })",
        "Full 3 4",
        "Listed: Type(Some(\"Shop.Full\"))",
        "Listed: Array(Some([Enum { enum_type: Token(TypeDef(0x0200000c)), value: I8(1099511627776) }]))",
        "Listed: Array(Some([Boxed(Char(120)), Boxed(String(None)), Boxed(Type(Some(\"System.Int32, System.Runtime, Version=4.2.2.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a\"))), Boxed(U8(5))]))",
        "Listed 3 0",
        "Dated: Metadata::attribute: Shop.LabelAttribute has a value of the enumeration System.DayOfWeek, which is of another module: return its underlying type in `attribute_with`",
        "Bare 0 0",
        "Program: none",
        "asked for [\"System.DayOfWeek\", \"System.DayOfWeek\"]",
        "dated true",
        "day I4(5)",
        "obsolete Some(0)",
    ];
}
