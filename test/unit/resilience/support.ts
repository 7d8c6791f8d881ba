import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defaultResilience, mergeResilience, type ResiliencePatch } from "../../../src/subjects/resilience/entity.ts"
import * as Settings from "../../../src/plane/resilience/Settings.ts"

/** Settings that a test changes as an operator would, without a store. */
export const settingsOf = (patch: ResiliencePatch = {}) => {
  let settings = mergeResilience(defaultResilience, patch)
  const change = (next: ResiliencePatch): void => {
    settings = mergeResilience(settings, next)
  }
  const service = Settings.Settings.of({
    current: () => settings,
    patch: (next) =>
      Effect.sync(() => {
        change(next)
        return settings
      })
  })
  return { change, service, layer: Layer.succeed(Settings.Settings, service) }
}

/** The service as a process that has just started has it; it ends with the scope. */
export const started = <I, S, E, R>(tag: Context.Tag<I, S>, layer: Layer.Layer<I, E, R>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, tag))
