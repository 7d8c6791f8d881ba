/** The engines for results of tools. */
import { shortened, usualShortening } from "./ccr/Shortened.ts"
import type { Engine } from "./Engine.ts"
import { columnar } from "./headroom/Columns.ts"
import type { Limits } from "./rtk/Apply.ts"
import type { Compiled } from "./rtk/Compiled.ts"
import { reduce } from "./rtk/Rtk.ts"

export const rtkEngine = (filters: ReadonlyArray<Compiled>, limits: Limits): Engine => ({
  name: "rtk",
  compress: ({ kind, text, tool }, { keep }) =>
    kind === "tool-result"
      ? (reduce(filters, { text, command: tool?.command ?? null }, limits, keep)?.text ?? null)
      : null
})

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
