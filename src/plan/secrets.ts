/** Replacement for a secret in a text. */
export const MASK = "***";
/** Replacement for the value of a secret header. */
export const HIDDEN_VALUE = "<hidden>";

/** Shorter texts are not secrets, because they occur in any text. */
const SHORTEST_CHARACTERS = 4;
/** Shorter secrets are masked only as whole words: `test` is not masked in `latest`. */
const SHORTEST_PART_CHARACTERS = 8;
/** JSON literals and short numbers are not secrets, because they occur in reports. */
const NO_SECRET = /^(?:true|false|null|none|[\d.+-]{1,7})$/i;

const SECRET_NAME =
  /authorization|cookie|token|secret|passw|credential|signature|(?:^|[-_.])(?:auth|pwd|sig)(?:$|[-_.])|(?:^|[-_.]|api|access)key(?:$|[-_.])/i;
/** Unambiguous names of secrets on command lines, where other options also have the form `name:value`. */
const SECRET_ARGUMENT =
  /^\s*[\w-]*(?:authorization|cookie|api-?key|secret|passw|(?:auth|access|security)-?token)[\w-]*\s*[:=\s]\s*(?<value>\S.*)$/is;
const SCHEME = /^(?:bearer|basic|token|digest|negotiate|apikey|api-key|key)\s+/i;

/**
 * Registered secrets (keys, passwords, cookies) in all forms in which they may be written. Secrets are registered on input and
 * masked on output: on the terminal, in every file, and before a text is cut. The list is global, because a secret stays secret
 * until the process ends.
 */
const forms = new Set<string>();
/** Matches `forms`, longest first; rebuilt after a registration. */
let pattern: RegExp | undefined;

/** Reports whether a header or query parameter with this name is secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.trim());
}

/** Reports whether a text can be a secret. Other texts occur anywhere. */
export function canBeSecret(text: string): boolean {
  return text.length >= SHORTEST_CHARACTERS && !NO_SECRET.test(text);
}

/** Registers a secret, without surrounding whitespace. */
export function registerSecret(text: string): void {
  const secret = text.trim();
  if (!canBeSecret(secret)) return;
  const once = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(once).slice(1, -1);
  for (const form of [secret, once, twice, ...encodings(secret)]) forms.add(form);
  pattern = undefined;
  // Lines may be printed separately.
  const lines = secret.split(/[\r\n]+/);
  if (lines.length > 1) for (const line of lines) registerSecret(line);
}

export function registerHeaders(headers: readonly (readonly [name: string, value: string])[]): void {
  for (const [name, value] of headers) if (isSecretName(name)) registerValue(name, value);
}

/** Registers the login in a URL, and query parameters with secret names. */
export function registerUrl(url: string): void {
  const { scheme, login } = /^\s*=?(?<scheme>[a-z][a-z\d+.-]*:\/\/)?(?<login>[^/?#\s]*)@/i.exec(url)?.groups ?? {};
  if (login !== undefined && (scheme !== undefined || login.includes(":"))) {
    const [user = "", ...rest] = login.split(":");
    const password = rest.join(":");
    // The user name may be a token.
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

/** Registers the secrets in a command line, valid or not: headers, and URLs with a login or a key. */
export function registerArguments(args: readonly string[]): void {
  for (const arg of args) {
    const text = arg.replace(/^(?:-H=?|--header=)/, "");
    const value = text.startsWith("-") ? undefined : SECRET_ARGUMENT.exec(text)?.groups?.["value"];
    if (value !== undefined) registerValue(text, value);
    registerUrl(text.replace(/^--[\w-]+=/, ""));
  }
}

/** Returns the registered secrets, for another thread. */
export function registeredSecrets(): string[] {
  return [...forms];
}

/** Whether any secret is registered. */
export function hasSecrets(): boolean {
  return forms.size > 0;
}

/** Masks the registered secrets in a text. Fast if there are none. */
export function maskSecrets(text: string): string {
  if (forms.size === 0) return text;
  for (const form of forms) {
    // Searching for a string is much faster than for a pattern, and there is usually no match.
    if (!text.includes(form)) continue;
    pattern ??= createPattern();
    return text.replace(pattern, MASK);
  }
  return text;
}

/** Masks the registered secrets, and logins and keys in any URL, for terminals. */
export function maskText(text: string): string {
  return maskSecrets(text)
    .replace(/:\/\/(?!USER:PASSWORD@)[^/?#\s@'"<>]{1,1000}@/g, `://${MASK}@`)
    .replace(/([?&])([^=?&#\s'"<>]{1,100})=([^&#\s'"<>]+)/g, (all, mark: string, name: string, value: string) =>
      isSecretName(name) && !NO_SECRET.test(value) ? `${mark}${name}=${MASK}` : all,
    );
}

/** The part of a target that may be secret. A mix contains the targets of its members. */
interface TargetHeaders {
  readonly kind: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly members?: readonly { readonly target: TargetHeaders }[];
}

/** Returns a plan for display, with secret headers hidden. Other secrets are masked when it is printed. */
export function withoutSecrets<P extends { readonly target: TargetHeaders }>(plan: P): P {
  return { ...plan, target: hideHeaders(plan.target) };
}

function hideHeaders<T extends TargetHeaders>(target: T): T {
  if (target.members !== undefined) {
    const members = target.members.map((member) => ({ ...member, target: hideHeaders(member.target) }));
    return { ...target, members };
  }
  if (target.headers === undefined) return target;
  const headers = target.headers.map(([name, value]) => [name, isSecretName(name) ? HIDDEN_VALUE : value] as const);
  return { ...target, headers };
}

/**
 * Reads an API key from the environment, without surrounding whitespace.
 * @returns the key, or a problem message without the key
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
    return { problem: `the variable ${name} has a line break or another character that is not allowed in a header` };
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

/** Returns the forms of a text in a URL: encoded completely, encoded as part of a URL, and decoded like a URL. */
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
