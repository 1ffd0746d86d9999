/*
 * The smallest profiler that shows the faults described here: it asks for the events that
 * FAULT_EVENTS names (a hexadecimal COR_PRF_MONITOR mask) and does nothing with them. With
 * FAULT_ENUMERATE=1 it also enumerates the compiled functions on a thread of its own, over and over.
 *
 *     cc -shared -fPIC -O2 -o libfault.so profiler.c -lpthread
 *
 * Interfaces are arrays of functions here; the comments name the slots, which follow from the order
 * of the methods in corprof.idl.
 */
#include <pthread.h>
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
enum { INITIALIZE = 3, CALLBACKS = 98 };
/* IClassFactory */
enum { CREATE_INSTANCE = 3 };
/* ICorProfilerInfo to ICorProfilerInfo4, ICorProfilerFunctionEnum */
enum { SET_EVENT_MASK = 16, INITIALIZE_CURRENT_THREAD = 72, ENUM_JITED_FUNCTIONS_2 = 79 };
enum { NEXT = 7 };

static const unsigned char ICOR_PROFILER_INFO_4[16] = {
    0xaa, 0xdc, 0x8f, 0x0d, 0x57, 0x62, 0xbf, 0x47, 0xb1, 0xbf, 0x94, 0xda, 0xc8, 0x84, 0x66, 0xee};

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

static HRESULT initialize(void *self, Object *unknown)
{
    const char *events = getenv("FAULT_EVENTS");
    uint32_t mask = events ? (uint32_t)strtoul(events, NULL, 16) : 0;
    Object *info;
    HRESULT result;
    pthread_t thread;

    (void)self;
    result = unknown->methods[QUERY_INTERFACE](unknown, ICOR_PROFILER_INFO_4, &info);
    if (result != S_OK)
        return result;
    result = info->methods[SET_EVENT_MASK](info, mask);
    fprintf(stderr, "profiler: events 0x%x, SetEventMask 0x%x\n", mask, (unsigned)result);
    if (result == S_OK && getenv("FAULT_ENUMERATE"))
        pthread_create(&thread, NULL, enumerate, info);
    return result;
}

static Method callback_methods[CALLBACKS];
static Object callback = {callback_methods};

static HRESULT create_instance(void *self, void *outer, const void *iid, void **out)
{
    int slot;

    (void)self, (void)outer, (void)iid;
    for (slot = 0; slot < CALLBACKS; slot++)
        callback_methods[slot] = ok;
    callback_methods[QUERY_INTERFACE] = (Method)query_interface;
    callback_methods[ADD_REF] = callback_methods[RELEASE] = one;
    callback_methods[INITIALIZE] = (Method)initialize;
    *out = &callback;
    return S_OK;
}

static Method factory_methods[5] = {
    (Method)query_interface, one, one, (Method)create_instance, ok};
static Object factory = {factory_methods};

__attribute__((visibility("default")))
HRESULT DllGetClassObject(const void *clsid, const void *iid, void **out)
{
    (void)clsid, (void)iid;
    *out = &factory;
    return S_OK;
}

__attribute__((visibility("default"))) HRESULT DllCanUnloadNow(void) { return S_FALSE; }
