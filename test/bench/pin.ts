import { readFileSync } from "node:fs";

/** The cores that a server and its client are held to, by the system's numbers. `others` are all but the server's. */
export type Cores = { server: number; client: number; others: number[] };

/**
 * Of the first two cores that this process may use the one that handled fewer of the devices' interrupts for the client, as it is the one
 * whose moments are judged; undefined where there are fewer cores, or the system does not tell.
 */
export function chooseCores(): Cores | undefined {
  const all = parseCores(readFile("/proc/self/status").match(/^Cpus_allowed_list:\s*(\S+)/m)?.[1] ?? "");
  const [first, second] = all;
  if (first === undefined || second === undefined) return undefined;
  const counts = countInterrupts(readFile("/proc/interrupts"));
  const isFirstQuieter = (counts.get(first) ?? 0) < (counts.get(second) ?? 0);
  const chosen = isFirstQuieter ? { server: second, client: first } : { server: first, client: second };
  return { ...chosen, others: all.filter((core) => core !== chosen.server) };
}

/** How many interrupts of devices, which have numbers, each core handled, by `/proc/interrupts`. */
export function countInterrupts(text: string): Map<number, number> {
  const [head = "", ...lines] = text.split("\n");
  const cores = [...head.matchAll(/CPU(\d+)/g)].map(([, core]) => Number(core));
  const counts = new Map<number, number>();
  for (const line of lines) {
    const [name = "", ...columns] = line.trim().split(/\s+/);
    if (!/^\d+:$/.test(name)) continue;
    for (const [i, core] of cores.entries()) counts.set(core, (counts.get(core) ?? 0) + Number(columns[i] ?? 0));
  }
  return counts;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
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
