/** Libraries that clients are built with, unmodified, through the built gateway: the AI SDK and LangChain, each to upstreams of every wire. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { answeredWith } from "../support/AnyWire.ts"
import * as Fake from "../support/FakeUpstream.ts"
import type { Package } from "./Agents.ts"
import { ensureAll } from "./Cache.ts"
import * as Gateway from "./Gateway.ts"
import { run } from "./Run.ts"
import { wires } from "./upstream/All.ts"

const library = (name: string, version: string): Package => ({ name, version, command: "" })

const packages = [
  library("ai", "7.0.173"),
  library("@ai-sdk/openai", "4.0.118"),
  library("@ai-sdk/openai-compatible", "3.0.92"),
  library("@langchain/openai", "1.6.0"),
  library("@langchain/core", "1.4.0"),
  library("zod", "4.6.7")
]

const script = fileURLToPath(new URL("libraries.mjs", import.meta.url))
const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))

let gateway: Gateway.Gateway
let upstream: Fake.FakeUpstream
let folder = ""
const models = new Map<string, string>()

/** Vectors in another order than they were asked for, and text from every other endpoint. */
const answering: Fake.Answer = (response, request) => {
  const { input, requests } = JSON.parse(request.body) as {
    readonly input?: ReadonlyArray<string>
    readonly requests?: ReadonlyArray<{
      readonly content: { readonly parts: ReadonlyArray<{ readonly text: string }> }
    }>
  }
  if (request.url.includes("batchEmbedContents")) {
    const embeddings = (requests ?? []).map(({ content }) => ({ values: [content.parts[0]?.text.length ?? 0] }))
    return Fake.json({ embeddings })(response, request)
  }
  if (request.url.includes("/api/embed"))
    return Fake.json({ model: "m", embeddings: (input ?? []).map((text) => [text.length]) })(response, request)
  if (!request.url.includes("/embeddings"))
    return answeredWith([{ type: "text", text: `Answer ${upstream.requests.length}` }])(response, request)
  const data = (input ?? []).map((text, index) => ({ object: "embedding", index, embedding: [text.length] }))
  return Fake.json({ object: "list", model: "m", data: data.toReversed() })(response, request)
}

beforeAll(async () => {
  folder = ensureAll("libraries", packages)
  upstream = await started(Fake.start)
  upstream.always(answering)
  gateway = await started(Gateway.start)
  for (const wire of wires) models.set(wire.label, await gateway.addUpstream(wire, upstream.origin, `up-${wire.label}`))
}, 300_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const ask = async (task: string, label: string): Promise<Record<string, unknown>> => {
  const model = models.get(label) ?? assert.fail(label)
  const { code, stderr, stdout } = await run({
    file: process.execPath,
    args: [script, task, gateway.url, gateway.apiKey, model],
    cwd: dirname(folder),
    env: { PATH: process.env["PATH"] ?? "", HOME: dirname(folder), NO_PROXY: "*" },
    limitMs: 60_000
  })
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout) as Record<string, unknown>
}

const lastBody = (): string => upstream.requests.at(-1)?.body ?? ""

describe("the AI SDK", () => {
  for (const { label } of wires) {
    it(`keeps earlier turns that it names by their items, ${label} upstream`, async () => {
      const from = upstream.requests.length
      await ask("turns", label)
      assert.lengthOf(upstream.requests, from + 2)
      assert.include(lastBody(), `Answer ${from + 1}`)
      assert.notInclude(lastBody(), "item_reference")
    })
  }

  it("sets marks on messages, which arrive at a messages upstream", async () => {
    await ask("marks", "messages")
    assert.strictEqual(lastBody().split('"cache_control":{"type":"ephemeral"}').length - 1, 4, lastBody())
  })
})

describe("LangChain", () => {
  for (const label of ["chat", "gemini", "ollama"]) {
    it(`has its vectors in order, and its picture under its true type, ${label} upstream`, async () => {
      const { said, vectors } = await ask("langchain", label)
      assert.deepStrictEqual(vectors, [[3], [5], [9]])
      assert.match(String(said), /^Answer/)
      if (label === "gemini") assert.include(lastBody(), "image/png")
    })
  }
})
