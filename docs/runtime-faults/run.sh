#!/bin/sh
# Builds one reproduction and runs it several times, without and with the profiler.
#
#   run.sh FAULT RUNS RUNTIME...
#
# FAULT is a folder next to this file. RUNTIME is a `dotnet` host, or a single-file application whose
# runtime is used; clr_profiler_test/hook/StartupHook.dll runs the program in the latter. Needed: cc,
# mcs, and a .NET Core 3.1 in REFERENCES (.../shared/Microsoft.NETCore.App/3.1.23).
set -eu
[ $# -ge 3 ] && [ -n "${REFERENCES:-}" ] || {
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
fault=$1 runs=$2
shift 2
case $fault in
    lost-exceptions) events=40 ;; # COR_PRF_MONITOR_EXCEPTIONS
    enumerated-functions) events=0 FAULT_ENUMERATE=1 && export FAULT_ENUMERATE ;;
    lost-detaches) events=40 FAULT_DETACH=1 && export FAULT_DETACH ;;
    *) echo "there is no $fault" >&2 && exit 2 ;;
esac
built=$(mktemp -d)
trap 'rm -rf -- "$built"' EXIT
cc -shared -fPIC -O2 -Wl,-z,nodelete -o "$built/libfault.so" "$here/profiler.c" -lpthread
references=$(for file in "$REFERENCES"/System*.dll; do
    case $file in *.Native.* | *.WindowsRuntime.dll) ;; *) printf ' -r:%s' "$file" ;; esac
done)
# shellcheck disable=SC2086
mcs -nostdlib -noconfig -optimize+ -out:"$built/Program.dll" $references "$here/$fault/Program.cs"
cat > "$built/Program.runtimeconfig.json" <<'END'
{ "runtimeOptions": {
    "framework": { "name": "Microsoft.NETCore.App", "version": "3.1.0" }, "rollForward": "Major" } }
END

# Runs the program on runtime $1 `runs` times and counts the exit codes.
try() {
    for _ in $(seq "$runs"); do
        status=0
        case $(basename -- "$1") in
            dotnet) timeout 60 "$1" "$built/Program.dll" > "$built/out" 2>&1 || status=$? ;;
            *)
                DOTNET_STARTUP_HOOKS="$here/../../clr_profiler_test/hook/StartupHook.dll" \
                    HOSTED_PROGRAM="$built/Program.dll" HOSTED_ARGUMENTS= \
                    timeout 60 "$1" > "$built/out" 2>&1 || status=$?
                ;;
        esac
        echo "exit $status: $(grep -v '^profiler:' "$built/out" | head -n 1 | cut -c 1-100)"
    done | sort | uniq -c
}

export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
for runtime in "$@"; do
    echo "== $runtime without a profiler"
    try "$runtime"
    echo "== $runtime with it"
    (
        export CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER_PATH="$built/libfault.so" \
            CORECLR_PROFILER='{00000000-0000-0000-0000-000000000001}' FAULT_EVENTS=$events
        if [ "$fault" = lost-detaches ]; then
            # Six profilers next to the main one. .NET 9 and 10 need the semicolon after the last.
            others=$(for class in 2 3 4 5 6 7; do
                printf '%s' "$built/libfault.so={00000000-0000-0000-0000-00000000000$class};"
            done)
            export CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 CORECLR_NOTIFICATION_PROFILERS="$others"
        fi
        try "$runtime"
    )
done
