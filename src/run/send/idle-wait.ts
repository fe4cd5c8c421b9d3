/** Somebody who waits until few enough requests are outstanding; whoever comes later replaces whoever waited. */
export class IdleWait {
  private atMost = 0;
  private onQuiet: (() => void) | undefined;

  /** Resolves when `check` is told of `atMost` or fewer, or another one begins to wait; at once when `outstanding` is few enough. */
  wait(outstanding: number, atMost: number): Promise<void> {
    if (outstanding <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      this.settle();
      this.atMost = atMost;
      this.onQuiet = resolve;
    });
  }

  check(outstanding: number): void {
    if (this.onQuiet !== undefined && outstanding <= this.atMost) this.settle();
  }

  private settle(): void {
    const resolve = this.onQuiet;
    this.onQuiet = undefined;
    resolve?.();
  }
}
