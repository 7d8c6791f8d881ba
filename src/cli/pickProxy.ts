/** Names of a proxy on the command line, and the search for one. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { pick } from "./flags/Flags.ts"
import * as Client from "./gateway/Client.ts"
import type { GatewayFlags } from "./gateway/Target.ts"

/** The proxy that a word names, and the client to ask for it. */
export const findProxy = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "proxies")
  const { proxies } = yield* client.list().pipe(Client.orExplain(to))
  return { client, found: yield* pick("proxy", proxies, word, "gateway proxy list") }
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
    return (yield* findProxy(yield* Client.target(flags), given.value)).found.id
  })
