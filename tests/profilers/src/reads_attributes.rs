//! Reads the values of custom attributes.

use clr_profiler::il::signature::TypeSig;
use clr_profiler::prelude::*;

use crate::log;

/// Reads the attributes in the module `Attributes`.
pub(crate) struct ReadsAttributes;

#[profiler(clsid = crate::clsid("ReadsAttributes"))]
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
            if let clr_profiler::il::attribute::Value::Enum { value, .. } = value {
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
