import type { FileBody, FormField, RequestBody } from "../../inputs/request-bodies.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import { defined, parseJson } from "../../plan/objects.ts";
import { messageOf, ONLY_ONE, type Problem, problem, UserError, unreadable } from "../../plan/problem.ts";
import { parseDurationNs } from "../../plan/units.ts";
import { fileSystem, isDirectory, MOST_BODY_BYTES, readFileBytes } from "../../runtime/files.ts";
import { defineScenario, type Scenario } from "../../scenario/define.ts";
import type { hold } from "../../scenario/loads/concurrency.ts";
import { fileBody, type HttpOptions, http, multipart } from "../../scenario/targets/http.ts";
import type { TlsOptions } from "../../scenario/targets/tls.ts";
import type { HttpMethod } from "../../transport/request.ts";
import { readDuration, readHeaders } from "../flag-values.ts";
import type { FlagValues } from "../flags.ts";
import { HTTP_FOR } from "../options/load-options.ts";
import type { PlanValues } from "../options/place.ts";
import { readGivenLoad, readLimits, toLoad } from "../scenarios/given-load.ts";
import { readShared } from "../shared-flags.ts";

/** Conversion of `rampart http` to a scenario: everything after this is shared with scenarios. */

/** A scenario, and settings that are not part of scenarios. */
export interface HttpScenario {
  readonly scenario: Scenario;
  readonly values: PlanValues;
  readonly limits: readonly AssertionPlan[];
}

/** Converts the flags of `rampart http`. @throws UserError with all problems */
export function toScenario(flags: FlagValues): HttpScenario {
  const problems: Problem[] = [...flags.problems];
  const urls = flags.texts("url").length > 0 ? flags.texts("url") : flags.positionals;
  if (urls.length === 0)
    problems.push(problem("missing", "URL", "is not given", "Write rampart http http://localhost:8080/predict."));
  if (flags.texts("url").length > 0 && flags.positionals.length > 0)
    problems.push(problem("conflict", "--url", "the argument is an address too", "Give all addresses with --url."));
  const given = readGivenLoad(flags, "http", problems) ?? {};
  const limits = readLimits(flags, problems);
  const options = readOptions(flags, problems);
  const values = readShared(flags, "http", problems);
  const warmup = readDuration(flags, "warmup", problems);
  if (problems.length > 0) throw new UserError(problems);
  const load = toLoad({ ...given, extent: given.extent ?? { for: HTTP_FOR } }, Number(flags.value("users")));
  const scenario = defineScenario({
    name: "http",
    target: http(urls, options),
    load: load as ReturnType<typeof hold>,
    ...defined({ warmupFor: warmup }),
  });
  return { scenario, values, limits };
}

function readOptions(flags: FlagValues, problems: Problem[]): HttpOptions {
  const headers = readHeaders(flags, problems);
  const body = readBody(flags, problems);
  const method = flags.text("method") as HttpMethod | undefined;
  const status = readStatuses(flags, problems);
  const where = flags.text("success");
  const extract = readPairs(flags, "extract", "tokens=usage.total_tokens", problems);
  const tls = readTls(flags);
  if (body?.isJson === true && !hasType(headers)) headers["Content-Type"] = "application/json";
  return {
    headers,
    ...defined({ method, body: body?.value }),
    success: defined({ status, where }),
    extract: Object.fromEntries(extract),
    ...defined({ tls }),
  };
}

function hasType(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
}

function readStatuses(flags: FlagValues, problems: Problem[]): number[] | undefined {
  const text = flags.text("status");
  if (text === undefined || /^\d+(\s*,\s*\d+)*$/.test(text)) return text?.split(",").map(Number);
  problems.push(problem("invalid-value", "--status", "is not a list of statuses", "Write --status 200,404.", text));
  return undefined;
}

interface ReadBody {
  readonly value: RequestBody;
  /** Whether it is JSON, exactly as typed. */
  readonly isJson?: boolean;
}

function readBody(flags: FlagValues, problems: Problem[]): ReadBody | undefined {
  const data = flags.text("data");
  const fields = readPairs(flags, "form", "image=@cat.jpg", problems);
  if (data !== undefined && fields.length > 0) {
    problems.push(problem("conflict", "--form", "--data is given too", ONLY_ONE));
    return undefined;
  }
  if (fields.length > 0) return { value: multipart(groupFields(fields)) };
  if (data === undefined) return undefined;
  // In wrk, this letter sets the duration.
  if (parseDurationNs(data) !== undefined)
    problems.push(problem("invalid-value", "--data", "is a time", `Write --for ${data}, or -d @FILE.`, data));
  if (/^\d+$/.test(data))
    problems.push(problem("invalid-value", "--data", "is a number", `Write --for ${data}s, or -d @FILE.`, data));
  if (data === "@-") return readStdin(problems);
  if (data.startsWith("@")) return checkFile(data.slice(1), problems) && { value: fileBody(data.slice(1)) };
  return { value: data, isJson: isJson(data) };
}

function readStdin(problems: Problem[]): ReadBody | undefined {
  try {
    const bytes = readFileBytes(0, MOST_BODY_BYTES);
    return { value: bytes, isJson: isJson(new TextDecoder().decode(bytes)) };
  } catch (error) {
    problems.push(
      problem("unreadable", "--data", `standard input cannot be read: ${messageOf(error)}`, "Pipe the body in."),
    );
    return undefined;
  }
}

function checkFile(path: string, problems: Problem[]): true | undefined {
  try {
    fileSystem().accessSync(path, fileSystem().constants.R_OK);
    if (isDirectory(path)) throw Object.assign(new Error(), { code: "EISDIR" });
    return true;
  } catch (error) {
    problems.push(
      ...unreadable(path, error, "Check the path.").problems.map((found) => ({
        ...found,
        path: "--data",
        value: path,
      })),
    );
    return undefined;
  }
}

function isJson(text: string): boolean {
  const value = parseJson(text);
  return typeof value === "object" && value !== null;
}

/** Groups fields by name: a field that is given several times is sent several times. */
function groupFields(fields: readonly (readonly [name: string, value: string])[]): Record<string, FormField[]> {
  const grouped = new Map<string, FormField[]>();
  for (const [name, value] of fields) grouped.set(name, [...(grouped.get(name) ?? []), toField(value)]);
  return Object.fromEntries(grouped);
}

/** Reads a value like curl: `@FILE`, with `;type=…` and `;filename=…`, or text. */
function toField(value: string): string | FileBody {
  if (!value.startsWith("@")) return value;
  const [path = "", ...rest] = value.slice(1).split(";");
  const find = (name: string): string | undefined =>
    rest
      .map((part) => part.trim())
      .find((part) => part.startsWith(`${name}=`))
      ?.slice(name.length + 1);
  const [type, name] = [find("type"), find("filename")];
  return fileBody(path, defined({ type, name }));
}

function readPairs(
  flags: FlagValues,
  flag: string,
  example: string,
  problems: Problem[],
): [name: string, value: string][] {
  return flags.texts(flag).flatMap((text): [string, string][] => {
    const equals = text.indexOf("=");
    if (equals > 0) return [[text.slice(0, equals), text.slice(equals + 1)]];
    problems.push(problem("invalid-value", `--${flag}`, "must be NAME=VALUE", `Write --${flag} ${example}.`, text));
    return [];
  });
}

function readTls(flags: FlagValues): TlsOptions | undefined {
  const [ca, cert, key] = [flags.text("cacert"), flags.text("cert"), flags.text("key")];
  if (ca === undefined && cert === undefined && key === undefined) {
    // Without TLS there is no certificate to accept; curl ignores this too.
    const isPlain = [...flags.positionals, ...flags.texts("url")].some((url) => /^http:\/\//i.test(url));
    if (isPlain || !flags.has("insecure")) return undefined;
  }
  return {
    ...defined({ ca, cert, key }),
    ...(flags.has("insecure") ? { verify: false } : {}),
  };
}
