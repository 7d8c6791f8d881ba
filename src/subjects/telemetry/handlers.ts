/** `/api/telemetry/summary`, `/api/sessions` and `/api/cache/stats`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Telemetry as TelemetryGroup } from "./routes.ts"
import type { SessionRow } from "./routes.ts"
import { ProcessFacts } from "../../platform/ProcessFacts.ts"
import { PerformanceStats } from "../../plane/routing/stats/PerformanceStats.ts"
import { AnswerCaches, hitRate } from "../../observe/usage/Caches.ts"
import { Telemetry } from "../../observe/usage/Telemetry.ts"
import type { SessionView } from "../../observe/usage/telemetry/SessionBook.ts"

const usualWindowMs = 300_000

const sessionRow = ({ lastUsedMs, ...session }: SessionView): SessionRow =>
  Object.assign(session, { lastUsedAt: new Date(lastUsedMs).toISOString() })

export const layer = HttpApiBuilder.group(contractOf(TelemetryGroup), "telemetry", (handlers) =>
  Effect.gen(function* () {
    const telemetry = yield* Telemetry
    const stats = yield* PerformanceStats
    const facts = yield* ProcessFacts
    const caches = yield* AnswerCaches
    return handlers
      .handle("summary", ({ urlParams: { windowMs = usualWindowMs } }) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => ({
          windowMs,
          ...telemetry.latencies(windowMs, nowMs),
          activeConnections: stats.underWay().reduce((sum, { count }) => sum + count, 0),
          ...facts.memory()
        }))
      )
      .handle("sessions", () =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const sessions = telemetry.sessions(nowMs).map(sessionRow)
          return { count: sessions.length, sessions }
        })
      )
      .handle("caches", () =>
        Effect.zipWith(caches.answers, caches.idempotency, (answers, idempotency) => ({
          semanticCache: { ...answers, hitRate: hitRate(answers) },
          idempotency
        }))
      )
      .handle("clearCaches", () => Effect.map(caches.clear, (cleared) => ({ cleared })))
  })
)
