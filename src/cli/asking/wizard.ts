/** The questions of `gateway setup`. Everything is asked and tried before anything is stored, so that Ctrl-C leaves all as it was. */
import * as Prompt from "@effect/cli/Prompt"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../api/Groups/Providers.ts"
import * as Client from "../gateway/Client.ts"
import * as connecting from "./connecting.ts"
import * as connections from "../gateway/connections.ts"
import type { CliFailure } from "../Failure.ts"
import { body } from "../Flags.ts"
import * as Output from "../output/Output.ts"
import { askNewPassword } from "./password.ts"
import { choose } from "./search.ts"
import { secretly } from "./secretly.ts"

/** A connection that the provider accepts, or that is to be stored all the same. */
export interface Chosen {
  readonly provider: connecting.ProviderFacts
  readonly connection: CreateConnection
}

const confirm = (message: string, initial: boolean) => Prompt.confirm({ message, initial })

const afterRefusal = choose("What now?", [
  { title: "Another key or address", detail: "", value: "again" },
  { title: "Another provider", detail: "", value: "other" },
  { title: "Store it all the same", detail: "", value: "store" },
  { title: "No provider now", detail: "", value: "none" }
] as const)

type Asked<A> = Effect.Effect<A, CliFailure | Terminal.QuitException, Terminal.Terminal>

/** The rest of a connection to a provider, asked again until the provider accepts it. */
const askRest = (provider: connecting.ProviderFacts): Asked<Chosen | null> =>
  Effect.gen(function* () {
    const baseUrl = yield* connecting.askAddress(provider)
    const key = provider.takesKey ? yield* connecting.askKey(provider) : null
    const connection = yield* body(
      CreateConnection,
      { provider: provider.id, apiKey: key === null ? undefined : Redacted.value(key), baseUrl },
      { apiKey: "Key", baseUrl: "Address" }
    )
    const refusal = yield* connecting.refusalOf(
      Client.here,
      connecting.candidateOf(provider, key, baseUrl),
      provider.name
    )
    if (refusal === null) {
      yield* Output.note(`${provider.name} accepts it.`)
      return { provider, connection }
    }
    yield* Output.note(refusal)
    switch (yield* afterRefusal) {
      case "again":
        return yield* askRest(provider)
      case "other":
        return yield* askConnection
      case "store":
        return { provider, connection }
      case "none":
        return null
    }
  })

const askConnection: Asked<Chosen | null> = Effect.gen(function* () {
  const provider = yield* connecting.askProvider
  if (!provider.takesKey) return yield* askRest(provider)
  return yield* secretly(Effect.zipRight(connecting.tellWhereKeysAre(provider), askRest(provider)))
})

/** Asks what to do. */
export const askPlan = Effect.gen(function* () {
  const there = yield* connections.list(Client.here)
  if (there.length > 0) {
    yield* Output.note(`Connected already: ${there.map(({ name, provider }) => `${name} (${provider})`).join(", ")}.`)
  }
  const wanted = yield* confirm(there.length === 0 ? "Connect a provider?" : "Connect another one?", there.length === 0)
  const chosen = wanted ? yield* askConnection : null
  const password = (yield* confirm("Set an admin password, to manage the gateway from elsewhere?", false))
    ? yield* askNewPassword
    : null
  return { password, chosen }
})
