import { defined } from "../../plan/objects.ts";
import type { Report, TextSink } from "../report.ts";
import { formatLiveLine, formatLiveLines, LABEL_COLUMNS, type LiveLine } from "./live-text.ts";
import type { RunState } from "./run-state.ts";

/** Shows the state of a run on stderr, read by a timer: on a terminal, redrawn lines; elsewhere, one line at intervals. */

const FRAME_MS = 250;
/** Interval of lines if the user asked for them. */
const LINE_MS = 5000;
/** Interval of progress lines if the user did not ask for them: short runs print none, and logs of long runs stay short. */
const UNASKED_LINE_MS = 30_000;

const CURSOR = { hide: "\u001b[?25l", show: "\u001b[?25h" } as const;
const COLORS = { good: "\u001b[32m", bad: "\u001b[31m" } as const;
const DIM = "\u001b[2m";
const RESET = "\u001b[0m";

/** A live view, and the sink that all other text must use meanwhile, so that it does not mix with the view's lines. */
export class LiveView implements Report {
  readonly sink: TextSink;
  private readonly state: RunState;
  private readonly target: TextSink;
  private readonly isAsked: boolean;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Widths of the lines currently on the terminal. */
  private drawn: readonly number[] = [];
  private readonly showCursor = (): void => this.clear();

  /** Creates the view, which starts with the run. @param isAsked whether the user asked for it. Default: true */
  constructor(state: RunState, sink: TextSink, isAsked = true) {
    this.state = state;
    this.target = sink;
    this.isAsked = isAsked;
    const guard =
      (write: (text: string) => void) =>
      (text: string): void => {
        this.clear();
        write(text);
      };
    this.sink = {
      out: guard((text) => sink.out(text)),
      err: guard((text) => sink.err(text)),
      nameOf: sink.nameOf,
      isQuiet: sink.isQuiet,
      // Getters, because the process creates its streams when they are first read.
      get hasColor() {
        return sink.hasColor;
      },
      get outColumns() {
        return sink.outColumns;
      },
      get errColumns() {
        return sink.errColumns;
      },
    };
  }

  onProgress(): void {
    if (this.timer !== undefined) return;
    this.timer = setInterval(() => this.draw(), this.intervalMs());
    this.timer.unref?.();
    process.on("exit", this.showCursor);
  }

  /** Draws the current state. The timer calls it. */
  draw(): void {
    const state = this.state.snapshot();
    if (state === undefined) return;
    const { errColumns } = this.target;
    if (errColumns === undefined) {
      this.target.err(`${formatLiveLine(state)}\n`);
      return;
    }
    const lines = formatLiveLines(state, errColumns - 1).map((line) => cut(line, errColumns - 1));
    const text = lines.map((line) => `${this.paint(line)}\u001b[K`).join("\n");
    // One write, so that no partial frame is visible.
    this.move(`${this.drawn.length === 0 ? CURSOR.hide : ""}${this.toTop(errColumns)}${text}\u001b[J\r`);
    this.drawn = lines.map(({ label, text }) => label.length + text.length);
  }

  finish(): void {
    clearInterval(this.timer);
    process.off("exit", this.showCursor);
    this.clear();
  }

  /** Clears the terminal because the run is ending, even if a second Ctrl-C exits immediately. */
  readonly onInterrupt = (): void => this.finish();
  readonly discard = this.onInterrupt;

  private intervalMs(): number {
    if (this.target.errColumns !== undefined) return FRAME_MS;
    return this.isAsked ? LINE_MS : UNASKED_LINE_MS;
  }

  /** Removes the view's lines from the terminal, and shows the cursor. */
  private clear(): void {
    if (this.drawn.length === 0) return;
    // Clear to the end of the screen.
    this.move(`${this.toTop(this.target.errColumns)}${CURSOR.show}\u001b[J`);
    this.drawn = [];
  }

  private move(text: string): void {
    const { target } = this;
    if (target.draw === undefined) target.err(text);
    else target.draw(text);
  }

  private paint({ label, text, mark }: LiveLine): string {
    if (this.target.hasErrColor !== true) return `${label}${text}`;
    return `${DIM}${label}${RESET}${mark === undefined ? text : `${COLORS[mark]}${text}${RESET}`}`;
  }

  /** Moves from the last drawn line to the first. A terminal that has become narrower has wrapped the lines. */
  private toTop(columns = Number.POSITIVE_INFINITY): string {
    const rows = this.drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows > 1 ? `\r\u001b[${rows - 1}A` : "\r";
  }
}

/** Pads the label, and cuts the line to a width. */
function cut({ label, text, mark, isWide }: LiveLine, columns: number): LiveLine {
  if (isWide === true) return { label: "", text: text.slice(0, columns) };
  const padded = label.padEnd(LABEL_COLUMNS).slice(0, columns);
  const rest = text.slice(0, columns - padded.length);
  return { label: padded, text: rest, ...defined({ mark }) };
}
