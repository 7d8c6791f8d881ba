/** Two hundred clients that ask for stories and for trouble, in every wire, streamed or not, some of them leaving early. */
import { Agent, fetch } from "undici"
import { WebSocket } from "ws"
import * as Story from "../wall/Story.ts"
import type { WallWire } from "../wall/Wires.ts"

/** What may be asked for: a model, and the wire that its upstream speaks. It is asked for in any wire. */
export interface Offer {
  readonly model: string
  readonly wire: WallWire
}

const wires: ReadonlyArray<WallWire> = ["chat", "messages", "responses"]

export type Outcome = "answered" | "refused" | "broken" | "left"

export interface Served {
  /** Null where the client left before it heard anything. */
  readonly requestId: string | null
  readonly model: string
  readonly outcome: Outcome
  /** A success that does not hold the whole story. */
  readonly isUntrue: boolean
}

const paths = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const

const bodyFor = (wire: WallWire, model: string, stream: boolean): object =>
  wire === "responses"
    ? { model, stream, input: "Tell the story" }
    : { model, stream, max_tokens: 200, messages: [{ role: "user", content: "Tell the story" }] }

const marks = {
  chat: /"finish_reason":\s*"stop"/,
  messages: /event: message_stop/,
  responses: /event: response\.completed/
} as const

/** A small seeded generator, so that every run asks the same. */
export const makeDice = (seed: number): ((sides: number) => number) => {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

const lastWords = Story.text.slice(-20)

const read = async (body: AsyncIterable<Uint8Array> | null, leave: (() => void) | null): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    leave?.()
  }
  return text
}

const judge = (wire: WallWire, streamed: boolean, ok: boolean, text: string): Pick<Served, "outcome" | "isUntrue"> => {
  if (!ok) return { outcome: "refused", isUntrue: false }
  const isSuccess = streamed ? marks[wire].test(text) : true
  // An empty answer is reported as it is when there is no other target.
  const isWhole = text.includes(lastWords) || !text.includes("Night falls")
  return { outcome: isSuccess ? "answered" : "broken", isUntrue: isSuccess && !isWhole }
}

const askOnce = async (
  dispatcher: Agent,
  url: string,
  model: string,
  wire: WallWire,
  streamed: boolean,
  leaves: boolean
): Promise<Served> => {
  const abort = new AbortController()
  let requestId: string | null = null
  try {
    const response = await fetch(url + paths[wire], {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyFor(wire, model, streamed)),
      signal: abort.signal,
      dispatcher
    })
    requestId = response.headers.get("x-gateway-request-id")
    const text = await read(response.body, leaves ? () => abort.abort() : null)
    return { requestId, model, ...judge(wire, streamed, response.ok, text) }
  } catch {
    return { requestId, model, outcome: abort.signal.aborted ? "left" : "broken", isUntrue: false }
  }
}

interface Frame {
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The responses wire over a socket of its own, for one turn. */
const askOverSocket = (url: string, model: string, leaves: boolean): Promise<Served> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}${paths.responses}`)
    let requestId: string | null = null
    let text = ""
    let last = ""
    const ends = /^(?:error|response\.(?:completed|incomplete|failed))$/
    socket.on("open", () =>
      socket.send(JSON.stringify({ type: "response.create", ...bodyFor("responses", model, true) }))
    )
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame
      requestId ??= frame.headers?.["x-gateway-request-id"] ?? null
      text += data.toString()
      last = frame.type
      if (leaves) socket.terminate()
      else if (ends.test(frame.type)) socket.close()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      const isSuccess = last === "response.completed"
      const isWhole = text.includes(lastWords) || !text.includes("Night falls")
      const outcome = isSuccess
        ? "answered"
        : leaves
          ? "left"
          : text.includes("response.created")
            ? "broken"
            : "refused"
      resolve({ requestId, model, outcome, isUntrue: isSuccess && !isWhole })
    })
  })

export interface LoadOptions {
  readonly url: string
  readonly offers: ReadonlyArray<Offer>
  readonly clients: number
  /** Whether one more is to be asked, given how many were begun. */
  readonly goesOn: (begun: number) => boolean
  /** Called after each, with how many are done. */
  readonly progress: (done: number) => void
}

/** Has the clients ask, each one request after the other; when it is over their sockets are closed. */
export const run = async (options: LoadOptions): Promise<ReadonlyArray<Served>> => {
  const { clients, goesOn, offers, progress, url } = options
  const agent = new Agent()
  const served: Array<Served> = []
  let begun = 0
  const client = async (number: number): Promise<void> => {
    const dice = makeDice(number + 1)
    while (goesOn(begun)) {
      begun += 1
      const offer = offers[dice(offers.length)]!
      // Half of them in the wire of the upstream, whose answers go through as they are.
      const wire = dice(2) === 0 ? offer.wire : wires[dice(wires.length)]!
      const leaves = dice(10) === 0
      const asked =
        wire === "responses" && dice(3) === 0
          ? askOverSocket(url, offer.model, leaves)
          : askOnce(agent, url, offer.model, wire, dice(2) === 0, leaves)
      served.push(await asked)
      progress(served.length)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  await agent.destroy()
  return served
}
