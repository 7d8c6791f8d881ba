/** The official SDKs, unmodified: searches of the web that another provider makes, and that the gateway makes for a model. */
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { GoogleGenAI } from "@google/genai"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Fake from "../support/FakeUpstream.ts"
import { tavilyAnswer } from "../support/Searches.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { page, query, said, searched, tells } from "../support/WebSearch.ts"

/** `up/m` cannot search, the others can. */
const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [plain, claude, gpt, tavily] = [yield* Fake.start, yield* Fake.start, yield* Fake.start, yield* Fake.start]
  tavily.always(Fake.json(tavilyAnswer))
  claude.always(searched("messages"))
  gpt.always(searched("responses"))
  const connect = (provider: string, { origin }: Fake.FakeUpstream, path = "") =>
    gateway.manage("POST", "/api/providers", {
      provider,
      name: provider,
      apiKey: `key-of-${provider}-123456`,
      baseUrl: origin + path
    })
  yield* Effect.promise(async () => {
    await gateway.connect("up", plain, "chat")
    await connect("tavily", tavily)
    await connect("anthropic", claude, "/v1")
    await connect("openai", gpt, "/v1")
  })
  const askPlain = () =>
    plain.enqueue(
      tells("chat", { text: "One moment. ", call: { name: "web_search", args: { query } } }),
      tells("chat", { text: said })
    )
  return {
    askPlain,
    openai: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: gateway.url, apiKey: "any", maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: gateway.url } })
  }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const ask = [{ role: "user" as const, content: "What is a gateway?" }]
const tool = { type: "web_search_20250305" as const, name: "web_search" as const, max_uses: 3 }

describe("a search of the web, by the official SDKs", () => {
  for (const model of ["up/m", "openai/gpt-5.4"]) {
    scene(`Anthropic's, answered by ${model}, whole and streamed`, async ({ anthropic, askPlain }) => {
      const params = { model, max_tokens: 300, messages: ask, tools: [tool] }
      for (const message of [
        () => anthropic.messages.create(params),
        () => anthropic.messages.stream(params).finalMessage()
      ]) {
        askPlain()
        const { content, stop_reason: stop } = await message()
        const use = content.find((block) => block.type === "server_tool_use")
        const result = content.find((block) => block.type === "web_search_tool_result")
        const last = content.at(-1)
        assert.strictEqual(stop, "end_turn")
        assert.deepEqual(use?.input, { query })
        assert.strictEqual(result?.tool_use_id, use?.id)
        assert.strictEqual(Array.isArray(result?.content) ? result.content[0]?.url : null, page.url)
        assert.strictEqual(last?.type === "text" ? last.text : "", said)
        const [citation] = last?.type === "text" ? (last.citations ?? []) : []
        assert.strictEqual(citation?.type === "web_search_result_location" ? citation.url : null, page.url)
      }
    })
  }

  for (const model of ["up/m", "anthropic/claude-sonnet-4-6"]) {
    scene(`OpenAI's responses, answered by ${model}, whole and streamed`, async ({ askPlain, openai }) => {
      const params = { model, input: "What is a gateway?", tools: [{ type: "web_search" as const }] }
      for (const response of [
        () => openai.responses.create(params),
        () => openai.responses.stream(params).finalResponse()
      ]) {
        askPlain()
        const { output, output_text: text, status } = await response()
        assert.strictEqual(status, "completed")
        assert.include(text, said)
        const [search] = output.flatMap((item) => (item.type === "web_search_call" ? item : []))
        assert.strictEqual(search?.status, "completed")
        assert.deepInclude(search?.action, { type: "search", query })
        const message = output.flatMap((item) => (item.type === "message" ? item : [])).at(-1)
        const [part] = message?.content ?? []
        const [annotation] = part?.type === "output_text" ? part.annotations : []
        assert.strictEqual(annotation?.type === "url_citation" ? annotation.url : null, page.url)
      }
    })

    scene(`OpenAI's chat, answered by ${model}, whole and streamed`, async ({ askPlain, openai }) => {
      const params = { model, messages: ask, web_search_options: {} }
      askPlain()
      const whole = await openai.chat.completions.create(params)
      const [choice] = whole.choices
      assert.include(choice?.message.content, said)
      assert.strictEqual(choice?.message.annotations?.[0]?.url_citation.url, page.url)
      askPlain()
      const streamed = await openai.chat.completions.stream(params).finalChatCompletion()
      assert.include(streamed.choices[0]?.message.content, said)
      assert.strictEqual(streamed.choices[0]?.finish_reason, "stop")
      assert.include(JSON.stringify(streamed.choices[0]?.message), page.url)
    })
  }

  for (const model of ["up/m", "anthropic/claude-sonnet-4-6"]) {
    scene(`Google's, answered by ${model}, whole and streamed`, async ({ askPlain, google }) => {
      const params = { model, contents: "What is a gateway?", config: { tools: [{ googleSearch: {} }] } }
      askPlain()
      const whole = await google.models.generateContent(params)
      assert.include(whole.text, said)
      assert.deepEqual(whole.candidates?.[0]?.groundingMetadata?.webSearchQueries, [query])
      assert.strictEqual(whole.candidates?.[0]?.groundingMetadata?.groundingChunks?.[0]?.web?.uri, page.url)
      askPlain()
      let text = ""
      let metadata: object | undefined
      for await (const chunk of await google.models.generateContentStream(params)) {
        text += chunk.text ?? ""
        metadata = chunk.candidates?.[0]?.groundingMetadata ?? metadata
      }
      assert.include(text, said)
      assert.include(JSON.stringify(metadata), page.url)
    })
  }
})
