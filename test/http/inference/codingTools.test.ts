/** Headers in which coding tools speak of themselves: to their own providers with `CLI_COMPAT_ALL`, to nobody else, from nobody else. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Tool {
  readonly agent: string
  readonly provider: string
  /** Another provider that speaks its wire, and is not its own. */
  readonly other: string
  readonly path: (model: string) => string
  readonly body: Readonly<Record<string, unknown>>
  readonly own: Readonly<Record<string, string>>
}

const messages = [{ role: "user", content: "Hi" }]
const chat = { path: () => "/v1/chat/completions", body: { messages } }

const tools: Readonly<Record<string, Tool>> = {
  "Claude Code": {
    agent: "claude-cli/2.0.14 (external, cli)",
    provider: "anthropic",
    other: "minimax",
    path: () => "/v1/messages",
    body: { messages, max_tokens: 9 },
    own: {
      "x-app": "cli",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
      "anthropic-dangerous-direct-browser-access": "true",
      "x-stainless-lang": "js"
    }
  },
  "Codex CLI": {
    agent: "codex_cli_rs/0.58.0 (Ubuntu 24.4.0; x86_64) xterm",
    provider: "openai",
    other: "xai",
    path: () => "/v1/responses",
    body: { input: "Hi" },
    own: {
      originator: "codex_cli_rs",
      session_id: "019a9544-7ab1-73c1-837e-1fa681f4462b",
      "x-openai-subagent": "review"
    }
  },
  "Gemini CLI": {
    agent: "GeminiCLI/0.24.0/gemini-2.5-pro (linux; x64)",
    provider: "gemini",
    other: "openai",
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    own: { "x-goog-api-client": "google-genai-sdk/1.30.0 gl-node/v20", "x-gemini-api-privileged-user-id": "b1c9" }
  },
  "Kilo Code": {
    ...chat,
    agent: "Kilo-Code/4.100.0",
    provider: "kilo-gateway",
    other: "openrouter",
    own: { "http-referer": "https://kilocode.ai", "x-title": "Kilo Code", "x-kilocode-version": "4.100.0" }
  },
  opencode: {
    ...chat,
    agent: "opencode/1.1.20 ai-sdk/provider-utils/3.0.20",
    provider: "opencode-zen",
    other: "openrouter",
    own: { "x-opencode-project": "p1", "x-opencode-session": "ses_1", "x-opencode-client": "cli" }
  },
  "Qwen Code": {
    ...chat,
    agent: "QwenCode/0.10.3 (linux; x64)",
    provider: "alibaba",
    other: "deepseek",
    own: { "x-dashscope-useragent": "QwenCode/0.10.3 (linux; x64)", "x-dashscope-cachecontrol": "enable" }
  }
}

/** None of it may ever leave. */
const kept = {
  "x-forwarded-for": "203.0.113.9",
  "chatgpt-account-id": "account-of-the-client",
  cookie: "a=b",
  "x-mine": "yes"
}

const setUp = (isOn: boolean, { other, provider }: Tool) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    upstream.always(Fake.json({ error: { message: "enough seen" } }, { status: 400 }))
    const gateway = yield* TestGateway.start({ environment: new Map([["CLI_COMPAT_ALL", String(isOn)]]) })
    yield* Effect.promise(async () => {
      for (const each of [provider, other]) {
        const account = {
          provider: each,
          name: each,
          apiKey: `key-of-${each}`,
          baseUrl: upstream.origin,
          models: ["m"]
        }
        await gateway.manage("POST", "/api/providers", account)
      }
    })
    return { gateway, upstream }
  })

describe("headers of a coding tool", () => {
  for (const [name, tool] of Object.entries(tools)) {
    it.scopedLive(`${name}: go on to its own provider only, and for no other client`, () =>
      Effect.gen(function* () {
        for (const isOn of [true, false]) {
          const { gateway, upstream } = yield* setUp(isOn, tool)
          const sent = async (provider: string, agent: string) => {
            const model = `${provider}/m`
            const before = upstream.requests.length
            const headers = { ...kept, ...tool.own, "user-agent": agent }
            await (await gateway.post(tool.path(model), { ...tool.body, model }, headers)).arrayBuffer()
            assert.isAbove(upstream.requests.length, before, `${provider} was asked`)
            return upstream.requests[before]?.headers ?? {}
          }
          yield* Effect.promise(async () => {
            const told = { ...tool.own, "user-agent": tool.agent }
            const toOwn = await sent(tool.provider, tool.agent)
            const reached = Object.entries(told).filter(([key, value]) => toOwn[key] === value)
            const ofWire = isOn ? [] : ["anthropic-beta"]
            assert.deepStrictEqual(
              reached.map(([key]) => key).filter((key) => !ofWire.includes(key)),
              isOn ? Object.keys(told) : [],
              `CLI_COMPAT_ALL=${isOn}`
            )
            const strangers = [await sent(tool.other, tool.agent), await sent(tool.provider, `mine/1 ${tool.agent}`)]
            for (const headers of strangers) {
              for (const [key, value] of Object.entries(told)) {
                if (key !== "anthropic-beta") assert.notStrictEqual(headers[key], value, key)
              }
            }
            for (const headers of [toOwn, ...strangers]) {
              for (const [key, value] of Object.entries(kept)) assert.notStrictEqual(headers[key], value, key)
            }
          })
        }
      })
    )
  }
})

describe("counts of tokens", () => {
  it.scopedLive("are asked for with the tool's own headers, and a relay for one client is asked by it only", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json({ input_tokens: 77 }))
      const environment = new Map([
        ["CLI_COMPAT_ALL", "true"],
        ["ENABLE_CC_COMPATIBLE_PROVIDER", "true"]
      ])
      const gateway = yield* TestGateway.start({ environment })
      yield* Effect.promise(async () => {
        const baseUrl = `${upstream.origin}/v1`
        const node = { name: "relay", prefix: "relay", type: "claude-code-compatible", baseUrl }
        await gateway.manage("POST", "/api/provider-nodes", node)
        for (const provider of ["anthropic", "relay"]) {
          const account = { provider, name: provider, apiKey: `key-of-${provider}`, models: ["m"] }
          await gateway.manage("POST", "/api/providers", provider === "relay" ? account : { ...account, baseUrl })
        }
        const asks = async (provider: string, agent: string) => {
          const before = upstream.requests.length
          const headers = { "user-agent": agent, "x-app": "cli" }
          const answer = await gateway.post("/v1/messages/count_tokens", { model: `${provider}/m`, messages }, headers)
          await answer.arrayBuffer()
          const { headers: got } = upstream.requests[before] ?? { headers: null }
          return [
            answer.headers.get("x-gateway-token-count-source"),
            got?.["user-agent"] === agent,
            got?.["x-app"] ?? null
          ]
        }
        const claude = "claude-cli/2.0.14 (external, cli)"
        assert.deepStrictEqual(await asks("anthropic", claude), ["provider", true, "cli"])
        assert.deepStrictEqual(await asks("anthropic", "curl/8"), ["provider", false, null])
        assert.deepStrictEqual(await asks("relay", claude), ["provider", true, "cli"])
        assert.deepStrictEqual(await asks("relay", "curl/8"), ["local", false, null])
      })
    })
  )
})
