/**
 * The second part, after `REQUESTS_SOURCE`: conversion of responses to frames, the thread that writes them, and the memory
 * of outputs.
 */
export const RESPONSES_SOURCE = `
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
  const char *text;
  char version[24], *digits;
  unsigned count = 0, index;
  long number;
  unsigned long rest;
  void *error = triton.response_model(response, &text, &number);
  if (error) return error;
  add_field(to, 1, text, strlen(text));
  digits = version + 24;
  rest = number < 0 ? -(unsigned long)number : number;
  do {
    digits -= 1;
    *digits = '0' + rest % 10;
  } while (rest /= 10);
  if (number < 0) {
    digits -= 1;
    *digits = '-';
  }
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
