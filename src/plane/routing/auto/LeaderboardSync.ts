/**
 * Task fitness from a leaderboard the operator names (flag `LEADERBOARD_ELO_SYNC_ENABLED`, setting `leaderboardUrl`): fetched now and
 * then; the last good copy is kept, and counts until a better one comes or the operator names another place.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { blockMessage } from "../../../net/egress/OutboundPolicy.ts"
import * as PublicFetch from "../../../net/egress/PublicFetch.ts"
import { Flags } from "../../../subjects/flags/service.ts"
import type { StoreError } from "../../../store/Errors.ts"
import * as SettingsRepo from "../../../subjects/settings/repo.ts"
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

/** Stored copy. It belongs to its address, and is not used when the operator names another. */
const StoredLeaderboard = Schema.Struct({ url: Schema.String, rows: Rows })
type StoredLeaderboard = typeof StoredLeaderboard.Type
const decodeStored = (stored: unknown) => Schema.decodeUnknownEither(StoredLeaderboard)(stored)

interface Copy {
  readonly url: string
  readonly overrides: ReadonlyArray<FitnessOverride>
  readonly fitness: FitnessTable
}

const none: ReadonlyArray<FitnessOverride> = []

const copyOf = ({ rows, url }: StoredLeaderboard): Copy => {
  const overrides = mergeOverrides(overridesOf(rows))
  return { url, overrides, fitness: makeFitness(overrides) }
}

const reasonOf = (error: PublicFetch.PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return blockMessage[error.reason]
    case "RedirectRefused":
      return "it redirects too often, or to where it must not"
    case "ResponseTooLarge":
      return `it is larger than ${error.limitBytes} bytes`
    case "TimedOut":
      return `it took longer than ${error.timeoutMs / 1000} seconds`
    case "TransportFailure":
      return error.message
  }
}

/** Writes an address without its path and query, which may hold secrets. */
const shown = (url: string): string => new URL(url).origin

const restored = Effect.fnUntraced(function* (stored: unknown) {
  if (stored === null || stored === undefined) return null
  const decoded = decodeStored(stored)
  if (Either.isRight(decoded)) return copyOf(decoded.right)
  yield* Effect.logWarning("The kept leaderboard is not valid and left out")
  return null
})

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const settings = yield* RoutingSettings.RoutingSettings
  const repo = yield* SettingsRepo.SettingsRepo
  const { get } = yield* PublicFetch.PublicFetch
  let copy: Copy | null = yield* restored(yield* repo.get(namespace, key))
  let saidThatNowhere = false
  let due: { readonly url: string; readonly atMs: number } | null = null

  const inForce = (): Copy | null =>
    copy !== null && copy.url === settings.current().leaderboardUrl && flags.isOn("LEADERBOARD_ELO_SYNC_ENABLED")
      ? copy
      : null

  const fetchRows = (url: string): Effect.Effect<Either.Either<Rows, string>> =>
    get(url, limits, ({ status }) => status === 200, "operator").pipe(
      Effect.map(({ body, status }) =>
        status === 200 ? readRows(body.toString("utf8")) : Either.left(`it answered with status ${status}`)
      ),
      Effect.catchAll((error) => Effect.succeed(Either.left(reasonOf(error))))
    )

  const keep = (kept: StoredLeaderboard): Effect.Effect<void> =>
    Effect.catchAll(repo.set(namespace, key, kept), (error) =>
      Effect.logWarning("The leaderboard could not be kept for the next start", error)
    )

  const sync = Effect.fnUntraced(function* (url: string, nowMs: number) {
    const spread = yield* Random.nextRange(0.9, 1.1)
    const rows = yield* fetchRows(url)
    due = { url, atMs: nowMs + (Either.isRight(rows) ? everyMs : againMs) * spread }
    if (Either.isLeft(rows)) {
      yield* Effect.logWarning(`The leaderboard at ${shown(url)} is not used: ${rows.left}`)
      return
    }
    const kept = { url, rows: rows.right }
    copy = copyOf(kept)
    yield* keep(kept)
  })

  const round = Effect.gen(function* () {
    if (!flags.isOn("LEADERBOARD_ELO_SYNC_ENABLED")) return
    const url = settings.current().leaderboardUrl
    if (url === null) {
      if (!saidThatNowhere) yield* Effect.logInfo("No leaderboard is fetched: the setting leaderboardUrl is not set")
      saidThatNowhere = true
      return
    }
    const nowMs = yield* Clock.currentTimeMillis
    if (due === null || due.url !== url || nowMs >= due.atMs) yield* sync(url, nowMs)
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Fetching the leaderboard broke off", defect)))

  if (!flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) {
    const delayMs = firstMs * (yield* Random.nextRange(0.5, 1.5))
    yield* Effect.forkScoped(Effect.delay(Effect.repeat(round, rounds), delayMs))
  }
  return LeaderboardSync.of({
    overrides: () => inForce()?.overrides ?? none,
    fitness: () => inForce()?.fitness ?? staticFitness
  })
})

export const layer: Layer.Layer<
  LeaderboardSync,
  StoreError,
  Flags | RoutingSettings.RoutingSettings | SettingsRepo.SettingsRepo | PublicFetch.PublicFetch
> = Layer.scoped(LeaderboardSync, make)
