/** Connections that fail, and streams that end badly. */
import { setTimeout as delay } from "node:timers/promises"
import * as Fake from "../../../support/FakeUpstream.ts"
import { answered, type Ask, broken, type Expected, type Fault, provider, soon } from "../Fault.ts"
import { all, errorEvent, ping, streamed, type Told, whole } from "../Wires.ts"

/** Never asked: the connection does not lead here. */
const nothing = (): Fake.Answer => Fake.hang()

const unreachable: Expected = provider(502, { calls: 0 })

/** Half of a whole body, as a connection leaves it that breaks; `silent`: it stays open and says no more. */
const halfBody =
  (ask: Ask, ending: "cut" | "reset" | "silent", tool = false): Fake.Answer =>
  (response) => {
    const body = JSON.stringify(whole(ask.wire, { tool }))
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body))
    })
    response.write(body.slice(0, body.length / 2), () => {
      if (ending === "cut") response.socket?.end()
      if (ending === "reset") response.socket?.resetAndDestroy()
    })
  }

/**
 * Sends the pieces, lets them arrive, then resets the connection. A reset overtakes what is still under way, so it waits for a turn
 * of the event loop in which the other side, in the same process, can read.
 */
const arriveThenReset =
  (pieces: ReadonlyArray<string>): Fake.Answer =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const piece of pieces) response.write(piece)
    await delay(100)
    response.socket?.resetAndDestroy()
  }

/** The beginning of a stream: everything up to half of the content. */
const half = ({ content, opening }: Told): ReadonlyArray<string> => [
  ...opening,
  ...content.slice(0, Math.ceil(content.length / 2))
]

/** Up to the middle of the last letter that has more than one byte. */
const midLetter = ({ content, opening }: Told): Buffer => {
  const bytes = Buffer.from([...opening, ...content].join(""))
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte >= 0xc0) + 1)
}

const inside = "The oven broke down."

export const network: ReadonlyArray<Fault> = [
  {
    name: "connection-refused",
    at: "closed port",
    does: nothing,
    whole: unreachable,
    stream: unreachable,
    translated: true
  },
  { name: "dns-failure", at: "no such name", does: nothing, whole: unreachable, stream: unreachable },
  { name: "tls-failure", at: "no TLS", does: nothing, whole: unreachable, stream: unreachable },
  {
    name: "reset-before-headers",
    does: Fake.resetBeforeHeaders,
    whole: provider(502),
    stream: provider(502),
    translated: true
  },
  { name: "closed-before-headers", does: Fake.closeBeforeHeaders, whole: provider(502), stream: provider(502) },
  { name: "not-http", does: () => Fake.raw(["SSH-2.0-bakery\r\n"]), whole: provider(502), stream: provider(502) },
  {
    name: "no-response",
    does: Fake.hang,
    timeouts: soon,
    whole: provider(504),
    stream: provider(504),
    translated: true
  },
  {
    name: "headers-then-silence",
    timeouts: soon,
    does: (ask) => (response) => {
      response.writeHead(200, { "content-type": ask.streamed ? "text/event-stream" : "application/json" })
      response.flushHeaders()
    },
    whole: provider(504),
    stream: provider(504)
  },
  {
    name: "half-then-silence",
    timeouts: soon,
    does: (ask) => (ask.streamed ? Fake.silence(half(streamed(ask.wire))) : halfBody(ask, "silent")),
    whole: provider(504),
    stream: broken(),
    translated: true
  }
]

export const streams: ReadonlyArray<Fault> = [
  {
    // Roles and pings are not content.
    name: "opening-then-silence",
    timeouts: soon,
    does: ({ wire }) => Fake.silence([...streamed(wire).opening, ping(wire), ping(wire)]),
    whole: null,
    stream: provider(504),
    translated: true
  },
  {
    name: "opening-then-end",
    does: ({ wire }) => Fake.sse(streamed(wire).opening),
    whole: null,
    stream: provider(502),
    translated: true
  },
  {
    name: "opening-then-reset",
    does: ({ wire }) => arriveThenReset(streamed(wire).opening),
    whole: null,
    stream: provider(502)
  },
  {
    name: "error-event-first",
    does: ({ wire }) => Fake.sse([errorEvent(wire, inside, "server_error")]),
    whole: null,
    stream: provider(500, { says: inside }),
    translated: true
  },
  {
    name: "error-event-after-opening",
    does: ({ wire }) => Fake.sse([...streamed(wire).opening, errorEvent(wire, inside, "server_error")]),
    whole: null,
    stream: provider(500, { says: inside }),
    translated: true
  },
  {
    name: "overloaded-event-first",
    does: ({ wire }) => Fake.sse([errorEvent(wire, inside, "overloaded_error")]),
    whole: null,
    stream: provider(529, { says: inside, trips: 0 })
  },
  {
    name: "error-event-midway",
    does: ({ wire }) => Fake.sse([...half(streamed(wire)), errorEvent(wire, inside, "server_error")]),
    whole: null,
    stream: broken({ says: inside }),
    translated: true
  },
  {
    name: "cut-mid-text",
    does: (ask) => (ask.streamed ? Fake.cutOff(half(streamed(ask.wire))) : halfBody(ask, "cut")),
    whole: provider(502),
    stream: broken(),
    translated: true
  },
  {
    name: "socket-destroyed-mid-text",
    does: (ask) => (ask.streamed ? arriveThenReset(half(streamed(ask.wire))) : halfBody(ask, "reset")),
    whole: provider(502),
    stream: broken()
  },
  {
    name: "cut-mid-line",
    does: ({ wire }) => {
      const told = streamed(wire)
      const next = told.content[6] ?? ""
      return Fake.cutOff([...half(told), next.slice(0, next.length / 2)])
    },
    whole: null,
    stream: broken()
  },
  {
    name: "cut-mid-letter",
    does:
      ({ wire }) =>
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(midLetter(streamed(wire)), () => response.socket?.end())
      },
    whole: null,
    stream: broken(),
    translated: true
  },
  {
    name: "cut-mid-tool-call",
    asksForTool: true,
    does: (ask) => (ask.streamed ? Fake.cutOff(half(streamed(ask.wire, { tool: true }))) : halfBody(ask, "cut", true)),
    whole: provider(502),
    stream: broken(),
    translated: true
  },
  {
    name: "tool-call-without-end",
    asksForTool: true,
    does: ({ wire }) => {
      const { content, opening } = streamed(wire, { tool: true })
      return Fake.sse([...opening, ...content])
    },
    whole: null,
    stream: broken()
  },
  {
    // All the text, but without a finish reason, which every success needs.
    name: "no-finish-reason",
    does: ({ wire }) => {
      const { content, opening } = streamed(wire)
      return Fake.sse([...opening, ...content])
    },
    whole: null,
    stream: broken(),
    translated: true
  },
  {
    name: "finish-reason-no-terminator",
    wires: ["chat", "messages"],
    does: ({ wire }) => {
      const { content, finish, opening } = streamed(wire)
      return Fake.sse([...opening, ...content, ...finish])
    },
    whole: null,
    stream: answered,
    translated: true
  },
  {
    name: "terminator-twice",
    does: ({ wire }) => {
      const told = streamed(wire)
      return Fake.sse([...all(told), ...told.mark])
    },
    whole: null,
    stream: answered,
    translated: true
  },
  {
    // The answer is whole when its end mark is there; that the body never ends is not the client's trouble.
    name: "terminator-then-silence",
    does: ({ wire }) => Fake.silence(all(streamed(wire))),
    whole: null,
    stream: answered
  },
  {
    name: "terminator-then-reset",
    does: ({ wire }) => arriveThenReset(all(streamed(wire))),
    whole: null,
    stream: answered
  },
  {
    name: "byte-by-byte",
    does: (ask) => Fake.byteByByte(all(streamed(ask.wire)).join("")),
    whole: null,
    stream: answered
  }
]
