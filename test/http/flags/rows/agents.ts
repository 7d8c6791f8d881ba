/** Flags about coding tools and agents. */
import { assert } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codeBlocks } from "../../../../src/agents/skills/CodeBlocks.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { call, connect } from "../../mcp/Client.ts"
import { asked, nothing, type Row, toggle } from "./Row.ts"

const topicCheck =
  "Analyze if this message indicates a new conversation topic. If it does, extract a 2-3 word title that captures the new topic."

export const agents: ReadonlyArray<Row> = [
  toggle({
    flag: "MODEL_ALIAS_COMPAT_ENABLED",
    prepare: ({ gateway, upstream }) => gateway.connect("up", upstream, "chat", { models: ["gpt-4.1", "gpt-4o-mini"] }),
    look: async (stage) => {
      const { headers, status } = await asked(stage, "gpt-4-32k-0613", "Hi")
      return [status, headers.get("x-gateway-model"), headers.get("x-gateway-mapped")]
    },
    off: [404, null, null],
    on: [200, "gpt-4.1", "model=gpt-4.1"]
  }),
  toggle({
    flag: "GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS",
    prepare: async ({ gateway, upstream }) => {
      await gateway.connect("up", upstream, "chat", { models: ["large", "small"] })
      await gateway.manage("PATCH", "/api/settings", { backgroundModel: "up/small" })
    },
    look: async ({ gateway }) => {
      const system = [
        { type: "text", text: "You are Claude Code." },
        { type: "text", text: topicCheck }
      ]
      const messages = [{ role: "user", content: "Fix the tests" }]
      const seen: Array<string | null> = []
      for (const body of [{ system, messages }, { messages }]) {
        const response = await gateway.post("/v1/messages", { model: "up/large", max_tokens: 20, ...body })
        await response.arrayBuffer()
        seen.push(response.headers.get("x-gateway-model"), response.headers.get("x-gateway-mapped"))
      }
      return seen
    },
    off: ["large", null, "large", null],
    on: ["small", "model=up/small", "large", null]
  }),
  toggle({
    flag: "ENABLE_CC_COMPATIBLE_PROVIDER",
    prepare: nothing,
    look: async ({ admin, gateway, upstream }) => {
      upstream.always(Fake.json(Fake.messagesAnswer({ text: "Hello" })))
      const node = { name: "r", prefix: "r", type: "claude-code-compatible", baseUrl: `${upstream.origin}/v1` }
      const made = (await admin("POST", "/api/provider-nodes", node)).status
      if (made !== 201) return [made]
      const account = { provider: "r", name: "r", apiKey: "key-of-the-relay", models: ["m"] }
      assert.strictEqual((await admin("POST", "/api/providers", account)).status, 201)
      const ofClaude = {
        "user-agent": "claude-cli/2.0.14 (external, cli)",
        "x-app": "cli",
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
        "x-stainless-lang": "js",
        "x-other": "mine"
      }
      const body = `{"metadata":{"user_id":"user_1"},"max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"model":"m"}`
      const own = await gateway.post("/v1/messages", body.replace(`"m"}`, `"r/m"}`), ofClaude)
      const other = await gateway.post("/v1/messages", body.replace(`"m"}`, `"r/m"}`), { "user-agent": "curl/8" })
      const sent = upstream.requests[0]
      const told = Object.entries(ofClaude).map(([name, value]) => sent?.headers[name] === value)
      const rest = [sent?.url, sent?.body === body, sent?.headers["x-api-key"], upstream.requests.length]
      return [
        made,
        own.status,
        other.status,
        await other.text().then((text) => text.includes("Claude Code's own")),
        told,
        rest
      ]
    },
    off: [400],
    on: [
      201,
      200,
      400,
      true,
      [true, true, true, true, true, false],
      ["/v1/messages?beta=true", true, "key-of-the-relay", 1]
    ]
  }),
  toggle({
    flag: "CLI_COMPAT_ALL",
    prepare: async ({ gateway, upstream }) => {
      const account = { name: "a", apiKey: "key-of-the-account", baseUrl: upstream.origin, models: ["m"] }
      await gateway.manage("POST", "/api/providers", { ...account, provider: "openai" })
    },
    look: async ({ gateway, upstream }) => {
      const agent = "codex_cli_rs/0.58.0 (Ubuntu 24.4.0; x86_64) xterm"
      const seen: Array<unknown> = []
      for (const userAgent of [agent, "curl/8"]) {
        const headers = { "user-agent": userAgent, originator: "codex_cli_rs" }
        await (await gateway.post("/v1/responses", { model: "openai/m", input: "Hi" }, headers)).arrayBuffer()
        const sent = upstream.requests.at(-1)?.headers
        seen.push(sent?.["user-agent"] === userAgent, sent?.["originator"] ?? null)
      }
      return seen
    },
    off: [false, null, false, null],
    on: [true, "codex_cli_rs", false, null]
  }),
  toggle({
    flag: "SKILLS_SANDBOX_NETWORK_ENABLED",
    prepare: async ({ dataDir, set, upstream }) => {
      await set("OUTBOUND_SSRF_GUARD_ENABLED", "false")
      const block = `return await (await fetch("${upstream.origin}/x")).text()`
      const custom = `\n\`\`\`js\n${block}\n\`\`\`\n`
      mkdirSync(join(dataDir, "skills", "cli-plugins-skills"), { recursive: true })
      writeFileSync(
        join(dataDir, "skills", "cli-plugins-skills", "SKILL.md"),
        `<!-- skill:custom-start -->${custom}<!-- skill:custom-end -->\n`
      )
    },
    look: async ({ gateway, upstream }) => {
      upstream.always(Fake.text("reached"))
      const page = await (await fetch(`${gateway.url}/skills/cli-plugins-skills/SKILL.md`)).text()
      const input = { id: "cli-plugins-skills", block: codeBlocks(page).length }
      const { isError, structured } = await call(await connect(gateway.url), "skills_execute", input)
      return [isError, structured?.value ?? null]
    },
    off: [true, null],
    on: [false, "reached"]
  })
]
