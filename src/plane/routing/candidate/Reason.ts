/**
 * Reason for which the first target of a decision is first, as data. `reasonText` writes it for headers and decision
 * records. Pure.
 */

/** `amongReady`: targets before it could not be called. */
export type Reason =
  | { readonly _tag: "FirstInOrder"; readonly amongReady: boolean }
  | { readonly _tag: "OnlyTarget"; readonly amongReady: boolean }
  | { readonly _tag: "NoneReady" }
  /** A free tier was asked for, and no free target can be called. */
  | { readonly _tag: "NoFreeTarget" }
  /** The account that served the session before. */
  | { readonly _tag: "Session" }
  /** The targets before it usually take longer to begin than the combo allows. */
  | { readonly _tag: "QuickEnough" }
  /** The strategy's own words, without `;` and control characters. Custom strategies bring theirs. */
  | { readonly _tag: "Strategy"; readonly words: string }
  | { readonly _tag: "Refused"; readonly status: number; readonly code: string }
  | { readonly _tag: "EmergencyFallback" }
  /** The judge of a fusion answers for the panel. */
  | { readonly _tag: "Judged"; readonly answers: number; readonly members: number; readonly isJudgeKnown: boolean }
  /** One member of a fusion has answered, so there is nothing to judge. */
  | { readonly _tag: "OnlyAnswer"; readonly members: number }
  /** A session takes along a summary of its conversation, from the `provider/model` that served it before. */
  | { readonly _tag: "HandedOver"; readonly from: string; readonly reason: Reason }
  /** A request of the gateway's own, which sums up the conversation of another. */
  | { readonly _tag: "Summary"; readonly requestId: string }

export const firstInOrder: Reason = { _tag: "FirstInOrder", amongReady: false }
export const onlyTarget: Reason = { _tag: "OnlyTarget", amongReady: false }
export const noneReady: Reason = { _tag: "NoneReady" }
export const noFreeTarget: Reason = { _tag: "NoFreeTarget" }
export const session: Reason = { _tag: "Session" }
export const quickEnough: Reason = { _tag: "QuickEnough" }
export const emergencyFallback: Reason = { _tag: "EmergencyFallback" }

const firstAmongReady: Reason = { _tag: "FirstInOrder", amongReady: true }
const onlyAmongReady: Reason = { _tag: "OnlyTarget", amongReady: true }

export const byStrategy = (words: string): Reason => ({ _tag: "Strategy", words })

/** The reason, where those that would have been before the first could not be called. */
export const amongReady = (reason: Reason): Reason => {
  switch (reason._tag) {
    case "FirstInOrder":
      return firstAmongReady
    case "OnlyTarget":
      return onlyAmongReady
    case "HandedOver":
      return { ...reason, reason: amongReady(reason.reason) }
    default:
      return reason
  }
}

/** The reason where it turned out that none could be called: one that only says something of the order no longer holds. */
export const noneWasReady = (reason: Reason): Reason => {
  switch (reason._tag) {
    case "FirstInOrder":
    case "OnlyTarget":
      return reason.amongReady ? reason : noneReady
    case "HandedOver":
      return { ...reason, reason: noneWasReady(reason.reason) }
    default:
      return reason
  }
}

/** A few words without `;` or control characters: they are in a header. */
export const reasonText = (reason: Reason): string => {
  switch (reason._tag) {
    case "FirstInOrder":
      return reason.amongReady ? "first in order that could be called" : "first in order"
    case "OnlyTarget":
      return reason.amongReady ? "only target that could be called" : "only target"
    case "NoneReady":
      return "no target is available"
    case "NoFreeTarget":
      return "no free target is available"
    case "Session":
      return "session"
    case "QuickEnough":
      return "quick enough to begin"
    case "Strategy":
      return reason.words
    case "Refused":
      return `refused with ${reason.status} ${reason.code}`
    case "EmergencyFallback":
      return "emergency fallback: credits exhausted"
    case "Judged":
      return `judged ${reason.answers} of ${reason.members} answers${reason.isJudgeKnown ? "" : ", the judge named is unknown"}`
    case "OnlyAnswer":
      return `only answer of ${reason.members}`
    case "HandedOver":
      return `${reasonText(reason.reason)}; context handed over from ${reason.from}`
    case "Summary":
      return `handoff: sums up ${reason.requestId}`
  }
}
