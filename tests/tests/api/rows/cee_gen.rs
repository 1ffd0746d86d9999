//! The generator of image sections.

use clr_profiler::prelude::*;

use super::{method, rows};

rows! { ROWS: Writer;
    "ICeeGen::EmitString" => |it| it.cee_gen()?.emit_string("text");
    "ICeeGen::GetString" => |it| it.cee_gen()?.string(1);
    "ICeeGen::AllocateMethodBuffer" => |it| it.cee_gen()?.allocate_method_buffer(2);
    "ICeeGen::GetMethodBuffer" => |it| it.cee_gen()?.method_buffer(1);
    "ICeeGen::GetIMapTokenIface" => |it| it.cee_gen()?.token_map();
    "IMapToken::Map" => |it| it.cee_gen()?.token_map()?.map(method(), method());
    "ICeeGen::GenerateCeeFile" => |it| it.cee_gen()?.generate_cee_file();
    "ICeeGen::GetIlSection" => |it| section(it.cee_gen()?.il_section());
    "ICeeGen::GetStringSection" => |it| section(it.cee_gen()?.string_section());
    "ICeeGen::AddSectionReloc" => |it| {
        let generator = it.cee_gen()?;
        generator.add_section_reloc(generator.il_section()?, 0, generator.string_section()?, 3)
    };
    "ICeeGen::GetSectionCreate" => |it| section(it.cee_gen()?.section_create(".sdata", 0x40));
    "ICeeGen::GetSectionDataLen" => |it| {
        let generator = it.cee_gen()?;
        generator.section_data_len(generator.il_section()?)
    };
    "ICeeGen::GetSectionBlock" => |it| {
        let generator = it.cee_gen()?;
        generator.section_block(generator.il_section()?, 2, 4)
    };
    "ICeeGen::TruncateSection" => |it| {
        let generator = it.cee_gen()?;
        generator.truncate_section(generator.il_section()?, 1)
    };
    "ICeeGen::GenerateCeeMemoryImage" => |it| it.cee_gen()?.generate_cee_memory_image();
    "ICeeGen::ComputePointer" => |it| {
        let generator = it.cee_gen()?;
        generator.compute_pointer(generator.il_section()?, 1)
    };
}

/// A section without the generator that it borrows.
fn section(given: Result<clr_profiler::metadata::CeeSection<'_>>) -> Result<()> {
    given.map(drop)
}
