import type { RecordColumns } from "../../../measure/records.ts";
import { Timeline } from "../../../measure/timeline.ts";
import type { Plan } from "../../../plan/plan.ts";
import { messageOf, userError } from "../../../plan/problem.ts";
import { secToNs } from "../../../plan/units.ts";
import { nowNs, sleepUnless } from "../../../runtime/clock.ts";
import {
  type LoopbackRequest,
  type LoopbackResponse,
  type LoopbackServer,
  openLoopbackServer,
} from "../../../runtime/http/loopback-server.ts";
import type { Report, TextSink } from "../../report.ts";
import { listMetrics } from "../metric-list.ts";
import type { RunState } from "../run-state.ts";
import {
  acceptsProtobuf,
  encodePrometheus,
  formatPrometheusText,
  PROTOBUF_TYPE,
  TEXT_TYPE,
} from "./prometheus-formats.ts";
import { formatWatchPage, toPagePoint, toPageState } from "./watch-page.ts";

/**
 * Serves the state of a run to this host while it lasts: a web page, and metrics for Prometheus. The measuring thread responds, so
 * its work is bounded: responses are created at most a few times a second and then repeated, and requests beyond a number per
 * second are refused.
 */

const EVENT_MS = 1000;
/** One point per second, until there are too many. */
const COLUMNS = { mostColumns: 240, columnNs: secToNs(1) };
const MOST_WATCHERS = 8;
const MOST_REQUESTS_PER_SEC = 50;
/** Maximum age of a metrics text that is returned again. */
const REUSE_MS = 250;
/** Timeout for sending the last state to the pages. */
const CLOSE_MS = 500;

/** Protects a page on a well-known address from other sites: they can neither embed nor read it. */
const SAFE_HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
} as const;

/** Starts the server. @param port 0: a free port @throws UserError when it cannot listen */
export async function openWatchServer(plan: Plan, state: RunState, sink: TextSink, port: number): Promise<Report> {
  const watch = new WatchServer(plan, state);
  try {
    const address = await watch.listen(port);
    sink.err(`rampart: the run can be watched at http://${address}/ (for Prometheus: /metrics)\n`);
  } catch (error) {
    const hint = "Give another port, or 0 for a free one.";
    throw userError(
      "invalid-value",
      { setting: "outputs.watchPort" },
      `cannot be used: ${messageOf(error)}`,
      hint,
      `${port}`,
    );
  }
  return watch;
}

class WatchServer implements Report {
  private readonly plan: Plan;
  private readonly state: RunState;
  private server: LoopbackServer | undefined;
  private readonly watchers = new Set<LoopbackResponse>();
  private readonly made = new Map<string, { readonly atMs: number; readonly body: string | Uint8Array }>();
  private timeline: Timeline | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private second = { startMs: 0, requestCount: 0 };

  constructor(plan: Plan, state: RunState) {
    this.plan = plan;
    this.state = state;
  }

  /** Returns the address. @throws the system's error */
  async listen(port: number): Promise<string> {
    this.server = await openLoopbackServer(port, (request, response) => this.answer(request, response));
    return this.server.address;
  }

  onBatch(records: RecordColumns, count: number): void {
    this.timeline?.add(records, count);
  }

  onProgress(): void {
    this.timeline ??= new Timeline(nowNs(), COLUMNS);
    this.timer ??= setInterval(() => this.send(), EVENT_MS);
    this.timer.unref?.();
  }

  /** Sends the last state to the pages, and closes. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    this.send();
    const sent = [...this.watchers].map((watcher) => new Promise<void>((resolve) => watcher.end(resolve)));
    await sleepUnless(CLOSE_MS, Promise.all(sent));
    this.discard();
  }

  discard(): void {
    clearInterval(this.timer);
    this.server?.close();
  }

  private answer(request: LoopbackRequest, response: LoopbackResponse): void {
    const refusal = this.whyRefused(request);
    const [path] = (request.url ?? "").split("?");
    if (refusal !== undefined) refuse(response, ...refusal, { Connection: "close" });
    else if (path === "/events") this.watch(response);
    else if (path === "/") this.answerPage(response);
    else if (path === "/metrics") void this.answerMetrics(request, response);
    else if (path === "/state.json") this.respondAgain(response, "application/json", () => this.stateText() ?? "null");
    else refuse(response, 404, "not found: / is the page, /state.json its numbers, and /metrics is for Prometheus");
  }

  /** Returns status and text for a request that is not answered. */
  private whyRefused({ method = "", headers }: LoopbackRequest): readonly [number, string] | undefined {
    const nowMs = performance.now();
    if (nowMs - this.second.startMs >= 1000) this.second = { startMs: nowMs, requestCount: 0 };
    if (++this.second.requestCount > MOST_REQUESTS_PER_SEC) return [429, "too many requests"];
    // Another site can make its host name resolve to this host.
    const { address = "", port } = this.server ?? {};
    const hosts = [address, `localhost:${port}`];
    if (!hosts.includes(headers.host?.toLowerCase() ?? "")) return [421, `use http://${address}/`];
    const { origin, "sec-fetch-site": site = "none" } = headers;
    const isOwn = origin === undefined || hosts.some((host) => origin === `http://${host}`);
    if (!isOwn || !["none", "same-origin"].includes(String(site))) {
      const isLink = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
      if (!isOwn || !isLink) return [403, "requests from other sites are refused"];
    }
    return method === "GET" ? undefined : [405, "only GET is answered"];
  }

  private answerPage(response: LoopbackResponse): void {
    const nonce = crypto.randomUUID();
    const policy = [
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'`,
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ].join("; ");
    respond(response, "text/html; charset=utf-8", formatWatchPage(nonce), { "Content-Security-Policy": policy });
  }

  private async answerMetrics({ headers: { accept } }: LoopbackRequest, response: LoopbackResponse): Promise<void> {
    const snapshot = await this.state.freshSnapshot();
    const metrics = () => (snapshot === undefined ? [] : listMetrics(snapshot));
    if (acceptsProtobuf(accept)) this.respondAgain(response, PROTOBUF_TYPE, () => encodePrometheus(metrics()));
    else this.respondAgain(response, TEXT_TYPE, () => formatPrometheusText(metrics()));
  }

  private respondAgain(response: LoopbackResponse, type: string, make: () => string | Uint8Array): void {
    respond(response, type, this.reuse(type, make));
  }

  private watch(response: LoopbackResponse): void {
    if (this.watchers.size >= MOST_WATCHERS) {
      refuse(response, 503, "too many pages watch this run");
      return;
    }
    response.writeHead(200, { ...SAFE_HEADERS, "Content-Type": "text/event-stream" });
    this.watchers.add(response);
    response.on("close", () => this.watchers.delete(response));
    response.write(this.reuse("events", () => this.eventsText()));
  }

  /** Sends the state to all pages. A page that does not read misses some states. */
  private send(): void {
    if (this.watchers.size === 0) return;
    const event = this.eventsText();
    for (const watcher of this.watchers) if (!watcher.writableNeedDrain) watcher.write(event);
  }

  private eventsText(): string {
    const state = this.stateText();
    if (state === undefined) return "";
    const { timeline } = this;
    const points = timeline?.columns(Math.max(nowNs(), timeline.lastEndNs)).map(toPagePoint) ?? [];
    return `event: history\ndata: ${JSON.stringify(points)}\n\nevent: state\ndata: ${state}\n\n`;
  }

  private stateText(): string | undefined {
    const snapshot = this.state.snapshot();
    return snapshot && JSON.stringify(toPageState(this.plan, snapshot));
  }

  /** Returns a recent body again, so that frequent requests cost little. */
  private reuse<T extends string | Uint8Array>(key: string, make: () => T): T {
    const nowMs = performance.now();
    const known = this.made.get(key);
    const isFinal = this.state.isEnded;
    if (known !== undefined && nowMs - known.atMs < REUSE_MS && !isFinal) return known.body as T;
    const body = make();
    this.made.set(key, { atMs: nowMs, body });
    return body;
  }
}

function refuse(
  response: LoopbackResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...SAFE_HEADERS, "Content-Type": "text/plain", ...headers });
  response.end(`${text}\n`);
}

function respond(
  response: LoopbackResponse,
  type: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { ...SAFE_HEADERS, "Content-Type": type, ...headers });
  response.end(body);
}
