/** A search that a tool makes in a caller's name, through the service that answers `POST /v1/search`. */
import * as Effect from "effect/Effect"
import { makeInnerReply } from "../../inference/request/InnerReply.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { Searches } from "../../search/Searches.ts"
import { objectOr, parseJson } from "../../wire/json/Json.ts"
import { searches as searchCodec } from "../../wire/search/Codec.ts"
import type { AskSearch } from "./tools/Search.ts"

export const makeAskSearch =
  (searches: typeof Searches.Service, ids: typeof IdGen.Service, timers: typeof Timers.Service): AskSearch =>
  (body, principal) =>
    Effect.async((resume) => {
      const receivedMs = timers.nowMs()
      const waiting = makeInnerReply()
      const chunks: Array<Buffer> = []
      const collect = (chunk: Buffer | string): void => {
        chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
      }
      let status = 502
      const done = (): void =>
        resume(Effect.succeed({ status, body: objectOr(parseJson(Buffer.concat(chunks).toString())) }))
      searches.serve({
        requestId: ids.next(receivedMs),
        receivedMs,
        startedMs: timers.monotonicMs(),
        wire: "chat",
        codec: searchCodec,
        method: "POST",
        path: "/mcp",
        body: Buffer.from(JSON.stringify(body)),
        fromPath: null,
        atOnce: null,
        headers: {},
        principal,
        reply: {
          ...waiting,
          head: (answered) => {
            status = answered
          },
          write: (chunk) => {
            collect(chunk)
            return true
          },
          end: (chunk) => {
            collect(chunk)
            done()
          },
          cut: done
        }
      })
      return Effect.sync(waiting.leave)
    })
