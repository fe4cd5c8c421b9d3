import type { Environment, Interpreter } from "@huggingface/jinja";
import { isObject } from "../../plan/objects.ts";
import { messageOf, type UserError, userError } from "../../plan/problem.ts";
import { type Jinja, loadJinja } from "../jinja.ts";
import { parseJson } from "../json-text.ts";
import type { JsonObject } from "./prompt-entry.ts";

/** Request bodies from a user's Jinja template. */

/** A template's text, and its name for errors. */
export interface TemplateSource {
  readonly text: string;
  /** The file's path, or the option that contains the template. */
  readonly name: string;
}

/** A parsed template. */
export interface PayloadTemplate {
  /** Renders the bodies of one entry: one for an object, or one for each object of a list. @throws UserError */
  render(variables: Variables): JsonObject[];
}

type Variables = Readonly<Record<string, unknown>>;
type Program = Parameters<Interpreter["run"]>[0];

/** Parses a template. @throws UserError with the line if it is not valid */
export async function openTemplate(source: TemplateSource): Promise<PayloadTemplate> {
  const jinja = await loadJinja();
  const program = parse(jinja, source.text);
  if (program instanceof Error) {
    const line = findFailingLine(source.text, (text) => parse(jinja, text) instanceof Error);
    const message = `is not a valid template: ${program.message}`;
    throw templateError(source, line, message, "Correct it; it is written in Jinja.");
  }
  return {
    render: (variables) => toBodies(jinja, source, renderText(jinja, source, program, variables), variables),
  };
}

function parse(jinja: Jinja, text: string): Program | Error {
  try {
    // Replaces a spelling that Jinja supports and the library does not.
    return jinja.parse(jinja.tokenize(text.replaceAll(/\bstream\s*\|\s*lower\b/g, "stream|tojson")));
  } catch (error) {
    // The library throws its own TypeError for a missing end tag.
    return error instanceof SyntaxError ? error : new Error("a tag is not closed");
  }
}

function renderText(jinja: Jinja, source: TemplateSource, program: Program, variables: Variables): string {
  const unknownNames = new Set<string>();
  let text: string;
  try {
    text = run(jinja, program, variables, unknownNames);
  } catch (error) {
    const line = findRunLine(jinja, source.text, variables);
    throw templateError(source, line, `fails: ${messageOf(error)}`, "Correct it there.");
  }
  for (const name of unknownNames) {
    if (isOptional(source.text, name)) continue;
    const hint = `The variables are ${Object.keys(variables).join(", ")}.`;
    throw templateError(source, findLineOf(source.text, name), `uses '${name}', which does not exist`, hint);
  }
  return text;
}

/** Whether the template itself checks for the variable. */
function isOptional(text: string, name: string): boolean {
  return new RegExp(`\\b${name}\\s*(?:is\\b|\\|\\s*default\\b)`).test(text);
}

function run(jinja: Jinja, program: Program, variables: Variables, unknownNames: Set<string>): string {
  const environment = createEnvironment(jinja, unknownNames);
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return String(new jinja.Interpreter(environment).run(program).value);
}

/** Creates an environment with the variables of every template. Its outermost scope, which is searched last, records unknown names. */
function createEnvironment(jinja: Jinja, unknownNames: Set<string>): Environment {
  const last = new jinja.Environment();
  last.variables = new RecordingMap(last.variables, unknownNames);
  const environment = new jinja.Environment(last);
  for (const [name, value] of Object.entries({ true: true, True: true, false: false, False: false, none: null }))
    environment.set(name, value);
  environment.set("None", null);
  environment.set("range", range);
  environment.set("raise_exception", (message: string) => {
    throw new Error(message);
  });
  return environment;
}

class RecordingMap<V> extends Map<string, V> {
  // Not set yet while `super` copies the entries.
  private readonly unknownNames: Set<string> | undefined;

  constructor(entries: Iterable<readonly [string, V]>, unknownNames: Set<string>) {
    super(entries);
    this.unknownNames = unknownNames;
  }

  override has(name: string): boolean {
    const isKnown = super.has(name);
    if (!isKnown) this.unknownNames?.add(name);
    return isKnown;
  }
}

function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step);
}

/** Parses a template in which each tag reports its line before it is rendered; undefined if it cannot be parsed that way. */
function parseMarked(jinja: Jinja, text: string): Program | undefined {
  const marked = text
    .split("\n")
    .map((content, index) => content.replaceAll(/\{\{|\{%/g, (tag) => `{{ report_line(${index + 1}) }}${tag}`))
    .join("\n");
  const program = parse(jinja, marked);
  return program instanceof Error ? undefined : program;
}

/** Returns the line at which rendering fails. */
function findRunLine(jinja: Jinja, text: string, variables: Variables): number | undefined {
  const program = parseMarked(jinja, text);
  if (program === undefined) return undefined;
  let line: number | undefined;
  const reportLine = (at: number): string => {
    line = at;
    return "";
  };
  try {
    run(jinja, program, { ...variables, report_line: reportLine }, new Set());
  } catch {
    return line;
  }
  return undefined;
}

/** Returns the line that rendered the first text that is not JSON. */
function findJsonLine(jinja: Jinja, text: string, variables: Variables): number | undefined {
  const program = parseMarked(jinja, text);
  if (program === undefined) return undefined;
  const reportLine = (at: number): string => `\u0001${at}\u0001`;
  const pieces = run(jinja, program, { ...variables, report_line: reportLine }, new Set()).split("\u0001");
  const fault = findJsonFault(pieces.filter((_, index) => index % 2 === 0).join(""));
  let start = 0;
  let line = 1;
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) line = Number(piece);
    else if (start + piece.length > fault) return line + countLines(piece.slice(0, fault - start));
    else start += piece.length;
  }
  return line + countLines(pieces.at(-1) ?? "");
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

function toBodies(jinja: Jinja, source: TemplateSource, text: string, variables: Variables): JsonObject[] {
  const hint = 'Write a template that makes one object, such as {"prompt": {{ text|tojson }}}, or a list of objects.';
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    const fault = findJsonFault(text);
    const rest = text.slice(fault, fault + SHOWN_CHARACTERS);
    const where = rest === "" ? "its end" : rest;
    const line = findJsonLine(jinja, source.text, variables);
    throw templateError(source, line, "does not make JSON from here on", hint, where);
  }
  const bodies: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (bodies.length > 0 && bodies.every((body) => isObject(body))) return bodies as JsonObject[];
  throw templateError(
    source,
    undefined,
    "makes neither a JSON object nor a list of them",
    hint,
    text.slice(0, SHOWN_CHARACTERS),
  );
}

const SHOWN_CHARACTERS = 60;

function templateError(
  { name }: TemplateSource,
  line: number | undefined,
  message: string,
  hint: string,
  value?: string,
): UserError {
  const path = line === undefined ? name : `${name}, line ${line}`;
  return userError("invalid-value", path, message, hint, value);
}

const TOKEN =
  /\s*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\.)*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/uy;

/** Token that may come next. */
type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "more";

/**
 * Returns the place where a text stops being JSON: the offset of the first invalid token, or of the end if something is missing. Needed
 * because the messages of `JSON.parse` differ between runtimes.
 */
export function findJsonFault(text: string): number {
  const open: string[] = [];
  let expected: Expected = "value";
  TOKEN.lastIndex = 0;
  while (!(expected === "more" && open.length === 0)) {
    const start = skipBlanks(text, TOKEN.lastIndex);
    const [matched, mark, string] = TOKEN.exec(text) ?? [];
    const next: Expected | undefined =
      matched === undefined ? undefined : follow(expected, mark, string !== undefined, open);
    if (next === undefined) return start;
    expected = next;
  }
  return skipBlanks(text, TOKEN.lastIndex);
}

/** Returns what may follow a token; undefined if the token itself is not allowed. Updates the stack of open brackets. */
function follow(expected: Expected, mark: string | undefined, isString: boolean, open: string[]): Expected | undefined {
  const inner = open.at(-1);
  const isEnd = (mark === "}" && inner === "{") || (mark === "]" && inner === "[");
  if (isEnd && (expected === "more" || expected.endsWith("or end"))) {
    open.pop();
    return "more";
  }
  if (expected === "colon") return mark === ":" ? "value" : undefined;
  if (expected === "more") return mark !== "," ? undefined : inner === "{" ? "key" : "value";
  if (expected.startsWith("key")) return isString ? "colon" : undefined;
  if (mark === undefined) return "more";
  if (mark !== "{" && mark !== "[") return undefined;
  open.push(mark);
  return mark === "{" ? "key or end" : "value or end";
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] as string)) at++;
  return at;
}

interface Tag {
  readonly text: string;
  /** Line, from 1. */
  readonly line: number;
}

/** Blocks that need an end tag. */
const OPENING = /^\{%-?\s*(if|for|macro|call|filter|set(?!.*=))\b/s;
const CLOSING = /^\{%-?\s*end(if|for|macro|call|filter|set)\b/s;
const INNER = /^\{%-?\s*(?:else|elif|raw|endraw)\b/s;

/**
 * Returns the line of the first invalid tag, or of a block without its start or end, because the errors of the library have no position.
 * @param isBroken whether a text is not a valid template
 * @returns undefined if no single tag is the cause
 */
function findFailingLine(text: string, isBroken: (text: string) => boolean): number | undefined {
  const open: { readonly name: string; readonly line: number }[] = [];
  for (const tag of tagsOf(text)) {
    const opened = OPENING.exec(tag.text)?.[1];
    const closed = CLOSING.exec(tag.text)?.[1];
    if (closed !== undefined) {
      if (open.pop()?.name !== closed) return tag.line;
    } else if (!INNER.test(tag.text)) {
      if (isBroken(opened === undefined ? tag.text : `${tag.text}{% end${opened} %}`)) return tag.line;
      if (opened !== undefined) open.push({ name: opened, line: tag.line });
    }
  }
  return open.at(-1)?.line;
}

/** Returns the line of the first tag that contains a name. */
function findLineOf(text: string, name: string): number | undefined {
  const word = new RegExp(`\\b${name}\\b`);
  return tagsOf(text).find((tag) => word.test(tag.text))?.line;
}

/** Returns all tags; an unclosed one extends to the end. */
function tagsOf(text: string): Tag[] {
  return [...text.matchAll(/\{\{[\s\S]*?(?:\}\}|$)|\{%[\s\S]*?(?:%\}|$)/g)].map(({ 0: tag, index }) => ({
    text: tag,
    line: text.slice(0, index).split("\n").length,
  }));
}
