/**
 * Prices from an address that the operator names (setting `pricingUrl`), once a day while the flag `PRICING_SYNC_ENABLED` and the variable of
 * that name are on. The last good table is kept for the next start. It lies over the embedded prices and below the operator's own.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { PriceTable } from "../../subjects/pricing/entity.ts"
import { blockMessage } from "../../net/egress/OutboundPolicy.ts"
import { PublicFetch, type PublicFetchError } from "../../net/egress/PublicFetch.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { booleanOf } from "../../kernel/text/BooleanText.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SettingsRepo } from "../../subjects/settings/repo.ts"
import { PriceBook } from "./PriceBook.ts"
import { readPrices } from "./PriceRows.ts"

export class PriceSync extends Context.Tag("gateway/observe/usage/PriceSync")<
  PriceSync,
  {
    /** Looks whether something is to be done, and does it. Never fails: what goes wrong is logged, and the prices stay. */
    readonly round: Effect.Effect<void>
  }
>() {}

const flag = "PRICING_SYNC_ENABLED"
const namespace = "pricing"
const key = "synced"
const limits = { maxBytes: 8 * 1_048_576, timeoutMs: 20_000 }
const everyMs = 24 * 3_600_000
const againMs = 3_600_000
/** Rounds only look whether something is due. */
const rounds = Schedule.jittered(Schedule.spaced("1 minute"))
const firstRound = "5 seconds"

const Stored = Schema.Struct({ url: Schema.String, fetchedAt: Schema.String, table: PriceTable })
const decodeStored = (stored: unknown) => Schema.decodeUnknownEither(Stored)(stored)

const reasonOf = (error: PublicFetchError): string => {
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

export const make = Effect.gen(function* () {
  const { environment } = yield* AppConfig
  const flags = yield* Flags
  const settings = yield* GatewaySettings
  const repo = yield* SettingsRepo
  const prices = yield* PriceBook
  const { get } = yield* PublicFetch
  const stored = decodeStored(yield* repo.get(namespace, key))
  let copy = Either.isRight(stored) ? stored.right : null
  let due: { readonly url: string; readonly atMs: number } | null =
    copy === null ? null : { url: copy.url, atMs: Date.parse(copy.fetchedAt) + everyMs }
  const isAllowed = booleanOf(environment.get(flag) ?? "") === true
  const urlNow = (): string | null => (isAllowed && flags.isOn(flag) ? settings.current().pricingUrl : null)

  /** The kept table counts while its address is the one that is set. */
  const apply = (url: string | null): void => {
    const wanted = copy !== null && copy.url === url ? copy : null
    if (prices.synced() !== wanted) prices.useSynced(wanted)
  }

  const fetchTable = (url: string) =>
    get(url, limits, ({ status }) => status === 200, "operator").pipe(
      Effect.map(({ body, status }) =>
        status === 200 ? readPrices(body.toString("utf8")) : Either.left(`it answered with status ${status}`)
      ),
      Effect.catchAll((error) => Effect.succeed(Either.left(reasonOf(error))))
    )

  const sync = Effect.fnUntraced(function* (url: string, nowMs: number) {
    const found = yield* fetchTable(url)
    due = { url, atMs: nowMs + (Either.isRight(found) ? everyMs : againMs) }
    if (Either.isLeft(found)) {
      // Without its path and query, which may hold secrets.
      return yield* Effect.logWarning(`The prices at ${new URL(url).origin} are not used: ${found.left}`)
    }
    const { leftOut, table } = found.right
    copy = { url, fetchedAt: new Date(nowMs).toISOString(), table }
    yield* Effect.annotateLogs(Effect.logInfo("Prices were fetched."), { leftOut })
    yield* Effect.catchAll(repo.set(namespace, key, copy), (error) =>
      Effect.logWarning("The fetched prices could not be kept for the next start", error)
    )
  })

  const round = Effect.gen(function* () {
    const url = urlNow()
    const nowMs = yield* Clock.currentTimeMillis
    if (url !== null && (due === null || due.url !== url || nowMs >= due.atMs)) yield* sync(url, nowMs)
    apply(url)
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Fetching prices broke off", defect)))

  apply(urlNow())
  if (!flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) {
    yield* Effect.forkScoped(Effect.delay(Effect.repeat(round, rounds), firstRound))
  }
  return PriceSync.of({ round })
})

export const layer: Layer.Layer<
  PriceSync,
  StoreError,
  AppConfig | Flags | GatewaySettings | PriceBook | PublicFetch | SettingsRepo
> = Layer.scoped(PriceSync, make)
