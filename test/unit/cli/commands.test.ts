import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AuditQuery } from "../../../src/subjects/audit/routes.ts"
import { SetBudget } from "../../../src/subjects/limits/routes.ts"
import { CreateConnection } from "../../../src/subjects/connections/routes.ts"
import { addressOf } from "../../../src/kernel/BindAddress.ts"
import { withFirst } from "../../../src/subjects/combos/commands/switch.ts"
import * as machine from "../../../src/cli/doctor/machine.ts"
import { body, pick } from "../../../src/cli/flags/Flags.ts"

describe("combo switch", () => {
  const targets = [{ model: "a/1" }, { model: "b/2", label: "cheap" }, { model: "c/3" }]

  it("puts a target first and keeps the order of the others", () => {
    assert.deepStrictEqual(withFirst(targets, "c/3"), [{ model: "c/3" }, { model: "a/1" }, targets[1]!])
    assert.deepStrictEqual(withFirst(targets, "cheap")?.[0], targets[1])
    assert.isNull(withFirst(targets, "d/4"))
  })
})

describe("pick", () => {
  const all = [
    { id: "1", name: "a" },
    { id: "2", name: "b" },
    { id: "3", name: "b" }
  ]

  it.effect("takes an id, or a name that only one has", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* pick("key", all, "3", "")).id, "3")
      assert.strictEqual((yield* pick("key", all, "a", "")).id, "1")
      assert.include((yield* Effect.flip(pick("key", all, "b", ""))).message, "2, 3")
      assert.include((yield* Effect.flip(pick("key", all, "c", ""))).message, "no key 'c'")
    })
  )
})

describe("body", () => {
  it.effect("names the flag and never repeats a value", () =>
    Effect.gen(function* () {
      const secret = "s".repeat(9000)
      const error = yield* Effect.flip(
        body(
          CreateConnection,
          { provider: "openai", apiKey: secret, baseUrl: "ftp://x" },
          { apiKey: "--api-key", baseUrl: "--base-url" }
        )
      )
      assert.notInclude(error.message, secret)
      assert.isTrue(error.message.startsWith("--"), error.message)
    })
  )
})

describe("body with a choice", () => {
  it.effect("names all that may be chosen", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(body(AuditQuery.pick("status"), { status: "maybe" }, { status: "--status" }))
      assert.strictEqual(error.message, '--status: must be "success" or "failure"')
      const limit = yield* Effect.flip(
        body(SetBudget, { apiKeyId: "k", dailyLimitUsd: -1 }, { dailyLimitUsd: "--daily" })
      )
      assert.strictEqual(limit.message, "--daily: must be a non-negative number")
    })
  )
})

describe("addressOf", () => {
  it("names an address this machine can reach", () => {
    assert.strictEqual(addressOf("127.0.0.1", 1), "http://127.0.0.1:1")
    assert.strictEqual(addressOf("0.0.0.0", 1), "http://127.0.0.1:1")
    assert.strictEqual(addressOf("::", 1), "http://[::1]:1")
    assert.strictEqual(addressOf("fe80::1", 1), "http://[fe80::1]:1")
  })
})

describe("doctor", () => {
  it("compares versions part by part", () => {
    assert.isTrue(machine.isAtLeast("20.19.0", ">=20.19.0"))
    assert.isTrue(machine.isAtLeast("22.1.0", ">=20.19.0"))
    assert.isFalse(machine.isAtLeast("20.9.0", ">=20.19.0"))
    assert.isFalse(machine.isAtLeast("18.20.4", ">=20.19.0"))
    assert.strictEqual(machine.runtime("18.0.0").status, "fail")
  })

  it("warns of little memory and fails on none", () => {
    assert.strictEqual(machine.memory(2 ** 30).status, "ok")
    assert.strictEqual(machine.memory(200 * 2 ** 20).status, "warn")
    assert.strictEqual(machine.memory(10 * 2 ** 20).status, "fail")
  })
})
