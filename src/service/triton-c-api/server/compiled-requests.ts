/**
 * The layer between the pipe to the run and Triton, in C. This is its first part, up to the thread that reads. Triton calls back on its own
 * threads: a response's time is taken there, and no thread of Triton waits for JavaScript or for the pipe. One thread reads the run's
 * frames. It also starts requests without a stamp if their template has an idle Triton request. Another thread writes the responses.
 * JavaScript handles all other frames, and creates requests: Triton's requests are reused once they are released and have had their last
 * response.
 */
export const REQUESTS_SOURCE = `
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
  call->pending -= 1;
  pending = call->pending;
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

/* Starts an idle request of a template. Returns 0 when no request is idle. */
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
`;
