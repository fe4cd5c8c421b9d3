import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, UserError, unreadable } from "../../plan/problem.ts";
import { textsIn } from "../../registry/input-files.ts";
import { findModules, type SentLink } from "../../run/fleet/bus/sent-modules.ts";
import { isDirectory, isFile, readFileBytes } from "../../runtime/files.ts";

/** Files of this host that are sent to the pods. */

/** Folder of the pods with these files. */
export const POD_FOLDER = "/rampart";

/** A file of the pods. */
export interface PodFile {
  /** Path below {@link POD_FOLDER}, with slashes. */
  readonly path: string;
  /** Path on this host. */
  readonly source: string;
  /** Whether it must be in a Secret. */
  readonly isSecret: boolean;
}

/** The files of a scenario. */
export interface ScenarioFiles {
  /** The scenario itself, below {@link POD_FOLDER}. */
  readonly scenario: string;
  readonly files: readonly PodFile[];
}

/** Maximum size of a ConfigMap, and of a Secret, in Kubernetes. */
const MOST_BYTES = 1024 * 1024;
/** Maximum number of files; more would be too large anyway. */
const MOST_FILES = 10_000;
const SHOWN_FILES = 3;

/**
 * Finds the scenario, the modules and packages that it imports, and the files and folders that its plan names. Their relative places are
 * kept. Files with an absolute path outside of the scenario's folder must be in the image.
 * @param path absolute path of the scenario
 * @param written texts of the scenario, as its author wrote them
 * @throws UserError for a scenario with imports that cannot be sent
 */
export function findScenarioFiles(path: string, plan: Plan, written: readonly string[]): ScenarioFiles {
  const folder = dirname(path);
  const inImage = new Set(written.filter((text) => isAbsolute(text) && relative(folder, text).startsWith("..")));
  const named = textsIn([plan.target, plan.load, plan.inputs, plan.measurement.tokens]);
  const ofPlan = named.filter((text) => isAbsolute(text) && !inImage.has(text)).flatMap(filesAt);
  const secrets = textsIn(fieldOf(plan.target, "tls"));
  const { paths, links } = findModules(path);
  const problems = links.filter((link) => link.path !== path).map((link) => isLink(path, link));
  if (problems.length > 0) throw new UserError(problems);
  const sources = [...new Set([...paths, ...ofPlan.filter(isFile)].map((source) => realpathSync(source)))];
  const root = commonFolder(sources);
  const place = (source: string): string => `files/${relative(root, source).split(sep).join("/")}`;
  const isSecret = new Set(secrets.filter(isFile).map((secret) => realpathSync(secret)));
  const files = sources.map((source) => ({ source, path: place(source), isSecret: isSecret.has(source) }));
  return { scenario: place(realpathSync(path)), files };
}

function isLink(scenario: string, { path }: SentLink): Problem {
  const message = `imports ${path}, which is a symbolic link, and pods get only files`;
  return problem("unsupported", scenario, message, "Bundle the scenario into one file first.");
}

/** Returns a file, or the files of a folder; empty if the path does not exist. */
function filesAt(path: string): string[] {
  if (!isDirectory(path)) return [path];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).slice(0, MOST_FILES);
  return names.map((name) => join(path, name)).filter(isFile);
}

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => dirname(path).split(sep));
  const isShared = (part: string, at: number): boolean => others.every((parts) => parts[at] === part);
  const end = first.findIndex((part, at) => !isShared(part, at));
  return (end === -1 ? first : first.slice(0, end)).join(sep) || sep;
}

/** Returns the problem that the files are too large, with the largest ones; empty if they are not. @param file as typed */
export function checkSizes(file: string, files: readonly PodFile[]): Problem[] {
  return [false, true].flatMap((isSecret): Problem[] => {
    const sizes = files
      .filter((one) => one.isSecret === isSecret)
      .map(({ source }) => ({ source, bytes: statSync(source).size }))
      .sort((a, b) => b.bytes - a.bytes);
    const bytes = sizes.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes <= MOST_BYTES) return [];
    const largest = sizes.slice(0, SHOWN_FILES).map((one) => `${one.source} (${formatSize(one.bytes)})`);
    const kind = isSecret ? "a Secret" : "a ConfigMap";
    const message = `needs ${formatSize(bytes)} of files, and ${kind} holds at most 1 MiB; the largest are ${largest.join(", ")}`;
    const hint = "Copy them into the image, and name them in the scenario by their absolute path there.";
    return [problem("unsupported", file, message, hint)];
  });
}

function formatSize(bytes: number): string {
  return bytes < MOST_BYTES ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MOST_BYTES).toFixed(1)} MiB`;
}

/** Characters that every YAML parser returns unchanged. */
const PLAIN_TEXT = /^[\t\n\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Contents of files by their keys in a ConfigMap or a Secret. */
export interface KeyedFiles {
  readonly texts: Readonly<Record<string, string>>;
  /** Files in base64. */
  readonly others: Readonly<Record<string, string>>;
  /** Path of each file. */
  readonly items: readonly { readonly key: string; readonly path: string }[];
}

/** Reads files, and assigns keys to them. @throws UserError if a file cannot be read */
export function readKeyedFiles(files: readonly PodFile[]): KeyedFiles {
  const texts: [string, string][] = [];
  const others: [string, string][] = [];
  const items = files.map(({ source, path }, index) => {
    const bytes = readBytes(source);
    const key = `${index}-${path.replace(/^files\//, "").replaceAll(/[^-._a-zA-Z0-9]/g, "_")}`.slice(0, MOST_KEY);
    const text = bytes.toString("utf8");
    if (PLAIN_TEXT.test(text) && Buffer.from(text).equals(bytes)) texts.push([key, text]);
    else others.push([key, bytes.toString("base64")]);
    return { key, path };
  });
  return { texts: Object.fromEntries(texts), others: Object.fromEntries(others), items };
}

const MOST_KEY = 253;

function readBytes(path: string): Buffer {
  try {
    return readFileBytes(path, MOST_BYTES);
  } catch (error) {
    throw unreadable(path, error);
  }
}
