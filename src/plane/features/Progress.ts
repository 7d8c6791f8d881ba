/**
 * Progress events (`X-Gateway-Progress: true`): a stream of chat, messages or responses reports its progress every two seconds. Each client
 * gets its own: they are no part of an answer that is kept or shared.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { Timers } from "../../platform/Timers.ts"
import { codecs } from "../../wire/Codec.ts"
import { withProgress } from "../reply/ProgressReply.ts"
import type { Work } from "../request/Exchange.ts"
import type { Feature } from "./Feature.ts"

export class Progress extends Context.Tag("gateway/plane/features/Progress")<Progress, Feature>() {}

const header = "x-gateway-progress"

/**
 * Members of every event, by wire. SDKs of the chat wire hand every event on as a chunk with choices; that of the responses wire refuses types
 * that it does not know, and `keepalive` is the one without a meaning of its own
 * (https://github.com/openai/openai-node/blob/master/src/lib/responses/ResponseAccumulator.ts).
 */
const membersOf: Readonly<Partial<Record<WireName, object>>> = {
  chat: { choices: [] },
  messages: {},
  responses: { type: "keepalive" }
}

const concerns = ({ envelope, exchange }: Work): boolean =>
  exchange.headers[header] !== undefined &&
  headerOf(exchange.headers, header)?.toLowerCase() === "true" &&
  envelope.stream &&
  exchange.codec === codecs[exchange.wire] &&
  membersOf[exchange.wire] !== undefined

export const make = Effect.gen(function* () {
  const timers = yield* Timers
  return Progress.of({
    concerns,
    around: (next) => (work) => {
      if (!concerns(work)) return next(work)
      const { exchange } = work
      const { codec, startedMs } = exchange
      const members = membersOf[exchange.wire] ?? {}
      return Effect.suspend(() => {
        const reply = withProgress(exchange.reply, { codec, members, timers, startedMs })
        return next({ ...work, exchange: { ...exchange, reply } })
      })
    }
  })
})

export const layer: Layer.Layer<Progress, never, Timers> = Layer.effect(Progress, make)
