/**
 * Small stores that other folders declare and the settings table keeps: flag overrides and price overrides.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { PriceTable } from "../subjects/pricing/entity.ts"
import { FlagStore } from "../subjects/flags/repo.ts"
import * as SettingsRepo from "../subjects/settings/repo.ts"
import { PriceOverrides, PriceOverridesUnavailable } from "../observe/usage/PriceBook.ts"

const flagNamespace = "feature_flags"
const pricingNamespace = "pricing"
const pricingKey = "overrides"

/** A database that refuses is a defect here: the routes that change flags answer 500 and say no more. */
export const flagStore: Layer.Layer<FlagStore, never, SettingsRepo.SettingsRepo> = Layer.effect(
  FlagStore,
  Effect.map(SettingsRepo.SettingsRepo, (settings) =>
    FlagStore.of({
      load: settings.list(flagNamespace).pipe(
        Effect.map(
          (values) => new Map([...values].flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])))
        ),
        Effect.orDie
      ),
      save: (key, value) => Effect.orDie(settings.set(flagNamespace, key, value)),
      remove: (key) => Effect.orDie(Effect.asVoid(settings.remove(flagNamespace, key))),
      clear: Effect.orDie(Effect.asVoid(settings.clear(flagNamespace)))
    })
  )
)

const decodeTable = (stored: unknown) => Schema.decodeUnknown(PriceTable)(stored)

export const priceOverrides: Layer.Layer<PriceOverrides, never, SettingsRepo.SettingsRepo> = Layer.effect(
  PriceOverrides,
  Effect.map(SettingsRepo.SettingsRepo, (settings) => {
    const unavailable = (operation: "load" | "save") => (cause: unknown) =>
      new PriceOverridesUnavailable({ operation, cause })
    return PriceOverrides.of({
      load: settings.get(pricingNamespace, pricingKey).pipe(
        Effect.flatMap((stored) => decodeTable(stored ?? {})),
        Effect.mapError(unavailable("load"))
      ),
      save: (table) =>
        settings.set(pricingNamespace, pricingKey, table).pipe(Effect.asVoid, Effect.mapError(unavailable("save")))
    })
  })
)
