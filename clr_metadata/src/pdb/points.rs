//! Sequence points: the blob that maps the IL offsets of a method to its source.

use clr_profiler_il::token::{Document, StandAloneSig, TokenTable};

use super::cursor::Cursor;
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};

/// The line of hidden points in other formats, which is not possible here.
const HIDDEN_LINE: u32 = 0xfe_efee;
/// Lines and IL offsets are smaller.
const MAX: u32 = 0x2000_0000;

/// A range of a source file. Lines and columns are numbered from 1; the end column is the one after the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceSpan {
    /// The line of the first character.
    pub start_line: u32,
    /// The column of the first character.
    pub start_column: u16,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: u16,
}

/// An IL offset from which on the code belongs to a range of the source.
///
/// It is valid up to the offset of the next point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequencePoint {
    /// The offset in the IL of the method.
    pub il_offset: u32,
    /// The source file.
    pub document: Document,
    /// The range; `None` for a hidden point, whose code the compiler has generated: no line of the source
    /// belongs to it.
    pub span: Option<SourceSpan>,
}

/// A range of a source file, by [`Pdb::source_location`](super::Pdb::source_location).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The source file.
    pub document: Document,
    /// The range in it.
    pub span: SourceSpan,
}

/// The sequence points of a method in the order of their IL offsets.
///
/// An item is an error if the blob is malformed there; it is the last item.
#[derive(Clone, Debug)]
pub struct SequencePoints<'a> {
    cursor: Cursor<'a>,
    local_signature: Option<StandAloneSig>,
    document: Document,
    /// The last point.
    il_offset: Option<u32>,
    /// The begin of the last point that is not hidden.
    start: Option<(u32, u16)>,
}

impl<'a> SequencePoints<'a> {
    /// Reads the header. `document` is the only document, or nil.
    pub(crate) fn parse(blob: Bytes<'a>, document: Document) -> Result<Self> {
        let mut cursor = Cursor::new(blob);
        let (mut local_signature, mut document) = (None, document);
        if !cursor.is_at_end() {
            let start = cursor;
            let row = cursor.unsigned()?;
            let token = StandAloneSig::from_row(row);
            local_signature = token
                .ok_or_else(|| start.error(ErrorKind::Index(row)))
                .map(Some)?;
            if document.is_nil() {
                document = cursor.row(TokenTable::DOCUMENT)?;
            }
        }
        Ok(Self {
            cursor,
            local_signature: local_signature.filter(|token| !token.is_nil()),
            document,
            il_offset: None,
            start: None,
        })
    }

    /// The signature of the local variables; `None` if the method has none.
    #[must_use]
    pub const fn local_signature(&self) -> Option<StandAloneSig> {
        self.local_signature
    }

    /// The next point; `None` at the end.
    fn point(&mut self) -> Result<Option<SequencePoint>> {
        let at = self.cursor;
        let il_offset = match self.il_offset {
            None => self.cursor.unsigned()?,
            Some(last) => {
                let mut delta = self.cursor.unsigned()?;
                // Another document begins.
                while delta == 0 {
                    self.document = self.cursor.row(TokenTable::DOCUMENT)?;
                    if self.cursor.is_at_end() {
                        return Ok(None);
                    }
                    delta = self.cursor.unsigned()?;
                }
                last.checked_add(delta)
                    .ok_or_else(|| at.error(ErrorKind::SequencePoint))?
            }
        };
        let lines = self.cursor.unsigned()?;
        let columns = match lines {
            0 => i64::from(self.cursor.unsigned()?),
            _ => i64::from(self.cursor.signed()?),
        };
        let span = if lines == 0 && columns == 0 {
            None
        } else {
            Some(
                self.span(lines, columns)?
                    .ok_or_else(|| at.error(ErrorKind::SequencePoint))?,
            )
        };
        if il_offset >= MAX {
            return Err(at.error(ErrorKind::SequencePoint));
        }
        self.il_offset = Some(il_offset);
        Ok(Some(SequencePoint {
            il_offset,
            document: self.document,
            span,
        }))
    }

    /// The range with these numbers of lines and columns; `None` if it is impossible.
    fn span(&mut self, lines: u32, columns: i64) -> Result<Option<SourceSpan>> {
        let (line, column) = match self.start {
            None => (
                i64::from(self.cursor.unsigned()?),
                i64::from(self.cursor.unsigned()?),
            ),
            Some((line, column)) => (
                i64::from(line) + i64::from(self.cursor.signed()?),
                i64::from(column) + i64::from(self.cursor.signed()?),
            ),
        };
        let in_range = |line: i64| {
            let line = u32::try_from(line).ok()?;
            (line < MAX && line != HIDDEN_LINE).then_some(line)
        };
        let span = || {
            Some(SourceSpan {
                start_line: in_range(line)?,
                start_column: u16::try_from(column).ok()?,
                end_line: in_range(line + i64::from(lines))?,
                end_column: u16::try_from(column + columns).ok()?,
            })
        };
        let span = span();
        if let Some(span) = span {
            self.start = Some((span.start_line, span.start_column));
        }
        Ok(span)
    }
}

impl Iterator for SequencePoints<'_> {
    type Item = Result<SequencePoint>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_at_end() {
            return None;
        }
        let point = self.point();
        if point.is_err() {
            // The last item.
            self.cursor.rest();
        }
        point.transpose()
    }
}

impl std::iter::FusedIterator for SequencePoints<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(blob: &[u8], document: u32) -> Result<Vec<SequencePoint>> {
        let document = Document::from_row(document).unwrap();
        SequencePoints::parse(Bytes::new(blob), document)?.collect()
    }

    fn point(il_offset: u32, document: u32, span: [u32; 4]) -> SequencePoint {
        let [start_line, start_column, end_line, end_column] = span;
        SequencePoint {
            il_offset,
            document: Document::from_row(document).unwrap(),
            span: Some(SourceSpan {
                start_line,
                start_column: start_column as u16,
                end_line,
                end_column: end_column as u16,
            }),
        }
    }

    fn hidden(il_offset: u32, document: u32) -> SequencePoint {
        let span = None;
        SequencePoint {
            span,
            ..point(il_offset, document, [0; 4])
        }
    }

    #[test]
    fn each_record_continues_the_one_before() {
        // Signed numbers have their sign in the lowest bit: 2 is 1, 0x7d is -2.
        let blob = [
            3, // The signature of the locals.
            0, 0, 1, 10, 5, // IL_0000: 10:5 to 10:6.
            4, 0, 0, // IL_0004: hidden.
            2, 2, 0x7d, 2, 0x7d, // IL_0006: 11:3 to 13:1.
        ];
        let points = [
            point(0, 1, [10, 5, 10, 6]),
            hidden(4, 1),
            point(6, 1, [11, 3, 13, 1]),
        ];
        assert_eq!(read(&blob, 1).unwrap(), points);
        let parsed = SequencePoints::parse(Bytes::new(&blob), Document::from_row(1).unwrap());
        assert_eq!(
            parsed.unwrap().local_signature(),
            StandAloneSig::from_row(3)
        );
    }

    #[test]
    fn documents_change_between_points() {
        let blob = [
            0, 7, // The first document.
            0, 0, 1, 1, 1, // IL_0000.
            0, 8, 0, 9, // Two changes, of which the second counts.
            1, 0, 1, 2, 0, // IL_0001: a line further.
            0, 2, // A change without a point.
        ];
        assert_eq!(
            read(&blob, 0).unwrap(),
            [point(0, 7, [1, 1, 1, 2]), point(1, 9, [2, 1, 2, 2])]
        );
        assert_eq!(read(&[0, 7], 0).unwrap(), []);
        assert_eq!(read(&[], 0).unwrap(), []);
    }

    #[test]
    fn impossible_points_are_errors() {
        for (blob, offset, kind) in [
            // Nothing after the header is a point that is truncated.
            (&[0, 0, 0][..], 3, ErrorKind::UnexpectedEnd),
            // A change to no document.
            (&[0, 0, 0, 0, 0], 5, ErrorKind::UnexpectedEnd),
            (&[0, 0, 0, 0, 0, 0, 1], 5, ErrorKind::Index(0)),
            // A negative line: 1 - 2.
            (
                &[0, 0, 0, 1, 1, 1, 1, 0, 1, 0x7d, 0],
                6,
                ErrorKind::SequencePoint,
            ),
            // A column of 0x10000.
            (&[0, 0, 0, 0xc0, 1, 0, 0, 1, 1], 1, ErrorKind::SequencePoint),
            // The line of hidden points.
            (
                &[0, 0, 0, 1, 0xc0, 0xfe, 0xef, 0xee, 1],
                1,
                ErrorKind::SequencePoint,
            ),
            // An IL offset of 0x1fffffff + 1.
            (
                &[0, 0xdf, 0xff, 0xff, 0xff, 0, 0, 1, 0, 0],
                7,
                ErrorKind::SequencePoint,
            ),
        ] {
            let error = read(blob, 1).unwrap_err();
            assert_eq!((error.offset(), error.kind()), (offset, &kind), "{blob:x?}");
        }
        // The document of a method in several: none.
        let error = read(&[0, 0, 0, 0, 1, 1, 1], 0).unwrap_err();
        assert_eq!((error.offset(), error.kind()), (1, &ErrorKind::Index(0)));
        // An error is the last item.
        let document = Document::from_row(1).unwrap();
        let mut points = SequencePoints::parse(Bytes::new(&[0, 0, 0]), document).unwrap();
        assert!(points.next().unwrap().is_err());
        assert!(points.next().is_none());
    }
}
