/**
 * Answers that are made at once, in a coding that the client takes: gzip or Brotli, in other threads. Never those of a model: the time until they
 * are at the client counts, and streams are passed on as they come.
 */
import { brotliCompress, constants, gzip } from "node:zlib"

export type AnswerCoding = "br" | "gzip"

/** A smaller answer is in one packet or two either way. */
export const codedFromBytes = 2_048

/** Longest header that is read. */
const maxHeader = 1_024

const weightOf = (parameters: ReadonlyArray<string>): number => {
  const given = parameters
    .map((each) => /^\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*$/i.exec(each)?.[1])
    .find((q) => q !== undefined)
  return given === undefined ? 1 : Number(given)
}

/** Chooses the coding by `Accept-Encoding` (RFC 9110, 12.5.3); null: none that is made here is taken. */
export const codingFor = (accepted: string | undefined): AnswerCoding | null => {
  if (accepted === undefined || accepted.length > maxHeader) return null
  const weights = new Map<string, number>()
  for (const part of accepted.split(",")) {
    const [name = "", ...parameters] = part.split(";")
    weights.set(name.trim().toLowerCase(), weightOf(parameters))
  }
  const weight = (name: string): number => weights.get(name) ?? weights.get("*") ?? 0
  const br = weight("br")
  const zipped = Math.max(weight("gzip"), weights.get("x-gzip") ?? 0)
  if (br === 0 && zipped === 0) return null
  return br >= zipped ? "br" : "gzip"
}

/** Checks whether content of a type gets smaller. */
export const isCodable = (contentType: string): boolean =>
  /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml)\b)/i.test(contentType)

/** Levels of Brotli: for an answer that is made for one request, and for one that all get. */
const brotliLevels = { once: 4, kept: 9 } as const

/** Calls `done` with the coded bytes; null when that failed. */
export const inCoding = (
  coding: AnswerCoding,
  bytes: Uint8Array,
  use: keyof typeof brotliLevels,
  done: (coded: Buffer | null) => void
): void => {
  const over = (error: Error | null, coded: Buffer): void => done(error === null ? coded : null)
  if (coding === "gzip") return gzip(bytes, { level: use === "kept" ? 9 : 6 }, over)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliLevels[use],
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length
  }
  brotliCompress(bytes, { params }, over)
}

/** A `Vary` that says so, beside what it said before. */
export const varyingBy = (name: string, before: string | undefined): string => {
  if (before === undefined || before.trim() === "") return name
  const named = new Set(before.split(",").map((each) => each.trim().toLowerCase()))
  return named.has(name.toLowerCase()) || named.has("*") ? before : `${before}, ${name}`
}

/** Calls `done` with an answer as its client takes it: coded, or as it is. */
export const coded = (
  accepted: string | undefined,
  bytes: Buffer,
  done: (content: Buffer, coding: AnswerCoding | null) => void
): void => {
  const coding = bytes.length < codedFromBytes ? null : codingFor(accepted)
  if (coding === null) return done(bytes, null)
  inCoding(coding, bytes, "once", (content) => (content === null ? done(bytes, null) : done(content, coding)))
}
