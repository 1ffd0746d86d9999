//! Debug information of the compilers' own kinds.

use std::fmt;
use std::ops::Range;

use clr_profiler_il::token::{self, Document, MethodDef, TokenTable};

use super::cursor::{Cursor, utf8};
use super::document::guids;
use super::ids::Guid;
use super::source::EmbeddedSource;
use crate::bytes::Bytes;
use crate::columns::HasCustomDebugInformation;
use crate::error::Result;

guids! {
    /// The kind of a [`CustomDebugInfo`].
    CustomKind {
        /// Where async methods suspend and resume.
        ASYNC_STEPS = "async method stepping", 0x54fd_2ac5 0xe925 0x401a 0x9c2a_f94f_1710_72f8;
        /// The scopes of the locals that are fields of a state machine.
        HOISTED_SCOPES = "state machine hoisted local scopes", 0x6da9_a61e 0xf8c7 0x4874 0xbe62_68bc_5630_df71;
        /// The occurrences of `dynamic` in the type of a local.
        DYNAMIC = "dynamic local variables", 0x83c5_63c4 0xb4f3 0x47d5 0xb824_ba54_4147_7ea8;
        /// The names of the elements of a tuple.
        TUPLE_NAMES = "tuple element names", 0xed9f_df71 0x8879 0x4747 0x8ed3_fe5e_de3c_e710;
        /// The default namespace of a Visual Basic project.
        DEFAULT_NAMESPACE = "default namespace", 0x58b2_eab6 0x209f 0x4e4e 0xa22c_b2d0_f910_c782;
        /// Edit and continue: locals.
        ENC_LOCAL_SLOTS = "edit-and-continue local slot map", 0x755f_52a8 0x91c5 0x45be 0xb4b8_2095_71e5_52bd;
        /// Edit and continue: lambdas and closures.
        ENC_LAMBDAS = "edit-and-continue lambda and closure map", 0xa643_004c 0x0240 0x496f 0xa783_30d6_4f49_79de;
        /// Edit and continue: states of a state machine.
        ENC_STATES = "edit-and-continue state machine state map", 0x8b78_cd68 0x2ede 0x420b 0x980b_e158_84b8_aaa3;
        /// The content of a source file.
        EMBEDDED_SOURCE = "embedded source", 0x0e8a_571b 0x6926 0x466e 0xb4ad_8ab0_4611_f5fe;
        /// Where a source server has the source files.
        SOURCE_LINK = "source link", 0xcc11_0556 0xa091 0x4d38 0x9fec_25ab_9a35_1a6a;
        /// The references of the compilation.
        REFERENCES = "compilation metadata references", 0x7e4d_4708 0x096e 0x4c5c 0xaeda_cb10_ba6a_740d;
        /// The options of the compilation.
        OPTIONS = "compilation options", 0xb5fe_ec05 0x8cd0 0x4a83 0x96da_4662_84bb_4bd8;
        /// The source files of a type without methods.
        TYPE_DOCUMENTS = "type definition documents", 0x932e_74bc 0xdba9 0x4478 0x8d46_0f32_a7ba_b3d3;
        /// The constructor is a primary one.
        PRIMARY_CONSTRUCTOR = "primary constructor", 0x9d40_ace1 0xc703 0x4d0e 0xbf41_7243_060a_8fb5;
    }
}

/// A row of debug information of a compiler's own kind.
#[derive(Clone, Copy, Debug)]
pub struct CustomDebugInfo<'a> {
    /// The row of the information.
    pub token: token::CustomDebugInformation,
    /// The item that it is about: a token of the assembly, or of this PDB.
    pub parent: HasCustomDebugInformation,
    /// The kind.
    pub kind: CustomKind,
    pub(super) value: Bytes<'a>,
}

/// The value of a [`CustomDebugInfo`], by its kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CustomValue<'a> {
    /// [`CustomKind::ASYNC_STEPS`].
    AsyncSteps(AsyncSteps<'a>),
    /// [`CustomKind::HOISTED_SCOPES`]: for each hoisted local the range of IL offsets in the `MoveNext` method; empty for
    /// a local of the compiler.
    HoistedScopes(Values<'a, Range<u32>>),
    /// [`CustomKind::DYNAMIC`]: a bit for each type in the signature, from the lowest; missing ones are 0.
    Dynamic(&'a [u8]),
    /// [`CustomKind::TUPLE_NAMES`]: a name for each element; empty if it has none.
    TupleNames(Values<'a, &'a str>),
    /// [`CustomKind::DEFAULT_NAMESPACE`].
    DefaultNamespace(&'a str),
    /// [`CustomKind::EMBEDDED_SOURCE`].
    EmbeddedSource(EmbeddedSource<'a>),
    /// [`CustomKind::SOURCE_LINK`]: JSON that maps paths to addresses.
    SourceLink(&'a str),
    /// [`CustomKind::REFERENCES`].
    References(Values<'a, CompilationReference<'a>>),
    /// [`CustomKind::OPTIONS`]: names with values.
    Options(Values<'a, (&'a str, &'a str)>),
    /// [`CustomKind::TYPE_DOCUMENTS`].
    TypeDocuments(Values<'a, Document>),
    /// Any other kind: its bytes. Those of edit and continue are defined by the compiler.
    Other(&'a [u8]),
}

/// Where an async method suspends and resumes, in the IL of its `MoveNext` method.
#[derive(Clone, Debug)]
pub struct AsyncSteps<'a> {
    /// The offset of the handler that the compiler has added for all exceptions, if the method returns nothing that an
    /// exception could be stored in (`async void`).
    pub catch_handler: Option<u32>,
    /// Each `await` that may suspend the method.
    pub awaits: Values<'a, AsyncStep>,
}

/// A point at which an async method may suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncStep {
    /// The offset at which the method suspends.
    pub yield_offset: u32,
    /// The offset at which it resumes.
    pub resume_offset: u32,
    /// The method of the latter, which is a `MoveNext`.
    pub resume_method: MethodDef,
}

/// An assembly or module that was referenced when a module was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilationReference<'a> {
    /// The name of the file.
    pub file_name: &'a str,
    /// The aliases, with commas between them; usually none.
    pub aliases: &'a str,
    /// Whether interop types were embedded.
    pub embeds_interop_types: bool,
    /// Whether it is an assembly, not a module.
    pub is_assembly: bool,
    /// The time stamp in its PE header.
    pub time_stamp: u32,
    /// The size of the image in its PE header.
    pub image_size: u32,
    /// The id of its module.
    pub mvid: Guid,
}

impl<'a> CustomDebugInfo<'a> {
    /// The bytes of the value.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.value.data()
    }

    /// The value, decoded by its kind.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    pub fn value(&self) -> Result<CustomValue<'a>> {
        let text = || utf8(self.value, 0, self.value.data());
        Ok(match self.kind {
            CustomKind::ASYNC_STEPS => CustomValue::AsyncSteps(AsyncSteps::parse(self.value)?),
            CustomKind::HOISTED_SCOPES => {
                CustomValue::HoistedScopes(Values::of(self.value, |cursor| {
                    let start = cursor.u32()?;
                    Ok(start..start.saturating_add(cursor.u32()?))
                }))
            }
            CustomKind::DYNAMIC => CustomValue::Dynamic(self.bytes()),
            CustomKind::TUPLE_NAMES => {
                CustomValue::TupleNames(Values::of(self.value, Cursor::text))
            }
            CustomKind::DEFAULT_NAMESPACE => CustomValue::DefaultNamespace(text()?),
            CustomKind::EMBEDDED_SOURCE => {
                CustomValue::EmbeddedSource(EmbeddedSource::parse(self.value)?)
            }
            CustomKind::SOURCE_LINK => CustomValue::SourceLink(text()?),
            CustomKind::REFERENCES => CustomValue::References(Values::of(self.value, reference)),
            CustomKind::OPTIONS => CustomValue::Options(Values::of(self.value, |cursor| {
                Ok((cursor.text()?, cursor.text()?))
            })),
            CustomKind::TYPE_DOCUMENTS => {
                CustomValue::TypeDocuments(Values::of(self.value, |cursor| {
                    cursor.row(TokenTable::DOCUMENT)
                }))
            }
            _ => CustomValue::Other(self.bytes()),
        })
    }
}

/// The values in a blob, in their order.
///
/// An item is an error if the blob is malformed there; it is the last item.
#[derive(Clone)]
pub struct Values<'a, T> {
    cursor: Cursor<'a>,
    read: fn(&mut Cursor<'a>) -> Result<T>,
}

impl<'a, T> Values<'a, T> {
    const fn of(blob: Bytes<'a>, read: fn(&mut Cursor<'a>) -> Result<T>) -> Self {
        Self {
            cursor: Cursor::new(blob),
            read,
        }
    }
}

impl<T> Iterator for Values<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if self.cursor.is_at_end() {
            return None;
        }
        let value = (self.read)(&mut self.cursor);
        if value.is_err() {
            // The last item.
            self.cursor.rest();
        }
        Some(value)
    }
}

impl<T> std::iter::FusedIterator for Values<'_, T> {}

impl<T> fmt::Debug for Values<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Values").finish_non_exhaustive()
    }
}

impl<'a> AsyncSteps<'a> {
    fn parse(value: Bytes<'a>) -> Result<Self> {
        Ok(Self {
            // One more than the offset; 0 for none.
            catch_handler: value.u32(0)?.checked_sub(1),
            awaits: Values::of(value.skip(4)?, |cursor| {
                Ok(AsyncStep {
                    yield_offset: cursor.u32()?,
                    resume_offset: cursor.u32()?,
                    resume_method: cursor.row(TokenTable::METHOD_DEF)?,
                })
            }),
        })
    }
}

fn reference<'a>(cursor: &mut Cursor<'a>) -> Result<CompilationReference<'a>> {
    let (file_name, aliases) = (cursor.text()?, cursor.text()?);
    let flags = cursor.u8()?;
    Ok(CompilationReference {
        file_name,
        aliases,
        // Compilers write the two the other way round than the specification says.
        embeds_interop_types: flags & 2 != 0,
        is_assembly: flags & 1 != 0,
        time_stamp: cursor.u32()?,
        image_size: cursor.u32()?,
        mvid: Guid(cursor.array()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn info(kind: CustomKind, value: &[u8]) -> CustomDebugInfo<'_> {
        CustomDebugInfo {
            token: token::CustomDebugInformation::NIL,
            parent: HasCustomDebugInformation::Module(token::Module::NIL),
            kind,
            value: Bytes::new(value),
        }
    }

    #[test]
    fn each_kind_is_decoded() {
        let steps = [8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0x81, 0];
        let CustomValue::AsyncSteps(mut steps) =
            info(CustomKind::ASYNC_STEPS, &steps).value().unwrap()
        else {
            panic!("other");
        };
        assert_eq!(steps.catch_handler, Some(7));
        let resume_method = MethodDef::from_row(0x100).unwrap();
        assert_eq!(
            steps.awaits.next(),
            Some(Ok(AsyncStep {
                yield_offset: 1,
                resume_offset: 2,
                resume_method
            }))
        );
        assert_eq!(steps.awaits.next(), None);

        let scopes = [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let CustomValue::HoistedScopes(scopes) =
            info(CustomKind::HOISTED_SCOPES, &scopes).value().unwrap()
        else {
            panic!("other");
        };
        assert_eq!(scopes.collect::<Result<Vec<_>>>().unwrap(), [1..3, 0..0]);

        let CustomValue::TupleNames(names) =
            info(CustomKind::TUPLE_NAMES, b"a\0\0b\0").value().unwrap()
        else {
            panic!("other");
        };
        assert_eq!(names.collect::<Result<Vec<_>>>().unwrap(), ["a", "", "b"]);

        let CustomValue::Options(options) =
            info(CustomKind::OPTIONS, b"a\0b\0c\0").value().unwrap()
        else {
            panic!("other");
        };
        let options: Vec<_> = options.collect();
        assert_eq!(options[0], Ok(("a", "b")));
        let error = options[1].as_ref().unwrap_err();
        assert_eq!(
            (error.offset(), error.kind()),
            (6, &ErrorKind::UnexpectedEnd)
        );
        assert_eq!(options.len(), 2);

        let mut bytes = b"x.dll\0\0\x01".to_vec();
        bytes.extend([1, 0, 0, 0, 2, 0, 0, 0]);
        bytes.extend([7; 16]);
        let CustomValue::References(mut all) =
            info(CustomKind::REFERENCES, &bytes).value().unwrap()
        else {
            panic!("other");
        };
        let one = all.next().unwrap().unwrap();
        assert_eq!((one.file_name, one.aliases), ("x.dll", ""));
        assert_eq!(
            (one.time_stamp, one.image_size, one.mvid),
            (1, 2, Guid([7; 16]))
        );
        assert!(one.is_assembly && !one.embeds_interop_types && all.next().is_none());

        let CustomValue::TypeDocuments(documents) = info(CustomKind::TYPE_DOCUMENTS, &[1, 2, 0])
            .value()
            .unwrap()
        else {
            panic!("other");
        };
        let documents: Vec<_> = documents
            .map(|document| document.map(Document::row))
            .collect();
        assert_eq!(documents[..2], [Ok(1), Ok(2)]);
        assert_eq!(
            documents[2].as_ref().unwrap_err().kind(),
            &ErrorKind::Index(0)
        );
    }

    #[test]
    fn unknown_kinds_are_bytes() {
        let unknown = CustomKind(Guid([1; 16]));
        assert_eq!(unknown.to_string(), Guid([1; 16]).to_string());
        assert!(matches!(
            info(unknown, &[1, 2]).value(),
            Ok(CustomValue::Other([1, 2]))
        ));
        assert_eq!(CustomKind::SOURCE_LINK.to_string(), "source link");
        let slots = info(CustomKind::ENC_LOCAL_SLOTS, &[1]);
        assert!(matches!(slots.value(), Ok(CustomValue::Other([1]))));
    }

    #[test]
    fn sources_are_raw_or_compressed() {
        let CustomValue::EmbeddedSource(raw) = info(CustomKind::EMBEDDED_SOURCE, b"\0\0\0\0class")
            .value()
            .unwrap()
        else {
            panic!("other");
        };
        assert_eq!((raw.len(), raw.bytes()), (5, Ok(b"class".to_vec())));
        let reserved = info(CustomKind::EMBEDDED_SOURCE, &[0xff; 5]).value();
        assert_eq!(reserved.unwrap_err().kind(), &ErrorKind::Compression);
    }
}
