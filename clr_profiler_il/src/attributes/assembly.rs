//! Assemblies, their files and their resources.

use super::{attributes, values};

values! {
    /// The processors of an assembly.
    ProcessorArchitecture {
        /// Not specified.
        None = 0,
        /// All processors (`MSIL`).
        Msil = 1,
        /// x86.
        X86 = 2,
        /// IA-64.
        IA64 = 3,
        /// x86-64.
        Amd64 = 4,
        /// 32-bit ARM.
        Arm = 5,
        /// 64-bit ARM.
        Arm64 = 6,
        ;
        /// No processor: a reference assembly.
        NoPlatform = 7,
    }

    /// The kind of types in an assembly.
    AssemblyContentType {
        /// .NET types.
        Default = 0,
        /// Windows Runtime types.
        WindowsRuntime = 1,
        ..
    }

    /// The accessibility of a resource.
    ResourceVisibility {
        /// All code.
        Public = 1,
        /// Code of the same assembly.
        Private = 2,
        ..
    }
}

values! {
    /// The algorithm of the hashes of an assembly's files (ECMA-335 II.23.1.1).
    #[derive(Default)]
    AssemblyHashAlgorithm {
        /// None.
        #[default]
        None = 0,
        /// MD5.
        Md5 = 0x8003,
        /// SHA-1.
        Sha1 = 0x8004,
        /// SHA-256. Not in ECMA-335.
        Sha256 = 0x800c,
        /// SHA-384. Not in ECMA-335.
        Sha384 = 0x800d,
        /// SHA-512. Not in ECMA-335.
        Sha512 = 0x800e,
        ..
    }

    /// The action of a security declaration (ECMA-335 II.22.11). .NET (Core) checks none.
    SecurityAction {
        /// Nothing.
        Nil = 0,
        /// Requests permissions.
        Request = 1,
        /// Demands a permission of all callers.
        Demand = 2,
        /// Grants a permission whatever the callers have.
        Assert = 3,
        /// Denies a permission.
        Deny = 4,
        /// Denies all other permissions.
        PermitOnly = 5,
        /// Demands a permission of the caller when it is compiled.
        LinktimeCheck = 6,
        /// Demands a permission of derived types.
        InheritanceCheck = 7,
        /// Requests permissions without which the assembly does not run.
        RequestMinimum = 8,
        /// Requests permissions that the assembly can do without.
        RequestOptional = 9,
        /// Refuses permissions.
        RequestRefuse = 10,
        /// Holds the permissions granted when the assembly was precompiled.
        PrejitGrant = 11,
        /// Holds the permissions denied when the assembly was precompiled.
        PrejitDenied = 12,
        /// As `Demand`, for a permission that is not one of code access.
        NonCasDemand = 13,
        /// As `LinktimeCheck`, for a permission that is not one of code access.
        NonCasLinkDemand = 14,
        /// As `InheritanceCheck`, for a permission that is not one of code access.
        NonCasInheritance = 15,
        ..
    }
}

attributes! {
    /// The flags of an assembly or of a reference to one (ECMA-335 II.23.1.2).
    AssemblyFlags = "CorAssemblyFlags" {
        /// The processor architecture.
        processor_architecture, with_processor_architecture: ProcessorArchitecture
            in PA_MASK = 0x0070;
        /// The kind of types.
        content_type, with_content_type: AssemblyContentType in CONTENT_TYPE_MASK = 0x0e00;
    } {
        /// The reference contains the whole public key instead of its token.
        PUBLIC_KEY = 0x0001;
        /// The processor architecture of a reference is significant.
        PA_SPECIFIED = 0x0080;
        /// The implementation at run time may be from another publisher.
        RETARGETABLE = 0x0100;
        /// The JIT does not optimize.
        DISABLE_JIT_COMPILE_OPTIMIZER = 0x4000;
        /// The JIT keeps information for debuggers.
        ENABLE_JIT_COMPILE_TRACKING = 0x8000;
    }

    /// The attributes of a file of an assembly (ECMA-335 II.23.1.6).
    FileAttributes = "CorFileFlags" {} {
        /// It is a resource, without metadata.
        CONTAINS_NO_META_DATA = 0x0001;
    }

    /// The attributes of a resource (ECMA-335 II.23.1.9).
    ManifestResourceAttributes = "CorManifestResourceFlags" {
        /// Its accessibility.
        visibility, with_visibility: ResourceVisibility in VISIBILITY_MASK = 0x0007;
    } {}
}
