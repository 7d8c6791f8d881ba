/** The engines for results of tools. */
import { shortened, usualShortening } from "./engines/Shortened.ts"
import type { Engine } from "./Engine.ts"
import { columnar } from "./headroom/Columns.ts"
import type { Limits } from "./rtk/Apply.ts"
import type { Compiled } from "./rtk/Compiled.ts"
import { reduce } from "./rtk/Rtk.ts"

/** Steps of patterns of operators (`LinearPattern.ts`) that one request may take: some 50 ms at worst. Beyond it, outputs stay as they are. */
export const mostFilterSteps = 3_000_000

/** One is made for each request. */
export const rtkEngine = (filters: ReadonlyArray<Compiled>, limits: Limits): Engine => {
  let left = mostFilterSteps
  const affords = (steps: number): boolean => {
    if (steps > left) return false
    left -= steps
    return true
  }
  return {
    name: "rtk",
    compress: ({ kind, text, tool }, { keep }) =>
      kind === "tool-result"
        ? (reduce(filters, { text, command: tool?.command ?? null }, limits, keep, affords)?.text ?? null)
        : null
  }
}

/** Lossless: arrays of objects as columns. */
export const headroomEngine: Engine = {
  name: "headroom",
  compress: ({ kind, text }) => (kind === "tool-result" ? columnar(text) : null)
}

/** A result that was there before, word for word. */
export const dedupEngine: Engine = { name: "session-dedup", compress: ({ repeat }) => repeat }

/** Long results without their middle, the whole kept. */
export const ccrEngine: Engine = {
  name: "ccr",
  compress: ({ kind, text }, { keep }) => (kind === "tool-result" ? shortened(text, usualShortening, keep) : null)
}
