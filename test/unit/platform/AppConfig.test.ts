/** What a start refuses to read out of its environment. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { configProblem } from "../../../src/cli/Failure.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"

const read = (environment: Readonly<Record<string, string>>) =>
  Effect.either(
    AppConfig.make.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))))
  )

const problem = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const config = yield* read(environment)
  return Either.isLeft(config) ? configProblem(config.left) : assert.fail(JSON.stringify(environment))
})

describe("AppConfig", () => {
  for (const [name, weak, good] of [
    ["GATEWAY_ADMIN_KEY", "fifteen-charact", "sixteen-characte"],
    ["GATEWAY_ENCRYPTION_KEY", "x", "sixteen-characte"],
    ["GATEWAY_ENCRYPTION_KEY", " ".repeat(40), "sixteen-characte"],
    ["GATEWAY_ADMIN_PASSWORD", "seven-c", "eight-ch"]
  ] as const) {
    it.effect(`${name} must not be ${JSON.stringify(weak)}`, () =>
      Effect.gen(function* () {
        const words = yield* problem({ [name]: weak })
        assert.match(words, new RegExp(`^${name} must have`))
        if (weak.trim().length > 1) assert.notInclude(words, weak)
        assert.isTrue(Either.isRight(yield* read({ [name]: good })))
      })
    )
  }

  it.effect("a switch is on, off, or a mistake that is named", () =>
    Effect.gen(function* () {
      const isOn = (text: string) =>
        Effect.map(read({ GATEWAY_ENV_CONNECTIONS: text }), (config) => Either.getOrThrow(config).envConnections)
      for (const text of ["true", "1", "on", "YES", ""]) assert.isTrue(yield* isOn(text), text)
      for (const text of ["false", "0", "Off", "no"]) assert.isFalse(yield* isOn(text), text)
      assert.match(yield* problem({ GATEWAY_ENV_CONNECTIONS: "maybe" }), /^GATEWAY_ENV_CONNECTIONS must be one of/)
    })
  )

  it.effect("browsers come back from a sign-in to an address of its own, else to the public one, else not at all", () =>
    Effect.gen(function* () {
      const addresses = (environment: Readonly<Record<string, string>>) =>
        Effect.map(read(environment), (config) => {
          const { publicUrl, signInUrl } = Either.getOrThrow(config)
          return [publicUrl, signInUrl]
        })
      const [outside, tunnel] = ["https://ai.example/llm", "https://a.tunnel.example"]
      assert.deepStrictEqual(yield* addresses({}), [null, null])
      assert.deepStrictEqual(yield* addresses({ GATEWAY_PUBLIC_URL: `${outside}/` }), [outside, outside])
      assert.deepStrictEqual(yield* addresses({ NEXT_PUBLIC_BASE_URL: `${tunnel}/` }), [null, tunnel])
      const both = { GATEWAY_PUBLIC_URL: outside, NEXT_PUBLIC_BASE_URL: tunnel }
      assert.deepStrictEqual(yield* addresses(both), [outside, tunnel])
      for (const wrong of ["tunnel.example", "ftp://a.example", "https://u:p@a.example", "https://a.example/?q=1"]) {
        assert.match(yield* problem({ NEXT_PUBLIC_BASE_URL: wrong }), /^NEXT_PUBLIC_BASE_URL must be/, wrong)
      }
    })
  )

  it.effect("the log's level and format are words, and the gateway's own variable wins", () =>
    Effect.gen(function* () {
      const log = (environment: Readonly<Record<string, string>>) =>
        Effect.map(read(environment), (config) => {
          const { logFormat, logLevel } = Either.getOrThrow(config)
          return `${logLevel} ${logFormat}`
        })
      assert.strictEqual(yield* log({}), "info null")
      assert.strictEqual(yield* log({ LOG_LEVEL: " Warn ", LOG_FORMAT: "TEXT" }), "warn text")
      assert.strictEqual(yield* log({ LOG_LEVEL: "", LOG_FORMAT: "json" }), "info json")
      assert.strictEqual(yield* log({ LOG_LEVEL: "verbose", GATEWAY_LOG_LEVEL: "error" }), "error null")
      assert.strictEqual(
        yield* problem({ LOG_LEVEL: "verbose" }),
        "LOG_LEVEL must be one of: debug, info, warn, error, none"
      )
      assert.match(yield* problem({ GATEWAY_LOG_LEVEL: "loud" }), /^GATEWAY_LOG_LEVEL must be one of: debug, /)
      assert.strictEqual(yield* problem({ LOG_FORMAT: "logfmt" }), "LOG_FORMAT must be one of: text, json")
    })
  )

  it("requests at once: by the memory beside the bodies, within bounds and the limit of open files", () => {
    const mebibyte = 1_048_576
    for (const [memoryMb, files, expected] of [
      [512, null, 500],
      [1_024, null, 2_730],
      [2_048, 1_048_576, 6_826],
      [2_048, 8_192, 3_968],
      [2_048, 256, 1],
      [65_536, null, 50_000]
    ] as const) {
      const bodies = AppConfig.defaultBufferedBytes(50 * mebibyte, memoryMb * mebibyte)
      assert.strictEqual(AppConfig.defaultMaxInFlight(bodies, memoryMb * mebibyte, files), expected, `${memoryMb} MiB`)
    }
  })

  it.effect(
    "the budget of bodies: a quarter of the memory within its bounds, or what is said, never below one body",
    () =>
      Effect.gen(function* () {
        const mebibyte = 1_048_576
        for (const [maxBodyMb, memoryMb, expectedMb] of [
          [50, 4_096, 1_024],
          [50, 65_536, 2_048],
          [50, 512, 200],
          [1_024, 8_192, 4_096]
        ] as const) {
          const bytes = AppConfig.defaultBufferedBytes(maxBodyMb * mebibyte, memoryMb * mebibyte)
          assert.strictEqual(bytes, expectedMb * mebibyte)
        }
        const said = Either.getOrThrow(yield* read({ GATEWAY_MAX_BUFFERED_MB: "60" }))
        assert.strictEqual(said.maxBufferedBytes, 60 * mebibyte)
        const derived = Either.getOrThrow(yield* read({ GATEWAY_MAX_BODY_MB: "2" }))
        assert.isAtLeast(derived.maxBufferedBytes, 8 * mebibyte)
        assert.match(yield* problem({ GATEWAY_MAX_BUFFERED_MB: "49" }), /at least GATEWAY_MAX_BODY_MB/)
        assert.match(yield* problem({ GATEWAY_MAX_BUFFERED_MB: "0" }), /GATEWAY_MAX_BUFFERED_MB must be a whole number/)
      })
  )
})
