/** Names of a proxy on the command line, and the search for one. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Client from "../gateway/Client.ts"
import type { GatewayFlags } from "../gateway/Target.ts"
import { findOne, noun } from "../verbs/noun.ts"

const proxy = Args.text({ name: "proxy" }).pipe(Args.withDescription("Its name, its id or the beginning of it."))

export const proxies = noun({
  what: "proxy",
  group: "proxies",
  argument: proxy,
  listing: "gateway proxy list",
  list: (client) => client.list(),
  rows: (answer) => answer.proxies,
  nameOf: ({ name }) => name
})

/** The flag of commands that connect a provider. */
export const proxyFlag = Options.text("proxy").pipe(
  Options.withDescription("The proxy its calls go by, the first too: its name or id."),
  Options.optional
)

/** The id of the proxy that the flag names; undefined without it. */
export const namedProxy = (flags: GatewayFlags, given: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(given)) return undefined
    return (yield* findOne(proxies, yield* Client.target(flags), given.value)).found.id
  })
