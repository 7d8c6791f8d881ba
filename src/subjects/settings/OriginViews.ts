/** Answers what is set, and by whom: all settings, the variables of the start, and the audit log put together. */
import * as Effect from "effect/Effect"
import { isLoopbackHost } from "../../kernel/BindAddress.ts"
import { AppConfig, type AppConfigShape } from "../../platform/AppConfig.ts"
import { defaultsFor, Settings as ResilienceSettings } from "../../plane/resilience/Settings.ts"
import { RoutingSettings } from "../../plane/routing/RoutingSettings.ts"
import type { AuditRow } from "../audit/entity.ts"
import { AuditLog } from "../auth/AuditLog.ts"
import { defaultCompressionSettings } from "../compression/entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { defaultGuardrailSettings } from "../guardrails/entity.ts"
import { defaultApiUrl } from "../issueReports/repo.ts"
import { defaultRouting } from "../routingSettings/entity.ts"
import * as Access from "./entity/AccessSettings.ts"
import { defaultGatewaySettings } from "./entity.ts"
import type { SettingOrigins } from "./routes.ts"
import { type Changed, type Family, originsOf } from "./rules.ts"
import { variables } from "./variables.ts"
import { iso } from "../../entry/handling/Views.ts"

/** Rows of the audit log that are looked through, for each kind of them. */
const mostRows = 500
/** Actions of the audit log that change settings. */
const actions = ["settings.update", "guardrails.set"] as const

/** Settings whose defaults are those of something else. */
const further = {
  cloudUrl: null,
  sharedKey: null,
  issues: { repository: null, apiUrl: defaultApiUrl, token: null }
}

const changedOf = ({ actor, details, resourceType, timestampMs }: AuditRow): Changed => ({
  timestampMs,
  actor,
  resourceType,
  keyName: details.apiKeyName ?? null,
  fields: details.fields ?? []
})

const variablesOf = (config: AppConfigShape): SettingOrigins["variables"] =>
  variables.map(({ description, inForce, name, usual }) => {
    const value = inForce?.(config) ?? null
    const isGiven = config.environment.has(name)
    // An option of the command says the same as the variable.
    const isOption = (name === "HOST" || name === "PORT") && value !== usual
    return {
      name,
      description,
      value,
      defaultValue: usual,
      source: isGiven || isOption ? ("env" as const) : ("default" as const),
      isSecret: inForce === undefined
    }
  })

const makeFamilies = Effect.map(
  Effect.all([GatewaySettings, RoutingSettings, ResilienceSettings, AppConfig]),
  ([gateway, routing, resilience, { maxInFlight }]) => {
    const resilienceDefaults = defaultsFor(maxInFlight)
    const { access } = gateway
    const family = (changedBy: string, audited: string, values: object, defaults: object, depth = 1): Family => ({
      changedBy,
      audited,
      values,
      defaults,
      depth
    })
    return (whole: object): ReadonlyArray<Family> => [
      family("gatewaySettingsUpdate", "gatewaySettings", whole, { ...defaultGatewaySettings, ...further }, 3),
      family("routingSettingsUpdate", "routingSettings", routing.current(), defaultRouting),
      family("resilienceUpdate", "resilience", resilience.current(), resilienceDefaults, 3),
      family("gatewaySettingsSetIpFilter", "gatewaySettings", access.ipFilter.current(), Access.defaultIpFilter),
      family(
        "gatewaySettingsSetThinkingBudget",
        "gatewaySettings",
        access.thinkingBudget.current(),
        Access.defaultThinkingBudget
      ),
      family(
        "gatewaySettingsSetSystemPrompt",
        "gatewaySettings",
        access.systemPrompt.current(),
        Access.defaultSystemPrompt
      ),
      family(
        "gatewaySettingsSetRequireLogin",
        "gatewaySettings",
        access.requireLogin.current(),
        Access.defaultRequireLogin
      ),
      family("guardrailsSet", "guardrails", access.guardrails.current(), defaultGuardrailSettings),
      family("compressionSetSettings", "compression", access.compression.current(), defaultCompressionSettings)
    ]
  }
)

/** Answers what is set; `whole` are the settings of the gateway as `/api/settings` shows them, with secrets masked. */
export const makeOrigins = Effect.map(Effect.all([makeFamilies, AuditLog, AppConfig]), ([families, audit, config]) =>
  Effect.fn("Origins.show")(function* (whole: object) {
    const pages = yield* Effect.forEach(actions, (action) => audit.page({ action, status: "success" }, mostRows, 0))
    const changes = pages.flatMap(({ rows }) => rows.map(changedOf))
    return {
      settings: originsOf(families(whole), changes).map(({ changedBy, isSet, lastChange, name, usual, value }) => ({
        operation: changedBy,
        name,
        value,
        defaultValue: usual,
        source: isSet ? ("db" as const) : ("default" as const),
        changedAt: lastChange === null ? null : iso(lastChange.atMs),
        changedBy: lastChange === null ? null : lastChange.actor
      })),
      variables: variablesOf(config),
      listener: {
        address: config.host,
        port: config.port,
        reach: isLoopbackHost(config.host) ? ("machine" as const) : ("network" as const)
      }
    } satisfies SettingOrigins
  })
)
