/** Classifies the answer of a simulated upstream, by the one classifier that real failures go through. Pure. */
import { classify } from "../../../plane/resilience/failure/Classifier.ts"
import type { Failure } from "../../../plane/resilience/failure/FailureKind.ts"
import type { Target } from "../../../plane/routing/resolve/ModelResolver.ts"
import { classOf } from "../../../plane/routing/health/TargetHealth.ts"
import type { FaultSignal } from "./Fault.ts"

export interface Circumstances {
  readonly streamed: boolean
  readonly contentBegan: boolean
  /** The account signs in with tokens, and a new one was not yet asked for by this request. */
  readonly canRefresh: boolean
  readonly bannedTexts: ReadonlyArray<string>
  /** Epoch at which it shows. */
  readonly nowMs: number
}

export const classifyFault = (said: FaultSignal, { account }: Target, circumstances: Circumstances): Failure => {
  const { bannedTexts, canRefresh, contentBegan, nowMs, streamed } = circumstances
  const { connection, spec } = account
  const authType = canRefresh ? "oauth" : connection.authType
  const origin = {
    providerId: spec.id,
    providerClass: classOf({ authType }, spec.class),
    authType,
    canRefresh,
    contentBegan,
    bannedTexts,
    sent: null,
    nowMs
  }
  const silent = { status: null, header: () => null, bodyText: "", problem: null, place: "status" } as const
  if ("cause" in said) return classify({ ...origin, ...silent, cause: said.cause, message: "simulated" })
  const { code = null, headers = {}, message, page, status, type = null } = said
  // An error inside of a 200 stands for what its words say.
  const inside = status === 200
  return classify({
    ...origin,
    status,
    header: (name) => headers[name] ?? null,
    bodyText: page ?? JSON.stringify({ error: { message, type, code } }),
    problem: page === undefined ? { status: inside ? 502 : status, message, type, code } : null,
    place: inside ? (streamed ? "stream" : "answer") : "status",
    cause: null,
    message: "simulated"
  })
}
