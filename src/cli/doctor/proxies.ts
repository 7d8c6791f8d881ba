/** Checks of `gateway doctor` for the egress proxies of a gateway that runs. */
import * as Effect from "effect/Effect"
import type { ProxyAssignmentView, ProxyView } from "../../subjects/proxies/routes.ts"
import * as Client from "../gateway/Client.ts"
import * as Finding from "./Finding.ts"

interface Configured {
  readonly enabled: boolean
  readonly proxies: ReadonlyArray<ProxyView>
  readonly assignments: ReadonlyArray<ProxyAssignmentView>
}

/** Calls of an assigned proxy that cannot be used fail, so that is a failure of the gateway. */
export const judge = ({ assignments: assigned, enabled, proxies }: Configured): Finding.Finding => {
  if (assigned.length === 0) return Finding.ok("No proxy is assigned; calls go direct")
  const assignments = enabled ? assigned : assigned.filter(({ scope }) => scope !== "global")
  if (assignments.length === 0) {
    return Finding.warn("The proxy of all calls is switched off; calls go direct", "'gateway proxy on' uses it.")
  }
  const states = assignments.map(({ proxyId, proxyName }) => {
    const proxy = proxies.find(({ id }) => id === proxyId)
    const name = `'${proxyName ?? proxyId}'`
    if (proxy === undefined) return { name, problem: `${name} was removed and is still assigned` }
    if (!proxy.usable) return { name, problem: `${name} is assigned and cannot be used` }
    return { name, problem: proxy.health.state === "failing" ? `${name} cannot be reached` : null }
  })
  const problems = new Set(states.flatMap(({ problem }) => problem ?? []))
  return problems.size === 0
    ? Finding.ok(`Calls go through ${[...new Set(states.map(({ name }) => name))].join(", ")}`)
    : Finding.fail(
        [...problems].join("; "),
        "Its calls fail. See 'gateway proxy list' and 'gateway proxy assignments'; 'gateway proxy test <proxy>' tries one."
      )
}

export const proxies = (to: Client.Target): Effect.Effect<Finding.Finding> =>
  Client.group(to, "proxies").pipe(
    Effect.flatMap((client) => Effect.all([client.list(), client.assignments(), client.settings()])),
    Client.orExplain(to),
    Effect.map(([listed, { assignments }, { enabled }]) => judge({ assignments, enabled, proxies: listed.proxies })),
    Effect.catchAll(({ message }) =>
      Effect.succeed(Finding.skip(`The gateway was not asked for its proxies: ${message}`))
    )
  )
