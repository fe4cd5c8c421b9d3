import { LEVEL_UNITS } from "../../load/level-units.ts";
import { formatCount } from "../../plan/units.ts";
import type { NamedLevel, ResultTable, TableCell } from "./result-table.ts";

/** Makes the table of the load asked for beside the load delivered, and Little's law, for all levels. */
export function loadTable(levels: readonly NamedLevel[]): ResultTable {
  const rows = levels.map(({ name, json: { load, inFlight } }): TableCell[] => {
    const unit = LEVEL_UNITS[load.unit].isScheduled ? "requests/s" : "in flight";
    const delivered = `${formatCount(load.delivered)} ${unit}`;
    const { expectedMean, isKept } = inFlight.littlesLaw;
    return [
      name,
      load.asked === null ? "-" : `${formatCount(load.asked)} ${unit}`,
      load.isDelivered === false ? { text: delivered, look: "bad" } : delivered,
      formatCount(inFlight.mean),
      isKept ? formatCount(expectedMean) : { text: formatCount(expectedMean), look: "bad" },
    ];
  });
  const header = ["level", "load asked for", "delivered", "in flight", "throughput × average latency"];
  return { title: "Load", header, rows };
}
