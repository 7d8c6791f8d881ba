/**
 * Prices from an address that the operator names (setting `pricingUrl`), once a day while the flag `PRICING_SYNC_ENABLED` and the variable of
 * that name are on. The last good table is kept for the next start. It lies over the embedded prices and below the operator's own.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { claimed } from "../../plane/state/Claims.ts"
import { PriceTable } from "../../subjects/pricing/entity.ts"
import type { PublicFetch } from "../../net/egress/PublicFetch.ts"
import { makePublishedTable } from "../../net/egress/PublishedTable.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { booleanOf } from "../../kernel/text/BooleanText.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import { Events } from "../Events.ts"
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

const table = makePublishedTable({
  limits,
  everyMs,
  againMs,
  spread: 0,
  read: readPrices,
  copyOf: (url, found, nowMs) => ({ url, fetchedAt: new Date(nowMs).toISOString(), table: found.table }),
  place: { namespace, key, schema: Stored },
  dueAtMs: ({ fetchedAt }) => Date.parse(fetchedAt) + everyMs,
  messages: {
    invalid: null,
    notUsed: (origin, reason) => `The prices at ${origin} are not used: ${reason}`,
    notKept: "The fetched prices could not be kept for the next start"
  },
  fetched: ({ leftOut }) => Effect.annotateLogs(Effect.logInfo("Prices were fetched."), { leftOut })
})

export const make = Effect.gen(function* () {
  const { environment } = yield* AppConfig
  const flags = yield* Flags
  const settings = yield* GatewaySettings
  const prices = yield* PriceBook
  const events = yield* Events
  const { copy, fetchWhereDue } = yield* table
  const isAllowed = booleanOf(environment.get(flag) ?? "") === true
  const urlNow = (): string | null => (isAllowed && flags.isOn(flag) ? settings.current().pricingUrl : null)

  /** The kept table counts while its address is the one that is set. */
  const apply = (url: string | null): boolean => {
    const kept = copy()
    const wanted = kept !== null && kept.url === url ? kept : null
    if (prices.synced() === wanted) return false
    prices.useSynced(wanted)
    return true
  }

  const round = Effect.gen(function* () {
    const url = urlNow()
    if (url !== null) yield* fetchWhereDue(url)
    if (!apply(url)) return
    const atMs = yield* Clock.currentTimeMillis
    events.configChanged(atMs, { kind: "price", id: null, by: "gateway", action: "pricing.synced" })
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Fetching prices broke off", defect)))

  apply(urlNow())
  if (!flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) {
    yield* Effect.forkScoped(claimed("price-sync", Effect.delay(Effect.repeat(round, rounds), firstRound)))
  }
  return PriceSync.of({ round })
})

export const layer: Layer.Layer<
  PriceSync,
  StoreError,
  AppConfig | Events | Flags | GatewaySettings | PriceBook | PublicFetch | SettingsRepo
> = Layer.scoped(PriceSync, make)
