import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { QUICK_WINDOWS, readProfile, runCommand } from "../../cli/perf-analyzer/run-command.ts";
import { rampartCommand, startProcess } from "../../cli/rampart-process.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { demoProto, startGoDynamic, startPythonDynamic } from "../../servers/dynamic.ts";
import { startStub } from "../../servers/stub.ts";
import { untilEnded } from "../../servers/until-ended.ts";
import { LIMIT } from "../../time-limit.ts";

/** `--service-kind dynamic_grpc`: calls of any method, to servers that others' libraries make from a description. */

const [go, python, stub] = await Promise.all([startGoDynamic(), startPythonDynamic(), startStub()]);
after(() => Promise.all([go.stop(), python.stop(), stub.stop()]));

const SERVERS = { "grpc-go with reflection v1": go, "Python's grpcio with reflection v1alpha": python };
const SERVICE = "demo.v1.Text";

async function withInputs(entries: readonly object[], use: (file: string, folder: string) => Promise<void>) {
  const folder = makeFolder();
  const file = writeIn(folder, "inputs.json", JSON.stringify({ data: entries }));
  await use(file, folder);
}

const to = (port: number, method: string, file: string, ...more: readonly string[]): string[] => [
  ...["--service-kind", "dynamic_grpc", "-u", `127.0.0.1:${port}`],
  ...["--grpc-method", method, "--input-data", file, ...more],
];

const ECHO = { message: { text: "a", numbers: [1, 2] } };
const TALK = { messages: [{ text: "a", count: 2 }, { text: "b" }] };

/** A call of each type: what 6 calls with concurrency 2 send and get. */
const CALLS: readonly (readonly [method: string, entry: object, received: number, sent: number])[] = [
  ["Echo", ECHO, 6, 6],
  ["Collect", TALK, 12, 6],
  ["Repeat", { message: { text: "a", count: 3 } }, 6, 18],
  ["Talk", TALK, 12, 18],
];

for (const [name, server] of Object.entries(SERVERS))
  for (const [method, entry, received, sent] of CALLS)
    test(`${method} of ${name}: the counts are those of the server`, async () => {
      await withInputs([entry], async (file, folder) => {
        await server.reset();
        const profile = join(folder, "profile.json");
        const args = to(server.port, `${SERVICE}/${method}`, file, "--request-count", "6", "--concurrency-range", "2");
        const { code, out, err } = await runCommand([...args, "--profile-export-file", profile]);
        assert.equal(code, 0, err);
        assert.match(out, / {2}Service Kind: DYNAMIC_GRPC\n {2}Sending 6 benchmark requests\n/);
        assert.match(out, /Request count: 6\n/);
        assert.deepEqual(await server.counter(), { calls: 6, received, sent, cancelled: 0 });
        const { service_kind: kind, experiments } = readProfile(profile);
        const requests = experiments[0]?.requests ?? [];
        assert.deepEqual([kind, requests.length], ["dynamic_grpc", 6]);
        const times = requests.flatMap(({ response_timestamps }) => response_timestamps);
        assert.equal(times.length, sent);
        if (sent > 6)
          assert.match(
            err,
            new RegExp(`rampart: ${sent} responses, .*usec between those of a request; .*of the first: avg`),
          );
        const outputs = requests[0]?.response_outputs ?? [];
        const numbers = outputs.map(({ response }) => (JSON.parse(String(response)) as { number: number }).number);
        assert.deepEqual(numbers, { Echo: [3], Collect: [0], Repeat: [1, 2, 3], Talk: [1, 2, 1] }[method]);
        assert.deepEqual(Object.keys(requests[0]?.request_inputs ?? {}), ["messages"]);
      });
    });

test("--grpc-method names what is called, -H its metadata; without a description all messages go in one call", async () => {
  await withInputs([{ message_bytes: ["AAEC", "", "AwQ="] }], async (file) => {
    await stub.reset();
    const args = [
      ...[
        "--service-kind",
        "dynamic_grpc",
        "-u",
        `127.0.0.1:${stub.grpcPort}`,
        "--grpc-method",
        "stub.Calls/BidiStream",
      ],
      ...["--input-data", file, "-H", "Stub-Responses: 2", "--request-count", "4"],
    ];
    const { code, err } = await runCommand(args);
    assert.equal(code, 0, err);
    const { calls, received, receivedBytes, sent, halfCloses } = await stub.calls();
    assert.deepEqual(
      { calls, received, receivedBytes, sent, halfCloses },
      { calls: 4, received: 12, receivedBytes: 20, sent: 24, halfCloses: 4 },
    );
  });
});

test("--proto and --proto-path describe the method instead of reflection", async () => {
  await withInputs([{ messages: [{ text: "x", count: 2 }] }], async (file) => {
    await go.reset();
    const folder = join(demoProto, "..");
    for (const flags of [
      ["--proto", demoProto],
      ["--proto", "demo.proto", "--proto-path", folder],
    ]) {
      const { code, err } = await runCommand([
        ...to(go.port, `${SERVICE}/Talk`, file, "--request-count", "2"),
        ...flags,
      ]);
      assert.equal(code, 0, err);
    }
    assert.deepEqual(await go.counter(), { calls: 4, received: 4, sent: 8, cancelled: 0 });
  });
});

describe("a message generator", () => {
  const script = `for n in 1 2 3; do printf '${"\\003\\000\\000\\000\\n\\001"}%s' $n; done`;

  test("makes one call of all its messages, or one of each where a call has one", async () => {
    await withInputs([{ message_generator: script }], async (file) => {
      await go.reset();
      const talk = await runCommand(to(go.port, `${SERVICE}/Talk`, file, "--request-count", "2"));
      assert.equal(talk.code, 0, talk.err);
      assert.deepEqual(await go.counter(), { calls: 2, received: 6, sent: 6, cancelled: 0 });
      const echo = await runCommand([
        ...to(go.port, `${SERVICE}/Echo`, file, "--request-count", "3"),
        "--profile-export-file",
        `${file}.out`,
      ]);
      assert.equal(echo.code, 0, echo.err);
      const texts = readProfile(`${file}.out`).experiments[0]?.requests.map(
        ({ response_outputs: [output] }) => JSON.parse(String(output?.["response"])) as { text: string },
      );
      assert.deepEqual(
        texts?.map(({ text }) => text),
        ["1", "2", "3"],
      );
    });
  });

  test("that fails ends the run before the first request, with its stderr", async () => {
    await withInputs([ECHO, { message_generator: "echo 'no data today' >&2; exit 7" }], async (file) => {
      await go.reset();
      const { code, err } = await runCommand(to(go.port, `${SERVICE}/Echo`, file));
      assert.equal(code, 99);
      assert.match(err, /data\[1\]: the message generator `.*` ended with exit code 7/);
      assert.match(err, /It wrote to stderr: no data today/);
      assert.equal((await go.counter()).calls, 0);
    });
  });

  test("is ended by Ctrl-C, and so is what it started", LIMIT, async () => {
    const folder = makeFolder();
    const file = join(folder, "inputs.json");
    const pids = join(folder, "pids");
    await writeFile(
      file,
      JSON.stringify({
        data: [{ message_generator: `sleep 600 & echo $$ $! > ${pids}.part; mv ${pids}.part ${pids}; wait` }],
      }),
    );
    const args = to(go.port, `${SERVICE}/Echo`, file);
    const running = startProcess([...rampartCommand(), "perf_analyzer", ...args]);
    const started = await untilWritten(pids);
    running.interrupt();
    const { code, err } = await running.result;
    assert.equal(code, 99);
    assert.match(err, /^error: interrupted before /m);
    for (const pid of started.trim().split(" ")) await untilEnded(Number(pid));
  });
});

/** Resolves with the text of a file as soon as it is there. */
async function untilWritten(path: string): Promise<string> {
  for (;;) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describe("wrong use is refused before the first request", () => {
  const kind = ["--service-kind", "dynamic_grpc"];
  const cases: readonly (readonly [
    name: string,
    args: (file: string) => readonly string[],
    expected: readonly RegExp[],
  ])[] = [
    ["no method and no data", () => kind, [/Must supply --grpc-method/, /Must supply --input-data/]],
    [
      "a method without a service",
      (file) => to(go.port, "Echo", file),
      [/--grpc-method.*package\.Service\/Method.*\(got 'Echo'\)/],
    ],
    [
      "a method that the service lacks",
      (file) => to(go.port, `${SERVICE}/Ecko`, file),
      [
        /no such method: the service has demo\.v1\.Text\/Collect, .*got demo\.v1\.Text\/Ecko/,
        /Did you mean demo\.v1\.Text\/Echo\?/,
      ],
    ],
    [
      "a service that the server lacks",
      (file) => to(go.port, "demo.v2.Text/Echo", file),
      [/the server has demo\.v1\.Text\/Collect/],
    ],
    [
      "a service that the file lacks",
      (file) => to(go.port, "x.Y/Z", file, "--proto", demoProto),
      [/the \.proto files have demo\.v1\.Text\/Collect/],
    ],
    [
      "a file that is missing",
      (file) => to(go.port, `${SERVICE}/Echo`, file, "--proto", "none.proto"),
      [/--proto: there is no such file \(got none\.proto\)/],
    ],
    [
      "JSON without a description",
      (file) => to(stub.grpcPort, "stub.Calls/Unary", file),
      [/the message type of stub\.Calls\/Unary is not known/, /Name the \.proto file in --proto/],
    ],
    [
      "--streaming",
      (file) => to(go.port, `${SERVICE}/Echo`, file, "--streaming"),
      [/Streaming is only allowed with gRPC protocol and Triton C API/],
    ],
    ["a batch size", (file) => to(go.port, `${SERVICE}/Echo`, file, "-b", "2"), [/Batching is not supported/]],
    [
      "shared memory",
      (file) => to(go.port, `${SERVICE}/Echo`, file, "--shared-memory", "system"),
      [/client backend of kind DYNAMIC_GRPC does not support CreateSharedMemoryRegion\(\)/],
    ],
    [
      "metrics of a server that need not have any",
      (file) => to(go.port, `${SERVICE}/Echo`, file, "--collect-metrics"),
      [/Server-side metric collection is only supported with Triton client backend/],
    ],
    [
      "--proto with another kind",
      () => ["-m", "m", "--proto", "x"],
      [/--proto cannot be used with --service-kind triton/],
    ],
  ];
  for (const [name, args, expected] of cases)
    test(name, async () => {
      await withInputs([ECHO], async (file) => {
        await Promise.all([go.reset(), stub.reset()]);
        const { code, err } = await runCommand(args(file));
        assert.equal(code, 99);
        for (const one of expected) assert.match(err, one);
        assert.deepEqual([(await go.counter()).calls, (await stub.calls()).calls], [0, 0]);
      });
    });

  test("messages that do not fit, all at once", async () => {
    const entries = [
      { message: { txt: 1 } },
      { mesage: {} },
      { messages: [{}, {}] },
      3,
      { message: { numbers: ["x"] } },
      {},
    ];
    await withInputs(entries as object[], async (file) => {
      const { code, err } = await runCommand(to(go.port, `${SERVICE}/Echo`, file));
      assert.equal(code, 99);
      for (const expected of [
        /data\[0\]\.message\.txt: is not a field of demo\.v1\.Request: did you mean text\?/,
        /data\[1\]: has the unknown field 'mesage'\n {2}Did you mean message\?/,
        /data\[2\]\.messages: has 2 messages, but a call of demo\.v1\.Text\/Echo has one/,
        /data\[3\]: is not an object/,
        /data\[4\]\.message\.numbers\[0\]: must be a whole number/,
        /data\[5\]: must have one of message, messages, message_bytes, message_generator/,
      ])
        assert.match(err, expected);
    });
  });
});

describe("faults of a server", () => {
  test("a call with another status ends the run with the server's message", async () => {
    await withInputs([{ message: { fault: "REFUSE" } }], async (file) => {
      const { code, err } = await runCommand(to(go.port, `${SERVICE}/Echo`, file, ...QUICK_WINDOWS));
      assert.equal(code, 99);
      assert.match(err, /refused as asked/);
    });
  });

  test("failed calls are counted where they may fail, and the server counts as many", async () => {
    await withInputs([ECHO, { message: { fault: "REFUSE" } }], async (file) => {
      await python.reset();
      const args = to(python.port, `${SERVICE}/Echo`, file, "--request-count", "10", "--max-error-rate", "60%");
      const { code, out, err } = await runCommand(args);
      assert.equal(code, 0, err);
      assert.match(out, /Request count: 5\n/);
      const { calls, sent } = await python.counter();
      assert.deepEqual([calls, sent], [10, 5]);
    });
  });

  test("a call that gets no response fails, and the server sees it cancelled", async () => {
    await withInputs([{ message: { fault: "HANG" } }], async (file) => {
      await go.reset();
      const { code, err } = await runCommand(to(go.port, `${SERVICE}/Talk`, file, "--timeout", "0.2s"));
      assert.equal(code, 99);
      assert.match(err, /200 ms/);
      // The run sends no call that it does not also end.
      for (let { calls, cancelled } = await go.counter(); calls === 0 || cancelled < calls; ) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        ({ calls, cancelled } = await go.counter());
      }
    });
  });
});
