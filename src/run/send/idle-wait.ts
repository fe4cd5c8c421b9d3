/** Waits until few enough requests are outstanding. A new wait resolves the previous one. */
export class IdleWait {
  private atMost = 0;
  private onIdle: (() => void) | undefined;

  /** Resolves when `check` is called with `atMost` or fewer, or when another wait begins; at once when `outstanding` is low enough. */
  wait(outstanding: number, atMost: number): Promise<void> {
    if (outstanding <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      this.settle();
      this.atMost = atMost;
      this.onIdle = resolve;
    });
  }

  check(outstanding: number): void {
    if (this.onIdle !== undefined && outstanding <= this.atMost) this.settle();
  }

  private settle(): void {
    const resolve = this.onIdle;
    this.onIdle = undefined;
    resolve?.();
  }
}
