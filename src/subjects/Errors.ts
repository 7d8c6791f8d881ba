/**
 * Refusals of the management of the gateway's configuration. The fields are facts, the message is a sentence for people; each caller
 * decides how it is answered.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { FieldProblem } from "../domain/Errors.ts"
import type { IssueLimits, IssueScope } from "./registeredKeys/entity.ts"
import type { RestartRefused } from "../platform/Lifecycle.ts"
import type { SettingsContradict } from "../plane/resilience/Settings.ts"
import type { StoreError } from "../store/Errors.ts"
import type { RestoreRefused } from "../store/restore/Refusal.ts"
import type { ReadRefused } from "../store/engine/ReadWorker.ts"
import { asSentence } from "../kernel/text/Sentence.ts"

/** `field` is the input that named it; `id` where it is left out. `meant`: what may have been meant. */
export class EntityNotFound extends Data.TaggedError("EntityNotFound")<{
  /** Its name in a sentence, such as `quota group`. */
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
}> {
  override get message(): string {
    return this.problems.map(({ field, message }) => `${field}: ${message}`).join("; ")
  }
}

/** Neither a provider of the registry nor the prefix of a node. */
export class UnknownProvider extends Data.TaggedError("UnknownProvider")<{ readonly provider: string }> {
  override get message(): string {
    return `'${this.provider}' is neither a known provider nor the prefix of a node`
  }
}

/** The name, id or prefix given in `field` belongs to something else. */
export class NameTaken extends Data.TaggedError("NameTaken")<{
  readonly field: "id" | "name" | "alias" | "prefix" | "key"
  readonly name: string
  /** Kind of the entity that has the name already, in a sentence. */
  readonly holder: string
}> {
  override get message(): string {
    switch (this.holder) {
      case "combo":
        if (this.field === "alias") return `There is a combo named '${this.name}'.`
        return `There is already a combo ${this.field === "id" ? "with the id" : "named"} '${this.name}'.`
      case "alias":
        return `There is already an alias '${this.name}'.`
      case "MCP server":
        return `There is already an MCP server named '${this.name}'.`
      case "memory":
        return `Another memory of this API key and type has the key '${this.name}'.`
      case "node":
        return `Another node has the prefix '${this.name}'.`
      case "provider":
        return `'${this.name}' is a provider.`
      case "registry":
        return `'${this.name}' is a provider of the registry.`
      default:
        return `There is already a ${this.holder} named '${this.name}'.`
    }
  }
}

/** Combos or aliases would lead nowhere without the combo. */
export class ComboInUse extends Data.TaggedError("ComboInUse")<{
  readonly name: string
  readonly users: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The combo '${this.name}' is used by: ${this.users.join(", ")}.`
  }
}

/** A node's prefix is the provider id of its connections. */
export class PrefixInUse extends Data.TaggedError("PrefixInUse")<{ readonly prefix: string }> {
  override get message(): string {
    return `The prefix '${this.prefix}' has connections and cannot be changed.`
  }
}

/** The node has its one connection already, and the flag that allows several is off. */
export class ConnectionLimitReached extends Data.TaggedError("ConnectionLimitReached")<{ readonly prefix: string }> {
  override get message(): string {
    return `The node '${this.prefix}' already has a connection. Several need the flag ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE.`
  }
}

/** The connection comes from an environment variable, which this gateway cannot change. */
export class ConnectionReadOnly extends Data.TaggedError("ConnectionReadOnly")<{ readonly id: string }> {
  override get message(): string {
    return "This connection comes from the environment and is read-only. Change the variable, or add a connection of your own."
  }
}

/** The upstream did not list its models, and no earlier list is kept. */
export class ModelsNotListed extends Data.TaggedError("ModelsNotListed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Error at the limit of registered MCP servers. */
export class TooManyMcpServers extends Data.TaggedError("TooManyMcpServers")<{ readonly limit: number }> {
  override get message(): string {
    return `There are ${this.limit} MCP servers already, the limit. Remove one first.`
  }
}

/** Error at the limit of webhooks. */
export class TooManyWebhooks extends Data.TaggedError("TooManyWebhooks")<{ readonly limit: number }> {
  override get message(): string {
    return `There are ${this.limit} webhooks already, the limit. Remove one first.`
  }
}

/** Error at the limit of proxies. */
export class TooManyProxies extends Data.TaggedError("TooManyProxies")<{ readonly limit: number }> {
  override get message(): string {
    return `There are ${this.limit} proxies already, the limit. Remove one first.`
  }
}

/** Free proxies are not looked for: the flag is off, or no list of them is named. */
export class FreeProxiesOff extends Data.TaggedError("FreeProxiesOff")<{ readonly reason: "flag" | "sources" }> {
  override get message(): string {
    return this.reason === "flag"
      ? "Free proxies are off: the flag FREE_PROXY_ENABLED is false."
      : "No list of free proxies is named. Name some in proxies.freeSources (PATCH /api/settings)."
  }
}

/** None of the lists of free proxies could be read. */
export class FreeProxiesNotListed extends Data.TaggedError("FreeProxiesNotListed")<{ readonly reason: string }> {
  override get message(): string {
    return `No list of free proxies could be read. ${this.reason}`
  }
}

/** Error at the limit of replaced secrets of a key that still work. */
export class TooManySecrets extends Data.TaggedError("TooManySecrets")<{ readonly most: number }> {
  override get message(): string {
    return `${this.most} earlier secrets of this key still work, the most there may be. Rotate with overlapSeconds 0 to end them, or wait.`
  }
}

/** Error at the limit of keys that are registered for a provider or account. */
export class IssueLimitReached extends Data.TaggedError("IssueLimitReached")<
  IssueScope & {
    readonly limit: keyof IssueLimits
    readonly most: number
    /** Time in ms until the limit opens by itself; null when it does not. */
    readonly retryAfterMs: number | null
  }
> {
  get errorCode(): "MAX_ACTIVE_KEYS_EXCEEDED" | "PROVIDER_QUOTA_EXCEEDED" | "ACCOUNT_QUOTA_EXCEEDED" {
    if (this.limit === "maxActiveKeys") return "MAX_ACTIVE_KEYS_EXCEEDED"
    return this.scope === "provider" ? "PROVIDER_QUOTA_EXCEEDED" : "ACCOUNT_QUOTA_EXCEEDED"
  }
  override get message(): string {
    const whose = `the ${this.scope} '${this.subject}'`
    if (this.most === 0) return `No key is issued for ${whose}: its ${this.limit} is 0.`
    return this.limit === "maxActiveKeys"
      ? `${this.most} keys of ${whose} are active, the most there may be (maxActiveKeys). Revoke one first.`
      : `${this.most} keys were issued for ${whose} within ${this.limit === "dailyIssueLimit" ? "24 hours" : "an hour"}, the most there may be (${this.limit}).`
  }
}

/** A key was registered with this idempotency key before. */
export class IdempotencyConflict extends Data.TaggedError("IdempotencyConflict")<{ readonly keyId: string }> {
  override get message(): string {
    return `The key '${this.keyId}' was registered with this idempotencyKey; its secret cannot be shown again. Use that key, or revoke it and register with another idempotencyKey.`
  }
}

/** A registered key that was revoked cannot be made active again. */
export class KeyRevoked extends Data.TaggedError("KeyRevoked")<{ readonly id: string }> {
  override get message(): string {
    return `The key '${this.id}' was revoked, which is for good. Register another one.`
  }
}

/** Reports have nowhere to go. */
export class TrackerNotConfigured extends Data.TaggedError("TrackerNotConfigured")<{
  readonly missing: ReadonlyArray<string>
}> {
  override get message(): string {
    return `Reports need the settings issues.repository and issues.token (PATCH /api/settings); missing: ${this.missing.join(", ")}.`
  }
}

/** The tracker did not take a report. `reason` says what can be done, and holds no secret. */
export class IssueNotReported extends Data.TaggedError("IssueNotReported")<{ readonly reason: string }> {
  override get message(): string {
    return `The issue was not reported: ${this.reason}`
  }
}

/** A backup, restore, export or import could not be done: the disk is full, or the database refuses. `message` has the remedy. */
export class BackupFailed extends Data.TaggedError("BackupFailed")<{ readonly message: string }> {}

/** The server of the cloud sync cannot be reached, refuses, or gives what is not signed. Nothing was taken from it. */
export class CloudSyncFailed extends Data.TaggedError("CloudSyncFailed")<{ readonly reason: string }> {
  override get message(): string {
    return `The configuration was not synchronised: ${asSentence(this.reason)}`
  }
}

/** The provider did not give tokens. `reason` holds no secret. */
export class SignInFailed extends Data.TaggedError("SignInFailed")<{ readonly reason: string }> {
  override get message(): string {
    return `The sign-in failed: ${asSentence(this.reason)} Begin it again.`
  }
}

/** Error at the limit of sign-ins that were begun and not finished. */
export class TooManySignIns extends Data.TaggedError("TooManySignIns") {
  override get message(): string {
    return "Too many sign-ins are pending; finish or cancel one, or wait ten minutes."
  }
}

/** Error at the limit of running evaluations. */
export class TooManyRuns extends Data.TaggedError("TooManyRuns")<{ readonly limit: number }> {
  override get message(): string {
    return `At most ${this.limit} evaluations run at once. Wait for one, or cancel it.`
  }
}

/** Error at the limit of added suites of evaluations. */
export class TooManySuites extends Data.TaggedError("TooManySuites")<{ readonly limit: number }> {
  override get message(): string {
    return `There are ${this.limit} suites already, the limit. Remove one first.`
  }
}

/** An API key has as many memories, or bytes of them, as it may. */
export class MemoryIsFull extends Data.TaggedError("MemoryIsFull")<{ readonly most: number }> {
  override get message(): string {
    return `The memory of this API key is full: ${this.most} entries, or 2 MiB. Remove some first.`
  }
}

/** The suite is one of the program's own. */
export class SuiteReadOnly extends Data.TaggedError("SuiteReadOnly")<{ readonly id: string }> {
  override get message(): string {
    return `The suite '${this.id}' is built in and cannot be changed. Make one of your own with its cases.`
  }
}

/** Error of cancelling an evaluation that does not run. */
export class RunIsOver extends Data.TaggedError("RunIsOver")<{ readonly id: string; readonly status: string }> {
  override get message(): string {
    return `The run '${this.id}' is over: ${this.status}.`
  }
}

/** All that the services of this folder fail with. */
export type ManagementError =
  | BackupFailed
  | CloudSyncFailed
  | SignInFailed
  | TooManySignIns
  | RestartRefused
  | RestoreRefused
  | EntityNotFound
  | InvalidInput
  | UnknownProvider
  | NameTaken
  | ComboInUse
  | PrefixInUse
  | ConnectionLimitReached
  | ConnectionReadOnly
  | ModelsNotListed
  | TooManyMcpServers
  | TooManyWebhooks
  | TooManyProxies
  | FreeProxiesOff
  | FreeProxiesNotListed
  | TooManySecrets
  | IssueLimitReached
  | IdempotencyConflict
  | KeyRevoked
  | TrackerNotConfigured
  | IssueNotReported
  | TooManyRuns
  | TooManySuites
  | MemoryIsFull
  | SuiteReadOnly
  | RunIsOver
  | SettingsContradict
  | ReadRefused
  | StoreError

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
