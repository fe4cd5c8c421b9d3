/** A node of V8's sampled heap profile. */
export interface HeapNode {
  readonly callFrame: { readonly url: string; readonly functionName: string; readonly lineNumber: number };
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

/** Bytes that were allocated by whose code. */
export interface Allocated {
  /** By functions of src/, with those built-in ones that they call, by place. */
  readonly own: ReadonlyMap<string, number>;
  readonly runtimeBytes: number;
}

/** Adds up a profile. A built-in function, which has no file, counts for the one that called it. */
export function readAllocated(head: HeapNode): Allocated {
  const own = new Map<string, number>();
  let runtimeBytes = 0;
  const add = (node: HeapNode, caller: string | undefined): void => {
    const { url, functionName, lineNumber } = node.callFrame;
    const [, path] = url.split("/src/");
    const place = path === undefined ? undefined : `${path}:${lineNumber + 1} ${functionName}`.trim();
    const owner = url === "" ? caller : place;
    if (owner === undefined) runtimeBytes += node.selfSize;
    else own.set(owner, (own.get(owner) ?? 0) + node.selfSize);
    for (const child of node.children) add(child, owner);
  };
  add(head, undefined);
  return { own, runtimeBytes };
}
