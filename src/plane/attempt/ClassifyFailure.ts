/** Classifies the failure of an attempt (`resilience/failure`). Pure. */
import { causes } from "../resilience/failure/Causes.ts"
import { classify } from "../resilience/failure/Classifier.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import type { CallerText } from "../resilience/failure/Echo.ts"
import type { FailureCause } from "../resilience/failure/Signal.ts"
import { classOf } from "../routing/health/TargetHealth.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { AttemptFailure } from "./AttemptResult.ts"

const isCause = (reason: string): reason is FailureCause => Object.hasOwn(causes, reason)

/** Refused before anything was sent: the upstream did not fail. */
const refusal = (failure: AttemptFailure): Failure => ({
  kind: "gateway_refusal",
  place: "call",
  status: failure.status,
  answered: false,
  reason: failure.reason,
  rule: "gateway_refusal",
  message: failure.message,
  hintMs: null,
  untilMs: null,
  scope: "none",
  exhausts: "nothing",
  contentBegan: false
})

export interface ClassificationFacts {
  /** True when there is a refresh token that was not used up for this request. */
  readonly canRefresh: boolean
  readonly contentBegan: boolean
  /** `customBannedSignals` of the settings. */
  readonly bannedTexts: ReadonlyArray<string>
  /** Text that the caller sent; null where the message does not matter. */
  readonly sent: CallerText | null
  /** Epoch milliseconds. */
  readonly nowMs: number
}

const noHeader = (): null => null

export const classifyFailure = (failure: AttemptFailure, { account }: Target, facts: ClassificationFacts): Failure => {
  const { message, reason, words } = failure
  const { connection, spec } = account
  const cause = words === null && isCause(reason) ? reason : null
  if (words === null && cause === null) return refusal(failure)
  return classify({
    providerId: spec.id,
    providerClass: classOf(connection, spec.class),
    authType: connection.authType,
    ...facts,
    status: words?.status ?? null,
    header: words?.header ?? noHeader,
    bodyText: words?.bodyText ?? "",
    problem: words?.problem ?? null,
    place: words?.place ?? "status",
    cause,
    waitMs: failure.waitMs,
    message
  })
}
