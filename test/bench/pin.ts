import { readFileSync } from "node:fs";

/** The cores that a server and its client are held to, by the system's numbers. */
export type Cores = { server: number; client: number };

/** The first two cores that this process may use; undefined where there are fewer, or the system does not tell. */
export function chooseCores(): Cores | undefined {
  const [server, client] = parseCores(readAllowed());
  return server === undefined || client === undefined ? undefined : { server, client };
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
