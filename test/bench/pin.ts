import { readFileSync } from "node:fs";

/** The cores that a server and its client are held to, by the system's numbers. */
export type Cores = { server: number; client: number };

/**
 * Of the first two cores that this process may use the quieter one for the client, as the system handles its devices on some cores rather than
 * on others; undefined where there are fewer, or the system does not tell.
 * @param measureLateness how late a thread wakes on a core; the client gets the one with less
 */
export async function chooseCores(measureLateness: (core: number) => Promise<number>): Promise<Cores | undefined> {
  const [first, second] = parseCores(readAllowed());
  if (first === undefined || second === undefined) return undefined;
  const isFirstQuieter = (await measureLateness(first)) < (await measureLateness(second));
  return isFirstQuieter ? { server: second, client: first } : { server: first, client: second };
}

function readAllowed(): string {
  try {
    return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}

/** The numbers of a list as Linux writes it: `0-3,8`. */
export function parseCores(list: string): number[] {
  return list.split(",").flatMap((range) => {
    const [first = "", last = first] = range.split("-");
    if (first === "") return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
}
