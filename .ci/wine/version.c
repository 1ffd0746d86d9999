/* A version.dll for Wine 8, which every .NET process loads: its functions are those of kernelbase.
 *
 * Wine keeps a list of its own exception handlers on the stack of each thread, and calls them. When .NET continues after
 * an exception by setting the stack pointer, Wine leaves handlers in the list whose frames are gone, and the next exception
 * calls them: the thread ends, and its process hangs. So such handlers are forgotten at the beginning of each exception.
 * Windows has no such list on x64.
 */
#include <string.h>
#include <windows.h>

#define END ((EXCEPTION_REGISTRATION_RECORD *)-1)
#define MARK "Wine builtin DLL"

/* Whether the record is still the one that Wine wrote: its handler is a function of Wine's. */
static BOOL is_kept(EXCEPTION_REGISTRATION_RECORD *record)
{
    DWORD64 handler = (DWORD64)record->Handler, base;
    RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(handler, &base, NULL);
    return function && base + function->BeginAddress == handler
        && !memcmp((char *)base + sizeof(IMAGE_DOS_HEADER), MARK, sizeof(MARK));
}

static LONG CALLBACK forget(EXCEPTION_POINTERS *about)
{
    NT_TIB *thread = (NT_TIB *)NtCurrentTeb();
    EXCEPTION_REGISTRATION_RECORD *first = thread->ExceptionList;

    while (first != END && ((DWORD64)first < about->ContextRecord->Rsp || !is_kept(first))) {
        EXCEPTION_REGISTRATION_RECORD *next = first->Next;
        BOOL is_next = next > first && (void *)next < thread->StackBase && (DWORD64)next % sizeof(void *) == 0;
        first = is_next ? next : END;
    }
    thread->ExceptionList = first;
    return EXCEPTION_CONTINUE_SEARCH;
}

/* Windows loads libraries at high addresses, and .NET puts its code near its library. At addresses of 32 bits, the compiler
 * of .NET 8.0.4 fails to optimise. */
static void occupy_low_addresses(void)
{
    const DWORD64 piece = 0x1000000, end = 0x100000000;
    MEMORY_BASIC_INFORMATION region;
    DWORD64 at = 0x10000;

    while (at < end && VirtualQuery((void *)at, &region, sizeof(region))) {
        DWORD64 next = (DWORD64)region.BaseAddress + region.RegionSize;
        if (region.State == MEM_FREE) {
            /* In pieces: the system itself has parts of a region that is free. */
            next = min(next, at + piece - at % piece);
            VirtualAlloc((void *)at, next - at, MEM_RESERVE, PAGE_NOACCESS);
        }
        at = next;
    }
}

/* Again for each library that is loaded: heaps have freed addresses since. */
static void CALLBACK has_loaded(ULONG reason, const void *library, void *context)
{
    occupy_low_addresses();
}

NTSTATUS NTAPI LdrRegisterDllNotification(ULONG flags, void *called, void *context, void **cookie);

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, void *reserved)
{
    void *cookie;

    if (reason == DLL_PROCESS_ATTACH) {
        AddVectoredExceptionHandler(TRUE, forget);
        occupy_low_addresses();
        LdrRegisterDllNotification(0, has_loaded, NULL, &cookie);
    }
    return TRUE;
}
