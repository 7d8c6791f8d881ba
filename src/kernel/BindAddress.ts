/** Whether an address to listen on is reached from this machine only. */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)
