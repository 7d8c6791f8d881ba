/** Detectors of the guardrails. Loaded when the first request needs them: the tables of telephone numbers and patterns take time to read. */
import * as Effect from "effect/Effect"
import type { GuardrailSettings } from "../../../subjects/guardrails/entity.ts"
import type { DetectorOptions } from "../../guard/Detectors.ts"
import type { InjectionFinding } from "../../guard/injection/Injection.ts"
import type { Redaction } from "../../guard/RedactedText.ts"
import { nsPerStep } from "../../../kernel/text/LinearPattern.ts"
import type { Json } from "../../../wire/json/Json.ts"
import { type TextGuard, usualWindowChars } from "./answers/TextGuard.ts"

export interface Detection {
  readonly options: DetectorOptions
  readonly texts: TextGuard
  readonly redactText: (text: string, redaction: Redaction) => string
  readonly redactValue: (value: Json, redaction: Redaction) => Json
  readonly findInjections: (text: string) => ReadonlyArray<InjectionFinding>
  readonly withoutInjections: (text: string, findings: ReadonlyArray<InjectionFinding>) => string
}

/** Milliseconds that a step over an answer may take for patterns of the operator's own, at worst. */
const stepMs = 2
/** Milliseconds that an answer may take for them in all, at worst. */
const mostAnswerMs = 20_000
const leastWindowChars = 512

const stepsPerChar = ({ custom }: DetectorOptions): number => custom.reduce((sum, { steps }) => sum + steps, 0)

const charsIn = (ms: number, steps: number): number => (ms * 1e6) / (steps * nsPerStep)

const windowCharsOf = (options: DetectorOptions): number =>
  Math.min(usualWindowChars, Math.max(leastWindowChars, Math.floor(charsIn(stepMs, stepsPerChar(options)))))

/** Characters of an answer that may be looked at. */
export const mostAnswerChars = ({ options }: Pick<Detection, "options">): number =>
  Math.floor(charsIn(mostAnswerMs, stepsPerChar(options)))

const load = () =>
  Promise.all([
    import("../../guard/Detectors.ts"),
    import("../../guard/RedactedText.ts"),
    import("../../guard/Inspect.ts"),
    import("../../guard/injection/Injection.ts")
  ])

export const make = (settings: () => GuardrailSettings): Effect.Effect<Detection> => {
  let known: { readonly settings: GuardrailSettings; readonly detection: Detection } | null = null
  return Effect.suspend(() => {
    const current = settings()
    if (known?.settings === current) return Effect.succeed(known.detection)
    return Effect.map(Effect.promise(load), ([detectors, redacted, inspecting, injection]) => {
      const options = inspecting.optionsOf(current)
      const detection: Detection = {
        options,
        texts: {
          find: (text) => detectors.findPersonalData(text, options),
          openFrom: (text) => detectors.openFrom(text, options),
          longestMatchChars: detectors.longestMatchChars,
          windowChars: windowCharsOf(options)
        },
        redactText: (text, redaction) => redacted.redactText(text, redaction),
        redactValue: (value, redaction) => redacted.redactValue(value, redaction),
        findInjections: injection.findInjections,
        withoutInjections: injection.withoutInjections
      }
      known = { settings: current, detection }
      return detection
    })
  })
}
