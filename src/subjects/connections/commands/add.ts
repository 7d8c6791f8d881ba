/** `gateway provider add`: asks for what is missing, asks the provider whether it accepts the key, and only then stores it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CreateConnection } from "../routes.ts"
import { AccountTier } from "../entity.ts"
import { WireName } from "../../../domain/Wire.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as connecting from "../../../cli/asking/connecting.ts"
import * as connections from "../../../cli/gateway/connections.ts"
import { addCustom } from "../../../cli/gateway/customProvider.ts"
import { BadArgument, type CliFailure } from "../../../cli/Failure.ts"
import { about, body, json } from "../../../cli/flags/Flags.ts"
import { each, NamedAny, notOf } from "../../../cli/flags/Forms.ts"
import { OneConnection } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { keyOfFlags } from "../../../cli/asking/providerKey.ts"
import { secretly } from "../../../cli/asking/secretly.ts"
import { allowSameName } from "../../../cli/sameName.ts"
import { namedProxy, proxyFlag } from "../../../cli/finding/pickProxy.ts"
import { withSpinner } from "../../../cli/output/spinner.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)
const onOff = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

/** The flags of a provider's key. */
export const keyFlags = {
  apiKey: Options.redacted("api-key").pipe(
    Options.withDescription("The provider's key. It stays in the history of your shell: without it the command asks."),
    Options.optional
  ),
  apiKeyStdin: onOff("api-key-stdin", "Read the provider's key from standard input."),
  apiKeyEnv: text("api-key-env", "Name of the environment variable that holds the provider's key.")
}

const flags = {
  provider: Args.text({ name: "provider" }).pipe(
    Args.withDescription("Id of the provider, prefix of a node, or 'custom'; without it a list to choose from."),
    Args.optional
  ),
  ...keyFlags,
  name: text("name", "Name of the connection."),
  baseUrl: text("base-url", "Address of the provider, where it is not the usual one."),
  defaultModel: text("default-model", "Model to use when none is named."),
  priority: Options.integer("priority").pipe(Options.withDescription("Lower is tried first."), Options.optional),
  tier: Options.choice("tier", AccountTier.literals).pipe(
    Options.withDescription("What kind of account it is."),
    Options.optional
  ),
  proxy: proxyFlag,
  noVerify: onOff("no-verify", "Store it without asking the provider."),
  wires: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("Of 'add custom': a wire format it speaks; may be given several times."),
    Options.repeated
  ),
  prefix: text("prefix", "Of 'add custom': its provider id, the part before the slash of its models."),
  headers: Options.text("header").pipe(
    Options.withDescription("Of 'add custom': <name>=<value>, sent with every request; several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--header", "<name>=<value>")))
  ),
  allowSameName,
  ...Client.connection,
  json
}
type Given = Command.Command.ParseConfig<typeof flags>

const flagNames = {
  provider: "<provider>",
  apiKey: "--api-key",
  name: "--name",
  baseUrl: "--base-url",
  defaultModel: "--default-model",
  priority: "--priority",
  tier: "--tier",
  proxyId: "--proxy"
}

/** Null: a server of the person's own that is no known provider. */
const chosen = (given: Given, mayAsk: boolean) =>
  Option.match(given.provider, {
    onSome: (name) => connecting.providerNamed(given, name),
    onNone: () =>
      mayAsk
        ? connecting.askProviderOrOwn
        : new BadArgument({
            message: "Which provider?",
            hint: "Give its id: 'gateway provider add openai'. 'gateway providers available' lists them."
          })
  })

/** The key of the flags, after the provider has accepted it. */
const verified = Effect.fnUntraced(function* (
  given: Given,
  provider: connecting.ProviderFacts,
  key: Redacted.Redacted | null,
  asked: connecting.AskedBy
) {
  const refusal = given.noVerify
    ? null
    : yield* connecting.refusalOf(given, connecting.candidateOf(provider, key, asked), provider.name)
  return refusal === null ? key : yield* connecting.refused(refusal)
})

/** Asks until the provider accepts the key; Ctrl-C ends it. */
const askedKey = (
  given: Given,
  provider: connecting.ProviderFacts,
  asked: connecting.AskedBy
): Effect.Effect<Redacted.Redacted | null, CliFailure | Terminal.QuitException, Terminal.Terminal> =>
  Effect.gen(function* () {
    const key = yield* connecting.askKey(provider)
    if (given.noVerify) return key
    const refusal = yield* connecting.refusalOf(given, connecting.candidateOf(provider, key, asked), provider.name)
    if (refusal === null) return key
    if (key === null) return yield* connecting.refused(refusal)
    yield* Output.note(`${refusal}\nTry another key, or stop with Ctrl-C.`)
    return yield* askedKey(given, provider, asked)
  })

/** A provider of the operator's own. Without a wire the server is asked which one it speaks. */
const custom = Effect.fnUntraced(function* (given: Given, baseUrl: string | undefined, key: Redacted.Redacted | null) {
  const { connection, models, node } = yield* addCustom(given, {
    baseUrl,
    wires: given.wires,
    name: Option.getOrUndefined(given.name),
    prefix: Option.getOrUndefined(given.prefix),
    headers: given.headers,
    apiKey: key,
    isSameNameAllowed: given.allowSameName,
    verify: !given.noVerify,
    more: {
      defaultModel: Option.getOrUndefined(given.defaultModel),
      priority: Option.getOrUndefined(given.priority),
      tier: Option.getOrUndefined(given.tier),
      proxyId: yield* namedProxy(given, given.proxy)
    }
  }).pipe(withSpinner("Reading its models …"))
  const has = given.noVerify ? "not asked yet" : connecting.modelWords({ ids: models, error: null })
  yield* Output.result({
    schema: OneConnection,
    value: { connection },
    text: Output.note(
      `Connected '${connection.name}' (${node.baseUrl}): ${has}. Ask for its models as '${node.prefix}/<model>'.`
    ),
    name: connection.name
  })
})

/** Asks for the address and the key of a server of one's own, and adds it. */
const ownServer = Effect.fnUntraced(function* (given: Given) {
  const flagKey = yield* keyOfFlags(given)
  const baseUrl = Option.getOrUndefined(given.baseUrl) ?? (yield* connecting.askAddress(connecting.ownServer))
  const key = flagKey ?? (yield* secretly(connecting.askKey(connecting.ownServer)))
  yield* custom(given, baseUrl, key)
})

export const providerAdd = Command.make("add", flags, (given) =>
  Effect.gen(function* () {
    if (connecting.isOwnServer(Option.getOrElse(given.provider, () => ""))) {
      const isAsked = Option.isNone(given.baseUrl) && !given.json && !given.apiKeyStdin && (yield* canAsk)
      if (isAsked) return yield* ownServer(given)
      return yield* custom(given, Option.getOrUndefined(given.baseUrl), yield* keyOfFlags(given))
    }
    if (given.wires.length > 0 || given.headers.length > 0 || Option.isSome(given.prefix)) {
      return yield* new BadArgument({
        message: "--wire, --prefix and --header are for providers of your own.",
        hint: "Example: gateway provider add custom --base-url http://127.0.0.1:8080/v1 --wire chat"
      })
    }
    const mayAsk = !given.json && !given.apiKeyStdin && (yield* canAsk)
    const flagKey = yield* keyOfFlags(given)
    const provider = yield* chosen(given, mayAsk)
    if (provider === null) return yield* ownServer(given)
    const name = yield* connections.nameFor(given, provider, Option.getOrUndefined(given.name), given.allowSameName)
    const isMissing = flagKey === null && provider.needsKey
    if (isMissing && !mayAsk) {
      return yield* new BadArgument({
        message: `${provider.name} needs a key.`,
        hint: "Give it with --api-key-stdin or --api-key-env <variable>; on a terminal the command asks for it."
      })
    }
    const fromList = Option.isNone(given.provider)
    const baseUrl =
      Option.getOrUndefined(given.baseUrl) ??
      (mayAsk && provider.address !== null ? yield* connecting.askAddress(provider) : undefined)
    const proxyId = yield* namedProxy(given, given.proxy)
    const asked = { baseUrl, proxyId }
    const asks = mayAsk && flagKey === null && (provider.needsKey || (fromList && provider.takesKey))
    const key = yield* asks
      ? secretly(Effect.zipRight(connecting.tellWhereKeysAre(provider), askedKey(given, provider, asked)))
      : verified(given, provider, flagKey, asked)

    const payload = yield* body(
      CreateConnection,
      {
        provider: provider.id,
        apiKey: key === null ? undefined : Redacted.value(key),
        name,
        baseUrl,
        proxyId,
        defaultModel: Option.getOrUndefined(given.defaultModel),
        priority: Option.getOrUndefined(given.priority),
        tier: Option.getOrUndefined(given.tier)
      },
      flagNames
    )
    const connection = yield* connections.create(given, payload)
    if (given.json) return yield* Output.json(OneConnection, { connection })
    if (given.noVerify) {
      return yield* Output.note(
        `Stored '${connection.name}' (${connection.provider}) without asking it. Try it with 'gateway provider test ${connection.id}'.`
      )
    }
    const models = yield* connections.models(given, connection.id).pipe(withSpinner("Reading its models …"))
    yield* Output.note(
      `Connected '${connection.name}' (${connection.provider}): ${connecting.offerWords(provider, models)}.`
    )
    yield* connecting.proposeQuestion(given, provider, models, connection.defaultModel)
  })
).pipe(
  Command.withDescription(
    about(
      "Connect a provider. Asks for what is missing, and asks the provider before anything is stored.",
      "provider add openai",
      "provider add anthropic --api-key-stdin --name work < key.txt",
      "provider add ollama"
    )
  )
)
