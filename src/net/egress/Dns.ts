/** Name resolution for outbound calls. A service, so that tests can resolve any name, and differently each time. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { lookup } from "node:dns/promises"

export class Dns extends Context.Tag("gateway/net/egress/Dns")<
  Dns,
  {
    /** All addresses of a name, in the resolver's order. Rejects with the resolver's error when there is none. */
    readonly resolve: (hostname: string) => Promise<ReadonlyArray<string>>
  }
>() {}

/** The system's resolver, so that hosts files and search domains work as everywhere else. */
export const layer: Layer.Layer<Dns> = Layer.succeed(Dns, {
  resolve: async (hostname) => {
    const answers = await lookup(hostname, { all: true, verbatim: true })
    return answers.map((answer) => answer.address)
  }
})
