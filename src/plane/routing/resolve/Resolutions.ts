/**
 * Resolved model ids, remembered until the catalogue or a learned model list changes. Most requests ask for the same few ids.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { ModelNotFound, NoTarget } from "../../../contract/domain/Errors.ts"
import type { Combo } from "../../../subjects/combos/entity.ts"
import * as Flags from "../../../subjects/flags/service.ts"
import * as GatewaySettings from "../../../subjects/flags/StoredFlags.ts"
import * as Catalog from "../../providers/Catalog.ts"
import * as ModelLists from "../../providers/ModelLists.ts"
import { resolve, type Resolution } from "./ModelResolver.ts"
import type { ResolverView } from "./ModelTargets.ts"
import { resolveRequested } from "./RequestedModel.ts"
import { resolveService, type ServiceRequest } from "./ServiceTargets.ts"

export const capacity = 1_000
const serviceCapacity = 100

const successorsFlag = "MODEL_ALIAS_COMPAT_ENABLED"

type Resolve = (modelId: string) => Resolution | ModelNotFound | NoTarget

export class Resolutions extends Context.Tag("gateway/plane/routing/resolve/Resolutions")<
  Resolutions,
  {
    /** Hot: an id that the gateway itself names. */
    readonly resolve: Resolve
    /** Hot: an id that a client asks for; the setting `modelFallbacks`, or the model's successor, may be put in its place. */
    readonly requested: Resolve
    /** Resolves a client's id as if this combo were stored. */
    readonly tried: (combo: Combo, modelId: string) => ReturnType<Resolve>
    /** Hot: the same where pictures are to be made. */
    readonly requestedForPictures: Resolve
    /** Hot: resolves a request that names no model's id. */
    readonly service: (request: ServiceRequest) => Resolution | NoTarget
  }
>() {}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists
  const gateway = yield* GatewaySettings.GatewaySettings
  let snapshot = catalog.current()
  let revision = lists.revision()
  let settings = gateway.current()
  const flags = yield* Flags.Flags
  let successors = flags.isOn(successorsFlag)

  const remembering = (find: (view: ResolverView, modelId: string) => ReturnType<Resolve>) => {
    const known = new LruMap<string, Resolution>({ capacity })
    const ask: Resolve = (modelId) => {
      refresh()
      const remembered = known.peek(modelId)
      if (remembered !== undefined) return remembered
      const found = find({ catalog: snapshot, modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }, modelId)
      // Failures are not kept: their ids are whatever clients make up.
      if ("_tag" in found) return found
      known.set(modelId, found)
      return found
    }
    return { ask, forget: () => known.clear() }
  }
  const own = remembering(resolve)
  const asked = remembering((view, modelId) => resolveRequested(view, gateway.fallbackOf, modelId, successors))

  const askedForPictures = remembering((view, modelId) =>
    resolveRequested({ ...view, pictures: true }, gateway.fallbackOf, modelId, successors)
  )

  const services = new LruMap<string, Resolution>({ capacity: serviceCapacity })
  /** The same targets from one request to the next: what is measured of them is kept by them. */
  const service = (request: ServiceRequest): Resolution | NoTarget => {
    refresh()
    const remembered = services.get(request.key)
    if (remembered !== undefined) return remembered
    const found = resolveService({ catalog: snapshot }, request)
    if (!("_tag" in found)) services.set(request.key, found)
    return found
  }

  const refresh = (): void => {
    if (
      catalog.current() === snapshot &&
      lists.revision() === revision &&
      gateway.current() === settings &&
      flags.isOn(successorsFlag) === successors
    ) {
      return
    }
    snapshot = catalog.current()
    revision = lists.revision()
    settings = gateway.current()
    successors = flags.isOn(successorsFlag)
    own.forget()
    asked.forget()
    askedForPictures.forget()
    services.clear()
  }
  return Resolutions.of({
    resolve: own.ask,
    requested: asked.ask,
    tried: (combo, modelId) => {
      refresh()
      const view = {
        catalog: Catalog.withCombo(snapshot, combo),
        modelsOf: catalog.modelsOf,
        factsOf: catalog.factsOf
      }
      return resolveRequested(view, gateway.fallbackOf, modelId, successors)
    },
    requestedForPictures: askedForPictures.ask,
    service
  })
})

export const layer: Layer.Layer<
  Resolutions,
  never,
  Catalog.Catalog | ModelLists.ModelLists | GatewaySettings.GatewaySettings | Flags.Flags
> = Layer.effect(Resolutions, make)
