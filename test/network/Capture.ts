/** Every packet at the client's link, as tcpdump records it. */
import { join } from "node:path"
import type { Network } from "./Network.ts"

export interface Capture {
  readonly stop: () => Promise<void>
  /** Packets that the filter of tcpdump takes, a line each. */
  readonly packets: (filter: string) => Promise<ReadonlyArray<string>>
}

/** The heads are enough. */
const keptBytes = "128"

export const startCapture = async (network: Network): Promise<Capture> => {
  const file = join(network.folder, "link.pcap")
  const options = ["-i", "c0", "-s", keptBytes, "-B", "16384", "-U", "-Z", "root", "-w", file]
  const child = network.start("client", ["tcpdump", ...options], { stdio: ["ignore", "ignore", "pipe"] })
  await new Promise<void>((resolve, reject) => {
    child.stderr?.once("data", () => resolve())
    child.once("exit", () => reject(new Error("tcpdump has ended")))
  })
  return {
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve())
        child.kill("SIGINT")
      }),
    packets: async (filter) => {
      const lines = await network.exec("client", "tcpdump", "-nn", "-t", "-r", file, filter)
      return lines.split("\n").filter(Boolean)
    }
  }
}
