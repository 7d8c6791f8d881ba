/**
 * Plugins to install by name: those that come with the gateway, and those of a list elsewhere where the setting `pluginMarketplaceUrl` names one.
 * What is installed has the hash that the list says, wherever the files come from. The list is `{"plugins": [{name, version, description, permissions,
 * integrity, url}]}`, and at each `url` is what `gateway plugin pack` writes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { PluginPermission, pluginNamePattern } from "../../subjects/plugins/entity.ts"
import { blockMessage } from "../../net/egress/OutboundPolicy.ts"
import { PublicFetch, type PublicFetchError } from "../../net/egress/PublicFetch.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import type { StoreError } from "../../store/Errors.ts"
import { PluginRepo } from "../../subjects/plugins/repo.ts"
import { isObject } from "../../wire/json/Json.ts"
import { readAnswerJson, Unreadable } from "../../wire/json/Bounds.ts"
import { integrityOf, withManifest } from "./files/PluginFiles.ts"
import * as Errors from "./PluginErrors.ts"
import { Plugins } from "./Plugins.ts"
import { samples } from "./samples/index.ts"
import type { Installed, InstallFailure, PluginPackage } from "./registry/Installing.ts"

export interface Offer {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly permissions: ReadonlyArray<PluginPermission>
  readonly integrity: string
  /** Address of it; null: it comes with the gateway. */
  readonly url: string | null
  /** True when it is installed with these files. */
  readonly installed: boolean
}

export interface Offers {
  readonly plugins: ReadonlyArray<Offer>
  /** Reason for which the remote list is not among them; null: it is, or none is asked. */
  readonly remoteError: string | null
}

export class Marketplace extends Context.Tag("gateway/agents/plugins/Marketplace")<
  Marketplace,
  {
    readonly list: Effect.Effect<Offers, StoreError>
    /** Installs it in place of another version, unless that came from elsewhere than the marketplace. */
    readonly install: (
      name: string
    ) => Effect.Effect<Installed, InstallFailure | Errors.PluginNotFound | Errors.MarketplaceFailed>
  }
>() {}

const listLimits = { maxBytes: 1_048_576, timeoutMs: 10_000 }
const packageLimits = { maxBytes: 10 * 1_048_576, timeoutMs: 30_000 }
const maxOffers = 500

const RemoteList = Schema.Struct({
  plugins: Schema.Array(
    Schema.Struct({
      name: Schema.String.pipe(Schema.pattern(pluginNamePattern), Schema.maxLength(64)),
      version: Schema.String.pipe(Schema.maxLength(100)),
      description: Schema.String.pipe(Schema.maxLength(1_000)),
      permissions: Schema.Array(PluginPermission).pipe(Schema.maxItems(5)),
      integrity: Schema.String.pipe(Schema.pattern(/^sha256-[A-Za-z0-9+/]{43}=$/)),
      url: Schema.String.pipe(Schema.maxLength(2_048), Schema.pattern(/^https:\/\//))
    })
  ).pipe(Schema.maxItems(maxOffers))
})

const Package = Schema.Struct({
  manifest: Schema.Unknown,
  files: Schema.Record({ key: Schema.String, value: Schema.String })
})

const failed = (reason: string) => new Errors.MarketplaceFailed({ reason })

/**
 * Describes a failed fetch as the end of a sentence that begins with the fetched thing. Never has its address, which
 * may hold a key.
 */
const reasonOf = (error: PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return `has an address that is not called. ${blockMessage[error.reason].replace(/\.$/, "")}`
    case "ResponseTooLarge":
      return `is larger than ${error.limitBytes} bytes`
    case "TimedOut":
      return `did not come within ${error.timeoutMs / 1_000} seconds`
    case "RedirectRefused":
      return "is redirected too often, or to where it must not be"
    case "TransportFailure":
      return `cannot be reached. ${error.message.replace(/\.$/, "")}`
  }
}

/** The path at which a value does not match its schema, without the value: it is foreign text, and may be long. */
const placeOf = (error: ParseResult.ParseError): string => {
  const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path.join(".") ?? ""
  return path === "" ? "is not what is expected" : `is not what is expected at '${path.slice(0, 100)}'`
}

const listProblem = (value: unknown): string | null => {
  const given = isObject(value) ? value["plugins"] : null
  return Array.isArray(given) && given.length > maxOffers ? `has more than ${maxOffers} plugins` : null
}

/** A name that is there twice; null: none is. */
const twice = (names: ReadonlyArray<string>): string | null =>
  names.find((name, at) => names.indexOf(name) !== at) ?? null

const own: ReadonlyArray<Omit<Offer, "installed">> = samples.map(({ integrity, manifest }) => ({
  name: manifest.name,
  version: manifest.version,
  description: manifest.description,
  permissions: PluginPermission.literals.filter((each) => manifest.requires?.permissions.includes(each) ?? false),
  integrity,
  url: null
}))

export const make = Effect.gen(function* () {
  const plugins = yield* Plugins
  const repo = yield* PluginRepo
  const settings = yield* GatewaySettings
  const { get } = yield* PublicFetch

  /** `what`: the beginning of a sentence about it. */
  const fetchAs = <A, I>(what: string, url: string, schema: Schema.Schema<A, I>, limits: typeof listLimits) =>
    get(url, limits, ({ status }) => status === 200, "operator").pipe(
      Effect.mapError((error) => failed(`${what} ${reasonOf(error)}`)),
      Effect.flatMap(({ body, status }) => {
        if (status !== 200) return failed(`${what} was answered with the status ${status}`)
        const value = readAnswerJson(new TextDecoder().decode(body))
        if (value instanceof Unreadable) return failed(`${what} is no JSON that can be read`)
        const problem = listProblem(value)
        if (problem !== null) return failed(`${what} ${problem}`)
        return Either.mapLeft(Schema.decodeUnknownEither(schema)(value), (error) => failed(`${what} ${placeOf(error)}`))
      })
    )

  const theList = "the list of pluginMarketplaceUrl"

  const fetchList = (url: string) =>
    Effect.flatMap(fetchAs(theList, url, RemoteList, listLimits), ({ plugins: offers }) => {
      const again = twice(offers.map(({ name }) => name))
      return again === null ? Effect.succeed(offers) : failed(`${theList} has '${again}' twice`)
    })

  const remote = Effect.suspend(() => {
    const url = settings.current().pluginMarketplaceUrl
    if (url === null) return Effect.succeed({ offers: [], error: null })
    return Effect.match(fetchList(url), {
      onFailure: ({ reason }) => ({ offers: [], error: reason }),
      // A name of ours stays ours.
      onSuccess: (list) => ({
        offers: list.filter(({ name }) => !own.some((each) => each.name === name)),
        error: null
      })
    })
  })

  const packageOf = Effect.fnUntraced(function* ({ integrity, name, url, version }: Omit<Offer, "installed">) {
    const sample = url === null ? samples.find(({ manifest }) => manifest.name === name) : undefined
    const given: PluginPackage = sample ?? (yield* fetchAs(`the file of '${name}'`, url ?? "", Package, packageLimits))
    const files = new Map(Object.entries(given.files).map(([path, text]) => [path, String(text)] as const))
    files.delete("plugin.json")
    if (integrityOf(withManifest(files, given.manifest)) !== integrity) {
      return yield* failed(`the files of '${name}' have not the hash that the list names`)
    }
    const { manifest } = given
    if (!isObject(manifest) || manifest["name"] !== name || manifest["version"] !== version) {
      return yield* failed(`the manifest of '${name}' is of another plugin or version`)
    }
    return given
  })

  return Marketplace.of({
    list: Effect.gen(function* () {
      const { error, offers } = yield* remote
      const installed = new Set((yield* repo.list).map(({ integrity, name }) => `${name} ${integrity}`))
      const withInstalled = (offer: Omit<Offer, "installed">): Offer => ({
        ...offer,
        installed: installed.has(`${offer.name} ${offer.integrity}`)
      })
      return {
        plugins: [...own, ...offers].map(withInstalled),
        remoteError: error
      }
    }).pipe(Effect.withSpan("Marketplace.list")),
    install: Effect.fn("Marketplace.install")(function* (name: string) {
      const { error, offers } = own.some((each) => each.name === name) ? { error: null, offers: [] } : yield* remote
      if (error !== null) return yield* failed(error)
      const offer = [...own, ...offers].find((each) => each.name === name)
      if (offer === undefined) return yield* new Errors.PluginNotFound({ name, where: "marketplace" })
      const before = yield* repo.get(name)
      const isSame = before?.integrity === offer.integrity
      // One with an error may have other files in its folder than those that were installed.
      if (isSame && before.lastError === null) return yield* new Errors.PluginExists({ name, by: "same" })
      if (!isSame && before?.source === "local") return yield* new Errors.PluginExists({ name, by: "local" })
      return yield* plugins.install(yield* packageOf(offer), before !== null, "marketplace")
    })
  })
})

export const layer: Layer.Layer<Marketplace, never, Plugins | PluginRepo | GatewaySettings | PublicFetch> =
  Layer.effect(Marketplace, make)
