/** The stored settings: what of them is used at the start, and what a change leaves behind. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { defaultResilience, ResiliencePatch } from "../../../src/subjects/resilience/entity.ts"
import * as Settings from "../../../src/plane/resilience/Settings.ts"
import * as SettingsRepo from "../../../src/subjects/settings/repo.ts"
import * as Sql from "../../../src/store/Sql.ts"

const table = SettingsRepo.layer.pipe(Layer.provide(Sql.layerMemory))
const started = Settings.make

describe("what is stored", () => {
  it("is laid over the defaults, also when it knows fewer fields", () => {
    const { problems, settings } = Settings.usable({ retry: { maxRetries: 3 }, bygone: true })
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(settings, { ...defaultResilience, retry: { ...defaultResilience.retry, maxRetries: 3 } })
  })

  it("is used but for the sections that are not valid", () => {
    const { problems, settings } = Settings.usable({
      timeouts: { idleMs: 1 },
      retry: { maxRetries: 3 },
      requestQueue: "on",
      modelLockout: { baseCooldownMs: 5_000, maxCooldownMs: 1_000 }
    })
    assert.lengthOf(problems, 3)
    assert.strictEqual(settings.retry.maxRetries, 3)
    assert.deepStrictEqual(settings.timeouts, defaultResilience.timeouts)
    assert.deepStrictEqual(settings.modelLockout, defaultResilience.modelLockout)
    assert.deepStrictEqual(settings.requestQueue, defaultResilience.requestQueue)
  })

  for (const value of ["nonsense", 7, [], true]) {
    it(`${JSON.stringify(value)} does not prevent the start`, () => {
      const { settings } = Settings.usable(value)
      assert.deepStrictEqual(settings, defaultResilience)
    })
  }
})

describe("a change", () => {
  it.effect("is there after a restart", () =>
    Effect.gen(function* () {
      yield* (yield* started).patch({
        timeouts: { firstByteMs: 77 },
        providerBreaker: { local: { failureThreshold: 9 } }
      })
      const { providerBreaker, timeouts } = (yield* started).current()
      assert.deepStrictEqual(timeouts, { ...defaultResilience.timeouts, firstByteMs: 77 })
      assert.deepStrictEqual(providerBreaker, {
        ...defaultResilience.providerBreaker,
        local: { ...defaultResilience.providerBreaker.local, failureThreshold: 9 }
      })
    }).pipe(Effect.provide(table))
  )

  it.effect("that contradicts itself or what is there changes nothing, and nothing is stored", () =>
    Effect.gen(function* () {
      const settings = yield* started
      const refused = yield* Effect.flip(
        settings.patch({
          retry: { maxRetries: 4 },
          modelLockout: { maxCooldownMs: 1_000 },
          providerBreaker: { oauth: { degradationThreshold: 9 } }
        })
      )
      assert.instanceOf(refused, Settings.SettingsContradict)
      assert.deepStrictEqual(
        refused.problems.map(({ field }) => field),
        ["providerBreaker.oauth.degradationThreshold", "modelLockout.maxCooldownMs"]
      )
      assert.deepStrictEqual(settings.current(), defaultResilience)
      assert.deepStrictEqual((yield* started).current(), defaultResilience)
    }).pipe(Effect.provide(table))
  )

  it.effect("beside another one loses neither", () =>
    Effect.gen(function* () {
      const settings = yield* started
      yield* Effect.all(
        [
          settings.patch({ retry: { maxRetries: 4 } }),
          settings.patch({ requestQueue: { enabled: true } }),
          settings.patch({ timeouts: { idleMs: 99 } })
        ],
        { concurrency: "unbounded" }
      )
      for (const { requestQueue, retry, timeouts } of [settings.current(), (yield* started).current()]) {
        assert.deepStrictEqual([retry.maxRetries, requestQueue.enabled, timeouts.idleMs], [4, true, 99])
      }
    }).pipe(Effect.provide(table))
  )
})

describe("customBannedSignals", () => {
  const decode = Schema.decodeUnknownEither(ResiliencePatch)
  const accepts = (customBannedSignals: unknown) => Either.isRight(decode({ customBannedSignals }))

  it("are at most 100 texts of at most 200 characters that say something", () => {
    assert.isTrue(accepts([]))
    assert.isTrue(accepts(Array.from({ length: 100 }, (_, n) => `${n}`.padStart(200, "x"))))
    for (const bad of ["x", [""], ["  "], ["x".repeat(201)], [1], Array.from({ length: 101 }, () => "x")]) {
      assert.isFalse(accepts(bad), JSON.stringify(bad).slice(0, 40))
    }
  })

  it.scoped("are replaced as a whole, kept, and left alone by other changes", () =>
    Effect.gen(function* () {
      const settings = yield* started
      assert.deepStrictEqual(settings.current().customBannedSignals, [])
      yield* settings.patch({ customBannedSignals: ["Fair use breach", "gone"] })
      yield* settings.patch({ customBannedSignals: ["Fair use breach"] })
      yield* settings.patch({ retry: { maxRetries: 1 } })
      assert.deepStrictEqual((yield* started).current().customBannedSignals, ["Fair use breach"])
    }).pipe(Effect.provide(table))
  )
})

describe("the default of requests at once", () => {
  const on = (maxInFlight: number) =>
    Effect.provideService(started, Settings.Defaults, Settings.defaultsFor(maxInFlight))

  it.effect("is the machine's, also after other settings were changed elsewhere; one that was set stays", () =>
    Effect.gen(function* () {
      const small = yield* on(700)
      assert.strictEqual(small.current().loadShedding.maxInFlight, 700)
      yield* small.patch({ loadShedding: { retryAfterMs: 2_000 }, retry: { maxRetries: 2 } })
      const large = yield* on(9_000)
      assert.deepStrictEqual(large.current().loadShedding, { maxInFlight: 9_000, retryAfterMs: 2_000 })
      yield* large.patch({ loadShedding: { maxInFlight: 50 } })
      assert.strictEqual((yield* on(700)).current().loadShedding.maxInFlight, 50)
    }).pipe(Effect.provide(Layer.fresh(table)))
  )
})
