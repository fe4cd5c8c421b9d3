import type { Plan } from "./plan.ts";

/**
 * Secrets of a run: keys, passwords and cookies. They are registered where they come in, and masked where text leaves the program: on
 * the terminal, in every file, and before a text is cut to length. The list is one per process, as a secret stays one until it ends.
 */

/** What stands in place of a secret within a text. */
const MASK = "***";
/** What stands in place of the value of a secret header. */
export const HIDDEN_VALUE = "<hidden>";

/** Shorter texts are no keys, and stand in any text. */
const SHORTEST_CHARACTERS = 4;
/** Below this length a secret is masked only as a whole word: `test` is not masked in `latest`. */
const SHORTEST_PART_CHARACTERS = 8;
/** JSON literals and short numbers are figures of reports. */
const NO_SECRET = /^(?:true|false|null|none|[\d.+-]{1,7})$/i;

const SECRET_NAME =
  /authorization|cookie|token|secret|passw|credential|signature|(?:^|[-_.])(?:auth|pwd|sig)(?:$|[-_.])|(?:^|[-_.]|api|access)key(?:$|[-_.])/i;
/** Names that say so beyond doubt, for command lines, where other options have the form `name:value` too. */
const SECRET_ARGUMENT =
  /^\s*[\w-]*(?:authorization|cookie|api-?key|secret|passw|(?:auth|access|security)-?token)[\w-]*\s*[:=\s]\s*(?<value>\S.*)$/is;
const SCHEME = /^(?:bearer|basic|token|digest|negotiate|apikey|api-key|key)\s+/i;

/** Registered secrets in all the forms in which they are written. */
const forms = new Set<string>();
/** Finds them, longest first; made anew after a registration. */
let pattern: RegExp | undefined;

/** Whether the value of a header or of a query parameter with this name is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.trim());
}

/** Registers a text as secret. Line breaks and blanks at its ends are no part of it. */
export function registerSecret(text: string): void {
  const secret = text.trim();
  if (secret.length < SHORTEST_CHARACTERS || NO_SECRET.test(secret)) return;
  const once = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(once).slice(1, -1);
  for (const form of [secret, once, twice, ...encodings(secret)]) forms.add(form);
  pattern = undefined;
  // Each line may be printed without the others.
  const lines = secret.split(/[\r\n]+/);
  if (lines.length > 1) for (const line of lines) registerSecret(line);
}

/** Registers the values of headers whose names say that they are secret. */
export function registerHeaders(headers: readonly (readonly [name: string, value: string])[]): void {
  for (const [name, value] of headers) if (isSecretName(name)) registerValue(name, value);
}

/** Registers what stands before `@` in an address, and query parameters whose names say that they are secret. */
export function registerUrl(url: string): void {
  const { scheme, login } = /^\s*=?(?<scheme>[a-z][a-z\d+.-]*:\/\/)?(?<login>[^/?#\s]*)@/i.exec(url)?.groups ?? {};
  if (login !== undefined && (scheme !== undefined || login.includes(":"))) {
    const [user = "", ...rest] = login.split(":");
    const password = rest.join(":");
    // A token may stand alone in the place of the name.
    for (const secret of [password === "" ? user : password, login]) {
      registerSecret(secret);
      registerSecret(decodeOrKeep(secret));
    }
    registerSecret(Buffer.from(decodeOrKeep(login)).toString("base64"));
  }
  for (const { groups } of url.matchAll(/[?&;](?<name>[^=&;#\s]+)=(?<value>[^&;#\s]+)/g)) {
    const { name = "", value = "" } = groups ?? {};
    if (!isSecretName(name)) continue;
    registerSecret(value);
    registerSecret(decodeOrKeep(value));
  }
}

/** Registers the secrets of words that a user typed, whatever is wrong with them: headers, and addresses with a login or a key. */
export function registerArguments(args: readonly string[]): void {
  for (const arg of args) {
    const text = arg.replace(/^(?:-H=?|--header=)/, "");
    const value = text.startsWith("-") ? undefined : SECRET_ARGUMENT.exec(text)?.groups?.["value"];
    if (value !== undefined) registerValue(text, value);
    registerUrl(text.replace(/^--[\w-]+=/, ""));
  }
}

/** The registered secrets, for another thread. */
export function registeredSecrets(): string[] {
  return [...forms];
}

/** The text without the registered secrets. Costs next to nothing while there are none. */
export function maskSecrets(text: string): string {
  if (forms.size === 0) return text;
  for (const form of forms) {
    // Looking for a text is far cheaper than looking for a pattern, and nearly always there is nothing to find.
    if (!text.includes(form)) continue;
    pattern ??= createPattern();
    return text.replace(pattern, MASK);
  }
  return text;
}

/** The text without the registered secrets, and without logins and keys in any address: for terminals, where addresses are of all origins. */
export function maskText(text: string): string {
  return maskSecrets(text)
    .replace(/:\/\/[^/?#\s@'"<>]{1,1000}@/g, `://${MASK}@`)
    .replace(/([?&])([^=?&#\s'"<>]{1,100})=([^&#\s'"<>]+)/g, (all, mark: string, name: string, value: string) =>
      isSecretName(name) && !NO_SECRET.test(value) ? `${mark}${name}=${MASK}` : all,
    );
}

/** A plan as it may be shown: secret headers without their values. What else is secret in it is masked where it is printed. */
export function withoutSecrets(plan: Plan): Plan {
  const { target } = plan;
  if (!("headers" in target)) return plan;
  const headers = target.headers.map(([name, value]) => [name, isSecretName(name) ? HIDDEN_VALUE : value] as const);
  return { ...plan, target: { ...target, headers } };
}

/**
 * Reads an API key from the environment, without the line break that a file leaves at its end.
 * @returns the key, or what is wrong with the variable, in words that do not hold the key
 */
export function readApiKey(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): { readonly key: string } | { readonly problem: string } {
  const value = env[name];
  if (value === undefined || value === "") return { problem: `the environment has no variable ${name}` };
  registerSecret(value);
  const key = value.trim();
  if (key === "") return { problem: `the variable ${name} is empty` };
  if (/[^\x20-\x7e]/.test(key))
    return { problem: `the variable ${name} has a line break or another character that no header can carry` };
  return { key };
}

function registerValue(name: string, value: string): void {
  const bare = value.trim().replace(SCHEME, "");
  registerSecret(bare);
  if (/^\s*basic\s/i.test(value)) {
    const login = Buffer.from(bare, "base64").toString();
    registerSecret(login);
    registerSecret(login.slice(login.indexOf(":") + 1));
  }
  if (!/cookie/i.test(name)) return;
  for (const pair of bare.split(";")) registerSecret(pair.slice(pair.indexOf("=") + 1));
}

function createPattern(): RegExp {
  const alternatives = [...forms]
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      const escaped = form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
      const isWord = form.length < SHORTEST_PART_CHARACTERS || /^\d+$/.test(form);
      return isWord ? `(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])` : escaped;
    });
  return new RegExp(alternatives.join("|"), "g");
}

/** In an address: wholly encoded, as a whole address is encoded, and decoded as one. */
function encodings(text: string): string[] {
  try {
    const encoded = encodeURIComponent(text);
    return [encoded, encodeURI(text), decodeURI(encoded)];
  } catch {
    return [];
  }
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
