import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { flagCatalog } from "../../../src/subjects/flags/FlagCatalog.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { FlagStore, layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"

const flagsOver = (
  environment: Readonly<Record<string, string>> = {},
  overrides: Readonly<Record<string, string>> = {}
) =>
  Flags.layer.pipe(
    Layer.provideMerge(layerMemory(overrides)),
    Layer.provide(AppConfig.layerOf({ dataDir: "/nowhere", environment: new Map(Object.entries(environment)) }))
  )

const listed = Effect.fnUntraced(function* (key: string) {
  const flags = yield* Flags.Flags
  const found = (yield* flags.list).find((flag) => flag.key === key)
  return found === undefined ? assert.fail(`no flag ${key}`) : found
})

describe("FlagCatalog", () => {
  it("has 38 flags with distinct keys and usable defaults", () => {
    assert.strictEqual(flagCatalog.length, 38)
    assert.strictEqual(new Set(flagCatalog.map((flag) => flag.key)).size, 38)
    for (const flag of flagCatalog) assert.include(Flags.allowedValues(flag), flag.defaultValue, flag.key)
  })

  it("marks the flags that need a restart and the enums", () => {
    assert.deepStrictEqual(
      flagCatalog.filter((flag) => flag.requiresRestart).map((flag) => flag.key),
      [
        "ENABLE_TLS_FINGERPRINT",
        "MITM_DISABLE_TLS_VERIFY",
        "ENABLE_CC_COMPATIBLE_PROVIDER",
        "ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE",
        "GATEWAY_DISABLE_BACKGROUND_SERVICES",
        "GATEWAY_ENABLE_LIVE_WS",
        "CLI_COMPAT_ALL"
      ]
    )
    assert.deepStrictEqual(
      flagCatalog.filter((flag) => flag.type === "enum").map((flag) => [flag.key, flag.defaultValue]),
      [
        ["INJECTION_GUARD_MODE", "off"],
        ["PII_RESPONSE_SANITIZATION_MODE", "redact"],
        ["TOOL_POLICY_MODE", "disabled"],
        ["MODELS_CATALOG_PREFIX_MODE", "canonical"]
      ]
    )
  })
})

describe("Flags", () => {
  const key = "REQUIRE_API_KEY"
  it.effect.each([
    { name: "default", environment: {}, overrides: {}, on: false, source: "default" },
    { name: "environment over default", environment: { [key]: "true" }, overrides: {}, on: true, source: "env" },
    { name: "empty variable is no variable", environment: { [key]: "" }, overrides: {}, on: false, source: "default" },
    { name: "override over all", environment: { [key]: "true" }, overrides: { [key]: "0" }, on: false, source: "db" },
    { name: "1 is on", environment: { [key]: "1" }, overrides: {}, on: true, source: "env" },
    { name: "YES is on", environment: {}, overrides: { [key]: "YES" }, on: true, source: "db" },
    { name: "on is on", environment: { [key]: "on" }, overrides: {}, on: true, source: "env" },
    { name: "any other word is no value", environment: { [key]: "maybe" }, overrides: {}, on: false, source: "default" }
  ])("$name", ({ environment, on, overrides, source }) =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      assert.strictEqual(flags.isOn(key), on)
      assert.strictEqual((yield* listed(key)).source, source)
    }).pipe(Effect.provide(flagsOver(environment, overrides)))
  )

  it("names the variables that hold what no flag can be, for a start to refuse", () => {
    const environment = new Map([
      ["REQUIRE_API_KEY", "maybe"],
      ["INJECTION_GUARD_MODE", "sometimes"],
      ["PII_REDACTION_ENABLED", "off"],
      ["INPUT_SANITIZER_ENABLED", ""]
    ])
    const [first = "", second = "", ...others] = Flags.environmentProblems(environment)
    assert.match(first, /^REQUIRE_API_KEY must be one of: true, 1, on, yes, false, 0, off, no$/)
    assert.match(second, /^INJECTION_GUARD_MODE must be one of: off, warn/)
    assert.deepStrictEqual(others, [])
  })

  it.effect("passes over an enum value that does not exist", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      assert.strictEqual(flags.value("INJECTION_GUARD_MODE"), "warn")
      assert.strictEqual(flags.value("TOOL_POLICY_MODE"), "disabled")
    }).pipe(
      Effect.provide(
        flagsOver(
          { INJECTION_GUARD_MODE: "warn", TOOL_POLICY_MODE: "explode" },
          { INJECTION_GUARD_MODE: "gone-in-this-version" }
        )
      )
    )
  )

  it.effect("applies and stores an override at once and tells what was before", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      const change = yield* flags.set("INJECTION_GUARD_MODE", "block")
      assert.deepStrictEqual(change, {
        key: "INJECTION_GUARD_MODE",
        effectiveValue: "block",
        source: "db",
        previousValue: "off",
        previousSource: "default",
        requiresRestart: false,
        pendingRestart: false
      })
      assert.strictEqual(flags.value("INJECTION_GUARD_MODE"), "block")
      assert.strictEqual((yield* (yield* FlagStore).load).get("INJECTION_GUARD_MODE"), "block")
      const undone = yield* flags.unset("INJECTION_GUARD_MODE")
      assert.strictEqual(undone.source, "default")
      assert.strictEqual(flags.value("INJECTION_GUARD_MODE"), "off")
    }).pipe(Effect.provide(flagsOver()))
  )

  it.effect("refuses unknown keys and values outside the set, and stores nothing", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      const tags = yield* Effect.forEach(
        [
          flags.set("NO_SUCH_FLAG", "true"),
          flags.set("TOOL_POLICY_MODE", "Warn"),
          flags.set("REQUIRE_API_KEY", "maybe")
        ],
        (attempt) => Effect.map(Effect.either(attempt), Either.match({ onLeft: (e) => e._tag, onRight: () => "done" }))
      )
      assert.deepStrictEqual(tags, ["UnknownFlag", "InvalidFlagValue", "InvalidFlagValue"])
      assert.strictEqual((yield* (yield* FlagStore).load).size, 0)
    }).pipe(Effect.provide(flagsOver()))
  )

  it.effect("keeps the start value of a restart flag but lists the stored one", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      let calls = 0
      flags.onChange("GATEWAY_ENABLE_LIVE_WS", () => calls++)
      const change = yield* flags.set("GATEWAY_ENABLE_LIVE_WS", "false")
      assert.isTrue(change.requiresRestart)
      assert.isTrue(change.pendingRestart)
      assert.strictEqual(change.effectiveValue, "false")
      assert.isTrue(flags.isOn("GATEWAY_ENABLE_LIVE_WS"))
      const pending = yield* listed("GATEWAY_ENABLE_LIVE_WS")
      assert.deepStrictEqual([pending.effectiveValue, pending.pendingRestart], ["false", true])
      assert.strictEqual(calls, 0)
      yield* flags.set("GATEWAY_ENABLE_LIVE_WS", "YES")
      assert.isFalse((yield* listed("GATEWAY_ENABLE_LIVE_WS")).pendingRestart)
    }).pipe(Effect.provide(flagsOver()))
  )

  it.effect("clears every override and counts them", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      assert.isTrue(flags.isOn("REQUIRE_API_KEY"))
      assert.strictEqual(yield* flags.clear, 2)
      assert.isFalse(flags.isOn("REQUIRE_API_KEY"))
      assert.isTrue((yield* flags.list).every((flag) => flag.source === "default"))
    }).pipe(Effect.provide(flagsOver({}, { REQUIRE_API_KEY: "true", TOOL_POLICY_MODE: "warn" })))
  )

  it.effect("tells listeners of real changes only, until they stop", () =>
    Effect.gen(function* () {
      const flags = yield* Flags.Flags
      const seen: Array<boolean> = []
      const stop = flags.onChange("REQUIRE_API_KEY", () => seen.push(flags.isOn("REQUIRE_API_KEY")))
      yield* flags.set("REQUIRE_API_KEY", "true")
      yield* flags.set("REQUIRE_API_KEY", "true")
      yield* flags.set("TOOL_POLICY_MODE", "warn")
      yield* flags.unset("REQUIRE_API_KEY")
      stop()
      yield* flags.set("REQUIRE_API_KEY", "true")
      assert.deepStrictEqual(seen, [true, false])
    }).pipe(Effect.provide(flagsOver()))
  )
})
