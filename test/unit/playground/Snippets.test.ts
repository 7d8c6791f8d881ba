import { assert, describe, it } from "@effect/vitest"
import { type PlaygroundEndpoint, playgroundEndpoints } from "../../../src/subjects/playground/entity.ts"
import { snippetsOf } from "../../../src/agents/playground/snippets/Snippets.ts"
import { requestOf } from "../../../src/agents/playground/snippets/SnippetRequest.ts"

const base = "http://127.0.0.1:20128"
const messages = [
  { role: "user" as const, content: "first" },
  { role: "user" as const, content: "second" }
]
const params = { temperature: 0.2, max_tokens: 9, stop: ["END"] }

const bodies: Readonly<Record<PlaygroundEndpoint, object>> = {
  chat: {
    model: "m",
    messages: [{ role: "system", content: "S" }, ...messages],
    ...params
  },
  completions: { model: "m", prompt: "second", ...params },
  embeddings: { model: "m", input: "second" },
  images: { model: "m", prompt: "second" },
  audio: { model: "m", prompt: "second" },
  speech: { model: "m", input: "second", voice: "alloy" },
  transcriptions: { model: "m", prompt: "S", temperature: 0.2 },
  moderations: { model: "m", input: "second" },
  rerank: { model: "m", query: "first", documents: ["second"] },
  search: { model: "m", query: "second" }
}

describe("snippets", () => {
  for (const endpoint of playgroundEndpoints) {
    it(`of ${endpoint} ask for what was tried, and name what the endpoint does not take`, () => {
      const given = { endpoint, model: "m", system: "S", messages, params }
      const { body, omitted } = requestOf(given)
      assert.deepEqual(body, bodies[endpoint])
      const heard = endpoint === "chat" || endpoint === "transcriptions" ? [] : ["system"]
      if (endpoint === "transcriptions") assert.deepEqual(omitted, ["messages", "max_tokens", "stop"])
      else if (endpoint === "chat" || endpoint === "completions") assert.deepEqual(omitted, heard)
      else assert.deepEqual(omitted, [...heard, "temperature", "max_tokens", "stop"])
    })

    it(`of ${endpoint} never hold a key, and always its placeholder`, () => {
      const { curl, python, typescript } = snippetsOf(base, { endpoint, model: "m" })
      for (const code of [curl, python, typescript]) assert.include(code, "$GATEWAY_API_KEY")
    })
  }

  it("use the official SDK where it has the call", () => {
    const withSdk = playgroundEndpoints.filter((endpoint) =>
      snippetsOf(base, { endpoint, model: "m" }).typescript.includes('from "openai"')
    )
    assert.deepEqual(withSdk, [
      "chat",
      "completions",
      "embeddings",
      "images",
      "speech",
      "transcriptions",
      "moderations"
    ])
  })

  it("of a search ask one line of at most 500 characters", () => {
    const content = `a\n\tb ${"x".repeat(600)}`
    const { body } = requestOf({ endpoint: "search", model: "m", messages: [{ role: "user", content }] })
    assert.match(String(body["query"]), /^a b x+$/)
    assert.lengthOf(String(body["query"]), 500)
  })

  it("of a search name the provider where the model is one's name", () => {
    const asked = (model: string) => requestOf({ endpoint: "search", model }).body
    assert.deepEqual(asked("tavily"), { provider: "tavily", query: "Hello!" })
    assert.deepEqual(asked("google-pse"), { provider: "google-pse", query: "Hello!" })
    for (const model of ["search", "openai/gpt-4o", "toString"]) {
      assert.deepEqual(asked(model), { model, query: "Hello!" })
    }
  })
})
