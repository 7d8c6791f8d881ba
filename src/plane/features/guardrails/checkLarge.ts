/** Checks a request whose texts would take too long on the event loop: a thread does it. */
import * as Effect from "effect/Effect"
import { GuardrailBlocked } from "../../../contract/domain/Errors.ts"
import type { GuardrailSettings } from "../../../subjects/guardrails/entity.ts"
import { nsPerStep } from "../../../kernel/text/LinearPattern.ts"
import type { Slices } from "../../resilience/Slices.ts"
import { maxTopMembers } from "../../../wire/json/Excess.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import { readForeignBody, slicedFromBytes } from "../../../wire/json/LargeBodies.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Detection } from "./Detection.ts"
import type { Active } from "./Policy.ts"
import type { GuardThread } from "./thread/GuardThread.ts"
import { type Checked, failedCheck } from "./requests/checkRequest.ts"
import type { Decided } from "./requests/GuardRequest.ts"

/** Milliseconds that a check may take here, at worst. */
const mostMs = 10
/** Seconds of the thread that one request may take for patterns of the operator's own, at worst. */
const mostPatternMs = 20_000

const looks = ({ injection, personalData, sanitiser }: Active): boolean =>
  injection !== null || personalData || sanitiser

const patternMs = ({ personalData }: Active, detection: Detection | null, bytes: number): number => {
  const steps = (detection?.options.custom ?? []).reduce((sum, custom) => sum + custom.steps, 0)
  return personalData ? (steps * bytes * nsPerStep) / 1e6 : 0
}

/** Checks whether a request is checked on a thread. `detection`: null where it could not be loaded. */
export const isForThread = ({ body }: Pick<Work, "body">, active: Active, detection: Detection | null): boolean =>
  detection !== null &&
  looks(active) &&
  (body.length >= slicedFromBytes || patternMs(active, detection, body.length) > mostMs)

const tooMuch =
  "The request has more text than the patterns of this gateway can be looked for in (customPatterns of /api/settings/guardrails). Send less text at a time."
const tooLong =
  "The request could not be checked in time, because it is too large or because too many are checked now. Try again, or send less text at a time."

export const checkLarge = (
  work: Work,
  active: Active,
  settings: GuardrailSettings,
  detection: Detection,
  tools: { readonly thread: GuardThread; readonly slices: typeof Slices.Service; readonly decided: Decided }
): Effect.Effect<Checked> => {
  const { decided, slices, thread } = tools
  const same: Checked = {
    parsed: work.parsed,
    redacted: 0,
    injection: null,
    isPartlyScanned: false,
    blocked: null,
    hasFailed: false,
    detection
  }
  const refused = (message: string): Checked => {
    decided("request", "block")
    return { ...same, blocked: new GuardrailBlocked({ code: "SECURITY_001", message }) }
  }
  if (patternMs(active, detection, work.body.length) > mostPatternMs) return Effect.succeed(refused(tooMuch))

  const valueOf = (bytes: Buffer): JsonObject => {
    const value = readForeignBody(bytes, maxTopMembers)
    if (!isObject(value)) throw new Error("A guardrail has made something else of the request.")
    return work.exchange.fromPath === null ? value : { ...value, ...work.exchange.fromPath }
  }

  return Effect.gen(function* () {
    const { customPatterns, disabledDetectors } = settings
    const { injection, personalData, sanitiser } = active
    const report = yield* thread.run({
      wire: work.exchange.wire,
      body: work.body,
      active: { injection, personalData, sanitiser },
      settings: { customPatterns, disabledDetectors }
    })
    if (report === "late") return refused(tooLong)
    if (report === "failed") return yield* failedCheck(work.parsed, active, detection, decided)("the thread has failed")
    for (const { action, count, detector } of report.decided) decided(detector, action, count)
    const { isPartlyScanned, redacted, refusal } = report
    const checked = { ...same, injection: report.injection, isPartlyScanned, redacted }
    if (refusal !== null) {
      return { ...checked, blocked: new GuardrailBlocked({ code: "SECURITY_001", message: refusal }) }
    }
    if (report.body === null) return checked
    const bytes = Buffer.from(report.body.buffer, report.body.byteOffset, report.body.byteLength)
    yield* Effect.async<void>((resume) => slices.whenRead(bytes, () => resume(Effect.void), maxTopMembers))
    return { ...checked, parsed: valueOf(bytes), bytes }
  })
}
