import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { compileC } from "../../../src/runtime/ffi/compile-c.ts";
import { openLibrary } from "../../../src/runtime/ffi/ffi.ts";
import { decodeMessage } from "../../../src/service/protobuf/message.ts";
import { INFER_RESPONSE } from "../../../src/service/triton/messages.ts";
import { compileCallbacks, TRITON_FUNCTIONS } from "../../../src/service/triton-c-api/server/compiled-callbacks.ts";
import type { TritonLibrary } from "../../../src/service/triton-c-api/server/library.ts";
import {
  encodeFrame,
  type Frame,
  FrameReader,
  RESPONSE_FLAGS,
  RESPONSE_HEAD_BYTES,
  TO_SERVER,
} from "../../../src/transport/in-process/frames.ts";

/** The C between the pipe and Triton, with a Triton that answers at once, refuses requests, or holds them. */

const FAKE = `
typedef unsigned long size_t;
void *calloc(size_t count, size_t size);
void free(void *memory);
struct request { void (*release)(void *, unsigned, void *); void *release_user; void (*complete)(void *, unsigned, void *); void *user; };
static int created, deleted, started, mode;
static struct request *held;
static const int content[] = {1, 2};
static const long shape[] = {1, 2};
static void *create(void) { created++; return calloc(1, sizeof(struct request)); }
static void *ErrorNew(int code, const char *message) { return (void *)message; }
static const char *ErrorMessage(void *error) { return error; }
static void ErrorDelete(void *error) {}
static void response(struct request *request) {
  request->release(request, 1, request->release_user);
  request->complete((void *)1, 1, request->user);
}
static void *ServerInferAsync(void *server, struct request *request, void *trace) {
  started++;
  if (mode == 1) return (void *)"too busy";
  if (mode == 2) {
    held = request;
    request->complete((void *)0, 0, request->user);
  } else response(request);
  return 0;
}
static void finish(void) { response(held); }
static void *InferenceRequestDelete(void *request) { deleted++; free(request); return 0; }
static void *InferenceRequestSetReleaseCallback(struct request *request, void (*release)(void *, unsigned, void *), void *user) {
  request->release = release;
  request->release_user = user;
  return 0;
}
static void *InferenceRequestSetResponseCallback(struct request *request, void *allocator, void *places, void (*complete)(void *, unsigned, void *), void *user) {
  request->complete = complete;
  request->user = user;
  return 0;
}
static void *InferenceResponseError(void *response) { return 0; }
static void *InferenceResponseModel(void *response, const char **name, long *version) { *name = "fake"; *version = 12; return 0; }
static void *InferenceResponseId(void *response, const char **id) { *id = ""; return 0; }
static void *InferenceResponseOutputCount(void *response, unsigned *count) { *count = 1; return 0; }
static void *InferenceResponseOutput(void *response, unsigned index, const char **name, int *type, const long **sizes, size_t *dimensions,
                                     const void **base, size_t *size, int *memory, long *memory_id, void **owned) {
  *name = "OUT";
  *type = 8;
  *sizes = shape;
  *dimensions = 2;
  *base = content;
  *size = sizeof content;
  *owned = (void *)1;
  return 0;
}
static void *InferenceResponseDelete(void *response) { return 0; }
static void set_mode(int value) { mode = value; }
static int count(int which) { return which == 0 ? created : which == 1 ? deleted : started; }
`;

const OWN = ["create", "finish", "set_mode", "count"] as const;
const MODES = { responses: 0, refuses: 1, holds: 2 } as const;
const TEMPLATE = 7;
const CALLBACK_LIMIT_MS = 60_000;
const READABLE = 1;

const P = "pointer";
const SYSTEM = {
  pipe: { args: ["buffer"], result: "i32" },
  close: { args: ["i32"], result: "i32" },
  read: { args: ["i32", "buffer", "usize"], result: "i64" },
  write: { args: ["i32", "buffer", "usize"], result: "i64" },
  poll: { args: ["buffer", "usize", "i32"], result: "i32" },
} as const;

/** A run's side of the pipe. None of its functions lets JavaScript do anything else. */
async function openHost() {
  const names = [...OWN, ...TRITON_FUNCTIONS];
  const exported = names.map((name) => `void *address_of_${name}(void) { return (void *)${name}; }`).join("\n");
  const at = await compileC(
    `${FAKE}\n${exported}`,
    names.map((name) => `address_of_${name}`),
  );
  const addressOf = (name: string): bigint => at[`address_of_${name}`] as bigint;
  const { functions: c, functionAt } = await openLibrary(["libc.so.6", "libc.so"], SYSTEM);
  const openPipe = (): readonly [from: number, to: number] => {
    const files = new Int32Array(2);
    assert.equal(c.pipe(new Uint8Array(files.buffer)), 0);
    return [files[0] as number, files[1] as number];
  };
  const [input, toInput] = openPipe();
  const [fromOutput, output] = openPipe();
  const { callbacks, close } = await compileCallbacks({ input, output });
  callbacks.use({ addressOf } as unknown as TritonLibrary);
  const create = functionAt(addressOf("create"), { args: [], result: P });
  const count = functionAt(addressOf("count"), { args: ["i32"], result: "i32" });
  const passed: number[] = [];
  const refused: bigint[] = [];
  let note = (): void => {};
  const noted = (): Promise<void> => new Promise((resolve) => (note = resolve));
  const ended: number[] = [];
  callbacks.run({
    server: 0n,
    allocator: 0n,
    receive: ({ id, body }) => {
      passed.push(id);
      const isSame = body.length === 4;
      const error = callbacks.infer(create(), { call: id, template: TEMPLATE, places: 0n, isSame });
      if (error !== 0n) refused.push(error);
      note();
    },
    endTemplate: (template) => {
      ended.push(template);
      note();
    },
    end: () => note(),
  });
  const send = (call: number, stamp: Uint8Array = new Uint8Array(0)): void => {
    const template = new Uint8Array(Uint32Array.of(TEMPLATE).buffer);
    const frame = encodeFrame(TO_SERVER.infer, call, template, stamp);
    assert.equal(c.write(toInput, frame, BigInt(frame.length)), BigInt(frame.length));
  };
  /** Reads one response, without a turn of JavaScript. */
  const receive = (): Frame => {
    const frames: Frame[] = [];
    const reader = new FrameReader(({ type, id, body }) => frames.push({ type, id, body: body.slice() }));
    while (frames.length === 0) {
      const poll = new Int32Array([fromOutput, READABLE]);
      assert.equal(c.poll(new Uint8Array(poll.buffer), 1n, CALLBACK_LIMIT_MS), 1, "no response");
      const chunk = new Uint8Array(4096);
      reader.feed(chunk.subarray(0, Number(c.read(fromOutput, chunk, BigInt(chunk.length)))));
    }
    assert.equal(frames.length, 1);
    return frames[0] as Frame;
  };
  return {
    callbacks,
    send,
    receive,
    noted,
    passed,
    refused,
    ended,
    setMode: functionAt(addressOf("set_mode"), { args: ["i32"], result: "void" }),
    finish: functionAt(addressOf("finish"), { args: [], result: "void" }),
    counts: () => ({ created: count(0), deleted: count(1), started: count(2) }),
    close: async () => {
      const end = noted();
      c.close(toInput);
      await end;
      close();
    },
  };
}

const canCompile = await compileC("void *address_of_it(void) { return 0; }", ["address_of_it"]).then(
  () => true,
  () => false,
);

describe("requests in C", { skip: !canCompile || process.platform !== "linux" }, async () => {
  const hosts: Awaited<ReturnType<typeof openHost>>[] = [];
  after(async () => {
    for (const host of hosts) await host.close();
  });
  /** Opens a host whose template has one idle request. */
  const openWithRequest = async () => {
    const host = await openHost();
    hosts.push(host);
    const first = host.noted();
    host.send(1);
    await first;
    host.receive();
    return host;
  };

  test("from the second one on start and are answered while JavaScript waits", async () => {
    const { send, receive, passed, counts } = await openWithRequest();
    for (let call = 2; call <= 20; call++) {
      send(call);
      const { id, body } = receive();
      assert.equal(id, call);
      const head = new DataView(body.buffer, body.byteOffset);
      assert.equal(head.getUint8(0), RESPONSE_FLAGS.final);
      assert.ok(head.getFloat64(1, true) > 0);
      assert.ok(head.getFloat64(9, true) >= head.getFloat64(1, true));
      const { model_name, model_version, outputs, raw_output_contents } = decodeMessage(
        INFER_RESPONSE,
        body.subarray(RESPONSE_HEAD_BYTES),
      ) as unknown as {
        model_name: string;
        model_version: string;
        outputs: { name: string; datatype: string; shape: unknown[] }[];
        raw_output_contents: Uint8Array[];
      };
      assert.deepEqual([model_name, model_version], ["fake", "12"]);
      assert.deepEqual(
        outputs.map(({ name, datatype, shape }) => [name, datatype, shape.map(Number)]),
        [["OUT", "INT32", [1, 2]]],
      );
      assert.deepEqual(
        raw_output_contents.map((bytes) => [...bytes]),
        [[1, 0, 0, 0, 2, 0, 0, 0]],
      );
    }
    assert.deepEqual(passed, [1]);
    assert.deepEqual(counts(), { created: 1, deleted: 0, started: 20 });
  });

  test("with a stamp are made by JavaScript, and are not used again", async () => {
    const { send, receive, passed, counts, noted } = await openWithRequest();
    const made = noted();
    send(2, Uint8Array.of(48));
    await made;
    assert.equal(receive().id, 2);
    assert.deepEqual(passed, [1, 2]);
    assert.deepEqual(counts(), { created: 2, deleted: 1, started: 2 });
  });

  test("that Triton does not take fail with its reason, and count once", async () => {
    const { send, receive, setMode, counts } = await openWithRequest();
    setMode(MODES.refuses);
    send(2);
    const { id, body } = receive();
    assert.equal(id, 2);
    assert.equal(body[0], RESPONSE_FLAGS.final | RESPONSE_FLAGS.failed);
    assert.equal(new TextDecoder().decode(body.subarray(RESPONSE_HEAD_BYTES)), "too busy");
    setMode(MODES.responses);
    send(3);
    assert.equal(receive().id, 3);
    assert.deepEqual(counts(), { created: 1, deleted: 0, started: 3 });
  });

  test("keep their template's memory until they end", async () => {
    const { callbacks, send, receive, setMode, finish, noted, passed, refused, ended, counts } =
      await openWithRequest();
    setMode(MODES.holds);
    send(2);
    // The held request is in use, so the next one is made by JavaScript.
    assert.equal(receive().body[0], RESPONSE_FLAGS.empty);
    const made = noted();
    setMode(MODES.refuses);
    send(3);
    await made;
    assert.deepEqual([passed, refused.length], [[1, 3], 1]);
    callbacks.forget(TEMPLATE);
    assert.deepEqual(ended, []);
    const dropped = noted();
    finish();
    await dropped;
    assert.equal(receive().id, 2);
    assert.deepEqual(ended, [TEMPLATE]);
    assert.deepEqual(counts(), { created: 2, deleted: 2, started: 3 });
  });
});
