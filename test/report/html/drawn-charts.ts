/** Reads the charts of a page for tests. */

/** A series of a chart as the page has it. */
export interface DrawnSeries {
  readonly name: string;
  readonly data: readonly (readonly number[] | { readonly value: readonly number[] })[];
}

/** A chart of the page. */
export interface Drawn {
  readonly xAxis: { readonly data?: readonly string[] };
  readonly yAxis: { readonly name: string };
  readonly series: readonly DrawnSeries[];
}

/** Returns the charts of a page by their titles. */
export function chartsOf(html: string): ReadonlyMap<string, Drawn> {
  const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  const { options } = JSON.parse(data) as { options: Drawn[] };
  const titles = [...html.matchAll(/data-plot="\d+" role="img" aria-label="([^"]*)"/g)].map(([, title]) => title ?? "");
  const places = [...html.matchAll(/data-plot="(\d+)"/g)].map(([, index]) => Number(index));
  return new Map(titles.map((title, i) => [title, options[places[i] as number] as Drawn]));
}

/** Returns the points of a series. */
export function pointsOf({ data }: DrawnSeries): (readonly number[])[] {
  return data.map((point) => ("value" in point ? point.value : point));
}

/** Returns the values of bars, also of uncertain ones. */
export function valuesOf(series: DrawnSeries | undefined): unknown[] | undefined {
  return series?.data.map((bar) => ("value" in Object(bar) ? (bar as { readonly value: unknown }).value : bar));
}

/** Rounds as charts do. */
export const digits = (value: number): number => Number(value.toPrecision(6));
