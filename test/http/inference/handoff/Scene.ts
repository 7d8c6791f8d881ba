/** Two accounts behind one `context-relay` combo: the first has a quota of 1000 tokens, the second none. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import type { Usage } from "../../../../src/wire/canonical/Usage.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

export const summary = {
  summary: "They are building a bridge of oak.",
  keyDecisions: ["oak, not pine"],
  taskProgress: "two of three piers stand",
  activeEntities: ["plan.md"]
}

const usageOf = (tokens: number): Usage => ({ in: tokens, out: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 })

/** A whole answer in the words of a wire. */
export const says = (wire: WireName, text: string, tokens = 1): Fake.Answer => {
  const stop = { reason: "stop", raw: "stop", sequence: null } as const
  const response = {
    id: "answer-1",
    model: "m",
    createdMs: 1_700_000_000_000,
    parts: [{ type: "text", text }],
    stop,
    usage: usageOf(tokens),
    logprobs: null
  } as const
  const context = { nowMs: 1_700_000_000_000, fallbackId: "answer-1", model: "m", wantsUsage: true }
  return Fake.json(codecs[wire].encodeResponse(response, context))
}

export const refuses: Fake.Answer = Fake.json({ error: { message: "Too many requests" } }, { status: 429 })

export const turns = (count: number, more = "") =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `turn ${index + 1}${more}`
  }))

export interface Reply {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  readonly id: string
}

export const requestIn = (wire: WireName, system: string | null, messages = turns(3)): object => {
  switch (wire) {
    case "chat":
    case "ollama":
      return {
        messages: [...(system === null ? [] : [{ role: "system", content: system }]), ...messages],
        ...(wire === "ollama" ? { stream: false } : {})
      }
    case "messages":
      return { max_tokens: 50, messages, ...(system === null ? {} : { system }) }
    case "responses":
      return { input: messages, ...(system === null ? {} : { instructions: system }) }
    case "gemini":
      return {
        contents: messages.map(({ content, role }) => ({
          role: role === "assistant" ? "model" : "user",
          parts: [{ text: content }]
        })),
        ...(system === null ? {} : { systemInstruction: { parts: [{ text: system }] } })
      }
  }
}

const pathOf: Readonly<Record<WireName, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  gemini: "/v1beta/models/relay:generateContent",
  ollama: "/api/chat"
}

export interface SceneOptions {
  readonly config?: Readonly<Record<string, unknown>>
  /** Of the second account; the first speaks chat where this is not said of both. */
  readonly second?: WireName
  readonly first?: WireName
  readonly connection?: Readonly<Record<string, unknown>>
  readonly dataDir?: string
}

export const setUp = ({ config = {}, connection, dataDir, first = "chat", second = "chat" }: SceneOptions = {}) =>
  Effect.gen(function* () {
    // The gateway closes before its upstreams do.
    const [a, b, helper] = [yield* Fake.start, yield* Fake.start, yield* Fake.start]
    const gateway = yield* TestGateway.start(dataDir === undefined ? {} : { dataDir })
    a.always(says(first, "answer of a"))
    b.always(says(second, "answer of b"))
    helper.always(says("chat", JSON.stringify(summary), 7))
    yield* Effect.promise(async () => {
      const quotas = [{ window: "5h", unit: "tokens", limit: 1_000 }]
      await gateway.connect("a", a, first, { quotas, ...connection })
      await gateway.connect("b", b, second)
      await gateway.connect("helper", helper, "chat")
      const targets = [{ model: "a/m" }, { model: "b/m" }]
      await gateway.manage("POST", "/api/combos", { name: "relay", strategy: "context-relay", targets, config })
    })
    const ask = async (
      session: string | null,
      body: object = requestIn("chat", null),
      wire: WireName = "chat",
      headers: Readonly<Record<string, string>> = {}
    ): Promise<Reply> => {
      const response = await gateway.post(
        pathOf[wire],
        { model: "relay", ...body },
        { ...(session === null ? {} : { "x-session-id": session }), ...headers }
      )
      const text = await response.text()
      const id = response.headers.get("x-gateway-request-id") ?? assert.fail("no request id")
      assert.strictEqual(response.status, 200, text)
      return { status: response.status, text, headers: response.headers, id }
    }
    /** The row of the summary that a request has led to; by then the summary is known. */
    const handedOff = ({ id }: Reply) => gateway.usageRow(`${id}-handoff`)
    const logs = async () => (await gateway.manage("GET", "/api/usage/logs?limit=100")).logs
    const reasonOf = async ({ id }: Pick<Reply, "id">): Promise<string> =>
      (await gateway.manage("GET", `/api/routing/decisions/${id}`)).decision.reason
    // eslint-disable-next-line typescript/no-explicit-any -- bodies are read as they come
    const sent = (upstream: Fake.FakeUpstream, index: number): any =>
      JSON.parse(upstream.requests.at(index)?.body ?? "null")
    return { gateway, a, b, helper, ask, handedOff, logs, reasonOf, sent }
  })

export type Scene = Effect.Effect.Success<ReturnType<typeof setUp>>
