/** `gateway resilience …` and `gateway health` as a person runs them, against a gateway whose troubles are made up. */
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defaultResilience } from "../../src/subjects/resilience/entity.ts"
import { Breakers } from "../../src/plane/resilience/breaker/Breakers.ts"
import type { Penalty } from "../../src/plane/resilience/cooldown/Cooldown.ts"
import { Cooldowns } from "../../src/plane/resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../src/plane/resilience/lockout/Lockouts.ts"
import { Settings } from "../../src/plane/resilience/Settings.ts"
import { layerOf, TestApp } from "../http/management/TestApp.ts"
import { operator } from "./operator.ts"
import { program } from "./support.ts"

const cli = program()
const hourMs = 3_600_000
const { gateway, json } = operator(cli)

const connect = Effect.fnUntraced(function* (provider: string, name: string) {
  const app = yield* TestApp
  const answer = yield* app.admin("/api/providers", {
    method: "POST",
    body: { provider, name, apiKey: "sk-0123456789" }
  })
  return String(answer.at("connection.id"))
})

const fail = Effect.fnUntraced(function* (id: string, penalty: Penalty) {
  const nowMs = yield* Clock.currentTimeMillis
  const failure = { penalty, startedMs: nowMs, message: "out of credits", type: "billing", code: "402" }
  ;(yield* Cooldowns).fail(id, defaultResilience.connectionCooldown.apikey, nowMs, failure)
})

const lock = Effect.fnUntraced(function* (connectionId: string, model: string) {
  const failure = { status: 429, reason: "rate_limit", hintMs: hourMs }
  ;(yield* Lockouts).fail({ provider: "openai", connectionId, model }, yield* Clock.currentTimeMillis, failure)
})

const trip = Effect.gen(function* () {
  const breakers = yield* Breakers
  const nowMs = yield* Clock.currentTimeMillis
  for (let count = 0; count < 12; count += 1) breakers.report({ id: "openai", class: "apikey" }, nowMs, "trip", false)
})

layer(layerOf(), { excludeTestServices: true })("gateway resilience", (it) => {
  it.effect("says that all is well where it is", () =>
    Effect.gen(function* () {
      const status = yield* gateway("resilience", "status")
      assert.deepStrictEqual([status.code, status.stderr], [0, ""])
      assert.match(status.stdout, /^Breakers +0 closed, 0 degraded, 0 open, 0 half open$/m)
      assert.match(status.stdout, /^Timeouts +connect 30 s, first content 3 min, idle 5 min, total 10 min$/m)
      const cooldowns = yield* gateway("resilience", "cooldowns")
      assert.deepStrictEqual([cooldowns.code, cooldowns.stdout], [0, ""])
      assert.include(cooldowns.stderr, "Every connection can be used.")
      assert.include((yield* gateway("resilience", "reset")).stderr, "nothing to reset")
      const health = yield* gateway("health")
      assert.strictEqual(health.code, 0, health.stderr)
      assert.match(health.stdout, /^Health +ok$/m)
    })
  )

  it.effect("shows breakers and resets them", () =>
    Effect.gen(function* () {
      yield* connect("openai", "work")
      yield* connect("groq", "fast")
      yield* trip
      const sick = yield* gateway("health")
      assert.strictEqual(sick.code, 1)
      assert.match(sick.stdout, /^Health +degraded$/m)
      assert.match(sick.stdout, /^Breakers +1 closed, 0 degraded, 1 open, 0 half open$/m)

      const { stdout } = yield* gateway("resilience", "status")
      assert.match(stdout, /^openai +apikey +OPEN +12 +(30|2\d) s$/m)
      assert.notMatch(stdout, /^groq/m)
      const { breakers, settings } = yield* json("resilience", "status")
      assert.deepInclude(breakers[0], { provider: "groq", state: "CLOSED" })
      assert.deepInclude(breakers[1], { provider: "openai", state: "OPEN" })
      assert.deepStrictEqual(settings, defaultResilience)

      assert.include((yield* gateway("resilience", "reset", "groq")).stderr, "nothing")
      const unknown = yield* gateway("resilience", "reset", "nobody")
      assert.strictEqual(unknown.code, 2)
      assert.include(unknown.stderr, "nobody")
      assert.include((yield* gateway("resilience", "reset", "openai")).stderr, "1 breaker reset")
      assert.strictEqual((yield* gateway("health")).code, 0)
    })
  )

  it.effect("lists what is out, and clears it", () =>
    Effect.gen(function* () {
      yield* (yield* Settings).patch({ modelLockout: { enabled: true } })
      const first = yield* connect("openai", "first")
      const second = yield* connect("openai", "second")
      yield* fail(first, { _tag: "Terminal", status: "credits_exhausted" })
      yield* fail(second, { _tag: "For", ms: hourMs })
      yield* lock(first, "gpt-4.1")
      yield* lock(second, "gpt-4.1")

      const { stdout } = yield* gateway("resilience", "cooldowns")
      assert.match(stdout, /^first +openai +credits_exhausted +until cleared +out of credits/m)
      assert.match(stdout, /^second +openai +unavailable +(1 h|59 min \d+ s) +out of credits/m)
      assert.match(stdout, /^gpt-4\.1 +openai +first +(1 h|59 min \d+ s) +1 +rate_limit$/m)
      const listed = yield* json("resilience", "cooldowns")
      assert.lengthOf(listed.connections, 2)
      assert.lengthOf(listed.lockouts, 2)
      assert.include((yield* gateway("resilience", "status")).stdout, "2 locked; lockouts are on")

      const here = ["--provider", "openai", "--model", "gpt-4.1", "--connection", "first"]
      assert.include((yield* gateway("resilience", "clear", ...here)).stderr, "1 lock removed")
      assert.include((yield* gateway("resilience", "clear", "--connection", "first")).stderr, "is used again")
      assert.include((yield* gateway("resilience", "clear", "--connection", first)).stderr, "nothing to clear")
      assert.strictEqual((yield* gateway("resilience", "clear", "--connection", "nobody")).code, 2)
      const { connections } = yield* json("resilience", "cooldowns")
      assert.deepStrictEqual(
        connections.map(({ name }: { name: string }) => name),
        ["second"]
      )

      const all = yield* gateway("resilience", "clear", "--all")
      assert.strictEqual(all.code, 0)
      assert.include(all.stderr, "1 connection cleared, 1 lock removed")
      assert.deepStrictEqual(yield* json("resilience", "cooldowns"), { connections: [], lockouts: [] })
    })
  )
})
