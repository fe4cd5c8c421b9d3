import { INPUTS, OPTIONS, USE } from "./genai-perf.ts";
import { OUTPUT, REAL_DATA, TRANSPORT } from "./guide.ts";
import { LOADS } from "./load-modes.ts";
import { GENERAL, INPUT, MEASUREMENT } from "./perf-analyzer-help.ts";
import { OTHER, SERVER } from "./perf-analyzer-help-server.ts";
import { KINDS } from "./service-kinds.ts";
import type { Section } from "./statement.ts";

/** All statements that were tried, by document and section. */
export const SECTIONS: readonly Section[] = [
  GENERAL,
  MEASUREMENT,
  INPUT,
  SERVER,
  OTHER,
  LOADS,
  OUTPUT,
  REAL_DATA,
  TRANSPORT,
  USE,
  INPUTS,
  OPTIONS,
  KINDS,
];
