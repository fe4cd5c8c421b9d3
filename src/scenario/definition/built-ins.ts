import { userError } from "../../plan/problem.ts";

/**
 * Rampart and a scenario share the built-in objects of the language. A scenario that removes one, or adds a property to every object, would
 * cause an internal error of Rampart far from its origin. This module finds and undoes such changes.
 */

const GLOBALS = (
  "Array ArrayBuffer Atomics BigInt BigInt64Array Boolean DataView Date Error Float32Array Float64Array Function Int32Array JSON Map Math " +
  "Number Object Promise Proxy RangeError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError Uint32Array Uint8Array " +
  "WeakMap WeakSet Buffer TextDecoder TextEncoder URL AbortController AbortSignal clearInterval clearTimeout performance process " +
  "queueMicrotask setImmediate setInterval setTimeout structuredClone"
).split(" ");

const HOLDERS = "Array Error Function JSON Map Math Number Object Promise RegExp Set String Uint8Array".split(" ");

/**
 * Built-in objects whose properties Rampart uses, by name. The first one is the global object, of which only some
 * properties matter.
 */
function listHolders(): [name: string, holder: object][] {
  const all = globalThis as unknown as Readonly<Record<string, object & { readonly prototype?: object }>>;
  return HOLDERS.flatMap((name): [string, object][] => {
    const holder = all[name] as object & { readonly prototype?: object };
    const { prototype } = holder;
    return [[name, holder], ...(prototype === undefined ? [] : [[`${name}.prototype`, prototype] as [string, object]])];
  });
}

/** A built-in object in its original state. */
interface Kept {
  readonly name: string;
  readonly holder: object;
  readonly properties: ReadonlyMap<string, PropertyDescriptor>;
}

/** The state of the language's built-in objects at one time. */
export class BuiltIns {
  private readonly kept: readonly Kept[];

  constructor() {
    const globals = { name: "globalThis", holder: globalThis, properties: describe(globalThis, GLOBALS) };
    this.kept = [globals, ...listHolders().map(([name, holder]) => ({ name, holder, properties: describe(holder) }))];
  }

  /**
   * Undoes changes that break Rampart: missing properties, and properties added to every object.
   * @returns the names, such as `Object.prototype.x`
   */
  restore(): string[] {
    const changed: string[] = [];
    for (const { name, holder, properties } of this.kept) {
      for (const [key, before] of properties) {
        const now = Reflect.getOwnPropertyDescriptor(holder, key);
        if (isUsable(before, now)) continue;
        changed.push(name === "globalThis" ? key : `${name}.${key}`);
        Reflect.defineProperty(holder, key, before);
      }
      if (holder !== Object.prototype) continue;
      for (const key of Reflect.ownKeys(holder)) {
        if (typeof key !== "string" || properties.has(key)) continue;
        changed.push(`${name}.${key}`);
        Reflect.deleteProperty(holder, key);
      }
    }
    return changed;
  }
}

/** A function may be replaced by another one, as packages that trace calls do. */
function isUsable(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  return now !== undefined && (!("value" in before) || !("value" in now) || typeof now.value === typeof before.value);
}

function describe(holder: object, names?: readonly string[]): Map<string, PropertyDescriptor> {
  const found = new Map<string, PropertyDescriptor>();
  for (const key of names ?? Reflect.ownKeys(holder)) {
    const descriptor = typeof key === "string" ? Reflect.getOwnPropertyDescriptor(holder, key) : undefined;
    if (descriptor !== undefined) found.set(key as string, descriptor);
  }
  return found;
}

/** Undoes the changes of a scenario. @throws UserError with the names of changed properties, if there are any */
export function refuseChanges(builtIns: BuiltIns, file: string): void {
  const changed = builtIns.restore();
  if (changed.length === 0) return;
  const message = `changes ${changed.slice(0, 5).join(", ")}, which Rampart needs`;
  throw userError("exception", file, message, "Leave the language's own objects as they are.");
}
