/** The engine `rtk` over results of tools. */
import type { Engine } from "./Engine.ts"
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
