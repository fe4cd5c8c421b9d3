/** Returns the default URL: Triton's ports on this machine. */
export function defaultUrl(protocol: "http" | "grpc"): string {
  return protocol === "grpc" ? "localhost:8001" : "localhost:8000";
}
