/** Pipelines with names and the settings of the engine for prose, in memory for hot readers. Stored as two values of the settings table. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import {
  type CavemanSettings,
  CavemanSettingsInput,
  CompressionCombo,
  defaultCavemanSettings
} from "../../subjects/compression/entity/CompressionProfiles.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"

/** Most pipelines that are kept. */
export const mostCombos = 100

const Combos = Schema.Struct({
  combos: Schema.optionalWith(Schema.Array(CompressionCombo).pipe(Schema.maxItems(mostCombos)), { exact: true })
})
type CombosPatch = typeof Combos.Type

export interface StoredCombos {
  readonly combos: ReadonlyArray<CompressionCombo>
}

export class Profiles extends Context.Tag("gateway/plane/compression/Profiles")<
  Profiles,
  {
    readonly combos: StoredSettings.StoredSettings<StoredCombos, CombosPatch>
    readonly caveman: StoredSettings.StoredSettings<CavemanSettings, CavemanSettingsInput>
  }
>() {}

const none: StoredCombos = { combos: [] }

export const make = Effect.gen(function* () {
  const combos = yield* StoredSettings.make(
    { namespace: "gateway", key: "compression-combos", name: "settings 'compression-combos'" },
    {
      patch: Combos,
      defaults: none,
      merge: (settings: StoredCombos, patch: CombosPatch): StoredCombos => ({ ...settings, ...patch })
    }
  )
  const caveman = yield* StoredSettings.make(
    { namespace: "gateway", key: "caveman", name: "settings 'caveman'" },
    {
      patch: CavemanSettingsInput,
      defaults: defaultCavemanSettings,
      merge: (settings: CavemanSettings, patch: CavemanSettingsInput): CavemanSettings => ({ ...settings, ...patch })
    }
  )
  return Profiles.of({ combos, caveman })
})

export const layer: Layer.Layer<Profiles, StoreError, SettingsRepo> = Layer.effect(Profiles, make)

/** Finds a combo by name, whatever its case, then by id; null when there is none. Pure. */
export const comboNamed = (combos: ReadonlyArray<CompressionCombo>, name: string): CompressionCombo | null => {
  const lower = name.toLowerCase()
  return combos.find((combo) => combo.name.toLowerCase() === lower) ?? combos.find((combo) => combo.id === name) ?? null
}

/** No pipeline is assigned to a routing combo that is gone. Pure. */
export const withoutRoutingCombo = (
  combos: ReadonlyArray<CompressionCombo>,
  id: string
): ReadonlyArray<CompressionCombo> =>
  combos.map((combo) => ({ ...combo, routingComboIds: combo.routingComboIds.filter((each) => each !== id) }))
