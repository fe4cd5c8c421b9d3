import { type FlagReader, isFile, readCount } from "./flag-values.ts";
import { readRange, type ValueReader } from "./values.ts";

const ID_RANGE = "--sequence-id-range";
const PERIODIC_RANGE = "--periodic-concurrency-range";
const DEFAULT_SEQUENCE_LENGTH = 20;

/** What the flags of schedules, sequences and periodic concurrency do with their values. */
export const LOAD_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--request-intervals": (settings, reader, value) => {
    settings.intervalsFile = value;
    if (isFile(value)) return;
    reader.fail(
      "--request-intervals",
      "Failed to parse --request-intervals. The value must be a valid file path",
      value,
      "Give an existing file with one time interval in microseconds per line.",
    );
  },
  "--fixed-schedule": (settings) => {
    settings.isFixedSchedule = true;
  },
  "--periodic-concurrency-range": (settings, reader, value) => {
    settings.periodic = readPeriodicRange(reader, value);
  },
  "--request-period": (settings, reader, value) => {
    settings.periodResponses = readCount(
      reader,
      "--request-period",
      "--request-period",
      value,
      "The value must be > 0",
    );
  },
  "--session-concurrency": (settings, reader, value) => {
    settings.sessionConcurrency = readCount(
      reader,
      "--session-concurrency",
      "--session-concurrency",
      value,
      "Session concurrency must be > 0.",
    );
  },
  "--sequence-length": (settings, reader, value) => {
    const length = reader.integer("--sequence-length", "--sequence-length", value);
    if (length !== undefined && length <= 0)
      reader.lines.push(
        "WARNING: The sequence length must be > 0. Perf Analyzer will use default value if it is measuring on sequence model.",
      );
    settings.sequences.length = length !== undefined && length > 0 ? length : DEFAULT_SEQUENCE_LENGTH;
  },
  "--sequence-length-variation": (settings, reader, value) => {
    const variation = reader.decimal("--sequence-length-variation", "--sequence-length-variation", value);
    if (variation === undefined) return;
    settings.sequences.lengthVariationPct = variation;
    if (variation >= 0) return;
    reader.fail(
      "--sequence-length-variation",
      "Failed to parse --sequence-length-variation. The value must be >= 0.0.",
      value,
      "Give 0 or more percent.",
    );
  },
  "--sequence-id-range": (settings, reader, value) => {
    const range = readIdRange(reader, value);
    if (range !== undefined) Object.assign(settings.sequences, range);
  },
  "--num-of-sequences": (settings, reader, value) => {
    settings.sequences.concurrent = readCount(
      reader,
      "--num-of-sequences",
      "--num-of-sequences",
      value,
      "The value must be > 0.",
    );
  },
  "--serial-sequences": (settings) => {
    settings.sequences.isSerial = true;
  },
};

/** `START[:END]`, the end not included. */
function readIdRange(reader: ValueReader, value: string): { startId: number; idCount: number | null } | undefined {
  const parts = value.split(":");
  const fail = (message: string, hint: string): undefined => {
    reader.fail(ID_RANGE, `Failed to parse ${ID_RANGE}. ${message}`, value, hint);
    return undefined;
  };
  if (parts.length > 2) return fail("The value does not match <start:end>.", `Write for example ${ID_RANGE} 1:1000.`);
  const numbers: number[] = [];
  for (const part of parts) {
    const number = reader.integer(ID_RANGE, ID_RANGE, part);
    if (number === undefined) return undefined;
    if (number < 0) return fail("The range values must be >= 0.", "Give ids of 1 or more.");
    numbers.push(number);
  }
  let startId = numbers[0] as number;
  if (startId === 0) {
    reader.lines.push(
      "WARNING: using an invalid start sequence id. Perf Analyzer will use default value if it is measuring on sequence model.",
    );
    startId = 1;
  }
  const end = numbers[1];
  if (end === undefined) return { startId, idCount: null };
  if (end <= startId)
    return fail("The 'end' value must be greater than 'start' value.", `Write for example ${ID_RANGE} 1:1000.`);
  return { startId, idCount: end - startId };
}

function readPeriodicRange(
  reader: ValueReader,
  value: string,
): { start: number; end: number; step: number } | undefined {
  const range = readRange(reader, PERIODIC_RANGE, value, "integer");
  if (range === undefined) return undefined;
  const { start, end, step = 1 } = range;
  const fail = (message: string): void =>
    reader.fail(
      PERIODIC_RANGE,
      `Failed to parse ${PERIODIC_RANGE}. ${message}`,
      value,
      `Write for example ${PERIODIC_RANGE} 10:50:10.`,
    );
  if (end === undefined) fail("Both <start> and <end> values must be provided.");
  else if (start <= 0) fail("The <start> value must be > 0.");
  else if (step <= 0) fail("The <step> value must be > 0.");
  else if (start > end) fail("The <start> must be <= <end>.");
  else if ((end - start) % step !== 0) fail("The <step> value must be a factor of the range size (<end> - <start>).");
  else return { start, end, step };
  return undefined;
}
