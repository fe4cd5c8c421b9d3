import type { MessagePort } from "node:worker_threads";
import { registerSecret } from "../../plan/secrets.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import type { GoodputPlan, TokensPlan } from "../../plan/tokens.ts";
import { serveCalls } from "../../runtime/worker-calls.ts";
import { parseResponseField } from "../../service/openai/response-field.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { PackedBytes } from "../../transport/packed-bytes.ts";
import type { MeasuredSink } from "./answered-request.ts";
import { EndMarks } from "./end-marks.ts";
import { RequestTokensLog, type TakenTokens } from "./request-tokens.ts";
import type { TokenCounter } from "./response-times.ts";
import type { TokenColumns, TokenRows } from "./token-columns.ts";
import { TokenGaps } from "./token-gaps.ts";
import type { TokenMeasurement } from "./token-measurement.ts";
import { type MeteredTokens, type MeterRules, TokenMeter } from "./token-meter.ts";
import type { Span } from "./token-tally.ts";
import { joinTokenTotals, type TotalledTokens } from "./token-totals.ts";

/**
 * The thread that measures the tokens of responses, and its tasks. `token-link.ts` is the caller's side, in the thread that
 * times the responses.
 */

/** Data that a meter needs when a run begins. */
export interface MeteredRun {
  readonly plan: TokensPlan;
  /** Path of the file of single requests; empty: none. */
  readonly recordsFile: string;
  /** Model of requests that do not name one. */
  readonly model: string;
  /** Zero of the caller's monotonic clock, in nanoseconds since the epoch. */
  readonly originEpochNs: bigint;
  /** Start of the run, in nanoseconds since the epoch. */
  readonly startEpochNs: bigint;
  /** Number of groups of requests, which are measured separately. Default: 1 */
  readonly groupCount?: number | undefined;
  /** Whether the tokens of single requests can be taken. Default: false */
  readonly keepsRequests?: boolean | undefined;
  /** Whether the metrics of each request of a level are returned too. */
  readonly keepsRows: boolean;
  /** The limits of each goodput to count. */
  readonly goodputs: readonly GoodputPlan[];
}

/** Measurements as threads send them. The rows follow in parts (`take-rows`), so that no message contains them all. */
export interface SentTokens {
  readonly tokens: TokenMeasurement;
  readonly rows?: { readonly id: number; readonly count: number };
}

/** Number of rows per message: 2 MiB. */
const MOST_ROWS = 1 << 14;

/** A task for a meter. */
export type TokenTask =
  /** The reply follows when the tokenizer has been loaded. */
  | { readonly kind: "open" }
  | { readonly kind: "begin"; readonly run: MeteredRun }
  | { readonly kind: "packed"; readonly packed: PackedBytes; readonly group?: number }
  | { readonly kind: "warm-up" | "reset" | "resume" | "discard" }
  | { readonly kind: "cut"; readonly span?: Span }
  /** The reply is `SentTokens`, by group. */
  | { readonly kind: "merge"; readonly windowCount: number }
  /** The reply is `SentTokens`, by group. */
  | { readonly kind: "take-recent"; readonly tap: number }
  /** The reply is `TokenRows`: the next part of the rows. */
  | { readonly kind: "take-rows"; readonly id: number; readonly first: number }
  /** The reply is `TotalledTokens`. */
  | { readonly kind: "read-totals" }
  /** The reply is `TakenTokens`. */
  | { readonly kind: "take"; readonly isLast: boolean }
  | { readonly kind: "finish" };

type TokenReply = SentTokens[] | TokenRows | TakenTokens | TotalledTokens | undefined;

/** A file of single requests that is being written. */
export interface RequestFile extends MeasuredSink {
  finish(): void;
  discard(): void;
}

interface MeterHelp {
  readonly countTokens: TokenCounter | undefined;
  /** Name of the tokenizer that counts, for notes. Default: notes do not name it, as in GenAI-Perf's reports */
  readonly tokenizer?: string | undefined;
  /** Counts the tokens of a body that was created in this thread. */
  countPayload?(payload: string): number;
  /** Opens the file of single requests. @throws RunError when it cannot be written */
  openRecords?(run: MeteredRun): RequestFile;
  /** Called when a run begins. Until then, a caller waits for this thread: for its tokenizer, or for the requests that it creates. */
  onBegin?(): void;
}

/** The thread's side: performs the tasks. */
export class MeterDesk {
  private readonly help: MeterHelp;
  private meters: TokenMeter[] = [];
  private gaps: TokenGaps | undefined;
  private log: RequestTokensLog | undefined;
  private records: RequestFile | undefined;
  private recordsError: unknown;
  /** Rows that have not been taken yet, by id. */
  private readonly measuredRows = new Map<number, TokenColumns>();
  private nextRows = 0;

  constructor(help: MeterHelp) {
    this.help = help;
  }

  /** Returns the reply. @throws RunError at the end, if the file of single requests could not be written */
  handle(task: Extract<TokenTask, { kind: "merge" }>): SentTokens[];
  handle(task: TokenTask): TokenReply;
  handle(task: TokenTask): TokenReply {
    const { meters } = this;
    if (task.kind === "begin") this.begin(task.run);
    else if (task.kind === "packed") meters[task.group ?? 0]?.addPacked(task.packed);
    else if (task.kind === "warm-up") for (const meter of meters) meter.warmUp();
    else if (task.kind === "reset") for (const meter of meters) meter.reset();
    else if (task.kind === "cut") for (const meter of meters) meter.cut(task.span);
    else if (task.kind === "resume") for (const meter of meters) meter.resume();
    else if (task.kind === "merge") return this.merge(task.windowCount);
    else if (task.kind === "take-recent") return meters.map((meter) => this.toSent(meter.takeRecent(task.tap)));
    else if (task.kind === "take-rows") return this.takeRows(task);
    else if (task.kind === "read-totals") return joinTokenTotals(meters.map((meter) => meter.totals()));
    else if (task.kind === "take") return this.log?.take(task.isLast);
    else if (task.kind === "finish") this.finish();
    else if (task.kind === "discard") this.records?.discard();
    return undefined;
  }

  private begin(run: MeteredRun): void {
    const { responses, field, isStreamed, isLengthAsked, keepsAllWindows, joinsTexts, omitsToolCalls } = run.plan;
    const { keepsBunchedRates, wantsGaps } = run.plan;
    const { countTokens, countPayload, openRecords, tokenizer } = this.help;
    this.help.onBegin?.();
    this.gaps = wantsGaps === true ? new TokenGaps() : undefined;
    this.log = run.keepsRequests === true ? new RequestTokensLog() : undefined;
    this.recordsError = undefined;
    this.records = undefined;
    if (run.recordsFile !== "") this.guard(() => (this.records = openRecords?.(run)));
    const sink: MeasuredSink = {
      onMeasured: (request) => {
        if (request.answered !== undefined) this.gaps?.add(request.answered.times.contentNs);
        this.guard(() => this.records?.onMeasured(request));
      },
      onFailure: (failure) => this.guard(() => this.records?.onFailure?.(failure)),
    };
    const rules: MeterRules = {
      kind: responses as ResponseKind,
      field: field === undefined ? undefined : parseResponseField(field),
      wantsStreams: isStreamed,
      isLengthAsked,
      keepsAllWindows,
      keepsRows: run.keepsRows,
      goodputs: run.goodputs,
      omitsBunchedRates: keepsBunchedRates !== true,
      joinsTexts,
      omitsToolCalls,
      readsModels: this.records !== undefined,
      countTokens,
      countPayload,
      tokenizer,
      endMarks: new EndMarks(),
      log: this.log,
      sink: this.records === undefined && this.gaps === undefined ? undefined : sink,
    };
    this.meters = Array.from({ length: run.groupCount ?? 1 }, () => new TokenMeter(rules));
  }

  private merge(windowCount: number): SentTokens[] {
    const gaps = this.gaps?.summarize();
    return this.meters.map((meter) => {
      const merged = meter.merge(windowCount);
      if (merged.tokenRows !== undefined) merged.tokenRows.gaps = gaps;
      return this.toSent(merged);
    });
  }

  private toSent({ tokens, tokenRows }: MeteredTokens): SentTokens {
    if (tokenRows === undefined) return { tokens };
    const id = this.nextRows++;
    this.measuredRows.set(id, tokenRows);
    return { tokens, rows: { id, count: tokenRows.count } };
  }

  private takeRows({ id, first }: Extract<TokenTask, { kind: "take-rows" }>): TokenRows | undefined {
    const columns = this.measuredRows.get(id);
    if (columns !== undefined && first + MOST_ROWS >= columns.count) this.measuredRows.delete(id);
    return columns?.rows(first, MOST_ROWS);
  }

  private finish(): void {
    for (const meter of this.meters) meter.finish();
    this.guard(() => this.records?.finish());
    if (this.recordsError !== undefined) throw this.recordsError;
  }

  /** Performs an action. A write error must not end the run or the measurement. */
  private guard(action: () => void): void {
    if (this.recordsError !== undefined) return;
    try {
      action();
    } catch (error) {
      this.recordsError = error;
      this.records?.discard();
    }
  }
}

export interface TokenThreadData {
  readonly plan: Pick<TokensPlan, "tokenizer" | "revision">;
  /** Secrets to mask in failures, which quote the server. */
  readonly secrets: readonly string[];
}

/** Entry point of a token thread: loads the tokenizer and measures until the thread ends. @param onBegin called when a run begins */
export function serveTokenMeter(port: MessagePort, { plan, secrets }: TokenThreadData, onBegin: () => void): void {
  for (const secret of secrets) registerSecret(secret);
  const { tokenizer: name, revision } = plan;
  const opening = name === "none" ? Promise.resolve(undefined) : loadTokenizer(name, { revision });
  const desk = opening.then(
    (tokenizer) =>
      new MeterDesk({
        countTokens: tokenizer && ((text) => tokenizer.count(text)),
        tokenizer: tokenizer?.name,
        onBegin,
      }),
  );
  desk.catch(() => {});
  serveCalls(port, async (task: TokenTask) => (await desk).handle(task), ERROR_FORM);
}
