import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import {
  createFolder,
  type ProcessResult,
  rampartCommand,
  runRampart,
  startProcess,
} from "../../cli/rampart-process.ts";
import { runInFolder } from "../../cli/run-in-folder.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";

/** `rampart http`: its flags, its exit codes, and what it sends. */

let server: AnsweringServer;

/** What the JSON report says of the responses. */
interface Received {
  readonly receivedBytes: number;
  readonly responses: Readonly<Record<string, number>>;
}

before(async () => {
  server = await startAnsweringServer((response) => {
    response.setHeader("Content-Type", "application/json");
    response.end('{"usage":{"total":3},"error":null}');
  });
});

after(() => server.close());

/** Runs the command in this process, in a folder with these files. */
async function http(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  using folder = createFolder(files);
  return await runInFolder(folder.path, ["http", ...args]);
}

describe("rampart http", () => {
  test("measures a URL with its path and query, and its counts are the server's", async () => {
    const from = server.received.length;
    const { code, text } = await http([`${server.url}/p?q=1`, "-n", "50", "-c", "4"]);
    assert.equal(code, 0, text);
    assert.equal(server.received.length - from, 50);
    assert.match(text, /^http {2}GET 127\.0\.0\.1:\d+\/p\?q=1\n? +4 in flight {3}.* req\/s\*?$/m);
    assert.match(text, /^ {2}mean \S+ [mu]?s\*? {3}p50 \S+ [mu]?s\*? {3}p90 .* {3}p99 /m);
    assert.match(text, /^ {2}status 200: 50 {3}failed 0 {3}received [\d.]+ (?:bytes|kB)$/m);
  });

  for (const scheme of ["http", "https"] as const)
    test(
      `counts the statuses and the bytes that the server wrote, which TLS does not change: ${scheme}`,
      LIMIT,
      async () => {
        let writtenBytes = 0;
        let count = 0;
        const serve = (connection: Socket): void => {
          connection
            .on("error", () => {})
            .on("data", (bytes) => {
              for (const _ of bytes.toString().matchAll(/\r\n\r\n/g)) {
                const body = "x".repeat(count % 7);
                const status = count++ % 2 === 0 ? "200 OK" : "202 Accepted";
                const response = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
                writtenBytes += response.length;
                connection.write(response);
              }
            });
        };
        const certificates = scheme === "https" ? await makeCertificates() : undefined;
        const { certFile, keyFile } = certificates ?? {};
        const counting =
          certFile === undefined || keyFile === undefined
            ? createServer(serve)
            : createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, serve);
        await new Promise<void>((resolve) => counting.listen(0, "127.0.0.1", resolve));
        try {
          using folder = createFolder({});
          const url = `${scheme}://127.0.0.1:${(counting.address() as AddressInfo).port}/`;
          const { code, text } = await runInFolder(folder.path, [
            "http",
            url,
            "-k",
            "-n",
            "30",
            "-c",
            "3",
            "--json",
            "r.json",
          ]);
          assert.equal(code, 0, text);
          const report = JSON.parse(readFileSync(join(folder.path, "r.json"), "utf8")) as Received;
          assert.deepEqual([count, report.receivedBytes], [30, writtenBytes]);
          assert.deepEqual(report.responses, { "200": 15, "202": 15 });
          assert.match(text, /^ {2}status 200: 15 +(?:status )?202: 15 +failed 0 +received /m);
        } finally {
          counting.close();
          await certificates?.remove();
        }
      },
    );

  test("names the address to which no connection can be opened, and reports nothing else", async () => {
    const { code, text } = await http(["http://127.0.0.1:1/", "-n", "2", "-c", "2"]);
    assert.equal(code, 69, text);
    assert.match(text, /^rampart: cannot connect to http:\/\/127\.0\.0\.1:1: Connection refused\. [^\n]*\n$/);
  });

  test("sends data, headers and the method as they were given", async () => {
    for (const [args, method, type, body] of [
      [["-d", '{ "a": 1.0 }'], "POST", "application/json", '{ "a": 1.0 }'],
      [["-d", "a b"], "POST", "text/plain; charset=utf-8", "a b"],
      [["-d", "@b.json"], "POST", "application/json", '{"b": 2}'],
      [["-d", "{}", "-H", "content-type: x/y"], "POST", "x/y", "{}"],
      [["--method", "PUT", "-d", "x"], "PUT", "text/plain; charset=utf-8", "x"],
      [["-X", "PATCH", "-d", "x"], "PATCH", "text/plain; charset=utf-8", "x"],
      [["-X", "DELETE"], "DELETE", undefined, ""],
    ] as const) {
      const { code, text } = await http([server.url, "-n", "1", "-q", ...args], { "b.json": '{"b": 2}' });
      assert.equal(code, 0, text);
      assert.equal(text, "", "quiet");
      const got = server.received.at(-1);
      assert.deepEqual([got?.method, got?.headers["content-type"], got?.text], [method, type, body]);
    }
  });

  test("sends forms like curl", async () => {
    const fields = ["-F", "model=m", "-F", "f=@b.json;type=a/b;filename=x.bin", "-F", "f=@b.json"];
    const { code, text } = await http([server.url, "-n", "1", ...fields], { "b.json": "{}" });
    assert.equal(code, 0, text);
    const got = server.received.at(-1)?.text ?? "";
    assert.match(got, /name="model"\r\n\r\nm\r\n/);
    assert.match(got, /name="f"; filename="x\.bin"\r\nContent-Type: a\/b\r\n\r\n\{\}\r\n/);
    assert.match(got, /name="f"; filename="b\.json"\r\nContent-Type: application\/json\r\n\r\n\{\}\r\n/);
  });

  test("sends fields with names of every object's properties", async () => {
    const { code, text } = await http([server.url, "-n", "2", "-F", "constructor=a", "-F", "__proto__=b"]);
    assert.equal(code, 0, text);
    const got = server.received.at(-1)?.text ?? "";
    assert.match(got, /name="constructor"\r\n\r\na\r\n.*name="__proto__"\r\n\r\nb\r\n/s);
  });

  test("reads the body from standard input", async () => {
    const process = startProcess([
      "bash",
      "-c",
      `echo '{"s":1}' | ${rampartCommand().join(" ")} http ${server.url} -n 2 -d @-`,
    ]);
    const { code, err } = await process.result;
    assert.equal(code, 0, err);
    const got = server.received.at(-1);
    assert.deepEqual([got?.text, got?.headers["content-type"]], ['{"s":1}\n', "application/json"]);
  });

  test("asks for no TLS of an address with http://, also when any certificate is accepted", async () => {
    const { code, err } = await runRampart(["http", server.url.replace(/^(?:http:\/\/)?/, "http://"), "-k", "-n", "2"]);
    assert.equal(code, 0, err);
  });

  test("sends at a rate, with a JSON report on standard output", async () => {
    const args = [
      "http",
      server.url,
      "-r",
      "200",
      "-c",
      "8",
      "--for",
      "300ms",
      "--extract",
      "t=usage.total",
      "--json",
      "-",
    ];
    const { code, out, err } = await runRampart(args);
    assert.equal(code, 0, err);
    const report = JSON.parse(out) as {
      levels: { unit: string; extracted: { t: { numbers: { mean: number } } } }[];
    };
    assert.equal(report.levels[0]?.unit, "request-rate");
    assert.equal(report.levels[0]?.extracted.t.numbers.mean, 3);
    assert.match(err, / \S+ req\/s asked {3}\S+ m?s {3}\S+ req\/s\*?$/m);
  });
});

describe("rampart http exits with", () => {
  for (const [name, args, expected, message] of [
    [
      "65 for a broken limit",
      ["--status", "200,404", "--fail-if", "p99 > 1us", "--fail-if", "errorRate > 50%"],
      65,
      /FAIL +p99 latency ≤ [\s\S]*pass +error rate ≤ 50 %/,
    ],
    [
      "69 for more failures than may happen",
      ["--status", "404", "--max-error-rate", "50%"],
      69,
      /requests failed, more than the 50 % allowed/,
    ],
    [
      "64 for the limit of a change",
      ["--fail-if", "p99 > +5%"],
      64,
      /--fail-if: limits a change between runs, and this is one run/,
    ],
    ["64 for two addresses", ["--url", "localhost:1"], 64, /--url: the argument is an address too/],
    ["69 when nothing succeeds", ["--success", "error != null"], 69, /all 5 requests failed: .* success/],
    ["64 for a wrong expression", ["--success", "a =="], 64, /^rampart: --success: is not a JMESPath .*at its end/m],
    ["64 for a bare ratio", ["--max-error-rate", "0.01"], 64, /--max-error-rate: is not a percentage .*0\.01/],
    ["64 for a number", ["-c", "0"], 64, /-c: is not a whole number of 1 or more \(got 0\)/],
    ["64 for a duration", ["--timeout", "5"], 64, /--timeout: is not a duration/],
    ["64 for a header", ["-H", "nothing"], 64, /-H: is not a header/],
    ["64 for a missing file", ["-d", "@none"], 64, /-d: cannot be read/],
    ["64 for two bodies", ["-d", "a", "-F", "a=b"], 64, /-F: -d is given too/],
    ["64 for two ends", ["--for", "1s"], 64, /--for: -n already says when to end/],
    ["64 for an unknown flag", ["--heder", "a"], 64, /Did you mean --header\?/],
    ["64 for a status", ["--status", "20x"], 64, /--status: is not a list of statuses \(got 20x\)/],
    [
      "64 for names of other tools",
      ["-m", "PUT", "--vus", "3"],
      64,
      /-m: .* Did you mean -X or --method\?\n.*--vus: .* Did you mean --users\?\n/,
    ],
    ["64 for a header given twice", ["-H", "A: 1", "-H", "a: 2"], 64, /-H: gives a twice \(got a: 2\)/],
  ] as const)
    test(name, async () => {
      const { code, text } = await http([server.url, "-n", "5", ...args]);
      assert.equal(code, expected, text);
      assert.match(text, message);
    });

  test("64 without a URL, and all problems at once", async () => {
    const { code, text } = await http(["-c", "x", "--for", "0s"]);
    assert.equal(code, 64);
    assert.deepEqual(text.match(/^rampart: \S+/gm), ["rampart: URL:", "rampart: --for:", "rampart: -c:"]);
  });

  test("69 when no server is there", async () => {
    const { code, text } = await http(["127.0.0.1:9", "-n", "2"]);
    assert.equal(code, 69, text);
    assert.match(text, /^rampart: cannot connect to 127\.0\.0\.1:9: /m);
  });

  test("130 at Ctrl-C, with the result so far, which says that it is partial", async () => {
    const process = startProcess([...rampartCommand(), "http", server.url, "--for", "60s"]);
    await process.waitFor(/measuring/);
    // The first second is not measured while the client's code may be compiled.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const from = server.received.length;
    while (server.received.length < from + 5) await new Promise((resolve) => setTimeout(resolve, 10));
    process.interrupt();
    const { code, out, err }: ProcessResult = await process.result;
    assert.equal(code, 130, err);
    assert.match(out, /^PARTIAL {2}http {2}GET .*\n {2}\S/m);
    assert.match(out, /^ {2}completed [\d,]+ {3}failed \d+ .* PARTIAL$/m);
  });

  test("0 for help and for a dry run, which sends nothing", async () => {
    const from = server.received.length;
    const help = await http(["--help"]);
    assert.equal(help.code, 0);
    assert.match(help.text, /-c, --users N/);
    const plan = await http([server.url, "-d", "x", "--dry-run"]);
    assert.equal(plan.code, 0);
    assert.equal((JSON.parse(plan.text) as { target: { kind: string } }).target.kind, "plain-http");
    assert.equal(server.received.length, from);
  });
});
