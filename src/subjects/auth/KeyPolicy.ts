/**
 * Decides what an API key may be used for; the only place that does: `problemOf` before a request is read (`Gate`), `ModelRules` once its
 * model is known (`plane/routing/resolve/KeyModels`). Pure. The order of refusals: inactive, owner, expired, schedule, address, endpoint, combo, model,
 * connection.
 */
import type { ApiKey, ApiKeySettings, EndpointCategory } from "../keys/entity.ts"
import { anyWildcard } from "../../kernel/text/Wildcards.ts"
import { makeSchedule } from "./AccessSchedule.ts"
import { makeIpRanges } from "../../kernel/IpRanges.ts"

/** Reason for which a known key cannot be used for a request, before anything is known of its model. */
export type KeyProblem = "expired" | "inactive" | "schedule" | "ip" | "endpoint" | "owner"

/** Address and purpose of a key's use. */
export interface KeyUse {
  /** Peer address of the socket; null when it is gone. */
  readonly socketAddress: string | null
  /** Null: the route is not one of inference. */
  readonly category: EndpointCategory | null
}

/** Rules for the models, combos, providers and connections that a key may use; each null where it may use all. */
export interface ModelRules {
  readonly blocks: ((text: string) => boolean) | null
  /** Models of the key's teams, each of which has a list; a target is judged by it, also within combos and `auto`. */
  readonly isOfTeams: ((id: string, model: string) => boolean) | null
  readonly allowsCombo: ((name: string) => boolean) | null
  readonly allowsProvider: ((id: string) => boolean) | null
  readonly allowsConnection: ((id: string) => boolean) | null
}

/** The settings of a key, ready to be asked. */
interface Entry {
  readonly isOpen: ((nowMs: number) => boolean) | null
  readonly isFrom: ((socketAddress: string) => boolean) | null
  readonly endpoints: ReadonlySet<EndpointCategory> | null
}

interface KeyPolicy {
  /** Null: nothing to check. */
  readonly entry: Entry | null
  readonly models: ModelRules | null
}

const some = <A, B>(list: ReadonlyArray<A>, make: (list: ReadonlyArray<A>) => B): B | null =>
  list.length === 0 ? null : make(list)

const among = (list: ReadonlyArray<string>): ((id: string) => boolean) => {
  const ids = new Set(list)
  return (id) => ids.has(id)
}

const never = (): boolean => false

/** A stored zone that this machine's `Intl` does not know keeps the key closed. */
const scheduleOf = ({ accessSchedule }: ApiKeySettings): Entry["isOpen"] => {
  if (accessSchedule === null) return null
  try {
    const isOpen = makeSchedule(accessSchedule)
    isOpen?.(0)
    return isOpen
  } catch {
    return never
  }
}

type PolicyKey = ApiKeySettings & Pick<ApiKey, "owners">

const ofTeams = (lists: ReadonlyArray<ReadonlyArray<string>>): ((id: string, model: string) => boolean) => {
  const tests = lists.map((list) => anyWildcard(list))
  return (id, model) => tests.every((test) => test(id) || test(model))
}

const compile = (key: PolicyKey): KeyPolicy => {
  const entry: Entry = {
    isOpen: scheduleOf(key),
    isFrom: some(key.ipAllowlist, makeIpRanges),
    endpoints: some(key.allowedEndpoints, (list) => new Set(list))
  }
  const models: ModelRules = {
    blocks: some(key.blockedModels, anyWildcard),
    isOfTeams: some(key.owners?.models ?? [], ofTeams),
    allowsCombo: some(key.allowedCombos, anyWildcard),
    allowsProvider: some(key.allowedProviders, among),
    allowsConnection: some(key.allowedConnections, among)
  }
  const hasEntry = entry.isOpen !== null || entry.isFrom !== null || entry.endpoints !== null
  const hasModels = Object.values(models).some((rule) => rule !== null)
  return { entry: hasEntry ? entry : null, models: hasModels ? models : null }
}

/** Compiled once for each state of a key: a changed key is another object. */
const policies = new WeakMap<ApiKeySettings, KeyPolicy>()
const policyOf = (key: PolicyKey): KeyPolicy => {
  const known = policies.get(key)
  if (known !== undefined) return known
  const made = compile(key)
  policies.set(key, made)
  return made
}

/** Hot: the rules about models; null where there are none. The same object as long as the key is the same. */
export const modelRulesOf = (key: PolicyKey): ModelRules | null => policyOf(key).models

/** Hot: checks whether a key may use some models only, so that a request with it must not name others anywhere. */
export const isTiedToModels = (key: PolicyKey): boolean => {
  if (key.allowedModels !== null) return true
  const rules = modelRulesOf(key)
  return rules !== null && (rules.blocks !== null || rules.isOfTeams !== null)
}

/** Returns the reason for which a known key cannot be used for anything now. */
export const stateProblemOf = (
  { expiresAtMs, isActive, owners }: Pick<ApiKey, "expiresAtMs" | "isActive" | "owners">,
  nowMs: number
): "expired" | "inactive" | "owner" | null => {
  if (!isActive) return "inactive"
  if (owners !== undefined && !owners.mayUse) return "owner"
  return expiresAtMs !== null && expiresAtMs <= nowMs ? "expired" : null
}

const entryProblemOf = ({ endpoints, isFrom, isOpen }: Entry, nowMs: number, use: KeyUse): KeyProblem | null => {
  if (isOpen !== null && !isOpen(nowMs)) return "schedule"
  if (isFrom !== null && (use.socketAddress === null || !isFrom(use.socketAddress))) return "ip"
  return endpoints === null || use.category === null || endpoints.has(use.category) ? null : "endpoint"
}

/** Hot: returns the reason for which a known key cannot be used for a request. */
export const problemOf = (key: ApiKey, nowMs: number, use: KeyUse): KeyProblem | null => {
  const problem = stateProblemOf(key, nowMs)
  if (problem !== null) return problem
  const { entry } = policyOf(key)
  return entry === null ? null : entryProblemOf(entry, nowMs, use)
}

/** Gives the reason why the gateway itself cannot make a request in the name of a key. It comes from no address, so `ipAllowlist` says nothing of it. */
export type InnerProblem = Exclude<KeyProblem, "ip">

/** Null: it can. */
export const innerProblemOf = (key: ApiKey, nowMs: number, category: EndpointCategory): InnerProblem | null => {
  const state = stateProblemOf(key, nowMs)
  if (state !== null) return state
  const { entry } = policyOf(key)
  if (entry === null) return null
  const problem = entryProblemOf({ ...entry, isFrom: null }, nowMs, { socketAddress: null, category })
  return problem === "ip" ? null : problem
}

/** The same as a sentence. */
export const innerRefusalOf = (key: ApiKey, nowMs: number, category: EndpointCategory): string | null => {
  switch (innerProblemOf(key, nowMs, category)) {
    case null:
      return null
    case "inactive":
      return `The API key '${key.name}' is inactive.`
    case "owner":
      return `The person or team of the API key '${key.name}' may not use it now.`
    case "expired":
      return `The API key '${key.name}' is expired.`
    case "schedule":
      return `The API key '${key.name}' may not be used at this time.`
    case "endpoint":
      return `The API key '${key.name}' may not be used for ${category}.`
  }
}

const tests = new WeakMap<ReadonlyArray<string>, (text: string) => boolean>()
const testOf = (patterns: ReadonlyArray<string>): ((text: string) => boolean) => {
  const known = tests.get(patterns)
  if (known !== undefined) return known
  const made = anyWildcard(patterns)
  tests.set(patterns, made)
  return made
}

/** Checks whether `allowedModels` has a model. A pattern is a model id, `*` in it any text. */
export const allowsModel = ({ allowedModels }: Pick<ApiKeySettings, "allowedModels">, model: string): boolean =>
  allowedModels === null || allowedModels.length === 0 || testOf(allowedModels)(model)
