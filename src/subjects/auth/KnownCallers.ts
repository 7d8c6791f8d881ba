/**
 * Callers without a key, of work that goes on after their request (batches, jobs, evaluations): what is stored of them with the work, and in whose
 * name the work goes on. Pure.
 */
import type { KnownCaller } from "../../contract/domain/Usage.ts"
import type { Principal } from "../keys/entity.ts"

/** Returns null for a key, which the work names itself, and for callers of whom nothing is known. */
export const knownCallerOf = (principal: Principal): KnownCaller | null => {
  switch (principal._tag) {
    case "Key":
    case "Anonymous":
      return null
    case "Session":
      return "session"
    case "AdminKey":
    case "Owner":
      return "operator"
  }
}

/** Makes the principal of a caller without a key. A session is one that may be over, so that its id is not stored. */
export const keylessPrincipal = (caller: KnownCaller | null): Principal => {
  switch (caller) {
    case "session":
      return { _tag: "Session", sessionId: "" }
    case "operator":
      return { _tag: "AdminKey" }
    case null:
      return { _tag: "Anonymous" }
  }
}
