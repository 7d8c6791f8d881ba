/** A conversation's next answer as it comes, on the chat wire. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { loadModule } from "../lazy.ts"
import type { Target } from "./Client.ts"
import * as Inference from "./Inference.ts"

/** One event of the stream. `Broken`: it ended in a way that is no end, or cannot be read. */
export type ChatEvent =
  | { readonly _tag: "Chunk"; readonly chunk: unknown }
  | { readonly _tag: "Done" }
  | { readonly _tag: "Broken" }

const done: ChatEvent = { _tag: "Done" }
const broken: ChatEvent = { _tag: "Broken" }

const decode = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

const eventOf = (data: string): ChatEvent =>
  data === "[DONE]"
    ? done
    : Option.match(decode(data), { onNone: () => broken, onSome: (chunk) => ({ _tag: "Chunk", chunk }) })

/** The data of an event of a stream; null when it has none, as comments. */
const dataOf = (block: string): string | null => {
  const lines = block.split(/\r\n|\r|\n/).filter((line) => line.startsWith("data:"))
  return lines.length === 0 ? null : lines.map((line) => line.slice(line.startsWith("data: ") ? 6 : 5)).join("\n")
}

/** Events until the stream ends; a connection that breaks is the last event. */
const eventsOf = ({ stream }: HttpClientResponse.HttpClientResponse) =>
  Effect.map(
    loadModule(() => import("../../wire/sse/SseFramer.ts")),
    ({ makeSseFramer }) => {
      const framer = makeSseFramer()
      return stream.pipe(
        Stream.mapConcat((chunk) => {
          const events: Array<ChatEvent> = []
          framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), (bytes, start, end) => {
            const data = dataOf(bytes.toString("utf8", start, end))
            if (data !== null) events.push(eventOf(data))
          })
          return framer.failure() === null ? events : [...events, broken]
        }),
        Stream.catchAll(() => Stream.make(broken))
      )
    }
  )

/** Asks for an answer. */
export const ask = Effect.fn("cli.chat.ask")(function* (
  to: Target,
  body: { readonly model: string; readonly messages: ReadonlyArray<unknown> }
) {
  const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/chat/completions`), {
    ...body,
    stream: true,
    stream_options: { include_usage: true }
  })
  const response = yield* Inference.ask(to, request)
  return { servedBy: Inference.servedBy(response), events: yield* eventsOf(response) }
})
