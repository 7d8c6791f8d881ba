/** The questions of `gateway setup`. Everything is asked and tried before anything is stored, so that Ctrl-C leaves all as it was. */
import * as Prompt from "@effect/cli/Prompt"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../subjects/connections/routes.ts"
import * as Client from "../gateway/Client.ts"
import * as connecting from "./connecting.ts"
import * as connections from "../gateway/connections.ts"
import type { CliFailure } from "../Failure.ts"
import { body } from "../flags/Flags.ts"
import * as Output from "../output/Output.ts"
import { askNewPassword } from "./password.ts"
import { choose } from "./search.ts"
import { secretly } from "./secretly.ts"
import { type CustomProvider, settled } from "../gateway/customProvider.ts"
import { withSpinner } from "../output/spinner.ts"

/** A connection that the provider accepts, or that is to be stored all the same. */
export type Chosen =
  | { readonly _tag: "Known"; readonly provider: connecting.ProviderFacts; readonly connection: CreateConnection }
  /** A server of the person's own, with the wire that it speaks. */
  | { readonly _tag: "Own"; readonly own: CustomProvider }

const confirm = (message: string, initial: boolean) => Prompt.confirm({ message, initial })

const afterRefusal = choose("What now?", [
  { title: "Another key or address", detail: "", value: "again" },
  { title: "Another provider", detail: "", value: "other" },
  { title: "Store it all the same", detail: "", value: "store" },
  { title: "No provider now", detail: "", value: "none" }
] as const)

type Prompted<A> = Effect.Effect<A, CliFailure | Terminal.QuitException, Terminal.Terminal>

/** The rest of a connection to a provider, asked again until the provider accepts it. */
const askRest = (provider: connecting.ProviderFacts): Prompted<Chosen | null> =>
  Effect.gen(function* () {
    const baseUrl = yield* connecting.askAddress(provider)
    const key = provider.takesKey ? yield* connecting.askKey(provider) : null
    const connection = yield* body(
      CreateConnection,
      { provider: provider.id, apiKey: key === null ? undefined : Redacted.value(key), baseUrl },
      { apiKey: "Key", baseUrl: "Address" }
    )
    const refusal = yield* connecting.refusalOf(Client.here, connection, provider.name)
    if (refusal === null) {
      yield* Output.note(`${provider.name} accepts it.`)
      return { _tag: "Known", provider, connection }
    }
    yield* Output.note(refusal)
    switch (yield* afterRefusal) {
      case "again":
        return yield* askRest(provider)
      case "other":
        return yield* askConnection
      case "store":
        return { _tag: "Known", provider, connection }
      case "none":
        return null
    }
  })

const afterSilence = choose("What now?", [
  { title: "Another key or address", detail: "", value: "again" },
  { title: "Another provider", detail: "", value: "other" },
  { title: "No provider now", detail: "", value: "none" }
] as const)

/** Asks for a server of the person's own until it speaks a wire. Entities made to try it are removed. */
const askOwn: Prompted<Chosen | null> = Effect.gen(function* () {
  const baseUrl = yield* connecting.askAddress(connecting.ownServer)
  const apiKey = yield* connecting.askKey(connecting.ownServer)
  const wanted = { baseUrl, wires: [], name: undefined, prefix: undefined, headers: [], apiKey, more: {} }
  const tried = yield* settled(Client.here, { ...wanted, isSameNameAllowed: false, verify: true }).pipe(
    withSpinner("Asking it …"),
    Effect.either
  )
  if (Either.isRight(tried)) {
    yield* Output.note(`It speaks the wire '${tried.right.wires.join(", ")}'.`)
    return { _tag: "Own", own: tried.right }
  }
  yield* Output.note(tried.left.message)
  const next = yield* afterSilence
  if (next === "none") return null
  return yield* next === "again" ? askOwn : askConnection
})

const askConnection: Prompted<Chosen | null> = Effect.gen(function* () {
  const provider = yield* connecting.askProviderOrOwn
  if (provider === null) return yield* secretly(askOwn)
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
