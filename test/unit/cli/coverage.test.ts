/** Every management route is reached by a command, or stands here with the reason why not. */
import { assert, it } from "@effect/vitest"
import { type ManagementKey, managementTable } from "../../../src/api/ManagementRoutes.ts"
import { program } from "../../../src/cli/program.ts"
import { find } from "../../../src/cli/tree/Tree.ts"

const commands: Readonly<Partial<Record<ManagementKey, string>>> = {
  "auth.login": "login",
  "auth.logout": "flags list",
  "auth.setPassword": "reset-password",
  "providers.list": "provider list",
  "providers.create": "provider add",
  "providers.validate": "provider add",
  "providers.get": "provider show",
  "providers.update": "provider edit",
  "providers.remove": "provider remove",
  "providers.test": "provider test",
  "providers.models": "provider add",
  "providerNodes.list": "provider nodes list",
  "providerNodes.create": "provider add",
  "providerNodes.get": "provider nodes show",
  "providerNodes.update": "provider nodes edit",
  "providerNodes.remove": "provider nodes remove",
  "providerModels.list": "model declared",
  "providerModels.create": "model declare",
  "providerModels.update": "model declare",
  "providerModels.remove": "model undeclare",
  "combos.list": "combo list",
  "combos.create": "combo create",
  "combos.auto": "combo auto",
  "combos.get": "combo show",
  "combos.update": "combo edit",
  "combos.remove": "combo delete",
  "modelAliases.list": "model alias list",
  "modelAliases.set": "model alias add",
  "modelAliases.remove": "model alias remove",
  "quotaGroups.list": "quota groups list",
  "quotaGroups.create": "quota groups add",
  "quotaGroups.get": "quota groups show",
  "quotaGroups.update": "quota groups edit",
  "quotaGroups.remove": "quota groups remove",
  "keys.list": "key list",
  "keys.create": "key add",
  "keys.get": "key show",
  "keys.update": "key edit",
  "keys.remove": "key remove",
  "pricing.get": "model pricing list",
  "pricing.update": "model pricing set",
  "limits.budget": "budget list",
  "limits.setBudget": "budget set",
  "limits.removeBudget": "budget remove",
  "limits.tokenLimits": "budget tokens list",
  "limits.setTokenLimit": "budget tokens set",
  "limits.removeTokenLimit": "budget tokens remove",
  "limits.ledger": "budget ledger",
  "usage.logs": "logs",
  "usage.connection": "provider show",
  "usageHistory.analytics": "usage show",
  "usageHistory.purge": "usage purge",
  "telemetry.summary": "telemetry",
  "telemetry.sessions": "sessions",
  "telemetry.caches": "cache show",
  "telemetry.clearCaches": "cache clear",
  "routing.explain": "route explain",
  "routing.simulate": "route simulate",
  "routing.replay": "route replay",
  "routing.decision": "route decision",
  "routingSettings.get": "route settings show",
  "routingSettings.update": "route settings set",
  "resilience.get": "resilience settings show",
  "resilience.update": "resilience settings set",
  "resilience.breakers": "resilience status",
  "resilience.reset": "resilience reset",
  "resilience.clearModelCooldowns": "resilience clear",
  "resilience.clearCooldowns": "resilience clear",
  "rateLimits.status": "resilience cooldowns",
  "system.ping": "status",
  "system.health": "health",
  "flags.list": "settings flags list",
  "flags.set": "settings flags set",
  "flags.clear": "settings flags unset",
  "backups.list": "backup",
  "backups.create": "backup",
  "backups.restore": "restore",
  "gatewaySettings.get": "settings show",
  "gatewaySettings.update": "settings set"
}

const reasons: Readonly<Partial<Record<ManagementKey, string>>> = {
  "limits.me": "for holders of a key, who see the same by budget show",
  "usage.requestLogs": "the same list as usage.logs",
  "usageHistory.history": "for programs: usageHistory.analytics has its sums",
  "usageHistory.export": "a file for programs; 'logs -o csv' writes one too",
  "resilience.modelCooldowns": "rateLimits.status has the locked models, too",
  "rateLimits.settings": "a part of resilience.get",
  "backups.export": "a download; on the gateway's machine the backup is a file already",
  "backups.import": "an upload; on the gateway's machine a file goes into the folder of backups and is restored",
  "backups.exportAll": "a download",
  "system.init": "for pages, before a sign-in",
  "system.shutdown": "on the gateway's machine a signal does it, or the service manager",
  "system.restart": "as system.shutdown",
  "system.envRepair": "'env set' writes the file",
  "system.openapi": "a document for programs",
  "system.docs": "a page for browsers",
  "system.docsFile": "a part of that page",
  "gatewaySettings.put": "the same as gatewaySettings.update"
}

it("reaches every management route by a command, or says why not", () => {
  for (const key of Object.keys(managementTable) as ReadonlyArray<ManagementKey>) {
    const command = commands[key]
    assert.isTrue((command === undefined) !== (reasons[key] === undefined), `${key} needs a command or a reason`)
    if (command === undefined) continue
    const { node, rest } = find(program, command.split(" "))
    assert.deepStrictEqual([node.kind, rest], ["command", []], `${key}: ${command}`)
  }
})
