/**
 * What one request to `auto` costs before it goes out: the id resolved, every candidate looked at and the decision made, by the services
 * of the program itself over a store with that many connections. Bundled by `decision.mjs`; nothing is sent anywhere.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { engine, storeLayer } from "../../src/app/layers.ts"
import { healthy } from "../../src/subjects/connections/entity.ts"
import * as AppConfig from "../../src/platform/AppConfig.ts"
import { Catalog } from "../../src/plane/providers/Catalog.ts"
import { Engine } from "../../src/plane/routing/decide/Engine.ts"
import { Resolutions } from "../../src/plane/routing/resolve/Resolutions.ts"
import { PerformanceStats } from "../../src/plane/routing/stats/PerformanceStats.ts"
import { ConnectionRepo } from "../../src/subjects/connections/repo.ts"

const providers = ["openai", "anthropic", "groq", "mistral", "deepseek", "gemini", "openrouter", "xai"]
const models = ["gpt-4o", "claude-sonnet-4", "llama-3.3-70b", "mistral-large", "deepseek-chat", "gemini-2.5-pro"]

const connectionOf = (index) => ({
  ...healthy,
  id: `connection-${index}`,
  provider: providers[index % providers.length],
  name: `account ${index}`,
  authType: "apikey",
  apiKey: Redacted.make(`key-of-account-${index}`),
  oauth: null,
  baseUrl: null,
  wires: null,
  defaultModel: models[index % models.length],
  models: [models[index % models.length]],
  priority: index,
  tier: ["ultra", "pro", "standard", "free", null][index % 5],
  maxConcurrent: index % 3 === 0 ? 8 : null,
  headers: null,
  quotas: [],
  isActive: true,
  source: "db",
  createdAtMs: 0,
  updatedAtMs: 0
})

/** The services over `size` connections with measurements each. `decide` is one request's work; `close` ends them. */
export const open = async ({ size, features, nowMs }) => {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-bench-"))
  const config = AppConfig.layerOf({
    dataDir,
    environment: new Map([["GATEWAY_DISABLE_BACKGROUND_SERVICES", "true"]])
  })
  const scope = Effect.runSync(Scope.make())
  const built = await Effect.runPromise(
    Layer.buildWithScope(engine.pipe(Layer.provideMerge(storeLayer), Layer.provide(config)), scope)
  )
  const service = (tag) => Context.get(built, tag)
  await Effect.runPromise(
    Effect.forEach(
      Array.from({ length: size }, (_, index) => connectionOf(index)),
      (connection) => service(ConnectionRepo).insert(connection),
      { discard: true }
    ).pipe(Effect.zipRight(service(Catalog).refresh))
  )
  const resolve = service(Resolutions).resolve
  for (const [index, { account, model }] of resolve("auto").targets.entries()) {
    for (let sample = 0; sample < 20; sample += 1) {
      service(PerformanceStats).record({
        provider: account.spec.id,
        connectionId: account.connection.id,
        model,
        ok: (index + sample) % 17 !== 0,
        latencyMs: 200 + ((index * 37 + sample * 101) % 2_000),
        ttftMs: 100,
        outputTokens: 200,
        atMs: nowMs - 60_000 + sample * 1_000
      })
    }
  }
  const routing = service(Engine)
  const stats = service(PerformanceStats)
  const asked = (model, seed) => {
    const question = {
      model,
      resolution: resolve(model),
      features: () => features,
      sessionKey: null,
      modeHeader: null,
      budgetHeader: null,
      seed,
      nowMs
    }
    const decided = routing.decide(question)
    routing.commit(question, decided)
    return { decided, question }
  }
  return {
    decide: (model) => (seed) => asked(model, seed).decided,
    /** A decision, and the outcome of its call: what the next one finds changed. */
    request: (model) => (seed) => {
      const { decided, question } = asked(model, seed)
      const [target] = decided.order
      const connectionId = target.account.connection.id
      stats.begin(connectionId, target.model)()
      stats.record({
        connectionId,
        model: target.model,
        ok: true,
        latencyMs: 200 + ((seed * 101) % 2_000),
        ttftMs: 100,
        outputTokens: 200,
        atMs: nowMs
      })
      routing.served(question, decided, target)
    },
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      fs.rmSync(dataDir, { recursive: true, force: true })
    }
  }
}
