/** A bus between hosts: carries messages of plain data by subject, each at most once. */
export interface Bus {
  /** Whether the bus is connected, so that messages pass. */
  readonly isConnected: boolean;
  /** Largest size of a packed message, in bytes. */
  readonly mostBytes: number;
  /** @param reply subject on which the sender expects replies; empty: it expects none */
  subscribe(subject: string, receive: (message: unknown, reply: string) => void): () => void;
  /** Messages get lost while the bus is not connected. @param reply subject for replies */
  publish(subject: string, message: unknown, reply?: string): void;
  /** Returns a new subject for replies. */
  createInbox(): string;
  close(): Promise<void>;
}
