//! The tables of portable PDBs, of their specification.

use clr_profiler_il::token::{
    self, Document, ImportScope, LocalConstant, LocalVariable, MethodDef, TokenTable,
};

use super::{Decode, OwnedRow, Row, RowToken};
use crate::columns::{Cell, Column, HasCustomDebugInformation};
use crate::error::Result;
use crate::heaps::{BlobIndex, GuidIndex, StringIndex};
use crate::raw::RawRow;

rows! {
    /// A source file, in a portable PDB.
    DocumentRow = DOCUMENT(Document) {
        /// The path, in a form of its own.
        name: BlobIndex,
        /// The algorithm of the hash.
        hash_algorithm: GuidIndex,
        /// The hash of the contents.
        hash: BlobIndex,
        /// The language.
        language: GuidIndex,
    }

    /// The sequence points of the method with the same row, in a portable PDB.
    MethodDebugInformationRow = METHOD_DEBUG_INFORMATION(MethodDebugInformation) {
        /// The document of all points; nil if there are several.
        document: Document,
        /// The sequence points.
        sequence_points: BlobIndex,
    }

    /// A range of IL with local variables, in a portable PDB.
    LocalScopeRow = LOCAL_SCOPE(LocalScope) by MethodDef in 0 {
        /// The method.
        method: MethodDef,
        /// The imported namespaces and types.
        import_scope: ImportScope,
        /// The first variable, which may be after the last row.
        variables: LocalVariable,
        /// The first constant, which may be after the last row.
        constants: LocalConstant,
        /// The IL offset of the first instruction.
        start_offset: u32,
        /// The length in bytes.
        length: u32,
    }

    /// A local variable, in a portable PDB.
    LocalVariableRow = LOCAL_VARIABLE(LocalVariable) {
        /// Bit 0: debuggers do not show it.
        attributes: u16,
        /// The number of the local.
        index: u16,
        /// The name.
        name: StringIndex,
    }

    /// A local constant, in a portable PDB.
    LocalConstantRow = LOCAL_CONSTANT(LocalConstant) {
        /// The name.
        name: StringIndex,
        /// The type and the value.
        signature: BlobIndex,
    }

    /// Imported namespaces and types, in a portable PDB.
    ImportScopeRow = IMPORT_SCOPE(ImportScope) {
        /// The enclosing scope; nil for the outermost.
        parent: ImportScope,
        /// The imports.
        imports: BlobIndex,
    }

    /// The method from which an async method or an iterator was compiled, in a portable PDB.
    StateMachineMethodRow = STATE_MACHINE_METHOD by MethodDef in 0 {
        /// The `MoveNext` of the state machine.
        move_next: MethodDef,
        /// The method in the source.
        kickoff: MethodDef,
    }

    /// Debug information of a compiler's own kind, in a portable PDB.
    CustomDebugInformationRow =
        CUSTOM_DEBUG_INFORMATION(CustomDebugInformation) by HasCustomDebugInformation in 0
    {
        /// The item with the information.
        parent: HasCustomDebugInformation,
        /// The kind.
        kind: GuidIndex,
        /// The information.
        value: BlobIndex,
    }
}
