import { defined } from "../plan/objects.ts";
import { RunError, UserError } from "../plan/problem.ts";
import { serviceKindOf } from "../registry/service-kinds.ts";
import { parseUrl, sourcesOf } from "../run/open/endpoint.ts";
import { askStatus, type FoundApi, identifyServer, type ServerIdentity } from "../run/open/identify-server.ts";
import { probeModels } from "../run/open/probe.ts";
import type { ListedModel } from "../service/service.ts";
import type { Answers } from "./answers.ts";
import type { Detected } from "./question.ts";
import { serverOf, WIZARD_TARGETS, wizardTargetOf } from "./targets.ts";

/** Result of looking for a server at an address. */
export interface Detection {
  /** Absent if nothing responds, or only a server that fits no target of the wizard. */
  readonly detected?: Detected;
  /** The address; `https://…` if only TLS works there. */
  readonly url: string;
  /** One sentence for the user. */
  readonly text: string;
}

/** Returns the ports to try if the address has none: those of Triton and of most servers with OpenAI's API first. */
function defaultPorts(): readonly number[] {
  const servers = Object.keys(WIZARD_TARGETS).flatMap((target) =>
    (["http", "grpc"] as const).map((protocol) => serverOf({ target, protocol })),
  );
  const ports = servers
    .flatMap((server) => server ?? [])
    .map((server) => serviceKindOf(server).address(server).defaultPort);
  return [...new Set(ports)].sort((a, b) => a - b);
}

const DEFAULT_HTTP_PORT = 80;
const PROTOCOLS = { http: "HTTP", grpc: "gRPC" } as const;

/** Options for detecting a server. */
export interface Looking {
  /** The target to look for, which has priority over others that the server also provides. Default: the first one found */
  readonly wanted?: string | undefined;
  /** Addresses of this host to use for connections. Default: the system's choice */
  readonly sourceAddresses?: readonly string[] | undefined;
}

/** Detects the server at an address; takes a few seconds at most. Returns undefined if the text is not an address. */
export async function detectServer(url: string, looking: Looking = {}): Promise<Detection | undefined> {
  const { wanted } = looking;
  let last: Detection | undefined;
  for (const port of defaultPorts()) {
    let place: ReturnType<typeof parseUrl>;
    try {
      place = parseUrl(url, port);
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
    const found = await detectAt(url, place, looking);
    if (last?.detected === undefined || found.detected?.target === wanted) last = found;
    const isFound = found.detected !== undefined && (wanted === undefined || found.detected.target === wanted);
    // If the address has a port, other ports are not tried.
    if (isFound || place.port !== port) break;
  }
  return last;
}

async function detectAt(
  url: string,
  place: ReturnType<typeof parseUrl>,
  { wanted, sourceAddresses }: Looking,
): Promise<Detection> {
  const { host, port, isSecure } = place;
  const at = { host, port, sources: sourcesOf(defined({ sourceAddresses })) };
  const given = withPort(url, place);
  const plain = await identifyServer({ ...at, isSecure });
  if (isSecure && plain.speaks === "nothing") {
    const { speaks } = await identifyServer({ ...at, isSecure: false });
    if (speaks === "http" || speaks === "grpc")
      return { url, text: `${place.authority} does not speak TLS: write http:// before the address.` };
  }
  if (plain.speaks !== "tls" || isSecure) return describe(plain, { ...place, given }, wanted);
  const secure = await identifyServer({ ...at, isSecure: true });
  return describe(secure, { ...place, given: `https://${given.replace(/^http:\/\//, "")}`, isSecure: true }, wanted);
}

/** Returns the address with the port that was tried, if it has none, because the target's default port may differ. */
function withPort(url: string, { authority, port }: ReturnType<typeof parseUrl>): string {
  if (url.includes(authority) || !authority.endsWith(`:${port}`)) return url;
  return url.replace(authority.slice(0, -`:${port}`.length), authority);
}

/** An address at which a server responds. */
interface AskedAddress extends Pick<ReturnType<typeof parseUrl>, "pathPrefix" | "authority" | "isSecure"> {
  /** The address as the user gave it. */
  readonly given: string;
}

function describe(
  { speaks, found }: ServerIdentity,
  { given, pathPrefix: prefix, authority: at, isSecure }: AskedAddress,
  wanted?: string,
): Detection {
  const tls = isSecure ? " with TLS" : "";
  const usable = found.filter(({ kind }) => Object.hasOwn(WIZARD_TARGETS, kind));
  // An address such as host:8000/v1 means the API below that path, whose requests contain the path themselves.
  const meant = usable.find(({ path }) => prefix !== "" && `${path}/`.startsWith(`${prefix}/`));
  const url = meant === undefined ? given : given.slice(0, given.lastIndexOf(prefix));
  const known = usable.find(({ kind }) => kind === wanted) ?? meant ?? usable[0];
  if (known !== undefined) {
    const { kind: target, protocol } = known;
    const meantOnly = meant === undefined ? usable : [meant];
    const all = meantOnly.map((one) => ({ target: one.kind as string, protocol: one.protocol }));
    // A user who looks for a certain API need not know about others.
    const named = target === wanted ? [known] : found;
    return { detected: { target, protocol, found: all }, url, text: `${at} is ${describeFound(named)}${tls}.` };
  }
  if (speaks === "tls") return { url, text: `${at} speaks TLS.` };
  if (speaks === "other") return { url, text: `${at} speaks neither HTTP nor gRPC.` };
  if (speaks === "nothing")
    return { url, text: `${isSecure ? "Nothing known answers behind TLS" : "Nothing answers"} at ${at}.` };
  const text =
    found.length > 0
      ? `${at} is ${describeFound(found)}${tls}.`
      : `${at} speaks ${PROTOCOLS[speaks]}${tls}, but answers to none of the APIs that Rampart recognizes.`;
  // The general targets are named after their protocols.
  return Object.hasOwn(WIZARD_TARGETS, speaks)
    ? { detected: { target: speaks, protocol: speaks, found: [] }, url, text }
    : { url, text };
}

function describeFound(found: readonly FoundApi[]): string {
  return found.map(({ description, protocol }) => `${description} over ${PROTOCOLS[protocol]}`).join(", and ");
}

/** Sends one request to an HTTP server. Returns a sentence if the scenario's requests would fail; undefined if not, or if unknown. */
export async function describeRefusal(answers: Answers): Promise<string | undefined> {
  const { url = "", path, recording } = answers;
  // Recorded requests may not be GET requests.
  if (wizardTargetOf(answers)?.asks.includes("path") !== true || recording === "requests") return undefined;
  const [, address = "", ownPath = ""] = /^((?:https?:\/\/)?[^/?]*)(.*)$/.exec(url) ?? [];
  const asked = path ?? (ownPath.startsWith("/") ? ownPath : `/${ownPath}`);
  const status = await askStatus(parseUrl(address, DEFAULT_HTTP_PORT), asked);
  if (status === undefined || (status >= 200 && status < 300)) return undefined;
  const hint = status === 404 ? " Is the path right?" : "";
  return `${address}${asked} answers HTTP ${status}: all requests of the scenario would fail.${hint}`;
}

/** Finds the models of the chosen target: queries its server, or reads its folder. @throws RunError, UserError for a wrong answer */
export async function findModels(answers: Answers): Promise<readonly ListedModel[]> {
  const server = serverOf(answers);
  return server === undefined ? (wizardTargetOf(answers)?.listModels?.(answers) ?? []) : probeModels(server);
}

/** Returns the API with the model given by flags, if a server has several APIs; undefined if none lists it. */
export async function findTargetWithModel(given: Answers, detected: Detected | undefined): Promise<string | undefined> {
  const { found = [] } = detected ?? {};
  if (given.model === undefined || found.length < 2) return undefined;
  for (const one of found) {
    const models = await findModels({ ...given, ...one }).catch(() => []);
    if (models.some(({ name }) => name === given.model)) return one.target;
  }
  return undefined;
}

/** @throws RunError when none of the models can be measured */
export function requireMeasurable(models: readonly ListedModel[], answers: Answers): void {
  if (models.some(({ refusal }) => refusal === "")) return;
  const { url = "" } = answers;
  const place = url === "" ? `the folder ${answers["model-repository"]}` : url;
  throw new RunError("refused", `${place} has no model ready that can be measured`, "Load one on the server.");
}
