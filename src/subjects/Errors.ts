/**
 * Refusals of the management of the gateway's configuration: a kind for each way to answer, with a code that says which refusal it is. The
 * sentence is for people; each caller decides how it is answered.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { FieldProblem } from "../contract/domain/Errors.ts"
import type { RestartRefused } from "../platform/Lifecycle.ts"
import type { SettingsContradict } from "../plane/resilience/Settings.ts"
import type { StoreError } from "../store/Errors.ts"
import type { RestoreRefused } from "../store/restore/Refusal.ts"
import type { ReadRefused } from "../store/engine/ReadWorker.ts"

/** `field` is the input that named it; `id` where it is left out. `meant`: what may have been meant. */
export class EntityNotFound extends Data.TaggedError("EntityNotFound")<{
  /** Name of the entity in a sentence, such as `quota group`. */
  readonly entity: string
  readonly id: string
  readonly field?: string
  readonly meant?: ReadonlyArray<string>
}> {
  override get message(): string {
    const { entity, id, meant = [] } = this
    const hint = meant.length === 0 ? "" : ` Did you mean ${meant.map((name) => `'${name}'`).join(" or ")}?`
    return `There is no ${entity} '${id}'.${hint}`
  }
}

/** The input breaks a rule. Never without problems. */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{
  readonly problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]
  /** The provider that is not known, where that is the problem. */
  readonly provider?: string
}> {
  override get message(): string {
    if (this.provider !== undefined) return this.problems[0].message
    return this.problems.map(({ field, message }) => `${field}: ${message}`).join("; ")
  }
}

/** Sentence of a refusal, and its code for programs, by which a caller can tell it from others of its kind. */
interface RefusalFields<Code extends string> {
  readonly code: Code
  readonly message: string
}

/** The change does not fit what there is. */
export class StateConflict extends Data.TaggedError("StateConflict")<
  RefusalFields<
    | "conflict"
    | "free_proxies_off"
    | "IDEMPOTENCY_CONFLICT"
    | "key_revoked"
    | "memory_full"
    | "run_is_over"
    | "suite_read_only"
    | "too_many_runs"
    | "too_many_sign_ins"
  > & {
    /** The input that does not fit. */
    readonly field?: string
    /** Id of the API key that was registered before. */
    readonly keyId?: string
  }
> {}

/** The record is not this gateway's to change. */
export class ReadOnly extends Data.TaggedError("ReadOnly")<RefusalFields<"forbidden">> {}

/** The role of the caller's person does not go so far. */
export class RoleExceeded extends Data.TaggedError("RoleExceeded")<RefusalFields<"role_limits">> {}

/** Fails with a sentence, unless it is null. */
export const refuseRole = (problem: string | null): Effect.Effect<void, RoleExceeded> =>
  problem === null ? Effect.void : new RoleExceeded({ code: "role_limits", message: problem })

/** Error at the limit of keys that are registered for a provider or account. */
export class QuotaReached extends Data.TaggedError("QuotaReached")<
  RefusalFields<"MAX_ACTIVE_KEYS_EXCEEDED" | "PROVIDER_QUOTA_EXCEEDED" | "ACCOUNT_QUOTA_EXCEEDED"> & {
    /** Time in ms until the limit opens by itself; null when it does not. */
    readonly retryAfterMs: number | null
  }
> {}

/** A server that was asked cannot be reached, refuses, or gives what is not as it should be. The sentence holds no secret. */
export class RemoteFailed extends Data.TaggedError("RemoteFailed")<
  RefusalFields<
    "bad_gateway" | "cloud_sync_failed" | "free_proxies_not_listed" | "issue_not_reported" | "sign_in_failed"
  >
> {}

/** Error of what needs settings that are not set; the sentence names them. */
export class NotConfigured extends Data.TaggedError("NotConfigured")<RefusalFields<"issues_not_configured">> {}

/** A backup, restore, export or import could not be done: the disk is full, or the database refuses. The sentence has the remedy. */
export class OperationFailed extends Data.TaggedError("OperationFailed")<RefusalFields<"backup_failed">> {}

/** All that the services of this folder fail with. */
export type ManagementError =
  | EntityNotFound
  | InvalidInput
  | StateConflict
  | ReadOnly
  | RoleExceeded
  | QuotaReached
  | RemoteFailed
  | NotConfigured
  | OperationFailed
  | RestartRefused
  | RestoreRefused
  | SettingsContradict
  | ReadRefused
  | StoreError

/** Error of a name that is neither a provider of the registry nor the prefix of a node. */
export const unknownProvider = (provider: string): InvalidInput =>
  new InvalidInput({
    problems: [{ field: "provider", message: `'${provider}' is neither a known provider nor the prefix of a node` }],
    provider
  })

/** A conflict without a code of its own; `field` is the input that does not fit. */
export const conflict = (message: string, field?: string): StateConflict =>
  new StateConflict({ code: "conflict", message, ...(field === undefined ? {} : { field }) })

/** The name belongs to another one: `a proxy`, `an MCP server`. */
export const nameTaken = (holder: string, name: string): StateConflict =>
  conflict(`There is already ${holder} named '${name}'.`, "name")

/** Error at the limit of records of a kind: `proxies`. */
export const tooMany = (limit: number, plural: string): StateConflict =>
  conflict(`There are ${limit} ${plural} already, the limit. Remove one first.`)

/** One field is wrong. */
export const invalid = (field: string, message: string): InvalidInput =>
  new InvalidInput({ problems: [{ field, message }] })

/** Fails with the problems, if there are any. */
export const refuse = ([first, ...others]: ReadonlyArray<FieldProblem>): Effect.Effect<void, InvalidInput> =>
  first === undefined ? Effect.void : new InvalidInput({ problems: [first, ...others] })

/** Fails with the problem, if there is one. */
export const refuseOne = (problem: FieldProblem | null): Effect.Effect<void, InvalidInput> =>
  problem === null ? Effect.void : invalid(problem.field, problem.message)

/** Names the fields of a refusal as they are called within a member of the body. */
export const within =
  (member: string) =>
  <E>(error: E | InvalidInput): E | InvalidInput => {
    if (!(error instanceof InvalidInput)) return error
    const [first, ...others] = error.problems.map(({ field, message }) => ({ field: `${member}.${field}`, message }))
    return first === undefined ? error : new InvalidInput({ problems: [first, ...others] })
  }
