/** Flags about what is done by the hour or the minute, or with files of the folder the gateway runs in: their services, with a clock of the test. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as RawOutputs from "../../../../src/plane/compression/RawOutputs.ts"
import { makeIn } from "../../../../src/plane/compression/rtk/RtkFilters.ts"
import { defaultRouting, mergeRouting } from "../../../../src/subjects/routingSettings/entity.ts"
import { PublicFetch } from "../../../../src/net/egress/PublicFetch.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import type { BooleanFlag } from "../../../../src/subjects/flags/FlagCatalog.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import * as GatewaySettings from "../../../../src/subjects/flags/StoredFlags.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { Catalog } from "../../../../src/plane/providers/Catalog.ts"
import * as LeaderboardSync from "../../../../src/plane/routing/auto/LeaderboardSync.ts"
import { RoutingSettings } from "../../../../src/plane/routing/RoutingSettings.ts"
import { ConnectionRepo } from "../../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../../src/subjects/nodes/repo.ts"
import * as Events from "../../../../src/observe/Events.ts"
import * as PriceBook from "../../../../src/observe/usage/PriceBook.ts"
import * as PriceSync from "../../../../src/observe/usage/PriceSync.ts"
import { mocked } from "../../../support/Mocked.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { account, endpoint, house, lab, rotating } from "../../../unit/providers/oauth/harness.ts"
import { reposInMemory } from "../../../unit/store/fixtures.ts"

export interface LayerRow {
  readonly flag: BooleanFlag
  /** What the variable says where the database has the say; absent: the opposite of it. */
  readonly variable?: "true"
  readonly look: (
    environment: ReadonlyMap<string, string>,
    overrides: Readonly<Record<string, string>>
  ) => Effect.Effect<unknown>
  /** By position. */
  readonly seen: Readonly<Record<string, unknown>>
}

const flagsOf = (
  environment: ReadonlyMap<string, string>,
  overrides: Readonly<Record<string, string>>,
  dataDir = "/nowhere"
) =>
  Flags.layer.pipe(
    Layer.provide(layerMemory(overrides)),
    Layer.provideMerge(AppConfig.layerOf({ dataDir, environment }))
  )

/** An address that answers this, and how often it was asked. */
const source = (body: unknown) => {
  const state = { asked: 0 }
  const layer = mocked(PublicFetch, {
    get: () =>
      Effect.sync(() => {
        state.asked += 1
        return { status: 200, headers: fromRaw([]), body: Buffer.from(JSON.stringify(body)) }
      })
  })
  return { state, layer }
}

const pricing: LayerRow = {
  flag: "PRICING_SYNC_ENABLED",
  variable: "true",
  look: (environment, overrides) => {
    const { layer, state } = source({ openai: { "gpt-4o": { input: 5, output: 7 } } })
    return Effect.gen(function* () {
      const settings = yield* GatewaySettings.GatewaySettings
      yield* settings.patch({ pricingUrl: "https://prices.example/table.json" })
      yield* (yield* PriceSync.PriceSync).round
      return [state.asked, (yield* PriceBook.PriceBook).sourced("openai", "gpt-4o")?.source]
    }).pipe(
      Effect.provide(
        PriceSync.layer.pipe(
          Layer.provide(Events.layer),
          Layer.provideMerge(PriceBook.layerMemory),
          Layer.provideMerge(GatewaySettings.layer),
          Layer.provideMerge(flagsOf(environment, { GATEWAY_DISABLE_BACKGROUND_SERVICES: "true", ...overrides })),
          Layer.provideMerge(Layer.merge(layer, reposInMemory))
        )
      ),
      Effect.orDie
    )
  },
  seen: { false: [0, "embedded"], true: [1, "synced"] }
}

const leaderboard: LayerRow = {
  flag: "LEADERBOARD_ELO_SYNC_ENABLED",
  look: (environment, overrides) => {
    const { layer, state } = source([{ model: "some-model", coding: 0.9 }])
    const routing = mergeRouting(defaultRouting, { leaderboardUrl: "https://board.example/fitness.json" })
    const settings = mocked(RoutingSettings, { current: () => routing })
    return Effect.gen(function* () {
      const sync = Context.get(
        yield* Layer.build(
          LeaderboardSync.layer.pipe(
            Layer.provide(Layer.mergeAll(layer, settings, flagsOf(environment, overrides), reposInMemory))
          )
        ),
        LeaderboardSync.LeaderboardSync
      )
      yield* TestClock.adjust("2 minutes")
      return [state.asked, sync.overrides().length]
    }).pipe(Effect.scoped, Effect.orDie)
  },
  seen: { false: [0, 0], true: [1, 1] }
}

const tokens: LayerRow = {
  flag: "GATEWAY_DISABLE_TOKEN_HEALTHCHECK",
  look: (environment, overrides) => {
    const server = endpoint(rotating())
    return Effect.gen(function* () {
      yield* (yield* NodeRepo).insert(lab)
      yield* (yield* ConnectionRepo).insert(account("a", { expiresAtMs: 1 }))
      yield* (yield* Catalog).refresh
      yield* TestClock.adjust("1 hour")
      return server.requests.length > 0
    }).pipe(Effect.provide(house(server.layer, overrides, environment)), Effect.orDie)
  },
  seen: { false: true, true: false }
}

const project: LayerRow = {
  flag: "GATEWAY_RTK_TRUST_PROJECT_FILTERS",
  look: (environment, overrides) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, ".rtk"))
      const filter = {
        id: "of-project",
        label: "of-project",
        description: "Without dots.",
        category: "own",
        priority: 90,
        match: { commands: [String.raw`^my-tool\b`] },
        rules: { dropPatterns: [String.raw`^\.+$`] },
        tests: []
      }
      writeFileSync(join(folder, ".rtk", "filters.json"), JSON.stringify({ filters: [filter] }))
      const services = RawOutputs.layer.pipe(
        Layer.provide(reposInMemory),
        Layer.provideMerge(flagsOf(environment, overrides, folder))
      )
      const filters = yield* Effect.provide(makeIn(folder), services)
      return [filters.inForce().some((each) => each.filter.id === "of-project"), filters.faults().length]
    }).pipe(Effect.scoped, Effect.orDie),
  seen: { false: [false, 1], true: [true, 0] }
}

export const layers: ReadonlyArray<LayerRow> = [pricing, leaderboard, tokens, project]
