/** Taps an upstream's event stream for a client that reads one array: the same chunks in another framing. */
import { makeSseScanner } from "../../sse/SseScanner.ts"
import type { StreamTap } from "../../WireCodec.ts"
import { arrayFraming } from "./Framing.ts"
import { makeStreamTap } from "./Tap.ts"

export const makeArrayTap = (): StreamTap => {
  const tap = makeStreamTap()
  const scanner = makeSseScanner()
  const framing = arrayFraming()

  /** The tap passes complete events. Data that is not an object (an end mark of other wires) is not a chunk. */
  const reframed = (bytes: Buffer): string =>
    scanner
      .push(bytes)
      .map(({ data }) => (data.trimStart().startsWith("{") ? framing.chunk(data) : ""))
      .join("")

  return {
    facts: tap.facts,
    push: (chunk) => Buffer.from(reframed(tap.push(chunk))),
    end: () => {
      const rest = reframed(tap.end())
      return Buffer.from(tap.facts.terminated ? rest + framing.end : rest)
    }
  }
}
