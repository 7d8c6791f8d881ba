/**
 * Task fitness from a leaderboard the operator names (flag `LEADERBOARD_ELO_SYNC_ENABLED`, setting `leaderboardUrl`): fetched now and
 * then; the last good copy is kept, and counts until a better one comes or the operator names another place.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { claimed } from "../../../plane/state/Claims.ts"
import type { PublicFetch } from "../../../net/egress/PublicFetch.ts"
import { makePublishedTable } from "../../../net/egress/PublishedTable.ts"
import { Flags } from "../../../subjects/flags/service.ts"
import type { StoreError } from "../../../store/Errors.ts"
import type { SettingsRepo } from "../../../subjects/settings/repo.ts"
import * as RoutingSettings from "../RoutingSettings.ts"
import { type FitnessTable, makeFitness, staticFitness } from "./Fitness.ts"
import { type FitnessOverride, type LeaderboardSource, mergeOverrides } from "./Leaderboard.ts"
import { overridesOf, readRows, Rows } from "./LeaderboardRows.ts"

export class LeaderboardSync extends Context.Tag("gateway/plane/routing/auto/LeaderboardSync")<
  LeaderboardSync,
  LeaderboardSource & {
    /** Hot: the static map, under the last good copy where there is one. */
    readonly fitness: () => FitnessTable
  }
>() {}

const namespace = "routing"
const key = "leaderboard"

const limits = { maxBytes: 2 * 1_048_576, timeoutMs: 15_000 }
const everyMs = 12 * 3_600_000
const againMs = 3_600_000

/** Rounds only look whether something is due; so a new address is not left waiting. */
const rounds = Schedule.jittered(Schedule.spaced("5 minutes"))
/** Time of the first fetch in ms: late enough not to slow the start. */
const firstMs = 60_000

const StoredLeaderboard = Schema.Struct({ url: Schema.String, rows: Rows })
type StoredLeaderboard = typeof StoredLeaderboard.Type

const leaderboard = makePublishedTable({
  limits,
  everyMs,
  againMs,
  spread: 0.1,
  read: readRows,
  copyOf: (url, rows): StoredLeaderboard => ({ url, rows }),
  place: { namespace, key, schema: StoredLeaderboard },
  dueAtMs: () => null,
  messages: {
    invalid: "The kept leaderboard is not valid and left out",
    notUsed: (origin, reason) => `The leaderboard at ${origin} is not used: ${reason}`,
    notKept: "The leaderboard could not be kept for the next start"
  }
})

interface Ratings {
  readonly of: StoredLeaderboard
  readonly overrides: ReadonlyArray<FitnessOverride>
  readonly fitness: FitnessTable
}

const none: ReadonlyArray<FitnessOverride> = []

const ratingsOf = (stored: StoredLeaderboard): Ratings => {
  const overrides = mergeOverrides(overridesOf(stored.rows))
  return { of: stored, overrides, fitness: makeFitness(overrides) }
}

const flag = "LEADERBOARD_ELO_SYNC_ENABLED"

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const settings = yield* RoutingSettings.RoutingSettings
  const { copy, fetchWhereDue } = yield* leaderboard
  let ratings: Ratings | null = null
  let saidThatNowhere = false

  const inForce = (): Ratings | null => {
    const stored = copy()
    if (stored === null || stored.url !== settings.current().leaderboardUrl || !flags.isOn(flag)) return null
    if (ratings?.of !== stored) ratings = ratingsOf(stored)
    return ratings
  }

  const round = Effect.gen(function* () {
    if (!flags.isOn(flag)) return
    const url = settings.current().leaderboardUrl
    if (url !== null) return yield* fetchWhereDue(url)
    if (!saidThatNowhere) yield* Effect.logInfo("No leaderboard is fetched: the setting leaderboardUrl is not set")
    saidThatNowhere = true
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Fetching the leaderboard broke off", defect)))

  if (!flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) {
    const delayMs = firstMs * (yield* Random.nextRange(0.5, 1.5))
    yield* Effect.forkScoped(claimed("leaderboard-sync", Effect.delay(Effect.repeat(round, rounds), delayMs)))
  }
  return LeaderboardSync.of({
    overrides: () => inForce()?.overrides ?? none,
    fitness: () => inForce()?.fitness ?? staticFitness
  })
})

export const layer: Layer.Layer<
  LeaderboardSync,
  StoreError,
  Flags | RoutingSettings.RoutingSettings | SettingsRepo | PublicFetch
> = Layer.scoped(LeaderboardSync, make)
