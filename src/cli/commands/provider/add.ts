/** `gateway provider add` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../../../api/Groups/Providers.ts"
import { AccountTier } from "../../../domain/Connection.ts"
import * as Client from "../../Client.ts"
import { about, body, json } from "../../Flags.ts"
import { OneConnection } from "../../output/connections.ts"
import * as Output from "../../output/Output.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  provider: Args.text({ name: "provider" }).pipe(
    Args.withDescription("Id of the provider, or prefix of a node; see 'gateway providers available'.")
  ),
  providerKey: Options.redacted("api-key").pipe(Options.withDescription("The provider's key."), Options.optional),
  name: text("name", "Name of the connection."),
  baseUrl: text("base-url", "Address of the provider, where it is not the usual one."),
  defaultModel: text("default-model", "Model to use when none is named."),
  priority: Options.integer("priority").pipe(Options.withDescription("Lower is tried first."), Options.optional),
  tier: Options.choice("tier", AccountTier.literals).pipe(
    Options.withDescription("What kind of account it is."),
    Options.optional
  ),
  ...Client.connection,
  json
}

const flagNames = {
  provider: "<provider>",
  apiKey: "--api-key",
  name: "--name",
  baseUrl: "--base-url",
  defaultModel: "--default-model",
  priority: "--priority",
  tier: "--tier"
}

export const providerAdd = Command.make("add", flags, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      CreateConnection,
      {
        provider: given.provider,
        apiKey: Option.getOrUndefined(Option.map(given.providerKey, Redacted.value)),
        name: Option.getOrUndefined(given.name),
        baseUrl: Option.getOrUndefined(given.baseUrl),
        defaultModel: Option.getOrUndefined(given.defaultModel),
        priority: Option.getOrUndefined(given.priority),
        tier: Option.getOrUndefined(given.tier)
      },
      flagNames
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "providers")
    const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
    if (given.json) return yield* Output.json(OneConnection, answer)
    const { id, name, provider } = answer.connection
    yield* Output.note(
      `Saved '${name}' (${provider}) as ${id}. The provider was not asked yet: try it with 'gateway providers test ${id}'.`
    )
  })
).pipe(
  Command.withDescription(
    about("Connect a running gateway to a provider.", "provider add openai --api-key sk-… --name work")
  )
)
