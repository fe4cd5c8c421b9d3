import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import { inputKindOf } from "../../../registry/input-kinds.ts";
import { fileSystem } from "../../../runtime/files.ts";
import { withValue } from "../../options/place.ts";
import { ZEROS } from "../input-data.ts";
import { binaryTensorsOf } from "../kinds/triton.ts";
import { option, type UngroupedOption, type ValueReader } from "../settings.ts";
import { choice, count, text, whole } from "./readers.ts";

/** Options of the input data. */
export const INPUT: readonly UngroupedOption[] = [
  option("target.batchSize", {
    names: ["-b"],
    label: "-b (batch size)",
    value: "N",
    help: "Batch size of each request.",
    parse: count(),
  }),
  option("inputData", {
    names: ["--input-data"],
    setting: "inputs.data",
    value: "random|zero|PATH",
    defaultText: "random",
    isRepeatable: true,
    help: "Data of requests: generated, JSON files (repeat the flag for several) or a directory with a file per input.",
    parse: readInputData,
    of: ({ inputs }) => inputKindOf(inputs).perfAnalyzer?.(inputs).names ?? [],
  }),
  option("target.shapes", {
    names: ["--shape"],
    feature: "tensors",
    value: "NAME:D1,D2,...",
    isRepeatable: true,
    help: "Shape of an input whose size varies, without the batch dimension.",
    parse: readShape,
    format: (shapes) => Object.entries(shapes).map(([name, sizes]) => `${name}:${sizes.join()}`),
  }),
  option("inputs.stringLength", {
    names: ["--string-length"],
    feature: "tensors",
    value: "N",
    unit: "characters",
    help: "Length of random strings.",
    parse: count("The value must be > 0"),
  }),
  option("inputs.stringData", {
    names: ["--string-data"],
    feature: "tensors",
    value: "TEXT",
    help: "Use this text for every string element.",
    parse: text,
  }),
  option("target.sharedMemory", {
    names: ["--shared-memory"],
    ...choice(["system", "cuda", "none"]),
    help: "Put tensors into memory shared with a server on this machine, the system's or a GPU's, and send only their places.",
  }),
  option("target.outputSharedMemoryBytes", {
    names: ["--output-shared-memory-size"],
    value: "BYTES",
    unit: "bytes",
    help: "Shared memory for one batch item of an output of type BYTES or of varying shape.",
    parse: whole((value) => value >= 0, "The value must be >= 0.", "Give bytes."),
  }),
  tensorFormat(
    "input",
    "How input tensors are sent over HTTP. A server that does not list binary tensors gets JSON when this is not given.",
  ),
  tensorFormat(
    "output",
    "How output tensors are asked for over HTTP. A server that does not list binary tensors is asked for JSON when this is not given.",
  ),
];

/** An explicitly given binary format differs in meaning from the default. */
function tensorFormat(tensors: "input" | "output", help: string): UngroupedOption {
  const flag = `--${tensors}-tensor-format`;
  const entry = {
    names: [flag] as const,
    feature: "triton" as const,
    help,
    ...choice(["binary", "json"], { ignoresCase: true }),
  };
  const plain = option(tensors === "input" ? "target.inputTensorFormat" : "target.outputTensorFormat", entry);
  const isChosen = ({ target }: Plan): boolean => fieldOf(target, "binaryTensors")?.includes(tensors) === true;
  return {
    ...plain,
    print: (plan) => (isChosen(plan) ? [flag, "binary"] : (plain.print?.(plan) ?? [])),
    land: (plan, settings) => {
      const landed = plain.land?.(plan, settings) ?? plan;
      const binaryTensors = binaryTensorsOf(settings);
      return landed === plan || binaryTensors.length === 0
        ? landed
        : withValue(landed, "target.binaryTensors", binaryTensors);
    },
  };
}

function readInputData(reader: ValueReader, before: readonly string[]): readonly string[] | undefined {
  const { text: source } = reader;
  if (source === "random") return undefined;
  if (source === ZEROS || fileSystem().existsSync(source)) return [...before, source];
  reader.fail(
    `Unsupported type provided: '${source}'. The available options are 'zero', 'random', path to a directory, or a json file.`,
    "Give zero, random or an existing path.",
  );
  return undefined;
}

type Shapes = Readonly<Record<string, readonly number[]>>;

/** Adds `NAME:D1,D2,…` to the shapes. */
function readShape(reader: ValueReader, before: Shapes): Shapes | undefined {
  const colon = reader.text.lastIndexOf(":");
  if (colon < 0) {
    reader.fail("There must be a colon after input name.", "Write for example --shape INPUT0:3,224,224.");
    return undefined;
  }
  const read = reader.text
    .slice(colon + 1)
    .split(",")
    .map((size) => reader.integer(size));
  const sizes = read.filter((size) => size !== undefined);
  if (sizes.length < read.length) return undefined;
  if (sizes.every((size) => size > 0)) return { ...before, [reader.text.slice(0, colon)]: sizes };
  reader.fail("The dimensions of input tensor must be > 0.", "Give the size of every dimension.");
  return undefined;
}
