/** Connecting a provider: which one, its key, what it says to that, and the first question afterwards. Shared by `provider add` and `setup`. */
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { ValidateConnection } from "../../subjects/connections/routes.ts"
import { converses } from "../../plane/providers/ChatModels.ts"
import { unknownFacts } from "../../plane/providers/ModelFacts.ts"
import { isForSearchesOnly, type ProviderSpec } from "../../contract/domain/Provider.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { commandName } from "../../platform/Invocation.ts"
import * as connections from "../gateway/connections.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import { loadModule } from "../lazy.ts"
import * as Output from "../output/Output.ts"
import { choose } from "./search.ts"
import { cleanKey } from "./providerKey.ts"
import { withSpinner } from "../output/spinner.ts"
import type { GatewayFlags } from "../gateway/Target.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Facts of a provider that decide the further questions. */
export interface ProviderFacts {
  readonly id: string
  readonly name: string
  readonly needsKey: boolean
  /** True when a key makes sense at all. */
  readonly takesKey: boolean
  /** Address with parts in braces that the account fills, or of a server of the person's own. */
  readonly address: { readonly usual: string; readonly isNeeded: boolean } | null
  readonly docsUrl: string | null
  /** Page where keys are made; null: not known. */
  readonly keyUrl: string | null
  /** Beginning of its keys; null: none, or not known. */
  readonly keyHint: string | null
  /** Models the registry names, the usual one first. */
  readonly models: ReadonlyArray<string>
  /** True when it is asked for searches of the web, not for answers. */
  readonly searches: boolean
}

const factsOf = (spec: ProviderSpec): ProviderFacts => {
  const { auth, baseUrl, category, docsUrl, id, keyHint, keyUrl, models, name } = spec
  const isTemplate = baseUrl.includes("{")
  return {
    id,
    name,
    needsKey: auth.type === "apikey" || auth.type === "oauth",
    takesKey: auth.type !== "none",
    address: isTemplate || category === "local" ? { usual: baseUrl, isNeeded: isTemplate } : null,
    docsUrl,
    keyUrl,
    keyHint,
    models,
    searches: isForSearchesOnly(spec)
  }
}

const loadRegistry = loadModule(() => import("../../plane/providers/Registry.ts"))

/** The provider of an id, an alias, or a node's prefix. */
export const providerNamed = (flags: GatewayFlags, name: string): Effect.Effect<ProviderFacts, CliFailure> =>
  Effect.gen(function* () {
    const registry = yield* loadRegistry
    const spec = registry.find(name)
    if (spec !== null) return factsOf(spec)
    const node = yield* connections.nodeNamed(flags, name)
    if (node !== null) {
      return {
        id: node.prefix,
        name: node.name,
        needsKey: false,
        takesKey: true,
        address: null,
        docsUrl: null,
        keyUrl: null,
        keyHint: null,
        models: [],
        searches: false
      }
    }
    const near = closest(name, [...registry.registry.keys()], 3)
    return yield* new BadArgument({
      message: `The provider '${name}' is not known.${near.length === 0 ? "" : ` Did you mean ${near.join(", ")}?`}`,
      hint: "See 'gateway providers available --search <text>'."
    })
  })

/** Names under which people look for a server of their own. */
const ownNames: ReadonlySet<string> = new Set(["custom", "compatible", "openai-compatible", "anthropic-compatible"])

export const isOwnServer = (name: string): boolean => ownNames.has(name.toLowerCase())

/** A server of the person's own that is no known provider. */
export const ownServer: ProviderFacts = {
  id: "custom",
  name: "your own server",
  needsKey: false,
  takesKey: true,
  address: { usual: "http://127.0.0.1:8080/v1", isNeeded: true },
  docsUrl: null,
  keyUrl: null,
  keyHint: null,
  models: [],
  searches: false
}

const allProviders = Effect.map(loadRegistry, ({ registry }) =>
  [...registry.values()].map((spec) => ({ title: spec.name, detail: spec.id, value: factsOf(spec) }))
)

/** Asks which provider, from all that are known. */
export const askProvider = Effect.flatMap(allProviders, (all) => choose("Provider", all))

/** The same with a server of one's own, which is null. */
export const askProviderOrOwn = Effect.flatMap(allProviders, (all) =>
  choose<ProviderFacts | null>("Provider", [
    ...all,
    { title: "Your own server", detail: "custom, OpenAI- or Anthropic-compatible", value: null }
  ])
)

/** Asks for a key, hidden, until it can be one; null when none is given to a provider that needs none. */
export const askKey = (provider: ProviderFacts) =>
  Prompt.password({
    message: `Key of ${provider.name}${provider.needsKey ? "" : " (empty: none)"}`,
    validate: (text) => {
      if (text.trim() === "" && !provider.needsKey) return Effect.succeed("")
      return Either.match(cleanKey(text), {
        onRight: Effect.succeed,
        onLeft: (problem) => Effect.fail(`The key ${asSentence(problem)}`)
      })
    }
  }).pipe(Prompt.map((key) => (Redacted.value(key) === "" ? null : key)))

/** Asks for the address of a provider that has one of its own for every account or machine. */
export const askAddress = ({ address, name }: ProviderFacts) =>
  address === null
    ? Effect.succeed(undefined)
    : Prompt.text({
        message: address.isNeeded
          ? `Address of ${name}, such as ${address.usual}`
          : `Address of ${name} (empty: ${address.usual})`,
        validate: (text) => {
          const given = text.trim()
          if (given === "" && !address.isNeeded) return Effect.succeed("")
          return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol) && !given.includes("{")
            ? Effect.succeed(given)
            : Effect.fail("It must be an address that begins with http:// or https://, without braces.")
        }
      }).pipe(Prompt.map((text) => (text === "" ? undefined : text)))

/** Prints where keys of the provider are made, and how they begin, as far as that is known. */
export const tellWhereKeysAre = ({ docsUrl, keyHint, keyUrl, name }: ProviderFacts) => {
  if (keyUrl !== null)
    return Output.note(`Keys of ${name}: ${keyUrl}${keyHint === null ? "" : ` (they look like ${keyHint})`}`)
  return docsUrl === null ? Effect.void : Output.note(`About keys of ${name}: ${docsUrl}`)
}

/** Asks a provider about a connection as it would be stored; null when it accepts it. */
export const refusalOf = (flags: GatewayFlags, draft: ValidateConnection, name: string) =>
  connections.validate(flags, draft).pipe(
    withSpinner(`Asking ${name} …`),
    Effect.map(({ error, status, valid }) => {
      if (valid) return null
      const said = error ?? "it gives no reason"
      if (status === null) return `${name} could not be asked: ${said}`
      // The reason often has the status in front.
      return `${name} answered ${said.startsWith(`${status}`) ? said : `${status}: ${said}`}`
    })
  )

/** The refusal as a failure. */
export const refused = (refusal: string): CommandFailed =>
  new CommandFailed({
    message: `${asSentence(refusal)} Nothing was stored.`,
    hint: "Correct the key or the address; --no-verify stores it without asking the provider."
  })

const mostNamed = 4

/** `62 models, such as a, b and c`. */
export const modelWords = ({ error, ids }: connections.Models): string => {
  if (ids.length === 0)
    return error === null ? "it lists no models" : `its models are not listed (${error.replace(/\.$/, "")})`
  const named = ids.slice(0, mostNamed).join(", ")
  return ids.length === 1
    ? `one model, ${named}`
    : `${ids.length} models${ids.length > mostNamed ? ", such as" : ":"} ${named}`
}

/** Describes the new offer: its models, or that it searches. */
export const offerWords = (provider: ProviderFacts, models: connections.Models): string =>
  provider.searches ? "it searches the web" : modelWords(models)

/** Ids are a provider's words; only those that a shell takes as they are may be in a line to copy. */
const isCopyable = (id: string): boolean => /^[\w.:@/+-]{1,200}$/.test(id)

/** The model of the first question: the registry's usual one where the provider has it, else the first that answers with text. */
export const firstModel = (
  provider: ProviderFacts,
  { ids }: connections.Models,
  defaultModel: string | null
): string => {
  const answers = (id: string): boolean => converses(id, unknownFacts, null)
  const usual = provider.models.find((model) => ids.includes(model) && answers(model))
  const model = defaultModel ?? usual ?? ids.find(answers) ?? provider.models.find(answers)
  return model !== undefined && isCopyable(model) && isCopyable(provider.id) ? `${provider.id}/${model}` : "auto"
}

/** A line that asks a gateway, to be copied into a shell. */
export const questionLine = (url: string, model: string): string =>
  `curl ${url}/v1/chat/completions -H 'content-type: application/json' -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Proposes the first question, or the first search. */
export const proposeQuestion = (
  flags: GatewayFlags,
  provider: ProviderFacts,
  models: connections.Models,
  defaultModel: string | null
) =>
  Effect.gen(function* () {
    const { isRunning, url } = yield* connections.servedBy(flags)
    const { environment } = yield* loadConfig
    const command = commandName(environment)
    const what = provider.searches ? "search for something" : "ask it something"
    yield* Output.note(isRunning ? `${capitalized(what)}:` : `Start the gateway with '${command} serve', then ${what}:`)
    yield* Output.note(
      provider.searches
        ? `  ${command} search 'what is a gateway'`
        : `  ${questionLine(url, firstModel(provider, models, defaultModel))}`
    )
  })

/** Prints the settings by which clients use the gateway. */
export const tellClientSettings = (flags: GatewayFlags) =>
  Effect.gen(function* () {
    const { url } = yield* connections.servedBy(flags)
    yield* Output.note(
      [
        "Point your clients at it:",
        `  OpenAI SDK and most tools    base URL ${url}/v1`,
        `  Anthropic SDK, Claude Code   ANTHROPIC_BASE_URL=${url}`
      ].join("\n")
    )
  })
