/**
 * The first door: who is asking, and may they. Synchronous, on ready state; reads no header itself (see `auth/Credentials.ts`).
 */
import type { Principal } from "../domain/ApiKey.ts"
import { type InferenceError, KeyRejected, Unauthenticated } from "../domain/Errors.ts"
import { judgeKey, type Identity } from "../auth/ApiKeys.ts"

/** Judges the caller. Without `required` an unknown key is as good as none; a known one always keeps its limits. */
export const admit = (identity: Identity, required: boolean, nowMs: number): Principal | InferenceError => {
  if (identity === "missing" || identity === "wrong") {
    return required ? new Unauthenticated({ reason: identity }) : { _tag: "Anonymous" }
  }
  if (identity._tag !== "Key") return identity
  const verdict = judgeKey(identity.key, nowMs)
  return verdict === null ? identity : new KeyRejected({ reason: verdict, model: null })
}
