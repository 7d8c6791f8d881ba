/** `gateway inspect tail`: captured requests as they end, over the inspector's feed. */
import * as Command from "@effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { ItemView } from "../../../contract/traffic/InspectorRecords.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { type Frame, listen } from "../../../cli/gateway/InspectorFeed.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"
import { Screen } from "../../../cli/output/Screen.ts"
import { filterFlags, filterOf, type ItemRow, tailHeader, tailLine } from "./rows.ts"

/** Requests that were shown, so that a later change of one is not shown as another. */
const maxShown = 10_000

type Filter = Effect.Effect.Success<ReturnType<typeof filterOf>>

const holds = (text: string | null | undefined, part: string | undefined): boolean =>
  part === undefined || (text ?? "").toLowerCase().includes(part.toLowerCase())

/** Filters rows as the gateway filters lists; bodies are not in the feed. */
const matches = (row: ItemRow, filter: Filter): boolean =>
  (filter.profile === undefined ||
    filter.profile === "all" ||
    (filter.profile === "llm" ? row.detectedKind === "llm" : row.source === "custom-host")) &&
  (filter.source === undefined || row.source === filter.source) &&
  (filter.agent === undefined || row.agent === filter.agent) &&
  (filter.sessionId === undefined || row.sessionId === filter.sessionId) &&
  (filter.pid === undefined || row.pid === filter.pid) &&
  (filter.contextKey === undefined || row.contextKey === filter.contextKey) &&
  (filter.retryOf === undefined || row.id === filter.retryOf || row.retryOf === filter.retryOf) &&
  (filter.status === undefined ||
    (typeof row.status === "number" ? `${Math.floor(row.status / 100)}xx` : row.status) === filter.status) &&
  holds(row.host, filter.host) &&
  holds(row.processName, filter.process) &&
  holds(`${row.llm?.model ?? ""} ${row.llm?.mappedTo ?? ""}`, filter.model) &&
  holds(`${row.host}${row.path} ${row.annotation ?? ""} ${row.error ?? ""}`, filter.q)

const rowsOf = (frame: Frame): ReadonlyArray<ItemRow> =>
  frame.type === "clear" || frame.type === "behind"
    ? []
    : frame.type === "snapshot"
      ? frame.data.toReversed()
      : [frame.data]

export const inspectTail = Command.make("tail", { ...filterFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const filter = yield* filterOf(given)
    const to = yield* Client.target(given)
    const format = yield* OutputFormat
    const isJson = format === "json" || format === "jsonl"
    const screen = (yield* Screen).columns()
    const queue = yield* listen(to)
    const shown = new Set<string>()
    if (!isJson) yield* Output.print(tailHeader(screen))

    /** A request is a line once it has ended; one that is replaced ends anew. */
    const show = (row: ItemRow) =>
      Effect.gen(function* () {
        if (row.status === "in-flight" && filter.status !== "in-flight") return void shown.delete(row.id)
        if (shown.has(row.id) || !matches(row, filter)) return
        shown.add(row.id)
        for (const oldest of shown) {
          if (shown.size <= maxShown) break
          shown.delete(oldest)
        }
        if (isJson) return yield* Output.jsonLine(ItemView, row)
        yield* Output.print(tailLine(row, screen, yield* Clock.currentTimeMillis))
      })

    let isBehind = false
    /** Prints a note once when the delay begins, and once when it is over. */
    const tellBehind = (behindMs: number, waiting: number) =>
      Effect.suspend(() => {
        const was = isBehind
        isBehind = behindMs > 0
        if (was === isBehind || isJson) return Effect.void
        return Output.note(
          isBehind
            ? `The recording is ${behindMs} ms behind; ${Output.counted(waiting, "request")} ${waiting === 1 ? "waits" : "wait"}.`
            : "The recording has caught up."
        )
      })
    const tell = (frame: Frame) =>
      frame.type === "behind"
        ? tellBehind(frame.data.behindMs, frame.data.waiting)
        : Effect.forEach(rowsOf(frame), show, { discard: true })

    return yield* Effect.forever(
      Effect.flatMap(Queue.take(queue), (told): Effect.Effect<void, CliFailure> =>
        told._tag === "Closed" ? Effect.fail(told.failure) : tell(told.frame)
      )
    )
  }).pipe(Effect.scoped)
)
