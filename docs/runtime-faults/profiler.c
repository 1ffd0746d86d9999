/*
 * The smallest profiler that shows the faults described here: it asks for the events that
 * FAULT_EVENTS names (a hexadecimal COR_PRF_MONITOR mask) and does nothing with them. With
 * FAULT_ENUMERATE=1 it also enumerates the compiled functions on a thread of its own, over and over.
 * With FAULT_DETACH=1 each profiler of the process requests its detach when it sees the first exception, on
 * a thread of its own, and at the end of the process a line says how many of them were detached.
 *
 *     cc -shared -fPIC -O2 -Wl,-z,nodelete -o libfault.so profiler.c -lpthread
 *
 * Interfaces are arrays of functions here; the comments name the slots, which follow from the order
 * of the methods in corprof.idl.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int32_t HRESULT;
typedef HRESULT (*Method)(void *, ...);
typedef struct Object { Method *methods; } Object;

enum { S_OK = 0, S_FALSE = 1 };

/* IUnknown */
enum { QUERY_INTERFACE = 0, ADD_REF = 1, RELEASE = 2 };
/* ICorProfilerCallback to ICorProfilerCallback11 */
enum {
    INITIALIZE = 3,
    EXCEPTION_THROWN = 54,
    PROFILER_DETACH_SUCCEEDED = 82,
    LOAD_AS_NOTIFICATION_ONLY = 97,
    CALLBACKS = 98
};
/* IClassFactory */
enum { CREATE_INSTANCE = 3 };
/* ICorProfilerInfo to ICorProfilerInfo4, ICorProfilerFunctionEnum */
enum {
    SET_EVENT_MASK = 16,
    REQUEST_PROFILER_DETACH = 58,
    INITIALIZE_CURRENT_THREAD = 72,
    ENUM_JITED_FUNCTIONS_2 = 79
};
enum { NEXT = 7 };

static const unsigned char ICOR_PROFILER_INFO_4[16] = {
    0xaa, 0xdc, 0x8f, 0x0d, 0x57, 0x62, 0xbf, 0x47, 0xb1, 0xbf, 0x94, 0xda, 0xc8, 0x84, 0x66, 0xee};

/* The profilers of the process, one for each class id. The runtime sees the first part of each. */
typedef struct Profiler {
    Object object;
    Object *info;
    atomic_int has_asked;
    int is_main;
} Profiler;

static Profiler profilers[8];
static atomic_int created, granted, detached;

static HRESULT ok(void *self, ...) { (void)self; return S_OK; }

static HRESULT one(void *self, ...) { (void)self; return 1; }

/* Every interface that the runtime asks for is a part of the one vtable. */
static HRESULT query_interface(void *self, const void *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static void *enumerate(void *argument)
{
    typedef struct { uint64_t function, rejit; } Function;
    Object *info = argument;
    Function functions[64];
    uint32_t fetched;
    Object *found;

    while (info->methods[INITIALIZE_CURRENT_THREAD](info) != S_OK)
        usleep(1000); /* The runtime is still starting. */
    for (;;) {
        if (info->methods[ENUM_JITED_FUNCTIONS_2](info, &found) != S_OK) {
            usleep(1000);
            continue;
        }
        while (found->methods[NEXT](found, 64u, functions, &fetched) == S_OK && fetched == 64)
            ;
        found->methods[RELEASE](found);
    }
    return NULL;
}

static void *detach(void *argument)
{
    Profiler *profiler = argument;

    if (profiler->info->methods[REQUEST_PROFILER_DETACH](profiler->info, 0u) == S_OK)
        atomic_fetch_add(&granted, 1);
    return NULL;
}

static HRESULT exception_thrown(void *self, uintptr_t object)
{
    Profiler *profiler = self;
    pthread_t thread;

    (void)object;
    if (getenv("FAULT_DETACH") && !atomic_exchange(&profiler->has_asked, 1))
        pthread_create(&thread, NULL, detach, profiler);
    return S_OK;
}

static HRESULT detach_succeeded(void *self)
{
    (void)self;
    atomic_fetch_add(&detached, 1);
    return S_OK;
}

static HRESULT load_as_notification_only(void *self, int32_t *is)
{
    *is = !((Profiler *)self)->is_main;
    return S_OK;
}

/* The library stays loaded until the process ends. */
__attribute__((destructor)) static void end(void)
{
    if (getenv("FAULT_DETACH"))
        fprintf(stderr, "%d profilers, %d requests granted, %d detached\n", created, granted, detached);
}

static HRESULT initialize(void *self, Object *unknown)
{
    const char *events = getenv("FAULT_EVENTS");
    uint32_t mask = events ? (uint32_t)strtoul(events, NULL, 16) : 0;
    Object *info;
    HRESULT result;
    pthread_t thread;

    result = unknown->methods[QUERY_INTERFACE](unknown, ICOR_PROFILER_INFO_4, &info);
    if (result != S_OK)
        return result;
    ((Profiler *)self)->info = info;
    result = info->methods[SET_EVENT_MASK](info, mask);
    fprintf(stderr, "profiler: events 0x%x, SetEventMask 0x%x\n", mask, (unsigned)result);
    if (result == S_OK && getenv("FAULT_ENUMERATE"))
        pthread_create(&thread, NULL, enumerate, info);
    return result;
}

static Method callback_methods[CALLBACKS];

typedef struct Factory { Object object; int is_main; } Factory;

static HRESULT create_instance(void *self, void *outer, const void *iid, void **out)
{
    int slot, index = atomic_fetch_add(&created, 1);

    (void)outer, (void)iid;
    if (index >= 8)
        return -1;
    for (slot = 0; slot < CALLBACKS; slot++)
        callback_methods[slot] = ok;
    callback_methods[QUERY_INTERFACE] = (Method)query_interface;
    callback_methods[ADD_REF] = callback_methods[RELEASE] = one;
    callback_methods[INITIALIZE] = (Method)initialize;
    callback_methods[EXCEPTION_THROWN] = (Method)exception_thrown;
    callback_methods[PROFILER_DETACH_SUCCEEDED] = (Method)detach_succeeded;
    callback_methods[LOAD_AS_NOTIFICATION_ONLY] = (Method)load_as_notification_only;
    profilers[index].object.methods = callback_methods;
    profilers[index].is_main = ((Factory *)self)->is_main;
    *out = &profilers[index];
    return S_OK;
}

static Method factory_methods[5] = {
    (Method)query_interface, one, one, (Method)create_instance, ok};
/* For the main profiler, and for notification profilers. */
static Factory factories[2] = {{{factory_methods}, 1}, {{factory_methods}, 0}};

__attribute__((visibility("default")))
HRESULT DllGetClassObject(const void *clsid, const void *iid, void **out)
{
    (void)iid;
    *out = &factories[((const unsigned char *)clsid)[15] != 1];
    return S_OK;
}

__attribute__((visibility("default"))) HRESULT DllCanUnloadNow(void) { return S_FALSE; }
