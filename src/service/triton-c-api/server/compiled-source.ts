/**
 * What lies between the pipe to the run and Triton, in C. Triton calls back on its own threads: a response's time is taken there, and no
 * thread of Triton waits for JavaScript or for the pipe. One thread reads the run's frames; a request without a stamp whose template has an
 * idle request of Triton's starts right there. Another thread writes the responses. JavaScript gets all other frames, and creates requests:
 * Triton's requests are reused once they are released and have had their last response.
 */
export const SOURCE = `
typedef unsigned long size_t;
struct timespec { long seconds; long nanoseconds; };
int clock_gettime(int clock, struct timespec *time);
void *malloc(size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
int strcmp(const char *a, const char *b);
size_t strlen(const char *text);
int pthread_mutex_lock(void *mutex);
int pthread_mutex_unlock(void *mutex);
int pthread_cond_wait(void *condition, void *mutex);
int pthread_cond_signal(void *condition);
int pthread_create(size_t *thread, const void *attributes, void *(*run)(void *), void *argument);
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int setpgid(int process, int group);
int kill(int process, int signal);
int getppid(void);
int fcntl(int file, int command, ...);
int *__errno_location(void);
void (*signal(int number, void (*handler)(int)))(int);
long read(int file, void *bytes, size_t size);
long write(int file, const void *bytes, size_t size);

static long now(void) {
  struct timespec time;
  clock_gettime(1, &time);
  return time.seconds * 1000000000L + time.nanoseconds;
}

/* Functions of Triton's library, in the order of TRITON_FUNCTIONS. */
static struct {
  void *(*new_error)(int code, const char *message);
  const char *(*error_message)(void *error);
  void (*delete_error)(void *error);
  void *(*infer_async)(void *server, void *request, void *trace);
  void *(*delete_request)(void *request);
  void *(*on_release)(void *request, void (*release)(void *, unsigned, void *), void *user);
  void *(*on_response)(void *request, void *allocator, void *places, void (*complete)(void *, unsigned, void *), void *user);
  void *(*response_error)(void *response);
  void *(*response_model)(void *response, const char **name, long *version);
  void *(*response_id)(void *response, const char **id);
  void *(*output_count)(void *response, unsigned *count);
  void *(*output)(void *response, unsigned index, const char **name, int *datatype, const long **shape, size_t *dimensions,
                  const void **base, size_t *size, int *memory_type, long *memory_id, void **owned);
  void *(*delete_response)(void *response);
} triton;

/* A request of Triton's with its current call, the template that it was made from, and the places of its outputs. */
struct call { struct call *next; struct template *template; void *request, *places; unsigned id; long began; int pending, is_reused; };
struct template { struct template *next; unsigned id; long uses; struct call *idle; int is_forgotten; };
/* What to write: bytes, an error, a response, or an end without content. */
struct entry { struct entry *next; char *bytes; size_t size; void *response; void *error; unsigned id; long began, at; int flags; };
/* A frame for JavaScript. */
struct frame { struct frame *next; size_t size; char bytes[1]; };

enum { TEMPLATES = 4096, MOST_IDLE = 4096, HEAD = 9, RESPONSE_HEAD = 17, INFER = 2, RESPONSE = 3, FINAL = 1, EMPTY = 2, FAILED = 4 };
enum { UNUSED = 254, ENDED = 255, CHUNK = 262144 };

static long mutex[16], write_mutex[16], filled[16];
static struct template *templates[TEMPLATES];
static long idle_count;
static struct entry *first, *last;
static struct frame *first_frame, *last_frame;
static void (*wake)(void);
static int wake_file, input, output;
static void *server, *allocator;

/* Gives JavaScript a frame. */
static void pass(int type, unsigned id, const char *body, size_t size) {
  struct frame *frame = malloc(sizeof *frame + HEAD + size);
  unsigned length = size + HEAD - 4;
  int was_empty;
  memcpy(frame->bytes, &length, 4);
  frame->bytes[4] = type;
  memcpy(frame->bytes + 5, &id, 4);
  if (size) memcpy(frame->bytes + HEAD, body, size);
  frame->size = HEAD + size;
  frame->next = 0;
  pthread_mutex_lock(mutex);
  was_empty = first_frame == 0;
  if (was_empty) first_frame = frame; else last_frame->next = frame;
  last_frame = frame;
  pthread_mutex_unlock(mutex);
  if (!was_empty) return;
  if (wake) wake(); else write(wake_file, "", 1);
}

/* Returns the next frame for JavaScript, and its size; JavaScript frees it. */
static void *take(long *size) {
  struct frame *frame;
  pthread_mutex_lock(mutex);
  frame = first_frame;
  if (frame) first_frame = frame->next;
  pthread_mutex_unlock(mutex);
  if (!frame) return 0;
  *size = frame->size;
  memmove(frame, frame->bytes, frame->size);
  return frame;
}

/* Puts into the list what the writer is to write. */
static void put(struct entry *entry) {
  entry->next = 0;
  pthread_mutex_lock(write_mutex);
  if (first) last->next = entry; else first = entry;
  last = entry;
  pthread_cond_signal(filled);
  pthread_mutex_unlock(write_mutex);
}

static void post(const char *bytes, size_t size) {
  struct entry *entry = malloc(sizeof *entry);
  entry->bytes = malloc(size);
  memcpy(entry->bytes, bytes, size);
  entry->size = size;
  put(entry);
}

static struct template *find(unsigned id) {
  struct template *template = templates[id % TEMPLATES];
  while (template && template->id != id) template = template->next;
  return template;
}

/* Removes a template that is forgotten and has no use. The mutex is locked; returns whether it was removed. */
static int drop(struct template *template) {
  struct template **at = &templates[template->id % TEMPLATES];
  if (!template->is_forgotten || template->uses) return 0;
  while (*at != template) at = &(*at)->next;
  *at = template->next;
  free(template);
  return 1;
}

/* Ends a use of a request: it becomes idle, or is deleted. */
static void end_use(struct call *call) {
  struct template *template = call->template;
  unsigned id = template->id;
  int is_kept, is_dropped;
  pthread_mutex_lock(mutex);
  is_kept = call->is_reused && !template->is_forgotten && idle_count < MOST_IDLE;
  if (is_kept) {
    call->next = template->idle;
    template->idle = call;
    idle_count++;
  }
  template->uses--;
  is_dropped = drop(template);
  pthread_mutex_unlock(mutex);
  if (!is_kept) {
    triton.delete_request(call->request);
    free(call);
  }
  if (is_dropped) pass(UNUSED, id, 0, 0);
}

/* A request is free after its last response and its release, in any order. */
static void settle(struct call *call) {
  int pending;
  pthread_mutex_lock(mutex);
  pending = --call->pending;
  pthread_mutex_unlock(mutex);
  if (!pending) end_use(call);
}

static void released(void *request, unsigned flags, void *call) { settle(call); }

static void complete(void *response, unsigned flags, void *user) {
  struct call *call = user;
  struct entry *entry = malloc(sizeof *entry);
  entry->at = now();
  entry->bytes = 0;
  entry->error = 0;
  entry->response = response;
  entry->id = call->id;
  entry->began = call->began;
  entry->flags = flags & FINAL;
  put(entry);
  if (flags & FINAL) settle(call);
}

/* Calls TRITONSERVER_ServerInferAsync right after it has taken the time. */
static void *start(struct call *call) {
  void *error = triton.on_release(call->request, released, call);
  if (!error) error = triton.on_response(call->request, allocator, call->places, complete, call);
  if (error) return error;
  call->pending = 2;
  call->began = now();
  return triton.infer_async(server, call->request, 0);
}

/* Starts a new request. Deletes it when there is an error. */
static void *infer(void *request, unsigned id, unsigned template_id, int is_reused, void *places) {
  struct call *call = malloc(sizeof *call);
  struct template *template;
  void *error;
  pthread_mutex_lock(mutex);
  template = find(template_id);
  if (!template) {
    template = malloc(sizeof *template);
    template->id = template_id;
    template->uses = template->is_forgotten = 0;
    template->idle = 0;
    template->next = templates[template_id % TEMPLATES];
    templates[template_id % TEMPLATES] = template;
  }
  template->uses++;
  pthread_mutex_unlock(mutex);
  call->template = template;
  call->request = request;
  call->places = places;
  call->id = id;
  call->is_reused = is_reused;
  error = start(call);
  if (!error) return 0;
  call->is_reused = 0;
  end_use(call);
  return error;
}

/* Starts an idle request of a template. Returns 0 when there is none. */
static int infer_again(unsigned id, unsigned template_id) {
  struct template *template;
  struct call *call = 0;
  struct entry *entry;
  void *error;
  pthread_mutex_lock(mutex);
  template = find(template_id);
  if (template) call = template->idle;
  if (call) {
    template->idle = call->next;
    template->uses++;
    idle_count--;
  }
  pthread_mutex_unlock(mutex);
  if (!call) return 0;
  call->id = id;
  error = start(call);
  if (!error) return 1;
  entry = malloc(sizeof *entry);
  entry->bytes = 0;
  entry->error = error;
  entry->response = 0;
  entry->id = id;
  entry->began = entry->at = 0;
  entry->flags = FINAL;
  put(entry);
  end_use(call);
  return 1;
}

/* JavaScript hears of the last use's end. */
static void forget(unsigned id) {
  struct template *template;
  struct call *idle = 0, *next;
  int is_dropped = 1;
  pthread_mutex_lock(mutex);
  template = find(id);
  if (template) {
    template->is_forgotten = 1;
    idle = template->idle;
    template->idle = 0;
    for (next = idle; next; next = next->next) idle_count--;
    is_dropped = drop(template);
  }
  pthread_mutex_unlock(mutex);
  for (; idle; idle = next) {
    next = idle->next;
    triton.delete_request(idle->request);
    free(idle);
  }
  if (is_dropped) pass(UNUSED, id, 0, 0);
}

/* Reads the run's frames until it ends. */
static void *read_frames(void *unused) {
  size_t capacity = CHUNK, size = 0, at;
  char *bytes = malloc(capacity);
  unsigned length, id, template_id;
  long count;
  for (;;) {
    count = read(input, bytes + size, capacity - size);
    if (count < 0 && *__errno_location() == 4) continue; /* EINTR */
    if (count <= 0) break;
    size += count;
    for (at = 0; size - at >= 4; at += 4 + (size_t)length) {
      memcpy(&length, bytes + at, 4);
      if (size - at < 4 + (size_t)length) break;
      memcpy(&id, bytes + at + 5, 4);
      if (bytes[at + 4] == INFER && length == HEAD) {
        memcpy(&template_id, bytes + at + HEAD, 4);
        if (infer_again(id, template_id)) continue;
      }
      pass(bytes[at + 4], id, bytes + at + HEAD, length + 4 - HEAD);
    }
    size -= at;
    memmove(bytes, bytes + at, size);
    at = CHUNK;
    if (size >= 4) {
      memcpy(&length, bytes, 4);
      if (4 + (size_t)length > at) at = 4 + (size_t)length;
    }
    if (at != capacity) bytes = realloc(bytes, capacity = at);
  }
  pass(ENDED, 0, 0, 0);
  return 0;
}

struct bytes { char *at; size_t size, capacity; };

static void add(struct bytes *to, const void *from, size_t size) {
  if (to->size + size > to->capacity) {
    to->capacity = (to->size + size) * 2;
    to->at = realloc(to->at, to->capacity);
  }
  if (size) memcpy(to->at + to->size, from, size);
  to->size += size;
}

static void add_varint(struct bytes *to, unsigned long value) {
  char bytes[10];
  int size = 0;
  for (; value > 127; value >>= 7) bytes[size++] = value | 128;
  bytes[size++] = value;
  add(to, bytes, size);
}

/* Adds a field of text, bytes or a message. */
static void add_field(struct bytes *to, int field, const void *content, size_t size) {
  add_varint(to, field << 3 | 2);
  add_varint(to, size);
  add(to, content, size);
}

static void *add_output(struct bytes *to, struct bytes *contents, void *response, unsigned index) {
  static const char *const names[] = {"INVALID", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
                                      "FP16", "FP32", "FP64", "BYTES", "BF16"};
  struct bytes message = {0}, sizes = {0};
  const char *name, *datatype;
  const long *shape;
  const void *base;
  size_t dimensions, size, dimension;
  int type, memory_type;
  long memory_id;
  void *owned, *error;
  error = triton.output(response, index, &name, &type, &shape, &dimensions, &base, &size, &memory_type, &memory_id, &owned);
  if (error) return error;
  datatype = names[type >= 0 && type < 15 ? type : 0];
  add_field(&message, 1, name, strlen(name));
  add_field(&message, 2, datatype, strlen(datatype));
  for (dimension = 0; dimension < dimensions; dimension++) add_varint(&sizes, shape[dimension]);
  add_field(&message, 3, sizes.at, sizes.size);
  add_field(to, 5, message.at, message.size);
  /* An output in shared memory is not part of the message: nothing owns its memory. */
  add_field(contents, 6, base, owned ? size : 0);
  free(message.at);
  free(sizes.at);
  return 0;
}

/* Adds a response as a ModelInferResponse. Returns an error that is to be deleted. */
static void *add_response(struct bytes *to, void *response) {
  struct bytes contents = {0};
  const char *text, *digits;
  char version[24];
  unsigned count = 0, index;
  long number;
  unsigned long rest;
  void *error = triton.response_model(response, &text, &number);
  if (error) return error;
  add_field(to, 1, text, strlen(text));
  digits = version + 24;
  rest = number < 0 ? -(unsigned long)number : number;
  do *(char *)--digits = '0' + rest % 10; while (rest /= 10);
  if (number < 0) *(char *)--digits = '-';
  add_field(to, 2, digits, version + 24 - digits);
  error = triton.response_id(response, &text);
  if (!error && text && *text) add_field(to, 3, text, strlen(text));
  if (!error) error = triton.output_count(response, &count);
  for (index = 0; !error && index < count; index++) error = add_output(to, &contents, response, index);
  if (!error) add(to, contents.at, contents.size);
  free(contents.at);
  return error;
}

/* Adds an entry's frame, and frees what it holds. */
static void add_entry(struct bytes *to, struct entry *entry) {
  char head[HEAD + RESPONSE_HEAD] = {0};
  size_t from = to->size, length;
  double began = entry->began, at = entry->at;
  void *error, *own = 0;
  const char *message;
  if (entry->bytes) {
    add(to, entry->bytes, entry->size);
    free(entry->bytes);
    return;
  }
  add(to, head, sizeof head);
  error = own = entry->error;
  if (entry->response) {
    error = triton.response_error(entry->response);
    if (!error) error = own = add_response(to, entry->response);
  } else if (!error) entry->flags |= EMPTY;
  if (error) {
    entry->flags |= FAILED;
    message = triton.error_message(error);
    to->size = from + sizeof head;
    add(to, message, strlen(message));
    if (own) triton.delete_error(own);
  }
  if (entry->response) triton.delete_response(entry->response);
  length = to->size - from - 4;
  memcpy(head, &length, 4);
  head[4] = RESPONSE;
  memcpy(head + 5, &entry->id, 4);
  head[HEAD] = entry->flags;
  memcpy(head + HEAD + 1, &began, 8);
  memcpy(head + HEAD + 9, &at, 8);
  memcpy(to->at + from, head, sizeof head);
}

/* Writes everything; waits while the run does not read. */
static void flush(struct bytes *bytes) {
  size_t at = 0;
  long count;
  while (at < bytes->size) {
    count = write(output, bytes->at + at, bytes->size - at);
    if (count < 0 && *__errno_location() == 4) continue; /* EINTR */
    if (count <= 0) break; /* The run has ended. */
    at += count;
  }
  bytes->size = 0;
  if (bytes->capacity <= 2 * CHUNK) return;
  free(bytes->at);
  bytes->at = 0;
  bytes->capacity = 0;
}

static void *write_frames(void *unused) {
  struct bytes bytes = {0};
  struct entry *entry, *next;
  for (;;) {
    pthread_mutex_lock(write_mutex);
    while (!first) pthread_cond_wait(filled, write_mutex);
    entry = first;
    first = 0;
    pthread_mutex_unlock(write_mutex);
    for (; entry; entry = next) {
      next = entry->next;
      add_entry(&bytes, entry);
      free(entry);
      if (bytes.size >= CHUNK) flush(&bytes);
    }
    flush(&bytes);
  }
}

/* Starts to read and to write. Returns whether there are threads for it. */
static int run(void *triton_server, void *response_allocator, int from, int to) {
  size_t thread;
  server = triton_server;
  allocator = response_allocator;
  input = from;
  output = to;
  return !pthread_create(&thread, 0, write_frames, 0) && !pthread_create(&thread, 0, read_frames, 0);
}

/* Where outputs go that have a place in shared memory: names, addresses and sizes, ended by a NULL name. */
struct place { const char *name; void *address; size_t size; };

static void *allocate(void *by, const char *name, size_t size, int type, long type_id, void *places,
                      void **buffer, void **owned, int *actual_type, long *actual_id) {
  struct place *place;
  *actual_type = 0;
  *actual_id = 0;
  *owned = 0;
  for (place = places; place && place->name; place++)
    if (strcmp(place->name, name) == 0) {
      if (size > place->size) return triton.new_error(1, "the output is larger than its place in shared memory");
      *buffer = place->address;
      return 0;
    }
  *buffer = *owned = size ? malloc(size) : 0;
  return size && !*owned ? triton.new_error(1, "no memory for the output") : 0;
}

static void *release(void *by, void *buffer, void *owned, size_t size, int type, long type_id) {
  free(owned);
  return 0;
}

static void end_group(int number) { kill(0, 9); }

/* Makes this process lead a group, with the models' processes, that ends with the process that started it. */
static void begin(int parent) {
  static const int crashes[] = {4, 6, 7, 8, 11}; /* SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV */
  int number;
  /* A crash of the library ends the process with what the library writes, without a report of the runtime about itself. */
  for (number = 0; number < 5; number++) signal(crashes[number], 0);
  signal(15, end_group);
  setpgid(0, 0);
  fcntl(3, 2, 1); /* The models' processes do not inherit the pipe. */
  fcntl(3, 4, 0); /* Writing to it waits. */
  fcntl(0, 4, 0); /* Reading from it waits. */
  prctl(1, 15, 0, 0, 0);
  if (getppid() != parent) end_group(0); /* It has ended already. */
}

static void use(void (*wake_function)(void), int wake_by, const void *functions) {
  wake = wake_function;
  wake_file = wake_by;
  memcpy(&triton, functions, sizeof triton);
}

void *address_of_allocate(void) { return (void *)allocate; }
void *address_of_release(void) { return (void *)release; }
void *address_of_take(void) { return (void *)take; }
void *address_of_free(void) { return (void *)free; }
void *address_of_post(void) { return (void *)post; }
void *address_of_infer(void) { return (void *)infer; }
void *address_of_forget(void) { return (void *)forget; }
void *address_of_begin(void) { return (void *)begin; }
void *address_of_use(void) { return (void *)use; }
void *address_of_run(void) { return (void *)run; }
void *address_of_end(void) { return (void *)end_group; }
`;
