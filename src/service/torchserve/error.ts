/** Returns TorchServe's own explanation in `{"code": 503, "type": "…", "message": "…"}`: `message (type)`. Undefined for any other text. */
export function readError(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { code, type, message } = (json ?? {}) as { code?: unknown; type?: unknown; message?: unknown };
  if (typeof code !== "number" || code < 400 || typeof message !== "string") return undefined;
  return typeof type === "string" ? `${message} (${type})` : message;
}
