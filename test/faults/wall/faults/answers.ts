/** Answers with a 200 that are none, or that only look as if they were none. */
import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import * as Fake from "../../../support/FakeUpstream.ts"
import { account, answered, type Ask, broken, cooling, type Fault, provider, well } from "../Fault.ts"
import * as Story from "../Story.ts"
import { all, ping, streamed, whole } from "../Wires.ts"

const sseText = ({ wire }: Ask): string => all(streamed(wire)).join("")

const bodyOf = (ask: Ask): string => (ask.streamed ? sseText(ask) : JSON.stringify(whole(ask.wire)))

const typeOf = (ask: Ask): string => (ask.streamed ? "text/event-stream" : "application/json")

/** Between two pieces of a slow answer, and before its headers; the limits beside it leave room for a busy machine. */
const dripMs = 150
const slowTimeouts = { firstByteMs: 1_600, idleMs: 1_600 }

const slowHeaders =
  (ask: Ask): Fake.Answer =>
  async (response, request) => {
    await delay(1_100)
    const answer = ask.streamed ? Fake.sse(all(streamed(ask.wire))) : Fake.json(whole(ask.wire))
    await answer(response, request)
  }

/** Every piece is far below the idle limit, all of them together are above every limit but the total. */
const drip =
  (ask: Ask): Fake.Answer =>
  async (response) => {
    const { content, finish, mark, opening } = streamed(ask.wire)
    const body = JSON.stringify(whole(ask.wire))
    const size = Math.ceil(body.length / 12)
    const pieces = ask.streamed
      ? [opening.join(""), ...content, finish.join("") + mark.join("")]
      : Array.from({ length: 12 }, (_, i) => body.slice(i * size, (i + 1) * size))
    response.writeHead(200, { "content-type": typeOf(ask) })
    for (const piece of pieces) {
      response.write(piece)
      await delay(dripMs)
    }
    response.end()
  }

const megabyte = 1_048_576
const hugePiece = Story.text.repeat(Math.ceil(megabyte / Buffer.byteLength(Story.text)))
export const hugeText = hugePiece.repeat(100)

const huge =
  (ask: Ask): Fake.Answer =>
  async (response, request) => {
    const told = streamed(ask.wire, { pieces: Array.from({ length: 100 }, () => hugePiece) })
    response.writeHead(200, { "content-type": typeOf(ask) })
    const pieces = ask.streamed ? all(told) : [JSON.stringify(whole(ask.wire, { pieces: [hugeText] }))]
    for (const piece of pieces)
      if (!response.write(piece)) await Promise.race([once(response, "drain"), request.closed])
    response.end()
  }

const enormous = {
  does: huge,
  whole: answered,
  text: hugeText,
  oneByOne: true,
  timeouts: { firstByteMs: 20_000, idleMs: 20_000 }
} as const

const inside = "The kitchen is closed."

export const slow: ReadonlyArray<Fault> = [
  { name: "slow-headers", does: slowHeaders, whole: answered, stream: answered, timeouts: slowTimeouts },
  {
    name: "slow-drip",
    does: drip,
    whole: answered,
    stream: answered,
    timeouts: slowTimeouts,
    translated: true
  },
  {
    name: "slow-with-pings",
    does: (ask) => async (response) => {
      const { content, finish, mark, opening } = streamed(ask.wire)
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const piece of [
        ...opening,
        ping(ask.wire),
        ping(ask.wire),
        ...content,
        ping(ask.wire),
        ...finish,
        ...mark
      ]) {
        response.write(piece)
        await delay(20)
      }
      response.end()
    },
    whole: null,
    stream: answered
  }
]

export const oddAnswers: ReadonlyArray<Fault> = [
  {
    name: "200-html",
    does: () => Fake.text("<html><body>Please log in</body></html>", { headers: { "content-type": "text/html" } }),
    whole: provider(502),
    stream: provider(502),
    translated: true
  },
  {
    name: "200-error-body",
    does: ({ wire }) => Fake.json(Fake.errorBody(wire, inside, { type: "server_error" })),
    whole: provider(500, { says: inside }),
    stream: provider(500, { says: inside }),
    translated: true
  },
  {
    name: "200-rate-limit-body",
    does: ({ wire }) => Fake.json(Fake.errorBody(wire, inside, { type: "rate_limit_error" })),
    whole: account(429, cooling, { says: inside }),
    stream: account(429, cooling, { says: inside })
  },
  {
    name: "200-empty-body",
    does: (ask) => Fake.text("", { headers: { "content-type": typeOf(ask) } }),
    whole: provider(502),
    stream: provider(502),
    translated: true
  },
  {
    name: "200-empty-object",
    does: () => Fake.json({}),
    whole: provider(502),
    stream: provider(502)
  },
  {
    // An empty answer is not a provider that is down: the next target is called, no target is penalised.
    name: "200-empty-answer",
    does: (ask) =>
      ask.streamed ? Fake.sse(all(streamed(ask.wire, { pieces: [] }))) : Fake.json(whole(ask.wire, { pieces: [""] })),
    whole: account(502, well, { emptyIsAnAnswer: true }),
    stream: account(502, well, { emptyIsAnAnswer: true }),
    translated: true
  },
  {
    name: "content-type-plain",
    does: (ask) => Fake.text(bodyOf(ask), { headers: { "content-type": "text/plain" } }),
    whole: answered,
    stream: answered
  },
  {
    name: "content-type-none",
    does: (ask) => (response) => {
      response.writeHead(200)
      response.end(bodyOf(ask))
    },
    whole: answered,
    stream: answered
  },
  {
    // Events that call themselves JSON: read for what they are, or refused; never half.
    name: "content-type-swapped",
    does: (ask) =>
      Fake.text(bodyOf(ask), {
        headers: { "content-type": ask.streamed ? "application/json" : "text/event-stream" }
      }),
    whole: answered,
    stream: answered
  },
  {
    name: "whole-instead-of-stream",
    does: ({ wire }) => Fake.json(whole(wire)),
    whole: null,
    stream: answered,
    translated: true
  },
  {
    // Some servers keep a connection open with white space until the answer is there, also when a stream was requested.
    name: "blank-lines-first",
    does:
      ({ wire }) =>
      async (response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.write("\n\n")
        await delay(20)
        response.end(`\r\n \n${JSON.stringify(whole(wire))}`)
      },
    whole: answered,
    stream: answered,
    translated: true
  },
  {
    name: "blank-lines-first-without-type",
    does:
      ({ wire }) =>
      (response) => {
        response.writeHead(200)
        response.end(`\n\n${JSON.stringify(whole(wire))}`)
      },
    whole: answered,
    stream: answered
  },
  {
    name: "gzip-garbage",
    does: (ask) =>
      Fake.text("this was never compressed", { headers: { "content-type": typeOf(ask), "content-encoding": "gzip" } }),
    whole: provider(502),
    stream: provider(502),
    translated: true
  },
  {
    name: "gzip-cut",
    does: (ask) => (response) => {
      const bytes = Buffer.from("H4sIAAAAAAAAA6tWSirKTy", "base64")
      response.writeHead(200, { "content-type": typeOf(ask), "content-encoding": "gzip" })
      response.end(bytes)
    },
    whole: provider(502),
    stream: provider(502)
  },
  {
    name: "gzip-unasked",
    does: (ask) => Fake.compressed(bodyOf(ask), "gzip", { headers: { "content-type": typeOf(ask) } }),
    whole: answered,
    stream: answered
  },
  {
    name: "usage-missing",
    does: ({ streamed: isStream, wire }) =>
      isStream ? Fake.sse(all(streamed(wire, { withoutUsage: true }))) : Fake.json(whole(wire, { withoutUsage: true })),
    whole: { ...answered, usage: "estimated" },
    stream: { ...answered, usage: "estimated" },
    translated: true
  },
  { ...enormous, name: "100-megabytes", wires: ["chat", "messages"], stream: answered },
  {
    // On this wire the last event repeats the whole answer, and an event has a limit. The limit is ours: no target is penalised.
    ...enormous,
    name: "100-megabytes-in-one-event",
    wires: ["responses"],
    stream: broken({ health: well, trips: 0 })
  }
]
