import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../make-folder.ts";
import { startTriton, type Triton } from "../servers/triton.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";
import { openInstallation } from "./in-process.ts";

/** FP16 elements that are written as numbers, and sequences whose ids are texts, through a real Triton and its library. */

const models = fileURLToPath(new URL("../servers/typed-models", import.meta.url));

const folder = makeFolder();
let triton: Triton;
before(async () => {
  triton = await startTriton({ models });
}, LIMIT);
after(() => triton.stop());

const WIRES = ["http", "grpc", "stream"] as const;

function targetOf(wire: (typeof WIRES)[number], model: string): string {
  const port = wire === "http" ? triton.httpPort : triton.grpcPort;
  const options = { model, protocol: wire === "http" ? "http" : "grpc", streaming: wire === "stream" };
  return `triton("localhost:${port}", ${JSON.stringify(options)})`;
}

async function runScenario(name: string, fields: string): Promise<void> {
  const file = join(folder, `${name}.ts`);
  const imports = "defineScenario, errorRate, hold, input, triton, tritonInProcess";
  writeFileSync(
    file,
    `import { ${imports} } from "rampart";\nexport default defineScenario({ name: "typed", assert: [errorRate().is(0)], ${fields} });\n`,
  );
  const { code, stdout, stderr } = await runRampart(["run", file]);
  assert.equal(code, 0, stdout + stderr);
}

/** Numbers, what the server reads as FP32, and what FP16 makes of them: numpy's float16. */
const NUMBERS = [1, -2.5, 0.1, 65504, 6e-8, -0];
const HALVES = [1, -2.5, 0.0999755859375, 65504, 2 ** -24, -0];

/** The server's reading is right, and the values of the FP16 output are. */
const CHECK = `check: ({ tensors }) => {
  const values = [tensors.FLOAT.values(), tensors.HALF_OUT.values(), tensors.HALF_OUT.values()];
  return values.every((list) => list.length === 6 && list.every((one, index) => Object.is(one, ${JSON.stringify(HALVES)}[index]) || one === 0));
}`;

describe("FP16 elements as numbers", () => {
  for (const wire of WIRES) {
    test(`of a JSON file, over ${wire}`, LIMIT, async () => {
      const data = { data: [{ HALF: { content: NUMBERS, shape: [6] } }] };
      writeFileSync(join(folder, "halves.json"), JSON.stringify(data));
      const fields = `target: ${targetOf(wire, "half_to_float")}, inputs: input.json("./halves.json"), load: hold(1, { requests: 3 })`;
      await runScenario(`json-${wire}`, `${fields}, ${CHECK}`);
    });

    test(`of input.generate(…), over ${wire}`, LIMIT, async () => {
      const made = `() => ({ tensors: { HALF: { content: ${JSON.stringify(NUMBERS)}, shape: [6] } } })`;
      const fields = `target: ${targetOf(wire, "half_to_float")}, inputs: input.generate(${made}, { count: 2 }), load: hold(1, { requests: 3 })`;
      await runScenario(`made-${wire}`, `${fields}, ${CHECK}`);
    });
  }
});

describe("sequences whose ids are texts", () => {
  const flags = ["--concurrency-range", "2", "--request-count", "30", "--sequence-length", "5", "--async"];
  for (const wire of WIRES)
    test(`over ${wire}`, LIMIT, async () => {
      const port = wire === "http" ? triton.httpPort : triton.grpcPort;
      const protocol = wire === "http" ? [] : ["-i", "grpc", ...(wire === "stream" ? ["--streaming"] : [])];
      const args = ["perf_analyzer", "-m", "text_sequence", "-u", `localhost:${port}`, ...protocol, ...flags];
      const { code, stderr } = await runRampart(args);
      assert.equal(code, 0, stderr);
    });

  test("has the ids and totals that the run means", LIMIT, async () => {
    writeFileSync(join(folder, "ones.json"), JSON.stringify({ data: [[1, 2, 3].map((n) => ({ INPUT: [n] }))] }));
    const check =
      "check: ({ tensors, request }) => { const [n] = request.tensors.INPUT.values(); return tensors.OUTPUT.values()[0] === (n * (n + 1)) / 2 && /^0{126}1[012]$/.test(tensors.ID.values()[0]); }";
    for (const wire of WIRES)
      await runScenario(
        `ids-${wire}`,
        `target: ${targetOf(wire, "text_sequence")}, inputs: input.json("./ones.json"), load: hold(1, { requests: 9 }), sequences: { ids: [10, 13] }, ${check}`,
      );
  });

  test("in process", LIMIT, async () => {
    const { directory, env } = await openInstallation();
    const places = ["--triton-server-directory", directory, "--model-repository", models];
    const args = ["perf_analyzer", "-m", "text_sequence", "--service-kind", "triton_c_api", ...places, ...flags];
    const { code, stderr } = await runRampart(args, { env });
    assert.equal(code, 0, stderr);
  });
});
