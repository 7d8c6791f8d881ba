/** Guards a request with what detects, also where that fails: the request is then refused in the mode `block`, and goes on as it came elsewhere. */
import * as Effect from "effect/Effect"
import { GuardrailBlocked } from "../../../../contract/domain/Errors.ts"
import type { WireName } from "../../../../contract/domain/Wire.ts"
import type { JsonObject } from "../../../../wire/json/Json.ts"
import type { Detection } from "../Detection.ts"
import type { Active } from "../Policy.ts"
import { type Decided, type Guarded, guardRequest } from "./GuardRequest.ts"

/** Changes to the request, and findings. */
export interface Checked extends Guarded {
  /** The request was not checked: what detects has failed. */
  readonly hasFailed: boolean
  /** Null: it could not be loaded. */
  readonly detection: Detection | null
  /** The bytes of `parsed`, where they are known. */
  readonly bytes?: Buffer
}

const failure = "The request could not be checked for attempts to take over the model (INJECTION_GUARD_MODE)."
const answerFailure =
  "The answer could not be checked for personal data (PII_RESPONSE_SANITIZATION_MODE), so it is not asked for."

const refusalOf = ({ answers, injection }: Active, detection: Detection | null): GuardrailBlocked | null => {
  if (injection === "block") return new GuardrailBlocked({ code: "SECURITY_001", message: failure })
  return detection === null && answers === "block"
    ? new GuardrailBlocked({ code: "SECURITY_002", message: answerFailure })
    : null
}

/** Decides on a request that could not be checked. */
export const failedCheck =
  (parsed: JsonObject, active: Active, detection: Detection | null, decided: Decided) =>
  (defect: unknown): Effect.Effect<Checked> => {
    const blocked = refusalOf(active, detection)
    decided("request", blocked === null ? "unchecked" : "block")
    const checked = {
      parsed,
      redacted: 0,
      injection: null,
      isPartlyScanned: false,
      blocked,
      hasFailed: true,
      detection
    }
    return Effect.as(Effect.logError("A guardrail failed on a request", defect), checked)
  }

export const checkRequest = (
  wire: WireName,
  parsed: JsonObject,
  active: Active,
  loading: Effect.Effect<Detection>,
  decided: Decided
): Effect.Effect<Checked> => {
  const failed = (detection: Detection | null) => failedCheck(parsed, active, detection, decided)
  const withDetection = (detection: Detection): Effect.Effect<Checked> =>
    Effect.catchAllDefect(
      Effect.sync(() => ({
        ...guardRequest(wire, parsed, active, detection, decided),
        hasFailed: false,
        detection
      })),
      failed(detection)
    )
  const loaded = Effect.catchAllDefect(Effect.map(loading, withDetection), (defect) =>
    Effect.succeed(failed(null)(defect))
  )
  return Effect.flatten(loaded)
}
