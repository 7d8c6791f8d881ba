/**
 * Distinguishes a JSON body from a stream by its first byte: some upstreams label streams as JSON, or JSON as a stream.
 * Pure.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { type BodyReader } from "./AttemptResult.ts"
import { noReport } from "../request/AnswerReport.ts"

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** The first byte that is no white space (some upstreams send it to keep a connection open); null when there is none yet. */
const firstByteOf = (chunk: Buffer): number | null => {
  for (const byte of chunk) if (!isSpace(byte)) return byte
  return null
}

/** A JSON object or list begins in the chunk; anything else may be a sign of life, but is no answer. */
export const beginsJson = (chunk: Buffer): boolean => {
  const byte = firstByteOf(chunk)
  return byte === 0x7b || byte === 0x5b
}

/** A stream of the ollama wire is JSON line by line, and a whole answer is such a line; of the gemini wire it may be a JSON list. */
const isJson = (wire: WireName, labelled: boolean, byte: number): boolean => {
  if (wire === "ollama") return false
  return labelled ? byte === 0x7b || byte === 0x5b : byte === 0x7b && wire !== "gemini"
}

export interface Readers {
  readonly stream: () => BodyReader
  readonly answer: () => BodyReader
}

/** A reader that becomes one or the other when the first byte is there. `labelled`: the upstream calls it JSON. */
export const firstByteReader = (wire: WireName, labelled: boolean, readers: Readers): BodyReader => {
  let inner: BodyReader | null = null
  const open = (json: boolean): BodyReader => (inner ??= json ? readers.answer() : readers.stream())
  return {
    data: (chunk) => {
      if (inner !== null) return inner.data(chunk)
      const byte = firstByteOf(chunk)
      return byte === null ? true : open(isJson(wire, labelled, byte)).data(chunk)
    },
    end: () => open(labelled).end(),
    broken: (failure) => open(labelled).broken(failure),
    report: () => inner?.report() ?? noReport,
    release: () => inner?.release(),
    firstContentMs: () => inner?.firstContentMs() ?? null
  }
}
