import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../plan/objects.ts";
import { messageOf, type Problem, problem, RunError, UserError } from "../plan/problem.ts";
import {
  fileSystem,
  loadFileBytes,
  locate,
  MOST_BODY_BYTES,
  readFileBytes,
  refuseDevice,
  tooLarge,
} from "../runtime/files.ts";
import { splitBytesElements } from "../service/json-tensors.ts";
import { type ModelInfo, modelNamed } from "../service/service.ts";
import { type DataStep, type Dataset, NO_TENSORS } from "./dataset.ts";
import { readJsonFiles } from "./json-file.ts";
import { MAX_HELD_BYTES } from "./large-file.ts";
import { toPayloadStep } from "./payload-entry.ts";

const MAX_PROBLEMS = 20;

/** A file that is the payload of a request. */
interface NamedFile {
  readonly path: string;
  /** Place that names the file; empty: only its path is known. */
  readonly place: string;
  readonly timestampMs?: number;
}

/**
 * Reads files, each of which is a payload. All files are read once, before the first request. If they are larger together than
 * `maxHeldBytes`, they are only checked then, and each file is read when it is sent.
 * @param patterns paths, and names with `*` and `?`
 * @throws UserError with each file that cannot be read, and each pattern that matches no file
 */
export async function readFiles(patterns: readonly string[], maxHeldBytes?: number): Promise<Dataset> {
  const problems: Problem[] = [];
  const files: NamedFile[] = [];
  for (const pattern of patterns) {
    const found = await findFiles(pattern);
    for (const path of found) files.push({ path, place: path });
    const hint = "Give the path of a file, or a pattern such as images/*.jpg.";
    if (found.length === 0) problems.push(problem("missing", pattern, "matches no file", hint));
  }
  return toDataset([files], problems, maxHeldBytes);
}

/**
 * Reads files whose paths are in JSON files of perf_analyzer's format: `{"data": [{"KEY": ["cat.jpg"]}]}`, with one list for each stream if
 * there are several.
 * @param isTimed each entry must have a `timestamp` in milliseconds; the steps are sorted by it
 * @throws UserError with everything that is wrong in the JSON, and each file that cannot be read
 */
export async function readFileLists(lists: readonly string[], key: string, isTimed: boolean): Promise<Dataset> {
  const { streams } = await readJsonFiles(lists, modelWith(key), isTimed);
  const problems: Problem[] = [];
  const files = streams.map((steps) => steps.flatMap((step) => readEntry(step, key, problems)));
  return toDataset(files, problems);
}

/** Returns a model whose only input is a text: the path. */
function modelWith(key: string): ModelInfo {
  const path = { name: key, datatype: "BYTES", shape: [1], isOptional: false, isShapeTensor: false } as const;
  return { ...modelNamed(""), inputs: [path] };
}

function readEntry({ inputs, place = "", timestampMs }: DataStep, key: string, problems: Problem[]): NamedFile[] {
  const [bytes] = splitBytesElements(inputs.get(key)?.bytes ?? new Uint8Array(0)) ?? [];
  const path = new TextDecoder().decode(bytes);
  if (path !== "") return [{ path, place, ...defined({ timestampMs }) }];
  problems.push(problem("mismatch", `${place}.${key}`, "names no file", `Write "${key}": ["cat.jpg"].`));
  return [];
}

async function toDataset(
  streams: readonly (readonly NamedFile[])[],
  problems: Problem[],
  maxHeldBytes = MAX_HELD_BYTES,
): Promise<Dataset> {
  const sizes = new Map<string, number>();
  for (const file of streams.flat()) {
    if (problems.length >= MAX_PROBLEMS) break;
    if (!sizes.has(file.path)) sizes.set(file.path, await sizeOf(file, problems));
  }
  if (problems.length > 0) throw new UserError(problems);
  const totalBytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (totalBytes > maxHeldBytes)
    return {
      streams: streams.map((files) => files.map((file) => new StoredFile(file))),
      isFromJson: true,
      isStored: true,
      warnings: [],
    };
  const contents = new Map<string, Uint8Array>();
  for (const file of streams.flat())
    if (!contents.has(file.path)) contents.set(file.path, await readOne(file, problems));
  if (problems.length > 0) throw new UserError(problems);
  const toStep = ({ path, place, timestampMs }: NamedFile): DataStep =>
    toPayloadStep(contents.get(path) as Uint8Array, { place, ...defined({ timestampMs }) });
  return { streams: streams.map((files) => files.map(toStep)), isFromJson: true, warnings: [] };
}

/** Returns the size of a readable file; reports a file that cannot be read. */
async function sizeOf(file: NamedFile, problems: Problem[]): Promise<number> {
  try {
    const { constants, promises } = fileSystem();
    await promises.access(locate(file.path), constants.R_OK);
    const found = await stat(locate(file.path));
    refuseDevice(file.path);
    if (found.size > MOST_BODY_BYTES) throw tooLarge(MOST_BODY_BYTES);
    if (!found.isDirectory()) return found.size;
    const hint = "Name a file. In a scenario, a pattern such as images/*.jpg stands for several.";
    report(file, "is a folder", hint, problems);
  } catch (error) {
    report(file, messageOf(error), "Give the path of a file that can be read.", problems);
  }
  return 0;
}

async function readOne(file: NamedFile, problems: Problem[]): Promise<Uint8Array> {
  try {
    return new Uint8Array(await loadFileBytes(file.path, MOST_BODY_BYTES));
  } catch (error) {
    report(file, messageOf(error), "Give the path of a file that can be read.", problems);
    return new Uint8Array(0);
  }
}

function report({ path, place }: NamedFile, reason: string, hint: string, problems: Problem[]): void {
  // In perf_analyzer's words, which name the file.
  const message = `Failed to open the specified file \`${path}\`: ${reason}`;
  problems.push(problem("unreadable", place, message, hint));
}

/** A step whose file is read on each access. */
class StoredFile implements DataStep {
  readonly place: string;
  readonly timestampMs?: number;
  private readonly path: string;

  constructor({ path, place, timestampMs }: NamedFile) {
    this.path = path;
    this.place = place;
    if (timestampMs !== undefined) this.timestampMs = timestampMs;
  }

  get payload(): Uint8Array {
    try {
      return new Uint8Array(readFileBytes(this.path, MOST_BODY_BYTES));
    } catch (error) {
      throw new RunError("internal", `${this.path}: ${messageOf(error)}`, "Do not change the files during a run.");
    }
  }

  get inputs(): DataStep["inputs"] {
    return NO_TENSORS;
  }

  get expected(): DataStep["expected"] {
    return NO_TENSORS;
  }
}

const WILD = /[*?]/;

/**
 * Returns the files that a pattern matches, sorted by path. `*` matches any characters of a name except a slash, `?` matches one. A
 * path without them, or one that exists exactly as written, is returned whether or not there is a file. Names that begin with a dot
 * match only patterns that begin with one.
 */
async function findFiles(pattern: string): Promise<string[]> {
  const { existsSync } = fileSystem();
  if (!WILD.test(pattern) || existsSync(locate(pattern))) return [pattern];
  let found = [pattern.startsWith("/") ? "/" : ""];
  const names = pattern.split("/").filter((name) => name !== "");
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const next = await Promise.all(found.map((folder) => matchIn(folder, name, isLast)));
    found = next.flat();
  }
  return found.sort();
}

/** Returns the entries of a folder that match a name: files if the name is the last one of a pattern, otherwise folders. */
async function matchIn(folder: string, name: string, isLast: boolean): Promise<string[]> {
  const { existsSync, statSync } = fileSystem();
  const paths = WILD.test(name)
    ? (await readdir(locate(folder === "" ? "." : folder)).catch(() => []))
        .filter((entry) => matches(entry, name))
        .map((entry) => join(folder, entry))
    : [join(folder, name)].filter((path) => existsSync(locate(path)));
  return paths.filter((path) => statSync(locate(path), { throwIfNoEntry: false })?.isDirectory() === !isLast);
}

function matches(entry: string, name: string): boolean {
  if (entry.startsWith(".") && !name.startsWith(".")) return false;
  const pattern = name
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "su").test(entry);
}
