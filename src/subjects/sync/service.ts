/** Keeps combos and aliases the same as those of other gateways, by way of a server that keeps one signed bundle (`docs/cloud-sync.md`). */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { makeLane } from "../../kernel/Lane.ts"
import { CreateCombo } from "../combos/routes.ts"
import { comboOrder } from "../declared/Plan.ts"
import { PublicFetch } from "../../net/egress/PublicFetch.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { reasonOf, type StoreError } from "../../store/Errors.ts"
import { CloudSyncRepo, type CloudSyncState } from "./repo.ts"
import type { Json } from "../../wire/json/Json.ts"
import { Combos } from "../combos/service.ts"
import { ConfigurationCopies } from "./ConfigurationCopies.ts"
import { type InvalidInput, invalid, RemoteFailed } from "../Errors.ts"
import { ModelAliases } from "../aliases/service.ts"
import { hashOf, isSigned, signatureOf, SyncBundle, type SyncConfig, textOf } from "./SyncBundle.ts"

/** Address and key of the server. Absent: as it is; null: none. */
export interface CloudSyncSettings {
  readonly cloudUrl?: string | null | undefined
  readonly sharedKey?: Redacted.Redacted | null | undefined
}

export interface SignedBundle {
  readonly text: string
  readonly configHash: string
  readonly signature: string
}

export class CloudSync extends Context.Tag("gateway/subjects/sync/CloudSync")<
  CloudSync,
  {
    readonly state: Effect.Effect<CloudSyncState, StoreError>
    readonly configure: (settings: CloudSyncSettings) => Effect.Effect<CloudSyncState, InvalidInput | StoreError>
    /** Switches it on and synchronises; stays off when that fails. */
    readonly enable: Effect.Effect<CloudSyncState, RemoteFailed | InvalidInput | StoreError>
    readonly sync: Effect.Effect<CloudSyncState, RemoteFailed | InvalidInput | StoreError>
    readonly disable: Effect.Effect<CloudSyncState, StoreError>
    /** The configuration as others may take it over. */
    readonly bundle: Effect.Effect<SignedBundle, InvalidInput | StoreError>
  }
>() {}

const limits = { timeoutMs: 10_000, maxBytes: 16 * 1_048_576 }

const decodeBundle = Schema.decodeUnknownEither(Schema.parseJson(SyncBundle))
const decodeCombo = Schema.decodeUnknownEither(CreateCombo)

const neededWhileOn = "is needed while the cloud sync is on; switch it off first (action 'disable')"

/** A key that others can guess signs nothing. */
const leastKeyLength = 16

/** Selects the changes that are not so already. A key that equals the mask of the stored one was read and sent back. */
const changesOf = ({ cloudUrl, sharedKey }: CloudSyncSettings, kept: CloudSyncState): CloudSyncSettings => {
  const isKept =
    sharedKey != null &&
    kept.sharedKey !== null &&
    Redacted.value(sharedKey) === maskSecret(Redacted.value(kept.sharedKey))
  return {
    cloudUrl: cloudUrl === kept.cloudUrl ? undefined : cloudUrl,
    sharedKey: isKept ? undefined : sharedKey
  }
}

/** The server of the cloud sync cannot be reached, refuses, or gives what is not signed. Nothing was taken from it. */
export const syncFailed = (reason: string): RemoteFailed =>
  new RemoteFailed({
    code: "cloud_sync_failed",
    message: `The configuration was not synchronised: ${asSentence(reason)}`
  })

const services = Effect.all({
  repo: CloudSyncRepo,
  combos: Combos,
  aliases: ModelAliases,
  net: PublicFetch,
  copies: ConfigurationCopies
})
type Services = Effect.Effect.Success<typeof services>

const current = ({ aliases, combos }: Services): Effect.Effect<SyncConfig, StoreError> =>
  Effect.gen(function* () {
    const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1)
    return {
      combos: [...(yield* combos.list)].sort(byName).map(({ config, isActive, name, strategy, targets }) => ({
        name,
        strategy,
        // Ids of connections mean nothing elsewhere.
        targets: targets.map(({ label, model, weight }) => ({ model, weight, label })),
        config,
        isActive
      })),
      modelAliases: [...(yield* aliases.list)]
        .map(({ alias, model }) => ({ alias, model }))
        .sort((a, b) => (a.alias < b.alias ? -1 : 1))
    }
  })

/** A configuration that was not sent or taken as it is has a new version. */
const versioned = (services: Services) =>
  Effect.gen(function* () {
    const config = yield* current(services)
    const configHash = hashOf(config)
    const state = yield* services.repo.get
    if (state.sentHash === configHash) return { version: state.version, configHash, config }
    yield* services.repo.set({ ...state, version: state.version + 1, sentHash: configHash })
    return { version: state.version + 1, configHash, config }
  })

const keyOf = ({ sharedKey }: CloudSyncState) =>
  sharedKey === null ? invalid("sharedKey", "is missing: bundles are signed with it") : Effect.succeed(sharedKey)

const placeOf = ({ repo }: Services) =>
  Effect.gen(function* () {
    const state = yield* repo.get
    const key = yield* keyOf(state)
    if (state.cloudUrl === null) return yield* invalid("cloudUrl", "is missing")
    return { key, url: state.cloudUrl.replace(/\/+$/, "") }
  })

/** Fetches the server's bundle, once its signature is right; null when it has nothing yet. */
const pull = ({ net }: Services, url: string, key: Redacted.Redacted) =>
  Effect.gen(function* () {
    const path = `${url}/bundle`
    const atMs = yield* Clock.currentTimeMillis
    const proof = signatureOf(key, `GET\n${path}\n${atMs}`).slice("sha256=".length)
    const answer = yield* Effect.mapError(
      net.get(`${path}?at=${atMs}&signature=${proof}`, limits, ({ status }) => status === 200, "operator"),
      (error) => syncFailed(`${path} cannot be reached (${error._tag})`)
    )
    if (answer.status === 404) return null
    if (answer.status !== 200) return yield* syncFailed(`${path} answered with the status ${answer.status}`)
    if (!isSigned(key, answer.body, answer.headers.get("x-gateway-signature"))) {
      return yield* syncFailed(`the bundle of ${path} has a wrong signature or none; nothing of it was taken`)
    }
    const bundle = decodeBundle(answer.body.toString("utf8"))
    if (Either.isLeft(bundle) || hashOf(bundle.right.config) !== bundle.right.configHash) {
      return yield* syncFailed(`the bundle of ${path} is not one of a gateway; nothing of it was taken`)
    }
    return bundle.right
  })

const push = ({ net }: Services, url: string, key: Redacted.Redacted, bundle: SyncBundle) =>
  Effect.gen(function* () {
    const body = textOf(bundle)
    const headers = ["content-type", "application/json", "x-gateway-signature", signatureOf(key, body)]
    const status = yield* Effect.mapError(net.post(`${url}/bundle`, { headers, body }, limits.timeoutMs), (error) =>
      syncFailed(`${url}/bundle cannot be reached (${error._tag})`)
    )
    if (status < 200 || status > 299) return yield* syncFailed(`${url}/bundle answered with the status ${status}`)
  })

/** Takes over combos and aliases by their names; what the bundle does not have stays. */
const takeOver = (
  inputs: ReadonlyArray<typeof CreateCombo.Type>,
  { modelAliases }: SyncConfig,
  to: { readonly combos: typeof Combos.Service; readonly aliases: typeof ModelAliases.Service }
) =>
  Effect.gen(function* () {
    const known = new Map((yield* to.combos.list).map((combo) => [combo.name, combo.id]))
    const named = <A, E extends { readonly _tag: string }>(what: string, change: Effect.Effect<A, E>) =>
      Effect.mapError(change, (error) => syncFailed(`its ${what} is refused (${reasonOf(error)}); nothing was taken`))
    for (const input of inputs) {
      const id = known.get(input.name)
      const change: Effect.Effect<unknown, { readonly _tag: string }> =
        id === undefined ? to.combos.create(input) : to.combos.update(id, input)
      yield* named(`combo '${input.name}'`, change)
    }
    for (const alias of modelAliases) yield* named(`alias '${alias.alias}'`, to.aliases.set(alias))
  })

/** All of a bundle is tried at a copy of the configuration before any of it is stored. */
const apply = ({ aliases, combos, copies }: Services, { config }: SyncBundle) =>
  Effect.gen(function* () {
    const decoded = config.combos.map((combo) => decodeCombo(combo))
    const wrong = decoded.findIndex(Either.isLeft)
    if (wrong !== -1) {
      return yield* syncFailed(
        `the bundle's combo '${config.combos[wrong]?.name}' is not valid here; nothing was taken`
      )
    }
    const order = comboOrder(config.combos.map(({ name, targets }) => ({ name, targets: targets as Json })))
    const inputs = decoded
      .filter(Either.isRight)
      .map(({ right }) => right)
      .toSorted((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0))
    const copy = yield* copies.open
    yield* takeOver(inputs, config, { combos: Context.get(copy, Combos), aliases: Context.get(copy, ModelAliases) })
    yield* takeOver(inputs, config, { combos, aliases })
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) =>
      error._tag === "RemoteFailed" ? error : syncFailed(`the bundle could not be taken over: ${reasonOf(error)}`)
    )
  )

const run = (services: Services) =>
  Effect.gen(function* () {
    const { key, url } = yield* placeOf(services)
    const own = yield* versioned(services)
    const found = yield* pull(services, url, key)
    // An older version is ignored: a bundle that is played back changes nothing. Of two with one version, that of the server counts.
    const isNewer = found !== null && found.version >= own.version
    if (isNewer && found.configHash !== own.configHash) {
      yield* apply(services, found)
      const merged = yield* current(services)
      const state = yield* services.repo.get
      const sentHash = hashOf(merged)
      // Where more is here than there, that is a version of its own.
      const version = sentHash === found.configHash ? found.version : found.version + 1
      yield* services.repo.set({ ...state, version, sentHash })
    } else if (isNewer) yield* services.repo.set({ ...(yield* services.repo.get), version: found.version })
    const now = yield* versioned(services)
    const version =
      found === null ? now.version : Math.max(now.version, found.configHash === now.configHash ? 0 : found.version + 1)
    if (version !== now.version) yield* services.repo.set({ ...(yield* services.repo.get), version })
    if (found === null || found.configHash !== now.configHash) yield* push(services, url, key, { ...now, version })
  })

const noted = <A, E extends { readonly _tag: string }>({ repo }: Services, work: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.either(work)
    const state = yield* repo.get
    if (Either.isLeft(exit)) {
      const { left } = exit
      if (left instanceof RemoteFailed) yield* repo.set({ ...state, connected: false, lastError: left.message })
      return yield* Effect.fail(left)
    }
    const lastSyncAtMs = yield* Clock.currentTimeMillis
    const next = { ...state, connected: true, lastSyncAtMs, lastError: null }
    yield* repo.set(next)
    return next
  })

const configure = (services: Services, asked: CloudSyncSettings) =>
  Effect.gen(function* () {
    const state = yield* services.repo.get
    const { cloudUrl, sharedKey } = changesOf(asked, state)
    if (cloudUrl === undefined && sharedKey === undefined) return state
    const blocked = typeof cloudUrl === "string" ? yield* services.net.check(cloudUrl) : null
    if (blocked !== null) return yield* invalid("cloudUrl", `may not be called: ${String(blocked)}`)
    if (sharedKey != null && Redacted.value(sharedKey).length < leastKeyLength) {
      return yield* invalid("sharedKey", `must have at least ${leastKeyLength} characters`)
    }
    if (state.enabled) {
      if (cloudUrl === null) return yield* invalid("cloudUrl", neededWhileOn)
      if (sharedKey === null) return yield* invalid("sharedKey", neededWhileOn)
    }
    const next = {
      ...state,
      ...(cloudUrl === undefined ? {} : { cloudUrl }),
      ...(sharedKey === undefined ? {} : { sharedKey })
    }
    yield* services.repo.set(next)
    return next
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const alone = makeLane(1).inTurn

  return CloudSync.of({
    state: all.repo.get,
    configure: (asked) => alone(configure(all, asked)),
    enable: alone(
      Effect.flatMap(noted(all, run(all)), (state) =>
        Effect.as(all.repo.set({ ...state, enabled: true }), { ...state, enabled: true })
      )
    ),
    sync: alone(noted(all, run(all))),
    disable: alone(
      Effect.flatMap(all.repo.get, (state) => {
        const next = { ...state, enabled: false, connected: null }
        return Effect.as(all.repo.set(next), next)
      })
    ),
    bundle: alone(
      Effect.gen(function* () {
        const key = yield* keyOf(yield* all.repo.get)
        const bundle = yield* versioned(all)
        const text = textOf(bundle)
        return { text, configHash: bundle.configHash, signature: signatureOf(key, text) }
      })
    )
  })
})

export const layer: Layer.Layer<
  CloudSync,
  never,
  CloudSyncRepo | Combos | ModelAliases | PublicFetch | ConfigurationCopies
> = Layer.effect(CloudSync, make)
