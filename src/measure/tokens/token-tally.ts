import type { GoodputPlan } from "../../plan/tokens.ts";
import { GoodTally } from "../good-requests.ts";
import { NumberTally } from "../tally/number-tally.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { isGood, type ReadMetric } from "./goodput.ts";
import { entryOf, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import { ResponseCounter } from "./response-counts.ts";
import type { TokenColumns } from "./token-columns.ts";
import { type CountedTwice, DIFFERENT_RATIO, type TokenMeasurement } from "./token-measurement.ts";

/** Time span of a measurement, in nanoseconds on the clock of its requests. */
export interface Span {
  readonly startNs: number;
  readonly endNs: number;
}

const INDEX_OF = new Map(TOKEN_METRICS.map((metric, at) => [metric, at]));

/** Collects the tokens of responses in bounded memory. */
export class TokenTally extends ResponseCounter {
  private rowCount = 0;
  private readonly samples = new Map<TokenMetric, NumberTally>();
  private readonly good: GoodTally;
  private inputTwice: CountedTwice = { client: 0, server: 0 };
  private outputTwice: CountedTwice = { client: 0, server: 0 };
  private readonly lengths = { count: 0, asked: 0, got: 0, otherCount: 0 };
  private reasoningFirstCount = 0;
  /** Start and end of the added requests. */
  private leastNs = Number.POSITIVE_INFINITY;
  private mostNs = Number.NEGATIVE_INFINITY;

  /** @param goodputs the limits of each goodput to count, by metric name in scenarios */
  constructor(goodputs: readonly GoodputPlan[] = []) {
    super();
    this.good = new GoodTally(goodputs);
  }

  get count(): number {
    return this.rowCount;
  }

  addColumns(columns: TokenColumns): void {
    const { sendNs, metrics } = columns;
    const all = TOKEN_METRICS.map((metric) => metrics[metric]);
    const values = new Float64Array(all.length);
    const { count } = columns;
    for (let row = 0; row < count; row++) {
      for (const [at, column] of all.entries()) values[at] = column.at(row);
      this.push({ sendNs: sendNs.at(row) }, values);
    }
    this.addCounts(columns.counts());
  }

  /**
   * Returns the measured tokens. Nothing may be added afterwards. @param span time of the measurement. Default: the time of the
   * responses
   */
  cut(span: Partial<Span> = {}): TokenMeasurement {
    const isEmpty = this.rowCount === 0;
    const { startNs = isEmpty ? 0 : this.leastNs, endNs = isEmpty ? 0 : this.mostNs } = span;
    const metrics = TOKEN_METRICS.flatMap((metric) => {
      const tally = this.samples.get(metric);
      return tally === undefined ? [] : [[metric, tally.cut(startNs, endNs)] as const];
    });
    const { inputTwice, outputTwice, lengths, reasoningFirstCount } = this;
    return {
      ...this.counts(),
      count: this.rowCount,
      metrics: Object.fromEntries(metrics),
      good: this.good.cut(startNs, endNs),
      ...{ inputTwice, outputTwice, lengths: { ...lengths }, reasoningFirstCount },
    };
  }

  protected push({ sendNs, wholeNs }: Pick<AnsweredRequest, "sendNs" | "wholeNs">, values: Float64Array): void {
    const read: ReadMetric = (metric) => values[INDEX_OF.get(metric) as number] as number;
    const endNs = sendNs + read("requestLatencyNs");
    this.rowCount++;
    this.leastNs = Math.min(this.leastNs, endNs);
    this.mostNs = Math.max(this.mostNs, endNs);
    for (const [at, metric] of TOKEN_METRICS.entries()) {
      const value = values[at] as number;
      if (!Number.isNaN(value)) this.sampleOf(metric).add(value, endNs);
    }
    const readWhole: ReadMetric = (metric) =>
      entryOf(metric).sameAs !== undefined ? (wholeNs ?? read(metric)) : read(metric);
    this.good.add((limits) => isGood(limits, readWhole), endNs);
    this.compare(read);
  }

  private sampleOf(metric: TokenMetric): NumberTally {
    const sample = this.samples.get(metric) ?? new NumberTally();
    this.samples.set(metric, sample);
    return sample;
  }

  /** Updates the counts that warnings use. */
  private compare(read: ReadMetric): void {
    // Servers count reasoning as output.
    const output = read("outputTokens") + (read("reasoningTokens") || 0);
    const serverOutput = read("serverOutputTokens");
    this.inputTwice = addTwice(this.inputTwice, read("inputTokens"), read("serverInputTokens"));
    this.outputTwice = addTwice(this.outputTwice, output, serverOutput);
    if (read("timeToFirstReasoningTokenNs") < read("timeToFirstTokenNs")) this.reasoningFirstCount++;
    const wanted = read("requestedOutputTokens");
    const isServers = !Number.isNaN(serverOutput);
    const tokens = isServers ? serverOutput : output;
    if (Number.isNaN(wanted) || Number.isNaN(tokens)) return;
    const { lengths } = this;
    lengths.count++;
    lengths.asked += wanted;
    lengths.got += tokens;
    // Tokenizing the text again can give one token more or less than was generated.
    const tolerance = isServers ? 0 : Math.max(1, DIFFERENT_RATIO * wanted);
    if (Math.abs(tokens - wanted) > tolerance) lengths.otherCount++;
  }
}

function addTwice(sums: CountedTwice, client: number, server: number): CountedTwice {
  if (Number.isNaN(client) || Number.isNaN(server)) return sums;
  return { client: sums.client + client, server: sums.server + server };
}

/** Returns the token metrics of columns. @param goodputs the limits of each goodput to count @param span time of the measurement */
export function measureColumns(
  columns: TokenColumns,
  goodputs: readonly GoodputPlan[] = [],
  span: Partial<Span> = {},
): TokenMeasurement {
  const tally = new TokenTally(goodputs);
  tally.addColumns(columns);
  return tally.cut(span);
}

export const NO_TOKENS: TokenMeasurement = new TokenTally().cut();
