/** Changes of the guardrails' settings, and a look at what they find. Detectors are loaded when they are asked for. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { GuardrailSettings, GuardrailSettingsPatch } from "./entity.ts"
import { Flags } from "../flags/service.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import type { Inspection } from "../../plane/guard/Inspect.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Errors from "../Errors.ts"

export class Guardrails extends Context.Tag("gateway/subjects/guardrails/Guardrails")<
  Guardrails,
  {
    readonly current: () => GuardrailSettings
    readonly change: (
      patch: GuardrailSettingsPatch
    ) => Effect.Effect<GuardrailSettings, Errors.InvalidInput | StoreError>
    readonly test: (text: string) => Effect.Effect<Inspection, Errors.InvalidInput>
  }
>() {}

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const { guardrails: settings } = (yield* GatewaySettings).access

  const change = Effect.fn("Guardrails.change")(function* (patch: GuardrailSettingsPatch) {
    const { customPatterns = [] } = patch
    if (customPatterns.length > 0) {
      const { compilePattern } = yield* Effect.promise(() => import("../../plane/guard/CustomPatterns.ts"))
      for (const [index, source] of customPatterns.entries()) {
        const compiled = compilePattern(source)
        if (Either.isLeft(compiled)) {
          return yield* Errors.invalid(`customPatterns.${index}.pattern`, compiled.left)
        }
        if (customPatterns.findIndex(({ name }) => name === source.name) < index) {
          return yield* Errors.invalid(`customPatterns.${index}.name`, "is the name of another pattern, too")
        }
      }
    }
    return yield* settings.patch(patch)
  })

  const test = Effect.fn("Guardrails.test")(function* (text: string) {
    const { inspect, mostTriedChars } = yield* Effect.promise(() => import("../../plane/guard/Inspect.ts"))
    const most = mostTriedChars(settings.current())
    if (text.length > most) {
      const message = `has ${text.length} characters, and with the patterns of customPatterns at most ${most} can be tried at once: try less`
      return yield* Errors.invalid("text", message)
    }
    return inspect(text, {
      settings: settings.current(),
      sanitiser: flags.isOn("INPUT_SANITIZER_ENABLED"),
      injection: flags.value("INJECTION_GUARD_MODE"),
      personalData: flags.isOn("PII_REDACTION_ENABLED")
    })
  })

  return Guardrails.of({ current: settings.current, change, test })
})

export const layer: Layer.Layer<Guardrails, never, Flags | GatewaySettings> = Layer.effect(Guardrails, make)
