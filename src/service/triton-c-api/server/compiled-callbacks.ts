import { compileC } from "../../../runtime/ffi/compile-c.ts";
import { openLibrary } from "../../../runtime/ffi/ffi.ts";
import { createWake } from "../../../runtime/ffi/wake.ts";
import type { ServerCallbacks } from "./callbacks.ts";

/**
 * The callbacks that Triton calls on its own threads, in C: a response's time is taken on the thread that has it, and no thread of Triton
 * waits for JavaScript. Responses go into a list, and the JavaScript thread is woken when it was empty.
 */
const SOURCE = `
typedef unsigned long size_t;
struct timespec { long seconds; long nanoseconds; };
int clock_gettime(int clock, struct timespec *time);
void *malloc(size_t size);
void free(void *memory);
int strcmp(const char *a, const char *b);
int pthread_mutex_lock(void *mutex);
int pthread_mutex_unlock(void *mutex);
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int setpgid(int process, int group);
int kill(int process, int signal);
int getppid(void);
int fcntl(int file, int command, ...);
void (*signal(int number, void (*handler)(int)))(int);
long write(int file, const void *bytes, size_t size);

static long now(void) {
  struct timespec time;
  clock_gettime(1, &time);
  return time.seconds * 1000000000L + time.nanoseconds;
}

/* A response, or NULL for an end without content. */
struct entry { struct entry *next; void *response; long call; long at; long flags; };
static struct entry *first, *last;
static long mutex[16];
static void (*wake)(void);
static int wake_file;
static void *(*new_error)(int code, const char *message);

/* Where outputs go that have a place in shared memory: names, addresses and sizes, ended by a NULL name. */
struct place { const char *name; void *address; size_t size; };

static void *allocate(void *allocator, const char *name, size_t size, int type, long type_id, void *places,
                      void **buffer, void **owned, int *actual_type, long *actual_id) {
  struct place *place;
  *actual_type = 0;
  *actual_id = 0;
  *owned = 0;
  for (place = places; place && place->name; place++)
    if (strcmp(place->name, name) == 0) {
      if (size > place->size) return new_error(1, "the output is larger than its place in shared memory");
      *buffer = place->address;
      return 0;
    }
  *buffer = *owned = size ? malloc(size) : 0;
  return size && !*owned ? new_error(1, "no memory for the output") : 0;
}

static void *release(void *allocator, void *buffer, void *owned, size_t size, int type, long type_id) {
  free(owned);
  return 0;
}

static void complete(void *response, unsigned flags, void *call) {
  struct entry *entry = malloc(sizeof *entry);
  int was_empty;
  entry->at = now();
  entry->response = response;
  entry->call = (long)call;
  entry->flags = flags;
  entry->next = 0;
  pthread_mutex_lock(mutex);
  was_empty = first == 0;
  if (was_empty) first = entry; else last->next = entry;
  last = entry;
  pthread_mutex_unlock(mutex);
  if (!was_empty) return;
  if (wake) wake(); else write(wake_file, "", 1);
}

/* Moves up to max entries to an array of {response, call, at, flags}. */
static int take(long *entries, int max) {
  int count = 0;
  struct entry *entry;
  while (count < max) {
    pthread_mutex_lock(mutex);
    entry = first;
    if (entry) first = entry->next;
    pthread_mutex_unlock(mutex);
    if (!entry) break;
    entries[0] = (long)entry->response;
    entries[1] = entry->call;
    entries[2] = entry->at;
    entries[3] = entry->flags;
    entries += 4;
    count++;
    free(entry);
  }
  return count;
}

/* Calls TRITONSERVER_ServerInferAsync right after it has taken the time. */
static void *infer(void *(*infer_async)(void *, void *, void *), void *server, void *request, long *began) {
  *began = now();
  return infer_async(server, request, 0);
}

static void end_group(int number) { kill(0, 9); }

/* Makes this process lead a group, with the models' processes, that ends with the process that started it. */
static void begin(void (*wake_function)(void), int wake_by, int parent) {
  static const int crashes[] = {4, 6, 7, 8, 11}; /* SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV */
  int number;
  wake = wake_function;
  wake_file = wake_by;
  /* A crash of the library ends the process with what the library writes, without a report of the runtime about itself. */
  for (number = 0; number < 5; number++) signal(crashes[number], 0);
  signal(15, end_group);
  setpgid(0, 0);
  fcntl(3, 2, 1); /* The models' processes do not inherit the pipe. */
  fcntl(3, 4, 0); /* Writing to it waits. */
  prctl(1, 15, 0, 0, 0);
  if (getppid() != parent) end_group(0); /* It has ended already. */
}

static void use_errors(void *(*create_error)(int, const char *)) { new_error = create_error; }

void *address_of_allocate(void) { return (void *)allocate; }
void *address_of_release(void) { return (void *)release; }
void *address_of_complete(void) { return (void *)complete; }
void *address_of_take(void) { return (void *)take; }
void *address_of_infer(void) { return (void *)infer; }
void *address_of_begin(void) { return (void *)begin; }
void *address_of_use_errors(void) { return (void *)use_errors; }
void *address_of_end(void) { return (void *)end_group; }
`;

/** The functions of {@link SOURCE} that return the addresses of the others. */
const NAMES = [
  "address_of_allocate",
  "address_of_release",
  "address_of_complete",
  "address_of_take",
  "address_of_infer",
  "address_of_begin",
  "address_of_use_errors",
  "address_of_end",
] as const;

const FINAL = 1;
const MOST_TAKEN = 256;
const WORDS_PER_ENTRY = 4;

/** Compiles the callbacks, and ties this process to the run's. @throws NativeError when there is no compiler */
export async function openCompiledCallbacks(runPid: number, wake: () => void): Promise<ServerCallbacks> {
  const at = await compileC(SOURCE, NAMES);
  const { functionAt } = await openLibrary(["libc.so.6", "libc.so"], {});
  const { address, file } = await createWake(wake);
  functionAt(at.address_of_begin, { args: ["pointer", "i32", "i32"], result: "void" })(address, file, runPid);
  const end = functionAt(at.address_of_end, { args: ["i32"], result: "void" });
  const infer = functionAt(at.address_of_infer, {
    args: ["pointer", "pointer", "pointer", "buffer"],
    result: "pointer",
  });
  const take = functionAt(at.address_of_take, { args: ["buffer", "i32"], result: "i32" });
  const began = new BigInt64Array(1);
  const beganBytes = new Uint8Array(began.buffer);
  const entries = new BigInt64Array(MOST_TAKEN * WORDS_PER_ENTRY);
  const entriesBytes = new Uint8Array(entries.buffer);
  let inferAsync = 0n;
  return {
    warning: "",
    allocate: at.address_of_allocate,
    release: at.address_of_release,
    complete: at.address_of_complete,
    use: (triton) => {
      inferAsync = triton.addressOf("ServerInferAsync");
      functionAt(at.address_of_use_errors, { args: ["pointer"], result: "void" })(triton.addressOf("ErrorNew"));
    },
    infer: (server, request) => infer(inferAsync, server, request, beganBytes),
    beganNs: () => Number(began[0]),
    take: (receive) => {
      const count = take(entriesBytes, MOST_TAKEN);
      for (let from = 0; from < count * WORDS_PER_ENTRY; from += WORDS_PER_ENTRY) {
        const [response = 0n, call = 0n, atNs = 0n, flags = 0n] = entries.subarray(from, from + WORDS_PER_ENTRY);
        receive({ response, call: Number(call), atNs: Number(atNs), isFinal: (Number(flags) & FINAL) !== 0 });
      }
      return count === MOST_TAKEN;
    },
    endLoading: () => {},
    end: () => end(0),
  };
}
