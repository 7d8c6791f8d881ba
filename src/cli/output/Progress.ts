/** A bar on the terminal while bytes are on their way. Nothing is written where standard error is no terminal. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { harmless } from "../../kernel/text/TerminalText.ts"
import { sizeText } from "./Size.ts"
import { redraw, shownDuring } from "./spinner.ts"
import { fit, pad, widthOf } from "./Table.ts"

export interface Progress {
  readonly label: string
  readonly bytes: number
  /** Null: unknown. */
  readonly totalBytes: number | null
  readonly elapsedMs: number
}

const leastBar = 8
const mostBar = 40
const rateAfterMs = 500

const clock = (seconds: number): string => {
  const minutes = Math.floor(seconds / 60)
  return `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`
}

/** Bytes, rate and time that is left. */
const words = ({ bytes, elapsedMs, totalBytes }: Progress): string => {
  const size = totalBytes === null ? sizeText(bytes) : `${sizeText(bytes)} of ${sizeText(totalBytes)}`
  if (elapsedMs < rateAfterMs || bytes === 0) return size
  const perSecond = (bytes * 1000) / elapsedMs
  const left = totalBytes === null ? "" : `  ${clock((Math.max(0, totalBytes - bytes) + perSecond - 1) / perSecond)}`
  return `${size}  ${sizeText(Math.round(perSecond))}/s${left}`
}

/** Writes one line of at most `columns` cells: the label, a bar where it fits, and the progress. */
export const barLine = (progress: Progress, columns: number, say = words): string => {
  const { bytes, totalBytes } = progress
  const part = totalBytes === null ? null : totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes)
  const percent = part === null ? "" : ` ${pad(String(Math.floor(part * 100)), 3, "right")} %`
  const label = harmless(progress.label)
  const state = say(progress)
  const taken = percent.length + 2 + state.length
  const shownLabel = fit(label, Math.max(leastBar, columns - taken - leastBar - 3))
  const room = columns - widthOf(shownLabel) - taken - 3
  const width = Math.min(mostBar, room)
  if (part === null || width < leastBar) {
    return fit(`${shownLabel}${percent}  ${state}`, columns)
  }
  const full = Math.floor(part * width)
  return `${shownLabel} [${"█".repeat(full)}${"·".repeat(width - full)}]${percent}  ${state}`
}

const everyMs = 100
const defaultColumns = 80

/** Does work that reports the bytes it has done so far, and shows them until it ends in whatever way. `say`: where steps are no bytes. */
export const withProgress = <A, E, R>(
  label: string,
  totalBytes: number | null,
  work: (report: (bytes: number) => void) => Effect.Effect<A, E, R>,
  say = words
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    if (process.stderr.isTTY !== true) return yield* work(() => {})
    const startedAt = yield* Clock.currentTimeMillis
    let bytes = 0
    const draw = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const columns = (process.stderr.columns || defaultColumns) - 1
      return redraw(barLine({ label, bytes, totalBytes, elapsedMs: nowMs - startedAt }, columns, say))
    })
    return yield* shownDuring(
      Effect.forever(Effect.zipLeft(draw, Effect.sleep(everyMs))),
      work((done) => {
        bytes = done
      })
    )
  })
