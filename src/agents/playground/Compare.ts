/**
 * One prompt to several models at once. Each column is a request of the caller's own, through the ordinary pipeline: with its limits, decision record
 * and usage row. One that fails disturbs no other, and who stops reading ends all of them.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Principal } from "../../subjects/keys/entity.ts"
import { maxCompared, type PlaygroundParams, type PromptMessage } from "../../subjects/playground/entity.ts"
import { type HeardRequest, headerIn, type InnerRequests, tokensIn } from "../../plane/InnerRequests.ts"
import { tappedWhereOn, type TrafficTap } from "../../plane/tap/TrafficTap.ts"
import type { Timers } from "../../platform/Timers.ts"
import { chat } from "../../wire/chat/Codec.ts"
import { type ColumnError, makeChatStreamReader } from "./ChatStream.ts"
import { InvalidPlaygroundInput } from "./Errors.ts"
import { type Metrics, metricsOf } from "../../contract/domain/AnswerMetrics.ts"
import { makeOutlet, type Outlet } from "./Outlet.ts"

export interface Comparison {
  /** 1 to 4, each once. */
  readonly models: ReadonlyArray<string>
  readonly system?: string
  /** Either this or messages. */
  readonly prompt?: string
  readonly messages?: ReadonlyArray<PromptMessage>
  readonly params?: PlaygroundParams
}

/** Event for the client, in the order of its columns only within one of them. `column`: counted from 0. */
export type CompareEvent =
  | { readonly event: "column"; readonly data: { readonly column: number; readonly model: string } }
  | { readonly event: "delta"; readonly data: { readonly column: number; readonly text: string } }
  | {
      readonly event: "column_done"
      readonly data: { readonly column: number; readonly requestId: string | null; readonly metrics: Metrics }
    }
  | {
      readonly event: "column_error"
      readonly data: { readonly column: number; readonly requestId: string | null; readonly error: ColumnError }
    }
  | { readonly event: "done"; readonly data: Readonly<Record<string, never>> }

export const comparePath = "/api/playground/compare"

/** A connection without traffic is closed by what is between. */
const heartbeat = "15 seconds"

export const textOfEvent = ({ data, event }: CompareEvent): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Null: it can be asked. */
export const problemIn = ({ messages, models, prompt }: Comparison): InvalidPlaygroundInput | null => {
  const wrong = (field: string, message: string): InvalidPlaygroundInput =>
    new InvalidPlaygroundInput({ field, message })
  if (models.length === 0 || models.length > maxCompared) return wrong("models", `must be 1 to ${maxCompared} models`)
  const twice = models.findIndex((model, at) => models.indexOf(model) !== at)
  if (twice >= 0) return wrong(`models.${twice}`, "is there already: each model is asked once")
  if (prompt === undefined && messages === undefined) return wrong("prompt", "is missing, and there are no messages")
  if (prompt !== undefined && messages !== undefined) return wrong("messages", "cannot be given beside a prompt")
  return null
}

const fault: ColumnError = {
  message: "The gateway failed to handle this request. Its log has the details.",
  type: "server_error",
  code: "internal_server_error",
  status: 500
}

const messagesOf = ({ messages, prompt, system }: Comparison): ReadonlyArray<PromptMessage> => [
  ...(system === undefined || system === "" ? [] : [{ role: "system" as const, content: system }]),
  ...(messages ?? [{ role: "user" as const, content: prompt ?? "" }])
]

const bodyOf = (asked: Comparison, model: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...asked.params,
      model,
      messages: messagesOf(asked),
      stream: true,
      stream_options: { include_usage: true }
    })
  )

export interface CompareServices {
  readonly inner: Pick<typeof InnerRequests.Service, "hear">
  readonly timers: Pick<typeof Timers.Service, "monotonicMs">
  readonly tap: Pick<typeof TrafficTap.Service, "isOn" | "tapped">
}

export const makeCompare = ({ inner, tap, timers }: CompareServices) => {
  const ask = (asked: Comparison, principal: Principal, column: number, model: string, { onDrain, push }: Outlet) =>
    Effect.suspend(() => {
      const tell = (event: CompareEvent): boolean => push(textOfEvent(event))
      const startedMs = timers.monotonicMs()
      let requestId: string | null = null
      let firstTokenMs: number | null = null
      let isFlowing = true
      let facts: ReadonlyArray<string> = []
      const reader = makeChatStreamReader({
        token: () => {
          firstTokenMs ??= timers.monotonicMs()
        },
        text: (text) => {
          isFlowing = tell({ event: "delta", data: { column, text } })
        }
      })
      tell({ event: "column", data: { column, model } })
      const request: HeardRequest = {
        behalf: { principal, madeFor: "client", category: "chat" },
        path: comparePath,
        format: { wire: "chat", codec: chat, fromPath: null, atOnce: null },
        body: bodyOf(asked, model),
        headers: {},
        prepared: (exchange) => {
          requestId = exchange.requestId
          return tappedWhereOn(tap, exchange, "http")
        },
        heard: {
          head: (status, headers) => {
            facts = headers
            reader.head(status, headers)
          },
          write: (chunk) => {
            isFlowing = true
            reader.push(chunk)
            return isFlowing
          },
          end: (chunk, trailers) => {
            reader.push(chunk)
            if (trailers !== undefined) facts = trailers()
          },
          onDrain
        }
      }
      return Effect.map(inner.hear(request), () => {
        const error = reader.end()
        if (error !== null) return tell({ event: "column_error", data: { column, requestId, error } })
        const tokens = tokensIn(facts)
        const metrics = metricsOf({
          startedMs,
          firstTokenMs,
          endedMs: timers.monotonicMs(),
          tokensIn: tokens?.in ?? 0,
          tokensOut: tokens?.out ?? 0,
          costUsd: Number(headerIn(facts, "X-Gateway-Response-Cost") ?? 0)
        })
        return tell({ event: "column_done", data: { column, requestId, metrics } })
      }).pipe(
        Effect.asVoid,
        // A fault of ours in one column is not one of the others.
        Effect.catchAllDefect((defect) => {
          tell({ event: "column_error", data: { column, requestId, error: fault } })
          return Effect.logError("A column of a comparison failed", defect)
        })
      )
    })

  /** The events as the client reads them. */
  return (asked: Comparison, principal: Principal): Effect.Effect<Stream.Stream<string>, InvalidPlaygroundInput> => {
    const problem = problemIn(asked)
    if (problem !== null) return problem
    const events = Stream.unwrapScoped(
      Effect.gen(function* () {
        const outlet = makeOutlet()
        const columns = asked.models.map((model, column) => ask(asked, principal, column, model, outlet))
        yield* Effect.all(columns, { concurrency: "unbounded", discard: true }).pipe(
          Effect.andThen(() => outlet.push(textOfEvent({ event: "done", data: {} }))),
          Effect.ensuring(Effect.sync(outlet.end)),
          Effect.forkScoped
        )
        return outlet.stream
      })
    )
    const beats = Stream.drop(Stream.as(Stream.tick(heartbeat), ": keep-alive\n\n"), 1)
    return Effect.succeed(Stream.merge(events, beats, { haltStrategy: "left" }))
  }
}

export type Compare = ReturnType<typeof makeCompare>
