/** The groups of settings: of the gateway, of resilience, of routing. */
import * as Effect from "effect/Effect"
import * as Access from "../entity/AccessSettings.ts"
import { GatewaySettings, GatewaySettingsPatch } from "../entity.ts"
import { ResiliencePatch, ResilienceSettings } from "../../resilience/entity.ts"
import { RoutingPatch, RoutingSettings } from "../../routingSettings/entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { setSettings, type SettingsGroup, showSettings } from "./commands.ts"

const gatewayAt = (to: Client.Target) => Client.group(to, "gatewaySettings")
const gateway: SettingsGroup<
  typeof GatewaySettings.Type,
  typeof GatewaySettings.Encoded,
  typeof GatewaySettingsPatch.Type,
  typeof GatewaySettingsPatch.Encoded
> = {
  show: "settings show",
  schema: GatewaySettings,
  patch: GatewaySettingsPatch,
  read: (to) => Effect.flatMap(gatewayAt(to), (client) => client.get().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(gatewayAt(to), (client) => client.update({ payload }).pipe(Client.orExplain(to)))
}

const ipFilter: SettingsGroup<
  typeof Access.IpFilter.Type,
  typeof Access.IpFilter.Encoded,
  typeof Access.IpFilterPatch.Type,
  typeof Access.IpFilterPatch.Encoded
> = {
  show: "settings ip-filter show",
  schema: Access.IpFilter,
  patch: Access.IpFilterPatch,
  read: (to) => Effect.flatMap(gatewayAt(to), (client) => client.ipFilter().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(gatewayAt(to), (client) => client.setIpFilter({ payload }).pipe(Client.orExplain(to)))
}

const thinkingBudget: SettingsGroup<
  typeof Access.ThinkingBudget.Type,
  typeof Access.ThinkingBudget.Encoded,
  typeof Access.ThinkingBudgetPatch.Type,
  typeof Access.ThinkingBudgetPatch.Encoded
> = {
  show: "settings thinking-budget show",
  schema: Access.ThinkingBudget,
  patch: Access.ThinkingBudgetPatch,
  read: (to) => Effect.flatMap(gatewayAt(to), (client) => client.thinkingBudget().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(gatewayAt(to), (client) => client.setThinkingBudget({ payload }).pipe(Client.orExplain(to)))
}

const systemPrompt: SettingsGroup<
  typeof Access.SystemPrompt.Type,
  typeof Access.SystemPrompt.Encoded,
  typeof Access.SystemPromptPatch.Type,
  typeof Access.SystemPromptPatch.Encoded
> = {
  show: "settings system-prompt show",
  schema: Access.SystemPrompt,
  patch: Access.SystemPromptPatch,
  read: (to) => Effect.flatMap(gatewayAt(to), (client) => client.systemPrompt().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(gatewayAt(to), (client) => client.setSystemPrompt({ payload }).pipe(Client.orExplain(to)))
}

const resilienceAt = (to: Client.Target) => Client.group(to, "resilience")
const resilience: SettingsGroup<
  typeof ResilienceSettings.Type,
  typeof ResilienceSettings.Encoded,
  typeof ResiliencePatch.Type,
  typeof ResiliencePatch.Encoded
> = {
  show: "resilience settings show",
  schema: ResilienceSettings,
  patch: ResiliencePatch,
  read: (to) => Effect.flatMap(resilienceAt(to), (client) => client.get().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(resilienceAt(to), (client) => client.update({ payload }).pipe(Client.orExplain(to)))
}

const routingAt = (to: Client.Target) => Client.group(to, "routingSettings")
const routing: SettingsGroup<
  typeof RoutingSettings.Type,
  typeof RoutingSettings.Encoded,
  typeof RoutingPatch.Type,
  typeof RoutingPatch.Encoded
> = {
  show: "route settings show",
  schema: RoutingSettings,
  patch: RoutingPatch,
  read: (to) => Effect.flatMap(routingAt(to), (client) => client.get().pipe(Client.orExplain(to))),
  write: (to, payload) =>
    Effect.flatMap(routingAt(to), (client) => client.update({ payload }).pipe(Client.orExplain(to)))
}

export const gatewayShow = showSettings(gateway)
export const gatewaySet = setSettings(gateway)
export const resilienceShow = showSettings(resilience)
export const resilienceSet = setSettings(resilience)
export const routingShow = showSettings(routing)
export const routingSet = setSettings(routing)
export const ipFilterShow = showSettings(ipFilter)
export const ipFilterSet = setSettings(ipFilter)
export const thinkingBudgetShow = showSettings(thinkingBudget)
export const thinkingBudgetSet = setSettings(thinkingBudget)
export const systemPromptShow = showSettings(systemPrompt)
export const systemPromptSet = setSettings(systemPrompt)
