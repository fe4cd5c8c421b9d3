import { registerArguments } from "../../../plan/secrets.ts";

/**
 * Lists the values of plain data by their paths: `target.model` → `resnet50`. Lists of plain values are one value. Keys and passwords that
 * other tools write into their files are registered, so that no report shows them.
 * @param skip paths to leave out, with everything below them
 */
export function listFacts(data: unknown, skip: ReadonlySet<string> = new Set()): Map<string, string> {
  const facts = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (skip.has(path) || value === undefined) return;
    const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null);
    if (typeof value !== "object" || value === null || isPlainList) {
      registerSecrets(path, [value].flat());
      facts.set(path, typeof value === "string" ? value : JSON.stringify(value));
      return;
    }
    for (const [key, item] of Object.entries(value)) visit(item, path === "" ? key : `${path}.${key}`);
  };
  visit(data, "");
  return facts;
}

/** Registers what a name calls a secret, headers in texts, and logins in addresses. */
function registerSecrets(path: string, values: readonly unknown[]): void {
  const name = path.slice(path.lastIndexOf(".") + 1).replaceAll("_", "-");
  for (const value of values) if (typeof value === "string") registerArguments([value, `${name}: ${value}`]);
}
