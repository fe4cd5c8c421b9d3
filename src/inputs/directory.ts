import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Problem, problem, UserError, unreadable } from "../plan/problem.ts";
import { plural } from "../plan/units.ts";
import { loadFileBytes, locate, MOST_BODY_BYTES } from "../runtime/files.ts";
import { joinBytesElements } from "../service/json-tensors.ts";
import type { ModelInfo } from "../service/service.ts";
import { elementCount, type TensorSpec, tensorBytes } from "../service/tensor.ts";
import type { Dataset, StepTensor } from "./dataset.ts";
import { dynamicShapeProblem } from "./shapes.ts";

/**
 * Reads data from a directory with one file per input, and per output to validate, each named like its tensor. Returns one step.
 * @throws UserError with everything that does not fit the model
 */
export async function readDirectory(path: string, model: ModelInfo): Promise<Dataset> {
  const names = await listFiles(path);
  const problems: Problem[] = names
    .filter((name) => ![...model.inputs, ...model.outputs].some((tensor) => tensor.name === name))
    .map((name) => ({
      code: "unknown-name",
      path: join(path, name),
      message: `Provided data file '${name}' does not correspond to a valid model input or output`,
      hint: `Remove it, or name it like one of ${model.inputs.map((input) => input.name).join(", ")}.`,
    }));
  const inputs = new Map<string, StepTensor>();
  for (const input of model.inputs) {
    if (!names.includes(input.name) && input.isOptional) continue;
    const bytes = await readTensor(path, input, problems, "input");
    if (bytes !== undefined) inputs.set(input.name, { bytes, shape: input.shape });
  }
  const expected = new Map<string, StepTensor>();
  for (const output of model.outputs.filter(({ name }) => names.includes(name))) {
    const bytes = await readTensor(path, output, problems, "output");
    if (bytes !== undefined) expected.set(output.name, { bytes });
  }
  if (problems.length > 0) throw new UserError(problems);
  return { streams: [[{ inputs, expected, place: path }]], isFromJson: false, warnings: [] };
}

async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(locate(path)).catch((error: unknown) => {
    throw unreadable(path, error, "Give an existing directory.");
  });
  return entries.filter((name) => !name.startsWith("."));
}

async function readTensor(
  directory: string,
  spec: TensorSpec,
  problems: Problem[],
  role: "input" | "output",
): Promise<Uint8Array | undefined> {
  const path = join(directory, spec.name);
  let contents: Uint8Array;
  try {
    contents = new Uint8Array(await loadFileBytes(path, MOST_BODY_BYTES));
  } catch {
    const message = `failed to open file '${directory}/${spec.name}'`;
    problems.push(problem("unreadable", path, message, `Write the data of ${role} ${spec.name} there.`));
    return undefined;
  }
  if (contents.length === 0) {
    problems.push(
      problem("missing", path, `file '${directory}/${spec.name}' is empty`, `Write the data of ${spec.name} there.`),
    );
    return undefined;
  }
  const bytes = spec.datatype === "BYTES" ? joinBytesElements(splitLines(contents)) : contents;
  problems.push(...checkSize(path, spec, contents, bytes, role));
  return bytes;
}

function checkSize(
  path: string,
  spec: TensorSpec,
  contents: Uint8Array,
  bytes: Uint8Array,
  role: "input" | "output",
): Problem[] {
  const count = elementCount(spec.shape);
  // The size of a variable output is known only from the response.
  if (count < 0) return role === "input" ? [{ ...dynamicShapeProblem(spec), path }] : [];
  if (spec.datatype === "BYTES") {
    const given = splitLines(contents).length;
    const message = `provided data for ${role} ${spec.name} has ${given} elements, expect ${count}`;
    return given === count ? [] : [problem("mismatch", path, message, "Write one element per line.")];
  }
  const expected = tensorBytes(spec.shape, spec.datatype);
  const message = `provided data for ${role} ${spec.name} has byte size ${bytes.length}, expect ${expected}`;
  const hint = `Write ${count} little-endian ${spec.datatype} ${plural(count, "element")} in binary.`;
  return bytes.length === expected ? [] : [problem("mismatch", path, message, hint)];
}

/** Splits into lines without their line feeds. The last line may lack one. */
function splitLines(contents: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = contents.indexOf(10); end >= 0; end = contents.indexOf(10, start)) {
    lines.push(contents.subarray(start, end));
    start = end + 1;
  }
  if (start < contents.length) lines.push(contents.subarray(start));
  return lines;
}
