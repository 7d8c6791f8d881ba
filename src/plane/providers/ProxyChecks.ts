/**
 * Looks regularly whether the proxies in use can be reached, so that the automatic choice finds one that works and a list shows the
 * state before a call fails. A check connects to the proxy and asks it for nothing.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { claimed } from "../../plane/state/Claims.ts"
import { routeOfProxy } from "../../net/egress/proxy/ProxyRoute.ts"
import { Upstream } from "../../net/egress/Upstream.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { ProxyPlan } from "./ProxyPlan.ts"

const everyMs = 60_000
const atOnce = 8

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const plan = yield* ProxyPlan
  const upstream = yield* Upstream

  const round = Effect.gen(function* () {
    const inUse = plan.inUse()
    const routes = plan.proxies().flatMap((proxy) => {
      if (!inUse.has(proxy.id) || !proxy.isActive) return []
      const route = routeOfProxy(proxy, plan.isSocksOn)
      return route._tag === "Proxied" ? [{ name: proxy.name, hop: route.hop }] : []
    })
    yield* Effect.forEach(
      routes,
      Effect.fnUntraced(function* ({ hop, name }) {
        const wasFailing = plan.health.isFailing(hop.id)
        const isWorking = yield* Effect.match(upstream.reachProxy(hop), {
          onFailure: () => false,
          onSuccess: () => true
        })
        if (isWorking === wasFailing) {
          yield* isWorking
            ? Effect.logInfo(`The proxy '${name}' can be reached again`)
            : Effect.logWarning(`The proxy '${name}' cannot be reached; calls that it is assigned to fail`)
        }
      }),
      { concurrency: atOnce, discard: true }
    )
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Checking the proxies broke off", defect)))

  if (flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) return
  const pause = Effect.flatMap(Random.nextRange(0.9, 1.1), (spread) => Effect.sleep(Duration.millis(everyMs * spread)))
  yield* Effect.forkScoped(claimed("proxy-checks", Effect.forever(Effect.zipRight(pause, round))))
})

export const layer: Layer.Layer<never, never, Flags | ProxyPlan | Upstream> = Layer.scopedDiscard(make)
