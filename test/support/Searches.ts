/** A gateway with two providers of searches, each with answers of its own documented form. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AppConfigShape } from "../../src/platform/AppConfig.ts"
import type { JsonObject } from "../../src/wire/json/Json.ts"
import * as Fake from "./FakeUpstream.ts"
import * as TestGateway from "./TestGateway.ts"

export const tavilyAnswer: JsonObject = {
  query: "gateway",
  answer: null,
  results: [
    {
      title: "Gateways",
      url: "https://example.com/gateways",
      content: "What a gateway is.",
      score: 0.9,
      favicon: "https://example.com/i.png"
    },
    { title: "Other", url: "https://example.org/", content: "Another.", score: 0.5, raw_content: "The whole page." }
  ],
  response_time: 1.1
}

export const braveAnswer: JsonObject = {
  type: "search",
  web: {
    type: "search",
    results: [
      {
        title: "Brave one",
        url: "https://brave.example/one",
        description: "First.",
        page_age: "2026-11-01T00:00:00",
        language: "en",
        meta_url: { favicon: "https://brave.example/f.ico" }
      }
    ]
  }
}

export const room = (config: Partial<AppConfigShape> = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const tavily = yield* Fake.start
    const brave = yield* Fake.start
    tavily.always(Fake.json(tavilyAnswer))
    brave.always(Fake.json(braveAnswer))
    const connect = async (
      provider: string,
      { origin }: Fake.FakeUpstream,
      more: object = {}
    ): Promise<{ readonly id: string }> => {
      const body = { provider, name: provider, apiKey: `key-of-${provider}`, baseUrl: origin, ...more }
      return (await gateway.manage("POST", "/api/providers", body)).connection
    }
    /** Tavily first. */
    const connectBoth = async (): Promise<void> => {
      await connect("tavily", tavily, { priority: 1 })
      await connect("brave", brave, { priority: 2 })
    }
    const search = (body: object | string, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
      gateway.post("/v1/search", body, headers, signal)
    const newKey = async (settings: object = {}): Promise<{ readonly id: string; readonly secret: string }> => {
      const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k", ...settings })
      return { id: key.id, secret }
    }
    const analytics = async () => (await gateway.manage("GET", "/v1/search/analytics")).providers
    return { gateway, tavily, brave, connect, connectBoth, search, newKey, analytics }
  })

export type Room = Effect.Effect.Success<ReturnType<typeof room>>

export const scenario = (
  name: string,
  run: (room: Room) => Promise<void>,
  config: Partial<AppConfigShape> = {}
): void => {
  it.scopedLive(name, () => Effect.flatMap(room(config), (made) => Effect.promise(() => run(made))))
}

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
export const json = async (response: Response): Promise<any> => response.json()

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
