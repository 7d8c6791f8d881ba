/** Members common to the errors of all wires: the upstream's own object, and the attempts. */
import type { ErrorView } from "../../contract/domain/Errors.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { JsonObject } from "../json/Json.ts"

/** The upstream's error object when it speaks one of these wires; else empty. */
export const nativeOf = ({ native }: ErrorView, wires: ReadonlyArray<WireName>): JsonObject =>
  native !== null && native.error !== null && wires.includes(native.wire) ? (native.error as JsonObject) : {}

/** `attempts`, when there were any. */
export const attemptsMember = ({ attempts }: ErrorView): JsonObject =>
  attempts.length === 0
    ? {}
    : { attempts: attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason })) }
