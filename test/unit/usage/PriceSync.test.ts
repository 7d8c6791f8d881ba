/** Prices from an address: only with flag and variable, below the operator's own, and never lost by a failure. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { PublicFetch, UrlBlocked } from "../../../src/net/egress/PublicFetch.ts"
import { fromRaw } from "../../../src/net/egress/UpstreamHeaders.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import * as FlagStore from "../../../src/subjects/flags/repo.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as Events from "../../../src/observe/Events.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import * as PriceSync from "../../../src/observe/usage/PriceSync.ts"
import { mocked } from "../../support/Mocked.ts"
import { reposInMemory } from "../store/fixtures.ts"

const url = "https://prices.example/table.json"

/** What the address answers, and how often it was asked. */
const source = { body: "", status: 200, isBlocked: false, asked: 0 }

const fetching = mocked(PublicFetch, {
  get: () => {
    source.asked += 1
    if (source.isBlocked) return new UrlBlocked({ reason: "private" })
    return Effect.succeed({ status: source.status, headers: fromRaw([]), body: Buffer.from(source.body) })
  }
})

const table = (input: number) => JSON.stringify({ openai: { "gpt-4o": { input, output: 7 } } })

/** Rounds are made by the tests only. */
const flags = { GATEWAY_DISABLE_BACKGROUND_SERVICES: "true", PRICING_SYNC_ENABLED: "true" }

const layerWith = (environment: ReadonlyArray<readonly [string, string]>, overrides = flags) =>
  PriceSync.layer.pipe(
    Layer.provideMerge(Layer.merge(PriceBook.layerMemory, Events.layer)),
    Layer.provideMerge(GatewaySettings.layer),
    Layer.provideMerge(Flags.layer.pipe(Layer.provide(FlagStore.layerMemory(overrides)))),
    Layer.provideMerge(Layer.merge(fetching, reposInMemory)),
    Layer.provideMerge(AppConfig.layerOf({ dataDir: "/nonexistent", environment: new Map(environment) }))
  )

it.scoped("lies over the embedded prices and below the operator's, and stays when the address fails", () =>
  Effect.gen(function* () {
    const book = yield* PriceBook.PriceBook
    const settings = yield* GatewaySettings.GatewaySettings
    const { round } = yield* PriceSync.PriceSync
    const changes: Array<string> = []
    const events = yield* Events.Events
    events.listen((event) => {
      if (event.type === "config.changed") changes.push(`${event.kind} ${event.action} by ${event.by}`)
    })
    source.asked = 0
    source.body = table(5)
    yield* round
    assert.strictEqual(source.asked, 0)
    assert.strictEqual(book.sourced("openai", "gpt-4o")?.source, "embedded")
    assert.deepStrictEqual(changes, [])

    yield* settings.patch({ pricingUrl: url })
    yield* TestClock.setTime(Date.UTC(2035, 0, 1))
    yield* round
    assert.deepStrictEqual(book.sourced("openai", "gpt-4o"), {
      price: { input: 5, output: 7 },
      source: "synced",
      dated: "2035-01-01"
    })
    assert.strictEqual(book.price("openai", "gpt-4o")?.input, 5)

    yield* book.patch({ openai: { "gpt-4o": { input: 1, output: 1 } } })
    assert.strictEqual(book.sourced("openai", "gpt-4o")?.source, "override")
    yield* book.reset
    assert.strictEqual(book.sourced("openai", "gpt-4o")?.source, "synced")

    yield* round
    assert.strictEqual(source.asked, 1)
    assert.deepStrictEqual(changes, ["price pricing.synced by gateway"], "once, when other prices came into force")
    yield* TestClock.adjust("25 hours")
    source.body = "<html>"
    yield* round
    source.isBlocked = true
    yield* TestClock.adjust("2 hours")
    yield* round
    assert.isAtLeast(source.asked, 3)
    assert.strictEqual(book.price("openai", "gpt-4o")?.input, 5)

    yield* settings.patch({ pricingUrl: null })
    yield* round
    assert.strictEqual(book.sourced("openai", "gpt-4o")?.source, "embedded")
  }).pipe(Effect.provide(layerWith([["PRICING_SYNC_ENABLED", "true"]])))
)

const asksNoOne = Effect.gen(function* () {
  const settings = yield* GatewaySettings.GatewaySettings
  const { round } = yield* PriceSync.PriceSync
  source.asked = 0
  yield* settings.patch({ pricingUrl: url })
  yield* round
  assert.strictEqual(source.asked, 0)
})

it.scoped("asks no one without the variable, although the flag is on", () =>
  asksNoOne.pipe(Effect.provide(layerWith([])))
)

it.scoped("asks no one while the flag is off, although the variable is on", () =>
  asksNoOne.pipe(
    Effect.provide(layerWith([["PRICING_SYNC_ENABLED", "true"]], { ...flags, PRICING_SYNC_ENABLED: "false" }))
  )
)
