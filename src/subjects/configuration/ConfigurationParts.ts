/**
 * Changes of the configuration that are one value each and have no endpoints by id: budgets, token limits, facts of models, proxies and what they
 * are assigned to, settings of resilience. A change of one lays a value down, and taking it back lays down the one before.
 */
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { SetBudget, SetTokenLimit } from "../limits/routes.ts"
import { ProviderModelInput } from "../models/routes.ts"
import { AssignProxy, CreateProxy, UpdateProxy } from "../proxies/routes.ts"
import { CreateQuotaGroup, UpdateQuotaGroup } from "../quotaGroups/routes.ts"
import { CreateWebhook, UpdateWebhook } from "../webhooks/routes.ts"
import type { Kind } from "../declared/Plan.ts"
import { ResiliencePatch } from "../resilience/entity.ts"
import { isArray, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"

/** Kinds whose things have endpoints of their own by id. */
export type OwnKind = "node" | "connection" | "combo" | "key" | "mcpServer" | "quotaGroup" | "webhook"
/** Kinds that are one value each. */
export type PartKind = "model" | "budget" | "tokenLimit" | "proxy" | "proxyAssignment" | "resilience"

/** Call of the management. */
export interface PartCall {
  readonly key:
    | "providerModels.list"
    | "providerModels.create"
    | "providerModels.update"
    | "providerModels.remove"
    | "limits.budget"
    | "limits.setBudget"
    | "limits.removeBudget"
    | "limits.tokenLimits"
    | "limits.setTokenLimit"
    | "limits.removeTokenLimit"
    | "proxies.list"
    | "proxies.create"
    | "proxies.update"
    | "proxies.remove"
    | "proxies.assignments"
    | "proxies.assign"
    | "resilience.get"
    | "resilience.update"
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

export type AskPart<E> = (call: PartCall) => Effect.Effect<JsonObject, E>

const textOf = (value: Json | undefined): string => stringOr(value) ?? ""

const found = (answer: JsonObject, member: string, is: (each: JsonObject) => boolean): JsonObject | null =>
  (isArray(answer[member]) ? answer[member].map(objectOr) : []).find(is) ?? null

const picked = (from: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name] ?? null]])))

/** Reader and writer of the value of one kind; `body` has ids in the place of names. Null: there is none. */
interface Part {
  readonly read: <E>(ask: AskPart<E>, body: JsonObject) => Effect.Effect<JsonObject | null, E>
  readonly set: (body: JsonObject, former: JsonObject | null) => PartCall
  /** Null: it cannot be taken away. */
  readonly remove: ((former: JsonObject) => PartCall) | null
}

const budgetMembers = Object.keys(SetBudget.fields)
const limitMembers = Object.keys(SetTokenLimit.fields)
const modelMembers = Object.keys(ProviderModelInput.fields)
const proxyMembers = ["name", "type", "host", "port", "username", "family", "isActive"]

const isSameLimit = (body: JsonObject) => (each: JsonObject) =>
  ["apiKeyId", "scopeType", "resetInterval"].every((name) => each[name] === body[name]) &&
  textOf(each["scopeValue"]) === textOf(body["scopeValue"])

const scopeQuery = ({ scope, scopeId }: JsonObject): JsonObject => ({
  scope: scope ?? null,
  ...(stringOr(scopeId) === null ? {} : { scopeId: textOf(scopeId) })
})

const parts: Readonly<Record<PartKind, Part>> = {
  budget: {
    read: (ask, { apiKeyId }) =>
      Effect.map(ask({ key: "limits.budget", query: { apiKeyId: textOf(apiKeyId) } }), ({ budget }) =>
        budget === null || budget === undefined
          ? null
          : { ...picked(objectOr(budget), budgetMembers), apiKeyId: apiKeyId ?? null }
      ),
    set: (body) => ({ key: "limits.setBudget", body }),
    remove: ({ apiKeyId }) => ({ key: "limits.removeBudget", query: { apiKeyId: textOf(apiKeyId) } })
  },
  tokenLimit: {
    read: (ask, body) =>
      Effect.map(ask({ key: "limits.tokenLimits" }), (answer) => {
        const limit = found(answer, "limits", isSameLimit(body))
        return limit === null ? null : { ...picked(limit, limitMembers), id: limit["id"] ?? null }
      }),
    set: (body) => ({ key: "limits.setTokenLimit", body }),
    remove: ({ id }) => ({ key: "limits.removeTokenLimit", query: { id: textOf(id) } })
  },
  model: {
    read: (ask, { modelId, provider }) =>
      Effect.map(ask({ key: "providerModels.list", query: { provider: textOf(provider) } }), (answer) => {
        const model = found(answer, "models", (each) => each["modelId"] === modelId && each["provider"] === provider)
        return model === null ? null : picked(model, modelMembers)
      }),
    set: (body, former) => ({ key: former === null ? "providerModels.create" : "providerModels.update", body }),
    remove: ({ modelId, provider }) => ({
      key: "providerModels.remove",
      query: { provider: textOf(provider), modelId: textOf(modelId) }
    })
  },
  proxy: {
    read: (ask, { name }) =>
      Effect.map(ask({ key: "proxies.list" }), (answer) => {
        const proxy = found(answer, "proxies", (each) => each["name"] === name)
        return proxy === null ? null : picked(proxy, ["id", ...proxyMembers])
      }),
    set: (body, former) =>
      former === null
        ? { key: "proxies.create", body }
        : { key: "proxies.update", body: { ...body, id: former["id"] ?? null } },
    remove: ({ id }) => ({ key: "proxies.remove", query: { id: textOf(id) } })
  },
  proxyAssignment: {
    read: (ask, body) =>
      Effect.map(ask({ key: "proxies.assignments" }), (answer) => {
        const { scope, scopeId = null } = body
        const assignment = found(
          answer,
          "assignments",
          (each) => each["scope"] === scope && (each["scopeId"] ?? null) === scopeId
        )
        return assignment === null ? null : { ...scopeQuery(assignment), proxyId: assignment["proxyId"] ?? null }
      }),
    set: (body) => ({ key: "proxies.assign", body }),
    remove: (former) => ({ key: "proxies.assign", body: { ...scopeQuery(former), proxyId: null } })
  },
  resilience: {
    read: (ask) => ask({ key: "resilience.get" }),
    set: (body) => ({ key: "resilience.update", body }),
    remove: null
  }
}

export const isPart = (kind: Kind): kind is PartKind => kind in parts

/** Change whose body names its subject: for an update of a proxy and for removals the change itself does. */
export interface PartChange {
  readonly kind: PartKind
  readonly action: "create" | "update" | "remove"
  readonly body: JsonObject
}

/** The value that is there, in the form of a body. */
export const partBefore = <E>(ask: AskPart<E>, { body, kind }: PartChange): Effect.Effect<JsonObject | null, E> =>
  parts[kind].read(ask, body)

/** The call that a change is; null: there is nothing to do. */
export const partCall = ({ action, body, kind }: PartChange, before: JsonObject | null): PartCall | null => {
  const { remove, set } = parts[kind]
  if (action !== "remove") return set(body, before)
  return before === null || remove === null ? null : remove(before)
}

/** Members of a value as they were, those that a change has named; deep down where both are objects. */
const restored = (before: JsonObject, body: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys(body).map((name) => {
      const [then, now] = [before[name] ?? null, body[name] ?? null]
      const isDeep = typeof then === "object" && typeof now === "object" && !isArray(then) && !isArray(now)
      return [name, isDeep && then !== null && now !== null ? restored(then as JsonObject, now as JsonObject) : then]
    })
  )

/** The call that takes a change back; `after`: what is there now. */
export const partUndo = (
  { body, kind }: PartChange,
  before: JsonObject | null,
  after: JsonObject | null
): PartCall | null => {
  const { remove, set } = parts[kind]
  if (before === null) return after === null || remove === null ? null : remove(after)
  if (kind === "resilience") return set(restored(before, body), before)
  const { id: _, ...whole } = before
  return set(whole, after)
}

/** Schemas of the bodies, checked before anything is written. */
const forms: Partial<
  Record<Kind, { readonly create: Schema.Schema.AnyNoContext; readonly update: Schema.Schema.AnyNoContext }>
> = {
  budget: { create: SetBudget, update: SetBudget },
  tokenLimit: { create: SetTokenLimit, update: SetTokenLimit },
  model: { create: ProviderModelInput, update: ProviderModelInput },
  proxy: { create: CreateProxy, update: Schema.Struct({ ...UpdateProxy.fields, id: Schema.optional(Schema.String) }) },
  proxyAssignment: { create: AssignProxy, update: AssignProxy },
  resilience: { create: ResiliencePatch, update: ResiliencePatch },
  quotaGroup: { create: CreateQuotaGroup, update: UpdateQuotaGroup },
  webhook: { create: CreateWebhook, update: UpdateWebhook }
}

/** Kinds that a copy of the configuration has no services for: of these the form is checked there, and the names in them. */
export const isCheckedByForm = (kind: Kind): boolean => forms[kind] !== undefined

/** Describes the problem of a body, as its endpoint would; null: none. */
export const formProblem = (kind: Kind, action: "create" | "update" | "remove", body: JsonObject): string | null => {
  const form = forms[kind]
  if (form === undefined || action === "remove") return null
  const decoded = Schema.decodeUnknownEither(form[action], { errors: "first", onExcessProperty: "error" })(body)
  if (decoded._tag === "Right") return null
  const [first] = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
  return first === undefined ? "It is not right." : `${first.path.map(String).join(".")}: ${first.message}`
}
