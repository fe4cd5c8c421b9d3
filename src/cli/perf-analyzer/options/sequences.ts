import type { SequencesPlan } from "../../../plan/sequences.ts";
import { option, type UngroupedOption, type ValueReader } from "../settings.ts";
import { count, decimal, on } from "./readers.ts";

const DEFAULT_LENGTH = 20;

/** Options of sequences. */
export const SEQUENCES: readonly UngroupedOption[] = [
  option("sequences.length", {
    names: ["--sequence-length"],
    feature: "sequences",
    value: "N",
    unit: "requests",
    defaultText: `${DEFAULT_LENGTH}, or the length of the data stream`,
    help: "Length of a sequence, for models that take sequences.",
    parse: readLength,
  }),
  option("sequences.lengthVariationPct", {
    names: ["--sequence-length-variation"],
    feature: "sequences",
    value: "PERCENT",
    unit: "percent",
    help: "The most that the length of a sequence differs from --sequence-length.",
    parse: decimal((value) => value >= 0, "The value must be >= 0.0.", "Give 0 or more percent."),
  }),
  option("sequences", {
    names: ["--sequence-id-range"],
    setting: "sequences.idCount",
    feature: "sequences",
    value: "START[:END]",
    defaultText: "1, without an end",
    help: "Correlation ids of sequences: from START to END - 1, then over again.",
    parse: readIdRange,
    format: ({ startId, idCount }) => (idCount === null ? String(startId) : `${startId}:${startId + idCount}`),
  }),
  option("sequences.concurrent", {
    names: ["--num-of-sequences"],
    feature: "sequences",
    value: "N",
    help: "Active sequences with request rates, intervals and schedules. With concurrency, each request in flight belongs to a sequence of its own.",
    parse: count(),
  }),
  option("sequences.isSerial", {
    names: ["--serial-sequences"],
    feature: "sequences",
    help: "With request rates, send a sequence's next request only after the last response. Only streams can send earlier: elsewhere requests could overtake one another.",
    parse: on,
  }),
];

function readLength(reader: ValueReader): number {
  const length = reader.integer();
  if (length === undefined || length > 0) return length ?? DEFAULT_LENGTH;
  reader.findings.lines.push(
    "WARNING: The sequence length must be > 0. Perf Analyzer will use default value if it is measuring on sequence model.",
  );
  return DEFAULT_LENGTH;
}

/** Reads `START[:END]`, where the end is exclusive. */
function readIdRange(reader: ValueReader, before: SequencesPlan): SequencesPlan | undefined {
  const example = `Write for example ${reader.name} 1:1000.`;
  const parts = reader.text.split(":");
  if (parts.length > 2) {
    reader.fail("The value does not match <start:end>.", example);
    return undefined;
  }
  const numbers: number[] = [];
  for (const part of parts) {
    const number = reader.integer(part);
    if (number === undefined) return undefined;
    if (number < 0) {
      reader.fail("The range values must be >= 0.", "Give ids of 1 or more.");
      return undefined;
    }
    numbers.push(number);
  }
  const [first, end] = numbers;
  if (first === 0)
    reader.findings.lines.push(
      "WARNING: using an invalid start sequence id. Perf Analyzer will use default value if it is measuring on sequence model.",
    );
  const startId = first || 1;
  if (end === undefined || end > startId)
    return { ...before, startId, idCount: end === undefined ? null : end - startId };
  reader.fail("The 'end' value must be greater than 'start' value.", example);
  return undefined;
}
