/** Calls of the repositories of the configuration, drawn for histories. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { healthy } from "../../../src/subjects/connections/entity.ts"
import { AliasRepo } from "../../../src/subjects/aliases/repo.ts"
import { SessionRepo } from "../../../src/subjects/auth/repo.ts"
import { ComboRepo } from "../../../src/subjects/combos/repo.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { LimitRepo } from "../../../src/subjects/limits/repo.ts"
import { loginStates, loginWays } from "../../../src/subjects/logins/entity.ts"
import { LoginRepo } from "../../../src/subjects/logins/repo.ts"
import { ProviderModelRepo } from "../../../src/subjects/models/repo.ts"
import { NodeRepo } from "../../../src/subjects/nodes/repo.ts"
import { ProxyRepo } from "../../../src/subjects/proxies/repo.ts"
import { QuotaGroupRepo } from "../../../src/subjects/quotaGroups/repo.ts"
import { RegisteredKeyRepo } from "../../../src/subjects/registeredKeys/repo.ts"
import { SettingsRepo } from "../../../src/subjects/settings/repo.ts"
import { BreakerRepo } from "../../../src/subjects/resilience/repo.ts"
import { apiKey, bareConnection, combo, connection, node } from "../../unit/store/fixtures.ts"
import type { Dice, Step } from "./Histories.ts"

type Maker = (dice: Dice) => Step

const ids = ["id-1", "id-2", "id-3", "ID-1", "ä"]
const idOf = (dice: Dice): string => dice.of(ids)
const timeOf = (dice: Dice): number => 1_700_000_000_000 + dice.below(5) * 1_000

const jsonOf = (dice: Dice): unknown =>
  dice.of<unknown>([
    null,
    true,
    0,
    -1.5,
    1e20,
    dice.text(),
    [dice.text(), null],
    { [dice.text()]: dice.text(), n: 2 ** 53 - 1 }
  ])

const settings: Maker = (dice) => {
  const [namespace, key] = [dice.of(["gateway", "routing", "ä"]), dice.text()]
  const value = jsonOf(dice)
  const values = new Map<string, unknown>([
    [key, value],
    ["__proto__", 1],
    [dice.text(), jsonOf(dice)]
  ])
  return dice.of<Step>([
    { name: "settings.set", run: Effect.flatMap(SettingsRepo, (repo) => repo.set(namespace, key, value)) },
    {
      name: "settings.setAll",
      run: Effect.flatMap(SettingsRepo, (repo) => repo.setAll(namespace, values))
    },
    { name: "settings.get", run: Effect.flatMap(SettingsRepo, (repo) => repo.get(namespace, key)) },
    { name: "settings.list", run: Effect.flatMap(SettingsRepo, (repo) => repo.list(namespace)) },
    { name: "settings.remove", run: Effect.flatMap(SettingsRepo, (repo) => repo.remove(namespace, key)) },
    { name: "settings.clear", run: Effect.flatMap(SettingsRepo, (repo) => repo.clear(namespace)) }
  ])
}

const keyOf = (dice: Dice) => ({
  ...apiKey,
  id: idOf(dice),
  name: dice.text(),
  hash: dice.of(["h1", "h2", "h3", "h4"]),
  allowedModels: dice.orNull([dice.text()]),
  expiresAtMs: dice.orNull(timeOf(dice)),
  accessSchedule: dice.orNull(apiKey.accessSchedule),
  noLog: dice.chance(0.5),
  createdAtMs: timeOf(dice)
})

const keys: Maker = (dice) => {
  const [key, id] = [keyOf(dice), idOf(dice)]
  const times = new Map([
    [idOf(dice), timeOf(dice)],
    [idOf(dice), timeOf(dice)],
    ["nobody", 1]
  ])
  return dice.of<Step>([
    { name: "keys.insert", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.insert(key)) },
    { name: "keys.update", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.update(key)) },
    { name: "keys.get", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.get(id)) },
    { name: "keys.byHash", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.byHash(key.hash)) },
    { name: "keys.touchLastUsed", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.touchLastUsed(times)) },
    { name: "keys.list", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.list) },
    { name: "keys.remove", run: Effect.flatMap(ApiKeyRepo, (repo) => repo.remove(id)) }
  ])
}

const connections: Maker = (dice) => {
  const record = {
    ...dice.of([connection, bareConnection]),
    id: idOf(dice),
    name: dice.text(),
    apiKey: dice.orNull(Redacted.make(dice.text())),
    maxConcurrent: dice.orNull(dice.below(9)),
    createdAtMs: timeOf(dice)
  }
  const health = { ...healthy, lastError: dice.orNull(dice.text()), rateLimitedUntilMs: dice.orNull(12.7) }
  return dice.of<Step>([
    { name: "connections.insert", run: Effect.flatMap(ConnectionRepo, (repo) => repo.insert(record)) },
    { name: "connections.update", run: Effect.flatMap(ConnectionRepo, (repo) => repo.update(record)) },
    {
      name: "connections.updateHealth",
      run: Effect.flatMap(ConnectionRepo, (repo) => repo.updateHealth(record.id, health))
    },
    { name: "connections.get", run: Effect.flatMap(ConnectionRepo, (repo) => repo.get(record.id)) },
    { name: "connections.list", run: Effect.flatMap(ConnectionRepo, (repo) => repo.list) },
    { name: "connections.remove", run: Effect.flatMap(ConnectionRepo, (repo) => repo.remove(record.id)) }
  ])
}

const nodes: Maker = (dice) => {
  const record = {
    ...node,
    id: idOf(dice),
    prefix: dice.text(),
    headers: dice.orNull(node.headers),
    createdAtMs: timeOf(dice)
  }
  return dice.of<Step>([
    { name: "nodes.insert", run: Effect.flatMap(NodeRepo, (repo) => repo.insert(record)) },
    { name: "nodes.update", run: Effect.flatMap(NodeRepo, (repo) => repo.update(record)) },
    { name: "nodes.list", run: Effect.flatMap(NodeRepo, (repo) => repo.list) },
    { name: "nodes.remove", run: Effect.flatMap(NodeRepo, (repo) => repo.remove(record.id)) }
  ])
}

const combos: Maker = (dice) => {
  const record = { ...combo, id: idOf(dice), name: dice.text(), isActive: dice.chance(0.5) }
  const alias = { alias: dice.text(), model: dice.text() }
  return dice.of<Step>([
    { name: "combos.insert", run: Effect.flatMap(ComboRepo, (repo) => repo.insert(record)) },
    { name: "combos.update", run: Effect.flatMap(ComboRepo, (repo) => repo.update(record)) },
    { name: "combos.list", run: Effect.flatMap(ComboRepo, (repo) => repo.list) },
    { name: "combos.remove", run: Effect.flatMap(ComboRepo, (repo) => repo.remove(record.id)) },
    { name: "aliases.set", run: Effect.flatMap(AliasRepo, (repo) => repo.set(alias)) },
    { name: "aliases.list", run: Effect.flatMap(AliasRepo, (repo) => repo.list) },
    { name: "aliases.remove", run: Effect.flatMap(AliasRepo, (repo) => repo.remove(alias.alias)) }
  ])
}

const models: Maker = (dice) => {
  const model = {
    provider: dice.of(["openai", "Openai", "groq"]),
    modelId: dice.text(),
    name: dice.orNull(dice.text()),
    contextLength: dice.orNull(2 ** 40),
    maxOutputTokens: null,
    capabilities: {},
    hidden: dice.chance(0.5)
  }
  return dice.of<Step>([
    { name: "models.insert", run: Effect.flatMap(ProviderModelRepo, (repo) => repo.insert(model)) },
    { name: "models.update", run: Effect.flatMap(ProviderModelRepo, (repo) => repo.update(model)) },
    { name: "models.get", run: Effect.flatMap(ProviderModelRepo, (repo) => repo.get(model.provider, model.modelId)) },
    { name: "models.list", run: Effect.flatMap(ProviderModelRepo, (repo) => repo.list) },
    {
      name: "models.remove",
      run: Effect.flatMap(ProviderModelRepo, (repo) => repo.remove(model.provider, model.modelId))
    }
  ])
}

const groups: Maker = (dice) => {
  const group = {
    id: idOf(dice),
    name: dice.text(),
    members: [idOf(dice), idOf(dice)].map((connectionId) => ({ connectionId, weight: 1 + dice.below(4) / 2 })),
    allocations: dice.chance(0.3) ? [] : [{ apiKeyId: idOf(dice), weight: 3 }],
    restricted: dice.chance(0.5),
    createdAtMs: timeOf(dice),
    updatedAtMs: timeOf(dice)
  }
  const id = idOf(dice)
  return dice.of<Step>([
    { name: "groups.insert", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.insert(group)) },
    { name: "groups.update", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.update(group)) },
    { name: "groups.dropConnection", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.dropConnection(id)) },
    { name: "groups.dropApiKey", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.dropApiKey(id)) },
    { name: "groups.list", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.list) },
    { name: "groups.remove", run: Effect.flatMap(QuotaGroupRepo, (repo) => repo.remove(id)) }
  ])
}

const limits: Maker = (dice) => {
  const shared = {
    apiKeyId: idOf(dice),
    resetInterval: dice.of(["daily", "weekly", "monthly"] as const),
    resetTime: "00:00",
    timeZone: "UTC",
    createdAtMs: timeOf(dice),
    updatedAtMs: timeOf(dice)
  }
  const budget = {
    ...shared,
    dailyLimitNanoUsd: dice.below(1e9) * 1e6,
    weeklyLimitNanoUsd: 0,
    monthlyLimitNanoUsd: Number.MAX_SAFE_INTEGER,
    warningThreshold: dice.of([0, 0.8, 1 / 3])
  }
  const limit = {
    ...shared,
    id: idOf(dice),
    scopeType: dice.of(["model", "provider", "global"] as const),
    scopeValue: dice.of(["", "openai", "openai/gpt"]),
    tokenLimit: dice.below(1e6),
    enabled: dice.chance(0.5)
  }
  const notice = {
    limitId: idOf(dice),
    windowStartMs: dice.below(4),
    threshold: dice.of(["warning", "limit"] as const)
  }
  return dice.of<Step>([
    { name: "limits.putBudget", run: Effect.flatMap(LimitRepo, (repo) => repo.putBudget(budget)) },
    { name: "limits.removeBudget", run: Effect.flatMap(LimitRepo, (repo) => repo.removeBudget(budget.apiKeyId)) },
    { name: "limits.budgets", run: Effect.flatMap(LimitRepo, (repo) => repo.budgets) },
    { name: "limits.insertTokenLimit", run: Effect.flatMap(LimitRepo, (repo) => repo.insertTokenLimit(limit)) },
    { name: "limits.updateTokenLimit", run: Effect.flatMap(LimitRepo, (repo) => repo.updateTokenLimit(limit)) },
    { name: "limits.removeKey", run: Effect.flatMap(LimitRepo, (repo) => repo.removeKey(limit.apiKeyId)) },
    { name: "limits.tokenLimits", run: Effect.flatMap(LimitRepo, (repo) => repo.tokenLimits) },
    { name: "limits.putNotice", run: Effect.flatMap(LimitRepo, (repo) => repo.putNotice(notice)) },
    { name: "limits.notices", run: Effect.flatMap(LimitRepo, (repo) => repo.notices) }
  ])
}

const others: Maker = (dice) => {
  const session = {
    idHash: idOf(dice),
    createdAtMs: dice.below(1e6),
    lastSeenAtMs: timeOf(dice),
    expiresAtMs: timeOf(dice),
    via: "password" as const,
    address: dice.text(),
    userAgent: dice.text(),
    userId: dice.orNull(idOf(dice)),
    issuerId: dice.orNull(idOf(dice))
  }
  const breaker = {
    provider: dice.text(),
    phase: "OPEN" as const,
    failures: dice.below(9),
    openedAtMs: dice.orNull(timeOf(dice)),
    failedProbes: 0
  }
  const scope = { scope: dice.of(["provider", "account"] as const), subject: idOf(dice) }
  const registration = {
    keyId: idOf(dice),
    provider: idOf(dice),
    accountId: dice.orNull(idOf(dice)),
    idempotencyHash: dice.orNull(dice.text()),
    issuedAtMs: timeOf(dice),
    revokedAtMs: null
  }
  const now = timeOf(dice)
  const proxyId = dice.orNull("p1")
  return dice.of<Step>([
    { name: "sessions.insert", run: Effect.flatMap(SessionRepo, (repo) => repo.insert(session)) },
    { name: "sessions.update", run: Effect.flatMap(SessionRepo, (repo) => repo.update(session)) },
    { name: "sessions.removeExpired", run: Effect.flatMap(SessionRepo, (repo) => repo.removeExpired(now)) },
    { name: "sessions.get", run: Effect.flatMap(SessionRepo, (repo) => repo.get(session.idHash)) },
    { name: "breakers.save", run: Effect.flatMap(BreakerRepo, (repo) => repo.save(breaker)) },
    { name: "breakers.list", run: Effect.flatMap(BreakerRepo, (repo) => repo.list) },
    { name: "breakers.remove", run: Effect.flatMap(BreakerRepo, (repo) => repo.remove(breaker.provider)) },
    {
      name: "proxies.assign",
      run: Effect.flatMap(ProxyRepo, (repo) => repo.assign("provider", registration.provider, proxyId))
    },
    { name: "proxies.assignments", run: Effect.flatMap(ProxyRepo, (repo) => repo.assignments) },
    {
      name: "registered.insert",
      // Ids are made by the gateway, so that one which is there already is a defect to it.
      run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.insert(registration)).pipe(
        Effect.catchAllDefect((defect) =>
          Predicate.isTagged(defect, "AlreadyStored") ? Effect.succeed("is there") : Effect.die(defect)
        )
      )
    },
    { name: "registered.list", run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.list) },
    {
      name: "registered.revoke",
      run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.revoke(registration.keyId, now))
    },
    { name: "registered.tidy", run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.tidy(now)) },
    { name: "registered.countsOf", run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.countsOf(scope, now)) },
    { name: "registered.nthNewestMs", run: Effect.flatMap(RegisteredKeyRepo, (repo) => repo.nthNewestMs(scope, 1)) }
  ])
}

/** Logins at the command line that wait: each goes on only from the state that it was read in. */
const logins: Maker = (dice) => {
  const state = dice.of(loginStates)
  const request = {
    idHash: idOf(dice),
    codeHash: idOf(dice),
    way: dice.of(loginWays),
    state: dice.of(loginStates),
    machine: dice.text(),
    address: dice.of(["192.0.2.7", ""] as const),
    port: dice.orNull(dice.below(65_536)),
    challenge: dice.orNull(dice.text()),
    clientState: dice.orNull(dice.text()),
    grantHash: dice.orNull(idOf(dice)),
    shownTo: dice.orNull(idOf(dice)),
    userId: dice.orNull(idOf(dice)),
    issuerId: dice.orNull(idOf(dice)),
    intervalMs: dice.below(60_000),
    polledAtMs: dice.orNull(timeOf(dice)),
    createdAtMs: timeOf(dice),
    expiresAtMs: timeOf(dice)
  }
  const now = timeOf(dice)
  return dice.of<Step>([
    { name: "logins.insert", run: Effect.flatMap(LoginRepo, (repo) => repo.insert(request)) },
    { name: "logins.insert another", run: Effect.flatMap(LoginRepo, (repo) => repo.insert(request)) },
    {
      name: "logins.change",
      // Codes are made by the gateway, so that one of another login is a defect to it.
      run: Effect.flatMap(LoginRepo, (repo) => repo.change(state, request)).pipe(
        Effect.catchAllDefect((defect) =>
          Predicate.isTagged(defect, "AlreadyStored") ? Effect.succeed("is there") : Effect.die(defect)
        )
      )
    },
    { name: "logins.take", run: Effect.flatMap(LoginRepo, (repo) => repo.take(request.idHash, state)) },
    { name: "logins.remove", run: Effect.flatMap(LoginRepo, (repo) => repo.remove(request.idHash)) },
    { name: "logins.removeExpired", run: Effect.flatMap(LoginRepo, (repo) => repo.removeExpired(now)) },
    { name: "logins.waiting", run: Effect.flatMap(LoginRepo, (repo) => repo.waiting(request.address)) },
    { name: "logins.get", run: Effect.flatMap(LoginRepo, (repo) => repo.get(request.idHash)) },
    { name: "logins.byCode", run: Effect.flatMap(LoginRepo, (repo) => repo.byCode(request.codeHash)) }
  ])
}

export const configuration: ReadonlyArray<Maker> = [
  logins,
  settings,
  keys,
  connections,
  nodes,
  combos,
  models,
  groups,
  limits,
  others
]
