/** `gateway provider edit`: what is not given stays as it is. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type ConnectionView, UpdateConnection } from "../routes.ts"
import { AccountTier } from "../entity.ts"
import { WireName } from "../../../contract/domain/Wire.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as connecting from "../../../cli/asking/connecting.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { OneConnection } from "../../../cli/output/connections.ts"
import * as Output from "../../../cli/output/Output.ts"
import { allowSameName, refuseTaken } from "../../../cli/sameName.ts"
import { namedProxy } from "../../../cli/finding/pickProxy.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { keyOfFlags } from "../../../cli/asking/providerKey.ts"
import { accepted, fieldsOf, file, keyFlags, testOnly } from "./add.ts"
import { changeable, connectionArg, connections as connectionNoun } from "./found.ts"
import { findOne } from "../../../cli/verbs/noun.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)
const onOff = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

const flags = {
  connection: connectionArg,
  name: text("name", "Another name."),
  baseUrl: text("base-url", "Another address; '' is the provider's. A stored key has to be given again."),
  ...keyFlags,
  askKey: onOff("ask-key", "Ask for a new key, hidden."),
  defaultModel: text("default-model", "Model to use when none is named; '' for none."),
  models: text("models", "Models it may serve, separated by commas; '' for all."),
  wires: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("A wire format its endpoint speaks; may be given several times."),
    Options.repeated
  ),
  priority: Options.integer("priority").pipe(Options.withDescription("Lower is tried first."), Options.optional),
  tier: Options.choice("tier", [...AccountTier.literals, "none"]).pipe(
    Options.withDescription("What kind of account it is."),
    Options.optional
  ),
  maxConcurrent: Options.integer("max-concurrent").pipe(
    Options.withDescription("Most calls at once; 0 for no limit."),
    Options.optional
  ),
  proxy: text("proxy", "The proxy its calls go by: its name or id; '' for none of its own."),
  noVerify: onOff("no-verify", "Store a new key without asking the provider."),
  testOnly,
  file,
  allowSameName,
  ...Client.editing
}
type EditFlags = Command.Command.ParseConfig<typeof flags>

const flagNames = {
  name: "--name",
  baseUrl: "--base-url",
  apiKey: "--api-key",
  defaultModel: "--default-model",
  models: "--models",
  wires: "--wire",
  priority: "--priority",
  tier: "--tier",
  maxConcurrent: "--max-concurrent",
  proxyId: "--proxy"
}

/** Undefined: not given; null: cleared by an empty text. */
const clearing = (given: Option.Option<string>): string | null | undefined =>
  Option.getOrUndefined(Option.map(given, (value) => (value.trim() === "" ? null : value.trim())))

const listOf = (commas: string): ReadonlyArray<string> =>
  commas
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "")

const changesOf = (given: EditFlags) => ({
  name: Option.getOrUndefined(given.name),
  baseUrl: clearing(given.baseUrl),
  defaultModel: clearing(given.defaultModel),
  models: Option.getOrUndefined(Option.map(given.models, listOf)),
  wires: given.wires.length === 0 ? undefined : given.wires,
  priority: Option.getOrUndefined(given.priority),
  tier: Option.getOrUndefined(Option.map(given.tier, (tier) => (tier === "none" ? null : tier))),
  maxConcurrent: Option.getOrUndefined(Option.map(given.maxConcurrent, (most) => (most === 0 ? null : most)))
})

const present = (changes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== undefined))

/** The new key: of the flags, or of the person where one is needed and can be asked. */
const newKey = Effect.fnUntraced(function* (given: EditFlags, connection: ConnectionView) {
  const fromFlags = yield* keyOfFlags(given)
  if (fromFlags !== null) return fromFlags
  const baseUrl = clearing(given.baseUrl)
  const moves = baseUrl !== undefined && baseUrl !== connection.baseUrl && connection.apiKey !== null
  if (!given.askKey && !moves) return null
  if (!(yield* canAsk)) {
    return yield* new BadArgument({
      message: moves
        ? "A stored key is not sent to another address: it has to be given again."
        : "Nobody can be asked for the key here.",
      hint: "Give it with --api-key-stdin or --api-key-env <variable>."
    })
  }
  const provider = yield* connecting.providerNamed(given, connection.provider)
  return yield* connecting.askKey({ ...provider, needsKey: true })
})

/** Refused when the provider does not accept the connection as it would be. */
const verify = Effect.fnUntraced(function* (given: EditFlags, connection: ConnectionView, change: UpdateConnection) {
  const provider = yield* connecting.providerNamed(given, connection.provider)
  const refusal = yield* connecting.refusalOf(given, { connectionId: connection.id, ...change }, provider.name)
  if (refusal !== null) return yield* connecting.refused(refusal)
  return provider.name
})

export const providerEdit = Command.make("edit", flags, (given) =>
  Effect.gen(function* () {
    const fields = yield* fieldsOf(given.file)
    const named = { ...fields, ...present(changesOf(given)) }
    const asksForKey =
      given.askKey || given.apiKeyStdin || Option.isSome(given.apiKey) || Option.isSome(given.apiKeyEnv)
    if (!asksForKey && Option.isNone(given.proxy) && Object.keys(named).length === 0) {
      return yield* new BadArgument({
        message: "What is to be changed is not said.",
        hint: "Example: gateway provider edit work --name private. 'gateway help provider edit' lists the flags."
      })
    }
    const to = yield* Client.target(given)
    const { client, all: connections, found } = yield* findOne(connectionNoun, to, given.connection)
    const connection = yield* changeable(found)
    const proxyId = clearing(given.proxy) === null ? null : yield* namedProxy(given, given.proxy)
    const changes = { ...named, ...(proxyId === undefined ? {} : { proxyId }) }
    if (typeof named["name"] === "string") {
      const others = connections.filter(({ provider }) => provider === found.provider)
      const taken = { what: "connection", name: named["name"], isAllowed: given.allowSameName, ownId: found.id }
      yield* refuseTaken(others, taken)
    }
    const key = yield* newKey(given, connection)
    const apiKey = key === null ? {} : { apiKey: Redacted.value(key) }
    const payload = yield* body(UpdateConnection, { ...changes, ...apiKey }, flagNames)
    const hasNewKey = payload.apiKey !== undefined || payload.oauth !== undefined
    if (given.testOnly) return yield* accepted(yield* verify(given, connection, payload))
    if (hasNewKey && !given.noVerify) yield* verify(given, connection, payload)
    const answer = yield* client.update({ path: { id: found.id }, payload })
    const { name } = answer.connection
    yield* Output.result({
      schema: OneConnection,
      value: answer,
      text: Output.note(`The connection '${name}' is changed${key === null ? "" : "; the new key is in use"}.`),
      name
    })
  })
)
