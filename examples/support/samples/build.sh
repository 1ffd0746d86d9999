#!/bin/sh
# Builds Sample.dll again with the C# compiler of mono (Debian's package mono-mcs).
#
#   samples/build.sh FOLDER [OUTPUT]
#
# FOLDER is .../shared/Microsoft.NETCore.App/3.1.23 of a .NET Core 3.1, which
# `cargo run -p examples_support --bin fetch_runtime -- 3.1` fetches. The compiler draws the
# module's id (MVID) and the time stamp anew in every build; they are replaced by a hash of the rest
# and by zero, so that the same source gives the same file.
set -eu
[ $# -ge 1 ] && [ -d "$1" ] || {
    echo "usage: $0 path/to/shared/Microsoft.NETCore.App/3.1.23 [output.dll]" >&2
    exit 2
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$(realpath -- "${2:-$here/Sample.dll}")
cd -- "$1"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mcs -nostdlib -noconfig -optimize+ -target:exe -out:"$work/Sample.dll" \
    -r:System.Private.CoreLib.dll -r:System.Runtime.dll -r:System.Console.dll \
    -r:System.Collections.dll -r:System.Threading.dll -r:System.Threading.Thread.dll \
    -r:System.Reflection.Emit.Lightweight.dll -r:System.Reflection.Emit.ILGeneration.dll \
    -r:System.Reflection.Primitives.dll \
    "$here/Sample.cs"

python3 - "$work/Sample.dll" "$output" <<'END'
import hashlib, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
header = struct.unpack_from("<I", data, 0x3C)[0]
data[header + 8 : header + 12] = bytes(4)
metadata = data.index(b"BSJB")
name = data.index(b"#GUID\0", metadata)
mvid = metadata + struct.unpack_from("<I", data, name - 8)[0]
data[mvid : mvid + 16] = bytes(16)
data[mvid : mvid + 16] = hashlib.sha256(data).digest()[:16]
open(sys.argv[2], "wb").write(data)
END
