/** `gateway provider add`: asks for what is missing, asks the provider whether it accepts the key, and only then stores it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { CreateConnection, ValidateResult } from "../routes.ts"
import { AccountTier } from "../entity.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as connecting from "../../../cli/asking/connecting.ts"
import * as connections from "../../../cli/gateway/connections.ts"
import { addCustom, customDraft } from "../../../cli/gateway/customProvider.ts"
import { BadArgument, type CliFailure } from "../../../cli/Failure.ts"
import { about, body, json } from "../../../cli/flags/Flags.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
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

/** Flags of what is tried or stored as a whole. */
export const testOnly = onOff("test-only", "Ask the provider with all that would be stored, and store nothing.")
export const file = text(
  "file",
  "JSON with fields of the connection, as POST /api/providers takes them; flags come before it; '-' is standard input."
)

/** Reads the fields that a file has; none without one. */
export const fieldsOf = (named: Option.Option<string>): Effect.Effect<Readonly<Record<string, unknown>>, BadArgument> =>
  Option.match(named, {
    onNone: () => Effect.succeed({}),
    onSome: (path) =>
      Effect.filterOrFail(
        readJson("--file", path),
        Schema.is(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
        () => new BadArgument({ message: `--file: '${path}' must hold a JSON object.` })
      )
  })

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
  testOnly,
  file,
  wires: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("Of 'add custom': a wire format it speaks; may be given several times."),
    Options.repeated
  ),
  prefix: text("prefix", "Of 'add custom': its provider id, the part before the slash of its models."),
  headers: Options.text("header").pipe(
    Options.withDescription("<name>=<value>, sent with every request; may be given several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--header", "<name>=<value>")))
  ),
  allowSameName,
  ...Client.connection,
  json
}
type AddFlags = Command.Command.ParseConfig<typeof flags>

const flagNames = {
  provider: "<provider>",
  apiKey: "--api-key",
  name: "--name",
  baseUrl: "--base-url",
  defaultModel: "--default-model",
  priority: "--priority",
  tier: "--tier",
  proxyId: "--proxy",
  headers: "--header"
}

/** Null: a server of the person's own that is no known provider. */
const chosen = (given: AddFlags, mayAsk: boolean) =>
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

/** Makes the connection that would be stored with a key. */
type DraftOf = (key: Redacted.Redacted | null) => Effect.Effect<CreateConnection, BadArgument>

/** The connection with the key of the flags, after the provider has accepted it. */
const verified = Effect.fnUntraced(function* (
  given: AddFlags,
  provider: connecting.ProviderFacts,
  key: Redacted.Redacted | null,
  draftOf: DraftOf
) {
  const draft = yield* draftOf(key)
  const refusal = given.noVerify ? null : yield* connecting.refusalOf(given, draft, provider.name)
  return refusal === null ? draft : yield* connecting.refused(refusal)
})

/** Asks for a key until the provider accepts the connection with it; Ctrl-C ends it. */
const withAskedKey = (
  given: AddFlags,
  provider: connecting.ProviderFacts,
  draftOf: DraftOf
): Effect.Effect<CreateConnection, CliFailure | Terminal.QuitException, Terminal.Terminal> =>
  Effect.gen(function* () {
    const key = yield* connecting.askKey(provider)
    const draft = yield* draftOf(key)
    if (given.noVerify) return draft
    const refusal = yield* connecting.refusalOf(given, draft, provider.name)
    if (refusal === null) return draft
    if (key === null) return yield* connecting.refused(refusal)
    yield* Output.note(`${refusal}\nTry another key, or stop with Ctrl-C.`)
    return yield* withAskedKey(given, provider, draftOf)
  })

/** Tells that a provider accepts what was not stored. */
export const accepted = (name: string) =>
  Output.result({
    schema: ValidateResult.pick("valid"),
    value: { valid: true },
    text: Output.note(`${name} accepts the connection. Nothing was stored.`),
    name
  })

/** Fields of flags that are given. */
const optionsOf = ({ defaultModel, priority, tier }: AddFlags) => ({
  ...(Option.isNone(defaultModel) ? {} : { defaultModel: defaultModel.value }),
  ...(Option.isNone(priority) ? {} : { priority: priority.value }),
  ...(Option.isNone(tier) ? {} : { tier: tier.value })
})

const proxyOf = (given: AddFlags) =>
  Effect.map(namedProxy(given, given.proxy), (proxyId) => (proxyId === undefined ? {} : { proxyId }))

/** A provider of the operator's own. Without a wire the server is asked which one it speaks. */
const custom = Effect.fnUntraced(function* (
  given: AddFlags,
  baseUrl: string | undefined,
  key: Redacted.Redacted | null
) {
  const fields = yield* fieldsOf(given.file)
  const whole = {
    baseUrl,
    wires: given.wires,
    name: Option.getOrUndefined(given.name),
    prefix: Option.getOrUndefined(given.prefix),
    headers: given.headers,
    apiKey: key,
    isSameNameAllowed: given.allowSameName,
    verify: !given.noVerify,
    more: { ...fields, ...optionsOf(given), ...(yield* proxyOf(given)) }
  }
  if (given.testOnly) {
    const draft = yield* customDraft(whole)
    const refusal = yield* connecting.refusalOf(given, draft, draft.node.name)
    return yield* refusal === null ? accepted(draft.node.name) : connecting.refused(refusal)
  }
  const { connection, models, node } = yield* addCustom(given, whole).pipe(withSpinner("Reading its models …"))
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
const ownServer = Effect.fnUntraced(function* (given: AddFlags) {
  const flagKey = yield* keyOfFlags(given)
  const baseUrl = Option.getOrUndefined(given.baseUrl) ?? (yield* connecting.askAddress(connecting.ownServer))
  const key = flagKey ?? (yield* secretly(connecting.askKey(connecting.ownServer)))
  yield* custom(given, baseUrl, key)
})

export const providerAdd = Command.make("add", flags, (given) =>
  Effect.gen(function* () {
    if (given.testOnly && given.noVerify) {
      return yield* new BadArgument({
        message: "--test-only asks the provider, and --no-verify does not.",
        hint: "Give one of them."
      })
    }
    if (connecting.isOwnServer(Option.getOrElse(given.provider, () => ""))) {
      const isAsked = Option.isNone(given.baseUrl) && !given.json && !given.apiKeyStdin && (yield* canAsk)
      if (isAsked) return yield* ownServer(given)
      return yield* custom(given, Option.getOrUndefined(given.baseUrl), yield* keyOfFlags(given))
    }
    if (given.wires.length > 0 || Option.isSome(given.prefix)) {
      return yield* new BadArgument({
        message: "--wire and --prefix are for providers of your own.",
        hint: "Example: gateway provider add custom --base-url http://127.0.0.1:8080/v1 --wire chat"
      })
    }
    const mayAsk = !given.json && !given.apiKeyStdin && (yield* canAsk)
    const flagKey = yield* keyOfFlags(given)
    const provider = yield* chosen(given, mayAsk)
    if (provider === null) return yield* ownServer(given)
    const name = yield* connections.nameFor(given, provider, Option.getOrUndefined(given.name), given.allowSameName)
    const fields = yield* fieldsOf(given.file)
    const isMissing = flagKey === null && provider.needsKey && fields["apiKey"] === undefined && !("oauth" in fields)
    if (isMissing && !mayAsk) {
      return yield* new BadArgument({
        message: `${provider.name} needs a key.`,
        hint: "Give it with --api-key-stdin or --api-key-env <variable>; on a terminal the command asks for it."
      })
    }
    const fromList = Option.isNone(given.provider)
    const asksAddress = mayAsk && provider.address !== null && fields["baseUrl"] === undefined
    const baseUrl =
      Option.getOrUndefined(given.baseUrl) ?? (asksAddress ? yield* connecting.askAddress(provider) : undefined)
    const named = { ...optionsOf(given), ...(yield* proxyOf(given)), ...(baseUrl === undefined ? {} : { baseUrl }) }
    const headers = given.headers.length === 0 ? {} : { headers: Object.fromEntries(given.headers) }
    const draftOf: DraftOf = (key) =>
      body(
        CreateConnection,
        {
          ...fields,
          ...named,
          ...headers,
          provider: provider.id,
          name: Option.getOrUndefined(given.name) ?? fields["name"] ?? name,
          ...(key === null ? {} : { apiKey: Redacted.value(key) })
        },
        flagNames
      )
    const asks = mayAsk && flagKey === null && (isMissing || (fromList && provider.takesKey))
    const payload = yield* asks
      ? secretly(Effect.zipRight(connecting.tellWhereKeysAre(provider), withAskedKey(given, provider, draftOf)))
      : verified(given, provider, flagKey, draftOf)
    if (given.testOnly) return yield* accepted(provider.name)
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
      "provider add openai --file connection.json --test-only",
      "provider add ollama"
    )
  )
)
