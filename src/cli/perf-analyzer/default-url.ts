/** Where a server is expected when no URL is given: Triton's ports on this machine. */
export function defaultUrl(protocol: "http" | "grpc"): string {
  return protocol === "grpc" ? "localhost:8001" : "localhost:8000";
}
