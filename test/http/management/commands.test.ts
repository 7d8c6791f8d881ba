/** What the API can, the command line can: the commands against a gateway, as an operator types them. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { widthOf } from "../../../src/cli/output/Table.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { usageRow } from "../../support/usageRow.ts"
import { type Said, typed } from "../../unit/cli/inProcess.ts"
import { adminKey, adminPassword, layerOf, TestApp } from "./TestApp.ts"

const gateway = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* typed([...words, "--url", url, "--gateway-key", adminKey])
})

/** What a command that succeeds prints. */
const ok = (...words: ReadonlyArray<string>) =>
  Effect.map(gateway(...words), (said) => {
    assert.strictEqual(said.code, 0, `${words.join(" ")}: ${said.stderr}`)
    return said
  })

const json = (...words: ReadonlyArray<string>) => Effect.map(ok(...words, "--json"), ({ stdout }) => JSON.parse(stdout))

/** A refusal: one sentence and what to do next, and nothing on stdout. */
const refused = (said: Said, code: number, ...parts: ReadonlyArray<string>): void => {
  assert.deepStrictEqual([said.code, said.stdout], [code, ""], said.stderr)
  for (const part of parts) assert.include(said.stderr, part)
  assert.isAtMost(said.stderr.split("\n").length, 3, said.stderr)
}

it.layer(layerOf())("commands on a gateway", (it) => {
  it.effect("provider: shown, edited, switched and removed by name, provider or the beginning of the id", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/providers", {
        method: "POST",
        body: { provider: "openai", name: "work", apiKey: "sk-0123456789abcdef", models: ["gpt-4o"] }
      })
      const id = String(made.at("connection.id"))
      const page = yield* ok("provider", "show", "work")
      for (const part of ["openai", "gpt-4o", id]) assert.include(page.stdout, part)
      assert.notInclude(page.stdout, "sk-0123456789abcdef")
      assert.strictEqual((yield* json("provider", "show", "openai")).connection.id, id)
      assert.strictEqual((yield* ok("provider", "show", id.slice(0, 13), "-o", "name")).stdout, "work")

      const words = ["--name", "private", "--models", "gpt-4o, gpt-4.1", "--priority", "3", "--tier", "pro"]
      const { connection } = yield* json("provider", "edit", "work", ...words, "--max-concurrent", "2")
      assert.deepInclude(connection, { name: "private", models: ["gpt-4o", "gpt-4.1"], priority: 3, tier: "pro" })
      assert.strictEqual(connection.maxConcurrent, 2)
      const cleared = yield* json("provider", "edit", "private", "--models", "", "--tier", "none", "--max-concurrent=0")
      assert.deepInclude(cleared.connection, { models: [], tier: null, maxConcurrent: null, priority: 3 })

      refused(yield* gateway("provider", "edit", "private"), 2, "not said", "Example: ")
      refused(
        yield* gateway("provider", "edit", "private", "--base-url", "http://127.0.0.1:9/v1"),
        2,
        "not sent to another address",
        "--api-key-stdin"
      )
      refused(yield* gateway("provider", "edit", "privat", "--name", "x"), 2, "Did you mean 'private'?")
      assert.isFalse((yield* json("provider", "disable", "private")).connection.isActive)
      assert.isTrue((yield* json("provider", "enable", "private")).connection.isActive)
      refused(yield* gateway("provider", "remove", "private"), 2, "Remove the connection 'private'", "--yes")
      assert.lengthOf((yield* json("provider", "list")).connections, 1)
      yield* ok("provider", "remove", "private", "--yes")
      assert.lengthOf((yield* json("provider", "list")).connections, 0)
      refused(yield* gateway("provider", "show", "private"), 2, "no connection 'private'", "gateway provider list")
    })
  )

  it.effect("provider add custom: node and connection in one go, or neither; a used node is not removed", () =>
    Effect.gen(function* () {
      const base = ["--base-url", "http://127.0.0.1:9/v1", "--wire", "chat"]
      const wrong = yield* gateway("provider", "add", "custom", "--name", "Old cellar", ...base)
      refused(wrong, 1, "Nothing was stored", "--no-verify")
      assert.deepStrictEqual((yield* json("provider", "nodes", "list")).nodes, [])
      assert.deepStrictEqual((yield* json("provider", "list")).connections, [])

      const words = ["--name", "Old cellar", ...base, "--header", "x-team=a=b", "--no-verify"]
      const { connection } = yield* json("provider", "add", "custom", ...words)
      assert.deepInclude(connection, { provider: "old-cellar", name: "Old cellar" })
      const { node } = yield* json("provider", "nodes", "show", "old-cellar")
      assert.deepInclude(node, { type: "openai-compatible", wires: ["chat"], baseUrl: "http://127.0.0.1:9/v1" })
      assert.deepStrictEqual(Object.keys(node.headers), ["x-team"])
      refused(yield* gateway("provider", "add", "custom", "--wire", "chat"), 2, "needs an address", "--base-url")
      refused(yield* gateway("provider", "add", "openai", "--wire", "chat"), 2, "add custom")

      const moved = ["--base-url", "http://127.0.0.1:8/v1", "--name", "Attic"]
      assert.strictEqual((yield* json("provider", "nodes", "edit", "old-cellar", ...moved)).node.name, "Attic")
      refused(
        yield* gateway("provider", "nodes", "remove", "old-cellar", "--yes"),
        2,
        "has 1 connection: Old cellar",
        "--with-connections"
      )
      yield* ok("provider", "nodes", "remove", "Attic", "--with-connections", "--yes")
      assert.deepStrictEqual((yield* json("provider", "list")).connections, [])
    })
  )

  it.effect("key: shown, edited and switched", () =>
    Effect.gen(function* () {
      yield* ok("key", "add", "laptop")
      const words = ["--rate-limit", "60/60", "--model", "openai/*", "--scope", "manage", "--name", "desk"]
      const { key } = yield* json("key", "edit", "laptop", ...words, "--expires", "2035-01-01T00:00:00Z")
      assert.deepInclude(key, { name: "desk", scopes: ["manage"], allowedModels: ["openai/*"] })
      assert.deepStrictEqual(key.rateLimits, [{ limit: 60, window: 60 }])
      const page = yield* ok("key", "show", "desk")
      assert.include(page.stdout, "60 requests in 60 s")
      const free = ["--rate-limit", "0/0", "--model", "all", "--scope", "none", "--expires", "never"]
      const back = (yield* json("key", "edit", "desk", ...free)).key
      assert.deepInclude(back, { allowedModels: null, expiresAt: null })
      assert.deepStrictEqual([back.scopes, back.rateLimits], [[], []])
      assert.isFalse((yield* json("key", "disable", "desk")).key.isActive)
      assert.isTrue((yield* json("key", "enable", "desk")).key.isActive)
      refused(yield* gateway("key", "edit", "desk", "--scope", "managr"), 2, "--scope")
      refused(yield* gateway("key", "edit", "desk"), 2, "not said")
    })
  )

  it.effect("combo: shown and edited", () =>
    Effect.gen(function* () {
      yield* ok("combo", "create", "fast", "openai/gpt-4o", "groq/llama-3.3-70b-versatile")
      const words = ["--strategy", "weighted", "--add", "openai/gpt-4.1", "--drop", "openai/gpt-4o"]
      const { combo } = yield* json("combo", "edit", "fast", ...words, "--weight", "openai/gpt-4.1=3")
      assert.deepStrictEqual(
        combo.targets.map(({ model, weight }: { model: string; weight?: number }) => [model, weight]),
        [
          ["groq/llama-3.3-70b-versatile", undefined],
          ["openai/gpt-4.1", 3]
        ]
      )
      assert.isFalse((yield* json("combo", "edit", "fast", "--active", "no")).combo.isActive)
      const page = yield* ok("combo", "show", "fast")
      for (const part of ["weighted", "openai/gpt-4.1", "3"]) assert.include(page.stdout, part)
      refused(yield* gateway("combo", "edit", "fast", "--drop", "x/y"), 2, "no target 'x/y'", "It has: ")
    })
  )

  it.effect("settings of the gateway, of resilience and of routing: shown by name, set by name", () =>
    Effect.gen(function* () {
      for (const [group, name, text, value] of [
        [["settings"], "decisions.retentionDays", "14", 14],
        [["settings"], "allowedHosts", "a.example,b.example", ["a.example", "b.example"]],
        [["resilience", "settings"], "timeouts.totalMs", "300000", 300_000],
        [["route", "settings"], "freeTierStrict", "true", true]
      ] as const) {
        const read = Effect.map(ok(...group, "show", name, "-o", "csv"), ({ stdout }) => stdout)
        const before = yield* read
        const after = yield* json(...group, "set", `${name}=${text}`)
        const stored = name.split(".").reduce((inner, step) => inner[step], after)
        assert.deepStrictEqual(stored, value, name)
        assert.notStrictEqual(yield* read, before, name)
        refused(yield* gateway(...group, "set", `${name}x=1`), 2, `no setting '${name}x'`, `'${name}'`)
        refused(yield* gateway(...group, "show", "nothing"), 2, "no setting 'nothing'", `${group.join(" ")} show`)
      }
      const wrong = yield* gateway("resilience", "settings", "set", "timeouts.totalMs=many")
      refused(wrong, 2, "timeouts.totalMs")
      const groups = yield* gateway("settings", "set", "cache.semantic.threshold=2", "memory.strategy=best")
      refused(groups, 2, "cache.semantic.threshold: must be a number between 0.5 and 1", "memory.strategy: must be")
      assert.notInclude(groups.stderr, "null")
      const list = yield* ok("resilience", "settings")
      assert.isAbove(list.stdout.split("\n").length, 20)
    })
  )

  it.effect("pricing: set, shown and unset", () =>
    Effect.gen(function* () {
      const model = "openai/gpt-4o-mini"
      const set = yield* json("pricing", "set", model, "--in", "0.15", "--out", "0.6", "--cached", "0.075")
      assert.deepStrictEqual(set, { model, price: { input: 0.15, output: 0.6, cached: 0.075 } })
      assert.include((yield* ok("pricing", "list")).stdout, model)
      assert.include((yield* ok("pricing", "show", model)).stdout, "0.6 (as output)")
      yield* ok("pricing", "unset", model)
      assert.deepStrictEqual(yield* json("pricing", "list"), {})
      refused(yield* gateway("pricing", "unset", model), 2, "No price was set", "pricing list")
      refused(yield* gateway("pricing", "set", "gpt", "--in", "1", "--out", "1"), 2, "<provider>/<model>")
      refused(yield* gateway("pricing", "set", model, "--in", "-1", "--out", "1"), 2, "--in")
    })
  )

  it.effect("model: declared, corrected and taken back", () =>
    Effect.gen(function* () {
      const model = "openai/my-finetune"
      yield* ok("model", "declare", model, "--context-length", "1000", "--vision", "yes")
      const { model: changed } = yield* json("model", "declare", model, "--max-output", "10")
      assert.deepInclude(changed, { contextLength: 1000, maxOutputTokens: 10 })
      assert.include((yield* ok("model", "declared")).stdout, model)
      yield* ok("model", "undeclare", model)
      refused(yield* gateway("model", "undeclare", model), 2, "was not declared")
    })
  )

  it.effect("quota groups: by the names of connections and keys", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const name of ["one", "two"]) {
        yield* app.admin("/api/providers", {
          method: "POST",
          body: { provider: "openai", name, apiKey: "sk-1234567890" }
        })
      }
      yield* ok("key", "add", "phone")
      yield* ok("quota", "groups", "add", "team", "one=3", "two", "--allow", "phone=2")
      const weights = (group: { members: ReadonlyArray<{ weight: number }> }) =>
        group.members.map(({ weight }) => weight)
      assert.deepStrictEqual(weights((yield* json("quota", "groups", "show", "team")).group), [3, 1])
      const { group } = yield* json("quota", "groups", "edit", "team", "--name", "crew", "--member", "two=5")
      assert.deepStrictEqual([group.name, weights(group), group.allocations.length], ["crew", [5], 1])
      refused(yield* gateway("quota", "groups", "add", "other", "three"), 2, "no connection 'three'")
      refused(yield* gateway("provider", "show", "openai"), 2, "2 connections: one, two")
    })
  )

  it.effect(
    "logs: filtered by the server, short enough for 80 and 40 columns, and one request by the beginning of its id",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestApp
        const journal = yield* UsageJournal.UsageJournal
        const id = (n: number) => `0199aaaa-bbb${n}-7000-8000-00000000000${n}`
        const ms = (n: number) => Number.parseInt(`0199aaaabbb${n}`, 16)
        const iso = (n: number) => new Date(ms(n)).toISOString()
        const model = "an-unusually-long-name/模型-".repeat(4)
        journal.append(
          usageRow({
            id: id(1),
            requestId: id(1),
            timestampMs: ms(1),
            requestedModel: model,
            provider: "groq",
            model: "llama"
          }),
          usageRow({
            id: id(2),
            requestId: id(2),
            timestampMs: ms(2),
            outcome: "failed",
            status: 503,
            error: "Overloaded ".repeat(20)
          }),
          usageRow({ id: id(3), requestId: "given-by-the-client", timestampMs: ms(3) })
        )
        const found = (...words: ReadonlyArray<string>) =>
          Effect.map(json("logs", ...words), ({ logs }) => logs.map((row: { id: string }) => Number(row.id.at(-1))))
        assert.deepStrictEqual(yield* found(), [3, 2, 1])
        assert.deepStrictEqual(yield* found("--status", "5xx"), [2])
        assert.deepStrictEqual(yield* found("--provider", "groq"), [1])
        assert.deepStrictEqual(yield* found("--model", "llama", "--search", "GROQ"), [1])
        assert.deepStrictEqual(yield* found("--since", iso(3)), [3])
        assert.deepStrictEqual(yield* found("--until", iso(3), "--limit", "1"), [2])
        refused(yield* gateway("logs", "--since", "yesterday"), 2, "--since", "2h")
        refused(yield* gateway("logs", "--status", "slow"), 2, "status", "5xx")
        refused(yield* gateway("logs", "--cursor", "x"), 2, "--cursor", "gave out")
        refused(yield* gateway("logs", "--key", "nobody"), 2, "no key 'nobody'")
        refused(yield* gateway("logs", "shwo"), 2, "logs show")

        for (const columns of [80, 40]) {
          const { stdout } = yield* typed(["logs", "--url", url, "--gateway-key", adminKey], columns)
          for (const line of stdout.split("\n")) assert.isAtMost(widthOf(line), columns, line)
          for (const part of ["503", id(2).slice(0, 18), "given-by-the-client"]) assert.include(stdout, part)
        }
        assert.include((yield* ok("logs", "show", id(2).slice(0, 18))).stdout, "503, failed")
        assert.strictEqual((yield* json("logs", "show", "given-by")).request.id, id(3))
        refused(yield* gateway("logs", "show", "0199aaaa"), 2, "Several requests", "Give more")
        refused(yield* gateway("logs", "show", "ffff"), 2, "no request 'ffff'", "X-Gateway-Request-Id")
      })
  )

  it.effect("flags: the admin key does not do; without a terminal the password has to come from standard input", () =>
    Effect.gen(function* () {
      refused(yield* gateway("flags", "list"), 4, "admin password", "--password-stdin")
      assert.isNotEmpty(adminPassword)
    })
  )
})
