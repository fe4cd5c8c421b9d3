import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isEndToEnd, RUNTIMES, readRunsOn, runsOn } from "./runs-on.ts";

const root = join(import.meta.dirname, "..");
const paths = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => `./test/${path.replaceAll("\\", "/")}`);

/** What differs between runtimes: sockets, threads, processes, terminals, and the runtime's name. */
const DIFFERS =
  /"node:(net|tls|http2?|worker_threads|child_process|readline|tty|module)"|\b(runtimeName|startWorker)\b/;

const UNIT = "./test/plan/x.test.ts";
const EVERYWHERE = { runners: [...RUNTIMES], isAlone: false, isOnly: false, sharesServers: false };

describe("where a test runs", () => {
  test("is said by its folder", () => {
    assert.deepEqual(readRunsOn(UNIT, "import").runners, ["bun"]);
    assert.deepEqual(readRunsOn("./test/e2e/x.test.ts", "import").runners, ["executable"]);
    assert.deepEqual(readRunsOn("./test/transport/x/y.test.ts", "import"), EVERYWHERE);
  });

  test("or by its first line", () => {
    assert.deepEqual(readRunsOn(UNIT, "// Runs on: bun, deno, node.\n"), EVERYWHERE);
    assert.deepEqual(readRunsOn(UNIT, "// Runs on: executable.").runners, ["executable"]);
    assert.ok(readRunsOn(UNIT, "// Runs on: bun; alone: it uses names of shared memory.").isAlone);
    assert.ok(readRunsOn(UNIT, "// Runs only on: bun: others have no such flag.").isOnly);
  });

  test("apart from others where servers are shared, whose requests it may count", () => {
    const counting = ["openTriton();", 'process.env["RAMPART_TEST_LLAMA"]'];
    for (const text of counting) assert.ok(readRunsOn("./test/e2e/x.test.ts", text).sharesServers, text);
    assert.ok(runsOn(root, "./test/e2e/counts.test.ts").sharesServers);
  });

  test("never by an unknown line, or by one that says what holds anyway", () => {
    for (const line of [
      "// Runs on: ie6.",
      "// runs on: deno.",
      "// Runs on: .",
      "// Runs on: deno",
      "// Runs on: bun.",
    ])
      assert.throws(() => readRunsOn(UNIT, `${line}\n`), /not understood|runs there anyway/, line);
  });

  test("is understood for every test", () => {
    for (const path of paths) assert.ok(runsOn(root, path).runners.length > 0, path);
  });

  test("is every runtime for a module that knows sockets, threads, processes, terminals or the runtime's name", () => {
    const missing = paths.filter((path) => {
      const source = join(root, path.replace("./test/", "src/").replace(".test.ts", ".ts"));
      if (isEndToEnd(path) || !existsSync(source) || !DIFFERS.test(readFileSync(source, "utf8"))) return false;
      const { runners } = runsOn(root, path);
      // The executable is Bun.
      return !["deno", "node"].every((runtime) => runners.includes(runtime as "deno"));
    });
    assert.deepEqual(missing, []);
  });
});
