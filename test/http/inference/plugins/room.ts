/** A gateway with an upstream and listeners of hooks. */
import { it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { Hooks } from "../../../../src/agents/plugins/hooks/Hooks.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

export const setUp = Effect.gen(function* () {
  const { built, gateway } = yield* TestGateway.startBuilt()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const hooks = Context.get(built, Hooks)
  const decision = async (response: Response) =>
    (await gateway.manage("GET", `/api/routing/decisions/${idOf(response)}`)).decision
  return { gateway, upstream, hooks, decision, idle: () => Effect.runPromise(hooks.idle) }
})

export type Room = Effect.Effect.Success<typeof setUp>

export const scenario = (name: string, run: (room: Room) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

export const idOf = (response: Response): string => response.headers.get("x-gateway-request-id") ?? ""

export interface Asking {
  readonly path: string
  readonly body: object
}

const said = [{ role: "user", content: "Hi" }]

/** A request of each wire. */
export const asking: Readonly<Record<WireName, (stream: boolean, model?: string) => Asking>> = {
  chat: (stream, model = "up/m") => ({ path: "/v1/chat/completions", body: { model, messages: said, stream } }),
  messages: (stream, model = "up/m") => ({
    path: "/v1/messages",
    body: { model, max_tokens: 50, messages: said, stream }
  }),
  responses: (stream, model = "up/m") => ({ path: "/v1/responses", body: { model, input: "Hi", stream } }),
  gemini: (stream, model = "up/m") => ({
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
  }),
  ollama: (stream, model = "up/m") => ({ path: "/api/chat", body: { model, messages: said, stream } })
}

export const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

/** How each wire ends a stream that is complete. */
export const endOf: Readonly<Record<WireName, string>> = {
  chat: "data: [DONE]",
  messages: "event: message_stop",
  responses: "response.completed",
  gemini: '"finishReason":"STOP"',
  ollama: '"done":true'
}

/** Answers as the request asks for it, in the words of the chat wire. */
export const answering: Fake.Answer = (response, request) =>
  JSON.parse(request.body).stream === true
    ? Fake.sse(Fake.chatStream(["Hello", " there"]))(response, request)
    : Fake.json(Fake.chatCompletion({ text: "Hello there", usage: { in: 11, out: 4 } }))(response, request)
