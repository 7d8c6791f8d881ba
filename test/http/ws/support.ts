/** A socket client for tests: waits for frames by promise, never by time. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import type { IncomingMessage } from "node:http"
import { WebSocket } from "ws"
import { codecs, type StreamEvent } from "../../../src/wire/Codec.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { FakeUpstream } from "../../support/FakeUpstream.ts"
import type { TestGateway } from "../../support/TestGateway.ts"

// eslint-disable-next-line typescript/no-explicit-any -- tests read into frames as they please
export type Frame = any

export interface Client {
  readonly socket: WebSocket
  /** Headers of the 101. */
  readonly opened: IncomingMessage
  /** Every frame so far. */
  readonly frames: ReadonlyArray<Frame>
  readonly send: (frame: unknown) => void
  /** The next frame that was not taken yet. */
  readonly next: () => Promise<Frame>
  /** Frames up to and including the first that ends a response, or is an error. */
  readonly turn: () => Promise<ReadonlyArray<Frame>>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

export const ends = (frame: Frame): boolean =>
  frame.type === "error" || /^response\.(?:completed|incomplete|failed)$/.test(frame.type)

const wsUrl = (gateway: { readonly url: string }, path: string): string => gateway.url.replace(/^http/, "ws") + path

/** Opens a socket for the scope. */
export const open = (
  gateway: { readonly url: string },
  path = "/v1/responses",
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Client, never, Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Client>((resolve, reject) => {
          const socket = new WebSocket(wsUrl(gateway, path), { headers })
          const frames: Array<Frame> = []
          const ready: Array<Frame> = []
          const waiting: Array<(frame: Frame) => void> = []
          socket.on("message", (data, isBinary) => {
            const frame: Frame = isBinary ? { type: "binary" } : JSON.parse(String(data))
            frames.push(frame)
            const taker = waiting.shift()
            if (taker === undefined) ready.push(frame)
            else taker(frame)
          })
          const closed = new Promise<{ code: number; reason: string }>((done) => {
            socket.on("close", (code, reason) => done({ code, reason: String(reason) }))
          })
          socket.on("error", reject)
          const next = (): Promise<Frame> =>
            new Promise((take) => {
              const frame = ready.shift()
              if (frame === undefined) waiting.push(take)
              else take(frame)
            })
          const turn = async (): Promise<ReadonlyArray<Frame>> => {
            const taken: Array<Frame> = []
            do taken.push(await next())
            while (!ends(taken.at(-1)))
            return taken
          }
          socket.on("upgrade", (opened) =>
            resolve({
              socket,
              opened,
              frames,
              closed,
              next,
              turn,
              send: (frame) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame))
            })
          )
        })
    ),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )

/** The HTTP answer to a refused upgrade. */
export const refused = (
  gateway: { readonly url: string },
  path = "/v1/responses",
  headers: Readonly<Record<string, string>> = {}
): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: Frame }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(wsUrl(gateway, path), { headers })
    socket.on("error", () => {})
    socket.on("open", () => reject(new Error("the upgrade was accepted")))
    socket.on("unexpected-response", (_request, response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) })
      )
    })
  })

const nodes = {
  chat: ["openai-compatible", "/v1"],
  messages: ["anthropic-compatible", "/v1"],
  responses: ["openai-compatible", "/v1"],
  gemini: ["gemini-compatible", "/v1beta"],
  ollama: ["ollama-compatible", ""]
} as const

/** A node and a connection of any wire. */
export const connect = async (
  gateway: TestGateway,
  prefix: string,
  upstream: FakeUpstream,
  wire: WireName
): Promise<void> => {
  const [type, path] = nodes[wire]
  const baseUrl = upstream.origin + path
  await gateway.manage("POST", "/api/provider-nodes", { name: prefix, prefix, type, baseUrl, wires: [wire] })
  await gateway.manage("POST", "/api/providers", { provider: prefix, apiKey: `key-of-${prefix}-01`, models: ["m"] })
}

const stop = (reason: "stop" | "tool_calls"): StreamEvent => ({
  type: "finish",
  stop: { reason, raw: reason, sequence: null }
})

/** The stream of an answer in a wire's own format. */
export const stream = (wire: WireName, id: string, ...blocks: ReadonlyArray<ReadonlyArray<StreamEvent>>): string => {
  const encoder = codecs[wire].makeStreamEncoder({ nowMs: 0, fallbackId: id, model: "m", wantsUsage: true })
  const calls = blocks.flat().some((event) => event.type === "block_start" && event.block.type === "tool_call")
  const told: ReadonlyArray<StreamEvent> = [
    { type: "start", id, model: "m", createdMs: 0 },
    ...blocks.flat(),
    { type: "usage", usage: { in: 9, out: 4 } },
    stop(calls ? "tool_calls" : "stop"),
    { type: "done" }
  ]
  return told.map((event) => encoder.encode(event)).join("")
}

export const said = (index: number, ...texts: ReadonlyArray<string>): ReadonlyArray<StreamEvent> => [
  { type: "block_start", index, block: { type: "text" } },
  ...texts.map((text): StreamEvent => ({ type: "delta", index, delta: { type: "text", text } })),
  { type: "block_stop", index }
]

export const called = (index: number, id: string, name: string, args: string): ReadonlyArray<StreamEvent> => [
  { type: "block_start", index, block: { type: "tool_call", id, name, kind: "function" } },
  { type: "delta", index, delta: { type: "args", text: args } },
  { type: "block_stop", index }
]

export const user = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })

export const create = (more: object = {}) => ({
  type: "response.create",
  model: "up/m",
  store: false,
  input: [user("Hi")],
  ...more
})
